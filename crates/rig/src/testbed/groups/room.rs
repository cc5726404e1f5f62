//! Room for page cache beside the processes of a group, however much they take.

use super::limits;
use super::paths::GroupPaths;
use crate::testbed::TestbedError;
use crate::testbed::privileged::group;
use crate::testbed::wait::until;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the kernel may take to free what is beyond a limit.
const LONGEST_RECLAIM: Duration = Duration::from_secs(10);
/// Time between two looks at what the processes take. An engine whose cache fills from the disk takes some MiB more by then.
const INTERVAL: Duration = Duration::from_millis(50);
/// The limit may be too high by one part in this many of the room before it is lowered.
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
    room_bytes: u64,
    /// Held while the limit is read and set.
    turn: Mutex<()>,
}

impl PageCacheRoom {
    /// Begins to follow the processes of a group whose memory has no limit yet.
    pub(super) fn keep(paths: GroupPaths, room_bytes: u64) -> Self {
        let limited = Arc::new(Limited { paths, room_bytes, turn: Mutex::new(()) });
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
    pub(super) fn size(&self) -> Result<u64, TestbedError> {
        self.limited.size(0, LONGEST_RECLAIM)
    }
}

impl Limited {
    /// Raises the limit where there is too little room, and lowers it where there is more than `tolerance` bytes too much. Returns the limit in force.
    fn size(&self, tolerance: u64, longest: Duration) -> Result<u64, TestbedError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(processes) = limits::of_processes(&self.paths) else {
            return Err(TestbedError::NotAccounted);
        };
        let wanted = processes.saturating_add(self.room_bytes);
        // What the kernel says: of two files the second may have refused what the first took.
        let in_force = limits::memory_in_force(&self.paths);
        let fits = wanted..=wanted.saturating_add(tolerance);
        if let Some(limit) = in_force.first()
            && in_force.iter().all(|limit| fits.contains(limit))
        {
            return Ok(*limit);
        }
        let mut files = limits::of_memory(wanted, &self.paths);
        // In version 1 memory and swap together may never be limited to less than memory.
        if in_force.first().is_some_and(|limit| wanted > *limit) {
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
        Ok(wanted)
    }
}
