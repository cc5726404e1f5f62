//! When a Plimsoll benchmark asks: closed loops, constant and Poisson arrivals, stages; pure and seeded.
//!
//! A [`Load`] describes how hard the database is driven at one point. In a closed loop the next operation waits for the last one, so there is
//! nothing to compute. In an open loop operations are due at times fixed beforehand, whatever the database does: [`arrivals`] computes them, in
//! nanoseconds from the start of the point. No clock is read here.
//!
//! Several hosts can generate one load together: a [`Share`] says which part is whose.
//!
//! ```
//! use plimsoll_workload::schedule::{Arrivals, Load, Share, Stage, arrivals};
//!
//! let steady = Load::Open { rate: 3.0, arrivals: Arrivals::Constant, sessions: 8 };
//! assert_eq!(steady.to_string(), "3 op/s");
//! assert_eq!(arrivals(&steady, 1_000_000_000, 42, Share::WHOLE)?, [0, 333_333_333, 666_666_666]);
//!
//! let ramp = Stage { rate_from: 0.0, rate_to: 2_000.0, duration_ns: 10_000_000_000 };
//! let load = Load::Stages { stages: vec![ramp], arrivals: Arrivals::Poisson, sessions: 8 };
//! assert!(load.check().is_empty());
//! assert_eq!(load.expected_arrivals(10_000_000_000), Some(10_000.0));
//! let due = arrivals(&load, 10_000_000_000, 42, Share::WHOLE)?;
//! assert!(due.is_sorted());
//! # Ok::<(), plimsoll_workload::schedule::ScheduleError>(())
//! ```

mod arrivals;
mod label;
mod load;
mod pace;
mod problem;
mod ramp;
mod share;
mod stage;

pub use arrivals::{MOST_ARRIVALS, ScheduleError, arrivals, constant_arrival};
pub use load::{Arrivals, Load};
pub use pace::Pace;
pub use problem::{Problem, Wrong};
pub use share::{Share, ShareError, things_before};
pub use stage::Stage;
