//! Engines against real servers.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]
#![cfg(feature = "mongodb")]

mod failover;
mod figures;
mod laboratory;
mod mistakes;
mod operations;
mod scripted;
mod server;
