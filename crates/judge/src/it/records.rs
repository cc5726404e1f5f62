//! Two records of different days.

use crate::it::laboratory::{Laboratory, SPREAD, Shown, weather};
use crate::{Judgement, RecordComparison, compare_records};
use insta::assert_snapshot;
use plimsoll_plan::Metric;
use plimsoll_record::ExperimentRecord;

/// One arm at 4 threads over this many blocks, faster by `factor`.
fn record(id: &str, blocks: u32, factor: f64) -> ExperimentRecord {
    let lab = Laboratory::closed(&["arm"], &["c"], &[4, 8], blocks)
        .measure(|case| Shown::closed(case, 1e6 * factor * SPREAD[case.block as usize].exp()));
    ExperimentRecord { id: id.into(), ..lab.record() }
}

fn compare(a: &ExperimentRecord, b: &ExperimentRecord) -> RecordComparison {
    compare_records(a, "arm", b, "arm").unwrap()
}

#[test]
fn two_days_are_compared_without_pairs() {
    // All differences of logarithms lie evenly around ln 1.5, from -0.04 to +0.04; with 6 runs a side none of them is reached.
    let comparison = compare(&record("monday", 6, 1.0), &record("friday", 6, 1.5));
    assert_snapshot!(comparison.headline.join("\n"), @r"
Throughput of arm (friday) is 50.0 % higher than that of arm (monday) under workload c at 4 threads (95.9 % interval 47.0 % to 53.0 % higher, 6 runs of each arm).
Throughput of arm (friday) is 50.0 % higher than that of arm (monday) under workload c at 8 threads (95.9 % interval 47.0 % to 53.0 % higher, 6 runs of each arm).
These runs were not made side by side: whatever else changed between the two records (the machine's state, its neighbours, its disk) counts as a difference between the arms, and the intervals are wider than those of blocks. Run both arms in one experiment to be sure.
");
    let first = &comparison.comparisons[0];
    assert_eq!((first.metric, first.primary), (Metric::Throughput, true));
    assert_eq!(first.verdict.judgement, Judgement::Better);
    assert!((first.verdict.estimate.unwrap() - 0.5).abs() < 1e-5);
    // The most extreme of C(12, 6) orders, both ways.
    assert!((first.verdict.p_value.unwrap() - 2.0 / 924.0).abs() < 1e-9);
    assert_eq!((first.baseline_values.len(), first.values.len(), first.verdict.blocks), (6, 6, 6));
    // Two loads of four metrics.
    assert_eq!(comparison.comparisons.len(), 8);
    assert_eq!(
        (comparison.baseline.record.as_str(), comparison.other.record.as_str()),
        ("monday", "friday")
    );
}

#[test]
fn too_few_runs_say_so() {
    let comparison = compare(&record("monday", 3, 1.0), &record("friday", 3, 1.5));
    assert_snapshot!(comparison.comparisons[0].sentence, @"Not certain yet: throughput of arm (friday) is 50 % higher than that of arm (monday) under workload c at 4 threads so far (3 runs of each arm, at least 4 are needed).");
    assert_eq!(comparison.comparisons[0].verdict.interval, None);
}

#[test]
fn sides_with_different_numbers_of_runs_are_counted_apart() {
    let comparison = compare(&record("monday", 1, 1.0), &record("friday", 6, 1.5));
    assert_eq!(
        comparison.comparisons[0].verdict.reason.as_deref(),
        Some("6 runs against 1 of the baseline, at least 4 of each are needed")
    );
    let enough = compare(&record("monday", 4, 1.0), &record("friday", 6, 1.5));
    let sentence = &enough.comparisons[0].sentence;
    assert!(sentence.ends_with("6 runs against 4 of the baseline)."), "{sentence}");
}

#[test]
fn warnings_say_which_of_two_arms_of_one_name_they_are_about() {
    let (mut monday, mut friday) = (record("monday", 1, 1.0), record("friday", 1, 1.0));
    for record in [&mut monday, &mut friday] {
        record.runs[0].points[0].end.as_mut().unwrap().cut_short = true;
    }
    let comparison = compare(&monday, &friday);
    for name in ["arm (monday)", "arm (friday)"] {
        assert!(
            comparison.warnings.iter().any(|warning| warning.subject.contains(name)),
            "{:?}",
            comparison.warnings
        );
    }
}

#[test]
fn the_plan_says_which_of_two_arms_is_the_baseline() {
    let lab = Laboratory::closed(&["a", "b", "c"], &["c"], &[4], 1);
    let record = lab.measure(|case| Shown::closed(case, 1e6)).record();
    let plan = crate::plan_of(&record).unwrap();
    let of = |one, other| crate::baseline_of(&plan, one, other);
    assert_eq!([of("a", "b"), of("b", "a")], [Some("a"); 2]);
    assert_eq!(of("b", "c"), None);
}

#[test]
fn many_loads_are_counted() {
    let sweep = |id: &str, factor: f64| {
        let lab = Laboratory::closed(&["arm"], &["c"], &[1, 2, 4], 6)
            .measure(|case| Shown::closed(case, 1e6 * factor * SPREAD[case.block as usize].exp()));
        ExperimentRecord { id: id.into(), ..lab.record() }
    };
    let comparison = compare(&sweep("monday", 1.0), &sweep("friday", 0.5));
    assert_snapshot!(comparison.headline[..2].join("\n"), @r"
Throughput of arm (friday) is 50.0 % lower than that of arm (monday) under workload c at 1 thread (95.9 % interval 49.0 % to 51.0 % lower, 6 runs of each arm).
arm (friday) against arm (monday) in 3 deciding comparisons (throughput at every load that both measured): 3 worse; none better, equivalent or inconclusive.
");
}

#[test]
fn records_that_share_no_load_say_so() {
    let other =
        Laboratory::closed(&["arm"], &["a"], &[4], 6).measure(|case| Shown::closed(case, 1e6));
    let comparison = compare(
        &record("monday", 6, 1.0),
        &ExperimentRecord { id: "friday".into(), ..other.record() },
    );
    assert_snapshot!(comparison.headline.join("\n"), @"arm (monday) and arm (friday) share no workload at the same load, so there is nothing to compare. A has c at 4 threads, c at 8 threads; B has a at 4 threads.");
    assert_eq!(comparison.comparisons, []);
}

#[test]
fn a_record_without_runs_says_so() {
    let mut empty = record("friday", 6, 1.0);
    empty.runs.clear();
    assert_snapshot!(compare(&record("monday", 6, 1.0), &empty).headline.join("\n"), @"arm (friday) has no finished run in record friday, so there is nothing to compare.");
}

#[test]
fn an_unknown_arm_is_named_with_those_there_are() {
    let record = record("monday", 1, 1.0);
    assert_snapshot!(compare_records(&record, "arm", &record, "leg").unwrap_err().to_string(), @"record monday has no arm `leg`: its arms are arm");
}

#[test]
fn what_differs_between_the_days_is_found() {
    let (monday, mut friday) = (record("monday", 1, 1.0), record("friday", 1, 1.0));
    friday.program.version = "9.9".into();
    friday.runs[0].machine.governor = Some("powersave".into());
    friday.runs[0].engine.as_mut().unwrap().version = "2".into();
    let mut found = Vec::new();
    for difference in compare(&monday, &friday).differences {
        let values: Vec<String> =
            difference.values.iter().map(|(arm, value)| format!("{arm}: {value}")).collect();
        found.push(format!("{}: {}", difference.what, values.join(", ")));
    }
    assert_snapshot!(found.join("\n"), @r"
engine.version: arm (monday): simulated 1, arm (friday): simulated 2
machine.governor: arm (monday): not set, arm (friday): powersave
program: arm (monday):  (), arm (friday): 9.9 ()
");
}

#[test]
fn records_of_two_machines_say_so() {
    let (monday, mut friday) = (record("monday", 6, 1.0), record("friday", 6, 1.5));
    for run in &mut friday.runs {
        run.machine.cores = 64;
    }
    let comparison = compare(&monday, &friday);
    let said = "They were made on different machines, so the machine is part of every difference: arm (monday) was measured on unknown CPU|2 cores|0 MiB|unknown kernel, arm (friday) on unknown CPU|64 cores|0 MiB|unknown kernel.";
    assert!(
        comparison.headline.iter().any(|sentence| sentence == said),
        "{:?}",
        comparison.headline
    );
    let mixed = plimsoll_record::WarningId::MixedMachines;
    assert!(comparison.warnings.iter().any(|one| one.id == mixed));
}

/// The machine is twice as fast in one block as in another: pairs take that out, runs by themselves cannot.
#[test]
fn two_arms_of_one_experiment_are_compared_block_by_block() {
    let lab = Laboratory::closed(&["a", "b"], &["c"], &[4], 6).measure(|case| {
        let of_arm = if case.arm == "b" { 1.1 } else { 1.0 };
        Shown::closed(case, 1e6 * of_arm * weather(case.block))
    });
    let (record, analysis) = (lab.record(), lab.analyse());
    let comparison = compare_records(&record, "a", &record, "b").unwrap();
    let (there, here) = (&analysis.comparisons[0], &comparison.comparisons[0]);
    assert!(here.paired);
    assert_eq!(here.verdict, there.verdict);
    assert_eq!(here.verdict.judgement, Judgement::Better);
    let headline = comparison.headline.join(" ");
    assert!(!headline.contains("paired"), "{headline}");
}
