//! Bounds of the objective that trials did not keep, in words.

use crate::words::{self, list};
use plimsoll_plan::search::{Miss, MixObjective};
use plimsoll_record::Operation;

/// Bounds that a sentence names.
const NAMED: usize = 2;

/// One bound that was not kept: `by-customer p99 10.4 ms is above 10 ms`.
pub(crate) fn in_words(miss: &Miss, aim: MixObjective<'_>) -> String {
    match *miss {
        Miss::Response { operation, percentile, value_ns, limit_ns } => format!(
            "{}p{percentile} {} is above {}",
            of(operation),
            words::duration(value_ns as f64),
            words::limit(limit_ns as f64)
        ),
        Miss::Unfinished { operation, percentile } => format!(
            "{}p{percentile} is unknown, because too many operations were unfinished",
            of(operation)
        ),
        Miss::Nothing { operation: Some(operation) } => {
            format!("no call of {} succeeded", operation.name())
        }
        Miss::Nothing { operation: None } => "nothing succeeded".into(),
        Miss::Errors { share } => format!(
            "{} of the operations failed, at most {} may",
            words::percent(share, 2),
            words::share(aim.objective.errors)
        ),
        Miss::Achieved { share } => format!(
            "{} of the rate was achieved, {} is required",
            words::percent(share, 1),
            words::share(aim.objective.achieved)
        ),
    }
}

/// The operation before its percentile; nothing for all together.
pub(crate) fn of(operation: Option<Operation>) -> String {
    operation.map_or_else(String::new, |operation| format!("{} ", operation.name()))
}

/// The bounds that most of the trials did not keep, each with the middle of what was measured; `None` where none is known.
pub(crate) fn decided<'a>(
    trials: impl Iterator<Item = &'a Vec<Miss>>,
    aim: MixObjective<'_>,
) -> Option<String> {
    let mut bounds: Vec<Vec<Miss>> = Vec::new();
    for miss in trials.flatten() {
        match bounds.iter_mut().find(|known| is_same_bound(&known[0], miss)) {
            Some(known) => known.push(*miss),
            None => bounds.push(vec![*miss]),
        }
    }
    let most = bounds.iter().map(Vec::len).max()?;
    bounds.retain(|one| one.len() == most);
    let middles = bounds.iter_mut().take(NAMED).map(|one| {
        one.sort_by(|left, right| value(left).total_cmp(&value(right)));
        in_words(&one[one.len() / 2], aim)
    });
    Some(list(&middles.collect::<Vec<_>>()))
}

fn is_same_bound(one: &Miss, other: &Miss) -> bool {
    let key = |miss: &Miss| match *miss {
        Miss::Response { operation, percentile, .. } => (0, operation, percentile),
        Miss::Unfinished { operation, percentile } => (1, operation, percentile),
        Miss::Nothing { operation } => (2, operation, 0.0),
        Miss::Errors { .. } => (3, None, 0.0),
        Miss::Achieved { .. } => (4, None, 0.0),
    };
    key(one) == key(other)
}

/// What was measured, where that is a figure.
fn value(miss: &Miss) -> f64 {
    match *miss {
        Miss::Response { value_ns, .. } => value_ns as f64,
        Miss::Errors { share } | Miss::Achieved { share } => share,
        Miss::Unfinished { .. } | Miss::Nothing { .. } => 0.0,
    }
}
