//! The records of a database, as far as the questions need to know them.

use crate::counter::AcknowledgedCounter;
use crate::data::DataSpec;
use crate::integrity::Verifier;
use crate::loader::Loader;
use crate::problem::{WorkloadError, none_of};
use crate::record::RecordShape;
use std::sync::Arc;

/// The records of one database and how they are made. It outlives the workloads that are run against the database one after the other,
/// since what one of them inserts stays there for the next.
#[derive(Debug)]
pub struct KeySpace {
    data: DataSpec,
    pub(crate) shape: RecordShape,
    /// Numbers of all fields, for reads that name each.
    pub(crate) all_fields: Box<[u32]>,
    pub(crate) records: AcknowledgedCounter,
}

impl KeySpace {
    /// The key space of a database that holds, or will hold after its load, the records described.
    ///
    /// # Errors
    /// When the description is impossible, with all its problems.
    pub fn new(data: &DataSpec) -> Result<Arc<Self>, WorkloadError> {
        none_of(data.check())?;
        Ok(Arc::new(Self {
            shape: RecordShape::new(data),
            all_fields: (0..data.field_count).collect(),
            records: AcknowledgedCounter::new(data.records),
            data: data.clone(),
        }))
    }

    /// What the records look like.
    #[must_use]
    pub fn data(&self) -> &DataSpec {
        &self.data
    }

    /// Records that are certain to have been stored: key numbers below this one. An insert counts when it and all with lower key numbers
    /// are acknowledged.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records.limit()
    }

    /// Hands out the records of the load phase: from `insert_start` on, as many as `insert_count` says.
    #[must_use]
    pub fn loader(self: &Arc<Self>, seed: u64) -> Arc<Loader> {
        Arc::new(Loader::new(self, seed))
    }

    /// Verifies a record that was read under this key. Meaningful when the data has `data_integrity`.
    #[must_use]
    pub fn verifier<'a>(&self, key: &'a [u8]) -> Verifier<'a> {
        Verifier::new(key, self.data.field_length.longest() as usize)
    }

    /// The name of a field by its number, which must be below the number of fields.
    #[must_use]
    pub fn field_name(&self, index: u32) -> &[u8] {
        self.shape.names.get(index)
    }
}
