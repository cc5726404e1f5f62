//! Whole experiments, from the file to the page.

use crate::laboratory::{Laboratory, Said, count, finished, page_of, runs};
use plimsoll_record::{ExperimentRecord, ExperimentState, PointRecord, Status};
use plimsoll_testing::assert_contains;
use std::collections::BTreeMap;
use std::fs;

/// Everything that a finished experiment must show, whatever it measured. Returns its record.
fn expect_whole(laboratory: &Laboratory, said: &Said, runs: usize) -> ExperimentRecord {
    let record = laboratory.record();
    let Said { code, out, err } = said;
    assert_eq!(record.state, ExperimentState::Finished, "{err}");
    let found = (record.runs.len(), finished(&record));
    assert_eq!(found, (runs, runs), "{err}");
    assert!(record.ended_at.is_some());
    for run in &record.runs {
        assert_eq!(run.attempt, 1);
        assert!(run.ended_at.is_some() && run.engine.is_some());
        for point in run.load.iter().chain(&run.points) {
            let end = point.end.as_ref().expect("every point has its end");
            assert!(!end.cut_short);
            assert_eq!(end.errors, Vec::new());
        }
    }

    // The summary is on the standard output.
    assert_contains(out, &record.id);
    let page = fs::read_to_string(page_of(out)).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    // Its one script is the one that its policy lets run; all others are data.
    let policy = plimsoll_report::page::shell::policy(plimsoll_report::page::shell::Place::File);
    assert!(page.contains(&policy));
    assert_eq!(page.matches("<script>").count(), 1);
    for data in page.split("<script ").skip(1) {
        let attributes = data.split('>').next().unwrap_or_default();
        assert_contains(attributes, "type=\"application/");
    }
    for outside in "src=\"http href=\"http url(http @import <link <iframe".split(' ') {
        assert!(!page.contains(outside), "the page has {outside}");
    }
    assert!(page.contains(&record.id));

    assert_contains(err, &format!("experiment {} ({})", record.name, record.id));
    // Talk is on the standard error.
    assert!(!err.contains("panicked") && !out.contains("left"));
    // A report is made from the record alone, so it must come to the same.
    let again = laboratory.run(&["report", "--all", &record.id]);
    assert_eq!((again.code, &again.out), (*code, out));
    record
}

fn units(point: &PointRecord) -> u64 {
    let measured = point.slices.iter().filter(|slice| !slice.warm_up);
    measured.map(|slice| slice.completed.total()).sum()
}

/// What the workload of this name may do to a record.
#[cfg(feature = "wiredtiger")]
fn kinds_of(mix: &str) -> &'static [&'static str] {
    match mix {
        "a" | "b" => &["read", "update"],
        "c" => &["read"],
        "d" => &["read", "insert"],
        "e" => &["scan", "insert"],
        "f" => &["read", "read-modify-write", "update"],
        _ => unreachable!("the experiment has a to f"),
    }
}

/// A simulated engine whose service time of 20 ms outweighs what a busy machine does to the generator: the gates of a closed loop
/// hold, so one arm alone is good.
#[test]
fn a_closed_loop_that_must_be_good() {
    let laboratory = Laboratory::new();
    let text = "
plimsoll: 1
name: closed
question: Does it work?
workload: {records: 20, preset: c}
arms: {one: {engine: simulated, service: constant, service_mean: 20ms, servers: 2}}
load: {closed: {threads: 2}}
measurement: {warm_up: 0s, duration: 60s, operations: 20, blocks: 2}
thresholds: [errors <= 0, throughput >= 0.001/s]
";
    let said = laboratory.experiment(text);
    assert_eq!(said.code, Some(0), "{said:?}");
    let record = expect_whole(&laboratory, &said, 2);
    assert_eq!(record.question.as_deref(), Some("Does it work?"));
    for run in &record.runs {
        let [point] = run.points.as_slice() else { panic!("one point") };
        assert!((20..22).contains(&units(point)));
        for part in point.slices.iter().flat_map(|slice| &slice.operations) {
            let least = part.latencies.service.min_ns().unwrap();
            // No service is shorter than the law's 20 ms.
            assert!(least >= 19_900_000, "{least}");
        }
    }
}

