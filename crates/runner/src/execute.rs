//! A whole plan: which runs are missing, one after the other, everything into the store.

use crate::afterwards::SliceIndex;
use crate::calibration::calibrate_disks;
use crate::clock_time::now;
use crate::decided::{Decided, RunResults};
use crate::error::RunnerError;
use crate::frames::{Frame, Order, RigAccess, WorkerRole};
use crate::host::{Hosts, RunHost};
use crate::probe_task::{ProbedHost, time_probe_tasks};
use crate::rigging::{Rigging, needs_rig};
use crate::supervise::{Member, PARTNER_FAILED, Start, Supervised, WorkerEnd, supervise};
use crate::watcher::{Event, LoggedWatcher, Watcher};
use plimsoll_engine::kind;
use plimsoll_plan::search::Known;
use plimsoll_plan::{Arm, Pairing, Plan, PlannedRun, keeps_data_here, redact_json, sha256};
use plimsoll_record::quantities::words::percent;
use plimsoll_record::redact::redact;
use plimsoll_record::{
    Calibration, EngineDescription, ExperimentRecord, ExperimentState, ForeignCpu, Half, Machine,
    ProbeTime, Program, RECORD_VERSION, RigRecord, RunRecord, RunState, Warning, WarningId,
};
use plimsoll_rig::RigError;
use plimsoll_stats::looks;
use plimsoll_store::{PointId, RunId, Store, StoreError};
use plimsoll_telemetry::Host;
use plimsoll_workload::schedule::Share;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// An arm that failed in so many blocks and never succeeded is not tried again.
const TRIES_OF_A_BROKEN_ARM: u32 = 2;

/// What is to be executed.
#[derive(Clone)]
pub struct Execution<'a> {
    pub plan: &'a Plan,
    /// The experiment file, to the letter.
    pub file_text: &'a str,
    /// The command line to repeat it.
    pub command: &'a str,
    pub program: Program,
    /// The machines that the runs are made on.
    pub hosts: &'a dyn Hosts,
    /// Where traces of emulated disks are kept.
    pub traces: PathBuf,
    /// Where logs of servers are kept.
    pub server_logs: PathBuf,
    /// Whether emulated disks are held against their description first. Without it their points are marked as invalid.
    pub calibrate: bool,
    /// Of emulated disks that were held against their description just before: these are not held against it again.
    pub calibrations: Vec<Calibration>,
    /// What other programs used of the processors before, where that was looked at.
    pub foreign: Option<ForeignCpu>,
    /// Which arms of the plan run now; `None`: all. The runs of the others are left for later.
    pub only: Option<Vec<bool>>,
    /// Begin anew even if there is an unfinished experiment of the same plan.
    pub fresh: bool,
    /// Whether what was measured is enough for an experiment that may end before all its blocks are made: every interval that decides is narrow enough, or the
    /// question of a gate is answered.
    pub is_enough: fn(&ExperimentRecord) -> bool,
    /// Blocks in which a gate refused a point for what happened to the machine, and which are not measured again yet; asked when all runs are made.
    pub to_repeat: fn(&ExperimentRecord) -> Vec<u32>,
    /// Why a point of the runs in this record is not valid; asked of the runs that have just been made.
    pub why_refused: fn(&ExperimentRecord) -> Option<String>,
    /// Why no valid verdict can come any more, however the missing runs end; asked before each block but the first.
    pub is_hopeless: fn(&ExperimentRecord) -> Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub id: String,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Runs of the plan that are still missing.
    pub missing: u32,
    /// Why it ended before its runs were made, where no valid verdict could come any more.
    pub hopeless: Option<String>,
}

/// How long a run took from its begin to its end, seconds; `None` of one that did not finish.
pub fn took_seconds(run: &RunRecord) -> Option<f64> {
    if run.state != RunState::Finished {
        return None;
    }
    let instant = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let begun = instant(&run.started_at)?;
    let ended = instant(run.ended_at.as_deref()?)?;
    Some(ended.duration_since(begun).as_secs_f64().max(0.0))
}

