//! One run, or the two of a duet: the rig built, the workers supervised, the rig undone.

use crate::afterwards::SliceIndex;
use crate::clock_time::now;
use crate::decided::RunResults;
use crate::error::RunnerError;
use crate::execution::Execution;
use crate::frames::{DataPhase, Order, RigAccess, WorkerRole};
use crate::host::{Hosts, RunHost};
use crate::probe_task::{ProbedHost, time_probe_tasks};
use crate::rigging::Rigging;
use crate::stored::Stored;
use crate::supervise::{Member, PARTNER_FAILED, Start, Supervised, WorkerEnd, supervise};
use crate::watcher::{Event, Watcher};
use plimsoll_engine::kind;
use plimsoll_plan::search::Known;
use plimsoll_plan::words::event_in_words;
use plimsoll_plan::{Arm, PlannedRun};
use plimsoll_record::redact::redact;
use plimsoll_record::{Act, DiskFault, EventSpec, Half, ProbeTime, RigRecord, RunRecord, RunState};
use plimsoll_rig::RigError;
use plimsoll_store::{RunId, Store};
use plimsoll_workload::schedule::Share;
use std::cell::RefCell;
use std::rc::Rc;

/// A run to make.
pub(crate) struct Attempt<'a> {
    pub(crate) run: &'a PlannedRun,
    /// As it begins, and later as it ended.
    pub(crate) head: RunRecord,
    pub(crate) known: Known,
    /// What it found that later runs must know.
    pub(crate) results: RunResults,
}

impl Attempt<'_> {
    fn arm<'e>(&self, execution: &Execution<'e>) -> &'e Arm {
        &execution.plan.arms[self.run.arm as usize]
    }

    fn fail(&mut self, message: String) {
        self.head.state = RunState::Failed { message };
    }

    fn has_failed(&self) -> bool {
        matches!(self.head.state, RunState::Failed { .. })
    }
}

/// What a run is made on.
struct Ground<'h> {
    host: Rc<dyn RunHost + 'h>,
    members: Vec<Member<'h>>,
    /// Its row in the store.
    run: RunId,
}

/// Why not every rig of a turn could be built, and those that were.
struct NotBuilt<'h> {
    rigs: Vec<Option<Rigging<'h>>>,
    error: RunnerError,
}

/// Makes one run, or the two of a duet, and returns how they ended. `after_block` says where the probe tasks are timed that follow the last run of a block. Fails only
/// when the store fails, or a worker cannot be started at all.
pub(crate) fn make(
    execution: &Execution<'_>,
    id: &str,
    attempts: &mut [Attempt<'_>],
    after_block: Option<&[ProbedHost]>,
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> Result<Vec<RunState>, RunnerError> {
    let grounds = begin_runs(execution, id, attempts, store, watcher)?;
    let loaded = load_once(execution, id, attempts, &grounds, watcher);
    let built = loaded.and_then(|is_loaded| match is_loaded {
        true => build_rigs(execution, id, attempts, &grounds).map(Some),
        false => Ok(None),
    });
    let lost = match built {
        Ok(Some(rigs)) => measure(execution, attempts, &grounds, rigs, store, watcher)?,
        Ok(None) => {
            for attempt in attempts.iter_mut() {
                attempt.head.state = RunState::Interrupted;
            }
            None
        }
        Err(not_built) => fail_unbuilt(execution, attempts, not_built, watcher),
    };
    let mut states = Vec::new();
    for (place, (attempt, ground)) in attempts.iter_mut().zip(&grounds).enumerate() {
        let after_block = after_block.filter(|_| place + 1 == grounds.len());
        let (run, head) = (ground.run, &mut attempt.head);
        states.push(end_run(store, run, head, after_block, execution.hosts));
    }
    match lost {
        Some(lost) => Err(lost),
        None => states.into_iter().collect(),
    }
}

/// The hosts and workers of the runs, and their rows in the store.
fn begin_runs<'e>(
    execution: &Execution<'e>,
    id: &str,
    attempts: &mut [Attempt<'_>],
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> Result<Vec<Ground<'e>>, RunnerError> {
    let mut grounds = Vec::new();
    for attempt in attempts {
        let arm = attempt.arm(execution);
        let on = arm.on.as_deref();
        let host = ready_host(execution.hosts, on, id, watcher)?;
        if on.is_some() {
            let machine = host.machine();
            attempt.head.machine = machine.map_err(|error| of_host(on, error.into()))?;
        }
        let mut members = members(execution, arm, id, watcher)?;
        if attempt.head.half.is_some() {
            for member in &mut members {
                member.role = WorkerRole::Load { share: Share::WHOLE, is_watched: false };
            }
        }
        let run = store.begin_run(id, &attempt.head)?;
        grounds.push(Ground { host, members, run });
    }
    Ok(grounds)
}

/// Stores the data of the arms of these runs, if it is loaded once and has not been. `Ok(false)` where it was interrupted.
fn load_once<'g>(
    execution: &Execution<'_>,
    id: &str,
    attempts: &[Attempt<'_>],
    grounds: &'g [Ground<'_>],
    watcher: &mut dyn Watcher,
) -> Result<bool, NotBuilt<'g>> {
    if !execution.plan.load_phase.once {
        return Ok(true);
    }
    for (place, (attempt, ground)) in attempts.iter().zip(grounds).enumerate() {
        let arm = attempt.arm(execution);
        if ground.host.rigs().has_kept(&arm.name) {
            continue;
        }
        watcher.event(&Event::Note(&format!("storing the data of {} for all its runs", arm.name)));
        let why = match keep_loaded(execution, id, attempt, ground, watcher) {
            Ok(WorkerEnd::Done) => continue,
            Ok(WorkerEnd::Stopped) => return Ok(false),
            Ok(WorkerEnd::Failed(message)) => RigError::Refused(message).into(),
            Err(error) => error,
        };
        return Err(NotBuilt { rigs: (0..place).map(|_| None).collect(), error: why });
    }
    Ok(true)
}

