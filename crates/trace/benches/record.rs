//! What recording a request costs: nanoseconds per record, from one thread and from two at once, while the file is filled for the first time
//! and while it is written over. In CPU time of the process, which counts waiting for a processor for nothing.
//!
//! `cargo bench -p plimsoll-trace --bench record`

use plimsoll_record::DiskSpec;
use plimsoll_trace::{Head, Kind, Request, Writer};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

const REQUESTS: u64 = 4_000_000;
const ROUNDS: usize = 7;

fn main() {
    let folder = if std::path::Path::new("/dev/shm").is_dir() {
        tempfile::tempdir_in("/dev/shm")
    } else {
        tempfile::tempdir()
    };
    let folder = folder.expect("a folder for the trace can be made");
    for threads in [1, 2] {
        let (mut first, mut over) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let path = folder.path().join(format!("{threads}-{round}.trace"));
            let head = Head::new(&DiskSpec::unlimited(1 << 30));
            let writer = Writer::create(&path, REQUESTS, &head).expect("there is room for 128 MB");
            first.push(ns_per_record(&writer, threads));
            over.push(ns_per_record(&writer, threads));
            std::fs::remove_file(path).expect("it was just made");
        }
        for (what, rounds) in [("first", &mut first), ("over", &mut over)] {
            rounds.sort_by(f64::total_cmp);
            println!(
                "{threads} thread(s), {what}: best {:.1}, median {:.1} ns per record",
                rounds[0],
                rounds[ROUNDS / 2]
            );
        }
    }
}

fn ns_per_record(writer: &Writer, threads: u64) -> f64 {
    let each = REQUESTS / threads;
    let began = cpu_ns();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for number in 0..each {
                    writer.record(black_box(&Request {
                        time_ns: number,
                        offset: number * 4096,
                        length: 4096,
                        kind: Kind::Read,
                        latency_ns: 7_000_000,
                        in_flight: 16,
                        lateness_ns: 900,
                    }));
                }
            });
        }
    });
    (cpu_ns() - began) / REQUESTS as f64
}

fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
