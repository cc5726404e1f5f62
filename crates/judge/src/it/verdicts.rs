//! The four words, and the sentences that carry them.

use crate::it::laboratory::{Laboratory, SPREAD, Shown, histogram, primary, weather};
use crate::{Analysis, Judgement, Outcome};
use insta::assert_snapshot;
use plimsoll_plan::{LoadAt, Metric, Threshold};
use plimsoll_record::LoadKind;

const P99: Metric = Metric::Response { percentile: 99.0 };

/// Two arms over six blocks at 16 threads; `ratio` is B over A in each block.
fn two_arms(ratio: impl Fn(u32) -> f64) -> Laboratory {
    Laboratory::closed(&["in-cache", "quarter"], &["c"], &[16], 6).measure(|case| {
        let level = 1e6 * weather(case.block);
        let factor = if case.arm == "quarter" { ratio(case.block) } else { 1.0 };
        Shown::closed(case, level * factor)
    })
}

fn spread(middle: f64, stretch: f64) -> impl Fn(u32) -> f64 {
    move |block| middle * (stretch * SPREAD[block as usize]).exp()
}

fn sentence(analysis: &Analysis) -> String {
    analysis.headline.join("\n")
}

#[test]
fn worse() {
    // B/A lies evenly around 0.4: from 0.4·e^-0.02 = 0.392 to 0.4·e^0.02 = 0.408. Six blocks attain 1 - 2/64.
    let analysis = two_arms(spread(0.4, 1.0)).analyse();
    assert_snapshot!(sentence(&analysis), @"Throughput of quarter is 60.0 % lower than that of in-cache under workload c at 16 threads (96.9 % interval 59.2 % to 60.8 % lower, 6 blocks).");
    let comparison = primary(&analysis, Metric::Throughput);
    assert_eq!(comparison.verdict.judgement, Judgement::Worse);
    assert!((comparison.verdict.estimate.unwrap() + 0.6).abs() < 1e-5);
    assert_eq!(comparison.verdict.confidence, Some(0.96875));
    assert_eq!(comparison.verdict.p_value, Some(2.0 / 64.0));
    assert_eq!(comparison.verdict.p_holm, None);
    assert_eq!(comparison.pairs.len(), 6);
    assert_eq!(analysis.outcome(), Outcome::Good);
}

#[test]
fn better() {
    let analysis = two_arms(spread(1.25, 1.0)).analyse();
    assert_snapshot!(sentence(&analysis), @"Throughput of quarter is 25.0 % higher than that of in-cache under workload c at 16 threads (96.9 % interval 22.5 % to 27.5 % higher, 6 blocks).");
}

#[test]
fn much_better_is_said_in_times() {
    let analysis = two_arms(spread(5.0, 1.0)).analyse();
    assert_snapshot!(sentence(&analysis), @"Throughput of quarter is 5.00 times as high as that of in-cache under workload c at 16 threads (96.9 % interval 4.90 to 5.10 times, 6 blocks).");
}

#[test]
fn equivalent() {
    let analysis = two_arms(spread(1.0, 0.5)).analyse();
    assert_snapshot!(sentence(&analysis), @"No difference in throughput larger than 3 % between quarter and in-cache under workload c at 16 threads: 0.0 % higher (96.9 % interval 1.0 % lower to 1.0 % higher, 6 blocks).");
    assert_eq!(primary(&analysis, Metric::Throughput).verdict.judgement, Judgement::Equivalent);
}

#[test]
fn inconclusive_direction() {
    // From e^-0.1 to e^0.1. Half of the width is ln 0.1; the smallest visible difference lies above e^0.1 - 1 = 10.5 %.
    let analysis = two_arms(spread(1.0, 5.0)).analyse();
    let comparison = primary(&analysis, Metric::Throughput);
    let visible = comparison.verdict.smallest_visible.unwrap();
    assert!(visible > 0.105 && visible < 0.16, "{visible}");
    assert_snapshot!(sentence(&analysis), @"It is unclear whether throughput of quarter differs from that of in-cache under workload c at 16 threads: 0 % lower (96.9 % interval 10 % lower to 11 % higher, 6 blocks). These blocks find differences of 15 % or more.");
}

