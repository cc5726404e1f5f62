//! What a run decides by itself: sweeps, trials, sessions, the end of an experiment.

use crate::laboratory::{Laboratory, try_until, wait_until};
use plimsoll_plan::Plan;
use plimsoll_plan::search::MixObjective;
use plimsoll_record::{
    ExperimentRecord, ExperimentState, LoadKind, ProbeTime, RunRecord, RunState,
};
use plimsoll_testing::assert_contains;
use rustix::process::Signal;

/// One server of 1 ms carries 1,000 operations per second, and no machine makes it carry more.
const CAPACITY: f64 = 1_000.0;

const SEARCH: &str = "
plimsoll: 1
name: search
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 1ms}
arms: {one: }
objective:
  response: {p99: 100ms}
  search: {trial: 100ms, warm_up: 0s, width: 10%, sessions: 50, arrivals: constant, rates: [100, 20k]}
measurement: {warm_up: 0s, duration: 300ms, blocks: 2}
";

fn rates(run: &RunRecord) -> Vec<(u32, f64)> {
    let mut rates = Vec::new();
    for point in &run.points {
        if let (Some(trial), LoadKind::Open { rate, .. }) = (point.label.trial, point.label.load) {
            rates.push((trial, rate));
        }
    }
    rates
}

fn plan(record: &ExperimentRecord) -> Plan {
    serde_json::from_value(record.plan.clone()).unwrap()
}

mod slow {
    use super::*;

    #[test]
    fn the_line_is_searched_in_every_block_and_never_found_above_the_capacity() {
        let laboratory = Laboratory::new();
        let said = laboratory.experiment(SEARCH);
        let record = laboratory.record();
        assert_eq!(record.state, ExperimentState::Finished, "{said:?}");
        let plan = plan(&record);
        let objective = plan.objective.unwrap();
        let search = objective.search.unwrap();
        let json = laboratory.run(&["report", "last", "--json"]);
        let analysis: plimsoll_judge::Analysis = serde_json::from_str(&json.out).unwrap();
        let [line] = &analysis.lines[..] else {
            panic!("one arm and one mix have one line: {:?}", analysis.lines);
        };
        let mut looked_above = 0;
        for (run, block) in record.runs.iter().zip(&line.blocks) {
            let made = rates(run);
            let numbers = made.iter().map(|(trial, _)| *trial);
            assert!(numbers.eq(0..made.len() as u32));
            let aim = MixObjective { objective: &objective, mix: &plan.mixes[0] };
            let trial = |point| plimsoll_plan::search::trial(point, aim, &search);
            let trials: Vec<_> = run.points.iter().filter_map(trial).collect();
            assert_eq!(trials.len(), made.len(), "each was whole or lost");
            // A rate that the server cannot carry is never achieved, however the machine fares.
            let impossible = trials.iter().filter(|trial| trial.rate > 1.05 * CAPACITY);
            looked_above += impossible.clone().count();
            assert!(impossible.clone().all(|trial| !trial.is_good));
            let found = plimsoll_plan::search::replay(&search, &trials).unwrap().line();
            assert_eq!((block.lower, block.upper), (found.lower, found.upper));
            assert_eq!(block.trials.len(), made.len());
        }
        assert!(looked_above > 0, "no search looked above");
    }

    #[test]
    fn a_search_that_was_killed_goes_on_with_the_trials_that_it_had_made() {
        let (laboratory, before) = try_until(|| {
            let laboratory = Laboratory::new();
            let mut running = laboratory.start_experiment(SEARCH);
            laboratory.wait_for_record(&mut running, |record| {
                record.runs.last().is_some_and(|run| run.points.len() > 4)
            });
            running.send(Signal::KILL);
            running.end();
            wait_until("the worker to end", || laboratory.processes().is_empty());
            let before = laboratory.record();
            let is_caught =
                |run: &RunRecord| run.state != RunState::Finished && run.points.len() > 4;
            let caught = before.runs.last().is_some_and(is_caught);
            caught.then_some((laboratory, before))
        });
        let killed = before.runs.last().unwrap();
        let ended = killed.points.iter().filter(|point| point.end.is_some());
        let kept = ended.count();
        let again = laboratory.run(&["run", "experiment.yaml"]);
        let after = laboratory.record();
        assert_eq!(after.state, ExperimentState::Finished, "{again:?}");
        let is_second = |run: &&RunRecord| (run.block, run.attempt) == (killed.block, 2);
        let second = after.runs.iter().find(is_second).unwrap();
        let first = rates(second)[0];
        assert_eq!(first.0 as usize, kept, "numbers go on");
        let begun = rates(killed)[0];
        let again = rates(second).contains(&(0, begun.1));
        assert!(!again, "it did not begin again");
    }

