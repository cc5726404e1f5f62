//! How an arm looks: colour, mark and dashes.

use super::{Path, Px};
use crate::arms::{ArmPlaces, STYLES};
use maud::{Markup, html};
use plimsoll_judge::Analysis;

/// Colours, and shapes of marks. The second half of the looks has the same ones with hollow marks and dotted lines.
const SHAPES: usize = 8;

/// One of the looks, or that of all the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArmStyle(Option<usize>);

impl ArmStyle {
    /// The look of the line at a place.
    pub(crate) fn at(place: usize) -> Self {
        Self((place < STYLES).then_some(place))
    }

    /// The class of the style sheet that sets colour and dashes.
    pub(crate) fn class(self) -> &'static str {
        const CLASSES: [&str; STYLES] = [
            "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "b0", "b1", "b2", "b3", "b4", "b5",
            "b6", "b7",
        ];
        self.0.map_or("ax", |index| CLASSES[index % STYLES])
    }

    /// Whether the arm has a look of its own.
    pub(crate) fn own(self) -> bool {
        self.0.is_some()
    }

    /// The outline of the mark around a place.
    pub(crate) fn mark(self, x: f64, y: f64, radius: f64) -> String {
        let r = radius;
        let corners: &[(f64, f64)] = match self.0.map_or(SHAPES, |index| index % SHAPES) {
            0 => {
                let d = 2.0 * r;
                return format!(
                    "M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z",
                    Px(x - r),
                    Px(y),
                    r = Px(r),
                    d = Px(d)
                );
            }
            1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            2 => &[(0.0, -1.2), (1.15, 0.8), (-1.15, 0.8)],
            3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            4 => &[(0.0, 1.2), (1.15, -0.8), (-1.15, -0.8)],
            5 => &[
                (-0.35, -1.2),
                (0.35, -1.2),
                (0.35, -0.35),
                (1.2, -0.35),
                (1.2, 0.35),
                (0.35, 0.35),
                (0.35, 1.2),
                (-0.35, 1.2),
                (-0.35, 0.35),
                (-1.2, 0.35),
                (-1.2, -0.35),
                (-0.35, -0.35),
            ],
            6 => &[(-0.6, -1.1), (0.6, -1.1), (1.2, 0.0), (0.6, 1.1), (-0.6, 1.1), (-1.2, 0.0)],
            7 => &[
                (0.0, -1.35),
                (0.35, -0.35),
                (1.35, 0.0),
                (0.35, 0.35),
                (0.0, 1.35),
                (-0.35, 0.35),
                (-1.35, 0.0),
                (-0.35, -0.35),
            ],
            _ => &[(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)],
        };
        let mut path = Path::default();
        path.through(corners.iter().map(|(dx, dy)| (x + dx * r, y + dy * r)));
        path.close();
        path.data().to_owned()
    }

    /// A short piece of the line with the mark, for legends and tables.
    pub(crate) fn swatch(self) -> Markup {
        html! {
            svg class={ "swatch " (self.class()) } viewBox="0 0 30 14" aria-hidden="true" {
                path.line d="M1 7H29" {}
                path.mark d=(self.mark(15.0, 7.0, 4.5)) {}
            }
        }
    }
}

/// Which arm has which look.
#[derive(Clone, Debug)]
pub(crate) struct ArmStyles(ArmPlaces);

impl ArmStyles {
    pub(crate) fn of(analysis: &Analysis) -> Self {
        Self(ArmPlaces::of(analysis))
    }

    /// The look of an arm.
    pub(crate) fn style(&self, arm: &str) -> ArmStyle {
        ArmStyle(self.0.place(arm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::telling_arms;
    use crate::sample::{self as sample, Shape};
    use plimsoll_judge::{Comparison, Judgement};

    #[test]
    fn the_clearest_verdicts_are_shown_first_and_after_their_baselines() {
        let (_, mut analysis) = sample::experiment(&Shape::twelve_arms());
        for comparison in &mut analysis.comparisons {
            comparison.verdict.judgement = Judgement::Inconclusive;
        }
        let first_two = |analysis: &Analysis| {
            let telling = telling_arms(analysis);
            assert_eq!(telling.len(), 12);
            [telling[0].to_owned(), telling[1].to_owned()]
        };
        let of_san = |one: &&mut Comparison| one.arm == "san-138" && one.primary;
        let decided = analysis.comparisons.iter_mut().find(of_san).unwrap();
        let baseline = decided.baseline.clone();
        decided.verdict.judgement = Judgement::Worse;
        assert_eq!(first_two(&analysis), [baseline, "san-138".to_owned()]);

        let decided = analysis.comparisons.iter_mut().find(of_san).unwrap();
        decided.verdict.judgement = Judgement::Equivalent;
        let [first, _] = first_two(&analysis);
        let arm = analysis.arms.iter().find(|arm| arm.name == first).unwrap();
        assert!(arm.baseline, "{first}");
    }
}
