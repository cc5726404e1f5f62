//! The sessions of a point: made, set off together, and waited for.

use crate::asking::{Copied, Desk};
use crate::clock::{Clock, wake_exactly};
use crate::collector::Collector;
use crate::grid::Grid;
use crate::point::{LoadError, Observer};
use crate::recorder::{Hand, Recorder};
use crate::session_end::SessionEnd;
use crate::witness::Witness;
use plimsoll_engine::Engine;
use plimsoll_record::{Operation, PointEnd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex};

/// What all sessions of a point share. Each value has its own cache lines: all sessions read one and write the other.
pub(crate) struct Shared {
    deadline: Apart,
    next_arrival: Apart,
}

#[repr(align(128))]
struct Apart(AtomicU64);

impl Shared {
    pub(crate) fn new(deadline_ns: u64) -> Self {
        Self {
            deadline: Apart(AtomicU64::new(deadline_ns)),
            next_arrival: Apart(AtomicU64::new(0)),
        }
    }

    /// When the point ends, nanoseconds from its start.
    #[inline(always)]
    pub(crate) fn deadline(&self) -> u64 {
        self.deadline.0.load(Ordering::Relaxed)
    }

    /// Ends the point earlier.
    pub(crate) fn end_at(&self, time_ns: u64) {
        self.deadline.0.fetch_min(time_ns, Ordering::Relaxed);
    }

    /// The number of an arrival that no other session has.
    #[inline]
    pub(crate) fn take_arrival(&self) -> u64 {
        self.next_arrival.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// What the sessions of a point are to do.
pub(crate) struct Jobs<'a> {
    pub(crate) engine: &'a dyn Engine,
    pub(crate) sessions: u32,
    pub(crate) warm_up_ns: u64,
    /// Warm-up and measured part together.
    pub(crate) window_ns: u64,
    /// Those that can be recorded.
    pub(crate) operations: Vec<Operation>,
    /// Whether there are intended times.
    pub(crate) timed: bool,
    /// Whether whichever session is free takes what is due next, until the end of the window.
    pub(crate) open: bool,
    /// Whether this is a point, with a measured part whose begin the observer is told; the other is a load phase.
    pub(crate) measured: bool,
}

/// Where sessions wait until all are made: then they all get the clock, or nothing when the point is given up.
struct Gate<C> {
    clock: Mutex<Option<Option<C>>>,
    opened: Condvar,
}

impl<C: Clock> Gate<C> {
    fn new() -> Self {
        Self {
            clock: Mutex::new(None),
            opened: Condvar::new(),
        }
    }

    fn open(&self, clock: Option<C>) {
        *self.clock.lock().expect("nobody panics with this lock") = Some(clock);
        self.opened.notify_all();
    }

    fn wait(&self) -> Option<C> {
        let mut clock = self.clock.lock().expect("nobody panics with this lock");
        loop {
            if let Some(clock) = clock.as_ref() {
                return clock.clone();
            }
            clock = self
                .opened
                .wait(clock)
                .expect("nobody panics with this lock");
        }
    }
}

/// Makes the sessions, starts the clock, lets each session run `body` on a thread of its own, and collects what they saw.
pub(crate) fn run<C: Clock, W: Witness>(
    jobs: &Jobs<'_>,
    observer: &mut dyn Observer,
    start_clock: impl FnOnce() -> C,
    copied: impl Fn() -> Option<Copied>,
    witness: impl Fn(u32) -> W,
    body: impl Fn(u32, Desk<C, W>, &Shared) -> SessionEnd + Sync,
) -> Result<PointEnd, LoadError> {
    let grid = Grid::new(jobs.warm_up_ns);
    let shared = Shared::new(jobs.window_ns);
    let sessions = jobs.sessions;
    let (parts, received) = sync_channel(2 * sessions as usize);
    let mut seats = Vec::with_capacity(sessions as usize);
    let mut spares_back = Vec::with_capacity(sessions as usize);
    for index in 0..sessions {
        let session = jobs.engine.session().map_err(|source| LoadError::Session {
            session: index + 1,
            sessions,
            source,
        })?;
        let (back, spares) = sync_channel(2);
        // The channel is new and holds two.
        let _ = back.try_send(Recorder::new(&jobs.operations, jobs.timed));
        spares_back.push(back);
        let hand = Hand::new(
            index as usize,
            grid,
            &jobs.operations,
            jobs.timed,
            parts.clone(),
            spares,
        );
        seats.push((index, session, hand, copied(), witness(index)));
    }
    drop(parts);
    let gate = Gate::new();
    let (gate, shared, body) = (&gate, &shared, &body);
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(sessions as usize);
        for (index, session, hand, copied, witness) in seats {
            let work = move || {
                wake_exactly();
                let end = SessionEnd::new(jobs.open);
                let Some(clock) = gate.wait() else { return end };
                body(
                    index,
                    Desk {
                        clock,
                        session,
                        hand,
                        end,
                        copied,
                        witness,
                    },
                    shared,
                )
            };
            let name = format!("session-{index}");
            match std::thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, work)
            {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    gate.open(None);
                    return Err(LoadError::Thread {
                        session: index + 1,
                        sessions,
                        source,
                    });
                }
            }
        }
        jobs.engine.point_begins();
        let mut measuring_from = jobs.measured.then_some(jobs.warm_up_ns);
        if measuring_from == Some(0) {
            // Told before the clock starts, so that whatever the observer does about it takes nothing from the measured part.
            observer.measuring_begins();
            measuring_from = None;
        }
        let clock = start_clock();
        gate.open(Some(clock.clone()));
        let mut collector = Collector::new(
            clock.clone(),
            grid,
            measuring_from,
            shared,
            observer,
            spares_back,
        );
        collector.collect(&received);
        let mut all = SessionEnd::default();
        for thread in threads {
            all.merge(thread.join().map_err(|_| LoadError::Panic)?);
        }
        // A closed loop that ended before its deadline had nothing more to ask.
        let early = !jobs.open && clock.now() < shared.deadline();
        let end_ns = if early {
            all.ended
        } else {
            // An operation may have completed while a wish to stop was on its way to its session.
            shared.deadline().max(all.ended)
        };
        collector.finish(end_ns);
        Ok(PointEnd {
            measured_ns: end_ns.saturating_sub(jobs.warm_up_ns),
            due: (jobs.timed && !jobs.open).then_some(all.due),
            unfinished: all.unfinished,
            generator_lag: all.lag,
            busy_ns: collector.busy_ns,
            retries: all.retries,
            cut_short: collector.stopped,
            errors: all.errors,
            ..PointEnd::default()
        })
    })
}
