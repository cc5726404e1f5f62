//! The arms side by side, at the load at which each mix is judged.

use super::{NAME, Page, notes};
use crate::page::prose;
use crate::section::Kind;
use crate::{select, text, words};
use maud::{Markup, html};
use plimsoll_judge::{
    Analysis, ArmSummary, Comparison, CostResult, CurvePoint, Estimate, FigureUnit, Figures,
    LineResult,
};
use plimsoll_plan::Metric;
use plimsoll_record::quantities::numbers::PAGE;

struct Column {
    title: &'static str,
    unit: &'static str,
    of: fn(&CurvePoint) -> &Estimate,
    spelled: fn(f64) -> String,
    higher_is_better: bool,
    with_interval: bool,
    /// Whether the figure is only a lower bound.
    at_least: fn(&CurvePoint) -> bool,
    /// For a response time: the service time, printed where it differs.
    service: Option<fn(&CurvePoint) -> &Estimate>,
}

fn latency(value: f64) -> String {
    PAGE.latency(value)
}

const fn span(
    title: &'static str,
    unit: &'static str,
    of: fn(&CurvePoint) -> &Estimate,
    service: Option<fn(&CurvePoint) -> &Estimate>,
) -> Column {
    Column {
        title,
        unit,
        of,
        spelled: latency,
        higher_is_better: false,
        with_interval: false,
        at_least: |_| false,
        service,
    }
}

const COLUMNS: [Column; 5] = [
    Column {
        title: "Throughput",
        unit: "op/s",
        of: |point| &point.throughput,
        spelled: |value| PAGE.rate(value),
        higher_is_better: true,
        with_interval: true,
        at_least: |_| false,
        service: None,
    },
    span("p50", "response", |point| &point.response.p50, Some(|point| &point.service.p50)),
    Column {
        with_interval: true,
        at_least: |point| point.p99_at_least,
        ..span("p99", "response", |point| &point.response.p99, Some(|point| &point.service.p99))
    },
    Column {
        at_least: |point| point.p999_at_least,
        ..span("p99.9", "response", |point| &point.response.p999, Some(|point| &point.service.p999))
    },
    span("CPU", "per op", |point| &point.cpu_per_operation, None),
];
/// With more arms, what is the same for all of them is not said of each.
const FEW: usize = 4;
/// Columns that stand in every table beside those of figures: arm, verdict, valid runs.
const ALWAYS: usize = 3;

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    if analysis.arms.is_empty() {
        return html! { p { "The experiment has no arms, so there is nothing to compare." } };
    }
    let mixes = select::mixes(analysis);
    let per_mix = (page.budget.arm_rows / mixes.len().max(1)).max(1);
    let shown = shown(page, per_mix);
    let mut left_out = Vec::new();
    if shown.len() < analysis.arms.len() {
        left_out.push(format!(
            "The table shows {} of {} arms, among them those with the clearest verdicts, their baselines and those with the highest throughput; all are in points.csv.",
            shown.len(),
            analysis.arms.len()
        ));
    }
    let (line, cost) = (super::line::is_known(analysis), !analysis.costs.is_empty());
    let extra = Extra {
        iops: points(analysis).any(|point| iops(point).is_some()),
        // The line says more than whether the objective held at one load.
        objective: !line && points(analysis).any(|point| point.meets_objective.is_some()),
        size: select::is_size_shown(points(analysis)),
        written: select::is_written_shown(points(analysis)),
        cause: points(analysis).any(|point| point.cause.is_some()),
        line,
        cost,
    };
    let with_service = points(analysis).any(|point| point.service != point.response);
    html! {
        div.scroll.many tabindex="0" role="region" aria-label="Table of the arms" {
            table.arms {
                thead {
                    tr {
                        th scope="col" { "Arm" }
                        th scope="col" { "Verdict" small { "against " @if one_baseline(analysis) { "the baseline" } @else { "its pair" } } }
                        @for column in &COLUMNS { th.num scope="col" { (column.title) small { (column.unit) } } }
                        @if extra.iops { th.num scope="col" { "IOPS" small { "of the disk" } } }
                        @if extra.size { th.num scope="col" { "On disk" small { "after the load" } } }
                        @else if extra.written { th.num scope="col" { "Written" small { "per op" } } }
                        @if extra.cost { th.num scope="col" { "Cost" small { a href="#cost" { "per 1M ops, " (select::shown_cost_place(analysis)) } } } }
                        @if extra.line { th.num scope="col" { "Line" small { a href="#line" { "op/s" } } } }
                        @if extra.objective { th scope="col" { "Objective" } }
                        @if extra.cause { th scope="col" { "Bottleneck" small { a href="#why" { "why" } } } }
                        th.num scope="col" { "Valid" small { "runs" } }
                    }
                }
                @for (place, mix) in mixes.iter().enumerate() {
                    (mix_rows(page, mix, extra, &shown, place == 0))
                }
            }
        }
        p.remark {
            @if points(analysis).any(|point| point.refused.is_some()) { (words::REFUSED) " " }
            "★ is the best median of its column. Small figures are intervals over the blocks"
            @if with_service { ", and service times where they are not the response times" }
            ". The verdict says whether a difference is more than chance."
        }
        (notes(&left_out))
        (thresholds(analysis))
        (load_phase(page))
    }
}

