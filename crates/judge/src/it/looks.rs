//! How many blocks there were, how many it takes, and whether the machine was the same in all of them.

use crate::it::laboratory::{Laboratory, SPREAD, Shown, primary, warns, weather};
use crate::it::searched::plan_more_blocks;
use crate::{Judgement, Outcome, Repeatability, ValidityState, sharp};
use insta::assert_snapshot;
use plimsoll_plan::{Looks, Metric};
use plimsoll_record::{ExperimentState, ProbeTask, ProbeTime, WarningId};

/// Two equal arms whose differences lie evenly around zero, as far as `spread`.
fn equal_arms(blocks: u32, spread: f64) -> Laboratory {
    Laboratory::closed(&["a", "b"], &["c"], &[4], blocks).measure(|case| {
        let own =
            if case.arm == "b" { (SPREAD[case.block as usize] / 0.02 * spread).exp() } else { 1.0 };
        Shown::closed(case, 1e5 * weather(case.block) * own)
    })
}

#[test]
fn narrow_intervals_are_sharp_and_wide_ones_are_not() {
    // Six blocks: the interval is from the lowest to the highest difference, -2 to +2 % of the logarithms.
    let analysis = equal_arms(6, 0.02).analyse();
    let looks = |half_width| Looks { first: 6, half_width, gate: None };
    assert!(sharp(&analysis, &looks(None)), "the margin is 3 %");
    assert!(sharp(&analysis, &looks(Some(0.021))));
    assert!(!sharp(&analysis, &looks(Some(0.019))));
    let needed = &analysis.blocks_needed[0];
    assert!((needed.reached.unwrap() - 0.02_f64.exp_m1()).abs() < 1e-4);
    assert_eq!((needed.metric, needed.half_width), (Metric::Throughput, 0.03));
}

#[test]
fn where_an_interval_lies_does_not_matter_to_a_look() {
    // The same widths, once around zero and once around 50 %.
    let far = Laboratory::closed(&["a", "b"], &["c"], &[4], 6).measure(|case| {
        let own = if case.arm == "b" { 1.5 * SPREAD[case.block as usize].exp() } else { 1.0 };
        Shown::closed(case, 1e5 * own)
    });
    for half_width in [0.019, 0.021] {
        let looks = Looks { first: 6, half_width: Some(half_width), gate: None };
        let near = sharp(&equal_arms(6, 0.02).analyse(), &looks);
        assert_eq!(sharp(&far.analyse(), &looks), near, "{half_width}");
    }
}

#[test]
fn five_blocks_are_never_sharp() {
    let analysis = equal_arms(5, 0.0001).analyse();
    let looks = Looks { first: 5, half_width: Some(0.5), gate: None };
    assert!(!sharp(&analysis, &looks));
    let needed = &analysis.blocks_needed[0];
    assert_eq!((needed.reached, needed.blocks), (None, Some(6)));
}

#[test]
fn a_pilot_says_how_many_blocks_it_takes() {
    // s of the eight evenly spread values ± 0.5, 1, 1.5, 2 %: √(2·(0.25 + 1 + 2.25 + 4)/7) = 1.464 %; ε = ln 1.005. n ≥ (t·2.935)²: at 36 blocks t = 2.030 makes 35.5, at 35 2.032 makes 35.6.
    let mut lab = equal_arms(8, 0.02);
    lab.plan.measurement.looks = Some(Looks { first: 6, half_width: Some(0.005), gate: None });
    assert_eq!(lab.analyse().blocks_needed[0].blocks, Some(36));
    let four = equal_arms(4, 0.02).analyse();
    assert_eq!(four.blocks_needed[0].blocks, None, "four blocks tell too little");
}

#[test]
fn one_metric_that_is_wide_keeps_the_experiment_going() {
    let mut lab = equal_arms(6, 0.02);
    lab.plan.compare.primary.push(Metric::Errors);
    let looks = Looks { first: 6, half_width: None, gate: None };
    assert!(sharp(&lab.analyse(), &looks), "no failure in either arm is known as well as can be");
    lab.plan.compare.primary.push(Metric::Line);
    assert!(!sharp(&lab.analyse(), &looks), "what cannot be compared is not sharp");
}

#[test]
fn blocks_that_looks_left_out_are_not_missing() {
    let mut lab = equal_arms(7, 0.01);
    plan_more_blocks(&mut lab, 17);
    lab.plan.measurement.looks = Some(Looks { first: 6, half_width: None, gate: None });
    let analysis = lab.analyse();
    assert_eq!((analysis.progress.runs_planned, analysis.progress.runs_finished), (14, 14));
    assert_eq!(
        analysis.headline.last().unwrap(),
        "The experiment ended after 7 of at most 24 blocks: every interval is narrow enough."
    );
    let blocks = &analysis.validity[0];
    assert_eq!(blocks.state, ValidityState::Good);
    assert_eq!(
        blocks.text,
        "7 complete of at most 24, ended when every interval was narrow enough"
    );
    assert_eq!(analysis.outcome(), Outcome::Good);

    // While it runs, or without looks, they are missing.
    let mut record = lab.record();
    record.state = ExperimentState::Unfinished;
    let analysis = crate::analyse(&record).unwrap();
    assert_eq!(
        analysis.headline.last().unwrap(),
        "Incomplete: 14 of 48 runs. Run the same command to resume."
    );
}

