//! Measuring path: no allocation, lock, log or formatting here.
//!
//! One operation on the database.

use crate::documents::Finite;
use crate::inserted::Records;
use crate::record::{FieldNames, RecordBuffer};
use plimsoll_record::OwnOperation;
use std::fmt;

/// One operation. It borrows the buffers of the [`OpGenerator`](crate::OpGenerator) that drew it and lasts until the next draw; it can be copied, for
/// instance to ask again.
#[derive(Clone, Copy, Debug)]
pub enum Ask<'a> {
    /// Reads one record by its key.
    Read {
        /// Key of the record to read.
        key: &'a [u8],
        /// The fields that are wanted.
        fields: FieldChoice<'a>,
    },
    /// Change fields of one record.
    Update {
        /// Key of the record to change.
        key: &'a [u8],
        /// The fields to replace, with their new values.
        changes: Fields<'a>,
    },
    /// Stores one record that does not exist.
    Insert {
        /// Key of the record to store.
        key: &'a [u8],
        /// All fields of the record, with their values.
        fields: Fields<'a>,
        /// Its key number, to be [acknowledged](crate::OpGenerator::acknowledge) afterwards.
        number: u64,
    },
    /// Read records in the order of their keys.
    Scan {
        /// The first record, if it exists, otherwise the next.
        start: &'a [u8],
        /// How many at most, at least 1.
        count: u32,
        /// The fields that are wanted of each record.
        fields: FieldChoice<'a>,
    },
    /// Read one record, and change it afterwards even if the read failed.
    ReadModifyWrite {
        /// Key of the record to read and change.
        key: &'a [u8],
        /// The fields that are wanted before the change.
        fields: FieldChoice<'a>,
        /// The fields to replace, with their new values.
        changes: Fields<'a>,
    },
    /// Send a command of an application.
    Statement(Statement<'a>),
}

/// A command on a collection, as an application sends it.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// What it is called and what it does.
    pub operation: OwnOperation,
    /// Its place among the operations of its workload.
    pub slot: u8,
    /// The whole command in BSON, without `$db`, session, number and concerns.
    pub command: &'a [u8],
    /// The most documents that are fetched, through as many batches as it takes; 0 for all of them.
    pub limit: u32,
    /// How many documents it must find.
    pub expected: Expected,
    /// How many units of work it counts for when it succeeds: 1, and of a load one for each document.
    pub units: u32,
    /// The documents that it inserts, to be [acknowledged](crate::OpGenerator::acknowledge_documents) afterwards.
    pub inserted: Option<NewDocuments>,
    /// How many more it may find by the time it is answered; `None` where nobody inserts.
    pub growth: Option<Growth<'a>>,
    /// The statements of a transaction, whose `command` then commits them, or of steps, which have no `command`.
    pub sequence: Option<Sequence<'a>>,
}

impl Statement<'_> {
    /// Whether this many is what it must find. To be called when it is answered, because documents may have been inserted since it was drawn.
    #[inline]
    pub fn fits(&self, documents: u64) -> bool {
        match (self.expected, self.growth) {
            (Expected::Between(least, most), Some(growth)) if documents > most => {
                (least..=growth.most()).contains(&documents)
            }
            (expected, _) => expected.fits(documents),
        }
    }
}

/// Documents that are inserted while an operation looks for those with one value.
#[derive(Clone, Copy, Debug)]
pub struct Growth<'a> {
    pub(crate) records: &'a Records,
    pub(crate) finite: &'a Finite,
    pub(crate) value: u64,
    /// Whether inserted documents may have other values than by their law.
    pub(crate) is_given: bool,
    /// As many as the operation finds at most.
    pub(crate) limit: u64,
}

impl Growth<'_> {
    /// The most that can be found now.
    #[inline]
    pub fn most(&self) -> u64 {
        let issued = self.records.issued();
        let (_, most) = match self.is_given {
            true => self.finite.bounds_given(self.value, issued),
            false => self.finite.bounds(self.value, issued, issued),
        };
        most.min(self.limit)
    }
}

/// Statements in their order: those of a transaction take effect together or not at all, those of steps each by itself.
///
/// Whatever becomes of it is to be [reported](crate::OpGenerator::sequence_ended) to the generator that drew it.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    /// Its statements, in their order.
    pub parts: &'a [SequencePart],
    /// Their commands, one after the other, as those of other statements.
    pub commands: &'a [u8],
    /// How often all statements of a transaction, or its commit, are sent again after an error that passes.
    pub retries: u32,
}

