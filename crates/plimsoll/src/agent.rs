//! `plimsoll remote agent`: this machine, for a `plimsoll run` on another one.

use crate::arguments::{self, AgentUse};
use crate::exit::Exit;
use crate::nats::{connection, serve_over_nats};
use crate::{rig, run};
use anyhow::{Context, bail};
use clap::ValueEnum;
use plimsoll_hosts::Agent;
use plimsoll_hosts::carrier::over_stream;
use plimsoll_record::Machine;
use plimsoll_rig::Allowed;
use plimsoll_runner::this_machine;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{stdin, stdout};
use std::os::fd::AsFd;

/// What an agent says of itself while it waits.
#[derive(Debug, Serialize, Deserialize)]
pub struct Card {
    pub program: String,
    pub machine: Machine,
    pub allow: Vec<String>,
}

pub fn agent(arguments: &arguments::Agent) -> anyhow::Result<Exit> {
    let words: Vec<String> = arguments
        .allow
        .iter()
        .filter_map(|word| Some(word.to_possible_value()?.get_name().to_owned()))
        .collect();
    let agent = Agent {
        identity: run::identity()?,
        rig: rig::program(vec!["--allow".into(), words.join(",")])?,
        worker: run::worker_program()?,
    };
    if let (Some(nats), false) = (connection(&arguments.nats)?, arguments.stdio) {
        let Some(name) = &arguments.name else {
            bail!("an agent on NATS needs a name, by which experiment files call it: --name NAME");
        };
        let card = serde_json::to_string(&Card {
            program: agent.identity.program.clone(),
            machine: this_machine(),
            allow: words,
        })?;
        return serve_over_nats(&agent, &nats, name, card);
    }
    // Unbuffered: a packet is whole.
    let input = File::from(stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(stdout().as_fd().try_clone_to_owned()?);
    agent
        .serve(over_stream(input, output))
        .context("what comes over the standard input is not from plimsoll run")?;
    Ok(Exit::Good)
}

/// What the words of `--allow` allow the process that makes rigs; without them everything.
pub fn allowed(words: &Option<Vec<AgentUse>>) -> Allowed {
    let Some(words) = words else {
        return Allowed::ALL;
    };
    Allowed {
        server: words.contains(&AgentUse::Server),
        disk: words.contains(&AgentUse::Disk),
        erase: words.contains(&AgentUse::Erase),
    }
}