/// Columns that are left out when they are empty.
#[derive(Clone, Copy)]
struct Extra {
    iops: bool,
    objective: bool,
    size: bool,
    written: bool,
    cause: bool,
    line: bool,
    cost: bool,
}

impl Extra {
    fn count(self) -> usize {
        let Self { iops, objective, size, written, cause, line, cost } = self;
        let all = [iops, objective, size || written, cause, line, cost];
        all.into_iter().filter(|shown| *shown).count()
    }
}

fn points(analysis: &Analysis) -> impl Iterator<Item = &CurvePoint> {
    analysis.curves.iter().flat_map(|curve| &curve.points)
}

fn figure(
    point: Option<&CurvePoint>,
    unit: FigureUnit,
    of: impl Fn(&Figures) -> Option<f64>,
) -> String {
    words::figure(unit, point.and_then(|point| of(&point.figures.median)), PAGE)
}

/// Reads and writes of the disk per second.
fn iops(point: &CurvePoint) -> Option<(f64, f64)> {
    let figures = &point.figures.median;
    let (reads, writes) =
        (figures.device_reads_per_second?, figures.device_writes_per_second.unwrap_or(0.0));
    (reads.is_finite() && writes.is_finite()).then_some((reads, writes))
}

fn iops_cell(point: Option<&CurvePoint>) -> Markup {
    html! {
        td.num {
            @match point.and_then(iops) {
                Some((reads, writes)) => {
                    (PAGE.rate(reads + writes))
                    small { (PAGE.rate(reads)) " reads" }
                    small { (PAGE.rate(writes)) " writes" }
                }
                None => (PAGE.nothing()),
            }
            @if point.is_some_and(|point| point.figures.median.page_cache_hit_ratio.is_some()) {
                small { "page cache " (figure(point, FigureUnit::Share, |figures| figures.page_cache_hit_ratio)) }
            }
        }
    }
}

/// Bytes of the data, and what the engine wrote for an operation.
fn size_cell(point: Option<&CurvePoint>, extra: Extra) -> Markup {
    let written = figure(point, FigureUnit::BytesPerOperation, |figures| {
        figures.engine_written_bytes_per_operation
    });
    if !extra.size {
        return html! { td.num { (written) } };
    }
    html! {
        td.num {
            (figure(point, FigureUnit::Bytes, |figures| figures.data_bytes))
            @if extra.written { small { (written) " written per op" } }
        }
    }
}

/// All arms, or as many as fit in the order of the file, those with a look of their own before the others.
fn shown<'a>(page: &Page<'a>, limit: usize) -> Vec<&'a ArmSummary> {
    let arms = &page.report.analysis.arms;
    let own = arms.iter().filter(|arm| page.style(&arm.name).own()).count();
    let mut others = limit.saturating_sub(own);
    let mut shown = Vec::new();
    for arm in arms {
        if page.style(&arm.name).own() {
            shown.push(arm);
        } else if others > 0 {
            others -= 1;
            shown.push(arm);
        }
    }
    shown.truncate(limit);
    shown
}

