//! The plimsoll line: searches with a known answer.

use crate::it::laboratory::{Laboratory, SPREAD, Shown, histogram, primary, warns, weather};
use crate::it::searched::{add_point, line_point, lines, measure, objective, trials};
use crate::it::watched::{Watched, calibrated, disk};
use crate::{
    Analysis, CauseKind, Judgement, LineResult, Outcome, ValidityState, analyse, compare_records,
    summed_up,
};
use insta::assert_snapshot;
use plimsoll_plan::{LoadAt, Metric, Point, PointRole, Threshold};
use plimsoll_record::{DiskChoice, LoadKind, Price, RunState, Severity, WarningId};
use plimsoll_workload::schedule::Load;

fn only_line(analysis: &Analysis) -> &LineResult {
    assert_eq!(analysis.lines.len(), 1);
    &analysis.lines[0]
}

#[test]
fn few_blocks_have_the_outermost_ends_and_no_confidence() {
    let capacities = [19_000.0, 20_000.0, 21_000.0];
    let analysis = measure(lines(&["xfs"], 3), |_, block| capacities[block as usize]).analyse();
    let line = only_line(&analysis);
    assert_eq!(line.confidence, None);
    let lowest = line.blocks.iter().filter_map(|block| block.lower).reduce(f64::min);
    let highest = line.blocks.iter().filter_map(|block| block.upper).reduce(f64::max);
    assert_eq!((line.lower, line.upper), (lowest, highest));
    assert!(line.sentence.contains("(no confidence, 3 blocks)"), "{}", line.sentence);
}

/// Whether a trial holds the objective is judged from its seconds.
#[test]
fn a_small_record_has_the_same_line() {
    let record = measure(lines(&["xfs"], 6), |_, _| 20_300.0).record();
    let small = summed_up(&record).unwrap();
    let [whole, small] = [&record, &small].map(|record| analyse(record).unwrap());
    assert!(only_line(&whole).rate.median.is_some());
    assert!(small.lines == whole.lines, "{}", only_line(&small).sentence);
}

#[test]
fn an_objective_that_no_load_meets_has_no_line() {
    let analysis = measure(lines(&["xfs"], 6), |_, _| 5.0).analyse();
    let line = only_line(&analysis);
    assert_eq!((line.lower, line.rate.median), (None, None));
    assert!(line.upper.is_some());
    assert!(warns(&analysis, WarningId::LineOpen));
    assert_snapshot!(line.sentence, @"xfs does not hold p99 ≤ 10 ms: not even at 10.1 op/s, the lowest rate tried.");
}

#[test]
fn a_generator_that_stands_still_beyond_the_line_makes_no_line_of_the_arm() {
    let mut lab = measure(lines(&["xfs"], 6), |_, _| 20_300.0);
    for point in lab.points() {
        let LoadKind::Open { rate, .. } = point.label.load else {
            panic!("a trial is an open loop")
        };
        if rate > 20_300.0 {
            // It stood still for a tenth of the trial.
            let end = point.end.as_mut().unwrap();
            let stalled_ns = end.measured_ns / 10;
            (end.generator_lag, end.lag_is_apart) = (Some(histogram(stalled_ns, 1)), true);
        }
    }
    let analysis = lab.analyse();
    let line = only_line(&analysis);
    assert_eq!((line.lower, line.upper, line.rate.median), (None, None, None));
    let warning =
        analysis.warnings.iter().find(|one| one.id == WarningId::GeneratorLimited).unwrap();
    assert_eq!(warning.id.severity(), Severity::Invalid);
    assert!(
        line.sentence.contains("the line is one of the load generator, not of xfs"),
        "{}",
        line.sentence
    );
    let strip = analysis.validity.iter().find(|one| one.name == "plimsoll line").unwrap();
    assert_eq!(strip.state, ValidityState::Bad);
    assert_eq!(analysis.outcome(), Outcome::Invalid);
}

#[test]
fn errors_beyond_the_line_are_its_evidence_and_no_broken_gate() {
    let mut lab = measure(lines(&["xfs"], 6), |_, _| 20_300.0);
    for point in lab.points() {
        let LoadKind::Open { rate, .. } = point.label.load else {
            panic!("a trial is an open loop")
        };
        for slice in point.slices.iter_mut().filter(|_| rate > 20_300.0) {
            slice.completed.error = 10;
        }
    }
    let analysis = lab.analyse();
    let line = only_line(&analysis);
    assert!(line.rate.median.is_some(), "{}", line.sentence);
    assert!(!warns(&analysis, WarningId::Errors));
}

