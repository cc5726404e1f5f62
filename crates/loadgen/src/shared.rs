//! What all sessions of a point share.

use plimsoll_record::Histogram;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::Thread;

/// What all sessions of a point share. Each value has its own cache lines: all sessions read one and write the other.
pub(crate) struct Shared {
    deadline: Apart,
    next_arrival: Apart,
    /// The sessions' threads, to be woken when the point ends earlier.
    pub(crate) sleepers: OnceLock<Vec<Thread>>,
    /// Lower bounds of the response times of what was due and unfinished.
    unfinished: Mutex<Option<Histogram>>,
    /// Whether calls were ended that had not been answered.
    is_interrupted: AtomicBool,
}

#[repr(align(128))]
struct Apart(AtomicU64);

impl Shared {
    pub(crate) fn new(deadline_ns: u64) -> Self {
        Self {
            deadline: Apart(AtomicU64::new(deadline_ns)),
            next_arrival: Apart(AtomicU64::new(0)),
            sleepers: OnceLock::new(),
            unfinished: Mutex::new(None),
            is_interrupted: AtomicBool::new(false),
        }
    }

    /// Counts an operation that was due at `intended` and not finished at `end`.
    #[cold]
    pub(crate) fn leave_unfinished(&self, intended: u64, end: u64) {
        let mut unfinished = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.get_or_insert_default().record(end.saturating_sub(intended));
    }

    pub(crate) fn unfinished(&self) -> Option<Histogram> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// When the point ends, nanoseconds from its start.
    #[inline(always)]
    pub(crate) fn deadline(&self) -> u64 {
        self.deadline.0.load(Ordering::Relaxed)
    }

    /// From now on failures are those of calls that were ended because no answer came.
    pub(crate) fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::SeqCst)
    }

    pub(crate) fn end_at(&self, time_ns: u64) {
        self.deadline.0.fetch_min(time_ns, Ordering::SeqCst);
        for thread in self.sleepers.get().into_iter().flatten() {
            thread.unpark();
        }
    }

    /// The number of an arrival that no other session of this host has.
    #[inline]
    pub(crate) fn take_arrival(&self) -> u64 {
        self.next_arrival.0.fetch_add(1, Ordering::Relaxed)
    }
}