fn mix_rows(
    page: &Page<'_>,
    mix: &str,
    extra: Extra,
    shown: &[&ArmSummary],
    first: bool,
) -> Markup {
    let analysis = page.report.analysis;
    let judged = select::judged_point(analysis, mix);
    let points: Vec<Option<&CurvePoint>> = shown
        .iter()
        .map(|arm| judged.and_then(|judged| select::point(analysis, &arm.name, mix, judged)))
        .collect();
    // Controls are no arms of the question.
    let compared = points.iter().zip(shown);
    let compared: Vec<Option<&CurvePoint>> =
        compared.map(|(point, arm)| point.filter(|_| !arm.control)).collect();
    let best: Vec<Option<usize>> = COLUMNS.iter().map(|column| best(column, &compared)).collect();
    let label = points.iter().flatten().next().map(|point| prose::label(&point.load_label, NAME));
    let at_line = judged.is_some_and(|judged| select::is_line(analysis, mix, judged));
    let label = label.map(|label| if at_line { words::AT_LINE.to_owned() } else { label });
    let costs: Vec<Option<(&CostResult, &Estimate)>> = shown
        .iter()
        .map(|arm| {
            let cost = select::cost(analysis, &arm.name, mix)?;
            Some((cost, select::shown_cost(analysis, cost)?))
        })
        .collect();
    let lines: Vec<Option<&LineResult>> =
        shown.iter().map(|arm| select::line(analysis, &arm.name, mix)).collect();
    let (highest, cheapest) = (
        highest_line(&lines),
        select::cheapest(
            costs
                .iter()
                .map(|cost| cost.map(|(cost, estimate)| (cost.currency.as_str(), estimate))),
        ),
    );
    html! {
        tbody {
            tr.mix {
                th colspan=(COLUMNS.len() + ALWAYS + extra.count()) scope="rowgroup" {
                    "Mix " (text::short(mix, 80))
                    @match label { Some(label) => { " at " (label) } None => ": no valid point" }
                }
            }
            @for (row, arm) in shown.iter().enumerate() {
                tr {
                    th scope="row" { (arm_cell(page, arm, first)) }
                    td { (verdicts(analysis, arm, mix, judged)) }
                    @match points[row] {
                        Some(point) => {
                            @for (column, best) in COLUMNS.iter().zip(&best) {
                                (number(column, point, *best == Some(row)))
                            }
                        }
                        None => td.failed colspan=(COLUMNS.len()) { "not measured" },
                    }
                    @if extra.iops { (iops_cell(points[row])) }
                    @if extra.size || extra.written { (size_cell(points[row], extra)) }
                    @if extra.cost {
                        @match costs[row] {
                            Some((cost, estimate)) => (cost_cell(page, cost, estimate, cheapest == Some(row))),
                            None => td.num { (PAGE.nothing()) },
                        }
                    }
                    @if extra.line { (line_cell(lines[row], highest == Some(row))) }
                    @if extra.objective { td { (objective_word(points[row])) } }
                    @if extra.cause { td { (super::why::word(points[row].and_then(|point| select::bottleneck(analysis, mix, point)))) } }
                    (valid(points[row]))
                }
            }
        }
    }
}

fn cost_cell(page: &Page<'_>, cost: &CostResult, estimate: &Estimate, is_cheapest: bool) -> Markup {
    let load = select::shown_cost_load(page.report.analysis, cost);
    let cell = crate::section::cost_cell(Some(estimate), load, cost, is_cheapest, PAGE);
    super::section::cell(page, Kind::Figure, &cell)
}

/// Place of the highest line, by its middle, where there is something to choose from.
fn highest_line(lines: &[Option<&LineResult>]) -> Option<usize> {
    let mut found: Option<(usize, f64)> = None;
    let mut candidates = 0;
    for (place, line) in lines.iter().enumerate() {
        let middle = line.map_or(f64::NAN, |line| select::median(&line.rate));
        if !middle.is_finite() {
            continue;
        }
        candidates += 1;
        if found.is_none_or(|(_, highest)| middle > highest) {
            found = Some((place, middle));
        }
    }
    found.filter(|_| candidates > 1).map(|(place, _)| place)
}