#[test]
fn without_its_earlier_trials_a_search_knows_less() {
    // The same, but the first half is lost: what is left begins at another rate, and the search has no end.
    let mut lab = measure(lines(&["xfs"], 6), |_, _| 20_300.0);
    for run in &mut lab.runs {
        let half = run.points.len() / 2;
        run.points.drain(..half);
    }
    let analysis = lab.analyse();
    let line = only_line(&analysis);
    if let Some(rate) = line.rate.median {
        assert!((rate / 20_300.0 - 1.0).abs() < 0.03, "never a wrong line: {rate}");
    }
}

#[test]
fn a_primary_line_that_nobody_searched_is_said() {
    let mut lab =
        Laboratory::closed(&["a", "b"], &["c"], &[4], 6).measure(|case| Shown::closed(case, 1e5));
    lab.plan.compare.primary = vec![Metric::Line];
    let analysis = lab.analyse();
    assert_eq!(
        analysis.headline[1],
        "Workload c cannot be judged: no plimsoll line is searched for it."
    );
    assert_eq!(analysis.outcome(), Outcome::Invalid);
}

fn bound(text: &str, metric: Metric, at_least: bool, bound: f64, arm: Option<&str>) -> Threshold {
    Threshold {
        text: text.into(),
        metric,
        at_least,
        bound,
        arm: arm.map(str::to_owned),
        mix: None,
        at: None,
    }
}

#[test]
fn bounds_on_the_line_and_on_its_cost_are_tried() {
    let mut lab = measure(lines(&["xfs"], 6), |_, _| 20_000.0);
    lab.plan.arms[0].rig.price =
        Some(Price { per_hour: 0.72, currency: "USD".into(), source: None, date: None });
    // 0.72 an hour are 0.0002 a second: at 20,000 op/s a million operations cost 0.01.
    lab.plan.thresholds = vec![
        bound("line >= 19k", Metric::Line, true, 19_000.0, None),
        bound("line >= 21k", Metric::Line, true, 21_000.0, None),
        bound("cost <= 0.011", Metric::Cost, false, 0.011, None),
        bound("cost <= 0.009", Metric::Cost, false, 0.009, None),
        bound("throughput >= 1", Metric::Throughput, true, 1.0, None),
    ];
    let analysis = lab.analyse();
    let passed: Vec<bool> = analysis.thresholds.iter().map(|one| one.passed).collect();
    assert_eq!(passed, [true, false, true, false, false]);
    assert_eq!(analysis.thresholds[4].subject, "no such point was measured");
    let at_line = analysis.costs[0].at_line.as_ref().unwrap();
    assert!((at_line.median.unwrap() / 0.01 - 1.0).abs() < 0.02, "{at_line:?}");
    assert_eq!((&analysis.costs[0].at_knee, &analysis.costs[0].at_best), (&None, &None));
}

#[test]
fn trials_of_other_searches_do_not_mix() {
    // Two points with a line: each has its own trials.
    let mut lab = lines(&["xfs"], 1);
    let mut other = line_point();
    other.mix = 0;
    if let Load::Open { sessions, .. } = &mut other.load {
        *sessions = 8;
    }
    lab.plan.points.push(other);
    let mut lab = measure(lab, |_, _| 20_000.0);
    let mut second = trials(&lab, 1, 40_000.0);
    lab.runs[0].points.append(&mut second);
    let analysis = lab.analyse();
    let rates: Vec<f64> = analysis.lines.iter().map(|line| line.rate.median.unwrap()).collect();
    assert!(
        (rates[0] / 20_000.0 - 1.0).abs() < 0.02 && (rates[1] / 40_000.0 - 1.0).abs() < 0.02,
        "{rates:?}"
    );
}

mod slow {
    use super::*;

