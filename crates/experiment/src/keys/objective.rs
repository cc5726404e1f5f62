//! `objective`: what counts as good service.

use crate::keys::metric::PERCENTILES;
use crate::keys::search::SEARCH;
use crate::table::*;

/// Highest response times at percentiles.
const RESPONSE: Shape =
    Shape::keyed(Keys::Words(&PERCENTILES), &Shape::duration(1, LONGEST_NS), 1, 20);

object! {
    /// What counts as good service of one operation.
    OPERATION_OBJECTIVE operation_objective: "What counts as good service of one operation."
    response = RESPONSE, Required, "{p99: 10ms}";
        "Highest response time of this operation at these percentiles.";
}

const OF_OPERATION: Shape = Shape::Object(&OPERATION_OBJECTIVE);

object! {
    /// What counts as good service.
    OBJECTIVE objective: "The service-level objective: all of it must hold."
    response = RESPONSE, Optional, "{p99: 10ms}";
        "Highest response time at these percentiles.";
    operations = Shape::keyed(Keys::Names("operation"), &OF_OPERATION, 1, 32), Optional, "{by-customer: {response: {p99: 10ms}}}";
        "Bounds on operations of their own: those of `workload.operations`, or `read`, `update`, `insert`, `scan`, `read-modify-write`. A bound applies to \
         the mixes that have the operation, and does not hold where nothing of it succeeded.";
    errors = SHARE, Default("0"), "0.1%";
        "Highest share of operations that may fail.";
    achieved = SHARE, Default("99%"), "99%";
        "Lowest share of an offered rate that must be achieved.";
    search = Shape::Any(&[FLAG, Shape::Object(&SEARCH)]), Optional, "{trial: 10s, warm_up: 2s}";
        "Whether and how to search the plimsoll line, the highest rate that holds the objective. By default it is searched if a response time is bounded and \
         the load has no stages.";
}
