//! What differed between the arms, and the order in which they ran.

use super::Page;
use crate::{text, words};
use maud::{Markup, html};
use plimsoll_judge::{BlockOrder, Difference, FactorResults};
use plimsoll_record::RunState;
use plimsoll_record::quantities::numbers::PAGE;

/// Arms that get a column of their own; with more, arms are listed by value.
const COLUMNS: usize = 4;
/// Rows of the table of differences.
const ROWS: usize = 100;
/// Arms listed by name behind one value.
const LISTED: usize = 8;
const PAIRS: usize = 40;
/// Blocks and arms within a block that are drawn.
const BLOCKS: usize = 64;
const ARMS: usize = 16;

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    if analysis.differences.is_empty() && super::provenance::is_imported(page) {
        return html! { p { "Nothing that the imported outputs show. They say little of settings, and nothing of machine and storage." } };
    }
    if analysis.differences.is_empty() {
        return html! { p { "Nothing: no difference between the arms was declared, and none was found in settings, versions, machine or storage." } };
    }
    let mut ordered: Vec<&Difference> = analysis.differences.iter().collect();
    ordered.sort_by_key(|difference| !difference.declared);
    let found = ordered.iter().filter(|difference| !difference.declared).count();
    let by_arm = analysis.arms.len() <= COLUMNS;
    html! {
        p.lead {
            @if super::provenance::is_imported(page) { "What the imported outputs show. They say little of settings, and nothing of machine and storage, so there may be other differences." }
            @else if found == 0 { "Only what the file declares differed; settings, versions, machine and storage were compared and are otherwise the same." }
            @else { "Besides what the file declares, " (words::counted(found as u64, "other difference", PAGE)) " was found by looking. Each could be a cause as well." }
        }
        div.scroll tabindex="0" role="region" aria-label="Table of differences" {
            table.differences {
                thead { tr {
                    th scope="col" { "What" }
                    th scope="col" { "Origin" }
                    @if by_arm { @for arm in &analysis.arms { th scope="col" { (page.arm(&arm.name)) } } }
                    @else { th scope="col" { "Values" } }
                } }
                tbody {
                    @for difference in ordered.iter().take(ROWS) {
                        tr.found[!difference.declared] {
                            th scope="row" { (text::short(&difference.what, 80)) }
                            td { @if difference.declared { "declared" } @else { strong { "found" } } }
                            @if by_arm {
                                @for arm in &analysis.arms {
                                    td { @match difference.values.iter().find(|(name, _)| *name == arm.name) {
                                        Some((_, value)) => (text::short(value, 80)),
                                        None => (PAGE.nothing()),
                                    } }
                                }
                            } @else {
                                td { (by_value(difference, analysis.factors.as_ref())) }
                            }
                        }
                    }
                }
            }
        }
        @if ordered.len() > ROWS { p.remark { "The first " (ROWS) " of " (ordered.len()) " differences; all are in analysis.json." } }
        (by_pair(page))
    }
}

/// The same between the two arms of each comparison, where there are more than two arms.
fn by_pair(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    if analysis.arms.len() < 3 || analysis.pairs.is_empty() {
        return html! {};
    }
    let value = |difference: &Difference, arm: &str| {
        let found = difference.values.iter().find(|(name, _)| name == arm);
        found.map_or_else(|| PAGE.nothing().to_owned(), |(_, value)| text::short(value, 60))
    };
    html! {
        details {
            summary { "Differences between the arms of each pair" }
            ul.pairs { @for pair in analysis.pairs.iter().take(PAIRS) {
                li {
                    (page.arm(&pair.arm)) span.quiet { " against " } (page.arm(&pair.baseline))
                    ul { @for difference in pair.differences.iter().take(LISTED) {
                        li {
                            strong { (text::short(&difference.what, 80)) } ": "
                            (value(difference, &pair.arm)) span.quiet { " against " } (value(difference, &pair.baseline))
                            @if !difference.declared { span.tag { "found" } }
                        }
                    } }
                    @if pair.differences.len() > LISTED { small { "and " (pair.differences.len() - LISTED) " more" } }
                }
            } }
            @if analysis.pairs.len() > PAIRS { p.remark { "The first " (PAIRS) " of " (analysis.pairs.len()) " pairs; all are in analysis.json." } }
        }
    }
}

fn by_value(difference: &Difference, factors: Option<&FactorResults>) -> Markup {
    let values = crate::factors::by_value(difference, factors);
    html! {
        @for (value, arms) in values.iter().take(LISTED) {
            div {
                strong { (text::short(value, 80)) }
                @if !arms.is_empty() { ": " }
                @for (number, arm) in arms.iter().take(LISTED).enumerate() {
                    @if number > 0 { ", " } (text::short(arm, 24))
                }
                @if arms.len() > LISTED { " and " (arms.len() - LISTED) " more" }
            }
        }
        @if values.len() > LISTED { div { "and " (values.len() - LISTED) " more values" } }
    }
}

pub(super) fn order(page: &Page<'_>) -> Markup {
    let order = &page.report.analysis.progress.order;
    if order.is_empty() {
        return html! { p { "No block was begun." } };
    }
    html! {
        @if super::provenance::is_imported(page) { p.lead { "In which order the imported runs were made is not known. They are listed as they were given." } }
        @else { p.lead { "Blocks one after the other, arms within each from left to right. Shuffling keeps a slow drift of the machine from favouring one arm." } }
        ol.blocks {
            @for block in order.iter().take(BLOCKS) {
                li {
                    span.number { "Block " (u64::from(block.block) + 1) }
                    (block_arms(page, block))
                }
            }
        }
        @if order.len() > BLOCKS { p.remark { "The first " (BLOCKS) " of " (order.len()) " blocks; all are in analysis.json." } }
    }
}

fn block_arms(page: &Page<'_>, block: &BlockOrder) -> Markup {
    html! {
        @for arm in block.arms.iter().take(ARMS) {
            span.arm {
                (page.style(arm).swatch())
                (text::short(arm, 24))
                @if let Some(state) = state(page, block.block, arm) { strong.failed { " " (state) } }
            }
        }
        @if block.arms.len() > ARMS { span.quiet { "and " (block.arms.len() - ARMS) " more" } }
    }
}

/// A word for a run that has no good end.
fn state(page: &Page<'_>, block: u32, arm: &str) -> Option<&'static str> {
    let mut worst = None;
    for run in page.runs_of(arm).filter(|run| run.block == block) {
        match run.state {
            RunState::Finished => return None,
            RunState::Failed { .. } => worst = Some("✗ failed"),
            RunState::Interrupted | RunState::Started => worst = worst.or(Some("✗ interrupted")),
        }
    }
    worst
}
