//! The same calls of WiredTiger with nothing of this program around them: the yardstick of the benches.
//!
//! What a session or the whole load generator achieves on [`Bare::engine`] is compared with a loop over [`BareReader::read`] on the very
//! same open database.

use super::KIND;
use super::engine::WiredTiger;
use super::identifier::{read_record_id, write_key};
use super::raw::{Cursor, RawSession};
use super::session::{COLLECTION, INDEX};
use crate::opening::completed;
use crate::{Engine, EngineError, Opening};
use plimsoll_wiredtiger_sys as wt;
use std::hint::black_box;
use std::ptr::null_mut;

/// A WiredTiger database that can also be read without the engine's session.
pub struct Bare {
    engine: WiredTiger,
}

impl Bare {
    pub fn open(opening: &Opening<'_>) -> Result<Self, EngineError> {
        let settings = completed(&KIND, opening.settings)?;
        let engine = WiredTiger::open(&Opening { settings: &settings, ..*opening })?;
        Ok(Self { engine })
    }

    /// The engine as everybody else sees it.
    pub fn engine(&self) -> &dyn Engine {
        &self.engine
    }

    /// A reader of these keys, for one thread. To be made after the database has settled.
    pub fn reader<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]>,
    ) -> Result<BareReader, EngineError> {
        let session = self.engine.connection()?.session()?;
        // SAFETY: both cursors become fields before their session, so they are dropped before it.
        let (index, collection) =
            unsafe { (session.cursor(INDEX, None)?, session.cursor(COLLECTION, None)?) };
        let (mut bytes, mut ends, mut one) = (Vec::new(), Vec::new(), Vec::new());
        for key in keys {
            write_key(key, &mut one);
            bytes.extend_from_slice(&one);
            ends.push(bytes.len());
        }
        Ok(BareReader { index, collection, _session: session, bytes, ends })
    }

    pub fn close(self) -> Result<(), EngineError> {
        Box::new(self.engine).close()
    }
}

/// A session with two cursors, and keys as the index holds them.
pub struct BareReader {
    index: Cursor,
    collection: Cursor,
    _session: RawSession,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl BareReader {
    /// Reads the record of one key, by its place among the keys, with the calls that mongod makes. Returns the bytes of its document.
    ///
    /// # Panics
    /// When WiredTiger does not find it.
    #[inline]
    pub fn read(&mut self, number: usize) -> usize {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        let key = &self.bytes[start..self.ends[number]];
        let key = wt::WT_ITEM {
            data: key.as_ptr().cast(),
            size: key.len(),
            mem: null_mut(),
            memsize: 0,
            flags: 0,
        };
        let mut value =
            wt::WT_ITEM { data: null_mut(), size: 0, mem: null_mut(), memsize: 0, flags: 0 };
        let (index, collection) = (self.index.as_ptr(), self.collection.as_ptr());
        // SAFETY: both cursors are open and used by this thread alone; the formats are `u`, `u` and `q`, `u`; the key outlives the search; the
        // values are used before their cursor moves.
        unsafe {
            (*index).set_key.expect("a method")(index, &raw const key);
            assert_eq!((*index).search.expect("a method")(index), 0);
            assert_eq!((*index).get_value.expect("a method")(index, &raw mut value), 0);
            let record_id = std::slice::from_raw_parts(value.data.cast::<u8>(), value.size);
            let record_id = read_record_id(record_id).expect("the index holds record ids");
            (*collection).set_key.expect("a method")(collection, record_id);
            assert_eq!((*collection).search.expect("a method")(collection), 0);
            assert_eq!((*collection).get_value.expect("a method")(collection, &raw mut value), 0);
            black_box(value.data);
            (*index).reset.expect("a method")(index);
            (*collection).reset.expect("a method")(collection);
        }
        value.size
    }
}
