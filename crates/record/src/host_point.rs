//! What each machine did at a point that several take part in.

use crate::{ClockOffset, Completed, ForeignCpu, Histogram, NetworkPoint, WorkerUse};
use serde::{Deserialize, Serialize};

/// What one machine measured by itself. All counts are of the measured part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostPoint {
    /// Its name in the file; `None`: the machine that the program ran on.
    pub host: Option<String>,
    /// Whether it made load; otherwise it was under test.
    pub makes_load: bool,
    /// What must be equal for it to be the same machine in two runs, where that was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Logical processors that its worker may use; 0 where it is not known.
    #[serde(default)]
    pub cores: u32,
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
    /// The offset of the clocks after the point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_after: Option<ClockOffset>,
    /// How long after the common start it dispatched its first operation, nanoseconds; `None` without any. In a closed loop that is how far it was from
    /// beginning with the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_after_ns: Option<i64>,
    /// What it saw of the network; `None` where load and server share a machine, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Box<NetworkPoint>>,
}

impl HostPoint {
    /// How far off its clock may be, nanoseconds: the worse of before and after the point.
    pub fn clock_bound_ns(&self) -> u64 {
        let after = self.clock_after.map_or(0, |clock| clock.bound_ns);
        self.clock.bound_ns.max(after)
    }

    /// Processors that its load generator kept busy in the measured part; `None` where it made no load, or none was measured.
    pub fn worker_processors(&self) -> Option<f64> {
        let cpu_ns = self.worker.cpu_user_ns as f64 + self.worker.cpu_system_ns as f64;
        (self.makes_load && self.measured_ns > 0).then(|| cpu_ns / self.measured_ns as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_of_two_bounds_counts() {
        let clock = |bound_ns| ClockOffset { bound_ns, ..ClockOffset::default() };
        let mut host = HostPoint { clock: clock(300), ..HostPoint::default() };
        assert_eq!(host.clock_bound_ns(), 300);
        host.clock_after = Some(clock(200));
        assert_eq!(host.clock_bound_ns(), 300);
        host.clock_after = Some(clock(400));
        assert_eq!(host.clock_bound_ns(), 400);
    }

    #[test]
    fn processors_are_those_of_a_load_generator() {
        let mut host = HostPoint {
            makes_load: true,
            measured_ns: 2_000,
            worker: WorkerUse { cpu_user_ns: 2_500, cpu_system_ns: 500, ..WorkerUse::default() },
            ..HostPoint::default()
        };
        assert_eq!(host.worker_processors(), Some(1.5));
        host.makes_load = false;
        assert_eq!(host.worker_processors(), None);
        host.makes_load = true;
        host.measured_ns = 0;
        assert_eq!(host.worker_processors(), None);
    }

    #[test]
    fn a_host_of_an_earlier_record_has_an_unknown_number_of_cores() {
        let mut json = serde_json::to_value(HostPoint { cores: 4, ..HostPoint::default() })
            .expect("it has no key that is no text");
        json.as_object_mut().expect("it is one").remove("cores");
        let read: HostPoint = serde_json::from_value(json).expect("cores may be missing");
        assert_eq!(read, HostPoint::default());
    }
}
