use crate::words::{self, Change};
use crate::{Judgement, Verdict};
use plimsoll_plan::Metric;
use plimsoll_stats::Grounds;

/// What was counted in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Block,
    /// Runs of two arms without pairs; one arm may have more.
    Run {
        /// Number of runs of the arm that the other is compared with.
        baseline: usize,
        arm: usize,
    },
}

impl Unit {
    fn counted(self, count: usize) -> String {
        match self {
            Self::Block => words::counted(count, "block"),
            Self::Run { baseline, arm } if baseline != arm => {
                format!("{} against {baseline} of the baseline", words::counted(arm, "run"))
            }
            Self::Run { .. } => format!("{} of each arm", words::counted(count, "run")),
        }
    }

    /// `3 blocks, at least 6 are needed`.
    pub(crate) fn too_few(self, count: usize, needed: usize, deciding: Option<usize>) -> String {
        let because = deciding
            .map_or(String::new(), |metrics| format!(" to judge {metrics} metrics together"));
        let of_each = match self {
            Self::Run { baseline, arm } if baseline != arm => " of each",
            _ => "",
        };
        format!("{}, at least {needed}{of_each} are needed{because}", self.counted(count))
    }
}

pub(crate) struct Question<'a> {
    pub(crate) mix: &'a str,
    pub(crate) load_label: &'a str,
    pub(crate) metric: Metric,
    pub(crate) baseline: &'a str,
    pub(crate) arm: &'a str,
    pub(crate) unit: Unit,
}

/// One sentence that can stand alone.
pub(crate) fn sentence(
    question: &Question<'_>,
    verdict: &Verdict,
    grounds: Option<Grounds>,
) -> String {
    let Question { mix, load_label, metric, baseline, arm, .. } = question;
    let place = match metric {
        // It is where it is, at no load.
        Metric::Line => format!("under workload {mix}"),
        _ => format!("under workload {mix} at {load_label}"),
    };
    let subject = words::metric(*metric);
    let heading = capitalised(&subject);
    // A metric of one operation is measured "in" an arm.
    let of = if metric.operation().is_some() { "in" } else { "of" };
    let reason = verdict.reason.as_deref().unwrap_or_default();
    let Some(estimate) = verdict.estimate else {
        return match verdict.judgement {
            Judgement::Equivalent => format!(
                "No difference in {subject} between {arm} and {baseline} {place}: {reason}."
            ),
            _ => {
                format!("{heading} {of} {arm} and {baseline} cannot be compared {place}: {reason}.")
            }
        };
    };
    let style = Change::style(*metric, estimate, verdict.interval);
    let change = style.estimate(estimate);
    let figures = figures(question, verdict, &style);
    let margin = words::percent(verdict.margin, margin_decimals(verdict.margin));
    match verdict.judgement {
        // Cheaper says already that it is the cost.
        Judgement::Better | Judgement::Worse if *metric == Metric::Cost => {
            format!("{arm} is {change} per operation than {baseline} {place}{figures}.")
        }
        Judgement::Better | Judgement::Worse => {
            let than = style.conjunction();
            format!(
                "{heading} {of} {arm} is {change} {than} that {of} {baseline} {place}{figures}."
            )
        }
        Judgement::Equivalent => format!(
            "No difference in {subject} larger than {margin} between {arm} and {baseline} {place}: {change}{figures}."
        ),
        Judgement::Inconclusive => match grounds {
            Some(Grounds::NotEnoughBlocks { .. }) => format!(
                "Not certain yet: {subject} {of} {arm} is {change} {} that {of} {baseline} {place} so far ({reason}).",
                style.conjunction()
            ),
            Some(Grounds::SizeUnclear) => format!(
                "{heading} {of} {arm} differs from that {of} {baseline} {place}, but it is unclear whether by more than {margin}: {change}{figures}."
            ),
            _ => format!(
                "It is unclear whether {subject} {of} {arm} differs from that {of} {baseline} {place}: {change}{figures}.{}",
                visible(verdict)
            ),
        },
    }
}

/// A text with a capital letter at its beginning, unless that is a symbol such as `p99`.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_alphabetic() => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// Decimals that show a margin as it was written: `3 %`, `0.5 %`.
fn margin_decimals(margin: f64) -> usize {
    let percent = margin * 100.0;
    usize::from((percent - percent.round()).abs() > 1e-9)
}

/// ` (96.9 % interval 58.0 % to 63.9 % lower, 6 blocks)`.
fn figures(question: &Question<'_>, verdict: &Verdict, style: &Change) -> String {
    let count = question.unit.counted(usize::try_from(verdict.blocks).unwrap_or(usize::MAX));
    match (verdict.interval, verdict.confidence) {
        (Some(interval), Some(confidence)) => {
            format!(
                " ({} interval {}, {count})",
                words::confidence(confidence),
                style.interval(interval)
            )
        }
        _ => format!(" (no interval, {count})"),
    }
}

/// ` These blocks find differences of 9 % or more.`
fn visible(verdict: &Verdict) -> String {
    match verdict.smallest_visible {
        Some(share) => format!(
            " These blocks find differences of {} or more.",
            words::visible(share, if share >= 0.095 { 0 } else { 1 })
        ),
        None => String::new(),
    }
}
