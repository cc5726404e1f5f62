//! Where a control group is.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The directories of a control group. In version 1 each controller has its own, in version 2 they are one and the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupPaths {
    pub version: u32,
    /// Where memory is limited and accounted.
    pub memory: Option<PathBuf>,
    /// Where CPU time is limited; in version 2 it is accounted there too.
    pub cpu: Option<PathBuf>,
    /// Where CPU time is accounted in version 1.
    pub cpuacct: Option<PathBuf>,
}
