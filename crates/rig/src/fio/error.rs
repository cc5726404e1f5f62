//! Why fio gave no figures.

use crate::testbed::TestbedError;
use std::io;
use std::path::PathBuf;

/// Why fio gave no figures.
#[derive(Debug, thiserror::Error)]
pub enum FioError {
    /// It is not on the PATH.
    #[error("fio is not installed: install the package fio")]
    Missing,
    /// The operating system refused to start it.
    #[error("cannot start fio: {0}")]
    NotStarted(io::Error),
    /// It ended with an error; in its own words.
    #[error("fio failed at {label}: {said}")]
    Failed {
        label: String,
        /// What it wrote to its standard error, or how it ended.
        said: String,
    },
    /// It went on beyond its time and was ended.
    #[error(
        "fio did not end within {allowed_s} s at {label} and was stopped: the disk hangs or is far slower than expected"
    )]
    TooLong { label: String, allowed_s: u64 },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// What it wrote was not understood.
    #[error("cannot understand what fio said about {label}: {source}")]
    NotUnderstood { label: String, source: serde_json::Error },
    /// The job would destroy what is on a device.
    #[error(
        "did not write to {}: what is on it would be lost, and nothing says that it may be erased",
        path.display()
    )]
    WritesRefused { path: PathBuf },
    /// Neither a block device nor a directory.
    #[error("{} is neither a block device nor a directory", path.display())]
    NoTarget { path: PathBuf },
    /// Less room than one block for each job.
    #[error("{} has only {size_bytes} bytes for fio to work on, and needs {need_bytes}", path.display())]
    TooSmall { path: PathBuf, size_bytes: u64, need_bytes: u64 },
    /// The operating system refused something about the target.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried, as in "cannot …".
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The directory for fio's files could not be made or removed.
    #[error(transparent)]
    Directory(#[from] TestbedError),
    /// The limits of the emulated disk could not be lifted or put back.
    #[error("cannot change the limits of the emulated disk: {0}")]
    NotShaped(String),
    /// The requested disk is faster than this machine can emulate.
    #[error(
        "this machine carries {carried} with {what}; {disk} needs {requested}: choose a slower disk, or a faster machine"
    )]
    NotCarried {
        /// The disk: its preset or what it is.
        disk: String,
        what: String,
        carried: String,
        requested: String,
    },
}
