//! What is said in a sentence for each pair of arms, with the figures in a table below.

use super::{NAME, Page};
use crate::page::prose;
use crate::text;
use maud::{Markup, html};

/// What is told of one pair.
pub(super) struct Told<'a> {
    pub(super) sentence: &'a str,
    /// The pair, or the arm.
    pub(super) name: String,
    pub(super) what: String,
    /// A figure for each title.
    pub(super) figures: Vec<String>,
}

pub(super) fn pair(arm: &str, baseline: &str) -> String {
    let [arm, baseline] = [arm, baseline].map(|name| text::short(name, NAME));
    format!("{arm} against {baseline}")
}

pub(super) fn what(mix: &str, load_label: &str, metric: &str) -> String {
    format!("{}, {load_label}: {metric}", text::short(mix, NAME))
}

/// The sentences, and the table of them under these titles.
pub(super) fn table(
    page: &Page<'_>,
    label: &str,
    (first, titles): (&str, &[&str]),
    all: &[Told<'_>],
) -> Markup {
    let limit = page.budget.arm_rows;
    html! {
        @for one in all.iter().take(limit) { p { (prose::prose(one.sentence)) } }
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr {
                    th scope="col" { (first) }
                    th scope="col" { "What" }
                    @for title in titles { th.num scope="col" { (title) } }
                } }
                tbody {
                    @for one in all.iter().take(limit) {
                        tr {
                            th scope="row" { (one.name) }
                            td { (one.what) }
                            @for figure in &one.figures { td.num { (figure) } }
                        }
                    }
                }
            }
        }
        @if all.len() > limit { p.remark { "The first " (limit) " of " (all.len()) " rows; all are in analysis.json." } }
    }
}