/// Makes the missing runs of a plan, in its order. An unfinished experiment of the same plan on the same machine goes on; otherwise a new
/// one begins.
pub fn execute(
    execution: &Execution<'_>,
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> Result<Ended, RunnerError> {
    let watcher: &mut dyn Watcher = &mut LoggedWatcher(watcher);
    let mut machine = execution.hosts.host(None)?.machine()?;
    machine.foreign.clone_from(&execution.foreign);
    let names = execution.plan.all_host_names(plimsoll_engine::kinds());
    check_places(execution)?;
    let halves = match execution.plan.measurement.pairing {
        Pairing::InTurn => None,
        Pairing::Duet => Some(Host::here().halves().map_err(RunnerError::NoHalves)?),
    };
    for name in &names {
        undo_what_was_left(&*execution.hosts.host(*name)?, watcher)?;
    }
    all_arms_can_run(execution)?;
    let begun = begin_or_resume(execution, store, &machine)?;
    let (id, earlier) = (begun.id, begun.runs);
    let before = if earlier.is_empty() || !Decided::is_needed(&begun.plan) {
        None
    } else {
        Some(store.load(&id)?)
    };
    let execution = &Execution {
        plan: &begun.plan,
        ..execution.clone()
    };
    let plan = execution.plan;
    let mut decided = Decided::of(plan, before.as_ref());
    let mut attempts: BTreeMap<(u32, &str), u32> = BTreeMap::new();
    let mut finished: Vec<(u32, &str)> = Vec::new();
    for run in &earlier {
        let attempt = attempts.entry((run.block, run.arm.as_str())).or_insert(0);
        *attempt = (*attempt).max(run.attempt);
        if run.state == RunState::Finished {
            finished.push((run.block, &run.arm));
        }
    }
    if plan.at_once() > 1 {
        // A duet counts when both of its runs are finished, which then are of one attempt.
        let last = |run: &PlannedRun| {
            let is_of = |made: &&RunRecord| {
                made.state == RunState::Finished && (made.block, &*made.arm) == key(plan, run)
            };
            earlier.iter().filter(is_of).map(|made| made.attempt).max()
        };
        for duet in plan.runs.chunks(plan.at_once()) {
            let mut lasts = duet.iter().map(last);
            let first = lasts.next().flatten();
            if first.is_none() || !lasts.all(|other| other == first) {
                finished.retain(|(block, _)| *block != duet[0].block);
            }
        }
    }
    let runs = plan.runs.len() as u32;
    let is_left_out = |arm: usize| execution.only.as_ref().is_some_and(|only| !only[arm]);
    let are_missing = plan
        .runs
        .iter()
        .filter(|run| !finished.contains(&key(plan, run)));
    let mut missing = are_missing.clone().count() as u32;
    let now_missing = are_missing.filter(|run| !is_left_out(run.arm as usize));
    watcher.event(&Event::Begins {
        id: &id,
        plan,
        finished: runs - missing,
        took: earlier.iter().filter_map(took_seconds).collect(),
        missing,
        to_make: now_missing.count() as u32,
    });

    for name in &names {
        ready_host(execution.hosts, *name, &id, watcher)?;
    }
    if missing > 0 && execution.calibrate {
        calibrate_disks(execution, &id, store, watcher)?;
    }
    let before: f64 = earlier.iter().filter_map(took_seconds).sum();
    let mut spent = Duration::from_secs_f64(before / plan.at_once() as f64);
    let mut successes: Vec<u32> = vec![0; plan.arms.len()];
    let mut failures: Vec<u32> = vec![0; plan.arms.len()];
    let mut interrupted = false;
    let mut hopeless = None;
    let probed = probed_hosts(plan);
    let mut block_begun = None;
    // Runs whose machine was lost are tried once more when the others are made.
    let mut lost = Vec::new();
    let mut turns: VecDeque<&[PlannedRun]> = plan.runs.chunks(plan.at_once()).collect();
    let mut is_again = false;
    let mut is_repeated = execution.only.is_some();
    loop {
        let Some(turn) = turns.pop_front() else {
            if !lost.is_empty() && !is_again {
                is_again = true;
                turns.extend(std::mem::take(&mut lost));
                continue;
            }
            if missing > 0 || is_repeated {
                break;
            }
            (is_again, is_repeated) = (true, true);
            let blocks = (execution.to_repeat)(&store.load(&id)?);
            let again = |run: &&PlannedRun| blocks.contains(&run.block);
            let numbers: Vec<String> = blocks.iter().map(|block| (block + 1).to_string()).collect();
            if !blocks.is_empty() {
                let note = format!(
                    "measured again, because a gate refused a point in them: blocks {}",
                    numbers.join(", ")
                );
                watcher.event(&Event::Note(&note));
            }
            missing = plan.runs.iter().filter(again).count() as u32;
            finished.retain(|(block, _)| !blocks.contains(block));
            let chunks = plan.runs.chunks(plan.at_once());
            turns.extend(chunks.filter(|turn| turn.first().is_some_and(|run| again(&run))));
            continue;
        };
        let Some(first) = turn.first() else { break };
        if !is_again
            && first.position == 0
            && has_enough(execution, &id, first.block, spent, store, watcher)?
        {
            missing = 0;
            break;
        }
        if !is_again && first.position == 0 && first.block > 0 {
            hopeless = (execution.is_hopeless)(&store.load(&id)?);
            if let Some(why) = &hopeless {
                watcher.event(&Event::Note(why));
                break;
            }
        }
        let is_finished =
            |turn: &[PlannedRun]| turn.iter().all(|run| finished.contains(&key(plan, run)));
        if is_finished(turn) {
            turn.iter().for_each(|run| successes[run.arm as usize] += 1);
            continue;
        }
        if watcher.interruptions() > 0 {
            interrupted = true;
            break;
        }
        let is_given_up = |turn: &[PlannedRun]| {
            turn.iter().any(|run| {
                let arm = run.arm as usize;
                is_left_out(arm) || successes[arm] == 0 && failures[arm] >= TRIES_OF_A_BROKEN_ARM
            })
        };
        if is_given_up(turn) {
            continue;
        }
        let names: Vec<&str> = turn.iter().map(|run| key(plan, run).1).collect();
        let place = plan.runs.iter().position(|run| run == first);
        watcher.event(&Event::RunBegins {
            run: first,
            arm: &names.join(" beside "),
            number: place.map_or(0, |place| place as u32) + 1,
            runs,
        });
        let mut probe_tasks = Vec::new();
        if block_begun != Some(first.block) {
            block_begun = Some(first.block);
            let place = ProbeTime::BeforeBlock;
            probe_tasks = time_probe_tasks(place, &probed, execution.hosts)?;
        }
        let ends_block = plan
            .runs
            .chunks(plan.at_once())
            .skip_while(|other| other[0] != *first)
            .skip(1)
            .take_while(|later| later[0].block == first.block)
            .all(|later| is_finished(later) || is_given_up(later));
        // The runs of a duet are one attempt.
        let attempt = turn.iter().filter_map(|run| attempts.get(&key(plan, run)));
        let attempt = attempt.max().copied().unwrap_or(0) + 1;
        let mut probe_tasks = Some(probe_tasks);
        let mut made: Vec<Attempt<'_>> = Vec::new();
        for (run, name) in turn.iter().zip(&names) {
            made.push(Attempt {
                run,
                head: RunRecord {
                    block: run.block,
                    arm: (*name).into(),
                    position: run.position,
                    attempt,
                    state: RunState::Started,
                    seed: run.seed,
                    started_at: now(),
                    ended_at: None,
                    engine: None,
                    machine: machine.clone(),
                    half: None,
                    storage: None,
                    records_loaded: None,
                    data_bytes: None,
                    caches_emptied: false,
                    warmed: None,
                    rig: None,
                    load: None,
                    points: Vec::new(),
                    probe_tasks: probe_tasks.take().unwrap_or_default(),
                    warnings: Vec::new(),
                },
                known: decided.known(run),
                results: RunResults::default(),
            });
        }
        if let Some(halves) = &halves {
            for (attempt, half) in made.iter_mut().zip(halves) {
                attempt.head.machine.cores = half.processors.len() as u32;
                attempt.head.half = Some(half.clone());
            }
        }
        let after_block = ends_block.then_some(&probed[..]);
        let begun_at = Instant::now();
        let states = make(execution, &id, &mut made, after_block, store, watcher);
        spent += begun_at.elapsed();
        let states = match states {
            Err(error @ RunnerError::HostLost { .. }) => {
                let state = RunState::Failed {
                    message: error.to_string(),
                };
                watcher.event(&Event::RunEnds {
                    state: &state,
                    refused: None,
                });
                for run in turn {
                    *attempts.entry(key(plan, run)).or_insert(0) += 1;
                }
                lost.push(turn);
                continue;
            }
            states => states?,
        };
        let is_bad = |state: &&RunState| **state != RunState::Finished;
        let worst = states.iter().find(is_bad).unwrap_or(&RunState::Finished);
        let mut refused = None;
        if *worst == RunState::Finished {
            let of_turn = |run: &RunRecord| {
                run.block == first.block
                    && run.attempt == attempt
                    && names.iter().any(|name| run.arm == *name)
            };
            refused = (execution.why_refused)(&store.load_runs(&id, of_turn)?);
        }
        watcher.event(&Event::RunEnds {
            state: worst,
            refused,
        });
        for ((run, state), attempt) in turn.iter().zip(&states).zip(made) {
            let arm = run.arm as usize;
            match state {
                RunState::Finished => {
                    successes[arm] += 1;
                    if !finished.contains(&key(plan, run)) {
                        missing -= 1;
                        finished.push(key(plan, run));
                    }
                    decided.finished(run, attempt.results);
                }
                // The other one is to blame.
                RunState::Failed { message } if message == PARTNER_FAILED => {}
                RunState::Failed { .. } => {
                    failures[arm] += 1;
                    if successes[arm] == 0 && failures[arm] == TRIES_OF_A_BROKEN_ARM {
                        let name = key(plan, run).1;
                        let note = format!(
                            "arm {name} failed {TRIES_OF_A_BROKEN_ARM} times and never succeeded: its other runs are left out"
                        );
                        watcher.event(&Event::Note(&note));
                    }
                }
                RunState::Interrupted | RunState::Started => interrupted = true,
            }
        }
        if interrupted {
            break;
        }
    }
    // A rig that was killed when all it had to do was done has left its journal.
    let _: Result<(), RunnerError> = undo_what_was_left(&*execution.hosts.host(None)?, watcher);
    if missing == 0 {
        store.finish(&id, &now())?;
    }
    Ok(Ended {
        id,
        interrupted,
        missing,
        hopeless,
    })
}

/// The machines that arms stand on, each with the place where the first arm there that keeps data keeps it.
fn probed_hosts(plan: &Plan) -> Vec<ProbedHost> {
    let keeps_data = |arm: &&Arm| {
        kind(&arm.engine).is_some_and(|kind| keeps_data_here(kind, arm.rig.server.as_ref()))
    };
    let probed = plan.host_names().into_iter().map(|name| {
        let mut arms = plan.arms.iter().filter(|arm| arm.on.as_deref() == name);
        ProbedHost {
            host: name.map(str::to_owned),
            disk: arms.find(keeps_data).map(|arm| arm.directory.clone()),
        }
    });
    probed.collect()
}

/// Whether an experiment that may end by looks has enough blocks before this one. It follows from the record alone, so that an experiment that was interrupted
/// decides the same; but for the time of a gate, of which `spent` was used so far.
fn has_enough(
    execution: &Execution<'_>,
    id: &str,
    block: u32,
    spent: Duration,
    store: &Store,
    watcher: &mut dyn Watcher,
) -> Result<bool, RunnerError> {
    let plan = execution.plan;
    let Some(asked) = plan.measurement.looks else {
        return Ok(false);
    };
    let most = plan.measurement.blocks;
    let looks = looks(asked.first, most);
    let this = looks.iter().position(|look| *look == block);
    let note = if let Some(gate) = asked.gate {
        // The time says nothing of what was measured, so it may be looked at after every block.
        if block > 0 && spent >= Duration::from_nanos(gate.within_ns) {
            format!("out of time after {block} of at most {most} blocks: the experiment ends")
        } else if this.is_some() {
            let mut record = store.load(id)?;
            record.runs.retain(|run| run.block < block);
            if !(execution.is_enough)(&record) {
                return Ok(false);
            }
            format!(
                "more would not help after {block} of at most {most} blocks: the experiment ends"
            )
        } else {
            return Ok(false);
        }
    } else {
        // Narrow at this look and at the one before.
        let Some(this) = this.filter(|this| *this > 0) else {
            return Ok(false);
        };
        let mut record = store.load(id)?;
        for blocks in [block, looks[this - 1]] {
            record.runs.retain(|run| run.block < blocks);
            if !(execution.is_enough)(&record) {
                return Ok(false);
            }
        }
        format!(
            "every interval is narrow enough after {} and after {block} of at most {most} blocks: the experiment ends",
            looks[this - 1]
        )
    };
    watcher.event(&Event::Note(&note));
    Ok(true)
}

fn key<'a>(plan: &'a Plan, run: &PlannedRun) -> (u32, &'a str) {
    (run.block, plan.arms[run.arm as usize].name.as_str())
}