/// Stores the data of one arm on a rig of its own, and has it kept.
fn keep_loaded(
    execution: &Execution<'_>,
    id: &str,
    attempt: &Attempt<'_>,
    ground: &Ground<'_>,
    watcher: &mut dyn Watcher,
) -> Result<WorkerEnd, RunnerError> {
    let arm = attempt.arm(execution);
    let phase = DataPhase::LoadAlone;
    let rig = Rigging::build(execution, &*ground.host, arm, id, &attempt.head, phase)?;
    let (mut access, mut directory) = (RigAccess::default(), None);
    if let Some(rig) = &rig {
        access = rig.standing();
        directory = Some(rig.data_directory().to_owned());
    }
    let order = Order {
        data: phase,
        ..Order::of(execution.plan, attempt.run, Known::default(), directory, access)
    };
    let run = Supervised {
        start: Start {
            members: &ground.members,
            rig: rig.as_ref().map(Rigging::built),
            half: attempt.head.half.as_ref(),
        },
        order: &order,
        below: &rig,
    };
    let interruptions = || watcher.interruptions();
    let ends = supervise(&[run], &interruptions, |_, _| Ok(()));
    let mut notes = Vec::new();
    let mut end = ends.map(|mut ends| ends.remove(0));
    if let Some(mut rig) = rig {
        let stopped = rig.stop_server(&mut notes);
        if let Ok(WorkerEnd::Done) = end
            && let Err(error) = stopped.and_then(|()| rig.keep_data(arm, id))
        {
            end = Err(error.into());
        }
        notes.extend(rig.tear_down().1);
    }
    for note in notes {
        watcher.event(&Event::Note(&note));
    }
    end
}

fn build_rigs<'g>(
    execution: &Execution<'_>,
    id: &str,
    attempts: &[Attempt<'_>],
    grounds: &'g [Ground<'_>],
) -> Result<Vec<Option<Rigging<'g>>>, NotBuilt<'g>> {
    let data = match execution.plan.load_phase.once {
        true => DataPhase::Copied,
        false => DataPhase::Load,
    };
    let mut rigs = Vec::new();
    for (attempt, ground) in attempts.iter().zip(grounds) {
        let arm = attempt.arm(execution);
        match Rigging::build(execution, &*ground.host, arm, id, &attempt.head, data) {
            Ok(rig) => rigs.push(rig),
            Err(error) => return Err(NotBuilt { rigs, error }),
        }
    }
    Ok(rigs)
}

