//! Measuring path: no allocation, lock, log or formatting here.
//!
//! A session of a closed loop: the next operation waits for the last one.

use crate::asking::{Due, Inserted, SessionParts, Source};
use crate::clock::Clock;
use crate::observer::{After, OpObserver};
use crate::session_end::SessionEnd;
use crate::shared::Shared;
use plimsoll_workload::schedule::Pace;

/// How a session of a closed loop continues.
#[derive(Clone, Copy)]
pub(crate) struct ClosedPace {
    /// Operations that finish before do not count for the share.
    pub(crate) warm_up_ns: u64,
    /// From an answer to the next question.
    pub(crate) think_time_ns: u64,
    pub(crate) share: u64,
    /// Where sessions pace themselves: how, and how long this one waits before its first operation.
    pub(crate) pace: Option<(Pace, u64)>,
}

/// Asks until the deadline, until the source is empty, or until its share of operations is finished after the warm-up.
pub(crate) fn run<C: Clock, S: Source, W: OpObserver>(
    mut parts: SessionParts<'_, C, W>,
    source: &mut S,
    shared: &Shared,
    pacing: ClosedPace,
) -> SessionEnd {
    let ClosedPace { warm_up_ns, think_time_ns, share, pace } = pacing;
    let (mut finished, mut all) = (0, 0);
    let mut first = u64::MAX;
    let mut now = parts.clock.now();
    if let Some((_, start_ns)) = pace {
        now = parts.wait_until(now.saturating_add(start_ns), shared);
    }
    let begin = now;
    // The first operation is due when it is sent.
    let mut due = Due::AtDispatch;
    // The deadline is checked before an operation is drawn: what is drawn is always sent.
    'session: while finished < share && now < shared.deadline() {
        let Some(ask) = source.next() else { break };
        let inserted = Inserted::by(&ask);
        let mut times = parts.ask(ask, due, shared);
        // Without a branch: time never goes back.
        first = first.min(times.dispatched);
        let mut attempts = 1;
        loop {
            match parts.observer.after(times.operation, times.status, attempts) {
                After::GoOn => break,
                After::Stop => break 'session,
                After::Again { pause_ns } => {
                    let again = times.completed.saturating_add(pause_ns);
                    if parts.wait_until(again, shared) >= shared.deadline() {
                        break 'session;
                    }
                    attempts += 1;
                    times = parts.ask(ask, due, shared);
                }
            }
        }
        source.ended(inserted, &times);
        now = times.completed;
        if now >= warm_up_ns {
            finished += 1;
        }
        if let Some((pace, _)) = pace {
            all += 1;
            let next = pace.due_ns(begin, all);
            due = Due::At(next);
            // Also after the last operation, so that the whole takes as long as the target says.
            now = parts.wait_until(next, shared);
        }
        if think_time_ns > 0 && finished < share {
            now = parts.wait_until(now + think_time_ns, shared);
        }
    }
    parts.end.first = (first < u64::MAX).then_some(first);
    if let Some((pace, _)) = pace {
        parts.end.due = finished;
        count_overdue(&mut parts, shared, pace, begin, all, share - finished);
    }
    parts.close(shared)
}

/// Counts what was due before the deadline and could not be begun. At most `left` operations were still to be sent.
#[cold]
fn count_overdue<C: Clock, W: OpObserver>(
    parts: &mut SessionParts<'_, C, W>,
    shared: &Shared,
    pace: Pace,
    begin: u64,
    first: u64,
    left: u64,
) {
    let deadline = shared.deadline();
    if parts.clock.now() < deadline {
        return;
    }
    // The operation that was under way at the deadline is counted already.
    for number in first..first.saturating_add(left) {
        let due = pace.due_ns(begin, number);
        if due >= deadline {
            break;
        }
        shared.leave_unfinished(due, deadline);
        parts.end.due += 1;
    }
}
