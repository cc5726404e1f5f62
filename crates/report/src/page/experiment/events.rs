//! What came of the events: how long nothing succeeded, what failed, when it was as before, and what was lost.

use super::{NAME, Page};
use crate::page::prose;
use crate::{text, words};
use maud::{Markup, html};
use plimsoll_judge::{Acknowledgement, Analysis, EventResult};
use plimsoll_record::quantities::numbers::PAGE;

pub(super) fn is_known(analysis: &Analysis) -> bool {
    !analysis.events.is_empty()
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let results = &page.report.analysis.events;
    let shown = results.len().min(page.budget.arm_rows);
    html! {
        p.lead {
            "What was done to the servers on purpose, and what their clients saw of it, up to the next event or the end of the point. Of the blocks the median, and in brackets the least and the most. "
            "Without writes is the longest time from one write that succeeded to the next, where it is at least 0.1 s. The p99 is back when three seconds in a row have at most 1.5 times the p99 before the first event."
        }
        @for result in &results[..shown] {
            h3 { (page.arm(&result.arm)) " · " (text::short(&result.mix, NAME)) " · " (prose::label(&result.load_label, NAME)) }
            div.scroll tabindex="0" role="region" aria-label={ "What the events did to " (text::short(&result.arm, NAME)) } {
                table.data {
                    thead { tr {
                        th scope="col" { "Event" }
                        @for title in ["Without writes, s", "Without reads, s", "Failed operations", "p99 back after, s"] { th.num scope="col" { (title) } }
                    } }
                    tbody { @for event in &result.events { tr {
                        th scope="row" { (prose::prose(&event.words)) }
                        @if event.blocks == 0 {
                            td.num colspan="4" { "it did not happen" }
                        } @else {
                            td.num { (words::with_range(&event.without_writes, 2)) }
                            td.num { (words::with_range(&event.without_reads, 2)) }
                            td.num { (words::with_range(&event.errors, 0)) }
                            td.num { (back(event)) }
                        }
                    } } }
                }
            }
            @if let Some(kept) = &result.acknowledged { (acknowledged(kept)) }
        }
        @if shown < results.len() { p.remark { "Shown: " (shown) " of " (results.len()) "; all are in the analysis as JSON." } }
    }
}

/// When response times were as before, and in how many blocks they were not.
fn back(event: &EventResult) -> String {
    match event.not_back {
        0 => words::with_range(&event.p99_back, 1),
        all if all == event.blocks => "not".into(),
        not => format!(
            "{}, in {} of {} blocks",
            words::with_range(&event.p99_back, 1),
            event.blocks - not,
            event.blocks
        ),
    }
}

fn acknowledged(kept: &Acknowledgement) -> Markup {
    let count = |value: u64| PAGE.count(value);
    html! {
        p {
            @if kept.lost == 0 {
                "All " strong { (count(kept.writes)) } " writes that were acknowledged are there"
            } @else {
                strong { (count(kept.lost)) } " of " (count(kept.writes)) " writes that were acknowledged are lost, in " (kept.blocks_with_loss) " of " (kept.blocks) " blocks"
            }
            ": " (count(kept.records)) " records were read back after the points, when every member was there again. "
            @if kept.in_doubt > 0 { (count(kept.in_doubt)) " writes failed: they may be there or not. " }
            @if kept.unread > 0 { (count(kept.unread)) " records could not be read. " }
            @if !kept.lost_keys.is_empty() {
                "Lost, among others, of " @for (number, key) in kept.lost_keys.iter().enumerate() { @if number > 0 { ", " } code { (text::short(key, NAME)) } } "."
            }
        }
    }
}
