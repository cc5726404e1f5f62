//! Where warm-up ends: MSER-5 on each signal, checked for drift.

use serde::{Deserialize, Serialize};

use crate::error::{StatsError, check_finite, check_positive};
use crate::summary::{group_means, median};
use crate::trend::theil_sen;

/// Samples averaged into one value before the search, as in MSER-5.
const GROUP: usize = 5;
/// Fewest samples for which anything can be said.
pub const FEWEST_WARM_UP_SAMPLES: usize = 2 * GROUP;
/// A change over the window as large as this share is a drift.
pub const DRIFT_LIMIT: f64 = 0.05;
/// A drift is believed when "no trend" has at most this p, on means of 5 samples.
const DRIFT_LEVEL: f64 = 0.05;
/// The same on single samples, whose neighbours resemble each other, which makes p too small.
const DRIFT_LEVEL_SINGLE: f64 = 0.01;

/// Cut found in one series by MSER-5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mser5 {
    /// Samples to leave out at the start: a multiple of 5.
    pub cut: usize,
    /// Whether the best cut is the largest one allowed, half of the series: the series may not have settled at all.
    pub at_border: bool,
    /// The best cut short of the border; equal to `cut` unless `at_border`.
    pub cut_before_border: usize,
}

/// Marginal standard error rule on means of 5 samples (White, 1997; White, Cobb and Spratt, 2000).
///
/// With Z₁ … Zₙ the means of consecutive groups of 5 samples, the cut is the d ≤ n/2 that makes Σᵢ₍ᵢ﹥d₎(Zᵢ - mean)²/(n-d)² smallest: the (squared) standard
/// error that the mean of the rest would have. Of equal minima the earliest wins. Samples after the last full group do not vote.
///
/// `None` for fewer than 10 samples. Limits: a minimum at the border happens by chance in perfectly steady series as well: in 8 of 100 of 60 samples, in 2
/// of 5 of 20 samples, and always below 15. So it is a reason to look, not a verdict: [`warm_up`] looks.
pub fn mser5(series: &[f64]) -> Option<Mser5> {
    if series.len() < FEWEST_WARM_UP_SAMPLES {
        return None;
    }
    let groups = group_means(series, GROUP);
    let border = groups.len() / 2;
    let mut best = 0;
    let mut best_before_border = 0;
    let mut smallest = f64::INFINITY;
    for cut in 0..=border {
        let rest = &groups[cut..];
        let count = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / count;
        let squares: f64 = rest.iter().map(|z| (z - mean) * (z - mean)).sum();
        let error = squares / (count * count);
        if error < smallest {
            smallest = error;
            best = cut;
            if cut < border {
                best_before_border = cut;
            }
        }
    }
    Some(Mser5 {
        cut: best * GROUP,
        at_border: best == border,
        cut_before_border: best_before_border * GROUP,
    })
}

/// The scale of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// A level with a natural zero, such as throughput. Drift is measured against its median.
    Linear,
    /// A level with a long tail upwards, such as median response time: analysed as its logarithm. All samples must be above zero.
    Logarithmic,
    /// A share between 0 and 1, such as cache fill. Drift is measured in the share itself, 0.05 being five points of a hundred.
    Share,
}

/// One series of a point, one sample for each slice.
#[derive(Debug, Clone, Copy)]
pub struct Signal<'a> {
    /// Samples in order of time.
    pub samples: &'a [f64],
    /// The scale of its values.
    pub scale: Scale,
}

/// What was found about the warm-up of a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum WarmUp {
    /// Leave out the first `cut` samples; the rest is steady.
    Steady {
        /// Number of samples to leave out at the beginning.
        cut: usize,
    },
    /// The signal with this index is still settling in the second half: no cut helps.
    StillSettling {
        /// Index into the signals given.
        signal: usize,
        /// Relative change over the series after the best cut in the first half.
        drift: f64,
    },
    /// After the cut, the signal with this index goes on changing.
    Drifting {
        /// Samples that would be left out.
        cut: usize,
        /// Index into the signals given.
        signal: usize,
        /// Relative change over the rest of the series.
        drift: f64,
    },
    /// Too few samples to tell.
    TooShort {
        /// Number of samples that were given.
        samples: usize,
        /// Number of samples that are needed.
        needed: usize,
    },
}

