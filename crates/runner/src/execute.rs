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
use crate::supervise::{Member, Start, WorkerEnd, supervise};
use crate::watcher::{Event, LoggedWatcher, Watcher};
use plimsoll_engine::kind;
use plimsoll_plan::{Arm, Plan, PlannedRun, keeps_data_here, redact_json, text_hash};
use plimsoll_record::{
    Calibration, EngineDescription, ExperimentRecord, ExperimentState, ForeignCpu, Machine,
    ProbeTime, Program, RECORD_VERSION, RunRecord, RunState,
};
use plimsoll_redact::redact;
use plimsoll_rig::RigError;
use plimsoll_schedule::Share;
use plimsoll_search::Known;
use plimsoll_stats::looks;
use plimsoll_store::{PointId, RunId, Store, StoreError};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;

/// An arm that failed in so many blocks and never succeeded is not tried again.
const TRIES_OF_A_BROKEN_ARM: u32 = 2;

/// What is to be executed.
#[derive(Clone)]
pub struct Execution<'a> {
    /// The checked plan.
    pub plan: &'a Plan,
    /// The experiment file, to the letter.
    pub file_text: &'a str,
    /// The command line to repeat it.
    pub command: &'a str,
    /// This program.
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
    /// Whether every interval that decides is narrow enough for an experiment that may end before all its blocks are made.
    pub is_sharp: fn(&ExperimentRecord) -> bool,
}

/// How far it got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Of the record.
    pub id: String,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Runs of the plan that are still missing.
    pub missing: u32,
}

