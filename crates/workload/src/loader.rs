//! Measuring path: no allocation, lock, log or formatting here after the buffers are made.
//!
//! The load phase: every record once.

use crate::ask::{Ask, Fields};
use crate::counter::Counter;
use crate::documents::DocumentLoad;
use crate::key::KeyText;
use crate::keyspace::KeySpace;
use crate::record::RecordBuffer;
use crate::schedule::{Share, things_before};
use crate::stream::{Family, Purpose};
use plimsoll_record::OwnOperation;
use std::sync::Arc;

/// Hands out the records to load, shared by all sessions.
///
/// Made by [`KeySpace::loader`]. A record follows from the seed and its key number alone, so that the data is the same whatever the number
/// of sessions.
#[derive(Debug)]
pub struct Loader {
    key_space: Arc<KeySpace>,
    numbers: Counter,
    end: u64,
    contents: Family,
    /// Loads an application's documents. Then commands are counted.
    own: Option<DocumentLoad>,
}

impl KeySpace {
    /// Hands out the records of the load phase, whatever the share: from `insert_start` on, as many as `insert_count` says.
    pub fn loader(self: &Arc<Self>, seed: u64) -> Arc<Loader> {
        Arc::new(Loader::new(self, seed))
    }
}

impl Loader {
    fn new(key_space: &Arc<KeySpace>, seed: u64) -> Self {
        let data = key_space.data();
        let own = key_space.documents.as_ref().and_then(DocumentLoad::new);
        let (start, end) = match &own {
            Some(load) => (0, load.commands()),
            None => (data.insert_start, data.insert_start + data.key_count()),
        };
        Self {
            key_space: Arc::clone(key_space),
            numbers: Counter::new(start),
            end,
            contents: Family::new(seed, Purpose::Records),
            own,
        }
    }

    /// What the load of an application's documents is called in slices; nothing of YCSB's records.
    pub fn own_operations(&self) -> Vec<OwnOperation> {
        self.own.iter().map(DocumentLoad::operation).collect()
    }

    /// The records that one host loads, of the first `most` (of all when absent), where hosts share `sessions` sessions as [`Share::sessions`] says. They
    /// are a contiguous range of key numbers, as long as the host has sessions, and together the parts of all hosts are all records. A host without a session
    /// has no record.
    ///
    /// On the only host this is the same loader, whatever the other arguments are.
    pub fn part(self: &Arc<Self>, share: Share, sessions: u32, most: Option<u64>) -> Arc<Self> {
        if share.is_whole() {
            return Arc::clone(self);
        }
        let first = self.numbers.upcoming().min(self.end);
        let all = self.end - first;
        let count = most.map_or(all, |most| most.min(all));
        let own = share.sessions(sessions);
        Arc::new(Self {
            key_space: Arc::clone(&self.key_space),
            numbers: Counter::new(first + things_before(count, sessions, own.start)),
            end: first + things_before(count, sessions, own.end),
            contents: self.contents,
            own: self.own.clone(),
        })
    }

    /// The part of one session, with buffers of its own. It does not matter which session this is.
    pub fn generator(self: &Arc<Self>, _session: u64) -> InsertGenerator {
        let data = self.key_space.data();
        InsertGenerator {
            key: KeyText::new(data.key_order, data.zero_padding),
            record: self.key_space.shape.buffer(),
            own: self.own.clone(),
            loader: Arc::clone(self),
        }
    }
}

/// One session of the load phase.
#[derive(Debug)]
pub struct InsertGenerator {
    loader: Arc<Loader>,
    key: KeyText,
    record: RecordBuffer,
    own: Option<DocumentLoad>,
}

impl InsertGenerator {
    /// The next record that no session has taken yet, always as an [`Ask::Insert`] (of documents several, as an [`Ask::Statement`]), or `None` when all are taken. Records of the load
    /// phase are not acknowledged.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "the record borrows the generator, as no iterator can let it"
    )]
    pub fn next(&mut self) -> Option<Ask<'_>> {
        let number = self.loader.numbers.take();
        if number >= self.loader.end {
            return None;
        }
        if let Some(own) = &mut self.own {
            return Some(own.command(number));
        }
        let shape = &self.loader.key_space.shape;
        let key = self.key.write(number);
        shape.fill_all(key, &mut self.loader.contents.stream(number), &mut self.record);
        Some(Ask::Insert { key, fields: Fields::new(&shape.names, &self.record), number })
    }
}
