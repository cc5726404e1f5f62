//! Measuring path: no allocation, lock, log or formatting here after the buffers are made.
//!
//! The load phase: every record once.

use crate::ask::{Ask, Fields};
use crate::counter::Counter;
use crate::key::KeyText;
use crate::keyspace::KeySpace;
use crate::record::RecordBuffer;
use crate::stream::{Family, Purpose};
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
}

impl Loader {
    pub(crate) fn new(key_space: &Arc<KeySpace>, seed: u64) -> Self {
        let data = key_space.data();
        Self {
            key_space: Arc::clone(key_space),
            numbers: Counter::new(data.insert_start),
            end: data.insert_start + data.key_count(),
            contents: Family::new(seed, Purpose::Records),
        }
    }

    /// The part of one session, with buffers of its own. It does not matter which session this is.
    #[must_use]
    pub fn generator(self: &Arc<Self>, _session: u64) -> InsertGenerator {
        let data = self.key_space.data();
        InsertGenerator {
            key: KeyText::new(data.key_order, data.zero_padding),
            record: self.key_space.shape.buffer(),
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
}

impl InsertGenerator {
    /// The next record that no session has taken yet, always as an [`Ask::Insert`], or `None` when all are taken. Records of the load
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
        let shape = &self.loader.key_space.shape;
        let key = self.key.write(number);
        shape.fill_all(
            key,
            &mut self.loader.contents.stream(number),
            &mut self.record,
        );
        Some(Ask::Insert {
            key,
            fields: Fields::new(&shape.names, &self.record),
            number,
        })
    }
}
