//! What the machine and its processes are and did: provenance, use of the CPU, and the machine check.
//!
//! Four kinds of things are here:
//!
//! - **Provenance.** [`Host::machine`] and [`Host::storage`] read what bears on results from `/proc`, `/sys` and `/etc`: the CPU, the
//!   hypervisor, the limits of the control group, the filesystem under the data and the device under that. What cannot be read is
//!   left open. Files are read by key and not by a strict parser, because kernels and containers differ in what they show, and one
//!   missing line must not cost all others. Every reader takes a root directory, so tests read trees of their own.
//! - **Use.** A [`WorkerSampler`] says what its own process used since the last call, a [`SystemSampler`] what happened to the
//!   whole machine meanwhile: CPU time that the hypervisor took, and jumps of the wall clock. A [`ForeignSampler`] says what other programs used.
//! - **Watching.** A [`SliceSampler`] gathers figures for each second of a measurement: what the engine reports about itself, what a
//!   [`DeviceSource`] reports about the device below the data, what a control group uses ([`GroupSource`]), a server that is watched from outside, the machine, and
//!   the [`Network`] to another one.
//! - **Judgement.** A [`Survey`] is what a machine check looks at, and [`findings`] what it thinks of it, with advice. That is a pure
//!   function of the survey.
//!
//! ```
//! use plimsoll_telemetry::{Host, WorkerSampler};
//!
//! let mut sampler = WorkerSampler::new();
//! let machine = Host::here().machine();
//! let storage = Host::here().storage(&std::env::temp_dir());
//! println!("{} cores, data on {:?}", machine.cores, storage.filesystem);
//! let used = sampler.sample();
//! assert!(used.resident_bytes > 0);
//! ```

mod connections;
mod device;
mod findings;
mod foreign;
mod group;
mod host;
mod interruptions;
mod kept_file;
mod kernel;
mod limits;
mod local_server;
mod machine;
mod mounts;
mod network;
mod process;
mod processors;
mod run_queue;
mod slice_sampler;
mod storage;
mod survey;
mod system;
mod virtualisation;
mod worker;

pub use device::{DeviceSource, DeviceTotals, Diskstats};
pub use findings::{Finding, FindingSeverity, findings};
pub use foreign::ForeignSampler;
pub use group::GroupSource;
pub use host::Host;
pub use interruptions::{Interruptions, watch_for_interruptions};
pub use local_server::{KnownServer, ListensAt, local_servers, server_process};
pub use mounts::{Mount, mounts_in};
pub use network::{Network, round_trips};
pub use processors::on_processors;
pub use slice_sampler::SliceSampler;
pub use storage::whole_disk;
pub use survey::{Survey, WritablePath};
pub use system::{SystemSampler, SystemUse};
pub use worker::WorkerSampler;

#[cfg(test)]
mod tree;

/// Names of [`plimsoll_record::figures`] with their values: counters since some moment that stays the same, and levels.
pub type Figures = Vec<(&'static str, f64)>;
