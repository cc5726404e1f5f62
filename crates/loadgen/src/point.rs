//! One point, from its start to its end.

use crate::asking::Copied;
use crate::clock::{ClockStart, ProgramClockStart};
use crate::closed::ClosedPace;
use crate::observer::OpObserver;
use crate::sessions::{Jobs, run};
use crate::spec::{LoadError, PointSpec, SliceSink};
use crate::{closed, open};
use plimsoll_engine::Engine;
use plimsoll_record::{Operation, OwnOperation, PointEnd};
use plimsoll_workload::schedule::{
    Arrivals, Load, Pace, ScheduleError, Share, arrivals, constant_arrival, things_before,
};
use plimsoll_workload::{Loader, Mix, Workload};
use std::sync::Arc;

/// Measures one load setting, or this host's part of it. Slices go to the sink as they end; what is known at the end is returned. The fields about the machine
/// (`stolen_ns`, `clock_jump_ns`) are the caller's to fill.
///
/// A host without a session idles for the length of the point and hands out empty slices. In a closed loop that ends after a number of operations, its part
/// of them is none, and it returns at once.
pub fn run_point(
    engine: &dyn Engine,
    workload: &Arc<Workload>,
    spec: &PointSpec,
    mix: &Mix,
    sink: &mut dyn SliceSink,
) -> Result<PointEnd, LoadError> {
    run_point_with(engine, workload, spec, mix, sink, |_| ())
}

/// As [`run_point`], with an observer in each session, which gets the number of the session among those of all hosts, from 0.
pub fn run_point_with<W: OpObserver>(
    engine: &dyn Engine,
    workload: &Arc<Workload>,
    spec: &PointSpec,
    mix: &Mix,
    sink: &mut dyn SliceSink,
    observer: impl Fn(u32) -> W,
) -> Result<PointEnd, LoadError> {
    let clock_start = ProgramClockStart::new();
    run_point_on(engine, workload, spec, mix, sink, observer, &clock_start)
}

