//! Controls: what is planted into a copy of the baseline is found, and what is not planted is not.

use crate::laboratory::Laboratory;
use plimsoll_judge::{Analysis, ControlResult, analyse};
use plimsoll_plan::Metric;

/// Half of the speed is taken away: more than any machine does by itself within a block.
const EXPERIMENT: &str = "
plimsoll: 1
name: controlled
workload: {records: 1k, preset: c}
defaults: {engine: wiredtiger, cache_size: 16MiB}
arms: {one: , other: }
load: {closed: {threads: 2}}
measurement: {warm_up: 0s, duration: 2s, blocks: 2}
compare: {primary: [throughput], at: {threads: 2}}
controls: [0%, 50%]
thresholds: ['throughput >= 1']
";

fn result<'a>(analysis: &'a Analysis, control: &str) -> &'a ControlResult {
    let mut found = analysis.controls.iter().filter(|one| one.control == control);
    let result = found.next().unwrap_or_else(|| panic!("no {control}"));
    assert!(found.next().is_none());
    result
}

#[test]
fn controls_are_checked() {
    let laboratory = Laboratory::new();
    for (from, to, expected) in [
        ("[0%, 50%]", "[60%]", "60% is out of range: at least 0%, at most 50%"),
        ("[0%, 50%]", "[2%, 2%]", "2% is in this list twice"),
        (
            "arms: {one: , other: }",
            "factors: {cache_size: [16MiB, 32MiB]}",
            "controls are copies of one baseline",
        ),
    ] {
        laboratory.write("wrong.yaml", EXPERIMENT.replace(from, to));
        let said = laboratory.run(&["plan", "wrong.yaml"]);
        assert_ne!(said.code, Some(0));
        let whole = format!("{}{}", said.out, said.err);
        assert!(whole.contains(expected), "{expected}: {whole}");
    }
    laboratory.write("experiment.yaml", EXPERIMENT);
    let said = laboratory.run(&["plan", "experiment.yaml", "--control", "70%"]);
    assert!(said.err.contains("--control"), "{said:?}");
    let said = laboratory.run(&["plan", "experiment.yaml", "--control", "2%"]);
    assert!(said.out.contains("control 2%") && !said.out.contains("control 50%"), "{said:?}");
}

mod slow {
    use super::*;

    #[test]
    fn what_is_planted_is_found() {
        let laboratory = Laboratory::new();
        let said = laboratory.experiment(EXPERIMENT);
        let record = laboratory.record();
        // Four arms in each block.
        assert_eq!(record.runs.len(), 8, "{said:?}");
        let analysis = analyse(&record).unwrap();
        let planted = result(&analysis, "control 50%");
        assert_eq!(
            (planted.metric, planted.planted, planted.expected),
            (Metric::Throughput, 0.5, -0.5)
        );
        let worse = analysis.curves.iter().filter(|curve| curve.arm == "control 50%");
        assert_eq!(worse.count(), 1, "a control is drawn as any other arm");
        // Controls are no arms of the question.
        let others: Vec<_> = analysis.comparisons.iter().map(|one| one.arm.as_str()).collect();
        assert!(others.iter().all(|arm| *arm == "other"), "{others:?}");
        assert!(analysis.thresholds.iter().all(|one| !one.subject.contains("control")));
        let copy = result(&analysis, "control 0%");
        assert_eq!((copy.planted, copy.expected), (0.0, 0.0));
        assert!(said.out.contains("controls"), "{said:?}");
        // Each second has its pause, so every operation of the control waits in sum for half of the time, whatever else the machine does.
        for run in record.runs.iter().filter(|run| run.arm == "control 50%") {
            let slices = &run.points[0].slices;
            let longest = slices
                .iter()
                .flat_map(|slice| &slice.operations)
                .map(|part| part.latencies.service.max_ns());
            assert!(
                longest.max().flatten().unwrap() >= 490_000_000,
                "no pause in block {}",
                run.block
            );
        }
    }
}
