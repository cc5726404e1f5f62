//! Exit codes follow from what happened to the data, the bounds and the engine.

use crate::laboratory::{Laboratory, runs};
use plimsoll_record::{ProbeTime, RunState};
use plimsoll_testing::assert_contains;

/// One arm, one point, one block, on the simulated engine with these further settings, and these further lines.
fn simulated(settings: &str, lines: &str) -> String {
    format!(
        "
plimsoll: 1
name: ending
workload: {{records: 2, preset: c}}
arms: {{one: {{engine: simulated, service: constant, service_mean: 20ms, {settings}}}}}
load: {{closed: {{threads: 1}}}}
load_phase: {{threads: 1}}
measurement: {{warm_up: 0s, duration: 60s, operations: 40, blocks: 1, seed: 1}}
{lines}"
    )
}

mod slow {
    use super::*;

    #[test]
    fn a_bound_that_holds_and_one_that_does_not() {
        let laboratory = Laboratory::new();
        // With 20 ms for each operation no more than 50 a second can be done, and none takes less.
        let holds = laboratory
            .experiment(simulated("", "thresholds: [throughput <= 60, response.p50 >= 19ms]"));
        assert_eq!(holds.code, Some(0), "{holds:?}");
        let broken = laboratory.experiment(simulated("", "thresholds: [throughput >= 60]"));
        assert_eq!(broken.code, Some(99), "{broken:?}");
        assert_contains(&broken.out, "throughput >= 60");
        assert_eq!(laboratory.run(&["report"]).code, Some(99));
        assert_eq!(laboratory.run(&["report", "--json"]).code, Some(99));
        // Two bounds on the same, of which only one can hold.
        let other = laboratory.experiment(simulated(
            "",
            "thresholds: [{metric: throughput >= 60, arm: one, mix: c, at: {threads: 1}}]",
        ));
        assert_eq!(other.code, Some(99), "{other:?}");
    }

    #[test]
    fn an_engine_that_only_fails() {
        let laboratory = Laboratory::new();
        let said = laboratory.experiment(simulated("error_share: 100%", ""));
        assert_eq!(said.code, Some(106), "{said:?}");
        let record = laboratory.record();
        let RunState::Failed { message } = &record.runs[0].state else {
            panic!("{:?}", runs(&record))
        };
        let expected = "all 2 operations of a point failed, so nothing is left to measure: simulated: failed as error_share asks";
        assert_eq!(message, expected);
        assert_contains(&said.err, message);
    }

    /// Whether an operation fails is drawn from the seed. The load of two records must get through, and some of the 40 later operations must fail.
    #[test]
    fn an_engine_that_fails_now_and_then() {
        let judged = |allowed: &str| {
            let laboratory = Laboratory::new();
            for seed in 1..50 {
                let text = simulated(
                    "error_share: 25%",
                    &format!(
                        "objective: {{response: {{p50: 1m}}, errors: {allowed}, search: false}}"
                    ),
                );
                let said =
                    laboratory.experiment(text.replace("seed: 1}", &format!("seed: {seed}}}")));
                let record = laboratory.record();
                let Some(end) = record.runs[0].points.first().and_then(|point| point.end.clone())
                else {
                    // The load failed, which the count of the records shows.
                    assert_eq!(said.code, Some(106), "{said:?}");
                    let first = "2 were requested; the first failure: simulated: failed as error_share asks";
                    let is_described =
                        [first, "all 2 operations"].map(|words| said.err.contains(words));
                    assert!(is_described.contains(&true), "{said:?}");
                    continue;
                };
                let failed: u64 = end.errors.iter().map(|sample| sample.count).sum();
                let counted: u64 =
                    record.runs[0].points[0].slices.iter().map(|slice| slice.completed.error).sum();
                assert_eq!(failed, counted);
                if failed > 0 {
                    assert!(failed < 40);
                    return said;
                }
            }
            panic!("no seed of fifty lets the load through and fails later");
        };
        let refused = judged("0");
        assert_eq!(refused.code, Some(106), "{refused:?}");
        assert_contains(&refused.out, "W-ERRORS");
        let allowed = judged("99%");
        assert_eq!(allowed.code, Some(0), "{allowed:?}");
        assert!(!allowed.out.contains("W-ERRORS"), "{}", allowed.out);
    }

    /// An arm that cannot work is given up after two blocks, and the other one goes on.
    #[test]
    fn an_arm_that_never_works_is_given_up() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: half
workload: {records: 2, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 1ms}
arms: {good: , bad: {error_share: 1.0}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 60s, operations: 5, blocks: 4}
";
        let said = laboratory.experiment(text);
        assert_eq!(said.code, Some(106), "{said:?}");
        let record = laboratory.record();
        let of = |arm: &str, state: &str| {
            runs(&record).iter().filter(|run| run.0 == arm && run.3 == state).count()
        };
        assert_eq!(of("good", "finished"), 4);
        assert_eq!(of("bad", "failed"), 2);
        assert_eq!(record.runs.len(), 6);
        let words = "arm bad failed 2 times and never succeeded: its other runs are left out";
        assert_contains(&said.err, words);
        // Whichever run is the last that is made in a block, the machine is timed after it.
        for block in 0..4 {
            let of_block = record.runs.iter().filter(|run| run.block == block);
            let places: Vec<ProbeTime> =
                of_block.flat_map(|run| run.probe_tasks.iter().map(|probe| probe.place)).collect();
            let expected = [ProbeTime::BeforeBlock, ProbeTime::AfterBlock];
            assert_eq!(places, expected, "block {block}");
        }
    }
}
