//! The open loop as a queue.

use super::{Jumping, LONGEST_DELAY, MILLISECOND, MeasuredPoint, SECOND};
use super::{closed, measure, measure_on, open, spec};
use crate::open::Behind;
use crate::spec::PointSpec;
use plimsoll_record::Histogram;
use plimsoll_workload::Stream;
use plimsoll_workload::schedule::{Arrivals, arrivals};

/// Exponential service times from one seed.
fn exponential(mean_ns: f64) -> impl FnMut() -> u64 + Send {
    let mut stream = Stream::from_state(3);
    move || (-(1.0 - stream.unit()).ln() * mean_ns) as u64
}

/// What an open loop with one server must record, by Lindley's recursion: an operation begins when it is due and the one before has ended.
#[derive(Default)]
struct Expected {
    service: Histogram,
    response: Histogram,
    wait: Histogram,
    unfinished: Histogram,
    /// How many found the server free and the session waiting.
    waited_for: u64,
}

fn expected(spec: &PointSpec, mut service_ns: impl FnMut() -> u64) -> Expected {
    let end = spec.warm_up_ns + spec.duration_ns;
    let mut expected = Expected::default();
    let mut free = 0;
    for due in arrivals(&spec.load, end, spec.seed, spec.share).unwrap() {
        let begin = free.max(due);
        if begin >= end {
            expected.unfinished.record(end - due);
            continue;
        }
        expected.waited_for += u64::from(due > free && due >= spec.warm_up_ns);
        let service = service_ns();
        free = begin + service;
        if free >= end {
            expected.unfinished.record(end - due);
            continue;
        }
        expected.service.record(service);
        expected.response.record(free - due);
        expected.wait.record(begin - due);
    }
    expected
}

fn assert_as_expected(measured: &MeasuredPoint, expected: &Expected) {
    let [service, response, wait] = measured.histograms();
    assert_eq!(service, expected.service);
    assert_eq!(response, expected.response);
    assert_eq!(wait, expected.wait);
    assert_eq!(measured.unfinished(), expected.unfinished);
    assert_eq!(measured.completed(), expected.service.count());
    let lag = measured.end.generator_lag.as_ref().unwrap();
    assert_eq!(lag.count(), expected.waited_for);
    assert_eq!(lag.max_ns().unwrap_or(0), 0, "this clock wakes exactly");
}

/// 1 ms each, but the database stands still from 3 s to 4 s.
fn stalling(begin: u64) -> u64 {
    let stalls = (3 * SECOND..4 * SECOND).contains(&begin);
    MILLISECOND + if stalls { 4 * SECOND } else { begin }
}

/// M/M/1 at 70 %. The standard error of the mean of n successive responses is 5.5 / sqrt(n) of it (the asymptotic variance of the wait is
/// rho (2 + 5 rho - 4 rho^2 + rho^3) / (1 - rho)^4 squared services), with 350,000 of them 0.93 %: the bound is five of these.
#[test]
fn one_exponential_server_has_the_response_of_the_theory() {
    let spec = spec(open(7_000.0, Arrivals::Poisson), 0, 50 * SECOND);
    let mut service = exponential(1e5);
    let measured = measure(&spec, move |begin| begin + service());
    assert_as_expected(&measured, &expected(&spec, exponential(1e5)));
    let [_, response, _] = measured.histograms();
    let theory = 1e5 / (1.0 - 0.7);
    let ratio = response.mean_ns().unwrap() / theory;
    assert!((ratio - 1.0).abs() < 0.047, "{ratio}");
    let utilisation = measured.end.busy_ns as f64 / measured.end.measured_ns as f64;
    assert!((utilisation - 0.7).abs() < 0.02, "{utilisation}");
}

/// More is due than can be served, so that the backlog grows and is never worked off.
#[test]
fn an_overload_is_counted_to_the_last_operation() {
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let spec = spec(open(1_500.0, arrivals), 1_300 * MILLISECOND, 4 * SECOND);
        let mut service = exponential(1e6);
        let measured = measure(&spec, move |begin| begin + service());
        let expected = expected(&spec, exponential(1e6));
        assert!(expected.unfinished.count() > 1_000);
        assert_as_expected(&measured, &expected);
    }
}

