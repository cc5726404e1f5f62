//! Whole points with real threads on the real clock. What is asserted holds whatever the speed of the machine.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod counts;
mod ends;
mod fake;
mod noting;
mod questions;
mod servers;
mod shares;
mod verification;