    #[test]
    fn a_sweep_stops_by_itself_and_later_blocks_measure_no_less() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: sweep
workload: {records: 10, preset: c}
defaults: {engine: simulated, servers: 2, service: constant, service_mean: 2ms}
arms: {one: }
load: {closed: {threads: {from: 1, to: 512}}}
measurement: {warm_up: 0s, duration: 200ms, blocks: 3}
";
        let said = laboratory.experiment(text);
        let record = laboratory.record();
        assert_eq!(record.state, ExperimentState::Finished, "{said:?}");
        let mut least = 3;
        for run in &record.runs {
            let sessions = run.points.iter().map(|point| point.label.load.sessions());
            let sessions: Vec<u32> = sessions.collect();
            let doubled: Vec<u32> = (0..sessions.len()).map(|power| 1 << power).collect();
            assert_eq!(sessions, doubled);
            assert!(sessions.len() >= least, "{sessions:?} after {least}");
            least = sessions.len();
        }
        // Two servers are full with two sessions, so that no throughput grows up to 512.
        assert!(least < 10, "it went on to the end");
    }

    #[test]
    fn sessions_of_an_open_loop_are_found_by_experiment() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: found
workload: {records: 10, preset: c}
defaults: {engine: simulated, servers: 4, service: constant, service_mean: 2ms}
arms: {one: }
load:
  closed: {threads: {from: 1, to: 64}}
  open: {rates: [100], sessions: found}
measurement: {warm_up: 0s, duration: 200ms, blocks: 1}
";
        let said = laboratory.experiment(text);
        let record = laboratory.record();
        assert_eq!(record.state, ExperimentState::Finished, "{said:?}");
        let (open, closed) = record.runs[0].points.split_last().unwrap();
        let done = |point: &plimsoll_record::PointRecord| -> u64 {
            point.slices.iter().map(|slice| slice.completed.ok).sum()
        };
        let best = closed.iter().max_by_key(|point| done(point)).unwrap();
        let found = open.label.load.sessions();
        let of_best = best.label.load.sessions();
        // Points that came out alike may have lost or won by the length of their last slice.
        let mut points = closed.iter();
        let same = points.find(|point| point.label.load.sessions() == found);
        let is_alike = done(same.unwrap()) as f64 > 0.9 * done(best) as f64;
        assert!(found == of_best || is_alike, "{found} and {of_best}");
    }

    #[test]
    fn an_experiment_ends_when_two_looks_find_it_sharp() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: looks
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 1ms}
arms: {one: , two: {servers: 2}}
load: {closed: {threads: [2]}}
measurement: {warm_up: 0s, duration: 200ms, blocks: {at_least: 6, at_most: 60, until: 90%}}
compare: {primary: [throughput]}
";
        let said = laboratory.experiment(text);
        let record = laboratory.record();
        assert_eq!(record.state, ExperimentState::Finished, "{said:?}");
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_contains(&said.err, "every interval is narrow enough");
        let blocks = record.runs.iter().map(|run| run.block + 1).max().unwrap();
        assert!((7..60).contains(&blocks), "{blocks}");
        assert_eq!(record.runs.len() as u32, 2 * blocks);
        // It is over: the same command measures again.
        let again = laboratory.run(&["run", "experiment.yaml", "--quiet"]);
        assert_eq!(again.code, Some(0), "{again:?}");
        assert_ne!(laboratory.record().id, record.id);
    }

    #[test]
    fn an_arm_is_measured_against_itself() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: itself
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 1ms}
arms: {one: , two: {servers: 2}}
load: {closed: {threads: [1, 2]}}
measurement: {warm_up: 0s, duration: 200ms, blocks: 6}
";
        laboratory.write("experiment.yaml", text);
        let said = laboratory.run(&["run", "experiment.yaml", "--aa=two", "--json"]);
        let analysis: plimsoll_judge::Analysis = serde_json::from_str(&said.out).unwrap();
        let names: Vec<&str> = analysis.arms.iter().map(|arm| arm.name.as_str()).collect();
        assert_eq!(names, ["two", "two again"]);
        let itself = analysis.against_itself.unwrap();
        assert!(analysis.comparisons.len() >= 8, "{itself:?}");
        // On a busy machine points may be too short for a percentile: what has too few blocks for an interval is counted by itself.
        let comparisons = || analysis.comparisons.iter();
        let judged = comparisons().filter(|one| one.verdict.interval.is_some());
        assert_eq!(itself.comparisons as usize, judged.count());
        let with_values = comparisons().filter(|one| one.has_values()).count();
        assert_eq!((itself.comparisons + itself.unjudged) as usize, with_values);
    }

    #[test]
    fn probe_tasks_are_timed_before_and_after_each_block() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: probe-tasks
