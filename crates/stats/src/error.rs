//! What can be wrong with the numbers handed in.

/// Why a figure could not be computed. Every variant carries the data needed to mend the input.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// There are not enough values for the method.
    #[error("{got} {what}, but at least {needed} are needed")]
    TooFew {
        /// What was counted, in the plural ("blocks", "batches").
        what: &'static str,
        /// The smallest number that the method accepts.
        needed: usize,
        /// The number that was given.
        got: usize,
    },
    /// A value is infinite or not a number.
    #[error("{what} number {index} is {value}: only finite numbers can be analysed")]
    NotFinite {
        /// What the values are, in the singular.
        what: &'static str,
        /// Position of the offending value, from 0.
        index: usize,
        /// The value that is not finite.
        value: f64,
    },
    /// A value is zero or negative where a logarithm or a ratio is taken.
    #[error("{what} number {index} is {value}: it must be above zero, because ratios are compared")]
    NotPositive {
        /// What the values are, in the singular.
        what: &'static str,
        /// Position of the offending value, from 0.
        index: usize,
        /// The value that is out of range.
        value: f64,
    },
    /// Two lists that belong together differ in length.
    #[error("{left} {left_what} against {right} {right_what}: the two must be equally many")]
    LengthsDiffer {
        /// What the first list holds, in the plural.
        left_what: &'static str,
        /// Length of the first list.
        left: usize,
        /// What the second list holds, in the plural.
        right_what: &'static str,
        /// Length of the second list.
        right: usize,
    },
    /// Loads of a curve are not in strictly rising order.
    #[error("load number {index} is not above the one before it: sort the points by load")]
    NotRising {
        /// Position of the load that is out of order, from 0.
        index: usize,
    },
    /// A setting lies outside what is allowed.
    #[error("{what} is {value}, but must be {allowed}")]
    BadSetting {
        /// Name of the argument that is invalid.
        what: &'static str,
        /// The value that was given for it.
        value: f64,
        /// The allowed range in words.
        allowed: &'static str,
    },
    /// A prediction was requested further out than the measurements allow.
    #[error(
        "a prediction at {requested} sessions was requested, but the measurements reach only to {limit}: measure further"
    )]
    BeyondReach {
        /// The load for which a value was wanted.
        requested: f64,
        /// The furthest load at which a prediction is given.
        limit: f64,
    },
    /// The curve cannot be described by the model at all.
    #[error("no curve of the scalability law fits these points: check them for errors")]
    NoFit,
}

pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), StatsError> {
    for (index, &value) in values.iter().enumerate() {
        if !value.is_finite() {
            return Err(StatsError::NotFinite { what, index, value });
        }
    }
    Ok(())
}

/// Refuses infinities, not-a-number, zero and negative values.
pub(crate) fn check_positive(what: &'static str, values: &[f64]) -> Result<(), StatsError> {
    check_finite(what, values)?;
    for (index, &value) in values.iter().enumerate() {
        if value <= 0.0 {
            return Err(StatsError::NotPositive { what, index, value });
        }
    }
    Ok(())
}

/// Refuses anything but a confidence strictly between 0 and 1.
pub(crate) fn check_confidence(confidence: f64) -> Result<(), StatsError> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    Err(StatsError::BadSetting {
        what: "the confidence",
        value: confidence,
        allowed: "between 0 and 1, both excluded",
    })
}
