//! Bounds from the file against what was measured.

use crate::ThresholdResult;
use crate::arm_samples::ArmSamples;
use crate::roles::{is_at, is_line};
use crate::sample::{Sample, load_of};
use crate::words::counted;
use plimsoll_plan::{Metric, Plan, Point, Threshold};
use plimsoll_record::{LoadKind, Operation};
use plimsoll_stats::median;

/// Tries every bound at every arm, mix and load that it covers. One that covers nothing measured is broken.
pub(crate) fn thresholds(plan: &Plan, arms: &[ArmSamples]) -> Vec<ThresholdResult> {
    let mut results = Vec::new();
    for threshold in &plan.thresholds {
        let before = results.len();
        for (arm, samples) in plan.arms.iter().zip(arms) {
            let is_other = threshold.arm.as_ref().is_some_and(|only| *only != arm.name);
            if is_other || arm.planted.is_some() {
                continue;
            }
            for (point, of_point) in plan.points.iter().zip(&samples.points) {
                let (Some(first), Some(load)) = (of_point.first(), load_of(of_point)) else {
                    continue;
                };
                let mix = threshold.mix.as_ref();
                if mix.is_none_or(|only| *only == first.label.mix)
                    && has_operation(plan, threshold, point)
                    && is_meant(threshold, point, load)
                {
                    let mut subject =
                        format!("{}, {} at {}", arm.name, first.label.mix, first.label.load_label);
                    if let Some(operation) = threshold.metric.operation() {
                        subject.push_str(&format!(", {}", operation.name()));
                    }
                    results.push(result(threshold, subject, of_point));
                }
            }
        }
        if results.len() == before {
            results.push(result(threshold, "no such point was measured".into(), &[]));
        }
    }
    results
}

/// Whether the mix of a point has the operation that a bound is limited to.
fn has_operation(plan: &Plan, threshold: &Threshold, point: &Point) -> bool {
    let Some(operation) = threshold.metric.operation() else { return true };
    plan.mix_of(point).is_some_and(|mix| mix.share_of(operation) > 0.0)
}

/// Whether a bound covers this point. A bound on the line covers only the point that searched it, and one that names no load covers there nothing
/// but the line and what it costs.
fn is_meant(threshold: &Threshold, point: &Point, load: LoadKind) -> bool {
    match threshold.metric {
        Metric::Line => is_line(point),
        metric => match threshold.at {
            Some(at) => is_at(point, load, at),
            None => metric == Metric::Cost || !is_line(point),
        },
    }
}

fn result(threshold: &Threshold, subject: String, samples: &[Sample]) -> ThresholdResult {
    let mut values = Vec::with_capacity(samples.len());
    let mut is_bound = false;
    for sample in samples {
        if let Some(reading) = sample.reading(threshold.metric) {
            values.push(reading.value);
            is_bound |= reading.at_least;
        }
    }
    let measured = median(&values);
    let why = threshold.metric.operation().and_then(|operation| absent(operation, samples));
    let passed = match measured {
        _ if why.is_some() => false,
        None => false,
        Some(value) if threshold.at_least => value >= threshold.bound,
        // A lower bound that lies within the limit does not show that the limit holds.
        Some(value) => value <= threshold.bound && !is_bound,
    };
    ThresholdResult { text: threshold.text.clone(), subject, measured, passed, why }
}

/// In how many valid samples an operation has no call that succeeded, in words.
fn absent(operation: Operation, samples: &[Sample]) -> Option<String> {
    let valid: Vec<&Sample> = samples.iter().filter(|sample| sample.result.valid).collect();
    let without =
        valid.iter().filter(|sample| !sample.extract.by_operation.contains_key(&operation)).count();
    let name = operation.name();
    match without {
        0 => None,
        all if all == valid.len() => Some(format!("no call of {name} succeeded")),
        some => Some(format!(
            "no call of {name} succeeded in {some} of {}",
            counted(valid.len(), "block")
        )),
    }
}
