//! Response times over an axis of nines: from the fast operations to the slowest in a million, an arm a line.

use super::plot::Plot;
use super::values::{ValueSeries, Values};
use super::{ArmStyle, ArmStyles, Path, Px, answering};
use crate::axis::{Axis, Scale};
use crate::text;
use maud::{Markup, html};
use plimsoll_judge::{Tail, TailValue};
use plimsoll_record::quantities::numbers::PAGE;

/// Marks stand at these shares of slower operations.
const MARKED: [f64; 7] = [0.5, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6];
/// Arms that a screen reader reads out.
const STATED: usize = 8;

const PLOT: Plot =
    Plot { width: 760.0, height: 360.0, left: 62.0, right: 18.0, top: 30.0, bottom: 44.0 };

/// The arms of one mix at one load.
pub(crate) struct NinesChart<'a> {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) tails: &'a [(String, Tail)],
    pub(crate) styles: &'a ArmStyles,
}

/// Where a share of slower operations stands on the axis: p90 at 1, p99 at 2.
fn nines(beyond: f64) -> f64 {
    (-beyond.log10()).max(0.0)
}

pub(crate) fn percentile_name(beyond: f64) -> String {
    let text = format!("{:.6}", (1.0 - beyond) * 100.0);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}

impl NinesChart<'_> {
    /// The tails with a style of their own.
    fn drawn(&self) -> impl Iterator<Item = (&str, &Tail, ArmStyle)> {
        let styled =
            self.tails.iter().map(|(arm, tail)| (arm.as_str(), tail, self.styles.style(arm)));
        styled.filter(|(.., style)| style.own())
    }

    /// `None` where nothing is known.
    pub(crate) fn draw(&self) -> Option<Markup> {
        let all = || {
            let tails = self.drawn();
            tails.flat_map(|(_, tail, _)| tail.response.iter().chain(&tail.service))
        };
        let known = || all().filter(|value| value.value_ns > 0.0);
        let lowest = known().map(|value| value.value_ns).fold(f64::INFINITY, f64::min);
        let highest = known().map(|value| value.value_ns).fold(0.0, f64::max);
        let farthest = known().map(|value| nines(value.beyond)).fold(0.0, f64::max);
        if highest <= 0.0 || farthest <= 0.0 {
            return None;
        }
        let x = axis(farthest);
        let y = Axis::latency_decades(lowest, highest, "response time");
        let with_service = self.drawn().any(|(_, tail, _)| !tail.service.is_empty());
        let path = |values: &[TailValue]| {
            let mut path = Path::default();
            path.through(values.iter().map(|value| {
                (PLOT.x(x.scale.share(nines(value.beyond))), PLOT.y(y.scale.share(value.value_ns)))
            }));
            path
        };
        let content = html! {
            (PLOT.frame(&x, &y))
            @for (arm, tail, style) in self.drawn() {
                g class=(style.class()) {
                    @if !tail.service.is_empty() { path.service d=(path(&tail.service).data()) { title { (text::short(arm, 80)) ": service time" } } }
                    path.line d=(path(&tail.response).data()) {}
                    @if let Some(from) = tail.at_least_from.filter(|from| nines(*from) < farthest) {
                        (bound(PLOT.x(x.scale.share(nines(from)))))
                    }
                    @for value in tail.response.iter().filter(|value| MARKED.iter().any(|marked| (marked / value.beyond - 1.0).abs() < 1e-6)) {
                        path.mark d=(style.mark(PLOT.x(x.scale.share(nines(value.beyond))), PLOT.y(y.scale.share(value.value_ns)), 4.5)) {}
                    }
                }
            }
        };
        let longest =
            self.drawn().map(|(_, tail, _)| &tail.response).max_by_key(|values| values.len())?;
        let values = Values {
            group: &self.id,
            plot: PLOT,
            scale: x.scale,
            unit: "",
            x: longest.iter().map(|value| nines(value.beyond)).collect(),
            labels: longest.iter().map(|value| percentile_name(value.beyond)).collect(),
            stretch: 1,
            series: self.series(longest.len(), with_service),
        };
        let size = (PLOT.width, PLOT.height);
        Some(answering(
            &self.id,
            "wide nines",
            size,
            (&self.title, &self.summary()),
            &values,
            &content,
        ))
    }

    fn series(&self, length: usize, with_service: bool) -> Vec<ValueSeries> {
        let mut series = Vec::new();
        for (arm, tail, style) in self.drawn() {
            let kinds: &[(&str, &[TailValue])] =
                &[("", &tail.response), (", service", &tail.service)];
            for (kind, values) in kinds
                .iter()
                .filter(|(kind, values)| kind.is_empty() || with_service && !values.is_empty())
            {
                let describe =
                    |place: usize| values.get(place).map_or(f64::NAN, |value| value.value_ns);
                series.push(ValueSeries {
                    name: format!("{}{kind}", text::short(arm, 48)),
                    unit: "ns",
                    style: Some(style),
                    values: (0..length).map(describe).collect(),
                    ends: None,
                });
            }
        }
        series
    }

    fn summary(&self) -> String {
        let mut sentences = Vec::new();
        for (arm, tail, _) in self.drawn().take(STATED) {
            let at = |beyond: f64| {
                let found =
                    tail.response.iter().find(|value| (value.beyond / beyond - 1.0).abs() < 1e-6);
                found.map(|value| {
                    format!("{} {}", percentile_name(beyond), PAGE.latency(value.value_ns))
                })
            };
            let description: Vec<String> =
                [0.5, 0.01, 0.001, 1e-4].into_iter().filter_map(at).collect();
            sentences.push(format!("{}: {}.", text::short(arm, 60), description.join(", ")));
        }
        sentences.join(" ")
    }
}

/// From here to the right response times are lower bounds.
fn bound(x: f64) -> Markup {
    let y = PLOT.y(1.0) + 12.0;
    html! {
        path.at-least d={ "M" (Px(x)) " " (Px(y - 8.0)) "v16M" (Px(x)) " " (Px(y)) "h14m-4 -4l4 4l-4 4" } {
            title { "from here on lower bounds: too much was unfinished at the end" }
        }
    }
}

fn axis(farthest: f64) -> Axis {
    let to = farthest + 0.08;
    let mut ticks: Vec<(f64, String)> = vec![(nines(0.5), "p50".into())];
    for whole in 1..=farthest.floor() as i32 {
        ticks.push((f64::from(whole), percentile_name(10f64.powi(-whole))));
    }
    Axis { scale: Scale::Linear { from: 0.0, to }, ticks, title: "percentile (log scale)".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_have_their_usual_names() {
        let named: Vec<String> =
            [1.0, 0.5, 0.1, 0.01, 0.001, 0.000_15, 1e-6].map(percentile_name).into();
        assert_eq!(named, ["p0", "p50", "p90", "p99", "p99.9", "p99.985", "p99.9999"]);
    }

    #[test]
    fn every_nine_is_as_wide_as_the_one_before() {
        let axis = axis(3.3);
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["p50", "p90", "p99", "p99.9"]);
        assert!((nines(0.001) - 3.0).abs() < 1e-12 && nines(1.0) == 0.0);
    }
}
