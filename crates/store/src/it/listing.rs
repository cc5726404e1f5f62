use crate::it::sample;
use crate::it::site::Site;
use crate::{Filter, Store, StoreError};
use plimsoll_record::{ExperimentRecord, ExperimentState, RunState};
use plimsoll_testing::assert_err;
use tempfile::TempDir;

fn store_with(records: Vec<ExperimentRecord>) -> (TempDir, Store) {
    let (Site { folder, .. }, mut store) = Site::with_store();
    for record in records {
        store.import(record).unwrap();
    }
    (folder, store)
}

fn named(id: &str, name: &str, started_at: &str) -> ExperimentRecord {
    ExperimentRecord {
        name: name.to_owned(),
        started_at: started_at.to_owned(),
        ..sample::experiment(id)
    }
}

fn ids(store: &Store, filter: &Filter) -> Vec<String> {
    let listed = store.list(filter).unwrap().into_iter();
    listed.map(|summary| summary.id).collect()
}

#[test]
fn the_latest_is_listed_first() {
    let (_directory, store) = store_with(vec![
        named("b", "two", "2026-02-01T00:00:00Z"),
        named("c", "three", "2026-03-01T00:00:00Z"),
        named("a", "one", "2026-01-01T00:00:00Z"),
    ]);
    assert_eq!(ids(&store, &Filter::default()), ["c", "b", "a"]);
    assert_eq!(store.load("last").unwrap().id, "c");
}

#[test]
fn a_list_can_be_narrowed() {
    let mut finished = named("a", "one", "2026-01-01T00:00:00Z");
    finished.state = ExperimentState::Finished;
    let (_directory, store) = store_with(vec![
        finished,
        named("b", "one", "2026-02-01T00:00:00Z"),
        named("c", "two", "2026-03-01T00:00:00Z"),
    ]);
    let ids = |name: Option<&str>, state| {
        let name = name.map(str::to_owned);
        ids(&store, &Filter { name, state })
    };
    assert_eq!(ids(Some("one"), None), ["b", "a"]);
    assert_eq!(ids(None, Some(ExperimentState::Finished)), ["a"]);
    assert_eq!(ids(Some("one"), Some(ExperimentState::Unfinished)), ["b"]);
    assert_eq!(ids(Some("on"), None), [""; 0]);
}

#[test]
fn a_summary_counts_what_is_done() {
    let mut record = sample::experiment("a");
    let failed = RunState::Failed { message: String::new() };
    for (arm, block, attempt, state) in [
        ("small", 0, 1, RunState::Interrupted),
        ("small", 0, 2, RunState::Finished),
        ("large", 0, 1, RunState::Finished),
        // One attempt that failed where another one is finished, and one where none is.
        ("large", 0, 2, failed.clone()),
        ("large", 1, 1, failed),
    ] {
        let mut run = sample::run(arm, block);
        run.attempt = attempt;
        run.state = state;
        record.runs.push(run);
    }
    let (_directory, store) = store_with(vec![record]);
    let summary = store.list(&Filter::default()).unwrap().remove(0);
    let (finished, failed) = (summary.runs_finished, summary.runs_failed);
    assert_eq!((finished, failed, summary.runs_planned), (2, 1, 4));
    assert_eq!(summary.arms, ["small", "large"]);
    assert!(!summary.running);
    let question = summary.question.as_deref();
    assert_eq!(question, Some("does a larger cache pay?"));
}

#[test]
fn an_experiment_is_found_by_id_start_of_id_and_name() {
    let (_directory, store) = store_with(vec![
        named("ab12", "one", "2026-01-01T00:00:00Z"),
        named("ab34", "one", "2026-02-01T00:00:00Z"),
        named("cd", "ab12", "2026-03-01T00:00:00Z"),
    ]);
    // The later one of that name, and an id before a name.
    for (requested, id) in [("ab3", "ab34"), ("one", "ab34"), ("ab12", "ab12")] {
        assert_eq!(store.load(requested).unwrap().id, id, "{requested}");
    }
    match store.load("ab").unwrap_err() {
        StoreError::Ambiguous { ids, .. } => assert_eq!(ids, ["ab12", "ab34"]),
        other => panic!("{other}"),
    }
    for nothing in ["", "xy", "ab125", "%", "a_12"] {
        assert_err!(store.load(nothing), StoreError::Unknown { .. });
    }
}

#[test]
fn only_the_same_plan_on_the_same_machine_is_resumed() {
    let mut finished = sample::experiment("finished");
    finished.state = ExperimentState::Finished;
    let mut elsewhere = sample::experiment("elsewhere");
    elsewhere.machine.cores = 64;
    let mut changed = sample::experiment("changed");
    changed.plan_hash = "0000".to_owned();
    let wanted = sample::experiment("wanted");
    let fingerprint = wanted.machine.fingerprint();
    let (_directory, store) = store_with(vec![finished, wanted, elsewhere, changed]);
    let found = store.find_unfinished("91a4", &fingerprint).unwrap();
    assert_eq!(found.unwrap().id, "wanted");
    assert_eq!(store.find_unfinished("1111", &fingerprint).unwrap(), None);
}

#[test]
fn deleting_one_experiment_keeps_the_others_and_gives_the_space_back() {
    let (directory, mut store) =
        store_with(vec![sample::whole_experiment("small"), sample::whole_experiment("kept")]);
    let path = directory.path().join("plimsoll.db");
    let size = || path.metadata().unwrap().len();
    let before = size();
    let mut large = sample::whole_experiment("large");
    let slices =
        (0..40).map(|index| sample::slice(index, &(1..400).map(|i| i * 977).collect::<Vec<_>>()));
    large.runs[0].points[0].slices.extend(slices);
    store.import(large).unwrap();
    assert!(size() > before);
    store.delete("large").unwrap();
    store.delete("small").unwrap();
    assert!(size() <= before, "{} > {before}", size());
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 1);
    let kept = sample::merged(&sample::whole_experiment("kept"));
    assert_eq!(store.load("kept").unwrap(), kept);
    assert_err!(store.delete("large"), StoreError::Unknown { .. });
}
