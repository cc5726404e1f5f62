//! The questions as an engine meets them.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use crate::{
    Ask, DataSpec, FieldChoice, FieldLength, KeyOrder, KeySpace, Mix, Problem, RequestDistribution,
    ScanDistribution, ScanLength, Verification, Workload, WorkloadError, Wrong,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

fn ordered(records: u64) -> DataSpec {
    let mut data = DataSpec::with_records(records);
    data.key_order = KeyOrder::Ordered;
    data
}

fn workload(data: &DataSpec, mix: &Mix, seed: u64, planned: Option<u64>) -> Arc<Workload> {
    Arc::new(Workload::new(&KeySpace::new(data).unwrap(), mix, seed, planned).unwrap())
}

fn reads_by(request_distribution: RequestDistribution) -> Mix {
    Mix { request_distribution, ..Mix::preset("c").unwrap() }
}

fn hotspot(data_fraction: f64, operation_fraction: f64) -> RequestDistribution {
    RequestDistribution::Hotspot { data_fraction, operation_fraction }
}

/// The numbers of all keys that one session reads.
fn met(data: &DataSpec, distribution: RequestDistribution, count: u64) -> BTreeSet<u64> {
    let mut generator = workload(data, &reads_by(distribution), 1, None).generator(0);
    let met = (0..count).map(|_| number(key_of(generator.next())));
    met.collect()
}

fn everything() -> Mix {
    let mut mix = Mix::preset("a").unwrap();
    (mix.insert, mix.scan, mix.read_modify_write) = (0.2, 0.2, 0.2);
    mix
}

/// The number in an ordered key.
fn number(key: &[u8]) -> u64 {
    std::str::from_utf8(&key[4..]).unwrap().parse().unwrap()
}

fn key_of(ask: Ask<'_>) -> &[u8] {
    match ask {
        Ask::Read { key, .. }
        | Ask::Update { key, .. }
        | Ask::Insert { key, .. }
        | Ask::ReadModifyWrite { key, .. } => key,
        Ask::Scan { start, .. } => start,
        Ask::Statement(statement) => statement.command,
    }
}

fn inserted(ask: Ask<'_>) -> Option<u64> {
    if let Ask::Insert { number, .. } = ask { Some(number) } else { None }
}

/// What the first `count` questions of a session are, in words.
fn said(workload: &Arc<Workload>, session: u64, count: u64) -> Vec<String> {
    let mut generator = workload.generator(session);
    let mut said = Vec::new();
    for _ in 0..count {
        let ask = generator.next();
        said.push(format!("{ask:?}"));
        if let Some(number) = inserted(ask) {
            generator.acknowledge(number);
        }
    }
    said
}

#[test]
fn what_is_asked_at_an_arrival_does_not_depend_on_the_session() {
    let data = DataSpec::with_records(1_000);
    for name in ["a", "b", "c", "f"] {
        let workload = workload(&data, &Mix::preset(name).unwrap(), 7, None);
        let mut generators = [workload.generator(0), workload.generator(1)];
        for arrival in 0..500 {
            let first = format!("{:?}", generators[0].at(arrival));
            generators[1].next();
            assert_eq!(first, format!("{:?}", generators[1].at(arrival)));
            assert_eq!(first, format!("{:?}", generators[0].at(arrival)));
        }
    }
}

#[test]
fn loaded_records_do_not_depend_on_the_sessions() {
    let mut data = DataSpec::with_records(700);
    (data.insert_start, data.insert_count) = (100, Some(500));
    data.field_length = FieldLength::Uniform { min: 1, max: 50 };
    let load = |sessions: u64, seed: u64| {
        let loader = KeySpace::new(&data).unwrap().loader(seed);
        let generators = (0..sessions).map(|session| loader.generator(session));
        let mut generators: Vec<_> = generators.collect();
        let mut records = BTreeMap::new();
        let mut turn = 0;
        while let Some(Ask::Insert { key, fields, number }) =
            generators[turn % sessions as usize].next()
        {
            assert_eq!(fields.len(), 10);
            let before = records.insert(number, (key.to_vec(), format!("{fields:?}")));
            assert_eq!(before, None);
            turn += 1 + turn % 3;
        }
        records
    };
    let alone = load(1, 5);
    assert!(alone.keys().copied().eq(100..600));
    assert_eq!(load(4, 5), alone);
    assert_ne!(load(1, 6), alone);
}