/// Fails all runs of a turn in which one rig could not be made. Returns the error if `plimsoll rig` has ended, so that no other rig can be made.
fn fail_unbuilt(
    execution: &Execution<'_>,
    attempts: &mut [Attempt<'_>],
    not_built: NotBuilt<'_>,
    watcher: &mut dyn Watcher,
) -> Option<RunnerError> {
    let broken = not_built.rigs.len();
    let is_gone = matches!(not_built.error, RunnerError::Rig(RigError::Gone(_)));
    // The record names the machine that was lost.
    let arm = attempts[broken].arm(execution);
    let error = of_host(arm.on.as_deref(), not_built.error);
    for rig in not_built.rigs.into_iter().flatten() {
        let (_, notes) = rig.tear_down();
        for note in notes {
            watcher.event(&Event::Note(&note));
        }
    }
    for (place, attempt) in attempts.iter_mut().enumerate() {
        attempt.fail(match place == broken {
            true => redact(&error.to_string()),
            false => PARTNER_FAILED.into(),
        });
    }
    is_gone.then_some(error)
}

/// Supervises the workers, undoes the rigs, and notes how the runs ended. Returns the message about a machine that was lost.
fn measure(
    execution: &Execution<'_>,
    attempts: &mut [Attempt<'_>],
    grounds: &[Ground<'_>],
    rigs: Vec<Option<Rigging<'_>>>,
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> Result<Option<RunnerError>, RunnerError> {
    let (ends, indices) = supervise_all(execution, attempts, grounds, &rigs, store, watcher);
    watcher.event(&Event::Closing);
    let mut lost = lost_host(grounds);
    let mut causes: Vec<Option<RigError>> = Vec::new();
    for (((attempt, ground), rig), index) in attempts.iter_mut().zip(grounds).zip(rigs).zip(indices)
    {
        let mut cause = lost.as_ref().map(|lost| RigError::Gone(lost.to_string()));
        let engine = &attempt.arm(execution).engine;
        if let Some(rig) = rig {
            let (record, found) = undo(rig, &*ground.host, engine, index, store, watcher)?;
            attempt.head.rig = Some(record);
            cause = cause.or(found);
        }
        causes.push(cause);
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
    for ((attempt, end), cause) in attempts.iter_mut().zip(ends).zip(causes) {
        if let Some(error @ RigError::Gone(_)) = &cause {
            let on = attempt.arm(execution).on.as_deref();
            gone = Some(of_host(on, error.clone().into()));
        }
        attempt.head.state = state_of(end, cause, &execution.plan.events);
    }
    if attempts.iter().any(Attempt::has_failed) {
        // Half a duet is nothing.
        for attempt in attempts.iter_mut().filter(|attempt| !attempt.has_failed()) {
            attempt.fail(PARTNER_FAILED.into());
        }
    }
    Ok(lost.or(gone))
}

/// Has the workers of all runs do their orders, and writes what they report.
fn supervise_all(
    execution: &Execution<'_>,
    attempts: &mut [Attempt<'_>],
    grounds: &[Ground<'_>],
    rigs: &[Option<Rigging<'_>>],
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> (Result<Vec<WorkerEnd>, RunnerError>, Vec<Option<SliceIndex>>) {
    let mut orders = Vec::new();
    let mut halves: Vec<Option<Half>> = Vec::new();
    for (attempt, rig) in attempts.iter_mut().zip(rigs) {
        let (mut access, mut directory) = (RigAccess::default(), None);
        if let Some(rig) = rig {
            access = rig.standing();
            directory = Some(rig.data_directory().to_owned());
            attempt.head.storage = Some(rig.built().storage.clone());
        }
        let known = std::mem::take(&mut attempt.known);
        let mut order = Order::of(execution.plan, attempt.run, known, directory, access);
        let documents = order.arm.data.documents.as_ref();
        if let Some(begun) = documents.and_then(|one| one.begun_at(&attempt.head.started_at)) {
            order.arm.data.documents = Some(begun);
        }
        orders.push(order);
        halves.push(attempt.head.half.clone());
    }
    let mut stored: Vec<Stored<'_>> = Vec::new();
    for (attempt, ground) in attempts.iter_mut().zip(grounds) {
        let has_server = attempt.arm(execution).rig.server.is_some();
        let (head, results) = (&mut attempt.head, &mut attempt.results);
        stored.push(Stored::new(ground.run, head, execution.plan, results, has_server));
    }
    let mut runs = Vec::new();
    for (((ground, rig), order), half) in grounds.iter().zip(rigs).zip(&orders).zip(&halves) {
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
    // The watcher gets the frames and the requests to interrupt, so it is shared between the two for the time of the run.
    let watcher = RefCell::new(watcher);
    let interruptions = || watcher.borrow().interruptions();
    let take = |number: usize, frame| {
        // Only one half of a duet is shown.
        let event = |event: &Event<'_>| {
            if number == 0 {
                watcher.borrow_mut().event(event);
            }
        };
        stored[number].take(frame, store, event)
    };
    let ends = supervise(&runs, &interruptions, take);
    (ends, stored.into_iter().map(Stored::into_index).collect())
}

/// The first machine of the workers that was lost.
fn lost_host(grounds: &[Ground<'_>]) -> Option<RunnerError> {
    let mut members = grounds.iter().flat_map(|ground| &ground.members);
    let member = members.find(|member| member.host.is_lost())?;
    Some(RunnerError::HostLost {
        name: member.name?.to_owned(),
        why: "the connection to its agent has ended".into(),
    })
}

/// How a run ended whose workers ended so, and whose rig may not have been sound.
fn state_of(end: WorkerEnd, unsound: Option<RigError>, events: &[EventSpec]) -> RunState {
    let mut message = match (end, unsound) {
        (WorkerEnd::Stopped, _) => return RunState::Interrupted,
        (WorkerEnd::Done, None) => return RunState::Finished,
        (WorkerEnd::Done, Some(cause)) => cause.to_string(),
        (WorkerEnd::Failed(message), None) => message,
        (WorkerEnd::Failed(worker), Some(cause)) => format!("{cause}; then {worker}"),
    };
    let makes_errors =
        |event: &&EventSpec| matches!(event.act, Act::Disk { fault: DiskFault::Errors { .. }, .. });
    if let Some(event) = events.iter().find(makes_errors) {
        message.push_str(&format!(
            "; the file asks for I/O errors ({}), after which filesystems and databases may give up",
            event_in_words(*event)
        ));
    }
    RunState::Failed { message: redact(&message) }
}

/// Undoes the rig of a run. Returns what the record says of it, and why its figures may not count.
fn undo(
    mut rigging: Rigging<'_>,
    host: &dyn RunHost,
    engine: &str,
    index: Option<SliceIndex>,
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> Result<(RigRecord, Option<RigError>), RunnerError> {
    let unsound = rigging.soundness().err();
    let mut notes = Vec::new();
    // A server that had to be killed has not written what it was to keep.
    let unsound = unsound.or(rigging.stop_server(&mut notes).err());
    if let Some(index) = index {
        match host.own_metrics(engine, rigging.data_directory()) {
            Ok(samples) => index.fill_up(&samples, store)?,
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
    head.probe_tasks.extend(timed.as_ref().ok().cloned().unwrap_or_default());
    head.ended_at = Some(now());
    store.update_run(run_id, head)?;
    // The run is kept even if no further run can be made.
    timed?;
    Ok(head.state.clone())
}

/// What programs left on a machine that were killed: mounts, loop devices, groups, processes, data directories.
pub(crate) fn undo_what_was_left(
    host: &dyn RunHost,
    watcher: &mut dyn Watcher,
) -> Result<(), RunnerError> {
    let stays = host.rigs().clean(false, &mut |what| watcher.event(&Event::Note(what)))?;
    if stays.is_empty() {
        return Ok(());
    }
    Err(RigError::Refused(stays.join("\n")).into())
}

/// The machine of a run, with its journal open for this experiment. One that was lost and is back may have been left in the middle of something.
pub(crate) fn ready_host<'h>(
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

/// If another machine is gone, runs on others continue.
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
