//! One arm in one block.

use crate::{
    ApplicationState, Disturbance, ForeignCpu, Histogram, HostPoint, Imported, Machine,
    NetworkPoint, Operation, OperationSlice, OwnOperation, ProbeTask, RigRecord, Slice, Status,
    Storage, Warning,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether a run has ended, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum RunState {
    /// Begun; when no program is working on it, it was cut off.
    #[default]
    Started,
    /// Everything that was planned for it was measured.
    Finished,
    /// Stopped by the user, or the program was killed. What was measured is kept.
    Interrupted,
    /// The run ended early because something went wrong.
    Failed {
        /// What, and what to do.
        message: String,
    },
}

/// Engine, version and settings as the engine itself reports them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineDescription {
    /// Name of the engine: `noop`, `simulated`, `wiredtiger` or `mongodb`.
    pub name: String,
    /// Version of the library or server.
    pub version: String,
    /// Every setting that was in force, by name.
    pub settings: BTreeMap<String, String>,
    /// Anything else that bears on speed, such as the memory allocator.
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
}

/// One arm in one block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Index of the block, counted from 0.
    pub block: u32,
    /// Name of the arm that was measured.
    pub arm: String,
    /// Place within its block, from 0.
    pub position: u32,
    /// Counted from 1: a run that was cut off is repeated as the next attempt.
    pub attempt: u32,
    /// Whether the run has ended, and how.
    pub state: RunState,
    /// Seed of every random draw of this run. Equal for all arms of a block, so that they get the same operations.
    pub seed: u64,
    /// Begin, UTC, RFC 3339. Empty where an imported run does not say.
    pub started_at: String,
    /// When it ended, in UTC, as RFC 3339 writes it.
    pub ended_at: Option<String>,
    /// The engine that was measured, as it describes itself.
    pub engine: Option<EngineDescription>,
    /// The machine at the start of this run. Of a run on a half of one, the cores are those of its half.
    pub machine: Machine,
    /// The half of the machine that it had, where its pair was made at the same time on the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half: Option<Half>,
    /// Where the data lay, if the engine keeps any.
    pub storage: Option<Storage>,
    /// Records in the engine after the load, counted by the engine.
    pub records_loaded: Option<u64>,
    /// Bytes of data and indexes on the disk after the load, as the engine reports them.
    #[serde(default)]
    pub data_bytes: Option<u64>,
    /// Whether engine's cache and page cache were emptied before the first point.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub caches_emptied: bool,
    /// How the caches were filled before the first point, where that was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmed: Option<WarmedCaches>,
    /// What the server said of an application's collections and operations: after the load, and after the last point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub application: Vec<ApplicationState>,
    /// What the arm stood on, where the program made it.
    #[serde(default)]
    pub rig: Option<RigRecord>,
    /// What was measured while the data were stored.
    pub load: Option<PointRecord>,
    /// The points in the order in which they were measured. A search has one for each of its trials.
    pub points: Vec<PointRecord>,
    /// Fixed tasks that were timed beside the run, to see the machine drift.
    #[serde(rename = "canaries", default, skip_serializing_if = "Vec::is_empty")]
    pub probe_tasks: Vec<ProbeTask>,
    /// What was noticed while running.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// Caches that were filled before the first point of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WarmedCaches {
    /// How long it took, seconds.
    pub seconds: f64,
    /// Whether the hit ratios had settled at the end.
    pub settled: bool,
    /// Hits of the engine's cache in the last seconds, 0 to 1, where they are known.
    pub engine_hits: Option<f64>,
    /// Hits of the page cache in the last seconds, 0 to 1, where they are known.
    pub page_cache_hits: Option<f64>,
}

/// A half of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Half {
    /// Numbers of its logical processors.
    pub processors: Vec<u32>,
    /// Whether they are threads of a core whose other threads are the other half.
    #[serde(default)]
    pub shares_core: bool,
}

/// Closed or open, with the number that is swept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadKind {
    /// The next operation of a session waits for its last one.
    Closed {
        /// Concurrent sessions; 0 where an imported point does not say.
        sessions: u32,
        /// Pause after each operation, nanoseconds.
        think_time_ns: u64,
        /// Operations per second, of all sessions together, to which they pace themselves; `None` where they do not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<f64>,
    },
    /// Operations are due at times fixed beforehand.
    Open {
        /// Mean operations per second requested.
        rate: f64,
        /// Sessions that serve the arrivals.
        sessions: u32,
    },
}

impl LoadKind {
    /// Number of sessions, of either kind of load.
    pub fn sessions(self) -> u32 {
        match self {
            Self::Closed { sessions, .. } | Self::Open { sessions, .. } => sessions,
        }
    }
}

/// Which point of the plan this is, with enough to read the record without the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointLabel {
    /// Place in the plan's list of points, from 0. The load phase has none.
    pub point: Option<u32>,
    /// Name of the mix, or `load`.
    pub mix: String,
    /// The load in words: `16 threads`, `20,000 op/s`.
    pub load_label: String,
    /// The load in numbers, for calculations.
    pub load: LoadKind,
    /// Number of the trial, from 0, where the point of the plan is a search for the plimsoll line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
}

/// One load setting in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointRecord {
    /// Which point it is: mix, load and index.
    pub label: PointLabel,
    /// Nanoseconds from the start of the point that are warm-up as requested in the file.
    pub warm_up_ns: u64,
    /// Begin, UTC, RFC 3339. Empty where an imported point does not say.
    pub started_at: String,
    /// The seconds of the point, in order.
    pub slices: Vec<Slice>,
    /// `None` when the point was cut off.
    pub end: Option<PointEnd>,
}

