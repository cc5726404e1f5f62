//! What is killed or stopped loses nothing, leaves nothing behind for long, and goes on.

#[cfg(feature = "wiredtiger")]
use crate::laboratory::has_slices;
use crate::laboratory::{Laboratory, finished, runs, send, state, try_until, wait_until};
use plimsoll_record::{ExperimentState, RunState};
use plimsoll_testing::assert_contains;
use rustix::process::Signal;
use std::collections::BTreeSet;

/// Runs of some tenths of a second on an engine that keeps no data: 2 arms in 3 blocks.
const SHORT_RUNS: &str = "
plimsoll: 1
name: short-runs
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 1ms}
arms: {one: , two: {servers: 2}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 400ms, blocks: 3}
";

/// Long enough to be caught in the middle, and ended by a signal long before its time.
#[cfg(feature = "wiredtiger")]
const LONG_RUN: &str = "
plimsoll: 1
name: long-run
workload: {records: 1k, preset: a}
defaults: {engine: wiredtiger, cache_size: 10MiB}
arms: {one: }
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 10m, blocks: 1}
";

#[cfg(feature = "wiredtiger")]
fn has_a_point(record: &plimsoll_record::ExperimentRecord) -> bool {
    record.runs.iter().any(|run| !run.points.is_empty())
}

#[cfg(feature = "wiredtiger")]
mod once {
    use super::*;

    #[test]
    fn an_interruption_keeps_what_was_measured() {
        for signal in [Signal::INT, Signal::TERM] {
            let laboratory = Laboratory::new();
            let mut running = laboratory.start_experiment(LONG_RUN);
            laboratory.wait_for_record(&mut running, has_slices);
            running.send(signal);
            let said = running.end();
            assert_eq!(said.code, Some(105), "{said:?}");
            assert!(said.err.contains("interrupted: 1 of 1 runs are missing; the same command measures them: plimsoll run experiment.yaml"), "{}", said.err);
            assert!(laboratory.processes().is_empty() && laboratory.data_directories().is_empty());

            let record = laboratory.record();
            assert_eq!(record.state, ExperimentState::Unfinished);
            assert_eq!(runs(&record), vec![("one", 0, 1, "interrupted")]);
            let [point] = record.runs[0].points.as_slice() else {
                panic!("the point that was going on")
            };
            let end = point.end.as_ref().unwrap();
            assert!(end.cut_short);
            // Its last part of a second is kept.
            let lengths = point.slices.iter().map(|slice| slice.length_ns);
            assert_eq!(lengths.sum::<u64>(), end.measured_ns);
        }
    }
}

mod slow {
    use super::*;

    #[test]
    fn a_runner_killed_at_any_moment_goes_on_with_what_is_missing() {
        for finished_before in [0, 1, 3] {
            let (laboratory, before) = try_until(|| {
                let laboratory = Laboratory::new();
                let mut running = laboratory.start_experiment(SHORT_RUNS);
                laboratory.wait_for_record(&mut running, |record| {
                    finished(record) >= finished_before && record.runs.len() > finished_before
                });
                running.send(Signal::KILL);
                running.end();
                wait_until("the worker to end", || laboratory.processes().is_empty());
                let before = laboratory.record();
                (before.state == ExperimentState::Unfinished).then_some((laboratory, before))
            });
            let kept = finished(&before);
            assert!(kept >= finished_before);

            let again = laboratory.run(&["run", "experiment.yaml"]);
            assert_eq!(again.code, Some(0), "{again:?}");
            if kept > 0 {
                let missing = 6 - kept;
                let words = format!("resumes: {kept} of 6 runs are done, {missing} are missing");
                assert_contains(&again.err, &words);
            }
            let after = laboratory.record();
            assert_eq!(after.id, before.id);
            assert_eq!(after.state, ExperimentState::Finished);
            // What there was before is there, to the last histogram, and the killed run is distinguished from its second attempt.
            assert_eq!(after.runs[..before.runs.len()], before.runs[..]);
            let done = runs(&after).into_iter().filter(|run| run.3 == "finished");
            let once: BTreeSet<_> = done.map(|run| (run.0, run.1)).collect();
            let found = (once.len(), finished(&after));
            assert_eq!(found, (6, 6), "each run is finished once");
            for run in &before.runs {
                let mut attempts = runs(&after);
                attempts.retain(|one| (one.0, one.1) == (run.arm.as_str(), run.block));
                let attempts: Vec<_> = attempts.iter().map(|one| (one.2, one.3)).collect();
                match run.state {
                    RunState::Finished => assert_eq!(attempts, [(1, "finished")]),
                    _ => assert_eq!(attempts, [(1, "interrupted"), (2, "finished")]),
                }
            }
        }
    }

