//! Answers that are held until they are due, and the thread that gives them.

use crate::device::DeviceAnswer;
use crate::flow::{Arrival, Flow};
use crate::ring::RingAnswer;
use crate::storage::{Receipt, Storage};
use plimsoll_trace::monotonic_ns;
use rustix::event::{EventfdFlags, eventfd};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A sleep that is this much too long predicts nothing: another program had the processor.
const LONGEST_OVERSLEEP_NS: u64 = 100_000;

/// What to do until an answer is due.
#[derive(Debug, PartialEq)]
enum Step {
    Give,
    /// Look at the clock again at once.
    Spin,
    Sleep(u64),
}

/// A thread that sleeps until an instant wakes some tens of microseconds after it. How many, is learned; it sleeps that much shorter, and spins
/// for the rest. A time that is shorter than that is spun for altogether, and unlearns a little, so that one bad second does not count forever.
#[derive(Default)]
pub(crate) struct Sleeper {
    oversleep_ns: u64,
}

impl Sleeper {
    fn step(&mut self, now_ns: u64, due_ns: u64) -> Step {
        let left_ns = due_ns.saturating_sub(now_ns);
        if left_ns == 0 {
            // However it was waited for.
            self.oversleep_ns -= self.oversleep_ns / 1024;
            return Step::Give;
        }
        match left_ns.saturating_sub(self.oversleep_ns) {
            0 => Step::Spin,
            wait_ns => Step::Sleep(wait_ns),
        }
    }

    pub(crate) fn woke(&mut self, late_ns: u64) {
        self.oversleep_ns = (self.oversleep_ns * 15 + late_ns.min(LONGEST_OVERSLEEP_NS)) / 16;
    }
}

/// How long the first of the held answers can wait.
#[derive(Debug, PartialEq)]
pub(crate) enum Wait {
    /// There is none.
    Forever,
    /// The thread that gives it can sleep until this time of the monotonic clock, nanoseconds.
    Until(u64),
    /// Not long enough for a sleep.
    Spin,
}

/// An answer that has only to be given.
pub(crate) enum Answer {
    Device(DeviceAnswer),
    Ring(RingAnswer),
}

impl Answer {
    /// Gives it, or the number of an error in its place.
    pub(crate) fn give(self, outcome: Result<(), i32>) {
        match self {
            Self::Device(answer) => answer.give(outcome),
            Self::Ring(answer) => answer.give(outcome),
        }
    }

    /// The lane in which it is held.
    fn lane(&self) -> usize {
        match self {
            Self::Device(_) => 0,
            Self::Ring(answer) => answer.lane,
        }
    }
}

struct Held {
    arrival: Arrival,
    receipt: Receipt,
    answer: Answer,
}

// The heap has the greatest on top, and that is the one that is due first.
impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        other.arrival.due_ns.cmp(&self.arrival.due_ns)
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Held {}

/// Held answers that one thread gives.
#[derive(Default)]
struct Lane {
    held: Mutex<BinaryHeap<Held>>,
    earlier: Condvar,
}

impl Lane {
    fn held(&self) -> MutexGuard<'_, BinaryHeap<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers that are held until they are due. The first lane has those to the device, which the thread that runs [`Due::run`] gives; the others
/// have those of the rings, whose own threads give them.
pub(crate) struct Due {
    flow: Arc<Flow>,
    pub(crate) storage: Arc<Storage>,
    lanes: Vec<Lane>,
    /// Wakes the thread of a ring, for each lane after the first.
    bells: Vec<OwnedFd>,
}

impl Due {
    pub(crate) fn new(flow: Arc<Flow>, storage: Arc<Storage>, rings: usize) -> io::Result<Self> {
        let bell = |_| Ok(eventfd(0, EventfdFlags::CLOEXEC)?);
        Ok(Self {
            flow,
            storage,
            lanes: (0..=rings).map(|_| Lane::default()).collect(),
            bells: (0..rings).map(bell).collect::<io::Result<_>>()?,
        })
    }

    pub(crate) fn rings(&self) -> usize {
        self.bells.len()
    }

    /// What can be read when the ring with this lane is to look at it again.
    pub(crate) fn bell(&self, lane: usize) -> BorrowedFd<'_> {
        self.bells[lane - 1].as_fd()
    }

    /// Gives the answer when it is due: at once, or later from the thread of its lane.
    pub(crate) fn answer(&self, arrival: Arrival, receipt: Receipt, answer: Answer) {
        if arrival.due_ns <= monotonic_ns() {
            self.conclude(Held { arrival, receipt, answer });
        } else {
            self.hold(Held { arrival, receipt, answer });
        }
    }

    fn hold(&self, one: Held) {
        let due_ns = one.arrival.due_ns;
        let number = one.answer.lane();
        let lane = &self.lanes[number];
        let mut held = lane.held();
        let is_first = held.peek().is_none_or(|first| due_ns < first.arrival.due_ns);
        held.push(one);
        drop(held);
        // The lane of a ring has no waiter: its only thread is here.
        if is_first && number == 0 {
            lane.earlier.notify_one();
        }
    }

    /// Gives an answer that is due. In a stall it is held until the end of the stall.
    fn conclude(&self, mut one: Held) {
        if self.storage.is_cut_off(&one.receipt) {
            one.arrival = one.arrival.past_stalls();
        }
        // Counted before it is given, so that a caller who has an answer finds it in the counters.
        if let Err(stall_end_ns) = self.flow.answer(&one.arrival) {
            one.arrival.due_ns = stall_end_ns;
            return self.hold(one);
        }
        // Before its answer: what is requested after it must find the write acknowledged.
        if one.arrival.fails || !self.storage.answered(one.receipt) {
            one.answer.give(Err(libc::EIO));
        } else {
            one.answer.give(Ok(()));
        }
    }

