//! The times at which operations are due.

use crate::schedule::load::{Arrivals, Load};
use crate::schedule::problem::Problem;
use crate::schedule::ramp::Inverse;
use crate::schedule::share::Share;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;

/// The most arrivals that one host computes for one point: 1.6 GB of times.
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
        /// Every problem that was found, in order.
        problems: Vec<Problem>,
    },
    /// The load has more arrivals than [`MOST_ARRIVALS`].
    #[error(
        "{expected:.0} operations would be due in one point, the most is {most}; shorten the point or lower the rate"
    )]
    TooMany {
        /// Number of arrivals that are expected.
        expected: f64,
        /// Number of arrivals that are possible.
        most: u64,
    },
}

fn list(problems: &[Problem]) -> String {
    let texts: Vec<_> = problems.iter().map(Problem::to_string).collect();
    texts.join("; ")
}

/// The times at which the operations of one host are due, in nanoseconds from the start of the point, rising, all below `window_ns`.
///
/// Constant arrivals at one rate are exact: operation i is due at i / rate seconds, rounded down to the nanosecond, however long the point is. The
/// gaps of Poisson arrivals are -ln(1 - U) / rate with U uniform in [0, 1) from the seed. In stages the same two processes, with rate 1, are
/// carried through the inverse of the integral of the rate: operation i is due when i (or the i-th sum of exponential gaps) operations should
/// have arrived.
///
/// Several hosts that generate one load differ in their share alone. Only hosts with a session count: k and n are those of [`Share::among`], and a host without
/// a session has no time. Host k of n computes its own times and nothing else:
/// - Constant: the times of the operations k, k + n, k + 2n, ... of the whole schedule. Its j-th time belongs to operation
///   [`number(j)`](Share::number) of that share. The merged times of all hosts are the whole schedule, bit for bit.
/// - Poisson: a process of its own at 1/n of the rate, from a seed that follows from `seed` and k. The sum of n independent Poisson processes of rate/n
///   is a Poisson process of the rate. It is another draw than on one host.
///
/// # Errors
/// For a closed loop, an impossible load, and more than [`MOST_ARRIVALS`] on this host.
pub fn arrivals(
    load: &Load,
    window_ns: u64,
    seed: u64,
    share: Share,
) -> Result<Vec<u64>, ScheduleError> {
    let all = checked(load, window_ns)?;
    let Some(share) = share.among(load.sessions()) else {
        return Ok(Vec::new());
    };
    let expected = all / f64::from(share.of());
    if expected > MOST_ARRIVALS as f64 {
        return Err(ScheduleError::TooMany { expected, most: MOST_ARRIVALS });
    }
    // Room for all but one schedule in a billion.
    let mut times = Vec::with_capacity((expected + 6.0 * expected.sqrt()) as usize + 1);
    // All hosts share a process with rate 1: each has every n-th operation, or one process with n times the gaps.
    let hosts = f64::from(share.of());
    match load {
        Load::Closed { .. } => return Err(ScheduleError::Closed),
        Load::Open { rate, arrivals: Arrivals::Constant, .. } => {
            constant(*rate, window_ns, share, &mut times)
        }
        Load::Open { rate, arrivals: Arrivals::Poisson, .. } => {
            let mut unit_times = PoissonTimes::new(seed, share);
            let time_of = |value: f64| (value * hosts / rate * 1e9) as u64;
            take_while(window_ns, &mut times, || Some(time_of(unit_times.next())));
        }
        Load::Stages { stages, arrivals, .. } => {
            let mut inverse = Inverse::new(stages);
            match arrivals {
                Arrivals::Constant => {
                    let mut index = f64::from(share.index());
                    take_while(window_ns, &mut times, || {
                        let time = inverse.time_of(index);
                        index += hosts;
                        time
                    });
                }
                Arrivals::Poisson => {
                    let mut unit_times = PoissonTimes::new(seed, share);
                    take_while(window_ns, &mut times, || {
                        inverse.time_of(unit_times.next() * hosts)
                    });
                }
            }
        }
    }
    Ok(times)
}

/// When the operation with this number is due on constant arrivals, counted over all hosts, in nanoseconds from the start of the point. `None` after the
/// last stage, and for Poisson arrivals and closed loops, which have no such time.
///
/// # Errors
/// For an impossible load.
pub fn constant_arrival(load: &Load, number: u64) -> Result<Option<u64>, ScheduleError> {
    let problems = load.check();
    if !problems.is_empty() {
        return Err(ScheduleError::Impossible { problems });
    }
    Ok(match load {
        Load::Open { rate, arrivals: Arrivals::Constant, .. } => {
            u64::try_from(Gaps::new(*rate).time_of(number)).ok()
        }
        Load::Stages { stages, arrivals: Arrivals::Constant, .. } => {
            Inverse::new(stages).time_of(number as f64)
        }
        Load::Closed { .. } | Load::Open { .. } | Load::Stages { .. } => None,
    })
}

