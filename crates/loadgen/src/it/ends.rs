//! How a point ends before its time, or never begins.

use crate::it::fake::{Fake, Keep, closed, key_space, workload};
use crate::{LoadError, PointSpec, run_load, run_point};
use plimsoll_engine::Outcome;
use plimsoll_workload::Mix;
use plimsoll_workload::schedule::{Arrivals, Load};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};

/// The calls of an engine that counts them, and an sink that stops at the first thousand.
fn stopping() -> (Fake, Keep, Arc<AtomicU64>) {
    let calls = Arc::new(AtomicU64::new(0));
    let (counted, seen) = (Arc::clone(&calls), Arc::clone(&calls));
    let engine = Fake::new(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Outcome::Ok
    });
    let keep = Keep::stopping_when(move || seen.load(Ordering::Relaxed) >= 1_000);
    (engine, keep, calls)
}

#[test]
fn a_wish_to_stop_ends_a_closed_loop_and_keeps_what_was_measured() {
    let (engine, mut keep, calls) = stopping();
    let mix = Mix::preset("c").unwrap();
    let mut spec = closed(3, 0);
    spec.operations = None;
    let workload = workload(&key_space(1_000), &mix);
    let end = run_point(&engine, &workload, &spec, &mix, &mut keep).unwrap();
    assert!(end.cut_short);
    let unfinished = end.unfinished.map_or(0, |unfinished| unfinished.count());
    assert!(unfinished <= 3);
    assert_eq!(keep.completed() + unfinished, calls.load(Ordering::Relaxed));
    let ends = keep.slices.iter();
    let last = ends.map(|slice| slice.start_ns + slice.length_ns).max();
    assert_eq!(last, Some(end.measured_ns));
    assert!(keep.slices.iter().all(|slice| slice.length_ns > 0));
}

#[test]
fn a_point_that_is_stopped_in_its_warm_up_has_no_measured_part() {
    let (engine, mut keep, _) = stopping();
    let mix = Mix::preset("c").unwrap();
    let spec = PointSpec { warm_up_ns: 3_600_000_000_000, operations: None, ..closed(3, 0) };
    let workload = workload(&key_space(1_000), &mix);
    let end = run_point(&engine, &workload, &spec, &mix, &mut keep).unwrap();
    assert_eq!((end.cut_short, end.measured_ns, keep.begins), (true, 0, 0));
}

#[test]
fn a_wish_to_stop_ends_an_open_loop() {
    let (engine, mut keep, calls) = stopping();
    let mix = Mix::preset("c").unwrap();
    let spec = PointSpec {
        load: Load::Open { rate: 100_000.0, arrivals: Arrivals::Constant, sessions: 3 },
        operations: None,
        duration_ns: 100_000_000_000,
        ..closed(3, 0)
    };
    let workload = workload(&key_space(1_000), &mix);
    let end = run_point(&engine, &workload, &spec, &mix, &mut keep).unwrap();
    assert!(end.cut_short);
    assert!(end.measured_ns < spec.duration_ns);
    let unfinished = end.unfinished.map_or(0, |unfinished| unfinished.count());
    assert_eq!(end.due, Some(keep.completed() + unfinished));
    assert!(keep.completed() <= calls.load(Ordering::Relaxed));
}

#[test]
fn a_wish_to_stop_ends_a_load() {
    let (engine, mut keep, calls) = stopping();
    let loader = key_space(1 << 40).loader(1);
    let end = run_load(&engine, &loader, 2, &mut keep).unwrap();
    assert!(end.cut_short);
    assert_eq!(keep.begins, 0, "nothing is measured in a load phase");
    let unfinished = end.unfinished.map_or(0, |unfinished| unfinished.count());
    assert_eq!(keep.completed() + unfinished, calls.load(Ordering::Relaxed));
}

#[test]
fn a_session_that_cannot_be_made_is_an_error() {
    let engine = Fake::new(|_| Outcome::Ok).with_sessions(2);
    let mix = Mix::preset("c").unwrap();
    let workload = workload(&key_space(1_000), &mix);
    let mut keep = Keep::default();
    let error = run_point(&engine, &workload, &closed(4, 100), &mix, &mut keep).unwrap_err();
    let expected = "session 3 of 4 cannot be opened: fake: session failed: there are no more";
    assert_eq!(error.to_string(), expected);
    assert!(keep.slices.is_empty());
}

#[test]
fn a_session_that_panics_is_an_error_and_not_the_end_of_the_program() {
    let engine = Fake::new(|question| {
        assert!(question.session == 0, "this panic is part of a test");
        Outcome::Ok
    });
    let mix = Mix::preset("c").unwrap();
    let workload = workload(&key_space(1_000), &mix);
    let (spec, mut keep) = (closed(2, 100), Keep::default());
    let error = run_point(&engine, &workload, &spec, &mix, &mut keep);
    assert!(matches!(error, Err(LoadError::Panic)));
}

/// The third call of a session is not answered until it is ended. There is a second in which it can be made.
#[test]
fn an_operation_that_is_never_answered_is_ended_after_the_point_and_named() {
    let calls = AtomicU64::new(0);
    let (ended, waits) = mpsc::channel();
    let waits = Mutex::new(waits);
    let engine = Fake::new(move |_| {
        if calls.fetch_add(1, Ordering::Relaxed) < 2 {
            return Outcome::Ok;
        }
        waits.lock().unwrap().recv().unwrap();
        Outcome::error("it did not answer")
    });
    let engine = engine.with_interrupt(move || ended.send(()).unwrap());
    let mix = Mix::preset("c").unwrap();
    let workload = workload(&key_space(1_000), &mix);
    let spec = PointSpec { duration_ns: 1_000_000_000, operations: None, ..closed(1, 0) };
    let end = run_point(&engine, &workload, &spec, &mix, &mut Keep::default()).unwrap();
    assert_eq!(end.measured_ns, 1_000_000_000);
    assert_eq!(end.unfinished.map(|unfinished| unfinished.count()), Some(1));
    assert_eq!(end.errors[0].message, "it did not answer");

    // A caller that wants to stop waits less, and can see the state.
    let mut keep = Keep::stopping_when(|| true);
    let spec = PointSpec { duration_ns: u64::MAX, ..spec };
    let end = run_point(&engine, &workload, &spec, &mix, &mut keep).unwrap();
    assert!(end.cut_short);
    assert_eq!(end.errors.len(), 1);
}
