//! The values of the blocks beside each other, in the order in which they were made.

use super::{ArmStyle, Path, Px};
use maud::{Markup, html};
use plimsoll_judge::Estimate;

const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 44.0;
const EDGE: f64 = 7.0;
const DOTS: usize = 120;

/// A dot for each block over the median, or nothing where there is no value. `farthest` is the share off the median that reaches the edge, the same for
/// all that shall be compared. The figures stand beside it in the table, so a screen reader passes over the picture.
pub(crate) fn strip(values: &Estimate, farthest: f64, style: ArmStyle) -> Markup {
    let median = crate::select::median(values);
    let known: Vec<f64> = values
        .values
        .iter()
        .map(|(_, value)| value / median - 1.0)
        .filter(|share| share.is_finite())
        .take(DOTS)
        .collect();
    if known.is_empty() {
        return html! {};
    }
    let middle = HEIGHT / 2.0;
    let step = (WIDTH - 2.0 * EDGE) / known.len() as f64;
    let mut dots = Path::default();
    for (place, share) in known.iter().enumerate() {
        let off = (share / farthest).clamp(-1.0, 1.0);
        dots.dot(EDGE + step * (place as f64 + 0.5), middle - off * (middle - EDGE));
    }
    html! {
        svg class={ "strip " (style.class()) } viewBox={ "0 0 " (Px(WIDTH)) " " (Px(HEIGHT)) } aria-hidden="true" {
            path.zero d={ "M0 " (Px(middle)) "H" (Px(WIDTH)) } {}
            path.block-dots d=(dots.data()) {}
        }
    }
}

/// The share off the median that the farthest block has.
pub(crate) fn farthest(values: &Estimate) -> f64 {
    let median = crate::select::median(values);
    let shares = values.values.iter().map(|(_, value)| (value / median - 1.0).abs());
    shares.filter(|share| share.is_finite()).fold(0.0, f64::max)
}
