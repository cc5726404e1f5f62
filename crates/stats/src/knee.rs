//! Where more load stops to pay: the knee of a curve, with its interval over blocks.

use serde::{Deserialize, Serialize};

use crate::error::{StatsError, check_positive};
use crate::interval::{Interval, median_interval};

/// A gain below this share over two points means that the curve has bent.
const STILL_CLIMBING: f64 = 0.02;

/// One point of a curve of one block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LoadPoint {
    /// Sessions, or offered operations per second.
    pub load: f64,
    /// Operations completed per second at this load.
    pub throughput_per_second: f64,
    /// Mean response time in nanoseconds.
    pub mean_response_ns: f64,
}

/// Index of the point of greatest power, throughput divided by mean response time (Kleinrock, 1979). Of equal maxima the lowest load wins.
///
/// To the left of it a little more load buys more throughput than it costs in response time, in proportion; to the right it costs more. For one
/// M/M/1 server it lies at half of the capacity. `None` for an empty curve. At the first or last point the true maximum may lie outside of the sweep.
///
/// # Errors
/// Loads that do not rise strictly, or figures that are not above zero.
pub fn power_knee(curve: &[LoadPoint]) -> Result<Option<usize>, StatsError> {
    check_curve(curve)?;
    let mut best = None;
    let mut greatest = 0.0;
    for (index, point) in curve.iter().enumerate() {
        let power = point.throughput_per_second / point.mean_response_ns;
        if power > greatest {
            greatest = power;
            best = Some(index);
        }
    }
    Ok(best)
}

/// A knee found in every block on its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// The middle one of the blocks' knees (the lower of two middle ones): always a load that was measured.
    pub load: f64,
    /// Interval of the median from order statistics; its limits are loads that were measured.
    pub interval: Interval,
    /// Blocks that have a knee.
    pub blocks: usize,
    /// Blocks without a knee: their curve is empty.
    pub blocks_without: usize,
    /// Blocks whose knee is the first point of their curve: it may lie lower.
    pub blocks_at_first: usize,
    /// Blocks whose knee is the last point of their curve: it may lie higher.
    pub blocks_at_last: usize,
}

/// Finds the knee of each block's curve and summarises them; `None` when no block has one.
///
/// The interval is that of [`median_interval`]. It speaks of the knee on the grid of loads that was measured: a knee between two points shows as one or
/// the other, or as both ends of the interval.
///
/// # Errors
/// As [`power_knee`], or a confidence outside (0, 1).
pub fn knee(curves: &[Vec<LoadPoint>], confidence: f64) -> Result<Option<Knee>, StatsError> {
    let mut knees = Vec::with_capacity(curves.len());
    let (mut blocks_at_first, mut blocks_at_last) = (0, 0);
    for curve in curves {
        let Some(index) = power_knee(curve)? else {
            continue;
        };
        knees.push(curve[index].load);
        blocks_at_first += usize::from(index == 0);
        blocks_at_last += usize::from(index + 1 == curve.len());
    }
    if knees.is_empty() {
        return Ok(None);
    }
    knees.sort_unstable_by(f64::total_cmp);
    Ok(Some(Knee {
        load: knees[(knees.len() - 1) / 2],
        interval: median_interval(&knees, confidence)?.interval,
        blocks: knees.len(),
        blocks_without: curves.len() - knees.len(),
        blocks_at_first,
        blocks_at_last,
    }))
}

/// Whether a sweep has gone far enough: the last two points together brought less than 2 % over the best point before them. Throughputs in rising
/// order of load; fewer than three points have never bent.
///
/// ```
/// assert!(!plimsoll_stats::has_bent(&[100.0, 190.0, 350.0, 600.0]));
/// assert!(plimsoll_stats::has_bent(&[100.0, 190.0, 350.0, 355.0, 352.0]));
/// ```
pub fn has_bent(throughput: &[f64]) -> bool {
    if throughput.len() < 3 {
        return false;
    }
    let (before, last_two) = throughput.split_at(throughput.len() - 2);
    let best_before = before.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    last_two.iter().all(|&value| value < best_before * (1.0 + STILL_CLIMBING))
}

/// Whether throughput still climbs at the last point of a sweep: that point alone brought 2 % or more over the best one before it. Throughputs in
/// rising order of load; of fewer than two points nothing is known.
///
/// ```
/// assert!(plimsoll_stats::still_climbs(&[100.0, 190.0, 350.0]));
/// assert!(!plimsoll_stats::still_climbs(&[100.0, 190.0, 185.0]));
/// ```
pub fn still_climbs(throughput: &[f64]) -> bool {
    let Some((last, before)) = throughput.split_last() else {
        return false;
    };
    let best_before = before.iter().copied().reduce(f64::max);
    best_before.is_some_and(|best| *last >= best * (1.0 + STILL_CLIMBING))
}

