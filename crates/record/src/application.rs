//! What a server says of an application's collections, indexes and operations at one time of a run.

use crate::OwnOperation;
use serde::{Deserialize, Serialize};

/// Collections and plans of operations, as the server describes them between two phases of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ApplicationState {
    /// The collections of the workload, in the order of the file.
    pub collections: Vec<CollectionState>,
    /// How the server carries out each operation that any mix names, inserts left out.
    pub operations: Vec<OperationPlan>,
}

/// A collection and its indexes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CollectionState {
    /// Name of the collection in the file.
    pub name: String,
    /// Its documents, by the server's own count.
    pub documents: u64,
    /// Bytes of its documents before compression.
    pub bytes: u64,
    /// Bytes of its documents on disk, free room inside the file included.
    pub stored_bytes: u64,
    /// Measurements in a bucket of a time series, on average since the server started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measurements_per_bucket: Option<f64>,
    /// All indexes, that of `_id` first.
    pub indexes: Vec<IndexState>,
}

/// An index of a collection, as the server describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IndexState {
    /// Its name, such as `customer_1_placed_-1`.
    pub name: String,
    /// Bytes of the index on disk.
    pub bytes: u64,
    /// How often operations have used it since it was made or the server started; `None` where the user may not ask. What `explain` uses counts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u64>,
}

/// How a server carries out an operation, from commands that were drawn as for measuring and explained, not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationPlan {
    /// The operation whose commands were explained.
    pub operation: OwnOperation,
    /// How many of its commands were explained.
    pub commands: u32,
    /// The different plans of these commands, each from the index or the collection upwards: `IXSCAN customer_1 → FETCH → LIMIT`.
    pub stages: Vec<String>,
    /// Keys of indexes that a command looked at, in the mean.
    pub keys_examined: f64,
    /// Documents that a command looked at, in the mean.
    pub documents_examined: f64,
    /// Documents that a command returned, counted, changed or removed, in the mean.
    pub documents_found: f64,
    /// Whether any of the plans reads a whole collection.
    pub scans_collection: bool,
    /// Whether any of the plans sorts in memory.
    pub sorts: bool,
    /// Why there is no plan, where the server gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl ApplicationState {
    /// The plan of an operation.
    pub fn plan(&self, operation: OwnOperation) -> Option<&OperationPlan> {
        self.operations.iter().find(|plan| plan.operation == operation)
    }
}
