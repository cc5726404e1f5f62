//! What the measuring loop costs with an engine that does nothing: nanoseconds per operation, and what a second thread adds. `own-2` and `own-32` are mixes of
//! so many operations of an application: finds by `_id`.
//!
//! `cargo bench -p plimsoll-loadgen --bench loop [-- --rounds 9]`
//!
//! Short rounds alternate between mixes and numbers of threads, because the machine's speed drifts and other programs run on it: the best
//! round says what the loop costs, the median what the machine made of it. Costs are also given in CPU time of the whole process, which
//! counts waiting for a processor for nothing.

use plimsoll_engine::{Engine, Opening, open};
use plimsoll_loadgen::{PointSpec, SliceSink, program_clock, run_point};
use plimsoll_plan::Settings;
use plimsoll_record::{BUCKETS, Slice, bucket_of};
use plimsoll_workload::documents::{DocumentsSpec, Literal};
use plimsoll_workload::schedule::{Load, Share};
use plimsoll_workload::{DataSpec, KeySpace, Mix, Workload};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::process::exit;
use std::sync::Arc;

const RECORDS: u64 = 1_000_000;
const ROUND_NS: u64 = 400_000_000;
const SEED: u64 = 42;

struct Count(u64);

impl SliceSink for Count {
    fn slice(&mut self, slice: Slice) {
        self.0 += slice.completed.total();
    }
}

/// One mix with its costs and rates, round by round.
struct Subject {
    name: &'static str,
    mix: Mix,
    workload: Arc<Workload>,
    one: Rounds,
    two: Rounds,
}

#[derive(Default)]
struct Rounds {
    operations_per_second: Vec<f64>,
    cpu_ns: Vec<f64>,
}

impl Rounds {
    fn best(&self) -> f64 {
        self.operations_per_second.iter().copied().fold(0.0, f64::max)
    }

