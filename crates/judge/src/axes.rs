//! Factors that are axes: where the curve over one changes most, and up to where a level of another factor keeps up with its baseline.

use crate::arm_samples::ArmSamples;
use crate::comparison::rule;
use crate::contrast::CellValue;
use crate::effects::{Place, change_in_words, described, signed};
use crate::estimate::CONFIDENCE;
use crate::factor_results::{CliffResult, CrossingResult, Effect, EffectKind};
use crate::select::as_u32;
use crate::sentence::capitalised;
use crate::{Judgement, words};
use plimsoll_plan::{Metric, Plan};
use plimsoll_stats::{KeepsUp, cliff, crossing};

/// The levels of an axis in rising order: (index, amount).
pub(crate) fn rising(plan: &Plan, axis: usize) -> Option<Vec<(u32, f64)>> {
    let amounts = plan.factors[axis].axis()?;
    let mut levels: Vec<(u32, f64)> = (0..).zip(amounts).collect();
    levels.sort_by(|(_, left), (_, right)| left.total_cmp(right));
    Some(levels)
}

/// What was measured along an axis in each block in which all of its cells have a value: logarithms, turned so that higher is better. `None` where a cell is not
/// part of the experiment.
fn along(
    plan: &Plan,
    arms: &[ArmSamples],
    axis: &[(u32, f64)],
    cell: impl Fn(u32) -> Option<usize>,
    (_, metric, point): Place,
) -> Option<Vec<Option<Vec<f64>>>> {
    let cells: Option<Vec<usize>> = axis.iter().map(|(level, _)| cell(*level)).collect();
    let cells = cells?;
    let value = |arm: usize, block: u32| {
        let value = CellValue::of(arms, arm, point, metric, block).known()?;
        Some(metric.direction().sign() * value)
    };
    let blocks = 0..plan.measurement.blocks;
    Some(blocks.map(|block| cells.iter().map(|arm| value(*arm, block)).collect()).collect())
}

/// Smallest difference of logarithms that matters.
pub(crate) fn margin(plan: &Plan, metric: Metric) -> f64 {
    rule(plan, metric).margin().ln_1p()
}

/// The cliffs of every axis, in every combination of the other factors' levels.
pub(crate) fn cliffs(plan: &Plan, arms: &[ArmSamples], places: &[Place]) -> Vec<CliffResult> {
    let mut found = Vec::new();
    for place in places.iter().copied() {
        for axis in 0..plan.factors.len() {
            let Some(levels) = rising(plan, axis) else {
                continue;
            };
            for condition in plan.conditions(&[axis]) {
                let cell = |level: u32| {
                    let mut cell = condition.clone();
                    cell[axis] = level;
                    plan.cell(&cell)
                };
                let Some(blocks) = along(plan, arms, &levels, cell, place) else {
                    continue;
                };
                let blocks: Vec<Vec<f64>> = blocks.into_iter().flatten().collect();
                let amounts: Vec<f64> = levels.iter().map(|(_, amount)| *amount).collect();
                let metric = place.1;
                let Some(one) = cliff(&amounts, &blocks, margin(plan, metric), CONFIDENCE) else {
                    continue;
                };
                let name = |index: usize| plan.factors[axis].level(levels[index].0).to_owned();
                let between = (name(one.between.0), name(one.between.1));
                let share = |value: f64| (metric.direction().sign() * value).exp_m1();
                let ends = (share(one.change.interval.lower), share(one.change.interval.upper));
                let interval = (one.change.interval.confidence >= CONFIDENCE)
                    .then(|| (ends.0.min(ends.1), ends.0.max(ends.1)));
                let within = plan.condition_in_words(&condition, &[axis]);
                let described = described(plan, place);
                let of = if within.is_empty() { String::new() } else { format!(" of {within}") };
                let change = share(one.change.value);
                let verb = if change < 0.0 { "falls" } else { "rises" };
                // Between the ends of the axis, "most" would say nothing.
                let (most, rest) = match one.between == (0, levels.len() - 1) {
                    true => ("", "; where most, is not certain"),
                    false => (" most", ""),
                };
                let sentence = format!(
                    "{}{of} {verb}{most} between {} {} and {} under workload {} at {}: {}{rest}.",
                    capitalised(&words::metric(metric)),
                    plan.factors[axis].name,
                    between.0,
                    between.1,
                    described.mix,
                    described.load_label,
                    signed(change, interval),
                );
                found.push(CliffResult {
                    place: described,
                    axis: plan.factors[axis].name.clone(),
                    within,
                    between,
                    change,
                    interval,
                    sentence,
                });
            }
        }
    }
    found
}

