//! What it costs to load a record from the store and to judge it. The goal is a comparison of 2 arms, 20 points, 8 blocks and 60 slices in less than a second.
//!
//! The histograms are like measured ones: thousands of operations over some hundred buckets with a tail, no two alike, and figures of engine, kernel and
//! worker beside them. What is measured and what is loaded are the same bytes, so the page cache holds the store.

#[path = "../src/it/laboratory.rs"]
#[allow(dead_code, clippy::unwrap_used)] // As in the tests, of which this uses a part.
mod laboratory;

use laboratory::{Laboratory, SECOND_NS, Shown};
#[allow(unused_imports)] // The module above names them by this root.
use plimsoll_judge::{Analysis, Comparison, CurvePoint, analyse};
use plimsoll_record::{
    Histogram, Latencies, Operation, OperationSlice, PointEnd, PointRecord, Slice, Status,
    WorkerUse, figures as names,
};
use plimsoll_store::Store;
use std::time::Instant;

const POINTS: u32 = 20;
const BLOCKS: u32 = 8;
/// Of each point, one of them warm-up.
const SLICES: u32 = 60;
const ALL_SLICES: u32 = 2 * POINTS * BLOCKS * SLICES;
/// Successful operations in a second.
const OPERATIONS: u64 = 5_000;
const REPETITIONS: u32 = 5;

/// Figures as a run on a disk has them.
const COUNTERS: [&str; 14] = [
    names::ENGINE_PAGES_READ,
    names::ENGINE_PAGES_REQUESTED,
    names::ENGINE_CACHE_READ_BYTES,
    names::ENGINE_EVICTIONS,
    names::ENGINE_EVICTIONS_BY_APPLICATION,
    names::ENGINE_BLOCK_READ_BYTES,
    names::ENGINE_CACHE_USED,
    names::ENGINE_CACHE_MAXIMUM,
    names::ENGINE_CACHE_DIRTY,
    names::ENGINE_CHECKPOINT_RUNNING,
    names::PROCESS_READ_BYTES,
    names::DEVICE_READ_BYTES,
    names::DEVICE_WRITTEN_BYTES,
    names::DEVICE_READS,
];

fn main() {
    for (what, operations) in [
        ("one kind of operation", &[Operation::Read][..]),
        ("two kinds of operation", &[Operation::Read, Operation::Update][..]),
    ] {
        report(what, operations);
    }
}

fn report(what: &str, operations: &[Operation]) {
    let threads: Vec<u32> = (1..=POINTS).collect();
    let mut lab = Laboratory::closed(&["a", "b"], &["c"], &threads, BLOCKS)
        .measure(|case| Shown { seconds: 0, ..Shown::closed(case, OPERATIONS as f64) });
    let mut random = Random(1);
    let mut buckets = 0;
    for point in lab.points() {
        measure(point, operations, &mut random);
        let last = point.slices.last().expect("sixty");
        buckets += last.operations[0].latencies.service.buckets().count();
    }
    let directory = tempfile::tempdir().expect("a directory for the store");
    let path = directory.path().join("bench.db");
    let mut store = Store::open(&path).expect("a new store");
    let id = store.import(lab.record()).expect("room for a record");
    drop((store, lab));
    let stored_bytes = std::fs::metadata(&path).map_or(0, |file| file.len());

    let (mut load, mut judge) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..REPETITIONS {
        let begin = Instant::now();
        let store = Store::open_read_only(&path).expect("it was written above");
        let record = store.load(&id).expect("it was written above");
        load = load.min(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        let analysis = plimsoll_judge::analyse(&record).expect("the plan was made by this program");
        judge = judge.min(begin.elapsed().as_secs_f64());
        assert_eq!(analysis.series.len(), (2 * POINTS * BLOCKS) as usize);
    }
    println!(
        "{what}, {ALL_SLICES} slices of {:.0} buckets and {:.1} kB: load {load:.2} s ({:.0} µs a slice), judge {judge:.2} s ({:.0} µs a slice), \
         together {:.2} s",
        buckets as f64 / f64::from(2 * POINTS * BLOCKS),
        stored_bytes as f64 / 1e3 / f64::from(ALL_SLICES),
        load / f64::from(ALL_SLICES) * 1e6,
        judge / f64::from(ALL_SLICES) * 1e6,
        load + judge,
    );
}

/// Puts measured slices in the place of what the laboratory made up.
fn measure(point: &mut PointRecord, operations: &[Operation], random: &mut Random) {
    let sessions = f64::from(point.label.load.sessions());
    point.slices.clear();
    let mut busy_ns = 0.0;
    for index in 0..SLICES {
        let slice = slice(index, sessions / OPERATIONS as f64 * 1e9, operations, random);
        for part in &slice.operations {
            if index > 0 {
                busy_ns += part.latencies.service.mean_ns().unwrap_or_default()
                    * part.latencies.count() as f64;
            }
        }
        point.slices.push(slice);
    }
    point.end = Some(PointEnd {
        measured_ns: u64::from(SLICES - 1) * SECOND_NS,
        busy_ns: busy_ns as u64,
        ..PointEnd::default()
    });
}

fn slice(index: u32, middle_ns: f64, operations: &[Operation], random: &mut Random) -> Slice {
    let mut slice = Slice {
        index,
        start_ns: u64::from(index) * SECOND_NS,
        length_ns: SECOND_NS,
        warm_up: index == 0,
        worker: WorkerUse {
            cpu_user_ns: random.around(600e6),
            cpu_system_ns: random.around(300e6),
            context_switches: random.around(10_000.0),
            resident_bytes: random.around(1e9),
        },
        ..Slice::default()
    };
    for operation in operations {
        let count = random.around(OPERATIONS as f64 / operations.len() as f64);
        let mut service = Histogram::new();
        for _ in 0..count {
            service.record(random.latency_ns(middle_ns));
        }
        slice.completed.ok += count;
        slice.operations.push(OperationSlice {
            operation: *operation,
            status: Status::Ok,
            latencies: Latencies {
                // Read back it takes a hundredth of the memory.
                service: Histogram::from_bytes(&service.to_bytes()).expect("it was written so"),
                open: None,
            },
        });
    }
    for (place, name) in COUNTERS.into_iter().enumerate() {
        let figure = random.around(10.0_f64.powi(3 + place as i32 / 2));
        slice.telemetry.insert(name.to_owned(), figure as f64);
    }
    slice
}

/// Numbers that only have to be different from one another (SplitMix64).
struct Random(u64);

impl Random {
    /// A pseudo-random number between 0 and 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }

    /// Within two percent of a middle.
    fn around(&mut self, middle: f64) -> u64 {
        (middle * (0.98 + 0.04 * self.next())) as u64
    }

    /// A hump, and one of fifty far above it.
    fn latency_ns(&mut self, middle_ns: f64) -> u64 {
        if self.next() < 0.02 {
            return (middle_ns * (1.0 - 2.0 * self.next().max(1e-9).ln())) as u64;
        }
        let hump = self.next() + self.next() + self.next() + self.next() - 2.0;
        (middle_ns * (1.0 + 0.1 * hump)) as u64
    }
}
