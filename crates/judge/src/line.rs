//! The plimsoll line of each arm and mix: what the searches of its blocks found, and what limits the arm beyond it.
//!
//! The line of an arm is made of those of its blocks, as every other number is.

use crate::arm_samples::ArmSamples;
use crate::block_search::BlockSearch;
use crate::curve::curve_point;
use crate::estimate::CONFIDENCE;
use crate::missed;
use crate::rules::cause_beyond_line;
use crate::sample::Sample;
use crate::select::as_u32;
use crate::words::counted;
use crate::words::{self, list};
use crate::{BlockLine, Cause, CauseKind, Estimate, LineResult, Validity, ValidityState};
use plimsoll_plan::search::MixObjective;
use plimsoll_plan::{Arm, Metric, Plan};
use plimsoll_record::{Warning, WarningId};
use plimsoll_stats::{FEWEST_BLOCKS, median_interval};
use std::collections::BTreeMap;

/// One for each arm and each point that searches a line, where there is a finished run.
pub(crate) fn lines(plan: &Plan, arms: &[ArmSamples]) -> Vec<LineResult> {
    let mut results = Vec::new();
    for (arm, samples) in plan.arms.iter().zip(arms) {
        results.append(&mut lines_of(plan, arm, samples));
    }
    results
}

pub(crate) fn lines_of(plan: &Plan, arm: &Arm, samples: &ArmSamples) -> Vec<LineResult> {
    let mut results = Vec::new();
    for (point, blocks) in &samples.searches {
        if !blocks.is_empty() {
            results.push(result(plan, arm, *point, blocks, &samples.points[*point]));
        }
    }
    results
}

fn result(
    plan: &Plan,
    arm: &Arm,
    point: usize,
    blocks: &[BlockSearch],
    at_line_samples: &[Sample],
) -> LineResult {
    let sound: Vec<&BlockSearch> = blocks
        .iter()
        .filter(|block| block.problem.is_none() && !block.line.trials.is_empty())
        .collect();
    let lowers = ends(&sound, |line| line.lower);
    let uppers = ends(&sound, |line| line.upper);
    let rate = Estimate::over_blocks(at_line_samples.iter().filter_map(|sample| {
        let reading = sample.reading(Metric::Line).filter(|reading| !reading.at_least)?;
        Some((sample.result.block, reading.value))
    }));
    let beyond: Vec<&Sample> = sound.iter().flat_map(|block| &block.beyond).collect();
    let mix = plan.mix_of(&plan.points[point]);
    let aim = plan.objective.as_ref().zip(mix);
    let aim = aim.map(|(objective, mix)| MixObjective { objective, mix });
    let mut result = LineResult {
        arm: arm.name.clone(),
        mix: mix.map(|mix| mix.name.clone()).unwrap_or_default(),
        point: as_u32(point),
        objective: aim.map(in_full).unwrap_or_default(),
        lower: lowers.as_deref().and_then(lower_end),
        upper: uppers.as_deref().and_then(upper_end),
        confidence: attained(&rate),
        rate,
        blocks: blocks.iter().map(|block| block.line.clone()).collect(),
        at_line: (!at_line_samples.is_empty()).then(|| curve_point(plan, arm, at_line_samples)),
        limit: cause_beyond_line(plan, arm, &beyond),
        sentence: String::new(),
    };
    result.sentence = sentence(aim, &result, blocks, &sound);
    result
}

/// One end of every block; `None` where a block has none, or there is no block.
fn ends(blocks: &[&BlockSearch], pick: fn(&BlockLine) -> Option<f64>) -> Option<Vec<f64>> {
    let ends: Option<Vec<f64>> = blocks.iter().map(|block| pick(&block.line)).collect();
    ends.filter(|ends| !ends.is_empty())
}

/// Lower end of the interval over the blocks; with too few blocks the lowest of them.
fn lower_end(rates: &[f64]) -> Option<f64> {
    let over = Estimate::over_blocks((0..).zip(rates.iter().copied()));
    let lowest = rates.iter().copied().reduce(f64::min);
    over.interval.map(|(lower, _)| lower).or(lowest)
}

/// The same of the upper end.
fn upper_end(rates: &[f64]) -> Option<f64> {
    let over = Estimate::over_blocks((0..).zip(rates.iter().copied()));
    let highest = rates.iter().copied().reduce(f64::max);
    over.interval.map(|(_, upper)| upper).or(highest)
}

/// Confidence that an interval over this many blocks attains.
fn attained(rate: &Estimate) -> Option<f64> {
    if rate.values.len() < FEWEST_BLOCKS {
        return None;
    }
    let rates: Vec<f64> = rate.values.iter().map(|(_, value)| *value).collect();
    let estimate = median_interval(&rates, CONFIDENCE).ok()?;
    Some(estimate.interval.confidence)
}

