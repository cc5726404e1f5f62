//! Answers that are held until they are due, and the thread that gives them.

use crate::blocks::Buffer;
use crate::flow::{Arrival, Flow};
use crate::storage::{Receipt, Storage};
use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};
use plimsoll_trace::monotonic_ns;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A longer sleep than was requested by more than this says nothing of the next: somebody else had the processor.
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
struct Sleeper {
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

    fn woke(&mut self, late_ns: u64) {
        self.oversleep_ns = (self.oversleep_ns * 15 + late_ns.min(LONGEST_OVERSLEEP_NS)) / 16;
    }
}

/// An answer that has only to be given.
pub(crate) enum Answer {
    Data(ReplyData, Buffer, usize),
    Written(ReplyWrite, u32),
    Done(ReplyEmpty),
}

impl Answer {
    /// Gives it, and gives its memory back.
    fn give(self) -> Option<Buffer> {
        match self {
            Self::Data(reply, buffer, length) => {
                reply.data(buffer.filled(length));
                return Some(buffer);
            }
            Self::Written(reply, length) => reply.written(length),
            Self::Done(reply) => reply.ok(),
        }
        None
    }

    /// Gives an error in its place, and gives its memory back.
    pub(crate) fn fail(self, error: Errno) -> Option<Buffer> {
        match self {
            Self::Data(reply, buffer, _) => {
                reply.error(error);
                return Some(buffer);
            }
            Self::Written(reply, _) => reply.error(error),
            Self::Done(reply) => reply.error(error),
        }
        None
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

/// Answers that are held until they are due.
pub(crate) struct Due {
    flow: Arc<Flow>,
    pub(crate) storage: Arc<Storage>,
    held: Mutex<BinaryHeap<Held>>,
    earlier: Condvar,
    /// Memory of answers that were given.
    spare: Mutex<Vec<Buffer>>,
}

impl Due {
    pub(crate) fn new(flow: Arc<Flow>, storage: Arc<Storage>) -> Self {
        Self {
            flow,
            storage,
            held: Mutex::default(),
            earlier: Condvar::new(),
            spare: Mutex::default(),
        }
    }

    fn held(&self) -> MutexGuard<'_, BinaryHeap<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Buffer>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn buffer(&self) -> Buffer {
        self.spare().pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&self, buffer: Buffer) {
        self.spare().push(buffer);
    }

    /// Gives the answer when it is due: at once, or from the thread that runs [`Due::run`].
    pub(crate) fn answer(&self, arrival: Arrival, receipt: Receipt, answer: Answer) {
        if arrival.due_ns <= monotonic_ns() {
            self.conclude(Held { arrival, receipt, answer });
        } else {
            self.hold(Held { arrival, receipt, answer });
        }
    }

    fn hold(&self, one: Held) {
        let due_ns = one.arrival.due_ns;
        let mut held = self.held();
        let is_first = held.peek().is_none_or(|first| due_ns < first.arrival.due_ns);
        held.push(one);
        drop(held);
        if is_first {
            self.earlier.notify_one();
        }
    }

    /// Gives an answer that is due. In a stall it is held until the end of the stall.
    fn conclude(&self, mut one: Held) {
        if self.storage.is_cut_off(&one.receipt) {
            one.arrival = one.arrival.past_stalls();
        }
        // Counted before it is given: who asks for the counters after an answer finds it in them.
        if let Err(stall_end_ns) = self.flow.answer(&one.arrival) {
            one.arrival.due_ns = stall_end_ns;
            return self.hold(one);
        }
        // Before its answer: what is requested after it must find the write acknowledged.
        let fails = one.arrival.fails || !self.storage.answered(one.receipt);
        let buffer = if fails { one.answer.fail(Errno::EIO) } else { one.answer.give() };
        if let Some(buffer) = buffer {
            self.give_back(buffer);
        }
    }

    /// Gives every answer when it is due and never before, forever.
    pub(crate) fn run(&self) {
        let mut sleeper = Sleeper::default();
        let mut held = self.held();
        loop {
            let now_ns = monotonic_ns();
            let due_ns = held.peek().map(|first| first.arrival.due_ns);
            held = match due_ns.map(|due_ns| sleeper.step(now_ns, due_ns)) {
                Some(Step::Give) => {
                    let first = held.pop().expect("it was just seen, under the same lock");
                    drop(held);
                    self.conclude(first);
                    self.held()
                }
                Some(Step::Spin) => {
                    drop(held);
                    std::hint::spin_loop();
                    self.held()
                }
                Some(Step::Sleep(wait_ns)) => {
                    let woken = self.earlier.wait_timeout(held, Duration::from_nanos(wait_ns));
                    let (held, waited) = woken.unwrap_or_else(PoisonError::into_inner);
                    if waited.timed_out() {
                        sleeper.woke(monotonic_ns().saturating_sub(now_ns + wait_ns));
                    }
                    held
                }
                None => self.earlier.wait(held).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Gives every held answer now.
    pub(crate) fn hurry(&self) {
        let all = std::mem::take(&mut *self.held());
        for Held { arrival, receipt, answer } in all {
            self.conclude(Held { arrival: arrival.due_at_once(), receipt, answer });
        }
    }

    /// Answers everything that is held with an I/O error, because the disk goes away.
    pub(crate) fn fail_all(&self) {
        let all = std::mem::take(&mut *self.held());
        for held in all {
            held.answer.fail(Errno::EIO);
        }
    }

    pub(crate) fn held_answers(&self) -> u64 {
        self.held().len() as u64
    }

    /// For how long the first held answer is overdue, nanoseconds.
    pub(crate) fn overdue_ns(&self) -> u64 {
        let first = self.held().peek().map(|first| first.arrival.due_ns);
        first.map_or(0, |due_ns| monotonic_ns().saturating_sub(due_ns))
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
        // Then what is shorter than that is held all the same.
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
