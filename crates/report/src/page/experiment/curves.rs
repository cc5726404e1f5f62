//! Throughput and p99 against the load, one pair of charts for each mix, with the numbers behind them.

use super::{NAME, Page, notes};
use crate::page::chart::{KneeChart, LoadChart, Quantity};
use crate::page::prose;
use crate::section::operations;
use crate::{select, text};
use maud::{Markup, html};
use plimsoll_judge::{Curve, CurvePoint, Estimate, Knee, LineResult, Scalability};
use plimsoll_record::quantities::numbers::PAGE;

const LEGEND: usize = 12;

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    let mixes = select::mixes(analysis);
    if analysis.curves.iter().all(|curve| curve.points.is_empty()) {
        return html! { p { "No point was measured, so there is no curve." } };
    }
    let drawn = mixes.len().min(page.budget.mixes);
    html! {
        p.lead {
            "Lines join the medians over the blocks. Band: interval of the median; dot: one block; ring: beyond it response times grow faster than throughput (the knee); ✕: no valid run, or value withheld."
            @if analysis.curves.iter().flat_map(|curve| &curve.points).any(select::is_open) { " The thin dashed line is the ideal: the requested rate." }
            @if analysis.lines.iter().any(|line| line.lower.is_some() || line.upper.is_some()) { " An upright band is the interval of an arm's plimsoll line." }
        }
        @for (number, mix) in mixes.iter().take(drawn).enumerate() {
            (mix_figure(page, number, mix, page.budget.data_rows / drawn))
        }
        @if mixes.len() > drawn {
            p.remark { "Drawn: the first " (drawn) " of " (mixes.len()) " mixes; all points are in points.csv." }
        }
    }
}

fn mix_figure(page: &Page<'_>, number: usize, mix: &str, rows: usize) -> Markup {
    let curves: Vec<&Curve> =
        page.report.analysis.curves.iter().filter(|curve| curve.mix == mix).collect();
    let lines = super::line::of_mix(page.report.analysis, mix);
    let parts = kinds(&curves);
    html! {
        figure.mix id={ "mix-" (number) } {
            figcaption { h3 { "Mix " (text::short(mix, 80)) } (legend(page, &curves)) }
            @if parts.is_empty() {
                (pictures(page, mix, &format!("load-{number}"), &curves, &lines))
            }
            @for (name, part) in &parts {
                @let part: Vec<&Curve> = part.iter().collect();
                p.table-title { @if *name == "open" { "Open loop" } @else { "Closed loop" } }
                (pictures(page, mix, &format!("load-{number}-{name}"), &part, &lines))
            }
            (knees(page, &curves))
            (data_table(page, &curves, rows))
            (by_operation(page, &curves, rows / 2))
        }
    }
}

/// Curves with closed loops and with open ones by themselves, where a mix has both.
fn kinds(curves: &[&Curve]) -> Vec<(&'static str, Vec<Curve>)> {
    let has = |open| {
        let mut points = curves.iter().flat_map(|curve| &curve.points);
        points.any(|point| select::is_open(point) == open)
    };
    if !(has(false) && has(true)) {
        return Vec::new();
    }
    let part = |open| {
        let parts = curves.iter().map(|curve| select::of_kind(curve, open));
        parts.filter(|part| !part.points.is_empty()).collect()
    };
    vec![("closed", part(false)), ("open", part(true))]
}

/// Throughput and p99 over one kind of load, and below them the knees and what the scalability law leaves over.
fn pictures(
    page: &Page<'_>,
    mix: &str,
    id: &str,
    curves: &[&Curve],
    lines: &[&LineResult],
) -> Markup {
    let chart = |quantity, name: &str| {
        LoadChart {
            id: format!("{id}-{name}"),
            group: id,
            mix,
            curves: curves.to_vec(),
            styles: &page.styles,
            quantity,
            lines,
        }
        .draw()
    };
    let (throughput, left_out) = chart(Quantity::Throughput, "rate");
    let (p99, _) = chart(Quantity::ResponseP99, "p99");
    let open = curves.iter().flat_map(|curve| &curve.points).any(select::is_open);
    let law = KneeChart { id: id.to_owned(), mix, curves, styles: &page.styles };
    let knees = law.knees(if open { "offered operations per second" } else { "threads" });
    let residuals = law.residuals();
    html! {
        div.pair { (throughput) (p99) }
        (notes(&left_out))
        @if open { (leaving(page, curves)) }
        @if knees.is_some() || residuals.is_some() {
            div.pair.below {
                @if let Some(drawing) = knees { (drawing) }
                @if let Some(drawing) = residuals { (drawing) }
            }
        }
    }
}

