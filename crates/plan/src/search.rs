//! Which load a run measures next: sweeps until they bend, sessions, the plimsoll line.
//!
//! What a plan leaves open (see `crate::PointRole`) is decided by pure functions of what the run has measured so far. The worker asks them while
//! it measures; `judge` hands the same trials to the same functions and comes to the same line.

mod line;
mod sequence;
mod tally;

#[cfg(test)]
mod tally_tests;
#[cfg(test)]
mod tests;

pub use line::{goal, replay, trial, trial_with_outcome};
pub use sequence::{Known, PointSequence, Step, share_label};
pub use tally::{Miss, MixObjective, Outcome, Tally, unfinished_of};
