//! The machinery that both rank methods share: elementary estimates of a shift, sorted, and the law of their count.
//!
//! The estimate is their median (Hodges and Lehmann, 1963). The interval and the p value are the same test read two ways: with M
//! elementary estimates and P the law of the count when there is no shift, k is the largest number with 2·P(count ≤ k-1) ≤ 1-c; the interval
//! reaches from the k-th smallest to the k-th largest, and p against a shift θ is 2·P(count ≤ min(#{≤ θ}, #{≥ θ})). So p ≤ 1-c exactly when
//! the interval leaves θ out.
//!
//! Ties and zeros: an elementary estimate that equals θ is counted on *both* sides, that is, against there being a difference. However the
//! ties were broken, p could only have been smaller, so the test keeps its level; the price is some power when many values are equal.

use crate::interval::{Estimate, Interval};
use crate::null_law::NullLaw;
use crate::summary::quantile_of_sorted;

/// Elementary estimates of one shift in rising order, never empty.
#[derive(Debug, Clone)]
pub(crate) struct Shifts {
    sorted: Vec<f64>,
    law: NullLaw,
}

impl Shifts {
    /// Walsh averages (dᵢ + dⱼ)/2, i ≤ j, with the signed-rank law. `differences` must not be empty.
    pub(crate) fn within(differences: &[f64]) -> Shifts {
        let count = differences.len();
        let mut sorted = Vec::with_capacity(count * (count + 1) / 2);
        for (index, first) in differences.iter().enumerate() {
            for second in &differences[index..] {
                sorted.push((first + second) / 2.0);
            }
        }
        sorted.sort_unstable_by(f64::total_cmp);
        Shifts { sorted, law: NullLaw::signed_rank(count) }
    }

    /// All differences bⱼ - aᵢ with the rank-sum law. Neither list may be empty.
    pub(crate) fn between(a: &[f64], b: &[f64]) -> Shifts {
        let mut sorted = Vec::with_capacity(a.len() * b.len());
        for from in a {
            for to in b {
                sorted.push(to - from);
            }
        }
        sorted.sort_unstable_by(f64::total_cmp);
        Shifts { sorted, law: NullLaw::rank_sum(a.len(), b.len()) }
    }

    pub(crate) fn estimate(&self) -> f64 {
        quantile_of_sorted(&self.sorted, 0.5).expect("elementary estimates are never empty")
    }

    /// Interval by inversion. Where even the whole range does not attain `confidence`, the whole range with what it does attain.
    pub(crate) fn interval(&self, confidence: f64) -> Interval {
        let count = self.sorted.len();
        let within = self.law.most_within((1.0 - confidence) / 2.0);
        let dropped = within.unwrap_or(0).min((count - 1) / 2);
        Interval {
            lower: self.sorted[dropped],
            upper: self.sorted[count - 1 - dropped],
            confidence: (1.0 - 2.0 * self.law.at_most(dropped)).max(0.0),
        }
    }

    pub(crate) fn estimate_with_interval(&self, confidence: f64) -> Estimate {
        Estimate { value: self.estimate(), interval: self.interval(confidence) }
    }

    /// Two-sided p of the hypothesis that the true shift is `shift`: the largest that any estimates between these and `highest` have.
    pub(crate) fn p_value_up_to(&self, highest: &Shifts, shift: f64) -> f64 {
        let below_or_at = self.sorted.partition_point(|&value| value <= shift);
        let below = highest.sorted.partition_point(|&value| value < shift);
        let at_or_above = highest.sorted.len() - below;
        (2.0 * self.law.at_most(below_or_at.min(at_or_above))).min(1.0)
    }
}