/// An experiment that was begun or is gone on with.
struct Begun {
    id: String,
    /// Runs that were made before.
    runs: Vec<RunRecord>,
    /// As executed: an experiment that goes on keeps the sizes that were chosen when it began.
    plan: Plan,
}

fn begin_or_resume(
    execution: &Execution<'_>,
    store: &mut Store,
    machine: &Machine,
) -> Result<Begun, RunnerError> {
    let mut plan = execution.plan.clone();
    let unfinished = if execution.fresh {
        None
    } else {
        store.find_unfinished(&plan.hash(), &machine.fingerprint())?
    };
    if let Some(unfinished) = &unfinished {
        keep_sizes(&mut plan, &store.head(&unfinished.id)?.plan);
    }
    // Workers must know the passwords of servers, records must not.
    let file_text = redact(execution.file_text);
    let mut recorded =
        serde_json::to_value(&plan).expect("a plan has string keys and plain numbers");
    redact_json(&mut recorded);
    let record = ExperimentRecord {
        plimsoll_record: RECORD_VERSION,
        id: String::new(),
        name: plan.name.clone(),
        question: plan.question.clone(),
        state: ExperimentState::Unfinished,
        file_hash: sha256(&file_text),
        file_text,
        plan_hash: plan.hash(),
        plan: recorded,
        seed: plan.measurement.seed,
        program: execution.program.clone(),
        machine: machine.clone(),
        command: redact(execution.command),
        started_at: now(),
        ended_at: None,
        calibrations: Vec::new(),
        runs: Vec::new(),
    };
    let Some(unfinished) = unfinished else {
        let id = store.begin(&record)?;
        return Ok(Begun {
            id,
            runs: Vec::new(),
            plan,
        });
    };
    let runs = store.resume(&unfinished.id)?;
    // The same is measured, but what is judged may have been changed in the file.
    store.revise(&unfinished.id, &record)?;
    Ok(Begun {
        id: unfinished.id,
        runs,
        plan,
    })
}

