//! The checked plan: everything that will run, every value decided, each with its origin.

use crate::{Design, Factor, HostSpec, Metric, Settings};
use plimsoll_record::{EventSpec, Operation, RigSpec, ShapedFrom};
use plimsoll_workload::schedule::Load;
use plimsoll_workload::{DataSpec, Mix};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Version of the plan's format inside a record.
pub const PLAN_VERSION: u32 = 1;

/// A checked experiment in which every value is decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of this type, at present [`PLAN_VERSION`].
    pub version: u32,
    /// Name of the experiment, from the file.
    pub name: String,
    /// Question of the experiment, from the file.
    pub question: Option<String>,
    /// The scale that was chosen, where it is not the file's own.
    #[serde(default)]
    pub scale: Option<String>,
    /// What is varied; empty where the file lists its arms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<Factor>,
    /// Which combinations of their levels are measured.
    #[serde(default, skip_serializing_if = "Design::is_full")]
    pub design: Design,
    /// Machines beside the one that the program runs on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostSpec>,
    /// Which of them make load, by name, `controller` being the one that the program runs on; empty: that one, and for an engine without a server the one that
    /// it stands on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_hosts: Vec<String>,
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
    /// What is done to the servers and disks at each point, by time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventSpec>,
    /// What counts as good service, where the file says so.
    pub objective: Option<Objective>,
    /// What is compared with what, and by which metrics.
    pub compare: Compare,
    /// Whether it is one arm against itself, to see what this machine passes off as a difference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub against_itself: bool,
    /// Bounds that make the program end with exit code 99 when broken.
    pub thresholds: Vec<Threshold>,
    /// Every run, in order. Blocks are contiguous.
    pub runs: Vec<PlannedRun>,
    /// Where each value comes from, in the order of the file format.
    pub origins: Vec<Origin>,
}

impl Plan {
    /// The mix of a point; `None` where a record names an unknown one.
    pub fn mix_of(&self, point: &Point) -> Option<&Mix> {
        self.mixes.get(usize::try_from(point.mix).ok()?)
    }

    /// How many runs are made at the same time.
    pub fn at_once(&self) -> usize {
        match self.measurement.pairing {
            Pairing::InTurn => 1,
            Pairing::Duet => 2,
        }
    }

    /// The blocks among this many in which a given pair of arms is compared: all, or in duets, where each block is one pair, its share.
    pub fn blocks_of_a_pair(&self, blocks: u32) -> u32 {
        match self.measurement.pairing {
            Pairing::InTurn => blocks,
            Pairing::Duet => {
                blocks / u32::try_from(self.measured_pairs().len().max(1)).unwrap_or(u32::MAX)
            }
        }
    }
}

/// One arm: a configuration that is compared with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Unique in the experiment. That of a cell is made of its levels: `san-raid10/92%`.
    pub name: String,
    /// For a cell: the level of each factor of the plan, by index. Empty where the file lists its arms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<u32>,
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
    /// For a control: the share by which it is slowed down, 0 to 1. Otherwise it is the baseline, so its difference from that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planted: Option<f64>,
    /// The machine that it stands on, by its name in [`Plan::hosts`]; `None`: the one that the program runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Parent of the data directory, or of the emulated disk; `None` is the program's own place.
    pub directory: Option<PathBuf>,
    /// Disk, filesystem, limits and price.
    #[serde(default)]
    pub rig: RigSpec,
}

/// A size of the data as a share of the cache that the engine can use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkingSet {
    /// Size of the data as a share of the cache: 1.38 is 138 %.
    pub share: f64,
    /// What the engine fills of its cache before it begins to evict, bytes.
    pub usable_cache_bytes: u64,
    /// Data and indexes on the disk, as measured with a small load, bytes.
    pub bytes_per_record: f64,
}

/// One load setting of one mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Index into the plan's mixes.
    pub mix: u32,
    /// Closed, open or stages. Where the run decides a part of it, that part is a placeholder here; see [`Point::role`] and [`Point::sessions`].
    pub load: Load,
    /// When it is measured, and what of its load the run decides.
    #[serde(default, skip_serializing_if = "PointRole::is_fixed")]
    pub role: PointRole,
    /// Where the number of its sessions comes from.
    #[serde(default, skip_serializing_if = "Sessions::is_given")]
    pub sessions: Sessions,
}

impl Point {
    /// A point whose load is as given.
    pub fn fixed(mix: u32, load: Load) -> Self {
        Self { mix, load, role: PointRole::Fixed, sessions: Sessions::Given }
    }
}

/// When a point is measured, and what of its load the run decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "kebab-case")]
pub enum PointRole {
    /// The point is measured as the file describes it.
    #[default]
    Fixed,
    /// Unless the sweep has bent before it. A sweep is made of all points with this role that have the same mix and the same kind of loop, in order.
    Sweep,
    /// A search for the plimsoll line of its mix: many trials at rates that follow from each other, see [`Objective::search`]. The rate of its load is
    /// where the search begins when nothing better is known.
    Line,
    /// At a share of the rate of the plimsoll line that this run found for its mix; left out where it found none. The rate of its load is a placeholder.
    ShareOfLine {
        /// Share of the line: 0.8 is 80 %.
        share: f64,
    },
}

