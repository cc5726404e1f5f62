//! One point: what is to be measured, and what comes of it.

use crate::asking::Copied;
use crate::clock::{Clock, ProgramClock};
use crate::closed::ClosedPace;
use crate::observer::OpObserver;
use crate::sessions::{Jobs, run};
use crate::{closed, open};
use plimsoll_engine::{Engine, EngineError};
use plimsoll_record::{Operation, PointEnd, Slice, WorkerUse};
use plimsoll_schedule::{Load, Pace, ScheduleError, Share, arrivals};
use plimsoll_workload::{Loader, Mix, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is measured at one point.
#[derive(Clone, Debug)]
pub struct PointSpec {
    /// Closed, open or stages.
    pub load: Load,
    /// Nanoseconds before the measured part. Stages begin with the warm-up.
    pub warm_up_ns: u64,
    /// Nanoseconds of the measured part.
    pub duration_ns: u64,
    /// Ends the point early: a closed loop when so many operations are finished after the warm-up, of which each session has an equal
    /// share, an open loop when so many have been due.
    pub operations: Option<u64>,
    /// Of the arrivals.
    pub seed: u64,
    /// Whether every record read is compared with what must be in it.
    pub verify: bool,
}

/// Takes what a point gives while it runs, on the thread that called.
pub trait SliceSink {
    /// A slice is complete. Each comes once, in order.
    fn slice(&mut self, slice: Slice);

    /// What the worker used since the last call, and other figures. Called at the end of every slice.
    fn sample(&mut self) -> (WorkerUse, BTreeMap<String, f64>) {
        Default::default()
    }

    /// The warm-up is over, the measured part begins. Called once for each point, at the boundary: after the sample of the last slice of the
    /// warm-up, and before the clock starts when there is no warm-up. Not called in a load phase, nor when a point ends in its warm-up.
    fn measuring_begins(&mut self) {}

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

/// Measures one load setting. Slices go to the sink as they end; what is known at the end is returned. The fields about the machine
/// (`stolen_ns`, `clock_jump_ns`) are the caller's to fill.
///
/// # Errors
/// When sessions, threads or arrivals cannot be made. Failures of operations are no errors here: they are counted.
pub fn run_point(
    engine: &dyn Engine,
    workload: &Arc<Workload>,
    spec: &PointSpec,
    mix: &Mix,
    sink: &mut dyn SliceSink,
) -> Result<PointEnd, LoadError> {
    run_point_with(engine, workload, spec, mix, sink, |_| ())
}

/// As [`run_point`], with an observer in each session, which is told the session's number from 0.
///
/// # Errors
/// As [`run_point`].
pub fn run_point_with<W: OpObserver>(
    engine: &dyn Engine,
    workload: &Arc<Workload>,
    spec: &PointSpec,
    mix: &Mix,
    sink: &mut dyn SliceSink,
    observer: impl Fn(u32) -> W,
) -> Result<PointEnd, LoadError> {
    let start_clock = ProgramClock::start;
    run_point_on(engine, workload, spec, mix, sink, observer, start_clock)
}

/// As [`run_point_with`], on any clock.
pub(crate) fn run_point_on<C: Clock, W: OpObserver>(
    engine: &dyn Engine,
    workload: &Arc<Workload>,
    spec: &PointSpec,
    mix: &Mix,
    sink: &mut dyn SliceSink,
    observer: impl Fn(u32) -> W,
    start_clock: impl FnOnce() -> C,
) -> Result<PointEnd, LoadError> {
    let sessions = spec.load.sessions();
    let operations = operations_of(mix, spec.verify);
    let copied = || spec.verify.then(|| Copied::new(workload.key_space()));
    let window_ns = spec.warm_up_ns.saturating_add(spec.duration_ns);
    match &spec.load {
        Load::Closed {
            think_time_ns,
            target,
            ..
        } => {
            let pace = target.map(|target| Pace::new(target, sessions));
            let jobs = Jobs {
                engine,
                sessions,
                warm_up_ns: spec.warm_up_ns,
                window_ns,
                operations,
                timed: pace.is_some(),
                open: false,
                measured: true,
            };
            run(
                &jobs,
                sink,
                start_clock,
                copied,
                observer,
                |index| workload.generator(u64::from(index)),
                |index, mut generator, parts, shared| {
                    let share = spec
                        .operations
                        .map_or(u64::MAX, |all| share_of(all, sessions, index));
                    let pacing = ClosedPace {
                        warm_up_ns: spec.warm_up_ns,
                        think_time_ns: *think_time_ns,
                        share,
                        pace: pace.map(|pace| (pace, pace.start_ns(spec.seed, index))),
                    };
                    closed::run(parts, &mut generator, shared, pacing)
                },
            )
        }
        Load::Open { .. } | Load::Stages { .. } => {
            let mut times = arrivals(&spec.load, window_ns, spec.seed, Share::WHOLE)?;
            let window_ns = end_after(&mut times, spec).unwrap_or(window_ns);
            let jobs = Jobs {
                engine,
                sessions,
                warm_up_ns: spec.warm_up_ns,
                window_ns,
                operations,
                timed: true,
                open: true,
                measured: true,
            };
            let mut end = run(
                &jobs,
                sink,
                start_clock,
                copied,
                observer,
                |index| workload.generator(u64::from(index)),
                |_, mut generator, parts, shared| {
                    open::run(parts, &mut generator, shared, spec.warm_up_ns, &times)
                },
            )?;
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
    sink: &mut dyn SliceSink,
) -> Result<PointEnd, LoadError> {
    let spec = LoadSpec::of(sessions);
    run_load_with(engine, loader, &spec, sink, |_| ())
}

/// How the data is stored.
#[derive(Clone, Copy, Debug)]
pub struct LoadSpec {
    /// How many sessions store at the same time.
    pub sessions: u32,
    /// Nanoseconds after which the load phase ends, however much is stored.
    pub duration_ns: u64,
    /// Operations of which each session has an equal share. Without, whichever session is free takes the next record, until there are no more.
    pub operations: Option<u64>,
    /// Records per second, of all sessions together, to which they pace themselves: see [`Pace`].
    pub target: Option<f64>,
    /// Of what is drawn at random: when paced sessions begin.
    pub seed: u64,
}

impl LoadSpec {
    /// Everything, as fast as so many sessions can.
    #[must_use]
    pub fn of(sessions: u32) -> Self {
        Self {
            sessions,
            duration_ns: u64::MAX,
            operations: None,
            target: None,
            seed: 0,
        }
    }
}

/// As [`run_load`], with an observer in each session, which is told the session's number from 0.
///
/// # Errors
/// As [`run_point`].
pub fn run_load_with<W: OpObserver>(
    engine: &dyn Engine,
    loader: &Arc<Loader>,
    spec: &LoadSpec,
    sink: &mut dyn SliceSink,
    observer: impl Fn(u32) -> W,
) -> Result<PointEnd, LoadError> {
    let sessions = spec.sessions;
    let pace = spec.target.map(|target| Pace::new(target, sessions));
    let jobs = Jobs {
        engine,
        sessions,
        warm_up_ns: 0,
        window_ns: spec.duration_ns,
        operations: vec![Operation::Insert],
        timed: pace.is_some(),
        open: false,
        measured: false,
    };
    run(
        &jobs,
        sink,
        ProgramClock::start,
        || None,
        observer,
        |index| loader.generator(u64::from(index)),
        |index, mut generator, parts, shared| {
            let pacing = ClosedPace {
                warm_up_ns: 0,
                think_time_ns: 0,
                share: spec
                    .operations
                    .map_or(u64::MAX, |all| share_of(all, sessions, index)),
                pace: pace.map(|pace| (pace, pace.start_ns(spec.seed, index))),
            };
            closed::run(parts, &mut generator, shared, pacing)
        },
    )
}

/// Keeps the arrivals of the warm-up and as many more as were asked for, and says when the next would have been due: that ends the point.
fn end_after(times: &mut Vec<u64>, spec: &PointSpec) -> Option<u64> {
    let measured_from = times.partition_point(|time| *time < spec.warm_up_ns);
    let kept = measured_from.saturating_add(usize::try_from(spec.operations?).ok()?);
    let end = *times.get(kept)?;
    times.truncate(kept);
    Some(end)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_loop_ends_when_the_operations_asked_for_were_due() {
        let spec = |operations| PointSpec {
            load: Load::closed(1),
            warm_up_ns: 20,
            duration_ns: 100,
            operations,
            seed: 1,
            verify: false,
        };
        let all: Vec<u64> = (0..12).map(|index| index * 10).collect();
        let mut times = all.clone();
        assert_eq!(end_after(&mut times, &spec(Some(3))), Some(50));
        assert_eq!(times, [0, 10, 20, 30, 40]);
        let mut times = all.clone();
        assert_eq!(end_after(&mut times, &spec(Some(100))), None);
        assert_eq!(end_after(&mut times, &spec(None)), None);
        assert_eq!(times, all);
    }

    #[test]
    fn shares_differ_by_one_at_most_and_sum_to_all() {
        let shares: Vec<u64> = (0..3).map(|index| share_of(11, 3, index)).collect();
        assert_eq!(shares, [4, 4, 3]);
    }
}
