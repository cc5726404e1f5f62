//! The answer in one to three sentences.

use crate::because::cause_of;
use crate::comparison::{Comparisons, effect};
use crate::select::Selection;
use crate::words::{self, counted, list};
use crate::{
    CauseKind, Comparison, Curve, CurvePoint, Effect, EffectKind, FactorResults, Judgement,
    LineResult, Progress,
};
use plimsoll_plan::{Metric, Plan};
use plimsoll_record::{Severity, Warning};

/// Sentences at most; one more may say what held the arms back, and one that runs are missing.
const SENTENCES: usize = 3;

/// The result of the whole. The sentences of a gate, of an arm against itself, and about power cuts come `first`.
pub(crate) fn headline(
    plan: &Plan,
    selection: &Selection<'_>,
    comparisons: &Comparisons,
    curves: &[Curve],
    lines: &[LineResult],
    first: [Option<&str>; 3],
    warnings: &[Warning],
) -> Vec<String> {
    let factors = comparisons.factors.as_ref();
    let progress = &selection.progress;
    let gravest = warnings.iter().find(|warning| warning.severity() == Severity::Invalid);
    let because = gravest.map_or(String::new(), |warning| {
        format!(" Main problem: {}: {}.", warning.subject, warning.message.trim_end_matches('.'))
    });
    if progress.runs_finished == 0 {
        let nothing = format!("Nothing has been measured yet.{because}");
        return std::iter::once(nothing).chain(incomplete(progress)).collect();
    }
    let is_measured = |curve: &Curve| !curve.points.is_empty();
    // Controls are no answer to the question.
    let is_requested = |name: &str| {
        let mut arms = plan.arms.iter();
        !arms.any(|arm| arm.name == name && arm.planted.is_some())
    };
    let mut points = curves.iter().flat_map(|curve| &curve.points);
    let mut of_lines = lines.iter().flat_map(|line| &line.blocks);
    let any_line = of_lines.any(|block| block.trials.iter().any(|trial| trial.valid));
    if !points.any(|point| point.valid_runs > 0) && !any_line {
        let invalid = format!(
            "INVALID: no point is valid.{because} Figures in brackets are as they were measured, and count for nothing."
        );
        return std::iter::once(invalid).chain(incomplete(progress)).collect();
    }
    let line_decides = plan.compare.primary.contains(&Metric::Line);
    let is_about_lines = !lines.is_empty() && (line_decides || !curves.iter().any(is_measured));
    let requested_lines = lines.iter().filter(|line| is_requested(&line.arm));
    let of_lines: Vec<String> = requested_lines.map(one_line).collect();
    let mut sentences = match factors {
        Some(factors) => of_factors(factors, comparisons),
        None if plan.has_several_arms() => verdicts(comparisons),
        None if is_about_lines => of_lines.clone(),
        None => curves
            .iter()
            .filter(|curve| is_measured(curve) && is_requested(&curve.arm))
            .map(one_curve)
            .collect(),
    };
    if factors.is_none() {
        shorten(&mut sentences, comparisons);
    }
    let no_effect =
        factors.is_none_or(|one| one.effects.iter().all(|effect| effect.values.is_empty()));
    // The lines themselves say what limits them.
    if is_about_lines
        && plan.has_several_arms()
        && sentences.len() + of_lines.len() <= SENTENCES + 1
    {
        sentences.extend(of_lines);
    } else if plan.has_several_arms() || !is_about_lines {
        sentences.extend(why(comparisons, curves, lines));
    }
    for sentence in first.into_iter().flatten() {
        sentences.insert(0, sentence.to_owned());
    }
    let nothing_deciding = plan.has_several_arms() && no_effect && {
        let mut deciding = comparisons.all.iter().filter(|comparison| comparison.primary);
        deciding.all(|comparison| !comparison.has_values())
    };
    if progress.runs_failed == 0
        && nothing_deciding
        && gravest.is_none()
        && progress.blocks_complete == 0
    {
        let early = "No block is complete yet, so there is nothing to compare.";
        return std::iter::once(early.to_owned()).chain(incomplete(progress)).collect();
    }
    let invalid = why_invalid(progress, nothing_deciding);
    if let Some(invalid) = invalid {
        sentences.insert(0, format!("INVALID: {invalid}.{because}"));
    }
    let is_gate = plan.measurement.gate().is_some();
    if selection.ended_by_looks && !is_gate {
        sentences.push(format!(
            "The experiment ended after {} of at most {}: every interval is narrow enough.",
            progress.order.len(),
            counted(progress.blocks_planned as usize, "block")
        ));
    }
    sentences.extend(incomplete(progress));
    sentences
}

/// Why the experiment as a whole is invalid, as `Analysis::outcome` has it.
fn why_invalid(progress: &Progress, nothing_deciding: bool) -> Option<String> {
    match (progress.runs_failed, progress.too_few_usable) {
        (0, _) if nothing_deciding => Some("no deciding comparison can be made".to_owned()),
        (0, Some(few)) => Some(format!(
            "{} of {} can be compared, and a verdict needs {}",
            few.usable,
            counted(few.of as usize, "block"),
            few.needed
        )),
        (0, None) => None,
        (failed, _) => {
            Some(format!("{failed} of {} failed", counted(progress.runs_planned as usize, "run")))
        }
    }
}

