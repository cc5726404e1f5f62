//! The keys of the load and of the search for the plimsoll line. See [`crate::format`].

use crate::format::{
    LONGEST_NS, RATE, SESSIONS, SHORTEST_NS, choice, duration, list, number, object,
};
use crate::shape::{Choice, Key, Need, Object, Shape};
use Need::{Default, Optional, Required};

/// The word for a sweep with everything at its default.
pub(crate) const UNTIL_BENT: &str = "until-bent";
/// The word for sessions that the run finds out.
pub(crate) const FOUND: &str = "found";
/// The narrowest and the widest interval at which a search can end.
const WIDTH: Shape = number(0.001, 0.5);
const FACTOR: Shape = number(1.01, 1_000.0);
const ARRIVALS: Shape = choice(&["constant", "poisson"]);
const SWEPT: Shape = choice(&[UNTIL_BENT]);
const SESSIONS_OR_FOUND: Shape = Shape::Any(&[SESSIONS, choice(&[FOUND])]);
/// In a stage nothing may be asked for a while.
const STAGE_RATE: Shape = Shape::Rate { least: 0.0 };

object! {
    /// How hard it is asked.
    LOAD: "How hard it is asked: a closed loop, an open loop, or both, the closed one first; or stages."
    "closed" = Shape::Object(&CLOSED), Optional, "{threads: [1, 2, 4, 8, 16]}";
        "Closed loop: each session asks again when its last operation is complete. Shows what can be had; hides how \
         long callers would wait.";
    "open" = Shape::Object(&OPEN), Optional, "{rates: [5k, 10k]}";
        "Open loop: operations are due at times fixed beforehand, whether or not earlier ones are complete. Response \
         time counts from when an operation was due.";
    "stages" = Shape::Object(&STAGES), Optional, "{steps: [{to: 20k, duration: 60s}]}";
        "Open loop with a rate that changes: one point of several stages.";
    any of ["closed", "open", "stages"];
    at most one of ["closed", "stages"];
    at most one of ["open", "stages"];
}

object! {
    /// The closed loop.
    CLOSED: "Closed loop."
    "threads" = Shape::Any(&[list(&SESSIONS, 1, 1_000), SWEPT, Shape::Object(&THREADS_SWEEP)]), Required, "[1, 2, 4, 8, 16]";
        "Sessions at once, each in its own thread: one point for each number. `until-bent`, or bounds, is a sweep: 1, 2, 4 and so on, until the \
         curve has bent.";
    "think_time" = duration(0, 3_600_000_000_000), Default("0s"), "10ms";
        "Pause of a session between an answer and its next question.";
    "target" = RATE, Optional, "10k";
        "Operations per second to which all sessions together pace themselves, as YCSB's `-target`. Each session still waits \
         for its answers, so this is no open loop; when each operation was due is known, and response time counts from then.";
}

object! {
    /// A sweep of sessions.
    THREADS_SWEEP: "Points that follow from each other, measured one after the other until the curve has bent: throughput has fallen, or has risen \
        by less than 2 %, over two points, or the objective is missed."
    "from" = SESSIONS, Default("1"), "1";
        "Sessions of the first point.";
    "to" = SESSIONS, Default("1024"), "256";
        "No point has more, bent or not.";
    "factor" = FACTOR, Default("2"), "1.5";
        "From each point to the next.";
}

object! {
    /// The open loop.
    OPEN: "Open loop."
    "rates" = Shape::Any(&[list(&Shape::RateOrShare, 1, 1_000), SWEPT, Shape::Object(&RATES_SWEEP)]), Required, "[5k, 10k]";
        "Operations per second: one point for each rate. A percentage such as `80%` is a share of the plimsoll line that the same run found, \
         and needs an objective. `until-bent`, or bounds, is a sweep: 100, 200, 400 and so on, until the curve has bent.";
    "arrivals" = ARRIVALS, Default("poisson"), "constant";
        "Gaps between operations: all equal, or as of independent callers.";
    "sessions" = SESSIONS_OR_FOUND, Default("64"), "64";
        "Sessions that serve the operations: how many can be under way at once. Operations that are due wait while all \
         are busy, and the wait counts. `found`: those with which the closed loop of the same run had the highest throughput; without a closed \
         loop, one is swept for that, from 1 to 1024 sessions.";
}

object! {
    /// A sweep of rates.
    RATES_SWEEP: "Points that follow from each other, measured one after the other until the curve has bent: throughput has fallen, or has risen \
        by less than 2 %, over two points, or the objective is missed."
    "from" = RATE, Default("100"), "200";
        "Rate of the first point.";
    "to" = RATE, Default("1M"), "500k";
        "No point has a higher one, bent or not.";
    "factor" = FACTOR, Default("2"), "1.5";
        "From each point to the next.";
}

object! {
    /// An open loop of stages.
    STAGES: "Open loop with a rate that changes."
    "steps" = list(&Shape::Object(&STAGE), 1, 1_000), Required, "[{to: 20k, duration: 60s}, {rate: 20k, duration: 30s}]";
        "The stages, in order. Together they are one point, which lasts as long as they do.";
    "arrivals" = ARRIVALS, Default("poisson"), "constant";
        "Gaps between operations: all equal, or as of independent callers.";
    "sessions" = SESSIONS, Default("64"), "64";
        "Sessions that serve the operations: how many can be under way at once. Operations that are due wait while all \
         are busy, and the wait counts.";
}

object! {
    /// One stage.
    STAGE: "One stage: a constant rate, or a ramp."
    "rate" = STAGE_RATE, Optional, "20k";
        "Operations per second from beginning to end.";
    "from" = STAGE_RATE, Optional, "5k";
        "Rate at the beginning of a ramp; without it, where the last stage ended, or 0.";
    "to" = STAGE_RATE, Optional, "20k";
        "Rate at the end of a ramp.";
    "duration" = duration(SHORTEST_NS, LONGEST_NS), Required, "60s";
        "How long the stage lasts.";
    one of ["rate", "to"];
    at most one of ["rate", "from"];
}

object! {
    /// How the data is stored.
    LOAD_PHASE: "How the data is stored before anything is measured."
    "threads" = SESSIONS, Default("4"), "4";
        "Sessions at once.";
}

object! {
    /// How the plimsoll line is searched.
    SEARCH: "How the plimsoll line is searched: by trials at rates that follow from each other, about 25 of them, until the highest rate that \
        holds the objective is known closely enough. It is searched after the closed loop and before the open one."
    "trial" = duration(SHORTEST_NS, LONGEST_NS), Optional, "10s";
        "Time that each trial is measured, after its warm-up; without it, that of a point.";
    "warm_up" = duration(0, LONGEST_NS), Optional, "2s";
        "Time under load before each trial, not counted; without it, that of a point.";
    "width" = WIDTH, Default("2%"), "5%";
        "The search ends when the interval in which the line lies is at most so wide, as a share of its upper end.";
    "rates" = list(&RATE, 2, 2), Default("[10, 1M]"), "[1k, 200k]";
        "Lowest and highest rate that may be tried.";
    "sessions" = SESSIONS_OR_FOUND, Optional, "64";
        "Sessions that serve the operations, as in the open loop; without it, those of the open loop, else `found` where there is a closed \
         loop, else 64.";
    "arrivals" = ARRIVALS, Optional, "poisson";
        "Gaps between operations; without it, those of the open loop, else `poisson`.";
}
