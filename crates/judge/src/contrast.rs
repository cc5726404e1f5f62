//! Contrasts of cells: weights of the arms of a plan whose sum is 0, applied to the logarithms of what they measured in each block.

use crate::arm_samples::ArmSamples;
use plimsoll_plan::{Arm, Design, Metric, Plan};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contrast {
    /// Weights of the arms of a block, by their indexes: several lists, where blocks have different arms.
    parts: Vec<Vec<(usize, f64)>>,
}

/// What a cell measured in a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CellValue {
    /// The natural logarithm of the value.
    Known(f64),
    /// It failed by its own fault, or there is only a bound.
    Bound,
    Unknown,
}

impl CellValue {
    pub(crate) fn of(
        arms: &[ArmSamples],
        arm: usize,
        point: usize,
        metric: Metric,
        block: u32,
    ) -> Self {
        let samples = arms.get(arm).and_then(|arm| arm.points.get(point));
        let mut samples = samples.into_iter().flatten();
        let Some(sample) = samples.find(|sample| sample.result.block == block) else {
            return Self::Unknown;
        };
        match sample.reading(metric) {
            Some(reading) if reading.at_least => Self::Bound,
            Some(reading) if reading.value > 0.0 => Self::Known(reading.value.ln()),
            Some(_) => Self::Unknown,
            None if sample.is_faulty() => Self::Bound,
            None => Self::Unknown,
        }
    }

    pub(crate) fn known(self) -> Option<f64> {
        match self {
            Self::Known(value) => Some(value),
            Self::Bound | Self::Unknown => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ContrastValues {
    /// For each block of the plan a difference of logarithms, where every cell has a valid value.
    pub(crate) of_block: Vec<Option<f64>>,
    /// Blocks that are left out because a cell failed by its own fault, or has only a bound.
    pub(crate) bounds: usize,
    /// Why there are no values, where that is known beforehand.
    pub(crate) obstacle: Option<String>,
}

impl ContrastValues {
    pub(crate) fn none(blocks: u32, obstacle: String) -> Self {
        Self { of_block: vec![None; blocks as usize], bounds: 0, obstacle: Some(obstacle) }
    }

    pub(crate) fn known(&self) -> Vec<f64> {
        self.of_block.iter().copied().flatten().collect()
    }
}

impl Contrast {
    fn of(weights: Vec<(usize, f64)>) -> Option<Self> {
        (!weights.is_empty()).then(|| Self { parts: vec![weights] })
    }

    /// From one cell to another.
    pub(crate) fn pair(from: usize, to: usize) -> Self {
        Self { parts: vec![vec![(to, 1.0), (from, -1.0)]] }
    }

    /// From one level of a factor to another, on average over the combinations of all other factors that have both. `at` fixes the level of another factor.
    pub(crate) fn change(
        plan: &Plan,
        factor: usize,
        (from, to): (u32, u32),
        at: Option<(usize, u32)>,
    ) -> Option<Self> {
        if plan.design == Design::Screening && at.is_none() {
            let arms: Vec<(usize, &Arm)> = plan.arms.iter().enumerate().collect();
            let halves = arms.chunks((arms.len() / 2).max(1));
            let is_meant = |levels: &[u32]| levels.get(factor) == Some(&to);
            let parts = halves.map(|half| Self::signed(half, is_meant)).collect();
            return Some(Self { parts });
        }
        let mut pairs = Vec::new();
        for mut levels in plan.conditions(&[factor]) {
            if at.is_some_and(|(other, level)| levels.get(other) != Some(&level)) {
                continue;
            }
            levels[factor] = from;
            let one = plan.cell(&levels);
            levels[factor] = to;
            pairs.extend(one.zip(plan.cell(&levels)));
        }
        if pairs.is_empty() && plan.design == Design::Fraction {
            let is_of = |levels: &[u32]| at.is_none_or(|(other, level)| levels[other] == level);
            let arms = plan.arms.iter().enumerate();
            let arms: Vec<_> = arms.filter(|(_, arm)| is_of(&arm.levels)).collect();
            return Self::of(Self::signed(&arms, |levels| levels[factor] == to));
        }
        let weight = 1.0 / pairs.len() as f64;
        let weights = pairs.into_iter().flat_map(|(from, to)| [(to, weight), (from, -weight)]);
        Self::of(weights.collect())
    }

    /// By how much the change of one factor differs between two levels of another, on average over the combinations of all further factors that have all four.
    pub(crate) fn interaction(
        plan: &Plan,
        (factor, (from, to)): (usize, (u32, u32)),
        (other, (low, high)): (usize, (u32, u32)),
    ) -> Option<Self> {
        if plan.design == Design::Fraction {
            let product = |levels: &[u32]| (levels[factor] == to) == (levels[other] == high);
            // A difference of differences is twice a difference of averages.
            let arms: Vec<_> = plan.arms.iter().enumerate().collect();
            let weights = Self::signed(&arms, product).into_iter();
            return Self::of(weights.map(|(arm, weight)| (arm, weight * 2.0)).collect());
        }
        let mut squares = Vec::new();
        for mut levels in plan.conditions(&[factor, other]) {
            let mut cell = |of_factor, of_other| {
                levels[factor] = of_factor;
                levels[other] = of_other;
                plan.cell(&levels)
            };
            let corners = [cell(to, high), cell(from, high), cell(to, low), cell(from, low)];
            if let [Some(a), Some(b), Some(c), Some(d)] = corners {
                squares.push([(a, 1.0), (b, -1.0), (c, -1.0), (d, 1.0)]);
            }
        }
        let share = 1.0 / squares.len() as f64;
        let weights = squares.into_iter().flatten();
        Self::of(weights.map(|(arm, sign)| (arm, sign * share)).collect())
    }

    /// Weights that subtract the average of the other arms from the average of the meant ones, where there are as many of both.
    fn signed(arms: &[(usize, &Arm)], is_meant: impl Fn(&[u32]) -> bool) -> Vec<(usize, f64)> {
        let share = 2.0 / arms.len().max(1) as f64;
        let of = |(index, arm): &(usize, &Arm)| {
            let sign = if is_meant(&arm.levels) { 1.0 } else { -1.0 };
            (*index, sign * share)
        };
        arms.iter().map(of).collect()
    }

    /// By how much the noise of one cell is multiplied in the contrast: root of the sum of the squared weights.
    pub(crate) fn noise(&self) -> f64 {
        let weights = self.parts.first().into_iter().flatten();
        weights.map(|(_, weight)| weight * weight).sum::<f64>().sqrt()
    }

    /// The arms with a weight, by their indexes.
    pub(crate) fn arms(&self) -> Vec<usize> {
        self.parts.iter().flatten().map(|(arm, _)| *arm).collect()
    }

    /// Its values at a point.
    pub(crate) fn values(
        &self,
        arms: &[ArmSamples],
        point: usize,
        metric: Metric,
        blocks: u32,
    ) -> ContrastValues {
        let mut values = ContrastValues::default();
        for block in 0..blocks {
            let (mut value, mut is_bound) = (None, false);
            for part in &self.parts {
                let mut sum = Some(0.0);
                for (arm, weight) in part {
                    let cell = CellValue::of(arms, *arm, point, metric, block);
                    is_bound |= cell == CellValue::Bound;
                    sum = sum.zip(cell.known()).map(|(sum, value)| sum + weight * value);
                }
                value = value.or(sum);
            }
            values.bounds += usize::from(is_bound && value.is_none());
            values.of_block.push(value);
        }
        values
    }
}