/// The number of records of a working set follows from a small load, which comes out a little different each time.
fn keep_sizes(plan: &mut Plan, begun: &serde_json::Value) {
    let Ok(begun) = serde_json::from_value::<Plan>(begun.clone()) else {
        return;
    };
    for arm in &mut plan.arms {
        let same = begun.arms.iter().find(|other| other.name == arm.name);
        if let Some(same) = same
            && arm.working_set.is_some()
        {
            arm.data = same.data.clone();
            arm.working_set = same.working_set;
        }
    }
}

/// Says at the beginning what could only fail later.
fn all_arms_can_run(execution: &Execution<'_>) -> Result<(), RunnerError> {
    let mut can = Vec::new();
    let mut cannot = Vec::new();
    for name in execution.plan.host_names() {
        let of_plan = execution.plan.arms.iter();
        let arms: Vec<&Arm> = of_plan.filter(|arm| arm.on.as_deref() == name).collect();
        let rigs = arms.iter().map(|arm| arm.rig.clone()).collect();
        let host = execution.hosts.host(name)?;
        for (arm, why) in arms.iter().zip(host.rigs().what_runs(rigs)?) {
            match why {
                None => can.push(arm.name.clone()),
                Some(why) => cannot.push((arm.name.clone(), why)),
            }
        }
    }
    if cannot.is_empty() {
        return Ok(());
    }
    Err(RunnerError::ArmsCannotRun { can, cannot })
}