#[test]
fn inconclusive_size() {
    // The middle, 2 %, is below the margin of 3 %; the interval from 1.02·e^-0.01 to 1.02·e^0.016 leaves zero out and reaches past it.
    let ratios = [1.0100, 1.0150, 1.0180, 1.0220, 1.0250, 1.0360];
    let analysis = two_arms(|block| ratios[block as usize]).analyse();
    assert_snapshot!(sentence(&analysis), @"Throughput of quarter differs from that of in-cache under workload c at 16 threads, but it is unclear whether by more than 3 %: 2.0 % higher (96.9 % interval 1.0 % to 3.6 % higher, 6 blocks).");
    assert_eq!(primary(&analysis, Metric::Throughput).verdict.judgement, Judgement::Inconclusive);
}

#[test]
fn likely_but_not_surely_beyond_the_margin_is_said() {
    let analysis = two_arms(spread(1.04, 1.0)).analyse();
    let verdict = &primary(&analysis, Metric::Throughput).verdict;
    assert_eq!(verdict.judgement, Judgement::Better);
    assert_eq!(
        verdict.reason.as_deref(),
        Some(
            "the interval excludes zero; the estimate is beyond the margin of 3 %, the whole interval is not"
        )
    );
}

#[test]
fn a_shorter_response_is_better() {
    let mut lab = two_arms(spread(2.0, 1.0));
    lab.plan.compare.primary = vec![P99];
    let analysis = lab.analyse();
    assert_eq!(primary(&analysis, P99).verdict.judgement, Judgement::Better);
    assert!(
        analysis.headline[0].starts_with("p99 response time of quarter is 50.0 % shorter than "),
        "{}",
        analysis.headline[0]
    );
}

