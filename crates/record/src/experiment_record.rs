//! The whole record of an experiment, and the version of its format.

use crate::{Calibration, Imported, Machine, PointRecord, RunRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version of the record format. It moves apart from the program's. Later programs must read every earlier one.
pub const RECORD_VERSION: u32 = 1;

/// Whether everything planned has been measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExperimentState {
    /// Runs of the plan are still missing.
    #[default]
    Unfinished,
    /// Every run of the plan was measured.
    Finished,
}

/// The program that made the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Version of the program, such as `0.1.0`.
    pub version: String,
    /// Commit it was built from, with `-dirty` when the tree was changed.
    pub commit: String,
}

/// Everything about one execution of one experiment file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRecord {
    /// [`RECORD_VERSION`] of the program that wrote it.
    pub plimsoll_record: u32,
    /// Short id, unique in a store.
    pub id: String,
    /// Name of the experiment, from the file.
    pub name: String,
    /// Question of the experiment, from the file.
    pub question: Option<String>,
    /// Whether everything planned has been measured.
    pub state: ExperimentState,
    /// The file, to the letter.
    pub file_text: String,
    /// SHA-256 of the file's text, hexadecimal.
    pub file_hash: String,
    /// SHA-256 of the plan, hexadecimal: two files that differ in comments alone have the same.
    pub plan_hash: String,
    /// The checked plan, in the format of the `experiment` crate.
    pub plan: serde_json::Value,
    /// The seed of everything random.
    pub seed: u64,
    /// The program that began it.
    pub program: Program,
    /// The machine on which it was begun.
    pub machine: Machine,
    /// The command line to repeat it.
    pub command: String,
    /// Begin, UTC, RFC 3339; of an imported record when it was imported.
    pub started_at: String,
    /// When it ended, in UTC, as RFC 3339 writes it.
    pub ended_at: Option<String>,
    /// What fio found of the emulated disks before they were measured with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibrations: Vec<Calibration>,
    /// In the order in which they were made.
    pub runs: Vec<RunRecord>,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// Written by a later program.
    #[error(
        "the record has format version {found}, this program reads up to {RECORD_VERSION}: update plimsoll to read it"
    )]
    Newer {
        /// The version that the record states.
        found: u64,
    },
    /// The file states no version of the record.
    #[error("this is not a plimsoll record: it has no `plimsoll_record` version")]
    NotARecord,
    /// The plan in it is larger than that of any experiment file.
    #[error("the record is damaged: its plan has more than {} MiB", LARGEST_PLAN >> 20)]
    LargePlan,
    /// Its id is not one that this program gives.
    #[error("the record is damaged: its id is not made of letters, digits and dashes")]
    UnfitId,
    /// The text is no record of its version.
    #[error("the record is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
}

/// Bytes of a plan as JSON, which is kept as it is: in memory it takes many times as much.
const LARGEST_PLAN: usize = 16 << 20;
const LONGEST_ID: usize = 64;

/// What is read before a record is.
#[derive(Deserialize)]
struct Head<'a> {
    plimsoll_record: Option<u64>,
    #[serde(borrow)]
    plan: Option<&'a RawValue>,
}

/// Whether an id is one that can be meant by nothing else, and that may stand in a name of a file: `last~1` is another experiment.
pub fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(is_plain) && !id.starts_with("last")
}

impl ExperimentRecord {
    /// Reads a record of any version known, late slices merged.
    ///
    /// # Errors
    /// When it is of a later version, no record, or damaged.
    pub fn from_json(text: &str) -> Result<Self, FormatError> {
        let head: Head<'_> = serde_json::from_str(text)?;
        let version = head.plimsoll_record.ok_or(FormatError::NotARecord)?;
        if version > u64::from(RECORD_VERSION) {
            return Err(FormatError::Newer { found: version });
        }
        if head.plan.is_some_and(|plan| plan.get().len() > LARGEST_PLAN) {
            return Err(FormatError::LargePlan);
        }
        let mut record: Self = serde_json::from_str(text)?;
        // What was not stored yet has none.
        if !record.id.is_empty() && !is_plain(&record.id) {
            return Err(FormatError::UnfitId);
        }
        for run in &mut record.runs {
            for point in run.points.iter_mut().chain(run.load.as_mut()) {
                point.merge_late_slices();
            }
        }
        Ok(record)
    }

    /// Every imported point that it has, in the order of its runs.
    pub fn imported(&self) -> impl Iterator<Item = &Imported> {
        self.runs
            .iter()
            .flat_map(|run| run.load.iter().chain(&run.points))
            .filter_map(PointRecord::imported)
    }

    /// The record as JSON, with a newline at its end.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a record has only string keys and plain numbers")
    }
}
