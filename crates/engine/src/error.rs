//! What can go wrong with an engine as a whole.

use plimsoll_plan::{EngineKind, Settings};
use std::path::PathBuf;

/// Why an engine cannot be opened, counted or closed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No engine of this name.
    #[error("there is no engine `{name}`: this program has {known}")]
    Unknown {
        name: String,
        /// What there is, with commas.
        known: String,
    },
    /// Known, but left out of this build.
    #[error(
        "this program was built without the engine `{name}`: build it with `./x build`, or with `--features {name}`"
    )]
    NotBuilt { name: String },
    /// The engine keeps data and was given no directory.
    #[error("the engine `{name}` keeps data and needs a data directory")]
    NoDirectory { name: String },
    /// The engine is a client of a server and was given none.
    #[error("the engine `{name}` needs a server: name one by `uri`, or have one started")]
    NoServer { name: String },
    /// The engine has YCSB's operations only.
    #[error("the engine `{name}` takes no operations of an application: {reason}")]
    NoStatements {
        name: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A value of a setting that the engine itself refuses.
    #[error("`{setting}: {value}` does not suit the engine `{engine}`: {reason}")]
    Setting { engine: String, setting: String, value: String, reason: String },
    /// A call into the engine failed.
    #[error("{engine}: {call} failed: {message}")]
    Call {
        engine: String,
        /// Which call, with its object.
        call: String,
        /// What the engine said, and what to do if it is known.
        message: String,
    },
    /// A file or folder of the engine.
    #[error("cannot use {path}: {source}", path = path.display())]
    Path { path: PathBuf, source: std::io::Error },
}

impl EngineError {
    /// The value of one of these settings does not suit the engine.
    pub(crate) fn unfit(
        kind: &EngineKind,
        settings: &Settings,
        setting: &str,
        reason: impl Into<String>,
    ) -> Self {
        let value = settings.0.get(setting);
        Self::Setting {
            engine: kind.name.into(),
            setting: setting.into(),
            value: value.map(ToString::to_string).unwrap_or_default(),
            reason: reason.into(),
        }
    }
}
