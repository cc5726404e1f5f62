//! An interval with its confidence, the t quantile behind parametric ones, and the interval of a median.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

use crate::error::{StatsError, check_confidence, check_finite};
use crate::summary::quantile_of_sorted;

/// Two limits, and how often an interval made this way holds the true value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower limit, in the unit of the value that it belongs to.
    pub lower: f64,
    /// Upper limit, in the same unit.
    pub upper: f64,
    /// The confidence that the interval really has, from 0 to 1. Intervals made from ranks can attain only certain values: with few
    /// values it may lie *below* what was requested, never silently.
    pub confidence: f64,
}

impl Interval {
    /// Whether `value` lies in the interval, its limits included.
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }
}

/// Quantile of Student's t that leaves (1 - `confidence`)/2 on each side; `degrees` of freedom at least 1.
pub(crate) fn t_two_sided(confidence: f64, degrees: usize) -> f64 {
    t_quantile(0.5 + confidence / 2.0, degrees)
}

/// Quantile of Student's t at `share` in (0, 1).
///
/// Above 1,000 degrees of freedom by the first three terms of its expansion around the normal quantile (Abramowitz and Stegun 26.7.5), there good to ten
/// digits: the search for the exact quantile slows down without bound.
pub(crate) fn t_quantile(share: f64, degrees: usize) -> f64 {
    let degrees = degrees.max(1) as f64;
    if degrees > 1000.0 {
        let z = Normal::standard().inverse_cdf(share);
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        return z + first / degrees + second / (degrees * degrees);
    }
    let law = StudentsT::new(0.0, 1.0, degrees)
        .expect("location 0, scale 1 and at least one degree of freedom are valid");
    law.inverse_cdf(share)
}

/// Quantile of the normal law that leaves (1 - `confidence`)/2 on each side.
pub(crate) fn normal_two_sided(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + confidence / 2.0)
}

/// P(Z ≤ `z`) of the standard normal law.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The point estimate, in the unit of the samples.
    pub value: f64,
    /// Where the true value lies with the stated confidence.
    pub interval: Interval,
}

/// Interval of a median from order statistics, without any assumption on the shape of the spread.
///
/// With n values sorted, [x₍ₖ₎, x₍ₙ₊₁₋ₖ₎] holds the true median with probability 1 - 2·P(Bin(n, ½) ≤ k-1): the sign test turned round.
/// The largest k is taken whose confidence is at least the one requested. Where none is (fewer than 6 values at 95 %), the interval is
/// the whole range and its `confidence` says how little that is worth: 0 for one value, 0.5 for two, 0.9375 for five.
///
/// Used for figures of which every block gives one and no better law is known: knees, parameters of the scalability law.
///
/// # Errors
/// No values, values that are not finite, or a confidence outside (0, 1).
pub fn median_interval(values: &[f64], confidence: f64) -> Result<Estimate, StatsError> {
    check_confidence(confidence)?;
    check_finite("value", values)?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(median) = quantile_of_sorted(&sorted, 0.5) else {
        return Err(StatsError::TooFew { what: "values", needed: 1, got: 0 });
    };
    let count = sorted.len();
    let law = Binomial::new(0.5, count as u64).expect("one half is a probability");
    let mut dropped = 0;
    while 2 * (dropped + 1) < count && 2.0 * law.cdf(dropped as u64 + 1) <= 1.0 - confidence {
        dropped += 1;
    }
    let interval = Interval {
        lower: sorted[dropped],
        upper: sorted[count - 1 - dropped],
        confidence: (1.0 - 2.0 * law.cdf(dropped as u64)).max(0.0),
    };
    Ok(Estimate { value: median, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_err;

    #[test]
    fn t_quantiles_agree_with_printed_tables() {
        for (degrees, expected) in [(1, 12.706), (4, 2.776), (7, 2.365), (19, 2.093), (30, 2.042)] {
            assert!((t_two_sided(0.95, degrees) - expected).abs() < 5e-4, "{degrees}");
        }
        assert!((t_quantile(0.8, 7) - 0.896).abs() < 5e-4);
        let across_the_change = t_quantile(0.975, 1000) - t_quantile(0.975, 1001);
        assert!((0.0..1e-5).contains(&across_the_change), "{across_the_change}");
    }

    #[test]
    fn the_order_statistics_are_those_of_the_sign_test() {
        // Printed tables of the median's interval: n = 6 takes the 1st, n = 9 the 2nd, n = 20 the 6th value from each end.
        for (count, nth, attained) in [(6, 1, 0.96875), (9, 2, 0.9609375), (20, 6, 0.95861)] {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            let got = median_interval(&values, 0.95).unwrap().interval;
            assert_eq!(got.lower, f64::from(nth), "{count}");
            assert_eq!(got.upper, f64::from(count + 1 - nth), "{count}");
            assert!((got.confidence - attained).abs() < 1e-5, "{count}: {}", got.confidence);
        }
    }

    #[test]
    fn few_values_attain_little_and_say_so() {
        for (values, attained) in
            [(vec![2.0], 0.0), (vec![1.0, 2.0], 0.5), (vec![1.0, 2.0, 3.0, 4.0, 5.0], 0.9375)]
        {
            let got = median_interval(&values, 0.95).unwrap().interval;
            assert_eq!(got.lower, values[0]);
            assert_eq!(got.upper, values[values.len() - 1]);
            assert!((got.confidence - attained).abs() < 1e-12);
        }
    }

    #[test]
    fn bad_input_is_refused() {
        assert_err!(median_interval(&[], 0.95), StatsError::TooFew { .. });
        assert_err!(median_interval(&[1.0], 1.0), StatsError::BadSetting { .. });
        assert_err!(median_interval(&[f64::NAN], 0.9), StatsError::NotFinite { index: 0, .. });
    }
}