/// `Incomplete: 4 of 12 runs, 1 failed. Run the same command to resume.`
fn incomplete(progress: &Progress) -> Option<String> {
    let failed = match progress.runs_failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    (progress.runs_finished < progress.runs_planned).then(|| {
        format!(
            "Incomplete: {} of {} runs{failed}. {}",
            progress.runs_finished,
            progress.runs_planned,
            if progress.runs_failed == 0 {
                "Run the same command to resume."
            } else {
                "Once the cause is mended, the same command measures what is missing."
            }
        )
    })
}

/// The deciding comparisons, those with a clear answer first, then the mixes that have none. Where there are too many to be said one by one, the largest effects
/// come first.
fn verdicts(comparisons: &Comparisons) -> Vec<String> {
    let mut deciding: Vec<&Comparison> =
        comparisons.all.iter().filter(|comparison| comparison.primary).collect();
    let is_unclear = |one: &&Comparison| one.verdict.judgement == Judgement::Inconclusive;
    deciding.sort_by_key(is_unclear);
    if deciding.len() > SENTENCES {
        let clear = deciding.iter().take_while(|one| !is_unclear(one)).count();
        deciding[..clear].sort_by(|left, right| effect(right).total_cmp(&effect(left)));
    }
    let mut sentences: Vec<String> =
        deciding.into_iter().map(|comparison| comparison.sentence.clone()).collect();
    for (mix, reason) in &comparisons.unjudged {
        sentences.push(format!("Workload {mix} cannot be judged: {reason}."));
    }
    sentences
}

/// What the factors do: what depends on what, where one keeps up with another, where a curve falls, and the largest effects. What is proven comes first, and where
/// nothing is, that is said.
fn of_factors(factors: &FactorResults, comparisons: &Comparisons) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    sentences.extend(factors.crossings.iter().map(|one| one.sentence.clone()));
    let dependences = factors.dependences.iter().map(|one| one.sentence.clone());
    sentences.extend(dependences.take(SENTENCES));
    let size = |effect: &Effect| crate::comparison::size(&effect.verdict);
    let is_proven =
        |effect: &&Effect| matches!(effect.verdict.judgement, Judgement::Better | Judgement::Worse);
    let mut largest: Vec<&Effect> = factors.effects.iter().filter(is_proven).collect();
    largest.retain(|effect| match effect.kind {
        EffectKind::Main => effect.depends_on.is_empty(),
        EffectKind::Interaction => false,
        // With one factor there is nothing else.
        EffectKind::Simple => factors.factors.len() == 1,
    });
    largest.sort_by(|left, right| size(right).total_cmp(&size(left)));
    sentences.extend(largest.iter().map(|effect| effect.sentence.clone()));
    let cliffs = factors.cliffs.iter().map(|one| one.sentence.clone());
    sentences.extend(cliffs);
    sentences.truncate(SENTENCES + 1);
    let is_judged = |effect: &&Effect| !effect.values.is_empty();
    let judged = factors.effects.iter().filter(is_judged).count();
    let proven = factors.effects.iter().filter(is_proven).count();
    if judged == 0 {
        return verdicts(comparisons).into_iter().take(SENTENCES).collect();
    }
    if sentences.is_empty() {
        let mut widest: Vec<&Effect> = factors.effects.iter().filter(is_judged).collect();
        widest.sort_by(|left, right| size(right).total_cmp(&size(left)));
        sentences.extend(widest.first().map(|effect| effect.sentence.clone()));
    }
    sentences.push(match proven {
        0 => format!("None of {} is certain yet.", counted(judged, "effect")),
        _ => format!("{proven} of {} {} certain.", counted(judged, "effect"), are(proven)),
    });
    sentences
}

