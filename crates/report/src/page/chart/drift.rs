//! What a fixed task needed before and after each block, against its median.

use super::plot::Plot;
use super::{ArmStyle, Path, Px, picture};
use crate::axis::{Axis, Scale, linear_ticks};
use maud::{Markup, html};
use plimsoll_record::ProbeTime;
use plimsoll_record::quantities::numbers::PAGE;

/// Blocks drawn; of more, the last ones.
const BLOCKS: usize = 80;
/// Values further off than this are drawn at the edge.
const MOST: f64 = 3.0;

const PLOT: Plot = Plot { height: 170.0, bottom: 40.0, ..Plot::WIDE };

/// One task over the blocks.
pub(crate) struct DriftChart<'a> {
    pub(crate) id: &'a str,
    pub(crate) task: &'a str,
    /// Block, place, time over the median of all.
    pub(crate) values: &'a [(u32, ProbeTime, f64)],
    /// How far it may be off, a share.
    pub(crate) allowed: f64,
    /// Blocks with a probe task further off.
    pub(crate) marked: &'a [u32],
}

impl DriftChart<'_> {
    /// `None` where the task was never timed.
    pub(crate) fn draw(&self) -> Option<Markup> {
        let mut known: Vec<(u32, ProbeTime, f64)> =
            self.values.iter().copied().filter(|(_, _, value)| value.is_finite()).collect();
        known.sort_by_key(|(block, place, _)| (*block, *place == ProbeTime::AfterBlock));
        let mut blocks: Vec<u32> = known.iter().map(|(block, ..)| *block).collect();
        blocks.dedup();
        let first = blocks.len().saturating_sub(BLOCKS);
        let blocks = &blocks[first..];
        known.retain(|(block, ..)| blocks.contains(block));
        let allowed = if self.allowed.is_finite() { self.allowed.abs() } else { 0.0 };
        let off = known.iter().map(|(_, _, value)| (value - 1.0).abs());
        let farthest = off.fold(allowed * 1.3, f64::max).clamp(0.01, MOST);
        let (&begin, &end) = (blocks.first()?, blocks.last()?);
        let x = axis(begin, end);
        let y = around_one(farthest);
        let style = ArmStyle::at(0);
        let place = |block: u32, when: ProbeTime| {
            let beside = if when == ProbeTime::BeforeBlock { -0.2 } else { 0.2 };
            PLOT.x(x.scale.share(f64::from(block) + 1.0 + beside))
        };
        let level = |value: f64| PLOT.y(y.scale.share(value));
        let mut line = Path::default();
        let places = known.iter();
        line.through(places.map(|(block, when, value)| (place(*block, *when), level(*value))));
        let (top, base) = (level(1.0 + allowed), level(1.0 - allowed));
        let content = html! {
            rect.margin x=(Px(PLOT.x(0.0))) y=(Px(top)) width=(Px(PLOT.x(1.0) - PLOT.x(0.0))) height=(Px(base - top)) {}
            (PLOT.frame(&x, &y))
            @for block in self.marked.iter().filter(|block| blocks.contains(block)) {
                @let (left, right) = (PLOT.x(x.scale.share(f64::from(*block) + 0.5)), PLOT.x(x.scale.share(f64::from(*block) + 1.5)));
                rect.stall-band x=(Px(left)) y=(Px(PLOT.y(1.0))) width=(Px(right - left)) height=(Px(PLOT.y(0.0) - PLOT.y(1.0))) {}
            }
            g class=(style.class()) {
                path.block d=(line.data()) {}
                @for (block, when, value) in &known {
                    @let is_off = (value - 1.0).abs() > allowed;
                    @let (at, up) = (place(*block, *when), level(*value));
                    path.mark.trial-broken[*when == ProbeTime::AfterBlock] d=(style.mark(at, up, 3.8)) {
                        title { "block " (u64::from(*block) + 1) ", " (words(*when)) ": " (PAGE.difference(value - 1.0)) }
                    }
                    @if is_off { text.mid.off x=(Px(at)) y=(Px(up - 8.0)) { "!" } }
                }
            }
        };
        let title = format!("Time of the {} over the blocks", self.task);
        Some(picture(
            self.id,
            "wide",
            (PLOT.width, PLOT.height),
            &title,
            &self.summary(&known),
            &content,
        ))
    }

    fn summary(&self, known: &[(u32, ProbeTime, f64)]) -> String {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (_, _, value) in known {
            low = low.min(value - 1.0);
            high = high.max(value - 1.0);
        }
        format!(
            "From {} to {} against its median; {} either way is allowed.",
            PAGE.difference(low),
            PAGE.difference(high),
            PAGE.percent(self.allowed)
        )
    }
}

/// The place of a probe task in words.
pub(crate) fn words(place: ProbeTime) -> &'static str {
    match place {
        ProbeTime::BeforeBlock => "before it",
        ProbeTime::AfterBlock => "after it",
    }
}

fn axis(begin: u32, end: u32) -> Axis {
    let (from, to) = (f64::from(begin) + 0.5, f64::from(end) + 1.5);
    let blocks = (end - begin).saturating_add(1);
    let every = blocks.div_ceil(20).max(1);
    let labels = (begin..=end).step_by(usize::try_from(every).unwrap_or(usize::MAX));
    Axis {
        scale: Scale::Linear { from, to },
        ticks: labels
            .map(|block| (f64::from(block) + 1.0, (u64::from(block) + 1).to_string()))
            .collect(),
        title: "block".into(),
    }
}

fn around_one(farthest: f64) -> Axis {
    let (top, values) = linear_ticks(farthest * 100.0, 2);
    let mut ticks = Vec::new();
    for value in values {
        let share = value / 100.0;
        if value > 0.0 {
            ticks.push((1.0 - share, PAGE.difference(-share)));
        }
        ticks.push((1.0 + share, PAGE.difference(share)));
    }
    Axis {
        scale: Scale::Linear { from: 1.0 - top / 100.0, to: 1.0 + top / 100.0 },
        ticks,
        title: "against its median".into(),
    }
}