/// An insert makes the record that the load phase would have made of that key number.
#[test]
fn inserted_records_follow_from_seed_and_number() {
    let mut mix = Mix::preset("c").unwrap();
    (mix.read, mix.insert) = (0.0, 1.0);
    let workload = workload(&DataSpec::with_records(10), &mix, 5, None);
    let mut generator = workload.generator(3);
    let key_space = KeySpace::new(&DataSpec::with_records(20)).unwrap();
    let mut load = key_space.loader(5).generator(0);
    let loaded: Vec<_> = std::iter::from_fn(|| load.next().map(|ask| format!("{ask:?}"))).collect();
    for record in &loaded[10..] {
        assert_eq!(&format!("{:?}", generator.next()), record);
    }
}

#[test]
fn proportions_are_those_of_the_mix() {
    let mut mix = everything();
    (mix.read, mix.update, mix.insert) = (1.0, 2.0, 3.0);
    (mix.scan, mix.read_modify_write) = (4.0, 10.0);
    let workload = workload(&DataSpec::with_records(1_000), &mix, 7, Some(100_000));
    let mut generator = workload.generator(0);
    let mut counts = [0_i32; 5];
    for _ in 0..100_000 {
        let ask = generator.next();
        counts[match ask {
            Ask::Read { .. } => 0,
            Ask::Update { .. } => 1,
            Ask::Insert { .. } => 2,
            Ask::Scan { .. } => 3,
            Ask::ReadModifyWrite { .. } => 4,
            Ask::Statement(_) => panic!("there are no documents"),
        }] += 1;
        if let Some(number) = inserted(ask) {
            generator.acknowledge(number);
        }
    }
    // Five standard deviations of a binomial count.
    for (count, share) in counts.into_iter().zip([0.05_f64, 0.1, 0.15, 0.2, 0.5]) {
        let bound = 5.0 * (100_000.0 * share * (1.0 - share)).sqrt();
        let off = f64::from(count) - 100_000.0 * share;
        assert!(off.abs() < bound, "{counts:?}");
    }
}

#[test]
fn keys_stay_within_their_range() {
    let mut data = ordered(1_000);
    (data.insert_start, data.insert_count) = (300, Some(400));
    for distribution in [
        RequestDistribution::Uniform,
        RequestDistribution::Sequential,
        RequestDistribution::hotspot(),
        hotspot(1.0, 1.0),
        hotspot(0.0, 0.0),
    ] {
        let met = met(&data, distribution, 20_000);
        assert_eq!(met, (300..700).collect(), "{distribution:?}");
    }
    // YCSB's range has one key more, which is used once it exists.
    let met = met(&data, RequestDistribution::Zipfian, 100_000);
    assert_eq!(met, (300..=700).collect());
    // The newest keys of all, without regard to the range.
    for distribution in [RequestDistribution::Latest, RequestDistribution::exponential()] {
        let mut generator = workload(&data, &reads_by(distribution), 1, None).generator(0);
        let mut counts = [0; 10];
        for _ in 0..50_000 {
            counts[number(key_of(generator.next())) as usize / 100] += 1;
        }
        let rises = counts.is_sorted() && counts[0] > 0;
        assert!(rises, "{distribution:?} {counts:?}");
    }
}

/// The key that is beyond the range and not there is drawn again.
#[test]
fn zipfian_asks_for_no_key_that_is_not_there() {
    let met = met(&ordered(50), RequestDistribution::Zipfian, 20_000);
    assert_eq!(met, (0..50).collect());
}

