//! What a point measures, who takes its slices, and why it cannot be measured.

use plimsoll_engine::EngineError;
use plimsoll_record::{Slice, WorkerUse};
use plimsoll_workload::schedule::{Load, ScheduleError, Share};
use std::collections::BTreeMap;
use std::time::Duration;

/// What is measured at one point.
#[derive(Clone, Debug)]
pub struct PointSpec {
    pub load: Load,
    /// Nanoseconds before the measured part. Stages begin with the warm-up.
    pub warm_up_ns: u64,
    /// Nanoseconds of the measured part.
    pub duration_ns: u64,
    /// Ends the point early, counted after the warm-up and over all hosts. A closed loop ends when this many operations have completed, an equal share per
    /// session; an open loop ends when this many were due. With constant arrivals all hosts end at the same time, with Poisson arrivals each after its share.
    pub operations: Option<u64>,
    pub seed: u64,
    /// Whether every record read is compared with what must be in it.
    pub verify: bool,
    /// The part of this host, the same as that of the key space. Everything above describes the whole, and is the same on all hosts.
    pub share: Share,
}

/// Takes what a point gives while it runs, on the thread that called.
pub trait SliceSink {
    /// A slice is complete. Each comes once, in order.
    fn slice(&mut self, slice: Slice);

    /// What the worker used since the last call, and other figures. Called at the end of every slice.
    fn sample(&mut self) -> (WorkerUse, BTreeMap<String, f64>) {
        Default::default()
    }

    /// All sessions are open and no operation has begun. Called once for each point and each load phase, right before the clock starts; may block until other
    /// hosts are ready too. Returns when the clock starts, in nanoseconds of `CLOCK_MONOTONIC`: several hosts can start at one instant. `None` and a time in
    /// the past start it at once. A [request to stop](Self::stop_requested) ends the waiting.
    fn ready(&mut self) -> Option<u64> {
        None
    }

    /// The warm-up is over, the measured part begins. Called once for each point, at the boundary: after the sample of the last slice of the
    /// warm-up, so some time `ago`. Without a warm-up, before [`SliceSink::ready`] and so before the clock starts. Not called in a load phase, nor when a
    /// point ends in its warm-up.
    fn measuring_begins(&mut self, _ago: Duration) {}

    /// The point ended this long ago, sessions are still inside a call, and the calls that can be ended were. Said many times a second, for as long as it is so.
    fn overdue(&mut self, _since_end: Duration) {}

    /// Whether the point is to end now. Called many times a second.
    fn stop_requested(&mut self) -> bool {
        false
    }
}

/// Why a point could not be measured at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A session could not be made.
    #[error("session {session} of {sessions} cannot be opened: {source}")]
    Session {
        /// Number of the session, counted from 1.
        session: u32,
        /// How many were requested on this host.
        sessions: u32,
        source: EngineError,
    },
    /// The arrivals cannot be computed.
    #[error("the arrivals cannot be computed: {0}")]
    Schedule(#[from] ScheduleError),
    /// A thread could not be made.
    #[error(
        "a thread for session {session} of {sessions} cannot be started: {source}; use fewer sessions or raise the limit of processes"
    )]
    Thread {
        /// Number of the session, counted from 1.
        session: u32,
        /// How many were requested on this host.
        sessions: u32,
        source: std::io::Error,
    },
    /// The point and the key space would do the parts of different hosts.
    #[error(
        "the point is share {point} and its key space share {keys}; make both with the same share"
    )]
    Share {
        point: Share,
        /// The share of the key space.
        keys: Share,
    },
    /// A session's thread ended by itself: a fault in this program or in the engine's bindings.
    #[error("the thread of a session panicked; its message is above")]
    Panic,
}