/// `p99 of the response at most 10 ms, no errors, 99 % of the rate achieved`.
fn in_full(aim: MixObjective<'_>) -> String {
    let objective = aim.objective;
    let mut parts = Vec::new();
    for (percentile, limit_ns) in &objective.response {
        parts.push(format!(
            "p{percentile} of the response at most {}",
            words::limit(*limit_ns as f64)
        ));
    }
    for bound in aim.operations() {
        for (percentile, limit_ns) in &bound.response {
            parts.push(format!(
                "p{percentile} of {} at most {}",
                bound.operation.name(),
                words::limit(*limit_ns as f64)
            ));
        }
    }
    parts.push(if objective.errors > 0.0 {
        format!("at most {} of errors", words::share(objective.errors))
    } else {
        "no errors".into()
    });
    parts.push(format!("{} of the rate achieved", words::share(objective.achieved)));
    parts.join(", ")
}

/// `p99 ≤ 10 ms`, as the end of a sentence after "holds".
fn in_short(aim: Option<MixObjective<'_>>) -> String {
    let Some(aim) = aim else { return "its objective".into() };
    let all = aim.objective.response.iter().map(|limit| (None, limit));
    let own = aim
        .operations()
        .flat_map(|bound| bound.response.iter().map(|limit| (Some(bound.operation), limit)));
    let limits: Vec<String> = all
        .chain(own)
        .map(|(operation, (percentile, ns))| {
            format!("{}p{percentile} ≤ {}", missed::of(operation), words::limit(*ns as f64))
        })
        .collect();
    if limits.is_empty() { "its objective".into() } else { list(&limits) }
}

fn sentence(
    aim: Option<MixObjective<'_>>,
    line: &LineResult,
    blocks: &[BlockSearch],
    sound_blocks: &[&BlockSearch],
) -> String {
    let arm = &line.arm;
    let sound = sound_blocks.len();
    let objective = in_short(aim);
    let mut text = match problem(arm, blocks) {
        Some(problem) if sound == 0 => {
            return format!("The line of {arm} is not known: {problem}.");
        }
        _ if sound == 0 => {
            return format!("The line of {arm} is not known: no trial of its search was whole.");
        }
        _ => match (line.lower, line.upper) {
            (Some(lower), Some(upper)) => format!(
                "{arm} holds {objective} up to {} ({})",
                words::between((lower, upper)),
                how_sure(line, sound)
            ),
            _ => open(line, &objective, sound),
        },
    };
    let missed = sound_blocks.iter().flat_map(|block| &block.missed);
    let decided = aim.and_then(|aim| missed::decided(missed, aim));
    if let Some(decided) = decided.filter(|_| line.upper.is_some()) {
        text.push_str(&format!("; above that {decided}"));
    }
    if let Some(limit) = line.limit.as_ref().filter(|_| line.upper.is_some()) {
        text.push_str(&beyond(limit));
    }
    if let Some(problem) = problem(arm, blocks) {
        text.push_str(&format!("; {problem}"));
    }
    text.push('.');
    text
}

fn how_sure(line: &LineResult, sound: usize) -> String {
    match line.confidence {
        Some(confidence) => {
            format!("{}, {}", words::confidence(confidence), counted(sound, "block"))
        }
        None => format!("no confidence, {}", counted(sound, "block")),
    }
}

/// Where an end is missing.
fn open(line: &LineResult, objective: &str, sound: usize) -> String {
    let arm = &line.arm;
    let of = |count: usize| format!("in {count} of {}", counted(sound, "block"));
    let trials = || line.blocks.iter().flat_map(|block| &block.trials);
    let lowest = trials().map(|trial| trial.rate).reduce(f64::min);
    let highest = trials().map(|trial| trial.rate).reduce(f64::max);
    let without = |pick: fn(&BlockLine) -> Option<f64>| {
        let missing = |block: &&BlockLine| !block.trials.is_empty() && pick(block).is_none();
        line.blocks.iter().filter(missing).count()
    };
    let no_lower = without(|line| line.lower);
    let no_upper = without(|line| line.upper);
    let all = |end: fn(&BlockLine) -> Option<f64>, rate: Option<f64>| {
        line.blocks.iter().all(|block| block.trials.is_empty() || end(block) == rate)
    };
    match (line.lower, line.upper) {
        (None, None) => format!(
            "{arm} has no known line: {} no rate was confirmed to hold {objective}, and {} none was confirmed to fail",
            of(no_lower),
            of(no_upper)
        ),
        (None, Some(_)) if all(|line| line.upper, lowest) => format!(
            "{arm} does not hold {objective}: not even at {}, the lowest rate tried",
            lowest.map(words::exact_rate).unwrap_or_default()
        ),
        (None, Some(upper)) => format!(
            "{arm} does not hold {objective} at {} and above; {} no rate was confirmed to hold, so the position of the line is unknown",
            words::end(upper),
            of(no_lower)
        ),
        (Some(_), None) if all(|line| line.lower, highest) => format!(
            "{arm} holds {objective} at {}, the highest rate tried; the position of the line is unknown",
            highest.map(words::exact_rate).unwrap_or_default()
        ),
        (Some(lower), _) => format!(
            "{arm} holds {objective} at {}; {} no higher rate was confirmed to fail, so the position of the line is unknown",
            words::end(lower),
            of(no_upper)
        ),
    }
}

