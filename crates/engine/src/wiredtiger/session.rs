//! Measuring path: no allocation, lock, log or formatting here where an operation succeeds and the buffers have grown. A change that waits
//! for the journal takes the journal's lock.
//!
//! The operations, as mongod makes them of WiredTiger's calls.

use super::document::{self, Element, Elements};
use super::identifier::{read_record_id, write_key, write_record_id};
use super::journal::Journal;
use super::messages::Code;
use super::raw::{Cursor, Pieces, RawSession};
use crate::{EngineError, FieldVisitor, Outcome, Session};
use plimsoll_workload::{FieldChoice, Fields};
use std::ffi::CStr;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

pub(super) const COLLECTION: &CStr = c"table:collection";
pub(super) const INDEX: &CStr = c"table:index";

/// What all sessions of a database share.
pub(super) struct Shared {
    pub(super) next_record_id: AtomicI64,
    /// Names of all fields, by number.
    pub(super) names: Vec<Box<[u8]>>,
    pub(super) update_by_modify: bool,
    /// What buffers of documents hold from the beginning.
    pub(super) document_bytes: usize,
}

pub(super) struct WiredTigerSession {
    // In the order in which they must be dropped: cursors before their session.
    index: Cursor,
    collection: Cursor,
    session: RawSession,
    shared: Arc<Shared>,
    /// To wait on after each change, if changes must be durable.
    journal: Option<Arc<Journal>>,
    key: Vec<u8>,
    record_id: Vec<u8>,
    document: Vec<u8>,
    retries: u64,
}

/// A call that returned something other than 0.
struct Failure {
    call: &'static str,
    code: Code,
}

/// Names the call that failed.
fn failed(call: &'static str) -> impl Fn(Code) -> Failure {
    move |code| Failure { call, code }
}

impl WiredTigerSession {
    pub(super) fn open(
        session: RawSession,
        shared: Arc<Shared>,
        journal: Option<Arc<Journal>>,
    ) -> Result<Self, EngineError> {
        // SAFETY: both cursors become fields before their session, so they are dropped before it and move with it. On the way there, the
        // first is dropped before `session`, which is an argument and so outlives all local variables.
        let index = unsafe { session.cursor(INDEX, Some(c"overwrite=false")) }?;
        // SAFETY: as above.
        let collection = unsafe { session.cursor(COLLECTION, None) }?;
        Ok(Self {
            index,
            collection,
            session,
            journal,
            key: Vec::new(),
            record_id: Vec::new(),
            document: Vec::with_capacity(shared.document_bytes),
            shared,
            retries: 0,
        })
    }

    /// Moves both cursors to a record.
    #[inline]
    fn find(&mut self, key: &[u8]) -> Result<(), Failure> {
        write_key(key, &mut self.key);
        self.index.search_bytes(&self.key).map_err(failed("WT_CURSOR.search of the index"))?;
        self.follow()
    }

    /// Moves the collection's cursor to the record under the index's cursor.
    #[inline]
    fn follow(&mut self) -> Result<(), Failure> {
        let bytes = self.index.value().map_err(failed("WT_CURSOR.get_value of the index"))?;
        let record_id = read_record_id(bytes)
            .ok_or(Code::EINVAL)
            .map_err(failed("reading a record id of the index"))?;
        self.collection
            .search_record_id(record_id)
            .map_err(failed("WT_CURSOR.search of the collection"))
    }

