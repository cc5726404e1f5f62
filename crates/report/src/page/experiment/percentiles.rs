//! Response times far into the tail, arm over arm, on an axis of nines.

use super::{NAME, Page};
use crate::page::chart::{NinesChart, percentile_name};
use crate::page::prose;
use crate::{select, text, words};
use maud::{Markup, html};
use plimsoll_judge::{Tail, TailValue, tail};
use plimsoll_record::quantities::numbers::PAGE;

/// Percentiles of the table, as shares of slower operations.
const SHARES_BEYOND: [f64; 6] = [0.5, 0.1, 0.01, 0.001, 1e-4, 1e-5];

/// The tails of one mix at the load at which it is judged.
struct OfMix<'a> {
    mix: &'a str,
    label: String,
    tails: Vec<(String, Tail)>,
}

/// `None` where the record has no histograms.
pub(super) fn section(page: &Page<'_>) -> Option<Markup> {
    let analysis = page.report.analysis;
    let mut all = Vec::new();
    for mix in select::mixes(analysis).into_iter().take(page.budget.mixes) {
        all.extend(of_mix(page, mix));
    }
    if all.is_empty() {
        return None;
    }
    let with_service =
        all.iter().any(|one| one.tails.iter().any(|(_, tail)| !tail.service.is_empty()));
    Some(html! {
        p.lead {
            "How long the slowest operations took at the load at which the arms are judged: every step to the right is a nine more, one operation in ten of those before. "
            "All valid runs of an arm are merged, after the warm-up."
            @if with_service { " The thin line is the service time, counted from when an operation was sent." }
        }
        @if let Some(others) = others(page) { p.remark { (others) } }
        @for (number, one) in all.iter().enumerate() {
            figure.mix id={ "percentiles-" (number) } {
                figcaption {
                    h3 { "Mix " (text::short(one.mix, 80)) " at " (one.label) }
                    ul.legend { @for (arm, _) in one.tails.iter().filter(|(arm, _)| page.style(arm).own()) { li { (page.arm(arm)) } } }
                }
                @let chart = NinesChart {
                    id: format!("nines-{number}"),
                    title: format!("Response time over percentiles, mix {}", text::short(one.mix, 60)),
                    tails: &one.tails,
                    styles: &page.styles,
                };
                @if let Some(drawn) = chart.draw() { (drawn) }
                (table(page, one))
            }
        }
    })
}

/// The remark where not all arms are drawn.
fn others(page: &Page<'_>) -> Option<String> {
    let arms = &page.report.analysis.arms;
    let drawn = arms.iter().filter(|arm| page.style(&arm.name).own()).count();
    (drawn < arms.len()).then(|| {
        format!(
            "Drawn are the {drawn} arms that stand out in the charts over the load; the percentiles of the other {} are in points.csv.",
            arms.len() - drawn
        )
    })
}

fn of_mix<'a>(page: &Page<'a>, mix: &'a str) -> Option<OfMix<'a>> {
    let analysis = page.report.analysis;
    let judged = select::judged_point(analysis, mix)?;
    let arms = analysis.arms.iter().filter(|arm| page.style(&arm.name).own());
    let points: Vec<_> =
        arms.filter_map(|arm| select::point(analysis, &arm.name, mix, judged)).collect();
    let label = if select::is_line(analysis, mix, judged) {
        words::AT_LINE.to_owned()
    } else {
        prose::label(&points.first()?.load_label, NAME)
    };
    let tails: Vec<(String, Tail)> = points
        .into_iter()
        .filter_map(|point| Some((point.arm.clone(), tail(page.report.record, point)?)))
        .filter(|(_, tail)| tail.response.len() > 1)
        .collect();
    (!tails.is_empty()).then_some(OfMix { mix, label, tails })
}

fn table(page: &Page<'_>, one: &OfMix<'_>) -> Markup {
    html! {
        details {
            summary { "The numbers behind this chart" }
            div.scroll tabindex="0" role="region" aria-label="Numbers behind the percentiles" {
                table.data {
                    thead { tr {
                        th scope="col" { "Arm" }
                        @for beyond in SHARES_BEYOND { th.num scope="col" { (percentile_name(beyond)) } }
                        th.num scope="col" { "longest" }
                        th.num scope="col" { "operations" }
                        th.num scope="col" { "runs" }
                    } }
                    tbody { @for (arm, tail) in &one.tails {
                        tr {
                            th scope="row" { (page.arm(arm)) @if !tail.service.is_empty() { small { "response" } } }
                            @for beyond in SHARES_BEYOND { (cell(&tail.response, beyond, tail.at_least_from)) }
                            td.num { (PAGE.latency(tail.longest_ns)) }
                            td.num { (PAGE.count(tail.operations)) }
                            td.num { (tail.runs) }
                        }
                        @if !tail.service.is_empty() { tr {
                            th scope="row" { (page.arm(arm)) small { "service" } }
                            @for beyond in SHARES_BEYOND { (cell(&tail.service, beyond, None)) }
                            td.num {} td.num {} td.num {}
                        } }
                    } }
                }
            }
        }
    }
}

fn cell(values: &[TailValue], beyond: f64, at_least_from: Option<f64>) -> Markup {
    let found = values.iter().find(|value| (value.beyond / beyond - 1.0).abs() < 1e-6);
    html! {
        td.num {
            @match found {
                Some(value) => {
                    @if at_least_from.is_some_and(|from| beyond < from) { "≥\u{202f}" }
                    (PAGE.latency(value.value_ns))
                }
                None => (PAGE.nothing()),
            }
        }
    }
}
