//! `objective.search`: whether and how the plimsoll line is searched.

use crate::keys::open::{ARRIVALS, SESSIONS_OR_FOUND};
use crate::table::*;

/// The narrowest and the widest interval at which a search can end.
pub(crate) const WIDTH: Shape = Shape::number(0.001, 0.5);

object! {
    /// How the plimsoll line is searched.
    SEARCH search: "How the plimsoll line is searched: by about 25 trials, each at a rate that follows from the earlier ones, until the highest rate that holds \
         the objective is known closely enough. The search is made after the closed loop and before the open one."
    trial = Shape::duration(SHORTEST_NS, LONGEST_NS), Optional, "10s";
        "Measured time of each trial, after its warm-up. Without it, that of a point.";
    warm_up = Shape::duration(0, LONGEST_NS), Optional, "2s";
        "Time under load before each trial that is not counted. Without it, that of a point.";
    width = WIDTH, Default("2%"), "5%";
        "The search ends when the interval in which the line lies is at most this wide, as a share of its upper end.";
    rates = Shape::list(&RATE, 2, 2), Default("[10, 1M]"), "[1k, 200k]";
        "Lowest and highest rate that may be tried.";
    sessions = SESSIONS_OR_FOUND, Optional, "64";
        "Sessions that serve the operations, as in the open loop. Without it, those of the open loop, else `found` if there is a closed loop, else 64.";
    arrivals = ARRIVALS, Optional, "poisson";
        "Gaps between operations. Without it, those of the open loop, else `poisson`.";
}
