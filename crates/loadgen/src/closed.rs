//! Measuring path: no allocation, lock, log or formatting here.
//!
//! A session of a closed loop: the next operation waits for the last one.

use crate::asking::{Desk, Source};
use crate::clock::Clock;
use crate::crew::Shared;
use crate::session_end::SessionEnd;

/// Asks until the deadline, until the source is empty, or until `share` operations are finished after the warm-up.
pub(crate) fn run<C: Clock, S: Source>(
    mut desk: Desk<C>,
    source: &mut S,
    shared: &Shared,
    warm_up_ns: u64,
    think_time_ns: u64,
    share: u64,
) -> SessionEnd {
    let mut finished = 0;
    let mut now = desk.clock.now();
    // The deadline is looked at before an operation is drawn: what is drawn is always asked.
    while finished < share && now < shared.deadline() {
        let Some(ask) = source.next() else { break };
        let inserted = match ask {
            plimsoll_workload::Ask::Insert { number, .. } => Some(number),
            _ => None,
        };
        let instants = desk.ask(ask, None, shared);
        if let Some(number) = inserted {
            source.acknowledge(number);
        }
        now = instants.completed;
        if now >= warm_up_ns {
            finished += 1;
        }
        if think_time_ns > 0 && finished < share {
            now = desk.wait_until(now + think_time_ns, shared);
        }
    }
    desk.end.retries = desk.session.retries();
    desk.hand.end();
    desk.end
}
