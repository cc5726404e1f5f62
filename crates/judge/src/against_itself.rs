//! An arm against itself: which differences the machine's noise alone makes.

use crate::comparison::effect;
use crate::select::as_u32;
use crate::words::{metric, percent};
use crate::{AgainstItself, Comparison, Judgement};
use plimsoll_plan::Plan;

/// How often it was called different, where the plan asks for that; `None` otherwise.
pub(crate) fn against_itself(plan: &Plan, comparisons: &[Comparison]) -> Option<AgainstItself> {
    if !plan.against_itself {
        return None;
    }
    let all = comparisons.iter().filter(|one| one.has_values()).count();
    let judged: Vec<&Comparison> = comparisons.iter().filter(|one| is_judged(one)).collect();
    let unjudged = all - judged.len();
    let is_different =
        |one: &&&Comparison| matches!(one.verdict.judgement, Judgement::Better | Judgement::Worse);
    let different = judged.iter().filter(is_different).count();
    let furthest = judged
        .iter()
        .filter(|one| one.verdict.estimate.is_some())
        .max_by(|left, right| effect(left).total_cmp(&effect(right)));
    let largest = furthest.and_then(|one| Some((one, one.verdict.estimate?)));
    let unknown = "so this machine's noise floor is unknown";
    let said = match judged.len() {
        0 if all == 0 => format!("nothing could be compared, {unknown}."),
        0 => format!("no comparison of {all} could be judged, {unknown}."),
        count => {
            let were = match (count, different) {
                (1, _) => "comparison was",
                (_, 1) => "comparisons was",
                _ => "comparisons were",
            };
            let largest = largest.map(|(of, share)| {
                format!(
                    "; the largest estimate was {}, of {} under workload {} at {}",
                    percent(share.abs(), 1),
                    metric(of.metric),
                    of.mix,
                    of.load_label
                )
            });
            let more = (unjudged > 0).then(|| format!(" {unjudged} more could not be judged."));
            format!(
                "{different} of {count} {were} called different (at most 5 % by chance){}.{}",
                largest.unwrap_or_default(),
                more.unwrap_or_default()
            )
        }
    };
    Some(AgainstItself {
        comparisons: as_u32(judged.len()),
        unjudged: as_u32(unjudged),
        different: as_u32(different),
        largest: largest.map(|(_, share)| share),
        sentence: format!("An arm against itself: {said}"),
    })
}

/// Whether it could have been called different.
fn is_judged(comparison: &Comparison) -> bool {
    let verdict = &comparison.verdict;
    comparison.has_values()
        && (verdict.interval.is_some() || verdict.judgement != Judgement::Inconclusive)
}