/// At 500 op/s and 1 ms each the database stands still from 3 s to 4 s. The operation that is due k · 2 ms after the stall began completes
/// 1001 - k ms after it was due: each waits 2 ms less for the end of the stall and 1 ms more for those before it. The 51st of 5,000 is p99.
#[test]
fn a_stall_is_in_the_response_times_and_not_in_the_service_times() {
    let spec_open = spec(open(500.0, Arrivals::Constant), 0, 10 * SECOND);
    let measured = measure(&spec_open, stalling);
    let [service, response, wait] = measured.histograms();
    assert_eq!(service.count(), 5_000);
    assert!(service.percentile_ns(99.0).unwrap().abs_diff(MILLISECOND) < 1_000);
    assert_eq!(service.count_above(MILLISECOND * 500), 1);
    let p99 = response.percentile_ns(99.0).unwrap();
    assert!(p99.abs_diff(951 * MILLISECOND) <= 2 * MILLISECOND, "{p99}");
    assert!(wait.max_ns().unwrap() > 990 * MILLISECOND);

    // A closed loop waits with the next question, so that one operation is all that it sees.
    let measured = measure(&spec(closed(), 0, 10 * SECOND), stalling);
    let [_, response, _] = measured.histograms();
    assert!(response.percentile_ns(99.0).unwrap().abs_diff(MILLISECOND) < 1_000);
    assert_eq!(response.count_above(MILLISECOND * 500), 1);
    assert_eq!(measured.end.generator_lag, None);
    assert_eq!(measured.end.due, None);
}

/// Response times of `sessions` that are one queue, with a generator that wakes each of them up to `delay_ns` late: M/M/c at half of the capacity.
fn common_queue(sessions: usize, mean_ns: f64, delay_ns: f64) -> Histogram {
    let mut service = exponential(mean_ns);
    let mut gap = {
        let mut stream = Stream::from_state(0x3c6e_f372_fe94_f82b);
        move || -(1.0 - stream.unit()).ln() * mean_ns / sessions as f64 / 0.5
    };
    let mut delay = Stream::from_state(0xd1b5_4a32_d192_ed03);
    let mut free = vec![(0_u64, Behind::default()); sessions];
    let mut responses = Histogram::new();
    let mut at = 0.0;
    for _ in 0..400_000 {
        at += gap();
        let intended = at as u64;
        let next = free.iter_mut().min_by_key(|(free, _)| *free);
        let (free, behind) = next.expect("there are sessions");
        let waited = *free < intended;
        let begun = match waited {
            true => intended + (delay.unit() * delay_ns) as u64,
            false => *free,
        };
        let counted_from = behind.due(intended, begun, waited).from(begun);
        behind.begun(intended, counted_from);
        *free = begun + service();
        responses.record(*free - counted_from);
    }
    responses
}

/// The percentile of a response time in M/M/c at half of the capacity: with a = c/2 and Erlang's C,
/// P(R > t) = e^-x (1 + C (1 - e^-x(c-1-a)) / (c-1-a)), x = t / mean service. Found by halving.
fn theory(sessions: usize, mean_ns: f64, percentile: f64) -> f64 {
    let offered = 0.5 * sessions as f64;
    let mut erlang_b = 1.0;
    for servers in 1..=sessions {
        erlang_b = offered * erlang_b / (servers as f64 + offered * erlang_b);
    }
    let waits = erlang_b / (1.0 - 0.5 * (1.0 - erlang_b));
    let spare = sessions as f64 - 1.0 - offered;
    let above = |x: f64| {
        // Where nothing is spare, the limit of the quotient.
        let queueing = match spare.abs() < 1e-9 {
            true => x,
            false => (1.0 - (-x * spare).exp()) / spare,
        };
        (-x).exp() * (1.0 + waits * queueing)
    };
    let (mut lower, mut upper) = (0.0, 1e3);
    for _ in 0..100 {
        let middle = f64::midpoint(lower, upper);
        match above(middle) > 1.0 - percentile / 100.0 {
            true => lower = middle,
            false => upper = middle,
        }
    }
    lower * mean_ns
}

/// The server stands still for a second while the generator is late by up to 0.5 ms: the stall shows in full.
#[test]
fn a_stall_of_the_server_shows_in_full_under_a_late_generator() {
    let spec = spec(open(500.0, Arrivals::Constant), 0, 10 * SECOND);
    let measured = measure_on(Jumping::lagging(), &spec, stalling);
    let [service, response, _] = measured.histograms();
    assert!(service.percentile_ns(99.0).unwrap().abs_diff(MILLISECOND) < 1_000);
    let p99 = response.percentile_ns(99.0).unwrap();
    assert!(p99.abs_diff(951 * MILLISECOND) <= 3 * MILLISECOND, "{p99}");
    assert!(response.max_ns().unwrap() > 1_000 * MILLISECOND);
}

