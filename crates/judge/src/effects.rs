//! The effects of an experiment's factors. Each is a contrast of cells with one value in each block; all effects of a mix are judged together.

use crate::arm_samples::ArmSamples;
use crate::comparison::{bounds_reason, rule, verdict, without_figures};
use crate::contrast::{Contrast, ContrastValues};
use crate::deciding::deciding;
use crate::estimate::CONFIDENCE;
use crate::factor_results::{Change, Dependence, Effect, EffectAt, EffectKind, EffectPlace};
use crate::roles::load_label;
use crate::select::as_u32;
use crate::sentence::{Question, Unit, capitalised, sentence};
use crate::{Comparison, Judgement, Verdict, words};
use plimsoll_plan::{Design, Metric, Plan};
use plimsoll_record::quantities::numbers::TERMINAL;
use plimsoll_record::quantities::words::TIMES_FROM;
use plimsoll_stats::{Comparison as Compared, judge, sign_flips};

/// The effects of all mixes.
pub(crate) struct Effects {
    pub(crate) all: Vec<Effect>,
    pub(crate) dependences: Vec<Dependence>,
}

/// An effect to be judged.
struct Candidate {
    kind: EffectKind,
    /// Factor with the levels from and to.
    change: (usize, (u32, u32)),
    with: Option<(usize, (u32, u32))>,
    /// The cells of a simple effect.
    cells: Option<[usize; 2]>,
    contrast: Contrast,
}

/// Where a mix is judged by which metric: index of the point.
pub(crate) type Place = (usize, Metric, usize);

/// Mixes with the metrics that decide and the points at which they do.
pub(crate) fn places(plan: &Plan, arms: &[ArmSamples]) -> Vec<Place> {
    let baseline: Vec<u32> = plan.factors.iter().map(|factor| factor.baseline()).collect();
    let baseline = plan.cell(&baseline).unwrap_or(0);
    let mut places = Vec::new();
    for mix in 0..plan.mixes.len() {
        let (deciding, _) = deciding(plan, mix, arms, baseline);
        places.extend(deciding.into_iter().map(|(metric, point)| (mix, metric, point)));
    }
    places
}

pub(crate) fn described(plan: &Plan, (mix, metric, point): Place) -> EffectPlace {
    EffectPlace {
        mix: plan.mixes[mix].name.clone(),
        point: as_u32(point),
        load_label: load_label(&plan.points[point]),
        metric,
        direction: metric.direction(),
    }
}

/// Two levels of a factor in words.
pub(crate) fn change_in_words(plan: &Plan, factor: usize, (from, to): (u32, u32)) -> Change {
    let factor = &plan.factors[factor];
    Change {
        factor: factor.name.clone(),
        baseline: factor.level(from).to_owned(),
        level: factor.level(to).to_owned(),
    }
}

/// Judges all effects; and lets comparisons of two cells that are not certain among this many say so.
pub(crate) fn effects(
    plan: &Plan,
    arms: &[ArmSamples],
    places: &[Place],
    comparisons: &mut [Comparison],
) -> Effects {
    let candidates = candidates(plan);
    let mut effects = Effects { all: Vec::new(), dependences: Vec::new() };
    for mix in 0..plan.mixes.len() {
        let of_mix: Vec<&Place> = places.iter().filter(|(of, ..)| *of == mix).collect();
        let mut family: Vec<(&Candidate, Place, ContrastValues)> = Vec::new();
        for place in of_mix {
            let (_, metric, point) = *place;
            for candidate in &candidates {
                let blocks = plan.measurement.blocks;
                let compared = candidate.contrast.arms();
                let obstacle = crate::disturbance::obstacle(plan, arms, &compared, point, false);
                let values = match obstacle {
                    Some(reason) => ContrastValues::none(blocks, reason),
                    None => candidate.contrast.values(arms, point, metric, blocks),
                };
                family.push((candidate, *place, values));
            }
        }
        let rows: Vec<_> = family.iter().map(|one| one.2.of_block.clone()).collect();
        let adjusted = sign_flips(&rows);
        let size = family.len();
        let first = effects.all.len();
        for ((candidate, place, values), p) in family.iter().zip(adjusted) {
            let effect = judged(plan, candidate, *place, values, (p, size));
            if let Some(cells) = candidate.cells {
                correct(comparisons, plan, cells, &effect, size);
            }
            effects.all.push(effect);
        }
        let dependences = dependences(plan, arms, &family, &mut effects.all[first..]);
        effects.dependences.extend(dependences);
    }
    effects
}

