//! Differences with their intervals, one row each on a shared scale of ratios: a half and a double lie equally far from no difference.

use super::{Path, Px};
use maud::{Markup, html};
use plimsoll_judge::{Comparison, Verdict};
use plimsoll_record::quantities::numbers::PAGE;

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 24.0;
const EDGE: f64 = 10.0;
/// Differences beyond a factor of this are drawn at the edge, with an arrow.
const FARTHEST: f64 = 20.0;
/// About the width of one character of a label, and the least room between two labels, in units of the picture.
const CHARACTER: f64 = 6.4;
const BETWEEN: f64 = 9.0;

/// The scale that all rows of a table share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ForestScale {
    /// Natural logarithms of the ratios at both ends.
    low: f64,
    high: f64,
}

impl ForestScale {
    /// Wide enough for every interval and margin, and for at least 5 % both ways.
    pub(crate) fn of<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Self {
        Self::of_verdicts(comparisons.map(|comparison| &comparison.verdict))
    }

    /// The same of verdicts alone.
    pub(crate) fn of_verdicts<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Self {
        let (mut low, mut high) = (-0.05f64, 0.05f64);
        for verdict in verdicts {
            let interval = verdict.interval.map(|(a, b)| [a, b]).into_iter().flatten();
            for share in interval.chain(verdict.estimate).chain([verdict.margin, -verdict.margin]) {
                if let Some(log) = log_ratio(share) {
                    low = low.min(log);
                    high = high.max(log);
                }
            }
        }
        let limit = FARTHEST.ln();
        let room = (high - low) * 0.05;
        Self { low: (low - room).max(-limit), high: (high + room).min(limit) }
    }

    fn x(self, share: f64) -> f64 {
        let log = (1.0 + share).ln();
        // An end of an interval may be open.
        let log = if log.is_nan() { 0.0 } else { log };
        let log = log.clamp(self.low, self.high);
        EDGE + (log - self.low) / (self.high - self.low) * (WIDTH - 2.0 * EDGE)
    }

    fn contains(self, share: f64) -> bool {
        log_ratio(share).is_some_and(|log| log >= self.low && log <= self.high)
    }

    /// The labels over the rows.
    pub(crate) fn axis(self) -> Markup {
        const SHARES: [f64; 27] = [
            0.0, -0.5, 1.0, -0.2, 0.25, -0.8, 4.0, -0.1, 0.1, -0.9, 9.0, -0.05, 0.05, -0.33, 0.5,
            -0.02, 0.02, -0.95, 19.0, 2.0, -0.67, -0.3, 0.3, -0.4, 0.4, -0.01, 0.01,
        ];
        let half = |label: &str| label.chars().count() as f64 * CHARACTER / 2.0;
        let mut ticks: Vec<(f64, String)> = Vec::new();
        for share in SHARES {
            let (x, label) = (self.x(share), tick_label(share));
            let free = ticks
                .iter()
                .all(|(other, beside)| (x - other).abs() >= half(&label) + half(beside) + BETWEEN);
            if free && self.contains(share) && (12.0..=WIDTH - 12.0).contains(&x) {
                ticks.push((x, label));
            }
        }
        html! {
            svg.forest viewBox={ "0 0 " (Px(WIDTH)) " 20" } aria-hidden="true" {
                @for (x, label) in &ticks {
                    text.mid x=(Px(*x)) y="11" { (label) }
                    path.axis d={ "M" (Px(*x)) " 15v5" } {}
                }
            }
        }
    }