    #[cfg(feature = "wiredtiger")]
    #[test]
    fn slices_outlive_the_runner_and_its_data_is_removed_by_the_next() {
        let laboratory = Laboratory::new();
        let mut running = laboratory.start_experiment(LONG_RUN);
        let seen = laboratory.wait_for_record(&mut running, has_slices);
        let seen = seen.expect("ten minutes are not over");
        assert_eq!(state(&seen.runs[0]), "started");
        running.crash();
        // Nobody ends the worker: it sees that its runner is gone.
        wait_until("the worker to end", || laboratory.processes().is_empty());

        let killed = laboratory.record();
        assert_eq!(runs(&killed), [("one", 0, 1, "interrupted")]);
        let [slices, seen] = [&killed, &seen].map(|record| &record.runs[0].points[0].slices);
        assert_eq!(slices[..seen.len()], seen[..]);
        assert_eq!(killed.runs[0].records_loaded, Some(1_000));
        let left = laboratory.data_directories();
        assert_eq!(left.len(), 1, "what is killed cannot clean up");

        // Another experiment, which is over at once, cleans up after the killed one.
        let foreign = laboratory.data_parent().join("plimsoll-like");
        std::fs::create_dir(&foreign).unwrap();
        std::fs::write(foreign.join("precious"), "not ours").unwrap();
        let text = LONG_RUN.replace("duration: 10m", "duration: 20ms");
        laboratory.write("short.yaml", text);
        let short = laboratory.run(&["run", "short.yaml"]);
        let removed = format!("the data directory {}", left[0].display());
        assert!(short.err.contains(&removed), "{}", short.err);
        // What has no marker stays.
        let stays = std::slice::from_ref(&foreign);
        assert_eq!(laboratory.data_directories(), stays);
        std::fs::remove_dir_all(foreign).unwrap();
    }

    #[test]
    fn a_killed_worker_fails_its_run_alone() {
        let laboratory = try_until(|| {
            let laboratory = Laboratory::new();
            let mut running = laboratory.start_experiment(SHORT_RUNS);
            laboratory.wait_for_record(&mut running, |record| {
                record.runs.last().is_some_and(|run| run.engine.is_some())
            })?;
            send(running.worker()?, Signal::KILL);
            let said = running.end();
            let record = laboratory.record();
            let failed = record.runs.iter().filter(|run| state(run) == "failed");
            let failed: Vec<_> = failed.collect();
            let [failed] = failed[..] else { return None };

            let RunState::Failed { message } = &failed.state else {
                unreachable!("it is the failed one")
            };
            assert!(message.contains("SIGKILL"), "{message}");
            assert_eq!(said.code, Some(106), "{said:?}");
            assert_contains(&said.err, message);
            assert_contains(&said.err, "1 of 6 runs are missing");
            let found = (record.runs.len(), finished(&record));
            assert_eq!(found, (6, 5), "the others go on");
            Some(laboratory)
        });
        let before = laboratory.record();
        let again = laboratory.run(&["run", "experiment.yaml"]);
        assert_eq!(again.code, Some(0), "{again:?}");
        let after = laboratory.record();
        assert_eq!(after.state, ExperimentState::Finished);
        assert_eq!(after.runs[..6], before.runs[..]);
        let failed = before.runs.iter().find(|run| state(run) == "failed");
        let failed = failed.unwrap();
        let expected = [(failed.arm.as_str(), failed.block, 2, "finished")];
        assert_eq!(runs(&after)[6..], expected);
    }

