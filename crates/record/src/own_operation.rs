//! Operations of an application: what each is called, and what kind of statement it is.

use crate::Operation;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The longest name, in bytes.
const MOST_NAME_BYTES: usize = 40;
/// Names that one process learns. Each mix has 32 at most, so a page over many results has room, and files that invent names do not fill the memory.
const MOST_NAMES: usize = 10_000;

/// What a statement asks of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatementKind {
    /// Reads the documents that a filter matches.
    Find,
    /// Reads documents through the stages of a pipeline.
    Aggregate,
    /// How many documents a filter matches.
    Count,
    /// The different values of a field.
    Distinct,
    /// Adds new documents to a collection.
    Insert,
    /// Changes of one document or of several.
    Update,
    /// Removes one document or several.
    Delete,
    /// Changes one document and returns it.
    FindAndModify,
    /// Several statements that take effect together or not at all.
    Transaction,
    /// Several statements in sequence.
    Steps,
}

impl StatementKind {
    /// All kinds, in the order in which the reference lists them.
    pub const ALL: [Self; 10] = [
        Self::Find,
        Self::Aggregate,
        Self::Count,
        Self::Distinct,
        Self::Insert,
        Self::Update,
        Self::Delete,
        Self::FindAndModify,
        Self::Transaction,
        Self::Steps,
    ];

    /// The word in experiment files and records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Find => "find",
            Self::Aggregate => "aggregate",
            Self::Count => "count",
            Self::Distinct => "distinct",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::FindAndModify => "find_and_modify",
            Self::Transaction => "transaction",
            Self::Steps => "steps",
        }
    }

    /// What it has done with its documents, in the past: `found`.
    pub fn done(self) -> &'static str {
        match self {
            Self::Find
            | Self::Aggregate
            | Self::Distinct
            | Self::FindAndModify
            | Self::Transaction
            | Self::Steps => "found",
            Self::Count => "counted",
            Self::Insert => "inserted",
            Self::Update => "matched",
            Self::Delete => "removed",
        }
    }

    /// Whether it changes what is stored, or may: what steps do is known from their statements only.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Insert
                | Self::Update
                | Self::Delete
                | Self::FindAndModify
                | Self::Transaction
                | Self::Steps
        )
    }
}

/// An operation of an application. Its name is kept once in a process, so that this can be copied wherever one of YCSB's operations can.
///
/// In records its kind and its name: `find:by-customer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct OwnOperation {
    name: &'static str,
    kind: StatementKind,
}

/// Why a text names no operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownOperation {
    /// Neither one of YCSB's nor a kind and a name.
    #[error("`{0}` is no operation")]
    Word(String),
    /// A name with other characters, or too long.
    #[error(
        "`{0}` cannot name an operation: letters, digits, `-` and `_`, at most {MOST_NAME_BYTES} of them"
    )]
    Name(String),
    /// More names than a record can hold.
    #[error("there are more than {MOST_NAMES} different operations")]
    TooMany,
}

impl OwnOperation {
    /// An operation of this name, which has letters, digits, `-` and `_`, at most 40.
    ///
    /// # Errors
    /// When the name has other characters or is too long, or this process knows 10,000 names already.
    pub fn new(kind: StatementKind, name: &str) -> Result<Self, UnknownOperation> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if name.is_empty() || name.len() > MOST_NAME_BYTES || !name.bytes().all(fits) {
            return Err(UnknownOperation::Name(name.chars().take(MOST_NAME_BYTES).collect()));
        }
        static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let name = match names.get(name) {
            Some(known) => known,
            None if names.len() == MOST_NAMES => return Err(UnknownOperation::TooMany),
            None => {
                let kept: &'static str = String::from(name).leak();
                names.insert(kept);
                kept
            }
        };
        Ok(Self { name, kind })
    }

    /// What the experiment file calls it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Which kind of statement the operation is.
    pub fn kind(self) -> StatementKind {
        self.kind
    }
}

impl fmt::Display for OwnOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.word(), self.name)
    }
}

impl From<Operation> for String {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Own(own) => own.to_string(),
            known => known.name().into(),
        }
    }
}

impl From<OwnOperation> for String {
    fn from(own: OwnOperation) -> Self {
        own.to_string()
    }
}

impl<'de> Deserialize<'de> for OwnOperation {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::try_from(String::deserialize(from)?).map_err(Error::custom)
    }
}

impl TryFrom<String> for OwnOperation {
    type Error = UnknownOperation;

    fn try_from(text: String) -> Result<Self, UnknownOperation> {
        let unknown = || UnknownOperation::Word(text.chars().take(2 * MOST_NAME_BYTES).collect());
        let (word, name) = text.split_once(':').ok_or_else(unknown)?;
        let kind = StatementKind::ALL.into_iter().find(|kind| kind.word() == word);
        Self::new(kind.ok_or_else(unknown)?, name)
    }
}

impl TryFrom<String> for Operation {
    type Error = UnknownOperation;

    fn try_from(text: String) -> Result<Self, UnknownOperation> {
        if let Some(known) = Self::YCSB.into_iter().find(|known| known.name() == text) {
            return Ok(known);
        }
        OwnOperation::try_from(text).map(Self::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_plain_words_in_records() {
        for known in Operation::YCSB {
            let text = serde_json::to_string(&known).unwrap();
            assert_eq!(text, format!("\"{}\"", known.name()));
            assert_eq!(serde_json::from_str::<Operation>(&text).unwrap(), known);
        }
        let own = OwnOperation::new(StatementKind::FindAndModify, "pay").unwrap();
        let text = serde_json::to_string(&Operation::Own(own)).unwrap();
        assert_eq!(text, r#""find_and_modify:pay""#);
        assert_eq!(serde_json::from_str::<Operation>(&text).unwrap(), Operation::Own(own));
        // One of a reader, whose text is not borrowed.
        assert_eq!(
            serde_json::from_reader::<_, Operation>(text.as_bytes()).unwrap(),
            Operation::Own(own)
        );
        // An application may call its operation as YCSB does.
        let together = OwnOperation::new(StatementKind::Transaction, "check-out").unwrap();
        assert_eq!(serde_json::to_string(&together).unwrap(), "\"transaction:check-out\"");
        let read = OwnOperation::new(StatementKind::Find, "read").unwrap();
        assert_ne!(Operation::Own(read), Operation::Read);
    }

    #[test]
    fn what_is_no_operation_is_refused() {
        for text in ["reed", "find", "find:", "seek:x", "find:a b", "find:<script>", ":x"] {
            assert!(Operation::try_from(text.to_owned()).is_err(), "{text}");
        }
        let long = format!("find:{}", "x".repeat(41));
        assert!(Operation::try_from(long).is_err());
    }
}
