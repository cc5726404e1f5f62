//! The times at which operations are due.

use crate::load::{Arrivals, Load};
use crate::problem::Problem;
use crate::ramp::Inverse;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;

/// The most arrivals that are computed for one point: 1.6 GB of times.
pub const MOST_ARRIVALS: u64 = 200_000_000;

/// Why arrival times cannot be computed.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ScheduleError {
    /// In a closed loop nothing is due at a time fixed beforehand.
    #[error("a closed loop has no arrival times")]
    Closed,
    /// The description is impossible; all problems are listed.
    #[error("impossible load: {}", list(.problems))]
    Impossible {
        /// Every problem found.
        problems: Vec<Problem>,
    },
    /// More than [`MOST_ARRIVALS`].
    #[error(
        "{expected:.0} operations would be due in one point, the most is {most}; shorten the point or lower the rate"
    )]
    TooMany {
        /// How many are expected.
        expected: f64,
        /// How many are possible.
        most: u64,
    },
}

fn list(problems: &[Problem]) -> String {
    let texts: Vec<_> = problems.iter().map(Problem::to_string).collect();
    texts.join("; ")
}

/// The times at which operations are due, in nanoseconds from the start of the point, rising, all below `window_ns`.
///
/// Constant arrivals at one rate are exact: operation i is due at i / rate seconds, rounded down to the nanosecond, however long the point is. The
/// gaps of Poisson arrivals are -ln(1 - U) / rate with U uniform in [0, 1) from the seed. In stages the same two processes, with rate 1, are
/// carried through the inverse of the integral of the rate: operation i is due when i (or the i-th sum of exponential gaps) operations should
/// have arrived.
///
/// # Errors
/// For a closed loop, an impossible load, and more than [`MOST_ARRIVALS`].
pub fn arrivals(load: &Load, window_ns: u64, seed: u64) -> Result<Vec<u64>, ScheduleError> {
    let problems = load.check();
    if !problems.is_empty() {
        return Err(ScheduleError::Impossible { problems });
    }
    let Some(expected) = load.expected_arrivals(window_ns) else {
        return Err(ScheduleError::Closed);
    };
    if expected > MOST_ARRIVALS as f64 {
        return Err(ScheduleError::TooMany {
            expected,
            most: MOST_ARRIVALS,
        });
    }
    // Room for all but one schedule in a billion.
    let mut times = Vec::with_capacity((expected + 6.0 * expected.sqrt()) as usize + 1);
    match load {
        Load::Closed { .. } => return Err(ScheduleError::Closed),
        Load::Open {
            rate,
            arrivals: Arrivals::Constant,
            ..
        } => constant(*rate, window_ns, &mut times),
        Load::Open {
            rate,
            arrivals: Arrivals::Poisson,
            ..
        } => {
            let mut unit_times = PoissonTimes::new(seed);
            let time_of = |value: f64| (value / rate * 1e9) as u64;
            take_while(window_ns, &mut times, || Some(time_of(unit_times.next())));
        }
        Load::Stages {
            stages, arrivals, ..
        } => {
            let mut inverse = Inverse::new(stages);
            match arrivals {
                Arrivals::Constant => {
                    let mut index = 0.0;
                    take_while(window_ns, &mut times, || {
                        let time = inverse.time_of(index);
                        index += 1.0;
                        time
                    });
                }
                Arrivals::Poisson => {
                    let mut unit_times = PoissonTimes::new(seed);
                    take_while(window_ns, &mut times, || inverse.time_of(unit_times.next()));
                }
            }
        }
    }
    Ok(times)
}

fn take_while(window_ns: u64, times: &mut Vec<u64>, mut next: impl FnMut() -> Option<u64>) {
    while let Some(time) = next()
        && time < window_ns
    {
        times.push(time);
    }
}

/// floor(i * 10^9 / rate) for i from 0 on, exactly. Each step adds the whole nanoseconds of a gap and carries over what the parts of a nanosecond
/// add up to, so that there is neither drift nor a division per arrival.
fn constant(rate: f64, window_ns: u64, times: &mut Vec<u64>) {
    let (numerator, denominator) = fraction(rate);
    // The gap is 10^9 * denominator / numerator nanoseconds. Rates are at least 10^-9, so the denominator is at most 2^83 and the product below 2^113.
    let gap = 1_000_000_000 * denominator;
    let (whole, part) = (gap / numerator, gap % numerator);
    let mut time = 0;
    let mut carried = 0;
    while time < u128::from(window_ns) {
        times.push(time as u64);
        time += whole;
        carried += part;
        if carried >= numerator {
            carried -= numerator;
            time += 1;
        }
    }
}

/// A positive number as the fraction that it is, in lowest terms.
fn fraction(number: f64) -> (u128, u128) {
    let bits = number.to_bits();
    // Numbers so small that they have no leading one are below every rate.
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let exponent = (bits >> 52) as i32 - 1_075 + mantissa.trailing_zeros().cast_signed();
    let odd = u128::from(mantissa >> mantissa.trailing_zeros());
    if exponent >= 0 {
        (odd << exponent, 1)
    } else {
        (odd, 1 << -exponent)
    }
}