    #[test]
    fn the_line_of_one_arm_is_found_again_from_its_trials() {
        let analysis = measure(lines(&["xfs"], 8), |_, _| 20_300.0).analyse();
        let line = only_line(&analysis);
        let (lower, upper) = (line.lower.unwrap(), line.upper.unwrap());
        assert!(lower <= 20_300.0 && 20_300.0 < upper, "{lower} to {upper}");
        assert!(1.0 - lower / upper <= 0.0201, "{lower} to {upper}");
        // The same in all blocks, so the interval over them is that of each; the middle is the geometric one.
        assert_eq!(line.blocks.len(), 8);
        for block in &line.blocks {
            assert!((block.lower.unwrap() / lower - 1.0).abs() < 1e-12);
            assert!((block.upper.unwrap() / upper - 1.0).abs() < 1e-12);
            assert!(block.trials.iter().all(|trial| trial.valid));
            assert!(block.trials.iter().all(|trial| trial.seconds == 1.0));
        }
        assert!((line.rate.median.unwrap() / (lower * upper).sqrt() - 1.0).abs() < 1e-12);
        // 8 blocks attain 1 - 2/256 by order statistics.
        assert!((line.confidence.unwrap() - 0.9921875).abs() < 1e-9);
        assert_eq!(
            line.objective,
            "p99 of the response at most 10 ms, no errors, 99 % of the rate achieved"
        );
        let at_line = line.at_line.as_ref().unwrap();
        assert_eq!((at_line.valid_runs, at_line.meets_objective), (8, Some(true)));
        assert!(
            (at_line.throughput.median.unwrap() / lower - 1.0).abs() < 1e-3,
            "measured at the rate that held"
        );
        assert_eq!(analysis.headline, [format!("Workload c: {}", line.sentence)]);
        assert_eq!(analysis.outcome(), Outcome::Good);
        assert!(analysis.curves[0].points.is_empty(), "a line is no point of a curve");
        assert!(!warns(&analysis, WarningId::LineOpen));
        assert_snapshot!(line.sentence, @"xfs holds p99 ≤ 10 ms up to between 20,090 and 20,500 op/s (99.2 %, 8 blocks).");
    }

    #[test]
    fn blocks_that_differ_make_an_interval_of_all() {
        let capacity = |_: &str, block: u32| 20_000.0 * SPREAD[block as usize].exp();
        let analysis = measure(lines(&["xfs"], 8), capacity).analyse();
        let line = only_line(&analysis);
        let (lower, upper) = (line.lower.unwrap(), line.upper.unwrap());
        assert!(lower < 20_000.0 && 20_000.0 < upper);
        // The least and the greatest of 8 blocks: ± 2 %, each end of a block a step of 2 % further out at most.
        let lowest = 20_000.0 * (-0.02_f64).exp();
        assert!(0.98 * lowest < lower && lower < lowest, "{lower}");
        let highest = 20_000.0 * 0.02_f64.exp();
        assert!(highest < upper && upper < 1.02 * highest, "{upper}");
    }

    #[test]
    fn two_arms_are_judged_by_their_lines() {
        let capacity = |arm: &str, block: u32| {
            let own = if arm == "xfs" { 1.5 } else { 1.0 };
            20_000.0 * own * weather(block)
        };
        let analysis = measure(lines(&["ext4", "xfs"], 6), capacity).analyse();
        let comparison = primary(&analysis, Metric::Line);
        assert_eq!(comparison.verdict.judgement, Judgement::Better);
        assert!((comparison.verdict.estimate.unwrap() - 0.5).abs() < 0.02);
        let mut metrics: Vec<String> = Vec::new();
        for one in &analysis.comparisons {
            metrics.push(one.metric.name());
        }
        assert_eq!(
            metrics,
            ["line", "response.p50", "response.p99"],
            "at the line nothing else is compared"
        );
        assert!(
            analysis.headline[0].starts_with("Plimsoll line of xfs is "),
            "{:?}",
            analysis.headline
        );
        assert!(
            analysis.headline[1].starts_with("Workload c: ext4 holds p99 ≤ 10 ms up to between ")
        );
        assert!(
            analysis.headline[2].starts_with("Workload c: xfs holds p99 ≤ 10 ms up to between ")
        );
    }

