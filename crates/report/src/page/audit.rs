//! What can be believed of results that others published, as one page.

use crate::page::shell::{self, Place, Shell};
use crate::text;
use maud::{Markup, html};
use plimsoll_judge::{Audit, Audited, Belief, meaning};
use plimsoll_record::quantities::numbers::PAGE;

const SOURCE: usize = 100;
/// Rows of the table; the JSON has all.
const ROWS: usize = 2_000;

/// Makes the page. `version` is that of the program.
pub fn page(audit: &Audit, version: &str) -> String {
    let title = "What can be believed";
    let place = Place::File;
    let body = html! {
        header.masthead { (shell::brand(place)) p.run { strong { (title) } } }
        main {
            section.verdict {
                h1 { (audit.sentence()) }
                p.lead { "Each result was judged by its own output: whether its figures fit together, whether operations or clients failed, whether it settled, whether it is whole. Copies and outputs of the same time were found by comparing all results. What an output does not say cannot be tried." }
            }
            @if !audit.kinds().is_empty() { section { h2 { "Why not" } (kinds(audit)) } }
            section { h2 { "Every result" } (table(audit)) }
        }
    };
    shell::document(&Shell { title, version, place }, &body)
}

fn kinds(audit: &Audit) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Kinds of reasons" {
            table {
                thead { tr { th scope="col" { "Reason" } th.num scope="col" { "Results" } } }
                tbody {
                    @for (id, count) in audit.kinds() {
                        tr { th scope="row" { (text::line(meaning(id))) } td.num { (PAGE.count(count as u64)) } }
                    }
                }
            }
        }
    }
}

fn table(audit: &Audit) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Results" {
            table {
                thead { tr {
                    th scope="col" { "Belief" }
                    th scope="col" { "Result, and why not" }
                    th.num scope="col" { "Throughput" small { "op/s" } }
                    th.num scope="col" { "Measured" small { "s" } }
                } }
                tbody { @for result in audit.results.iter().take(ROWS) { (row(result)) } }
            }
        }
        @if audit.results.len() > ROWS { p.remark { "The first " (PAGE.count(ROWS as u64)) " of " (PAGE.count(audit.results.len() as u64)) " results; all are in the JSON of plimsoll foreign audit." } }
    }
}

fn row(result: &Audited) -> Markup {
    let (class, mark) = match result.belief {
        Belief::Believable => ("good", "✓"),
        Belief::WithCare => ("caution", "!"),
        Belief::NotBelievable => ("bad", "✕"),
    };
    let load = match result.load.is_empty() {
        true => result.workload.clone(),
        false => format!("{} at {}", result.workload, result.load),
    };
    html! {
        tr {
            td class=(class) { span.sign aria-hidden="true" { (mark) } " " (result.belief.words()) }
            th scope="row" {
                (text::short(&result.source, SOURCE))
                @if !result.tool.is_empty() { p.remark { (text::line(&result.tool)) ", " (text::line(&load)) } }
                @for reason in &result.reasons { p { (text::line(&reason.message)) } }
            }
            td.num { (result.throughput.map_or_else(|| PAGE.nothing().into(), |rate| PAGE.rate(rate))) }
            td.num { (result.seconds.map_or_else(|| PAGE.nothing().into(), |seconds| PAGE.significant(seconds, 3))) }
        }
    }
}
