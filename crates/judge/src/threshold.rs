//! Bounds from the file against what was measured.

use crate::ThresholdResult;
use crate::deciding::is_at;
use crate::sample::{ArmSamples, Sample};
use plimsoll_experiment::{Plan, Threshold};
use plimsoll_stats::median;

/// Tries every bound at every arm, mix and load that it speaks of. One that speaks of nothing measured is broken.
pub(crate) fn thresholds(plan: &Plan, arms: &[ArmSamples]) -> Vec<ThresholdResult> {
    let mut results = Vec::new();
    for threshold in &plan.thresholds {
        let before = results.len();
        for (arm, samples) in plan.arms.iter().zip(arms) {
            if threshold.arm.as_ref().is_some_and(|only| *only != arm.name) {
                continue;
            }
            for of_point in &samples.points {
                let Some(first) = of_point.first() else {
                    continue;
                };
                if is_meant(threshold, first) {
                    let subject = format!(
                        "{}, {} at {}",
                        arm.name, first.label.mix, first.label.load_label
                    );
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

fn is_meant(threshold: &Threshold, sample: &Sample) -> bool {
    let mix = threshold
        .mix
        .as_ref()
        .is_none_or(|only| *only == sample.label.mix);
    let load = threshold.at.is_none_or(|at| is_at(sample.label.load, at));
    mix && load
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
    let passed = match measured {
        None => false,
        Some(value) if threshold.at_least => value >= threshold.bound,
        // A lower bound that lies within the limit does not show that the limit holds.
        Some(value) => value <= threshold.bound && !is_bound,
    };
    ThresholdResult {
        text: threshold.text.clone(),
        subject,
        measured,
        passed,
    }
}
