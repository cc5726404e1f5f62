//! At which load each mix is judged.

use crate::curve::number;
use crate::sample::{ArmSamples, Sample};
use plimsoll_experiment::{LoadAt, Metric, Plan};
use plimsoll_record::LoadKind;
use plimsoll_stats::median;

/// Index of the point at which a mix is judged, or why there is none, as the end of a sentence.
///
/// That is the point that the file names. Where it names none: in a closed sweep the baseline's point with the highest median throughput, in an open one the
/// highest rate that the baseline sustained in every valid run. The baseline alone is asked, so that the choice favours no arm by what the arm measured.
pub(crate) fn deciding_point(
    plan: &Plan,
    mix: usize,
    arms: &[ArmSamples],
    baseline: usize,
) -> Result<usize, String> {
    let mut candidates = Vec::new();
    for (index, point) in plan.points.iter().enumerate() {
        if usize::try_from(point.mix) != Ok(mix) {
            continue;
        }
        // Any arm that measured the point knows its load in numbers.
        let load = arms
            .iter()
            .find_map(|arm| Some(arm.points.get(index)?.first()?.label.load));
        candidates.extend(load.map(|load| (index, load)));
    }
    if candidates.is_empty() {
        return Err("no point of it was measured in a finished run".into());
    }
    if let Some(at) = plan.compare.at {
        let named = candidates.iter().find(|(_, load)| is_at(*load, at));
        return named.map(|(index, _)| *index).ok_or_else(|| match at {
            LoadAt::Threads(threads) => {
                format!("it was not measured with {threads} threads, at which it is to be judged")
            }
            LoadAt::Line(share) => format!(
                "it was not measured at {} of the line, at which it is to be judged",
                crate::words::percent(share, 0)
            ),
            LoadAt::Rate(rate) => format!(
                "it was not measured at {}, at which it is to be judged",
                crate::words::rate(rate)
            ),
        });
    }
    let mut best: Option<(usize, f64)> = None;
    let has_closed = candidates
        .iter()
        .any(|(_, load)| matches!(load, LoadKind::Closed { .. }));
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
    best.map(|(index, _)| index)
        .ok_or_else(|| "the baseline has no valid point in it".into())
}

/// Whether this is the load that the file means.
pub(crate) fn is_at(load: LoadKind, at: LoadAt) -> bool {
    match (load, at) {
        (LoadKind::Closed { sessions, .. }, LoadAt::Threads(threads)) => sessions == threads,
        (LoadKind::Open { rate, .. }, LoadAt::Rate(asked)) => rate == asked,
        _ => false,
    }
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
        LoadKind::Open { .. } => Some(if sustained {
            number(load)
        } else {
            -number(load)
        }),
    }
}
