//! `plimsoll run`: check, execute, judge, show.

use crate::arguments;
use crate::exit::Exit;
use crate::live::Live;
use crate::log::Log;
use crate::nats::{Connection, attach_agent, connection};
use crate::only::chosen;
use crate::plan::{complain, read};
use crate::read::store_path;
use crate::rig::Rigs;
use crate::scout::{Scout, Scouting};
use crate::screen::tell;
use crate::{servers, show};
use anyhow::Context;
use plimsoll_hosts::{Fleet, Identity};
use plimsoll_judge::{Analysis, analyse, plan_of, sharp, too_few_blocks};
use plimsoll_plan::{Arm, HostSpec, HostWay, Plan, needs, server_uri};
use plimsoll_record::redact::redact;
use plimsoll_record::{ExperimentRecord, Program};
use plimsoll_rig::RigError;
use plimsoll_runner::{Ended, Execution, LocalHost, RunnerError, WorkerProgram, execute};
use plimsoll_store::Store;
use plimsoll_store::bundle::is_bundle;
use std::path::{Path, PathBuf};

/// An experiment that takes longer and can have no verdict is only started where that is requested.
const LONG_NS: u64 = 600_000_000_000;

pub fn run(
    arguments: &arguments::Run,
    store: Option<&Path>,
    rigs: Rigs,
    log: &Log,
) -> anyhow::Result<Exit> {
    let checked = read(&arguments.experiment, &rigs)?;
    let mut plan = match checked.plan {
        Ok(plan) => plan,
        Err(problems) => return complain(&problems, arguments.json),
    };
    if let (Some(factor), false) = (plan.refined_factor(), arguments.only.is_empty()) {
        tell(format_args!(
            "--only cannot be used here: the levels of {} are chosen by what all cells measured (`refine`)",
            plan.factors[factor].name
        ));
        return Ok(Exit::Usage);
    }
    let only = match chosen(&plan, &arguments.only) {
        Ok(only) => only,
        Err(why) => {
            tell(why);
            return Ok(Exit::Usage);
        }
    };
    if let Some(too_few) = too_few_blocks(&plan) {
        let needs = needs(&plan, plimsoll_engine::kinds());
        // Points that end after so many operations have no length that is known before.
        let is_long = plan.measurement.operations.is_none() && needs.total_ns() > LONG_NS;
        let is_requested = arguments.anyway || arguments.experiment.pilot;
        if !arguments.quiet || is_long && !is_requested {
            tell(too_few);
        }
        if is_long && !is_requested {
            tell("It would take more than ten minutes; --anyway starts it.");
            return Ok(Exit::Usage);
        }
    }
    let is_of_bundle = arguments.experiment.file.as_deref().is_some_and(is_bundle);
    if is_of_bundle && let Some(exit) = servers::announce_bundle(&plan, arguments.yes)? {
        return Ok(exit);
    }
    if let Some(exit) = servers::look(&plan) {
        return Ok(exit);
    }
    let is_by_uri = arguments.experiment.uri.is_some();
    if is_by_uri
        && let Some(exit) =
            servers::announce(&plan, arguments.yes, arguments.keep, arguments.quiet)?
    {
        return Ok(exit);
    }
    let request = RunRequest {
        experiment: &arguments.experiment,
        nats: &arguments.nats,
        fresh: arguments.fresh,
        only,
        calibrate: !arguments.no_calibration,
        wait_quiet: arguments.wait_quiet,
        keep_going: arguments.keep_going,
        quiet: arguments.quiet,
    };
    let measured = measure(request, &mut plan, &checked.text, store, rigs, log);
    if is_by_uri && !arguments.keep {
        servers::tidy_up(&plan, arguments.quiet);
    }
    let made = match measured? {
        Measured::Made(made) => *made,
        Measured::Wrong(problems) => return complain(&problems, arguments.json),
        Measured::Not(exit) => return Ok(exit),
    };
    let wanted = show::Wanted {
        json: arguments.json,
        page: arguments.page.as_deref(),
        junit: arguments.junit.as_deref(),
        markdown: arguments.markdown.as_deref(),
        is_stored: true,
        all: arguments.all,
        ..show::Wanted::default()
    };
    let analysis = show::result(&made.record, &wanted, store)?;
    let ended = &made.ended;
    if let Some(why) = &ended.hopeless {
        tell(format_args!(
            "Ended after {} of {} runs: {why}. --keep-going makes the remaining runs anyway; --fresh starts over.",
            plan.runs.len() - ended.missing as usize,
            plan.runs.len()
        ));
    } else if ended.missing > 0 && !arguments.quiet {
        let why = if ended.interrupted {
            "interrupted"
        } else if !arguments.only.is_empty() {
            "part of the experiment"
        } else {
            "some runs failed"
        };
        tell(format_args!(
            "{why}: {} of {} runs are missing; the same command{} measures them: {}",
            ended.missing,
            plan.runs.len(),
            if arguments.only.is_empty() { "" } else { " without --only" },
            redact(&command_line())
        ));
        if let Some(path) = made.log {
            tell(format_args!("what was done, step by step: {}", path.display()));
        }
    }
    if ended.interrupted {
        return Ok(Exit::Interrupted);
    }
    let exit = match ended.hopeless {
        Some(_) => Exit::InvalidMeasurement,
        None => show::exit_of(&analysis),
    };
    Ok(exit)
}

