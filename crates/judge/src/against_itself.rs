//! An arm against itself: what the machine passes off as a difference.

use crate::comparison::effect;
use crate::select::as_u32;
use crate::words::percent;
use crate::{AgainstItself, Comparison, Judgement};
use plimsoll_plan::Plan;

/// How often it was called different, where the plan asks for that; `None` otherwise.
pub(crate) fn against_itself(plan: &Plan, comparisons: &[Comparison]) -> Option<AgainstItself> {
    if !plan.against_itself {
        return None;
    }
    let compared: Vec<&Comparison> = comparisons
        .iter()
        .filter(|comparison| comparison.has_values())
        .collect();
    let is_different = |comparison: &&&Comparison| {
        matches!(
            comparison.verdict.judgement,
            Judgement::Better | Judgement::Worse
        )
    };
    let different = compared.iter().filter(is_different).count();
    let with_estimate = compared
        .iter()
        .filter(|comparison| comparison.verdict.estimate.is_some());
    let furthest = with_estimate.max_by(|left, right| effect(left).total_cmp(&effect(right)));
    let largest = furthest.and_then(|comparison| comparison.verdict.estimate);
    let all = compared.len();
    let sentence = match largest {
        None => "An arm against itself: nothing could be compared, so this machine's noise floor is unknown.".into(),
        Some(largest) => format!(
            "An arm against itself: {different} of {all} {} called different, largest {}; at most 5 % may be.",
            match (all, different) {
                (1, _) => "comparison was",
                (_, 1) => "comparisons was",
                _ => "comparisons were",
            },
            percent(largest.abs(), 1)
        ),
    };
    Some(AgainstItself {
        comparisons: as_u32(all),
        different: as_u32(different),
        largest,
        sentence,
    })
}
