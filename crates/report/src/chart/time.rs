//! Throughput over the seconds of one point of one arm: a thin line for each block, a strong one for their median.

use super::scale::{Axis, Plot};
use super::{ArmStyle, Path, Px, picture};
use crate::number::PAGE;
use maud::{Markup, html};
use plimsoll_judge::TimeSeries;

/// Blocks drawn in one panel.
pub(crate) const BLOCKS: usize = 12;
/// Places along the time axis; longer series are drawn by the lowest and the highest of each stretch.
pub(crate) const SECONDS_DRAWN: usize = 150;

/// Of the picture, and of the room at its sides; charts of the same seconds stand below each other.
pub(super) const WIDTH: f64 = 270.0;
pub(super) const LEFT: f64 = 38.0;
pub(super) const RIGHT: f64 = 6.0;

const PLOT: Plot = Plot {
    width: WIDTH,
    height: 140.0,
    left: LEFT,
    right: RIGHT,
    top: 19.0,
    bottom: 22.0,
};

/// One panel. The panels of a load share `highest`, so that arms can be compared by eye, unless they are far apart.
pub(crate) struct TimePanel<'a> {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) style: ArmStyle,
    /// The same point in each block.
    pub(crate) blocks: Vec<&'a TimeSeries>,
    pub(crate) highest: f64,
    pub(crate) last: f64,
}

impl TimePanel<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let x = Axis::seconds(self.last);
        let y = Axis {
            title: "op/s".into(),
            ..Axis::rate(self.highest, 3)
        };
        let asked = self
            .blocks
            .iter()
            .map(|series| series.warm_up_seconds)
            .fold(0.0, f64::max);
        let cut = self
            .blocks
            .iter()
            .map(|series| series.warm_up_seconds + series.cut_seconds)
            .fold(0.0, f64::max);
        let place = |seconds: f64| PLOT.x(x.scale.share(seconds));
        let (top, base) = (PLOT.y(1.0), PLOT.y(0.0));
        let shade = |class: &str, from: f64, to: f64| {
            html! { rect class=(class) x=(Px(place(from))) y=(Px(top)) width=(Px(place(to) - place(from))) height=(Px(base - top)) {} }
        };
        let content = html! {
            @if asked > 0.0 { (shade("warm", 0.0, asked)) }
            @if cut > asked {
                (shade("cut", asked, cut))
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
        picture(
            &self.id,
            "small",
            (PLOT.width, PLOT.height),
            &self.title,
            &self.summary(asked, cut),
            &content,
        )
    }

    fn summary(&self, asked: f64, cut: f64) -> String {
        let stalls: usize = self.blocks.iter().map(|series| series.stalls.len()).sum();
        format!(
            "{} blocks. Warm-up asked: {}; cut up to second {}. Stalls: {stalls}.",
            self.blocks.len(),
            PAGE.span(asked),
            PAGE.fixed(cut, 0)
        )
    }
}

/// The median over the blocks at each second that all of them have.
fn median(blocks: &[&TimeSeries]) -> Vec<(f64, f64)> {
    let length = blocks
        .iter()
        .map(|series| series.seconds.len())
        .min()
        .unwrap_or(0);
    let mut line = Vec::with_capacity(length);
    for index in 0..length {
        let mut values: Vec<f64> = blocks
            .iter()
            .map(|series| series.seconds[index].throughput)
            .collect();
        values.sort_by(f64::total_cmp);
        let second = &blocks[0].seconds[index];
        let middle = (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0;
        line.push((second.at + second.length / 2.0, middle));
    }
    line
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
        let (first, second) = if lowest.0 <= highest.0 {
            (lowest, highest)
        } else {
            (highest, lowest)
        };
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
        let mut values: Vec<(f64, f64)> = (0..10_000)
            .map(|second| (f64::from(second), 100.0))
            .collect();
        values[4_321].1 = 1.0;
        values[7_654].1 = 900.0;
        let kept = thinned(&values);
        assert!(kept.len() <= SECONDS_DRAWN);
        assert!(kept.contains(&(4_321.0, 1.0)) && kept.contains(&(7_654.0, 900.0)));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