    /// An operation that does not return cannot be stopped cleanly.
    #[test]
    fn a_second_interruption_ends_it_at_once() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: stuck
workload: {records: 1, preset: c}
arms: {one: {engine: simulated, service_mean: 1ms, service: constant, stalls: 10ms+30m}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 1h, blocks: 1}
";
        let mut running = laboratory.start_experiment(text);
        // A whole second without any operation: the session is in the stall, on a busy machine already with the record that is stored first.
        laboratory.wait_for_record(&mut running, |record| {
            let runs = record.runs.iter();
            let points = runs.flat_map(|run| run.load.iter().chain(&run.points));
            let mut slices = points.flat_map(|point| &point.slices);
            slices.any(|slice| slice.completed.total() == 0)
        });
        running.send(Signal::INT);
        wait_until("the program to hear it", || {
            let said = std::fs::read_to_string(laboratory.path("err")).unwrap();
            said.contains("once more to stop at once")
        });
        running.send(Signal::INT);
        let said = running.end();
        assert_eq!(said.code, Some(105), "{said:?}");
        assert!(laboratory.processes().is_empty());
        assert_eq!(runs(&laboratory.record()), [("one", 0, 1, "interrupted")]);
    }

    #[cfg(feature = "wiredtiger")]
    #[test]
    fn an_experiment_is_run_by_one_program_at_a_time() {
        let laboratory = Laboratory::new();
        let mut running = laboratory.start_experiment(LONG_RUN);
        let record = laboratory.wait_for_record(&mut running, has_a_point);
        let id = record.unwrap().id;
        let second = laboratory.run(&["run", "experiment.yaml"]);
        assert_eq!(second.code, Some(1));
        // Before that it may say that the machine is busy, with the first one above all.
        let process = running.id();
        let words = format!(
            "plimsoll: experiment {id} (long-run) is being run by process {process} (plimsoll): wait for it or stop it first"
        );
        assert_eq!(second.err.lines().last().unwrap(), words);
        let found = laboratory.data_directories().len();
        assert_eq!(found, 1, "the data of the first is left alone");
        let list = laboratory.run(&["list"]);
        assert!(list.out.contains("running"), "{}", list.out);
        running.send(Signal::TERM);
        assert_eq!(running.end().code, Some(105));
    }

    /// A data directory's name follows from the experiment and the run, so somebody could have put something there.
    #[cfg(feature = "wiredtiger")]
    #[test]
    fn what_is_in_the_way_of_the_data_is_never_touched() {
        let laboratory = Laboratory::new();
        let mut running = laboratory.start_experiment(LONG_RUN);
        let record = laboratory.wait_for_record(&mut running, has_a_point);
        running.send(Signal::INT);
        running.end();

        let name = format!("plimsoll-{}-0-one-2", record.unwrap().id);
        let in_the_way = laboratory.data_parent().join(name);
        std::fs::create_dir(&in_the_way).unwrap();
        std::fs::write(in_the_way.join("precious"), "not ours").unwrap();
        let said = laboratory.run(&["run", "experiment.yaml"]);
        assert_eq!(said.code, Some(106), "{said:?}");
        let message = format!(
            "{} is in the way: it has no marker of plimsoll and is not empty; nothing was touched, move it away or name another directory in the experiment file",
            in_the_way.display()
        );
        assert!(said.err.contains(&message), "{}", said.err);
        let found = std::fs::read_to_string(in_the_way.join("precious")).unwrap();
        assert_eq!(found, "not ours");
        assert_eq!(runs(&laboratory.record())[1..], [("one", 0, 2, "failed")]);
        std::fs::remove_dir_all(in_the_way).unwrap();
    }

    /// Judging may be changed without measuring again, so the record must follow the file that it goes on with.
    #[test]
    fn a_bound_that_was_changed_meanwhile_holds() {
        let laboratory = try_until(|| {
            let laboratory = Laboratory::new();
            let mut running = laboratory.start_experiment(SHORT_RUNS);
            laboratory.wait_for_record(&mut running, |record| finished(record) >= 1);
            running.send(Signal::INT);
            (running.end().code == Some(105)).then_some(laboratory)
        });
        let changed = format!("{SHORT_RUNS}thresholds: [throughput >= 1G]\n");
        let said = laboratory.experiment(&changed);
        assert!(said.err.contains("resumes"), "{said:?}");
        assert_eq!(said.code, Some(99), "{said:?}");
        let record = laboratory.record();
        assert_eq!(record.file_text, changed);
        assert_eq!(laboratory.run(&["report"]).code, Some(99));
    }

    #[cfg(feature = "wiredtiger")]
    #[test]
    fn clean_removes_what_a_killed_program_left_behind() {
        let laboratory = Laboratory::new();
        let running = laboratory.start_experiment(LONG_RUN);
        wait_until("the data directory", || !laboratory.data_directories().is_empty());
        wait_until("the worker", || running.worker().is_some());

        let in_use = laboratory.run(&["clean"]);
        assert_eq!(in_use.code, Some(0));
        assert_eq!(in_use.err.as_str(), "nothing was left behind\n");
        running.crash();
        wait_until("the worker to end", || laboratory.processes().is_empty());

        let [left] = &laboratory.data_directories()[..] else { panic!("one directory") };
        let would = laboratory.run(&["clean", "--dry-run"]);
        let directory = format!("the data directory {}", left.display());
        assert_eq!(would.out.matches(&left.display().to_string()).count(), 1);
        assert!(would.out.contains(&format!("would undo: {directory}")));
        assert!(left.exists());
        let removed = laboratory.run(&["clean"]);
        assert_eq!(removed.code, Some(0));
        assert!(removed.out.contains(&directory), "{}", removed.out);
        assert!(!left.exists());
        let again = laboratory.run(&["clean"]);
        assert_eq!(again.out.as_str(), "");
        assert_eq!(again.err.as_str(), "nothing was left behind\n");
    }
}