    /// Gives every answer to the device when it is due and never before, forever.
    pub(crate) fn run(&self) {
        let mut sleeper = Sleeper::default();
        let earlier = &self.lanes[0].earlier;
        loop {
            let (held, wait) = self.give_and_lock(0, &mut sleeper);
            match wait {
                Wait::Forever => drop(earlier.wait(held)),
                Wait::Until(wake_ns) => {
                    let wait_ns = wake_ns.saturating_sub(monotonic_ns());
                    let woken = earlier.wait_timeout(held, Duration::from_nanos(wait_ns));
                    if woken.unwrap_or_else(PoisonError::into_inner).1.timed_out() {
                        sleeper.woke(monotonic_ns().saturating_sub(wake_ns));
                    }
                }
                Wait::Spin => {
                    drop(held);
                    std::hint::spin_loop();
                }
            }
        }
    }

    /// Gives the answers of a lane that are due, and says how long the next can wait.
    pub(crate) fn give(&self, lane: usize, sleeper: &mut Sleeper) -> Wait {
        self.give_and_lock(lane, sleeper).1
    }

    /// The same, with the lock under which it was so.
    fn give_and_lock(
        &self,
        lane: usize,
        sleeper: &mut Sleeper,
    ) -> (MutexGuard<'_, BinaryHeap<Held>>, Wait) {
        loop {
            let mut held = self.lanes[lane].held();
            let Some(due_ns) = held.peek().map(|first| first.arrival.due_ns) else {
                return (held, Wait::Forever);
            };
            let now_ns = monotonic_ns();
            match sleeper.step(now_ns, due_ns) {
                Step::Give => {
                    let first = held.pop().expect("it was just seen, under the same lock");
                    drop(held);
                    self.conclude(first);
                }
                Step::Spin => return (held, Wait::Spin),
                Step::Sleep(wait_ns) => return (held, Wait::Until(now_ns + wait_ns)),
            }
        }
    }

    /// Makes every held answer due, and wakes the threads that give them.
    pub(crate) fn hurry(&self) {
        for lane in &self.lanes {
            let mut held = lane.held();
            let all = std::mem::take(&mut *held).into_iter();
            held.extend(all.map(|one| Held { arrival: one.arrival.due_at_once(), ..one }));
            drop(held);
            lane.earlier.notify_one();
        }
        for bell in &self.bells {
            let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        }
    }

    /// Answers everything that is held with an I/O error, because the disk goes away.
    pub(crate) fn fail_all(&self) {
        for lane in &self.lanes {
            let all = std::mem::take(&mut *lane.held());
            for held in all {
                held.answer.give(Err(libc::EIO));
            }
        }
    }

    pub(crate) fn held_answers(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.held().len() as u64).sum()
    }

    /// For how long the first held answer is overdue, nanoseconds.
    pub(crate) fn overdue_ns(&self) -> u64 {
        let firsts = self.lanes.iter().filter_map(|lane| {
            let held = lane.held();
            held.peek().map(|first| first.arrival.due_ns)
        });
        firsts.min().map_or(0, |due_ns| monotonic_ns().saturating_sub(due_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits for one answer on a clock that is moved by hand. A sleep ends `late_ns` after it should, a look at the clock takes 100 ns. Returns
    /// how long after it was due the answer is given; one that is given before has none.
    fn wait(sleeper: &mut Sleeper, hold_ns: u64, late_ns: u64) -> Option<u64> {
        let mut now_ns = 1_000_000;
        let due_ns = now_ns + hold_ns;
        loop {
            match sleeper.step(now_ns, due_ns) {
                Step::Give => return now_ns.checked_sub(due_ns),
                Step::Spin => now_ns += 100,
                Step::Sleep(wait_ns) => {
                    now_ns += wait_ns + late_ns;
                    sleeper.woke(late_ns);
                }
            }
        }
    }

    #[test]
    fn no_answer_is_given_before_it_is_due() {
        let mut sleeper = Sleeper::default();
        // Long holds on a machine that wakes late teach it the longest.
        for hold_ns in [1_000_000; 200] {
            assert!(wait(&mut sleeper, hold_ns, 300_000).is_some());
        }
        assert!(sleeper.oversleep_ns > LONGEST_OVERSLEEP_NS * 9 / 10);
        // Shorter times are held even then.
        for hold_ns in [1, 10_000, 30_000, 50_000, 60_000, 99_000, 150_000, 2_000_000] {
            for late_ns in [0, 20_000, 90_000] {
                let late = wait(&mut sleeper, hold_ns, late_ns);
                assert!(late.is_some(), "{hold_ns} {late_ns}");
            }
        }
    }

    #[test]
    fn an_answer_is_late_by_less_than_a_look_once_the_oversleep_is_learned() {
        let mut sleeper = Sleeper::default();
        let mut late = None;
        for _ in 0..400 {
            late = wait(&mut sleeper, 500_000, 40_000);
        }
        // What is unlearned by an answer is learned again by the next sleep.
        assert!(late.is_some_and(|late_ns| late_ns < 1_000), "{late:?}");
    }

    #[test]
    fn an_oversleep_that_is_never_slept_again_is_unlearned() {
        let mut sleeper = Sleeper { oversleep_ns: LONGEST_OVERSLEEP_NS };
        for _ in 0..4_000 {
            let late = wait(&mut sleeper, 30_000, 5_000);
            assert!(late.is_some_and(|late_ns| late_ns < 5_000), "{late:?}");
        }
        assert!(sleeper.oversleep_ns < 30_000);
    }
}
