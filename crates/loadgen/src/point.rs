//! One point: sessions are made, set off together, and waited for.

use crate::asking::{Copied, Desk};
use crate::clock::{Clock, wake_exactly};
use crate::collector::Collector;
use crate::grid::Grid;
use crate::recorder::{Hand, Recorder};
use crate::session_end::SessionEnd;
use crate::{closed, open};
use plimsoll_engine::{Engine, EngineError};
use plimsoll_record::{Operation, PointEnd, Slice, WorkerUse};
use plimsoll_schedule::{Load, ScheduleError, Stage, arrivals};
use plimsoll_workload::{Loader, Mix, Workload};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex};

/// What is measured at one point.
#[derive(Clone, Debug)]
pub struct PointSpec {
    /// Closed, open or stages.
    pub load: Load,
    /// Nanoseconds before the measured part.
    pub warm_up_ns: u64,
    /// Nanoseconds of the measured part.
    pub duration_ns: u64,
    /// Ends a closed loop early when so many operations are finished after the warm-up: each session has an equal share of them.
    pub operations: Option<u64>,
    /// Of the arrivals.
    pub seed: u64,
    /// Whether every record read is compared with what must be in it.
    pub verify: bool,
}

/// Takes what a point gives while it runs, on the thread that called.
pub trait Observer {
    /// A slice is complete, or a late share of an earlier one is there.
    fn slice(&mut self, slice: Slice);

    /// What the worker used since the last call, and other figures. Called at the end of every slice.
    fn sample(&mut self) -> (WorkerUse, BTreeMap<String, f64>) {
        Default::default()
    }

    /// Whether the point is to end now. Asked many times a second.
    fn stop_requested(&mut self) -> bool {
        false
    }
}

/// Why a point could not be measured at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A session could not be made.
    #[error("session {session} of {sessions} cannot be opened: {source}")]
    Session {
        /// Which, from 1.
        session: u32,
        /// How many were asked for.
        sessions: u32,
        /// Why.
        source: EngineError,
    },
    /// The arrivals cannot be computed.
    #[error("the arrivals cannot be computed: {0}")]
    Schedule(#[from] ScheduleError),
    /// A thread could not be made.
    #[error(
        "a thread for session {session} of {sessions} cannot be made: {source}; ask for fewer sessions or raise the limit of processes"
    )]
    Thread {
        /// Which, from 1.
        session: u32,
        /// How many were asked for.
        sessions: u32,
        /// Why.
        source: std::io::Error,
    },
    /// A session's thread ended by itself: a fault in this program or in the engine's bindings.
    #[error("the thread of a session panicked; its message is above")]
    Panic,
}

/// What all sessions of a point share. Each value has its own cache lines: all sessions read one and write the other.
pub(crate) struct Shared {
    deadline: Apart,
    next_arrival: Apart,
}

#[repr(align(128))]
struct Apart(AtomicU64);

impl Shared {
    fn new(deadline_ns: u64) -> Self {
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

/// Measures one load setting. Slices go to the observer as they end; what is known at the end is returned. The fields about the machine
/// (`stolen_ns`, `clock_jump_ns`) are the caller's to fill.
///
/// # Errors
/// When sessions, threads or arrivals cannot be made. Failures of operations are no errors here: they are counted.
pub fn run_point(
    engine: &dyn Engine,
    workload: &Arc<Workload>,
    spec: &PointSpec,
    mix: &Mix,
    observer: &mut dyn Observer,
) -> Result<PointEnd, LoadError> {
    let sessions = spec.load.sessions();
    let operations = operations_of(mix, spec.verify);
    let copied = || spec.verify.then(|| Copied::new(workload.key_space()));
    let window_ns = spec.warm_up_ns.saturating_add(spec.duration_ns);
    match &spec.load {
        Load::Closed { think_time_ns, .. } => {
            let jobs = Jobs {
                engine,
                sessions,
                warm_up_ns: spec.warm_up_ns,
                window_ns,
                operations,
                open: false,
            };
            run(&jobs, observer, copied, |index, desk, shared| {
                let share = spec
                    .operations
                    .map_or(u64::MAX, |all| share_of(all, sessions, index));
                let mut asker = workload.asker(u64::from(index));
                closed::run(
                    desk,
                    &mut asker,
                    shared,
                    spec.warm_up_ns,
                    *think_time_ns,
                    share,
                )
            })
        }
        Load::Open { .. } | Load::Stages { .. } => {
            let times = arrivals(
                &with_warm_up(&spec.load, spec.warm_up_ns),
                window_ns,
                spec.seed,
            )?;
            let jobs = Jobs {
                engine,
                sessions,
                warm_up_ns: spec.warm_up_ns,
                window_ns,
                operations,
                open: true,
            };
            let mut end = run(&jobs, observer, copied, |index, desk, shared| {
                let mut asker = workload.asker(u64::from(index));
                open::run(desk, &mut asker, shared, spec.warm_up_ns, &times)
            })?;
            let until = spec.warm_up_ns + end.measured_ns;
            let due = times.partition_point(|time| *time < until)
                - times.partition_point(|time| *time < spec.warm_up_ns);
            end.due = Some(due as u64);
            Ok(end)
        }
    }
}

/// Stores every record once, as fast as `sessions` sessions can.
///
/// # Errors
/// As [`run_point`].
pub fn run_load(
    engine: &dyn Engine,
    loader: &Arc<Loader>,
    sessions: u32,
    observer: &mut dyn Observer,
) -> Result<PointEnd, LoadError> {
    let jobs = Jobs {
        engine,
        sessions,
        warm_up_ns: 0,
        window_ns: u64::MAX,
        operations: vec![Operation::Insert],
        open: false,
    };
    run(
        &jobs,
        observer,
        || None,
        |index, desk, shared| {
            let mut asker = loader.asker(u64::from(index));
            closed::run(desk, &mut asker, shared, 0, 0, u64::MAX)
        },
    )
}

struct Jobs<'a> {
    engine: &'a dyn Engine,
    sessions: u32,
    warm_up_ns: u64,
    window_ns: u64,
    operations: Vec<Operation>,
    open: bool,
}

/// Where sessions wait until all are made: then they all get the clock, or nothing when the point is given up.
#[derive(Default)]
struct Gate {
    clock: Mutex<Option<Option<Clock>>>,
    opened: Condvar,
}

impl Gate {
    fn open(&self, clock: Option<Clock>) {
        *self.clock.lock().expect("nobody panics with this lock") = Some(clock);
        self.opened.notify_all();
    }