    /// Has the bytes of the record under the collection's cursor, and hands over those that are requested.
    #[inline]
    fn fetch(
        &self,
        fields: FieldChoice<'_>,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Result<(), Failure> {
        let document =
            self.collection.value().map_err(failed("WT_CURSOR.get_value of the collection"))?;
        match (fields, visitor) {
            (FieldChoice::All, None) => {
                black_box(document);
            }
            (FieldChoice::All, Some(visitor)) => {
                for field in Elements::of(document) {
                    visitor.field(field.name, field.value);
                }
            }
            (FieldChoice::Some(numbers), mut visitor) => {
                let mut elements = Elements::of(document);
                for number in numbers {
                    let Some(name) = self.shared.names.get(*number as usize) else {
                        continue;
                    };
                    if let Some(field) = locate(document, &mut elements, name) {
                        match &mut visitor {
                            Some(visitor) => visitor.field(field.name, field.value),
                            None => _ = black_box(field.value),
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives up both positions, so that no page is held between operations.
    #[inline]
    fn reset(&mut self) -> Result<(), Failure> {
        let index = self.index.reset();
        let collection = self.collection.reset();
        index.and(collection).map_err(failed("WT_CURSOR.reset"))
    }

    /// Repeats an operation for as long as WiredTiger wants it rolled back. Outside of a transaction of our own there is nothing to roll back.
    #[inline]
    fn reading(&mut self, mut operation: impl FnMut(&mut Self) -> Result<(), Failure>) -> Outcome {
        loop {
            let result = operation(self);
            let reset = self.reset();
            match result.and(reset) {
                Err(Failure { code: Code::ROLLBACK, .. }) => self.retries += 1,
                result => return self.outcome(result),
            }
        }
    }

    /// Runs an operation in a transaction, again and again for as long as it meets another's change, and waits until it is durable if it
    /// is to be.
    fn changing(&mut self, mut operation: impl FnMut(&mut Self) -> Result<(), Failure>) -> Outcome {
        let mut attempts = 0_u32;
        let result = loop {
            match self.transact(&mut operation) {
                Err(Failure { code: Code::ROLLBACK, .. }) => {
                    self.retries += 1;
                    attempts += 1;
                    // mongod as well tries a few times at once before it lets others go first.
                    if attempts > 4 {
                        std::thread::yield_now();
                    }
                }
                result => break result,
            }
        };
        let result = result.and_then(|()| match &self.journal {
            Some(journal) => journal.wait().map_err(failed("WT_SESSION.log_flush")),
            None => Ok(()),
        });
        self.outcome(result)
    }

    fn transact(
        &mut self,
        operation: &mut impl FnMut(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.session.begin().map_err(failed("WT_SESSION.begin_transaction"))?;
        match operation(self) {
            // Both ends of a transaction reset the session's cursors.
            Ok(()) => self.session.commit().map_err(failed("WT_SESSION.commit_transaction")),
            Err(failure) => {
                // If this fails as well, the first failure is the cause.
                let _ = self.session.roll_back();
                Err(failure)
            }
        }
    }

    #[inline]
    fn outcome(&self, result: Result<(), Failure>) -> Outcome {
        match result {
            Ok(()) => Outcome::Ok,
            Err(Failure { code: Code::NOT_FOUND, .. }) => Outcome::NotFound,
            Err(failure) => self.error(&failure),
        }
    }

    #[cold]
    fn error(&self, failure: &Failure) -> Outcome {
        if failure.code == Code::DUPLICATE_KEY {
            return Outcome::error("wiredtiger: there is already a record with this key");
        }
        let messages = self.session.connection().messages();
        let text = messages.explain(failure.code, Some(self.session.address()));
        Outcome::error(format!("wiredtiger: {} failed: {text}", failure.call))
    }

    /// Replaces fields of the record under the collection's cursor.
    fn change(&mut self, changes: Fields<'_>) -> Result<(), Failure> {
        let old =
            self.collection.value().map_err(failed("WT_CURSOR.get_value of the collection"))?;
        if self.shared.update_by_modify
            && let Some(mut pieces) = pieces(old, changes)
        {
            return self
                .collection
                .modify(&mut pieces)
                .map_err(failed("WT_CURSOR.modify of the collection"));
        }
        document::write_changed(old, changes, &mut self.document);
        self.collection.update(&self.document).map_err(failed("WT_CURSOR.update of the collection"))
    }
}

/// The field of this name. Looks onward from the last one that was found, because numbers, names and fields come in the same order.
#[inline]
fn locate<'a>(document: &'a [u8], elements: &mut Elements<'a>, name: &[u8]) -> Option<Element<'a>> {
    if let Some(field) = elements.find(|field| field.name == name) {
        return Some(field);
    }
    *elements = Elements::of(document);
    elements.find(|field| field.name == name)
}

/// The changes as pieces for `WT_CURSOR.modify`, where mongod would use it (`WiredTigerRecordStore::_updateRecord`): documents above
/// 1 kB, at most 16 pieces, at most a tenth of the bytes. And where no value changes its length, since only then pieces suffice.
fn pieces<'a>(old: &[u8], changes: Fields<'a>) -> Option<Pieces<'a>> {
    const SHORTEST: usize = 1_024;
    if old.len() <= SHORTEST || changes.value_bytes() > old.len() / 10 {
        return None;
    }
    let mut pieces = Pieces::new();
    let mut elements = Elements::of(old);
    for (_, name, value) in changes {
        let field = locate(old, &mut elements, name)?;
        if field.value.len() != value.len() || !pieces.add(field.value_at, value) {
            return None;
        }
    }
    Some(pieces)
}

impl Session for WiredTigerSession {
    fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        mut visitor: Option<&mut dyn FieldVisitor>,
    ) -> Outcome {
        self.reading(|session| {
            session.find(key)?;
            // Nothing after this asks for a repetition, so the visitor sees each field once.
            session.fetch(
                fields,
                visitor.as_mut().map(|visitor| &mut **visitor as &mut dyn FieldVisitor),
            )
        })
    }

    fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Outcome {
        self.changing(|session| {
            session.find(key)?;
            session.change(changes)
        })
    }

    fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Outcome {
        let record_id = self.shared.next_record_id.fetch_add(1, Ordering::Relaxed);
        document::write(key, fields, &mut self.document);
        write_key(key, &mut self.key);
        write_record_id(record_id, &mut self.record_id);
        self.changing(|session| {
            session
                .collection
                .insert_record(record_id, &session.document)
                .map_err(failed("WT_CURSOR.insert into the collection"))?;
            session
                .index
                .insert_bytes(&session.key, &session.record_id)
                .map_err(failed("WT_CURSOR.insert into the index"))
        })
    }

    fn scan(
        &mut self,
        start: &[u8],
        count: u32,
        fields: FieldChoice<'_>,
        rows: &mut u32,
    ) -> Outcome {
        write_key(start, &mut self.key);
        self.reading(|session| {
            *rows = 0;
            let found = session.index.search_near_bytes(&session.key);
            let mut moved = match found {
                Ok(exact) if exact < 0 => session.index.next(),
                found => found.map(|_| ()),
            };
            while *rows < count {
                match moved {
                    Err(Code::NOT_FOUND) => break,
                    moved => moved.map_err(failed("moving in the index"))?,
                }
                match session.follow() {
                    Ok(()) => {
                        session.fetch(fields, None)?;
                        *rows += 1;
                    }
                    // Deleted between the two tables.
                    Err(Failure { code: Code::NOT_FOUND, .. }) => {}
                    Err(failure) => return Err(failure),
                }
                if *rows == count {
                    break;
                }
                moved = session.index.next();
            }
            Ok(())
        })
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        self.changing(|session| {
            session.find(key)?;
            session.index.remove().map_err(failed("WT_CURSOR.remove of the index"))?;
            session.collection.remove().map_err(failed("WT_CURSOR.remove of the collection"))
        })
    }

    fn retries(&self) -> u64 {
        self.retries
    }
}
