//! Measuring path: no allocation, lock, log or formatting here where a server does as requested.
//!
//! Replies, read where they lie. Nothing in a reply is trusted: every function here takes any bytes.

use crate::mongo::document::{ARRAY, DOCUMENT, Element, Elements, Malformed};
use crate::mongo::message::{BODY, BODY_AT, HEADER_BYTES, MORE_TO_COME, OP_MSG};
use plimsoll_record::StatementKind;

/// The longest message that any server sends or takes: 48 MB.
pub const MOST_BYTES: usize = 48_000_000;
/// Fewest bytes of a message with a document in it.
const LEAST_BYTES: usize = BODY_AT + 5;
/// Flag: a checksum follows the last section.
const CHECKSUM_PRESENT: u32 = 1;
/// The flags from here on may be ignored by those who do not know them.
const REQUIRED_FLAGS: u32 = 0xffff;

/// What is wrong with a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It calls itself shorter than any reply.
    #[error("a reply that calls itself {0} bytes long, which no reply is")]
    TooShort(u32),
    /// It calls itself longer than any reply.
    #[error("a reply that calls itself {0} bytes long; the most is 48 MB")]
    TooLong(u32),
    /// There are other bytes than its length says.
    #[error("{0} unexpected bytes after a reply")]
    Surplus(usize),
    /// There is an answer to a change that wanted none.
    #[error(
        "an answer to a change that wanted none (`w: 0`); use another write concern with this server"
    )]
    Unrequested,
    #[error("a reply to request {found} instead of {expected}")]
    Request {
        /// The id of the request.
        expected: i32,
        /// The id in the reply.
        found: i32,
    },
    #[error("a reply with the opcode {0}, which is not OP_MSG")]
    Opcode(i32),
    #[error("a reply that announces another one (moreToCome)")]
    MoreToCome,
    #[error("a reply with a checksum, which was not requested")]
    Checksum,
    /// It has unknown flags that must not be ignored.
    #[error("a reply with the unknown flags {0:#x}")]
    Flags(u32),
    /// It does not begin with a document.
    #[error("a reply with a section of kind {0} where its document should be")]
    Section(u8),
    /// Its document is not BSON.
    #[error("a reply that is not BSON: {0}")]
    Malformed(#[from] Malformed),
    /// Something is not there or of the wrong type.
    #[error("a reply without `{0}`, or with another type of it")]
    Missing(&'static str),
    #[error("a reply with more documents than requested")]
    TooMany,
    /// Batch after batch without a document.
    #[error("reply after reply without a document, and none that says that it is the last")]
    NoProgress,
    /// A number of changes that cannot be.
    #[error("a reply that counts {found} changed records where {expected} were sent")]
    Count {
        /// How many there were to change.
        expected: u64,
        /// How many the reply counts.
        found: i64,
    },
}

/// An error in the words of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: i32,
    pub name: Box<str>,
    pub message: Box<str>,
}

/// Why a reply is not what was hoped for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    Flaw(Flaw),
    /// The server refused the whole command.
    Refused(Refusal),
    /// The server refused some or all of the changes.
    NotWritten {
        refused: u64,
        first: Refusal,
    },
    /// The changes are made, but not as durably as requested.
    NotDurable(Refusal),
}

impl From<Flaw> for Failure {
    fn from(flaw: Flaw) -> Self {
        Self::Flaw(flaw)
    }
}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        Self::Flaw(Flaw::Malformed(malformed))
    }
}

/// Bytes of the whole message that begins so; `None` before its length has come.
#[inline]
pub fn message_bytes(beginning: &[u8]) -> Result<Option<usize>, Flaw> {
    let Some(length) = word(beginning, 0) else {
        return Ok(None);
    };
    match length as usize {
        0..LEAST_BYTES => Err(Flaw::TooShort(length)),
        LEAST_BYTES..=MOST_BYTES => Ok(Some(length as usize)),
        _ => Err(Flaw::TooLong(length)),
    }
}

/// The document of a whole message that answers the request with this id.
#[inline]
pub fn body(message: &[u8], request: i32) -> Result<&[u8], Flaw> {
    let length = message_bytes(message)?.unwrap_or_default();
    if message.len() < LEAST_BYTES || message.len() < length {
        return Err(Flaw::TooShort(message.len() as u32));
    }
    if message.len() > length {
        return Err(Flaw::Surplus(message.len() - length));
    }
    let number = |at| word(message, at).unwrap_or_default();
    let opcode = number(12) as i32;
    if opcode != OP_MSG {
        return Err(Flaw::Opcode(opcode));
    }
    let found = number(8) as i32;
    if found != request {
        return Err(Flaw::Request { expected: request, found });
    }
    match number(HEADER_BYTES) & REQUIRED_FLAGS {
        0 => {}
        flags if flags & MORE_TO_COME != 0 => return Err(Flaw::MoreToCome),
        flags if flags & CHECKSUM_PRESENT != 0 => return Err(Flaw::Checksum),
        flags => return Err(Flaw::Flags(flags)),
    }
    let kind = message[BODY_AT - 1];
    if kind != BODY {
        return Err(Flaw::Section(kind));
    }
    let body = &message[BODY_AT..];
    let body_bytes = word(body, 0).unwrap_or_default() as usize;
    if body_bytes < body.len() {
        return Err(Flaw::Surplus(body.len() - body_bytes));
    }
    Ok(body)
}

