//! A gate: whether one of two loses more than a margin, looked at before the end.

use crate::interval::Interval;
use crate::verdict::{Direction, Rule};

/// How B stands against A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It does not lose as much as the margin, for certain.
    Kept,
    /// It loses for certain, and probably as much as the margin.
    Lost {
        /// Whether that is certain too.
        surely: bool,
    },
    /// Neither limit is excluded yet.
    Open,
}

impl Standing {
    /// By the interval of the relative change of B against A, if one attains its confidence, and by the estimate of it.
    pub fn of(change: Option<Interval>, estimate: f64, rule: Rule) -> Self {
        let Some(Interval { lower, upper, .. }) = change else {
            return Self::Open;
        };
        let sign = match rule.direction() {
            Direction::HigherIsBetter => -1.0,
            Direction::LowerIsBetter => 1.0,
        };
        // What is lost, as a logarithm: twice and half are as far from nothing.
        let lost = |change: f64| sign * change.ln_1p();
        let margin = rule.margin().ln_1p();
        let (least, most) = (lost(lower).min(lost(upper)), lost(lower).max(lost(upper)));
        if most < margin {
            Self::Kept
        } else if least > 0.0 && lost(estimate) >= margin {
            Self::Lost { surely: least >= margin }
        } else {
            Self::Open
        }
    }

    /// Whether a look before the last may end with it: an estimate alone says too little there.
    pub fn is_certain(self) -> bool {
        matches!(self, Self::Kept | Self::Lost { surely: true })
    }
}

/// Confidence of the intervals that a gate may decide by: at each look before the last, and at the end, so that all of them together are wrong as rarely as one
/// interval of `confidence`.
///
/// A gate looks at where the interval lies, and ends when that answers its question. Half of the error is kept for the end, and the looks before share the other
/// half (Bonferroni, so nothing is assumed of how they depend on each other). The interval at which it ends is one of a repeated confidence interval (Jennison and
/// Turnbull, Interim Analyses: The Repeated Confidence Interval Approach, 1989): it holds the truth whatever made the gate end.
///
/// ```
/// let (before, last) = plimsoll_stats::gate_confidences(0.95, 6);
/// assert!((before - 0.995).abs() < 1e-12);
/// assert!((last - 0.975).abs() < 1e-12);
/// ```
///
/// With one look, or none, there is nothing to share.
pub fn gate_confidences(confidence: f64, looks: usize) -> (f64, f64) {
    let error = 1.0 - confidence;
    if looks < 2 {
        return (confidence, confidence);
    }
    let before = error / 2.0 / (looks - 1) as f64;
    (1.0 - before, 1.0 - error / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(rule: Rule, (lower, estimate, upper): (f64, f64, f64)) -> Standing {
        let interval = Interval { lower, upper, confidence: 0.975 };
        Standing::of(Some(interval), estimate, rule)
    }

    #[test]
    fn the_end_of_the_interval_on_the_bad_side_decides() {
        // A margin of 3 %.
        let higher = |change| standing(Rule::throughput(), change);
        assert_eq!(higher((-0.02, -0.01, 0.01)), Standing::Kept);
        // However much better it may be.
        assert_eq!(higher((-0.02, 0.2, 0.9)), Standing::Kept);
        assert_eq!(higher((-0.04, -0.01, 0.01)), Standing::Open);
        let surely = Standing::Lost { surely: true };
        assert_eq!(higher((-0.08, -0.06, -0.04)), surely);
        let probably = Standing::Lost { surely: false };
        assert_eq!(higher((-0.08, -0.05, -0.02)), probably);
        // It loses for certain, but probably less than the margin.
        assert_eq!(higher((-0.04, -0.02, -0.01)), Standing::Open);
        let latency = Rule::new(Direction::LowerIsBetter, 0.05).unwrap();
        let lower = |change| standing(latency, change);
        assert_eq!(lower((-0.5, -0.3, 0.04)), Standing::Kept);
        assert_eq!(lower((0.06, 0.08, 0.1)), surely);
        assert_eq!(lower((-0.01, 0.08, 0.1)), Standing::Open);
    }

    #[test]
    fn what_is_only_known_by_bounds_stays_open() {
        let unbounded = (-1.0, -0.1, f64::INFINITY);
        assert_eq!(standing(Rule::throughput(), unbounded), Standing::Open);
        let without = Standing::of(None, -0.5, Rule::throughput());
        assert_eq!(without, Standing::Open);
    }

    #[test]
    fn the_errors_of_all_looks_are_that_of_one_interval() {
        for looks in 2..30 {
            let (before, last) = gate_confidences(0.95, looks);
            let all = (looks - 1) as f64 * (1.0 - before) + (1.0 - last);
            assert!((all - 0.05).abs() < 1e-12, "{looks} looks: {all}");
        }
        assert_eq!(gate_confidences(0.95, 1), (0.95, 0.95));
    }
}
