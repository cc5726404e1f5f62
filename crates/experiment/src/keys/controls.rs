//! Controls: copies of the baseline, slowed down by a known size, that are measured beside the arms.

use crate::table::*;

/// Most controls of one experiment.
pub(crate) const MOST_CONTROLS: usize = 4;

/// Largest slow-down that can be planted.
pub(crate) const LARGEST: f64 = 0.5;

/// A share of the throughput that is taken away.
pub(crate) const SIZE: Shape = Shape::number(0.0, LARGEST);