    fn median(&self) -> f64 {
        median(&self.operations_per_second)
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn process_cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn preset(name: &'static str) -> Subject {
    subject(name, Mix::preset(name).expect("it is a preset"), &DataSpec::with_records(RECORDS))
}

fn own(name: &'static str, operations: u32) -> Subject {
    let read = |text: &str| serde_json::from_str::<Literal>(text).expect("it is JSON");
    let collections = format!(
        r#"{{"c": {{"records": {RECORDS}, "document": {{"_id": {{"text": 23, "unique": true}}}}}}}}"#
    );
    let one = |number| format!(r#""read-{number}": {{"find": "c", "by": "_id"}}"#);
    let operations: Vec<String> = (0..operations).map(one).collect();
    let operations = format!("{{{}}}", operations.join(", "));
    let documents = DocumentsSpec::new(SEED, read(&collections), read(&operations));
    let mut mix = Mix::named(name);
    mix.operations = documents.operations().into_iter().map(|own| (own, 1.0)).collect();
    subject(name, mix, &DataSpec::with_documents(documents))
}

fn subject(name: &'static str, mix: Mix, data: &DataSpec) -> Subject {
    let key_space = KeySpace::new(data).expect("the data is possible");
    let workload =
        Arc::new(Workload::new(&key_space, &mix, SEED, None).expect("the mix is possible"));
    Subject { name, mix, workload, one: Rounds::default(), two: Rounds::default() }
}

fn measure(engine: &dyn Engine, subject: &mut Subject, sessions: u32) {
    let spec = PointSpec {
        load: Load::closed(sessions),
        warm_up_ns: 0,
        duration_ns: ROUND_NS,
        operations: None,
        seed: SEED,
        verify: false,
        share: Share::WHOLE,
    };
    let mut count = Count(0);
    let cpu_begin = process_cpu_ns();
    let end = run_point(engine, &subject.workload, &spec, &subject.mix, &mut count)
        .expect("the noop engine has sessions for all");
    let cpu_ns = process_cpu_ns() - cpu_begin;
    let rounds = if sessions == 1 { &mut subject.one } else { &mut subject.two };
    let operations = count.0 as f64;
    rounds.operations_per_second.push(operations / end.measured_ns as f64 * 1e9);
    rounds.cpu_ns.push(cpu_ns / operations);
}

/// What no measuring loop can do without, nanoseconds per operation: a draw, a call that is not known beforehand, the clock before and after it, and a count in a
/// histogram.
fn bare() -> f64 {
    let clock = quanta::Clock::new();
    let scale = clock.delta_as_nanos(0, 1 << 40);
    let is_counter = program_clock() == "tsc";
    let read = || {
        #[cfg(target_arch = "x86_64")]
        if is_counter {
            // SAFETY: every processor of this kind has the instruction.
            return unsafe { std::arch::x86_64::_rdtsc() };
        }
        clock.raw()
    };
    let call: fn(u64) -> u64 = black_box(|key| key ^ SEED);
    let mut counts = vec![0_u32; BUCKETS];
    let mut drawn = SEED;
    let begin = read();
    let elapsed = || ((u128::from(read() - begin) * u128::from(scale)) >> 40) as u64;
    let (mut operations, mut now) = (0_u64, 0);
    while now < ROUND_NS / 4 {
        drawn ^= drawn << 13;
        drawn ^= drawn >> 7;
        drawn ^= drawn << 17;
        let key = ((u128::from(drawn) * u128::from(RECORDS)) >> 64) as u64;
        let dispatched = elapsed();
        black_box(call(key));
        now = elapsed();
        counts[bucket_of(now - dispatched)] += 1;
        operations += 1;
    }
    black_box(&counts);
    now as f64 / operations as f64
}

fn rounds() -> u32 {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    match (words.next().as_deref(), words.next()) {
        (None, _) => 9,
        (Some("--rounds"), Some(number))
            if number.parse::<u32>().is_ok_and(|number| number > 0) =>
        {
            number.parse().expect("it was parsed before")
        }
        _ => {
            eprintln!("usage: loop [--rounds N]");
            exit(2);
        }
    }
}

fn main() {
    let rounds = rounds();
    let (settings, data) = (Settings::default(), DataSpec::with_records(RECORDS));
    let opening = Opening { seed: SEED, ..Opening::new(&settings, &data) };
    let engine = open("noop", &opening).expect("noop is always there");
    let mut subjects = [preset("c"), preset("a"), own("own-2", 2), own("own-32", 32)];
    let mut bare_ns = Vec::new();
    for _ in 0..rounds {
        for subject in &mut subjects {
            bare_ns.push(bare());
            measure(&*engine, subject, 1);
            measure(&*engine, subject, 2);
        }
    }
    println!("clock {}, {RECORDS} records, zipfian, {rounds} rounds", program_clock());
    let bare_best = bare_ns.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "a bare loop           best {bare_best:5.1} ns/op, median {:5.1} ns/op",
        median(&bare_ns)
    );
    for subject in &subjects {
        let Subject { name, one, two, .. } = subject;
        println!(
            "workload {name}, 1 thread   over the bare loop: best {:.2}, medians {:.2}",
            1e9 / one.best() / bare_best,
            1e9 / one.median() / median(&bare_ns),
        );
        println!(
            "workload {name}, 1 thread   best {:5.1} ns/op, median {:5.1} ns/op, CPU median {:5.1} ns/op",
            1e9 / one.best(),
            1e9 / one.median(),
            median(&one.cpu_ns),
        );
        println!(
            "workload {name}, 2 threads  best {:5.1} Mop/s, median {:5.1} Mop/s, CPU median {:5.1} ns/op; over 1 thread: best {:.2}, medians {:.2}, by CPU time {:.2}",
            two.best() / 1e6,
            two.median() / 1e6,
            median(&two.cpu_ns),
            two.best() / one.best(),
            two.median() / one.median(),
            2.0 * median(&one.cpu_ns) / median(&two.cpu_ns),
        );
    }
}
