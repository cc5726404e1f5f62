//! The search for the plimsoll line, from its trials.

use crate::Search;
use crate::search::{Miss, MixObjective, Outcome, Tally};
use plimsoll_record::{LoadKind, PointRecord};
use plimsoll_stats::{LineGoal, LineSearch, LineTrial, StatsError};

/// When a search is over.
pub fn goal(search: &Search) -> LineGoal {
    LineGoal { width: search.width, ..LineGoal::with_trials_of(search.trial_ns as f64 / 1e9) }
}

/// A trial as the search takes it, from what was measured; `None` for one that was cut short, or is no open loop.
pub fn trial(point: &PointRecord, aim: MixObjective<'_>, search: &Search) -> Option<LineTrial> {
    let (trial, _, _) = trial_with_outcome(point, aim, search)?;
    Some(trial)
}

/// The same with what it came to, and the bounds that it did not keep.
pub fn trial_with_outcome(
    point: &PointRecord,
    aim: MixObjective<'_>,
    search: &Search,
) -> Option<(LineTrial, Outcome, Vec<Miss>)> {
    let end = point.end.as_ref()?;
    let LoadKind::Open { rate, .. } = point.label.load else {
        return None;
    };
    let tally = Tally::of(point, aim);
    if end.cut_short && !tally.is_lost(rate * search.trial_ns as f64 / 1e9) {
        return None;
    }
    let (outcome, misses) = tally.judged(end);
    let trial = LineTrial {
        rate,
        seconds: search.trial_ns as f64 / 1e9,
        is_good: outcome.meets_objective == Some(true) && !end.cut_short,
    };
    Some((trial, outcome, misses))
}

/// The search as it stands after these trials, in their order; it began at the rate of the first.
///
/// # Errors
/// When there is no trial, or its rate is out of the bounds of the search.
pub fn replay(search: &Search, trials: &[LineTrial]) -> Result<LineSearch, StatsError> {
    let first = trials.first().map_or(f64::NAN, |trial| trial.rate);
    let mut line = LineSearch::new(goal(search), search.rates.0, search.rates.1, first)?;
    for trial in trials {
        line.add(*trial)?;
    }
    Ok(line)
}
