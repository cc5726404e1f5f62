//! The search of one block, done again from its trials by the same functions that decided them. So what counts is what the trials say, not what the program
//! thought while it measured.

use crate::extract::Reading;
use crate::missed::in_words;
use crate::sample::{Requirements, Sample};
use crate::select::as_u32;
use crate::{BlockLine, TrialResult};
use plimsoll_plan::search::{Miss, MixObjective, trial_with_outcome};
use plimsoll_plan::{Arm, Search};
use plimsoll_record::{PointRecord, RunRecord, Severity, Warning};
use plimsoll_stats::LineTrial;

/// A trial of a search with the attempt that made it.
pub(crate) type Tried<'a> = (&'a RunRecord, &'a PointRecord);

/// What the search of one block came to.
pub(crate) struct BlockSearch {
    pub(crate) line: BlockLine,
    /// Trials that did not hold at the lowest rate that was confirmed not to.
    pub(crate) beyond: Vec<Sample>,
    /// The bounds that these did not keep, where operations have bounds of their own.
    pub(crate) missed: Vec<Vec<Miss>>,
    /// Why its trials next to the line are no evidence of the arm.
    pub(crate) problem: Option<Warning>,
}

/// The trials of one point of a block, in the order in which they were made: those of attempts that were cut off were handed on to the next one.
pub(crate) fn trials<'a>(
    cut_off: &[&'a RunRecord],
    finished: &'a RunRecord,
    point: usize,
) -> Vec<Tried<'a>> {
    let mut trials = Vec::new();
    for run in cut_off.iter().copied().chain([finished]) {
        for one in &run.points {
            if one.label.point == Some(as_u32(point)) && one.label.trial.is_some() {
                trials.push((run, one));
            }
        }
    }
    trials.sort_by_key(|(run, one)| (run.attempt, one.label.trial));
    trials
}

/// Does the search of one block again. The sample stands for its line: a trial at the highest rate that held.
pub(crate) fn replay(
    trials: &[Tried<'_>],
    arm: &Arm,
    requested: &Requirements<'_>,
    (aim, search): (MixObjective<'_>, &Search),
    block: u32,
) -> (BlockSearch, Option<Sample>) {
    let mut tried: Vec<LineTrial> = Vec::new();
    let mut samples = Vec::new();
    let mut results = Vec::new();
    let mut misses = Vec::new();
    let has_own = aim.operations().next().is_some();
    for (run, point) in trials {
        let Some((trial, outcome, missed)) = trial_with_outcome(point, aim, search) else {
            continue;
        };
        let mut sample = Sample::of_trial(point, run, arm, requested);
        // A trial that ended early because its objective was lost is whole, and one in which nothing succeeded says enough.
        let is_invalid = |warning: &Warning| warning.severity() == Severity::Invalid;
        if !trial.is_good {
            sample.result.valid = !sample.result.warnings.iter().any(is_invalid);
        }
        sample.result.block = block;
        sample.meets_objective = Some(trial.is_good && sample.result.valid);
        let measured_ns = point.end.as_ref().map_or(0, |end| end.measured_ns);
        results.push(TrialResult {
            rate: trial.rate,
            seconds: measured_ns as f64 / 1e9,
            is_good: trial.is_good,
            valid: sample.result.valid,
            p99_ns: outcome.p99_ns,
            achieved: outcome.achieved,
            missed: if has_own {
                missed.iter().map(|one| in_words(one, aim)).collect()
            } else {
                Vec::new()
            },
        });
        misses.push(missed);
        tried.push(trial);
        samples.push(sample);
    }

    // Rates out of the bounds of the search tell nothing, and then there is no line.
    let line = plimsoll_plan::search::replay(search, &tried).map(|search| search.line());
    let (lower, upper) = line.map_or((None, None), |line| (line.lower, line.upper));
    let (mut below, mut beyond) = (Vec::new(), Vec::new());
    let mut missed = Vec::new();
    for ((trial, sample), of_trial) in tried.iter().zip(samples).zip(misses) {
        if trial.is_good && Some(trial.rate) == lower {
            below.push(sample);
        } else if !trial.is_good && Some(trial.rate) == upper {
            if sample.result.valid && has_own {
                missed.push(of_trial);
            }
            beyond.push(sample);
        }
    }
    let problem = no_evidence(&below).or_else(|| no_evidence(&beyond));
    beyond.retain(|sample| sample.result.valid);
    let mut at_line: Option<Sample> = None;
    for sample in below {
        let is_longer =
            at_line.as_ref().is_none_or(|best| sample.result.seconds >= best.result.seconds);
        if sample.result.valid && is_longer {
            at_line = Some(sample);
        }
    }
    if let Some(sample) = &mut at_line {
        sample.line = line_between(lower, upper).filter(|_| problem.is_none());
        if problem.is_some() {
            sample.result.valid = false;
            sample.meets_objective = Some(false);
        }
    }
    let line = BlockLine { block, lower, upper, trials: results };
    let search = BlockSearch { line, beyond, missed, problem };
    (search, at_line)
}

/// Why trials next to the line are no evidence: most of them failed a gate.
fn no_evidence(samples: &[Sample]) -> Option<Warning> {
    let invalid = |sample: &&Sample| !sample.result.valid;
    if samples.iter().filter(invalid).count() * 2 <= samples.len() {
        return None;
    }
    let warnings = samples.iter().flat_map(|sample| &sample.result.warnings);
    let mut gravest: Vec<&Warning> =
        warnings.filter(|warning| warning.severity() == Severity::Invalid).collect();
    gravest.sort_by_key(|warning| warning.id);
    gravest.first().map(|warning| (*warning).clone())
}

/// The geometric middle of an interval, or what is known where it is open above.
fn line_between(lower: Option<f64>, upper: Option<f64>) -> Option<Reading> {
    let lower = lower?;
    Some(match upper {
        Some(upper) => Reading::exact((lower * upper).sqrt()),
        None => Reading { value: lower, at_least: true },
    })
}
