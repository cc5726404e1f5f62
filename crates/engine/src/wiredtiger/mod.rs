//! WiredTiger, MongoDB's storage engine, embedded and in the layout that mongod uses.
//!
//! A collection maps record ids to BSON documents, and an index maps the keys (`_id`) to record ids. A read is a search in the index and
//! one in the collection; an insert writes both in one transaction. A thread flushes the journal every 100 ms, checkpoints happen every
//! 60 s. So caches, pages, journal and disk see what they see under mongod, without a server between.
//!
//! | file | holds |
//! |---|---|
//! | `catalogue` | everything that can be set |
//! | `configuration` | WiredTiger's configuration strings made of it |
//! | `raw` | connections, sessions and cursors of the C library; all variadic calls |
//! | `messages` | what WiredTiger says when something fails, and what to do about it |
//! | `document`, `identifier` | the bytes of records, keys and record ids, as mongod writes them |
//! | `engine`, `session` | the two traits of this crate |
//! | `journal` | the thread that flushes the journal, and those who wait for it |
//! | `statistics` | WiredTiger's own counters |
//! | `bare` | the same calls with nothing around them, for benches |

#[cfg(feature = "wiredtiger")]
pub mod bare;
mod catalogue;
#[cfg(feature = "wiredtiger")]
mod configuration;
#[cfg(feature = "wiredtiger")]
mod document;
#[cfg(feature = "wiredtiger")]
mod engine;
#[cfg(feature = "wiredtiger")]
mod identifier;
#[cfg(feature = "wiredtiger")]
mod journal;
#[cfg(feature = "wiredtiger")]
mod messages;
#[cfg(feature = "wiredtiger")]
mod raw;
#[cfg(feature = "wiredtiger")]
mod session;
#[cfg(feature = "wiredtiger")]
mod statistics;
#[cfg(feature = "wiredtiger")]
#[cfg(test)]
mod tests;

pub(crate) use catalogue::KIND;
#[cfg(feature = "wiredtiger")]
pub(crate) use engine::open;

#[cfg(not(feature = "wiredtiger"))]
pub(crate) fn open(_: &crate::Opening<'_>) -> Result<Box<dyn crate::Engine>, crate::EngineError> {
    Err(crate::EngineError::NotBuilt { name: KIND.name.into() })
}