/// Main effects, interactions of two factors, and the simple effects of the compared factor, as far as the design has them.
fn candidates(plan: &Plan) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let changes = |factor: usize| {
        let baseline = plan.factors[factor].baseline();
        let levels = 0..as_u32(plan.factors[factor].levels.len());
        let others = levels.filter(move |level| *level != baseline);
        others.map(move |level| (baseline, level))
    };
    let factors = plan.factors.len();
    for factor in (0..factors).filter(|_| factors > 1) {
        for change in changes(factor) {
            let contrast = Contrast::change(plan, factor, change, None);
            candidates.extend(contrast.map(|contrast| Candidate {
                kind: EffectKind::Main,
                change: (factor, change),
                with: None,
                cells: None,
                contrast,
            }));
        }
    }
    let aliases = plan.aliases();
    let is_clear = |one: usize, other: usize| {
        let name = format!("{}×{}", plan.factors[one].name, plan.factors[other].name);
        let group = aliases.iter().find(|group| group.contains(&name));
        // The first of several effects that cannot be distinguished stands for all; an effect that is aliased with a main effect is left out.
        group.is_none_or(|group| group.first() == Some(&name))
    };
    for one in (0..factors).filter(|_| plan.design != Design::Screening) {
        for other in (one + 1..factors).filter(|other| is_clear(one, *other)) {
            for (change, with) in
                changes(one).flat_map(|change| changes(other).map(move |with| (change, with)))
            {
                let contrast = Contrast::interaction(plan, (one, change), (other, with));
                candidates.extend(contrast.map(|contrast| Candidate {
                    kind: EffectKind::Interaction,
                    change: (one, change),
                    with: Some((other, with)),
                    cells: None,
                    contrast,
                }));
            }
        }
    }
    let Some(compared) = plan.compared_factor() else {
        return candidates;
    };
    for [from, to] in plan.pairs() {
        let level = |arm: usize| plan.arms[arm].levels.get(compared).copied().unwrap_or(0);
        candidates.push(Candidate {
            kind: EffectKind::Simple,
            change: (compared, (level(from), level(to))),
            with: None,
            cells: Some([from, to]),
            contrast: Contrast::pair(from, to),
        });
    }
    candidates
}

/// The contrasts that a plan's effects are.
pub(crate) fn contrasts(plan: &Plan) -> Vec<(EffectKind, Contrast)> {
    let candidates = candidates(plan).into_iter();
    candidates.map(|one| (one.kind, one.contrast)).collect()
}

/// The verdict over a contrast's values by themselves.
fn verdict_of(
    plan: &Plan,
    metric: Metric,
    values: &ContrastValues,
) -> (Verdict, Option<plimsoll_stats::Grounds>) {
    let known = values.known();
    let rule = rule(plan, metric);
    let ratios: Vec<f64> = known.iter().map(|value| value.exp()).collect();
    let compared = match known.is_empty() {
        true => Err(values.obstacle.clone().unwrap_or_else(|| {
            "in no block have all of its cells a valid point with such a value".to_owned()
        })),
        false => {
            Compared::paired(&vec![1.0; known.len()], &ratios).map_err(|error| error.to_string())
        }
    };
    match compared {
        Err(reason) => (without_figures(reason, 0, rule.margin()), None),
        Ok(compared) => {
            let judgement = judge(&compared, rule, CONFIDENCE)
                .expect("a confidence of 0.95 lies between 0 and 1");
            verdict(&judgement, None, Unit::Block)
        }
    }
}