/// Refuses places that other users could change, before anything is begun.
fn check_places(execution: &Execution<'_>) -> Result<(), RunnerError> {
    let arms = execution.plan.arms.iter();
    for arm in arms.filter(|arm| needs_rig(arm)) {
        let host = execution.hosts.host(arm.on.as_deref())?;
        host.rigs().look(arm.directory.clone())?;
    }
    Ok(())
}

/// What programs left on a machine that were killed: mounts, loop devices, groups, processes, data directories.
fn undo_what_was_left(host: &dyn RunHost, watcher: &mut dyn Watcher) -> Result<(), RunnerError> {
    let stays = host
        .rigs()
        .clean(false, &mut |what| watcher.event(&Event::Note(what)))?;
    if stays.is_empty() {
        return Ok(());
    }
    Err(RigError::Refused(stays.join("\n")).into())
}

/// The machine of a run, with its journal open for this experiment. One that was lost and is back may have been left in the middle of something.
fn ready_host<'h>(
    hosts: &'h dyn Hosts,
    name: Option<&str>,
    id: &str,
    watcher: &mut dyn Watcher,
) -> Result<Rc<dyn RunHost + 'h>, RunnerError> {
    let host = hosts.host(name)?;
    let mut ready = || -> Result<(), RunnerError> {
        if !host.rigs().is_open_for(id) {
            undo_what_was_left(&*host, watcher)?;
            host.rigs().open(id)?;
        }
        Ok(())
    };
    ready().map_err(|error| of_host(name, error))?;
    Ok(host)
}

/// Where another machine is gone, others go on.
fn of_host(name: Option<&str>, error: RunnerError) -> RunnerError {
    match (name, error) {
        (Some(name), RunnerError::Rig(RigError::Gone(why))) => RunnerError::HostLost {
            name: name.to_owned(),
            why: match why.strip_prefix(&format!("host {name}: ")) {
                Some(why) => why.to_owned(),
                None => why,
            },
        },
        (_, error) => error,
    }
}

/// A run that is to be made.
struct Attempt<'a> {
    run: &'a PlannedRun,
    /// As it begins, and later as it ended.
    head: RunRecord,
    known: Known,
    /// What it found that later runs must know.
    results: RunResults,
}

