//! Engines as their callers see them: one added from outside, and MongoDB against real servers.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

#[cfg(feature = "mongodb")]
mod failover;
#[cfg(feature = "mongodb")]
mod figures;
#[cfg(feature = "mongodb")]
mod laboratory;
#[cfg(feature = "mongodb")]
mod mistakes;
#[cfg(feature = "mongodb")]
mod operations;
#[cfg(feature = "mongodb")]
mod scripted;
mod toy;

#[cfg(feature = "mongodb")]
use plimsoll_testing::servers as server;
