//! What duets tell of the halves of the machine: whether they are alike, and how much of the noise both sides had in common.

use crate::DuetResult;
use crate::arm_samples::ArmSamples;
use crate::comparison::rule;
use crate::deciding::deciding;
use crate::estimate::CONFIDENCE;
use crate::matched::Matched;
use crate::roles::load_label;
use crate::sample::Sample;
use crate::select::Selection;
use crate::words;
use crate::words::{counted, percent};
use plimsoll_plan::{Pairing, Plan};
use plimsoll_record::{Warning, WarningId};
use plimsoll_stats::{correlation, halves, median, visible_with_spread};
use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;

/// From this correlation on both sides moved together.
const TOGETHER: f64 = 0.5;
/// Below this correlation they did not.
const ALONE: f64 = 0.2;

/// For each pair of arms and each metric that decides; nothing where the plan has no duets, or before the arms had both sides twice.
pub(crate) fn duets(plan: &Plan, arms: &[ArmSamples]) -> Vec<DuetResult> {
    let mut results = Vec::new();
    if plan.measurement.pairing != Pairing::Duet {
        return results;
    }
    for [baseline, other] in plan.measured_pairs() {
        for (mix_index, mix) in plan.mixes.iter().enumerate() {
            let (places, _) = deciding(plan, mix_index, arms, baseline);
            for (metric, point) in places {
                let sides = [baseline, other].map(|arm| &arms[arm].points[point][..]);
                let matched = Matched::in_plan(plan, arms, [baseline, other], point, metric);
                let found = matched.duets(plan, other).unwrap_or_default();
                let Some(halves) = halves(&found, CONFIDENCE) else {
                    continue;
                };
                let (visible, words) = matched.visible_beside_others().unwrap_or_else(|| {
                    let visible = visible_with_spread(halves.spread / SQRT_2, found.len());
                    (visible.map(f64::exp_m1), counted(found.len(), "duet"))
                });
                let mut result = DuetResult {
                    baseline: plan.arms[baseline].name.clone(),
                    arm: plan.arms[other].name.clone(),
                    mix: mix.name.clone(),
                    point: u32::try_from(point).unwrap_or(u32::MAX),
                    load_label: load_label(&plan.points[point]),
                    metric,
                    duets: found.len(),
                    second_over_first: halves.second_over_first.exp_m1(),
                    second_over_first_interval: (
                        halves.interval.lower.exp_m1(),
                        halves.interval.upper.exp_m1(),
                    ),
                    spread: halves.spread,
                    spread_apart: halves.spread_apart,
                    correlation: halves.correlation,
                    correlation_of_seconds: seconds(sides, |block| matched.has(block)),
                    visible,
                    are_alike: true,
                    sentence: String::new(),
                };
                // What is less than half of what matters cannot decide, even where one side is missing in a few blocks.
                let allowed = rule(plan, metric).margin() / 2.0;
                let (low, high) = result.second_over_first_interval;
                result.are_alike =
                    low <= 0.0 && high >= 0.0 || result.second_over_first.abs() < allowed;
                result.sentence = sentence(&result, &words);
                results.push(result);
            }
        }
    }
    results
}

/// Correlation of the throughput of both sides from second to second within a duet, the median over the duets; `None` where no duet has enough seconds that vary.
fn seconds(sides: [&[Sample]; 2], is_judged: impl Fn(u32) -> bool) -> Option<f64> {
    let blocks = sides[0].iter().map(|sample| sample.result.block);
    let blocks = blocks.filter(|block| is_judged(*block));
    let of_duets = blocks.filter_map(|block| correlation(&paired_seconds(sides, block)));
    median(&of_duets.collect::<Vec<f64>>())
}

/// Throughput of both sides of a duet in each second that counts for both: they began at the same instant.
pub(crate) fn paired_seconds(sides: [&[Sample]; 2], block: u32) -> Vec<(f64, f64)> {
    let of_block = |side: &'_ [Sample]| side.iter().position(|one| one.result.block == block);
    let (Some(one), Some(other)) = (of_block(sides[0]), of_block(sides[1])) else {
        return Vec::new();
    };
    let others: BTreeMap<u64, f64> = sides[1][other].kept_seconds().collect();
    let seconds = sides[0][one].kept_seconds();
    seconds.filter_map(|(second, value)| Some((value, *others.get(&second)?))).collect()
}

/// `duets` are those that are judged, in words.
fn sentence(result: &DuetResult, duets: &str) -> String {
    let DuetResult { correlation, spread, spread_apart, .. } = *result;
    let what = words::metric(result.metric);
    let together = match correlation {
        _ if correlation >= TOGETHER => "moved together",
        _ if correlation >= ALONE => "moved together a little",
        _ => "did not move together",
    };
    let mut text = format!(
        "Both sides {together} (correlation {correlation:.2}): the difference in {what} varied by {} from duet to duet, and would have varied by {} between runs in turn",
        percent(spread, 1),
        percent(spread_apart, 1),
    );
    if correlation < ALONE {
        text.push_str(
            "; the noise is not the machine's, so duets are no sharper here than runs in turn",
        );
    }
    text.push('.');
    if let Some(least) = result.visible {
        text.push_str(&format!(
            " {duets} find differences of {} or more.",
            words::visible(least, 1)
        ));
    }
    if !result.are_alike {
        text.push_str(&format!(
            " The second half of the machine was {} {} than the first; the arms change halves, and the comparison takes that out.",
            percent(result.second_over_first.abs(), 1),
            if result.second_over_first > 0.0 { "higher" } else { "lower" }
        ));
    }
    text
}

/// Halves that are not alike, or that share a core.
pub(crate) fn warnings(results: &[DuetResult], selection: &Selection<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for result in results.iter().filter(|result| !result.are_alike) {
        let (low, high) = result.second_over_first_interval;
        warnings.push(Warning::new(
            WarningId::UnequalHalves,
            format!("{}, {} at {}", result.arm, result.mix, result.load_label),
            format!(
                "{} on the second half was {} off that on the first ({} to {})",
                words::metric(result.metric),
                percent(result.second_over_first, 1),
                percent(low, 1),
                percent(high, 1)
            ),
        ));
    }
    let shares_core =
        |run: &&plimsoll_record::RunRecord| run.half.as_ref().is_some_and(|half| half.shares_core);
    if selection.latest.iter().copied().any(|run| shares_core(&run)) {
        warnings.push(Warning::new(
            WarningId::UnequalHalves,
            "",
            "both halves are threads of one core, so each slows the other down",
        ));
    }
    warnings
}
