//! WiredTiger's own counters, by the names of `plimsoll_record::figures`.
//!
//! Walking all 712 takes 140 µs; these are searched one by one, by the constants of the header, because their numbers change between versions.
//!
//! Blocks are what the block manager reads with one system call each, metadata and history store included; the journal has counters of its
//! own. The kernel answers such a read from its page cache or from the device, which WiredTiger cannot know.

use super::raw::{Connection, Cursor, RawSession};
use crate::EngineError;
use plimsoll_record::figures;
use plimsoll_wiredtiger_sys as wt;
use std::sync::Arc;

const MICROSECOND: f64 = 1e3;
const MILLISECOND: f64 = 1e6;

/// Figures that are one of its counters, and the unit in which it counts.
static KEPT: &[(&str, u32, f64)] = &[
    (figures::ENGINE_CACHE_USED, wt::WT_STAT_CONN_CACHE_BYTES_INUSE, 1.0),
    (figures::ENGINE_CACHE_MAXIMUM, wt::WT_STAT_CONN_CACHE_BYTES_MAX, 1.0),
    (figures::ENGINE_CACHE_DIRTY, wt::WT_STAT_CONN_CACHE_BYTES_DIRTY, 1.0),
    (figures::ENGINE_CACHE_READ_BYTES, wt::WT_STAT_CONN_CACHE_BYTES_READ, 1.0),
    (figures::ENGINE_CACHE_WRITTEN_BYTES, wt::WT_STAT_CONN_CACHE_BYTES_WRITE, 1.0),
    (figures::ENGINE_PAGES_REQUESTED, wt::WT_STAT_CONN_CACHE_PAGES_REQUESTED, 1.0),
    (figures::ENGINE_PAGES_READ, wt::WT_STAT_CONN_CACHE_READ, 1.0),
    (figures::ENGINE_PAGES_WRITTEN, wt::WT_STAT_CONN_CACHE_WRITE, 1.0),
    // The time that application threads spent evicting or waiting because the cache was too full.
    (figures::ENGINE_CACHE_WAIT, wt::WT_STAT_CONN_APPLICATION_CACHE_TIME, MICROSECOND),
    (figures::ENGINE_BLOCK_READS, wt::WT_STAT_CONN_BLOCK_READ, 1.0),
    (figures::ENGINE_BLOCK_READ_BYTES, wt::WT_STAT_CONN_BLOCK_BYTE_READ, 1.0),
    (figures::ENGINE_BLOCK_WRITES, wt::WT_STAT_CONN_BLOCK_WRITE, 1.0),
    (figures::ENGINE_BLOCK_WRITTEN_BYTES, wt::WT_STAT_CONN_BLOCK_BYTE_WRITE, 1.0),
    (figures::ENGINE_JOURNAL_BYTES, wt::WT_STAT_CONN_LOG_BYTES_WRITTEN, 1.0),
    (figures::ENGINE_JOURNAL_SYNCS, wt::WT_STAT_CONN_LOG_SYNC, 1.0),
    (figures::ENGINE_JOURNAL_SYNC_TIME, wt::WT_STAT_CONN_LOG_SYNC_DURATION, MICROSECOND),
    (figures::ENGINE_CHECKPOINTS, wt::WT_STAT_CONN_CHECKPOINTS_TOTAL_SUCCEED, 1.0),
    (figures::ENGINE_CHECKPOINT_TIME, wt::WT_STAT_CONN_CHECKPOINT_TIME_TOTAL, MILLISECOND),
    (figures::ENGINE_ROLLBACKS, wt::WT_STAT_CONN_TXN_ROLLBACK, 1.0),
];

/// A cursor over the counters, refreshed at each reading.
pub(super) struct Statistics {
    // Dropped before its session.
    cursor: Cursor,
    _session: RawSession,
    evicted_by_application: f64,
}

impl Statistics {
    pub(super) fn open(connection: &Arc<Connection>) -> Result<Self, EngineError> {
        let session = connection.session()?;
        // SAFETY: the cursor is the field before its session, so it is dropped first; both are used together behind one mutex.
        let cursor = unsafe { session.cursor(c"statistics:", None) }?;
        Ok(Self { cursor, _session: session, evicted_by_application: 0.0 })
    }

    pub(super) fn read(&mut self, into: &mut Vec<(&'static str, f64)>) {
        // A reset starts the counters again. Where that or a search fails, the figure is left out: they are a by-product of a run.
        if self.cursor.reset().is_err() {
            return;
        }
        for (name, number, unit) in KEPT {
            if let Some(value) = self.value(*number) {
                into.push((name, value * unit));
            }
        }
        let clean = self.value(wt::WT_STAT_CONN_CACHE_EVICTION_CLEAN);
        let dirty = self.value(wt::WT_STAT_CONN_CACHE_EVICTION_DIRTY);
        if let (Some(clean), Some(dirty)) = (clean, dirty) {
            into.push((figures::ENGINE_EVICTIONS, clean + dirty));
        }
        let attempts = self.value(wt::WT_STAT_CONN_EVICTION_APP_ATTEMPT);
        let failures = self.value(wt::WT_STAT_CONN_EVICTION_APP_FAIL);
        if let (Some(attempts), Some(failures)) = (attempts, failures) {
            // An attempt under way counts as a success until it fails. The figure does not fall when it does.
            self.evicted_by_application = self.evicted_by_application.max(attempts - failures);
            into.push((figures::ENGINE_EVICTIONS_BY_APPLICATION, self.evicted_by_application));
        }
        if let Some(state) = self.value(wt::WT_STAT_CONN_CHECKPOINT_STATE) {
            // 0 is inactive, all else a stage of a checkpoint (WiredTiger's checkpoint.h).
            let running = f64::from(u8::from(state != 0.0));
            into.push((figures::ENGINE_CHECKPOINT_RUNNING, running));
        }
    }

    /// One number as it was at the last reset.
    pub(super) fn value(&mut self, number: u32) -> Option<f64> {
        let value = self.cursor.search_statistic(number).ok()?;
        Some(value as f64)
    }
}
