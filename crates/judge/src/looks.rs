//! How wide the intervals are, and how many blocks make them narrow enough.

use crate::estimate::CONFIDENCE;
use crate::select::as_u32;
use crate::{Analysis, BlocksNeeded, Comparison, Undisturbed};
use plimsoll_plan::{Looks, Metric, Plan};

/// Blocks below which a pilot says too little about the spread.
const FEWEST_OF_A_PILOT: usize = 5;

/// One for each deciding comparison over blocks, also where there is nothing to compare yet.
pub(crate) fn blocks_needed(plan: &Plan, comparisons: &[Comparison]) -> Vec<BlocksNeeded> {
    let requested = plan.measurement.looks.and_then(|looks| looks.half_width);
    let mut needed = Vec::new();
    for comparison in comparisons.iter().filter(|one| one.primary) {
        if comparison.apart.is_some() {
            continue;
        }
        let half_width = requested.unwrap_or(comparison.verdict.margin);
        let blocks = if comparison.pairs.len() < FEWEST_OF_A_PILOT || comparison.bounds > 0 {
            None
        } else {
            let (a, b) = sides(comparison);
            plimsoll_stats::blocks_needed(&a, &b, half_width, CONFIDENCE).ok()
        };
        let reached = reached(comparison);
        // The estimate is rough. If the existing blocks were not enough, at least one more is needed.
        let done = comparison.pairs.len();
        let is_wide = reached.is_none_or(|reached| reached > half_width);
        let blocks = blocks.map(|blocks| {
            let judged = if is_wide { blocks.max(done + 1) } else { blocks };
            to_be_made(comparison, judged)
        });
        needed.push(BlocksNeeded {
            baseline: comparison.baseline.clone(),
            arm: comparison.arm.clone(),
            mix: comparison.mix.clone(),
            metric: comparison.metric,
            half_width,
            reached,
            blocks: blocks.map(as_u32),
        });
    }
    needed.append(&mut without_comparison(plan, comparisons, requested));
    needed
}

/// How many blocks have to be made for so many that are judged: other programs may disturb some.
fn to_be_made(comparison: &Comparison, judged: usize) -> usize {
    match comparison.undisturbed {
        Some(Undisturbed { blocks, of, .. }) if blocks > 0 => {
            (judged * of as usize).div_ceil(blocks as usize)
        }
        _ => judged,
    }
}

/// Deciding metrics of a pair and mix that cannot be compared yet: nothing is known of their intervals.
fn without_comparison(
    plan: &Plan,
    comparisons: &[Comparison],
    requested: Option<f64>,
) -> Vec<BlocksNeeded> {
    let mut missing = Vec::new();
    for mix in &plan.mixes {
        for [baseline, arm] in plan.pairs() {
            let (baseline, arm) = (&plan.arms[baseline].name, &plan.arms[arm].name);
            for metric in crate::pairing::primaries(plan, mix) {
                let is_it = |one: &Comparison| {
                    // Where nothing but the line was measured, it stands for throughput.
                    let stands_for = one.metric == Metric::Line && metric == Metric::Throughput;
                    (one.metric == metric || stands_for)
                        && one.primary
                        && one.mix == mix.name
                        && one.baseline == *baseline
                        && one.arm == *arm
                };
                if comparisons.iter().any(is_it) {
                    continue;
                }
                let margin = crate::comparison::rule(plan, metric).margin();
                missing.push(BlocksNeeded {
                    baseline: baseline.clone(),
                    arm: arm.clone(),
                    mix: mix.name.clone(),
                    metric,
                    half_width: requested.unwrap_or(margin),
                    reached: None,
                    blocks: None,
                });
            }
        }
    }
    missing
}

/// Whether every deciding comparison has an interval that is narrow enough: checked after a block where the file allows to end early.
///
/// Only widths are looked at, never where an interval lies, so that ending here favours no result. So each comparison is taken by itself at 95 %: the confidence
/// that several of them demand together depends on which of them is clearest.
pub fn sharp(analysis: &Analysis, looks: &Looks) -> bool {
    let is_sharp = |one: &BlocksNeeded| {
        let half_width = looks.half_width.unwrap_or(one.half_width);
        one.reached.is_some_and(|reached| reached <= half_width)
    };
    !analysis.blocks_needed.is_empty() && analysis.blocks_needed.iter().all(is_sharp)
}

/// Half of the width of the 95 % interval of the logarithms, as a share; `None` where no interval attains that, or values are only bounds.
fn reached(comparison: &Comparison) -> Option<f64> {
    let (a, b) = sides(comparison);
    if comparison.bounds > 0 {
        return None;
    }
    if a.len() < plimsoll_stats::FEWEST_BLOCKS {
        return None;
    }
    // Failures that neither arm has are known as well as can be.
    if a.iter().chain(&b).all(|value| *value == 0.0) {
        return Some(0.0);
    }
    let compared = plimsoll_stats::Comparison::paired(&a, &b).ok()?;
    let interval = compared.ln_ratio(CONFIDENCE).ok()?.interval;
    Some(((interval.upper - interval.lower) / 2.0).exp_m1())
}

fn sides(comparison: &Comparison) -> (Vec<f64>, Vec<f64>) {
    if comparison.judged.is_empty() {
        return comparison.pairs.iter().map(|(_, a, b)| (*a, *b)).unzip();
    }
    comparison.judged.iter().copied().unzip()
}
