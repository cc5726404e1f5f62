//! Response times over the seconds of one run: p99 and p50 as lines, and behind them how many operations took how long.

use super::heat::{heat_map, reach};
use super::plot::Plot;
use super::time::{LEFT, RIGHT, WIDTH, events, shaded, stretched, trace};
use super::values::{ValueSeries, Values};
use super::{ArmStyle, Px, answering};
use crate::axis::Axis;
use maud::{Markup, html};
use plimsoll_judge::{Heat, SeriesSecond, TimeSeries};
use plimsoll_record::quantities::numbers::PAGE;

const PLOT: Plot =
    Plot { width: WIDTH, height: 132.0, left: LEFT, right: RIGHT, top: 22.0, bottom: 20.0 };

/// One panel, below the throughput of the same seconds.
pub(crate) struct LatencyPanel<'a> {
    pub(crate) id: String,
    /// Charts with the same cursor.
    pub(crate) group: &'a str,
    pub(crate) title: String,
    pub(crate) style: ArmStyle,
    pub(crate) series: &'a TimeSeries,
    pub(crate) heat: Option<&'a Heat>,
    /// Lowest and highest response time of the panels beside each other, nanoseconds.
    pub(crate) ends: (f64, f64),
    /// End of the time axis, seconds.
    pub(crate) last: f64,
}

/// Lowest and highest response time that panels beside each other show, nanoseconds: p50 and p99 of every second, and nearly all of what the heat
/// holds. `None` where none is known.
pub(crate) fn ends<'a>(
    seconds: impl Iterator<Item = &'a SeriesSecond>,
    heats: impl Iterator<Item = &'a Heat>,
) -> Option<(f64, f64)> {
    let times = seconds.flat_map(|second| [second.p50_ns, second.p99_ns]);
    let heats = heats.filter_map(reach).flat_map(|(low, high)| [Some(low), Some(high)]);
    let mut found: Option<(f64, f64)> = None;
    for value in times.chain(heats).flatten() {
        if value.is_finite() && value > 0.0 {
            found =
                Some(found.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
        }
    }
    found
}

impl LatencyPanel<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let x = Axis::seconds(self.last);
        let mut y = Axis::latency_decades(self.ends.0, self.ends.1, "");
        y.title = "response: p99, p50 (dashed), logarithmic".into();
        for (_, label) in &mut y.ticks {
            *label = label.replace('\u{202f}', "");
        }
        let place = |seconds: f64| PLOT.x(x.scale.share(seconds));
        let (top, base) = (PLOT.y(1.0), PLOT.y(0.0));
        let shade = |class: &str, from: f64, to: f64| shaded(&PLOT, &x, class, (from, to));
        let requested = self.series.warm_up_seconds;
        let cut = requested + self.series.cut_seconds;
        let line = |of: fn(&SeriesSecond) -> Option<f64>| -> Vec<(f64, f64)> {
            let seconds = self.series.seconds.iter();
            seconds
                .map(|second| {
                    let value = of(second).filter(|value| *value > 0.0);
                    (second.at + second.length / 2.0, value.unwrap_or(f64::NAN))
                })
                .collect()
        };
        let (p99, p50) = (line(|second| second.p99_ns), line(|second| second.p50_ns));
        let content = html! {
            @if requested > 0.0 { (shade("warm", 0.0, requested)) }
            @if cut > requested { (shade("cut", requested, cut)) path.cut-line d={ "M" (Px(place(cut))) " " (Px(top)) "V" (Px(base)) } {} }
            @for (from, to) in &self.series.stalls { g.stall { (shade("stall-band", *from, *to)) } }
            @for (from, to) in checkpoints(self.series) { (shade("checkpoint", from, to)) }
            (events(&PLOT, &x, self.series.events.iter()))
            (PLOT.frame(&x, &y))
            @if let Some(heat) = self.heat { (heat_map(&self.id, heat, self.style, &PLOT, (&x, &y))) }
            g class={ "times " (self.style.class()) } {
                path.watched d=(trace(&PLOT, &p99, &x, &y).data()) {}
                path.watched.second d=(trace(&PLOT, &p50, &x, &y).data()) {}
            }
        };
        let (at, stretch) = stretched(&p99);
        let describe = |name: &str, values: &[(f64, f64)]| ValueSeries {
            name: name.into(),
            unit: "ns",
            style: None,
            values: stretched(values).0.into_iter().map(|(_, value)| value).collect(),
            ends: None,
        };
        let values = Values {
            group: self.group,
            plot: PLOT,
            scale: x.scale,
            unit: "s",
            x: at.into_iter().map(|(at, _)| at).collect(),
            labels: Vec::new(),
            stretch,
            series: vec![describe("p99", &p99), describe("p50", &p50)],
        };
        let about = self.summary(&p99);
        let size = (PLOT.width, PLOT.height);
        answering(&self.id, "small", size, (&self.title, &about), &values, &content)
    }

    fn summary(&self, p99: &[(f64, f64)]) -> String {
        let mut known: Vec<f64> = p99.iter().map(|(_, value)| *value).collect();
        known.retain(|value| value.is_finite());
        known.sort_by(f64::total_cmp);
        let (Some(lowest), Some(highest)) = (known.first(), known.last()) else {
            return "No response times are known.".into();
        };
        format!(
            "Block {}. p99 of each second from {} to {}, in the middle {}.{}",
            u64::from(self.series.block) + 1,
            PAGE.latency(*lowest),
            PAGE.latency(*highest),
            PAGE.latency(known[known.len() / 2]),
            if self.heat.is_some() {
                " Behind the lines, the stronger the more operations took so long."
            } else {
                ""
            }
        )
    }
}

/// Begin and end of each stretch of seconds in which a checkpoint was under way.
pub(super) fn checkpoints(series: &TimeSeries) -> Vec<(f64, f64)> {
    let mut spans: Vec<(f64, f64)> = Vec::new();
    for (second, figures) in series.seconds.iter().zip(&series.figures) {
        if figures.checkpoint_share.is_none_or(|share| share <= 0.0) {
            continue;
        }
        let end = second.at + second.length;
        match spans.last_mut() {
            Some(span) if second.at - span.1 < 1e-6 => span.1 = end,
            _ => spans.push((second.at, end)),
        }
    }
    spans
}
