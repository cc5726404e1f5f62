//! One number over the blocks.

use crate::distribution::Distribution;
use crate::{Estimate, LatencySummary};
use plimsoll_stats::{FEWEST_BLOCKS, median_interval};

/// Confidence required of every interval.
pub(crate) const CONFIDENCE: f64 = 0.95;

impl Estimate {
    /// Median and interval of (block, value), in order of blocks; values that are not finite are left out.
    ///
    /// The interval is that of order statistics, which holds for values of any law and never leaves its median out: runs may be of two kinds, as with another program beside
    /// some of them. None is given for fewer than 6 values, which cannot attain 95 %.
    pub fn over_blocks(values: impl IntoIterator<Item = (u32, f64)>) -> Self {
        let values: Vec<(u32, f64)> =
            values.into_iter().filter(|(_, value)| value.is_finite()).collect();
        let numbers: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let Ok(found) = median_interval(&numbers, CONFIDENCE) else {
            return Self::default();
        };
        let is_known = numbers.len() >= FEWEST_BLOCKS;
        let interval = is_known.then_some((found.interval.lower, found.interval.upper));
        Self { median: Some(found.value), interval, values }
    }

    /// The least and the greatest value of a block.
    pub fn range(&self) -> Option<(f64, f64)> {
        let values = || self.values.iter().map(|(_, value)| *value);
        Some((values().reduce(f64::min)?, values().reduce(f64::max)?))
    }
}

impl LatencySummary {
    /// Five estimates from one distribution a block; the percentiles must be among those requested.
    pub(crate) fn over_blocks(distributions: &[(u32, &Distribution)]) -> Self {
        let over = |pick: &dyn Fn(&Distribution) -> Option<f64>| {
            let of_block = |(block, one): &(u32, &Distribution)| Some((*block, pick(one)?));
            Estimate::over_blocks(distributions.iter().filter_map(of_block))
        };
        let at = |percentile: f64| over(&|distribution| distribution.percentile(percentile));
        Self {
            mean: over(&|distribution| Some(distribution.mean_ns)),
            p50: at(50.0),
            p95: at(95.0),
            p99: at(99.0),
            p999: at(99.9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(values: &[f64]) -> Estimate {
        Estimate::over_blocks((0..).zip(values.iter().copied()))
    }

    #[test]
    fn six_blocks_have_the_whole_range_as_interval() {
        let estimate = over(&[100.0, 102.0, 98.0, 101.0, 99.0, 103.0]);
        assert_eq!(estimate.median, Some(100.5));
        let (lower, upper) = estimate.interval.unwrap();
        assert!((lower - 98.0).abs() < 1e-9 && (upper - 103.0).abs() < 1e-9);
    }

    /// As beside a program that comes and goes.
    #[test]
    fn the_interval_of_runs_of_two_kinds_holds_their_median() {
        let slow = (0..13).map(|run| 3000.0 + f64::from(run));
        let fast = (0..14).map(|run| 9000.0 + f64::from(run));
        let estimate = over(&slow.chain(fast).collect::<Vec<f64>>());
        let (lower, upper) = estimate.interval.unwrap();
        assert_eq!(estimate.median, Some(9000.0));
        assert!(lower <= 9000.0 && 9000.0 <= upper, "{lower} {upper}");
    }

    #[test]
    fn five_blocks_have_none() {
        assert_eq!(over(&[1.0, 2.0, 3.0, 4.0, 5.0]).interval, None);
    }

    #[test]
    fn no_block_has_no_number() {
        assert_eq!(over(&[]).median, None);
        assert_eq!(over(&[f64::NAN, f64::INFINITY]).median, None);
        assert_eq!(over(&[7.0]).median, Some(7.0));
    }

    #[test]
    fn a_zero_is_a_value_like_any_other() {
        let estimate = over(&[0.0; 8]);
        assert_eq!(estimate.interval, Some((0.0, 0.0)));
    }
}
