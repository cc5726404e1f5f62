//! Measuring path: no allocation, lock, log or formatting here, save when the collector was kept from its work for a whole second.
//!
//! When the tables of a slice are read, and by whom.
//!
//! Slices use two tables in turns, so the one before last must have been read before a session counts in its table again. The collector
//! reads at the end of each slice. A session that would be too early reads in its place.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{self, Acquire, Release};
use std::sync::{Mutex, PoisonError};

/// A number that several threads read and raise.
pub(crate) trait Number {
    fn load(&self, ordering: Ordering) -> u32;
    fn raise(&self, least: u32, ordering: Ordering);
}

impl Number for AtomicU32 {
    #[inline]
    fn load(&self, ordering: Ordering) -> u32 {
        self.load(ordering)
    }

    #[inline]
    fn raise(&self, least: u32, ordering: Ordering) {
        self.fetch_max(least, ordering);
    }
}

/// What one thread at a time may use.
pub(crate) trait Lock {
    type Inside;
    fn hold<T>(&self, act: impl FnOnce(&mut Self::Inside) -> T) -> T;
}

impl<I> Lock for Mutex<I> {
    type Inside = I;

    fn hold<T>(&self, act: impl FnOnce(&mut I) -> T) -> T {
        act(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How far the tables were read.
pub(crate) struct Exchange<N, L> {
    /// All slices below this were read, and sessions no longer count in them.
    read: N,
    readings: L,
}

impl<N: Number, L: Lock> Exchange<N, L> {
    pub(crate) fn new(read: N, readings: L) -> Self {
        Self { read, readings }
    }

    /// Uses what was read, after `read` was called for each slice up to this one that was not read yet.
    pub(crate) fn after<T>(
        &self,
        index: u32,
        read: impl Fn(u32, &mut L::Inside),
        act: impl FnOnce(&mut L::Inside) -> T,
    ) -> T {
        let end = index.saturating_add(1);
        self.readings.hold(|readings| {
            let begin = self.read.load(Acquire);
            // What is in a table is always of one slice: the first two that were not read have a table each, and any after them is empty.
            for index in (begin..end).take(2) {
                read(index, readings);
            }
            self.read.raise(end, Release);
            act(readings)
        })
    }

    /// To be called by a session before it counts in a slice.
    #[cold]
    pub(crate) fn before_counting_in(&self, index: u32, read: impl Fn(u32, &mut L::Inside)) {
        if let Some(same_table) = index.checked_sub(2)
            && self.read.load(Acquire) <= same_table
        {
            self.after(same_table, read, |_| ());
        }
    }
}

/// The orders in which threads can meet, and every value that the memory model lets them see.
#[cfg(test)]
mod tests {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32 as LoomNumber, AtomicU64 as LoomCount};
    use std::collections::BTreeMap;
    use std::sync::atomic::Ordering::Relaxed;

    impl Number for LoomNumber {
        fn load(&self, ordering: Ordering) -> u32 {
            self.load(ordering)
        }

        fn raise(&self, least: u32, ordering: Ordering) {
            self.fetch_max(least, ordering);
        }
    }

    impl<I> Lock for loom::sync::Mutex<I> {
        type Inside = I;

        fn hold<T>(&self, act: impl FnOnce(&mut I) -> T) -> T {
            act(&mut self.lock().unwrap())
        }
    }

    const SLICES: u32 = 4;
    const SESSIONS: usize = 2;
    /// An operation of slice `n` counts as `BASE` to the power of `n`, so that a sum shows the slices of what it holds.
    const BASE: u64 = 10;

    #[derive(Default)]
    struct Readings {
        /// The sums at the last reading, by table.
        sums: [u64; 2],
        /// What was counted between two readings, by the slice at whose end it was read.
        counted: BTreeMap<u32, u64>,
    }

    /// As many counters as show the exchange: one for each table, shared by all sessions.
    struct Tables {
        exchange: Exchange<LoomNumber, loom::sync::Mutex<Readings>>,
        counts: [LoomCount; 2],
        /// Used by who reads a slice, and by each session before it counts in its table again. The model fails where the second use does not
        /// happen after the first.
        read: [[UnsafeCell<()>; SESSIONS]; SLICES as usize],
    }

    impl Tables {
        fn new() -> Arc<Self> {
            let exchange = Exchange::new(LoomNumber::new(0), loom::sync::Mutex::default());
            Arc::new(Self {
                exchange,
                counts: std::array::from_fn(|_| LoomCount::new(0)),
                read: Default::default(),
            })
        }

        fn read(&self, index: u32, readings: &mut Readings) {
            for session in &self.read[index as usize] {
                session.with(|_| ());
            }
            let table = index as usize % 2;
            let sum = self.counts[table].load(Relaxed);
            let more = sum - readings.sums[table];
            readings.sums[table] = sum;
            assert!(readings.counted.insert(index, more).is_none());
        }

        fn take(&self, index: u32) -> u64 {
            let read = |index, readings: &mut Readings| self.read(index, readings);
            let take = |readings: &mut Readings| readings.counted.remove(&index);
            self.exchange.after(index, read, take).unwrap_or(0)
        }

        /// Counts one operation in a slice.
        fn count(&self, session: usize, index: u32) {
            let read = |index, readings: &mut Readings| self.read(index, readings);
            self.exchange.before_counting_in(index, read);
            if let Some(same_table) = index.checked_sub(2) {
                self.read[same_table as usize][session].with_mut(|_| ());
            }
            self.counts[index as usize % 2].fetch_add(BASE.pow(index), Relaxed);
        }
    }

    /// Two sessions count in these slices, and the second also is the collector: it takes this many slices after each of its operations.
    fn explore(first: &'static [u32], second: &'static [u32], takes: u32) {
        loom::model(move || {
            let tables = Tables::new();
            let session = loom::thread::spawn({
                let tables = tables.clone();
                move || first.iter().for_each(|&index| tables.count(0, index))
            });
            let mut taken = 0..SLICES;
            let mut slices = Vec::new();
            for &index in second {
                tables.count(1, index);
                slices.extend(taken.by_ref().take(takes as usize).map(|i| tables.take(i)));
            }
            session.join().unwrap();
            slices.extend(taken.map(|index| tables.take(index)));
            for (index, counted) in slices.iter().enumerate() {
                let later = *counted / BASE.pow(index as u32 + 1);
                assert_eq!(
                    later, 0,
                    "slice {index} has what was counted in a later one: {slices:?}"
                );
            }
            let all = first.iter().chain(second).map(|&index| BASE.pow(index));
            assert_eq!(slices.iter().sum::<u64>(), all.sum::<u64>(), "{slices:?}");
        });
    }

    #[test]
    fn a_slice_has_nothing_of_a_later_one_and_nothing_is_lost() {
        explore(&[0, 1, 2, 3], &[0], 1);
        explore(&[0, 2, 3], &[0, 1], 1);
    }

    #[test]
    fn sessions_read_for_a_collector_that_is_late() {
        explore(&[0, 1, 2], &[0, 1, 3], 0);
        explore(&[0, 3], &[1, 2], 0);
    }
}
