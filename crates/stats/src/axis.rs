//! A factor that is an axis: where the curve over it changes most, and up to where one of two curves keeps up with the other.

use crate::comparison::hodges_lehmann;
use crate::error::StatsError;
use crate::interval::{Estimate, Interval};
use crate::sign_flips::sign_flips;

/// From this ratio of the largest to the smallest level on, distances along the axis are those of the logarithms.
const LOGARITHMIC_FROM: f64 = 8.0;
/// Places between two levels at which a crossing is sought.
const PLACES_OF_A_STEP: usize = 200;

/// The part of an axis in which a curve falls or rises most.
#[derive(Debug, Clone, PartialEq)]
pub struct Cliff {
    /// Indices of the levels between which the steepest step lies at the confidence requested: several steps where it is not known which is steepest.
    pub between: (usize, usize),
    /// Change of the logarithm from the first of these levels to the last, as given: negative is a fall.
    pub change: Estimate,
    /// p of the steepest step, adjusted for all steps.
    pub p: f64,
}

/// Finds the cliff of a curve. `blocks[b][i]` is the logarithm of what was measured in block b at level i; `levels` rise.
///
/// The fall of each step is a contrast of two levels over their distance; a rise is a negative one. The steepest step is the one with the largest estimate (Hodges and
/// Lehmann), up or down. It is a cliff if its change is real ([`sign_flips`] over all steps, at 1 - `confidence`) and at least `margin`, a difference of logarithms. A step from which it does
/// not differ ([`sign_flips`] over all others) belongs to the cliff as well: so the interval holds the steepest step with the confidence requested.
///
/// `None` with fewer than 3 levels, levels that do not rise, or no cliff.
pub fn cliff(levels: &[f64], blocks: &[Vec<f64>], margin: f64, confidence: f64) -> Option<Cliff> {
    let places = places(levels)?;
    let steps = levels.len() - 1;
    let is_whole = |block: &Vec<f64>| {
        block.len() == levels.len() && block.iter().all(|value| value.is_finite())
    };
    if steps < 2 || blocks.is_empty() || !blocks.iter().all(is_whole) {
        return None;
    }
    let slope = |block: &Vec<f64>, step: usize| {
        (block[step] - block[step + 1]) / (places[step + 1] - places[step])
    };
    let column =
        |step: usize| -> Vec<f64> { blocks.iter().map(|block| slope(block, step)).collect() };
    let estimate = |values: &[f64]| hodges_lehmann(values, confidence).map(|one| one.value);
    let mut falls = Vec::with_capacity(steps);
    for step in 0..steps {
        falls.push(estimate(&column(step)).ok()?);
    }
    let steepness = |step: &usize| falls[*step].abs();
    let steepest = (0..steps).max_by(|left, right| steepness(left).total_cmp(&steepness(right)))?;
    let down = falls[steepest].signum();
    let known = |values: Vec<f64>| values.into_iter().map(Some).collect::<Vec<_>>();
    let all: Vec<Vec<Option<f64>>> = (0..steps).map(|step| known(column(step))).collect();
    let p = sign_flips(&all)[steepest];
    if falls[steepest] == 0.0 || p > 1.0 - confidence {
        return None;
    }
    // Which other steps are less steep for certain.
    let others: Vec<usize> = (0..steps).filter(|step| *step != steepest).collect();
    let less = |step: usize| {
        let pairs = blocks.iter().map(|block| down * (slope(block, steepest) - slope(block, step)));
        known(pairs.collect())
    };
    let differ = sign_flips(&others.iter().map(|step| less(*step)).collect::<Vec<_>>());
    let (mut first, mut last) = (steepest, steepest);
    for (step, p) in others.into_iter().zip(differ) {
        if p > 1.0 - confidence {
            first = first.min(step);
            last = last.max(step);
        }
    }
    let between = (first, last + 1);
    let changes: Vec<f64> =
        blocks.iter().map(|block| block[between.1] - block[between.0]).collect();
    let change = hodges_lehmann(&changes, confidence).ok()?;
    (-down * change.value >= margin).then_some(Cliff { between, change, p })
}

