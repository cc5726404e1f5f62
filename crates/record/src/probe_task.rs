//! Fixed tasks by which drift of the machine is seen.

use serde::{Deserialize, Serialize};

/// Beside which run of a block a probe task was timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeTime {
    /// Before the first run of a block that was made.
    BeforeBlock,
    /// After the last run of a block.
    AfterBlock,
}

/// What the machine needed for the same fixed tasks, with nothing under test. If it needs longer than at other times, it was another machine then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeTask {
    /// On which machine, by its name in the file; `None`: the one that the program ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Whether it ran before or after the block.
    pub place: ProbeTime,
    /// When it began, in UTC, as RFC 3339 writes it.
    pub at: String,
    /// Time of the fixed CPU task, nanoseconds: the median of its repeats.
    pub cpu_ns: u64,
    /// Time of the fixed disk task in the folder of the data directories, nanoseconds: the median of its repeats; `None` where no arm keeps data there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_ns: Option<u64>,
}
