//! Comparisons that the file names one by one.

use crate::it::laboratory::{Laboratory, SPREAD, Shown, point};
use crate::{Analysis, Judgement};
use plimsoll_plan::Metric;

/// Two working sets on three disks; each is compared with the same working set on the middle disk.
fn study() -> Laboratory {
    let arms = ["fast-92", "san-92", "slow-92", "fast-230", "san-230", "slow-230"];
    let mut lab = Laboratory::closed(&arms, &["c"], &[4, 16], 6);
    for set in ["92", "230"] {
        for disk in ["fast", "slow"] {
            let pair = (format!("san-{set}"), format!("{disk}-{set}"));
            lab.plan.compare.pairs.push(pair);
        }
    }
    lab.measure(|case| {
        let (disk, set) = case.arm.split_once('-').unwrap();
        let factor = match (disk, set) {
            ("fast", "230") => 8.0,
            ("slow", "230") => 0.25,
            _ => 1.0,
        };
        // In cache, 4 sessions are best; beyond, 16 are.
        let best = if set == "92" { 4 } else { 16 };
        let load = if case.load.sessions() == best { 1.0 } else { 0.5 };
        Shown::closed(case, 1e5 * factor * load * SPREAD[case.block as usize].exp())
    })
}

fn deciding(analysis: &Analysis) -> Vec<(&str, &str, &str, Judgement)> {
    analysis
        .comparisons
        .iter()
        .filter(|one| one.primary)
        .map(|one| {
            (
                one.baseline.as_str(),
                one.arm.as_str(),
                one.load_label.as_str(),
                one.verdict.judgement,
            )
        })
        .collect()
}

#[test]
fn each_pair_is_judged_at_the_load_of_its_own_baseline() {
    let analysis = study().analyse();
    let expected = [
        ("san-92", "fast-92", "4 threads", Judgement::Equivalent),
        ("san-92", "slow-92", "4 threads", Judgement::Equivalent),
        ("san-230", "fast-230", "16 threads", Judgement::Better),
        ("san-230", "slow-230", "16 threads", Judgement::Worse),
    ];
    assert_eq!(deciding(&analysis), expected);
    let baselines: Vec<&str> =
        analysis.arms.iter().filter(|arm| arm.baseline).map(|arm| arm.name.as_str()).collect();
    assert_eq!(baselines, ["san-92", "san-230"]);
    assert_eq!(point(&analysis, "slow-92", "4 threads").cause, None);
    let pairs: Vec<&str> = analysis.pairs.iter().map(|pair| pair.arm.as_str()).collect();
    assert_eq!(pairs, ["fast-92", "slow-92", "fast-230", "slow-230"]);
}

mod slow {
    use super::*;

    #[test]
    fn the_headline_begins_with_the_largest_effects() {
        insta::assert_snapshot!(study().analyse().headline.join("\n"), @r"
    Throughput of fast-230 is 8.00 times as high as that of san-230 under workload c at 16 threads (96.9 % interval 8.00 to 8.00 times, 6 blocks).
    Throughput of slow-230 is 75.00 % lower than that of san-230 under workload c at 16 threads (96.9 % interval 75.00 % to 75.00 % lower, 6 blocks).
    In all, of 4 deciding comparisons: 1 better, 1 worse and 2 equivalent.
    ");
    }

    #[test]
    fn only_named_pairs_are_compared() {
        let mut lab = study();
        lab.plan.compare.pairs = vec![
            ("slow-92".into(), "fast-92".into()),
            // Neither an arm that is not there nor an arm with itself is a comparison.
            ("slow-92".into(), "gone".into()),
            ("slow-92".into(), "slow-92".into()),
        ];
        let analysis = lab.analyse();
        for one in &analysis.comparisons {
            assert_eq!((one.baseline.as_str(), one.arm.as_str()), ("slow-92", "fast-92"));
        }
        assert_eq!(deciding(&analysis).len(), 1);
    }

    #[test]
    fn the_metrics_of_a_pair_are_judged_together() {
        let mut lab = study();
        lab.plan.compare.primary = vec![Metric::Throughput, Metric::Response { percentile: 99.0 }];
        let analysis = lab.analyse();
        let of_pair = |arm: &str| {
            let primaries = analysis.comparisons.iter().filter(|one| one.primary && one.arm == arm);
            primaries.map(|one| one.verdict.p_holm.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(of_pair("fast-230"), [true, true]);
        // Six blocks are too few for two metrics together.
        assert_eq!(analysis.decided(Judgement::Better), 0);
    }
}
