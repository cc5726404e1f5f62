//! What is sent: the same for a snapshot, where everything is in it, and for an update, where only what changed is. `web/src/live/message.ts` reads it.

use serde::Serialize;

/// How things stand, and what is new.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Update {
    /// Names of the arms; in snapshots.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) arms: Vec<String>,
    pub(super) runs_finished: u32,
    pub(super) runs_failed: u32,
    pub(super) runs_planned: u32,
    /// Seconds until the experiment is over, as far as is known.
    pub(super) left_seconds: Option<f64>,
    /// The run that goes on; nothing between two runs.
    pub(super) now: Option<Now>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) runs: Vec<Cell>,
    /// Points of the curve that are new or different.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) points: Vec<PointUpdate>,
    /// Keys of points that no longer count, because their run did not come to its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) dropped: Vec<i64>,
    /// The last seconds that are new or different.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) seconds: Vec<Second>,
    /// Events of these seconds that are new or known better.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) events: Vec<EventMark>,
    /// Keys of marks of events that were due and did not happen: their point is over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) dropped_events: Vec<EventKey>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Now {
    /// Place of the run in the plan, from 1.
    pub(super) run: u32,
    pub(super) block: u32,
    pub(super) arm: u32,
    pub(super) mix: String,
    pub(super) load: String,
    /// `prepare`, `load`, `warm up`, `measure`, `tear down`.
    pub(super) phase: &'static str,
    /// Seconds of this phase so far, and in all; 0 where that is not known.
    pub(super) second: f64,
    pub(super) seconds: f64,
    pub(super) rate: Option<f64>,
    pub(super) p99_ns: Option<f64>,
    /// Operations of this point that failed.
    pub(super) errors: u64,
    /// What each machine does, where several take part: those that make load first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) hosts: Vec<NowHost>,
    /// How many more there are.
    #[serde(skip_serializing_if = "is_none")]
    pub(super) more_hosts: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct NowHost {
    pub(super) name: String,
    /// `load`, `server`, `load and server`.
    pub(super) role: &'static str,
    /// Operations per second of the last slice, where it makes load.
    pub(super) rate: Option<f64>,
    /// p99 of its own lateness at its last open loop.
    pub(super) late_p99_ns: Option<f64>,
}

/// How the run of an arm in a block stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Cell {
    /// Index of the block, counted from 0.
    pub(super) block: u32,
    pub(super) arm: u32,
    pub(super) state: &'static str,
}

/// What one point of one run came to so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PointUpdate {
    pub(super) key: i64,
    pub(super) arm: u32,
    pub(super) mix: String,
    /// Whether the load is a rate; sessions otherwise.
    pub(super) open: bool,
    pub(super) load: f64,
    pub(super) rate: f64,
    pub(super) p99_ns: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Second {
    /// Rises. A second with an earlier key replaces that one.
    pub(super) key: u64,
    /// Its end, seconds since 1970.
    pub(super) at: f64,
    pub(super) arm: u32,
    pub(super) phase: &'static str,
    pub(super) rate: f64,
    pub(super) p99_ns: Option<f64>,
}

/// A point, the place of an event in the plan's list, and which occurrence of it in the point.
pub(super) type EventKey = (i64, u32, u32);

/// Something that was done to the server on purpose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct EventMark {
    pub(super) point: i64,
    /// Place in the plan's list of events.
    pub(super) event: u32,
    /// Which occurrence of it, where it comes several times in a point. A mark with an earlier point, event and occurrence replaces that one.
    pub(super) time: u32,
    /// Seconds since 1970: when it is due, and once the point is over when it was done.
    pub(super) at: f64,
    pub(super) words: String,
}

impl EventMark {
    pub(super) fn key(&self) -> EventKey {
        (self.point, self.event, self.time)
    }
}