/// How many operations are expected to be due on all hosts together.
fn checked(load: &Load, window_ns: u64) -> Result<f64, ScheduleError> {
    let problems = load.check();
    if !problems.is_empty() {
        return Err(ScheduleError::Impossible { problems });
    }
    load.expected_arrivals(window_ns).ok_or(ScheduleError::Closed)
}

fn take_while(window_ns: u64, times: &mut Vec<u64>, mut next: impl FnMut() -> Option<u64>) {
    while let Some(time) = next()
        && time < window_ns
    {
        times.push(time);
    }
}

/// The time of operation i is floor(i * gap) for i from 0 on, exactly, with a gap of 10^9 / rate nanoseconds.
struct Gaps {
    /// Whole nanoseconds of a gap, below 2^60.
    whole: u128,
    /// The rest of a gap, in parts of `parts`.
    part: u128,
    /// This many parts are a nanosecond: at most 2^53.
    parts: u128,
}

impl Gaps {
    fn new(rate: f64) -> Self {
        let (numerator, denominator) = fraction(rate);
        // The gap is 10^9 * denominator / numerator nanoseconds. Rates are at least 10^-9, so the denominator is at most 2^83 and the product below 2^113.
        let gap = 1_000_000_000 * denominator;
        Self { whole: gap / numerator, part: gap % numerator, parts: numerator }
    }

    /// This many gaps in one.
    fn times(&self, count: u64) -> Self {
        let part = self.part * u128::from(count);
        Self {
            whole: self.whole * u128::from(count) + part / self.parts,
            part: part % self.parts,
            parts: self.parts,
        }
    }

    fn time_of(&self, number: u64) -> u128 {
        self.times(number).whole
    }
}

/// The times of every n-th operation from operation k on. Each step adds the whole nanoseconds of n gaps and carries over what the parts of a nanosecond
/// add up to, so that there is neither drift nor a division per arrival.
fn constant(rate: f64, window_ns: u64, share: Share, times: &mut Vec<u64>) {
    let gaps = Gaps::new(rate);
    let first = gaps.times(u64::from(share.index()));
    let step = gaps.times(u64::from(share.of()));
    let mut time = first.whole;
    let mut carried = first.part;
    while time < u128::from(window_ns) {
        times.push(time as u64);
        time += step.whole;
        carried += step.part;
        if carried >= step.parts {
            carried -= step.parts;
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
    if exponent >= 0 { (odd << exponent, 1) } else { (odd, 1 << -exponent) }
}

/// The times of a Poisson process with rate 1.
struct PoissonTimes {
    random: Xoshiro256PlusPlus,
    time: f64,
}

impl PoissonTimes {
    fn new(seed: u64, share: Share) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed_of(seed, share)), time: 0.0 }
    }

    fn next(&mut self) -> f64 {
        let unit = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        self.time -= (-unit).ln_1p();
        self.time
    }
}

/// The seed of one host. The only host has the seed itself.
///
/// Scattered twice, because the seeds of neighbouring points differ by multiples of a constant: sums or products of seed and host would give one host
/// the seed that another host has at another point.
fn seed_of(seed: u64, share: Share) -> u64 {
    if share.is_whole() {
        return seed;
    }
    scatter(scatter(seed) ^ (u64::from(share.index()) + 1))
}