/// Finds the end of the warm-up of one point from all of its signals.
///
/// 1. [`mser5`] on each signal. Where its minimum is at the border, the best cut short of the border is taken instead, and if the signal drifts after that one as
///    well, it is still settling; otherwise the border was chance.
/// 2. The latest cut wins. It is moved on to the end of the next checkpoint, so that the rest starts at the same place of the engine's cycle, unless that
///    lies past half of the series or there was nothing to cut. `checkpoint_ends` are numbers of samples from the start, in any order.
/// 3. The rest of every signal must not drift.
///
/// Drift: the Theil-Sen slope times the length is at least 5 % ([`DRIFT_LIMIT`]) of the median (of the level itself for [`Scale::Logarithmic`], in points for
/// [`Scale::Share`]), *and* Kendall's test finds a trend, so that mere noise does not condemn a point: at 5 % on means of 5 samples, at 1 % on single ones where fewer
/// than 25 are left. A slow drift in a noisy or short series passes unseen.
///
/// # Errors
/// No signals, signals of different lengths, samples that are not finite, or not above zero on a logarithmic scale.
///
/// ```
/// use plimsoll_stats::{Scale, Signal, WarmUp, warm_up};
///
/// // Ten slow seconds, then fifty at full speed, with a ripple.
/// let throughput: Vec<f64> =
///     (0..60).map(|s| if s < 10 { 400.0 + 50.0 * s as f64 } else { 1000.0 + (s % 7) as f64 }).collect();
/// let signal = Signal { samples: &throughput, scale: Scale::Linear };
/// assert_eq!(warm_up(&[signal], &[]).unwrap(), WarmUp::Steady { cut: 10 });
/// assert_eq!(warm_up(&[signal], &[8, 16, 24]).unwrap(), WarmUp::Steady { cut: 16 });
/// ```
pub fn warm_up(signals: &[Signal<'_>], checkpoint_ends: &[usize]) -> Result<WarmUp, StatsError> {
    let Some(first) = signals.first() else {
        return Err(StatsError::TooFew { what: "signals", needed: 1, got: 0 });
    };
    let samples = first.samples.len();
    let mut scaled = Vec::with_capacity(signals.len());
    for signal in signals {
        if signal.samples.len() != samples {
            return Err(StatsError::LengthsDiffer {
                left_what: "samples of the first signal",
                left: samples,
                right_what: "samples of another",
                right: signal.samples.len(),
            });
        }
        scaled.push(on_scale(signal)?);
    }
    let mut cut = 0;
    for (index, (signal, values)) in signals.iter().zip(&scaled).enumerate() {
        let Some(found) = mser5(values) else {
            return Ok(WarmUp::TooShort { samples, needed: FEWEST_WARM_UP_SAMPLES });
        };
        if found.at_border
            && let Some(drift) = drift(&values[found.cut_before_border..], signal.scale)?
        {
            return Ok(WarmUp::StillSettling { signal: index, drift });
        }
        cut = cut.max(found.cut_before_border);
    }
    let cut = after_checkpoint(cut, checkpoint_ends, samples);
    for (index, (signal, values)) in signals.iter().zip(&scaled).enumerate() {
        if let Some(drift) = drift(&values[cut..], signal.scale)? {
            return Ok(WarmUp::Drifting { cut, signal: index, drift });
        }
    }
    Ok(WarmUp::Steady { cut })
}

/// Samples as they are analysed.
fn on_scale(signal: &Signal<'_>) -> Result<Vec<f64>, StatsError> {
    if signal.scale != Scale::Logarithmic {
        check_finite("sample", signal.samples)?;
        return Ok(signal.samples.to_vec());
    }
    check_positive("sample", signal.samples)?;
    Ok(signal.samples.iter().map(|sample| sample.ln()).collect())
}

/// The first checkpoint end at or after the cut, if it leaves at least half of the samples.
fn after_checkpoint(cut: usize, checkpoint_ends: &[usize], samples: usize) -> usize {
    if cut == 0 {
        return 0;
    }
    let next = checkpoint_ends.iter().copied().filter(|&end| end >= cut).min();
    match next {
        Some(end) if end <= samples / 2 => end,
        _ => cut,
    }
}

/// The relative change over the series, if it is large enough to matter and surely not chance.
fn drift(values: &[f64], scale: Scale) -> Result<Option<f64>, StatsError> {
    let group = if values.len() >= GROUP * GROUP { GROUP } else { 1 };
    let trend = theil_sen(&group_means(values, group))?;
    let change = trend.slope_per_sample / group as f64 * values.len() as f64;
    let relative = match scale {
        Scale::Linear => change / median(values).unwrap_or(0.0).abs(),
        Scale::Logarithmic => change.exp_m1(),
        Scale::Share => change,
    };
    // A zero median makes the ratio infinite (a drift) or, without any change, not a number (none).
    let level = if group == 1 { DRIFT_LEVEL_SINGLE } else { DRIFT_LEVEL };
    if relative.abs() >= DRIFT_LIMIT && trend.p <= level {
        return Ok(Some(relative));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_err;
    use proptest::prelude::*;

    fn linear(samples: &[f64]) -> Signal<'_> {
        Signal { samples, scale: Scale::Linear }
    }

    /// A ripple without trend around a level.
    fn ripple(level: f64, count: usize) -> Vec<f64> {
        (0..count).map(|i| level * (1.0 + 0.01 * ((i * 7) % 5) as f64)).collect()
    }

    #[test]
    fn fewer_than_ten_samples_are_too_short() {
        assert_eq!(mser5(&[1.0; 9]), None);
        let short = [1.0; 9];
        assert_eq!(
            warm_up(&[linear(&short)], &[]).unwrap(),
            WarmUp::TooShort { samples: 9, needed: 10 }
        );
    }

    #[test]
    fn a_slow_start_is_cut_and_nothing_else() {
        let mut series = ripple(1000.0, 60);
        for sample in &mut series[..15] {
            *sample *= 0.6;
        }
        assert_eq!(mser5(&series).unwrap().cut, 15);
        let expected = WarmUp::Steady { cut: 15 };
        assert_eq!(warm_up(&[linear(&series)], &[]).unwrap(), expected);
    }

    #[test]
    fn the_latest_cut_wins() {
        let steady = ripple(1000.0, 60);
        let mut late = ripple(0.9, 60);
        for sample in &mut late[..20] {
            *sample *= 0.5;
        }
        let fill = Signal { samples: &late, scale: Scale::Share };
        let expected = WarmUp::Steady { cut: 20 };
        assert_eq!(warm_up(&[linear(&steady), fill], &[]).unwrap(), expected);
    }

    #[test]
    fn a_series_that_climbs_to_the_end_is_still_settling() {
        let series: Vec<f64> = (0..60).map(|i| 500.0 + 10.0 * f64::from(i)).collect();
        let found = warm_up(&[linear(&series)], &[]).unwrap();
        let WarmUp::StillSettling { signal: 0, drift } = found else { panic!("{found:?}") };
        // The last cut short of the border is at 25: 10 a sample over the 35 that follow, against their median of 920.
        assert!((drift - 350.0 / 920.0).abs() < 1e-9, "{drift}");
    }

    #[test]
    fn a_fall_after_the_cut_is_a_drift() {
        // Twenty slow samples, forty level ones, then a fall of 30 % to the end: no cut in the first half would help.
        let mut series = ripple(1000.0, 120);
        for (index, sample) in series.iter_mut().enumerate() {
            match index {
                0..20 => *sample *= 0.3,
                60.. => *sample *= 1.0 - 0.005 * (index - 60) as f64,
                _ => {}
            }
        }
        let found = warm_up(&[linear(&series)], &[]).unwrap();
        let drifting = matches!(found, WarmUp::Drifting { cut: 20, signal: 0, drift } if (-0.4..-0.2).contains(&drift));
        assert!(drifting, "{found:?}");
    }

    #[test]
    fn the_cut_moves_to_the_end_of_a_checkpoint_but_not_past_half() {
        assert_eq!(after_checkpoint(15, &[40, 10, 20], 60), 20);
        assert_eq!(after_checkpoint(15, &[15], 60), 15);
        assert_eq!(after_checkpoint(15, &[40], 60), 15);
        assert_eq!(after_checkpoint(15, &[], 60), 15);
        assert_eq!(after_checkpoint(0, &[20], 60), 0);
    }

    #[test]
    fn a_constant_series_of_zeros_is_steady() {
        let expected = WarmUp::Steady { cut: 0 };
        assert_eq!(warm_up(&[linear(&[0.0; 20])], &[]).unwrap(), expected);
    }

    #[test]
    fn bad_input_is_refused() {
        assert_err!(warm_up(&[], &[]), StatsError::TooFew { .. });
        let (long, short) = ([1.0; 20], [1.0; 19]);
        let error = warm_up(&[linear(&long), linear(&short)], &[]);
        assert_err!(error, StatsError::LengthsDiffer { .. });
        let zeros = Signal { samples: &[0.0; 20], scale: Scale::Logarithmic };
        assert_err!(warm_up(&[zeros], &[]), StatsError::NotPositive { .. });
    }

    proptest! {
        #[test]
        fn the_cut_is_at_most_half_and_does_not_depend_on_the_unit(
            series in prop::collection::vec(1.0..1000.0_f64, 10..80),
            power in -10..10,
        ) {
            // Powers of two scale without rounding, so that even near-equal minima stay in order.
            let scaled: Vec<f64> = series.iter().map(|x| x * 2.0_f64.powi(power)).collect();
            let found = mser5(&series).unwrap();
            prop_assert_eq!(Some(found), mser5(&scaled));
            prop_assert!(found.cut <= series.len() / 2);
            prop_assert!(found.cut_before_border <= found.cut);
        }
    }
}