/// An arm that achieves less than this share of what was requested has left the ideal line.
const ON_THE_LINE: f64 = 0.99;

/// What a point did of what was due in it: as the judge counted it, or else of the rate that was requested.
fn achieved(point: &CurvePoint) -> f64 {
    let valid = point.results.iter().filter(|result| result.valid);
    let mut shares: Vec<f64> =
        valid.filter_map(|result| result.achieved).filter(|share| share.is_finite()).collect();
    shares.sort_by(f64::total_cmp);
    match shares.len().checked_sub(1) {
        Some(last) => (shares[last / 2] + shares[last.div_ceil(2)]) / 2.0,
        None => select::median(&point.throughput) / crate::axis::load_number(point.load),
    }
}

/// The first offered rate from which on an arm does less than all; `Ok` where it does all to the last, `None` without any point.
fn leaves(curve: &Curve) -> Option<Result<(), &CurvePoint>> {
    let points: Vec<&CurvePoint> = curve
        .points
        .iter()
        .filter(|point| {
            select::is_open(point) && point.valid_runs > 0 && achieved(point).is_finite()
        })
        .collect();
    let holds = |point: &&CurvePoint| achieved(point) >= ON_THE_LINE;
    let after = points.iter().rposition(holds).map_or(0, |last| last + 1);
    match points.get(after) {
        Some(point) => Some(Err(point)),
        None if points.is_empty() => None,
        None => Some(Ok(())),
    }
}

/// At which offered rate each arm leaves the ideal line.
fn leaving(page: &Page<'_>, curves: &[&Curve]) -> Markup {
    let own = curves.iter().filter(|curve| page.style(&curve.arm).own());
    html! {
        ul.knees {
            @for curve in own {
                @match leaves(curve) {
                    Some(Err(point)) => li {
                        (page.arm(&curve.arm)) " leaves the ideal line at " strong { (prose::label(&point.load_label, NAME)) }
                        ": it did " (PAGE.rate(select::median(&point.throughput))) "\u{202f}op/s, " (PAGE.percent(achieved(point))) " of what was due."
                    },
                    Some(Ok(())) => li { (page.arm(&curve.arm)) " stays on the ideal line: it did all that was due at every rate, within 1\u{202f}%." },
                    None => {}
                }
            }
        }
    }
}

fn legend(page: &Page<'_>, curves: &[&Curve]) -> Markup {
    let own: Vec<&&Curve> = curves.iter().filter(|curve| page.style(&curve.arm).own()).collect();
    html! {
        ul.legend {
            @for curve in own.iter().take(LEGEND) { li { (page.arm(&curve.arm)) } }
        }
    }
}

fn knees(page: &Page<'_>, curves: &[&Curve]) -> Markup {
    let own = || curves.iter().filter(|curve| page.style(&curve.arm).own());
    html! {
        @if own().any(|curve| curve.knee.is_some()) {
            ul.knees {
                @for curve in own() {
                    @if let Some(knee) = &curve.knee { li { (page.arm(&curve.arm)) (knee_sentence(knee)) } }
                }
            }
        }
        @if own().any(|curve| curve.scalability.is_some()) {
            details {
                summary { "Scalability law" }
                p.lead { "X(N) = λN ∕ (1 + σ(N − 1) + κN(N − 1)), fitted to the medians. Residuals are measured less fitted throughput, for each number of threads." }
                div.scroll tabindex="0" role="region" aria-label="Fit of the scalability law" {
                    table.data {
                        thead { tr {
                            th scope="col" { "Arm" }
                            @for title in ["λ, op/s", "contention σ", "coherency κ", "peak, threads"] { th.num scope="col" { (title) } }
                            th scope="col" { "Residuals" }
                        } }
                        tbody { @for curve in own() { @if let Some(law) = &curve.scalability { (law_row(page, &curve.arm, law)) } } }
                    }
                }
            }
        }
    }
}

fn knee_sentence(knee: &Knee) -> Markup {
    html! {
        ": beyond " strong { (prose::label(&knee.load_label, NAME)) }
        @if knee.range.0 < knee.range.1 {
            " (" (PAGE.compact_count(knee.range.0)) " to " (PAGE.compact_count(knee.range.1)) " over the blocks)"
        }
        " response times grow faster than throughput"
        @if knee.still_climbing { "; throughput " strong { "still grows at the last load" } ", so the sweep ended before the curve bent" }
        "."
    }
}

