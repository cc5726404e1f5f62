//! The lean client against real servers, where they are, and against one that plays a script.
//!
//! Nothing here depends on how fast anything is: there are only limits after which something counts as hung.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but sees only functions that are tests themselves"
)]

mod authentication;
mod messages;
mod mistakes;
mod operations;
mod outages;
mod records;
mod scans;
mod script;
mod servers;
pub(crate) mod statements;
pub(crate) mod transactions;
