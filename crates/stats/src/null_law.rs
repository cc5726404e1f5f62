//! Exact laws of the two rank statistics when there is no difference, with normal approximations for large samples.
//!
//! Both statistics are counts of elementary estimates (Walsh averages, or differences between the arms) on one side of zero, and both
//! laws are symmetric: over 0..=n(n+1)/2 for the signed rank, over 0..=m·n for the rank sum.

use statrs::distribution::{ContinuousCDF, Normal};

/// Largest number of pairs, or of runs in each arm, for which the law is counted out exactly.
pub(crate) const EXACT_UP_TO: usize = 20;

/// Law of the count of elementary estimates below zero when the true shift is zero.
#[derive(Debug, Clone)]
pub(crate) enum NullLaw {
    /// P(count ≤ i) at index i.
    Exact { cumulative: Vec<f64> },
    /// Normal approximation, used with continuity correction.
    Normal { mean: f64, deviation: f64 },
}

impl NullLaw {
    /// Wilcoxon's signed-rank statistic of `pairs` pairs: each of the ranks 1..=n is counted or not, all 2ⁿ ways alike.
    /// Above [`EXACT_UP_TO`]: mean n(n+1)/4, variance n(n+1)(2n+1)/24.
    pub(crate) fn signed_rank(pairs: usize) -> NullLaw {
        if pairs > EXACT_UP_TO {
            let n = pairs as f64;
            return NullLaw::Normal {
                mean: n * (n + 1.0) / 4.0,
                deviation: (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt(),
            };
        }
        let mut ways = vec![0.0; pairs * (pairs + 1) / 2 + 1];
        ways[0] = 1.0;
        for rank in 1..=pairs {
            for total in (rank..ways.len()).rev() {
                ways[total] += ways[total - rank];
            }
        }
        NullLaw::from_ways(&ways)
    }

    /// Mann and Whitney's U of `m` against `n` runs: all C(m+n, m) orders alike. The numbers of ways are the coefficients of
    /// the Gaussian binomial ∏ᵢ (1 - qⁿ⁺ⁱ)/(1 - qⁱ), i = 1..=m: whole numbers below 2⁵³, so exact in floating point.
    /// Above [`EXACT_UP_TO`]: mean m·n/2, variance m·n·(m+n+1)/12.
    pub(crate) fn rank_sum(m: usize, n: usize) -> NullLaw {
        if m.max(n) > EXACT_UP_TO {
            let (m, n) = (m as f64, n as f64);
            return NullLaw::Normal {
                mean: m * n / 2.0,
                deviation: (m * n * (m + n + 1.0) / 12.0).sqrt(),
            };
        }
        let mut ways = vec![0.0; m * n + 1];
        ways[0] = 1.0;
        for i in 1..=m {
            for power in (n + i..ways.len()).rev() {
                ways[power] -= ways[power - n - i];
            }
            for power in i..ways.len() {
                ways[power] += ways[power - i];
            }
        }
        NullLaw::from_ways(&ways)
    }

    fn from_ways(ways: &[f64]) -> NullLaw {
        let all: f64 = ways.iter().sum();
        let mut so_far = 0.0;
        let mut cumulative = Vec::with_capacity(ways.len());
        for way in ways {
            so_far += way;
            cumulative.push(so_far / all);
        }
        NullLaw::Exact { cumulative }
    }

    /// The largest P(count ≤ i) that is at most `tail`: what an interval leaves out on each side that may leave out this much. Zero where even P(0) is more.
    pub(crate) fn attained_tail(&self, tail: f64) -> f64 {
        self.most_within(tail).map_or(0.0, |count| self.at_most(count))
    }

    /// The largest i with P(count ≤ i) at most `tail`.
    pub(crate) fn most_within(&self, tail: f64) -> Option<usize> {
        // Large samples have millions of counts: only those from just below the quantile are visited.
        let from = match self {
            NullLaw::Exact { .. } => 0,
            NullLaw::Normal { mean, deviation } => {
                let quantile = mean + deviation * Normal::standard().inverse_cdf(tail);
                (quantile - 2.0).max(0.0) as usize
            }
        };
        (from..).take_while(|count| self.at_most(*count) <= tail).last()
    }

    pub(crate) fn at_most(&self, count: usize) -> f64 {
        match self {
            NullLaw::Exact { cumulative } => cumulative.get(count).copied().unwrap_or(1.0),
            NullLaw::Normal { mean, deviation } => {
                let law = Normal::new(*mean, *deviation).expect("the deviation is above zero");
                law.cdf(count as f64 + 0.5)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_large_samples_are_those_that_a_search_from_zero_finds() {
        for pairs in [21, 22, 40, 101] {
            let law = NullLaw::signed_rank(pairs);
            for tail in [1e-9, 0.001, 0.025, 0.1, 0.4] {
                let expected = (0..).take_while(|count| law.at_most(*count) <= tail).last();
                assert_eq!(law.most_within(tail), expected, "{pairs}, {tail}");
            }
        }
    }

    #[test]
    fn smallest_signed_rank_levels_are_the_published_ones() {
        // Two-sided level when every pair points the same way: 2/2ⁿ.
        for (pairs, two_sided) in [(5, 0.0625), (6, 0.03125), (7, 0.015625), (8, 0.0078125)] {
            assert_eq!(2.0 * NullLaw::signed_rank(pairs).at_most(0), two_sided);
        }
    }

    #[test]
    fn signed_rank_critical_values_are_the_published_ones() {
        // Wilcoxon's table: largest T with two-sided P ≤ 0.05, and with P ≤ 0.01 (none: no T is small enough).
        let table = [
            (6, Some(0), None),
            (7, Some(2), None),
            (8, Some(3), Some(0)),
            (9, Some(5), Some(1)),
            (10, Some(8), Some(3)),
            (12, Some(13), Some(7)),
            (15, Some(25), Some(15)),
            (20, Some(52), Some(37)),
        ];
        for (pairs, five_percent, one_percent) in table {
            let law = NullLaw::signed_rank(pairs);
            for (level, expected) in [(0.05, five_percent), (0.01, one_percent)] {
                let largest = (0..200).take_while(|&t| 2.0 * law.at_most(t) <= level).last();
                assert_eq!(largest, expected, "{pairs} pairs at {level}");
            }
        }
    }

    #[test]
    fn a_tail_is_what_whole_counts_attain() {
        for (pairs, attained) in [(5, 0.0), (6, 1.0 / 64.0), (7, 3.0 / 128.0), (8, 5.0 / 256.0)] {
            assert_eq!(NullLaw::signed_rank(pairs).attained_tail(0.025), attained);
        }
        let many = NullLaw::signed_rank(100).attained_tail(0.025);
        assert!(many > 0.0247 && many <= 0.025, "{many}");
    }

    #[test]
    fn rank_sum_critical_values_are_the_published_ones() {
        // Mann and Whitney's table: largest U with two-sided P ≤ 0.05.
        let table = [
            (3, 5, Some(0)),
            (4, 4, Some(0)),
            (3, 3, None),
            (5, 5, Some(2)),
            (6, 8, Some(8)),
            (8, 8, Some(13)),
            (10, 10, Some(23)),
            (20, 20, Some(127)),
        ];
        for (m, n, expected) in table {
            for law in [NullLaw::rank_sum(m, n), NullLaw::rank_sum(n, m)] {
                let largest = (0..400).take_while(|&u| 2.0 * law.at_most(u) <= 0.05).last();
                assert_eq!(largest, expected, "{m} against {n}");
            }
        }
    }

    #[test]
    fn laws_are_symmetric_and_sum_to_one() {
        for (law, largest) in [(NullLaw::signed_rank(20), 210), (NullLaw::rank_sum(20, 7), 140)] {
            assert_eq!(law.at_most(largest), 1.0);
            for count in 0..largest {
                let both = law.at_most(count) + law.at_most(largest - count - 1);
                assert!((both - 1.0).abs() < 1e-12, "{count}");
            }
        }
    }

    #[test]
    fn the_approximation_takes_over_without_a_jump() {
        // Exact tail of 21 pairs, counted from the 20-pair law: P₂₁(t) = ½(P₂₀(t) + P₂₀(t - 21)).
        let exact_20 = NullLaw::signed_rank(20);
        let approximate = NullLaw::signed_rank(21);
        assert!(matches!(approximate, NullLaw::Normal { .. }));
        for count in 21..=115 {
            let exact = 0.5 * (exact_20.at_most(count) + exact_20.at_most(count - 21));
            let error = approximate.at_most(count) - exact;
            assert!(error.abs() < 0.004, "{count}: {error}");
            // In the tails that decide at 95 %, it errs on the careful side.
            assert!(exact > 0.025 || error > 0.0, "{count}: {error}");
        }
    }
}
