//! Where a series of results changed for good.
//!
//! The method is E-divisive (Matteson and James, 2014) in the form that Hunter and Otava use for benchmark results: the split of a series at which the two parts
//! differ most by their energy distance is a candidate, confirmed by Welch's t test and by a smallest change that is worth speaking of; then both parts are looked
//! at in the same way.

use crate::StatsError;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewest results on each side of a change.
pub const FEWEST_AROUND_A_CHANGE: usize = 4;

/// What counts as a change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangeRule {
    /// Largest p of Welch's t test.
    pub significance: f64,
    /// Smallest change that is reported, as a share of the mean before.
    pub least_change: f64,
}

impl Default for ChangeRule {
    /// p below 0.001, and at least 3 %.
    fn default() -> ChangeRule {
        ChangeRule { significance: 0.001, least_change: 0.03 }
    }
}

/// One change of level in a series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// Index of the first result after it.
    pub index: usize,
    /// Mean of the results between the change before and this one.
    pub before: f64,
    /// Mean of the results between this change and the next.
    pub after: f64,
    /// P value of Welch's t test between them.
    pub p: f64,
}

impl ChangePoint {
    /// After ÷ before - 1.
    pub fn change(&self) -> f64 {
        self.after / self.before - 1.0
    }
}

/// Finds every change in a series of positive results, in order.
///
/// A series with fewer than twice [`FEWEST_AROUND_A_CHANGE`] results has none. The cost grows with the square of its length.
///
/// ```
/// use plimsoll_stats::{ChangeRule, change_points};
///
/// let results = [100.0, 101.0, 99.0, 100.5, 99.5, 110.0, 111.0, 109.0, 110.5, 109.5];
/// let found = change_points(&results, ChangeRule::default())?;
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].index, 5);
/// assert!((found[0].change() - 0.1).abs() < 0.01);
/// # Ok::<(), plimsoll_stats::StatsError>(())
/// ```
///
/// # Errors
/// When a result is not a positive number.
pub fn change_points(results: &[f64], rule: ChangeRule) -> Result<Vec<ChangePoint>, StatsError> {
    crate::error::check_positive("result", results)?;
    let mut splits = Vec::new();
    split(results, 0, rule, &mut splits);
    splits.sort_unstable();
    // A split that was good within its part may be none between its final neighbours.
    loop {
        let found = described(results, &splits);
        let weakest = found
            .iter()
            .filter(|change| !is_change(change, rule))
            .max_by(|a, b| a.p.total_cmp(&b.p));
        match weakest {
            Some(weakest) => {
                let index = weakest.index;
                splits.retain(|split| *split != index);
            }
            None => return Ok(found),
        }
    }
}

fn split(results: &[f64], offset: usize, rule: ChangeRule, into: &mut Vec<usize>) {
    let Some(at) = best_split(results) else {
        return;
    };
    let (before, after) = results.split_at(at);
    let change = ChangePoint {
        index: at,
        before: mean(before),
        after: mean(after),
        p: welch(before, after),
    };
    if !is_change(&change, rule) {
        return;
    }
    into.push(offset + at);
    split(before, offset, rule, into);
    split(after, offset + at, rule, into);
}

fn is_change(change: &ChangePoint, rule: ChangeRule) -> bool {
    change.p < rule.significance && change.change().abs() >= rule.least_change
}

fn described(results: &[f64], splits: &[usize]) -> Vec<ChangePoint> {
    let mut found = Vec::with_capacity(splits.len());
    for (position, &index) in splits.iter().enumerate() {
        let begin = if position == 0 { 0 } else { splits[position - 1] };
        let end = splits.get(position + 1).copied();
        let before = &results[begin..index];
        let after = &results[index..end.unwrap_or(results.len())];
        found.push(ChangePoint {
            index,
            before: mean(before),
            after: mean(after),
            p: welch(before, after),
        });
    }
    found
}

