//! Every operation is counted once.

use crate::it::fake::{Fake, Keep, at_once, closed, key_space, remembering, workload};
use crate::{PointSpec, run_load, run_point};
use plimsoll_engine::Outcome;
use plimsoll_record::{ErrorSample, Operation, Status};
use plimsoll_workload::Mix;
use plimsoll_workload::schedule::{Arrivals, Load, Share, arrivals};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn well() -> Fake {
    Fake::new(|_| Outcome::Ok)
}

#[test]
fn a_number_of_operations_is_met_exactly() {
    let key_space = key_space(1_000);
    for name in Mix::PRESETS {
        let mix = Mix::preset(name).unwrap();
        for (sessions, operations) in [(1, 1), (3, 2), (4, 10_001)] {
            let mut keep = Keep::default();
            let spec = closed(sessions, operations);
            let workload = workload(&key_space, &mix);
            let end = run_point(&well(), &workload, &spec, &mix, &mut keep).unwrap();
            assert_eq!(keep.completed(), operations, "workload {name}");
            assert_eq!(end.unfinished, None);
            assert_eq!(end.due, None);
            assert!(!end.cut_short);
            assert_eq!(end.retries, 3 * u64::from(sessions));
        }
    }
}

#[test]
fn a_read_modify_write_is_one_operation_with_two_parts() {
    let mut mix = Mix::preset("f").unwrap();
    (mix.read, mix.read_modify_write) = (0.0, 1.0);
    // One of ten records is not found: its read fails and its update does not, which makes the whole a failure.
    let engine = Fake::new(|question| match (question.key.last(), question.operation) {
        (Some(b'7'), Operation::Read) => Outcome::NotFound,
        _ => Outcome::Ok,
    });
    let mut keep = Keep::default();
    let workload = workload(&key_space(1_000), &mix);
    run_point(&engine, &workload, &closed(2, 5_000), &mix, &mut keep).unwrap();
    let counts = keep.counts();
    let missing = counts[&(Operation::Read, Status::NotFound)];
    assert!((1..5_000).contains(&missing));
    assert_eq!(counts[&(Operation::Read, Status::Ok)], 5_000 - missing);
    assert_eq!(counts[&(Operation::Update, Status::Ok)], 5_000);
    let wholes = |status| counts[&(Operation::ReadModifyWrite, status)];
    assert_eq!(wholes(Status::NotFound), missing);
    assert_eq!(wholes(Status::Ok), 5_000 - missing);
    assert_eq!(keep.completed(), 5_000);
}

#[test]
fn the_load_stores_every_record_once() {
    for sessions in [1, 3, 8] {
        let (engine, requested) = remembering();
        let mut keep = Keep::default();
        let loader = key_space(2_000).loader(1);
        let end = run_load(&engine, &loader, sessions, &mut keep).unwrap();
        let requested = requested.lock().unwrap();
        let different: BTreeSet<&String> = requested.iter().map(|(_, text)| text).collect();
        assert_eq!((requested.len(), different.len()), (2_000, 2_000));
        let inserted = [((Operation::Insert, Status::Ok), 2_000)];
        assert_eq!(keep.counts(), inserted.into());
        assert_eq!(end.unfinished, None);
    }
}

#[test]
fn failures_are_kept_apart_and_counted_by_message() {
    let calls = AtomicU64::new(0);
    let engine = Fake::new(move |_| match calls.fetch_add(1, Ordering::Relaxed) % 10 {
        0 => Outcome::error("rolled back"),
        1 | 2 => Outcome::error("disk full"),
        3 => Outcome::NotFound,
        _ => Outcome::Ok,
    });
    let mix = Mix::preset("c").unwrap();
    let mut keep = Keep::default();
    let workload = workload(&key_space(1_000), &mix);
    let end = run_point(&engine, &workload, &closed(4, 10_000), &mix, &mut keep).unwrap();
    let counts: Vec<u64> = keep.counts().into_values().collect();
    assert_eq!(counts, [6_000, 1_000, 3_000]);
    let mut samples = end.errors;
    samples.sort_by_key(|sample| sample.count);
    let sample = |message: &str, count| ErrorSample {
        operation: Operation::Read,
        message: message.into(),
        count,
    };
    let expected = [sample("rolled back", 1_000), sample("disk full", 2_000)];
    assert_eq!(samples, expected);
}

/// Also those that fail, so that later operations can run.
#[test]
fn inserts_are_acknowledged() {
    let mut mix = Mix::preset("d").unwrap();
    (mix.read, mix.insert) = (0.5, 0.5);
    for open in [false, true] {
        let key_space = key_space(1_000);
        let calls = Arc::new(AtomicU64::new(0));
        let inserts = Arc::new(AtomicU64::new(0));
        let (called, seen) = (Arc::clone(&calls), Arc::clone(&inserts));
        let engine = Fake::new(move |question| {
            called.fetch_add(1, Ordering::Relaxed);
            let is_insert = question.operation == Operation::Insert;
            match is_insert && seen.fetch_add(1, Ordering::Relaxed) % 3 == 0 {
                true => Outcome::error("no"),
                false => Outcome::Ok,
            }
        });
        let mut spec = closed(4, 4_000);
        let mut keep = Keep::default();
        if open {
            spec = at_once(4, 4_000);
            keep = Keep::stopping_when(move || calls.load(Ordering::Relaxed) == 4_000);
        }
        run_point(&engine, &workload(&key_space, &mix), &spec, &mix, &mut keep).unwrap();
        let inserts = inserts.load(Ordering::Relaxed);
        assert!(inserts > 1_500);
        assert_eq!(key_space.records(), 1_000 + inserts);
    }
}

/// Everything due is completed or unfinished, and what completed has a wait, a service and a response time. The slowest
/// response is at least as long as the longest wait and the longest service.
#[test]
fn an_open_loop_accounts_for_everything_that_was_due() {
    let mix = Mix::preset("a").unwrap();
    let poisson = Load::Open { rate: 5_000.0, arrivals: Arrivals::Poisson, sessions: 3 };
    for load in [at_once(4, 3_000).load, poisson] {
        let spec = PointSpec { load, duration_ns: 300_000_000, ..at_once(1, 1) };
        let (engine, requested) = remembering();
        let mut keep = Keep::default();
        let workload = workload(&key_space(1_000), &mix);
        let end = run_point(&engine, &workload, &spec, &mix, &mut keep).unwrap();
        let unfinished = end.unfinished.map_or(0, |unfinished| unfinished.count());
        let due = arrivals(&spec.load, spec.duration_ns, spec.seed, Share::WHOLE).unwrap();
        assert_eq!(end.due, Some(due.len() as u64));
        assert_eq!(keep.completed() + unfinished, due.len() as u64);
        let requested = requested.lock().unwrap().len() as u64;
        assert!((keep.completed()..=due.len() as u64).contains(&requested));
        let [service, response, wait] = keep.histograms();
        for times in [&service, &response, &wait] {
            assert_eq!(times.count(), keep.completed());
        }
        assert!(response.max_ns() >= service.max_ns());
        assert!(response.max_ns() >= wait.max_ns());
        let lag = end.generator_lag.unwrap().count();
        assert!(lag <= due.len() as u64);
        assert_eq!(end.measured_ns, spec.duration_ns);
    }
}
