//! Throughput over the seconds of one point of one arm: a thin line for each block, a strong one for their median.

use super::plot::Plot;
use super::values::{ValueSeries, Values};
use super::{ArmStyle, Path, Px, answering};
use crate::axis::Axis;
use crate::page::prose;
use maud::{Markup, html};
use plimsoll_judge::{SeriesEvent, TimeSeries};
use plimsoll_record::quantities::numbers::PAGE;

/// Blocks drawn in one panel.
pub(crate) const BLOCKS: usize = 12;
/// Places along the time axis; longer series are drawn by the lowest and the highest of each stretch.
pub(crate) const SECONDS_DRAWN: usize = 150;

/// Size of the picture, and of the room at its sides; charts of the same seconds stand below each other.
pub(super) const WIDTH: f64 = 270.0;
pub(super) const LEFT: f64 = 38.0;
pub(super) const RIGHT: f64 = 6.0;

const PLOT: Plot =
    Plot { width: WIDTH, height: 140.0, left: LEFT, right: RIGHT, top: 19.0, bottom: 22.0 };

/// One panel. The panels of a load share `highest`, so that arms can be compared by eye, unless they are far apart.
pub(crate) struct TimePanel<'a> {
    pub(crate) id: String,
    /// Charts with the same cursor.
    pub(crate) group: &'a str,
    pub(crate) title: String,
    pub(crate) style: ArmStyle,
    /// The same point in each block.
    pub(crate) blocks: Vec<&'a TimeSeries>,
    pub(crate) highest: f64,
    pub(crate) last: f64,
}

/// A stretch of seconds, over the whole height.
pub(super) fn shaded(plot: &Plot, x: &Axis, class: &str, (from, to): (f64, f64)) -> Markup {
    let place = |seconds: f64| plot.x(x.scale.share(seconds));
    let (top, base) = (plot.y(1.0), plot.y(0.0));
    html! { rect class=(class) x=(Px(place(from))) y=(Px(top)) width=(Px(place(to) - place(from))) height=(Px(base - top)) {} }
}

/// What was done to the server: a line at each event, and a shade until it was over.
pub(super) fn events<'a>(
    plot: &Plot,
    x: &Axis,
    events: impl Iterator<Item = &'a SeriesEvent>,
) -> Markup {
    let (top, base) = (plot.y(1.0), plot.y(0.0));
    html! {
        @for event in events {
            g.event {
                @if let Some(until) = event.until.filter(|until| *until > event.at) { (shaded(plot, x, "", (event.at, until))) }
                path d={ "M" (Px(plot.x(x.scale.share(event.at)))) " " (Px(top)) "V" (Px(base)) } {
                    title { (prose::prose(&event.words)) }
                }
            }
        }
    }
}

impl TimePanel<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let x = Axis::seconds(self.last);
        let y = Axis { title: "op/s".into(), ..Axis::rate(self.highest, 3) };
        let requested = self.blocks.iter().map(|series| series.warm_up_seconds).fold(0.0, f64::max);
        let cut = self
            .blocks
            .iter()
            .map(|series| series.warm_up_seconds + series.cut_seconds)
            .fold(0.0, f64::max);
        let place = |seconds: f64| PLOT.x(x.scale.share(seconds));
        let (top, base) = (PLOT.y(1.0), PLOT.y(0.0));
        let shade = |class: &str, from: f64, to: f64| shaded(&PLOT, &x, class, (from, to));
        let content = html! {
            @if requested > 0.0 { (shade("warm", 0.0, requested)) }
            @if cut > requested {
                (shade("cut", requested, cut))
                path.cut-line d={ "M" (Px(place(cut))) " " (Px(top)) "V" (Px(base)) } {}
            }
            @for (from, to) in self.blocks.iter().flat_map(|series| &series.stalls) {
                g.stall {
                    (shade("stall-band", *from, *to))
                    path d={ "M" (Px(place(*from))) " " (Px(top)) "H" (Px(place(*to))) } {
                        title { "stall from second " (PAGE.fixed(*from, 0)) " to " (PAGE.fixed(*to, 0)) }
                    }
                }
            }
            // In all blocks they are at the same time, but for milliseconds.
            @if let Some(series) = self.blocks.iter().find(|series| !series.events.is_empty()) { (events(&PLOT, &x, series.events.iter())) }
            (PLOT.frame(&x, &y))
            g class=(self.style.class()) {
                @for series in self.blocks.iter().take(BLOCKS) {
                    @let values: Vec<(f64, f64)> = series.seconds.iter().map(|second| (second.at + second.length / 2.0, second.throughput)).collect();
                    path.block d=(trace(&PLOT, &values, &x, &y).data()) {}
                }
                @if self.blocks.len() > 1 {
                    path.median d=(trace(&PLOT, &median(&self.blocks), &x, &y).data()) {}
                }
            }
        };
        let size = (PLOT.width, PLOT.height);
        let about = self.summary(requested, cut);
        let words = (self.title.as_str(), about.as_str());
        answering(&self.id, "small", size, words, &self.values(&x), &content)
    }

    fn values(&self, x: &Axis) -> Values<'_> {
        let low = stretched(&over_blocks(&self.blocks, |sorted| sorted[0]));
        let high = stretched(&over_blocks(&self.blocks, |sorted| sorted[sorted.len() - 1]));
        let median = stretched(&median(&self.blocks));
        let numbers =
            |line: &[(f64, f64)]| line.iter().map(|(_, value)| *value).collect::<Vec<f64>>();
        let several = self.blocks.len() > 1;
        Values {
            group: self.group,
            plot: PLOT,
            scale: x.scale,
            unit: "s",
            x: median.0.iter().map(|(at, _)| *at).collect(),
            labels: Vec::new(),
            stretch: median.1,
            series: vec![ValueSeries {
                name: if several {
                    format!("median of {} blocks", self.blocks.len())
                } else {
                    "throughput".into()
                },
                unit: "op/s",
                style: None,
                values: numbers(&median.0),
                ends: several.then(|| (numbers(&low.0), numbers(&high.0))),
            }],
        }
    }

    fn summary(&self, requested: f64, cut: f64) -> String {
        let stalls: usize = self.blocks.iter().map(|series| series.stalls.len()).sum();
        let mut rates: Vec<f64> = median(&self.blocks).into_iter().map(|(_, rate)| rate).collect();
        rates.retain(|rate| rate.is_finite());
        rates.sort_by(f64::total_cmp);
        let description = match (rates.first(), rates.last()) {
            (Some(lowest), Some(highest)) => format!(
                " Operations per second from {} to {}, in the middle {}.",
                PAGE.rate(*lowest),
                PAGE.rate(*highest),
                PAGE.rate(rates[rates.len() / 2])
            ),
            _ => String::new(),
        };
        format!(
            "{}.{description} Requested warm-up: {}; cut up to second {}. Stalls: {stalls}.",
            crate::words::counted(self.blocks.len() as u64, "block", PAGE),
            PAGE.span(requested),
            PAGE.fixed(cut, 0)
        )
    }
}

