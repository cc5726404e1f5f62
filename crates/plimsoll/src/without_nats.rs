//! In place of the module `nats` where the program is built without NATS.

use crate::arguments::{Nats, NatsInit};
use crate::exit::Exit;
use anyhow::bail;
use plimsoll_hosts::carrier::Carrier;
use plimsoll_hosts::{Agent, HostError};

const WITHOUT: &str = "this plimsoll was built without NATS (the feature `nats`): reach machines by `ssh` or a `command`, and take --nats or PLIMSOLL_NATS away";

pub enum Connection {}

impl Connection {
    pub fn is_encrypted(&self) -> bool {
        match *self {}
    }
}

pub fn connection(arguments: &Nats) -> anyhow::Result<Option<Connection>> {
    match arguments.nats {
        Some(_) => bail!(WITHOUT),
        None => Ok(None),
    }
}

pub fn agents(connection: &Connection) -> anyhow::Result<Vec<(String, String)>> {
    match *connection {}
}

pub fn attach_agent(_: Option<&Connection>, _: &str) -> Result<Carrier, HostError> {
    Err(HostError::Unreachable(WITHOUT.into()))
}

pub fn serve_over_nats(
    _: &Agent,
    connection: &Connection,
    _: &str,
    _: String,
) -> anyhow::Result<Exit> {
    match *connection {}
}

pub fn init_files(_: &NatsInit) -> anyhow::Result<Exit> {
    bail!(WITHOUT)
}
