//! A percentile of one run with an interval, from counts in slices.

use serde::{Deserialize, Serialize};

use crate::batch_means::batch_size;
use crate::error::{StatsError, check_confidence};
use crate::interval::t_two_sided;

/// What one slice says about one percentile: how many operations took longer than the percentile of the whole point, and how many there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceCount {
    /// Operations above the percentile of the point.
    pub above: u64,
    /// All operations of the slice.
    pub total: u64,
}

/// A percentile with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PercentileInterval {
    /// Estimate, in the unit of the quantile function.
    pub value: f64,
    /// Lower limit of the interval, in the unit of the samples.
    pub lower: f64,
    /// Upper limit; `None` when the run is too short to give one.
    pub upper: Option<f64>,
    /// How often such an interval holds the true percentile.
    pub confidence: f64,
    /// As many independent operations would say as much about this percentile.
    pub independent_samples: f64,
    /// Independent operations below which no upper limit is given.
    pub needed_samples: u64,
    /// Number of batches that were made.
    pub batches: usize,
}

/// Fewest independent samples for an upper limit of the percentile `share` (0.99 for p99): the smallest n with `share`ⁿ ≤ (1 - `confidence`)/2.
///
/// With fewer, even the largest sample lies below the true percentile more often than the interval may be wrong on that side.
///
/// ```
/// use plimsoll_stats::samples_for_percentile;
/// assert_eq!(samples_for_percentile(0.99, 0.95).unwrap(), 368);
/// assert_eq!(samples_for_percentile(0.999, 0.95).unwrap(), 3_688);
/// assert_eq!(samples_for_percentile(0.9999, 0.95).unwrap(), 36_887);
/// ```
///
/// # Errors
/// A share or a confidence outside (0, 1).
pub fn samples_for_percentile(share: f64, confidence: f64) -> Result<u64, StatsError> {
    check_confidence(confidence)?;
    check_share(share)?;
    Ok((((1.0 - confidence) / 2.0).ln() / share.ln()).ceil() as u64)
}

/// Interval of a percentile of one run by turning the ranks round.
///
/// `share` is the percentile (0.99 for p99), `quantile` the quantile function of the whole point (its histogram), and each slice is counted against
/// `quantile(share)`. Slices are put into batches of max(`smallest_batch`, ⌈10τ⌉), τ of the slices' shares, at least 10 batches. With aᵦ of nᵦ operations above in
/// batch β and â = Σa/Σn, the standard error of the share is SE = √(Σ(aᵦ - â·nᵦ)²·B/(B-1))/Σn (that of a ratio, so a batch weighs as much as it holds), and the
/// interval is [Q(p - t·SE), Q(p + t·SE)], t with B-1 degrees of freedom.
///
/// It needs no density at the percentile, and stalls widen it as they should, because they come in batches. Drawing the operations anew as if they were
/// independent (the usual bootstrap) does not: under stalls its 95 % intervals hold the truth about once in four times (see the calibration in `docs/methods.md`).
///
/// The number of independent samples is p(1-p)/SE²; below [`samples_for_percentile`], or where p + t·SE reaches 1, no upper limit is given.
/// For looking at one run, not for deciding between arms.
///
/// # Errors
/// A share or confidence outside (0, 1), no operations, or too few slices for 10 batches.
pub fn percentile_interval(
    share: f64,
    slices: &[SliceCount],
    quantile: impl Fn(f64) -> f64,
    smallest_batch: usize,
    confidence: f64,
) -> Result<PercentileInterval, StatsError> {
    let needed_samples = samples_for_percentile(share, confidence)?;
    let total: u64 = slices.iter().map(|slice| slice.total).sum();
    if total == 0 {
        return Err(StatsError::TooFew {
            what: "operations",
            needed: 1,
            got: 0,
        });
    }
    let above: u64 = slices.iter().map(|slice| slice.above).sum();
    let share_above = above as f64 / total as f64;
    // What a slice adds to the error of the ratio; its memory is what decides on the batches.
    let excess: Vec<f64> = slices
        .iter()
        .map(|slice| slice.above as f64 - share_above * slice.total as f64)
        .collect();
    let size = batch_size(&excess, smallest_batch)?;
    let batches = slices.len() / size;
    let first = slices.len() - batches * size;
    let mut squares = 0.0;
    for batch in excess[first..].chunks_exact(size) {
        let sum: f64 = batch.iter().sum();
        squares += sum * sum;
    }
    let kept: u64 = slices[first..].iter().map(|slice| slice.total).sum();
    let count = batches as f64;
    let error = (squares * count / (count - 1.0)).sqrt() / kept.max(1) as f64;
    let independent_samples = (share * (1.0 - share) / (error * error)).min(total as f64);
    let reach = t_two_sided(confidence, batches - 1) * error;
    let enough = independent_samples >= needed_samples as f64 && share + reach < 1.0;
    Ok(PercentileInterval {
        value: quantile(share),
        lower: quantile((share - reach).max(0.0)),
        upper: enough.then(|| quantile(share + reach)),
        confidence,
        independent_samples,
        needed_samples,
        batches,
    })
}

