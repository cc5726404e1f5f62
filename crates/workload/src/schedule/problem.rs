//! What can be wrong with a load, as data.

use std::fmt;

/// One impossible value in a [`Load`](crate::schedule::Load).
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Which value, as in the serialised form, with dots: `stages[2].rate_to`.
    pub field: String,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// The load has no stage at all.
    NoStages,
    /// All stages have a rate of zero from end to end.
    NothingArrives,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { value, least, most } => {
                write!(f, "{value} is not between {least} and {most}")
            }
            Self::NoStages => write!(f, "there is no stage; give at least one"),
            Self::NothingArrives => write!(f, "all rates are zero; give at least one stage a rate"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.wrong)
    }
}
