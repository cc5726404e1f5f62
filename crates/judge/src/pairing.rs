//! What is compared with what, by the plan alone: the pairs of arms, the metrics that decide, and how many blocks a verdict needs.

use crate::estimate::CONFIDENCE;
use crate::{Analysis, PointResult, ValidityState};
use plimsoll_plan::{Metric, Plan};
use plimsoll_record::{ExperimentRecord, RunState, Severity, WarningId};
use plimsoll_workload::Mix;
use std::collections::{BTreeMap, BTreeSet};

/// Which of two arms of one plan the other is compared with, where the plan compares these two.
pub fn baseline_of<'a>(plan: &'a Plan, one: &str, other: &str) -> Option<&'a str> {
    let names = |[a, b]: [usize; 2]| [plan.arms[a].name.as_str(), plan.arms[b].name.as_str()];
    plan.pairs()
        .into_iter()
        .map(names)
        .find(|pair| *pair == [one, other] || *pair == [other, one])
        .map(|[baseline, _]| baseline)
}

/// Every arm that others are compared with.
pub(crate) fn baselines(plan: &Plan) -> Vec<usize> {
    let pairs = plan.pairs();
    if pairs.is_empty() {
        return vec![plan.baseline()];
    }
    pairs.into_iter().map(|[baseline, _]| baseline).collect()
}

/// Metrics that decide about a mix: those of the file whose operation it has, each once; throughput where the file names none.
pub(crate) fn primaries(plan: &Plan, mix: &Mix) -> Vec<Metric> {
    if plan.compare.primary.is_empty() {
        return vec![Metric::Throughput];
    }
    let mut metrics: Vec<Metric> = Vec::new();
    for metric in &plan.compare.primary {
        let is_in_it = metric.operation().is_none_or(|one| mix.share_of(one) > 0.0);
        if is_in_it && !metrics.contains(metric) {
            metrics.push(*metric);
        }
    }
    metrics
}

/// How many metrics are judged together at most.
pub(crate) fn most_primaries(plan: &Plan) -> usize {
    let of_mixes = plan.mixes.iter().map(|mix| primaries(plan, mix).len());
    of_mixes.max().unwrap_or(1).max(1)
}

/// From how many blocks on every deciding metric can have a verdict: several are judged together, and demand more than one alone. An arm by itself has
/// no verdict, but intervals.
pub(crate) fn fewest_blocks_to_judge(plan: &Plan) -> usize {
    let metrics = if plan.has_several_arms() { most_primaries(plan) } else { 1 };
    plimsoll_stats::fewest_blocks(1.0 - (1.0 - CONFIDENCE) / metrics as f64)
}

/// Blocks to measure again: a gate refused a point of them because of the machine, not because of the arm, and they were measured once. At most as many as are
/// left of the reserve.
pub fn to_repeat(plan: &Plan, analysis: &Analysis, record: &ExperimentRecord) -> Vec<u32> {
    let mut made: BTreeMap<(u32, &str), u32> = BTreeMap::new();
    for run in &record.runs {
        if run.state == RunState::Finished {
            *made.entry((run.block, run.arm.as_str())).or_default() += 1;
        }
    }
    let again = made.iter().filter(|(_, times)| **times > 1);
    let again: BTreeSet<u32> = again.map(|((block, _), _)| *block).collect();
    let left = (plan.measurement.spare() as usize).saturating_sub(again.len());
    let points = analysis.curves.iter().flat_map(|curve| &curve.points);
    let results = points.flat_map(|point| &point.results);
    let is_lost = |one: &&PointResult| {
        let warnings = one.warnings.iter();
        let mut refused = warnings
            .filter(|one| one.severity() == Severity::Invalid)
            .map(|one| OF_THE_MACHINE.contains(&one.id))
            .peekable();
        refused.peek().is_some() && refused.all(|is_of_the_machine| is_of_the_machine)
    };
    let lost: BTreeSet<u32> = results.filter(is_lost).map(|one| one.block).collect();
    lost.difference(&again).copied().take(left).collect()
}

/// Gates that are about the machine, and not about what was measured on it.
const OF_THE_MACHINE: [WarningId; 3] =
    [WarningId::ForeignCpu, WarningId::StolenCpu, WarningId::ClockJumped];

/// Whether comparisons of arms by their blocks decide, and neither effects of factors nor a gate.
pub(crate) fn is_judged_by_blocks(plan: &Plan, has_factors: bool) -> bool {
    plan.has_several_arms() && !has_factors && plan.measurement.gate().is_none()
}

/// Why no verdict is possible: even if all missing blocks are valid, no deciding comparison of arms gets enough of them. `None` while one is possible,
/// and where something else decides: effects of factors, a gate, a control against itself.
pub fn hopeless(plan: &Plan, analysis: &Analysis) -> Option<String> {
    let is_judged_so =
        !plan.against_itself && is_judged_by_blocks(plan, analysis.factors.is_some());
    if !is_judged_so || too_few_blocks(plan).is_some() {
        return None;
    }
    let needed = fewest_blocks_to_judge(plan);
    let complete = plan.blocks_of_a_pair(analysis.progress.blocks_complete) as usize;
    let left = (plan.blocks_of_a_pair(plan.measurement.blocks) as usize).saturating_sub(complete);
    let deciding = analysis.comparisons.iter().filter(|one| one.primary);
    let usable = deciding.filter(|one| one.apart.is_none()).map(|one| one.pairs.len()).max()?;
    let spare = plan.measurement.spare() as usize;
    if complete == 0 || usable + left + spare >= needed {
        return None;
    }
    let mut grave = analysis.validity.iter();
    let grave = grave.find(|entry| entry.state == ValidityState::Bad);
    let because = grave.map_or(String::new(), |entry| format!(" ({}: {})", entry.name, entry.text));
    Some(format!(
        "no verdict is possible: {usable} of {} can be compared{because}, {left} are left, and {needed} are needed",
        crate::words::counted(complete, "block"),
    ))
}

/// Why no verdict is possible whatever is measured, and what would do; `None` where one is, or where nothing is compared.
pub fn too_few_blocks(plan: &Plan) -> Option<String> {
    let blocks = plan.blocks_of_a_pair(plan.measurement.blocks);
    let needed = fewest_blocks_to_judge(plan);
    if !plan.has_several_arms() || plan.against_itself || blocks as usize >= needed {
        return None;
    }
    let blocks = crate::words::counted(blocks as usize, "block");
    let together = match most_primaries(plan) {
        1 => String::new(),
        metrics => format!(" to judge {metrics} metrics together"),
    };
    Some(format!(
        "No verdict is possible with {blocks}: at least {needed} are needed{together}. Write `blocks: {needed}` or more."
    ))
}
