//! At which load each mix is judged.

use crate::arm_samples::ArmSamples;
use crate::curve::number;
use crate::roles::{follows_line, is_at, is_line, line_point};
use crate::sample::{Sample, load_of};
use plimsoll_plan::{LoadAt, Metric, Plan};
use plimsoll_record::LoadKind;
use plimsoll_stats::median;

/// The metrics that decide about a mix, each with the point at which it does, and why others cannot, as ends of sentences.
///
/// The plimsoll line is judged where it was searched, whatever load the file names for the other metrics. At that point its rate stands for throughput.
pub(crate) fn deciding(
    plan: &Plan,
    mix: usize,
    arms: &[ArmSamples],
    baseline: usize,
) -> (Vec<(Metric, usize)>, Vec<String>) {
    let point = deciding_point(plan, mix, arms, baseline);
    let (mut places, mut reasons): (Vec<(Metric, usize)>, Vec<String>) = (Vec::new(), Vec::new());
    let metrics = crate::pairing::primaries(plan, &plan.mixes[mix]);
    if metrics.is_empty() {
        reasons.push("it has none of the operations that decide".into());
    }
    for metric in metrics {
        let place = match metric {
            Metric::Line => searched_line(plan, mix, arms).map(|point| (metric, point)),
            Metric::Throughput => point.clone().map(|point| {
                let is_line = is_line(&plan.points[point]);
                (if is_line { Metric::Line } else { metric }, point)
            }),
            _ => point.clone().map(|point| (metric, point)),
        };
        match place {
            Ok(place) if !places.contains(&place) => places.push(place),
            Err(reason) if !reasons.contains(&reason) => reasons.push(reason),
            _ => {}
        }
    }
    (places, reasons)
}

/// Index of the point that searched the line of a mix.
fn searched_line(plan: &Plan, mix: usize, arms: &[ArmSamples]) -> Result<usize, String> {
    let Some(point) = line_point(plan, mix) else {
        return Err("no plimsoll line is searched for it".into());
    };
    if arms.iter().any(|arm| arm.searches.contains_key(&point)) {
        Ok(point)
    } else {
        Err("no finished run has searched its plimsoll line".into())
    }
}

/// Index of the point at which a mix is judged, or why there is none, as the end of a sentence.
///
/// That is the point that the file names. Where it names none: in a closed sweep the baseline's point with the highest median throughput, in an open one the
/// highest rate that the baseline sustained in every valid run; the line where nothing else was measured. Only the baseline decides, so that the choice
/// favours no arm by what the arm measured.
pub(crate) fn deciding_point(
    plan: &Plan,
    mix: usize,
    arms: &[ArmSamples],
    baseline: usize,
) -> Result<usize, String> {
    let mut candidates = Vec::new();
    for (index, point) in plan.points.iter().enumerate() {
        if usize::try_from(point.mix) != Ok(mix) || is_line(point) {
            continue;
        }
        // Any arm that measured the point knows its load in numbers.
        let load = arms.iter().find_map(|arm| load_of(arm.points.get(index)?.as_slice()));
        candidates.extend(load.map(|load| (index, load)));
    }
    let line = searched_line(plan, mix, arms);
    if candidates.is_empty() && line.is_err() {
        return Err("no point of it was measured in a finished run".into());
    }
    if let Some(at) = plan.compare.at {
        if at == LoadAt::Line(1.0) {
            return line;
        }
        let named = candidates.iter().find(|(index, load)| is_at(&plan.points[*index], *load, at));
        return named.map(|(index, _)| *index).ok_or_else(|| match at {
            LoadAt::Threads(threads) => {
                format!("it was not measured with {threads} threads, where it is judged")
            }
            LoadAt::Line(share) => format!(
                "it was not measured at {} of the line, where it is judged",
                crate::roles::share_in_words(share)
            ),
            LoadAt::Rate(rate) => {
                format!("it was not measured at {}, where it is judged", crate::words::rate(rate))
            }
        });
    }
    let is_given = |(index, _): &(usize, LoadKind)| !follows_line(&plan.points[*index]);
    if candidates.iter().any(is_given) {
        candidates.retain(is_given);
    } else if let Ok(line) = line {
        return Ok(line);
    }
    let mut best: Option<(usize, f64)> = None;
    let has_closed = candidates.iter().any(|(_, load)| matches!(load, LoadKind::Closed { .. }));
    for (index, load) in candidates {
        let is_closed = matches!(load, LoadKind::Closed { .. });
        if is_closed != has_closed {
            continue;
        }
        let samples = arms.get(baseline).and_then(|arm| arm.points.get(index));
        let Some(score) = samples.and_then(|samples| score(samples, load)) else {
            continue;
        };
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((index, score));
        }
    }
    best.map(|(index, _)| index).ok_or_else(|| "the baseline has no valid point in it".into())
}

/// What the best point has most of: throughput in a closed loop, the rate itself in an open one where it was sustained.
fn score(samples: &[Sample], load: LoadKind) -> Option<f64> {
    let mut throughput = Vec::with_capacity(samples.len());
    let mut sustained = true;
    for sample in samples {
        let Some(reading) = sample.reading(Metric::Throughput) else {
            continue;
        };
        throughput.push(reading.value);
        let fell_behind = |warning: &plimsoll_record::Warning| {
            warning.id == plimsoll_record::WarningId::RateNotAchieved
        };
        sustained &= !sample.result.warnings.iter().any(fell_behind);
    }
    let median = median(&throughput)?;
    match load {
        LoadKind::Closed { .. } => Some(median),
        // A rate that was not sustained is better than none at all, and the lower the better.
        LoadKind::Open { .. } => Some(if sustained { number(load) } else { -number(load) }),
    }
}