#[test]
fn zipfian_has_the_favourite_of_ycsb() {
    let records = 1_000_u64;
    let reads = Mix::preset("c").unwrap();
    let mut generator = workload(&ordered(records), &reads, 1, None).generator(0);
    let mut counts = HashMap::new();
    for _ in 0..100_000 {
        *counts.entry(number(key_of(generator.next()))).or_insert(0) += 1;
    }
    let (favourite, _) = counts.iter().max_by_key(|(_, count)| **count).unwrap();
    assert_eq!(*favourite, 6_284_781_860_667_377_211 % (records + 1));
}

#[test]
fn sequential_goes_round_for_all_sessions_together() {
    let reads = reads_by(RequestDistribution::Sequential);
    let workload = workload(&ordered(5), &reads, 1, None);
    let mut generators = [workload.generator(0), workload.generator(1)];
    let met = (0..12).map(|turn| number(key_of(generators[turn % 2].next())));
    assert!(met.eq([0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]));
    assert_eq!(number(key_of(generators[0].at(13))), 3);
}

#[test]
fn hotspot_gets_its_share() {
    let reads = reads_by(hotspot(0.1, 0.7));
    let mut generator = workload(&ordered(1_000), &reads, 1, None).generator(0);
    let drawn = (0..100_000).map(|_| number(key_of(generator.next())));
    let hot = drawn.filter(|number| *number < 100).count();
    // Five standard deviations are 725.
    assert!((hot as i64 - 70_000).abs() < 725, "{hot}");
}

/// 95 % of the reads go to the newest tenth; what would be older than the oldest record is drawn again.
#[test]
fn exponential_gets_its_percentile() {
    let exponential = RequestDistribution::Exponential { percentile: 95.0, fraction: 0.1 };
    let mut generator = workload(&ordered(10_000), &reads_by(exponential), 1, None).generator(0);
    let drawn = (0..100_000).map(|_| number(key_of(generator.next())));
    let newest = drawn.filter(|number| *number >= 9_000).count();
    assert!((newest as i64 - 95_000).abs() < 345, "{newest}");
}

#[test]
fn inserts_are_asked_for_only_when_acknowledged_and_stay_for_the_next_point() {
    let key_space = KeySpace::new(&ordered(100)).unwrap();
    let point = |mix: &Mix, seed: u64| {
        Arc::new(Workload::new(&key_space, mix, seed, Some(10_000)).unwrap())
    };
    let mut mix = reads_by(RequestDistribution::Zipfian);
    mix.insert = 0.5;
    let mut generator = point(&mix, 1).generator(0);
    let mut held = None;
    let mut read_new = false;
    for _ in 0..10_000 {
        let ask = generator.next();
        match inserted(ask) {
            Some(number) if held.is_none() => {
                assert_eq!(number, 100);
                held = Some(number);
            }
            Some(number) => generator.acknowledge(number),
            // The first insert is not acknowledged.
            None => assert!(number(key_of(ask)) < 100),
        }
    }
    assert_eq!(key_space.records(), 100);
    generator.acknowledge(held.unwrap());
    let records = key_space.records();
    assert!(records > 3_000);
    for _ in 0..1_000 {
        let ask = generator.next();
        match inserted(ask) {
            Some(number) => generator.acknowledge(number),
            None => read_new |= number(key_of(ask)) >= 100,
        }
    }
    assert!(read_new);
    let records = key_space.records();
    for distribution in [RequestDistribution::Uniform, RequestDistribution::Latest] {
        let mut generator = point(&reads_by(distribution), 2).generator(0);
        let newest = (0..100_000).map(|_| number(key_of(generator.next()))).max();
        assert_eq!(newest, Some(records - 1));
    }
}