    #[test]
    fn what_limits_an_arm_beyond_its_line_is_named() {
        let mut lab = lines(&["xfs"], 8);
        lab.plan.arms[0].rig.disk = Some(DiskChoice::Emulated { spec: disk(Some(600.0)) });
        let capacity = 20_300.0;
        let mut lab = measure(lab, |_, _| capacity);
        let watched = Watched {
            reads: 598.0 / capacity,
            read_ns: 8e6,
            processors: 0.4,
            ..Watched::default()
        };
        for slice in lab.points().flat_map(|point| &mut point.slices) {
            Watched::into(&watched, slice);
        }
        let analysis = crate::analyse(&calibrated(&lab, 0.0)).unwrap();
        let line = only_line(&analysis);
        let limit = line.limit.as_ref().unwrap();
        assert_eq!(limit.kind, CauseKind::DiskIops);
        let at_line = line.at_line.as_ref().unwrap().cause.as_ref().unwrap();
        assert_eq!(
            at_line.kind,
            CauseKind::Offered,
            "at the line itself all was done that was asked"
        );
        let said = "; beyond that it is limited by disk IOPS: 598 of 600 used";
        assert!(line.sentence.contains(said), "{}", line.sentence);
    }

    #[test]
    fn an_objective_that_every_load_meets_has_an_open_line() {
        let mut lab =
            measure(lines(&["ext4", "xfs"], 6), |arm, _| if arm == "xfs" { 1e9 } else { 20_000.0 });
        lab.plan.thresholds = vec![
            bound("line >= 100k", Metric::Line, true, 1e5, Some("xfs")),
            bound("line <= 100k", Metric::Line, false, 1e5, Some("xfs")),
        ];
        let analysis = lab.analyse();
        let line = &analysis.lines[1];
        assert_eq!((line.upper, line.rate.median), (None, None));
        let highest = line.lower.unwrap();
        assert!(highest > 980_000.0 && highest <= 1e6, "{highest}");
        assert!(line.sentence.starts_with("xfs holds p99 ≤ 10 ms at "), "{}", line.sentence);
        assert!(
            line.sentence
                .ends_with(" op/s, the highest rate tried; the position of the line is unknown."),
            "{}",
            line.sentence
        );
        assert!(warns(&analysis, WarningId::LineOpen));
        let comparison = primary(&analysis, Metric::Line);
        // A line of 1,000,000 or more is higher than one of 20,000, wherever it is.
        assert_eq!(comparison.verdict.judgement, Judgement::Better);
        assert_eq!(comparison.verdict.interval.unwrap().1, f64::INFINITY);
        assert!(
            comparison.sentence.contains("interval at least 50 times"),
            "{}",
            comparison.sentence
        );
        // At least so much is known: enough for a lower bound, not for an upper one.
        let passed: Vec<bool> = analysis.thresholds.iter().map(|one| one.passed).collect();
        assert_eq!(passed, [true, false]);
    }

    #[test]
    fn the_lag_of_the_generator_decides_no_line() {
        // 0.4 ms, with a service of 1 ms.
        let mut lab = measure(lines(&["xfs"], 6), |_, _| 20_300.0);
        for point in lab.points() {
            let end = point.end.as_mut().unwrap();
            (end.generator_lag, end.lag_is_apart) = (Some(histogram(400_000, 1_000)), true);
        }
        let analysis = lab.analyse();
        assert!(only_line(&analysis).rate.median.is_some());
        assert!(!warns(&analysis, WarningId::GeneratorLimited));
    }

    #[test]
    fn a_search_that_was_interrupted_goes_on_with_its_trials() {
        let whole = measure(lines(&["xfs"], 6), |_, _| 20_300.0);
        let mut lab = measure(lines(&["xfs"], 6), |_, _| 20_300.0);
        let run = lab.runs.iter_mut().find(|run| run.block == 2).unwrap();
        let mut first = run.clone();
        first.state = RunState::Interrupted;
        let half = run.points.len() / 2;
        first.points.truncate(half);
        run.points.drain(..half);
        for (number, point) in (0..).zip(&mut run.points) {
            point.label.trial = Some(number);
        }
        run.attempt = 2;
        lab.runs.push(first);
        let (whole, split) = (whole.analyse(), lab.analyse());
        assert_eq!(only_line(&whole).blocks, only_line(&split).blocks);
        assert_eq!(only_line(&whole).sentence, only_line(&split).sentence);
    }

