//! What can be wrong with a description, as data.

use std::fmt;
use thiserror::Error;

/// One impossible value in a description.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Which value, as in the serialised form, with dots: `request_distribution.data_fraction`.
    pub field: &'static str,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    /// It must lie between two bounds, both allowed.
    OutOfRange {
        /// The value that was given.
        value: f64,
        /// The least that is possible.
        least: f64,
        /// The most that is possible.
        most: f64,
    },
    /// A range whose lower end lies above its upper end.
    MinimumAboveMaximum {
        /// The lower end that was given.
        minimum: u64,
        /// The upper end that was given.
        maximum: u64,
    },
    /// All proportions are zero, so no operation can be chosen.
    NothingToDo,
    /// It has no entry, or only entries of weight zero.
    Empty,
    /// Keys from `start` on, `count` of them, do not all lie below the number of records.
    OutsideRecords {
        /// First key number of the range.
        start: u64,
        /// Number of keys in the range.
        count: u64,
        /// Number of records that exist.
        records: u64,
    },
    /// This choice needs more records than there are.
    TooFewRecords {
        /// Number of records that are needed.
        needed: u64,
        /// Number of records that exist.
        records: u64,
    },
    /// Records whose contents follow from their keys need fields of one constant length.
    NeedsConstantLength,
    /// Values that follow from their keys have no part that repeats.
    NotWithIntegrity,
    /// So small or large a share of the keys is requested that one part is empty and yet operations are to go there.
    EmptyPart {
        /// Keys in the part that is requested.
        keys: u64,
        /// Number of key numbers that all hosts need.
        all: u64,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { value, least, most } => {
                write!(f, "{value} is not between {least} and {most}")
            }
            Self::MinimumAboveMaximum { minimum, maximum } => {
                write!(f, "the minimum {minimum} is above the maximum {maximum}")
            }
            Self::NothingToDo => {
                write!(f, "all proportions are zero; give at least one operation a share")
            }
            Self::Empty => write!(f, "there is no entry with a weight above zero"),
            Self::OutsideRecords { start, count, records } => write!(
                f,
                "{count} keys from {start} on do not fit into {records} records; raise records or lower the count"
            ),
            Self::TooFewRecords { needed, records } => {
                write!(f, "needs at least {needed} records, there are {records}")
            }
            Self::NeedsConstantLength => {
                write!(
                    f,
                    "data integrity needs fields of constant length; set field_length to constant"
                )
            }
            Self::NotWithIntegrity => {
                write!(f, "values that follow from their keys cannot be made compressible")
            }
            Self::EmptyPart { keys, all } => write!(
                f,
                "{keys} of {all} keys are in the hot part, so that one part is empty; choose a data_fraction in between"
            ),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.wrong)
    }
}

/// Why a workload cannot be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WorkloadError {
    /// The description is impossible; all problems are listed.
    #[error("impossible workload: {}", list(.problems))]
    Impossible {
        /// Every problem that was found, in order.
        problems: Vec<Problem>,
    },
}

fn list(problems: &[Problem]) -> String {
    let mut text = String::new();
    for problem in problems {
        if !text.is_empty() {
            text.push_str("; ");
        }
        text.push_str(&problem.to_string());
    }
    text
}

/// Turns a list of problems into a result.
pub(crate) fn none_of(problems: Vec<Problem>) -> Result<(), WorkloadError> {
    if problems.is_empty() { Ok(()) } else { Err(WorkloadError::Impossible { problems }) }
}

/// Adds a problem unless `value` lies between the bounds. Not-a-number lies nowhere.
pub(crate) fn in_range(
    problems: &mut Vec<Problem>,
    field: &'static str,
    value: f64,
    least: f64,
    most: f64,
) {
    let inside = value >= least && value <= most;
    if !inside {
        problems.push(Problem { field, wrong: Wrong::OutOfRange { value, least, most } });
    }
}
