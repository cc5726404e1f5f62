//! `objective`: what counts as good service.

use crate::keys::metric::PERCENTILES;
use crate::keys::search::SEARCH;
use crate::table::*;

object! {
    /// What counts as good service.
    OBJECTIVE objective: "What counts as good service: all of it must hold."
    response = Shape::keyed(Keys::Words(&PERCENTILES), &Shape::duration(1, LONGEST_NS), 1, 20), Optional, "{p99: 10ms}";
        "Highest response time at these percentiles.";
    errors = SHARE, Default("0"), "0.1%";
        "Highest share of operations that may fail.";
    achieved = SHARE, Default("99%"), "99%";
        "Lowest share of an offered rate that must be achieved.";
    search = Shape::Any(&[FLAG, Shape::Object(&SEARCH)]), Optional, "{trial: 10s, warm_up: 2s}";
        "Whether the plimsoll line is searched, the highest rate that holds the objective, and how. Without it: where `response` is bounded \
         and the load has no stages.";
}
