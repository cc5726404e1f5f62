//! Measuring path: no allocation, log or formatting here, and no waiting for a lock unless a million inserts are under way.
//!
//! Counters shared by all sessions.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

/// Keeps its content on cache lines of its own (two, as processors fetch them in pairs), so that counting does not slow those who
/// read what lies beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// Counts upwards from a start; each value is given once.
#[derive(Debug)]
pub struct Counter {
    next: Apart<AtomicU64>,
}

impl Counter {
    /// The first value given will be `start`.
    pub fn new(start: u64) -> Self {
        Self { next: Apart(AtomicU64::new(start)) }
    }

    /// A value that nobody else got.
    #[inline]
    pub fn take(&self) -> u64 {
        self.next.0.fetch_add(1, Ordering::Relaxed)
    }

    /// The first of several values that follow one another and that nobody else got.
    #[inline]
    pub fn take_many(&self, count: u64) -> u64 {
        self.next.0.fetch_add(count, Ordering::Relaxed)
    }

    /// The value that will be given next.
    pub fn upcoming(&self) -> u64 {
        self.next.0.load(Ordering::Relaxed)
    }
}

/// How far apart the lowest and the highest unacknowledged number may be before acknowledging takes a slower way.
const WINDOW: u64 = 1 << 20;

/// Counts upwards, and knows below which number everything given was acknowledged: the records that are certain to be there.
///
/// As in YCSB, numbers are acknowledged in any order, and one session at a time moves the limit on for all. YCSB gives up when more
/// than 2^20 numbers lie between the limit and the number acknowledged; here such numbers wait in a set. And where YCSB may leave
/// the last numbers behind until a later acknowledgement, here the limit is exact as soon as all calls have returned.
#[derive(Debug)]
pub struct AcknowledgedCounter {
    next: Counter,
    /// All numbers below are acknowledged.
    limit: Apart<AtomicU64>,
    /// Slot `number % slots.len()` is set when `number`, from `limit` on and less than `slots.len()` above it, is acknowledged.
    slots: Box<[AtomicBool]>,
    /// Acknowledged numbers that are out of the window's reach. The holder of the lock moves the limit.
    beyond: Apart<Mutex<BTreeSet<u64>>>,
}

impl AcknowledgedCounter {
    /// The first number given will be `start`; all below count as acknowledged.
    pub fn new(start: u64) -> Self {
        Self::with_window(start, WINDOW)
    }

    fn with_window(start: u64, window: u64) -> Self {
        Self {
            next: Counter::new(start),
            limit: Apart(AtomicU64::new(start)),
            slots: (0..window).map(|_| AtomicBool::new(false)).collect(),
            beyond: Apart(Mutex::new(BTreeSet::new())),
        }
    }

    /// A number that nobody else got.
    #[inline]
    pub fn take(&self) -> u64 {
        self.next.take()
    }

    /// The first of several numbers that follow one another and that nobody else got.
    #[inline]
    pub fn take_many(&self, count: u64) -> u64 {
        self.next.take_many(count)
    }

    /// No number from this one on was taken.
    #[inline]
    pub fn upcoming(&self) -> u64 {
        self.next.upcoming()
    }

    /// All numbers below this one are acknowledged.
    #[inline]
    pub fn limit(&self) -> u64 {
        self.limit.0.load(Ordering::Acquire)
    }

    /// Acknowledges a number that was given by [`take`](Self::take). To be called once for each.
    pub fn acknowledge(&self, number: u64) {
        // A slot within the window is free: the limit came there after the slot was cleared.
        if number - self.limit() < self.window() {
            self.slot(number).store(true, Ordering::Release);
        } else {
            let mut beyond = self.beyond.0.lock().expect("no holder of this lock can panic");
            beyond.insert(number);
            self.advance(&mut beyond);
        }
        loop {
            // Between setting the slot and trying the lock there is this fence, and also between giving the lock back and looking at the slots
            // again. So when two sessions meet here, at least one sees the other's number.
            fence(Ordering::SeqCst);
            if !self.slot(self.limit()).load(Ordering::Acquire) {
                return;
            }
            let Ok(mut beyond) = self.beyond.0.try_lock() else {
                return;
            };
            self.advance(&mut beyond);
        }
    }

    fn window(&self) -> u64 {
        self.slots.len() as u64
    }

    fn slot(&self, number: u64) -> &AtomicBool {
        &self.slots[(number % self.window()) as usize]
    }

    /// Moves the limit over all acknowledged numbers. Called with the lock held.
    fn advance(&self, beyond: &mut BTreeSet<u64>) {
        loop {
            let limit = self.limit();
            while let Some(first) = beyond.first().copied()
                && first - limit < self.window()
            {
                beyond.pop_first();
                self.slot(first).store(true, Ordering::Release);
            }
            if !self.slot(limit).swap(false, Ordering::AcqRel) {
                return;
            }
            self.limit.0.store(limit + 1, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    #[test]
    fn limit_moves_over_contiguous_numbers_only() {
        let counter = AcknowledgedCounter::new(100);
        assert_eq!(counter.limit(), 100);
        let numbers: Vec<u64> = (0..4).map(|_| counter.take()).collect();
        assert_eq!(numbers, [100, 101, 102, 103]);
        counter.acknowledge(101);
        assert_eq!(counter.limit(), 100);
        counter.acknowledge(100);
        assert_eq!(counter.limit(), 102);
        counter.acknowledge(103);
        counter.acknowledge(102);
        assert_eq!(counter.limit(), 104);
    }

    #[test]
    fn one_straggler_does_not_stop_the_others() {
        let counter = AcknowledgedCounter::with_window(0, 64);
        let straggler = counter.take();
        let last = 2 * 64 + 10;
        for _ in 0..last {
            counter.acknowledge(counter.take());
        }
        assert_eq!(counter.limit(), 0);
        counter.acknowledge(straggler);
        assert_eq!(counter.limit(), last + 1);
        counter.acknowledge(counter.take());
        assert_eq!(counter.limit(), last + 2);
    }

    /// Each thread holds some numbers back, so that they come in another order.
    #[test]
    fn limit_is_exact_when_all_sessions_are_done() {
        const THREADS: u64 = 4;
        const EACH: u64 = 50_000;
        let counter = Arc::new(AcknowledgedCounter::with_window(7, 16));
        let sessions: Vec<_> = (0..THREADS)
            .map(|_| {
                let counter = Arc::clone(&counter);
                std::thread::spawn(move || {
                    let mut held = Vec::new();
                    for _ in 0..EACH {
                        held.push(counter.take());
                        if held.len() == 5 {
                            while let Some(number) = held.pop() {
                                counter.acknowledge(number);
                            }
                        }
                        let limit = counter.limit();
                        assert!(held.iter().all(|number| *number >= limit));
                    }
                })
            })
            .collect();
        for session in sessions {
            session.join().unwrap();
        }
        assert_eq!(counter.limit(), 7 + THREADS * EACH);
    }

    proptest! {
        #[test]
        fn limit_is_the_lowest_unacknowledged_number(order in Just((0..200_u64).collect::<Vec<_>>()).prop_shuffle()) {
            // The window is smaller than the disorder, so that numbers go to the set too.
            let counter = AcknowledgedCounter::with_window(0, 32);
            let mut open: BTreeSet<u64> = order.iter().map(|_| counter.take()).collect();
            for number in order {
                counter.acknowledge(number);
                open.remove(&number);
                prop_assert_eq!(counter.limit(), open.first().copied().unwrap_or(200));
            }
        }
    }
}
