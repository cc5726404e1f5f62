//! Executes a plan: blocks in order, one worker process for each run, everything into the store as it happens.
//!
//! ```text
//!            the program                                   a worker process, one for each run
//!   execute ─► missing runs ─► supervise ── Order ──────►  work ─► engine ─► load ─► points
//!      │                          │  ◄── Frame, Frame … ─────┘        (loadgen, telemetry)
//!      ▼                          ▼
//!   Watcher (screen)            Store (every slice)
//! ```
//!
//! The two processes speak in lines of JSON over the worker's standard input and output, see [`Order`] and [`Frame`]. A worker that
//! crashes, is killed, or hangs is an ordinary result: the run is failed, what it measured is kept, and the next run begins. After two
//! failures of an arm that never succeeded, its remaining runs are skipped. Both sides state the version of the frames first, so a
//! program that is replaced while it runs is noticed.
//!
//! How runs end:
//!
//! - **Ctrl-C or SIGTERM**: the runner writes `stop`; the worker ends its point, closes the engine and reports it. The run is interrupted
//!   and keeps its slices. A second Ctrl-C ends the worker at once. Workers have their own process group, so the terminal's signal
//!   reaches only the runner.
//! - **The runner is killed**: the worker sees the end of its input, stops, and exits within 20 seconds, even if a call into the engine
//!   does not return. [`execute`] on the same plan then makes the missing runs.
//! - **The worker is killed or crashes**: its output ends without a final frame; the runner explains the signal or exit code and quotes
//!   its last output.
//! - **The worker hangs**: it is killed after 30 minutes without a frame.
//!
//! [`execute`] needs a program that calls [`work`] when it is started as a worker; the `plimsoll` binary is one:
//!
//! ```no_run
//! use plimsoll_rig::{RigProcess, RigProgram};
//! use plimsoll_runner::{Event, Execution, LocalHost, Watcher, WorkerProgram, execute};
//! # fn plan() -> plimsoll_plan::Plan { unimplemented!() }
//! struct Quiet;
//! impl Watcher for Quiet {
//!     fn event(&mut self, _: &Event<'_>) {}
//!     fn interruptions(&self) -> u32 { 0 }
//! }
//! let mut store = plimsoll_store::Store::open("plimsoll.db".as_ref())?;
//! let rig = RigProgram { path: "plimsoll".into(), arguments: vec!["rig".into()] };
//! let rigs = RigProcess::over(rig.start()?);
//! let worker = WorkerProgram { path: "plimsoll".into(), arguments: vec!["worker".into()], frugal: Vec::new() };
//! let here = LocalHost { rigs: &rigs, worker };
//! let execution = Execution {
//!     plan: &plan(),
//!     file_text: "plimsoll: 1 …",
//!     command: "plimsoll run file.yaml",
//!     program: Default::default(),
//!     hosts: &here,
//!     traces: "/var/lib/plimsoll/traces".into(),
//!     server_logs: "/var/lib/plimsoll/servers".into(),
//!     foreign: None,
//!     calibrate: true,
//!     calibrations: Vec::new(),
//!     fresh: false,
//!     only: None,
//!     is_enough: |_| false,
//!     why_refused: |_| None,
//!     is_hopeless: |_| None,
//!     to_repeat: |_| Vec::new(),
//! };
//! let ended = execute(&execution, &mut store, &mut Quiet)?;
//! println!("experiment {}", ended.id);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod afterwards;
mod agenda;
mod attempt;
mod below;
mod calibration;
mod clock_time;
mod cpu_task;
mod decided;
mod error;
mod execute;
mod execution;
mod frames;
mod host;
mod ledger;
mod probe_task;
mod rig_access;
mod rigging;
mod sizing;
mod slowed;
mod stored;
mod supervise;
mod team;
mod turns;
mod warming;
mod watch;
mod watcher;
mod worker;

pub use clock_time::now;
pub use cpu_task::cpu_task_ns;
pub use error::RunnerError;
pub use execute::{execute, took_seconds};
pub use execution::{Ended, Execution};
pub use frames::{FRAMES_VERSION, Frame, Order, RigAccess, WorkerRole};
pub use host::{
    ClockReader, Hosts, LocalHost, RunHost, StartedWorker, WorkerExit, WorkerHandle, WorkerProgram,
    WorkerStart, this_machine,
};
pub use plimsoll_loadgen::monotonic_ns;
pub use sizing::{Sizing, bytes_per_record};
pub use watcher::{Event, Watcher};
pub use worker::work;
