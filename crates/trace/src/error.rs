use std::path::{Path, PathBuf};

/// Why a trace cannot be written, read or kept.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The operating system said no.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was tried, such as `make room for`.
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("{} is not a trace of an emulated disk", path.display())]
    NotATrace { path: PathBuf },
    /// The file was written by a later version of the program.
    #[error("{} is a trace of version {version}; this program reads versions up to {known}: use a newer one", path.display())]
    Newer {
        path: PathBuf,
        version: u32,
        /// The latest version that is known here.
        known: u32,
    },
    /// The file begins as a trace does and does not go on so.
    #[error("{} is a damaged trace: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    /// A trace of no requests.
    #[error("a trace of 0 requests holds nothing: say how many of the last requests it is to hold")]
    Empty,
    /// The records have no room for offsets that large.
    #[error(
        "a disk of {capacity_bytes} bytes cannot be traced: offsets must be below {limit} bytes"
    )]
    DiskTooLarge { capacity_bytes: u64, limit: u64 },
    /// The head, the marks or the maps cannot be written as JSON.
    #[error("what is known about the trace cannot be written as JSON")]
    Json(#[source] serde_json::Error),
    /// The filesystem does not tell where its files are.
    #[error("the filesystem of {} does not tell where its files lie; xfs, ext4 and btrfs do", path.display())]
    NoExtents { path: PathBuf },
}

impl TraceError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }
}
