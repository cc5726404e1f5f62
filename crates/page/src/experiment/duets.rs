//! What duets tell of the halves of the machine.

use super::{NAME, Page};
use crate::prose;
use maud::{Markup, html};
use plimsoll_judge::{Analysis, DuetResult};
use plimsoll_quantities::numbers::PAGE;
use plimsoll_report::{text, words};

/// Titles of the columns behind the names.
const COLUMNS: [&str; 6] = [
    "Duets",
    "Difference varies by",
    "Apart it would",
    "Correlation of duets",
    "Correlation of seconds",
    "Second half over first",
];

/// Whether there were duets.
pub(super) fn is_known(analysis: &Analysis) -> bool {
    !analysis.duets.is_empty()
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let all = &page.report.analysis.duets;
    let limit = page.budget.arm_rows;
    html! {
        p.lead {
            "Both arms of a pair ran at the same time, each on a half of the machine, and changed halves from duet to duet. What happens to the machine happens to both sides, "
            "and cancels in their difference: the more so, the closer their correlation is to 1. What an engine does to itself does not cancel."
        }
        @for result in all.iter().take(limit) { p { (prose::prose(&result.sentence)) } }
        div.scroll tabindex="0" role="region" aria-label="Table of the duets" {
            table {
                thead { tr {
                    th scope="col" { "Pair" }
                    th scope="col" { "What" }
                    @for title in COLUMNS { th.num scope="col" { (title) } }
                } }
                tbody { @for result in all.iter().take(limit) { (row(result)) } }
            }
        }
        @if all.len() > limit { p.remark { "The first " (limit) " of " (all.len()) " rows; all are in analysis.json." } }
    }
}

fn row(result: &DuetResult) -> Markup {
    let (low, high) = result.second_over_first_interval;
    html! {
        tr {
            th scope="row" { (text::short(&result.arm, NAME)) " against " (text::short(&result.baseline, NAME)) }
            td { (text::short(&result.mix, NAME)) ", " (result.load_label) ": " (words::metric(result.metric)) }
            td.num { (result.duets) }
            td.num { (PAGE.percent(result.spread)) }
            td.num { (PAGE.percent(result.spread_apart)) }
            td.num { (format!("{:.2}", result.correlation)) }
            td.num { @match result.correlation_of_seconds { Some(found) => (format!("{found:.2}")), None => "unknown" } }
            td.num { (PAGE.difference(result.second_over_first)) " (" (PAGE.difference(low)) " to " (PAGE.difference(high)) ")" }
        }
    }
}