fn line_cell(line: Option<&LineResult>, best: bool) -> Markup {
    let Some(line) = line else {
        return html! { td.num { (PAGE.nothing()) } };
    };
    let middle = select::median(&line.rate);
    html! {
        td.num.best[best] {
            @if best { span.star aria-hidden="true" { "★" } span.hidden { "best: " } }
            @match (line.lower, line.upper) {
                (Some(lower), Some(upper)) if middle.is_finite() => { (PAGE.rate(middle)) small { (PAGE.rate(lower)) " to " (PAGE.rate(upper)) } }
                (lower, upper) => (words::line(lower, upper, PAGE)),
            }
        }
    }
}

/// The small print stands with the first mix alone.
fn arm_cell(page: &Page<'_>, arm: &ArmSummary, small_print: bool) -> Markup {
    html! {
        (page.arm(&arm.name))
        @if arm.baseline { span.tag { "baseline" } }
        @if let Some(about) = arm.about.as_ref().filter(|_| small_print) { small { (text::short(about, 120)) } }
        @if small_print {
            @let arms = &page.report.analysis.arms;
            @if arms.len() <= FEW || arms.iter().any(|other| (&other.engine, other.records) != (&arm.engine, arm.records)) {
                small {
                    (text::short(&arm.engine, NAME))
                    // An imported record may not say how many there were.
                    @if arm.records > 0 { " · " (words::counted(arm.records, "record", PAGE)) }
                }
            }
            (super::rig::small_print(arm, arms))
        }
    }
}

fn best(column: &Column, points: &[Option<&CurvePoint>]) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    let mut candidates = 0;
    for (row, point) in points.iter().enumerate() {
        let Some(point) = point.filter(|point| point.valid_runs > 0) else {
            continue;
        };
        let median = select::median((column.of)(point));
        if !median.is_finite() {
            continue;
        }
        candidates += 1;
        if best.is_none_or(
            |(value, _)| {
                if column.higher_is_better { median > value } else { median < value }
            },
        ) {
            best = Some((median, row));
        }
    }
    best.filter(|_| candidates > 1).map(|(_, row)| row)
}

fn number(column: &Column, point: &CurvePoint, best: bool) -> Markup {
    if let Some(refused) = &point.refused {
        return super::refused(&(column.spelled)(select::median((column.of)(refused))));
    }
    let due = point.due().filter(|_| column.higher_is_better);
    let estimate = (column.of)(point);
    let service = column.service.map(|of| of(point));
    let client = figure_of_client(column, point);
    html! {
        td.num.best[best] {
            @if best { span.star aria-hidden="true" { "★" } span.hidden { "best: " } }
            @if (column.at_least)(point) { "≥\u{202f}" }
            ((column.spelled)(select::median(estimate)))
            @if column.with_interval {
                @match estimate.interval {
                    Some((low, high)) => small { ((column.spelled)(low)) " to " ((column.spelled)(high)) },
                    None => small { "no interval" },
                }
            }
            @if let Some(service) = service.filter(|service| *service != estimate && select::median(service).is_finite()) {
                small { "service " ((column.spelled)(select::median(service))) }
            }
            @if let Some(due) = due { small { (PAGE.rate(due)) " due" } }
            @if let Some(client) = client { small { "client " (PAGE.latency(client)) } }
        }
    }
}

/// Beside the CPU time of a server, that of its client.
fn figure_of_client(column: &Column, point: &CurvePoint) -> Option<f64> {
    let is_cpu = column.title == "CPU";
    let figures = &point.figures.median;
    let client = figures.worker_cpu_ns_per_operation;
    let is_server = figures.server_cpu_ns_per_operation.is_some();
    client.filter(|nanos| is_cpu && is_server && nanos.is_finite())
}

/// How many runs passed, and what failed in them.
fn valid(point: Option<&CurvePoint>) -> Markup {
    html! {
        td.num {
            @if let Some(point) = point {
                @if point.valid_runs == 0 { strong.failed { "✗ 0" } } @else { (point.valid_runs) } " of " (point.runs)
                small.failed[point.errors > 0] {
                    @if point.errors > 0 { (words::counted(point.errors, "error", PAGE)) } @else { "no errors" }
                }
                @if point.not_found > 0 { small { (PAGE.count(point.not_found)) " not found" } }
            }
        }
    }
}

