//! A whole plan: the missing runs in turn, everything into the store.

use crate::attempt::{Attempt, make, ready_host, undo_what_was_left};
use crate::calibration::calibrate_disks;
use crate::clock_time::now;
use crate::decided::{Decided, RunResults};
use crate::error::RunnerError;
use crate::execution::{Ended, Execution};
use crate::probe_task::{ProbedHost, time_probe_tasks};
use crate::rigging::needs_rig;
use crate::supervise::PARTNER_FAILED;
use crate::turns::{TurnState, Turns};
use crate::watcher::{Event, LoggedWatcher, Watcher};
use plimsoll_engine::kind;
use plimsoll_plan::{Arm, Pairing, Plan, PlannedRun, keeps_data_here, redact_json, sha256};
use plimsoll_record::redact::redact;
use plimsoll_record::{
    ExperimentRecord, ExperimentState, Half, Machine, ProbeTime, RECORD_VERSION, RunRecord,
    RunState,
};
use plimsoll_stats::looks;
use plimsoll_store::Store;
use plimsoll_telemetry::Host;
use std::time::{Duration, Instant};

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
    let Begun { id, runs, plan } = begin_or_resume(execution, store, &machine)?;
    let before = match runs.is_empty() || !Decided::is_needed(&plan) {
        true => None,
        false => Some(store.load(&id)?),
    };
    let execution = &Execution { plan: &plan, ..execution.clone() };
    let mut turns = Turns::new(&plan, execution.only.as_deref(), &runs);
    let missing = turns.missing();
    watcher.event(&Event::Begins {
        id: &id,
        plan: &plan,
        finished: plan.runs.len() as u32 - missing,
        took: runs.iter().filter_map(took_seconds).collect(),
        missing,
        to_make: turns.to_make(),
    });
    for name in &names {
        ready_host(execution.hosts, *name, &id, watcher)?;
    }
    if missing > 0 && execution.calibrate {
        calibrate_disks(execution, &id, store, watcher)?;
    }
    let took: f64 = runs.iter().filter_map(took_seconds).sum();
    let mut maker = TurnMaker {
        execution,
        id: &id,
        machine,
        halves,
        probed: probed_hosts(&plan),
        decided: Decided::of(&plan, before.as_ref()),
        spent: Duration::from_secs_f64(took / plan.at_once() as f64),
        probed_block: None,
    };
    let ending = maker.make_all(&mut turns, store, watcher)?;
    // A rig that was killed when all it had to do was done has left its journal.
    let _: Result<(), RunnerError> = undo_what_was_left(&*execution.hosts.host(None)?, watcher);
    let missing = match ending {
        Ending::Enough => 0,
        _ => turns.missing(),
    };
    if missing == 0 {
        store.finish(&id, &now())?;
    }
    Ok(Ended {
        id,
        interrupted: ending == Ending::Interrupted,
        missing,
        hopeless: match ending {
            Ending::Hopeless(why) => Some(why),
            _ => None,
        },
    })
}

/// Why no further turn is made.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ending {
    AllMade,
    /// Looks found that more blocks are not needed.
    Enough,
    /// A valid verdict is no longer possible.
    Hopeless(String),
    Interrupted,
}

/// Makes the turns of one execution.
struct TurnMaker<'e> {
    execution: &'e Execution<'e>,
    id: &'e str,
    machine: Machine,
    /// The halves of the machine, for duets.
    halves: Option<[Half; 2]>,
    probed: Vec<ProbedHost>,
    decided: Decided<'e>,
    /// How long all runs took so far.
    spent: Duration,
    /// The block before which probe tasks were timed last.
    probed_block: Option<u32>,
}

impl<'e> TurnMaker<'e> {
    fn make_all(
        &mut self,
        turns: &mut Turns<'e>,
        store: &mut Store,
        watcher: &mut dyn Watcher,
    ) -> Result<Ending, RunnerError> {
        loop {
            let Some(turn) = turns.next() else {
                if !turns.can_repeat() {
                    return Ok(Ending::AllMade);
                }
                self.repeat_refused(turns, store, watcher)?;
                continue;
            };
            if turns.begins_block(turn)
                && let Some(ending) = self.early_ending(turn[0].block, store, watcher)?
            {
                return Ok(ending);
            }
            match turns.state(turn) {
                TurnState::Done => turns.count_done(turn),
                _ if watcher.interruptions() > 0 => return Ok(Ending::Interrupted),
                TurnState::GivenUp | TurnState::LeftOut => {}
                TurnState::Due => {
                    if !self.make_turn(turn, turns, store, watcher)? {
                        return Ok(Ending::Interrupted);
                    }
                }
            }
        }
    }

    /// Has the blocks measured again in which a gate refused a point.
    fn repeat_refused(
        &self,
        turns: &mut Turns<'_>,
        store: &Store,
        watcher: &mut dyn Watcher,
    ) -> Result<(), RunnerError> {
        let blocks = (self.execution.to_repeat)(&store.load(self.id)?);
        if !blocks.is_empty() {
            let numbers: Vec<String> = blocks.iter().map(|block| (block + 1).to_string()).collect();
            let note = format!(
                "measured again, because a gate refused a point in them: blocks {}",
                numbers.join(", ")
            );
            watcher.event(&Event::Note(&note));
        }
        turns.repeat(&blocks);
        Ok(())
    }

