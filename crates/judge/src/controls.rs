//! Whether the experiment found what was planted in its controls: its own proof of what it can find, and of what it does not make up.

use crate::ControlResult;
use crate::arm_samples::ArmSamples;
use crate::comparison::rule;
use crate::deciding::deciding;
use crate::disturbance::KeptOut;
use crate::estimate::CONFIDENCE;
use crate::matched::Matched;
use crate::roles::load_label;
use crate::sample::Sample;
use crate::words;
use crate::words::{counted, percent};
use plimsoll_plan::{Direction, Metric, Plan, Point};
use plimsoll_record::{Warning, WarningId};
use plimsoll_stats::{FEWEST_BLOCKS, judge, median};
use plimsoll_workload::schedule::Load;

/// For each control and mix, by what was planted: throughput of a closed loop, response times of an open one.
pub(crate) fn controls(plan: &Plan, arms: &[ArmSamples]) -> Vec<ControlResult> {
    let mut results = Vec::new();
    for [baseline, control] in plan.controls() {
        let planted = plan.arms[control].planted.unwrap_or(0.0);
        for (mix_index, mix) in plan.mixes.iter().enumerate() {
            let (places, _) = deciding(plan, mix_index, arms, baseline);
            for (metric, point) in places {
                let response = median_response(&arms[baseline].points[point]);
                let expected = expected(&plan.points[point], metric, planted, response);
                let Some([expected, expected_least]) = expected else {
                    continue;
                };
                let matched = Matched::in_plan(plan, arms, [baseline, control], point, metric);
                let compared = Matched::compared(&matched.known).ok();
                let judged = compared
                    .and_then(|compared| judge(&compared, rule(plan, metric), CONFIDENCE).ok());
                let change = judged.map(|judged| judged.change);
                let is_worse = |change: f64| match metric.direction() {
                    Direction::HigherIsBetter => change < 0.0,
                    Direction::LowerIsBetter => change > 0.0,
                };
                let worse = matched.values.iter();
                let worse = worse.filter(|(_, base, control)| is_worse(control / base - 1.0));
                let enough = matched.known.len() >= FEWEST_BLOCKS;
                let interval = change
                    .filter(|_| enough)
                    .map(|change| (change.interval.lower, change.interval.upper));
                let mut result = ControlResult {
                    control: plan.arms[control].name.clone(),
                    baseline: plan.arms[baseline].name.clone(),
                    mix: mix.name.clone(),
                    load_label: load_label(&plan.points[point]),
                    metric,
                    planted,
                    expected,
                    expected_least,
                    estimate: change.map(|change| change.value),
                    interval,
                    blocks: matched.known.len(),
                    worse_in: worse.count(),
                    is_different: interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0),
                    is_found: interval.is_some_and(|(low, high)| is_worse(low) && is_worse(high)),
                    is_covered: interval.map(|(low, high)| low <= expected && expected <= high),
                    sentence: String::new(),
                };
                result.sentence = match matched.obstacle([&result.baseline, &result.control]) {
                    Some(reason) => format!(
                        "What {} says under workload {} at {} is not known: {reason}.",
                        result.control, result.mix, result.load_label
                    ),
                    None => sentence(&result) + kept_out_words(matched.kept_out.as_ref()),
                };
                results.push(result);
            }
        }
    }
    results
}

fn kept_out_words(kept_out: Option<&KeptOut>) -> &'static str {
    match kept_out {
        Some(KeptOut::LeftOut { kept_busy: true, .. }) => {
            " Only duets count in which other programs kept both sides busy."
        }
        Some(KeptOut::LeftOut { .. }) => {
            " Only duets count in which other programs left both sides alone."
        }
        Some(KeptOut::TakenOutOrLeftIn { .. }) => {
            " What other programs took of the processors is taken out, or left in."
        }
        Some(KeptOut::Explained { .. }) => {
            " What other programs took of the processors is taken out."
        }
        None => "",
    }
}

/// By what share a metric should change where this was planted, and by what at least; `None` of one that does not follow from it. The sessions of a closed loop pause
/// once in each second. What was under way then is still finished, so of the pause as much may be lost as a response takes, seconds.
fn expected(point: &Point, metric: Metric, planted: f64, response: f64) -> Option<[f64; 2]> {
    let is_closed = matches!(point.load, Load::Closed { .. });
    match metric {
        Metric::Throughput if is_closed => Some([-planted, -(planted - response).max(0.0)]),
        Metric::Response { .. } | Metric::Service { .. } | Metric::ResponseMean if !is_closed => {
            Some([1.0 / (1.0 - planted) - 1.0; 2])
        }
        // A copy differs in nothing.
        _ if planted == 0.0 => Some([0.0; 2]),
        _ => None,
    }
}

