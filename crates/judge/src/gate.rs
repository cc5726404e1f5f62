//! A gate: whether the new arm loses more than the margin against the one that is known.

use crate::comparison::rule;
use crate::demanded::Demanded;
use crate::select::Selection;
use crate::words::{Change, counted, metric, percent};
use crate::{Comparison, GateOutcome, GateResult, Verdict};
use plimsoll_plan::Plan;
use plimsoll_record::quantities::units;
use plimsoll_stats::{Interval, Standing};

fn standing(plan: &Plan, one: &Comparison) -> Standing {
    let Verdict { interval, confidence, estimate, .. } = one.verdict;
    let interval = interval.map(|(lower, upper)| Interval {
        lower,
        upper,
        confidence: confidence.unwrap_or(0.0),
    });
    Standing::of(interval, estimate.unwrap_or(0.0), rule(plan, one.metric))
}

/// The answer of a gate; `None` where the plan is not one of a gate.
pub(crate) fn gate(
    plan: &Plan,
    selection: &Selection<'_>,
    demanded: Demanded,
    comparisons: &[Comparison],
) -> Option<GateResult> {
    let requested = plan.measurement.gate()?;
    let deciding: Vec<&Comparison> = comparisons.iter().filter(|one| one.primary).collect();
    let stand: Vec<Standing> = deciding.iter().map(|one| standing(plan, one)).collect();
    let is_lost = |one: &Standing| matches!(one, Standing::Lost { .. });
    let outcome = if stand.iter().any(is_lost) {
        GateOutcome::Failed
    } else if !stand.is_empty() && stand.iter().all(|one| *one == Standing::Kept) {
        GateOutcome::Passed
    } else {
        GateOutcome::Open
    };
    // What the look itself makes certain: its intervals attain what it demands.
    let by_look = |(one, standing): (&&Comparison, &Standing)| {
        let attained = one.verdict.confidence.unwrap_or(0.0);
        let demanded = demanded.before.unwrap_or(f64::INFINITY);
        attained >= demanded && standing.is_certain()
    };
    let mut each = deciding.iter().zip(&stand);
    let answered = match outcome {
        GateOutcome::Passed => each.all(by_look),
        GateOutcome::Failed => each.any(|(one, own)| is_lost(own) && by_look((one, own))),
        GateOutcome::Open => false,
    };
    let of_outcome = |own: &Standing| match outcome {
        GateOutcome::Failed => is_lost(own),
        GateOutcome::Passed => true,
        GateOutcome::Open => *own == Standing::Open,
    };
    let named = deciding.iter().zip(&stand);
    let named = named.filter(|(_, own)| of_outcome(own));
    let parts: Vec<String> = named.map(|(one, _)| in_words(one)).collect();
    let [base, new] = plan.pairs().first()?.map(|arm| &*plan.arms[arm].name);
    let what = match outcome {
        GateOutcome::Passed => {
            format!("The gate is passed: {new} does not lose more than the margin against {base}")
        }
        GateOutcome::Failed => {
            format!("THE GATE FAILED: {new} loses more than the margin against {base}")
        }
        GateOutcome::Open => {
            format!(
                "The gate is open: whether {new} loses more than the margin against {base} is not certain"
            )
        }
    };
    let made = selection.progress.order.len();
    let compared = deciding.iter().map(|one| can_be_compared(one));
    let compared = compared.min().unwrap_or(0);
    let usable = 2 * compared >= made;
    let blocks = counted(made, "block");
    let ended = match (answered, selection.ended_by_looks) {
        (true, _) => format!(" Answered after {blocks}."),
        (false, true) if !usable => {
            format!(" Only {compared} of {blocks} can be compared, so it ended.")
        }
        (false, true) => format!(
            " Its time of {} was over after {blocks}.",
            units::to_the_second(requested.within_ns)
        ),
        (false, false) => String::new(),
    };
    let sentence = match parts.is_empty() {
        true => format!("{what}.{ended}"),
        false => format!("{what}: {}.{ended}", parts.join("; ")),
    };
    Some(GateResult { outcome, answered, usable, sentence })
}

/// In how many blocks both have a valid point. Those that other programs disturbed count: more blocks will bring some that they did not.
fn can_be_compared(one: &Comparison) -> usize {
    let of = one.undisturbed.map(|undisturbed| undisturbed.of);
    of.unwrap_or(one.verdict.blocks) as usize
}

/// `workload c at 2 threads: throughput 1.2 % lower (0.4 % to 2.0 % lower), margin 3.0 %`.
fn in_words(one: &Comparison) -> String {
    let what = metric(one.metric);
    let place = format!("workload {} at {}: {what}", one.mix, one.load_label);
    let margin = percent(one.verdict.margin, 1);
    let Verdict { estimate: Some(estimate), interval: Some(interval), .. } = one.verdict else {
        let reason = one.verdict.reason.as_deref().unwrap_or("few blocks");
        return format!("{place} has no interval yet ({reason}), margin {margin}");
    };
    let change = Change::style(one.metric, estimate, Some(interval));
    format!(
        "{place} {} ({}), margin {margin}",
        change.estimate(estimate),
        change.interval(interval)
    )
}