#[cfg(feature = "wiredtiger")]
mod once {
    use super::*;

    /// Each run of an arm begins with the very same data, and it is gone at the end.
    #[test]
    fn data_that_is_stored_once_is_copied_for_each_run() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: stored-once
workload: {records: 2k, mixes: {all: {read: 1, update: 1, insert: 1}}}
defaults: {engine: wiredtiger, cache_size: 32MiB}
arms: {snappy: {block_compressor: snappy}, plain: {block_compressor: none}}
load: {closed: {threads: 2}}
load_phase: {once: true}
measurement: {warm_up: 0s, duration: 60s, operations: 500, blocks: 2, seed: 1}
";
        let said = laboratory.experiment(text);
        let record = expect_whole(&laboratory, &said, 4);
        let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_contains(
            &words,
            "copied for each run: what differs from load to load is in no interval",
        );
        for arm in ["snappy", "plain"] {
            let runs: Vec<_> = record.runs.iter().filter(|run| run.arm == arm).collect();
            // What the first run inserted is not in the second.
            assert!(runs.iter().all(|run| run.load.is_none() && run.records_loaded == Some(2_000)));
            assert!(runs[0].data_bytes.is_some_and(|bytes| bytes > 100_000));
            assert_eq!(runs[0].data_bytes, runs[1].data_bytes);
        }
        assert_eq!(said.err.matches("for all its runs").count(), 2, "{said:?}");
        assert!(
            !laboratory.path("cache/plimsoll/data").exists()
                || fs::read_dir(laboratory.path("cache/plimsoll/data")).unwrap().count() == 0
        );
        let refused = laboratory.experiment(
            text.replace("engine: wiredtiger, cache_size: 32MiB", "engine: noop")
                .replace("block_compressor: snappy", "")
                .replace("block_compressor: none", ""),
        );
        assert_eq!(refused.code, Some(104), "{refused:?}");
        assert_contains(&refused.err, "cannot be stored once and copied: its engine keeps");
    }

    #[test]
    fn every_workload_on_embedded_wiredtiger() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: every-workload
workload: {records: 1k, mixes: [a, b, c, d, e, f], data_integrity: true}
defaults: {engine: wiredtiger}
arms: {small: {cache_size: 10MiB}, large: {cache_size: 64MiB}}
load: {closed: {threads: [1, 3]}}
measurement: {warm_up: 0s, duration: 60s, operations: 400, blocks: 1}
";
        let said = laboratory.experiment(text);
        // Whether points of a few milliseconds pass the gates is the machine's affair; no run may fail.
        assert!(matches!(said.code, Some(0 | 106)), "{said:?}");
        let record = expect_whole(&laboratory, &said, 2);
        for run in &record.runs {
            assert_eq!(run.records_loaded, Some(1_000));
            assert!(run.storage.is_some());
            let load = run.load.as_ref().unwrap();
            assert_eq!(count(&load.slices, "insert", Status::Ok), 1_000);
            assert_eq!(run.points.len(), 12);
            for point in &run.points {
                let mix = point.label.mix.as_str();
                // Each session ends its own operation, so a few more than requested may be complete.
                let sessions = u64::from(point.label.load.sessions());
                let done = units(point);
                assert!((400..400 + sessions).contains(&done), "{mix}: {done}");

                let mut kinds: Vec<&str> = Vec::new();
                for part in point.slices.iter().flat_map(|slice| &slice.operations) {
                    assert_eq!(part.status, Status::Ok, "{mix}: {:?}", part.operation);
                    let name = part.operation.name();
                    if name != "verify" && !kinds.contains(&name) {
                        kinds.push(name);
                    }
                }
                let mut expected = kinds_of(mix).to_vec();
                kinds.sort_unstable();
                expected.sort_unstable();
                assert_eq!(kinds, expected, "{mix}");
                let counted = |operation| count(&point.slices, operation, Status::Ok);
                let whole = counted("read-modify-write");
                let parts = ["read", "update", "insert", "scan"].map(counted);
                let sum = parts.iter().sum::<u64>() - whole;
                assert_eq!(sum, done, "{mix}: the parts make the whole");
                if mix != "e" {
                    let found = counted("verify");
                    assert_eq!(found, counted("read"), "{mix}: every read is verified");
                }
            }
        }
    }
}

