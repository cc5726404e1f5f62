//! Whether a series drifts: the Theil-Sen slope, with Kendall's test of whether there is a slope at all.

use crate::error::{StatsError, check_finite};
use crate::interval::normal_cdf;
use crate::summary::{group_means, quantile_of_sorted};

/// Longest series whose pairs are all formed; longer ones are averaged in groups first.
const LONGEST: usize = 500;

/// A straight line through a series, by ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Median of all pairwise slopes, in units of the series per sample.
    pub slope_per_sample: f64,
    /// Two-sided p of "no trend" by Kendall's S.
    pub p: f64,
}

/// Theil-Sen slope (Sen, 1968): the median of (yⱼ - yᵢ)/(j - i) over all pairs. Nearly a third of the samples may be wild without moving it much.
///
/// p from Kendall's S (the pairs that rise minus those that fall), normal with variance n(n-1)(2n+5)/18 and continuity correction. Ties make it
/// larger. It takes samples as independent: a series that wanders gives too small a p, which averaging neighbours mends in part. Series
/// of more than 500 samples are averaged in equal groups first, an incomplete last one left out.
///
/// # Errors
/// Fewer than two samples, or samples that are not finite.
pub fn theil_sen(series: &[f64]) -> Result<Trend, StatsError> {
    check_finite("sample", series)?;
    if series.len() < 2 {
        return Err(StatsError::TooFew { what: "samples", needed: 2, got: series.len() });
    }
    let group = series.len().div_ceil(LONGEST);
    let values = group_means(series, group);
    let count = values.len();
    let mut slopes = Vec::with_capacity(count * (count - 1) / 2);
    let mut rising_minus_falling = 0i64;
    for later in 1..count {
        for earlier in 0..later {
            let rise = values[later] - values[earlier];
            if rise > 0.0 {
                rising_minus_falling += 1;
            } else if rise < 0.0 {
                rising_minus_falling -= 1;
            }
            slopes.push(rise / (later - earlier) as f64);
        }
    }
    slopes.sort_unstable_by(f64::total_cmp);
    let slope = quantile_of_sorted(&slopes, 0.5).expect("two samples form a pair");
    let n = count as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let distance = (rising_minus_falling.unsigned_abs() as f64 - 1.0).max(0.0) / deviation;
    Ok(Trend { slope_per_sample: slope / group as f64, p: 2.0 * normal_cdf(-distance) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_err;
    use proptest::prelude::*;

    #[test]
    fn a_straight_line_has_its_own_slope_whatever_a_few_wild_values_do() {
        let mut series: Vec<f64> = (0..30).map(|i| 5.0 + 0.25 * f64::from(i)).collect();
        series[3] = 1e6;
        series[20] = -1e6;
        let trend = theil_sen(&series).unwrap();
        assert!((trend.slope_per_sample - 0.25).abs() < 1e-9);
        assert!(trend.p < 1e-6);
    }

    #[test]
    fn kendalls_p_agrees_with_a_calculation_by_hand() {
        // 1 3 2 4 5: nine pairs rise, one falls: S = 8, variance 5·4·15/18 = 16.67, z = 7/4.082 = 1.715, p = 0.0864.
        let trend = theil_sen(&[1.0, 3.0, 2.0, 4.0, 5.0]).unwrap();
        assert!((trend.p - 0.0864).abs() < 1e-4, "{}", trend.p);
        // Slopes in order: -1, 1/2, 2/3, 1 (five times), 3/2, 2: the median is 1.
        assert!((trend.slope_per_sample - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_constant_series_has_no_trend() {
        assert_eq!(theil_sen(&[7.0; 12]).unwrap(), Trend { slope_per_sample: 0.0, p: 1.0 });
    }

    #[test]
    fn a_long_series_keeps_its_slope_per_sample() {
        let series: Vec<f64> = (0..1703).map(|i| 0.5 * f64::from(i)).collect();
        assert!((theil_sen(&series).unwrap().slope_per_sample - 0.5).abs() < 1e-9);
    }

    #[test]
    fn bad_input_is_refused() {
        assert_err!(theil_sen(&[1.0]), StatsError::TooFew { .. });
        assert_err!(theil_sen(&[1.0, f64::INFINITY]), StatsError::NotFinite { index: 1, .. });
    }

    proptest! {
        #[test]
        fn turning_the_series_round_turns_the_slope(mut series in prop::collection::vec(-100.0..100.0_f64, 2..40)) {
            let there = theil_sen(&series).unwrap();
            series.reverse();
            let back = theil_sen(&series).unwrap();
            prop_assert!((there.slope_per_sample + back.slope_per_sample).abs() < 1e-9);
            prop_assert_eq!(there.p, back.p);
        }
    }
}
