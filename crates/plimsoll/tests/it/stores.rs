//! Stores and records that cannot be used, and experiments that cannot be found.

use crate::laboratory::{Laboratory, Mounted, finished};
use plimsoll_record::{ExperimentRecord, ExperimentState, RunRecord};
use plimsoll_store::Store;
use plimsoll_testing::{Need, assert_contains, assert_ends, assert_starts, needs};
use std::fs;

/// Good on every machine: a generator that gets no processor for some hundredths of a second is still far from its limit, a fifth of the time.
pub const TINY: &str = "
plimsoll: 1
name: tiny
workload: {records: 2, preset: c}
arms: {one: {engine: simulated, service: constant, service_mean: 30ms}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 60s, operations: 10, blocks: 1}
";

/// A laboratory with one finished experiment, and its record.
pub fn with_a_record() -> (Laboratory, ExperimentRecord) {
    // A machine that stands still for some tenths of a second makes so short a point invalid. Then it is measured again.
    for _ in 0..5 {
        let laboratory = Laboratory::new();
        let said = laboratory.experiment(TINY);
        if said.code != Some(106) {
            assert_eq!(said.code, Some(0), "{said:?}");
            let record = laboratory.record();
            return (laboratory, record);
        }
    }
    panic!("no point of five experiments is valid");
}

/// What is said of an attempt that must fail.
fn refused(laboratory: &Laboratory, arguments: &[&str]) -> String {
    let said = laboratory.run(arguments);
    let found = (said.code, said.out.as_str());
    assert_eq!(found, (Some(1), ""), "{arguments:?}: {}", said.err);
    laboratory.plain(&said.err)
}

#[test]
fn places_that_are_no_store() {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", TINY);
    laboratory.write("letter.txt", "Dear store, ".repeat(20));
    let mut said = String::new();
    for store in [".", "letter.txt", "/proc/plimsoll.db", "/dev/null"] {
        let run = ["--store", store, "run", "experiment.yaml"];
        said.push_str(&refused(&laboratory, &run));
    }
    insta::assert_snapshot!(said);
    let found = fs::read_to_string(laboratory.path("letter.txt")).unwrap();
    assert_eq!(found, "Dear store, ".repeat(20));
}

#[test]
fn nothing_to_report() {
    let laboratory = Laboratory::new();
    let mut said = refused(&laboratory, &["report"]);
    said.push_str(&refused(&laboratory, &["list"]));
    drop(Store::open(&laboratory.store()).unwrap());
    said.push_str(&refused(&laboratory, &["report"]));
    said.push_str(&refused(&laboratory, &["report", "quickstart"]));
    insta::assert_snapshot!(said);
    let list = laboratory.run(&["list"]);
    assert_eq!((list.code, list.out.as_str()), (Some(0), ""));
    assert_eq!(laboratory.run(&["list", "--json"]).out, "[]\n");
}

