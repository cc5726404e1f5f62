//! Is warm-up found, and only warm-up?

use crate::{Scale, Signal, WarmUp, mean, mser5, still_falls, two_levels, warm_up};

use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Studies, Study};
use Promise::{AtLeast, AtMost, Between};

const REPEATS: usize = 1000;

/// Throughput around 1000 with noise that half remembers the slice before, times a shape over time.
fn series(source: &mut Source, noise: f64, count: usize, shape: impl Fn(f64) -> f64) -> Vec<f64> {
    let wander = source.autoregressive(0.5, count);
    wander
        .iter()
        .enumerate()
        .map(|(slice, x)| 1000.0 * shape(slice as f64) * (1.0 + noise * x))
        .collect()
}

fn found(samples: &[f64]) -> WarmUp {
    warm_up(&[Signal { samples, scale: Scale::Linear }], &[]).expect("one finite signal")
}

fn is_steady(found: WarmUp) -> bool {
    matches!(found, WarmUp::Steady { .. })
}

pub fn studies() -> Vec<Study> {
    let not_steady = "“not steady”";
    let mut studies = Studies::repeated(REPEATS);
    for (count, noise, simulated) in [
        (20, 0.05, "steady, 20 s, 5 % noise (AR 0.5)"),
        (60, 0.05, "steady, 60 s, 5 % noise (AR 0.5)"),
        (60, 0.15, "steady, 60 s, 15 % noise (AR 0.5)"),
        (300, 0.05, "steady, 300 s, 5 % noise (AR 0.5)"),
    ] {
        studies.add(
            count as u64 + (noise * 100.0) as u64,
            simulated,
            not_steady,
            AtMost(0.05),
            |source| Some(!is_steady(found(&series(source, noise, count, |_| 1.0)))),
        );
    }
    for (count, simulated, share) in [
        (20, "steady, 20 s, 5 % noise (AR 0.5)", 0.42),
        (60, "steady, 60 s, 5 % noise (AR 0.5)", 0.086),
    ] {
        // What the border alone would cry: the reason for asking for a drift as well.
        let counted = "MSER-5 alone at its border";
        studies.add(
            900 + count as u64,
            simulated,
            counted,
            Between(share - 0.03, share + 0.03),
            |source| {
                let at_border =
                    mser5(&series(source, 0.05, count, |_| 1.0)).expect("long enough").at_border;
                Some(at_border)
            },
        );
    }
    let settling = |slice: f64| 1.0 - 0.5 * (-slice / 8.0).exp();
    let close = |values: &[f64]| (mean(values).expect("not empty") / 1000.0 - 1.0).abs() < 0.02;
    for (count, simulated, least) in [
        (60, "60 s, starts at half speed, time constant 8 s, 3 % noise", 0.9),
        (300, "300 s, starts at half speed, time constant 8 s, 3 % noise", 0.99),
    ] {
        let counted = "mean of the steady rest within 2 %";
        studies.add(11, simulated, counted, AtLeast(least), |source| {
            let samples = series(source, 0.03, count, settling);
            match found(&samples) {
                WarmUp::Steady { cut } => Some(close(&samples[cut..])),
                _ => None,
            }
        });
    }
    let simulated = "60 s of the same, nothing cut";
    let counted = "mean within 2 %";
    studies.add(12, simulated, counted, AtMost(0.01), |source| {
        Some(close(&series(source, 0.03, 60, settling)))
    });
    let simulated = "60 s, loses 20 % from start to end, 5 % noise";
    studies.add(13, simulated, not_steady, AtLeast(0.6), |source| {
        Some(!is_steady(found(&series(source, 0.05, 60, |slice| 1.0 - 0.2 * slice / 60.0))))
    });
    let simulated = "60 s, loses 10 % from start to end, 5 % noise";
    studies.add(14, simulated, not_steady, Between(0.2, 0.5), |source| {
        Some(!is_steady(found(&series(source, 0.05, 60, |slice| 1.0 - 0.1 * slice / 60.0))))
    });
    let simulated = "60 s, still settling at the end (time constant 40 s), 3 % noise";
    studies.add(15, simulated, not_steady, AtLeast(0.95), |source| {
        Some(!is_steady(found(&series(source, 0.03, 60, |slice| {
            1.0 - 0.5 * (-slice / 40.0).exp()
        }))))
    });
    // Points that are no one state.
    let levels = "two levels";
    let falls = "a cost that still falls";
    for (seed, count, noise) in [(931, 10, 0.15), (932, 20, 0.15), (933, 60, 0.15)] {
        let simulated = format!("steady, {count} s, 15 % noise (AR 0.5)");
        studies.add(seed, &simulated, levels, AtMost(0.05), |source| {
            Some(two_levels(&series(source, noise, count, |_| 1.0)).is_some())
        });
        studies.add(seed + 10, &simulated, falls, AtMost(0.05), |source| {
            Some(still_falls(&series(source, noise, count, |_| 1.0)).is_some())
        });
    }
    let simulated = "20 s, a ninth of the throughput for 4 to 16 s, 15 % noise";
    studies.add(951, simulated, levels, AtLeast(0.9), |source| {
        let (begin, length) = (source.share() * 16.0, 4.0 + source.share() * 12.0);
        let shape = |slice: f64| {
            let after = (slice - begin).rem_euclid(20.0);
            if after < length { 1.0 / 9.0 } else { 1.0 }
        };
        Some(two_levels(&series(source, 0.15, 20, shape)).is_some())
    });
    let simulated = "20 s, a cost that falls with a time constant of 10 to 30 s, 10 % noise";
    studies.add(952, simulated, falls, AtLeast(0.9), |source| {
        let constant = 10.0 + 20.0 * source.share();
        let shape = |slice: f64| (-slice / constant).exp();
        Some(still_falls(&series(source, 0.1, 20, shape)).is_some())
    });
    studies.all
}