/// Takes back what is not certain among this many. Says whether it did.
fn hold_back(verdict: &mut Verdict, (p, size): (f64, usize)) -> bool {
    let is_claim = matches!(verdict.judgement, Judgement::Better | Judgement::Worse);
    verdict.p_holm = verdict.p_value.map(|_| p);
    let is_too_much = is_claim && p > 1.0 - CONFIDENCE;
    if is_too_much {
        verdict.judgement = Judgement::Inconclusive;
        verdict.reason = Some(format!(
            "certain by itself, but not among the {size} effects that are judged together"
        ));
    }
    is_too_much
}

fn judged(
    plan: &Plan,
    candidate: &Candidate,
    place: Place,
    values: &ContrastValues,
    (p, size): (f64, usize),
) -> Effect {
    let (mut verdict, grounds) = verdict_of(plan, place.1, values);
    let said = verdict.judgement;
    hold_back(&mut verdict, (p, size));
    if values.bounds > 0 && verdict.judgement != Judgement::Inconclusive {
        verdict.judgement = Judgement::Inconclusive;
        verdict.reason = bounds_reason(values.bounds, values.of_block.len(), Unit::Block);
    }
    let grounds = grounds.filter(|_| verdict.judgement == said);
    let place = described(plan, place);
    let change = change_in_words(plan, candidate.change.0, candidate.change.1);
    let with = candidate.with.map(|(factor, levels)| change_in_words(plan, factor, levels));
    let within = candidate
        .cells
        .map(|[_, to]| plan.condition_in_words(&plan.arms[to].levels, &[candidate.change.0]));
    let sentence = match (&with, &within) {
        (Some(with), _) => interaction_sentence(&place, &change, with, &verdict),
        (None, Some(within)) => {
            let at = if within.is_empty() { String::new() } else { format!(", {within}") };
            effect_sentence(&place, &change, &at, &verdict, grounds)
        }
        (None, None) => {
            let other = |factor: &&plimsoll_plan::Factor| factor.name != change.factor;
            let others: Vec<String> =
                plan.factors.iter().filter(other).map(|one| one.name.clone()).collect();
            let over = match others.len() {
                1..=3 => format!(", on average over {}", words::list(&others)),
                _ => ", on average over all other factors".to_owned(),
            };
            effect_sentence(&place, &change, &over, &verdict, grounds)
        }
    };
    let values = (0..).zip(&values.of_block);
    Effect {
        place,
        kind: candidate.kind,
        change,
        with,
        within,
        depends_on: Vec::new(),
        values: values.filter_map(|(block, value)| Some((block, (*value)?))).collect(),
        verdict,
        sentence,
    }
}

fn effect_sentence(
    place: &EffectPlace,
    change: &Change,
    over: &str,
    verdict: &Verdict,
    grounds: Option<plimsoll_stats::Grounds>,
) -> String {
    let load_label = format!("{}{over}", place.load_label);
    let arm = format!("{} {}", change.factor, change.level);
    let question = Question {
        mix: &place.mix,
        load_label: &load_label,
        metric: place.metric,
        baseline: &change.baseline,
        arm: &arm,
        unit: Unit::Block,
    };
    sentence(&question, verdict, grounds)
}

