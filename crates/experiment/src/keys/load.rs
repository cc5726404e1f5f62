//! `load`: how many operations at a time. See [`crate::elements::closed`], [`crate::elements::open`] and [`crate::elements::stages`].

use crate::keys::closed::CLOSED;
use crate::keys::open::OPEN;
use crate::keys::stages::STAGES;
use crate::table::*;

object! {
    /// How high the load is.
    LOAD load: "The load: a closed loop, an open loop, or both, the closed one first; or stages."
    closed = Shape::Object(&CLOSED), Optional, "{threads: [1, 2, 4, 8, 16]}";
        "Closed loop: each session sends its next operation when the last one is complete. Shows the attainable throughput; hides how long callers \
         would wait.";
    open = Shape::Object(&OPEN), Optional, "{rates: [5k, 10k]}";
        "Open loop: operations are due at times fixed beforehand, whether or not earlier ones are complete. Response time counts from when an operation \
         was due.";
    stages = Shape::Object(&STAGES), Optional, "{steps: [{to: 20k, duration: 60s}]}";
        "Open loop with a changing rate: one point of several stages.";
    => any of [closed, open, stages];
    => at most one of [closed, stages];
    => at most one of [open, stages];
}