/// The median over the blocks at each second that all of them have.
fn median(blocks: &[&TimeSeries]) -> Vec<(f64, f64)> {
    over_blocks(blocks, |sorted| (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0)
}

/// One number of the sorted throughputs of the blocks, at each second that all of them have.
fn over_blocks(blocks: &[&TimeSeries], of: impl Fn(&[f64]) -> f64) -> Vec<(f64, f64)> {
    let length = blocks.iter().map(|series| series.seconds.len()).min().unwrap_or(0);
    let mut line = Vec::with_capacity(length);
    for index in 0..length {
        let mut values: Vec<f64> =
            blocks.iter().map(|series| series.seconds[index].throughput).collect();
        values.sort_by(f64::total_cmp);
        let second = &blocks[0].seconds[index];
        line.push((second.at + second.length / 2.0, of(&values)));
    }
    line
}

/// At most [`SECONDS_DRAWN`] means of as many seconds each, with how many those are: what a cursor shows.
pub(super) fn stretched(values: &[(f64, f64)]) -> (Vec<(f64, f64)>, usize) {
    let stretch = values.len().div_ceil(SECONDS_DRAWN).max(1);
    let mean = |part: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
        part.iter().map(of).sum::<f64>() / part.len() as f64
    };
    let means = values
        .chunks(stretch)
        .map(|part| (mean(part, |(at, _)| *at), mean(part, |(_, value)| *value)));
    (means.collect(), stretch)
}

/// A line through (second, value), interrupted where there is no number, thinned to the lowest and highest of each stretch.
pub(super) fn trace(plot: &Plot, values: &[(f64, f64)], x: &Axis, y: &Axis) -> Path {
    let mut path = Path::default();
    let mut pen_down = false;
    for (at, value) in thinned(values) {
        if !value.is_finite() {
            pen_down = false;
            continue;
        }
        let (px, py) = (plot.x(x.scale.share(at)), plot.y(y.scale.share(value)));
        if pen_down {
            path.line_to(px, py)
        } else {
            path.move_to(px, py)
        }
        pen_down = true;
    }
    path
}

fn thinned(values: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if values.len() <= SECONDS_DRAWN {
        return values.to_vec();
    }
    let stretch = (2 * values.len()).div_ceil(SECONDS_DRAWN);
    let mut kept = Vec::with_capacity(SECONDS_DRAWN);
    for part in values.chunks(stretch) {
        let lowest = part.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let highest = part.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let (Some(lowest), Some(highest)) = (lowest, highest) else {
            continue;
        };
        let (first, second) =
            if lowest.0 <= highest.0 { (lowest, highest) } else { (highest, lowest) };
        kept.push(*first);
        if first.0 < second.0 {
            kept.push(*second);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_every_extreme() {
        let mut values: Vec<(f64, f64)> =
            (0..10_000).map(|second| (f64::from(second), 100.0)).collect();
        values[4_321].1 = 1.0;
        values[7_654].1 = 900.0;
        let kept = thinned(&values);
        assert!(kept.len() <= SECONDS_DRAWN);
        assert!(kept.contains(&(4_321.0, 1.0)) && kept.contains(&(7_654.0, 900.0)));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
