//! How much single values vary, and how well that is known.

use crate::interval::t_quantile;
use crate::null_law::NullLaw;
use crate::summary::standard_deviation;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Tail on each side of the interval of a spread: 95 % lie between.
const TAIL: f64 = 0.025;

/// A standard deviation with the interval in which the true one lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Standard deviation of the values, in their unit.
    pub deviation: f64,
    /// Lower limit of its 95 % interval.
    pub lower: f64,
    /// Upper limit of the interval, in the unit of the samples.
    pub upper: f64,
}

/// Standard deviation s of n values with its 95 % interval; `None` for fewer than two values, or where one is not finite.
///
/// For independent values of a normal law, (n-1)·s²/σ² follows the law of χ² with n-1 degrees of freedom, so that σ lies between s·√((n-1)/χ²(0.975)) and
/// s·√((n-1)/χ²(0.025)). The interval is wide: from 5 values on, σ is known to a factor of 0.6 to 2.9, from 8 on to one of 0.66 to 2.04. It depends on the normal
/// law much more than an interval of a mean does, so a single wild value makes it meaningless.
///
/// ```
/// let spread = plimsoll_stats::spread(&[9.0, 10.0, 11.0, 10.0, 10.0]).unwrap();
/// assert!((spread.deviation - 0.7071).abs() < 1e-4);
/// assert!(spread.lower < spread.deviation && spread.deviation < spread.upper);
/// ```
pub fn spread(values: &[f64]) -> Option<Spread> {
    if !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let deviation = standard_deviation(values)?;
    let degrees = (values.len() - 1) as f64;
    let law = ChiSquared::new(degrees).ok()?;
    let limit = |share: f64| deviation * (degrees / law.inverse_cdf(share)).sqrt();
    Some(Spread { deviation, lower: limit(1.0 - TAIL), upper: limit(TAIL) })
}

/// Smallest difference that a paired comparison of two arms over this many blocks would most likely show (about four times in five), as a difference of logarithms,
/// where the logarithms of each arm's values have this standard deviation and those of the two arms are independent. `None` for fewer blocks than any
/// comparison needs.
///
/// The differences then have the deviation √2·s, and their mean one of √(2/n)·s: so far out by t((1+c)/2) must a mean be for the interval to leave zero out, with
/// c the confidence that the interval of this many blocks attains (96.9 % for 6, where 95 % are wanted), and by t(0.85) more must the truth be for the mean to lie
/// there in about four experiments of five, as in [`Comparison::smallest_visible_change`](crate::Comparison::smallest_visible_change).
pub fn visible_with_spread(deviation: f64, blocks: usize) -> Option<f64> {
    if blocks < crate::FEWEST_BLOCKS || !deviation.is_finite() {
        return None;
    }
    let of_mean = deviation * (2.0 / blocks as f64).sqrt();
    let degrees = blocks - 1;
    let tail = NullLaw::signed_rank(blocks).attained_tail(TAIL);
    Some(of_mean * (t_quantile(1.0 - tail, degrees) + t_quantile(0.85, degrees)))
}

/// Most blocks that are considered.
const MOST_BLOCKS: usize = 100_000;

/// Fewest blocks with which [`visible_with_spread`] is at most this change, a share; `None` where a hundred thousand would not do.
pub fn blocks_to_see(deviation: f64, share: f64) -> Option<usize> {
    let wanted = share.ln_1p();
    let sees =
        |blocks: usize| visible_with_spread(deviation, blocks).is_some_and(|seen| seen <= wanted);
    if !(wanted > 0.0 && sees(MOST_BLOCKS)) {
        return None;
    }
    // What is visible falls with each block, but for steps of the attained confidence among the first.
    if let Some(found) = (crate::FEWEST_BLOCKS..32).find(|blocks| sees(*blocks)) {
        return Some(found);
    }
    let (mut low, mut high) = (31, MOST_BLOCKS);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if sees(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factors_are_those_of_printed_tables() {
        // χ² with 4 degrees: 0.4844 and 11.143; with 7: 1.690 and 16.013; with 1: 0.000982 and 5.024.
        for (count, low, high) in [(5, 11.143, 0.4844), (8, 16.013, 1.690), (2, 5.024, 0.000_982)] {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            let found = spread(&values).unwrap();
            let degrees = f64::from(count - 1);
            let near = |value: f64, table: f64| {
                let expected = found.deviation * (degrees / table).sqrt();
                (value / expected - 1.0).abs() < 1e-3
            };
            assert!(near(found.lower, low), "{count}: {found:?}");
            assert!(near(found.upper, high), "{count}: {found:?}");
        }
    }

    #[test]
    fn equal_values_have_no_spread() {
        let found = spread(&[3.0; 8]).unwrap();
        assert_eq!((found.deviation, found.lower, found.upper), (0.0, 0.0, 0.0));
        assert_eq!(visible_with_spread(0.0, 8), Some(0.0));
    }

    #[test]
    fn too_few_values_have_none() {
        assert_eq!(spread(&[1.0]), None);
        assert_eq!(spread(&[1.0, f64::NAN]), None);
        assert_eq!(visible_with_spread(0.1, 5), None);
    }

    #[test]
    fn as_many_blocks_as_show_it() {
        // 8 blocks show 5.6 % at a spread of 3 %.
        let visible = visible_with_spread(0.03, 8).unwrap().exp_m1();
        assert_eq!(blocks_to_see(0.03, visible + 1e-9), Some(8));
        for share in [0.2, 0.05, 0.02, 0.005] {
            let blocks = blocks_to_see(0.03, share).unwrap();
            assert!(visible_with_spread(0.03, blocks).unwrap() <= share.ln_1p());
            let fewer = visible_with_spread(0.03, blocks - 1);
            assert!(fewer.is_none_or(|seen| seen > share.ln_1p()), "{share}: {blocks}");
        }
        // √(2/n)·3 %·(1.96 + 1.036) = 1 %: n = 2·(0.03·2.996/0.00995)² = 163, and a few more for t.
        let blocks = blocks_to_see(0.03, 0.01).unwrap();
        assert!((163..=168).contains(&blocks), "{blocks}");
        assert_eq!(blocks_to_see(0.0, 0.01), Some(crate::FEWEST_BLOCKS));
        assert_eq!(blocks_to_see(1.0, 1e-6), None);
        assert_eq!(blocks_to_see(0.03, 0.0), None);
    }

    #[test]
    fn eight_blocks_show_what_the_tables_of_t_say() {
        // 8 blocks attain 1 - 10/256: t(0.9805, 7) = 2.53, t(0.85, 7) = 1.119; √(2/8) = 0.5.
        let visible = visible_with_spread(0.03, 8).unwrap();
        assert!((visible - 0.03 * 0.5 * (2.53 + 1.119)).abs() < 1e-4, "{visible}");
    }
}