#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(four.try_into().expect("these are four bytes")))
}

/// Some of the documents that a search found.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// By which to ask for more; 0 if there are no more.
    pub cursor: i64,
    documents: Elements<'a>,
}

impl<'a> Batch<'a> {
    /// Reads the reply to `find` or `getMore`.
    #[inline]
    pub fn of(body: &'a [u8]) -> Result<Self, Failure> {
        let mut top = Elements::of(body)?;
        let (mut ok, mut found) = (None, None);
        while let Some(element) = top.next()? {
            match element.name {
                b"ok" => ok = element.truth(),
                b"cursor" => found = element.elements(),
                _ => {}
            }
        }
        check_ok(ok, body)?;
        let mut inner = found.ok_or(Flaw::Missing("cursor"))?;
        let (mut cursor, mut documents) = (None, None);
        while let Some(element) = inner.next()? {
            match element.name {
                b"firstBatch" | b"nextBatch" if element.kind == ARRAY => {
                    documents = element.elements();
                }
                b"id" => cursor = element.whole(),
                _ => {}
            }
        }
        Ok(Self {
            cursor: cursor.ok_or(Flaw::Missing("cursor.id"))?,
            documents: documents.ok_or(Flaw::Missing("cursor.firstBatch"))?,
        })
    }

    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a malformed element is an error, and must be looked at"
    )]
    pub fn next(&mut self) -> Result<Option<Elements<'a>>, Flaw> {
        let Some(element) = self.documents.next()? else {
            return Ok(None);
        };
        if element.kind != DOCUMENT {
            return Err(Flaw::Missing("document in a batch"));
        }
        Ok(Some(Elements::of(element.value)?))
    }

    /// Goes through all documents and all that is in them, and counts them.
    #[inline]
    pub fn count(self) -> Result<u64, Flaw> {
        Ok(self.measure()?.0)
    }

    /// Goes through all documents and all that is in them: how many there are, and their bytes.
    #[inline]
    pub fn measure(mut self) -> Result<(u64, u64), Flaw> {
        let (mut count, mut bytes) = (0, 0);
        while let Some(element) = self.documents.next()? {
            if element.kind != DOCUMENT {
                return Err(Flaw::Missing("document in a batch"));
            }
            Elements::of(element.value)?.check()?;
            count += 1;
            bytes += element.value.len() as u64;
        }
        Ok((count, bytes))
    }
}

/// What a reply to a statement of an application says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementReply {
    /// Documents returned, counted, matched or inserted, or different values.
    pub documents: u64,
    /// Documents that the statement changed.
    pub modified: u64,
    /// Bytes of the documents or values returned.
    pub bytes: u64,
    /// By which to ask for more; 0 if there are no more.
    pub cursor: i64,
}

impl StatementReply {
    /// Reads the reply to a statement of this kind. The reply to `getMore` is read as that to `find`.
    #[inline]
    pub fn of(kind: StatementKind, body: &[u8]) -> Result<Self, Failure> {
        match kind {
            StatementKind::Find | StatementKind::Aggregate => {
                let batch = Batch::of(body)?;
                let (documents, bytes) = batch.measure()?;
                Ok(Self { documents, bytes, cursor: batch.cursor, ..Self::default() })
            }
            StatementKind::Count => Self::of_count(body),
            StatementKind::Distinct => Self::of_distinct(body),
            StatementKind::Insert => {
                let documents = written(body)?;
                Ok(Self { documents, ..Self::default() })
            }
            StatementKind::Delete => {
                let documents = written(body)?;
                Ok(Self { documents, modified: documents, ..Self::default() })
            }
            StatementKind::Update => {
                let (documents, modified) = written_and_modified(body)?;
                let modified = modified.ok_or(Flaw::Missing("nModified"))?;
                Ok(Self { documents, modified, ..Self::default() })
            }
            StatementKind::FindAndModify => Self::of_find_and_modify(body),
            StatementKind::Transaction | StatementKind::Steps => {
                committed(body).map(|()| Self::default())
            }
        }
    }

