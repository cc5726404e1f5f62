//! What held each arm back, and the figures that show it.

use super::{NAME, Page};
use crate::page::figure::{self, THEMES, Theme};
use crate::page::prose;
use crate::{select, text, words};
use maud::{Markup, html};
use plimsoll_judge::{Analysis, Cause, Comparison, CurvePoint, Figures, IdentityCheck};
use plimsoll_record::quantities::numbers::PAGE;

/// Rules listed for one point.
const RULES: usize = 24;

/// Whether anything was watched or found.
pub(super) fn is_known(analysis: &Analysis) -> bool {
    all_points(analysis).any(|point| point.cause.is_some() || !unwatched(point))
}

fn unwatched(point: &CurvePoint) -> bool {
    point.figures.median.is_unwatched()
}

fn all_points(analysis: &Analysis) -> impl Iterator<Item = &CurvePoint> {
    analysis.curves.iter().flat_map(|curve| &curve.points)
}

/// A cause in a word or two.
pub(super) fn word(cause: Option<&Cause>) -> Markup {
    html! {
        @match cause {
            Some(cause) => span.cause { (cause.kind.name()) },
            None => (PAGE.nothing()),
        }
    }
}

/// What held the two arms of a comparison back, as two words where there is no room for their sentences.
pub(super) fn of_both(page: &Page<'_>, comparison: &Comparison) -> Markup {
    let of = |arm: &str| {
        let point = select::point(page.report.analysis, arm, &comparison.mix, comparison.point);
        let cause = point.and_then(|point| point.cause.as_ref());
        cause.map_or(PAGE.nothing(), |cause| cause.kind.name())
    };
    html! {
        @if comparison.because.is_some() {
            @let (arm, baseline) = (of(&comparison.arm), of(&comparison.baseline));
            @if arm == baseline {
                small { "bottleneck: " (arm) " (both)" }
            } @else {
                small { "bottleneck: " (arm) "; of " (text::short(&comparison.baseline, NAME)) ": " (baseline) }
            }
        }
    }
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    html! {
        p.lead {
            "The bottleneck of each arm is the first rule that its figures satisfy; the rules have a fixed order and are never weighed against each other. "
            "Figures are medians over the blocks, of the seconds that count."
        }
        @for mix in select::mixes(analysis) { (mix_figures(page, mix)) }
        (watching(analysis))
    }
}

/// The points at the load at which the mix is judged, in the order of the arms.
fn judged<'a>(page: &Page<'a>, mix: &str) -> Vec<&'a CurvePoint> {
    let analysis = page.report.analysis;
    let Some(judged) = select::judged_point(analysis, mix) else {
        return Vec::new();
    };
    let points =
        analysis.arms.iter().filter_map(|arm| select::point(analysis, &arm.name, mix, judged));
    points.filter(|point| is_described(point)).take(page.budget.arm_rows).collect()
}

/// A point without a valid run is shown where its cause is known: it may say why no run is valid.
fn is_described(point: &CurvePoint) -> bool {
    point.valid_runs > 0 || point.cause.is_some()
}

fn mix_figures(page: &Page<'_>, mix: &str) -> Markup {
    let analysis = page.report.analysis;
    let points = judged(page, mix);
    let Some(first) = points.first() else {
        return html! {};
    };
    let all: Vec<&CurvePoint> = analysis
        .curves
        .iter()
        .filter(|curve| curve.mix == mix)
        .flat_map(|curve| &curve.points)
        .filter(|point| is_described(point))
        .collect();
    let limit = page.budget.figure_rows / select::mixes(analysis).len().max(1);
    html! {
        h3 { "Mix " (text::short(mix, 80)) " at " (prose::label(&first.load_label, NAME)) }
        (causes(page, &points))
        (identities(page, &points))
        @for theme in &THEMES { (table(page, theme, &points, false)) }
        (rules(page, &points))
        @if all.len() > points.len() {
            details {
                summary { "The figures at every load" }
                (cause_of_each(page, &all, limit))
                @for theme in &THEMES { (table(page, theme, &all[..all.len().min(limit)], true)) }
                @if all.len() > limit { p.remark { "The first " (limit) " of " (all.len()) " points; all are in figures.csv." } }
            }
        }
    }
}

fn causes(page: &Page<'_>, points: &[&CurvePoint]) -> Markup {
    html! {
        @if points.iter().any(|point| point.cause.is_some()) {
            ul.causes {
                @for point in points {
                    li {
                        (page.arm(&point.arm))
                        span.text { @match &point.cause {
                            Some(cause) => (sentence(cause)),
                            None => span.quiet { "too little was watched to say what held it back." },
                        } }
                    }
                }
            }
        }
    }
}

/// The sentence with the name that it begins with standing out.
fn sentence(cause: &Cause) -> Markup {
    let description = prose::prose(&cause.sentence);
    let name = cause.kind.name();
    html! {
        @match description.strip_prefix(name) {
            Some(rest) => { strong { (name) } (text::short(rest, 600)) "." }
            None => { strong { (name) } ": " (text::short(&description, 600)) "." }
        }
    }
}