/// A statement of a transaction or of steps.
#[derive(Clone, Copy, Debug)]
pub struct SequencePart {
    /// The name of the whole with the number of the statement from 1 on, and what the statement does.
    pub operation: OwnOperation,
    /// Where its command ends among the commands.
    pub end: usize,
    /// The most documents that are fetched; 0 for all of them.
    pub limit: u32,
    /// What it must find. A statement that finds nothing where it must find something ends the sequence; a transaction is aborted.
    pub expected: Expected,
    /// The documents that it inserts.
    pub inserted: Option<NewDocuments>,
}

impl<'a> Sequence<'a> {
    /// The statements by themselves, each for this slot.
    pub fn statements(self, slot: u8) -> impl Iterator<Item = Statement<'a>> {
        let mut begin = 0;
        self.parts.iter().map(move |part| {
            let command = self.commands.get(begin..part.end).unwrap_or_default();
            begin = part.end;
            Statement {
                operation: part.operation,
                slot,
                command,
                limit: part.limit,
                expected: part.expected,
                units: 1,
                inserted: part.inserted,
                growth: None,
                sequence: None,
            }
        })
    }
}

/// What became of a transaction or of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceEnd {
    /// The transaction was committed, with all its changes.
    Committed,
    /// None of its changes is made.
    Undone,
    /// Nobody knows, because the commit was not answered.
    InDoubt,
    /// Steps after the one with this number, counted from 0, were not sent.
    StoppedAt(u8),
}

/// Whole commands of operations, to be explained by a server.
pub type CommandSamples = Vec<(OwnOperation, Vec<Vec<u8>>)>;

/// Whole commands that each find one document, with the name of its collection.
pub type CommandProbes = Vec<(String, Vec<u8>)>;

/// How many documents an operation must return, count, change or remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Known from the seed: at least the first and at most the second number.
    Between(u64, u64),
    /// At least one document is found.
    Some,
    /// It cannot be known, or may be none.
    Any,
}

impl Expected {
    /// Whether this many is what was expected.
    #[inline]
    pub fn fits(self, documents: u64) -> bool {
        match self {
            Self::Between(least, most) => (least..=most).contains(&documents),
            Self::Some | Self::Any => true,
        }
    }

    /// Whether it did its work by finding nothing.
    #[inline]
    pub fn allows_none(self) -> bool {
        matches!(self, Self::Any | Self::Between(0, _))
    }
}

/// Documents that a statement inserts: their numbers in their collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewDocuments {
    /// Place of the collection in the description.
    pub collection: u8,
    /// The first of their numbers.
    pub first: u64,
    /// How many there are; their numbers follow one another on a single host.
    pub count: u32,
}

/// A collection as it must be before its documents are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionOrder {
    /// Name of the operation in the file.
    pub name: String,
    /// Documents in it after the load.
    pub documents: u64,
    /// A BSON document of what `create` takes besides the name, such as a validator; `None` for a plain collection.
    pub options: Option<Vec<u8>>,
    /// Its indexes besides that of `_id`: BSON documents as `createIndexes` takes them, with `key` and `name`.
    pub indexes: Vec<Vec<u8>>,
}

/// The fields that an operation wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldChoice<'a> {
    /// The whole record, without naming fields.
    All,
    /// These, by their numbers, which rise.
    Some(&'a [u32]),
}

/// Fields with their values: an iterator of number, name and value, in the order of the numbers.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    names: &'a FieldNames,
    record: &'a RecordBuffer,
    at: usize,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn new(names: &'a FieldNames, record: &'a RecordBuffer) -> Self {
        Self { names, record, at: 0 }
    }

    /// Bytes in all values together that are still to come.
    pub fn value_bytes(self) -> usize {
        self.map(|(_, _, value)| value.len()).sum()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u32, &'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (index, value) = self.record.get(self.at)?;
        self.at += 1;
        Some((index, self.names.get(index), value))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.record.len() - self.at;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Fields<'_> {}

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        f.debug_map().entries(self.map(|(_, name, value)| (text(name), text(value)))).finish()
    }
}