    fn of_count(body: &[u8]) -> Result<Self, Failure> {
        let mut top = Elements::of(body)?;
        let (mut ok, mut n) = (None, None);
        while let Some(element) = top.next()? {
            match element.name {
                b"ok" => ok = element.truth(),
                b"n" => n = element.whole(),
                _ => {}
            }
        }
        check_ok(ok, body)?;
        let n = n.and_then(|n| u64::try_from(n).ok()).ok_or(Flaw::Missing("n"))?;
        Ok(Self { documents: n, ..Self::default() })
    }

    fn of_distinct(body: &[u8]) -> Result<Self, Failure> {
        let mut top = Elements::of(body)?;
        let (mut ok, mut values) = (None, None);
        while let Some(element) = top.next()? {
            match element.name {
                b"ok" => ok = element.truth(),
                b"values" if element.kind == ARRAY => values = element.elements(),
                _ => {}
            }
        }
        check_ok(ok, body)?;
        let mut values = values.ok_or(Flaw::Missing("values"))?;
        let mut reply = Self::default();
        while let Some(value) = values.next()? {
            reply.documents += 1;
            reply.bytes += value.value.len() as u64;
        }
        Ok(reply)
    }

    fn of_find_and_modify(body: &[u8]) -> Result<Self, Failure> {
        let mut top = Elements::of(body)?;
        let (mut ok, mut value, mut last) = (None, None, None);
        let mut concern_error = None;
        while let Some(element) = top.next()? {
            match element.name {
                b"ok" => ok = element.truth(),
                b"value" => value = Some(element),
                b"lastErrorObject" => last = element.elements(),
                b"writeConcernError" => concern_error = Some(element),
                _ => {}
            }
        }
        check_ok(ok, body)?;
        check_durable(concern_error)?;
        let document = value.filter(|value| value.kind == DOCUMENT);
        let n = match last {
            Some(last) => last.find(b"n")?.and_then(|n| n.whole()),
            None => None,
        };
        // An upsert that returns the earlier document returns nothing, and `n` counts it.
        let documents = match (n, value) {
            (Some(n), _) => u64::try_from(n).ok().filter(|n| *n <= 1),
            (None, Some(_)) => Some(u64::from(document.is_some())),
            (None, None) => return Err(Failure::Flaw(Flaw::Missing("value"))),
        };
        let Some(documents) = documents else {
            return Err(Failure::Flaw(Flaw::Count { expected: 1, found: n.unwrap_or_default() }));
        };
        let bytes = document.map_or(0, |document| document.value.len() as u64);
        Ok(Self { documents, modified: documents, bytes, cursor: 0 })
    }
}

/// How many records a change met: the reply to `insert`, `update` or `delete`.
#[inline]
pub fn written(body: &[u8]) -> Result<u64, Failure> {
    Ok(written_and_modified(body)?.0)
}

/// How many documents a change met, and how many of them an update changed.
#[inline]
fn written_and_modified(body: &[u8]) -> Result<(u64, Option<u64>), Failure> {
    let mut top = Elements::of(body)?;
    let (mut ok, mut n, mut modified) = (None, None, None);
    let (mut write_errors, mut concern_error) = (None, None);
    while let Some(element) = top.next()? {
        match element.name {
            b"ok" => ok = element.truth(),
            b"n" => n = element.whole(),
            b"nModified" => modified = element.whole(),
            b"writeErrors" => write_errors = Some(element),
            b"writeConcernError" => concern_error = Some(element),
            _ => {}
        }
    }
    check_ok(ok, body)?;
    if let Some(errors) = write_errors {
        not_written(errors)?;
    }
    check_durable(concern_error)?;
    let n = n.ok_or(Flaw::Missing("n"))?;
    let count = |n| u64::try_from(n).map_err(|_| Flaw::Count { expected: 0, found: n });
    Ok((count(n)?, modified.map(count).transpose()?))
}

/// Fails if there is a write concern error.
#[inline]
fn check_durable(concern_error: Option<Element<'_>>) -> Result<(), Failure> {
    let Some(error) = concern_error else {
        return Ok(());
    };
    let error = error.elements().ok_or(Flaw::Missing("writeConcernError"))?;
    Err(Failure::NotDurable(refusal(error)?))
}

/// Reads the reply to `commitTransaction`.
pub fn committed(body: &[u8]) -> Result<(), Failure> {
    let mut top = Elements::of(body)?;
    let (mut ok, mut concern_error) = (None, None);
    while let Some(element) = top.next()? {
        match element.name {
            b"ok" => ok = element.truth(),
            b"writeConcernError" => concern_error = Some(element),
            _ => {}
        }
    }
    check_ok(ok, body)?;
    check_durable(concern_error)
}

