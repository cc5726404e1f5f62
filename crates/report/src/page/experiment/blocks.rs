//! How much each arm varies from block to block, which is what every interval rests on.

use super::{NAME, Page};
use crate::page::chart::{farthest, strip};
use crate::page::prose;
use crate::{text, words};
use maud::{Markup, html};
use plimsoll_judge::{Analysis, Repeatability};
use plimsoll_plan::Metric;
use plimsoll_record::quantities::numbers::PAGE;

/// Whether anything is known of it.
pub(super) fn is_known(analysis: &Analysis) -> bool {
    !analysis.repeatability.is_empty()
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let all = &page.report.analysis.repeatability;
    let limit = page.budget.arm_rows;
    let mut groups: Vec<Vec<&Repeatability>> = Vec::new();
    for one in all.iter().take(limit) {
        match groups
            .iter_mut()
            .find(|group| group[0].metric == one.metric && group[0].mix == one.mix)
        {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    html! {
        p.lead {
            "The same arm, measured again in every block. A dot is one block, in their order from left to right, against the median of its arm; dots of one metric share their scale. "
            "The spread is the standard deviation as a share. What is visible is the smallest difference that a comparison of two such arms over as many blocks would show four times in five."
        }
        div.scroll tabindex="0" role="region" aria-label="Table of how blocks vary" {
            table.repeat {
                thead { tr {
                    th scope="col" { "Arm" }
                    th scope="col" { "Blocks" }
                    @for title in ["Spread", "Range", "Trend", "Visible"] { th.num scope="col" { (title) } }
                    th scope="col" { "In words" }
                } }
                @for group in &groups { (rows(page, group)) }
            }
        }
        @if all.len() > limit { p.remark { "The first " (limit) " of " (all.len()) " rows; all are in analysis.json." } }
        (noise(page))
    }
}

/// Where the noise of the comparisons comes from; nothing where that is not known.
fn noise(page: &Page<'_>) -> Markup {
    let noise = crate::section::noise(page.report.analysis, PAGE);
    html! {
        @if let Some(noise) = noise {
            h3 { "Where the noise comes from" }
            (super::section::section(page, &noise))
        }
    }
}

fn rows(page: &Page<'_>, group: &[&Repeatability]) -> Markup {
    // Never so close that chance within a thousandth looks like a landscape.
    let edge = group.iter().map(|one| farthest(&one.values)).fold(0.005, f64::max);
    let first = group[0];
    html! {
        tbody {
            tr.mix { th colspan="7" scope="rowgroup" { "Mix " (text::short(&first.mix, NAME)) ": " (words::metric(first.metric)) } }
            @for one in group {
                tr {
                    th scope="row" { (page.arm(&one.arm)) @if one.metric != Metric::Line { small { (prose::label(&one.load_label, NAME)) } } }
                    td.picture { (strip(&one.values, edge, page.style(&one.arm))) }
                    td.num {
                        (PAGE.percent(one.spread))
                        small { (PAGE.percent(one.spread_interval.0)) " to " (PAGE.percent(one.spread_interval.1)) }
                    }
                    td.num { (PAGE.percent(one.range)) }
                    td.num { @match one.trend { Some(share) => (PAGE.difference(share)), None => span.quiet { "none" } } }
                    td.num { @match one.visible { Some(share) => (PAGE.visible(share)), None => (PAGE.nothing()) } }
                    td.words { (prose::label(&one.sentence, 400)) }
                }
            }
        }
    }
}