/// The generator itself stands still for a second, as a stopped process does: what was due meanwhile counts from when it was due, and the lag says so.
#[test]
fn a_stall_of_the_generator_is_not_taken_for_its_lag() {
    let clock = Jumping::default();
    let stopped = clock.clone();
    let mut served = 0;
    // After the answer of operation 1,500 at 3 s the whole program stops while its session sleeps.
    let spec = spec(open(500.0, Arrivals::Constant), 0, 10 * SECOND);
    let measured = measure_on(clock, &spec, move |begin| {
        served += 1;
        if served == 1_500 {
            stopped.stop_next_sleeper(SECOND);
        }
        begin + 100_000
    });
    let [service, response, _] = measured.histograms();
    assert!(service.max_ns().unwrap() < 110_000);
    assert!(response.max_ns().unwrap() > 990 * MILLISECOND);
    assert!(response.count_above(100 * MILLISECOND) > 400);
    let lag = measured.end.generator_lag.unwrap();
    assert!(lag.max_ns().unwrap() > 990 * MILLISECOND);
}

mod slow {
    use super::*;

    /// The generator wakes up to 0.5 ms late, uniformly, whatever the service: 25 times the shortest. The figures of the database must be as they would
    /// have been with a generator that is in time, operation by operation.
    #[test]
    fn the_lag_of_the_generator_is_not_the_database_s() {
        for mean_ns in [2e4, 1e5, 1e6, 1e7] {
            let count = 50_000.0;
            let rate = 0.7e9 / mean_ns;
            let seconds = (count / rate * 1e9) as u64;
            let spec = spec(open(rate, Arrivals::Poisson), 0, seconds);
            let mut service = exponential(mean_ns);
            let measured = measure_on(Jumping::lagging(), &spec, move |begin| begin + service());
            let expected = expected(&spec, exponential(mean_ns));
            let [service, response, wait] = measured.histograms();
            // At the end of the point a late generator has done a little less.
            let missing = expected.service.count() - service.count();
            assert!(missing < 100, "{missing}");
            for percentile in [50.0, 90.0, 99.0] {
                let pair = |found: &Histogram, exact: &Histogram| {
                    let at = |times: &Histogram| times.percentile_ns(percentile).unwrap() as f64;
                    let ratio = at(found) / at(exact);
                    let is_close = (ratio - 1.0).abs() < 0.005;
                    assert!(is_close, "{mean_ns} ns, p{percentile}: {ratio}");
                };
                pair(&response, &expected.response);
                pair(&service, &expected.service);
                if percentile > 50.0 {
                    pair(&wait, &expected.wait);
                }
            }
            let lag = measured.end.generator_lag.unwrap();
            assert!(measured.end.lag_is_apart);
            let mean = lag.mean_ns().unwrap() / (LONGEST_DELAY as f64 / 2.0);
            assert!((mean - 1.0).abs() < 0.02, "the lag is told beside: {mean}");
        }
    }

    /// Several sessions, service times from 20 µs to 10 ms, lags up to 500 µs, as long as lags take at most a fifth of the sessions' time: beyond that the
    /// program says that the generator is late.
    #[test]
    fn percentiles_of_a_common_queue_are_those_of_the_theory() {
        for sessions in [1, 2, 4, 16] {
            for mean_ns in [2e4, 1e5, 1e6, 1e7] {
                for delay_ns in [0.0, 5e4, 5e5] {
                    // The rate is half of the capacity, so half of the sessions' time goes into this many services.
                    let lag_share = 0.5 * (delay_ns / 2.0) / mean_ns;
                    if lag_share > 0.2 && sessions > 1 {
                        continue;
                    }
                    let responses = common_queue(sessions, mean_ns, delay_ns);
                    for percentile in [50.0, 95.0, 99.0] {
                        let found = responses.percentile_ns(percentile).unwrap() as f64;
                        let exact = theory(sessions, mean_ns, percentile);
                        assert!(
                            (found / exact - 1.0).abs() < 0.02,
                            "{sessions} sessions, {mean_ns} ns, lag to {delay_ns} ns, p{percentile}: {found}, {exact}"
                        );
                    }
                }
            }
        }
    }
}
