//! Events of a disk: at their times, for as long as stated, and nothing of them afterwards. Times are those of the daemon's own trace.

use crate::blocks::{ALIGNMENT, Buffer};
use crate::it::laboratory::{Disk, daemon_program, disks_and};
use plimsoll_record::{Act, DiskBurst, DiskFault, DiskRates, DiskSpec, EventRecord, EventSpec};
use plimsoll_testing::needs;
use plimsoll_trace::{Kind, Request, Trace, monotonic_ns};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::Duration;

const MS: u64 = 1_000_000;
const BLOCK: u64 = ALIGNMENT as u64;
/// Where the writer begins. The reader is below.
const WRITTEN_FROM: u64 = 32 << 20;

fn event(at_ns: u64, for_ns: u64, fault: DiskFault) -> EventSpec {
    EventSpec { at_ns, act: Act::Disk { for_ns, fault } }
}

fn direct(disk: &Disk) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_DIRECT).open(disk.device()).unwrap()
}

/// Does this for one block after the other, until this time. Returns how each ended, by the block's offset.
fn each_block(
    from: u64,
    until_ns: u64,
    mut work: impl FnMut(u64) -> io::Result<()>,
) -> Vec<(u64, io::Result<()>)> {
    let mut ended = Vec::new();
    for offset in (from..).step_by(ALIGNMENT) {
        if monotonic_ns() >= until_ns {
            break;
        }
        ended.push((offset, work(offset)));
        // A few thousand blocks are more than that takes.
        std::thread::sleep(Duration::from_millis(1));
    }
    ended
}

fn is_io_error(ended: &io::Result<()>) -> bool {
    ended.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EIO))
}

/// Whether requests of the test failed that arrived in this window, and no others.
fn fail_within(
    ended: &[(u64, io::Result<()>)],
    requests: &[Request],
    kind: Kind,
    window: &Range<u64>,
) {
    let mut failed = 0;
    for (offset, ended) in ended {
        let is_it = |request: &&Request| request.kind == kind && request.offset == *offset;
        let request = requests.iter().find(is_it).unwrap();
        let is_within = window.contains(&request.time_ns);
        assert_eq!(ended.is_err(), is_within, "{ended:?} {request:?} {window:?}");
        assert_eq!(is_io_error(ended), is_within, "{ended:?}");
        failed += usize::from(is_within);
    }
    assert!(failed > 0 && failed < ended.len(), "{failed} of {}", ended.len());
}

mod slow {
    use super::*;

