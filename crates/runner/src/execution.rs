//! What to execute, and how that ended.

use crate::host::Hosts;
use plimsoll_plan::Plan;
use plimsoll_record::{Calibration, ExperimentRecord, ForeignCpu, Program};
use std::path::PathBuf;

/// What to execute.
#[derive(Clone)]
pub struct Execution<'a> {
    pub plan: &'a Plan,
    /// The experiment file, to the letter.
    pub file_text: &'a str,
    /// The command line to repeat it.
    pub command: &'a str,
    pub program: Program,
    /// The machines that the runs are made on.
    pub hosts: &'a dyn Hosts,
    /// Where traces of emulated disks are kept.
    pub traces: PathBuf,
    /// Where logs of servers are kept.
    pub server_logs: PathBuf,
    /// Whether emulated disks are calibrated first. Without it their points are marked as invalid.
    pub calibrate: bool,
    /// Calibrations of emulated disks that were made just before, and need not be repeated.
    pub calibrations: Vec<Calibration>,
    /// What other programs used of the processors before, where that was measured.
    pub foreign: Option<ForeignCpu>,
    /// Which arms of the plan run now; `None`: all. The runs of the others are left for later.
    pub only: Option<Vec<bool>>,
    /// Start from the beginning even if the same plan has an unfinished experiment.
    pub fresh: bool,
    /// Whether what was measured is enough for an experiment that may end before all its blocks are made: every interval that decides is narrow enough, or the
    /// question of a gate is answered.
    pub is_enough: fn(&ExperimentRecord) -> bool,
    /// Blocks in which a gate refused a point for what happened to the machine, and which are not measured again yet; called when all runs are made.
    pub to_repeat: fn(&ExperimentRecord) -> Vec<u32>,
    /// Why a point of the runs in this record is not valid; called for the runs that have just been made.
    pub why_refused: fn(&ExperimentRecord) -> Option<String>,
    /// Why no valid verdict is possible, however the missing runs end; called before each block but the first.
    pub is_hopeless: fn(&ExperimentRecord) -> Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub id: String,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Runs of the plan that are still missing.
    pub missing: u32,
    /// Why it ended before its runs were made, if no valid verdict was possible.
    pub hopeless: Option<String>,
}