/// Makes one run, or the two of a duet, and returns how they ended. `after_block` says where the probe tasks are timed that follow the last run of a block. Fails only
/// when the store fails, or a worker cannot be started at all.
fn make(
    execution: &Execution<'_>,
    id: &str,
    attempts: &mut [Attempt<'_>],
    after_block: Option<&[ProbedHost]>,
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> Result<Vec<RunState>, RunnerError> {
    let arm = |attempt: &Attempt<'_>| &execution.plan.arms[attempt.run.arm as usize];
    let mut grounds = Vec::new();
    for attempt in &mut *attempts {
        let arm = arm(attempt);
        let on = arm.on.as_deref();
        let host = ready_host(execution.hosts, on, id, watcher)?;
        if arm.on.is_some() {
            let machine = host.machine();
            attempt.head.machine = machine.map_err(|error| of_host(on, error.into()))?;
        }
        let mut members = members(execution, arm, id, watcher)?;
        if attempt.head.half.is_some() {
            for member in &mut members {
                member.role = WorkerRole::Load {
                    share: Share::WHOLE,
                    is_watched: false,
                };
            }
        }
        let run = store.begin_run(id, &attempt.head)?;
        grounds.push(Ground { host, members, run });
    }
    let mut rigs = Vec::new();
    let mut failure = None;
    for (attempt, ground) in attempts.iter().zip(&grounds) {
        match Rigging::build(execution, &*ground.host, arm(attempt), id, &attempt.head) {
            Ok(rig) => rigs.push(rig),
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    if let Some(error) = failure {
        let broken = rigs.len();
        let is_gone = is_gone(&error);
        // The record names the machine that was lost.
        let error = of_host(arm(&attempts[broken]).on.as_deref(), error);
        for rig in rigs.into_iter().flatten() {
            let (_, notes) = rig.tear_down();
            for note in notes {
                watcher.event(&Event::Note(&note));
            }
        }
        let mut states = Vec::new();
        for (place, (attempt, ground)) in attempts.iter_mut().zip(&grounds).enumerate() {
            let message = match place == broken {
                true => redact(&error.to_string()),
                false => PARTNER_FAILED.into(),
            };
            attempt.head.state = RunState::Failed { message };
            let after_block = after_block.filter(|_| place + 1 == grounds.len());
            let ended = end_run(
                store,
                ground.run,
                &mut attempt.head,
                after_block,
                execution.hosts,
            );
            states.push(ended);
        }
        if is_gone {
            return Err(error);
        }
        return states.into_iter().collect();
    }
    let mut orders = Vec::new();
    for (attempt, rig) in attempts.iter_mut().zip(&rigs) {
        let (mut standing, mut directory) = (RigAccess::default(), None);
        if let Some(rig) = rig {
            standing = rig.standing();
            directory = Some(rig.data_directory().to_owned());
            attempt.head.storage = Some(rig.built().storage.clone());
        }
        let known = std::mem::take(&mut attempt.known);
        orders.push(Order::of(
            execution.plan,
            attempt.run,
            known,
            directory,
            standing,
        ));
    }
    let mut stored: Vec<Stored<'_>> = Vec::new();
    let halves: Vec<Option<Half>> = attempts.iter().map(|one| one.head.half.clone()).collect();
    let on_servers: Vec<bool> = attempts
        .iter()
        .map(|one| arm(one).rig.server.is_some())
        .collect();
    for ((attempt, ground), has_server) in attempts.iter_mut().zip(&grounds).zip(on_servers) {
        stored.push(Stored {
            run: ground.run,
            head: &mut attempt.head,
            point: None,
            plan: execution.plan,
            made: &mut attempt.results,
            seen: has_server.then(SliceIndex::default),
        });
    }
    let ends = {
        let mut runs = Vec::new();
        for (((ground, rig), order), half) in grounds.iter().zip(&rigs).zip(&orders).zip(&halves) {
            runs.push(Supervised {
                start: Start {
                    members: &ground.members,
                    rig: rig.as_ref().map(Rigging::built),
                    half: half.as_ref(),
                },
                order,
                below: rig,
            });
        }
        // The watcher is both told of frames and asked for interruptions, so it is shared between the two for the time of the run.
        let watcher = RefCell::new(&mut *watcher);
        let interruptions = || watcher.borrow().interruptions();
        let take = |number: usize, frame| {
            // Of a duet one half is shown.
            let event = |event: &Event<'_>| {
                if number == 0 {
                    watcher.borrow_mut().event(event);
                }
            };
            stored[number].take(frame, store, event)
        };
        supervise(&runs, &interruptions, take)
    };
    watcher.event(&Event::Closing);
    let seen: Vec<Option<SliceIndex>> = stored.into_iter().map(|stored| stored.seen).collect();
    let lost = grounds.iter().flat_map(|ground| &ground.members);
    let lost = lost.clone().find(|member| member.host.is_lost());
    let mut lost = lost.and_then(|member| {
        Some(RunnerError::HostLost {
            name: member.name?.to_owned(),
            why: "the connection to its agent has ended".into(),
        })
    });
    let mut unsound: Vec<Option<RigError>> = Vec::new();
    for (((attempt, ground), rig), seen) in attempts.iter_mut().zip(&grounds).zip(rigs).zip(seen) {
        let mut cause = lost.as_ref().map(|lost| RigError::Gone(lost.to_string()));
        let engine = &arm(attempt).engine;
        if let Some(rig) = rig {
            let (record, found) = undo(rig, &*ground.host, engine, seen, store, watcher)?;
            attempt.head.rig = Some(record);
            cause = cause.or(found);
        }
        unsound.push(cause);
    }
    let ends = match ends {
        Ok(ends) => ends,
        // A worker could not be started there: the run has failed, and is kept.
        Err(error @ (RunnerError::HostLost { .. } | RunnerError::HostRefused { .. })) => {
            let message = error.to_string();
            if matches!(error, RunnerError::HostLost { .. }) {
                lost = Some(error);
            }
            let failed = attempts.iter().map(|_| WorkerEnd::Failed(message.clone()));
            failed.collect()
        }
        Err(error) => return Err(error),
    };
    let mut gone = None;
    for ((attempt, end), unsound) in attempts.iter_mut().zip(ends).zip(unsound) {
        if let Some(error @ RigError::Gone(_)) = &unsound {
            gone = Some(of_host(arm(attempt).on.as_deref(), error.clone().into()));
        }
        attempt.head.state = state_of(end, unsound);
    }
    let has_failed = |attempt: &Attempt<'_>| matches!(attempt.head.state, RunState::Failed { .. });
    if attempts.iter().any(has_failed) {
        // Half a duet is nothing.
        for attempt in attempts.iter_mut().filter(|attempt| !has_failed(attempt)) {
            attempt.head.state = RunState::Failed {
                message: PARTNER_FAILED.into(),
            };
        }
    }
    let mut states = Vec::new();
    for (place, (attempt, ground)) in attempts.iter_mut().zip(&grounds).enumerate() {
        let after_block = after_block.filter(|_| place + 1 == grounds.len());
        states.push(end_run(
            store,
            ground.run,
            &mut attempt.head,
            after_block,
            execution.hosts,
        ));
    }
    if let Some(lost) = lost.or(gone) {
        return Err(lost);
    }
    states.into_iter().collect()
}

/// What a run is made on.
struct Ground<'h> {
    host: Rc<dyn RunHost + 'h>,
    members: Vec<Member<'h>>,
    /// Its row in the store.
    run: RunId,
}

/// How a run ended whose workers ended so, and whose rig may not have been sound.
fn state_of(end: WorkerEnd, unsound: Option<RigError>) -> RunState {
    let message = match (end, unsound) {
        (WorkerEnd::Stopped, _) => return RunState::Interrupted,
        (WorkerEnd::Done, None) => return RunState::Finished,
        (WorkerEnd::Done, Some(cause)) => cause.to_string(),
        (WorkerEnd::Failed(message), None) => message,
        (WorkerEnd::Failed(worker), Some(cause)) => format!("{cause}; then {worker}"),
    };
    RunState::Failed {
        message: redact(&message),
    }
}

/// Undoes the rig of a run. Returns what the record says of it, and why its figures may not count.
fn undo(
    mut rigging: Rigging<'_>,
    host: &dyn RunHost,
    engine: &str,
    seen: Option<SliceIndex>,
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> Result<(RigRecord, Option<RigError>), RunnerError> {
    let unsound = rigging.soundness().err();
    let mut notes = Vec::new();
    // A server that had to be killed has not written what it was asked to keep.
    let unsound = unsound.or(rigging.stop_server(&mut notes).err());
    if let Some(seen) = seen {
        match host.own_metrics(engine, rigging.data_directory()) {
            Ok(samples) => seen.fill_up(&samples, store)?,
            Err(why) => {
                notes.push(format!("what the server wrote about itself is lost: {why}"));
            }
        }
    }
    let (record, more) = rigging.tear_down();
    notes.extend(more);
    for note in notes {
        watcher.event(&Event::Note(&note));
    }
    Ok((record, unsound))
}

/// The workers of a run: first those that make load, then the one with the server, where it makes none of it.
fn members<'e>(
    execution: &Execution<'e>,
    arm: &'e Arm,
    id: &str,
    watcher: &mut dyn Watcher,
) -> Result<Vec<Member<'e>>, RunnerError> {
    let stands = arm.on.as_deref();
    let names = match kind(&arm.engine) {
        Some(kind) => execution.plan.load_hosts_of(arm, kind),
        None => vec![stands],
    };
    let is_watched = arm.rig.server.is_some() && names != [stands];
    let mut roles: Vec<(Option<&str>, WorkerRole)> = Vec::new();
    let count = names.len() as u32;
    for (index, name) in (0..).zip(names) {
        let share = Share::new(index, count).expect("each is below their number");
        let role = match (is_watched, share.is_whole()) {
            (false, true) => WorkerRole::Alone,
            _ => WorkerRole::Load { share, is_watched },
        };
        roles.push((name, role));
    }
    if is_watched {
        roles.push((stands, WorkerRole::Watch));
    }
    let mut members = Vec::new();
    for (name, role) in roles {
        let host = ready_host(execution.hosts, name, id, watcher)?;
        let machine = match role {
            WorkerRole::Alone => None,
            _ => {
                let machine = host.machine();
                Some(machine.map_err(|error| of_host(name, error.into()))?)
            }
        };
        let mut specs = execution.plan.hosts.iter();
        let spec = specs.find(|spec| name == Some(spec.name.as_str()));
        members.push(Member {
            host,
            name,
            role,
            link_bytes_per_second: spec.and_then(|spec| spec.link_bytes_per_second),
            machine,
            is_below: name == stands,
        });
    }
    Ok(members)
}

/// Whether nobody is left to make another rig.
fn is_gone(error: &RunnerError) -> bool {
    matches!(error, RunnerError::Rig(RigError::Gone(_)))
}

/// However a run ended, the machine is timed after the last one of a block.
fn end_run(
    store: &mut Store,
    run_id: RunId,
    head: &mut RunRecord,
    after_block: Option<&[ProbedHost]>,
    hosts: &dyn Hosts,
) -> Result<RunState, RunnerError> {
    let probed = after_block.unwrap_or_default();
    let timed = time_probe_tasks(ProbeTime::AfterBlock, probed, hosts);
    head.probe_tasks
        .extend(timed.as_ref().ok().cloned().unwrap_or_default());
    head.ended_at = Some(now());
    store.update_run(run_id, head)?;
    // The run is kept even where nobody is left to make another.
    timed?;
    Ok(head.state.clone())
}

/// What an engine says of itself, without the passwords that it was given.
fn redacted(mut engine: EngineDescription) -> EngineDescription {
    for value in engine.settings.values_mut() {
        *value = redact(value);
    }
    for note in engine.notes.values_mut() {
        *note = redact(note);
    }
    engine
}

/// Writes frames into the store as they come.
struct Stored<'a> {
    run: RunId,
    head: &'a mut RunRecord,
    plan: &'a Plan,
    made: &'a mut RunResults,
    point: Option<PointId>,
    /// To be filled up after the run, where a server may have written about itself.
    seen: Option<SliceIndex>,
}

