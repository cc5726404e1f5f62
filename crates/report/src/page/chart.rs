//! Charts, drawn in SVG without any script. Every kind of chart is one file; [`plot`] is what they share.
//!
//! Arms are distinguished three ways at once: by colour, by the mark at each point, and by the dashes of the line. Colours come from the
//! page's style sheet, so that one picture serves light, dark and print.

mod drift;
mod factor;
mod forest;
mod heat;
mod knee;
mod latency;
mod line;
mod load;
mod mark;
mod nines;
mod plot;
mod spread;
mod time;
mod values;
mod watch;

pub(crate) use drift::{DriftChart, words as probe_time};
pub(crate) use factor::{CellPoint, CellQuantity, FactorChart, LevelLine};
pub(crate) use forest::ForestScale;
pub(crate) use knee::KneeChart;
pub(crate) use latency::{LatencyPanel, ends as latency_ends};
pub(crate) use line::{LineChart, trials};
pub(crate) use load::{LoadChart, Quantity};
pub(crate) use mark::{ArmStyle, ArmStyles};
pub(crate) use nines::{NinesChart, percentile_name};
pub(crate) use plot::Plot;
pub(crate) use spread::{farthest, strip};
pub(crate) use time::{SECONDS_DRAWN, TimePanel};
pub(crate) use values::{ValueSeries, Values};
pub(crate) use watch::WatchPanel;

use maud::{Markup, html};
use std::fmt;

/// A coordinate: one decimal is a tenth of a pixel, more is bytes for nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Px(pub(crate) f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        if tenths < 0 {
            f.write_str("-")?;
        }
        let (whole, tenth) = (tenths.abs() / 10, tenths.abs() % 10);
        if tenth == 0 { write!(f, "{whole}") } else { write!(f, "{whole}.{tenth}") }
    }
}

/// The data of an SVG path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path(String);

impl Path {
    pub(crate) fn move_to(&mut self, x: f64, y: f64) {
        self.0.push_str(&format!("M{} {}", Px(x), Px(y)));
    }

    pub(crate) fn line_to(&mut self, x: f64, y: f64) {
        self.0.push_str(&format!("L{} {}", Px(x), Px(y)));
    }

    /// A line from place to place.
    pub(crate) fn through(&mut self, places: impl IntoIterator<Item = (f64, f64)>) {
        for (number, (x, y)) in places.into_iter().enumerate() {
            if number == 0 {
                self.move_to(x, y);
            } else {
                self.line_to(x, y);
            }
        }
    }

    /// Two strokes across each other: nothing valid is here.
    pub(crate) fn cross(&mut self, x: f64, y: f64) {
        self.through([(x - 3.5, y - 3.5), (x + 3.5, y + 3.5)]);
        self.through([(x - 3.5, y + 3.5), (x + 3.5, y - 3.5)]);
    }

    /// A dot: a line of no length, which a round cap makes visible.
    pub(crate) fn dot(&mut self, x: f64, y: f64) {
        self.0.push_str(&format!("M{} {}h0", Px(x), Px(y)));
    }

    pub(crate) fn close(&mut self) {
        self.0.push('Z');
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn data(&self) -> &str {
        &self.0
    }
}

/// A picture with what a screen reader says about it. `id` must be unique on the page.
pub(crate) fn picture(
    id: &str,
    class: &str,
    size: (f64, f64),
    title: &str,
    about: &str,
    content: &Markup,
) -> Markup {
    drawn(id, class, size, (title, about), None, content)
}

/// The same with the values under a cursor.
pub(crate) fn answering(
    id: &str,
    class: &str,
    size: (f64, f64),
    words: (&str, &str),
    values: &Values<'_>,
    content: &Markup,
) -> Markup {
    html! {
        (drawn(id, class, size, words, Some(values), content))
        (values.data())
    }
}

fn drawn(
    id: &str,
    class: &str,
    size: (f64, f64),
    (title, about): (&str, &str),
    values: Option<&Values<'_>>,
    content: &Markup,
) -> Markup {
    html! {
        svg class={ "chart " (class) } viewBox={ "0 0 " (Px(size.0)) " " (Px(size.1)) } role="img"
            aria-labelledby={ (id) "-t " (id) "-d" } data-cursor=[values.map(|values| values.group)] data-plot=[values.map(Values::plot)]
            data-scale=[values.and_then(Values::scale_name)] {
            title id={ (id) "-t" } { (title) }
            desc id={ (id) "-d" } { (about) }
            (content)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        let spelled: Vec<String> =
            [0.0, 12.34, -0.04, -7.5, 100.0, f64::NAN].map(|value| Px(value).to_string()).into();
        assert_eq!(spelled, ["0", "12.3", "0", "-7.5", "100", "0"]);
    }
}
