//! What each machine did at a point that several take part in.

use crate::{ClockOffset, Completed, ForeignCpu, Histogram, WorkerUse};
use serde::{Deserialize, Serialize};

/// What one machine measured by itself. All counts are of the measured part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostPoint {
    /// Its name in the file; `None`: the machine that the program ran on.
    pub host: Option<String>,
    /// Whether it asked; otherwise it was asked.
    pub makes_load: bool,
    /// Finished units of work by how they ended.
    pub completed: Completed,
    /// What its load generator used.
    pub worker: WorkerUse,
    /// Length of its measured part, nanoseconds.
    pub measured_ns: u64,
    /// Its generator's own lateness, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_lag: Option<Histogram>,
    /// CPU time that its hypervisor took, nanoseconds over all processors.
    pub stolen_ns: u64,
    /// How far its wall clock moved against its monotonic one, nanoseconds.
    pub clock_jump_ns: i64,
    /// What other programs used of its processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Box<ForeignCpu>>,
    /// How its clock stood to that of the program before the point.
    pub clock: ClockOffset,
    /// And after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_after: Option<ClockOffset>,
    /// How long after the common start it dispatched its first operation, nanoseconds; `None` without any. In a closed loop that is how far it was from
    /// beginning with the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_after_ns: Option<i64>,
}
