//! Throughput, response times and what was watched over the seconds of each point.

use super::{NAME, Page};
use crate::page::chart::{LatencyPanel, SECONDS_DRAWN, TimePanel, WatchPanel, latency_ends};
use crate::page::prose;
use crate::{select, text};
use maud::{Markup, html};
use plimsoll_judge::{Analysis, CurvePoint, Heat, SeriesSecond, Steadiness, TimeSeries};
use plimsoll_record::quantities::numbers::PAGE;
use plimsoll_record::{DiskChoice, DiskRates};

/// Arms that are drawn even if they have no look of their own.
const ARMS: usize = 16;
/// With throughputs that differ by more than this factor, each arm has a scale of its own.
const APART: f64 = 20.0;

/// The panels of one load of one mix, an arm each.
struct Group<'a> {
    mix: &'a str,
    point: Option<u32>,
    label: String,
    /// The point's series by arm, in the order of the arms.
    arms: Vec<(&'a str, Vec<&'a TimeSeries>)>,
    /// Whether it is shown without being requested.
    first: bool,
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.report.analysis;
    let mut groups = groups(page);
    if groups.is_empty() {
        return html! { p { "There are no seconds to draw." } };
    }
    let total: usize = groups.iter().map(|group| group.arms.len()).sum();
    // What is shown without asking comes first when there is room for some alone.
    groups.sort_by_key(|group| !group.first);
    let mut panels = 0;
    groups.retain(|group| {
        let fits = panels + group.arms.len() <= page.budget.panels;
        if fits {
            panels += group.arms.len();
        }
        fits
    });
    let (first, others): (Vec<&Group<'_>>, Vec<&Group<'_>>) =
        groups.iter().partition(|group| group.first);
    let longest = analysis.series.iter().map(|series| series.seconds.len()).max().unwrap_or(0);
    html! {
        p.lead {
            "A thin line is one block, the strong one their median. Dark shade: the requested warm-up. Light shade up to the dashed line: warm-up found beyond it and cut. "
            "A bar at the top marks a stall" @if !analysis.events.is_empty() { ", a dash-dotted line an event, and the shade behind it how long it lasted" } ". Below stand the response times of one block, that with the middle throughput: the stronger the shade, the more operations took so long in that second. Shown are the loads that decide, and every load at which something stalled or did not settle."
        }
        @if first.iter().flat_map(|group| &group.arms).any(|(_, blocks)| is_watched(blocks)) { (key()) }
        (panels_of(page, &first, "time", page.budget.watched))
        @if !others.is_empty() {
            details { summary { "All other loads" } (panels_of(page, &others, "time-more", 0)) }
        }
        @if longest > SECONDS_DRAWN {
            p.remark { "Series longer than " (SECONDS_DRAWN) " seconds are drawn by the lowest and the highest second of each stretch; the medians are of single seconds. A cursor tells means of stretches." }
        }
        @if total > panels { p.remark { "Drawn: " (panels) " of " (total) " panels; every second is in slices.csv." } }
    }
}

fn groups<'a>(page: &Page<'a>) -> Vec<Group<'a>> {
    let analysis = page.report.analysis;
    let mut groups: Vec<Group<'a>> = Vec::new();
    for series in analysis.series.iter().filter(|series| {
        let drawn = page.style(&series.arm).own() || analysis.arms.len() <= ARMS;
        drawn && !series.seconds.is_empty()
    }) {
        let found =
            groups.iter().position(|group| group.mix == series.mix && group.point == series.point);
        let place = found.unwrap_or_else(|| {
            groups.push(group(analysis, series));
            groups.len() - 1
        });
        let arms = &mut groups[place].arms;
        match arms.iter_mut().find(|(arm, _)| *arm == series.arm) {
            Some((_, blocks)) => blocks.push(series),
            None => arms.push((&series.arm, vec![series])),
        }
        groups[place].first |= !series.stalls.is_empty();
    }
    for group in &mut groups {
        let place = |name: &str| analysis.arms.iter().position(|arm| arm.name == name);
        group.arms.sort_by_key(|(arm, _)| place(arm));
    }
    groups
}

fn group<'a>(analysis: &'a Analysis, series: &'a TimeSeries) -> Group<'a> {
    let points = || {
        analysis
            .curves
            .iter()
            .filter(|curve| curve.mix == series.mix)
            .flat_map(|curve| &curve.points)
            .filter(|point| point.point == series.point)
    };
    let restless = |point: &CurvePoint| {
        point.results.iter().any(|result| result.steadiness == Steadiness::NotSteady)
    };
    let judged =
        series.point.is_some() && select::judged_point(analysis, &series.mix) == series.point;
    Group {
        mix: &series.mix,
        point: series.point,
        label: match points().next() {
            Some(point) => prose::label(&point.load_label, NAME),
            None if series.point.is_none() => "load phase".into(),
            None if series
                .point
                .is_some_and(|point| select::is_line(analysis, &series.mix, point)) =>
            {
                "trials of the plimsoll line".into()
            }
            None => format!("point {}", series.point.unwrap_or_default()),
        },
        arms: Vec::new(),
        first: judged || points().any(restless),
    }
}

