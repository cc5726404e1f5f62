//! WiredTiger's own counters.
//!
//! Walking all 712 takes 140 µs; these are searched one by one, by the constants of the header, because their numbers change between versions.

use super::raw::{Connection, Cursor, RawSession};
use crate::EngineError;
use plimsoll_wiredtiger_sys as wt;
use std::sync::Arc;

/// What is kept. Counters rise from the opening on; `cache_bytes`, `cache_max_bytes`, `cache_dirty_bytes` and
/// `checkpoint_last_ms` are gauges.
static KEPT: &[(&str, u32)] = &[
    ("cache_bytes", wt::WT_STAT_CONN_CACHE_BYTES_INUSE),
    ("cache_max_bytes", wt::WT_STAT_CONN_CACHE_BYTES_MAX),
    ("cache_dirty_bytes", wt::WT_STAT_CONN_CACHE_BYTES_DIRTY),
    ("cache_read_bytes", wt::WT_STAT_CONN_CACHE_BYTES_READ),
    ("cache_written_bytes", wt::WT_STAT_CONN_CACHE_BYTES_WRITE),
    (
        "cache_requested_pages",
        wt::WT_STAT_CONN_CACHE_PAGES_REQUESTED,
    ),
    ("cache_read_pages", wt::WT_STAT_CONN_CACHE_READ),
    ("cache_written_pages", wt::WT_STAT_CONN_CACHE_WRITE),
    (
        "cache_evicted_clean_pages",
        wt::WT_STAT_CONN_CACHE_EVICTION_CLEAN,
    ),
    (
        "cache_evicted_dirty_pages",
        wt::WT_STAT_CONN_CACHE_EVICTION_DIRTY,
    ),
    (
        "application_evictions",
        wt::WT_STAT_CONN_EVICTION_APP_ATTEMPT,
    ),
    (
        "application_eviction_us",
        wt::WT_STAT_CONN_EVICTION_APP_TIME,
    ),
    (
        "application_cache_wait_us",
        wt::WT_STAT_CONN_APPLICATION_CACHE_TIME,
    ),
    ("block_reads", wt::WT_STAT_CONN_BLOCK_READ),
    ("block_writes", wt::WT_STAT_CONN_BLOCK_WRITE),
    ("block_read_bytes", wt::WT_STAT_CONN_BLOCK_BYTE_READ),
    ("block_written_bytes", wt::WT_STAT_CONN_BLOCK_BYTE_WRITE),
    ("journal_writes", wt::WT_STAT_CONN_LOG_WRITES),
    ("journal_written_bytes", wt::WT_STAT_CONN_LOG_BYTES_WRITTEN),
    ("journal_syncs", wt::WT_STAT_CONN_LOG_SYNC),
    ("journal_sync_us", wt::WT_STAT_CONN_LOG_SYNC_DURATION),
    ("checkpoints", wt::WT_STAT_CONN_CHECKPOINTS_TOTAL_SUCCEED),
    (
        "checkpoint_total_ms",
        wt::WT_STAT_CONN_CHECKPOINT_TIME_TOTAL,
    ),
    (
        "checkpoint_last_ms",
        wt::WT_STAT_CONN_CHECKPOINT_TIME_RECENT,
    ),
    ("transaction_commits", wt::WT_STAT_CONN_TXN_COMMIT),
    ("transaction_rollbacks", wt::WT_STAT_CONN_TXN_ROLLBACK),
    ("cursor_searches", wt::WT_STAT_CONN_CURSOR_SEARCH),
    ("cursor_nexts", wt::WT_STAT_CONN_CURSOR_NEXT),
    ("cursor_inserts", wt::WT_STAT_CONN_CURSOR_INSERT),
    ("cursor_updates", wt::WT_STAT_CONN_CURSOR_UPDATE),
    ("cursor_modifies", wt::WT_STAT_CONN_CURSOR_MODIFY),
    ("cursor_removes", wt::WT_STAT_CONN_CURSOR_REMOVE),
];

/// A cursor over the counters, refreshed at each reading.
pub(super) struct Statistics {
    // Dropped before its session.
    cursor: Cursor,
    _session: RawSession,
}

impl Statistics {
    pub(super) fn open(connection: &Arc<Connection>) -> Result<Self, EngineError> {
        let session = connection.session()?;
        // SAFETY: the cursor is the field before its session, so it is dropped first; both are used together behind one mutex.
        let cursor = unsafe { session.cursor(c"statistics:", None) }?;
        Ok(Self {
            cursor,
            _session: session,
        })
    }

    pub(super) fn read(&mut self, into: &mut Vec<(&'static str, f64)>) {
        // A reset takes the counters anew. Where that or a search fails, the figure is left out: they are a by-product of a run.
        if self.cursor.reset().is_err() {
            return;
        }
        for (name, number) in KEPT {
            if let Ok(value) = self.cursor.search_statistic(*number) {
                into.push((name, value as f64));
            }
        }
        if let Ok(state) = self
            .cursor
            .search_statistic(wt::WT_STAT_CONN_CHECKPOINT_STATE)
        {
            // 0 is inactive, all else a stage of a checkpoint (WiredTiger's checkpoint.h).
            into.push(("checkpoint_running", f64::from(u8::from(state != 0))));
        }
    }
}
