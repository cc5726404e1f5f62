//! The daemon ends in every way under load: requests to the disk fail, and nothing is left.

use crate::it::laboratory::{Disk, Running, daemon_program, disks_and};
use plimsoll_record::{DiskLatency, DiskSpec};
use plimsoll_testing::needs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Eight that read and write on a filesystem until they get an error.
fn load(mount: &Path) -> Vec<Running> {
    let script = r#"while dd if=/dev/urandom of="$1" bs=64k count=64 oflag=direct conv=fsync \
        && dd if="$1" of=/dev/null bs=64k iflag=direct; do :; done; exit 1"#;
    let one = |place| {
        let file = mount.join(format!("file-{place}"));
        Running::start(Command::new("sh").args(["-c", script, "sh"]).arg(file))
    };
    (0..8).map(one).collect()
}

fn loaded_disk(with_rings: bool) -> (Disk, Vec<Running>) {
    let spec = DiskSpec {
        write_latency: DiskLatency::Constant { ns: 50_000_000 },
        ..DiskSpec::unlimited(1 << 30)
    };
    let disk = match with_rings {
        true => Disk::start(&daemon_program(), &spec).unwrap(),
        false => Disk::start_without_rings(&spec),
    };
    let mut control = disk.control();
    control.shape(false).unwrap();
    disk.mount_xfs();
    control.shape(true).unwrap();
    let before = control.counters().unwrap().writes;
    let load = load(&disk.mount);
    while control.counters().unwrap().writes < before + 20 {
        std::thread::sleep(Duration::from_millis(5));
    }
    (disk, load)
}

fn signal(disk: &mut Disk, signal: libc::c_int) {
    let pid = i32::try_from(disk.daemon().pid()).unwrap();
    // SAFETY: plain numbers; the process is a child that was not waited for, so that the number is still its own.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

fn all_fail(load: Vec<Running>) {
    for mut process in load {
        assert!(!process.ends(|| {}), "the disk went on");
    }
}

fn end_by(number: libc::c_int, with_rings: bool) {
    needs!(disks_and(&["losetup", "mkfs.xfs"]));
    let (mut disk, load) = loaded_disk(with_rings);
    signal(&mut disk, number);
    all_fail(load);
    // Its requests fail as soon as it closes the device, while the rest of it is still being torn down.
    let since = Instant::now();
    while disk.daemon().is_alive() {
        assert!(
            since.elapsed() < Duration::from_secs(60),
            "the daemon goes on after signal {number}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(disk.take_down(), Vec::<String>::new());
}

#[test]
fn by_sigkill() {
    end_by(libc::SIGKILL, true);
}

#[test]
fn by_sigterm() {
    end_by(libc::SIGTERM, true);
}

#[test]
fn without_rings_by_sigkill() {
    end_by(libc::SIGKILL, false);
}

#[test]
fn without_rings_by_sigterm() {
    end_by(libc::SIGTERM, false);
}

mod slow {
    use super::*;

    #[test]
    fn by_its_starter_while_it_is_stopped() {
        needs!(disks_and(&["losetup", "mkfs.xfs"]));
        let (mut disk, load) = loaded_disk(true);
        signal(&mut disk, libc::SIGSTOP);
        assert_eq!(disk.take_down(), Vec::<String>::new());
        all_fail(load);
    }

    #[test]
    fn by_its_starter_under_load() {
        needs!(disks_and(&["losetup", "mkfs.xfs"]));
        let (disk, load) = loaded_disk(true);
        assert_eq!(disk.take_down(), Vec::<String>::new());
        all_fail(load);
    }
}