/// How long a run took from its begin to its end, seconds; `None` of one that did not finish.
#[must_use]
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
///
/// # Errors
/// When the store cannot be written, or a data directory or worker process cannot be made. What was measured by then is in the store.
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
    let mut successes: Vec<u32> = vec![0; plan.arms.len()];
    let mut failures: Vec<u32> = vec![0; plan.arms.len()];
    let mut interrupted = false;
    let probed = probed_hosts(plan);
    let mut block_begun = None;
    // Runs whose machine was lost are tried once more when the others are made.
    let mut lost = Vec::new();
    let mut indices: VecDeque<usize> = (0..plan.runs.len()).collect();
    let mut is_again = false;
    loop {
        let Some(index) = indices.pop_front() else {
            if lost.is_empty() || is_again {
                break;
            }
            is_again = true;
            indices.extend(std::mem::take(&mut lost));
            continue;
        };
        let run = &plan.runs[index];
        let arm = run.arm as usize;
        if !is_again && run.position == 0 && has_enough(execution, &id, run.block, store, watcher)?
        {
            missing = 0;
            break;
        }
        if finished.contains(&key(plan, run)) {
            successes[arm] += 1;
            continue;
        }
        if watcher.interruptions() > 0 {
            interrupted = true;
            break;
        }
        let is_given_up = |arm: usize| {
            is_left_out(arm) || successes[arm] == 0 && failures[arm] >= TRIES_OF_A_BROKEN_ARM
        };
        if is_given_up(arm) {
            continue;
        }
        let name = plan.arms[arm].name.as_str();
        watcher.event(&Event::RunBegins {
            run,
            arm: name,
            number: index as u32 + 1,
            runs,
        });
        let mut probe_tasks = Vec::new();
        if block_begun != Some(run.block) {
            block_begun = Some(run.block);
            let place = ProbeTime::BeforeBlock;
            probe_tasks = time_probe_tasks(place, &probed, execution.hosts)?;
        }
        let rest = plan.runs[index + 1..].iter();
        let mut rest_of_block = rest.take_while(|later| later.block == run.block);
        let ends_block = rest_of_block
            .all(|later| finished.contains(&key(plan, later)) || is_given_up(later.arm as usize));
        let head = RunRecord {
            block: run.block,
            arm: name.into(),
            position: run.position,
            attempt: attempts.get(&(run.block, name)).copied().unwrap_or(0) + 1,
            state: RunState::Started,
            seed: run.seed,
            started_at: now(),
            ended_at: None,
            engine: None,
            machine: machine.clone(),
            storage: None,
            records_loaded: None,
            data_bytes: None,
            rig: None,
            load: None,
            points: Vec::new(),
            probe_tasks,
            warnings: Vec::new(),
        };
        let after_block = ends_block.then_some(&probed[..]);
        let known = decided.known(run);
        let mut made = RunResults::default();
        let attempt = Attempt {
            run,
            head,
            known,
            after_block,
        };
        let state = match one_run(execution, &id, attempt, &mut made, store, watcher) {
            Err(error @ RunnerError::HostLost { .. }) => {
                let state = RunState::Failed {
                    message: error.to_string(),
                };
                watcher.event(&Event::RunEnds { state: &state });
                *attempts.entry((run.block, name)).or_insert(0) += 1;
                lost.push(index);
                continue;
            }
            state => state?,
        };
        watcher.event(&Event::RunEnds { state: &state });
        match state {
            RunState::Finished => {
                successes[arm] += 1;
                missing -= 1;
                finished.push(key(plan, run));
                decided.finished(run, made);
            }
            RunState::Failed { .. } => {
                failures[arm] += 1;
                if successes[arm] == 0 && failures[arm] == TRIES_OF_A_BROKEN_ARM {
                    let note = format!(
                        "arm {name} failed {TRIES_OF_A_BROKEN_ARM} times and never succeeded: its other runs are left out"
                    );
                    watcher.event(&Event::Note(&note));
                }
            }
            RunState::Interrupted | RunState::Started => {
                interrupted = true;
                break;
            }
        }
    }
    if missing == 0 {
        store.finish(&id, &now())?;
    }
    Ok(Ended {
        id,
        interrupted,
        missing,
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

/// Whether an experiment that may end by looks has enough blocks before this one: at this look and at the one before, every interval was narrow enough. It follows
/// from the record alone, so that an experiment that was interrupted decides the same.
fn has_enough(
    execution: &Execution<'_>,
    id: &str,
    block: u32,
    store: &Store,
    watcher: &mut dyn Watcher,
) -> Result<bool, RunnerError> {
    let plan = execution.plan;
    let Some(asked) = plan.measurement.looks else {
        return Ok(false);
    };
    let most = plan.measurement.blocks;
    let looks = looks(asked.first, most);
    let Some(this) = looks.iter().position(|look| *look == block) else {
        return Ok(false);
    };
    if this == 0 {
        return Ok(false);
    }
    let mut record = store.load(id)?;
    for blocks in [block, looks[this - 1]] {
        record.runs.retain(|run| run.block < blocks);
        if !(execution.is_sharp)(&record) {
            return Ok(false);
        }
    }
    let note = format!(
        "every interval is narrow enough after {} and after {block} of at most {most} blocks: the experiment ends",
        looks[this - 1]
    );
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
        file_hash: text_hash(&file_text),
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
    /// As it begins.
    head: RunRecord,
    /// What earlier runs decided.
    known: Known,
    /// Where the probe tasks are timed that follow the last run of a block, if this is one.
    after_block: Option<&'a [ProbedHost]>,
}

/// Makes one run and returns how it ended. Fails only when the store fails, or a worker cannot be started at all.
fn one_run(
    execution: &Execution<'_>,
    id: &str,
    attempt: Attempt<'_>,
    made: &mut RunResults,
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> Result<RunState, RunnerError> {
    let Attempt {
        run,
        mut head,
        known,
        after_block,
    } = attempt;
    let arm = &execution.plan.arms[run.arm as usize];
    let host = ready_host(execution.hosts, arm.on.as_deref(), id, watcher)?;
    if arm.on.is_some() {
        head.machine = host
            .machine()
            .map_err(|error| of_host(arm.on.as_deref(), error.into()))?;
    }
    let members = members(execution, arm, id, watcher)?;
    let run_id = store.begin_run(id, &head)?;
    let rigging = match Rigging::build(execution, &*host, arm, id, &head) {
        Ok(rigging) => rigging,
        Err(error) => {
            head.state = RunState::Failed {
                message: redact(&error.to_string()),
            };
            let ended = end_run(store, run_id, head, after_block, execution.hosts);
            return if is_gone(&error) {
                Err(of_host(arm.on.as_deref(), error))
            } else {
                ended
            };
        }
    };
    let mut standing = RigAccess::default();
    let mut directory = None;
    if let Some(rigging) = &rigging {
        standing = rigging.standing();
        directory = Some(rigging.data_directory().to_owned());
        head.storage = Some(rigging.built().storage.clone());
    }
    let order = Order::of(execution.plan, run, known, directory, standing);
    let mut stored = Stored {
        store,
        run: run_id,
        head: &mut head,
        point: None,
        plan: execution.plan,
        made,
        seen: arm.rig.server.is_some().then(SliceIndex::default),
    };
    let end = {
        // The watcher is both told of frames and asked for interruptions, so it is shared between the two for the time of the run.
        let watcher = RefCell::new(&mut *watcher);
        let interruptions = || watcher.borrow().interruptions();
        let take = |frame| stored.take(frame, &mut **watcher.borrow_mut());
        let start = Start {
            members: &members,
            rig: rigging.as_ref().map(Rigging::built),
        };
        supervise(&start, &order, &interruptions, &rigging, take)
    };
    watcher.event(&Event::Closing);
    let Stored { seen, .. } = stored;
    let lost = members.iter().find(|member| member.host.is_lost());
    let lost = lost.and_then(|member| {
        Some(RunnerError::HostLost {
            name: member.name?.to_owned(),
            why: "the connection to its agent has ended".into(),
        })
    });
    let mut unsound = lost.as_ref().map(|lost| RigError::Gone(lost.to_string()));
    if let Some(mut rigging) = rigging {
        unsound = unsound.or(rigging.soundness().err());
        let mut notes = Vec::new();
        let stopped = rigging.stop_server(&mut notes);
        // A server that had to be killed has not written what it was asked to keep.
        unsound = unsound.or(stopped.err());
        if let Some(seen) = seen {
            match host.own_metrics(&arm.engine, rigging.data_directory()) {
                Ok(samples) => seen.fill_up(&samples, store)?,
                Err(why) => {
                    notes.push(format!("what the server wrote about itself is lost: {why}"));
                }
            }
        }
        let (record, more) = rigging.tear_down();
        head.rig = Some(record);
        notes.extend(more);
        for note in notes {
            watcher.event(&Event::Note(&note));
        }
    }
    let gone = unsound
        .clone()
        .filter(|error| matches!(error, RigError::Gone(_)));
    let (end, lost) = match end {
        // A worker could not be started there: the run has failed, and is kept.
        Err(error @ RunnerError::HostLost { .. }) => {
            (WorkerEnd::Failed(error.to_string()), Some(error))
        }
        Err(error @ RunnerError::HostRefused { .. }) => {
            (WorkerEnd::Failed(error.to_string()), lost)
        }
        end => (end?, lost),
    };
    head.state = match (end, unsound) {
        (WorkerEnd::Stopped, _) => RunState::Interrupted,
        (WorkerEnd::Done, None) => RunState::Finished,
        (WorkerEnd::Done, Some(cause)) => RunState::Failed {
            message: cause.to_string(),
        },
        (WorkerEnd::Failed(message), None) => RunState::Failed { message },
        (WorkerEnd::Failed(worker), Some(cause)) => RunState::Failed {
            message: format!("{cause}; then {worker}"),
        },
    };
    if let RunState::Failed { message } = &mut head.state {
        *message = redact(message);
    }
    let ended = end_run(store, run_id, head, after_block, execution.hosts);
    if let Some(lost) = lost {
        return Err(lost);
    }
    match gone {
        Some(gone) => Err(of_host(arm.on.as_deref(), gone.into())),
        None => ended,
    }
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
        members.push(Member {
            host,
            name,
            role,
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
    mut head: RunRecord,
    after_block: Option<&[ProbedHost]>,
    hosts: &dyn Hosts,
) -> Result<RunState, RunnerError> {
    let probed = after_block.unwrap_or_default();
    let timed = time_probe_tasks(ProbeTime::AfterBlock, probed, hosts);
    head.probe_tasks
        .extend(timed.as_ref().ok().cloned().unwrap_or_default());
    head.ended_at = Some(now());
    store.update_run(run_id, &head)?;
    // The run is kept even where nobody is left to make another.
    timed?;
    Ok(head.state)
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
    store: &'a mut Store,
    run: RunId,
    head: &'a mut RunRecord,
    plan: &'a Plan,
    made: &'a mut RunResults,
    point: Option<PointId>,
    /// To be filled up after the run, where a server may have written about itself.
    seen: Option<SliceIndex>,
}

impl Stored<'_> {
    fn take(&mut self, frame: Frame, watcher: &mut dyn Watcher) -> Result<(), RunnerError> {
        match frame {
            Frame::Hello { .. }
            | Frame::Enter { .. }
            | Frame::Ready
            | Frame::Stored
            | Frame::SizeMemory
            | Frame::LieStill
            | Frame::Measuring { .. }
            | Frame::Heal
            | Frame::Done
            | Frame::Stopped
            | Frame::Failed { .. } => {}
            Frame::Opened { engine } => {
                self.head.engine = Some(redacted(engine));
                self.write_head()?;
            }
            Frame::LoadBegins {
                label,
                started_at,
                records,
            } => {
                let point = self.store.begin_load(self.run, &label, 0, &started_at)?;
                self.begins(point, &started_at);
                self.point = Some(point);
                watcher.event(&Event::LoadBegins { records });
            }
            Frame::PointBegins {
                label,
                warm_up_ns,
                duration_ns,
                started_at,
            } => {
                let point = self
                    .store
                    .begin_point(self.run, &label, warm_up_ns, &started_at)?;
                self.begins(point, &started_at);
                self.point = Some(point);
                self.made.begins(&label, warm_up_ns);
                watcher.event(&Event::PointBegins {
                    label: &label,
                    warm_up_ns,
                    duration_ns,
                });
            }
            Frame::Slice { slice } => {
                if let Some(point) = self.point {
                    self.store.add_slice(point, &slice)?;
                    if let Some(seen) = &mut self.seen {
                        seen.slice(point, &slice);
                    }
                }
                self.made.slice(&slice);
                watcher.event(&Event::Slice(&slice));
            }
            Frame::Watched { slice } => {
                // A share of the second: it is merged with what the load hosts measured when the record is read.
                if let Some(point) = self.point {
                    self.store.add_slice(point, &slice)?;
                }
            }
            Frame::PointEnds { mut end, .. } => {
                for error in &mut end.errors {
                    error.message = redact(&error.message);
                }
                if let Some(point) = self.point.take() {
                    self.store.end_point(point, &end)?;
                }
                self.made.ends(self.plan, &end);
                watcher.event(&Event::PointEnds);
            }
            Frame::Counted { records } => {
                self.head.records_loaded = records;
                self.write_head()?;
            }
            Frame::Settled { data_bytes } => {
                self.head.data_bytes = data_bytes;
                self.write_head()?;
            }
            Frame::Closing => watcher.event(&Event::Closing),
        }
        Ok(())
    }

    fn begins(&mut self, point: PointId, started_at: &str) {
        if let Some(seen) = &mut self.seen {
            seen.point(point, started_at);
        }
    }

    fn write_head(&mut self) -> Result<(), StoreError> {
        self.store.update_run(self.run, self.head)
    }
}