/// The finaliser of SplitMix64 (Stafford's variant 13).
fn scatter(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::stage::Stage;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn arrivals(load: &Load, window_ns: u64, seed: u64) -> Result<Vec<u64>, ScheduleError> {
        super::arrivals(load, window_ns, seed, Share::WHOLE)
    }

    /// The schedule of each of this many hosts.
    fn split(load: &Load, window_ns: u64, seed: u64, hosts: u32) -> Vec<Vec<u64>> {
        (0..hosts)
            .map(|index| Share::new(index, hosts).unwrap())
            .map(|share| super::arrivals(load, window_ns, seed, share).unwrap())
            .collect()
    }

    fn merged(parts: &[Vec<u64>]) -> Vec<u64> {
        let mut all = parts.concat();
        all.sort_unstable();
        all
    }

    fn open(rate: f64, arrivals: Arrivals) -> Load {
        Load::Open { rate, arrivals, sessions: 1_000 }
    }

    fn staged(rates: &[(f64, f64)], arrivals: Arrivals) -> Load {
        let stage = |(rate_from, rate_to): &(f64, f64)| Stage {
            rate_from: *rate_from,
            rate_to: *rate_to,
            duration_ns: 10 * SECOND,
        };
        Load::Stages { stages: rates.iter().map(stage).collect(), arrivals, sessions: 1_000 }
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
        assert_eq!(error, ScheduleError::TooMany { expected: 201e6, most: MOST_ARRIVALS });
    }

    /// 200,000 gaps of mean 1 ms: five standard errors are 1.1 % of the mean, and 3.2 % of the variance (whose relative standard error is
    /// sqrt(8 / n)). Neighbouring gaps are uncorrelated within 1.1 %.
    #[test]
    fn poisson_gaps_are_exponential() {
        let times = arrivals(&open(1_000.0, Arrivals::Poisson), 200 * SECOND, 11).unwrap();
        let count = times.len() as f64;
        assert!((count - 200_000.0).abs() < 5.0 * 200_000_f64.sqrt(), "{count}");
        let gaps: Vec<f64> =
            times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
        let covariance =
            gaps.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / count;
        assert!((mean - 1.0).abs() < 0.011, "{mean}");
        assert!((variance - 1.0).abs() < 0.032, "{variance}");
        assert!(covariance.abs() < 0.011, "{covariance}");
        // In an exponential law e^-1 lies above the mean and e^-3 above three times the mean.
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
        let rates =
            [(0.0, 1_000.0), (1_000.0, 1_000.0), (1_000.0, 0.0), (0.0, 0.0), (500.0, 2_000.0)];
        for (law, deviations) in [(Arrivals::Constant, 0.0), (Arrivals::Poisson, 5.0)] {
            let load = staged(&rates, law);
            let times = arrivals(&load, 60 * SECOND, 3).unwrap();
            for second in 0..60 {
                let (from, to) = (second * SECOND, (second + 1) * SECOND);
                let count = times.iter().filter(|time| (from..to).contains(*time)).count() as f64;
                let expected =
                    load.expected_arrivals(to).unwrap() - load.expected_arrivals(from).unwrap();
                let bound = 1.001 + deviations * expected.sqrt();
                assert!(
                    (count - expected).abs() <= bound,
                    "second {second}: {count} of {expected}"
                );
            }
            assert!(times.iter().all(|time| !(30 * SECOND..40 * SECOND).contains(time)));
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
            assert!((*time as f64 - expected).abs() <= 2.0, "{index}: {time} {expected}");
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

    /// These draws are part of recorded experiments. `seed_from_u64` and the law are those of the first version; the numbers come from the published
    /// definitions of SplitMix64 and xoshiro256++, computed by another program.
    #[test]
    fn the_draw_of_one_host_is_that_of_the_first_version() {
        let load = open(1_000.0, Arrivals::Poisson);
        let times = arrivals(&load, SECOND, 11).unwrap();
        assert_eq!(times[..4], FIRST_DRAWS);
    }

    const FIRST_DRAWS: [u64; 4] = [1_964_563, 3_606_871, 6_936_787, 7_861_154];

    #[test]
    fn hosts_draw_differently_and_never_as_another_point_does() {
        let load = open(100.0, Arrivals::Poisson);
        let mut seeds = std::collections::HashSet::new();
        for point in 0..50_u64 {
            // As the runner makes the seeds of the points of a run.
            let seed = 42 ^ (point + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            assert!(seeds.insert(seed_of(seed, Share::WHOLE)));
            for index in 0..50 {
                assert!(seeds.insert(seed_of(seed, Share::new(index, 50).unwrap())));
            }
        }
        let parts = split(&load, 100 * SECOND, 9, 2);
        let common = parts[0].iter().filter(|time| parts[1].contains(time));
        assert_eq!(common.count(), 0);
    }

    /// A schedule of a thousand hosts that is too large for one: each holds its thousandth.
    #[test]
    fn a_host_computes_its_own_part_only() {
        let load = open(1e9, Arrivals::Constant);
        let whole = arrivals(&load, SECOND, 0);
        assert!(matches!(whole, Err(ScheduleError::TooMany { .. })));
        let share = Share::new(999, 1_000).unwrap();
        let times = super::arrivals(&load, SECOND, 0, share).unwrap();
        assert_eq!(times.len(), 1_000_000);
        assert!(times.capacity() < 1_010_000, "{}", times.capacity());
        assert_eq!(times[0], 999);
        assert_eq!(times[999_999], SECOND - 1);
    }

    #[test]
    fn hosts_without_a_session_have_no_arrivals_and_the_others_have_all() {
        let few = Load::Open { rate: 1_000.0, arrivals: Arrivals::Constant, sessions: 3 };
        let parts = split(&few, SECOND, 0, 5);
        let lengths: Vec<usize> = parts.iter().map(Vec::len).collect();
        assert_eq!(lengths, [0, 334, 0, 333, 333]);
        assert_eq!(merged(&parts), arrivals(&few, SECOND, 0).unwrap());
    }

    #[test]
    fn the_merged_poisson_process_is_a_poisson_process() {
        let ramp = [(0.0, 1_000.0), (1_000.0, 1_000.0)];
        for (load, window_ns) in [
            (open(1_000.0, Arrivals::Poisson), 200 * SECOND),
            (staged(&ramp, Arrivals::Poisson), 20 * SECOND),
        ] {
            for hosts in [1, 2, 4] {
                let parts = split(&load, window_ns, 11, hosts);
                let expected = load.expected_arrivals(window_ns).unwrap();
                for part in &parts {
                    // Five standard deviations of a Poisson law.
                    let own = expected / f64::from(hosts);
                    let off = part.len() as f64 - own;
                    assert!(off.abs() < 5.0 * own.sqrt(), "{} of {own}", part.len());
                }
                let times = merged(&parts);
                // The integral of the rate maps the point's time to unit time, in which the gaps are exponential.
                let unit: Vec<f64> =
                    times.iter().map(|time| load.expected_arrivals(*time).unwrap()).collect();
                let gaps: Vec<f64> = unit.windows(2).map(|pair| pair[1] - pair[0]).collect();
                let count = gaps.len() as f64;
                for bound in [0.1_f64, 0.5, 1.0, 2.0, 3.0] {
                    let share = (-bound).exp();
                    let above = gaps.iter().filter(|gap| **gap > bound).count() as f64 / count;
                    let error = 5.0 * (share * (1.0 - share) / count).sqrt();
                    assert!(
                        (above - share).abs() < error,
                        "{hosts} hosts: {above} above {bound}, {share} expected"
                    );
                }
            }
        }
    }

    #[test]
    fn the_time_of_one_operation_is_that_of_the_schedule() {
        let rates = [(0.0, 100.0), (50.0, 0.0), (0.0, 0.0), (7.0, 7.0)];
        for load in [open(3.7, Arrivals::Constant), staged(&rates, Arrivals::Constant)] {
            let times = arrivals(&load, 40 * SECOND, 0).unwrap();
            for (number, time) in times.iter().enumerate() {
                let found = constant_arrival(&load, number as u64).unwrap();
                assert_eq!(found, Some(*time), "{number}");
            }
            let next = constant_arrival(&load, times.len() as u64).unwrap();
            assert!(next.is_none_or(|time| time >= 40 * SECOND), "{next:?}");
        }
        for load in [Load::closed(1), open(1.0, Arrivals::Poisson)] {
            assert_eq!(constant_arrival(&load, 0), Ok(None));
        }
        assert!(constant_arrival(&open(0.0, Arrivals::Constant), 0).is_err());
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

        /// Not only the same times: the j-th time of host k is that of operation j n + k.
        #[test]
        fn constant_arrivals_of_all_hosts_are_the_schedule(
            rate in prop_oneof![1e-9..1e6_f64, Just(1e6), Just(1.0 / 3.0)],
            rates in prop::collection::vec((0.0..2_000.0_f64, 0.0..2_000.0_f64), 1..4),
            hosts in prop_oneof![Just(1), Just(2), Just(4), 1..40_u32],
            window_ns in 0..SECOND / 100,
        ) {
            for (load, window_ns) in [
                (open(rate, Arrivals::Constant), window_ns),
                (open(rate, Arrivals::Constant), (window_ns as f64 * 1e6 / rate) as u64),
                (staged(&rates, Arrivals::Constant), window_ns * 1_000),
            ] {
                let whole = arrivals(&load, window_ns, 0).unwrap();
                for (index, part) in split(&load, window_ns, 0, hosts).into_iter().enumerate() {
                    let own: Vec<u64> = whole.iter().copied().skip(index).step_by(hosts as usize).collect();
                    prop_assert_eq!(part, own);
                }
            }
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
