//! `thresholds`: bounds that must hold at the end.

use crate::keys::compare::AT;
use crate::keys::metric::BOUND;
use crate::table::*;

/// A bound, alone or with its scope.
pub(crate) const THRESHOLD_OR_BOUND: Shape = Shape::Any(&[BOUND, Shape::Object(&THRESHOLD)]);

object! {
    /// A bound with its scope.
    THRESHOLD threshold: "A bound with its scope. A bound alone, as text, applies to every arm, mix and point."
    metric = BOUND, Required, "response.p99 <= 5ms";
        "A metric, of one operation as in `response.p99 of by-customer`, then `>=` or `<=` and a bound in the unit of the metric.";
    operation = Shape::Text { most: 40 }, Optional, "by-customer";
        "Only this operation: one of `workload.operations`, or `read`, `update`, `insert`, `scan`, `read-modify-write`. For `throughput`, `response` and \
         `service`. It applies to the mixes that have the operation.";
    arm = Shape::Text { most: 40 }, Optional, "in-cache";
        "Only for this arm.";
    mix = Shape::Text { most: 40 }, Optional, "c";
        "Only for this mix.";
    at = Shape::Object(&AT), Optional, "{threads: 16}";
        "Only at this load.";
}
