//! The checked plan: everything that will run, every value decided, each with its origin.

use crate::Settings;
use crate::scalar::percentile;
use plimsoll_record::{RigSpec, ShapedFrom};
use plimsoll_schedule::Load;
use plimsoll_workload::{DataSpec, Mix};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Version of the plan's format inside a record.
pub const PLAN_VERSION: u32 = 1;

/// A checked experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// [`PLAN_VERSION`].
    pub version: u32,
    /// From the file.
    pub name: String,
    /// From the file.
    pub question: Option<String>,
    /// The scale that was chosen, where it is not the file's own.
    #[serde(default)]
    pub scale: Option<String>,
    /// What is being compared; the first is the baseline unless `compare` says otherwise.
    pub arms: Vec<Arm>,
    /// The mixes of operations, in order.
    pub mixes: Vec<Mix>,
    /// Every point of a run, in the order in which it is measured.
    pub points: Vec<Point>,
    /// How the data is stored before the points.
    pub load_phase: LoadPhase,
    /// How long, how often, in which order.
    pub measurement: Measurement,
    /// What counts as good service, if asked.
    pub objective: Option<Objective>,
    /// What is judged.
    pub compare: Compare,
    /// Bounds that make the program end with exit code 99 when broken.
    pub thresholds: Vec<Threshold>,
    /// Every run, in order. Blocks are contiguous.
    pub runs: Vec<PlannedRun>,
    /// Where each value comes from, in the order of the file format.
    pub origins: Vec<Origin>,
}

/// One thing being compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arm {
    /// Unique in the experiment.
    pub name: String,
    /// In a few words, for legends; from the file.
    pub about: Option<String>,
    /// Name of the engine's kind.
    pub engine: String,
    /// The engine's settings, defaults filled in.
    pub settings: Settings,
    /// What is stored in it. Arms may differ in size.
    pub data: DataSpec,
    /// How the number of records was chosen, where the file gives it as a share of the cache.
    #[serde(default)]
    pub working_set: Option<WorkingSet>,
    /// Parent of the data directory, or of the emulated disk; `None` is the program's own place.
    pub directory: Option<PathBuf>,
    /// Disk, filesystem, limits and price.
    #[serde(default)]
    pub rig: RigSpec,
}

/// A size of the data as a share of the cache that the engine can use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkingSet {
    /// 1.38 is 138 %.
    pub share: f64,
    /// What the engine fills of its cache before it begins to evict, bytes.
    pub usable_cache_bytes: u64,
    /// Data and indexes on the disk, as measured with a small load, bytes.
    pub bytes_per_record: f64,
}

/// One load setting of one mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Index into the plan's mixes.
    pub mix: u32,
    /// Closed, open or stages.
    pub load: Load,
}

/// How the data is stored before the points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPhase {
    /// Concurrent sessions.
    pub sessions: u32,
}

/// Order of the arms within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Anew in every block, from the seed.
    Shuffled,
    /// As in the file, in every block. Drift can fool it.
    AsWritten,
}

/// How long, how often, in which order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Before each point, nanoseconds.
    pub warm_up_ns: u64,
    /// Of each point after its warm-up, nanoseconds.
    pub duration_ns: u64,
    /// Ends a point early when this many operations are finished after the warm-up.
    pub operations: Option<u64>,
    /// Rounds through all arms.
    pub blocks: u32,
    /// Order of the arms within a block.
    pub order: Order,
    /// Of everything random.
    pub seed: u64,
    /// From when on emulated disks are as asked.
    #[serde(default)]
    pub shaped_from: ShapedFrom,
}

/// What counts as good service: every condition must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objective {
    /// Percentile (0 to 100) and highest response time, nanoseconds.
    pub response: Vec<(f64, u64)>,
    /// Highest share of operations that may fail, 0 to 1.
    pub errors: f64,
    /// Lowest share of the offered rate that must be achieved in an open loop, 0 to 1.
    pub achieved: f64,
}

