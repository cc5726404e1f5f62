//! A whole plan: which runs are missing, one after the other, everything into the store.

use crate::clock_time::now;
use crate::error::RunnerError;
use crate::frames::{Frame, Order};
use crate::supervise::{WorkerEnd, WorkerProgram, supervise};
use crate::watcher::{Event, Watcher};
use plimsoll_experiment::{Plan, PlannedRun, explain, text_hash};
use plimsoll_record::{
    ExperimentRecord, ExperimentState, Machine, Program, RECORD_VERSION, RunRecord, RunState,
};
use plimsoll_store::{PointId, RunId, Store, StoreError};
use plimsoll_telemetry::Host;
use plimsoll_testbed::{DataDirectory, default_parent, leftovers, require_space};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// An arm that failed in so many blocks and never succeeded is not tried again.
const TRIES_OF_A_BROKEN_ARM: u32 = 2;

/// What is to be executed.
#[derive(Debug)]
pub struct Execution<'a> {
    /// The checked plan.
    pub plan: &'a Plan,
    /// The experiment file, to the letter.
    pub file_text: &'a str,
    /// The command line to repeat it.
    pub command: &'a str,
    /// This program.
    pub program: Program,
    /// How workers are started.
    pub worker: WorkerProgram,
    /// Begin anew even if there is an unfinished experiment of the same plan.
    pub fresh: bool,
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
    let plan = execution.plan;
    let host = Host::here();
    let mut machine = host.machine();
    machine.program_clock = Some(plimsoll_loadgen::program_clock().into());
    remove_leftovers(plan, watcher)?;
    let (id, earlier) = begin_or_resume(execution, store, &machine)?;
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
    let mut missing = runs
        - plan
            .runs
            .iter()
            .filter(|run| finished.contains(&key(plan, run)))
            .count() as u32;
    watcher.event(&Event::Begins {
        id: &id,
        plan,
        finished: runs - missing,
        missing,
    });

    let mut successes: Vec<u32> = vec![0; plan.arms.len()];
    let mut failures: Vec<u32> = vec![0; plan.arms.len()];
    let mut interrupted = false;
    for (index, run) in plan.runs.iter().enumerate() {
        let arm = run.arm as usize;
        if finished.contains(&key(plan, run)) {
            successes[arm] += 1;
            continue;
        }
        if watcher.interruptions() > 0 {
            interrupted = true;
            break;
        }
        if successes[arm] == 0 && failures[arm] >= TRIES_OF_A_BROKEN_ARM {
            continue;
        }
        let name = plan.arms[arm].name.as_str();
        watcher.event(&Event::RunBegins {
            run,
            arm: name,
            number: index as u32 + 1,
            runs,
        });
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
            load: None,
            points: Vec::new(),
            warnings: Vec::new(),
        };
        let state = one_run(execution, &id, run, head, store, watcher)?;
        watcher.event(&Event::RunEnds { state: &state });
        match state {
            RunState::Finished => {
                successes[arm] += 1;
                missing -= 1;
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

fn key<'a>(plan: &'a Plan, run: &PlannedRun) -> (u32, &'a str) {
    (run.block, plan.arms[run.arm as usize].name.as_str())
}

fn begin_or_resume(
    execution: &Execution<'_>,
    store: &mut Store,
    machine: &Machine,
) -> Result<(String, Vec<RunRecord>), RunnerError> {
    let plan = execution.plan;
    let record = ExperimentRecord {
        plimsoll_record: RECORD_VERSION,
        id: String::new(),
        name: plan.name.clone(),
        question: plan.question.clone(),
        state: ExperimentState::Unfinished,
        file_text: execution.file_text.into(),
        file_hash: text_hash(execution.file_text),
        plan_hash: plan.hash(),
        plan: serde_json::to_value(plan).expect("a plan has string keys and plain numbers"),
        seed: plan.measurement.seed,
        program: execution.program.clone(),
        machine: machine.clone(),
        command: execution.command.into(),
        started_at: now(),
        ended_at: None,
        runs: Vec::new(),
    };
    let unfinished = if execution.fresh {
        None
    } else {
        store.find_unfinished(&record.plan_hash, &machine.fingerprint())?
    };
    let Some(unfinished) = unfinished else {
        return Ok((store.begin(&record)?, Vec::new()));
    };
    let runs = store.resume(&unfinished.id)?;
    // The same is measured, but what is judged may have been changed in the file.
    store.revise(&unfinished.id, &record)?;
    Ok((unfinished.id, runs))
}

/// Data directories of programs that were killed.
fn remove_leftovers(plan: &Plan, watcher: &mut dyn Watcher) -> Result<(), RunnerError> {
    let mut parents: Vec<PathBuf> = Vec::new();
    for arm in &plan.arms {
        if let Some(parent) = parent_of(plan, &arm.name)?
            && !parents.contains(&parent)
        {
            parents.push(parent);
        }
    }
    for parent in parents {
        for leftover in leftovers(&parent)? {
            leftover.remove()?;
            let note = format!(
                "removed {}, left behind by a run that was killed",
                leftover.path.display()
            );
            watcher.event(&Event::Note(&note));
        }
    }
    Ok(())
}

/// Where an arm's data directory is made, if its engine keeps data.
fn parent_of(plan: &Plan, arm: &str) -> Result<Option<PathBuf>, RunnerError> {
    let Some(arm) = plan.arms.iter().find(|candidate| candidate.name == arm) else {
        return Ok(None);
    };
    let keeps_data = plimsoll_engine::kind(&arm.engine).is_some_and(|kind| kind.keeps_data);
    if !keeps_data {
        return Ok(None);
    }
    Ok(Some(match &arm.directory {
        Some(directory) => directory.clone(),
        None => default_parent()?,
    }))
}

/// Makes one run and returns how it ended. Fails only when the store fails.
fn one_run(
    execution: &Execution<'_>,
    id: &str,
    run: &PlannedRun,
    mut head: RunRecord,
    store: &mut Store,
    watcher: &mut dyn Watcher,
) -> Result<RunState, RunnerError> {
    let run_id = store.begin_run(id, &head)?;
    let directory = match data_directory(execution.plan, id, &head) {
        Ok(directory) => directory,
        Err(error) => {
            head.state = RunState::Failed {
                message: error.to_string(),
            };
            head.ended_at = Some(now());
            store.update_run(run_id, &head)?;
            return Ok(head.state);
        }
    };
    if let Some(directory) = &directory {
        head.storage = Some(Host::here().storage(directory.path()));
    }
    let order = Order::of(
        execution.plan,
        run,
        directory.as_ref().map(|made| made.path().to_owned()),
    );
    let mut stored = Stored {
        store,
        run: run_id,
        head: &mut head,
        point: None,
    };
    let end = {
        // The watcher is both told of frames and asked for interruptions, so it is shared between the two for the time of the run.
        let watcher = std::cell::RefCell::new(&mut *watcher);
        let interruptions = || watcher.borrow().interruptions();
        supervise(&execution.worker, &order, &interruptions, |frame| {
            stored.take(frame, &mut **watcher.borrow_mut())
        })
    };
    watcher.event(&Event::Closing);
    let removed = match directory {
        Some(directory) => directory.remove(),
        None => Ok(()),
    };
    head.state = match end? {
        WorkerEnd::Done => RunState::Finished,
        WorkerEnd::Stopped => RunState::Interrupted,
        WorkerEnd::Failed(message) => RunState::Failed { message },
    };
    head.ended_at = Some(now());
    store.update_run(run_id, &head)?;
    if let Err(error) = removed {
        watcher.event(&Event::Note(&error.to_string()));
    }
    Ok(head.state)
}

fn data_directory(
    plan: &Plan,
    id: &str,
    head: &RunRecord,
) -> Result<Option<DataDirectory>, RunnerError> {
    let Some(parent) = parent_of(plan, &head.arm)? else {
        return Ok(None);
    };
    let need = explain(plan, plimsoll_engine::kinds()).needs.disk_bytes;
    require_space(&parent, need)?;
    let label = format!("{}-{}-{}", head.block, head.arm, head.attempt);
    Ok(Some(DataDirectory::create(&parent, id, &label)?))
}

/// Writes frames into the store as they come.
struct Stored<'a> {
    store: &'a mut Store,
    run: RunId,
    head: &'a mut RunRecord,
    point: Option<PointId>,
}