    /// Why the experiment ends before this block.
    fn early_ending(
        &self,
        block: u32,
        store: &Store,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Ending>, RunnerError> {
        if has_enough(self.execution, self.id, block, self.spent, store, watcher)? {
            return Ok(Some(Ending::Enough));
        }
        if block == 0 {
            return Ok(None);
        }
        let Some(why) = (self.execution.is_hopeless)(&store.load(self.id)?) else {
            return Ok(None);
        };
        watcher.event(&Event::Note(&why));
        Ok(Some(Ending::Hopeless(why)))
    }

    /// Makes one run, or the two of a duet. False when the user stopped it.
    fn make_turn(
        &mut self,
        turn: &'e [PlannedRun],
        turns: &mut Turns<'e>,
        store: &mut Store,
        watcher: &mut dyn Watcher,
    ) -> Result<bool, RunnerError> {
        let plan = self.execution.plan;
        let first = &turn[0];
        let names: Vec<&str> = turn.iter().map(|run| arm_of(plan, run).name.as_str()).collect();
        let place = plan.runs.iter().position(|run| run == first);
        watcher.event(&Event::RunBegins {
            run: first,
            arm: &names.join(" beside "),
            number: place.map_or(0, |place| place as u32) + 1,
            runs: plan.runs.len() as u32,
        });
        let attempt = turns.next_attempt(turn);
        let mut attempts = self.attempts(turn, attempt)?;
        let after_block = turns.ends_block(turn).then_some(&self.probed[..]);
        let begun_at = Instant::now();
        let made = make(self.execution, self.id, &mut attempts, after_block, store, watcher);
        self.spent += begun_at.elapsed();
        let states = match made {
            Err(error @ RunnerError::HostLost { .. }) => {
                let state = RunState::Failed { message: error.to_string() };
                watcher.event(&Event::RunEnds { state: &state, refused: None });
                turns.lose(turn, attempt);
                return Ok(true);
            }
            made => made?,
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
            refused = (self.execution.why_refused)(&store.load_runs(self.id, of_turn)?);
        }
        watcher.event(&Event::RunEnds { state: worst, refused });
        let mut goes_on = true;
        for (state, made) in states.iter().zip(attempts) {
            goes_on &= self.note_end(state, made, turns, watcher);
        }
        Ok(goes_on)
    }

    /// The heads of the records of a turn, with the probe tasks before its block.
    fn attempts(
        &mut self,
        turn: &'e [PlannedRun],
        attempt: u32,
    ) -> Result<Vec<Attempt<'e>>, RunnerError> {
        let mut probe_tasks = Vec::new();
        if self.probed_block != Some(turn[0].block) {
            self.probed_block = Some(turn[0].block);
            let place = ProbeTime::BeforeBlock;
            probe_tasks = time_probe_tasks(place, &self.probed, self.execution.hosts)?;
        }
        let mut attempts = Vec::new();
        // Runs at the same time have the same dates.
        let started_at = now();
        for (index, run) in turn.iter().enumerate() {
            let half = self.halves.as_ref().map(|halves| halves[index].clone());
            let mut machine = self.machine.clone();
            if let Some(half) = &half {
                machine.cores = half.processors.len() as u32;
            }
            attempts.push(Attempt {
                run,
                head: RunRecord {
                    block: run.block,
                    arm: arm_of(self.execution.plan, run).name.clone(),
                    position: run.position,
                    attempt,
                    state: RunState::Started,
                    seed: run.seed,
                    started_at: started_at.clone(),
                    ended_at: None,
                    engine: None,
                    machine,
                    half,
                    storage: None,
                    records_loaded: None,
                    data_bytes: None,
                    caches_emptied: false,
                    warmed: None,
                    application: Vec::new(),
                    rig: None,
                    load: None,
                    points: Vec::new(),
                    probe_tasks: std::mem::take(&mut probe_tasks),
                    warnings: Vec::new(),
                },
                known: self.decided.known(run),
                results: RunResults::default(),
            });
        }
        Ok(attempts)
    }

    /// Notes how one run ended. False when the user stopped it.
    fn note_end(
        &mut self,
        state: &RunState,
        made: Attempt<'e>,
        turns: &mut Turns<'e>,
        watcher: &mut dyn Watcher,
    ) -> bool {
        let (run, attempt) = (made.run, made.head.attempt);
        match state {
            RunState::Finished => {
                turns.finish(run, attempt);
                self.decided.finished(run, made.results);
            }
            // The other one is to blame.
            RunState::Failed { message } if message == PARTNER_FAILED => {}
            RunState::Failed { .. } => {
                if let Some(failures) = turns.fail(run, attempt) {
                    let note = format!(
                        "arm {} failed {failures} times and never succeeded: its other runs are left out",
                        made.head.arm
                    );
                    watcher.event(&Event::Note(&note));
                }
            }
            RunState::Interrupted | RunState::Started => return false,
        }
        true
    }
}

fn arm_of<'a>(plan: &'a Plan, run: &PlannedRun) -> &'a Arm {
    &plan.arms[run.arm as usize]
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
    let Some(requested) = plan.measurement.looks else {
        return Ok(false);
    };
    let most = plan.measurement.blocks;
    let looks = looks(requested.first, most);
    let this = looks.iter().position(|look| *look == block);
    let note = if let Some(gate) = requested.gate {
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

/// An experiment that was begun or is gone on with.
struct Begun {
    id: String,
    /// Runs that were made before.
    runs: Vec<RunRecord>,
    /// As executed: a resumed experiment keeps the sizes that were chosen when it began.
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
        return Ok(Begun { id, runs: Vec::new(), plan });
    };
    let runs = store.resume(&unfinished.id)?;
    // The same is measured, but what is judged may have been changed in the file.
    store.revise(&unfinished.id, &record)?;
    Ok(Begun { id: unfinished.id, runs, plan })
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