/// A generator that is later than this by itself stands still, and nobody knows what the database would have done meanwhile: operations that
/// it dispatches so late count from the time that was fixed for them.
pub const LONGEST_LAG_NS: u64 = 10_000_000;

/// What is known when a point is over. All counts are of the measured part, after the requested warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointEnd {
    /// Length of the measured part, nanoseconds.
    pub measured_ns: u64,
    /// Operations that were due in the measured part of an open loop.
    pub due: Option<u64>,
    /// For every operation that was due and unfinished at the end: how late it was by then, a lower bound of its response time.
    pub unfinished: Option<Histogram>,
    /// Intended to dispatched where a session was free and waiting: the generator's own lateness, nanoseconds.
    pub generator_lag: Option<Histogram>,
    /// Whether response times are without that lateness, as far as it is at most [`LONGEST_LAG_NS`]. Those of early records contain it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lag_is_apart: bool,
    /// Time that sessions spent inside engine calls, nanoseconds over all sessions.
    pub busy_ns: u64,
    /// Operations that the engine itself repeated, such as on a write conflict.
    pub retries: u64,
    /// The statements of transactions and steps in the measured part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementTimes>,
    /// Whether this point was stopped before its time.
    pub cut_short: bool,
    /// The first few messages of each kind of failure.
    pub errors: Vec<ErrorSample>,
    /// CPU time that the hypervisor took from this machine during the point, nanoseconds over all processors.
    pub stolen_ns: u64,
    /// How far the wall clock moved against the monotonic one, nanoseconds.
    pub clock_jump_ns: i64,
    /// When the first operation of the point was dispatched, in the warm-up if there is one: nanoseconds of `CLOCK_MONOTONIC` of the host that generated the
    /// load. `None` without any operation, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_operation_ns: Option<u64>,
    /// What other programs used of the processors during the point, its warm-up included. `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Box<ForeignCpu>>,
    /// The first operations of the measured part, in the order in which they began, where the file asks to note them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<NotedOperation>,
    /// What the network to the server did, where one machine made all load and the server is on another; of several machines each has its own in `hosts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Box<NetworkPoint>>,
    /// What each machine did, where several took part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostPoint>,
    /// What was done to the server meanwhile, where the file asks for events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Box<Disturbance>>,
    /// Where it comes from, if another program measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Box<Imported>>,
    /// The latencies of the point, if its slices have lost their histograms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summed_up: Option<Box<SummedUp>>,
}

/// A statement of a transaction or of steps: how often it was answered, and how long that took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementTimes {
    /// Its name is that of the whole with its number, such as `check-out-2`.
    pub operation: OwnOperation,
    /// Answers, those of transactions that were sent again among them.
    pub count: u64,
    /// From sending a statement to its last batch, nanoseconds over all of them.
    pub total_ns: u64,
}

impl StatementTimes {
    /// Adds the times of one more, or of many, to the others of its operation.
    pub fn add_to(self, all: &mut Vec<Self>) {
        match all.iter_mut().find(|known| known.operation == self.operation) {
            Some(known) => {
                known.count = known.count.saturating_add(self.count);
                known.total_ns = known.total_ns.saturating_add(self.total_ns);
            }
            None => all.push(self),
        }
    }
}

/// What was added up of the slices of a point before their histograms were left out: they have counts, means and the ends of their latencies instead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SummedUp {
    /// Latencies of all slices after the warm-up and what was cut beyond it, per operation and status, in that order.
    pub kept: Vec<OperationSlice>,
    /// Median and p99 of the response times of what succeeded in each slice, nanoseconds, in the order of the slices.
    pub units: Vec<[Option<u64>; 2]>,
}

/// When an operation was under way, on the clock of the traces: so that a request to the disk is known to belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedOperation {
    /// When it was dispatched, in nanoseconds of `CLOCK_MONOTONIC`.
    pub begin_ns: u64,
    /// When it was complete, in nanoseconds of `CLOCK_MONOTONIC`.
    pub end_ns: u64,
    /// The session of the operation, from 0.
    pub session: u32,
    /// The kind of operation that ran.
    pub operation: Operation,
    /// Whether it succeeded, and how it failed otherwise.
    pub status: Status,
}

/// A failure that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorSample {
    /// Which operation failed with this message.
    pub operation: Operation,
    /// Message of the engine, without passwords.
    pub message: String,
    /// How many operations failed with it.
    pub count: u64,
}

impl PointRecord {
    /// Where it comes from, if another program measured it.
    pub fn imported(&self) -> Option<&Imported> {
        self.end.as_ref()?.imported.as_deref()
    }

    /// Its latencies added up, if its slices have no histograms of their own.
    pub fn summed_up(&self) -> Option<&SummedUp> {
        self.end.as_ref()?.summed_up.as_deref()
    }

    /// What was done to the server on purpose meanwhile, and what was seen of it.
    pub fn disturbance(&self) -> Option<&Disturbance> {
        self.end.as_ref()?.disturbance.as_deref()
    }

    /// Sorts slices by index. Early records hold late shares of a slice as further slices of the same index: they are merged into one.
    pub fn merge_late_slices(&mut self) {
        self.slices.sort_by_key(|slice| slice.index);
        let mut merged: Vec<Slice> = Vec::with_capacity(self.slices.len());
        for slice in self.slices.drain(..) {
            match merged.last_mut() {
                Some(last) if last.index == slice.index => last.merge(&slice),
                _ => merged.push(slice),
            }
        }
        self.slices = merged;
    }
}
