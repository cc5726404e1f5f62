//! The sessions of a point: made, set off together, and waited for.

use crate::asking::{Copied, SessionParts};
use crate::clock::{Clock, ClockStart, wait_for_start, wake_exactly};
use crate::collector::Collector;
use crate::grid::Grid;
use crate::observer::OpObserver;
use crate::recorder::Recording;
use crate::session_end::SessionEnd;
use crate::shared::Shared;
use crate::spec::{LoadError, SliceSink};
use plimsoll_engine::Engine;
use plimsoll_record::{Operation, PointEnd};
use rustix::thread::{disable_transparent_huge_pages, transparent_huge_pages_are_disabled};
use std::convert::Infallible;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the sessions of a point are to do.
pub(crate) struct Jobs<'a> {
    pub(crate) engine: &'a dyn Engine,
    /// The numbers of this host's sessions; there may be none.
    pub(crate) sessions: Range<u32>,
    pub(crate) warm_up_ns: u64,
    /// Warm-up and measured part together.
    pub(crate) window_ns: u64,
    /// The operations that can be recorded.
    pub(crate) operations: Vec<Operation>,
    /// Whether there are intended times.
    pub(crate) timed: bool,
    /// Whether whichever session is free takes what is due next, until the end of the window.
    pub(crate) open: bool,
    /// Whether a host without a session idles until the end of the window. Otherwise it has done its part at once.
    pub(crate) idles: bool,
    /// Whether this is a point, with a measured part whose begin the sink is notified; the other is a load phase.
    pub(crate) measured: bool,
}

/// Where sessions wait until all are made: then they all get the clock, or nothing when the point is given up.
struct Gate<C> {
    state: Mutex<GateState<C>>,
    changed: Condvar,
}

struct GateState<C> {
    waiting: u32,
    clock: Option<Option<C>>,
}

impl<C: Clock> Gate<C> {
    fn new() -> Self {
        Self { state: Mutex::new(GateState { waiting: 0, clock: None }), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, GateState<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, clock: Option<C>) {
        self.lock().clock = Some(clock);
        self.changed.notify_all();
    }

    /// Returns when this many sessions wait.
    fn wait_for(&self, sessions: u32) {
        let mut state = self.lock();
        while state.waiting < sessions {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wait(&self, sessions: u32) -> Option<C> {
        let mut state = self.lock();
        state.waiting += 1;
        if state.waiting == sessions {
            self.changed.notify_all();
        }
        loop {
            if let Some(clock) = state.clock.as_ref() {
                return clock.clone();
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// While this is held, the memory that begins to be used comes in small pages. A thread that begins takes a few pages of the allocator's: in huge pages
/// thousands of threads take gigabytes for some kB each.
struct SmallPages {
    were_huge: bool,
}

impl SmallPages {
    fn begin() -> Self {
        let were_huge = matches!(transparent_huge_pages_are_disabled(), Ok(false))
            && disable_transparent_huge_pages(true).is_ok();
        Self { were_huge }
    }
}

impl Drop for SmallPages {
    fn drop(&mut self) {
        if self.were_huge {
            // It was allowed before.
            let _ = disable_transparent_huge_pages(false);
        }
    }
}

/// Waits until the point is over.
fn idle(clock: &impl Clock, shared: &Shared) {
    while clock.now() < shared.deadline() {
        clock.sleep_until(u64::MAX, shared.deadline());
    }
}

/// Makes the sessions, starts the clock, lets each session run `body` on a thread of its own, and collects what they saw.
///
/// Observers, sources and bodies get the number of their session among those of all hosts.
///
/// Whatever a session needs is made here, on one thread: allocators give each thread that takes memory some hundred kB, which many sessions do not have.
pub(crate) fn run<K: ClockStart, S: Send, W: OpObserver>(
    jobs: &Jobs<'_>,
    sink: &mut dyn SliceSink,
    clock_start: &K,
    copied: impl Fn() -> Option<Copied>,
    observer: impl Fn(u32) -> W,
    source: impl Fn(u32) -> S,
    body: impl Fn(u32, S, SessionParts<'_, K::Clock, W>, &Shared) -> SessionEnd + Sync,
) -> Result<PointEnd, LoadError> {
    let grid = Grid::new(jobs.warm_up_ns);
    let shared = Shared::new(jobs.window_ns);
    let sessions = jobs.sessions.end - jobs.sessions.start;
    let recording = Recording::new(grid, &jobs.operations, sessions, jobs.timed, jobs.open);
    let mut seats = Vec::with_capacity(sessions as usize);
    let mut interrupters = Vec::new();
    for (own, index) in (0..sessions).zip(jobs.sessions.clone()) {
        let session = jobs.engine.session().map_err(|source| LoadError::Session {
            session: own + 1,
            sessions,
            source,
        })?;
        interrupters.extend(session.interrupter());
        let recorder = recording.recorder(own);
        seats.push((index, session, recorder, copied(), observer(index), source(index)));
    }
    // Nothing is ever sent: the collector sees that the last session has dropped its end.
    let (running, ended) = sync_channel::<Infallible>(0);
    let gate = Gate::new();
    let (gate, shared, body) = (&gate, &shared, &body);
    // In place of sessions, one thread idles.
    let waiting = sessions.max(1);
    std::thread::scope(|scope| {
        let small_pages = SmallPages::begin();
        let mut threads = Vec::with_capacity(waiting as usize);
        for (index, session, recorder, copied, observer, source) in seats {
            let running = running.clone();
            let work = move || {
                wake_exactly();
                let end = SessionEnd::default();
                let Some(clock) = gate.wait(waiting) else {
                    return end;
                };
                let end = body(
                    index,
                    source,
                    SessionParts { clock, session, recorder, end, copied, observer },
                    shared,
                );
                drop(running);
                end
            };
            let name = format!("session-{index}");
            match std::thread::Builder::new().name(name).spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    gate.open(None);
                    return Err(LoadError::Thread {
                        session: 1 + threads.len() as u32,
                        sessions,
                        source,
                    });
                }
            }
        }
        if sessions == 0 {
            let running = running.clone();
            let work = move || {
                if let Some(clock) = gate.wait(waiting)
                    && jobs.idles
                {
                    idle(&clock, shared);
                }
                drop(running);
                SessionEnd::default()
            };
            let name = "no-session".to_owned();
            let thread = std::thread::Builder::new().name(name).spawn_scoped(scope, work);
            threads.push(thread.map_err(|source| LoadError::Thread {
                session: 0,
                sessions,
                source,
            })?);
        }
        drop(running);
        gate.wait_for(waiting);
        drop(small_pages);
        let sleepers = threads.iter().map(|thread| thread.thread().clone());
        // They are set only here.
        let _ = shared.sleepers.set(sleepers.collect());
        let mut measuring_from = jobs.measured.then_some(jobs.warm_up_ns);
        if measuring_from == Some(0) {
            // Sent before the clock starts, so that whatever the sink does about it takes nothing from the measured part.
            sink.measuring_begins(Duration::ZERO);
            measuring_from = None;
        }
        if let Some(start_ns) = sink.ready() {
            wait_for_start(clock_start, start_ns, || sink.stop_requested());
        }
        jobs.engine.point_begins();
        let (clock, origin_ns) = clock_start.start();
        gate.open(Some(clock.clone()));
        let mut collector = Collector::new(
            clock.clone(),
            grid,
            measuring_from,
            shared,
            &recording,
            sink,
            &interrupters,
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
            statements: all.statements,
            cut_short: collector.stopped,
            errors: all.errors,
            first_operation_ns: all.first.map(|first| origin_ns + first),
            ..PointEnd::default()
        })
    })
}
