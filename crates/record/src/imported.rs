//! What another program measured and wrote down in its own way.

use crate::{Completed, Latencies, OperationSlice};
use serde::{Deserialize, Serialize};

/// Where an imported point comes from, and what the other program says of it as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// The program that measured, or the format where that is all that is known: `YCSB`, `go-ycsb`, `HdrHistogram log`, `fio`.
    pub tool: String,
    /// Its version line as found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its command line as found, without passwords.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The files that were read, in order.
    pub files: Vec<ImportedFile>,
    /// Whether the user who imported it says that the runs of one block were made side by side.
    #[serde(default)]
    pub side_by_side: bool,
    /// The whole measured part in the words of the other program. `None` where the slices are all that it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Stated>,
}

/// A file that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedFile {
    /// Its name as given, without passwords.
    pub name: String,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// SHA-256 of all of it, hexadecimal.
    pub sha256: String,
}

/// The measured part of a point as another program sums it up. Its length is that of the point's end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stated {
    /// Units of work by how they ended.
    pub completed: Completed,
    /// Per operation and status, in that order.
    pub operations: Vec<OperationSlice>,
    /// All units that ended as requested, where the program says something of them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<Latencies>,
}
