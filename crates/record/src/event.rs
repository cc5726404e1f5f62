//! What was done to a server or its disk on purpose while a point was measured, and what its clients saw of it.

use crate::quantities::units;
use serde::{Deserialize, Serialize};
use std::fmt;

mod power;

pub use power::{CutLoss, PowerCut, PowerCutSpec};

/// An event for the server or the disk of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventSpec {
    /// Nanoseconds from the beginning of the measured part of each point.
    pub at_ns: u64,
    /// What is done to the server or its disk.
    pub act: Act,
}

impl EventSpec {
    /// Begin, end and kind of an event of the disk; times as [`EventSpec::at_ns`].
    pub fn of_disk(&self) -> Option<(u64, u64, DiskFault)> {
        match self.act {
            Act::Disk { for_ns, fault } => {
                Some((self.at_ns, self.at_ns.saturating_add(for_ns), fault))
            }
            Act::StepDown | Act::Kill { .. } | Act::Pause { .. } | Act::PowerCut(_) => None,
        }
    }

    /// Whether the power of the disk is cut.
    pub fn is_power_cut(&self) -> bool {
        matches!(self.act, Act::PowerCut(_))
    }
}

/// What can be done to a server or its disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// A member is stopped by SIGSTOP and continues by SIGCONT.
    Pause {
        /// The member to which it is done.
        member: Role,
        /// How long it stands still, nanoseconds.
        for_ns: u64,
    },
    /// The emulated disk changes its behaviour for a time.
    Disk {
        /// How long it does so, nanoseconds.
        for_ns: u64,
        /// What it does in that time.
        fault: DiskFault,
    },
    /// The power of the machine fails: the server is killed and the emulated disk keeps what a disk may keep. Then the filesystem is mounted and the server started
    /// again.
    PowerCut(PowerCutSpec),
}

/// How an emulated disk behaves during an event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DiskFault {
    /// Each request that arrives takes this much longer.
    Latency {
        /// How much longer, in nanoseconds.
        ns: u64,
    },
    /// Requests that arrive fail with an I/O error (EIO).
    Errors {
        /// Share of reads that fail, from 0 to 1.
        read: f64,
        /// Share of writes that fail, from 0 to 1.
        write: f64,
        /// Share of flushes that fail, from 0 to 1.
        flush: f64,
    },
    /// No request is answered.
    Stall,
    /// No burst credits can be spent.
    NoCredits,
}

/// What the disk does: `adds 200ms to each request`.
impl fmt::Display for DiskFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Latency { ns } => {
                write!(formatter, "adds {} to each request", units::duration(ns))
            }
            Self::Errors { read, write, flush } => {
                let shares = [(read, "reads"), (write, "writes"), (flush, "flushes")];
                let failing = shares.iter().filter(|(share, _)| *share > 0.0);
                let words = failing.map(|(share, of)| format!("{} of {of}", units::share(*share)));
                let words: Vec<String> = words.collect();
                write!(formatter, "fails {}", words.join(" and "))
            }
            Self::Stall => formatter.write_str("answers nothing"),
            Self::NoCredits => formatter.write_str("has no burst credits"),
        }
    }
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

/// Events of a point, and what its clients saw. Unless stated otherwise, times are nanoseconds from the start of the point.
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Place in the plan's list of events, from 0.
    pub event: u32,
    /// When it was done: the signal was sent, the command was about to be given, or the disk changed its behaviour.
    pub at_ns: u64,
    /// When it was over: a killed member took connections again, a paused one went on, the command to step down was answered, the disk was as before, the
    /// database was back after a power cut. `None` where it was not by the end of the point.
    pub until_ns: Option<u64>,
    /// Host and port of the member; `None` for the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// What a power cut left on the disk; `None` for other events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Box<PowerCut>>,
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
    /// Acknowledged writes that are missing, though no later write took their place.
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
    /// What each power cut took, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_cut: Vec<CutLoss>,
    /// Why the filesystem could not be mounted or the database not be opened after the last power cut; then all writes count as lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
}
