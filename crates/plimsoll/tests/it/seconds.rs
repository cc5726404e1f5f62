//! What is measured in a second, and what it takes of memory to count it.

use crate::laboratory::Laboratory;
use plimsoll_store::Store;
use plimsoll_testing::{assert_contains, assert_starts};
use serde_json::Value;

mod slow {
    use super::*;

    /// Far more sessions are inside a call at the end of each second than come out of one soon after: the terminal, the report, the exported
    /// seconds and what is followed live have the same operations in the same seconds all the same.
    #[test]
    fn every_reader_has_the_same_throughput() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: seconds
workload: {records: 2, preset: c}
arms: {one: {engine: simulated, servers: 10000, service_mean: 600ms}}
load: {closed: {threads: 64}}
load_phase: {threads: 2}
measurement: {warm_up: 1s, duration: 4s, blocks: 1, seed: 1}";
        let said = laboratory.experiment(text);
        let record = laboratory.record();
        let point = &record.runs[0].points[0];
        let indices: Vec<u32> = point.slices.iter().map(|slice| slice.index).collect();
        assert_eq!(indices, [0, 1, 2, 3, 4], "{said:?}");
        let store = Store::open_read_only(&laboratory.store()).unwrap();
        let mut following = store.follow("last").unwrap();
        let news = store.news(&mut following).unwrap();
        // The load phase has slices as well, of a point of its own.
        let last = news.slices.last().unwrap().0;
        let of_last = news.slices.iter().filter(|(key, _)| *key == last);
        assert_eq!(of_last.count(), 5, "each second is one slice");

        let measured = point.slices.iter().filter(|slice| !slice.warm_up);
        let (mut operations, mut nanos) = (0, 0);
        for slice in measured {
            assert!(slice.completed.ok > 0, "64 sessions finish some each second");
            operations += slice.completed.ok;
            nanos += slice.length_ns;
        }
        assert_eq!(nanos, 4_000_000_000);
        let rate = operations as f64 / 4.0;
        let report: Value =
            serde_json::from_str(&laboratory.run(&["report", "--json"]).out).unwrap();
        let result = &report["curves"][0]["points"][0]["results"][0];
        assert_eq!(result["throughput"].as_f64().unwrap(), rate);
        let line = said
            .err
            .lines()
            .find(|line| line.contains("64 threads: "))
            .unwrap_or_else(|| panic!("{}", said.err));
        let shown: f64 =
            line.split("64 threads: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!((shown / rate - 1.0).abs() < 0.01, "{line}: {rate}");
    }

    /// What sessions take of memory does not grow with what they count: 1,000 of them stay below 300 MB in all.
    #[test]
    fn a_thousand_sessions_of_an_open_loop_are_small() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: memory
workload: {records: 100, preset: a}
arms: {one: {engine: noop}}
load: {open: {rates: [1000], sessions: 1000}}
load_phase: {threads: 2}
measurement: {warm_up: 1s, duration: 2s, blocks: 1, seed: 1}";
        let said = laboratory.experiment(text);
        let record = laboratory.record();
        let slices = &record.runs[0].points[0].slices;
        let most = slices.iter().map(|slice| slice.worker.resident_bytes).max();
        let most = most.unwrap_or_else(|| panic!("{said:?}"));
        assert!(most < 300_000_000, "{most} bytes");
    }

    /// What was measured is better known than what was thought: `plan` says what the runs of this plan took here.
    #[test]
    fn a_plan_that_was_run_before_says_what_it_took() {
        let laboratory = Laboratory::new();
        let text = "
plimsoll: 1
name: before
workload: {records: 2, preset: c}
arms: {one: {engine: noop}}
load: {closed: {threads: 1}}
load_phase: {threads: 1}
measurement: {warm_up: 0s, duration: 200ms, blocks: 2, seed: 1}";
        laboratory.write("experiment.yaml", text);
        let before = laboratory.run(&["plan", "experiment.yaml"]);
        assert!(!before.out.contains("\nmeasured  "), "{}", before.out);
        laboratory.run(&["run", "experiment.yaml"]);
        let id = laboratory.record().id;
        let after = laboratory.run(&["plan", "experiment.yaml"]);
        let line = after.out.lines().find(|line| line.starts_with("measured  "));
        let line = line.unwrap_or_else(|| panic!("{}", after.out));
        assert_starts(line, "measured  2 of 2 runs took ");
        assert_contains(line, &format!("in experiment {id}: all 2 about "));
    }
}
