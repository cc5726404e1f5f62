//! What the whole load generator costs over a bare loop of the same WiredTiger calls with the same keys on the same open database.
//!
//! `cargo bench -p plimsoll-loadgen --features wiredtiger --bench wiredtiger -- --records 1M --pairs 30`
//!
//! Workload C with uniform keys, one thread, all data in the cache. The bare loop has its keys drawn beforehand, side by side in memory in
//! the order in which it reads them. Both take short turns in pairs, because the machine's speed drifts; in each pair both ask the
//! same questions, and each pair asks others. Costs are in CPU time of the whole process, which counts the generator's collecting thread
//! as well and waiting for a processor for nothing.

use plimsoll_engine::Opening;
use plimsoll_engine::bare::Bare;
use plimsoll_loadgen::{PointSpec, SliceSink, run_load, run_point};
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_record::quantities::units;
use plimsoll_record::{Slice, WorkerUse};
use plimsoll_workload::schedule::{Load, Share};
use plimsoll_workload::{Ask, DataSpec, KeySpace, Mix, RequestDistribution, Workload};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::process::exit;
use std::sync::Arc;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const OPERATIONS: u64 = 100_000;

struct Arguments {
    records: u64,
    pairs: u64,
}

fn arguments() -> Arguments {
    let mut arguments = Arguments { records: 1_000_000, pairs: 30 };
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let number = words
            .next()
            .and_then(|text| units::parse_count(&text).ok())
            .filter(|number| *number > 0);
        match (word.as_str(), number) {
            ("--records", Some(number)) => arguments.records = number,
            ("--pairs", Some(number)) => arguments.pairs = number,
            _ => {
                eprintln!("usage: wiredtiger [--records N] [--pairs N]");
                exit(2);
            }
        }
    }
    arguments
}

fn process_cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Completed operations, and the CPU time from the first sample to the last.
#[derive(Default)]
struct Counts {
    completed: u64,
    cpu_ns: Option<(f64, f64)>,
}

impl SliceSink for Counts {
    fn slice(&mut self, slice: Slice) {
        self.completed += slice.completed.ok;
    }

    fn sample(&mut self) -> (WorkerUse, BTreeMap<String, f64>) {
        let now = process_cpu_ns();
        self.cpu_ns = Some((self.cpu_ns.map_or(now, |(first, _)| first), now));
        Default::default()
    }
}

#[derive(Clone, Copy)]
struct Cost {
    cpu_ns: f64,
    wall_ns: f64,
}

fn bare_turn(bare: &Bare, workload: &Arc<Workload>) -> Cost {
    let mut generator = workload.generator(0);
    let mut keys: Vec<Vec<u8>> = Vec::new();
    for _ in 0..OPERATIONS {
        let Ask::Read { key, .. } = generator.next() else { unreachable!("workload C only reads") };
        keys.push(key.to_vec());
    }
    let mut reader = bare.reader(keys.iter().map(Vec::as_slice)).expect("a bare session");
    drop(keys);
    let (begin, cpu_begin) = (Instant::now(), process_cpu_ns());
    for number in 0..OPERATIONS as usize {
        reader.read(number);
    }
    Cost {
        cpu_ns: (process_cpu_ns() - cpu_begin) / OPERATIONS as f64,
        wall_ns: begin.elapsed().as_nanos() as f64 / OPERATIONS as f64,
    }
}

fn generator_turn(bare: &Bare, workload: &Arc<Workload>, mix: &Mix) -> Cost {
    let spec = PointSpec {
        load: Load::closed(1),
        warm_up_ns: 0,
        duration_ns: u64::MAX,
        operations: Some(OPERATIONS),
        seed: 1,
        verify: false,
        share: Share::WHOLE,
    };
    let mut counts = Counts::default();
    let end = run_point(bare.engine(), workload, &spec, mix, &mut counts).expect("a session");
    assert_eq!(counts.completed, OPERATIONS);
    let (begin, end_cpu) = counts.cpu_ns.expect("there is at least one slice");
    Cost {
        cpu_ns: (end_cpu - begin) / OPERATIONS as f64,
        wall_ns: end.measured_ns as f64 / OPERATIONS as f64,
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn main() {
    let arguments = arguments();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = DataSpec::with_records(arguments.records);
    let mut settings = Settings::default();
    // Twice the data and some more, so that nothing is evicted.
    let cache_bytes = 256 * 1024 * 1024 + 2 * arguments.records * 1_300;
    settings.0.insert("cache_size".into(), SettingValue::Bytes(cache_bytes));
    let opening = Opening {
        directory: Some(directory.path()),
        allocator: "mimalloc",
        ..Opening::new(&settings, &data)
    };
    let bare = Bare::open(&opening).expect("WiredTiger opens in a new directory");
    let key_space = KeySpace::new(&data).expect("the data is possible");
    let begin = Instant::now();
    let mut counts = Counts::default();
    run_load(bare.engine(), &key_space.loader(1), 1, &mut counts).expect("a session");
    assert_eq!(counts.completed, arguments.records);
    println!("loaded {} records in {:.1} s", arguments.records, begin.elapsed().as_secs_f64());
    bare.engine().settle().expect("the database is opened again");

    let mut mix = Mix::preset("c").expect("it is a preset");
    mix.request_distribution = RequestDistribution::Uniform;
    let workload_of = |seed| {
        let workload = Workload::new(&key_space, &mix, seed, None).expect("the mix is possible");
        Arc::new(workload)
    };
    // Everything is read once, so that it is in the cache.
    for seed in 0..3 * arguments.records.div_ceil(OPERATIONS) {
        generator_turn(&bare, &workload_of(1_000_000 + seed), &mix);
    }
    let mut pairs = Vec::new();
    for number in 0..arguments.pairs {
        let workload = workload_of(number);
        // The first of one pair is the last of the next.
        if number % 2 == 0 {
            let one = bare_turn(&bare, &workload);
            pairs.push((one, generator_turn(&bare, &workload, &mix)));
        } else {
            let other = generator_turn(&bare, &workload, &mix);
            pairs.push((bare_turn(&bare, &workload), other));
        }
    }
    println!(
        "bare loop       {:7.1} ns of CPU time per read, {:7.1} ns by the clock (medians of {} turns of {OPERATIONS})",
        median(pairs.iter().map(|pair| pair.0.cpu_ns)),
        median(pairs.iter().map(|pair| pair.0.wall_ns)),
        pairs.len(),
    );
    println!(
        "load generator  {:7.1} ns of CPU time per read, {:7.1} ns by the clock",
        median(pairs.iter().map(|pair| pair.1.cpu_ns)),
        median(pairs.iter().map(|pair| pair.1.wall_ns)),
    );
    println!(
        "throughput of the generator over that of the bare loop, median of pairs: {:.4} by CPU time, {:.4} by the clock",
        median(pairs.iter().map(|(one, other)| one.cpu_ns / other.cpu_ns)),
        median(pairs.iter().map(|(one, other)| one.wall_ns / other.wall_ns)),
    );
    bare.close().expect("all sessions are gone");
}
