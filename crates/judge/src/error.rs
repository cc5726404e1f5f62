//! Why a record cannot be judged at all.

/// Why a record cannot be analysed, with what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// The plan was written by a later program.
    #[error(
        "the plan in record {id} has version {found}, this program reads up to {known}: update plimsoll to judge it"
    )]
    NewerPlan {
        id: String,
        found: u64,
        /// Newest version that is read.
        known: u32,
    },
    /// What stands in the place of the plan is no plan.
    #[error(
        "the plan in record {id} cannot be read ({reason}): restore the record from a copy, or run its file again"
    )]
    BadPlan {
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A comparison names an arm that its record does not have.
    #[error("record {id} has no arm `{arm}`: its arms are {}", known.join(", "))]
    UnknownArm {
        id: String,
        arm: String,
        /// The existing names.
        known: Vec<String>,
    },
}
