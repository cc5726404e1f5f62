//! Rings of io_uring between the kernel and the daemon.

use crate::RingSwitch;
use crate::it::laboratory::{Disk, daemon_program, disks_and, succeeds};
use plimsoll_record::{Backing, DiskLatency, DiskSpec};
use plimsoll_testing::{Need, needs};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::Command;
use std::thread;

fn rings_and(programs: &[&'static str]) -> Vec<Need<'static>> {
    let mut needs = disks_and(programs);
    needs.push(Need::File(RingSwitch::FILE));
    needs
}

#[test]
fn a_disk_has_them_where_the_kernel_lets_it() {
    needs!(rings_and(&["losetup"]));
    let spec = DiskSpec::unlimited(64 << 20);
    let disk = Disk::start(&daemon_program(), &spec).unwrap();
    assert!(disk.control().counters().unwrap().rings);
    let volatile = DiskSpec { backing: Backing::File, volatile_cache: true, ..spec.clone() };
    let volatile = Disk::start(&daemon_program(), &volatile).unwrap();
    assert!(!volatile.control().counters().unwrap().rings);
    let without = Disk::start_without_rings(&spec);
    assert!(!without.control().counters().unwrap().rings);

    // What its filesystem says of it is the same either way.
    for disk in [disk, without] {
        let folder = disk.folder.path().join("fuse");
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["disk.img"]);
        let image = fs::metadata(folder.join("disk.img")).unwrap();
        assert!(image.is_file());
        assert_eq!((image.len(), image.mode() & 0o777, image.ino()), (64 << 20, 0o600, 2));
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        let missing = fs::metadata(folder.join("disk.im")).unwrap_err();
        assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
        succeeds(Command::new("df").arg(&folder));
        assert_eq!(disk.take_down(), Vec::<String>::new());
    }
}

/// Those of one arm of a duet must not work on the processors of the other.
#[test]
fn a_daemon_stays_on_the_processors_that_it_was_given() {
    needs!(rings_and(&["losetup"]));
    let all = sched_getaffinity(None).unwrap();
    let processors = (0..CpuSet::MAX_CPU).filter(|processor| all.is_set(*processor));
    for processor in processors.take(2) {
        let start = move || {
            let mut one = CpuSet::new();
            one.set(processor);
            sched_setaffinity(None, &one).unwrap();
            Disk::start(&daemon_program(), &DiskSpec::unlimited(64 << 20)).unwrap()
        };
        let mut disk = thread::spawn(start).join().unwrap();
        assert!(disk.control().counters().unwrap().rings);
        let tasks = fs::read_dir(format!("/proc/{}/task", disk.daemon().pid())).unwrap();
        // A thread may end while they are listed.
        let statuses = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("status")));
        let statuses: Vec<String> = statuses.filter_map(Result::ok).collect();
        assert!(statuses.iter().any(|status| status.starts_with("Name:\tring-")));
        let allowed = format!("\nCpus_allowed_list:\t{processor}\n");
        for status in statuses {
            assert!(status.contains(&allowed), "{status}");
        }
        assert_eq!(disk.take_down(), Vec::<String>::new());
    }
}

/// From more threads than a processor has slots, of all lengths up to more than fits into one.
fn answers_each_with_its_own_data(disk: &Disk) {
    let image = disk.folder.path().join("fuse/disk.img");
    let open = || fs::File::options().read(true).write(true).open(&image).unwrap();
    thread::scope(|scope| {
        for number in 0..600_u64 {
            let file = open();
            scope.spawn(move || {
                let length = [4096, 40_960, 1 << 20, 1_600_000 / 4096 * 4096][number as usize % 4];
                let offset = number * 1_600_000 / 4096 * 4096;
                let sent: Vec<u8> =
                    (0..length).map(|byte: u64| (byte * 7 + number) as u8).collect();
                file.write_all_at(&sent, offset).unwrap();
                let mut got = vec![0; sent.len()];
                file.read_exact_at(&mut got, offset).unwrap();
                assert!(got == sent, "{number}");
            });
        }
    });
    let file = open();
    file.sync_all().unwrap();
    let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&file, mode, 4096, 8192).unwrap();
    let mut got = [1; 4096];
    file.read_exact_at(&mut got, 8192).unwrap();
    assert_eq!(got, [0; 4096]);
    let beyond = file.write_at(&[1; 8192], (1 << 30) - 4096);
    assert!(beyond.is_err());
    assert_eq!(file.read_at(&mut [0; 8192], (1 << 30) - 4096).unwrap(), 4096);
    assert_eq!(disk.control().counters().unwrap().in_flight, 0);
}

#[test]
fn every_one_of_many_requests_is_answered_with_its_own_data() {
    needs!(rings_and(&["losetup"]));
    let half = DiskLatency::Constant { ns: 500_000 };
    let spec = DiskSpec {
        read_latency: half.clone(),
        write_latency: half,
        ..DiskSpec::unlimited(1 << 30)
    };
    let in_a_file = DiskSpec { backing: Backing::File, ..spec.clone() };
    let unlimited = DiskSpec { backing: Backing::File, ..DiskSpec::unlimited(1 << 30) };
    let start = |spec| Disk::start(&daemon_program(), spec).unwrap();
    for disk in [
        start(&spec),
        start(&in_a_file),
        start(&unlimited),
        Disk::start_without_rings(&spec),
        Disk::start_without_rings(&in_a_file),
    ] {
        answers_each_with_its_own_data(&disk);
        assert_eq!(disk.take_down(), Vec::<String>::new());
    }
}
