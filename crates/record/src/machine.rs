//! On what it was measured.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The machine, as far as it bears on results. A field that cannot be read is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// As the kernel names it.
    pub cpu_model: Option<String>,
    /// Logical processors that this process may use.
    pub cores: u32,
    /// Physical memory of the machine, in bytes.
    pub memory_bytes: u64,
    /// Swap space of the machine, in bytes.
    pub swap_bytes: u64,
    /// Release and build of the kernel.
    pub kernel: Option<String>,
    /// Name and version of the distribution.
    pub distribution: Option<String>,
    /// Hypervisor or container, `None` on bare metal.
    pub virtualisation: Option<String>,
    /// Governor of the CPU frequency, where the kernel has one.
    pub governor: Option<String>,
    /// Whether the CPU may boost.
    pub boost: Option<bool>,
    /// Transparent huge pages: always, madvise or never.
    pub transparent_huge_pages: Option<String>,
    /// Whether the kernel gives each process other addresses, so that each run has a memory layout of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout_is_random: Option<bool>,
    /// The clock source that the kernel uses.
    pub clock_source: Option<String>,
    /// What the program itself reads: tsc or the operating system's monotonic clock.
    pub program_clock: Option<String>,
    /// Memory limit of the control group, bytes.
    pub memory_limit_bytes: Option<u64>,
    /// CPU limit of the control group, processors.
    pub cpu_limit: Option<f64>,
    /// What other programs used of the processors before the experiment began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignCpu>,
}

/// What other programs used of the processors over a span of time: everything that is neither ours, nor the server's, nor the kernel's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignCpu {
    /// CPU time of all of them, nanoseconds over all processors.
    pub cpu_ns: u64,
    /// Length of the span, nanoseconds.
    pub elapsed_ns: u64,
    /// The programs that used most CPU time.
    pub programs: Vec<ForeignProgram>,
}

/// One of them, by the name of its processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignProgram {
    /// As the kernel names it.
    pub name: String,
    /// CPU time of all its processes, nanoseconds.
    pub cpu_ns: u64,
}

/// From here on foreign CPU time is worth a note, as a share of the machine.
pub const FOREIGN_NOTE: f64 = 0.02;
/// From here on a caution.
pub const FOREIGN_CAUTION: f64 = 0.05;
/// From here on the numbers are not valid.
pub const FOREIGN_INVALID: f64 = 0.2;

/// The kernel counts CPU time in steps of this length; this many of them on each processor say nothing.
const TICK_NS: u64 = 10_000_000;
const TICKS: u64 = 2;

impl ForeignCpu {
    /// Share of all the time of this many processors, 0 where it is within the steps of the clock.
    pub fn share(&self, cores: u32) -> f64 {
        let cores = u64::from(cores.max(1));
        if self.cpu_ns <= cores * TICKS * TICK_NS || self.elapsed_ns == 0 {
            return 0.0;
        }
        (self.cpu_ns as f64 / (cores as f64 * self.elapsed_ns as f64)).min(1.0)
    }

    /// The programs that used most, each with the processors that it kept busy: `rustc (0.98), cc (0.31)`.
    pub fn names(&self) -> String {
        let mut words = Vec::new();
        for program in &self.programs {
            let processors = program.cpu_ns as f64 / self.elapsed_ns.max(1) as f64;
            if words.is_empty() || processors >= 0.01 {
                words.push(format!("{} ({processors:.2})", program.name));
            }
        }
        words.join(", ")
    }
}

impl Machine {
    /// What must be equal for two runs to have been made on the same machine: all but what a reboot or a limit may change.
    pub fn fingerprint(&self) -> String {
        format!(
            "{}|{} cores|{} MiB|{}",
            self.cpu_model.as_deref().unwrap_or("unknown CPU"),
            self.cores,
            self.memory_bytes >> 20,
            self.kernel.as_deref().unwrap_or("unknown kernel"),
        )
    }
}

/// The storage on which the data directory was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Storage {
    /// Path of the data directory.
    pub directory: String,
    /// Type of the filesystem, such as `xfs`.
    pub filesystem: Option<String>,
    /// Options with which it is mounted.
    pub mount_options: Option<String>,
    /// The block device under it.
    pub device: Option<String>,
    /// Model of the block device, as the kernel names it.
    pub device_model: Option<String>,
    /// Whether the device is a spinning disk.
    pub rotational: Option<bool>,
    /// I/O scheduler of the device, such as `mq-deadline`.
    pub scheduler: Option<String>,
    /// Readahead of the device, in bytes.
    pub readahead_bytes: Option<u64>,
    /// Size and free space at the start, bytes.
    pub size_bytes: Option<u64>,
    /// Free space at the start, bytes.
    pub free_bytes: Option<u64>,
    /// Anything else worth keeping, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, String>,
}