/// Whether a server gave its error this label.
#[cold]
pub fn has_label(body: &[u8], label: &[u8]) -> bool {
    let labels = || {
        let labels = Elements::of(body).ok()?.find(b"errorLabels").ok()??;
        labels.elements()
    };
    let Some(mut labels) = labels() else {
        return false;
    };
    while let Ok(Some(one)) = labels.next() {
        if one.string() == Some(label) {
            return true;
        }
    }
    false
}

pub fn succeeded(body: &[u8]) -> Result<(), Failure> {
    let mut top = Elements::of(body)?;
    let mut ok = None;
    while let Some(element) = top.next()? {
        if element.name == b"ok" {
            ok = element.truth();
        }
    }
    check_ok(ok, body)
}

#[inline]
fn check_ok(ok: Option<bool>, body: &[u8]) -> Result<(), Failure> {
    match ok {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::Refused(refusal(Elements::of(body)?)?)),
        None => Err(Failure::Flaw(Flaw::Missing("ok"))),
    }
}

/// Fails if there is an error in the list.
#[cold]
fn not_written(errors: Element<'_>) -> Result<(), Failure> {
    let wrong = Flaw::Missing("writeErrors");
    let mut errors = errors.elements().ok_or(wrong)?;
    let Some(first) = errors.next()? else {
        return Ok(());
    };
    let first = refusal(first.elements().ok_or(wrong)?)?;
    let mut refused = 1;
    while errors.next()?.is_some() {
        refused += 1;
    }
    Err(Failure::NotWritten { refused, first })
}

/// The error that a document describes.
#[cold]
fn refusal(mut document: Elements<'_>) -> Result<Refusal, Malformed> {
    let (mut code, mut name, mut message) = (0, None, None);
    while let Some(element) = document.next()? {
        match element.name {
            b"code" => code = element.whole().and_then(|code| code.try_into().ok()).unwrap_or(0),
            b"codeName" => name = element.text(),
            b"errmsg" => message = element.text(),
            _ => {}
        }
    }
    Ok(Refusal {
        code,
        name: name.unwrap_or_else(|| "no name".into()).into(),
        message: message.unwrap_or_else(|| "it did not say why".into()).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;
    use proptest::prelude::*;

    fn valid() -> Vec<u8> {
        let document = doc! {
            "cursor": { "firstBatch": [{ "_id": "user1", "field0": "x" }, { "_id": "user2" }], "id": 9_i64, "ns": "d.c" },
            "n": 2,
            "writeErrors": [{ "index": 0, "code": 11_000, "errmsg": "why" }],
            "ok": 1.0,
        };
        let document = document.to_vec().unwrap();
        let mut message = Vec::new();
        message.extend_from_slice(&(BODY_AT as u32 + document.len() as u32).to_le_bytes());
        for word in [1, 7, OP_MSG, 0] {
            message.extend_from_slice(&word.to_le_bytes());
        }
        message.push(0);
        message.extend_from_slice(&document);
        message
    }

    fn decode(message: &[u8]) -> Option<(u64, i64)> {
        let _ = message_bytes(message);
        let body = body(message, 7).ok()?;
        let _ = (written(body), succeeded(body));
        let batch = Batch::of(body).ok()?;
        Some((batch.count().ok()?, batch.cursor))
    }

    #[test]
    fn a_batch_is_counted() {
        assert_eq!(decode(&valid()), Some((2, 9)));
        for length in 0..valid().len() {
            assert_eq!(decode(&valid()[..length]), None);
        }
    }

    /// The fewest bytes that a message with a document has, and the most that any has.
    #[test]
    fn lengths_have_limits() {
        let bytes = |length: u32| message_bytes(&length.to_le_bytes());
        assert_eq!(bytes(25), Err(Flaw::TooShort(25)));
        assert_eq!(bytes(26), Ok(Some(26)));
        assert_eq!(bytes(48_000_000), Ok(Some(48_000_000)));
        assert_eq!(bytes(48_000_001), Err(Flaw::TooLong(48_000_001)));
        assert_eq!(message_bytes(&[26, 0, 0]), Ok(None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
            let _ = (has_label(&bytes, b"x"), written(&bytes), succeeded(&bytes), Batch::of(&bytes).map(Batch::count));
            for kind in StatementKind::ALL {
                let _ = StatementReply::of(kind, &bytes);
            }
        }

        #[test]
        fn any_change_of_a_reply_is_taken(at in 0..160_usize, bytes in proptest::collection::vec(any::<u8>(), 1..5)) {
            let mut message = valid();
            for (offset, byte) in bytes.into_iter().enumerate() {
                if let Some(old) = message.get_mut(at + offset) {
                    *old = byte;
                }
            }
            let _ = decode(&message);
            let _ = (written(&message[BODY_AT..]), Batch::of(&message[BODY_AT..]).map(Batch::count));
            for kind in StatementKind::ALL {
                let _ = StatementReply::of(kind, &message[BODY_AT..]);
            }
        }
    }
}
