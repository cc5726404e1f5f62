//! The mean of one steady run with an interval that knows about memory between neighbouring slices.

use serde::{Deserialize, Serialize};

use crate::autocorrelation::autocorrelation_time;
use crate::error::{StatsError, check_confidence, check_finite};
use crate::interval::{Estimate, Interval, t_two_sided};
use crate::summary::{group_means, mean, standard_deviation};

/// Autocorrelation times that one batch must span.
const TIMES_PER_BATCH: f64 = 10.0;
/// Fewest batches from which an interval is made.
pub const FEWEST_BATCHES: usize = 10;

/// Mean of a run with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BatchMeans {
    /// Mean over all batches, in the unit of the series, with its interval.
    pub mean: Estimate,
    /// Number of batches that were made.
    pub batches: usize,
    /// Number of samples in each batch.
    pub samples_per_batch: usize,
}

/// Interval of the mean of a steady series by batch means.
///
/// Batches of b = max(`smallest_batch`, ⌈10τ⌉) samples, τ from [`autocorrelation_time`]; the earliest samples that do not fill a batch are left out. Interval:
/// mean ± t·s/√B over the B batch means, t with B-1 degrees of freedom. `smallest_batch` is the interval between checkpoints in samples (1 without any),
/// so that each batch holds the same share of them.
///
/// For *looking* at one run, never for deciding between arms: it knows nothing of what differs from run to run. A series shorter than 10 batches is
/// refused; one not much longer has its τ underestimated, and its interval is too short (see the calibration in `docs/methods.md`).
///
/// # Errors
/// Samples that are not finite, a confidence outside (0, 1), or a series of fewer than [`FEWEST_BATCHES`] batches: then the count needed is in samples.
pub fn batch_means(
    series: &[f64],
    smallest_batch: usize,
    confidence: f64,
) -> Result<BatchMeans, StatsError> {
    check_confidence(confidence)?;
    check_finite("sample", series)?;
    let size = batch_size(series, smallest_batch)?;
    let batches = series.len() / size;
    let means = group_means(&series[series.len() - batches * size..], size);
    let value = mean(&means).expect("there are at least ten batches");
    let spread = standard_deviation(&means).expect("there are at least ten batches");
    let half_width = t_two_sided(confidence, batches - 1) * spread / (batches as f64).sqrt();
    let interval = Interval {
        lower: value - half_width,
        upper: value + half_width,
        confidence,
    };
    Ok(BatchMeans {
        mean: Estimate { value, interval },
        batches,
        samples_per_batch: size,
    })
}

/// Samples in a batch, if the series holds enough batches of that size.
pub(crate) fn batch_size(series: &[f64], smallest_batch: usize) -> Result<usize, StatsError> {
    let by_memory = (TIMES_PER_BATCH * autocorrelation_time(series)).ceil() as usize;
    let size = by_memory.max(smallest_batch);
    let needed = size.saturating_mul(FEWEST_BATCHES);
    if series.len() < needed {
        return Err(StatsError::TooFew {
            what: "samples",
            needed,
            got: series.len(),
        });
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_series_has_a_known_interval() {
        // Swinging by ±1 without memory: batches of 5 samples have means 0.2 and -0.2 in turn.
        let series: Vec<f64> = (0..100)
            .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        let got = batch_means(&series, 1, 0.95).unwrap();
        assert_eq!((got.batches, got.samples_per_batch), (20, 5));
        assert!(got.mean.value.abs() < 1e-12);
        // s² = 20·0.04/19, t(0.975, 19) = 2.0930.
        let half_width = 2.0930 * (20.0 * 0.04 / 19.0 / 20.0_f64).sqrt();
        assert!((got.mean.interval.upper - half_width).abs() < 1e-4);
    }

    #[test]
    fn batches_hold_whole_checkpoint_intervals_and_start_late() {
        // 130 samples hold ten batches of 12; the wild one is among the ten left out at the start.
        let mut series: Vec<f64> = (0..130).map(|i| f64::from(i % 2)).collect();
        series[3] = 1000.0;
        let got = batch_means(&series, 12, 0.95).unwrap();
        assert_eq!((got.batches, got.samples_per_batch), (10, 12));
        assert_eq!(got.mean.value, 0.5);
    }

    #[test]
    fn a_short_series_is_refused_with_the_length_it_needs() {
        let series: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        assert_eq!(
            batch_means(&series, 1, 0.95),
            Err(StatsError::TooFew {
                what: "samples",
                needed: 50,
                got: 40
            })
        );
    }
}
