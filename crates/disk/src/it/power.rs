//! Flushes reach the disk, and its power is cut.

use crate::Power;
use crate::blocks::Buffer;
use crate::it::laboratory::{Disk, Running, daemon_program, disks_and, succeeds};
use plimsoll_record::{DiskLatency, DiskSpec, PowerCut};
use plimsoll_testing::{assert_contains, needs};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::process::Command;

const BLOCK: usize = 4096;
const BLOCKS: u64 = 64;

fn volatile() -> DiskSpec {
    DiskSpec { volatile_cache: true, ..DiskSpec::unlimited(1 << 30) }
}

/// What the kernel says of the device that is below a filesystem.
fn queue(device: &str, name: &str) -> String {
    let name = format!("/sys/block/{}/queue/{name}", device.trim_start_matches("/dev/"));
    fs::read_to_string(name).unwrap().trim().to_owned()
}

fn direct(device: &str) -> File {
    let mut options = File::options();
    options.read(true).write(true).custom_flags(libc::O_DIRECT).open(device).unwrap()
}

/// Writes this value to all blocks, past the page cache.
fn write_all(device: &File, value: u8) {
    let mut buffer = Buffer::default();
    let block = buffer.of_length(BLOCK);
    block.fill(value);
    for number in 0..BLOCKS {
        device.write_all_at(block, number * BLOCK as u64).unwrap();
    }
}

/// The value that each block has throughout.
fn values(device: &File) -> Vec<u8> {
    let mut buffer = Buffer::default();
    let block = buffer.of_length(BLOCK);
    let one = |number| {
        device.read_exact_at(block, number * BLOCK as u64).unwrap();
        assert!(block.iter().all(|byte| *byte == block[0]), "block {number} is torn");
        block[0]
    };
    (0..BLOCKS).map(one).collect()
}

/// Another loop device over the disk, detached when it is dropped.
struct Fresh(String);

impl Fresh {
    fn over(disk: &mut Disk) -> Self {
        let image = disk.daemon().image();
        let mut attach = Command::new("losetup");
        let attach = attach.args(["--find", "--show", "--direct-io=on"]).arg(image);
        Self(succeeds(attach).trim().to_owned())
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

#[test]
fn flushes_and_forced_writes_reach_the_disk() {
    needs!(disks_and(&["losetup", "mkfs.xfs"]));
    let disk = Disk::start(&daemon_program(), &DiskSpec::unlimited(1 << 30)).unwrap();
    assert_eq!(queue(disk.device(), "write_cache"), "write back");
    disk.mount_xfs();
    let mut control = disk.control();
    let mut flushes = || control.counters().unwrap().flushes;
    let file = File::create(disk.mount.join("file")).unwrap();
    for number in 0..20 {
        let before = flushes();
        file.write_all_at(&[number; BLOCK], u64::from(number) * BLOCK as u64).unwrap();
        file.sync_all().unwrap();
        assert!(flushes() > before, "fsync {number} is no flush");
    }
    // A write with REQ_FUA: the kernel follows it by a flush, because the device has no such writes.
    let before = flushes();
    let mut forced = File::options();
    let forced = forced.write(true).custom_flags(libc::O_DIRECT | libc::O_DSYNC);
    let forced = forced.open(disk.device()).unwrap();
    let mut buffer = Buffer::default();
    let last = (1 << 30) - BLOCK as u64;
    forced.write_all_at(buffer.of_length(BLOCK), last).unwrap();
    assert!(flushes() > before);
    drop((file, forced));
    succeeds(Command::new("umount").arg(&disk.mount));
    assert_eq!(disk.take_down(), Vec::<String>::new());
}

#[test]
fn a_power_cut_fails_all_requests_and_leaves_what_was_flushed() {
    needs!(disks_and(&["losetup"]));
    let mut disk = Disk::start(&daemon_program(), &volatile()).unwrap();
    let mut control = disk.control();
    let device = direct(disk.device());
    write_all(&device, 1);
    device.sync_all().unwrap();
    write_all(&device, 2);
    // One that is held at the instant.
    let slow = DiskLatency::Constant { ns: 3_600_000_000_000 };
    control.respec(&DiskSpec { read_latency: slow, ..volatile() }).unwrap();
    let mut reader = Command::new("dd");
    reader.arg(format!("if={}", disk.device()));
    let mut reader =
        Running::start(reader.args(["of=/dev/null", "bs=4k", "count=1", "iflag=direct"]));
    while control.counters().unwrap().in_flight == 0 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let PowerCut { unflushed_writes, unflushed_bytes, acknowledged_writes, since_flush_ns, .. } =
        control.cut(7, BLOCK as u64).unwrap();
    assert_eq!((unflushed_writes, acknowledged_writes), (BLOCKS, BLOCKS));
    assert_eq!(unflushed_bytes, BLOCKS * BLOCK as u64);
    assert!(since_flush_ns.is_some());
    assert!(!reader.ends(|| {}), "what is held is answered as if there were power");
    control.respec(&volatile()).unwrap();
    assert_eq!(control.power().unwrap(), Power::Off);
    let again = control.cut(7, BLOCK as u64).unwrap_err();
    assert_contains(again, "cut already");
    let mut buffer = Buffer::default();
    let block = buffer.of_length(BLOCK);
    assert_eq!(device.read_at(block, 0).unwrap_err().raw_os_error(), Some(libc::EIO));
    block.fill(3);
    assert_eq!(device.write_at(block, 0).unwrap_err().raw_os_error(), Some(libc::EIO));
    assert!(device.sync_all().is_err());

    let fresh = Fresh::over(&mut disk);
    let left = values(&direct(&fresh.0));
    assert!(left.contains(&1) && left.contains(&2), "{left:?}");
    assert!(left.iter().all(|value| [1, 2].contains(value)), "{left:?}");
    // It has power again, and a cache: what is flushed now is kept, too.
    control.set_power(Power::On { users: Vec::new() }).unwrap();
    let device_again = direct(&fresh.0);
    write_all(&device_again, 4);
    device_again.sync_all().unwrap();
    assert_eq!(control.cut(8, BLOCK as u64).unwrap().unflushed_writes, 0);
    let last = Fresh::over(&mut disk);
    assert_eq!(values(&direct(&last.0)), [4; BLOCKS as usize]);
    drop((device, device_again, fresh, last));
    assert_eq!(disk.take_down(), Vec::<String>::new());
}

#[test]
fn a_disk_without_a_volatile_cache_refuses_a_power_cut() {
    needs!(disks_and(&["losetup"]));
    let disk = Disk::start(&daemon_program(), &DiskSpec::unlimited(64 << 20)).unwrap();
    let error = disk.control().cut(7, BLOCK as u64).unwrap_err();
    assert_contains(error, "mount it with --volatile");
    values(&direct(disk.device()));
    assert_eq!(disk.take_down(), Vec::<String>::new());
}