    #[test]
    fn the_line_decides_at_its_own_point_whatever_load_the_file_names() {
        let mut lab = Laboratory::closed(&["ext4", "xfs"], &["c"], &[1, 2, 4], 6);
        lab.plan.points.push(line_point());
        lab.plan.points.push(Point { role: PointRole::ShareOfLine { share: 0.8 }, ..line_point() });
        lab.plan.objective = Some(objective());
        lab.plan.compare.primary = vec![Metric::Throughput, Metric::Line];
        lab.plan.compare.at = Some(LoadAt::Threads(4));
        lab.plan.points.truncate(3);
        let mut lab = lab.measure(|case| Shown::closed(case, 1e4 * case.sessions()));
        lab.plan.points.push(line_point());
        lab.plan.points.push(Point { role: PointRole::ShareOfLine { share: 0.8 }, ..line_point() });
        let mut lab = measure(lab, |_, block| 20_000.0 * weather(block));
        add_point(&mut lab, 4, |case| {
            let rate = 16_000.0 * weather(case.block);
            let shown =
                Shown { throughput: rate, response_ns: 1e6, errors: 0, seconds: 12, busy: 1.0 };
            (LoadKind::Open { rate, sessions: 8 }, shown)
        });
        let analysis = lab.analyse();
        assert_eq!(primary(&analysis, Metric::Throughput).point, 2);
        assert_eq!(primary(&analysis, Metric::Line).point, 3);

        // The share is a point of the curve, at the median of the rates that were offered.
        let curve = &analysis.curves[0];
        let labels: Vec<&str> =
            curve.points.iter().map(|point| point.load_label.as_str()).collect();
        assert_eq!(labels, ["1 thread", "2 threads", "4 threads", "80 % of the line"]);
        let LoadKind::Open { rate, .. } = curve.points[3].load else { panic!("an open loop") };
        // Weather of six blocks: 0.7, 0.8, 0.9, 1, 1.1, 1.2.
        assert!((rate - 16_000.0 * 0.95).abs() < 1e-6, "{rate}");
        let knee = curve.knee.as_ref().unwrap();
        // Power X²/N rises with N as long as nothing bends, and the share is no part of the sweep.
        assert_eq!((knee.load_label.as_str(), knee.still_climbing), ("4 threads", true));
    }

    #[test]
    fn a_share_of_the_line_can_decide() {
        let mut lab = lines(&["ext4", "xfs"], 6);
        lab.plan.compare.primary = vec![Metric::Response { percentile: 99.0 }];
        lab.plan.compare.at = Some(LoadAt::Line(0.8));
        let mut lab = measure(lab, |_, _| 20_000.0);
        lab.plan.points.push(Point { role: PointRole::ShareOfLine { share: 0.8 }, ..line_point() });
        add_point(&mut lab, 1, |case| {
            let shown = Shown {
                throughput: 16_000.0,
                response_ns: if case.arm == "xfs" { 1e6 } else { 2e6 },
                errors: 0,
                seconds: 12,
                busy: 1.0,
            };
            (LoadKind::Open { rate: 16_000.0, sessions: 8 }, shown)
        });
        let analysis = lab.analyse();
        let comparison = primary(&analysis, Metric::Response { percentile: 99.0 });
        assert_eq!((comparison.point, comparison.load_label.as_str()), (1, "80 % of the line"));
        assert_eq!(comparison.verdict.judgement, Judgement::Better);

        // At the line itself the same metric can decide as well.
        lab.plan.compare.at = Some(LoadAt::Line(1.0));
        let analysis = lab.analyse();
        assert_eq!(primary(&analysis, Metric::Response { percentile: 99.0 }).point, 0);

        // A share that was not measured is named.
        lab.plan.compare.at = Some(LoadAt::Line(0.5));
        assert_eq!(
            lab.analyse().headline[1],
            "Workload c cannot be judged: it was not measured at 50 % of the line, where it is judged."
        );
    }

    #[test]
    fn lines_of_two_days_are_compared() {
        let day = |id: &str, capacity: f64| {
            let lab =
                measure(lines(&["xfs"], 6), |_, block| capacity * SPREAD[block as usize].exp());
            let mut record = lab.record();
            record.id = id.into();
            record
        };
        let (monday, friday) = (day("monday", 20_000.0), day("friday", 30_000.0));
        let comparison = compare_records(&monday, "xfs", &friday, "xfs").unwrap();
        let first = &comparison.comparisons[0];
        assert_eq!(
            (first.metric, first.primary, first.verdict.judgement),
            (Metric::Line, true, Judgement::Better)
        );
        assert!((first.verdict.estimate.unwrap() - 0.5).abs() < 0.03);
        assert!(
            comparison.headline[0].starts_with("Plimsoll line of xfs (friday) is "),
            "{:?}",
            comparison.headline
        );
    }
}
