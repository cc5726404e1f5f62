//! Do intervals within a run hold what they should, in spite of memory and stalls?

use crate::{SliceCount, batch_means, mean, percentile_interval, standard_deviation};

use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Studies, Study};
use Promise::{AtMost, Between};

/// A stall begins in one slice of fifty and lasts three on average.
const STALL: (f64, f64) = (0.02, 1.0 / 3.0);
const IN_STALL: f64 = STALL.0 / (STALL.0 + STALL.1);

/// Interval of the mean as if slices were independent.
fn naive_holds(series: &[f64], truth: f64) -> bool {
    let centre = mean(series).expect("not empty");
    let error = standard_deviation(series).expect("long enough") / (series.len() as f64).sqrt();
    (centre - truth).abs() <= 1.96 * error
}

fn batches_hold(series: &[f64], truth: f64) -> Option<bool> {
    let got = batch_means(series, 1, 0.95).ok()?;
    Some(got.mean.interval.contains(truth))
}

pub fn studies() -> Vec<Study> {
    let holds = "interval holds the truth, 95 %";
    let mut studies = Studies::repeated(1000);
    for (memory, count, low, simulated) in [
        (0.0, 300, 0.94, "mean, 300 s, independent slices"),
        (0.5, 300, 0.92, "mean, 300 s, AR 0.5"),
        (0.8, 1200, 0.92, "mean, 1200 s, AR 0.8"),
    ] {
        studies.add(
            count as u64 + (memory * 10.0) as u64,
            simulated,
            holds,
            Between(low, 0.95),
            |source| batches_hold(&source.autoregressive(memory, count), 0.0),
        );
    }
    let simulated = "mean, 300 s, AR 0.8: the few runs not refused as too short";
    studies.add(21, simulated, holds, Between(0.8, 0.95), |source| {
        batches_hold(&source.autoregressive(0.8, 300), 0.0)
    });
    let simulated = "mean, 1200 s, AR 0.8, taken as independent slices";
    studies.add(22, simulated, holds, AtMost(0.55), |source| {
        Some(naive_holds(&source.autoregressive(0.8, 1200), 0.0))
    });
    let simulated = "mean, 600 s, stalls of 3 s to a tenth of the throughput";
    studies.add(23, simulated, holds, Between(0.87, 0.95), |source| {
        let stalled = source.stalled(STALL.0, STALL.1, 600);
        let series: Vec<f64> = stalled
            .iter()
            .map(|&stall| if stall { 0.1 } else { 1.0 } + 0.03 * source.normal())
            .collect();
        batches_hold(&series, 1.0 - 0.9 * IN_STALL)
    });
    for (taken_as_independent, simulated, promise) in [
        (false, "p99, 600 s, stalls of 3 s", Between(0.87, 0.95)),
        (
            true,
            "the same, operations taken as independent",
            AtMost(0.4),
        ),
    ] {
        studies.repeats = 300;
        studies.add(24, simulated, holds, promise, |source| {
            p99_holds(source, taken_as_independent)
        });
    }
    studies.all
}

/// 600 slices of 40 operations; in a stall three of ten take Exp(1) longer. p99 is compared with its exact value.
fn p99_holds(source: &mut Source, taken_as_independent: bool) -> Option<bool> {
    const OPERATIONS: usize = 40;
    const HIT: f64 = 0.3;
    let mut slices: Vec<Vec<f64>> = Vec::with_capacity(600);
    for stall in source.stalled(STALL.0, STALL.1, 600) {
        // Operations outside of stalls lie between 0 and 1 and never at the 99th percentile.
        let operation = |source: &mut Source| match stall && source.chance(HIT) {
            true => 1.0 + source.exponential(),
            false => 0.5,
        };
        slices.push((0..OPERATIONS).map(|_| operation(source)).collect());
    }
    // Share above 1 + x is IN_STALL·HIT·e⁻ˣ.
    let truth = 1.0 + (IN_STALL * HIT / 0.01).ln();
    let mut all: Vec<f64> = slices.concat();
    all.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() as f64 * share) as usize).min(all.len() - 1)];
    if taken_as_independent {
        let error = 1.96 * (0.99_f64 * 0.01 / all.len() as f64).sqrt();
        return Some(at(0.99 - error) <= truth && truth <= at(0.99 + error));
    }
    let p99 = at(0.99);
    let counts: Vec<SliceCount> = slices
        .iter()
        .map(|slice| SliceCount {
            above: slice.iter().filter(|&&time| time > p99).count() as u64,
            total: slice.len() as u64,
        })
        .collect();
    let got = percentile_interval(0.99, &counts, at, 1, 0.95).ok()?;
    Some(got.lower <= truth && got.upper.is_none_or(|upper| truth <= upper))
}
