//! `objective`: what counts as good service.

use crate::keys::metric::PERCENTILES;
use crate::keys::search::SEARCH;
use crate::table::*;

object! {
    /// What counts as good service.
    OBJECTIVE objective: "The service-level objective: all of it must hold."
    response = Shape::keyed(Keys::Words(&PERCENTILES), &Shape::duration(1, LONGEST_NS), 1, 20), Optional, "{p99: 10ms}";
        "Highest response time at these percentiles.";
    errors = SHARE, Default("0"), "0.1%";
        "Highest share of operations that may fail.";
    achieved = SHARE, Default("99%"), "99%";
        "Lowest share of an offered rate that must be achieved.";
    search = Shape::Any(&[FLAG, Shape::Object(&SEARCH)]), Optional, "{trial: 10s, warm_up: 2s}";
        "Whether and how to search the plimsoll line, the highest rate that holds the objective. By default it is searched if `response` is bounded and \
         the load has no stages.";
}
