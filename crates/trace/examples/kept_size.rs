//! How small a kept trace is: bytes per request of [`plimsoll_trace::finish`].
//!
//! `cargo run --release -p plimsoll-trace --example kept_size [-- TRACE]`
//!
//! Without a trace one is made up that is about as hard to press as a real one can be: random reads of 4 KiB on a disk with 7 ms latency, with log writes and
//! flushes between, every time and lateness noisy to the nanosecond.

use plimsoll_record::DiskSpec;
use plimsoll_trace::{Head, Kind, Request, Trace, TraceError, Writer, finish};
use std::path::{Path, PathBuf};
use std::time::Instant;

const REQUESTS: u64 = 1_000_000;
const GIB: u64 = 1 << 30;

fn main() -> Result<(), TraceError> {
    let folder = tempfile::tempdir().expect("a folder for the trace can be made");
    let live = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        None => made_up(folder.path())?,
    };
    let kept = folder.path().join("kept.trace");
    let began = Instant::now();
    let said = finish(&live, &kept, &[])?;
    let writing = began.elapsed();
    let began = Instant::now();
    let requests = Trace::open(&kept)?.requests().len();
    println!(
        "{requests} requests in {} bytes: {:.2} bytes each; written in {writing:.1?}, read in {:.1?}",
        said.bytes,
        said.bytes as f64 / requests as f64,
        began.elapsed()
    );
    Ok(())
}

fn made_up(folder: &Path) -> Result<PathBuf, TraceError> {
    let path = folder.join("live.trace");
    let writer = Writer::create(&path, REQUESTS, &Head::new(&DiskSpec::unlimited(4 * GIB)))?;
    let mut random = Random(42);
    let mut log = 3 * GIB;
    let mut time_ns = 1_000_000_000_000;
    for number in 0..REQUESTS {
        time_ns += random.below(400_000);
        let (kind, offset, length) = match number % 10 {
            0..8 => (Kind::Read, random.below(3 * GIB / 4096) * 4096, 4096),
            8 => {
                log += 4096;
                (Kind::Write, log, 4096)
            }
            _ => (Kind::Flush, 0, 0),
        };
        writer.record(&Request {
            time_ns,
            offset,
            length,
            kind,
            latency_ns: 7_000_000 + random.below(60_000),
            in_flight: 1 + random.below(16) as u16,
            lateness_ns: random.below(60_000) as u32,
        });
    }
    Ok(path)
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