/// What held the arms back where they are judged: for few comparisons in full, for many counted.
fn why(comparisons: &Comparisons, curves: &[Curve], lines: &[LineResult]) -> Option<String> {
    let deciding: Vec<&Comparison> =
        comparisons.all.iter().filter(|comparison| comparison.primary).collect();
    let place =
        |one: &Comparison| (one.baseline.clone(), one.arm.clone(), one.mix.clone(), one.point);
    if let [first, others @ ..] = &deciding[..]
        && others.iter().all(|other| place(other) == place(first))
    {
        // Where the servers do different things, the bottleneck is only where that shows.
        if first.plans.is_some() {
            return first.plans.clone();
        }
        let same = same_cause(first, curves, lines);
        if same.is_some() || others.is_empty() {
            return same.or_else(|| first.because.clone());
        }
    }
    let mut places: Vec<(&str, &str, u32)> = Vec::new();
    for one in deciding {
        for arm in [&one.baseline, &one.arm] {
            let place = (arm.as_str(), one.mix.as_str(), one.point);
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    let mut counts: Vec<(CauseKind, usize)> = Vec::new();
    for (arm, mix, point) in places {
        let Some(cause) = cause_of(curves, lines, arm, mix, point) else {
            continue;
        };
        match counts.iter_mut().find(|(kind, _)| *kind == cause.kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((cause.kind, 1)),
        }
    }
    if counts.is_empty() {
        return None;
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if let [(CauseKind::Offered, _)] = counts[..] {
        return Some("No arm reached a limit: the load ran as requested.".into());
    }
    if let [(kind, _)] = counts[..]
        && !matches!(kind, CauseKind::Unknown | CauseKind::Offered)
    {
        let article = if kind == CauseKind::CpuLimit { "the " } else { "" };
        return Some(format!("All arms are limited by {article}{}.", kind.name()));
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(kind, count)| format!("{} ({})", kind.name(), counted(*count, "point")))
        .collect();
    Some(format!("Bottlenecks: {}.", list(&parts)))
}

/// `Both are limited by CPU: each operation costs zstd 2.8× the CPU (162 µs vs 58 µs).`, which says more than two causes that read alike.
fn same_cause(of: &Comparison, curves: &[Curve], lines: &[LineResult]) -> Option<String> {
    let cause = |arm: &str| cause_of(curves, lines, arm, &of.mix, of.point);
    let kind = cause(&of.baseline)?.kind;
    let is_processor = matches!(kind, CauseKind::Cpu | CauseKind::CpuLimit | CauseKind::PageCache);
    if !is_processor || cause(&of.arm)?.kind != kind {
        return None;
    }
    let cost = of.cost_difference.as_ref().and_then(|cost| cost.strip_prefix("Why: "));
    match cost {
        Some(cost) => Some(format!("Both are limited by {}: {cost}", kind.name())),
        // Where nothing differs there is no more to explain.
        None => (of.verdict.judgement == Judgement::Equivalent)
            .then(|| format!("Both are limited by {}.", kind.name())),
    }
}

fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// Keeps the first sentences and counts the rest.
fn shorten(sentences: &mut Vec<String>, comparisons: &Comparisons) {
    if sentences.len() <= SENTENCES {
        return;
    }
    sentences.truncate(SENTENCES - 1);
    let mut counts = Vec::new();
    for (judgement, word) in [
        (Judgement::Better, "better"),
        (Judgement::Worse, "worse"),
        (Judgement::Equivalent, "equivalent"),
        (Judgement::Inconclusive, "inconclusive"),
    ] {
        let is_it = |comparison: &&Comparison| {
            comparison.primary && comparison.verdict.judgement == judgement
        };
        let count = comparisons.all.iter().filter(is_it).count();
        if count > 0 {
            counts.push((count, word));
        }
    }
    let judged = comparisons.all.iter().filter(|comparison| comparison.primary).count();
    sentences.push(match &counts[..] {
        [] => "The other workloads are in the table.".into(),
        [(_, word)] => format!("All {} are {word}.", counted(judged, "deciding comparison")),
        _ => {
            let each = counts.iter().map(|(count, word)| format!("{count} {word}"));
            let each = list(&each.collect::<Vec<_>>());
            format!("In all, of {}: {each}.", counted(judged, "deciding comparison"))
        }
    });
}

/// The line of one arm.
fn one_line(line: &LineResult) -> String {
    format!("Workload {}: {}", line.mix, line.sentence)
}

/// One arm by itself: where it peaks and where more load stops to pay.
fn one_curve(curve: &Curve) -> String {
    let Curve { arm, mix, .. } = curve;
    let mut best: Option<(&CurvePoint, f64)> = None;
    for point in &curve.points {
        if let Some(throughput) = point.throughput.median
            && best.is_none_or(|(_, highest)| throughput > highest)
        {
            best = Some((point, throughput));
        }
    }
    let Some((peak, throughput)) = best else {
        return format!("Under workload {mix}, {arm} has no valid point.");
    };
    let blocks = counted(peak.throughput.values.len(), "block");
    let interval = match peak.throughput.interval {
        Some(interval) => format!("95 % interval {}, {blocks}", words::rates(interval)),
        None => format!("no interval, {blocks}"),
    };
    let verb = if curve.points.len() > 1 { "is fastest" } else { "runs" };
    let mut sentence = format!(
        "Under workload {mix}, {arm} {verb} at {}, {} ({interval})",
        peak.load_label,
        words::rate(throughput)
    );
    if let Some(knee) = &curve.knee {
        sentence.push_str(&if knee.still_climbing {
            "; it still climbs at its last point, so the peak lies beyond: measure further".into()
        } else {
            format!(
                "; beyond {} more load costs more in time than it brings in throughput",
                knee.load_label
            )
        });
    }
    sentence.push('.');
    if let Some(cause) = &peak.cause {
        let held_back = crate::because::held_back(arm, cause);
        sentence.push_str(&format!(" There {held_back}."));
    }
    sentence
}
