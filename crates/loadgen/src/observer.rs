//! Measuring path: what is implemented here runs inside the loop, and must neither wait nor allocate if the loop is not to.
//!
//! Who watches a session from inside.

use plimsoll_record::{Operation, Status};

/// One operation as it ended. Times are nanoseconds from the start of the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedOp {
    pub operation: Operation,
    pub status: Status,
    /// When it was due; when it was dispatched, where no time was fixed beforehand. The parts of a read-modify-write are due with the whole.
    pub intended_ns: u64,
    /// When the engine was called.
    pub dispatched_ns: u64,
    /// When the engine had answered.
    pub completed_ns: u64,
    /// Records that a scan gave, documents that a statement found, fields that a verification compared; otherwise 0.
    pub items: u32,
}

/// What a session does after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    GoOn,
    /// The same one again, after a pause. Both are measured. In an open loop this is [`After::GoOn`].
    Again {
        pause_ns: u64,
    },
    /// Nothing more: this session ends. In an open loop this is [`After::GoOn`].
    Stop,
}

/// Watches one session of a point from inside, for reports that need more than slices hold. Every method is called on the thread of the
/// session; what `()` does, nothing, costs nothing.
pub trait OpObserver: Send {
    /// An operation has ended, also when it did after the end of the point. A read-modify-write is seen three times: its read, its update, and
    /// the whole. Verifications are seen as well.
    #[inline(always)]
    fn saw(&mut self, _seen: &ObservedOp) {}

    /// A unit of work has ended, the whole of a read-modify-write, and was attempted this many times by now: says what comes next.
    #[inline(always)]
    fn after(&mut self, _operation: Operation, _status: Status, _attempts: u32) -> After {
        After::GoOn
    }

    /// The last batch of the session was sent, which had not filled.
    fn flushed(&mut self, _seen: &ObservedOp) {}

    /// The session was given back to its engine: begin and end of that, nanoseconds from the start of the point. The last call.
    fn closed(&mut self, _begun_ns: u64, _ended_ns: u64) {}
}

impl OpObserver for () {}