/// The times of a Poisson process with rate 1.
struct PoissonTimes {
    random: Xoshiro256PlusPlus,
    time: f64,
}

impl PoissonTimes {
    fn new(seed: u64) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            time: 0.0,
        }
    }

    fn next(&mut self) -> f64 {
        let unit = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        self.time -= (-unit).ln_1p();
        self.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Stage;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn open(rate: f64, arrivals: Arrivals) -> Load {
        Load::Open {
            rate,
            arrivals,
            sessions: 1,
        }
    }

    fn staged(rates: &[(f64, f64)], arrivals: Arrivals) -> Load {
        let stage = |(rate_from, rate_to): &(f64, f64)| Stage {
            rate_from: *rate_from,
            rate_to: *rate_to,
            duration_ns: 10 * SECOND,
        };
        Load::Stages {
            stages: rates.iter().map(stage).collect(),
            arrivals,
            sessions: 1,
        }
    }

    #[test]
    fn constant_arrivals_do_not_drift() {
        let times = arrivals(&open(3.0, Arrivals::Constant), 3_000 * SECOND, 0).unwrap();
        assert_eq!(times.len(), 9_000);
        for (index, time) in times.iter().enumerate() {
            assert_eq!(*time, index as u64 * SECOND / 3);
        }
    }

    #[test]
    fn the_window_is_half_open() {
        let load = open(10.0, Arrivals::Constant);
        assert!(arrivals(&load, 0, 0).unwrap().is_empty());
        assert_eq!(arrivals(&load, 1, 0).unwrap(), [0]);
        assert_eq!(arrivals(&load, SECOND / 10, 0).unwrap(), [0]);
        let found = arrivals(&load, SECOND / 10 + 1, 0).unwrap();
        assert_eq!(found, [0, SECOND / 10]);
    }

    #[test]
    fn slowest_and_fastest_rates_are_exact() {
        let slow = arrivals(&open(1e-9, Arrivals::Constant), u64::MAX, 0).unwrap();
        // The double next to 1e-9 is a little more than it, so the gap is a little less than 10^18.
        assert_eq!(slow.len(), 19);
        assert_eq!(slow[1], 999_999_999_999_999_937);
        let fast = arrivals(&open(3e12, Arrivals::Constant), 10, 0);
        assert!(matches!(fast, Err(ScheduleError::Impossible { .. })));
        let fast = arrivals(&open(1e12, Arrivals::Constant), 10, 0).unwrap();
        assert_eq!(fast.len(), 10_000);
        assert_eq!(fast[9_999], 9);
    }

    #[test]
    fn fractions_are_exact() {
        assert_eq!(fraction(20_000.0), (20_000, 1));
        assert_eq!(fraction(0.75), (3, 4));
        assert_eq!(fraction(1e12), (1_000_000_000_000, 1));
        assert_eq!(fraction(2.5), (5, 2));
    }

    #[test]
    fn refusals_say_why() {
        let closed = Load::closed(1);
        assert_eq!(arrivals(&closed, 1, 0), Err(ScheduleError::Closed));
        let error = arrivals(&open(0.0, Arrivals::Poisson), 1, 0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "impossible load: rate: 0 is not between 0.000000001 and 1000000000000"
        );
        let error = arrivals(&open(1e6, Arrivals::Poisson), 201 * SECOND, 0).unwrap_err();
        assert_eq!(
            error,
            ScheduleError::TooMany {
                expected: 201e6,
                most: MOST_ARRIVALS
            }
        );
    }

    /// 200,000 gaps of mean 1 ms: five standard errors are 1.1 % of the mean, and 3.2 % of the variance (whose relative standard error is
    /// sqrt(8 / n)). Neighbouring gaps are uncorrelated within 1.1 %.
    #[test]
    fn poisson_gaps_are_exponential() {
        let times = arrivals(&open(1_000.0, Arrivals::Poisson), 200 * SECOND, 11).unwrap();
        let count = times.len() as f64;
        assert!(
            (count - 200_000.0).abs() < 5.0 * 200_000_f64.sqrt(),
            "{count}"
        );
        let gaps: Vec<f64> = times
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64 / 1e6)
            .collect();
        let mean = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
        let covariance = gaps
            .windows(2)
            .map(|pair| (pair[0] - mean) * (pair[1] - mean))
            .sum::<f64>()
            / count;
        assert!((mean - 1.0).abs() < 0.011, "{mean}");
        assert!((variance - 1.0).abs() < 0.032, "{variance}");
        assert!(covariance.abs() < 0.011, "{covariance}");
        // Of an exponential law e^-1 lies above the mean and e^-3 above three times it.
        for (bound, share) in [(1.0, (-1.0_f64).exp()), (3.0, (-3.0_f64).exp())] {
            let above = gaps.iter().filter(|gap| **gap > bound).count() as f64 / count;
            let error = 5.0 * (share * (1.0 - share) / count).sqrt();
            assert!((above - share).abs() < error, "{above} above {bound}");
        }
    }

    #[test]
    fn level_stages_are_open_loops() {
        for arrivals_law in [Arrivals::Constant, Arrivals::Poisson] {
            let level = arrivals(&staged(&[(777.0, 777.0)], arrivals_law), 10 * SECOND, 5).unwrap();
            let plain = arrivals(&open(777.0, arrivals_law), 10 * SECOND, 5).unwrap();
            assert_eq!(level.len(), plain.len());
            for (staged, open) in level.iter().zip(&plain) {
                assert!(staged.abs_diff(*open) <= 1, "{staged} {open}");
            }
        }
    }

    /// Up, level, down and a pause: each tenth of each stage has as many arrivals as the rate says, to one or within five standard deviations.
    #[test]
    fn ramps_follow_the_integral_of_the_rate() {
        let rates = [
            (0.0, 1_000.0),
            (1_000.0, 1_000.0),
            (1_000.0, 0.0),
            (0.0, 0.0),
            (500.0, 2_000.0),
        ];
        for (law, deviations) in [(Arrivals::Constant, 0.0), (Arrivals::Poisson, 5.0)] {
            let load = staged(&rates, law);
            let times = arrivals(&load, 60 * SECOND, 3).unwrap();
            for second in 0..60 {
                let (from, to) = (second * SECOND, (second + 1) * SECOND);
                let count = times
                    .iter()
                    .filter(|time| (from..to).contains(*time))
                    .count() as f64;
                let expected =
                    load.expected_arrivals(to).unwrap() - load.expected_arrivals(from).unwrap();
                let bound = 1.001 + deviations * expected.sqrt();
                assert!(
                    (count - expected).abs() <= bound,
                    "second {second}: {count} of {expected}"
                );
            }
            assert!(
                times
                    .iter()
                    .all(|time| !(30 * SECOND..40 * SECOND).contains(time))
            );
            assert!(times.iter().all(|time| *time < 50 * SECOND));
        }
    }

    /// The i-th of a ramp from 0 to r over d is due at sqrt(2 i d / r).
    #[test]
    fn a_ramp_from_nothing_is_a_square_root() {
        let times = arrivals(&staged(&[(0.0, 200.0)], Arrivals::Constant), 10 * SECOND, 0).unwrap();
        assert_eq!(times.len(), 1_000);
        for (index, time) in times.iter().enumerate() {
            let expected = (2.0 * index as f64 * 10.0 / 200.0).sqrt() * 1e9;
            assert!(
                (*time as f64 - expected).abs() <= 2.0,
                "{index}: {time} {expected}"
            );
        }
    }

    #[test]
    fn the_seed_alone_decides() {
        let load = staged(&[(10.0, 500.0), (300.0, 20.0)], Arrivals::Poisson);
        let times = arrivals(&load, 20 * SECOND, 9).unwrap();
        assert_eq!(times, arrivals(&load, 20 * SECOND, 9).unwrap());
        assert_ne!(times, arrivals(&load, 20 * SECOND, 10).unwrap());
        // A shorter window is the beginning of a longer one.
        let shorter = arrivals(&load, 12 * SECOND, 9).unwrap();
        assert_eq!(shorter, times[..shorter.len()]);
        assert!(times[shorter.len()] >= 12 * SECOND);
    }

    fn any_law() -> impl Strategy<Value = Arrivals> {
        prop_oneof![Just(Arrivals::Constant), Just(Arrivals::Poisson)]
    }

    proptest! {
        #[test]
        fn constant_arrivals_are_exact(rate in 1e-3..1e6_f64, window_ns in 0..SECOND / 100) {
            let times = arrivals(&open(rate, Arrivals::Constant), window_ns, 0).unwrap();
            let (numerator, denominator) = fraction(rate);
            prop_assert_eq!(numerator as f64 / denominator as f64, rate);
            let time_of = |index: usize| index as u128 * 1_000_000_000 * denominator / numerator;
            for (index, time) in times.iter().enumerate() {
                prop_assert_eq!(u128::from(*time), time_of(index));
            }
            prop_assert!(time_of(times.len()) >= u128::from(window_ns));
        }

        #[test]
        fn times_rise_and_stay_below_the_window(
            rates in prop::collection::vec((0.0..2_000.0_f64, 0.0..2_000.0_f64), 1..4),
            law in any_law(),
            window_ns in 0..50 * SECOND,
            seed: u64,
        ) {
            let load = staged(&rates, law);
            let times = arrivals(&load, window_ns, seed).unwrap();
            prop_assert!(times.is_sorted());
            prop_assert!(times.last().is_none_or(|time| *time < window_ns));
            let expected = load.expected_arrivals(window_ns).unwrap();
            let bound = if law == Arrivals::Constant { 1.001 } else { 2.0 + 8.0 * expected.sqrt() };
            prop_assert!((times.len() as f64 - expected).abs() <= bound, "{} of {expected}", times.len());
        }
    }
}