/// Something of a point that can be judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "metric", rename_all = "kebab-case")]
pub enum Metric {
    /// Successful operations per second.
    Throughput,
    /// Mean response time, nanoseconds.
    ResponseMean,
    /// A percentile (0 to 100) of the response time, nanoseconds.
    Response {
        /// 0 to 100.
        percentile: f64,
    },
    /// A percentile (0 to 100) of the service time, nanoseconds.
    Service {
        /// 0 to 100.
        percentile: f64,
    },
    /// CPU time of the worker per operation, nanoseconds.
    CpuPerOperation,
    /// Share of operations that failed, 0 to 1.
    Errors,
}

/// Which way is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// More is better.
    HigherIsBetter,
    /// Less is better.
    LowerIsBetter,
}

impl Metric {
    /// The word in files and on screens: `throughput`, `response.p99`, `service.p50`, `response.mean`, `cpu`, `errors`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Throughput => "throughput".into(),
            Self::ResponseMean => "response.mean".into(),
            Self::Response { percentile } => format!("response.p{percentile}"),
            Self::Service { percentile } => format!("service.p{percentile}"),
            Self::CpuPerOperation => "cpu".into(),
            Self::Errors => "errors".into(),
        }
    }

    /// The metric of a word that [`Self::name`] writes.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "throughput" => Some(Self::Throughput),
            "response.mean" => Some(Self::ResponseMean),
            "cpu" => Some(Self::CpuPerOperation),
            "errors" => Some(Self::Errors),
            _ => match word.split_once('.') {
                Some(("response", rest)) => {
                    percentile(rest).map(|percentile| Self::Response { percentile })
                }
                Some(("service", rest)) => {
                    percentile(rest).map(|percentile| Self::Service { percentile })
                }
                _ => None,
            },
        }
    }

    /// Which way is good.
    #[must_use]
    pub fn direction(self) -> Direction {
        match self {
            Self::Throughput => Direction::HigherIsBetter,
            _ => Direction::LowerIsBetter,
        }
    }
}

/// What is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compare {
    /// Name of the arm that the others are compared with.
    pub baseline: String,
    /// Baseline and other arm of each comparison; empty: every other arm with the baseline.
    #[serde(default)]
    pub pairs: Vec<(String, String)>,
    /// Metrics that decide; all others are exploratory.
    pub primary: Vec<Metric>,
    /// Index of the point at which each mix is judged; `None` lets the judge take the baseline's best point of each mix.
    pub at: Option<LoadAt>,
    /// Smallest difference that matters in practice, by [`Metric::name`], as a share (0.03 is 3 %).
    pub margins: BTreeMap<String, f64>,
}

/// The load at which arms are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadAt {
    /// The closed loop with this many sessions.
    Threads(u32),
    /// The open loop with this rate, operations per second.
    Rate(f64),
}

/// A bound that must hold at the end: `throughput >= 10k`, for every arm or one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Threshold {
    /// As written.
    pub text: String,
    /// What is bounded.
    pub metric: Metric,
    /// `true` for at least, `false` for at most.
    pub at_least: bool,
    /// In the metric's unit.
    pub bound: f64,
    /// Only for this arm.
    pub arm: Option<String>,
    /// Only for this mix.
    pub mix: Option<String>,
    /// Only at this load.
    pub at: Option<LoadAt>,
}

/// One arm in one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedRun {
    /// From 0.
    pub block: u32,
    /// From 0.
    pub position: u32,
    /// Index into the plan's arms.
    pub arm: u32,
    /// Seed of the run; equal for all arms of a block.
    pub seed: u64,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum Source {
    /// The experiment file.
    File {
        /// Counted from 1.
        line: u32,
    },
    /// A preset, by name.
    Preset {
        /// Which.
        name: String,
    },
    /// A command line flag.
    Flag {
        /// Which.
        name: String,
    },
    /// The default.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { line } => write!(f, "line {line}"),
            Self::Preset { name } => write!(f, "preset {name}"),
            Self::Flag { name } => write!(f, "flag {name}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// One value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// As in the file, with dots: `arms.small.cache_size`.
    pub path: String,
    /// In people's units.
    pub value: String,
    /// Where from.
    pub source: Source,
}
