//! Records of every version that was ever released must load forever: `tests/records/vN.db` and `vN.json` hold the same record.

use crate::Store;
use crate::it::sample;
use plimsoll_record::{ExperimentRecord, RECORD_VERSION, RunState};
use plimsoll_testing::assert_contains;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records")
}

#[test]
fn records_of_every_version_load() {
    for version in 1..=RECORD_VERSION {
        let text = fs::read_to_string(folder().join(format!("v{version}.json"))).unwrap();
        let from_text = ExperimentRecord::from_json(&text).unwrap();

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("old.db");
        fs::copy(folder().join(format!("v{version}.db")), &path).unwrap();
        let from_store = Store::open(&path).unwrap().load("last").unwrap();
        assert_eq!(from_store, from_text);

        // The figures that were written, independent of how records are made today.
        assert_eq!(from_text.id, "01d1dea5");
        assert_eq!(from_text.seed, u64::MAX);
        let [finished, failed] = from_text.runs.as_slice() else { panic!("two runs") };
        assert_eq!(finished.load.as_ref().unwrap().slices.len(), 1);
        assert_eq!(finished.points.len(), 2);
        let first = &finished.points[0].slices[0];
        assert_eq!(first.completed.ok, 3, "two in time and one late");
        let reads = &first.operations[0].latencies.service;
        assert_eq!(reads.min_ns(), Some(1_000));
        assert_eq!(reads.count_above(1_000_000), 1);
        assert_eq!(first.telemetry["reads"], 1.0 / 3.0);
        let end = finished.points[0].end.as_ref().unwrap();
        assert_eq!(end.busy_ns, 31_000_000_000);
        assert!(finished.points[1].end.is_none());
        match &failed.state {
            RunState::Failed { message } => assert_contains(message, "library"),
            other => panic!("{other:?}"),
        }
    }
}

/// Run once for each new version of the record or the schema, and never again for an old one:
/// `cargo test -p plimsoll-store write_the_records -- --ignored`.
#[test]
#[ignore = "makes the files of a new version"]
fn write_the_records_of_this_version() {
    let stem = folder().join(format!("v{RECORD_VERSION}"));
    let (text, database) = (stem.with_extension("json"), stem.with_extension("db"));
    let exist = text.exists() || database.exists();
    assert!(!exist, "the files of this version exist");
    let record = sample::whole_experiment("01d1dea5");
    fs::write(text, record.to_json()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plimsoll.db");
    Store::open(&path).unwrap().import(record).unwrap();
    fs::copy(path, database).unwrap();
}
