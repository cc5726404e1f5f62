//! The frame that every chart stands in.

use super::Px;
use crate::axis::Axis;
use maud::{Markup, html};

/// Where a chart lies within its picture, in units of the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plot {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Plot {
    pub(crate) const WIDE: Self =
        Self { width: 560.0, height: 330.0, left: 58.0, right: 14.0, top: 30.0, bottom: 44.0 };

    /// Horizontal place of a share.
    pub(crate) fn x(&self, share: f64) -> f64 {
        self.left + share * (self.width - self.left - self.right)
    }

    /// Vertical place of a share, counted from the bottom.
    pub(crate) fn y(&self, share: f64) -> f64 {
        self.height - self.bottom - share * (self.height - self.top - self.bottom)
    }

    pub(crate) fn frame(&self, x: &Axis, y: &Axis) -> Markup {
        let (left, right) = (self.x(0.0), self.x(1.0));
        let base = self.y(0.0);
        html! {
            g.grid {
                @for (value, _) in &y.ticks {
                    @let at = self.y(y.scale.share(*value));
                    path d={ "M" (Px(left)) " " (Px(at)) "H" (Px(right)) } {}
                }
            }
            g.ticks {
                @for (value, label) in &y.ticks {
                    text.end x=(Px(left - 7.0)) y=(Px(self.y(y.scale.share(*value)) + 4.0)) { (label) }
                }
                @for (value, label) in &x.ticks {
                    @let at = self.x(x.scale.share(*value));
                    path d={ "M" (Px(at)) " " (Px(base)) "v4" } {}
                    text.mid x=(Px(at)) y=(Px(base + 18.0)) { (label) }
                }
            }
            path.axis d={ "M" (Px(left)) " " (Px(base)) "H" (Px(right)) } {}
            text.axis-title x="2" y="13" { (y.title) }
            @if !x.title.is_empty() {
                text.axis-title.end x=(Px(right)) y=(Px(self.height - 5.0)) { (x.title) }
            }
        }
    }
}
