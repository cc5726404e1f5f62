//! The options of a daemon.

use plimsoll_record::DiskSpec;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The options of a daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DaemonOrder {
    pub spec: DiskSpec,
    /// An existing, empty directory; the disk will be the file `disk.img` in it.
    pub mount_point: PathBuf,
    /// For a disk that keeps its blocks in a file: the file, which must not exist.
    pub backing_file: Option<PathBuf>,
    /// The Unix socket at which it takes commands, which must not exist.
    pub socket: PathBuf,
    /// The trace of all requests, which must not exist.
    pub trace: Option<PathBuf>,
    /// Whether the limits are in force from the beginning.
    pub shaped: bool,
}

/// What a daemon says when it has begun, or cannot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Greeting {
    Ready(bool),
    Failed(String),
}
