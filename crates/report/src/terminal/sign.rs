//! The sign and the colour of each arm in characters. Those that the page draws with a look of their own have a shape here, the same arms in the same order; the
//! others have a letter, and where an experiment has more arms than letters, a number.

use super::screen::{Screen, paint};
use crate::arms::{ArmPlaces, STYLES};
use anstyle::{AnsiColor, Style};
use plimsoll_judge::Analysis;
use std::borrow::Cow;
use std::collections::HashMap;

/// As on the page, the second half hollow.
const SHAPES: [&str; STYLES] =
    ["●", "■", "▲", "◆", "▼", "✚", "⬢", "✦", "○", "□", "△", "◇", "▽", "+", "⬡", "✧"];
const ASCII_SHAPES: [&str; STYLES] =
    ["o", "#", "^", "x", "v", "+", "0", "@", "a", "b", "c", "d", "e", "f", "g", "h"];
/// Without those that are shapes, or look like one.
const LETTERS: &str = "ijklmnpqrstuwyzABCDEFGHIJKLMNPQRSTUVWXYZ";
/// The sign of an arm that the analysis does not know.
const UNKNOWN: &str = "-";

/// What stands before the best median of a column. No arm has it for its sign.
pub(super) fn best(unicode: bool) -> &'static str {
    if unicode { "★" } else { "*" }
}

/// The sign at a place.
pub(super) fn mark(place: usize, unicode: bool) -> Cow<'static, str> {
    let shapes = if unicode { &SHAPES } else { &ASCII_SHAPES };
    if let Some(shape) = shapes.get(place) {
        return (*shape).into();
    }
    match place.checked_sub(STYLES).map(|at| LETTERS.get(at..=at)) {
        Some(Some(letter)) => letter.into(),
        _ => (place + 1).to_string().into(),
    }
}

/// The colour at a place.
pub(super) fn style(place: usize) -> Style {
    const COLOURS: [AnsiColor; STYLES / 2] = [
        AnsiColor::Blue,
        AnsiColor::Yellow,
        AnsiColor::Magenta,
        AnsiColor::Cyan,
        AnsiColor::White,
        AnsiColor::Green,
        AnsiColor::Red,
        AnsiColor::BrightBlue,
    ];
    if place < STYLES { COLOURS[place % COLOURS.len()].on_default() } else { Style::new() }
}

/// Which arm has which sign.
pub(super) struct Signs<'a> {
    places: HashMap<&'a str, usize>,
    unicode: bool,
}

impl<'a> Signs<'a> {
    pub(super) fn of(analysis: &'a Analysis, screen: &Screen) -> Self {
        let styles = ArmPlaces::of(analysis);
        let mut places = HashMap::new();
        let mut next = STYLES;
        for arm in &analysis.arms {
            let place = styles.place(&arm.name).unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            places.insert(arm.name.as_str(), place);
        }
        Self { places, unicode: screen.unicode }
    }

    /// The place of an arm among the signs; below [`STYLES`] it is drawn in charts.
    pub(super) fn place(&self, arm: &str) -> Option<usize> {
        self.places.get(arm).copied()
    }

    /// The sign of an arm.
    pub(super) fn plain(&self, arm: &str) -> Cow<'static, str> {
        self.place(arm).map_or(UNKNOWN.into(), |place| mark(place, self.unicode))
    }

    /// The sign of an arm in its colour.
    pub(super) fn painted(&self, arm: &str) -> String {
        let colour = self.place(arm).map_or(Style::new(), style);
        paint(colour, &self.plain(arm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self as sample, Shape};
    use std::collections::HashSet;

    #[test]
    fn as_many_arms_as_an_experiment_may_have_differ_from_each_other_and_from_the_best() {
        for unicode in [true, false] {
            let signs: HashSet<Cow<'_, str>> =
                (0..1_000).map(|place| mark(place, unicode)).collect();
            assert_eq!(signs.len(), 1_000);
            assert!(!signs.contains(best(unicode)) && !signs.contains(UNKNOWN));
            assert!(unicode || signs.iter().all(|sign| sign.is_ascii()));
        }
    }

    #[test]
    fn the_arms_that_the_page_draws_have_the_shapes() {
        let (_, analysis) = sample::experiment(&Shape::of(20, 1, 1, 2, 6));
        let (styles, signs) = (ArmPlaces::of(&analysis), Signs::of(&analysis, &Screen::default()));
        let mut shapes = 0;
        for arm in &analysis.arms {
            let is_shape = SHAPES.contains(&&*signs.plain(&arm.name));
            assert_eq!(is_shape, styles.place(&arm.name).is_some(), "{}", arm.name);
            shapes += usize::from(is_shape);
        }
        assert_eq!(shapes, STYLES);
        assert_eq!(signs.plain("nobody"), UNKNOWN);
    }
}