fn identities(page: &Page<'_>, points: &[&CurvePoint]) -> Markup {
    let rows: Vec<(&CurvePoint, &IdentityCheck)> = points
        .iter()
        .filter_map(|point| point.cause.as_ref().map(|cause| (*point, cause)))
        .flat_map(|(point, cause)| cause.identities.iter().map(move |check| (point, check)))
        .collect();
    if rows.is_empty() {
        return html! {};
    }
    html! {
        p.table-title { "Throughput is at most the limit of the disk ÷ the cost of an operation" }
        div.scroll tabindex="0" role="region" aria-label="Limits of the disks" {
            table.data {
                thead { tr {
                    th scope="col" { "Arm" } th scope="col" { "Limit of" }
                    @for title in ["limit per second", "used per second", "per operation", "at most, op/s", "measured, op/s", "measured ÷ at most"] {
                        th.num scope="col" { (title) }
                    }
                } }
                tbody { @for (point, check) in &rows {
                    @let alone = rows.iter().filter(|(other, _)| other.arm == point.arm).count() == 1;
                    (identity(page, point, check, alone))
                } }
            }
        }
    }
}

/// `alone`: no other limit of the same point is known.
fn identity(page: &Page<'_>, point: &CurvePoint, check: &IdentityCheck, alone: bool) -> Markup {
    let spelled = |value: f64| {
        if check.kind.is_iops() { PAGE.significant(value, 3) } else { PAGE.bytes_of(value) }
    };
    html! {
        tr {
            th scope="row" { (page.arm(&point.arm)) }
            td { (check.kind.name()) @if check.binding && !alone { span.tag { "tightest" } } }
            td.num { (spelled(check.cap)) }
            td.num { (spelled(check.used)) }
            td.num { (spelled(check.per_operation)) }
            td.num { (PAGE.rate(check.at_most)) }
            td.num { (PAGE.rate(check.measured)) }
            td.num { (PAGE.percent(check.ratio)) }
        }
    }
}

/// A row for each point, a column for each figure of the theme that is known of any.
fn table(page: &Page<'_>, theme: &Theme, points: &[&CurvePoint], with_load: bool) -> Markup {
    let figures: Vec<&Figures> = points.iter().map(|point| &point.figures.median).collect();
    let places = theme.known(&figures);
    if places.is_empty() {
        return html! {};
    }
    html! {
        p.table-title { (theme.title) }
        div.scroll tabindex="0" role="region" aria-label={ "Figures: " (theme.title) } {
            table.data.figures {
                thead { tr {
                    th scope="col" { "Arm" }
                    @if with_load { th scope="col" { "Load" } }
                    @for place in &places {
                        @let kind = figure::kind(*place);
                        @let unit = figure::unit(kind.unit);
                        th.num scope="col" { (kind.label) @if !unit.is_empty() { small { (unit) } } }
                    }
                } }
                tbody {
                    @for point in points {
                        @let values = figure::describe(&point.figures.median);
                        tr {
                            th scope="row" { (page.arm(&point.arm)) }
                            @if with_load { td { (prose::label(&point.load_label, NAME)) } }
                            @for place in &places { td.num { (words::figure(figure::kind(*place).unit, values[*place], PAGE)) } }
                        }
                    }
                }
            }
        }
    }
}

fn cause_of_each(page: &Page<'_>, points: &[&CurvePoint], limit: usize) -> Markup {
    html! {
        @if points.iter().any(|point| point.cause.is_some()) {
            div.scroll tabindex="0" role="region" aria-label="Causes at every load" {
                table.data {
                    thead { tr { th scope="col" { "Arm" } th scope="col" { "Load" } th scope="col" { "Bottleneck" } } }
                    tbody { @for point in points.iter().take(limit) {
                        tr {
                            th scope="row" { (page.arm(&point.arm)) }
                            td { (prose::label(&point.load_label, NAME)) }
                            td.sentence { @match &point.cause { Some(cause) => (sentence(cause)), None => (PAGE.nothing()) } }
                        }
                    } }
                }
            }
        }
    }
}

/// Every rule at every point that is judged: whether it holds, by which figures.
fn rules(page: &Page<'_>, points: &[&CurvePoint]) -> Markup {
    let known =
        || points.iter().filter_map(|point| point.cause.as_ref().map(|cause| (point, cause)));
    html! {
        @if known().any(|(_, cause)| !cause.rules.is_empty()) {
            details {
                summary { "All rules" }
                @for (point, cause) in known() {
                    p.table-title { (page.arm(&point.arm)) }
                    ul.rules { @for rule in cause.rules.iter().take(RULES) {
                        li.holds[rule.holds == Some(true)] {
                            (match rule.holds { Some(true) => "✓ holds", Some(false) => "does not hold", None => "not known" })
                            ": " strong { (rule.kind.name()) } ", " (prose::label(&rule.figures, 300))
                        }
                    } }
                }
            }
        }
    }
}

/// What the watching itself cost.
fn watching(analysis: &Analysis) -> Markup {
    let mut highest: Option<f64> = None;
    let runs = all_points(analysis).flat_map(|point| &point.results);
    for share in runs.filter_map(|result| result.figures.watching) {
        highest = Some(highest.map_or(share, |known| known.max(share)));
    }
    html! {
        @if let Some(share) = highest {
            p.remark { "Gathering these figures took at most " (PAGE.percent(share)) " of the processors' time. Every figure of every run is in figures.csv, every second in slices.csv." }
        }
    }
}