    #[test]
    fn each_event_is_in_force_between_its_edges_and_at_no_other_time() {
        needs!(disks_and(&["losetup"]));
        let spec = DiskSpec { trace_requests: 100_000, ..DiskSpec::unlimited(64 << 20) };
        let disk = Disk::start(&daemon_program(), &spec).unwrap();
        let mut control = disk.control();
        let added_ns = 50 * MS;
        let errors = DiskFault::Errors { read: 1.0, write: 1.0, flush: 1.0 };
        let events = [
            event(200 * MS, 500 * MS, DiskFault::Latency { ns: added_ns }),
            event(1_000 * MS, 500 * MS, errors),
            event(1_800 * MS, 500 * MS, DiskFault::Stall),
        ];
        let start_ns = monotonic_ns() + 500 * MS;
        assert_eq!(control.timeline(&events, start_ns).unwrap(), []);
        let until_ns = start_ns + 2_600 * MS;
        let (reader, writer) = (direct(&disk), direct(&disk));
        let mut flushes = Vec::new();
        let (reads, writes) = std::thread::scope(|scope| {
            let reads = scope.spawn(|| {
                let mut block = Buffer::default();
                each_block(0, until_ns, |offset| {
                    reader.read_exact_at(block.of_length(ALIGNMENT), offset)
                })
            });
            let mut block = Buffer::default();
            block.of_length(ALIGNMENT).fill(7);
            let writes = each_block(WRITTEN_FROM, until_ns, |offset| {
                let written = writer.write_all_at(block.of_length(ALIGNMENT), offset);
                let begin_ns = monotonic_ns();
                let flushed = writer.sync_data();
                flushes.push((begin_ns..monotonic_ns(), flushed));
                written
            });
            (reads.join().unwrap(), writes)
        });

        let happened = control.timeline(&[], 0).unwrap();
        let window = |place: usize| {
            let (begin_ns, end_ns, _) = events[place].of_disk().unwrap();
            start_ns + begin_ns..start_ns + end_ns
        };
        let record = |place: usize| EventRecord {
            event: place as u32,
            at_ns: window(place).start,
            until_ns: Some(window(place).end),
            ..EventRecord::default()
        };
        assert_eq!(happened, [0, 1, 2].map(record));
        let trace = Trace::open(&disk.folder.path().join("trace")).unwrap();
        let marks = trace.marks().iter().map(|mark| (mark.time_ns, mark.label.as_str()));
        let [latency, failing, stall] = [0, 1, 2].map(window);
        let expected = [
            (latency.start, "event 1 begins: the disk adds 50ms to each request"),
            (latency.end, "event 1 ends: the disk adds 50ms to each request"),
            (
                failing.start,
                "event 2 begins: the disk fails 100% of reads and 100% of writes and 100% of flushes",
            ),
            (
                failing.end,
                "event 2 ends: the disk fails 100% of reads and 100% of writes and 100% of flushes",
            ),
            (stall.start, "event 3 begins: the disk answers nothing"),
            (stall.end, "event 3 ends: the disk answers nothing"),
        ];
        assert_eq!(marks.collect::<Vec<_>>(), expected);

        let (mut slowed, mut stalled) = (0, 0);
        for request in trace.requests() {
            let answered_ns = request.time_ns + request.latency_ns;
            assert!(!stall.contains(&answered_ns), "{request:?} {stall:?}");
            if latency.contains(&request.time_ns) {
                slowed += 1;
                assert!(request.latency_ns >= added_ns, "{request:?}");
            } else if stall.contains(&request.time_ns) {
                stalled += 1;
                assert!(answered_ns >= stall.end, "{request:?}");
            } else if request.time_ns > stall.start || answered_ns < stall.start {
                // Only an answer that is held can be late.
                assert_eq!(request.lateness_ns, 0, "{request:?}");
            }
        }
        assert!(slowed > 0 && stalled > 0, "{slowed} {stalled}");
        fail_within(&reads, trace.requests(), Kind::Read, &failing);
        fail_within(&writes, trace.requests(), Kind::Write, &failing);
        for (time, flushed) in &flushes {
            if failing.contains(&time.start) && failing.contains(&time.end) {
                assert!(is_io_error(flushed), "{flushed:?}");
            } else if time.end < failing.start || time.start >= failing.end {
                assert!(flushed.is_ok(), "{flushed:?}");
            }
        }
        // What failed was not written.
        let mut block = Buffer::default();
        for (offset, ended) in &writes {
            let block = block.of_length(ALIGNMENT);
            reader.read_exact_at(block, *offset).unwrap();
            let expected = if ended.is_ok() { 7 } else { 0 };
            assert!(block.iter().all(|byte| *byte == expected), "{offset} {ended:?}");
        }
        let failed =
            |all: &[(u64, io::Result<()>)]| all.iter().filter(|one| one.1.is_err()).count();
        let counters = control.counters().unwrap();
        assert!(counters.errors >= (failed(&reads) + failed(&writes)) as u64, "{counters:?}");
        assert_eq!(counters.failed, 0, "{counters:?}");
        drop((reader, writer));
        assert_eq!(disk.take_down(), Vec::<String>::new());
    }

    #[test]
    fn without_burst_credits_there_is_the_base_rate() {
        needs!(disks_and(&["losetup"]));
        const READS: u64 = 20;
        let spec = DiskSpec {
            iops: DiskRates { joint: Some(100.0), ..DiskRates::default() },
            burst: Some(DiskBurst {
                iops: 3_000.0,
                bandwidth: None,
                credits: 1e6,
                refill: 100.0,
                start: 1.0,
            }),
            trace_requests: 10_000,
            ..DiskSpec::unlimited(64 << 20)
        };
        let disk = Disk::start(&daemon_program(), &spec).unwrap();
        let mut control = disk.control();
        let credits = control.counters().unwrap().credits;
        assert!(credits > Some(0.0), "{credits:?}");
        let hour_ns = 3_600_000 * MS;
        let no_credits = event(0, hour_ns, DiskFault::NoCredits);
        let start_ns = monotonic_ns();
        control.timeline(&[no_credits], start_ns).unwrap();
        assert_eq!(control.counters().unwrap().credits, Some(0.0));
        let device = direct(&disk);
        let mut block = Buffer::default();
        for number in 0..READS {
            device.read_exact_at(block.of_length(ALIGNMENT), number * BLOCK).unwrap();
        }
        let lasted_ns = monotonic_ns() - start_ns;
        assert!(lasted_ns >= (READS - 1) * 10 * MS, "{lasted_ns}");
        // It is not over, and what was to come does not.
        let happened = control.timeline(&[], 0).unwrap();
        assert_eq!((happened.len(), happened[0].until_ns), (1, None));
        assert!(control.counters().unwrap().credits > Some(1_000.0));
        drop(device);
        assert_eq!(disk.take_down(), Vec::<String>::new());
    }
}