mod slow {
    use super::*;

    #[test]
    fn open_loops_and_stages_count_what_was_due() {
        for (load, duration, least_due, most_due) in [
            (
                "open: {rates: [100, 200], arrivals: constant, sessions: 8}",
                "duration: 300ms, ",
                30,
                60,
            ),
            // Poisson with means of 60 and 120: ten standard deviations either side.
            (
                "open: {rates: [200, 400], arrivals: poisson, sessions: 8}",
                "duration: 300ms, ",
                0,
                240,
            ),
            (
                "stages: {arrivals: constant, sessions: 8, steps: [{to: 400, duration: 200ms}, {rate: 400, duration: 100ms}]}",
                "",
                80,
                80,
            ),
        ] {
            let laboratory = Laboratory::new();
            let said = laboratory.experiment(format!(
                "
plimsoll: 1
name: open
workload: {{records: 20, preset: a}}
arms: {{one: {{engine: simulated, service: constant, service_mean: 100us, servers: 8}}}}
load: {{{load}}}
measurement: {{warm_up: 0s, {duration}blocks: 1}}
"
            ));
            // Whether the generator was in time is the machine's affair.
            assert!(matches!(said.code, Some(0 | 106)), "{said:?}");
            let record = expect_whole(&laboratory, &said, 1);
            for point in &record.runs[0].points {
                let end = point.end.as_ref().unwrap();
                let due = end.due.expect("an open loop knows what was due");
                assert!((least_due..=most_due).contains(&due), "{load}: {due}");
                let unfinished = end.unfinished.as_ref().map_or(0, |late| late.count());
                assert_eq!(units(point) + unfinished, due, "{load}: nothing is dropped");
                for part in point.slices.iter().flat_map(|slice| &slice.operations) {
                    let response = part.latencies.response();
                    let wait = part.latencies.wait().expect("an open loop has waits");
                    assert_eq!(response.count(), wait.count());
                    assert!(response.max_ns() >= part.latencies.service.max_ns());
                }
            }
        }
    }

    #[test]
    fn the_same_experiment_asks_the_same() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: same
workload:
  records: 200
  mixes:
    all: {read: 3, update: 2, insert: 1, scan: 1, read_modify_write: 1, request_distribution: zipfian}
arms: {one: {engine: noop}}
load: {closed: {threads: 1}}
load_phase: {threads: 1}
measurement: {warm_up: 0s, duration: 60s, operations: 3k, blocks: 2, seed: 7}
";
        let mut counts: Vec<BTreeMap<&str, u64>> = Vec::new();
        for _ in 0..2 {
            laboratory.write("experiment.yaml", text);
            // What the gates say of a no-op engine is not checked here.
            laboratory.run(&["run", "experiment.yaml", "--fresh"]);
            let record = laboratory.record();
            assert_eq!(runs(&record).len(), 2);
            for run in &record.runs {
                assert_eq!(units(&run.points[0]), 3_000);
                let mut of_run = BTreeMap::new();
                for name in ["read", "update", "insert", "scan", "read-modify-write"] {
                    of_run.insert(name, count(&run.points[0].slices, name, Status::Ok));
                }
                counts.push(of_run);
            }
        }
        let [first, second, first_again, second_again] = counts.as_slice() else {
            panic!("two runs, twice")
        };
        assert_eq!(first, first_again);
        assert_eq!(second, second_again);
        assert_ne!(first, second, "each block draws its own numbers");
        assert!(first.values().all(|count| *count > 0));
    }
}
