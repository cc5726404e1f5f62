//! What a disk can do, measured by fio, and whether that agrees with its description.
//!
//! fio itself runs as a process, one [`Job`] at a time, on a [`Target`]: a block device, or a file of its own in a directory. What it said
//! is kept whole beside the few figures that are read from it. A child never outlives its caller, its time is bounded, and a caller is
//! called several times a second to know whether to go on.
//!
//! ```text
//! Profile ──► characterise ─┐                      ┌─► Characterisation   IOPS and latency by block size and jobs
//!                           ├─ Job ─► fio ─► JSON ─┤
//! DiskSpec ─► calibrate ────┘                      └─► Calibration        requested, measured, allowed
//! ```
//!
//! Nothing is written to a block device unless the target says why what is on it may be lost.
//!
//! ```no_run
//! use plimsoll_rig::fio::{Profile, Target, characterise};
//! use std::ops::ControlFlow;
//!
//! let target = Target::read_only("/var/lib".as_ref())?;
//! let state = plimsoll_rig::testbed::default_state_dir()?;
//! let profile = Profile::study(&Profile::STUDY_BLOCKS, &Profile::STUDY_THREADS).lasting(1_000, 200);
//! let found = characterise(&target, &profile, &state, &mut |_| ControlFlow::Continue(()))?;
//! for row in &found.rows {
//!     println!("{}: {:.0} IOPS", row.job.label, row.measured.iops());
//! }
//! # Ok::<(), plimsoll_rig::fio::FioError>(())
//! ```

mod calibrate;
mod characterise;
mod checks;
mod error;
mod expected;
mod fit;
mod job;
mod measured;
#[cfg(test)]
mod real;
mod run;
mod target;

pub use calibrate::calibrate;
pub use characterise::{Characterisation, Profile, Row, characterise};
pub use error::FioError;
pub use fit::{Fitted, alone, corrected, fit, grid, own_cost, single};
pub use job::{Engine, Job, Kind};
pub use measured::{Direction, Latencies, Measured};
pub use run::{Progress, Watch, run_job, version};
pub use target::{Permission, Target};
