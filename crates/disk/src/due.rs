//! Answers that are held until they are due, and the thread that gives them.

use crate::blocks::Buffer;
use crate::flow::{Arrival, Flow};
use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};
use plimsoll_trace::monotonic_ns;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A longer sleep than was asked for by more than this says nothing of the next: somebody else had the processor.
const LONGEST_OVERSLEEP_NS: u64 = 100_000;

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

    pub(crate) fn fail(self, error: Errno) {
        match self {
            Self::Data(reply, ..) => reply.error(error),
            Self::Written(reply, _) => reply.error(error),
            Self::Done(reply) => reply.error(error),
        }
    }
}

struct Held {
    arrival: Arrival,
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
    held: Mutex<BinaryHeap<Held>>,
    earlier: Condvar,
    /// Memory of answers that were given.
    spare: Mutex<Vec<Buffer>>,
}

impl Due {
    pub(crate) fn new(flow: Arc<Flow>) -> Self {
        Self {
            flow,
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
    pub(crate) fn answer(&self, arrival: Arrival, answer: Answer) {
        if arrival.due_ns <= monotonic_ns() {
            self.flow.answer(&arrival);
            self.give(answer);
            return;
        }
        let mut held = self.held();
        let is_first = held
            .peek()
            .is_none_or(|first| arrival.due_ns < first.arrival.due_ns);
        held.push(Held { arrival, answer });
        drop(held);
        if is_first {
            self.earlier.notify_one();
        }
    }

    fn give(&self, answer: Answer) {
        if let Some(buffer) = answer.give() {
            self.give_back(buffer);
        }
    }

    /// Gives every answer when it is due, for ever.
    ///
    /// A thread that sleeps until an instant wakes some tens of microseconds after it. How many, is learned, and it sleeps that much
    /// shorter. What is due sooner than half of that is given at once, because after another sleep it would be later than it is now too early.
    pub(crate) fn run(&self) {
        let mut oversleep_ns = 0;
        let mut held = self.held();
        loop {
            let now_ns = monotonic_ns();
            let due_ns = held.peek().map(|first| first.arrival.due_ns);
            held = match due_ns {
                Some(due_ns) if due_ns <= now_ns + oversleep_ns / 2 => {
                    let first = held.pop().expect("it was just seen, under the same lock");
                    drop(held);
                    // Counted before it is given: who asks for the counters after an answer finds it in them.
                    self.flow.answer(&first.arrival);
                    self.give(first.answer);
                    self.held()
                }
                Some(due_ns) => {
                    let wait_ns = (due_ns - now_ns).saturating_sub(oversleep_ns);
                    let woken = self
                        .earlier
                        .wait_timeout(held, Duration::from_nanos(wait_ns));
                    let (held, waited) = woken.unwrap_or_else(PoisonError::into_inner);
                    if waited.timed_out() {
                        let over_ns = monotonic_ns().saturating_sub(now_ns + wait_ns);
                        oversleep_ns = (oversleep_ns * 15 + over_ns.min(LONGEST_OVERSLEEP_NS)) / 16;
                    }
                    held
                }
                None => self
                    .earlier
                    .wait(held)
                    .unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Gives every held answer now.
    pub(crate) fn hurry(&self) {
        let all = std::mem::take(&mut *self.held());
        for held in all {
            self.flow.answer(&held.arrival.due_at_once());
            self.give(held.answer);
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
