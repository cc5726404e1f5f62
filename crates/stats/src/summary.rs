//! Small helpers on a list of numbers: mean, spread, median, quantile.
//!
//! All of them return `None` instead of inventing a value for a list that is too short, and sort with
//! [`f64::total_cmp`], so that a stray not-a-number sorts last instead of upsetting the order.

/// Arithmetic mean, or `None` for an empty list.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation √(Σ(x - mean)²/(n-1)), or `None` for fewer than two values.
///
/// Computed in two passes, which stays exact for large values with a small spread.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|x| (x - centre) * (x - centre)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Median: the middle value, or the mean of the two middle ones. `None` for an empty list.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Quantile of type 7 (Hyndman and Fan, 1996; the default of R and NumPy): with the values sorted, the one at position
/// (n-1)·`share` counted from 0, by linear interpolation between neighbours.
///
/// `share` is in 0..=1. `None` for an empty list or a share outside that range. For the few values of an experiment (one a
/// block); percentiles of operations come from histograms.
///
/// ```
/// assert_eq!(plimsoll_stats::quantile(&[4.0, 1.0, 2.0, 3.0], 0.25), Some(1.75));
/// ```
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, share)
}

/// [`quantile`] of a list that is already in rising order.
pub(crate) fn quantile_of_sorted(sorted: &[f64], share: f64) -> Option<f64> {
    if sorted.is_empty() || !(0.0..=1.0).contains(&share) {
        return None;
    }
    let position = (sorted.len() - 1) as f64 * share;
    let below = position.floor() as usize;
    let above = position.ceil() as usize;
    let fraction = position - below as f64;
    // The difference of infinite values is no number.
    if fraction == 0.0 || sorted[below].is_infinite() {
        return Some(sorted[below]);
    }
    Some(sorted[below] + (sorted[above] - sorted[below]) * fraction)
}

/// Means of consecutive groups of `size` values; an incomplete group at the end is left out.
pub(crate) fn group_means(values: &[f64], size: usize) -> Vec<f64> {
    values.chunks_exact(size).map(|group| group.iter().sum::<f64>() / size as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_agree_with_type_7_of_r() {
        // R: quantile(c(1, 2, 4, 8, 16), c(0, .1, .5, .9, 1), type = 7)
        let values = [16.0, 8.0, 4.0, 2.0, 1.0];
        for (share, expected) in [(0.0, 1.0), (0.1, 1.4), (0.5, 4.0), (0.9, 12.8), (1.0, 16.0)] {
            let got = quantile(&values, share).unwrap();
            assert!((got - expected).abs() < 1e-12, "{share}: {got}");
        }
    }

    #[test]
    fn too_short_lists_have_no_figures() {
        assert_eq!(mean(&[]), None);
        assert_eq!(median(&[]), None);
        assert_eq!(standard_deviation(&[3.0]), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
    }

    #[test]
    fn the_spread_of_known_values_is_known() {
        // Squared distances from the mean 5 sum to 32, over n - 1 = 7.
        let spread = standard_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((spread - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_quantile_lies_among_the_values_and_ignores_their_order(
            mut values in prop::collection::vec(-1e6..1e6_f64, 1..40),
            share in 0.0..=1.0_f64,
        ) {
            let first = quantile(&values, share).unwrap();
            values.reverse();
            prop_assert_eq!(Some(first), quantile(&values, share));
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(low <= first && first <= high);
        }
    }
}
