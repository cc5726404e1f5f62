//! Why an emulated disk cannot be had, or was lost.

use std::io;
use std::path::PathBuf;

/// Why an emulated disk cannot be had, or was lost.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// The order of the daemon cannot be read.
    #[error(
        "the disk daemon got no order that it understands ({0}): it is started by plimsoll itself, not by hand"
    )]
    Order(String),
    /// There is no FUSE here, or not for this user.
    #[error("/dev/fuse cannot be opened: {source}; {}", advice(source))]
    NoFuse { source: io::Error },
    /// The kernel or the user cannot mount.
    #[error("the emulated disk cannot be mounted at {}: {source}; {}", path.display(), advice(source))]
    Mount { path: PathBuf, source: io::Error },
    /// The blocks have no place.
    #[error("the blocks of the emulated disk cannot be kept in {place}: {source}")]
    Backing { place: String, source: io::Error },
    #[error("the trace of the emulated disk cannot be written: {0}")]
    Trace(#[from] plimsoll_trace::TraceError),
    /// A socket, thread or process.
    #[error("the disk daemon cannot {what}: {source}")]
    Io { what: String, source: io::Error },
    #[error("{0}")]
    Refused(String),
    /// The daemon is gone, or does not answer.
    #[error("the disk daemon died: {0}")]
    Died(String),
}

impl DiskError {
    pub(crate) fn io(what: impl Into<String>, source: io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => "it needs root",
        Some(libc::ENOENT | libc::ENXIO) => "it is missing (for /dev/fuse, try `modprobe fuse`)",
        Some(libc::ENODEV) => "this kernel has no FUSE (try `modprobe fuse`)",
        Some(libc::ENOTDIR) => "a disk is mounted at a directory",
        _ => "look at `dmesg`",
    }
}
