//! Why an experiment cannot continue.

use plimsoll_rig::RigError;
use plimsoll_store::StoreError;
use std::path::PathBuf;

/// Why an experiment cannot begin or continue. A failed run is no such reason: it is recorded and the next one begins.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// Duets are not possible on this machine.
    #[error("this machine has no two halves for a duet: {0}; leave `pairing` (and --duet) away")]
    NoHalves(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What a run stands on.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The worker process cannot be started.
    #[error("the worker process {} cannot be started: {source}", path.display())]
    Spawn { path: PathBuf, source: std::io::Error },
    /// A machine of the experiment cannot be reached, or was and is no longer.
    #[error("host {name}: {why}")]
    HostLost {
        /// Its name in the file.
        name: String,
        /// Why, and what to do.
        why: String,
    },
    /// A machine of the experiment answers and refuses an order.
    #[error("host {name}: {why}")]
    HostRefused {
        /// Its name in the file.
        name: String,
        why: String,
    },
    /// Some arms need what this machine or this user does not have.
    #[error("{}", cannot_run(can, cannot))]
    ArmsCannotRun {
        /// Names of the arms that could run.
        can: Vec<String>,
        cannot: Vec<(String, String)>,
    },
    /// fio measured an emulated disk to be other than requested.
    #[error("{0}")]
    NotCalibrated(String),
}

fn cannot_run(can: &[String], cannot: &[(String, String)]) -> String {
    let mut text = String::from("nothing was begun, because this experiment cannot run here:");
    for (arm, why) in cannot {
        text.push_str(&format!("\n  arm {arm}: {why}"));
    }
    if !can.is_empty() {
        text.push_str(&format!("\nThese arms could run: {}", can.join(", ")));
    }
    text
}
