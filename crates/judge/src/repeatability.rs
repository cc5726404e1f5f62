//! How much the blocks of one arm vary, and what difference that leaves visible.

use crate::arm_samples::ArmSamples;
use crate::deciding::deciding_point;
use crate::matched::Matched;
use crate::roles::{is_line, load_label};
use crate::sample::Sample;
use crate::select::as_u32;
use crate::words;
use crate::words::counted;
use crate::{DuetResult, Estimate, Repeatability};
use plimsoll_plan::{Metric, Plan};
use plimsoll_stats::{spread, theil_sen, visible_with_spread};

/// p at which a trend over the blocks is called real.
const TREND: f64 = 0.05;

/// For each arm and mix, at the point at which the arm is judged and at its line; nothing where fewer than two blocks have a value.
pub(crate) fn repeatability(
    plan: &Plan,
    arms: &[ArmSamples],
    duets: &[DuetResult],
) -> Vec<Repeatability> {
    let (pairs, measured) = (plan.pairs(), plan.measured_pairs());
    let mut results = Vec::new();
    for (index, (arm, samples)) in plan.arms.iter().zip(arms).enumerate() {
        let of_arm = pairs.iter().find(|pair| pair.contains(&index));
        let baseline = of_arm.map_or(index, |[baseline, _]| *baseline);
        for (mix_index, mix) in plan.mixes.iter().enumerate() {
            let mut places: Vec<(usize, Metric)> = Vec::new();
            if let Ok(point) = deciding_point(plan, mix_index, arms, baseline) {
                if !is_line(&plan.points[point]) {
                    places.push((point, Metric::Throughput));
                }
                places.push((point, Metric::Response { percentile: 99.0 }));
            }
            let line = crate::roles::line_point(plan, mix_index);
            places.extend(line.map(|point| (point, Metric::Line)));
            for (point, metric) in places {
                let label = load_label(&plan.points[point]);
                let place = (arm.name.as_str(), mix.name.as_str(), point, label);
                // What both sides of a duet have in common hides nothing.
                let of_arm = duets.iter().find(|duet| {
                    let arms = [&duet.baseline, &duet.arm];
                    arms.contains(&&arm.name) && duet.mix == mix.name && duet.metric == metric
                });
                let pair = measured.iter().find(|pair| pair.contains(&index));
                let beside_others = pair.and_then(|pair| {
                    Matched::in_plan(plan, arms, *pair, point, metric).visible_beside_others()
                });
                let samples = &samples.points[point];
                results.extend(of_point(place, metric, samples, of_arm, beside_others));
            }
        }
    }
    results
}

fn of_point(
    (arm, mix, point, load_label): (&str, &str, usize, String),
    metric: Metric,
    samples: &[Sample],
    duets: Option<&DuetResult>,
    beside_others: Option<(Option<f64>, String)>,
) -> Option<Repeatability> {
    let readings = samples.iter().filter_map(|sample| {
        let reading = sample.reading(metric)?;
        (!reading.at_least && reading.value > 0.0).then_some((sample.result.block, reading.value))
    });
    let values = Estimate::over_blocks(readings);
    let logarithms: Vec<f64> = values.values.iter().map(|(_, value)| value.ln()).collect();
    let spread = spread(&logarithms)?;
    let highest = logarithms.iter().copied().reduce(f64::max)?;
    let lowest = logarithms.iter().copied().reduce(f64::min)?;
    let trend = theil_sen(&logarithms).ok().filter(|trend| trend.p <= TREND);
    let steps = (logarithms.len() - 1) as f64;
    let trend = trend.map(|trend| (trend.slope_per_sample * steps).exp_m1());
    let alone = visible_with_spread(spread.deviation, logarithms.len()).map(f64::exp_m1);
    let (visible, blocks) = beside_others.unwrap_or_else(|| {
        let visible = duets.map_or(alone, |duets| duets.visible);
        (visible, counted(logarithms.len(), "block"))
    });

    let mut sentence = format!(
        "{} of {arm} varied by {} from block to block ({})",
        capital(&words::metric(metric)),
        words::spread(spread.deviation),
        between(spread.lower, spread.upper)
    );
    match visible {
        Some(visible) => sentence.push_str(&format!(
            ": with {blocks}, differences below {} stay invisible",
            words::visible(visible, 1)
        )),
        None => sentence.push_str(&format!(": {blocks} are too few to show any difference")),
    }
    if let Some(trend) = trend {
        let side = if trend < 0.0 { "fell" } else { "rose" };
        sentence.push_str(&format!(
            "; it {side} by {} from the first block to the last",
            words::spread(trend.abs())
        ));
    }
    sentence.push('.');
    Some(Repeatability {
        arm: arm.to_owned(),
        mix: mix.to_owned(),
        point: as_u32(point),
        load_label,
        metric,
        values,
        spread: spread.deviation,
        spread_interval: (spread.lower, spread.upper),
        range: (highest - lowest).exp_m1(),
        trend,
        visible,
        sentence,
    })
}

/// `1.9 % to 7.4 %`.
fn between(lower: f64, upper: f64) -> String {
    format!("{} to {}", words::spread(lower), words::spread(upper))
}

/// As the first words of a sentence. Names of percentiles stay as they are.
fn capital(words: &str) -> String {
    let is_percentile = words
        .strip_prefix('p')
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    let mut letters = words.chars();
    match letters.next() {
        Some(first) if !is_percentile => first.to_uppercase().chain(letters).collect(),
        _ => words.to_owned(),
    }
}
