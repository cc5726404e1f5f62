//! The open loop as a queue.

use super::{MILLISECOND, Measured, SECOND, closed, measure, open, spec};
use crate::point::PointSpec;
use plimsoll_record::Histogram;
use plimsoll_schedule::{Arrivals, arrivals};
use plimsoll_workload::Stream;

/// Exponential service times from one seed.
fn exponential(mean_ns: f64) -> impl FnMut() -> u64 + Send {
    let mut stream = Stream::from_state(3);
    move || (-(1.0 - stream.unit()).ln() * mean_ns) as u64
}

/// What an open loop with one server must record, by Lindley's recursion: an operation begins when it is due and the one before has ended.
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
    let mut expected = Expected {
        service: Histogram::new(),
        response: Histogram::new(),
        wait: Histogram::new(),
        unfinished: Histogram::new(),
        waited_for: 0,
    };
    let mut free = 0;
    for due in arrivals(&spec.load, end, spec.seed).unwrap() {
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

fn assert_as_expected(measured: &Measured, expected: &Expected) {
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
    let stalling = |begin: u64| {
        let end = begin + MILLISECOND;
        let stalls = (3 * SECOND..4 * SECOND).contains(&begin);
        if stalls {
            4 * SECOND + MILLISECOND
        } else {
            end
        }
    };
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