impl Stored<'_> {
    fn take(&mut self, frame: Frame, watcher: &mut dyn Watcher) -> Result<(), RunnerError> {
        match frame {
            Frame::Hello { .. } | Frame::Done | Frame::Stopped | Frame::Failed { .. } => {}
            Frame::Opened { engine } => {
                self.head.engine = Some(engine);
                self.write_head()?;
            }
            Frame::LoadBegins {
                label,
                started_at,
                records,
            } => {
                self.point = Some(self.store.begin_load(self.run, &label, 0, &started_at)?);
                watcher.event(&Event::LoadBegins { records });
            }
            Frame::PointBegins {
                label,
                warm_up_ns,
                duration_ns,
                started_at,
            } => {
                self.point =
                    Some(
                        self.store
                            .begin_point(self.run, &label, warm_up_ns, &started_at)?,
                    );
                watcher.event(&Event::PointBegins {
                    label: &label,
                    warm_up_ns,
                    duration_ns,
                });
            }
            Frame::Slice { slice } => {
                if let Some(point) = self.point {
                    self.store.add_slice(point, &slice)?;
                }
                watcher.event(&Event::Slice(&slice));
            }
            Frame::PointEnds { end } => {
                if let Some(point) = self.point.take() {
                    self.store.end_point(point, &end)?;
                }
                watcher.event(&Event::PointEnds);
            }
            Frame::Counted { records } => {
                self.head.records_loaded = records;
                self.write_head()?;
            }
            Frame::Closing => watcher.event(&Event::Closing),
        }
        Ok(())
    }

    fn write_head(&mut self) -> Result<(), StoreError> {
        self.store.update_run(self.run, self.head)
    }
}