/// What the small charts hold.
fn key() -> Markup {
    html! {
        p.lead.key {
            "Below them stands what was watched in that block, on the same seconds. Shaded: a checkpoint. Red line: the limit of the disk. "
            "Processors, from below: "
            @for (number, kind) in ["user", "system", "waiting for a disk", "stolen"].iter().enumerate() {
                @if number > 0 { ", " }
                svg.swatch.a0 viewBox="0 0 30 14" aria-hidden="true" { rect class={ "cpu cpu-" (number) } x="0" y="1" width="30" height="12" {} }
                " " (kind)
            }
            "."
        }
    }
}

fn is_watched(blocks: &[&TimeSeries]) -> bool {
    blocks.iter().any(|series| series.figures.iter().any(|figures| !figures.is_unwatched()))
}

/// The block with the middle throughput, of those in which something was watched where there are any.
fn middle<'a>(blocks: &[&'a TimeSeries]) -> Option<&'a TimeSeries> {
    let some_watched = is_watched(blocks);
    let mut ranked: Vec<(f64, &TimeSeries)> = blocks
        .iter()
        .filter(|series| !some_watched || is_watched(&[series]))
        .map(|series| {
            let seconds = series.seconds.iter().map(|second| second.throughput);
            let sum: f64 = seconds.filter(|rate| rate.is_finite()).sum();
            (sum / series.seconds.len().max(1) as f64, *series)
        })
        .collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let middle = ranked.len().checked_sub(1)? / 2;
    Some(ranked[middle].1)
}

/// The highest throughput of a second, of each arm.
fn highest_of(group: &Group<'_>) -> Vec<f64> {
    let of_arm = |blocks: &[&TimeSeries]| {
        let seconds = blocks.iter().flat_map(|series| &series.seconds);
        let rates = seconds.map(|second| second.throughput);
        rates.filter(|rate| rate.is_finite()).fold(0.0, f64::max)
    };
    group.arms.iter().map(|(_, blocks)| of_arm(blocks)).collect()
}

/// Whether on one scale the slowest arm would be a line on the ground.
fn are_apart(highest: &[f64]) -> bool {
    let most = highest.iter().copied().fold(0.0, f64::max);
    highest.iter().any(|rate| *rate > 0.0 && *rate < most / APART)
}

/// Requests per second that the arm's disk allows.
fn caps(analysis: &Analysis, arm: &str) -> DiskRates {
    let arm = analysis.arms.iter().find(|summary| summary.name == arm);
    match arm.and_then(|arm| arm.rig.disk.as_ref()) {
        Some(DiskChoice::Emulated { spec }) => spec.iops,
        Some(DiskChoice::Device { .. }) | None => DiskRates::default(),
    }
}

/// Begin of the panels and of what is below them.
fn last_second(group: &Group<'_>) -> f64 {
    let series = group.arms.iter().flat_map(|(_, blocks)| blocks);
    let ends = series.filter_map(|series| series.seconds.last());
    ends.map(|second| second.at + second.length).fold(0.0, f64::max)
}

/// The first `watched` panels get what was watched below them.
fn panels_of(page: &Page<'_>, groups: &[&Group<'_>], id: &str, watched: usize) -> Markup {
    let mut before = 0;
    let first: Vec<usize> = groups
        .iter()
        .map(|group| {
            let first = before;
            before += group.arms.len();
            first
        })
        .collect();
    html! {
        div.groups { @for (place, group) in groups.iter().enumerate() {
            @let highest = highest_of(group);
            @let apart = are_apart(&highest);
            @let middles: Vec<Option<&TimeSeries>> = group.arms.iter().map(|(_, blocks)| middle(blocks)).collect();
            @let heats: Vec<Option<Heat>> = middles.iter().map(|series| plimsoll_judge::heat(page.report.record, (*series)?, SECONDS_DRAWN)).collect();
            @let shown = PanelGroup {
                id: format!("{id}-{place}"),
                last: last_second(group),
                ends: latency_ends(middles.iter().flatten().flat_map(|series| &series.seconds), heats.iter().flatten()),
                heats,
            };
            div id={ "at-" (shown.id) } class={ "group g" (group.arms.len().min(4)) } {
                h3 { (text::short(group.mix, NAME)) " · " (group.label) @if apart { span.quiet { ", each arm on its own scale" } } }
                @for (number, (arm, blocks)) in group.arms.iter().enumerate() {
                    figure {
                        figcaption { (page.arm(arm)) }
                        (TimePanel {
                            id: format!("{}-{number}", shown.id),
                            group: &shown.id,
                            title: format!("Throughput over time, {}, {}, {}", text::short(arm, NAME), text::short(group.mix, NAME), group.label),
                            style: page.style(arm),
                            blocks: blocks.clone(),
                            highest: if apart { highest[number] } else { highest.iter().copied().fold(0.0, f64::max) },
                            last: shown.last,
                        }.draw())
                        @if let Some(series) = middles[number] {
                            (one_run(page, group, &shown, number, series, first[place] + number < watched))
                        }
                    }
                }
                (table(page, group, &middles))
            }
        } }
    }
}

