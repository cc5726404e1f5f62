//! What drawing one operation costs: nanoseconds per [`Ask`], its fields looked at once as an engine would.
//!
//! Run with `cargo bench -p plimsoll-workload --bench generator`.

use divan::{Bencher, black_box, counter::ItemsCount};
use plimsoll_workload::{
    Ask, DataSpec, KeyOrder, KeySpace, KeyText, Mix, OpGenerator, RequestDistribution, Workload,
};
use std::sync::Arc;

const OPERATIONS: u64 = 10_000;

fn main() {
    divan::main();
}

fn generator(mix: &Mix) -> OpGenerator {
    let key_space =
        KeySpace::new(&DataSpec::with_records(1_000_000)).expect("the data is possible");
    let workload = Workload::new(&key_space, mix, 1, Some(1_000_000)).expect("the mix is possible");
    Arc::new(workload).generator(0)
}

/// What an engine that does nothing would do.
#[inline]
fn consume(ask: Ask<'_>) -> Option<u64> {
    match ask {
        Ask::Read { key, fields } => drop(black_box((key, fields))),
        Ask::Update { key, changes } => drop(black_box((key, changes))),
        Ask::Scan { start, count, fields } => drop(black_box((start, count, fields))),
        Ask::ReadModifyWrite { key, fields, changes } => drop(black_box((key, fields, changes))),
        Ask::Statement(statement) => drop(black_box(statement)),
        Ask::Insert { key, fields, number } => {
            black_box((key, fields));
            return Some(number);
        }
    }
    None
}

fn closed(bencher: Bencher<'_, '_>, mix: &Mix) {
    let mut generator = generator(mix);
    bencher.counter(ItemsCount::new(OPERATIONS)).bench_local(|| {
        for _ in 0..OPERATIONS {
            if let Some(number) = consume(generator.next()) {
                generator.acknowledge(number);
            }
        }
    });
}

#[divan::bench(args = Mix::PRESETS)]
fn next(bencher: Bencher<'_, '_>, preset: &str) {
    closed(bencher, &Mix::preset(preset).expect("it is a preset"));
}

#[divan::bench(args = Mix::PRESETS)]
fn at(bencher: Bencher<'_, '_>, preset: &str) {
    let mut generator = generator(&Mix::preset(preset).expect("it is a preset"));
    let mut arrival = 0;
    bencher.counter(ItemsCount::new(OPERATIONS)).bench_local(|| {
        for _ in 0..OPERATIONS {
            if let Some(number) = consume(generator.at(arrival)) {
                generator.acknowledge(number);
            }
            arrival += 1;
        }
    });
}

/// Reads alone, with each way of choosing keys.
#[divan::bench(args = ["uniform", "sequential", "zipfian", "latest", "hotspot", "exponential"])]
fn read_by(bencher: Bencher<'_, '_>, distribution: &str) {
    let mut mix = Mix::preset("c").expect("it is a preset");
    mix.request_distribution = match distribution {
        "uniform" => RequestDistribution::Uniform,
        "sequential" => RequestDistribution::Sequential,
        "zipfian" => RequestDistribution::Zipfian,
        "latest" => RequestDistribution::Latest,
        "hotspot" => RequestDistribution::hotspot(),
        _ => RequestDistribution::exponential(),
    };
    closed(bencher, &mix);
}

/// Updates alone, uniform keys: one field of 100 bytes, or ten.
#[divan::bench(args = [false, true])]
fn update_all_fields(bencher: Bencher<'_, '_>, all: bool) {
    let mut mix = Mix::preset("a").expect("it is a preset");
    mix.read = 0.0;
    mix.write_all_fields = all;
    mix.request_distribution = RequestDistribution::Uniform;
    closed(bencher, &mix);
}

/// The text of a key alone.
#[divan::bench]
fn hashed_key(bencher: Bencher<'_, '_>) {
    let mut key = KeyText::new(KeyOrder::Hashed, 1);
    bencher.counter(ItemsCount::new(OPERATIONS)).bench_local(|| {
        for number in 0..OPERATIONS {
            black_box(key.write(black_box(number)));
        }
    });
}

/// Records of the load phase.
#[divan::bench]
fn load(bencher: Bencher<'_, '_>) {
    let key_space = KeySpace::new(&DataSpec::with_records(1 << 60)).expect("the data is possible");
    let mut generator = key_space.loader(1).generator(0);
    bencher.counter(ItemsCount::new(OPERATIONS)).bench_local(|| {
        for _ in 0..OPERATIONS {
            black_box(generator.next());
        }
    });
}
