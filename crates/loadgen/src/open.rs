//! Measuring path: no allocation, lock, log or formatting here.
//!
//! A session of an open loop: operations are due at times fixed beforehand, and whichever session is free takes the next.

use crate::asking::Desk;
use crate::clock::Clock;
use crate::crew::Shared;
use crate::session_end::SessionEnd;
use crate::witness::Witness;
use plimsoll_workload::{Ask, Asker};

/// Takes arrivals until there are no more. Those that are due and cannot be begun before the deadline are counted as unfinished.
pub(crate) fn run<C: Clock, W: Witness>(
    mut desk: Desk<C, W>,
    asker: &mut Asker,
    shared: &Shared,
    warm_up_ns: u64,
    arrivals: &[u64],
) -> SessionEnd {
    loop {
        let index = shared.take_arrival();
        let Some(intended) = usize::try_from(index)
            .ok()
            .and_then(|index| arrivals.get(index))
        else {
            break;
        };
        let intended = *intended;
        let waited = desk.clock.now() < intended;
        let now = desk.wait_until(intended, shared);
        let deadline = shared.deadline();
        if intended >= deadline {
            // Neither are all that come after.
            break;
        }
        if now >= deadline {
            desk.end.unfinished(intended, deadline);
            continue;
        }
        let ask = asker.at(index);
        let inserted = match ask {
            Ask::Insert { number, .. } => Some(number),
            _ => None,
        };
        let asked = desk.ask(ask, Some(intended), shared);
        // Whatever the witness wants: in an open loop each operation is asked once.
        desk.witness.after(asked.operation, asked.status, 1);
        if let Some(number) = inserted {
            asker.acknowledge(number);
        }
        if waited
            && intended >= warm_up_ns
            && let Some(lag) = &mut desk.end.lag
        {
            lag.record(asked.dispatched.saturating_sub(intended));
        }
    }
    // Where nothing is due any more, the point goes on all the same.
    desk.wait_until(u64::MAX, shared);
    desk.close(shared)
}
