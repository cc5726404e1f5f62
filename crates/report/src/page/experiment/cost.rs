//! What a million operations cost: at the knee, at the best, and at the plimsoll line.

use super::{NAME, Page};
use crate::page::prose;
use crate::{select, text, words};
use maud::{Markup, html};
use plimsoll_judge::{Analysis, CostResult, Estimate};
use plimsoll_record::quantities::numbers::PAGE;

/// Whether any arm has a price.
pub(super) fn is_known(analysis: &Analysis) -> bool {
    !analysis.costs.is_empty()
}

struct Column {
    title: &'static str,
    of: fn(&CostResult) -> Option<&Estimate>,
    load: fn(&CostResult) -> Option<&str>,
}

const COLUMNS: [Column; 3] = [
    Column {
        title: "at the knee",
        of: |cost| cost.at_knee.as_ref().map(|(_, estimate)| estimate),
        load: |cost| cost.at_knee.as_ref().map(|(load, _)| load.as_str()),
    },
    Column {
        title: "at the highest throughput",
        of: |cost| cost.at_best.as_ref().map(|(_, estimate)| estimate),
        load: |cost| cost.at_best.as_ref().map(|(load, _)| load.as_str()),
    },
    Column { title: "at the plimsoll line", of: |cost| cost.at_line.as_ref(), load: |_| None },
];

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    let known: Vec<&Column> = COLUMNS
        .iter()
        .filter(|column| analysis.costs.iter().any(|cost| (column.of)(cost).is_some()))
        .collect();
    let mut mixes: Vec<&str> = Vec::new();
    for cost in &analysis.costs {
        if !mixes.contains(&cost.mix.as_str()) {
            mixes.push(&cost.mix);
        }
    }
    let per_mix = (page.budget.arm_rows / mixes.len().max(1)).max(1);
    let left_out = mixes
        .iter()
        .any(|mix| analysis.costs.iter().filter(|cost| cost.mix == **mix).count() > per_mix);
    html! {
        p.lead {
            "Cost per million successful operations: the price of an hour divided by the operations done in an hour. The interval comes from the operations; the price is as given."
        }
        div.scroll tabindex="0" role="region" aria-label="Table of costs" {
            table.costs {
                thead { tr {
                    th scope="col" { "Arm" }
                    th.num scope="col" { "Price" small { "of an hour" } }
                    @for column in &known { th.num scope="col" { "Cost per 1M ops" small { (column.title) } } }
                    th scope="col" { "Price from" }
                } }
                @for mix in mixes.iter().take(page.budget.arm_rows) { (rows(page, mix, &known, per_mix)) }
            }
        }
        p.remark { "★ is the cheapest of its column, where all prices are in one currency. The verdict says whether a difference is more than chance." }
        @if left_out { p.remark { "The table shows the first " (per_mix) " arms of each mix; all are in analysis.json." } }
    }
}

fn rows(page: &Page<'_>, mix: &str, known: &[&Column], limit: usize) -> Markup {
    let all = page.report.analysis.costs.iter();
    let costs: Vec<&CostResult> = all.filter(|cost| cost.mix == mix).take(limit).collect();
    let cheapest: Vec<Option<usize>> = known
        .iter()
        .map(|column| {
            select::cheapest(
                costs.iter().map(|cost| Some((cost.currency.as_str(), (column.of)(cost)?))),
            )
        })
        .collect();
    html! {
        tbody {
            tr.mix { th colspan=(known.len() + 3) scope="rowgroup" { "Mix " (text::short(mix, 80)) } }
            @for (row, cost) in costs.iter().enumerate() {
                tr {
                    th scope="row" { (page.arm(&cost.arm)) }
                    td.num { (words::price(cost.per_hour, PAGE)) " " (currency(cost)) }
                    @for (column, cheapest) in known.iter().zip(&cheapest) {
                        (cell((column.of)(cost), (column.load)(cost), &currency(cost), *cheapest == Some(row)))
                    }
                    td { @match &cost.source { Some(source) => (text::short(source, 120)), None => span.quiet { "source not given" } } }
                }
            }
        }
    }
}

/// The currency, which is foreign text.
pub(super) fn currency(cost: &CostResult) -> String {
    text::short(&cost.currency, 8)
}

/// A cost with its interval.
pub(super) fn cell(
    estimate: Option<&Estimate>,
    load: Option<&str>,
    currency: &str,
    best: bool,
) -> Markup {
    html! {
        td.num.best[best] {
            @match estimate {
                Some(estimate) if select::median(estimate).is_finite() => {
                    @if best { span.star aria-hidden="true" { "★" } span.hidden { "cheapest: " } }
                    (words::money(select::median(estimate), PAGE)) " " (currency)
                    @match estimate.interval {
                        Some((low, high)) => small { (words::money(low, PAGE)) " to " (words::money(high, PAGE)) },
                        None => small { "no interval" },
                    }
                    @if let Some(load) = load { small { (prose::label(load, NAME)) } }
                }
                _ => (PAGE.nothing()),
            }
        }
    }
}
