//! Measuring path: no allocation, lock, log or formatting here once the buffers have grown.
//!
//! Requests that are written once, up to what differs from one operation to the next, and completed for each operation.
//!
//! A message is a header (its length, its id, the id of what it answers, the opcode), a word of flags, and sections: the command as a
//! document, and for changes a sequence of documents behind it.

use crate::mongo::concern::WriteConcern;
use crate::mongo::encode::{self, Begun};

/// Bytes of the header of every message.
pub(crate) const HEADER_BYTES: usize = 16;
/// The only opcode in use since MongoDB 3.6.
pub(crate) const OP_MSG: i32 = 2013;
/// Flag: no reply to this message is wanted, or another message follows it.
pub(crate) const MORE_TO_COME: u32 = 2;
/// Kind of a section: one document, the command or the reply.
pub(crate) const BODY: u8 = 0;
/// Kind of a section: a named sequence of documents.
pub(crate) const SEQUENCE: u8 = 1;
/// Where the body begins: behind the header, the flags and the kind of the section.
pub(crate) const BODY_AT: usize = HEADER_BYTES + 4 + 1;

#[derive(Clone, Debug)]
pub(crate) struct Message {
    bytes: Vec<u8>,
    /// What stays the same: this many bytes from the beginning.
    fixed: usize,
    /// The document or sequence that the changing part belongs to.
    open: Open,
    /// Where the number of the change in its session is, if it has one.
    transaction_at: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Open {
    Body(Begun),
    /// The sequence whose length belongs here.
    Sequence {
        length_at: usize,
    },
}

/// What every message begins with, up to its first element.
fn begin(flags: u32) -> (Vec<u8>, Begun) {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes[12..16].copy_from_slice(&OP_MSG.to_le_bytes());
    bytes.extend_from_slice(&flags.to_le_bytes());
    bytes.push(BODY);
    let body = encode::begin(&mut bytes);
    (bytes, body)
}

impl Message {
    /// A search. What is requested is [appended](Self::restart) for each operation.
    pub(crate) fn find(
        database: &str,
        collection: &str,
        read_concern: Option<&str>,
        one: bool,
    ) -> Self {
        let (mut bytes, body) = begin(0);
        encode::string(b"find", collection.as_bytes(), &mut bytes);
        if one {
            encode::int32(b"limit", 1, &mut bytes);
            encode::boolean(b"singleBatch", true, &mut bytes);
        } else {
            let sort = encode::begin_element(b"sort", &mut bytes);
            encode::int32(b"_id", 1, &mut bytes);
            encode::end(sort, &mut bytes);
        }
        if let Some(level) = read_concern {
            let concern = encode::begin_element(b"readConcern", &mut bytes);
            encode::string(b"level", level.as_bytes(), &mut bytes);
            encode::end(concern, &mut bytes);
        }
        encode::string(b"$db", database.as_bytes(), &mut bytes);
        Self { fixed: bytes.len(), bytes, open: Open::Body(body), transaction_at: None }
    }

    /// A change: `name` is the command, and the documents that are appended for each operation are its sequence `sequence`. In a session,
    /// each change has a [number](Self::number), by which the server knows one that it has made already.
    pub(crate) fn change(
        name: &str,
        sequence: &str,
        database: &str,
        collection: &str,
        concern: &WriteConcern,
        ordered: bool,
        session: Option<&[u8; 16]>,
    ) -> Self {
        let flags = if concern.is_acknowledged() { 0 } else { MORE_TO_COME };
        let (mut bytes, body) = begin(flags);
        encode::string(name.as_bytes(), collection.as_bytes(), &mut bytes);
        encode::boolean(b"ordered", ordered, &mut bytes);
        concern.write(&mut bytes);
        let transaction_at = session.map(|session| {
            encode::session(session, 0, &mut bytes);
            bytes.len() - size_of::<i64>()
        });
        encode::string(b"$db", database.as_bytes(), &mut bytes);
        encode::end(body, &mut bytes);
        bytes.push(SEQUENCE);
        let length_at = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(sequence.as_bytes());
        bytes.push(0);
        Self { fixed: bytes.len(), bytes, open: Open::Sequence { length_at }, transaction_at }
    }

    /// Gives a change its number in its session, if it has one.
    #[inline]
    pub(crate) fn number(&mut self, transaction: i64) {
        if let Some(at) = self.transaction_at {
            self.bytes[at..at + size_of::<i64>()].copy_from_slice(&transaction.to_le_bytes());
        }
    }

    /// Nothing: the whole command is appended each time.
    pub(crate) fn empty() -> Self {
        Self::command_beginning(&[])
    }

    /// Any command, given as a whole document without `$db`. Nothing can be appended.
    pub(crate) fn command(database: &str, document: &[u8]) -> Self {
        let elements = document.get(4..document.len().saturating_sub(1));
        let mut message = Self::command_beginning(elements.unwrap_or_default());
        encode::string(b"$db", database.as_bytes(), &mut message.bytes);
        message.fixed = message.bytes.len();
        message
    }

    fn command_beginning(elements: &[u8]) -> Self {
        let (mut bytes, body) = begin(0);
        bytes.extend_from_slice(elements);
        Self { fixed: bytes.len(), bytes, open: Open::Body(body), transaction_at: None }
    }

    /// Whether the server is to answer this message.
    #[inline]
    pub(crate) fn set_is_answered(&mut self, is_answered: bool) {
        let flags = if is_answered { 0 } else { MORE_TO_COME };
        self.bytes[HEADER_BYTES..HEADER_BYTES + 4].copy_from_slice(&flags.to_le_bytes());
    }

    /// Forgets what was appended, and gives the buffer to append to.
    #[inline]
    pub(crate) fn restart(&mut self) -> &mut Vec<u8> {
        self.bytes.truncate(self.fixed);
        &mut self.bytes
    }

    /// The buffer to append to, with what was appended before.
    #[inline]
    pub(crate) fn append(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(crate) fn appended(&self) -> usize {
        self.bytes.len() - self.fixed
    }

    /// Bytes of the command so far.
    #[inline]
    pub(crate) fn body_bytes(&self) -> usize {
        self.bytes.len() - BODY_AT
    }

    /// Takes away what was appended beyond this length.
    #[inline]
    pub(crate) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length.max(self.fixed));
    }

    /// Takes away what was appended before `from`, so that only what is behind it stays.
    pub(crate) fn keep_from(&mut self, from: usize) {
        let kept = self.bytes.len() - from;
        self.bytes.copy_within(from.., self.fixed);
        self.bytes.truncate(self.fixed + kept);
    }

    /// Writes lengths and id, and gives the whole message.
    #[inline]
    pub(crate) fn finish(&mut self, id: i32) -> &[u8] {
        if let Open::Body(body) = self.open {
            encode::end(body, &mut self.bytes);
        }
        self.finish_at(self.bytes.len(), id)
    }

    /// The same for a sequence that ends at `end` for now.
    #[inline]
    pub(crate) fn finish_at(&mut self, end: usize, id: i32) -> &[u8] {
        if let Open::Sequence { length_at } = self.open {
            encode::write_length_at(length_at, end - length_at, &mut self.bytes);
        }
        encode::write_length_at(0, end, &mut self.bytes);
        self.bytes[4..8].copy_from_slice(&id.to_le_bytes());
        &self.bytes[..end]
    }
}