fn objective_word(point: Option<&CurvePoint>) -> &'static str {
    match point.and_then(|point| point.meets_objective) {
        Some(true) => "✓ met",
        Some(false) => "✗ missed",
        None => "–",
    }
}

/// Verdicts that are of another load than the row name theirs.
fn verdicts(analysis: &Analysis, arm: &ArmSummary, mix: &str, judged: Option<u32>) -> Markup {
    let mine: Vec<&Comparison> = select::primaries(analysis)
        .filter(|comparison| comparison.arm == arm.name && comparison.mix == mix)
        .take(4)
        .collect();
    html! {
        @if mine.is_empty() {
            @if arm.baseline && one_baseline(analysis) { span.quiet { "is the baseline" } }
            @else if analysis.comparisons.iter().any(|comparison| comparison.baseline == arm.name) { span.quiet { "is a baseline" } }
        }
        @for comparison in mine {
            div.line {
                (super::comparisons::word(comparison.verdict.judgement))
                small { (words::metric(comparison.metric)) @if let Some(share) = comparison.verdict.estimate { " " (PAGE.difference(share)) } }
                @if Some(comparison.point) != judged && comparison.metric != Metric::Line && comparison.metric != Metric::Cost {
                    small { "at " (prose::label(&comparison.load_label, NAME)) }
                }
            }
        }
    }
}

fn one_baseline(analysis: &Analysis) -> bool {
    analysis.comparisons.windows(2).all(|two| two[0].baseline == two[1].baseline)
}

fn thresholds(analysis: &Analysis) -> Markup {
    if analysis.thresholds.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Thresholds" }
        div.scroll tabindex="0" role="region" aria-label="Table of the thresholds" {
            table {
                thead { tr { th scope="col" { "Threshold" } th scope="col" { "Where" } th.num scope="col" { "Measured" } th scope="col" { "Result" } } }
                tbody {
                    @for threshold in analysis.thresholds.iter().take(100) {
                        tr {
                            th scope="row" { code { (text::short(&threshold.text, 80)) } }
                            td { (text::short(&threshold.subject, 120)) }
                            td.num {
                                @match (&threshold.why, threshold.measured) {
                                    (Some(why), _) => (text::short(why, 120)),
                                    (None, Some(value)) => (words::threshold_value(&threshold.text, value, PAGE)),
                                    (None, None) => "no valid sample",
                                }
                            }
                            td { @if threshold.passed { "✓ holds" } @else { strong.failed { "✗ broken" } } }
                        }
                    }
                }
            }
        }
        @if analysis.thresholds.len() > 100 { p.remark { "The first 100 of " (analysis.thresholds.len()) " thresholds; all are in analysis.json." } }
    }
}

fn load_phase(page: &Page<'_>) -> Markup {
    let points = &page.report.analysis.load_phase;
    if points.is_empty() {
        return html! {};
    }
    let causes = points.iter().any(|point| point.cause.is_some());
    html! {
        details {
            summary { "How the data was loaded" }
            div.scroll tabindex="0" role="region" aria-label="Table of the load phase" {
                table {
                    thead { tr { th scope="col" { "Arm" } th scope="col" { "Load" } th.num scope="col" { "Throughput, op/s" } th.num scope="col" { "p50" } th.num scope="col" { "p99" } th.num scope="col" { "Errors" } @if causes { th scope="col" { "Bottleneck" } } } }
                    tbody {
                        @for point in points.iter().take(page.budget.arm_rows) {
                            tr {
                                th scope="row" { (page.arm(&point.arm)) }
                                td { (prose::label(&point.load_label, NAME)) }
                                td.num { (PAGE.rate(select::median(&point.throughput))) }
                                td.num { (PAGE.latency(select::median(&point.response.p50))) }
                                td.num { (PAGE.latency(select::median(&point.response.p99))) }
                                td.num { (PAGE.count(point.errors)) }
                                @if causes { td { (super::why::word(point.cause.as_ref())) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