/// Options of a measurement, besides its plan.
pub struct RunRequest<'a> {
    /// The file of the plan, for those that are scouted first.
    pub experiment: &'a arguments::ExperimentFile,
    pub nats: &'a arguments::Nats,
    /// Start from the beginning even if the same plan has an unfinished experiment.
    pub fresh: bool,
    /// Which arms run now; `None`: all.
    pub only: Option<Vec<bool>>,
    /// Whether emulated disks are calibrated first.
    pub calibrate: bool,
    /// How long to wait for a quiet machine, nanoseconds.
    pub wait_quiet: Option<u64>,
    /// Continue even if a verdict is no longer possible.
    pub keep_going: bool,
    pub quiet: bool,
}

pub enum Measured {
    /// As far as it got.
    Made(Box<Made>),
    /// What scouting chose is not valid.
    Wrong(plimsoll_experiment::Problems),
    /// Nothing was made, and why was said.
    Not(Exit),
}

pub struct Made {
    pub record: ExperimentRecord,
    pub ended: Ended,
    /// Where it is written what was done.
    pub log: Option<PathBuf>,
}

/// Makes the runs of a plan, which scouting may change, and loads their record.
pub fn measure(
    request: RunRequest<'_>,
    plan: &mut Plan,
    text: &str,
    store: Option<&Path>,
    rigs: Rigs,
    log: &Log,
) -> anyhow::Result<Measured> {
    let store_file = store_path(store)?;
    let mut open = Store::open(&store_file)?;
    let foreign = crate::quiet::before_a_run(request.wait_quiet, request.quiet)?;
    let command = command_line();
    let of_file = plan.clone();
    let nats = connection(request.nats)?;
    if let Some(why) = in_clear(&of_file, nats.as_ref()) {
        tell(why);
        return Ok(Measured::Not(Exit::Usage));
    }
    let fleet = fleet(&rigs, &of_file.hosts, nats.as_ref())?;
    let mut execution = Execution {
        plan: &of_file,
        file_text: text,
        command: &command,
        program: this_program(),
        hosts: &fleet,
        traces: store_file.with_file_name("traces"),
        server_logs: store_file.with_file_name("servers"),
        calibrate: request.calibrate,
        calibrations: Vec::new(),
        foreign: Some(foreign),
        only: request.only,
        fresh: request.fresh,
        is_enough,
        to_repeat,
        why_refused: |record| {
            let (_, analysis) = judged(record)?;
            record.runs.iter().find_map(|run| analysis.why_refused(run.block, &run.arm))
        },
        is_hopeless: match request.keep_going {
            true => |_| None,
            false => is_hopeless,
        },
    };
    tracing::info!(
        "plimsoll {} ({}): {}",
        execution.program.version,
        execution.program.commit,
        redact(&command)
    );
    let mut live = Live::new(request.quiet, log, store_file.with_file_name("logs"))?;
    if of_file.refined_factor().is_some() {
        let scout = Scout { file: request.experiment, rigs: &rigs, execution: &execution };
        let scouted = scout.run(&mut open, &mut live);
        if !matches!(scouted, Ok(Scouting::Chosen(_))) {
            live.end();
        }
        *plan = match scouted? {
            Scouting::Chosen(plan) => *plan,
            Scouting::Wrong(problems) => return Ok(Measured::Wrong(problems)),
            Scouting::Unfinished => {
                tell(format_args!(
                    "interrupted while scouting; the same command resumes: {}",
                    redact(&command)
                ));
                return Ok(Measured::Not(Exit::Interrupted));
            }
        };
        execution.plan = plan;
    }
    let ended = execute(&execution, &mut open, &mut live);
    live.end();
    // The other machines undo what they have made, and are free for others.
    drop(execution);
    drop(fleet);
    if let Err(error) = &ended {
        tracing::error!("{error}");
    }
    if let Err(RunnerError::Rig(RigError::Gone(_))) = &ended
        && let Some(rigs) = rigs.restarted()
    {
        for line in undo_what_it_left(&rigs)? {
            tell(line);
        }
    }
    let ended = ended?;
    let record = open.load(&ended.id)?;
    drop(open);
    Ok(Measured::Made(Box::new(Made { record, ended, log: live.log_path().map(Path::to_owned) })))
}

