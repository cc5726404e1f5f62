//! The disk as its users meet it: a real daemon, a real loop device, real filesystems. It needs root; what cannot be tried is said.
//!
//! Nothing here depends on how fast the machine is: there are only limits after which something counts as hung.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but sees only functions that are tests themselves"
)]

mod commands;
mod endings;
mod laboratory;
mod mistakes;
mod power;
mod pressure;
mod rings;
mod timeline;
