//! MongoDB as its callers see it, against real servers.

#![cfg(feature = "mongodb")]
#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod collections;
mod concerns;
mod documents;
mod failover;
mod figures;
mod laboratory;
mod mistakes;
mod operations;
mod scripted;
mod secondaries;
mod time_series;
mod transactions;

use plimsoll_testing::servers as server;
