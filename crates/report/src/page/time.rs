//! Throughput over the seconds of each point.

use super::{NAME, Page};
use crate::chart::{SECONDS_DRAWN, TimePanel};
use crate::{select, text};
use maud::{Markup, html};
use plimsoll_judge::{Analysis, CurvePoint, Steadiness, TimeSeries};

/// The panels of one load of one mix, an arm each.
struct Group<'a> {
    mix: &'a str,
    point: Option<u32>,
    label: String,
    /// The point's series by arm, in the order of the arms.
    arms: Vec<(&'a str, Vec<&'a TimeSeries>)>,
    /// Whether it is shown without being asked for.
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
    let longest = analysis
        .series
        .iter()
        .map(|series| series.seconds.len())
        .max()
        .unwrap_or(0);
    html! {
        p.lead {
            "A thin line is one block, the strong one their median. Dark shade: the warm-up that was asked for. Light shade up to the dashed line: warm-up found beyond it and cut. "
            "A bar at the top marks a stall. Shown are the loads that decide, and every load at which something stalled or did not settle."
        }
        (panels_of(page, &first, "time"))
        @if !others.is_empty() {
            details { summary { "All other loads" } (panels_of(page, &others, "time-more")) }
        }
        @if longest > SECONDS_DRAWN {
            p.remark { "Series longer than " (SECONDS_DRAWN) " seconds are drawn by the lowest and the highest second of each stretch; the medians are of single seconds." }
        }
        @if total > panels { p.remark { "Drawn: " (panels) " of " (total) " panels; every second is in slices.csv." } }
    }
}

fn groups<'a>(page: &Page<'a>) -> Vec<Group<'a>> {
    let analysis = page.report.analysis;
    let mut groups: Vec<Group<'a>> = Vec::new();
    for series in analysis
        .series
        .iter()
        .filter(|series| page.style(&series.arm).own() && !series.seconds.is_empty())
    {
        let found = groups
            .iter()
            .position(|group| group.mix == series.mix && group.point == series.point);
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
        point
            .results
            .iter()
            .any(|result| result.steadiness == Steadiness::NotSteady)
    };
    let judged =
        series.point.is_some() && select::judged_point(analysis, &series.mix) == series.point;
    Group {
        mix: &series.mix,
        point: series.point,
        label: match points().next() {
            Some(point) => text::label(&point.load_label, NAME),
            None if series.point.is_none() => "load phase".into(),
            None => format!("point {}", series.point.unwrap_or_default()),
        },
        arms: Vec::new(),
        first: judged || points().any(restless),
    }
}

fn panels_of(page: &Page<'_>, groups: &[&Group<'_>], id: &str) -> Markup {
    html! {
        div.groups { @for (place, group) in groups.iter().enumerate() {
            @let highest = group.arms.iter().flat_map(|(_, blocks)| blocks).flat_map(|series| &series.seconds).map(|second| second.throughput).filter(|rate| rate.is_finite()).fold(0.0, f64::max);
            @let last = group.arms.iter().flat_map(|(_, blocks)| blocks).filter_map(|series| series.seconds.last()).map(|second| second.at + second.length).fold(0.0, f64::max);
            div class={ "group g" (group.arms.len().min(4)) } {
                h3 { (text::short(group.mix, NAME)) " · " (group.label) }
                @for (number, (arm, blocks)) in group.arms.iter().enumerate() {
                    figure {
                        figcaption { (page.arm(arm)) }
                        (TimePanel {
                            id: format!("{id}-{place}-{number}"),
                            title: format!("Throughput over time, {}, {}, {}", text::short(arm, NAME), text::short(group.mix, NAME), group.label),
                            style: page.style(arm),
                            blocks: blocks.clone(),
                            highest,
                            last,
                        }.draw())
                    }
                }
            }
        } }
    }
}
