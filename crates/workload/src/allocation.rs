//! Drawing an operation never allocates.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use crate::{
    Ask, DataSpec, FieldLength, KeySpace, Mix, RequestDistribution, ScanDistribution, Verification,
    Workload,
};
use plimsoll_testing::allocations::{CountingAllocator, during};
use std::hint::black_box;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn lengths() -> Vec<FieldLength> {
    vec![
        FieldLength::Constant(100),
        FieldLength::Uniform { min: 0, max: 200 },
        FieldLength::Zipfian { min: 1, max: 500 },
        FieldLength::Histogram { block_size: 7, counts: vec![5, 0, 3, 9] },
    ]
}

fn distributions() -> Vec<RequestDistribution> {
    vec![
        RequestDistribution::Uniform,
        RequestDistribution::Sequential,
        RequestDistribution::Zipfian,
        RequestDistribution::Latest,
        RequestDistribution::hotspot(),
        RequestDistribution::exponential(),
    ]
}

/// Looks at every byte that an engine would look at.
fn look(ask: Ask<'_>) -> Option<u64> {
    let fields = match ask {
        Ask::Read { .. } | Ask::Scan { .. } | Ask::Statement(_) => None,
        Ask::Update { changes, .. } | Ask::ReadModifyWrite { changes, .. } => Some(changes),
        Ask::Insert { fields, .. } => Some(fields),
    };
    for (index, name, value) in fields.into_iter().flatten() {
        black_box((index, name, value));
    }
    black_box(ask);
    if let Ask::Insert { number, .. } = ask { Some(number) } else { None }
}

#[test]
fn loading_never_allocates() {
    for field_length in lengths() {
        let mut data = DataSpec::with_records(2_000);
        data.field_length = field_length;
        let key_space = KeySpace::new(&data).unwrap();
        let mut generator = key_space.loader(1).generator(0);
        let allocations = during(|| {
            while let Some(ask) = generator.next() {
                look(ask);
            }
        });
        assert_eq!(allocations, 0, "{data:?}");
    }
}

#[test]
fn verifying_never_allocates() {
    let mut data = DataSpec::with_records(1_000);
    data.data_integrity = true;
    let key_space = KeySpace::new(&data).unwrap();
    let mut generator = key_space.loader(1).generator(0);
    let allocations = during(|| {
        while let Some(Ask::Insert { key, fields, .. }) = generator.next() {
            let mut verifier = key_space.verifier(key);
            for (_, name, value) in fields {
                verifier.field(name, value);
            }
            assert_eq!(verifier.found(), Verification::Matches);
        }
    });
    assert_eq!(allocations, 0);
}

mod slow {
    use super::*;

    #[test]
    fn asking_never_allocates() {
        for field_length in lengths() {
            for request_distribution in distributions() {
                for (inserts, fields_by_one) in [(0.0, false), (1.0, true)] {
                    let mut mix = Mix::preset("a").unwrap();
                    (mix.insert, mix.scan, mix.read_modify_write) = (inserts, 1.0, 1.0);
                    mix.request_distribution = request_distribution;
                    mix.scan_length.distribution = ScanDistribution::Zipfian;
                    mix.read_all_fields = !fields_by_one;
                    mix.write_all_fields = fields_by_one;
                    let mut data = DataSpec::with_records(5_000);
                    data.field_length = field_length.clone();
                    let key_space = KeySpace::new(&data).unwrap();
                    let workload =
                        Arc::new(Workload::new(&key_space, &mix, 1, Some(2_000)).unwrap());
                    let mut generator = workload.generator(0);
                    let allocations = during(|| {
                        for arrival in 0..2_000 {
                            for open_loop in [false, true] {
                                let ask = if open_loop {
                                    generator.at(arrival)
                                } else {
                                    generator.next()
                                };
                                if let Some(number) = look(ask) {
                                    generator.acknowledge(number);
                                }
                            }
                        }
                    });
                    assert_eq!(allocations, 0, "{data:?} {mix:?}");
                }
            }
        }
    }
}
