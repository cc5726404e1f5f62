//! What the runner and a worker say to each other: one JSON value a line.
//!
//! The runner writes one [`Order`], and later perhaps the line `stop`. The end of its output means that it is gone. The worker writes
//! [`Frame`]s and ends after [`Frame::Done`], [`Frame::Stopped`] or [`Frame::Failed`].

use plimsoll_plan::search::{Known, Outcome};
use plimsoll_plan::{Arm, Measurement, Objective, Plan, PlannedRun, Point};
use plimsoll_record::{
    ApplicationState, DiskChoice, EngineDescription, EventSpec, PointEnd, PointLabel, Slice,
    WarmedCaches,
};
use plimsoll_rig::{GroupPaths, RunningServer};
use plimsoll_workload::Mix;
use plimsoll_workload::schedule::Share;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Version of the frames. Both sides are the same program on one machine; a mismatch means that the program was replaced meanwhile.
pub const FRAMES_VERSION: u32 = 17;

/// What either side says when the other has another version.
pub(crate) const REPLACED: &str = "the worker is of another version than the program that started it: was plimsoll replaced while it ran? start it again";

/// What the runner says to a worker after its order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "kebab-case")]
pub(crate) enum Word {
    /// The worker is to stop.
    Stop,
    /// Answers [`Frame::Enter`], [`Frame::SizeMemory`], [`Frame::DropPageCache`], [`Frame::LieStill`] and [`Frame::Stored`].
    GoOn,
    /// Answers [`Frame::Heal`].
    Healed(PowerCuts),
    /// Answers [`Frame::Ready`]: when to begin, nanoseconds of the worker's `CLOCK_MONOTONIC`. To a worker that watches: a phase begins then.
    Begin { at_ns: u64, warm_up_ns: u64 },
    /// To a worker that watches: the phase is over.
    Over,
    /// What a point of several workers came to.
    Outcome {
        outcome: Outcome,
        /// Existing records, as far as all workers know: the next point chooses keys from this many.
        records: u64,
    },
    /// The running trial of several workers has missed the objective already.
    Lost,
}

/// The power cuts of a point that is over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PowerCuts {
    /// When they were, nanoseconds of the worker's `CLOCK_MONOTONIC`, in order.
    pub(crate) at_ns: Vec<u64>,
    /// Why the database is not back; `None` where it is.
    pub(crate) unusable: Option<String>,
}

/// What a worker does in its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerRole {
    #[default]
    Alone,
    /// A part of the load. The first of them also does what is done once.
    Load {
        share: Share,
        /// Whether the machine of the server is watched by another worker.
        is_watched: bool,
    },
    /// Watches the machine on which the server stands, whose load comes from other machines.
    Watch,
}

impl WorkerRole {
    /// The part of the load.
    pub fn share(self) -> Share {
        match self {
            Self::Load { share, .. } => share,
            Self::Alone | Self::Watch => Share::WHOLE,
        }
    }

    /// Whether its slices tell of a machine: that of the server where it is watched, that of the first worker otherwise.
    pub fn watches_machine(self) -> bool {
        match self {
            Self::Load { is_watched, .. } => !is_watched && self.leads(),
            Self::Alone | Self::Watch => true,
        }
    }

    /// Whether it does what is done once in a run.
    pub fn leads(self) -> bool {
        self != Self::Watch && self.share().index() == 0
    }
}

/// What a run does about its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataPhase {
    /// Data is stored, then the points are measured.
    #[default]
    Load,
    /// Stores it, so that it can be copied, and measures nothing.
    LoadAlone,
    /// Measures a copy of what was stored before.
    Copied,
}

/// Everything that a worker needs to make one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    pub frames: u32,
    pub role: WorkerRole,
    pub arm: Arm,
    /// Whether the plan has controls: then sessions of every arm take the same way, so that only what is planted differs.
    pub has_controls: bool,
    /// All mixes of the plan.
    pub mixes: Vec<Mix>,
    /// All points of the plan.
    pub points: Vec<Point>,
    /// Sessions of the load phase.
    pub load_sessions: u32,
    #[serde(default)]
    pub data: DataPhase,
    pub measurement: Measurement,
    /// What is done to the server or its disk at each point.
    pub events: Vec<EventSpec>,
    /// What counts as good service, where the run decides anything by it.
    pub objective: Option<Objective>,
    /// What other runs of the experiment decided.
    pub known: Known,
    pub seed: u64,
    /// For engines that keep data.
    pub directory: Option<PathBuf>,
    /// What the run stands on.
    pub standing: RigAccess,
    /// What the link of this worker's host carries each way, bytes a second, where the plan says so.
    pub link_bytes_per_second: Option<u64>,
}