/// At which end of an axis one curve keeps up with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepsUp {
    /// The arms differ at the small levels, up to this one.
    UpTo,
    /// The arms differ at the large levels, from this one on.
    From,
}

/// Up to which level one curve keeps up with another, or from which on. `blocks[b][i]` is the logarithm of the ratio of the one to the other in block b at level i, turned so that
/// higher is better for the one; `levels` rise.
///
/// The one keeps up where it is at most `margin` behind, a difference of logarithms. Between two levels each block's ratio lies on the straight line between them. At
/// every place along the axis the blocks give an estimate of the ratio and an interval (Hodges and Lehmann, signed ranks). The crossing is the last place at which the estimate is
/// not below the margin, or the first one; its interval spans the places whose interval holds the margin, which holds the true crossing as often as theirs hold the truth.
/// An end is infinite where the interval reaches the first or the last level; so is the crossing where the one keeps up at the level of the other end, or at none.
///
/// # Errors
/// Fewer than 2 levels, levels that do not rise, no blocks, or a block with another number of values or one that is not finite.
pub fn crossing(
    levels: &[f64],
    blocks: &[Vec<f64>],
    keeps_up: KeepsUp,
    margin: f64,
    confidence: f64,
) -> Result<Estimate, StatsError> {
    let too_few = StatsError::TooFew { what: "levels", needed: 2, got: levels.len() };
    let places = places(levels).ok_or(too_few)?;
    for block in blocks {
        if block.len() != levels.len() || !block.iter().all(|value| value.is_finite()) {
            return Err(StatsError::TooFew {
                what: "values of a block",
                needed: levels.len(),
                got: block.len(),
            });
        }
    }
    let (mut crossed, mut open) = (None, Vec::new());
    let mut attained = 0.0;
    let tried = tried(levels.len());
    for (step, share) in &tried {
        let between = |pair: &[f64]| pair[*step] + share * (pair[*step + 1] - pair[*step]);
        let values: Vec<f64> = blocks.iter().map(|block| between(block)).collect();
        let ratio = hodges_lehmann(&values, confidence)?;
        attained = ratio.interval.confidence;
        let place = between(&places);
        if ratio.value >= -margin {
            crossed = match keeps_up {
                KeepsUp::UpTo => Some(place),
                KeepsUp::From => crossed.or(Some(place)),
            };
        }
        if ratio.interval.lower <= -margin && -margin <= ratio.interval.upper {
            open.push(place);
        }
    }
    let (first, last) = (places[0], places[places.len() - 1]);
    let level = |place: f64| match is_logarithmic(levels) {
        true => place.exp(),
        false => place,
    };
    let value = match (crossed, keeps_up) {
        (None, KeepsUp::UpTo) => f64::NEG_INFINITY,
        (None, KeepsUp::From) => f64::INFINITY,
        (Some(place), KeepsUp::UpTo) if place >= last => f64::INFINITY,
        (Some(place), KeepsUp::From) if place <= first => f64::NEG_INFINITY,
        (Some(place), _) => level(place),
    };
    // If every tried place is decided, the crossing lies between two neighbours.
    let (from, to) = match (open.first(), open.last()) {
        (Some(from), Some(to)) => (*from, *to),
        _ => {
            let nowhere = match keeps_up {
                KeepsUp::UpTo => first,
                KeepsUp::From => last,
            };
            (crossed.unwrap_or(nowhere), crossed.unwrap_or(nowhere))
        }
    };
    Ok(Estimate {
        value,
        interval: Interval {
            lower: if from <= first { f64::NEG_INFINITY } else { level(from) },
            upper: if to >= last { f64::INFINITY } else { level(to) },
            confidence: attained,
        },
    })
}

/// The step of a curve that changes most for its length along the axis: its index, and its change. `values` are logarithms; `levels` rise. `None` where nothing changes, or
/// the levels do not rise.
pub fn steepest_step(levels: &[f64], values: &[f64]) -> Option<(usize, f64)> {
    let places = places(levels)?;
    let changes = values.windows(2).map(|pair| pair[1] - pair[0]);
    let steps = places.windows(2).zip(changes);
    let slopes = steps.map(|(ends, change)| ((change / (ends[1] - ends[0])).abs(), change));
    let steepest = slopes.enumerate().max_by(|left, right| left.1.0.total_cmp(&right.1.0));
    let (step, (slope, change)) = steepest?;
    (slope > 0.0).then_some((step, change))
}