#[test]
fn two_deciding_metrics_need_seven_blocks() {
    let mut lab = two_arms(spread(2.0, 1.0));
    lab.plan.compare.primary = vec![Metric::Throughput, P99];
    let analysis = lab.analyse();
    assert_snapshot!(sentence(&analysis), @r"
Not certain yet: throughput of quarter is 100 % higher than that of in-cache under workload c at 16 threads so far (6 blocks, at least 7 are needed to judge 2 metrics together).
Not certain yet: p99 response time of quarter is 50 % shorter than that of in-cache under workload c at 16 threads so far (6 blocks, at least 7 are needed to judge 2 metrics together).
");
    let verdict = &primary(&analysis, P99).verdict;
    assert_eq!((verdict.p_value, verdict.p_holm), (Some(2.0 / 64.0), Some(4.0 / 64.0)));
    assert_eq!(verdict.interval, None);
}

#[test]
fn each_mix_is_a_question_of_its_own() {
    let lab = Laboratory::closed(&["a", "b"], &["c", "a"], &[4], 6).measure(|case| {
        let factor = if case.arm == "b" { 2.0 * SPREAD[case.block as usize].exp() } else { 1.0 };
        Shown::closed(case, 1e5 * factor)
    });
    let analysis = lab.analyse();
    assert_eq!(analysis.headline.len(), 2);
    assert_eq!(analysis.decided(Judgement::Better), 2);
}

#[test]
fn the_baseline_chooses_the_load() {
    // A is fastest at 4 threads, B at 8.
    let lab = Laboratory::closed(&["a", "b"], &["c"], &[1, 4, 8], 6).measure(|case| {
        let peak = if case.arm == "a" { 4.0 } else { 8.0 };
        Shown::closed(case, 1e5 - 1e3 * (case.sessions() - peak).abs())
    });
    assert_eq!(primary(&lab.analyse(), Metric::Throughput).load_label, "4 threads");

    let mut lab = lab;
    lab.plan.compare.at = Some(LoadAt::Threads(8));
    let analysis = lab.analyse();
    assert_eq!(primary(&analysis, Metric::Throughput).load_label, "8 threads");
    let exploratory = analysis.comparisons.iter().filter(|one| !one.primary).count();
    assert_eq!(exploratory, 3 * 4 - 1, "three points of four metrics, less the one that decides");
}

#[test]
fn many_comparisons_are_summed_up() {
    let lab = Laboratory::closed(&["a", "b", "c", "d", "e"], &["c"], &[4], 6).measure(|case| {
        let factor = match case.arm {
            "b" => 1.5,
            "c" => 0.5,
            "d" => 1.5 * (30.0 * SPREAD[case.block as usize]).exp(),
            _ => 1.0,
        };
        Shown::closed(case, 1e5 * factor)
    });
    let headline = lab.analyse().headline;
    assert_eq!(headline.len(), 3);
    assert_snapshot!(headline[2], @"In all, of 4 deciding comparisons: 1 better, 1 worse, 1 equivalent and 1 inconclusive.");
}

#[test]
fn one_arm_states_its_peak_and_knee() {
    // Throughput over response is X²/N: 1e10, 4e10, 2.04e10 and 1.02e10, so that the knee lies at 4. Beyond, 1 % is gained.
    let rates = [(1, 1.0e5), (4, 4.0e5), (8, 4.04e5), (16, 4.03e5)];
    let lab = Laboratory::closed(&["only"], &["c"], &[1, 4, 8, 16], 6).measure(|case| {
        let (_, rate) =
            rates.iter().find(|(sessions, _)| *sessions == case.load.sessions()).unwrap();
        Shown::closed(case, rate * SPREAD[case.block as usize].exp())
    });
    let analysis = lab.analyse();
    assert_snapshot!(sentence(&analysis), @"Under workload c, only is fastest at 8 threads, 404,000 op/s (95 % interval 396,000 to 412,000 op/s, 6 blocks); beyond 4 threads more load costs more in time than it brings in throughput.");
    assert_eq!(analysis.outcome(), Outcome::Good);
}

#[test]
fn one_arm_that_still_climbs_says_so() {
    let lab = Laboratory::closed(&["only"], &["c"], &[1, 2, 4, 8], 6)
        .measure(|case| Shown::closed(case, 1e5 * case.sessions()));
    assert_snapshot!(sentence(&lab.analyse()), @"Under workload c, only is fastest at 8 threads, 800,000 op/s (95 % interval 800,000 to 800,000 op/s, 6 blocks); it still climbs at its last point, so the peak lies beyond: measure further.");
}

#[test]
fn thresholds_hold_or_break() {
    let mut lab = two_arms(|_| 0.5);
    let threshold = |text: &str, bound, arm: Option<&str>| Threshold {
        text: text.into(),
        metric: Metric::Throughput,
        at_least: true,
        bound,
        arm: arm.map(Into::into),
        mix: None,
        at: None,
    };
    lab.plan.thresholds = vec![threshold("throughput >= 600k", 6e5, Some("in-cache"))];
    assert_eq!(lab.analyse().outcome(), Outcome::Good);

    lab.plan.thresholds = vec![threshold("throughput >= 600k", 6e5, None)];
    let analysis = lab.analyse();
    let held: Vec<(&str, bool)> =
        analysis.thresholds.iter().map(|one| (one.subject.as_str(), one.passed)).collect();
    assert_eq!(held, [("in-cache, c at 16 threads", true), ("quarter, c at 16 threads", false)]);
    assert_eq!(analysis.outcome(), Outcome::ThresholdBroken);

    lab.plan.thresholds = vec![threshold("throughput >= 1", 1.0, Some("nobody"))];
    let analysis = lab.analyse();
    assert_eq!((analysis.thresholds[0].measured, analysis.thresholds[0].passed), (None, false));
}

/// Two arms at 10,000 op/s over 8 blocks. Arm b answers in 80 % of the time of arm a, but in its last two blocks it does what `slow` makes of them.
fn slow_in_two_of_eight(slow: impl Fn(&mut plimsoll_record::PointRecord)) -> crate::Analysis {
    let mut lab = Laboratory::open(&["a", "b"], &["c"], &[10_000.0], 8);
    lab.plan.compare.primary = vec![P99];
    let mut lab = lab.measure(|case| {
        let of_arm = if case.arm == "b" { 0.8e6 } else { 1e6 };
        Shown {
            throughput: 10_000.0,
            response_ns: of_arm * SPREAD[case.block as usize].exp(),
            errors: 0,
            seconds: 12,
            busy: 0.5,
        }
    });
    for run in &mut lab.runs {
        if run.arm == "b" && run.block >= 6 {
            run.points.iter_mut().for_each(&slow);
        }
    }
    lab.analyse()
}

/// What happened to the machine is no arm's fault: such a block is left out.
#[test]
fn a_block_that_the_measuring_spoilt_counts_against_nobody() {
    let spoilt = slow_in_two_of_eight(|point| point.end.as_mut().unwrap().cut_short = true);
    let comparison = primary(&spoilt, P99);
    assert_eq!(comparison.verdict.judgement, Judgement::Better);
    assert_eq!((comparison.pairs.len(), comparison.bounds), (6, 0));
}

mod slow {
    use super::*;

    #[test]
    fn an_open_sweep_is_judged_at_the_highest_rate_that_the_baseline_sustains() {
        // A achieves 10,000 and 20,000 op/s and half of 40,000.
        let mut lab = Laboratory::open(&["a", "b"], &["c"], &[10_000.0, 20_000.0, 40_000.0], 6)
            .measure(|case| {
                let throughput = if case.load == (LoadKind::Open { rate: 40_000.0, sessions: 8 }) {
                    20_000.0
                } else {
                    10_000.0
                };
                let response_ns = if case.arm == "b" { 500_000.0 } else { 1_000_000.0 };
                Shown { throughput, response_ns, errors: 0, seconds: 12, busy: 0.5 }
            });
        lab.plan.compare.primary = vec![P99];
        for point in lab.points() {
            let due = point.end.as_mut().unwrap().due.as_mut().unwrap();
            if point.label.point == Some(2) {
                *due *= 2;
            }
        }
        let analysis = lab.analyse();
        assert_snapshot!(sentence(&analysis), @"p99 response time of b is 50.0 % shorter than that of a under workload c at 20,000 op/s (96.9 % interval exactly 50.0 % shorter, 6 blocks).");
        lab.plan.compare.at = Some(LoadAt::Rate(10_000.0));
        assert_eq!(primary(&lab.analyse(), P99).load_label, "10,000 op/s");
    }

    #[test]
    fn an_arm_whose_slow_blocks_are_cut_off_does_not_look_faster() {
        let whole = slow_in_two_of_eight(|_| ());
        assert_eq!(
            primary(&whole, P99).verdict.judgement,
            Judgement::Better,
            "without those blocks b is faster"
        );
        // A tenth of its operations were still unfinished after 5 s, so that the p99 is only known to be more.
        let cut_off = slow_in_two_of_eight(|point| {
            point.end.as_mut().unwrap().unfinished = Some(histogram(5_000_000_000, 12_000));
        });
        let comparison = primary(&cut_off, P99);
        assert_eq!(comparison.verdict.judgement, Judgement::Inconclusive);
        assert_eq!((comparison.verdict.blocks, comparison.bounds), (8, 2));
        let reason = comparison.verdict.reason.as_deref().unwrap();
        assert!(reason.starts_with("in 2 of 8 blocks one side"), "{reason}");
        assert!(comparison.sentence.contains("or anything above"), "{}", comparison.sentence);
    }

    #[test]
    fn an_arm_that_fails_in_its_slow_blocks_does_not_look_faster() {
        let failed = slow_in_two_of_eight(|point| {
            for slice in &mut point.slices {
                slice.completed.error = 10;
            }
        });
        let comparison = primary(&failed, P99);
        assert_eq!(comparison.verdict.judgement, Judgement::Inconclusive);
        assert_eq!((comparison.pairs.len(), comparison.bounds), (6, 2));
        assert_eq!(comparison.verdict.blocks, 8);
    }

    #[test]
    fn an_open_interval_survives_json() {
        let cut_off = slow_in_two_of_eight(|point| {
            point.end.as_mut().unwrap().unfinished = Some(histogram(5_000_000_000, 12_000));
        });
        let text = serde_json::to_string(&cut_off).unwrap();
        let read: crate::Analysis = serde_json::from_str(&text).unwrap();
        assert_eq!(primary(&read, P99).verdict.interval.unwrap().1, f64::INFINITY);
    }
}
