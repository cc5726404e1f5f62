//! A stage of a load.

use serde::{Deserialize, Serialize};

/// A time in which the rate goes evenly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Operations per second at its start.
    pub rate_from: f64,
    /// Operations per second at its end.
    pub rate_to: f64,
    /// How long it lasts, nanoseconds.
    pub duration_ns: u64,
}
