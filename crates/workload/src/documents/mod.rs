//! The documents and operations of an application.
//!
//! Everything follows from a seed: the value of a field is a function of the seed, the field and the number of its document. Of fields with a known
//! number of values it is known how many documents have each, so operations know what they must find, and the measuring loop can verify that they did
//! something. A [`DocumentsSpec`] is what the file says; it is read once, when something first needs to know what it means, and its copies share the
//! reading.

mod bson;
mod changes;
mod clock;
mod concerns;
mod field;
mod finite;
mod law;
mod literal;
mod operation;
mod read;
mod refused;
mod sequence;
mod show;
mod statements;
mod template;
#[cfg(test)]
mod tests;
mod time_series;

pub use clock::DataClock;
pub(crate) use finite::Finite;
pub use literal::{Literal, yaml_scalar};
pub use operation::MOST_OPERATIONS;
pub use read::{DocumentProblem, MOST_COLLECTIONS, MOST_WEIGHTED, is_generator};
pub use sequence::MOST_STATEMENTS;
pub(crate) use statements::{DocumentLoad, DocumentSpace, StatementDesk};

use crate::ask::CollectionOrder;
use operation::OwnStatement;
use plimsoll_record::OwnOperation;
use read::{Collection, Reading};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Collections and operations as an experiment file describes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentsSpec {
    seed: u64,
    /// Names of collections, each with `records`, `document`, `indexes` and `options`.
    collections: Literal,
    operations: Literal,
    #[serde(skip)]
    reading: SharedReading,
}

/// What a description was read as, once for all its copies.
#[derive(Clone, Default)]
struct SharedReading(Arc<OnceLock<Result<Arc<Documents>, Vec<DocumentProblem>>>>);

impl SharedReading {
    fn of(documents: Documents) -> Self {
        Self(Arc::new(OnceLock::from(Ok(Arc::new(documents)))))
    }
}

impl fmt::Debug for SharedReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "read" } else { "not read" })
    }
}

/// Equal descriptions are read alike.
impl PartialEq for SharedReading {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What can be said about an operation before it runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationNote {
    /// Name and kind of the operation.
    pub operation: OwnOperation,
    /// Name of the collection that it asks.
    pub collection: String,
    /// How the number of documents that it finds is verified.
    pub verified: String,
    /// One drawn command, with what it must find, as text.
    pub example: String,
}

/// What can be said about a collection before it is loaded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CollectionNote {
    /// Name of the collection in the file.
    pub name: String,
    /// Number of documents after the load.
    pub documents: u64,
    /// Mean size of a document in BSON, in bytes.
    pub mean_bytes: f64,
    /// Names of its indexes, that of `_id` left out.
    pub indexes: Vec<String>,
    /// The first documents, as text for people.
    pub examples: Vec<String>,
}

/// Collections and operations, ready to be drawn.
#[derive(Clone, Debug)]
pub(crate) struct Documents {
    pub(crate) collections: Vec<Collection>,
    pub(crate) operations: Vec<OwnStatement>,
}

impl Documents {
    fn read(spec: &DocumentsSpec) -> Result<Self, Vec<DocumentProblem>> {
        #[cfg(test)]
        tests::count_reading();
        let mut reading = Reading::new(spec.seed);
        let collections = reading
            .at("collections", |reading| Some(reading.collections(&spec.collections)))
            .unwrap_or_default();
        // Operations on what could not be read would be refused for the wrong reason.
        let operations = if reading.problems.is_empty() {
            let read =
                |reading: &mut Reading| Some(reading.operations(&spec.operations, &collections));
            reading.at("operations", read).unwrap_or_default()
        } else {
            Vec::new()
        };
        if reading.problems.is_empty() {
            Ok(Self { collections, operations })
        } else {
            Err(reading.problems)
        }
    }
}

impl DocumentsSpec {
    /// What `collections` and `operations` say, with the seed of all values.
    pub fn new(seed: u64, collections: Literal, operations: Literal) -> Self {
        Self { seed, collections, operations, reading: SharedReading::default() }
    }

    /// What it means, read at the first call.
    fn read(&self) -> Result<&Arc<Documents>, &Vec<DocumentProblem>> {
        let reading = self.reading.0.get_or_init(|| Documents::read(self).map(Arc::new));
        reading.as_ref()
    }

    /// Names of the collections, in the order of the file.
    pub fn collection_names(&self) -> Vec<String> {
        self.collections.entries().iter().map(|(name, _)| name.clone()).collect()
    }

    /// Names of the operations, in the order of the file, also where something is wrong.
    pub fn operation_names(&self) -> Vec<String> {
        self.operations.entries().iter().map(|(name, _)| name.clone()).collect()
    }

    /// Everything that is wrong with it, each with the keys that lead there.
    pub fn problems(&self) -> Vec<DocumentProblem> {
        self.read().err().cloned().unwrap_or_default()
    }

    /// The operations, in the order of the file; none when something is wrong.
    pub fn operations(&self) -> Vec<OwnOperation> {
        let read = self.read();
        read.map(|read| read.operations.iter().map(|own| own.operation).collect())
            .unwrap_or_default()
    }

    /// What is not read from the primary: the statement, and the mode of its read preference as commands have it.
    pub fn read_preferences(&self) -> Vec<(OwnOperation, &'static str)> {
        let operations = self.read().into_iter().flat_map(|read| &read.operations);
        let statements = operations.flat_map(OwnStatement::statements);
        statements.filter_map(|own| Some((own.operation, own.reads_at?))).collect()
    }

    /// What a server must have before the load; nothing when something is wrong.
    pub fn collections(&self) -> Vec<CollectionOrder> {
        let Ok(read) = self.read() else {
            return Vec::new();
        };
        let order = |collection: &Collection| CollectionOrder {
            name: collection.name.to_string(),
            documents: collection.records,
            options: collection.creation(),
            indexes: collection.indexes.iter().map(|index| index.order.clone()).collect(),
        };
        read.collections.iter().map(order).collect()
    }

    /// Documents of all collections, and their bytes in BSON, about.
    pub fn size(&self) -> (u64, f64) {
        let read = self.read();
        read.map_or((0, 0.0), |read| {
            let documents = read.collections.iter().map(|collection| collection.records).sum();
            let bytes = read.collections.iter();
            let bytes = bytes.map(|collection| collection.records as f64 * collection.mean_bytes);
            (documents, bytes.sum())
        })
    }

    /// Notes on each collection, with this many documents as examples, and on each operation, with one drawn command; nothing when something is wrong.
    pub fn notes(&self, examples: u64) -> (Vec<CollectionNote>, Vec<OperationNote>) {
        match self.read() {
            Ok(read) => show::notes(read, examples),
            Err(_) => (Vec::new(), Vec::new()),
        }
    }
}
