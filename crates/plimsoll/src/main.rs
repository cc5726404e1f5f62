//! The `plimsoll` program: command line, exit codes, progress, wiring. How anything is done is in the other crates.

// All output goes through `screen`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod agent;
mod allocator;
mod arguments;
mod audit;
mod bundle;
mod charts;
mod check;
mod clean;
mod confine;
mod dataset;
mod describe;
mod disk;
mod diskmap;
mod exit;
mod export;
mod gallery;
mod gate;
mod history;
mod hosts;
#[cfg(feature = "mongodb")]
mod imitate;
#[cfg(not(feature = "mongodb"))]
#[path = "without_mongodb.rs"]
mod imitate;
mod import;
mod init;
mod live;
mod log;
mod maps;
#[cfg(feature = "nats")]
mod nats;
#[cfg(not(feature = "nats"))]
#[path = "without_nats.rs"]
mod nats;
mod only;
mod plan;
mod power;
mod quiet;
mod read;
mod rig;
mod rights;
mod rm;
mod run;
mod scout;
mod screen;
mod serve;
mod servers;
mod show;
mod surroundings;
mod written;
mod ycsb;

use arguments::{Arguments, Command, Disk, Foreign, NatsCommand, Remote, SetOrderWord};
use exit::Exit;
use plimsoll_engine::SetOrder;
use screen::tell;
use std::process::ExitCode;

fn main() -> ExitCode {
    rights::gain_none();
    let mut arguments = match Arguments::of_command_line() {
        Ok(arguments) => arguments,
        Err(error) => return exit::wrong_usage(&error),
    };
    let mut note = None;
    if let Command::Old(old) = arguments.command {
        (arguments.command, note) = old.renamed();
    }
    if let Command::Disk(Disk::Mount(mount)) = &arguments.command
        && !mount.foreground
        && !mount.in_background
    {
        return disk::in_background().unwrap_or_else(|error| failed(&error));
    }
    if let Err(error) =
        surroundings::ready().and_then(|()| rights::give_up_root(&arguments.command))
    {
        tell(format_args!("plimsoll: {}", exit::message(&error)));
        return Exit::Failed.into();
    }
    note.iter().for_each(tell);
    match dispatch(&arguments) {
        Ok(exit) => exit.into(),
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    tell(format_args!("plimsoll: {}", exit::message(error)));
    if let Some(advice) = rights::advice(error) {
        tell(advice);
    }
    exit::code_of(error).into()
}

fn dispatch(arguments: &Arguments) -> anyhow::Result<Exit> {
    let store = arguments.store.as_deref();
    let log = log::begin(arguments);
    let rigs = rig::Rigs::default();
    match &arguments.command {
        Command::Run(run) => run::run(run, store, rigs, &log),
        Command::Gate(requested) => gate::gate(requested, store, rigs, &log),
        Command::Remote(Remote::Nats(NatsCommand::Init(init))) => nats::init_files(init),
        Command::Remote(Remote::Hosts(hosts)) => hosts::hosts(hosts, &rigs),
        Command::Remote(Remote::Agent(requested)) => agent::agent(requested),
        Command::Plan(plan) => plan::plan(plan, store, &rigs),
        Command::Init(requested) => init::init(requested, &rigs),
        Command::Imitate(requested) => imitate::imitate(requested, store, rigs, &log),
        Command::Check(check) => check::check(check, store, &rigs),
        Command::Disk(disk) => disk::disk(disk, &rigs, store),
        Command::Report(report) => show::report(report, store),
        Command::Compare(compare) => show::compare(compare, store),
        Command::History(history) => history::history(history, store),
        Command::Serve(serve) => serve::serve(serve, store),
        Command::Foreign(Foreign::Audit(requested)) => audit::audit(requested),
        Command::Foreign(Foreign::Import(import)) => import::import(import, store),
        Command::Foreign(Foreign::Ycsb(ycsb)) => ycsb::ycsb(ycsb),
        Command::List(list) => show::list(list, store),
        Command::Bundle(requested) => bundle::bundle(requested, store),
        Command::Gallery(requested) => gallery::gallery(requested, store),
        Command::Export(export) => export::export(export, store),
        Command::Clean(clean) if clean.ids.is_empty() && !clean.failed => {
            clean::clean(clean, &rigs)
        }
        Command::Clean(clean) => rm::rm(clean, store),
        Command::Old(_) => unreachable!("it has its new name since the command line was read"),
        Command::Schema(schema) => describe::schema(schema),
        Command::Completions { shell } => describe::completions(*shell),
        Command::Man => describe::man(),
        Command::Worker => {
            let (input, output) = (std::io::stdin(), std::io::stdout());
            let finished = plimsoll_runner::work(input, output, allocator::in_force());
            Ok(if finished { Exit::Good } else { Exit::Failed })
        }
        Command::DiskDaemon => disk::daemon(),
        Command::ReplicaSet { order, members } => {
            let order = match order {
                SetOrderWord::Initiate => SetOrder::Initiate,
                SetOrderWord::Primary => SetOrder::Primary,
                SetOrderWord::StepDown => SetOrder::StepDown,
                SetOrderWord::Whole => SetOrder::Whole,
            };
            let done = plimsoll_engine::replica_set(order, members, &mut std::io::stdout());
            done.map_err(anyhow::Error::msg)?;
            Ok(Exit::Good)
        }
        Command::Rig { allow } => rig::rig(agent::allowed(allow)),
    }
}
