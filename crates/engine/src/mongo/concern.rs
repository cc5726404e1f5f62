//! How durable a change must be before it counts as made.

use crate::mongo::encode;

/// How many members of a replica set must have a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum W {
    /// The number of them; with 0 the server does not even answer.
    Number(u32),
    /// More than half of those that vote.
    Majority,
    /// As the replica set defines this name.
    Tag(String),
}

/// What must have happened before a change counts as made. What is not said is the server's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteConcern {
    /// How many members must have it.
    pub w: Option<W>,
    /// Whether it must be in their journals.
    pub journal: Option<bool>,
    /// After how many milliseconds the server gives up waiting for this.
    pub timeout_ms: Option<u64>,
}

impl WriteConcern {
    /// Whether the server answers to changes.
    pub fn is_acknowledged(&self) -> bool {
        self.w != Some(W::Number(0))
    }

    /// Why this is impossible, if it is.
    pub fn problem(&self) -> Option<&'static str> {
        if !self.is_acknowledged() && self.journal == Some(true) {
            return Some(
                "the write concern asks for no answer (`w: 0`) and for the journal (`journal: true`): leave one of them out",
            );
        }
        None
    }

    /// Writes the element of a command, unless all is the server's choice.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        if *self == Self::default() {
            return;
        }
        let begun = encode::begin_element(b"writeConcern", out);
        match &self.w {
            None => {}
            Some(W::Number(number)) => {
                encode::int32(b"w", i32::try_from(*number).unwrap_or(i32::MAX), out);
            }
            Some(W::Majority) => encode::string(b"w", b"majority", out),
            Some(W::Tag(name)) => encode::string(b"w", name.as_bytes(), out),
        }
        if let Some(journal) = self.journal {
            encode::boolean(b"j", journal, out);
        }
        if let Some(timeout) = self.timeout_ms {
            encode::int64(b"wtimeout", i64::try_from(timeout).unwrap_or(i64::MAX), out);
        }
        encode::end(begun, out);
    }
}