/// The split with the greatest energy distance, mn/(m+n) · (2·mean|X-Y| - mean|X-X'| - mean|Y-Y'|). `None` where a side would be too short.
fn best_split(results: &[f64]) -> Option<usize> {
    let n = results.len();
    if n < 2 * FEWEST_AROUND_A_CHANGE {
        return None;
    }
    let distance = |i: usize, j: usize| (results[i] - results[j]).abs();
    // Sums of distances within the left part, within the right part and between them, kept as the split moves.
    let (mut left, mut right, mut between) = (0.0, 0.0, 0.0);
    for i in 0..n {
        for j in i + 1..n {
            right += distance(i, j);
        }
    }
    let mut best: Option<(f64, usize)> = None;
    for at in 1..=n - FEWEST_AROUND_A_CHANGE {
        let moved = at - 1;
        let to_left: f64 = (0..moved).map(|i| distance(i, moved)).sum();
        let to_right: f64 = (at..n).map(|i| distance(i, moved)).sum();
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        if at < FEWEST_AROUND_A_CHANGE {
            continue;
        }
        let (m, k) = (at as f64, (n - at) as f64);
        let within = |sum: f64, count: f64| 2.0 * sum / (count * (count - 1.0));
        let energy = 2.0 * between / (m * k) - within(left, m) - within(right, k);
        let weighted = m * k / (m + k) * energy;
        if best.is_none_or(|(greatest, _)| weighted > greatest) {
            best = Some((weighted, at));
        }
    }
    best.map(|(_, at)| at)
}

/// The mean of at least one value.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Two-sided p of Welch's t test. Both sides have at least two values.
fn welch(a: &[f64], b: &[f64]) -> f64 {
    let squared_error = |values: &[f64]| {
        let (n, centre) = (values.len() as f64, mean(values));
        let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
        squares / (n - 1.0) / n
    };
    let (error_a, error_b) = (squared_error(a), squared_error(b));
    let difference = (mean(a) - mean(b)).abs();
    let error = error_a + error_b;
    if error <= 0.0 {
        return if difference > 0.0 { 0.0 } else { 1.0 };
    }
    let freedom = error * error
        / (error_a * error_a / (a.len() as f64 - 1.0) + error_b * error_b / (b.len() as f64 - 1.0));
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(law) => 2.0 * law.sf(difference / error.sqrt()),
        Err(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_up_and_down_are_found_where_they_are() {
        let wave = [0.0, 0.4, -0.3, 0.2, -0.4, 0.1];
        let mut results = Vec::new();
        for level in [100.0, 120.0, 90.0] {
            results.extend(wave.iter().map(|ripple| level + ripple));
        }
        let found = change_points(&results, ChangeRule::default()).expect("positive");
        let indices: Vec<usize> = found.iter().map(|change| change.index).collect();
        assert_eq!(indices, [6, 12]);
        assert!((found[0].change() - 0.2).abs() < 1e-9 && (found[1].change() + 0.25).abs() < 1e-9);
    }

    #[test]
    fn what_is_short_constant_or_small_has_no_change() {
        let rule = ChangeRule::default();
        assert_eq!(change_points(&[], rule), Ok(Vec::new()));
        let found = change_points(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0], rule);
        assert_eq!(found, Ok(Vec::new()));
        assert_eq!(change_points(&[5.0; 40], rule), Ok(Vec::new()));
        let by_two_percent: Vec<f64> =
            (0..40).map(|i| if i < 20 { 100.0 } else { 102.0 }).collect();
        assert_eq!(change_points(&by_two_percent, rule), Ok(Vec::new()));
        assert!(change_points(&[1.0, -1.0], rule).is_err());
    }

    /// A textbook example of two samples with means of 20.82 and 22.99: t = 2.46 with 25 degrees of freedom, p = 0.021.
    #[test]
    fn welch_agrees_with_the_textbook() {
        let a = [
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
            21.4,
        ];
        let b = [
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5,
            24.4,
        ];
        assert!((welch(&a, &b) - 0.021).abs() < 0.0005, "{}", welch(&a, &b));
    }
}
