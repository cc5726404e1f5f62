//! Why an order was not carried out.

use crate::fio::FioError;
use crate::testbed::TestbedError;
use plimsoll_disk::DiskError;
use serde::{Deserialize, Serialize};

/// Why an order was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", content = "message", rename_all = "kebab-case")]
pub enum RigError {
    /// What is missing or could not be made, and what to do.
    #[error("{0}")]
    Refused(String),
    /// The requested disk is faster than this machine can emulate.
    #[error("{0}")]
    NotCarried(String),
    #[error("interrupted")]
    Interrupted,
    /// The other process ended, or cannot be started.
    #[error("{0}")]
    Gone(String),
}

impl From<TestbedError> for RigError {
    fn from(error: TestbedError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<DiskError> for RigError {
    fn from(error: DiskError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<FioError> for RigError {
    fn from(error: FioError) -> Self {
        match error {
            FioError::Interrupted => Self::Interrupted,
            FioError::NotCarried { .. } => Self::NotCarried(error.to_string()),
            error => Self::Refused(error.to_string()),
        }
    }
}