fn interaction_sentence(
    place: &EffectPlace,
    change: &Change,
    with: &Change,
    verdict: &Verdict,
) -> String {
    let what = format!(
        "the effect of {} ({} against {}) on {}",
        change.factor,
        change.level,
        change.baseline,
        words::metric(place.metric)
    );
    let levels = format!("{} {} and {}", with.factor, with.level, with.baseline);
    let figures = match (verdict.estimate, verdict.interval) {
        (Some(estimate), Some((lower, upper))) => format!(
            ": the ratio differs by {} ({} to {})",
            signed_percent(estimate),
            signed_percent(lower),
            signed_percent(upper)
        ),
        (Some(estimate), None) => format!(": the ratio differs by {}", signed_percent(estimate)),
        _ => String::new(),
    };
    let place = format!("under workload {} at {}", place.mix, place.load_label);
    match verdict.judgement {
        Judgement::Better | Judgement::Worse => {
            format!("{} differs between {levels} {place}{figures}.", capitalised(&what))
        }
        Judgement::Equivalent => format!(
            "{} is the same at {levels} within the margin {place}{figures}.",
            capitalised(&what)
        ),
        Judgement::Inconclusive => {
            format!("It is unclear whether {what} differs between {levels} {place}{figures}.")
        }
    }
}

/// A change and its interval: `−95 % (−96 % to −94 %)`, and from three times on `9.62 times (8.47 to 10.6 times)`.
pub(crate) fn signed(estimate: f64, interval: Option<(f64, f64)>) -> String {
    let in_times = 1.0 + estimate >= TIMES_FROM;
    let description = match in_times {
        true => TERMINAL.difference(estimate),
        false => signed_percent(estimate),
    };
    let Some((lower, upper)) = interval else {
        return description;
    };
    let around = match in_times {
        true => TERMINAL.differences(Some(estimate), (lower, upper)),
        false => format!("{} to {}", signed_percent(lower), signed_percent(upper)),
    };
    format!("{description} ({around})")
}

/// `+3 %`, `−95 %`, `+220 %`.
fn signed_percent(share: f64) -> String {
    let percent = share * 100.0;
    // Beside nothing at all, a tenth of a percent is much.
    let is_fine = percent.abs() < 9.95 && percent.abs() >= 0.05 || percent < -98.95;
    let decimals = usize::from(is_fine);
    let number = format!("{:.decimals$}", percent.abs());
    match number.parse::<f64>() {
        Ok(0.0) => "0 %".into(),
        _ if percent < 0.0 => format!("−{number} %"),
        _ => format!("+{number} %"),
    }
}

/// A comparison of two cells that says more than is certain among all effects says so.
fn correct(
    comparisons: &mut [Comparison],
    plan: &Plan,
    [from, to]: [usize; 2],
    effect: &Effect,
    size: usize,
) {
    let (baseline, arm) = (&plan.arms[from].name, &plan.arms[to].name);
    let is_it = |one: &&mut Comparison| {
        one.primary
            && one.metric == effect.place.metric
            && one.point == effect.place.point
            && one.mix == effect.place.mix
            && one.baseline == *baseline
            && one.arm == *arm
    };
    let Some(comparison) = comparisons.iter_mut().find(is_it) else {
        return;
    };
    let Some(p) = effect.verdict.p_holm else {
        return;
    };
    if hold_back(&mut comparison.verdict, (p, size)) {
        let question = Question {
            mix: &comparison.mix,
            load_label: &comparison.load_label,
            metric: comparison.metric,
            baseline: &comparison.baseline,
            arm: &comparison.arm,
            unit: Unit::Block,
        };
        comparison.sentence = sentence(&question, &comparison.verdict, None);
    }
}

