//! Room for page cache beside the processes of a group, however much they take.

use super::{GroupPaths, limits};
use crate::TestbedError;
use crate::privileged::group;
use crate::wait::until;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the kernel may take to free what is beyond a limit.
const LONGEST_RECLAIM: Duration = Duration::from_secs(10);
/// How often it is looked what the processes take. An engine whose cache fills from the disk takes some MiB more by then.
const INTERVAL: Duration = Duration::from_millis(50);
/// The limit may be too high by one part in so many of the room before it is lowered.
const TOLERANCE: u64 = 16;

/// Keeps the room until it is dropped: the limit of the memory follows what the processes take. Otherwise the kernel would end an engine whose cache fills
/// after the limit was set.
#[derive(Debug)]
pub(super) struct PageCacheRoom {
    limited: Arc<Limited>,
    /// Dropped with this, which ends the thread.
    _end: mpsc::Sender<()>,
}

#[derive(Debug)]
struct Limited {
    paths: GroupPaths,
    /// Of page cache.
    room_bytes: u64,
    /// The limit in force.
    limit_bytes: Mutex<Option<u64>>,
}

impl PageCacheRoom {
    /// Begins to follow the processes of a group whose memory has no limit yet.
    pub(super) fn keep(paths: GroupPaths, room_bytes: u64) -> Self {
        let limited = Arc::new(Limited {
            paths,
            room_bytes,
            limit_bytes: Mutex::new(None),
        });
        let (end, ended) = mpsc::channel::<()>();
        let followed = Arc::clone(&limited);
        std::thread::spawn(move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // What does not succeed now is tried again.
                let _ = followed.size(followed.room_bytes / TOLERANCE, Duration::ZERO);
            }
        });
        Self { limited, _end: end }
    }

    /// Sets the limit to exactly what the processes take now and the room. Returns it, bytes.
    ///
    /// # Errors
    /// When it is not known what they take, or the kernel cannot free so much.
    pub(super) fn size(&self) -> Result<u64, TestbedError> {
        self.limited.size(0, LONGEST_RECLAIM)
    }

    /// The limit in force.
    pub(super) fn limit_bytes(&self) -> Option<u64> {
        *self.limited.limit_bytes()
    }
}

impl Limited {
    fn limit_bytes(&self) -> MutexGuard<'_, Option<u64>> {
        let limit = self.limit_bytes.lock();
        limit.unwrap_or_else(PoisonError::into_inner)
    }

    /// Raises the limit where there is too little room, and lowers it where there is more than `tolerance` bytes too much. Returns the limit in force.
    fn size(&self, tolerance: u64, longest: Duration) -> Result<u64, TestbedError> {
        let mut limit = self.limit_bytes();
        let Some(processes) = limits::of_processes(&self.paths) else {
            return Err(TestbedError::NotAccounted);
        };
        let wanted = processes.saturating_add(self.room_bytes);
        if let Some(now) = *limit
            && (wanted..=wanted.saturating_add(tolerance)).contains(&now)
        {
            return Ok(now);
        }
        let mut files = limits::of_memory(wanted, &self.paths);
        // In version 1 memory and swap together may never be limited to less than memory.
        if limit.is_some_and(|now| wanted > now) {
            files.reverse();
        }
        for (file, value) in files {
            // The kernel gives up a moment after pages that are still being written.
            let mut written = Ok(());
            until(longest, || {
                written = group::write(&file, &value);
                written.is_ok()
            });
            written?;
        }
        *limit = Some(wanted);
        Ok(wanted)
    }
}
