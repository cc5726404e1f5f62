//! What a disk keeps and counts while it runs, and the commands that it gets.

use crate::Control;
use crate::it::laboratory::{Disk, Running, daemon_program, disks_and, succeeds};
use plimsoll_record::{Backing, DiskBurst, DiskLatency, DiskRates, DiskSpec};
use plimsoll_testing::needs;
use plimsoll_trace::{Kind, Trace};
use std::fs;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

mod slow {
    use super::*;

    #[test]
    fn blocks_come_back_as_they_were_written() {
        needs!(disks_and(&["losetup", "blkdiscard"]));
        for backing in [Backing::Memory, Backing::File] {
            let spec =
                DiskSpec { backing, trace_requests: 10_000, ..DiskSpec::unlimited(64 << 20) };
            let disk = Disk::start(&daemon_program(), &spec).unwrap();
            let mut control = disk.control();
            control.mark("before").unwrap();
            let device = fs::File::options().read(true).write(true).open(disk.device());
            let device = device.unwrap();
            let written: Vec<u8> = (0..3 << 20_u32).map(|byte| (byte % 251) as u8).collect();
            device.write_all_at(&written, 512).unwrap();
            device.sync_all().unwrap();
            drop(device);
            // The page cache of the device forgets; the disk does not.
            succeeds(Command::new("blockdev").args(["--flushbufs", disk.device()]));
            let mut read = vec![0; written.len()];
            let device = fs::File::open(disk.device()).unwrap();
            device.read_exact_at(&mut read, 512).unwrap();
            assert!(read == written, "{backing:?}");
            drop(device);

            let counters = control.counters().unwrap();
            assert!(counters.written_bytes >= 3 << 20, "{counters:?}");
            assert!(counters.read_bytes >= 3 << 20, "{counters:?}");
            assert!(counters.flushes >= 1, "{counters:?}");
            assert_eq!(counters.failed, 0, "{counters:?}");
            let later = control.counters().unwrap();
            assert!(
                counters.cpu_ns > 0 && later.cpu_ns > counters.cpu_ns,
                "{counters:?} {later:?}"
            );
            // The kernel reads ahead of what was requested, and a reader has its answer before the
            // disk has counted it.
            let mut requested = 0;
            while control.counters().unwrap().in_flight > 0 {
                requested += 1;
                assert!(requested < 1000, "requests never end: {counters:?}");
                thread::sleep(Duration::from_millis(10));
            }
            assert!(counters.queue_ns >= counters.busy_ns && counters.busy_ns > 0);

            succeeds(Command::new("blkdiscard").args(["-l", "4M", disk.device()]));
            assert!(control.counters().unwrap().discards >= 1);
            let device = fs::File::open(disk.device()).unwrap();
            device.read_exact_at(&mut read, 512).unwrap();
            assert!(read.iter().all(|byte| *byte == 0), "{backing:?}");

            let trace = Trace::open(&disk.folder.path().join("trace")).unwrap();
            assert_eq!(trace.marks()[0].label, "before");
            let requests = trace.requests().iter();
            let writes = requests.filter(|request| request.kind == Kind::Write);
            let written: u64 = writes.map(|request| u64::from(request.length)).sum();
            assert!(written >= 3 << 20, "{written}");
            drop(device);
            assert_eq!(disk.take_down(), Vec::<String>::new());
        }
    }

    #[test]
    fn limits_come_and_go_while_it_runs() {
        needs!(disks_and(&["losetup"]));
        // As good as forever.
        let slow = DiskSpec {
            read_latency: DiskLatency::Constant { ns: 3_600_000_000_000 },
            ..DiskSpec::unlimited(64 << 20)
        };
        let disk = Disk::start(&daemon_program(), &DiskSpec::unlimited(64 << 20)).unwrap();
        let mut control = disk.control();
        assert!(control.counters().unwrap().shaped);
        control.respec(&slow).unwrap();
        let mut reader =
            Running::start(Command::new("dd").arg(format!("if={}", disk.device())).args([
                "of=/dev/null",
                "bs=4k",
                "count=1",
                "iflag=direct",
            ]));
        while control.counters().unwrap().in_flight == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // Several may ask at once. What is held is answered when the limits go.
        let mut other = Control::connect(&disk.folder.path().join("socket")).unwrap();
        other.shape(false).unwrap();
        assert!(reader.ends(|| {}));
        assert!(!control.counters().unwrap().shaped);

        let bursting = DiskSpec {
            iops: DiskRates { joint: Some(100.0), ..DiskRates::default() },
            burst: Some(DiskBurst {
                iops: 3_000.0,
                bandwidth: None,
                credits: 1_000.0,
                refill: 100.0,
                start: 0.5,
            }),
            ..DiskSpec::unlimited(128 << 20)
        };
        control.respec(&bursting).unwrap();
        assert_eq!(control.counters().unwrap().credits, Some(500.0));
        let sectors = std::fs::read_to_string(format!(
            "/sys/class/block/{}/size",
            disk.device().trim_start_matches("/dev/")
        ));
        assert_eq!(sectors.unwrap().trim(), ((64 << 20) / 512).to_string(), "the capacity stays");
        assert_eq!(disk.take_down(), Vec::<String>::new());
    }
}