/// What a worker watches of the rig below it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RigAccess {
    /// Socket of the emulated disk's daemon, which reports what it counted.
    pub control: Option<PathBuf>,
    /// The block device under the data, as under `/sys/block`.
    pub device: Option<String>,
    /// The control group that holds the limits.
    pub group: Option<GroupPaths>,
    /// The server that was started for the run.
    pub server: Option<RunningServer>,
}

impl Order {
    /// Whether what is under test stands on an emulated disk.
    pub(crate) fn is_on_emulated_disk(&self) -> bool {
        matches!(self.arm.rig.disk, Some(DiskChoice::Emulated { .. }))
    }

    /// The order for one run of a plan.
    pub(crate) fn of(
        plan: &Plan,
        run: &PlannedRun,
        known: Known,
        directory: Option<PathBuf>,
        standing: RigAccess,
    ) -> Self {
        Self {
            frames: FRAMES_VERSION,
            role: WorkerRole::Alone,
            arm: plan.arms[run.arm as usize].clone(),
            has_controls: !plan.controls().is_empty(),
            mixes: plan.mixes.clone(),
            points: plan.points.clone(),
            load_sessions: plan.load_phase.sessions,
            data: match plan.load_phase.once {
                true => DataPhase::Copied,
                false => DataPhase::Load,
            },
            measurement: plan.measurement.clone(),
            events: plan.events.clone(),
            objective: plan.objective.clone(),
            known,
            seed: run.seed,
            directory,
            standing,
            link_bytes_per_second: None,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "frame", rename_all = "kebab-case")]
pub enum Frame {
    Hello {
        frames: u32,
    },
    Opened {
        engine: EngineDescription,
    },
    LoadBegins {
        label: PointLabel,
        /// Records that will be stored.
        records: u64,
        started_at: String,
    },
    PointBegins {
        label: PointLabel,
        warm_up_ns: u64,
        duration_ns: u64,
        started_at: String,
    },
    /// A part begins in which the emulated disk is limited or is not. The worker waits for the word to continue.
    Enter {
        shaped: bool,
        /// What begins, for the trace.
        mark: String,
    },
    /// All sessions stand and nothing has begun: several workers begin together. The worker waits for the order to begin.
    Ready,
    /// This worker's part of the data is stored. The worker waits for the word to continue, which it gets when all are.
    Stored,
    /// A slice without operations, of what a worker saw that watches.
    Watched {
        slice: Box<Slice>,
    },
    /// The measured part of the point begins.
    Measuring {
        /// Which point, for the trace.
        mark: String,
        /// When it began, nanoseconds of the worker's `CLOCK_MONOTONIC`.
        at_ns: u64,
    },
    /// The point is over for its clients. The controller undoes all events at the server while the worker waits.
    Heal,
    /// A slice of the load phase or point that began last.
    Slice {
        slice: Box<Slice>,
    },
    /// The load phase or point is over.
    PointEnds {
        end: Box<PointEnd>,
        /// Existing records, as far as this worker knows.
        #[serde(default)]
        records: u64,
    },
    /// The records were counted after the load.
    Counted {
        /// By the engine; `None` where it stores nothing.
        records: Option<u64>,
    },
    /// The data are on the disk, as they are before the first point.
    Settled {
        /// Bytes of data and indexes, by the engine.
        data_bytes: Option<u64>,
        /// Whether the caches are empty.
        caches_emptied: bool,
    },
    /// What the server says of an application, after the load or after the last point.
    Application {
        state: Box<ApplicationState>,
    },
    /// The caches are being filled before the first point.
    Warming,
    /// The caches were filled before the first point, as far as they could be.
    Warmed {
        caches: WarmedCaches,
    },
    /// The subject has stored its data. The controller limits its memory to what it takes and the requested page cache, while the worker waits.
    SizeMemory,
    /// The engine's cache is empty. The controller drops the page cache of its files, while the worker waits.
    DropPageCache,
    /// The files on a traced disk lie still until the line `go on`: it can be seen where.
    LieStill,
    /// The engine is being closed.
    Closing,
    /// Everything was measured and the engine is closed.
    Done,
    /// Stopped as requested, the engine is closed.
    Stopped,
    /// The run failed.
    Failed {
        /// Why, and what to do.
        message: String,
    },
}
