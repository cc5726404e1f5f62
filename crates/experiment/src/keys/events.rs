//! `events`: what is done to the servers of the arms while they are measured.

use crate::table::*;

pub(crate) const MOST_EVENTS: usize = 100;

pub(crate) const SECONDARY: &str = "secondary";

pub(crate) const ROLE: Shape = Shape::choice(&["primary", SECONDARY]);

object! {
    /// Something that is done to a server.
    EVENT event: "Something that is deliberately done to the server of each arm, at each point."
    at = Shape::duration(0, LONGEST_NS), Required, "30s";
        "Time from the beginning of the measured part of the point.";
    step_down = FLAG, Optional, "true";
        "The primary steps down, and another member is elected. Needs a server with several members.";
    kill = ROLE, Optional, "primary";
        "This member is killed (SIGKILL) and restarted on the data that it left: after `restart_after`, otherwise at the end of the point. A server of \
         one process is its own primary.";
    restart_after = Shape::duration(SHORTEST_NS, LONGEST_NS), Optional, "10s";
        "How long the killed member stays down.";
    pause = Shape::duration(SHORTEST_NS, LONGEST_NS), Optional, "5s";
        "A member is paused for this time (SIGSTOP, SIGCONT).";
    member = ROLE, Optional, "secondary";
        "The member that is paused. Without it, the primary.";
    => one of [step_down, kill, pause];
}