/// Places along the axis: the step, and the share of the way to its other level.
fn tried(levels: usize) -> Vec<(usize, f64)> {
    let mut tried = vec![(0, 0.0)];
    for step in 0..levels - 1 {
        let shares = (1..=PLACES_OF_A_STEP).map(|place| place as f64 / PLACES_OF_A_STEP as f64);
        tried.extend(shares.map(|share| (step, share)));
    }
    tried
}

/// Whether distances between these levels are those of their logarithms: they are positive, and the largest is at least 8 times the smallest.
pub fn is_logarithmic(levels: &[f64]) -> bool {
    match (levels.first(), levels.last()) {
        (Some(first), Some(last)) => *first > 0.0 && last / first >= LOGARITHMIC_FROM,
        _ => false,
    }
}

/// Places of the levels along the axis; `None` where they do not rise.
fn places(levels: &[f64]) -> Option<Vec<f64>> {
    let rises = |pair: &[f64]| pair[0] < pair[1] && pair[0].is_finite() && pair[1].is_finite();
    if levels.len() < 2 || !levels.windows(2).all(rises) {
        return None;
    }
    let place = |level: &f64| match is_logarithmic(levels) {
        true => level.ln(),
        false => *level,
    };
    Some(levels.iter().map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [f64; 4] = [0.92, 1.38, 1.82, 2.30];

    fn blocks(curve: [f64; 4], noise: f64) -> Vec<Vec<f64>> {
        let shake = |block: usize, level: usize| ((block * 5 + level * 3) % 7) as f64 - 3.0;
        let of = |block: usize| {
            let value = |(level, middle): (usize, &f64)| middle + noise * shake(block, level);
            curve.iter().enumerate().map(value).collect()
        };
        (0..8).map(of).collect()
    }

    #[test]
    fn the_cliff_is_the_steepest_step() {
        let found = cliff(&LEVELS, &blocks([9.0, 8.9, 6.0, 5.8], 0.01), 0.03, 0.95).unwrap();
        assert_eq!(found.between, (1, 2));
        assert!((found.change.value + 2.9).abs() < 0.05);
        // Upwards the same.
        let found = cliff(&LEVELS, &blocks([5.8, 6.0, 8.9, 9.0], 0.01), 0.03, 0.95).unwrap();
        assert_eq!(found.between, (1, 2));
        assert!((found.change.value - 2.9).abs() < 0.05);
        // Two steps as steep as each other are one cliff.
        let slope = 3.0;
        let curve = [9.0, 9.0 - slope * 0.46, 9.0 - slope * 0.90, 9.0 - slope * 0.91];
        let found = cliff(&LEVELS, &blocks(curve, 0.01), 0.03, 0.95).unwrap();
        assert_eq!(found.between, (0, 2));
    }

    #[test]
    fn a_flat_curve_has_no_cliff() {
        assert_eq!(cliff(&LEVELS, &blocks([9.0; 4], 0.01), 0.03, 0.95), None);
        // Real, and too small to matter.
        assert_eq!(cliff(&LEVELS, &blocks([9.0, 9.0, 8.99, 8.99], 1e-5), 0.03, 0.95), None);
        assert_eq!(cliff(&[1.0, 2.0], &vec![vec![2.0, 1.0]; 8], 0.03, 0.95), None);
        assert_eq!(cliff(&[2.0, 1.0, 3.0], &vec![vec![2.0, 1.0, 0.0]; 8], 0.03, 0.95), None);
    }

    #[test]
    fn the_crossing_is_where_the_line_goes_through_the_margin() {
        // From 0 at 138 % to -1 at 182 %: the margin of 0.25 is a quarter of the way.
        let mut blocks = blocks([0.0, 0.0, -1.0, -2.0], 1e-4);
        let found = crossing(&LEVELS, &blocks, KeepsUp::UpTo, 0.25, 0.95).unwrap();
        assert!((found.value - 1.49).abs() < 0.003, "{found:?}");
        assert!(found.interval.lower > 1.48 && found.interval.upper < 1.50);
        // A level that dips in some blocks is no crossing, as long as most of them keep up.
        blocks[0][0] = -0.5;
        let found = crossing(&LEVELS, &blocks, KeepsUp::UpTo, 0.25, 0.95).unwrap();
        assert!((found.value - 1.49).abs() < 0.003, "{found:?}");
    }

    #[test]
    fn turned_round_the_crossing_is_the_same() {
        let mut ratios = blocks([0.0, 0.0, -1.0, -2.0], 1e-4);
        let up_to = crossing(&LEVELS, &ratios, KeepsUp::UpTo, 0.25, 0.95).unwrap();
        let turned: Vec<f64> = LEVELS.iter().rev().map(|level| -level).collect();
        ratios.iter_mut().for_each(|block| block.reverse());
        let from = crossing(&turned, &ratios, KeepsUp::From, 0.25, 0.95).unwrap();
        assert!((up_to.value + from.value).abs() < 0.003, "{from:?}");
        assert!((up_to.interval.lower + from.interval.upper).abs() < 0.003);
        assert!((up_to.interval.upper + from.interval.lower).abs() < 0.003);
        let never = crossing(&LEVELS, &vec![vec![-1.0; 4]; 8], KeepsUp::From, 0.0, 0.95);
        assert_eq!(never.unwrap().value, f64::INFINITY);
        let always = crossing(&LEVELS, &vec![vec![0.1; 4]; 8], KeepsUp::From, 0.0, 0.95);
        assert_eq!(always.unwrap().value, f64::NEG_INFINITY);
    }

    #[test]
    fn the_steepest_step_is_that_of_the_most_change_for_its_length() {
        let levels = [1.0, 2.0, 4.0];
        assert_eq!(steepest_step(&levels, &[3.0, 2.0, 0.5]), Some((0, -1.0)));
        assert_eq!(steepest_step(&levels, &[1.0, 1.5, 3.5]), Some((1, 2.0)));
        assert_eq!(steepest_step(&levels, &[1.0; 3]), None);
        assert_eq!(steepest_step(&[2.0, 1.0], &[1.0, 0.5]), None);
    }

    #[test]
    fn a_curve_that_keeps_up_or_never_does_crosses_beyond_the_levels() {
        let ahead = crossing(&LEVELS, &vec![vec![0.1; 4]; 8], KeepsUp::UpTo, 0.0, 0.95).unwrap();
        assert_eq!(ahead.value, f64::INFINITY);
        let behind = crossing(&LEVELS, &vec![vec![-1.0; 4]; 8], KeepsUp::UpTo, 0.0, 0.95).unwrap();
        assert_eq!(behind.value, f64::NEG_INFINITY);
        // Not certain at the first level: the crossing may lie before it.
        let unclear =
            crossing(&LEVELS, &blocks([-0.02, -0.5, -1.0, -1.5], 0.02), KeepsUp::UpTo, 0.03, 0.95);
        assert_eq!(unclear.unwrap().interval.lower, f64::NEG_INFINITY);
        assert!(crossing(&[1.0], &[vec![1.0]], KeepsUp::UpTo, 0.0, 0.95).is_err());
        assert!(crossing(&LEVELS, &[vec![1.0]], KeepsUp::UpTo, 0.0, 0.95).is_err());
        assert!(crossing(&LEVELS, &[], KeepsUp::UpTo, 0.0, 0.95).is_err());
    }

    #[test]
    fn far_apart_levels_are_on_a_logarithmic_axis() {
        let halfway = vec![vec![1.0, -1.0]; 6];
        let found = crossing(&[1.0, 100.0], &halfway, KeepsUp::UpTo, 0.0, 0.95).unwrap();
        assert!((found.value - 10.0).abs() < 0.3, "{found:?}");
        assert!(!is_logarithmic(&LEVELS) && !is_logarithmic(&[0.0, 100.0]));
    }
}
