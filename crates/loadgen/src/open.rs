//! Measuring path: no allocation, lock, log or formatting here.
//!
//! A session of an open loop: operations are due at times fixed beforehand, and whichever session is free takes the next.

use crate::asking::{Due, Inserted, SessionParts, Source};
use crate::clock::Clock;
use crate::observer::OpObserver;
use crate::session_end::SessionEnd;
use crate::shared::Shared;
use plimsoll_workload::OpGenerator;
use plimsoll_workload::schedule::Share;

/// How much later than by an exact generator a session began its last operation, nanoseconds.
///
/// An operation that was due while its session was free counts from its dispatch: the generator was late, the database was not. One that was
/// due while all sessions were busy has waited for the database, and counts from when it was due. But a session that began late by itself is
/// busy for this much longer, so the operations right behind count from this much later, until the session is free again. Nothing else is taken
/// from a wait. With one session this is Lindley's recursion of an exact generator; with several it is close to their common queue as long as
/// lags take little of the sessions' time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Behind(u64);

impl Behind {
    /// From when an operation counts that is due at `intended` and about to be begun at `now`; `waited` says that its session was free before.
    #[inline]
    pub(crate) fn due(self, intended: u64, now: u64, waited: bool) -> Due {
        if waited {
            Due::Awaited(intended)
        } else {
            Due::At(now.min(intended.saturating_add(self.0)))
        }
    }

    /// Takes note from when an operation did count.
    #[inline]
    pub(crate) fn begun(&mut self, intended: u64, counted_from: u64) {
        self.0 = counted_from.saturating_sub(intended);
    }
}

/// Takes this host's arrivals until there are no more. Those that are due and cannot be begun before the deadline are counted as unfinished.
pub(crate) fn run<C: Clock, W: OpObserver>(
    mut parts: SessionParts<'_, C, W>,
    generator: &mut OpGenerator,
    shared: &Shared,
    warm_up_ns: u64,
    arrivals: &[u64],
    share: Share,
) -> SessionEnd {
    let mut behind = Behind::default();
    loop {
        let index = shared.take_arrival();
        let Some(intended) = usize::try_from(index).ok().and_then(|index| arrivals.get(index))
        else {
            break;
        };
        let intended = *intended;
        let waited = parts.clock.now() < intended;
        let now = parts.wait_until(intended, shared);
        let deadline = shared.deadline();
        if intended >= deadline {
            // Neither are all that come after.
            break;
        }
        if now >= deadline {
            shared.leave_unfinished(intended, deadline);
            continue;
        }
        let ask = generator.at(share.number(index));
        let inserted = Inserted::by(&ask);
        let times = parts.ask(ask, behind.due(intended, now, waited), shared);
        behind.begun(intended, times.intended);
        parts.end.first.get_or_insert(times.dispatched);
        // Whatever the observer wants: in an open loop each operation is sent once.
        parts.observer.after(times.operation, times.status, 1);
        generator.ended(inserted, &times);
        if waited && intended >= warm_up_ns {
            parts.recorder.lag(times.dispatched.saturating_sub(intended));
        }
    }
    // The point continues although no operation is due.
    parts.wait_until(u64::MAX, shared);
    parts.close(shared)
}