fn own_file() -> anyhow::Result<PathBuf> {
    std::env::current_exe()
        .context("cannot find this program's own file to start other processes from")
}

/// Which program this is, for agents.
pub fn identity() -> anyhow::Result<Identity> {
    let words = format!("{} ({})", env!("CARGO_PKG_VERSION"), env!("PLIMSOLL_COMMIT"));
    // Its file may have been replaced since it was started, and what runs is what counts.
    Identity::of(words, Path::new("/proc/self/exe")).context("cannot read this program's own file")
}

/// Which program this is, for records and what is made of them.
pub fn this_program() -> Program {
    Program { version: env!("CARGO_PKG_VERSION").into(), commit: env!("PLIMSOLL_COMMIT").into() }
}

pub fn worker_program() -> anyhow::Result<WorkerProgram> {
    Ok(WorkerProgram {
        path: own_file()?,
        arguments: vec!["worker".into()],
        frugal: crate::allocator::FRUGAL.map(|(name, value)| (name.into(), value.into())).into(),
    })
}

/// This machine, and the others of an experiment.
pub fn fleet<'a>(
    rigs: &'a Rigs,
    hosts: &'a [HostSpec],
    nats: Option<&'a Connection>,
) -> anyhow::Result<Fleet<'a>> {
    let here = LocalHost { rigs: rigs.get()?, worker: worker_program()? };
    // Reading the whole program takes a while, and only others ask for it.
    let identity = match hosts {
        [] => Identity::default(),
        _ => identity()?,
    };
    let attach = Box::new(move |name: &str| attach_agent(nats, name));
    Ok(Fleet::new(here, hosts, identity, own_file()?, attach))
}

/// Why a plan must not be run over this connection: passwords of databases would travel in clear.
fn in_clear(plan: &Plan, nats: Option<&Connection>) -> Option<String> {
    let has_password = |arm: &&Arm| {
        let uri = server_uri(&arm.settings);
        uri.is_some_and(|uri| redact(uri) != uri)
    };
    let arm = plan.arms.iter().find(has_password)?;
    let is_by_nats = |host: &&HostSpec| matches!(host.way, HostWay::Agent(_));
    let host = plan.hosts.iter().find(is_by_nats)?;
    if nats.is_none_or(Connection::is_encrypted) {
        return None;
    }
    Some(format!(
        "the password in the URI of arm {} would travel in clear to host {}: reach NATS over tls://, or the host by ssh",
        arm.name, host.name
    ))
}

/// What the process that makes rigs had made when it was killed.
fn undo_what_it_left(rigs: &Rigs) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    let stays = rigs.get()?.clean(false, &mut |what| lines.push(what.to_owned()))?;
    lines.extend(stays);
    Ok(lines)
}

/// Whether what was measured is enough: every interval that decides is as narrow as requested, or the question of a gate is answered.
fn is_enough(record: &ExperimentRecord) -> bool {
    let Some((plan, analysis)) = judged(record) else {
        return false;
    };
    match (plan.measurement.looks, &analysis.gate) {
        // If blocks cannot be compared, more of them do not help.
        (_, Some(gate)) => gate.answered || !gate.usable,
        (Some(looks), None) => sharp(&analysis, &looks),
        (None, None) => false,
    }
}

fn to_repeat(record: &ExperimentRecord) -> Vec<u32> {
    judged(record).map_or_else(Vec::new, |(plan, analysis)| {
        plimsoll_judge::to_repeat(&plan, &analysis, record)
    })
}

fn is_hopeless(record: &ExperimentRecord) -> Option<String> {
    let (plan, analysis) = judged(record)?;
    plimsoll_judge::hopeless(&plan, &analysis)
}

fn judged(record: &ExperimentRecord) -> Option<(Plan, Analysis)> {
    Some((plan_of(record).ok()?, analyse(record).ok()?))
}

/// The command line as it was typed, quoted where a shell needs it.
pub fn command_line() -> String {
    let mut words = vec!["plimsoll".to_owned()];
    for word in std::env::args_os().skip(1) {
        let word = word.to_string_lossy().into_owned();
        let plain = !word.is_empty()
            && word
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "-_./:=,+@%".contains(letter));
        words.push(if plain { word } else { format!("'{}'", word.replace('\'', r"'\''")) });
    }
    words.join(" ")
}
