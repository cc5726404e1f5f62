//! What the experiment found of what was planted in its controls.

use super::{NAME, Page};
use crate::prose;
use maud::{Markup, html};
use plimsoll_judge::{Analysis, ControlResult};
use plimsoll_quantities::numbers::PAGE;
use plimsoll_report::{text, words};

/// Whether there were controls.
pub(super) fn is_known(analysis: &Analysis) -> bool {
    !analysis.controls.is_empty()
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let all = &page.report.analysis.controls;
    let limit = page.budget.arm_rows;
    html! {
        p.lead {
            "Copies of the baseline, slowed down by a known share and measured beside the arms. What was planted and found would have been found in an arm as well; "
            "a copy without a slow-down that is called different is a false alarm."
        }
        @for result in all.iter().take(limit) { p { (prose::prose(&result.sentence)) } }
        div.scroll tabindex="0" role="region" aria-label="Table of the controls" {
            table {
                thead { tr {
                    th scope="col" { "Control" }
                    th scope="col" { "What" }
                    @for title in ["Planted", "Found", "Interval", "Worse in"] { th.num scope="col" { (title) } }
                } }
                tbody { @for result in all.iter().take(limit) { (row(result)) } }
            }
        }
        @if all.len() > limit { p.remark { "The first " (limit) " of " (all.len()) " rows; all are in analysis.json." } }
    }
}

fn row(result: &ControlResult) -> Markup {
    html! {
        tr {
            th scope="row" { (text::short(&result.control, NAME)) }
            td { (text::short(&result.mix, NAME)) ", " (result.load_label) ": " (words::metric(result.metric)) }
            td.num { (PAGE.difference(result.expected)) }
            td.num { @match result.estimate { Some(found) => (PAGE.difference(found)), None => "unknown" } }
            td.num { @match result.interval { Some((low, high)) => { (PAGE.difference(low)) " to " (PAGE.difference(high)) }, None => "unknown" } }
            td.num { (result.worse_in) " of " (result.blocks) }
        }
    }
}
