//! Prices: what operations cost, and which prices cannot be set against each other.

use crate::it::laboratory::{Laboratory, SPREAD, Shown, primary, warns};
use crate::{Judgement, compare_records};
use insta::assert_snapshot;
use plimsoll_plan::Metric;
use plimsoll_record::{Price, WarningId};

fn price(per_hour: f64, currency: &str) -> Price {
    Price {
        per_hour,
        currency: currency.into(),
        source: Some("a price list".into()),
        date: Some("2026-02".into()),
    }
}

/// Two arms that do 100,000 op/s, the second a little more or less from block to block.
fn priced(prices: [Option<Price>; 2], primary: Vec<Metric>) -> Laboratory {
    let mut lab = Laboratory::closed(&["big", "small"], &["c"], &[2, 4, 8], 8).measure(|case| {
        let own = if case.arm == "small" { SPREAD[case.block as usize].exp() } else { 1.0 };
        Shown::closed(case, 1e5 * own * [0.6, 1.0, 0.99][case.load.sessions().ilog2() as usize - 1])
    });
    for (arm, price) in lab.plan.arms.iter_mut().zip(prices) {
        arm.rig.price = price;
    }
    lab.plan.compare.primary = primary;
    lab
}

#[test]
fn costs_are_of_the_knee_and_of_the_best_point() {
    let lab = priced([Some(price(0.36, "USD")), Some(price(1.0, "USD"))], vec![Metric::Throughput]);
    let analysis = lab.analyse();
    assert_eq!(analysis.costs.len(), 2);
    let cost = &analysis.costs[0];
    assert_eq!((cost.arm.as_str(), cost.currency.as_str(), cost.per_hour), ("big", "USD", 0.36));
    assert_eq!(cost.source.as_deref(), Some("a price list, 2026-02"));
    // 0.36 an hour are 0.0001 a second, over 0.1 million operations a second: 0.001 for a million. Power X²/N is 18, 25, 12.3: the knee is at 4 threads too.
    let (label, estimate) = cost.at_best.as_ref().unwrap();
    assert_eq!(
        (label.as_str(), cost.at_knee.as_ref().unwrap().0.as_str()),
        ("4 threads", "4 threads")
    );
    assert!((estimate.median.unwrap() / 0.001 - 1.0).abs() < 1e-9 && estimate.interval.is_some());
    assert_eq!(cost.at_line, None);
    // Compared although it does not decide.
    assert!(analysis.comparisons.iter().any(|one| one.metric == Metric::Cost && !one.primary));
    assert!(!warns(&analysis, WarningId::Prices));
}

#[test]
fn two_currencies_are_not_compared() {
    let lab = priced(
        [Some(price(1.0, "USD")), Some(price(1.0, "EUR"))],
        vec![Metric::Throughput, Metric::Cost],
    );
    let analysis = lab.analyse();
    let comparison = primary(&analysis, Metric::Cost);
    assert_eq!(
        (comparison.verdict.judgement, comparison.verdict.estimate),
        (Judgement::Inconclusive, None)
    );
    assert_eq!(
        comparison.sentence,
        "Cost per million operations of small and big cannot be compared under workload c at 4 threads: big is priced in USD, small in EUR."
    );
    let warning = analysis.warnings.iter().find(|one| one.id == WarningId::Prices).unwrap();
    assert_eq!(
        warning.message,
        "big is priced in USD and small is priced in EUR: their costs are not compared"
    );
    assert_eq!(analysis.costs.len(), 2, "each by itself has a cost");
    let of_cost = analysis.comparisons.iter().filter(|one| one.metric == Metric::Cost);
    assert_eq!(of_cost.count(), 1);
}

mod slow {
    use super::*;

    #[test]
    fn less_cost_is_better_and_told_in_times() {
        let lab = priced([Some(price(2.7, "USD")), Some(price(1.0, "USD"))], vec![Metric::Cost]);
        let analysis = lab.analyse();
        let comparison = primary(&analysis, Metric::Cost);
        assert_eq!(comparison.verdict.judgement, Judgement::Better);
        assert!((comparison.verdict.estimate.unwrap() - (1.0 / 2.7 - 1.0)).abs() < 1e-4);
        // The fourth of the 36 averages of two from each end is ± 1.5 %.
        assert_snapshot!(comparison.sentence, @"small is 2.70 times cheaper per operation than big under workload c at 4 threads (96.1 % interval 2.66 to 2.74 times, 8 blocks).");

        let lab = priced([Some(price(1.0, "USD")), Some(price(2.7, "USD"))], vec![Metric::Cost]);
        let comparison = primary(&lab.analyse(), Metric::Cost).clone();
        assert_eq!(comparison.verdict.judgement, Judgement::Worse);
        assert!(comparison.sentence.contains("small is 2.7"), "{}", comparison.sentence);
        assert!(
            comparison.sentence.contains(" times more expensive per operation than big "),
            "{}",
            comparison.sentence
        );
    }

    #[test]
    fn an_arm_without_a_price_is_named() {
        let lab = priced([Some(price(1.0, "USD")), None], vec![Metric::Throughput]);
        let analysis = lab.analyse();
        assert!(analysis.comparisons.iter().all(|one| one.metric != Metric::Cost));
        let warning = analysis.warnings.iter().find(|one| one.id == WarningId::Prices).unwrap();
        assert_eq!(
            warning.message,
            "big is priced in USD and small has no price: their costs are not compared"
        );

        let analysis = priced([None, None], vec![Metric::Throughput]).analyse();
        assert!(!warns(&analysis, WarningId::Prices) && analysis.costs.is_empty());
        let analysis = priced([None, None], vec![Metric::Cost]).analyse();
        assert!(warns(&analysis, WarningId::Prices));
        let sentence = &primary(&analysis, Metric::Cost).sentence;
        assert!(sentence.ends_with(" at 4 threads: big and small have no price."), "{sentence}");
    }

    #[test]
    fn costs_of_two_days_are_compared_in_one_currency() {
        let lab = |currency: &str| {
            let lab =
                priced([Some(price(2.7, "USD")), Some(price(1.0, currency))], vec![Metric::Cost]);
            lab.record()
        };
        let comparison = compare_records(&lab("USD"), "big", &lab("USD"), "small").unwrap();
        let cost = comparison.comparisons.iter().find(|one| one.metric == Metric::Cost).unwrap();
        assert_eq!((cost.primary, cost.verdict.judgement), (true, Judgement::Better));
        let comparison = compare_records(&lab("EUR"), "big", &lab("EUR"), "small").unwrap();
        let cost = comparison.comparisons.iter().find(|one| one.metric == Metric::Cost).unwrap();
        assert_eq!(cost.verdict.reason.as_deref(), Some("big is priced in USD, small in EUR"));
        assert!(comparison.warnings.iter().any(|one| one.id == WarningId::Prices));
    }
}