/// Mean response time of a point, the median over its runs, seconds.
fn median_response(samples: &[Sample]) -> f64 {
    let means = samples.iter().filter_map(|sample| sample.reading(Metric::ResponseMean));
    let means: Vec<f64> = means.map(|mean| mean.value / 1e9).collect();
    median(&means).unwrap_or(0.0)
}

impl ControlResult {
    /// Whether most of what was to be planted must have been: not where a response takes as long as half of a pause.
    pub fn is_planted(&self) -> bool {
        self.expected_least.abs() >= self.expected.abs() / 2.0
    }

    /// Whether the whole interval lies beyond what was planted: what was found is not it.
    fn is_too_much(&self) -> bool {
        let is_beyond = |estimate: f64| estimate.abs() > self.expected.abs();
        self.is_covered == Some(false) && self.estimate.is_some_and(is_beyond)
    }
}

fn sentence(result: &ControlResult) -> String {
    let what = words::metric(result.metric);
    let place = format!("under workload {} at {}", result.mix, result.load_label);
    let found = match (result.estimate, result.interval) {
        (Some(estimate), Some((low, high))) => format!(
            "{what} changed by {} ({} to {})",
            percent(estimate, 1),
            percent(low, 1),
            percent(high, 1)
        ),
        _ => {
            return format!(
                "What {} says {place} is not known: {} of at least {FEWEST_BLOCKS}.",
                result.control,
                counted(result.blocks, "block")
            );
        }
    };
    if result.planted == 0.0 {
        return match result.is_different {
            true => format!(
                "A copy of {} was called different {place}, {found}: a false alarm, as they come in 5 of 100 comparisons.",
                result.baseline
            ),
            false => {
                format!("A copy of {} was not called different {place}, {found}.", result.baseline)
            }
        };
    }
    let planted = percent(result.planted, 1);
    if !result.is_planted() {
        return format!(
            "A slow-down of {planted} could not be planted {place}: sessions pause for {planted} of each second, and what is under way then takes about as long. Use fewer threads, or a larger control."
        );
    }
    let blocks = format!("worse in {} of {}", result.worse_in, counted(result.blocks, "block"));
    if result.is_found && result.is_too_much() {
        return format!(
            "A slow-down of {planted} was planted {place}, and more than that was found: {found}, {blocks}. Something else slows it down as well, and may do so in any comparison here; 5 of 100 intervals miss by chance."
        );
    }
    match result.is_found {
        true => format!(
            "A slow-down of {planted} would have been found {place}: it was planted, and found: {found}, {blocks}."
        ),
        false => format!(
            "A slow-down of {planted} would not have been found {place}: it was planted, and {found}, {blocks}."
        ),
    }
}

/// Controls that should have been found, and copies that were called different.
pub(crate) fn warnings(plan: &Plan, results: &[ControlResult]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for result in results {
        let subject = format!("{}, {} at {}", result.control, result.mix, result.load_label);
        let what = words::metric(result.metric);
        let is_missed = result.interval.is_some()
            && result.is_planted()
            && !result.is_found
            && result.expected.abs() >= rule(plan, result.metric).margin();
        if result.planted > 0.0 && is_missed {
            let message = format!(
                "{what}: a slow-down of {} was planted and not found",
                percent(result.planted, 1)
            );
            warnings.push(Warning::new(WarningId::ControlMissed, subject, message));
        } else if result.planted == 0.0 && result.is_different {
            let message = format!("{what}: a copy of {} was called different", result.baseline);
            warnings.push(Warning::new(WarningId::FalseAlarm, subject, message));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a neighbour did who always sat down beside the arm that paused.
    #[test]
    fn more_than_was_planted_is_not_what_was_planted() {
        let mut result = ControlResult {
            control: "control 2%".into(),
            baseline: "base".into(),
            mix: "c".into(),
            load_label: "2 threads".into(),
            metric: Metric::Throughput,
            planted: 0.02,
            expected: -0.02,
            expected_least: -0.019,
            estimate: Some(-0.504),
            interval: Some((-0.688, -0.303)),
            blocks: 200,
            worse_in: 175,
            is_different: true,
            is_found: true,
            is_covered: Some(false),
            sentence: String::new(),
        };
        let said = sentence(&result);
        assert!(said.contains("more than that was found: throughput changed by -50.4 %"));
        assert!(!said.contains("would have been found"), "{said}");
        result.estimate = Some(-0.021);
        result.interval = Some((-0.03, -0.012));
        result.is_covered = Some(true);
        assert!(sentence(&result).contains("would have been found under workload"));
    }
}