workload: {records: 10, preset: c}
defaults: {engine: noop}
arms: {one: , two: , three: }
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 100ms, blocks: 2}
";
        let said = laboratory.experiment(text);
        let record = laboratory.record();
        assert_eq!(record.runs.len(), 6, "{said:?}");
        for block in record.runs.chunks(3) {
            let [first, between, last] = [0, 1, 2].map(|run| &block[run].probe_tasks[..]);
            assert!(between.is_empty());
            for (probes, place) in [(first, ProbeTime::BeforeBlock), (last, ProbeTime::AfterBlock)]
            {
                let [probe] = probes else { panic!("{probes:?}") };
                assert_eq!(probe.place, place);
                assert!(probe.cpu_ns > 0);
                assert_eq!(probe.disk_ns, None, "nothing keeps data");
            }
        }
    }

    #[test]
    fn what_has_no_checkpoints_says_so() {
        let laboratory = Laboratory::new();
        let said = laboratory.experiment(
            "
plimsoll: 1
name: phases
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 1ms}
arms: {one: }
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 100ms, blocks: 1, checkpoints: before-points}
",
        );
        assert_eq!(said.code, Some(106), "{said:?}");
        assert_contains(&said.out, "simulated has no checkpoint on request");
    }

    /// How much runs vary is taken from earlier ones of the same name only where they had the same load.
    #[test]
    fn what_finds_a_difference_is_told_by_runs_of_the_same_load() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: find
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: exponential, service_mean: 1ms}
arms: {one: , two: {servers: 2}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 3s, blocks: 2}
compare: {primary: [throughput], at: {threads: 1}}
";
        let said = laboratory.experiment(text);
        if said.out.contains("W-FOREIGN-CPU invalid") {
            // Then nothing was found out about noise.
            let test = "what_finds_a_difference_is_told_by_runs_of_the_same_load";
            plimsoll_testing::skip(test, "other programs use the machine");
            return;
        }
        let is_by_experiment = |text: String, expected: bool| {
            laboratory.write("experiment.yaml", text);
            // So large a difference that a busy machine does not put it out of reach.
            let planned = laboratory.run(&["plan", "experiment.yaml", "--find", "50%"]);
            assert_eq!(planned.code, Some(0), "{planned:?}");
            let found = planned.out.contains("by experiment");
            assert_eq!(found, expected, "{}", planned.out);
        };
        is_by_experiment(text.to_owned(), true);
        is_by_experiment(text.replace("blocks: 2", "blocks: 8"), true);
        for (from, to) in [("preset: c", "preset: b"), ("threads: 1", "threads: 2")] {
            is_by_experiment(text.replace(from, to), false);
        }
    }
}
