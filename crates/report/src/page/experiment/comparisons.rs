//! Every comparison: the difference with its interval, the word, and what could have been seen.

use super::{NAME, Page};
use crate::page::chart::ForestScale;
use crate::page::prose;
use crate::{select, text, words};
use maud::{Markup, html};
use plimsoll_judge::{Comparison, Judgement, Verdict};
use plimsoll_plan::{Direction, Metric};
use plimsoll_record::quantities::numbers::PAGE;

/// A judgement as mark and word.
pub(crate) fn word(judgement: Judgement) -> Markup {
    let word = words::judgement(judgement);
    html! { span class={ "word " (word) } { span aria-hidden="true" { (words::judgement_mark(judgement, true)) } " " (word) } }
}

/// The difference with its interval below.
pub(crate) fn difference(verdict: &Verdict) -> Markup {
    html! {
        @match verdict.estimate { Some(share) => (PAGE.difference(share)), None => (PAGE.nothing()) }
        @match verdict.interval {
            Some(interval) => small { (PAGE.differences(verdict.estimate, interval)) },
            None => small { "no interval" },
        }
    }
}

/// How likely chance alone is, corrected where several comparisons decide.
pub(crate) fn p_value(verdict: &Verdict) -> Markup {
    html! {
        @if let Some(p) = verdict.p_holm.or(verdict.p_value) {
            small.p { "p " (PAGE.significant(p, 2)) @if verdict.p_holm.is_some() { " (Holm)" } }
        }
    }
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let comparisons = &page.report.analysis.comparisons;
    if comparisons.is_empty() {
        return html! {
            p {
                @if page.report.analysis.arms.len() < 2 { "One arm alone is compared with nothing." }
                @else { "No load was measured validly in two arms, so nothing can be compared." }
            }
        };
    }
    let groups = groups(comparisons, page.budget.comparison_rows);
    let only = comparisons.iter().all(|comparison| comparison.baseline == comparisons[0].baseline);
    let shown: usize = groups.iter().map(|group| group.rows.len()).sum();
    html! {
        p.lead {
            "Each row is an arm against " @if only { "the baseline" } @else { "that of its pair" }
            @if comparisons.iter().all(|one| one.apart.is_some()) { ", its runs not paired with the other's. " } @else { ", paired over the blocks. " } "The shaded strip is the margin within which a difference does not matter. "
            "Only the deciding rows answer the question; the others are exploratory: among many of them, some look different by chance."
        }
        div.scroll tabindex="0" role="region" aria-label="Table of comparisons" {
            table.comparisons {
                thead {
                    tr {
                        th scope="col" { "Mix and load" }
                        th scope="col" { "Arm" small { "against " @if only { (text::short(&comparisons[0].baseline, NAME)) } @else { "that of its pair" } } }
                        th.picture scope="col" { "Difference" small { "drawn on a scale of ratios" } }
                        th.num scope="col" { "Difference" small { "and its interval" } }
                        th scope="col" { "Verdict" }
                        th.num scope="col" { "Blocks" }
                        th.num scope="col" { "Smallest" small { "visible" } }
                    }
                }
                @for group in &groups { (rows(page, group, only)) }
            }
        }
        @if comparisons.len() > shown {
            p.remark { "Shown: " (shown) " of " (PAGE.count(comparisons.len() as u64)) " comparisons; all are in analysis.json." }
        }
    }
}

/// Comparisons of one metric, which share a scale.
struct Group<'a> {
    primary: bool,
    metric: Metric,
    direction: Direction,
    rows: Vec<&'a Comparison>,
}

/// The deciding ones first, each metric by itself, in the order in which they came.
fn groups(comparisons: &[Comparison], limit: usize) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let deciding = comparisons.iter().filter(|comparison| comparison.primary);
    let others = comparisons.iter().filter(|comparison| !comparison.primary);
    for comparison in deciding.chain(others).take(limit) {
        let known = groups
            .iter_mut()
            .find(|group| group.primary == comparison.primary && group.metric == comparison.metric);
        match known {
            Some(group) => group.rows.push(comparison),
            None => groups.push(Group {
                primary: comparison.primary,
                metric: comparison.metric,
                direction: comparison.direction,
                rows: vec![comparison],
            }),
        }
    }
    // Within a metric, what is compared with the same arm stands together, in the order in which it came.
    for group in &mut groups {
        let mut baselines: Vec<&str> = Vec::new();
        for row in &group.rows {
            if !baselines.contains(&row.baseline.as_str()) {
                baselines.push(&row.baseline);
            }
        }
        if baselines.len() > 1 {
            group.rows.sort_by_key(|row| baselines.iter().position(|name| *name == row.baseline));
        }
    }
    groups
}

/// How many blocks a deciding comparison needs that is inconclusive.
pub(super) fn needed(page: &Page<'_>, comparison: &Comparison) -> Option<String> {
    let needed = select::blocks_needed(page.report.analysis, comparison)?;
    words::blocks_needed(needed, PAGE)
}

/// `only` means a single baseline, which the header names.
fn rows(page: &Page<'_>, group: &Group<'_>, only: bool) -> Markup {
    let scale = ForestScale::of(group.rows.iter().copied());
    html! {
        tbody.exploratory[!group.primary] {
            tr.mix {
                th colspan="2" scope="rowgroup" {
                    @if group.primary { "Deciding: " } @else { "Exploratory: " }
                    (words::metric(group.metric))
                    span.quiet { @if group.direction == Direction::HigherIsBetter { ", more is better" } @else { ", less is better" } }
                }
                td.picture { (scale.axis()) }
                td.blank colspan="4" {}
            }
            @for (place, comparison) in group.rows.iter().enumerate() {
                @if !only && (place == 0 || group.rows[place - 1].baseline != comparison.baseline) {
                    tr.pair-of { th colspan="7" scope="rowgroup" { span.quiet { "against " } (page.arm(&comparison.baseline)) } }
                }
                (row(page, comparison, scale))
            }
        }
    }
}

fn row(page: &Page<'_>, comparison: &Comparison, scale: ForestScale) -> Markup {
    let verdict = &comparison.verdict;
    html! {
        tr class=(words::judgement(verdict.judgement)) {
            th.what scope="row" { (text::short(&comparison.mix, NAME)) " · " (prose::label(&comparison.load_label, NAME)) }
            td { (page.arm(&comparison.arm)) }
            td.picture { (scale.row(verdict)) }
            td.num {
                (difference(verdict))
            }
            td.v {
                (word(verdict.judgement))
                @if let Some(reason) = &verdict.reason { small { (text::short(reason, 120)) } }
                @if let Some(needed) = needed(page, comparison) { small { (needed) } }
                (super::why::of_both(page, comparison))
                (p_value(verdict))
            }
            td.num.count { (verdict.blocks) }
            td.num.count.seen { @match verdict.smallest_visible { Some(share) => (PAGE.visible(share)), None => (PAGE.nothing()) } }
        }
    }
}
