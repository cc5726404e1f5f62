//! What is shown of an arm before anything runs.

use crate::WorkingSet;
use crate::shares::DataShares;
use serde::Serialize;
use std::collections::BTreeMap;

/// One arm, its values in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmExplanation {
    /// Name of the arm, from the file.
    pub name: String,
    /// For a cell: index of the level of each factor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<u32>,
    /// How long one run of it takes, about, nanoseconds.
    pub run_ns: u64,
    /// Description of the arm, from the file.
    pub about: Option<String>,
    /// Name of the engine, as in the file.
    pub engine: String,
    /// Number of records after the load.
    pub records: u64,
    /// Mean bytes of all records together, as requested: before the engine adds or compresses anything.
    pub data_bytes: u64,
    /// Bytes of the engine's cache, if it has one.
    pub cache_bytes: Option<u64>,
    /// How the number of records was chosen, where the data is a share of the cache.
    pub working_set: Option<WorkingSet>,
    /// What share of the data fits where, about, in an arm whose memory is limited.
    pub shares: Option<DataShares>,
    /// Bytes that its data takes on its disk or in its directory at the worst moment, about, and at most the capacity of its disk.
    pub disk_bytes: u64,
    /// What it has of the collections where arms differ, such as `indexes of orders`; empty where all are alike.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub collections: BTreeMap<String, String>,
    /// The machine that it stands on, by name; `None`: the one that the program runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The machines that ask it, `controller` being the one that the program runs on; empty where there are no others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load_hosts: Vec<String>,
    /// What the data lies on; `None` for a plain directory.
    pub disk: Option<String>,
    /// What is made on the disk.
    pub filesystem: Option<String>,
    /// Settings of the kernel that the arm asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Limits of what is under test.
    pub limits: Option<String>,
    /// The server that is started.
    pub server: Option<String>,
    /// Name of the published machine.
    pub machine: Option<String>,
    /// Price of an hour, in words.
    pub price: Option<String>,
}