impl Stored<'_> {
    fn take(
        &mut self,
        frame: Frame,
        store: &mut Store,
        event: impl Fn(&Event<'_>),
    ) -> Result<(), RunnerError> {
        match frame {
            Frame::Hello { .. }
            | Frame::Enter { .. }
            | Frame::Ready
            | Frame::Stored
            | Frame::SizeMemory
            | Frame::DropPageCache
            | Frame::LieStill
            | Frame::Measuring { .. }
            | Frame::Heal
            | Frame::Done
            | Frame::Stopped
            | Frame::Failed { .. } => {}
            Frame::Opened { engine } => {
                self.head.engine = Some(redacted(engine));
                self.write_head(store)?;
            }
            Frame::LoadBegins {
                label,
                started_at,
                records,
            } => {
                let point = store.begin_load(self.run, &label, 0, &started_at)?;
                self.begins(point, &started_at);
                self.point = Some(point);
                event(&Event::LoadBegins { records });
            }
            Frame::PointBegins {
                label,
                warm_up_ns,
                duration_ns,
                started_at,
            } => {
                let point = store.begin_point(self.run, &label, warm_up_ns, &started_at)?;
                self.begins(point, &started_at);
                self.point = Some(point);
                self.made.begins(&label, warm_up_ns);
                event(&Event::PointBegins {
                    label: &label,
                    warm_up_ns,
                    duration_ns,
                });
            }
            Frame::Slice { slice } => {
                if let Some(point) = self.point {
                    store.add_slice(point, &slice)?;
                    if let Some(seen) = &mut self.seen {
                        seen.slice(point, &slice);
                    }
                }
                self.made.slice(&slice);
                event(&Event::Slice(&slice));
            }
            Frame::Watched { slice } => {
                // A share of the second: it is merged with what the load hosts measured when the record is read.
                if let Some(point) = self.point {
                    store.add_slice(point, &slice)?;
                }
            }
            Frame::PointEnds { mut end, .. } => {
                for error in &mut end.errors {
                    error.message = redact(&error.message);
                }
                if let Some(point) = self.point.take() {
                    store.end_point(point, &end)?;
                }
                self.made.ends(self.plan, &end);
                event(&Event::PointEnds);
            }
            Frame::Counted { records } => {
                self.head.records_loaded = records;
                self.write_head(store)?;
            }
            Frame::Settled {
                data_bytes,
                caches_emptied,
            } => {
                self.head.data_bytes = data_bytes;
                self.head.caches_emptied = caches_emptied;
                self.write_head(store)?;
            }
            Frame::Warming => event(&Event::Note("filling the caches, before the first point")),
            Frame::Warmed { caches } => {
                self.head.warmed = Some(caches);
                let hits = |share: Option<f64>| {
                    share.map_or_else(|| "unknown".to_owned(), |share| percent(share, 1))
                };
                let words = format!(
                    "after {:.0} s: hits of the engine's cache {}, of the page cache {}",
                    caches.seconds,
                    hits(caches.engine_hits),
                    hits(caches.page_cache_hits)
                );
                event(&Event::Note(&words));
                if !caches.settled {
                    let message = format!(
                        "the hit ratios of the caches had not settled after {:.0} s",
                        caches.seconds
                    );
                    let warning = Warning::new(WarningId::CachesNotWarm, &self.head.arm, message);
                    self.head.warnings.push(warning);
                }
                self.write_head(store)?;
            }
            Frame::Closing => event(&Event::Closing),
        }
        Ok(())
    }

    fn begins(&mut self, point: PointId, started_at: &str) {
        if let Some(seen) = &mut self.seen {
            seen.point(point, started_at);
        }
    }

    fn write_head(&self, store: &mut Store) -> Result<(), StoreError> {
        store.update_run(self.run, self.head)
    }
}