/// `; beyond that it is limited by disk IOPS: 598 of 600 used`.
fn beyond(limit: &Cause) -> String {
    if limit.kind == CauseKind::Unknown {
        return "; what limits it beyond that is unknown".into();
    }
    let figures = limit.sentence.split_once(": ");
    let figures = figures.map_or(limit.sentence.as_str(), |(_, figures)| figures);
    format!("; beyond that it is limited by {}: {figures}", limit.kind.name())
}

/// Blocks whose trials next to the line are no evidence of the arm, in words.
fn problem(arm: &str, blocks: &[BlockSearch]) -> Option<String> {
    let mut problems: BTreeMap<WarningId, (usize, &str)> = BTreeMap::new();
    for problem in blocks.iter().filter_map(|block| block.problem.as_ref()) {
        let entry = problems.entry(problem.id).or_insert((0, &problem.message));
        entry.0 += 1;
    }
    let (id, (count, message)) = problems.iter().max_by_key(|(_, (count, _))| *count)?;
    let message = message.trim_end_matches('.');
    let blocks = format!("in {count} of {}", counted(blocks.len(), "block"));
    Some(if *id == WarningId::GeneratorLimited {
        format!("{blocks} the line is one of the load generator, not of {arm}: {message}")
    } else {
        format!("{blocks} the trials next to the line are not valid: {message}")
    })
}

/// Warnings about lines that are open, or are none of the arm.
pub(crate) fn warnings(results: &[LineResult], arms: &[ArmSamples], plan: &Plan) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for line in results {
        let subject = format!("{}, {} at the plimsoll line", line.arm, line.mix);
        let place = plan.arms.iter().position(|arm| arm.name == line.arm);
        let searches = place
            .and_then(|arm| arms.get(arm))
            .and_then(|arm| arm.searches.get(&usize::try_from(line.point).ok()?));
        let blocks = searches.map_or(&[][..], Vec::as_slice);
        let mut problems: Vec<&Warning> = Vec::new();
        for problem in blocks.iter().filter_map(|block| block.problem.as_ref()) {
            if !problems.iter().any(|known| known.id == problem.id) {
                problems.push(problem);
            }
        }
        for one in problems {
            let is_it =
                |block: &&BlockSearch| block.problem.as_ref().is_some_and(|it| it.id == one.id);
            let message = format!(
                "in {} of {} most trials next to the line failed this gate, so they are no evidence of the arm: {}",
                blocks.iter().filter(is_it).count(),
                counted(blocks.len(), "block"),
                one.message
            );
            warnings.push(Warning::new(one.id, &subject, message));
        }
        let is_open = |block: &&BlockSearch| {
            block.problem.is_none() && (block.line.lower.is_none() || block.line.upper.is_none())
        };
        let open = blocks.iter().filter(is_open).count();
        if open > 0 {
            let message = format!(
                "in {open} of {} the search found one end of the interval at most: {}",
                counted(blocks.len(), "block"),
                line.sentence.trim_end_matches('.')
            );
            warnings.push(Warning::new(WarningId::LineOpen, subject, message));
        }
    }
    warnings
}

/// How the lines stand, where any was searched.
pub(crate) fn validity(arms: &[ArmSamples]) -> Option<Validity> {
    let blocks: Vec<&BlockSearch> =
        arms.iter().flat_map(|arm| arm.searches.values().flatten()).collect();
    if blocks.is_empty() {
        return None;
    }
    let not_valid = blocks.iter().filter(|block| block.problem.is_some()).count();
    let is_known = |block: &&&BlockSearch| {
        block.problem.is_none() && block.line.lower.is_some() && block.line.upper.is_some()
    };
    let known = blocks.iter().filter(is_known).count();
    let searches = if blocks.len() == 1 { "search" } else { "searches" };
    let mut text = format!("known from both sides in {known} of {} {searches}", blocks.len());
    if not_valid > 0 {
        text.push_str(&format!(", trials next to the line failed a gate in {not_valid}"));
    }
    let state = match () {
        () if not_valid > 0 => ValidityState::Bad,
        () if known < blocks.len() => ValidityState::Caution,
        () => ValidityState::Good,
    };
    Some(Validity::of("plimsoll line", state, text))
}