#[test]
fn what_is_removed_leaves_nothing_beside_the_store() {
    let (laboratory, record) = with_a_record();
    let said = laboratory.run(&["clean", "--failed"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{said:?}");
    for unknown in ["ffffffffff", ""] {
        let said = laboratory.run(&["clean", unknown]);
        assert_eq!(said.code, Some(1), "{said:?}");
    }
    let mut failed = record.clone();
    failed.id = "0badf00d".into();
    for run in &mut failed.runs {
        run.state = plimsoll_record::RunState::Interrupted;
    }
    Store::open(&laboratory.store()).unwrap().import(failed).unwrap();
    let folder = laboratory.store().with_file_name("servers").join("0badf00d");
    fs::create_dir_all(&folder).unwrap();
    for name in ["0-a.log", "mine.txt"] {
        fs::write(folder.join(name), "x").unwrap();
    }
    let planned = laboratory.run(&["clean", "--failed", "--dry-run"]);
    assert_starts(&planned.out, "would remove 0badf00d tiny");
    let said = laboratory.run(&["clean", "--failed"]);
    assert_starts(&said.out, "removed 0badf00d tiny");
    // What the program did not write stays.
    assert!(!folder.join("0-a.log").exists() && folder.join("mine.txt").exists());
    assert_contains(&said.err, "it stays");

    let page = laboratory.store().with_file_name("pages");
    assert_eq!(fs::read_dir(&page).unwrap().count(), 1);
    let said = laboratory.run(&["clean", &record.id[..4]]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(fs::read_dir(&page).unwrap().count(), 0);
    assert_eq!(laboratory.run(&["list", "--json"]).out, "[]\n");
}

mod slow {
    use super::*;

    #[test]
    fn a_full_disk_under_the_store_loses_nothing_that_was_written() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        // Each of its 180 points has a slice with histograms.
        let text = "
plimsoll: 1
name: full
workload: {records: 2, mixes: [a, b, c, d, e, f]}
arms: {one: {engine: simulated, service_mean: 100us}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 60s, operations: 200, blocks: 30, spare_blocks: 0}
";
        laboratory.write("experiment.yaml", text);
        let mounted = Mounted::tmpfs(&laboratory.path("small"), "300k");
        let run = "--store small/plimsoll.db run experiment.yaml --page page.html";
        let run: Vec<&str> = run.split(' ').collect();
        let said = laboratory.run(&run);
        assert_eq!(said.code, Some(1), "{said:?}");
        let words = "plimsoll: no space left for the store small/plimsoll.db: make room and start again, what was written so far is kept\n";
        assert_ends(&said.err, words);

        let load = || {
            let store = Store::open_read_only(&laboratory.path("small/plimsoll.db"));
            store.unwrap().load("last").unwrap()
        };
        let before = load();
        assert_eq!(before.state, ExperimentState::Unfinished);
        assert!(finished(&before) > 0, "{}", said.err);
        mounted.grow("20m");
        let again = laboratory.run(&run);
        assert!(matches!(again.code, Some(0 | 106)), "{again:?}");
        assert_contains(&again.err, &format!("resumes: {} of 30 runs are done", finished(&before)));
        let after = load();
        assert_eq!(after.state, ExperimentState::Finished);
        assert_eq!(finished(&after), 30);
        let is_kept = |run: &&RunRecord| crate::laboratory::state(run) == "finished";
        for run in before.runs.iter().filter(is_kept) {
            assert!(after.runs.contains(run));
        }
        drop(mounted);
    }

    #[test]
    fn ids_that_are_unknown_or_fit_twice() {
        let (laboratory, record) = with_a_record();
        let mut store = Store::open(&laboratory.store()).unwrap();
        for id in ["abcd0001", "abcd0002"] {
            let again = ExperimentRecord { id: id.to_owned(), ..record.clone() };
            assert_eq!(store.import(again).unwrap(), id);
        }
        drop(store);
        let mut said = String::new();
        for wanted in ["ffffffff-no-such", "abcd"] {
            said.push_str(&refused(&laboratory, &["report", wanted]));
        }
        insta::assert_snapshot!(said);
        assert_eq!(laboratory.run(&["report", "abcd0001"]).code, Some(0));
    }

    #[test]
    fn a_store_of_a_later_version_is_not_touched() {
        let (laboratory, _) = with_a_record();
        let mut bytes = fs::read(laboratory.store()).unwrap();
        // The user version of a SQLite file: four bytes at 60, the greatest first.
        bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
        fs::write(laboratory.store(), &bytes).unwrap();
        let mut said = refused(&laboratory, &["run", "experiment.yaml"]);
        said.push_str(&refused(&laboratory, &["report"]));
        insta::assert_snapshot!(said);
        assert_eq!(fs::read(laboratory.store()).unwrap(), bytes);
    }

    #[test]
    fn record_files_that_cannot_be_used() {
        let (laboratory, record) = with_a_record();
        let text = record.to_json();
        let version = format!("\"plimsoll_record\":{}", record.plimsoll_record);
        assert!(text.contains(&version));
        laboratory.write("good.json", &text);
        assert_eq!(laboratory.run(&["report", "good.json"]).code, Some(0));

        let newer = text.replace(&version, "\"plimsoll_record\":99");
        laboratory.write("newer.json", newer);
        laboratory.write("other.json", "{\"a\": 1}");
        laboratory.write("binary.json", b"\xff\xfe");
        let mut said = String::new();
        for file in ["newer.json", "other.json", "binary.json", "missing.json"] {
            said.push_str(&refused(&laboratory, &["report", file]));
        }
        insta::assert_snapshot!(said);
        // Where it ends depends on the record.
        laboratory.write("cut.json", &text[..text.len() / 2]);
        let cut = refused(&laboratory, &["report", "cut.json"]);
        let words = "plimsoll: cannot use cut.json: the record is damaged: EOF while parsing";
        assert_starts(&cut, words);
    }

    #[test]
    fn a_store_that_may_only_be_read() {
        needs!([Need::Root]);
        let (laboratory, record) = with_a_record();
        let mounted =
            Mounted::read_only(&laboratory.path("data/plimsoll"), &laboratory.path("still"));
        let store = laboratory.path("still/plimsoll.db");
        let store = store.to_str().unwrap();
        let run = ["--store", store, "run", "experiment.yaml"];
        insta::assert_snapshot!(refused(&laboratory, &run));
        // Reading is possible; the page must go somewhere else.
        let page = laboratory.path("page.html");
        let to = ["--page", page.to_str().unwrap()];
        let report = ["--store", store, "report", &record.id];
        let report = laboratory.run(&[&report[..], &to].concat());
        assert_eq!(report.code, Some(0), "{report:?}");
        assert!(page.exists());
        drop(mounted);
    }
}
