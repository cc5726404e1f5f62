//! Why there is no data directory, or why one was not removed.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no data directory, or why one was not removed.
#[derive(Debug, thiserror::Error)]
pub enum TestbedError {
    /// The environment does not say where a user's passing files belong.
    #[error(
        "no place for data: neither XDG_CACHE_HOME nor HOME is set; name a directory in the experiment file"
    )]
    NoHome,
    /// Something else is where the data should go.
    #[error(
        "{} is in the way: it {reason}; nothing was touched, move it away or name another directory in the experiment file",
        path.display()
    )]
    InTheWay {
        /// The path.
        path: PathBuf,
        /// What it is, as in "it …".
        reason: &'static str,
    },
    /// Another live program uses the directory.
    #[error(
        "{} is used by another plimsoll, which its file .plimsoll-data names: wait for it or stop it first",
        path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The directory is not ours to remove.
    #[error("did not remove {}: it {reason}; look at it and remove it by hand if nobody needs it", path.display())]
    NotRemoved {
        /// The directory.
        path: PathBuf,
        /// What speaks against it, as in "it …".
        reason: &'static str,
    },
    /// Too little room.
    #[error(
        "{} has {} free and {} are needed: make room, ask for less data, or name a directory on another filesystem",
        path.display(),
        Size(*free_bytes),
        Size(*need_bytes)
    )]
    NotEnoughSpace {
        /// The directory that was to hold the data.
        path: PathBuf,
        /// Needed, bytes.
        need_bytes: u64,
        /// Free for this user, bytes.
        free_bytes: u64,
    },
    /// The operating system refused.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried, as in "cannot …".
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl TestbedError {
    pub(crate) fn io(what: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io {
            what,
            path: path.to_owned(),
            source: source.into(),
        }
    }
}

struct Size(u64);

impl std::fmt::Display for Size {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mebibytes = self.0 as f64 / f64::from(1 << 20);
        if mebibytes < 1024.0 {
            write!(formatter, "{mebibytes:.1} MiB")
        } else {
            write!(formatter, "{:.1} GiB", mebibytes / 1024.0)
        }
    }
}
