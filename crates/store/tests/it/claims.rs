//! One worker for each experiment.

use crate::sample;
use plimsoll_record::RunState;
use plimsoll_store::{Filter, Store, StoreError};

#[test]
fn nobody_else_resumes_or_deletes_what_is_being_worked_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    let mut first = Store::open(&path).unwrap();
    first.begin(&sample::experiment("one")).unwrap();
    first.begin(&sample::experiment("two")).unwrap();

    let mut second = Store::open(&path).unwrap();
    assert!(matches!(second.resume("one"), Err(StoreError::Busy { .. })));
    assert!(matches!(second.delete("one"), Err(StoreError::Busy { .. })));
    assert!(matches!(
        second.finish("one", ""),
        Err(StoreError::NotClaimed { .. })
    ));
    assert!(matches!(
        second.begin_run("one", &sample::run("small", 0)),
        Err(StoreError::NotClaimed { .. })
    ));

    // A finished experiment is free, the other one is not.
    first.finish("two", "2026-11-21T04:00:00Z").unwrap();
    second.delete("two").unwrap();
    assert!(matches!(second.resume("one"), Err(StoreError::Busy { .. })));
}

#[test]
fn readers_see_which_experiment_is_running() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    let mut writer = Store::open(&path).unwrap();
    writer.begin(&sample::experiment("one")).unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    let running = |store: &Store| store.list(&Filter::default()).unwrap()[0].running;
    assert!(running(&writer));
    assert!(running(&reader));
    drop(writer);
    assert!(!running(&reader));
}

#[test]
fn a_run_that_was_cut_off_is_interrupted_and_can_be_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    let mut store = Store::open(&path).unwrap();
    store.begin(&sample::experiment("one")).unwrap();
    let mut done = sample::run("small", 0);
    let run = store.begin_run("one", &done).unwrap();
    sample::complete(&mut done, RunState::Finished);
    store.update_run(run, &done).unwrap();
    let mut cut_off = sample::run("large", 0);
    let run = store.begin_run("one", &cut_off).unwrap();
    let point = sample::point(Some(0));
    let point = store
        .begin_point(run, &point.label, 0, &point.started_at)
        .unwrap();
    store.add_slice(point, &sample::slice(0, &[5])).unwrap();
    drop(store);

    let mut store = Store::open(&path).unwrap();
    let runs = store.resume("one").unwrap();
    cut_off.state = RunState::Interrupted;
    assert_eq!(runs, [done, cut_off]);

    let mut again = sample::run("large", 0);
    assert!(matches!(
        store.begin_run("one", &again),
        Err(StoreError::RunTaken { .. })
    ));
    again.attempt = 2;
    store.begin_run("one", &again).unwrap();
    let record = store.load("one").unwrap();
    assert_eq!(
        record.runs[1].points[0].slices.len(),
        1,
        "what was measured is kept"
    );
    assert_eq!(record.runs[2].state, RunState::Started);
}

#[test]
fn a_key_that_comes_again_is_free() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    let mut first = Store::open(&path).unwrap();
    let mut second = Store::open(&path).unwrap();
    first.begin(&sample::experiment("one")).unwrap();
    first.delete("one").unwrap();
    second.begin(&sample::experiment("another")).unwrap();
}
