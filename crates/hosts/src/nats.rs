//! A carrier over a NATS server: agents that are there, and packets to and from them.
//!
//! Both sides connect to NATS, so an agent needs no open port, and may be behind a NAT. An [`Agent`] joins under a name; a controller
//! [`list`]s the agents and [`attach`]es to one; each then holds a [`Carrier`](crate::carrier::Carrier). [`init`] makes the configuration of a server in
//! which each agent is confined to its own subjects.
//!
//! | what | by which means of NATS |
//! |---|---|
//! | who is there | *lease*: a key of a KV bucket whose values live for [`LEASE`], renewed each second |
//! | attaching | request and reply on `plimsoll.agent.NAME.attach` |
//! | packets to the agent | requests on `plimsoll.agent.NAME.SESSION.to`; the reply acknowledges one |
//! | packets to the controller | messages of a JetStream stream, `plimsoll.frames.NAME.SESSION`; the server acknowledges them, and an ordered consumer reads them |
//! | each knows that the other is there by | a *beat*, which is a request of the controller twice a second |
//!
//! Every message of a session has a number. The receiver leaves repetitions out, puts back what came too early, and knows by the *floor*, the number
//! below which all is acknowledged, when something is lost for good: then the carrier is gone. So a connection that is cut and comes back within
//! the lease loses nothing. A side that has not heard the other for the length of the lease gives the carrier up.
//!
//! The interface is synchronous; within, one thread drives all connections of the process.
//!
//! ```no_run
//! use plimsoll_hosts::carrier::Channels;
//! use plimsoll_hosts::nats::{Agent, Connection, attach};
//!
//! let settings = Connection::to("nats://127.0.0.1:4222");
//! // On one machine:
//! let mut agent = Agent::join(&settings, "db1", r#"{"cores": 8}"#.to_owned())?;
//! let (channels, control) = Channels::over(agent.accept()?);
//! // On another one:
//! let (channels, control) = Channels::over(attach(&settings, "db1", "bench1")?);
//! # Ok::<(), plimsoll_hosts::nats::NatsError>(())
//! ```

mod agent;
mod connection;
mod controller;
mod error;
mod frames;
mod init;
#[cfg(test)]
mod it;
mod laboratory;
mod lease;
mod link;
mod numbering;
mod pump;
mod runtime;
mod subjects;
mod wire;

pub use agent::{Agent, Occupied};
pub use connection::{Connection, Credentials};
pub use controller::{Present, attach, list};
pub use error::NatsError;
pub use init::{Initial, Member, ServerSettings, init};

use std::time::Duration;

/// How long an agent counts as present after its last sign of life, and how long a connection may be lost.
pub const LEASE: Duration = Duration::from_secs(5);