/// Where levels of the compared factor stop to keep up with its baseline, or begin to, along each axis that is another factor. Only where it is behind for certain at
/// one end of the axis and not at the other.
pub(crate) fn crossings(
    plan: &Plan,
    arms: &[ArmSamples],
    places: &[Place],
    effects: &[Effect],
) -> Vec<CrossingResult> {
    let mut found = Vec::new();
    let Some(compared) = plan.compared_factor() else {
        return found;
    };
    let baseline = plan.factors[compared].baseline();
    for place in places.iter().copied() {
        for axis in (0..plan.factors.len()).filter(|axis| *axis != compared) {
            let Some(levels) = rising(plan, axis) else {
                continue;
            };
            for level in 0..as_u32(plan.factors[compared].levels.len()) {
                if level == baseline {
                    continue;
                }
                for condition in plan.conditions(&[axis, compared]) {
                    let ends = (place, axis, (baseline, level), condition.as_slice());
                    found.extend(one_crossing(plan, arms, effects, &levels, ends));
                }
            }
        }
    }
    found
}

fn one_crossing(
    plan: &Plan,
    arms: &[ArmSamples],
    effects: &[Effect],
    levels: &[(u32, f64)],
    (place, axis, (baseline, level), condition): (Place, usize, (u32, u32), &[u32]),
) -> Option<CrossingResult> {
    let compared = plan.compared_factor()?;
    let described = described(plan, place);
    let change = change_in_words(plan, compared, (baseline, level));
    let cell = |of_axis: u32, of_compared: u32| {
        let mut cell = condition.to_vec();
        cell[axis] = of_axis;
        cell[compared] = of_compared;
        cell
    };
    let is_behind = |of_axis: u32| {
        let within = plan.condition_in_words(&cell(of_axis, level), &[compared]);
        let is_it = |effect: &&Effect| {
            effect.kind == EffectKind::Simple
                && effect.place == described
                && effect.change == change
                && effect.within.as_deref() == Some(within.as_str())
        };
        let effect = effects.iter().find(is_it)?;
        Some(effect.verdict.judgement == Judgement::Worse)
    };
    let (first, last) = (levels.first()?, levels.last()?);
    let keeps_up = match (is_behind(first.0)?, is_behind(last.0)?) {
        (false, true) => KeepsUp::UpTo,
        (true, false) => KeepsUp::From,
        _ => return None,
    };
    let ours = along(plan, arms, levels, |of_axis| plan.cell(&cell(of_axis, level)), place)?;
    let theirs = along(plan, arms, levels, |of_axis| plan.cell(&cell(of_axis, baseline)), place)?;
    let difference = |(ours, theirs): (Option<Vec<f64>>, Option<Vec<f64>>)| {
        let pairs = ours?.into_iter().zip(theirs?);
        Some(pairs.map(|(one, other)| one - other).collect())
    };
    let blocks: Vec<Vec<f64>> = ours.into_iter().zip(theirs).filter_map(difference).collect();
    let amounts: Vec<f64> = levels.iter().map(|(_, amount)| *amount).collect();
    let at = crossing(&amounts, &blocks, keeps_up, margin(plan, place.1), CONFIDENCE).ok()?;
    if blocks.len() < plimsoll_stats::FEWEST_BLOCKS || !at.value.is_finite() {
        return None;
    }
    let confidence = at.interval.confidence;
    let known = |end: f64| end.is_finite().then_some(end);
    let interval = (known(at.interval.lower), known(at.interval.upper));
    let at = at.value;
    let within = plan.condition_in_words(condition, &[axis, compared]);
    let quantity = plan.factors[axis].quantity?;
    let amount = |value: f64| quantity.in_words(value);
    let range = match interval {
        (Some(lower), Some(upper)) if amount(lower) == amount(upper) => {
            format!("of {}", amount(at))
        }
        (Some(lower), Some(upper)) => format!("between {} and {}", amount(lower), amount(upper)),
        (Some(lower), None) => format!("of {} or more", amount(lower)),
        (None, Some(upper)) => format!("of {} or less", amount(upper)),
        (None, None) => return None,
    };
    let of = if within.is_empty() { String::new() } else { format!(", {within}") };
    let (way, and_on) = match keeps_up {
        KeepsUp::UpTo => ("up to", ""),
        KeepsUp::From => ("from", " on"),
    };
    let sentence = format!(
        "{} {} is at least as good as {} in {} {way} {} {range}{and_on} under workload {} at {}{of} ({} interval, {}).",
        capitalised(&change.factor),
        change.level,
        change.baseline,
        words::metric(place.1),
        plan.factors[axis].name,
        described.mix,
        described.load_label,
        words::confidence(confidence),
        words::counted(blocks.len(), "block"),
    );
    Some(CrossingResult {
        place: described,
        axis: plan.factors[axis].name.clone(),
        change,
        within,
        up_to: keeps_up == KeepsUp::UpTo,
        at,
        interval,
        confidence,
        sentence,
    })
}
