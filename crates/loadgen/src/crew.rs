//! The sessions of a point: made, set off together, and waited for.

use crate::asking::{Copied, Desk};
use crate::clock::{Clock, wake_exactly};
use crate::collector::Collector;
use crate::grid::Grid;
use crate::point::{LoadError, Observer};
use crate::recorder::Recording;
use crate::session_end::SessionEnd;
use crate::witness::Witness;
use plimsoll_engine::Engine;
use plimsoll_record::{Histogram, Operation, PointEnd};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, PoisonError};

/// What all sessions of a point share. Each value has its own cache lines: all sessions read one and write the other.
pub(crate) struct Shared {
    deadline: Apart,
    next_arrival: Apart,
    /// Lower bounds of the response times of what was due and unfinished.
    unfinished: Mutex<Option<Histogram>>,
}

#[repr(align(128))]
struct Apart(AtomicU64);

impl Shared {
    pub(crate) fn new(deadline_ns: u64) -> Self {
        Self {
            deadline: Apart(AtomicU64::new(deadline_ns)),
            next_arrival: Apart(AtomicU64::new(0)),
            unfinished: Mutex::new(None),
        }
    }

    /// Counts an operation that was due at `intended` and not finished at `end`.
    #[cold]
    pub(crate) fn leave_unfinished(&self, intended: u64, end: u64) {
        let mut unfinished = self
            .unfinished
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        unfinished
            .get_or_insert_default()
            .record(end.saturating_sub(intended));
    }

    fn unfinished(&self) -> Option<Histogram> {
        self.unfinished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
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
    body: impl Fn(u32, Desk<'_, C, W>, &Shared) -> SessionEnd + Sync,
) -> Result<PointEnd, LoadError> {
    let grid = Grid::new(jobs.warm_up_ns);
    let shared = Shared::new(jobs.window_ns);
    let sessions = jobs.sessions;
    let recording = Recording::new(grid, &jobs.operations, sessions, jobs.timed, jobs.open);
    let mut seats = Vec::with_capacity(sessions as usize);
    for index in 0..sessions {
        let session = jobs.engine.session().map_err(|source| LoadError::Session {
            session: index + 1,
            sessions,
            source,
        })?;
        let recorder = recording.recorder(index);
        seats.push((index, session, recorder, copied(), witness(index)));
    }
    // Nothing is ever sent: the collector sees that the last session has dropped its end.
    let (running, ended) = sync_channel::<Infallible>(0);
    let gate = Gate::new();
    let (gate, shared, body) = (&gate, &shared, &body);
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(sessions as usize);
        for (index, session, recorder, copied, witness) in seats {
            let running = running.clone();
            let work = move || {
                wake_exactly();
                let end = SessionEnd::default();
                let Some(clock) = gate.wait() else { return end };
                let end = body(
                    index,
                    Desk {
                        clock,
                        session,
                        recorder,
                        end,
                        copied,
                        witness,
                    },
                    shared,
                );
                drop(running);
                end
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
        drop(running);
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
            &recording,
            observer,
        );
        collector.collect(&ended);
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
            unfinished: shared.unfinished(),
            generator_lag: recording.lag(),
            lag_is_apart: jobs.open,
            busy_ns: recording.busy_ns(),
            retries: all.retries,
            cut_short: collector.stopped,
            errors: all.errors,
            ..PointEnd::default()
        })
    })
}