impl PointRole {
    /// Whether the load is as given.
    pub fn is_fixed(&self) -> bool {
        *self == Self::Fixed
    }
}

/// Where the number of sessions of a point comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sessions {
    /// The load itself names the number of sessions.
    #[default]
    Given,
    /// That of the closed point with the highest throughput of the same mix, in the same run, whether the closed points are a sweep or a list. Where there is
    /// none, the load says it.
    Found,
}

impl Sessions {
    /// Whether the load says it.
    pub fn is_given(&self) -> bool {
        *self == Self::Given
    }
}

/// How the data is stored before the points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPhase {
    /// Number of sessions that work concurrently.
    pub sessions: u32,
    /// Whether the data of each arm is stored one time, and every run begins with a copy of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

/// Order of the arms within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Anew in every block, from the seed.
    Shuffled,
    /// As in the file, in every block. Drift can fool it.
    AsWritten,
}

/// Whether the arms of a block run in turn, or two at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// One after the other, each on all of the machine.
    #[default]
    InTurn,
    /// Each block is one pair, whose arms run at the same time, each on a half of the machine: what happens to one happens to the other.
    Duet,
}

impl Pairing {
    /// Whether they run in turn.
    pub fn is_in_turn(&self) -> bool {
        *self == Self::InTurn
    }
}

/// How long, how often, in which order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Load before each point that is not counted, in nanoseconds.
    pub warm_up_ns: u64,
    /// Duration of each point after its warm-up, nanoseconds.
    pub duration_ns: u64,
    /// Ends a point early when this many operations are finished after the warm-up.
    pub operations: Option<u64>,
    /// Rounds through all arms, in duets all pairs of all rounds; at most this many where `looks` may end the experiment earlier.
    pub blocks: u32,
    /// When it may end before all blocks are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks: Option<Looks>,
    /// Order of the arms within a block.
    pub order: Order,
    /// Whether the arms of a block run in turn, or two at once.
    #[serde(default, skip_serializing_if = "Pairing::is_in_turn")]
    pub pairing: Pairing,
    /// Seed of everything that is random.
    pub seed: u64,
    /// From when on emulated disks are as requested.
    #[serde(default)]
    pub shaped_from: ShapedFrom,
    /// When the engine writes a checkpoint.
    #[serde(default, skip_serializing_if = "Checkpoints::is_as_they_come")]
    pub checkpoints: Checkpoints,
    /// How the caches stand when the first point begins.
    #[serde(default, skip_serializing_if = "Caches::are_as_loaded")]
    pub caches: Caches,
    /// Number of operations of each point whose begin and end are noted, the first ones; 0: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub log_operations: u32,
    /// How many blocks may be measured again at the end; `None`: a quarter of them. See [`Measurement::spare`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_blocks: Option<u32>,
    /// How long after the end of a point its last operations may take before the run is ended, nanoseconds.
    #[serde(default = "end_timeout_ns", skip_serializing_if = "is_end_timeout")]
    pub end_timeout_ns: u64,
}

/// [`Measurement::end_timeout_ns`] where no file says another, nanoseconds.
pub const END_TIMEOUT_NS: u64 = 30_000_000_000;

fn end_timeout_ns() -> u64 {
    END_TIMEOUT_NS
}

fn is_end_timeout(nanos: &u64) -> bool {
    *nanos == END_TIMEOUT_NS
}

/// When the engine of a run writes a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checkpoints {
    /// When it does so by itself.
    #[default]
    AsTheyCome,
    /// Before the warm-up of each point too, so that every point begins in the same phase.
    BeforePoints,
}

impl Checkpoints {
    /// Whether they are left to the engine.
    pub fn is_as_they_come(&self) -> bool {
        *self == Self::AsTheyCome
    }
}

/// How the caches of a run stand when its first point begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caches {
    /// As storing the data and settling it left them.
    #[default]
    AsLoaded,
    /// Empty: those of the engine, and of the kernel what they hold of its files.
    Cold,
    /// Filled by the reads of the first workload that reads, from a disk without limits, until their hit ratios have settled.
    Warm {
        /// At most this long, nanoseconds.
        within_ns: u64,
    },
}

impl Caches {
    /// Whether nothing is done about them.
    pub fn are_as_loaded(&self) -> bool {
        *self == Self::AsLoaded
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Stopping by looks: after geometrically spaced numbers of blocks the program looks at how wide the intervals of the primary comparisons are, and never at where they
/// lie. When all are narrow enough at two looks in a row, the experiment ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Looks {
    /// Blocks before the first look.
    pub first: u32,
    /// Half-width of an interval that is narrow enough, as a share; `None`: the margin of its metric.
    pub half_width: Option<f64>,
    /// For a gate: it ends when its question is answered, and its looks pay for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
}

/// Stopping by the answer: whether the arm loses more than the margin of a metric that decides. At each look the intervals demand more than 95 %, so that all looks
/// together are wrong as rarely as one interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// Time of runs after which no more are made, nanoseconds.
    pub within_ns: u64,
}