#[test]
fn reads_and_updates_take_the_fields_asked_for() {
    let mut mix = everything();
    let data = DataSpec::with_records(100);
    let mut generator = workload(&data, &mix, 1, None).generator(0);
    let mut updated = BTreeSet::new();
    for _ in 0..2_000 {
        match generator.next() {
            Ask::Read { fields, .. } | Ask::Scan { fields, .. } => {
                assert_eq!(fields, FieldChoice::All)
            }
            Ask::Update { changes, .. } => {
                assert_eq!(changes.len(), 1);
                updated.extend(changes.map(|(index, ..)| index));
            }
            Ask::ReadModifyWrite { fields, changes, .. } => {
                assert_eq!(fields, FieldChoice::All);
                assert_eq!(changes.value_bytes(), 100);
            }
            Ask::Statement(_) => panic!("there are no documents"),
            Ask::Insert { fields, .. } => {
                for (position, (index, name, value)) in fields.enumerate() {
                    assert_eq!(index as usize, position);
                    assert_eq!(name, format!("field{index}").as_bytes());
                    assert_eq!(value.len(), 100);
                    assert!(value.iter().all(|byte| (32..128).contains(byte)));
                }
            }
        }
    }
    assert_eq!(updated, (0..10).collect());

    mix.read_all_fields_by_name = true;
    mix.write_all_fields = true;
    let mut generator = workload(&data, &mix, 1, None).generator(0);
    for _ in 0..2_000 {
        match generator.next() {
            Ask::Read { fields, .. } => {
                assert_eq!(fields, FieldChoice::Some(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
            }
            Ask::Scan { fields, .. } => assert_eq!(fields, FieldChoice::All),
            Ask::ReadModifyWrite { fields, changes, .. } => {
                assert_eq!(fields, FieldChoice::All);
                assert_eq!(changes.len(), 10);
            }
            Ask::Update { changes, .. } => assert_eq!(changes.value_bytes(), 1_000),
            Ask::Insert { .. } => {}
            Ask::Statement(_) => panic!("there are no documents"),
        }
    }

    mix.read_all_fields = false;
    let mut generator = workload(&data, &mix, 1, None).generator(0);
    let mut read = BTreeSet::new();
    for _ in 0..2_000 {
        match generator.next() {
            Ask::Read { fields, .. }
            | Ask::Scan { fields, .. }
            | Ask::ReadModifyWrite { fields, .. } => {
                let FieldChoice::Some([field]) = fields else { panic!("{fields:?}") };
                read.insert(*field);
            }
            Ask::Update { .. } | Ask::Insert { .. } | Ask::Statement(_) => {}
        }
    }
    assert_eq!(read, (0..10).collect());
}

#[test]
fn scans_have_lengths_of_their_law() {
    let mut mix = Mix::preset("e").unwrap();
    mix.insert = 0.0;
    mix.scan_length = ScanLength { min: 3, max: 12, distribution: ScanDistribution::Uniform };
    let lengths = |mix: &Mix| {
        let mut generator = workload(&ordered(100), mix, 1, None).generator(0);
        let mut counts = BTreeMap::new();
        for _ in 0..20_000 {
            let Ask::Scan { count, .. } = generator.next() else {
                panic!("only scans were asked for")
            };
            *counts.entry(count).or_insert(0_i32) += 1;
        }
        counts
    };
    let uniform = lengths(&mix);
    assert!(uniform.keys().copied().eq(3..=12));
    // Five standard deviations are 212.
    let is_near = |count: &i32| (count - 2_000).abs() < 212;
    assert!(uniform.values().all(is_near), "{uniform:?}");
    mix.scan_length.distribution = ScanDistribution::Zipfian;
    let zipfian = lengths(&mix);
    assert!(zipfian.keys().copied().eq(3..=12));
    let falls = zipfian[&3] > zipfian[&4] && zipfian[&4] > zipfian[&12];
    assert!(falls, "{zipfian:?}");
}

#[test]
fn values_with_integrity_are_verified() {
    let mut data = DataSpec::with_records(100);
    data.data_integrity = true;
    let key_space = KeySpace::new(&data).unwrap();
    let workload = Arc::new(Workload::new(&key_space, &everything(), 1, None).unwrap());
    let mut generator = workload.generator(0);
    for _ in 0..1_000 {
        let ask = generator.next();
        if let Ask::Read { fields, .. } = ask {
            let are_all = matches!(fields, FieldChoice::Some([0, .., 9]));
            assert!(are_all, "{fields:?}");
        }
        if let Ask::Update { key, changes }
        | Ask::ReadModifyWrite { key, changes, .. }
        | Ask::Insert { key, fields: changes, .. } = ask
        {
            let mut verifier = key_space.verifier(key);
            let mut other = key_space.verifier(b"user1");
            for (index, name, value) in changes {
                assert_eq!(name, key_space.field_name(index));
                assert!(value.starts_with(key));
                verifier.field(name, value);
                other.field(name, value);
            }
            assert_eq!(verifier.found(), Verification::Matches);
            assert_eq!(other.found(), Verification::Mismatch);
        }
    }
}

fn problems(data: &DataSpec, mix: &Mix) -> Vec<Problem> {
    let WorkloadError::Impossible { problems } =
        Workload::new(&KeySpace::new(data).unwrap(), mix, 1, None).unwrap_err();
    problems
}

#[test]
fn mixes_that_the_records_cannot_serve_are_refused() {
    let reads = Mix::preset("c").unwrap();
    let mut few = ordered(10);
    few.insert_start = 10;
    let latest = reads_by(RequestDistribution::Latest);
    for (data, mix, needed, records) in
        [(&ordered(0), &reads, 1, 0), (&ordered(1), &latest, 2, 1), (&few, &reads, 1, 0)]
    {
        let expected = Wrong::TooFewRecords { needed, records };
        assert_eq!(problems(data, mix)[0].wrong, expected);
    }
    for (part, keys) in [(RequestDistribution::hotspot(), 0), (hotspot(1.0, 0.5), 4)] {
        let problems = problems(&ordered(4), &reads_by(part));
        assert_eq!(problems[0].wrong, Wrong::EmptyPart { keys, all: 4 });
    }
    let mut nothing = reads.clone();
    nothing.read = 0.0;
    let error = Workload::new(&KeySpace::new(&ordered(4)).unwrap(), &nothing, 1, None).unwrap_err();
    let expected =
        "impossible workload: read: all proportions are zero; give at least one operation a share";
    assert_eq!(error.to_string(), expected);
}

/// Inserts alone need no record to begin with.
#[test]
fn an_empty_database_can_be_filled() {
    let mut mix = Mix::preset("c").unwrap();
    (mix.read, mix.insert) = (0.0, 1.0);
    let workload = workload(&ordered(0), &mix, 1, None);
    let mut generator = workload.generator(0);
    for expected in 0..100 {
        let drawn = inserted(generator.next()).unwrap();
        assert_eq!(drawn, expected);
        generator.acknowledge(drawn);
    }
    assert_eq!(workload.key_space().records(), 100);
}

mod slow {
    use super::*;

    #[test]
    fn the_same_seed_asks_the_same_questions() {
        let mut data = DataSpec::with_records(1_000);
        data.field_length = FieldLength::Uniform { min: 1, max: 50 };
        for mix in [
            everything(),
            Mix::preset("a").unwrap(),
            Mix::preset("d").unwrap(),
            Mix::preset("e").unwrap(),
        ] {
            let said =
                |seed, session| said(&workload(&data, &mix, seed, Some(1_000)), session, 1_000);
            let first = said(7, 3);
            assert_eq!(first, said(7, 3));
            assert_ne!(first, said(8, 3));
            assert_ne!(first, said(7, 4));
        }
    }
}
