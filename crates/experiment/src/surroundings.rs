//! What a file is checked against: the machine, the engines, and what the command line says.

use crate::elements::working_set::MeasureRecords;
use plimsoll_plan::{Arm, EngineKind, Gate, Looks};
use std::io;
use std::path::{Path, PathBuf};

/// What a file is checked against, besides itself.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Folder of the experiment file: paths in the file are found from here.
    pub base_dir: &'a Path,
    /// The engines that an arm can name.
    pub engines: &'a [EngineKind],
    pub limits: Limits,
    /// Values from the command line, which win over the file.
    pub overrides: &'a Overrides,
    /// Reads a text file that the experiment refers to.
    pub read_file: &'a dyn Fn(&Path) -> io::Result<String>,
    /// Measures the size of a record on disk, for data that is a share of the cache.
    pub measure: &'a MeasureRecords<'a>,
}

/// Resources of a machine that an experiment can exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub memory_bytes: u64,
    pub cores: u32,
}

impl Limits {
    /// No limits, for a file that is only displayed.
    pub const UNKNOWN: Self = Self { memory_bytes: u64::MAX, cores: u32::MAX };
}

/// Values from the command line. Each wins over the file and is recorded with its flag.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    pub blocks: Option<u32>,
    pub duration_ns: Option<u64>,
    pub warm_up_ns: Option<u64>,
    pub operations: Option<u64>,
    pub seed: Option<u64>,
    pub controls: Vec<f64>,
    pub duet: bool,
    pub directory: Option<PathBuf>,
    /// `--pilot`: five blocks and no looks, unless there is `--blocks`.
    pub pilot: bool,
    /// `--aa`, with the arm that it names, if any: one arm against itself.
    pub against_itself: Option<Option<String>>,
    /// `--scale`; without it `laptop`, which is the file as written unless it has a scale of that name.
    pub scale: Option<String>,
    /// Levels of the factor with `refine`.
    pub scouted: Scouted,
    /// `plimsoll gate`: the arms in the place of the file's only one.
    pub gate: Option<GateRequest>,
}

/// Levels of a factor that scouting runs chose, besides those of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scouted {
    pub amounts: Vec<f64>,
    /// Ids of the experiments that chose them.
    pub experiments: Vec<String>,
}

/// What a gate compares, and until when.
#[derive(Clone, Debug, PartialEq)]
pub struct GateRequest {
    /// The arm that is known, and the one in question; each is that of a file with this one's workload, load and measurement.
    pub arms: [Arm; 2],
    /// Time of runs after which it ends undecided, nanoseconds.
    pub within_ns: u64,
    /// Blocks before the first look.
    pub first: u32,
    pub at_most: u32,
}

impl GateRequest {
    pub(crate) fn looks(&self) -> Looks {
        Looks {
            first: self.first,
            half_width: None,
            gate: Some(Gate { within_ns: self.within_ns }),
        }
    }
}
