//! One worker for each experiment.

use crate::it::sample;
use crate::it::site::Site;
use crate::{Filter, Store, StoreError};
use plimsoll_record::RunState;
use plimsoll_testing::assert_err;

#[test]
fn nobody_else_resumes_or_deletes_what_is_being_worked_on() {
    let (site, mut first) = Site::with_store();
    first.begin(&sample::experiment("one")).unwrap();
    first.begin(&sample::experiment("two")).unwrap();

    let mut second = site.open();
    assert_err!(second.resume("one"), StoreError::Busy { .. });
    assert_err!(second.delete("one"), StoreError::Busy { .. });
    assert_err!(second.finish("one", ""), StoreError::NotClaimed { .. });
    assert_err!(second.begin_run("one", &sample::run("small", 0)), StoreError::NotClaimed { .. });

    // A finished experiment is free, the other one is not.
    first.finish("two", "2026-11-21T04:00:00Z").unwrap();
    second.delete("two").unwrap();
    assert_err!(second.resume("one"), StoreError::Busy { .. });
}

#[test]
fn readers_see_which_experiment_is_running() {
    let (site, mut writer) = Site::with_store();
    writer.begin(&sample::experiment("one")).unwrap();
    let reader = site.open_read_only();
    let running = |store: &Store| store.list(&Filter::default()).unwrap()[0].running;
    assert!(running(&writer));
    assert!(running(&reader));
    drop(writer);
    assert!(!running(&reader));
}

#[test]
fn a_run_that_was_cut_off_is_interrupted_and_can_be_repeated() {
    let (site, mut store) = Site::with_store();
    store.begin(&sample::experiment("one")).unwrap();
    let mut done = sample::run("small", 0);
    let run = store.begin_run("one", &done).unwrap();
    sample::complete(&mut done, RunState::Finished);
    store.update_run(run, &done).unwrap();
    let mut cut_off = sample::run("large", 0);
    let run = store.begin_run("one", &cut_off).unwrap();
    let point = sample::point(Some(0));
    let point = store.begin_point(run, &point.label, 0, &point.started_at);
    let point = point.unwrap();
    store.add_slice(point, &sample::slice(0, &[5])).unwrap();
    drop(store);

    let mut store = site.open();
    let runs = store.resume("one").unwrap();
    cut_off.state = RunState::Interrupted;
    assert_eq!(runs, [done, cut_off]);

    let mut again = sample::run("large", 0);
    assert_err!(store.begin_run("one", &again), StoreError::RunTaken { .. });
    again.attempt = 2;
    store.begin_run("one", &again).unwrap();
    let record = store.load("one").unwrap();
    let slices = record.runs[1].points[0].slices.len();
    assert_eq!(slices, 1, "what was measured is kept");
    assert_eq!(record.runs[2].state, RunState::Started);
}

#[test]
fn a_key_that_comes_again_is_free() {
    let (site, mut first) = Site::with_store();
    let mut second = site.open();
    first.begin(&sample::experiment("one")).unwrap();
    first.delete("one").unwrap();
    second.begin(&sample::experiment("another")).unwrap();
}
