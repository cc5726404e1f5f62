//! Runs on other machines: agents, and the ways to them.
//!
//! ```text
//!   the program                                              another machine
//!   runner ─► Fleet ─► RemoteHost ═══ carrier ═══► agent ─► plimsoll rig
//!                         │  channel 0: Request, Event  │ ─► workers
//!                         │  channel 1: the rig         │
//!                         └  others: a worker, a file   ┘
//! ```
//!
//! An agent is one `plimsoll rig` and the workers that it starts. It does for the program what the program does for itself on its own machine, by the same
//! code. What the rig and the workers say travels as they say it, so that neither they nor the runner know that there is a way between them.
//!
//! An agent that has heard nothing for [`LEASE`] ends its workers, so that no request reaches a database whose experiment is over, and lets its rig undo
//! what it has made. The program takes an agent for lost by the same rule.

mod agent;
pub mod carrier;
mod fleet;
mod message;
#[cfg(feature = "nats")]
pub mod nats;
mod remote;
mod ssh;

pub use agent::Agent;
pub use fleet::{AttachAgent, Fleet};
pub use message::LEASE;
pub use remote::{HostError, Identity, RemoteHost};
