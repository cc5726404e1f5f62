//! What can go wrong with a store, and what to do about it.

use crate::holder::Holder;
use plimsoll_record::FormatError;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Why a store cannot do what was requested.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The environment does not say where a user's data belongs.
    #[error(
        "no place for the store: neither XDG_DATA_HOME nor HOME is set; name a file with --store"
    )]
    NoHome,
    /// Reading where nothing was ever written.
    #[error("there is no store at {}: run an experiment first, or name another store with --store", path.display())]
    Missing { path: PathBuf },
    /// Something else lies at the path.
    #[error("{} is no plimsoll store: it {reason}; it was left untouched, name another file with --store", path.display())]
    NotAStore {
        path: PathBuf,
        /// What it is instead, as in "it …".
        reason: &'static str,
    },
    /// Written by a later program.
    #[error("the store {} has schema version {found}, this program knows up to {known}: update plimsoll to use it", path.display())]
    Newer {
        path: PathBuf,
        found: u32,
        /// The latest version of this program.
        known: u32,
    },
    /// Writing where that is not allowed.
    #[error(
        "cannot write to the store {}: it or its directory is read-only; make both writable, or name another store with --store",
        path.display()
    )]
    ReadOnly { path: PathBuf },
    /// The last writer was killed and left its changes in the write-ahead log, which cannot be read where nothing may be written.
    #[error(
        "the store {} has unmerged changes in its -wal file and lies where nothing may be written: copy both files to a writable \
         directory and name the copy with --store",
        path.display()
    )]
    Unmerged { path: PathBuf },
    #[error("no space left for the store {}: make room and start again, what was written so far is kept", path.display())]
    Full { path: PathBuf },
    /// Another program held the store's write lock for too long.
    #[error("{holder} keeps the store {} locked: wait until it is done, or end it", path.display())]
    Locked { path: PathBuf, holder: Holder },
    /// Another live program is working on the experiment.
    #[error("experiment {id} ({name}) is being run by {holder}: wait for it or stop it first")]
    Busy { id: String, name: String, holder: Holder },
    /// A run was to be written to an experiment that this store has neither begun nor resumed.
    #[error("experiment {id} was neither begun nor resumed here")]
    NotClaimed { id: String },
    #[error("the store {} has no experiment {wanted:?}: see what there is with plimsoll list", path.display())]
    Unknown { path: PathBuf, wanted: String },
    /// More than one experiment fits.
    #[error("{wanted:?} could be any of {}: write more of the id", ids.join(", "))]
    Ambiguous { wanted: String, ids: Vec<String> },
    /// The id belongs to another experiment.
    #[error("the store already has an experiment {id}: delete that one first")]
    IdTaken { id: String },
    /// The same arm in the same block was begun with the same attempt number before.
    #[error("arm {arm:?} in block {block} already has an attempt {attempt}")]
    RunTaken {
        arm: String,
        /// Number of the block, from 0.
        block: u32,
        /// Number of the attempt, from 1.
        attempt: u32,
    },
    /// A record cannot be read.
    #[error("cannot read the record: {source}")]
    Format {
        #[from]
        source: FormatError,
    },
    /// What was stored cannot be read back.
    #[error("the store {} is damaged: {what}", path.display())]
    Damaged {
        path: PathBuf,
        /// What cannot be read and why.
        what: String,
    },
    #[error("cannot use the store {}: {source}; name another file with --store if this one cannot be", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// SQLite refused for a reason that has no name here.
    #[error("the store {} failed: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}

impl StoreError {
    /// Names what SQLite says about the store at `path`.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly { path }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Locked { path, holder: Holder::default() }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, what: source.to_string() }
            }
            _ => Self::Sqlite { path, source },
        }
    }

    /// Names what the operating system says about the store at `path`.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::ReadOnly { path }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Io { path, source },
        }
    }
}
