//! `load.open`: operations that are due at times fixed beforehand.

use crate::keys::sweep::{RATES_SWEEP, SWEPT};
use crate::table::*;

/// The word for sessions that the run finds out.
pub(crate) const FOUND: &str = "found";

pub(crate) const CONSTANT: &str = "constant";

pub(crate) const SESSIONS_OR_FOUND: Shape = Shape::Any(&[SESSIONS, Shape::choice(&[FOUND])]);

pub(crate) const ARRIVALS: Shape = Shape::choice(&[CONSTANT, "poisson"]);

object! {
    OPEN open: "Open loop."
    rates = Shape::Any(&[Shape::list(&RATE_OR_SHARE, 1, 1_000), SWEPT, Shape::Object(&RATES_SWEEP)]), Required, "[5k, 10k]";
        "Operations per second: one point for each rate. A percentage such as `80%` is a share of the plimsoll line that the same run found, and needs \
         an objective. `until-bent`, or bounds, is a sweep: 100, 200, 400 and so on, until the curve has bent.";
    arrivals = ARRIVALS, Default("poisson"), "constant";
        "Gaps between operations: all equal, or as from independent callers.";
    sessions = SESSIONS_OR_FOUND, Default("64"), "64";
        "Sessions that serve the operations: the largest number in progress at once. Operations that are due wait while all sessions are busy, and the \
         wait counts. `found`: the number with which the closed loop of the same run had the highest throughput; without a closed loop, one is swept \
         for that, from 1 to 1024 sessions.";
}
