//! Records that are read are compared with what must be in them.

use crate::it::fake::{Fake, Keep, Record, closed, workload};
use crate::{run_load, run_point};
use plimsoll_engine::Outcome;
use plimsoll_record::{Operation, PointEnd, Status};
use plimsoll_testing::assert_contains;
use plimsoll_workload::{DataSpec, KeySpace, Mix};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Stores records. `corrupt` may change the values of one that is read, and says whether it did.
fn store(corrupt: fn(&[u8], &mut Record) -> bool) -> (Fake, Arc<Mutex<u64>>) {
    let records: Mutex<HashMap<Vec<u8>, Record>> = Mutex::default();
    let corrupted = Arc::new(Mutex::new(0));
    let count = Arc::clone(&corrupted);
    let engine = Fake::new(move |question| {
        let mut records = records.lock().unwrap();
        let key = question.key.as_slice();
        match question.operation {
            Operation::Insert => {
                records.insert(key.to_vec(), question.values);
            }
            Operation::Update => {
                let Some(record) = records.get_mut(key) else {
                    return Outcome::NotFound;
                };
                for (name, value) in question.values {
                    let field = record.iter_mut().find(|field| field.0 == name).unwrap();
                    field.1 = value;
                }
            }
            _ => {
                let Some(record) = records.get(key) else {
                    return Outcome::NotFound;
                };
                let mut record = record.clone();
                *count.lock().unwrap() += u64::from(corrupt(key, &mut record));
                let visitor = question.visitor.expect("verification needs the fields");
                for (name, value) in &record {
                    visitor.field(name, value);
                }
            }
        }
        Outcome::Ok
    });
    (engine, corrupted)
}

fn measure(engine: &Fake, preset: &str) -> (Keep, PointEnd) {
    let mut data = DataSpec::with_records(500);
    data.data_integrity = true;
    let key_space = KeySpace::new(&data).unwrap();
    run_load(engine, &key_space.loader(1), 2, &mut Keep::default()).unwrap();
    let mix = Mix::preset(preset).unwrap();
    let mut spec = closed(2, 2_000);
    spec.verify = true;
    let mut keep = Keep::default();
    let workload = workload(&key_space, &mix);
    let end = run_point(engine, &workload, &spec, &mix, &mut keep).unwrap();
    (keep, end)
}

#[test]
fn a_faithful_engine_is_found_faithful() {
    for preset in ["a", "c", "f"] {
        let (engine, _) = store(|_, _| false);
        let (keep, end) = measure(&engine, preset);
        let counts = keep.counts();
        let [verified, read] =
            [Operation::Verify, Operation::Read].map(|one| counts[&(one, Status::Ok)]);
        assert_eq!(verified, read, "workload {preset}");
        assert!(!counts.contains_key(&(Operation::Verify, Status::Error)));
        assert!(end.errors.is_empty());
        assert_eq!(keep.completed(), 2_000, "a verification is no operation");
    }
}

#[test]
fn a_corrupting_engine_is_found_out() {
    for preset in ["c", "f"] {
        // One bit of the last byte of the last field, of every tenth record.
        let (engine, corrupted) = store(|key, record| {
            let hit = key.last() == Some(&b'3');
            if hit {
                *record.last_mut().unwrap().1.last_mut().unwrap() ^= 1;
            }
            hit
        });
        let (keep, end) = measure(&engine, preset);
        let corrupted = *corrupted.lock().unwrap();
        let counts = keep.counts();
        assert!(corrupted > 0);
        assert_eq!(counts[&(Operation::Verify, Status::Error)], corrupted);
        let [verified, read] =
            [Operation::Verify, Operation::Read].map(|one| counts[&(one, Status::Ok)]);
        assert_eq!(verified + corrupted, read);
        let counts = end.errors.iter().map(|sample| sample.count);
        assert_eq!(counts.sum::<u64>(), corrupted);
        assert_contains(&end.errors[0].message, "does not hold what was stored");
    }
}

#[test]
fn a_record_without_fields_is_not_what_was_stored() {
    let (engine, corrupted) = store(|_, record| {
        record.clear();
        true
    });
    let (keep, _) = measure(&engine, "c");
    assert_eq!(keep.counts()[&(Operation::Verify, Status::Error)], 2_000);
    assert_eq!(*corrupted.lock().unwrap(), 2_000);
}