fn law_row(page: &Page<'_>, arm: &str, law: &Scalability) -> Markup {
    html! {
        tr {
            th scope="row" { (page.arm(arm)) }
            td.num { (PAGE.rate(law.lambda)) }
            td.num { (PAGE.significant(law.sigma, 2)) }
            td.num { (PAGE.significant(law.kappa, 2)) }
            td.num { @match law.peak_sessions { Some(peak) => (PAGE.fixed(peak, 0)), None => (PAGE.nothing()) } }
            td.each {
                @for (place, (sessions, fitted, off)) in law.residuals.iter().take(24).enumerate() {
                    @if place > 0 { " · " }
                    (PAGE.compact_count(*sessions)) ": " (PAGE.difference(off / fitted))
                }
            }
        }
    }
}

fn data_table(page: &Page<'_>, curves: &[&Curve], limit: usize) -> Markup {
    let total: usize = curves.iter().map(|curve| curve.points.len()).sum();
    let points = curves.iter().flat_map(|curve| &curve.points).take(limit);
    let causes = points.clone().any(|point| point.cause.is_some());
    html! {
        details {
            summary { "The numbers behind both charts" }
            div.scroll tabindex="0" role="region" aria-label="Numbers behind the charts" {
                table.data {
                    thead {
                        tr {
                            th scope="col" { "Arm" } th scope="col" { "Load" }
                            @for title in ["Throughput, op/s", "interval", "p50", "p95", "p99", "interval", "p99.9", "CPU per op", "Errors", "Valid runs"] {
                                th.num scope="col" { (title) }
                            }
                            @if causes { th scope="col" { "Bottleneck" } }
                            th scope="col" { "Throughput in each block" }
                        }
                    }
                    tbody { @for point in points { (data_row(page, point, causes)) } }
                }
            }
            @if total > limit { p.remark { "The first " (limit) " of " (total) " points; all are in points.csv." } }
        }
    }
}

fn data_row(page: &Page<'_>, point: &CurvePoint, causes: bool) -> Markup {
    let interval = |estimate: &Estimate, spelled: fn(f64) -> String| match estimate.interval {
        Some((low, high)) => format!("{} to {}", spelled(low), spelled(high)),
        None => PAGE.nothing().into(),
    };
    let rate: fn(f64) -> String = |value| PAGE.rate(value);
    let latency: fn(f64) -> String = |value| PAGE.latency(value);
    let bound = |at_least: bool| if at_least { "≥\u{202f}" } else { "" };
    html! {
        tr {
            th scope="row" { (page.arm(&point.arm)) }
            td { (prose::label(&point.load_label, NAME)) @if let Some(due) = point.due() { small { (PAGE.rate(due)) " due" } } }
            @if let Some(refused) = &point.refused {
                (super::refused(&rate(select::median(&refused.throughput)))) (super::refused(PAGE.nothing()))
                @for latencies in [&refused.response.p50, &refused.response.p95, &refused.response.p99] { (super::refused(&latency(select::median(latencies)))) }
                (super::refused(PAGE.nothing()))
                @for latencies in [&refused.response.p999, &refused.cpu_per_operation] { (super::refused(&latency(select::median(latencies)))) }
                td.num { (PAGE.count(point.errors)) }
            } @else {
                td.num { (rate(select::median(&point.throughput))) }
                td.num { (interval(&point.throughput, rate)) }
                td.num { (latency(select::median(&point.response.p50))) }
                td.num { (latency(select::median(&point.response.p95))) }
                td.num { (bound(point.p99_at_least)) (latency(select::median(&point.response.p99))) }
                td.num { (interval(&point.response.p99, latency)) }
                td.num { (bound(point.p999_at_least)) (latency(select::median(&point.response.p999))) }
                td.num { (latency(select::median(&point.cpu_per_operation))) }
                td.num { (PAGE.count(point.errors)) }
            }
            td.num.failed[point.valid_runs == 0] { (point.valid_runs) " of " (point.runs) }
            @if causes { td { (super::why::word(point.cause.as_ref())) } }
            td.each { @for (_, value) in point.throughput.values.iter().take(24) { span { (rate(*value)) } " " } }
        }
    }
}

fn by_operation(page: &Page<'_>, curves: &[&Curve], limit: usize) -> Markup {
    let Some(table) = operations(curves, PAGE) else {
        return html! {};
    };
    html! {
        details {
            summary { "Response time of each operation" }
            (super::section::table(page, &table, limit))
        }
    }
}