/// What the proven interactions mean; and main effects that depend on others say so.
fn dependences(
    plan: &Plan,
    arms: &[ArmSamples],
    family: &[(&Candidate, Place, ContrastValues)],
    effects: &mut [Effect],
) -> Vec<Dependence> {
    let compared = plan.compared_factor();
    let mut found: Vec<(Place, usize, (u32, u32), usize)> = Vec::new();
    for ((candidate, place, _), effect) in family.iter().zip(&*effects) {
        let is_proven = matches!(effect.verdict.judgement, Judgement::Better | Judgement::Worse);
        let Some(with) = candidate.with.filter(|_| is_proven) else {
            continue;
        };
        // The effect that is requested comes first.
        let (of, on) = match compared == Some(with.0) {
            true => (with, candidate.change.0),
            false => (candidate.change, with.0),
        };
        if !found.contains(&(*place, of.0, of.1, on)) {
            found.push((*place, of.0, of.1, on));
        }
    }
    for (place, one, _, other) in &found {
        let metric = place.1;
        for (this, that) in [(one, other), (other, one)] {
            let (this, that) = (&plan.factors[*this].name, &plan.factors[*that].name);
            for effect in effects.iter_mut() {
                let is_main = effect.kind == EffectKind::Main && effect.place.metric == metric;
                if is_main && effect.change.factor == *this && !effect.depends_on.contains(that) {
                    effect.depends_on.push(that.clone());
                }
            }
        }
    }
    let mut dependences = Vec::new();
    for (place, factor, change, on) in found {
        let mut at = Vec::new();
        for level in 0..as_u32(plan.factors[on].levels.len()) {
            let Some(contrast) = Contrast::change(plan, factor, change, Some((on, level))) else {
                continue;
            };
            let (_, metric, point) = place;
            let values = contrast.values(arms, point, metric, plan.measurement.blocks);
            let (verdict, _) = verdict_of(plan, metric, &values);
            at.push(EffectAt {
                level: plan.factors[on].level(level).to_owned(),
                estimate: verdict.estimate,
                interval: verdict.interval,
            });
        }
        let place = described(plan, place);
        let change = change_in_words(plan, factor, change);
        let on = plan.factors[on].name.clone();
        let sentence = dependence_sentence(&place, &change, &on, &at);
        dependences.push(Dependence { place, change, on, at, sentence });
    }
    dependences.sort_by(|left, right| span(&right.at).total_cmp(&span(&left.at)));
    dependences
}

/// How far apart the largest and the smallest effect are, as logarithms.
fn span(at: &[EffectAt]) -> f64 {
    let known = || at.iter().filter_map(|one| one.estimate).map(|one| (1.0 + one).ln());
    let (most, least) = (known().reduce(f64::max), known().reduce(f64::min));
    most.zip(least).map_or(0.0, |(most, least)| most - least)
}

/// `The effect of disk (san-raid10 against fast-5000) on throughput depends on working_set: from 0 % (−3 % to +2 %) at 92% to −95 %
/// (−96 % to −94 %) at 182% under workload reads at 16 threads.` From the smallest effect to the largest.
fn dependence_sentence(place: &EffectPlace, change: &Change, on: &str, at: &[EffectAt]) -> String {
    let mut known: Vec<&EffectAt> = at.iter().filter(|one| one.estimate.is_some()).collect();
    let size = |one: &EffectAt| (1.0 + one.estimate.unwrap_or(0.0)).ln();
    known.sort_by(|left, right| size(left).total_cmp(&size(right)));
    let (Some(least), Some(most)) = (known.first(), known.last()) else {
        return String::new();
    };
    let (near, far) = match size(least).abs() > size(most).abs() {
        true => (most, least),
        false => (least, most),
    };
    let figures = |one: &EffectAt| {
        let change = one.estimate.map(|change| signed(change, one.interval));
        format!("{} at {}", change.unwrap_or_default(), one.level)
    };
    format!(
        "The effect of {} ({} against {}) on {} depends on {on}: from {} to {} under workload {} at {}.",
        change.factor,
        change.level,
        change.baseline,
        words::metric(place.metric),
        figures(near),
        figures(far),
        place.mix,
        place.load_label
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_reads_in_times_from_three_on() {
        let rows = [
            (8.62, Some((7.47, 9.59)), "9.62 times (8.47 to 10.6 times)"),
            (2.0, None, "3.00 times"),
            (1.2, Some((0.9, 2.5)), "+120 % (+90 % to +250 %)"),
            (-0.95, Some((-0.96, -0.94)), "−95 % (−96 % to −94 %)"),
        ];
        for (estimate, interval, description) in rows {
            assert_eq!(signed(estimate, interval), description);
        }
    }
}