    fn wait(&self) -> Option<Clock> {
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

fn run(
    jobs: &Jobs<'_>,
    observer: &mut dyn Observer,
    copied: impl Fn() -> Option<Copied>,
    body: impl Fn(u32, Desk, &Shared) -> SessionEnd + Sync,
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
        let _ = back.try_send(Recorder::new(&jobs.operations, jobs.open));
        spares_back.push(back);
        let hand = Hand::new(
            index as usize,
            grid,
            &jobs.operations,
            jobs.open,
            parts.clone(),
            spares,
        );
        seats.push((index, session, hand, copied()));
    }
    drop(parts);
    let gate = Gate::default();
    let (gate, shared, body) = (&gate, &shared, &body);
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(sessions as usize);
        for (index, session, hand, copied) in seats {
            let work = move || {
                wake_exactly();
                let end = SessionEnd::default();
                let Some(clock) = gate.wait() else { return end };
                body(
                    index,
                    Desk {
                        clock,
                        session,
                        hand,
                        end,
                        copied,
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
        let clock = Clock::start();
        gate.open(Some(clock.clone()));
        let mut collector = Collector::new(clock.clone(), grid, shared, observer, spares_back);
        collector.collect(&received);
        let mut all = SessionEnd::default();
        for thread in threads {
            all.merge(thread.join().map_err(|_| LoadError::Panic)?);
        }
        // A closed loop that ended before its deadline had nothing more to ask.
        let early = !jobs.open && clock.now() < shared.deadline();
        let end_ns = if early {
            all.last_completed
        } else {
            shared.deadline()
        };
        collector.finish(end_ns);
        Ok(PointEnd {
            measured_ns: end_ns.saturating_sub(jobs.warm_up_ns),
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

/// The operations that a mix can record, so that room for them is made beforehand.
fn operations_of(mix: &Mix, verify: bool) -> Vec<Operation> {
    let whole = mix.read_modify_write > 0.0;
    let wanted = [
        (Operation::Read, mix.read > 0.0 || whole),
        (Operation::Update, mix.update > 0.0 || whole),
        (Operation::Insert, mix.insert > 0.0),
        (Operation::Scan, mix.scan > 0.0),
        (Operation::ReadModifyWrite, whole),
        (Operation::Verify, verify),
    ];
    wanted
        .iter()
        .filter(|(_, wanted)| *wanted)
        .map(|(operation, _)| *operation)
        .collect()
}

/// As in YCSB: equal shares, the first sessions take the rest.
fn share_of(all: u64, sessions: u32, index: u32) -> u64 {
    let sessions = u64::from(sessions);
    all / sessions + u64::from(u64::from(index) < all % sessions)
}

/// Stages begin after the warm-up, which goes on at the rate of their beginning.
fn with_warm_up(load: &Load, warm_up_ns: u64) -> Load {
    let mut load = load.clone();
    if let Load::Stages { stages, .. } = &mut load
        && warm_up_ns > 0
        && let Some(first) = stages.first()
    {
        let rate = first.rate_from;
        stages.insert(
            0,
            Stage {
                rate_from: rate,
                rate_to: rate,
                duration_ns: warm_up_ns,
            },
        );
    }
    load
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_differ_by_one_at_most_and_sum_to_all() {
        let shares: Vec<u64> = (0..3).map(|index| share_of(11, 3, index)).collect();
        assert_eq!(shares, [4, 4, 3]);
    }
}
