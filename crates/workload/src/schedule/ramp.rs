//! The integral of a rate that changes, and its inverse.

use crate::schedule::stage::Stage;

const NANOS: f64 = 1e9;

/// How many arrivals are expected in the first `nanos` of a stage: the integral of a + (b - a) t / d, which is t (a + (b - a) t / 2d).
fn count_in(stage: &Stage, nanos: f64) -> f64 {
    let slope = (stage.rate_to - stage.rate_from) / stage.duration_ns as f64;
    nanos / NANOS * (stage.rate_from + slope * nanos / 2.0)
}

/// How many arrivals are expected from the start of the stages to `window_ns`.
pub(crate) fn count(stages: &[Stage], window_ns: u64) -> f64 {
    let mut sum = 0.0;
    let mut left = window_ns;
    for stage in stages {
        let part = left.min(stage.duration_ns);
        sum += count_in(stage, part as f64);
        left -= part;
    }
    sum
}

/// Finds the times at which the integral of the rate reaches given values, which must rise.
pub(crate) struct Inverse<'a> {
    stages: std::slice::Iter<'a, Stage>,
    stage: Option<&'a Stage>,
    start_ns: u64,
    /// The integral up to the start of the stage.
    before: f64,
    /// The integral over the stage.
    within: f64,
}

impl<'a> Inverse<'a> {
    pub(crate) fn new(stages: &'a [Stage]) -> Self {
        let mut inverse =
            Self { stages: stages.iter(), stage: None, start_ns: 0, before: 0.0, within: 0.0 };
        inverse.next_stage();
        inverse
    }

    fn next_stage(&mut self) {
        self.before += self.within;
        self.start_ns += self.stage.map_or(0, |stage| stage.duration_ns);
        self.stage = self.stages.next();
        self.within = self.stage.map_or(0.0, |stage| count_in(stage, stage.duration_ns as f64));
    }

    /// The time in nanoseconds at which the integral goes beyond `value`; `None` when it never does. So nothing arrives while the rate is zero,
    /// and what falls on the end of a stage belongs to the next.
    pub(crate) fn time_of(&mut self, value: f64) -> Option<u64> {
        loop {
            let stage = self.stage?;
            let rest = value - self.before;
            if rest < self.within {
                let time = time_in(stage, rest.max(0.0));
                // Rounding may carry the last arrivals of a stage over its end.
                return Some(self.start_ns + (time as u64).min(stage.duration_ns - 1));
            }
            self.next_stage();
        }
    }
}

/// Nanoseconds from the start of a stage until this many arrivals are expected: the root of a t + (b - a) t^2 / 2d = n. This form of it,
/// 2n / (a + sqrt(a^2 + 2n (b - a) / d)), divides by no small difference, neither on level ground nor on either slope.
fn time_in(stage: &Stage, count: f64) -> f64 {
    if count == 0.0 {
        return 0.0;
    }
    let slope = (stage.rate_to - stage.rate_from) / (stage.duration_ns as f64 / NANOS);
    // Below zero by rounding alone, at the very end of a ramp down to zero.
    let square = (stage.rate_from * stage.rate_from + 2.0 * count * slope).max(0.0);
    2.0 * count / (stage.rate_from + square.sqrt()) * NANOS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn stage(rate_from: f64, rate_to: f64, seconds: u64) -> Stage {
        Stage { rate_from, rate_to, duration_ns: seconds * SECOND }
    }

    /// The integral of a ramp from 0 to 2 over 2 s is t^2 / 2.
    #[test]
    fn a_ramp_from_nothing_is_a_square_root() {
        let stages = [stage(0.0, 2.0, 2)];
        assert_eq!(count(&stages, SECOND), 0.5);
        let mut inverse = Inverse::new(&stages);
        assert_eq!(inverse.time_of(0.0), Some(0));
        assert_eq!(inverse.time_of(0.5), Some(SECOND));
        assert_eq!(inverse.time_of(1.125), Some(SECOND * 3 / 2));
        assert_eq!(inverse.time_of(2.0), None);
    }

    #[test]
    fn nothing_arrives_in_a_pause() {
        let stages =
            [stage(0.0, 0.0, 1), stage(10.0, 10.0, 1), stage(0.0, 0.0, 5), stage(10.0, 10.0, 1)];
        let mut inverse = Inverse::new(&stages);
        assert_eq!(inverse.time_of(0.0), Some(SECOND));
        assert_eq!(inverse.time_of(9.5), Some(SECOND * 195 / 100));
        assert_eq!(inverse.time_of(10.0), Some(7 * SECOND));
        assert_eq!(inverse.time_of(20.0), None);
    }

    prop_compose! {
        fn any_stage()(rate_from in 0.0..1e5_f64, rate_to in 0.0..1e5_f64, duration_ns in 1..100 * SECOND) -> Stage {
            Stage { rate_from, rate_to, duration_ns }
        }
    }

    proptest! {
        /// The integral up to the time found is the value requested, but for what arrives in the nanosecond that is rounded off and the rounding of
        /// doubles.
        #[test]
        fn inverse_undoes_the_integral(stages in prop::collection::vec(any_stage(), 1..5), share in 0.0..1.0_f64) {
            let total = count(&stages, u64::MAX);
            let value = total * share;
            let time = Inverse::new(&stages).time_of(value).unwrap();
            let within = 1e5 * 2e-9 + total * 1e-12;
            prop_assert!((count(&stages, time) - value).abs() <= within, "{} {value}", count(&stages, time));
        }
    }
}
