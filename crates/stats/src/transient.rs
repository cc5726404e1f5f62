//! Series that are no one state: two levels by turns, or a cost that still falls.

use crate::summary::{mean, median};
use crate::trend::theil_sen;

/// Fewest samples for a verdict.
const FEWEST: usize = 10;
/// Least share of the samples at each of two levels.
const LEAST_SHARE: f64 = 0.15;
/// How many times the lower one the upper level is at least.
const LEAST_RATIO: f64 = 2.0;
/// Share of the logarithms' variance that two levels must explain: they explain 75 % of a uniform law and 64 % of a normal one.
const LEAST_EXPLAINED: f64 = 0.85;
/// Samples for which a level lasts on average at least: what changes with each sample is noise.
const LEAST_DWELL: f64 = 3.0;
/// A sample of nothing counts as this share of the largest: its logarithm has to be somewhere.
const NEXT_TO_NOTHING: f64 = 1e-3;
/// A cost still falls if in the last third it is at most this share of the first third's.
const FALLEN_TO: f64 = 0.8;
/// A fall is believed when "no trend" has at most this p.
const BY_CHANCE: f64 = 0.01;

/// Two levels at which a series stood by turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoLevels {
    /// Median of the samples at the upper level.
    pub upper: f64,
    /// Median of those at the lower level.
    pub lower: f64,
    /// Share of the samples at the lower level.
    pub share_of_lower: f64,
}

/// Finds two levels in a series of rates, one for each second; `None` where it has one, or too few samples to say (10).
///
/// The samples are divided so that their logarithms vary least within both parts (k-means with two means, solved exactly by trying every place in the sorted samples).
/// These are two levels where that explains 85 % of the variance, the medians are a factor of 2 apart, each has 15 % of the samples and three of them, and each lasts for
/// three samples on average. Neither a mean nor a median of such a series is a value that it had.
pub fn two_levels(samples: &[f64]) -> Option<TwoLevels> {
    let count = samples.len();
    let largest = samples.iter().copied().fold(0.0, f64::max);
    if count < FEWEST || largest <= 0.0 || !samples.iter().all(|sample| sample.is_finite()) {
        return None;
    }
    let floor = largest * NEXT_TO_NOTHING;
    let logarithms: Vec<f64> = samples.iter().map(|sample| sample.max(floor).ln()).collect();
    let mut sorted = logarithms.clone();
    sorted.sort_by(f64::total_cmp);
    let centre = mean(&sorted)?;
    let squares: f64 = sorted.iter().map(|one| (one - centre).powi(2)).sum();
    let least = ((count as f64 * LEAST_SHARE).ceil() as usize).max(3);
    // Around the centre, the upper part sums to minus the lower one.
    let (mut sum, mut between, mut lower) = (0.0, 0.0, 0);
    for (number, one) in (1..=count - least).zip(&sorted) {
        sum += one - centre;
        let explained = sum * sum * (1.0 / number as f64 + 1.0 / (count - number) as f64);
        if number >= least && explained > between {
            (between, lower) = (explained, number);
        }
    }
    if lower == 0 || between < LEAST_EXPLAINED * squares {
        return None;
    }
    let limit = f64::midpoint(sorted[lower - 1], sorted[lower]);
    let is_low: Vec<bool> = logarithms.iter().map(|one| *one <= limit).collect();
    let changes = is_low.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let level = |wanted: bool| {
        let of = samples.iter().zip(&is_low).filter(|(_, low)| **low == wanted);
        median(&of.map(|(sample, _)| *sample).collect::<Vec<f64>>())
    };
    let found = TwoLevels {
        upper: level(false)?,
        lower: level(true)?,
        share_of_lower: lower as f64 / count as f64,
    };
    let is_apart = found.upper >= LEAST_RATIO * found.lower;
    let lasts = count as f64 >= LEAST_DWELL * (changes + 1) as f64;
    (is_apart && lasts).then_some(found)
}

/// The means of a cost in the first and in the last third of a series, where it still falls to the end: the last is at most 80 % of the first, and Kendall's test finds a trend at
/// 1 %.
pub fn still_falls(costs: &[f64]) -> Option<[f64; 2]> {
    if costs.len() < FEWEST {
        return None;
    }
    let third = costs.len() / 3;
    let (first, last) = (mean(&costs[..third])?, mean(&costs[costs.len() - third..])?);
    let trend = theil_sen(costs).ok()?;
    let falls = trend.slope_per_sample < 0.0 && trend.p <= BY_CHANCE;
    (falls && last <= FALLEN_TO * first).then_some([first, last])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(levels: &[(f64, usize)]) -> Vec<f64> {
        let ripple = |index: usize| 1.0 + 0.01 * (index * 7 % 5) as f64;
        let samples = levels.iter().flat_map(|(level, count)| vec![*level; *count]);
        samples.enumerate().map(|(index, level)| level * ripple(index)).collect()
    }

    #[test]
    fn a_cache_that_is_repaired_has_two_levels() {
        let found = two_levels(&series(&[(11_000.0, 9), (1_200.0, 11)])).unwrap();
        assert!((found.upper / 11_000.0 - 1.02).abs() < 0.021, "{found:?}");
        assert!((found.lower / 1_200.0 - 1.02).abs() < 0.021, "{found:?}");
        assert_eq!(found.share_of_lower, 0.55);
        let back = two_levels(&series(&[(11_000.0, 7), (1_200.0, 6), (11_000.0, 7)])).unwrap();
        assert_eq!(back.share_of_lower, 0.3);
        // Standing still is a level.
        assert!(two_levels(&series(&[(9_000.0, 6), (0.0, 6)])).is_some());
    }

    #[test]
    fn what_is_no_two_levels() {
        assert_eq!(two_levels(&series(&[(1_000.0, 30)])), None);
        assert_eq!(two_levels(&series(&[(1_000.0, 10), (600.0, 10)])), None, "near");
        assert_eq!(two_levels(&series(&[(1_000.0, 18), (100.0, 2)])), None, "rare");
        assert_eq!(two_levels(&series(&[(1_000.0, 5), (100.0, 4)])), None, "short");
        let by_turns: Vec<f64> =
            (0..20).map(|second| if second % 2 == 0 { 1e3 } else { 1e2 }).collect();
        assert_eq!(two_levels(&by_turns), None, "no level lasts");
        let falling: Vec<f64> = (0..30).map(|second| 1e4 * 0.9_f64.powi(second)).collect();
        assert_eq!(two_levels(&falling), None, "a slope has no levels");
        assert_eq!(two_levels(&[0.0; 20]), None);
    }

    #[test]
    fn a_cost_falls_or_not() {
        let falling: Vec<f64> =
            (0..20).map(|second| 100.0 * (-f64::from(second) / 20.0).exp()).collect();
        assert!(still_falls(&falling).is_some());
        let rising: Vec<f64> = falling.iter().rev().copied().collect();
        assert!(still_falls(&rising).is_none());
        assert!(still_falls(&series(&[(5.0, 20)])).is_none());
        assert!(still_falls(&falling[..9]).is_none());
    }
}
