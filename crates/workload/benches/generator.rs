//! What drawing one operation costs: nanoseconds per [`Ask`], its fields looked at once as an engine would.
//!
//! Run with `cargo bench -p plimsoll-workload --bench generator`.

use divan::{Bencher, black_box, counter::ItemsCount};
use plimsoll_workload::documents::{DocumentsSpec, Literal};
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

/// An application's orders: of about 3 kB with 21 fields and a list of five documents, a customer with an index, and two fields that change.
const ORDERS: &str = r#"{"orders": {"records": 1000000, "document": {
    "_id": {"object_id": null},
    "customer": {"text": 12, "distinct": 100000, "skew": "zipfian"},
    "placed": {"date": {"every": "15s", "until": "2026-06-30"}},
    "status": {"choice": {"open": "5%", "paid": "15%", "sent": "80%"}},
    "items": {"list": {"product": {"int": {"uniform": [1, 20000]}}, "quantity": {"int": {"uniform": [1, 4]}},
        "price": {"decimal": {"lognormal": {"median": 15, "p99": 400}}, "digits": 2}}, "length": 5},
    "a": {"int": {"uniform": [1, 9]}}, "b": {"int": {"uniform": [1, 9]}}, "c": {"double": {"uniform": [1, 9]}},
    "d": {"bool": "20%"}, "e": {"uuid": null}, "f": {"text": 8}, "g": {"text": 16}, "h": {"text": 24},
    "i": {"text": 32}, "j": {"int": {"zipfian": [1, 100]}}, "k": {"date": {"uniform": ["2024-01-01", "2026-01-01"]}},
    "l": {"text": 12, "distinct": 40}, "m": {"value": "EUR"}, "n": {"null": null},
    "note": {"text": {"uniform": [20, 60]}},
    "body": {"text": 2300, "compressible": "60%"}}}}"#;

/// One operation of an application alone: by a secondary field, an update of two fields, an insert of 3 kB.
#[divan::bench(args = ["find", "update", "insert"])]
fn own(bencher: Bencher<'_, '_>, operation: &str) {
    let operations = match operation {
        "find" => {
            r#"{"one": {"find": "orders", "by": "customer", "keys": "zipfian", "limit": 10}}"#
        }
        "update" => {
            r#"{"one": {"update": "orders", "by": "_id", "keys": "latest", "set": ["status", "note"]}}"#
        }
        _ => r#"{"one": {"insert": "orders"}}"#,
    };
    let read = |text| serde_json::from_str::<Literal>(text).expect("it is JSON");
    let documents = DocumentsSpec::new(1, read(ORDERS), read(operations));
    let mut mix = Mix::named("own");
    mix.operations = documents.operations().into_iter().map(|own| (own, 1.0)).collect();
    let key_space =
        KeySpace::new(&DataSpec::with_documents(documents)).expect("the data is possible");
    let workload = Workload::new(&key_space, &mix, 1, None).expect("the mix is possible");
    let mut generator = Arc::new(workload).generator(0);
    bencher.counter(ItemsCount::new(OPERATIONS)).bench_local(|| {
        for _ in 0..OPERATIONS {
            let Ask::Statement(statement) = generator.next() else { continue };
            let inserted = black_box(statement).inserted;
            if let Some(inserted) = inserted {
                generator.acknowledge_documents(inserted);
            }
        }
    });
}