    /// One difference. The figures stand beside it in the table, so a screen reader passes over the picture.
    pub(crate) fn row(self, verdict: &Verdict) -> Markup {
        let middle = HEIGHT / 2.0;
        // A margin is a ratio, so it reaches as far down as up on this scale.
        let (margin_low, margin_high) =
            (self.x(1.0 / (1.0 + verdict.margin) - 1.0), self.x(verdict.margin));
        html! {
            svg.forest viewBox={ "0 0 " (Px(WIDTH)) " " (Px(HEIGHT)) } aria-hidden="true" {
                rect.margin x=(Px(margin_low)) y="0" width=(Px(margin_high - margin_low)) height=(Px(HEIGHT)) {}
                path.zero d={ "M" (Px(self.x(0.0))) " 0v" (Px(HEIGHT)) } {}
                @if let Some((low, high)) = verdict.interval {
                    path.range d=(self.range(low, high, middle).data()) {}
                }
                @if let Some(estimate) = verdict.estimate.filter(|share| log_ratio(*share).is_some()) {
                    @let x = self.x(estimate);
                    @if self.contains(estimate) {
                        rect.estimate x=(Px(x - 4.0)) y=(Px(middle - 4.0)) width="8" height="8" {}
                    } @else {
                        // It lies beyond the picture, on this side.
                        @let outward = if estimate > 0.0 { 4.0 } else { -4.0 };
                        path.estimate d={ "M" (Px(x + outward)) " " (Px(middle)) "l" (Px(-2.0 * outward)) " -5v10z" } {}
                    }
                }
            }
        }
    }

    fn range(self, low: f64, high: f64, y: f64) -> Path {
        let (from, to) = (self.x(low), self.x(high));
        let mut path = Path::default();
        path.move_to(from, y);
        path.line_to(to, y);
        for (end, share, inward) in [(from, low, 5.0), (to, high, -5.0)] {
            if self.contains(share) {
                path.move_to(end, y - 4.0);
                path.line_to(end, y + 4.0);
            } else {
                path.move_to(end + inward, y - 4.0);
                path.line_to(end, y);
                path.line_to(end + inward, y + 4.0);
            }
        }
        path
    }
}

fn log_ratio(share: f64) -> Option<f64> {
    let log = (1.0 + share).ln();
    log.is_finite().then_some(log)
}

fn tick_label(share: f64) -> String {
    if share == 0.0 {
        return "0".into();
    }
    let percent = PAGE.fixed(share * 100.0, 0);
    let sign = if share > 0.0 { "+" } else { "" };
    format!("{sign}{percent}\u{202f}%")
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_judge::Judgement;

    fn scale(low: f64, high: f64) -> ForestScale {
        ForestScale { low, high }
    }

    fn verdict(estimate: f64, interval: (f64, f64)) -> Verdict {
        Verdict {
            judgement: Judgement::Better,
            reason: None,
            estimate: Some(estimate),
            interval: Some(interval),
            confidence: None,
            p_value: None,
            p_holm: None,
            smallest_visible: None,
            blocks: 6,
            margin: 0.03,
        }
    }

    #[test]
    fn a_half_and_a_double_lie_equally_far_from_nothing() {
        let scale = scale(-1.0, 1.0);
        let middle = scale.x(0.0);
        assert!(((middle - scale.x(-0.5)) - (scale.x(1.0) - middle)).abs() < 1e-9);
    }

    #[test]
    fn labels_do_not_touch() {
        let axis = scale(-0.3, 3.0).axis().into_string();
        assert!(axis.contains("+400"), "{axis}");
        assert!(!axis.contains("+900"), "{axis}");
    }

    #[test]
    fn an_estimate_beyond_the_picture_is_no_square_at_its_edge() {
        let verdict = verdict(49.0, (40.0, f64::INFINITY));
        let scale = ForestScale::of_verdicts([&verdict].into_iter());
        let drawn = scale.row(&verdict).into_string();
        assert!(!drawn.contains("<rect class=\"estimate\""), "{drawn}");
        assert!(drawn.contains("<path class=\"estimate\""), "{drawn}");
        // The open end lies at the right edge, not at no difference.
        assert_eq!(scale.x(f64::INFINITY), WIDTH - EDGE);
        assert_eq!(scale.x(-1.0), EDGE);
    }

    #[test]
    fn an_interval_that_leaves_the_picture_ends_in_an_arrow() {
        let drawn = scale(-0.1, 0.1).row(&verdict(0.05, (0.01, 40.0))).into_string();
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn a_difference_of_everything_or_of_no_number_is_left_out() {
        let drawn = scale(-0.1, 0.1).row(&verdict(-1.0, (f64::NAN, f64::NAN))).into_string();
        assert!(!drawn.contains("estimate") && !drawn.contains("NaN"), "{drawn}");
    }
}
