//! What was done to a server on purpose while a point was measured, and what its clients saw of it.

use serde::{Deserialize, Serialize};

/// Something that is to be done to the server of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSpec {
    /// Nanoseconds from the beginning of the measured part of each point.
    pub at_ns: u64,
    /// What is done to the servers.
    pub act: Act,
}

/// What can be done to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Act {
    /// The primary gets the command to step down, and another member is elected.
    StepDown,
    /// A member is killed by SIGKILL, and started again on the data that it left.
    Kill {
        /// The member to which it is done.
        member: Role,
        /// How long it is gone, nanoseconds; `None`: until the point is over.
        restart_after_ns: Option<u64>,
    },
    /// A member is stopped by SIGSTOP and goes on by SIGCONT.
    Pause {
        /// The member to which it is done.
        member: Role,
        /// How long it stands still, nanoseconds.
        for_ns: u64,
    },
}

/// A member of a server by what it is at the time. A server that is one process is its own primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The member that takes writes when the event is due.
    Primary,
    /// The first that is not the primary.
    Secondary,
}

impl Role {
    /// The word in files and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
        }
    }
}

/// What was done at a point, and what its clients saw. Times are nanoseconds from the start of the point unless they are said to be others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Start of the point on `CLOCK_MONOTONIC`.
    pub started_ns: u64,
    /// What was done, in order.
    pub events: Vec<EventRecord>,
    /// Begin and end of each time of at least [`SHORTEST_GAP_NS`] in which no write succeeded: from one that did, or the start of the point, to the next, or the end of
    /// the point.
    pub write_gaps: Vec<(u64, u64)>,
    /// Spans without a successful read, as for writes.
    pub read_gaps: Vec<(u64, u64)>,
    /// Whether what was acknowledged is still there; `None` where that was not looked at.
    pub acknowledged: Option<Acknowledged>,
}

/// Shorter times without a success are not noted.
pub const SHORTEST_GAP_NS: u64 = 100_000_000;

/// One event as it was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Place in the plan's list of events, from 0.
    pub event: u32,
    /// When it was done: the signal was sent, or the command was about to be given.
    pub at_ns: u64,
    /// When it was over: a killed member took connections again, a paused one went on, the command to step down was answered. `None` where it was not by the
    /// end of the point.
    pub until_ns: Option<u64>,
    /// Host and port of the member.
    pub member: String,
}

/// What became of the writes of a point: inserts and updates, those of its warm-up too. All records that they changed were read after the point, when
/// every member was back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// Writes that the server acknowledged.
    pub writes: u64,
    /// Writes that failed: they may be there or not.
    pub in_doubt: u64,
    /// Records that were read back.
    pub records: u64,
    /// Acknowledged writes of which nothing is there, though no later write took their place.
    pub lost: u64,
    /// When the first and the last of those were acknowledged.
    pub lost_between_ns: Option<(u64, u64)>,
    /// Keys of some of them.
    pub lost_keys: Vec<String>,
    /// Records that could not be read.
    pub unread: u64,
    /// Message of the first read that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_because: Option<String>,
}
