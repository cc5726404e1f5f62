//! `events`: what is done to the servers of the arms while they are measured.

use crate::table::*;

pub(crate) const MOST_EVENTS: usize = 100;

pub(crate) const SECONDARY: &str = "secondary";

pub(crate) const ROLE: Shape = Shape::choice(&["primary", SECONDARY]);

object! {
    /// Something that is done to a server.
    EVENT event: "Something that is done to the server of each arm, at each point, on purpose."
    at = Shape::duration(0, LONGEST_NS), Required, "30s";
        "When, counted from the beginning of the measured part of the point.";
    step_down = FLAG, Optional, "true";
        "The primary is asked to step down, and another member is elected. Needs a server with several members.";
    kill = ROLE, Optional, "primary";
        "This member is killed (SIGKILL) and started again on the data that it left: after `restart_after`, otherwise when the point is over. A \
         server that is one process is its own primary.";
    restart_after = Shape::duration(SHORTEST_NS, LONGEST_NS), Optional, "10s";
        "How long the killed member is gone.";
    pause = Shape::duration(SHORTEST_NS, LONGEST_NS), Optional, "5s";
        "A member stands still for so long (SIGSTOP, SIGCONT).";
    member = ROLE, Optional, "secondary";
        "Which member stands still; the primary without this key.";
    => one of [step_down, kill, pause];
}
