//! Whether the machine was the same all the time: two fixed tasks, timed before and after each block.

use super::Page;
use crate::page::chart::{DriftChart, probe_time};
use crate::page::prose;
use maud::{Markup, html};
use plimsoll_judge::{Analysis, DriftResult};
use plimsoll_record::ProbeTime;
use plimsoll_record::quantities::numbers::PAGE;

const NAMED: usize = 24;

/// Whether probe tasks were timed.
pub(super) fn is_known(analysis: &Analysis) -> bool {
    analysis.drift.is_some()
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let Some(drift) = &page.report.analysis.drift else {
        return html! {};
    };
    let chart = |id, task, values, allowed| {
        DriftChart { id, task, values, allowed, marked: &drift.marked }.draw()
    };
    let cpu = chart("drift-cpu", "CPU test", &drift.cpu, drift.allowed.0);
    let disk = chart("drift-disk", "disk test", &drift.disk, drift.allowed.1);
    html! {
        p.lead {
            "The same two tasks with nothing under test, before (filled) and after (hollow) each block, against the median of all. Within the shaded strip they are as far off as usual; beyond it stands an exclamation mark, and the block is shaded."
        }
        p { (prose::prose(&drift.sentence)) }
        @if drift.marked.is_empty() { p { "No block is marked." } }
        @else { p { strong { "Marked: " } (marked(drift)) "." } }
        div.pair {
            @if let Some(drawing) = cpu { figure { figcaption { "CPU test" } (drawing) } }
            @if let Some(drawing) = disk { figure { figcaption { "Disk test" } (drawing) } }
        }
        (table(page, drift))
    }
}

fn marked(drift: &DriftResult) -> String {
    let named: Vec<String> =
        drift.marked.iter().take(NAMED).map(|block| (u64::from(*block) + 1).to_string()).collect();
    let more = drift.marked.len().saturating_sub(NAMED);
    let blocks = if drift.marked.len() == 1 { "block" } else { "blocks" };
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{blocks} {}{rest}", named.join(", "))
}

fn table(page: &Page<'_>, drift: &DriftResult) -> Markup {
    let mut places: Vec<(u32, ProbeTime)> =
        drift.cpu.iter().chain(&drift.disk).map(|(block, place, _)| (*block, *place)).collect();
    places.sort_by_key(|(block, place)| (*block, *place == ProbeTime::AfterBlock));
    places.dedup();
    let limit = page.budget.data_rows;
    let of = |values: &[(u32, ProbeTime, f64)], at: (u32, ProbeTime)| {
        let found = values.iter().find(|(block, place, _)| (*block, *place) == at);
        found.map_or(f64::NAN, |(_, _, value)| value - 1.0)
    };
    html! {
        details {
            summary { "The numbers behind both strips" }
            div.scroll tabindex="0" role="region" aria-label="Times of the fixed tasks" {
                table.data {
                    thead { tr { th.num scope="col" { "Block" } th scope="col" { "When" } th.num scope="col" { "CPU test" } th.num scope="col" { "Disk test" } th scope="col" { "Marked" } } }
                    tbody {
                        @for at in places.iter().take(limit) {
                            tr {
                                th.num scope="row" { (u64::from(at.0) + 1) }
                                td { (probe_time(at.1)) }
                                td.num { (PAGE.difference(of(&drift.cpu, *at))) }
                                td.num { (PAGE.difference(of(&drift.disk, *at))) }
                                td { @if drift.marked.contains(&at.0) { "! marked" } }
                            }
                        }
                    }
                }
            }
            @if places.len() > limit { p.remark { "The first " (limit) " of " (places.len()) " rows; all are in analysis.json." } }
        }
    }
}
