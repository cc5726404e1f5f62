//! Why a command cannot be carried out.

use crate::command::CommandError;
use plimsoll_engine::EngineError;
use plimsoll_loadgen::LoadError;
use plimsoll_workload::WorkloadError;
use plimsoll_workload::properties::PropertyError;
use std::io;
use std::path::PathBuf;

const CUT: &str =
    "; for a shell an address without quotes ends at its first `&`: put it into quotes";

/// Why a command cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum YcsbError {
    /// The command line is none.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A property is none, or is refused.
    #[error(transparent)]
    Property(#[from] PropertyError),
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The database cannot be opened.
    #[error("{said}{}", if *is_cut { CUT } else { "" })]
    Open {
        /// What the engine says, with the names of properties in the place of those of settings.
        said: String,
        /// Whether the address may have been cut by a shell.
        is_cut: bool,
    },
    /// The database cannot be counted or closed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There is no such engine in this program.
    #[error("this program has no engine `{name}`: build it with that feature")]
    NoEngine { name: String },
    /// A directory with data of others.
    #[error(
        "{path} is not empty and holds no database of plimsoll ycsb: name an empty directory by wiredtiger.dir",
        path = path.display()
    )]
    NotOurs { path: PathBuf },
    /// Another process has the database open.
    #[error("{path} is in use by another plimsoll ycsb: wait until it has ended", path = path.display())]
    InUse { path: PathBuf },
    /// Another user could change the place of the database.
    #[error(transparent)]
    Place(#[from] plimsoll_rig::testbed::TestbedError),
    #[error("cannot use {path}: {source}", path = path.display())]
    Path { path: PathBuf, source: io::Error },
    /// The report cannot be written.
    #[error("cannot write the report: {0}")]
    Report(io::Error),
}

impl YcsbError {
    /// Whether the command or its properties are at fault.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Command(_) | Self::Property(_) | Self::Workload(_))
    }
}