/// What the panels of a group have in common.
struct PanelGroup {
    id: String,
    last: f64,
    ends: Option<(f64, f64)>,
    heats: Vec<Option<Heat>>,
}

/// Response times of one block of one arm, and what was watched in it.
fn one_run(
    page: &Page<'_>,
    group: &Group<'_>,
    shown: &PanelGroup,
    number: usize,
    series: &TimeSeries,
    watched: bool,
) -> Markup {
    let arm = series.arm.as_str();
    let place = format!(
        "{}, {}, {}, block {}",
        text::short(arm, NAME),
        text::short(group.mix, NAME),
        group.label,
        u64::from(series.block) + 1
    );
    let latency = shown.ends.map(|ends| LatencyPanel {
        id: format!("{}-{number}-latency", shown.id),
        group: &shown.id,
        title: format!("Response times over time, {place}"),
        style: page.style(arm),
        series,
        heat: shown.heats[number].as_ref(),
        ends,
        last: shown.last,
    });
    let panel = watched.then(|| WatchPanel {
        id: format!("{}-{number}-watched", shown.id),
        group: &shown.id,
        title: format!("What was watched, {place}"),
        style: page.style(arm),
        series,
        caps: caps(page.report.analysis, arm),
        last: shown.last,
    });
    html! {
        @if let Some(panel) = latency { (panel.draw()) }
        @if let Some(drawn) = panel.and_then(|panel| panel.draw()) { (drawn) }
    }
}

/// The lowest, the middle and the highest of what is a number.
fn spread(values: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut known: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    known.sort_by(f64::total_cmp);
    let last = known.len().checked_sub(1)?;
    Some([known[0], (known[last / 2] + known[last.div_ceil(2)]) / 2.0, known[last]])
}

/// The numbers behind the panels of a group: seconds of all blocks after the warm-up, and response times of the block that is drawn.
fn table(page: &Page<'_>, group: &Group<'_>, middles: &[Option<&TimeSeries>]) -> Markup {
    let counted = |series: &TimeSeries, second: &SeriesSecond| {
        second.at >= series.warm_up_seconds + series.cut_seconds - 1e-6
    };
    let nothing = || html! { td.num { (PAGE.nothing()) } };
    html! {
        details.below {
            summary { "The numbers behind these charts" }
            div.scroll tabindex="0" role="region" aria-label="Numbers behind the charts" {
                table.data {
                    thead { tr {
                        th scope="col" { "Arm" }
                        @for title in ["op/s, lowest second", "middle", "highest", "p99, best second", "middle", "worst", "Warm-up cut", "Stalls"] { th.num scope="col" { (title) } }
                    } }
                    tbody { @for ((arm, blocks), middle) in group.arms.iter().zip(middles) { tr {
                        th scope="row" { (page.arm(arm)) }
                        @match spread(blocks.iter().flat_map(|series| series.seconds.iter().filter(|second| counted(series, second))).map(|second| second.throughput)) {
                            Some(rates) => { @for rate in rates { td.num { (PAGE.rate(rate)) } } }
                            None => { (nothing()) (nothing()) (nothing()) }
                        }
                        @let times = middle.and_then(|series| spread(series.seconds.iter().filter(|second| counted(series, second)).filter_map(|second| second.p99_ns)));
                        @match times {
                            Some(times) => { @for time in times { td.num { (PAGE.latency(time)) } } }
                            None => { (nothing()) (nothing()) (nothing()) }
                        }
                        td.num { (PAGE.span(blocks.iter().map(|series| series.cut_seconds).fold(0.0, f64::max))) }
                        td.num { (blocks.iter().map(|series| series.stalls.len()).sum::<usize>()) }
                    } } }
                }
            }
            p.remark { "Of all seconds after the warm-up; response times of the block that is drawn. Every second is in slices.csv." }
        }
    }
}