fn check_curve(curve: &[LoadPoint]) -> Result<(), StatsError> {
    let column = |pick: fn(&LoadPoint) -> f64| -> Vec<f64> { curve.iter().map(pick).collect() };
    let loads = column(|point| point.load);
    check_positive("load", &loads)?;
    check_positive("throughput", &column(|point| point.throughput_per_second))?;
    check_positive("mean response", &column(|point| point.mean_response_ns))?;
    match loads.windows(2).position(|pair| pair[1] <= pair[0]) {
        Some(index) => Err(StatsError::NotRising { index: index + 1 }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_err;
    use proptest::prelude::*;

    /// One M/M/1 server of 1,000 op/s, offered 100, 200, ... 900: the mean response is 1/(capacity - rate).
    fn single_server() -> Vec<LoadPoint> {
        (1..10)
            .map(|i| {
                let rate = f64::from(i) * 100.0;
                LoadPoint {
                    load: rate,
                    throughput_per_second: rate,
                    mean_response_ns: 1e9 / (1000.0 - rate),
                }
            })
            .collect()
    }

    /// A closed loop on a server with `limit` places: throughput rises to there, then only the response time does.
    fn closed_loop(limit: f64, loads: &[f64]) -> Vec<LoadPoint> {
        loads
            .iter()
            .map(|&load| {
                let throughput_per_second = 1000.0 * load.min(limit);
                LoadPoint {
                    load,
                    throughput_per_second,
                    mean_response_ns: load / throughput_per_second * 1e9,
                }
            })
            .collect()
    }

    #[test]
    fn a_single_server_has_its_knee_at_half_of_its_capacity() {
        let curve = single_server();
        assert_eq!(curve[power_knee(&curve).unwrap().unwrap()].load, 500.0);
    }

    #[test]
    fn a_closed_loop_has_its_knee_where_the_places_are_full() {
        let curve = closed_loop(8.0, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        assert_eq!(curve[power_knee(&curve).unwrap().unwrap()].load, 8.0);
    }

    #[test]
    fn the_interval_spans_the_knees_of_the_blocks() {
        let loads = [1.0, 2.0, 4.0, 8.0, 16.0];
        let curves: Vec<_> =
            [4.0, 4.0, 8.0, 4.0, 8.0, 4.0].iter().map(|&n| closed_loop(n, &loads)).collect();
        let found = knee(&curves, 0.95).unwrap().unwrap();
        assert_eq!(found.load, 4.0);
        assert_eq!(found.interval.lower, 4.0);
        assert_eq!(found.interval.upper, 8.0);
        assert!((found.interval.confidence - 0.96875).abs() < 1e-12);
        assert_eq!(found.blocks, 6);
        assert_eq!(found.blocks_without, 0);
        assert_eq!(found.blocks_at_first, 0);
        assert_eq!(found.blocks_at_last, 0);
    }

    #[test]
    fn a_curve_that_never_bends_has_its_knee_at_the_last_point_and_says_so() {
        let curves = vec![closed_loop(64.0, &[1.0, 2.0, 4.0, 8.0])];
        let found = knee(&curves, 0.95).unwrap().unwrap();
        assert_eq!((found.load, found.blocks_at_last), (8.0, 1));
        assert_eq!(knee(&[], 0.95).unwrap(), None);
    }

    #[test]
    fn one_point_past_the_peak_is_not_yet_a_bend() {
        assert!(!has_bent(&[10.0, 100.0, 50.0]));
        assert!(has_bent(&[10.0, 100.0, 50.0, 40.0]));
        assert!(!has_bent(&[100.0, 101.5, 103.0]));
        assert!(has_bent(&[100.0, 101.5, 101.9]));
        assert!(!has_bent(&[100.0, 50.0]));
    }

    #[test]
    fn bad_input_is_refused() {
        let mut curve = single_server();
        curve.swap(2, 3);
        assert_eq!(power_knee(&curve), Err(StatsError::NotRising { index: 3 }));
        let dead = [LoadPoint { load: 1.0, throughput_per_second: 0.0, mean_response_ns: 1.0 }];
        assert_err!(power_knee(&dead), StatsError::NotPositive { .. });
    }

    proptest! {
        #[test]
        fn the_unit_of_time_does_not_matter(
            figures in prop::collection::vec((1.0..1e6_f64, 1.0..1e6_f64), 1..12),
            power_of_two in -20..20,
        ) {
            let curve = |unit: f64| -> Vec<LoadPoint> {
                figures.iter().enumerate().map(|(index, &(x, r))| LoadPoint {
                    load: (index + 1) as f64,
                    throughput_per_second: x / unit,
                    mean_response_ns: r * unit,
                }).collect()
            };
            prop_assert_eq!(power_knee(&curve(1.0)), power_knee(&curve(2.0_f64.powi(power_of_two))));
        }
    }
}