fn check_share(share: f64) -> Result<(), StatsError> {
    if share > 0.0 && share < 1.0 {
        return Ok(());
    }
    let allowed = "between 0 and 1, such as 0.99 for p99";
    Err(StatsError::BadSetting {
        what: "the percentile",
        value: share,
        allowed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_err;

    fn identity(share: f64) -> f64 {
        share
    }

    #[test]
    fn a_known_series_has_a_known_interval() {
        // 100 slices of 1000 operations, 0 and 20 above in turn; batches of 5 slices hold 40 or 60, the mean is 50.
        let slices: Vec<SliceCount> = (0..100)
            .map(|i| SliceCount {
                above: if i % 2 == 0 { 0 } else { 20 },
                total: 1000,
            })
            .collect();
        let got = percentile_interval(0.99, &slices, identity, 1, 0.95).unwrap();
        assert_eq!(got.batches, 20);
        let error = (20.0 * 100.0 * 20.0 / 19.0_f64).sqrt() / 100_000.0;
        assert!((got.lower - (0.99 - 2.0930 * error)).abs() < 1e-6);
        assert!((got.upper.unwrap() - (0.99 + 2.0930 * error)).abs() < 1e-6);
        assert!((got.independent_samples - 0.0099 / (error * error)).abs() < 1.0);
    }

    #[test]
    fn bunched_tails_widen_the_interval_until_it_has_no_upper_limit() {
        // All slow operations come in two stretches of ten slices: few independent samples, however many operations.
        let slices: Vec<SliceCount> = (0..1000)
            .map(|i| SliceCount {
                above: if i % 500 < 10 { 5000 } else { 0 },
                total: 10_000,
            })
            .collect();
        let got = percentile_interval(0.99, &slices, identity, 50, 0.95).unwrap();
        assert_eq!(got.upper, None);
        assert!(
            got.independent_samples < 368.0,
            "{}",
            got.independent_samples
        );
    }

    #[test]
    fn no_spread_at_all_gives_no_width() {
        let slices = [SliceCount {
            above: 10,
            total: 1000,
        }; 60];
        let got = percentile_interval(0.99, &slices, identity, 1, 0.95).unwrap();
        assert_eq!((got.lower, got.upper), (0.99, Some(0.99)));
        assert_eq!(got.independent_samples, 60_000.0);
    }

    #[test]
    fn bad_input_is_refused() {
        let slices = [SliceCount { above: 0, total: 0 }; 60];
        assert_err!(
            percentile_interval(0.99, &slices, identity, 1, 0.95),
            StatsError::TooFew { .. }
        );
        let slices = [SliceCount {
            above: 1,
            total: 100,
        }; 20];
        assert_err!(
            percentile_interval(0.99, &slices, identity, 1, 0.95),
            StatsError::TooFew {
                needed: 50,
                got: 20,
                ..
            }
        );
        assert!(samples_for_percentile(99.0, 0.95).is_err());
    }
}