impl Measurement {
    /// How many blocks are measured again at the end, because a gate refused a point in them for what happened to the machine. None where looks decide how many
    /// blocks there are.
    pub fn spare(&self) -> u32 {
        match self.looks {
            Some(_) => 0,
            None => self.spare_blocks.unwrap_or(self.blocks / 4),
        }
    }

    /// The gate; `None` for other plans.
    pub fn gate(&self) -> Option<Gate> {
        self.looks?.gate
    }
}

/// How the plimsoll line is searched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Length of the measured part of a trial, nanoseconds.
    pub trial_ns: u64,
    /// Load before each trial that is not counted, in nanoseconds.
    pub warm_up_ns: u64,
    /// (upper - lower) / upper at which the search ends, 0 to 1.
    pub width: f64,
    /// Lowest and highest rate that may be tried, operations per second.
    pub rates: (f64, f64),
}

/// What counts as good service: every condition must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// Percentile (0 to 100) and highest response time, nanoseconds.
    pub response: Vec<(f64, u64)>,
    /// Highest share of operations that may fail, 0 to 1.
    pub errors: f64,
    /// Lowest share of the offered rate that must be achieved in an open loop, 0 to 1.
    pub achieved: f64,
    /// Bounds on operations of their own, beside those on all together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationObjective>,
    /// How the highest rate that holds it is searched; `None` where it is not. Then, and for the load phase, the objective only marks points.
    #[serde(default)]
    pub search: Option<Search>,
}

impl Objective {
    /// Every percentile (0 to 100) that it bounds, with the highest response time, nanoseconds: of all operations together, then of single ones.
    pub fn limits(&self) -> impl Iterator<Item = (f64, u64)> {
        let own = self.operations.iter().flat_map(|one| &one.response);
        self.response.iter().chain(own).copied()
    }
}

/// What counts as good service of one operation. It applies to the mixes that have the operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationObjective {
    /// The operation that is bounded.
    pub operation: Operation,
    /// Percentile (0 to 100) and highest response time, nanoseconds.
    pub response: Vec<(f64, u64)>,
}

/// What is compared with what, and by which metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compare {
    /// Name of the arm that the others are compared with.
    pub baseline: String,
    /// Name of the factor whose levels are compared within each combination of the others; `None`: the first, where there are factors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
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

impl Compare {
    /// The margin of a metric; of one operation that of all together, where it has none of its own.
    pub fn margin(&self, metric: Metric) -> Option<f64> {
        let named = |metric: Metric| self.margins.get(&metric.name()).copied();
        named(metric).or_else(|| named(metric.of_all()))
    }
}

/// The load at which arms are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadAt {
    /// The closed loop with this many sessions.
    Threads(u32),
    /// The open loop with this rate, operations per second.
    Rate(f64),
    /// The open loop at this share of the plimsoll line; 1 is the line itself.
    Line(f64),
}

/// A bound that must hold at the end: `throughput >= 10k`, for every arm or one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The condition, as the file has it.
    pub text: String,
    /// The metric that has a bound.
    pub metric: Metric,
    /// `true` for at least, `false` for at most.
    pub at_least: bool,
    /// The bound, in the metric's unit.
    pub bound: f64,
    /// The arm it is limited to, if any.
    pub arm: Option<String>,
    /// The mix it is limited to, if any.
    pub mix: Option<String>,
    /// The load it is limited to, if any.
    pub at: Option<LoadAt>,
}

/// One arm in one block.
///
/// In a duet the position is the half of the machine: of a pair, the run at 0 has the first, that at 1 the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Index of the block, counted from 0.
    pub block: u32,
    /// Position within the block, counted from 0.
    pub position: u32,
    /// Index into the plan's arms.
    pub arm: u32,
    /// Seed of the run; equal for all arms of a block.
    pub seed: u64,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum Source {
    /// A line of the experiment file.
    File {
        /// Number of the line, counted from 1.
        line: u32,
    },
    /// A preset that the file names.
    Preset {
        /// Name of the preset, as in the file.
        name: String,
    },
    /// A flag of the command line.
    Flag {
        /// Name of the flag, with its dashes.
        name: String,
    },
    /// Experiments that were run to choose levels.
    Scouting {
        /// Ids of these experiments in the store.
        experiments: Vec<String>,
    },
    /// The default of the key's table.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { line } => write!(f, "line {line}"),
            Self::Preset { name } => write!(f, "preset {name}"),
            Self::Flag { name } => write!(f, "flag {name}"),
            Self::Scouting { experiments } => write!(f, "scouting {}", experiments.join(", ")),
            Self::Default => f.write_str("default"),
        }
    }
}

/// One value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// As in the file, with dots: `arms.small.cache_size`.
    pub path: String,
    /// The value, in units that people read.
    pub value: String,
    /// Where the value comes from.
    pub source: Source,
}
