//! `load.stages`: one open loop with a rate that changes.

use crate::keys::open::ARRIVALS;
use crate::table::*;

/// A stage may pause the load.
pub(crate) const STAGE_RATE: Shape = rate_from(0.0);

pub(crate) static EACH_STAGE: Shape = Shape::Object(&STAGE);

object! {
    /// An open loop of stages.
    STAGES stages: "Open loop with a changing rate."
    steps = Shape::list(&EACH_STAGE, 1, 1_000), Required, "[{to: 20k, duration: 60s}, {rate: 20k, duration: 30s}]";
        "The stages, in order. Together they are one point, which lasts as long as they do.";
    arrivals = ARRIVALS, Default("poisson"), "constant";
        "Gaps between operations: all equal, or as from independent callers.";
    sessions = SESSIONS, Default("64"), "64";
        "Sessions that serve the operations: the largest number in progress at once. Operations that are due wait while all sessions are busy, and the \
         wait counts.";
}

object! {
    STAGE stage: "One stage: a constant rate, or a ramp."
    rate = STAGE_RATE, Optional, "20k";
        "Operations per second from beginning to end.";
    from = STAGE_RATE, Optional, "5k";
        "Rate at the beginning of a ramp. Without it, the rate at which the last stage ended, or 0.";
    to = STAGE_RATE, Optional, "20k";
        "Rate at the end of a ramp.";
    duration = Shape::duration(SHORTEST_NS, LONGEST_NS), Required, "60s";
        "Duration of the stage.";
    => one of [rate, to];
    => at most one of [rate, from];
}
