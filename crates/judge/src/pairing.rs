//! What is compared with what, by the plan alone: the pairs of arms, the metrics that decide, and how many blocks a verdict needs.

use crate::estimate::CONFIDENCE;
use plimsoll_plan::{Metric, Plan};

/// Index of the arm that the others are compared with: the one named, or the first.
fn baseline(plan: &Plan) -> usize {
    plan.arms
        .iter()
        .position(|arm| arm.name == plan.compare.baseline)
        .unwrap_or(0)
}

/// Baseline and other arm of each comparison, by their places in the plan: those that the file names, or every other arm with the baseline; where the arms are
/// cells of a grid only those that the plan names. A pair that names
/// an arm which the plan does not have, or one arm twice, is left out.
pub(crate) fn pairs(plan: &Plan) -> Vec<[usize; 2]> {
    let named = |name: &str| plan.arms.iter().position(|arm| arm.name == name);
    let mut pairs = Vec::new();
    if plan.compare.pairs.is_empty() && plan.factors.is_empty() {
        let baseline = baseline(plan);
        for arm in 0..plan.arms.len() {
            if arm != baseline {
                pairs.push([baseline, arm]);
            }
        }
        return pairs;
    }
    for (baseline, other) in &plan.compare.pairs {
        if let (Some(baseline), Some(other)) = (named(baseline), named(other))
            && baseline != other
            && !pairs.contains(&[baseline, other])
        {
            pairs.push([baseline, other]);
        }
    }
    pairs
}

/// Which of two arms of one plan the other is compared with, where the plan compares these two.
#[must_use]
pub fn baseline_of<'a>(plan: &'a Plan, one: &str, other: &str) -> Option<&'a str> {
    let names = |[a, b]: [usize; 2]| [plan.arms[a].name.as_str(), plan.arms[b].name.as_str()];
    pairs(plan)
        .into_iter()
        .map(names)
        .find(|pair| *pair == [one, other] || *pair == [other, one])
        .map(|[baseline, _]| baseline)
}

/// Every arm that others are compared with.
pub(crate) fn baselines(plan: &Plan) -> Vec<usize> {
    if pairs(plan).is_empty() {
        return vec![baseline(plan)];
    }
    pairs(plan)
        .into_iter()
        .map(|[baseline, _]| baseline)
        .collect()
}

/// Metrics that decide: those of the file, each once; throughput where it names none.
pub(crate) fn primaries(plan: &Plan) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = Vec::new();
    for metric in &plan.compare.primary {
        if !metrics.contains(metric) {
            metrics.push(*metric);
        }
    }
    if metrics.is_empty() {
        metrics.push(Metric::Throughput);
    }
    metrics
}

/// From how many blocks on every deciding metric can have a verdict: several are judged together, and demand more than one alone. An arm by itself has
/// no verdict, but intervals.
pub(crate) fn fewest_blocks_to_judge(plan: &Plan) -> usize {
    let metrics = if plan.arms.len() > 1 {
        primaries(plan).len()
    } else {
        1
    };
    plimsoll_stats::fewest_blocks(1.0 - (1.0 - CONFIDENCE) / metrics as f64)
}

/// Why no verdict is possible whatever is measured, and what would do; `None` where one is, or where nothing is compared.
#[must_use]
pub fn too_few_blocks(plan: &Plan) -> Option<String> {
    let (blocks, needed) = (plan.measurement.blocks, fewest_blocks_to_judge(plan));
    if plan.arms.len() < 2 || plan.against_itself || blocks as usize >= needed {
        return None;
    }
    let blocks = crate::words::counted(blocks as usize, "block");
    let together = match primaries(plan).len() {
        1 => String::new(),
        metrics => format!(" to judge {metrics} metrics together"),
    };
    Some(format!(
        "No verdict is possible with {blocks}: at least {needed} are needed{together}. Write `blocks: {needed}` or more."
    ))
}
