//! Real servers, loaded by this project's own loader, and what is seen of them.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod files;
pub mod laboratory;
mod servers;
mod slow;
