//! NATS: how it is reached, and `plimsoll remote nats init`.

use crate::arguments::{Nats, NatsInit};
use crate::exit::Exit;
use crate::screen::tell;
use anyhow::{Context, bail};
use plimsoll_hosts::carrier::Carrier;
pub use plimsoll_hosts::nats::Connection;
use plimsoll_hosts::nats::{Credentials, Member, Present, ServerSettings, attach, init, list};
use plimsoll_hosts::{Agent, HostError};
use plimsoll_record::files::OwnFolder;
use plimsoll_record::redact::line;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest seed, bytes: they have 58.
const LONGEST_SEED: u64 = 4_096;
/// Time between two checks whether the agent is to end.
const LOOK: Duration = Duration::from_millis(500);
const CONTROLLER: &str = "controller";

/// The connection to NATS, where `--nats` names one.
pub fn connection(arguments: &Nats) -> anyhow::Result<Option<Connection>> {
    let Some(address) = &arguments.nats else {
        return Ok(None);
    };
    let mut connection = Connection::to(address);
    if let Some(seed) = &arguments.nats_seed {
        connection.credentials = Credentials::NkeySeedFile(seed.clone());
    } else if let Some(creds) = &arguments.nats_creds {
        connection.credentials = Credentials::CredsFile(creds.clone());
    }
    connection.ca_file.clone_from(&arguments.nats_ca);
    Ok(Some(connection))
}

/// The agents that have joined, with what each says of itself.
pub fn agents(connection: &Connection) -> anyhow::Result<Vec<(String, String)>> {
    let named = |Present { name, card }| (name, card);
    Ok(list(connection)?.into_iter().map(named).collect())
}

/// Makes a way to an agent that has joined.
pub fn attach_agent(connection: Option<&Connection>, name: &str) -> Result<Carrier, HostError> {
    let Some(connection) = connection else {
        return Err(HostError::Unreachable(
            "the NATS server of the agent is unknown: name it with --nats URL, or in PLIMSOLL_NATS"
                .into(),
        ));
    };
    let controller = rustix::system::uname();
    let controller = controller.nodename().to_string_lossy();
    attach(connection, name, &controller)
        .map_err(|error| HostError::Unreachable(line(&error.to_string()).into_owned()))
}

/// Serves one program after the other, until it is stopped.
pub fn serve_over_nats(
    agent: &Agent,
    nats: &Connection,
    name: &str,
    card: String,
) -> anyhow::Result<Exit> {
    let ends = Arc::new(AtomicBool::new(false));
    let signalled = Arc::clone(&ends);
    ctrlc::set_handler(move || signalled.store(true, Ordering::Relaxed))?;
    let mut joined = plimsoll_hosts::nats::Agent::join(nats, name, card)?;
    tell(format_args!("agent {name} has joined, and waits for `plimsoll run`"));
    while !ends.load(Ordering::Relaxed) {
        let Some(carrier) = joined.accept_within(LOOK)? else {
            continue;
        };
        let _occupied = joined.occupied();
        tell("a `plimsoll run` has come");
        match agent.serve_until(carrier, &ends) {
            Ok(()) => tell("it has gone, and everything that it had made here"),
            Err(error) => tell(format_args!("what came was not from plimsoll run: {error}")),
        }
    }
    Ok(Exit::Good)
}

pub fn init_files(arguments: &NatsInit) -> anyhow::Result<Exit> {
    let folder = OwnFolder::make(&arguments.directory)
        .with_context(|| format!("cannot use {}", arguments.directory.display()))?;
    let members: anyhow::Result<Vec<Member>> = arguments
        .agent
        .iter()
        .map(|name| {
            if name == CONTROLLER {
                bail!(
                    "an agent cannot be called {CONTROLLER}: that is the machine of `plimsoll run`"
                );
            }
            Ok(Member { name: name.clone(), seed: seed(&folder, name)? })
        })
        .collect();
    let settings =
        ServerSettings { listen: arguments.listen.clone(), store_dir: folder.path().join("store") };
    let made = init(&settings, seed(&folder, CONTROLLER)?.as_deref(), &members?)?;
    let mut files: Vec<(OsString, String)> =
        vec![("nats.conf".into(), made.config), (seed_file(CONTROLLER), made.controller_seed)];
    for (name, seed) in made.agent_seeds {
        files.push((seed_file(&name), seed));
    }
    for (name, text) in &files {
        folder
            .write_whole(name, text.as_bytes())
            .with_context(|| format!("cannot write {}", PathBuf::from(name).display()))?;
    }
    let place = folder.path().display();
    tell(format_args!(
        "wrote {place}/nats.conf and a seed for each agent; start the server: nats-server --config {place}/nats.conf"
    ));
    tell(format_args!(
        "here: export PLIMSOLL_NATS=nats://{} PLIMSOLL_NATS_SEED={place}/{CONTROLLER}.seed",
        arguments.listen
    ));
    Ok(Exit::Good)
}

fn seed_file(name: &str) -> OsString {
    format!("{name}.seed").into()
}

/// The existing seed.
fn seed(folder: &OwnFolder, name: &str) -> anyhow::Result<Option<String>> {
    let file = seed_file(name);
    let failed = || format!("cannot read {}", PathBuf::from(&file).display());
    if folder.stat(&file).with_context(failed)?.is_none() {
        return Ok(None);
    }
    let mut text = String::new();
    let open = folder.open_to_read(&file).with_context(failed)?;
    open.take(LONGEST_SEED).read_to_string(&mut text).with_context(failed)?;
    Ok(Some(text.trim().to_owned()))
}
