//! Why an experiment cannot go on.

use plimsoll_store::StoreError;
use plimsoll_testbed::TestbedError;
use std::path::PathBuf;

/// Why an experiment cannot be begun or go on. A failed run is no such reason: it is recorded and the next one begins.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A data directory.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// The worker process cannot be started.
    #[error("the worker process {} cannot be started: {source}", path.display())]
    Spawn {
        /// The program.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
