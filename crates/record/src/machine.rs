//! On what it was measured.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The machine, as far as it bears on results. A field that cannot be read is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Machine {
    /// As the kernel names it.
    pub cpu_model: Option<String>,
    /// Logical processors that this process may use.
    pub cores: u32,
    /// Physical memory, bytes.
    pub memory_bytes: u64,
    /// Swap space, bytes.
    pub swap_bytes: u64,
    /// Release and build of the kernel.
    pub kernel: Option<String>,
    /// Name and version of the distribution.
    pub distribution: Option<String>,
    /// Hypervisor or container, `None` on bare metal.
    pub virtualisation: Option<String>,
    /// CPU frequency governor.
    pub governor: Option<String>,
    /// Whether the CPU may boost.
    pub boost: Option<bool>,
    /// Transparent huge pages: always, madvise or never.
    pub transparent_huge_pages: Option<String>,
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// What the program itself reads: tsc or the operating system's monotonic clock.
    pub program_clock: Option<String>,
    /// Memory limit of the control group, bytes.
    pub memory_limit_bytes: Option<u64>,
    /// CPU limit of the control group, processors.
    pub cpu_limit: Option<f64>,
}

impl Machine {
    /// What must be equal for two runs to have been made on the same machine: all but what a reboot or a limit may change.
    #[must_use]
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

/// Where the data lay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Storage {
    /// The data directory.
    pub directory: String,
    /// Type of the filesystem.
    pub filesystem: Option<String>,
    /// Options with which it is mounted.
    pub mount_options: Option<String>,
    /// The block device under it.
    pub device: Option<String>,
    /// Model of the device.
    pub device_model: Option<String>,
    /// Whether it turns.
    pub rotational: Option<bool>,
    /// I/O scheduler.
    pub scheduler: Option<String>,
    /// Read-ahead, bytes.
    pub readahead_bytes: Option<u64>,
    /// Size and free space at the start, bytes.
    pub size_bytes: Option<u64>,
    /// Free space at the start, bytes.
    pub free_bytes: Option<u64>,
    /// Anything else worth keeping, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, String>,
}