/// As [`run_point_with`], on any clock.
pub(crate) fn run_point_on<K: ClockStart, W: OpObserver>(
    engine: &dyn Engine,
    workload: &Arc<Workload>,
    spec: &PointSpec,
    mix: &Mix,
    sink: &mut dyn SliceSink,
    observer: impl Fn(u32) -> W,
    clock_start: &K,
) -> Result<PointEnd, LoadError> {
    let share = spec.share;
    if share != workload.key_space().share() {
        return Err(LoadError::Share { point: share, keys: workload.key_space().share() });
    }
    // The sessions of all hosts.
    let sessions = spec.load.sessions();
    let operations = operations_of(mix, &workload.own_operations(), spec.verify);
    let copied = || spec.verify.then(|| Copied::new(workload.key_space()));
    let window_ns = spec.warm_up_ns.saturating_add(spec.duration_ns);
    match &spec.load {
        Load::Closed { think_time_ns, target, .. } => {
            let pace = target.map(|target| Pace::new(target, sessions));
            let jobs = Jobs {
                engine,
                sessions: share.sessions(sessions),
                warm_up_ns: spec.warm_up_ns,
                window_ns,
                operations,
                timed: pace.is_some(),
                open: false,
                idles: spec.operations.is_none(),
                measured: true,
            };
            run(
                &jobs,
                sink,
                clock_start,
                copied,
                observer,
                |index| workload.generator_among(u64::from(index), sessions),
                |index, mut generator, parts, shared| {
                    let share =
                        spec.operations.map_or(u64::MAX, |all| share_of(all, sessions, index));
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
            let mut times = arrivals(&spec.load, window_ns, spec.seed, share)?;
            // Nothing is due on a host without a session, so its share is not used.
            let share = share.among(sessions).unwrap_or(share);
            let window_ns = end_after(&mut times, spec, share, window_ns)?.unwrap_or(window_ns);
            let jobs = Jobs {
                engine,
                sessions: spec.share.sessions(sessions),
                warm_up_ns: spec.warm_up_ns,
                window_ns,
                operations,
                timed: true,
                open: true,
                idles: true,
                measured: true,
            };
            let mut end = run(
                &jobs,
                sink,
                clock_start,
                copied,
                observer,
                |index| workload.generator(u64::from(index)),
                |_, mut generator, parts, shared| {
                    open::run(parts, &mut generator, shared, spec.warm_up_ns, &times, share)
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
    /// How many sessions store at the same time, on all hosts.
    pub sessions: u32,
    /// Nanoseconds after which the load phase ends, however much is stored.
    pub duration_ns: u64,
    /// Operations to be divided equally among the sessions of all hosts. Without it, the next free session takes the next record, until all are stored.
    pub operations: Option<u64>,
    /// Records per second, of all sessions of all hosts together, to which they pace themselves: see [`Pace`].
    pub target: Option<f64>,
    /// Seed of the random start of paced sessions.
    pub seed: u64,
    /// The part of this host: of the sessions, and of the records as many ([`Loader::part`]).
    pub share: Share,
}

impl LoadSpec {
    /// Everything on this host, as fast as this many sessions can.
    pub fn of(sessions: u32) -> Self {
        Self {
            sessions,
            duration_ns: u64::MAX,
            operations: None,
            target: None,
            seed: 0,
            share: Share::WHOLE,
        }
    }
}

/// As [`run_load`], or this host's part of it, with an observer in each session, which gets the number of the session among those of all hosts, from 0.
pub fn run_load_with<W: OpObserver>(
    engine: &dyn Engine,
    loader: &Arc<Loader>,
    spec: &LoadSpec,
    sink: &mut dyn SliceSink,
    observer: impl Fn(u32) -> W,
) -> Result<PointEnd, LoadError> {
    // The sessions of all hosts.
    let sessions = spec.sessions;
    let loader = loader.part(spec.share, sessions, spec.operations);
    let pace = spec.target.map(|target| Pace::new(target, sessions));
    let jobs = Jobs {
        engine,
        sessions: spec.share.sessions(sessions),
        warm_up_ns: 0,
        window_ns: spec.duration_ns,
        operations: operations_of_load(&loader),
        timed: pace.is_some(),
        open: false,
        idles: false,
        measured: false,
    };
    run(
        &jobs,
        sink,
        &ProgramClockStart::new(),
        || None,
        observer,
        |index| loader.generator(u64::from(index)),
        |index, mut generator, parts, shared| {
            let pacing = ClosedPace {
                warm_up_ns: 0,
                think_time_ns: 0,
                share: spec.operations.map_or(u64::MAX, |all| share_of(all, sessions, index)),
                pace: pace.map(|pace| (pace, pace.start_ns(spec.seed, index))),
            };
            closed::run(parts, &mut generator, shared, pacing)
        },
    )
}

/// Keeps the arrivals of the warm-up and as many more as were requested, and says when the next would have been due: that ends the point. Of several
/// hosts, each keeps its own. `share` is that among the hosts with a session.
fn end_after(
    times: &mut Vec<u64>,
    spec: &PointSpec,
    share: Share,
    window_ns: u64,
) -> Result<Option<u64>, ScheduleError> {
    let Some(operations) = spec.operations else {
        return Ok(None);
    };
    let measured_from = times.partition_point(|time| *time < spec.warm_up_ns);
    let is_constant = matches!(
        spec.load,
        Load::Open { arrivals: Arrivals::Constant, .. }
            | Load::Stages { arrivals: Arrivals::Constant, .. }
    );
    let (kept, end) = if is_constant {
        let next = first_measured(&spec.load, spec.warm_up_ns)?.saturating_add(operations);
        let due = constant_arrival(&spec.load, next)?.filter(|due| *due < window_ns);
        // Only the host's own numbers below the next one count.
        let (index, hosts) = (share.index(), share.of());
        let kept = next.saturating_sub(u64::from(index)).div_ceil(u64::from(hosts));
        (kept, due)
    } else {
        let own = share_of(operations, share.of(), share.index());
        let kept = own.saturating_add(measured_from as u64);
        let next = usize::try_from(kept).ok().and_then(|next| times.get(next));
        (kept, next.copied())
    };
    if end.is_some() {
        times.truncate(usize::try_from(kept).unwrap_or(usize::MAX));
    }
    Ok(end)
}

/// The number, over all hosts, of the first of constant arrivals that is not in the warm-up.
fn first_measured(load: &Load, warm_up_ns: u64) -> Result<u64, ScheduleError> {
    let is_measured = |number| {
        let due = constant_arrival(load, number)?;
        Ok::<_, ScheduleError>(due.is_none_or(|due| due >= warm_up_ns))
    };
    // Operations below `begin` are in the warm-up, the one at `end` is not.
    let (mut begin, mut end) = (0, 1);
    while !is_measured(end)? {
        begin = end;
        end = end.saturating_mul(2);
    }
    while begin < end {
        let middle = begin.midpoint(end);
        if is_measured(middle)? {
            end = middle;
        } else {
            begin = middle + 1;
        }
    }
    Ok(end)
}

/// The operations with which data is stored, as [`operations_of`].
fn operations_of_load(loader: &Loader) -> Vec<Operation> {
    let own = loader.own_operations();
    if own.is_empty() {
        return vec![Operation::Insert];
    }
    own.into_iter().map(Operation::Own).collect()
}

/// The operations that a mix can record, so that room for them is made beforehand.
fn operations_of(mix: &Mix, own: &[OwnOperation], verify: bool) -> Vec<Operation> {
    let whole = mix.read_modify_write > 0.0;
    let wanted = [
        (Operation::Read, mix.read > 0.0 || whole),
        (Operation::Update, mix.update > 0.0 || whole),
        (Operation::Insert, mix.insert > 0.0),
        (Operation::Scan, mix.scan > 0.0),
        (Operation::ReadModifyWrite, whole),
        (Operation::Verify, verify),
    ];
    let ycsb = wanted.iter().filter(|(_, wanted)| *wanted).map(|(operation, _)| *operation);
    ycsb.chain(own.iter().copied().map(Operation::Own)).collect()
}

/// As in YCSB: equal shares, the first sessions take the rest.
fn share_of(all: u64, sessions: u32, index: u32) -> u64 {
    things_before(all, sessions, index + 1) - things_before(all, sessions, index)
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
            share: Share::WHOLE,
        };
        let all: Vec<u64> = (0..12).map(|index| index * 10).collect();
        let end_after = |times: &mut Vec<u64>, operations| {
            end_after(times, &spec(operations), Share::WHOLE, 120).unwrap()
        };
        let mut times = all.clone();
        assert_eq!(end_after(&mut times, Some(3)), Some(50));
        assert_eq!(times, [0, 10, 20, 30, 40]);
        let mut times = all.clone();
        assert_eq!(end_after(&mut times, Some(100)), None);
        assert_eq!(end_after(&mut times, None), None);
        assert_eq!(times, all);
    }

    /// What each host keeps of a load that ends after a number of operations, and when the point ends there.
    fn kept(load: &Load, operations: u64, hosts: u32) -> Vec<(Vec<u64>, Option<u64>)> {
        const WARM_UP: u64 = 1_234_567_890;
        const WINDOW: u64 = 10_000_000_000;
        let kept = |index| {
            let share = Share::new(index, hosts).unwrap();
            let spec = PointSpec {
                load: load.clone(),
                warm_up_ns: WARM_UP,
                duration_ns: WINDOW - WARM_UP,
                operations: Some(operations),
                seed: 3,
                verify: false,
                share,
            };
            let mut times = arrivals(load, WINDOW, spec.seed, share).unwrap();
            let share = share.among(load.sessions()).unwrap_or(share);
            let end = end_after(&mut times, &spec, share, WINDOW).unwrap();
            (times, end)
        };
        (0..hosts).map(kept).collect()
    }

    #[test]
    fn hosts_end_constant_arrivals_together_and_have_asked_as_much_as_one() {
        let stages = [(0.0, 500.0), (500.0, 20.0)].map(|(rate_from, rate_to)| {
            plimsoll_workload::schedule::Stage { rate_from, rate_to, duration_ns: 4_000_000_000 }
        });
        // More operations than in the window, none, and what ends at the end of the last stage.
        for operations in [0, 1, 7, 1_001, 1_000_000] {
            for sessions in [3, 1_000] {
                for load in [
                    Load::Open { rate: 312.7, arrivals: Arrivals::Constant, sessions },
                    Load::Stages {
                        stages: stages.to_vec(),
                        arrivals: Arrivals::Constant,
                        sessions,
                    },
                ] {
                    let (whole, end) = kept(&load, operations, 1).remove(0);
                    let measured = whole.iter().filter(|time| **time >= 1_234_567_890);
                    assert!(end.is_none() || measured.count() as u64 == operations);
                    for hosts in [2, 4, 7] {
                        let parts = kept(&load, operations, hosts);
                        assert!(parts.iter().all(|(_, found)| *found == end));
                        let mut all: Vec<u64> = parts.into_iter().flat_map(|part| part.0).collect();
                        all.sort_unstable();
                        assert_eq!(all, whole, "{operations} operations on {hosts} hosts");
                    }
                }
            }
        }
    }

    #[test]
    fn hosts_with_poisson_arrivals_have_equal_shares_of_the_operations() {
        let load = Load::Open { rate: 500.0, arrivals: Arrivals::Poisson, sessions: 3 };
        for hosts in [1, 2, 4] {
            let measured = kept(&load, 1_001, hosts).into_iter().map(|(times, end)| {
                assert!(end.is_some() || times.is_empty());
                times.iter().filter(|time| **time >= 1_234_567_890).count()
            });
            let measured: Vec<usize> = measured.collect();
            assert_eq!(measured.iter().sum::<usize>(), 1_001, "{measured:?}");
        }
    }

    #[test]
    fn shares_differ_by_one_at_most_and_sum_to_all() {
        let shares: Vec<u64> = (0..3).map(|index| share_of(11, 3, index)).collect();
        assert_eq!(shares, [4, 4, 3]);
    }
}