/// Probe tasks of these times before each block, and the same after it.
fn with_probe_tasks(
    mut lab: Laboratory,
    cpu_ns: impl Fn(u32) -> u64,
    disk_ns: Option<u64>,
) -> Laboratory {
    let last = u32::try_from(lab.plan.arms.len()).unwrap() - 1;
    for run in &mut lab.runs {
        let probe = |place| ProbeTask {
            host: None,
            place,
            at: "2026-03-01T10:00:00Z".into(),
            cpu_ns: cpu_ns(run.block),
            disk_ns,
        };
        if run.position == 0 {
            run.probe_tasks.push(probe(ProbeTime::BeforeBlock));
        }
        if run.position == last {
            run.probe_tasks.push(probe(ProbeTime::AfterBlock));
        }
    }
    lab
}

#[test]
fn a_block_with_a_slower_machine_is_marked() {
    let slow = |block: u32| if block == 2 { 1_200_000 } else { 1_000_000 };
    let lab = with_probe_tasks(equal_arms(6, 0.02), slow, Some(5_000_000));
    let analysis = lab.analyse();
    let drift = analysis.drift.as_ref().unwrap();
    assert_eq!((drift.allowed, &drift.marked), ((0.05, 0.25), &vec![2]));
    assert_eq!((drift.cpu.len(), drift.disk.len()), (12, 12));
    let warning = analysis.warnings.iter().find(|one| one.id == WarningId::Drift).unwrap();
    assert_eq!(warning.subject, "block 3");
    let strip = analysis.validity.iter().find(|one| one.name == "drift").unwrap();
    assert_eq!(strip.state, ValidityState::Caution);
    assert_snapshot!(drift.sentence, @"The machine drifted: in block 3 a fixed test of the CPU took 20.0 % longer than usual (5.0 % is allowed).");
}

#[test]
fn what_is_allowed_does_not_grow_with_the_noise() {
    let turns = |off: u64| {
        move |block: u32| {
            if block.is_multiple_of(2) { 1_000_000 - off } else { 1_000_000 + off }
        }
    };
    // Off by 4 % in turns, and by 10 %: half of all probe tasks lie on either side.
    let still = with_probe_tasks(equal_arms(6, 0.02), turns(40_000), None).analyse();
    let drift = still.drift.as_ref().unwrap();
    assert!(drift.marked.is_empty() && !warns(&still, WarningId::Drift));
    assert_snapshot!(drift.sentence, @"The machine was the same in every block: a fixed test of the CPU within 4.0 % of the median.");
    let restless = with_probe_tasks(equal_arms(6, 0.02), turns(100_000), None).analyse();
    let drift = restless.drift.as_ref().unwrap();
    assert_eq!(drift.allowed, (0.05, 0.25));
    assert_eq!(drift.marked, [0, 1, 2, 3, 4, 5]);
    assert!(warns(&restless, WarningId::Drift));
}

#[test]
fn a_machine_that_was_timed_once_is_not_called_the_same() {
    let strip = |analysis: &crate::Analysis| {
        let mut all = analysis.validity.iter();
        let entry = all.find(|one| one.name == "drift").unwrap();
        (entry.state, entry.text.clone())
    };
    let uneven = |block: u32| 900_000 + 200_000 * u64::from(block % 2);
    let (state, text) = strip(&with_probe_tasks(equal_arms(1, 0.02), uneven, None).analyse());
    assert_eq!(state, ValidityState::Note);
    assert_snapshot!(text, @"timed in one block only");
}

#[test]
fn metrics_that_are_judged_together_ask_for_more_blocks() {
    let mut lab = equal_arms(6, 0.02);
    let blocks = |lab: &Laboratory| {
        let analysis = lab.analyse();
        let entry = &analysis.validity[0];
        let few = warns(&analysis, WarningId::FewBlocks);
        (entry.name.clone(), entry.state, few)
    };
    assert_eq!(blocks(&lab), ("blocks".into(), ValidityState::Good, false));
    // 97.5 % for the clearer of two: 1 - 2/2^n reaches that with 7 blocks.
    lab.plan.compare.primary = vec![Metric::Throughput, Metric::CpuPerOperation];
    assert_eq!(blocks(&lab), ("blocks".into(), ValidityState::Caution, true));
}

