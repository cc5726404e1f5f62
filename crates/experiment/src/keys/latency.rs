//! `disk.latency` and its like: how long requests wait.

use crate::keys::metric::TABLE_PERCENTILES;
use crate::table::*;

pub(crate) const LONGEST_WAIT_NS: u64 = 3_600_000_000_000;

pub(crate) const WAIT: Shape = Shape::duration(0, LONGEST_WAIT_NS);

/// A duration, or a distribution.
pub(crate) const LAW: Shape = Shape::Any(&[WAIT, Shape::Object(&LATENCY)]);

object! {
    LATENCY latency: "A distribution of latencies."
    lognormal = Shape::Object(&LOGNORMAL), Optional, "{median: 5ms, p99: 20ms}";
        "Most latencies are near the median, a few are much longer.";
    table = Shape::keyed(Keys::Words(&TABLE_PERCENTILES), &WAIT, 2, 1_000), Optional, "{p0: 1ms, p50: 3ms, p99: 10ms, p100: 40ms}";
        "Percentiles that were measured somewhere, with straight lines between them.";
    => one of [lognormal, table];
}

object! {
    LOGNORMAL lognormal: "The lognormal distribution, by two of its percentiles."
    median = Shape::duration(1, LONGEST_WAIT_NS), Required, "5ms";
        "Half of the latencies are below it.";
    p99 = Shape::duration(1, LONGEST_WAIT_NS), Required, "20ms";
        "One latency of a hundred is above it. At least the median.";
}
