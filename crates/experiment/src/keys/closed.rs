//! `load.closed`: sessions that ask again when they are answered.

use crate::keys::sweep::{SWEPT, THREADS_SWEEP};
use crate::table::*;

object! {
    CLOSED closed: "Closed loop."
    threads = Shape::Any(&[Shape::list(&SESSIONS, 1, 1_000), SWEPT, Shape::Object(&THREADS_SWEEP)]), Required, "[1, 2, 4, 8, 16]";
        "Concurrent sessions, each in its own thread: one point for each number. `until-bent`, or bounds, is a sweep: 1, 2, 4 and so on, until the \
         curve has bent.";
    think_time = Shape::duration(0, 3_600_000_000_000), Default("0s"), "10ms";
        "Pause of a session between a response and its next operation.";
    target = RATE, Optional, "10k";
        "Operations per second to which all sessions together pace themselves, like YCSB's `-target`. Each session still waits for its responses, so \
         this is no open loop; the time at which each operation was due is known, and response time counts from it.";
}