#[test]
fn blocks_that_were_not_enough_are_never_said_to_be() {
    // Six blocks reach from -2 to +2 %. By the estimate of their spread no more would do for a little less.
    let mut lab = equal_arms(6, 0.02);
    lab.plan.measurement.looks = Some(Looks { first: 6, half_width: Some(0.0195), gate: None });
    let analysis = lab.analyse();
    let needed = &analysis.blocks_needed[0];
    assert!(needed.reached.unwrap() > 0.0195, "{needed:?}");
    assert_eq!(needed.blocks, Some(7));
}

#[test]
fn without_probe_tasks_nothing_is_said_of_drift() {
    let analysis = equal_arms(6, 0.02).analyse();
    assert_eq!(analysis.drift, None);
    assert!(analysis.validity.iter().all(|one| one.name != "drift"));
}

fn of<'a>(all: &'a [Repeatability], arm: &str, metric: Metric) -> &'a Repeatability {
    all.iter().find(|one| one.arm == arm && one.metric == metric).unwrap()
}

#[test]
fn the_blocks_of_an_arm_have_a_spread() {
    let lab = Laboratory::closed(&["r5"], &["c"], &[4], 8)
        .measure(|case| Shown::closed(case, 1e5 * SPREAD[case.block as usize].exp()));
    let analysis = lab.analyse();
    let found = of(&analysis.repeatability, "r5", Metric::Throughput);
    // √(Σ squares/7) of ± 0.5, 1, 1.5, 2 %; χ² with 7 degrees: 1.690 and 16.013.
    let spread = (2.0 * (0.25 + 1.0 + 2.25 + 4.0) / 7.0_f64).sqrt() / 100.0;
    let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 2e-3;
    assert!(near(found.spread, spread), "{found:?}");
    assert!(near(found.spread_interval.0, spread * (7.0_f64 / 16.013).sqrt()), "{found:?}");
    assert!(near(found.spread_interval.1, spread * (7.0_f64 / 1.690).sqrt()), "{found:?}");
    assert!(near(found.range, 0.04_f64.exp_m1()), "{found:?}");
    assert_eq!(found.trend, None);
    // √(2/8)·s·(2.530 + 1.119), the quantiles of t at the 96.1 % that 8 blocks attain and at 85 %.
    assert!(near(found.visible.unwrap(), (0.5 * spread * 3.649).exp_m1()), "{found:?}");
    assert_snapshot!(found.sentence, @"Throughput of r5 varied by 1.5 % from block to block (1.0 % to 3.0 %): with 8 blocks, differences below 2.7 % stay invisible.");
    assert!(
        analysis
            .repeatability
            .iter()
            .any(|one| one.metric == Metric::Response { percentile: 99.0 })
    );
}

#[test]
fn a_trend_over_the_blocks_is_told() {
    let lab = Laboratory::closed(&["arm"], &["c"], &[4], 8)
        .measure(|case| Shown::closed(case, 1e5 * (-0.01 * f64::from(case.block)).exp()));
    let analysis = lab.analyse();
    let found = of(&analysis.repeatability, "arm", Metric::Throughput);
    assert!((found.trend.unwrap() - (-0.07_f64).exp_m1()).abs() < 1e-3, "{found:?}");
    assert!(
        found.sentence.ends_with("; it fell by 6.8 % from the first block to the last."),
        "{}",
        found.sentence
    );
}

#[test]
fn one_block_has_no_spread() {
    let lab =
        Laboratory::closed(&["arm"], &["c"], &[4], 1).measure(|case| Shown::closed(case, 1e5));
    assert!(lab.analyse().repeatability.is_empty());
}

#[test]
fn an_arm_against_itself_says_how_often_it_was_called_different() {
    let mut lab = equal_arms(8, 0.001);
    lab.plan.against_itself = true;
    let analysis = lab.analyse();
    let found = analysis.against_itself.as_ref().unwrap();
    // Throughput, p50, p99 and CPU per operation at the only point.
    assert_eq!((found.comparisons, found.different), (4, 0));
    assert_eq!(analysis.headline[0], found.sentence);
    assert!(
        found.sentence.starts_with(
            "An arm against itself: 0 of 4 comparisons were called different (at most 5 % by chance); the largest estimate was "
        ),
        "{}",
        found.sentence
    );

    let mut lab = Laboratory::closed(&["a", "b"], &["c"], &[4], 8)
        .measure(|case| Shown::closed(case, if case.arm == "b" { 1.1e5 } else { 1e5 }));
    lab.plan.against_itself = true;
    let found = lab.analyse().against_itself.unwrap();
    assert_eq!((found.comparisons, found.different), (4, 4));
    assert!(
        found.sentence.ends_with(" response time under workload c at 4 threads."),
        "{}",
        found.sentence
    );
    assert_eq!(primary(&lab.analyse(), Metric::Throughput).verdict.judgement, Judgement::Better);
    assert_eq!(equal_arms(8, 0.001).analyse().against_itself, None);
}
