//! The emulated disk: a user-space block device with the speed of another.
//!
//! A daemon serves one file, `disk.img`, over FUSE; a loop device with direct I/O over that file is a disk like any other. The daemon does each
//! request at once, on memory or a sparse file, and holds the *answer* until it is due, which a [`shaper::Shaper`] says: limits of requests and
//! bytes per second, burst credits, a queue depth, and a law of latency. So the disk is as slow as configured, for anything that is
//! put on it, as long as the host is faster; and how late each answer was against its due time is measured, because that is the error of the emulation.
//!
//! - [`serve`] is the body of the daemon process.
//! - [`Daemon`] starts one and ends it.
//! - [`Way::measure`] finds out what requests take outside of the daemon, which is then part of their latency.
//! - [`Control`] commands a running one: limits on and off, other limits, marks in its trace, a power cut; and reads its [`Counters`].
//!
//! The daemon locks its memory and asks for none in the path of a request that it did not have before, so that it cannot wait for dirty pages
//! to be written that only it can write. It has real-time priority where it is allowed to: a disk does not wait for a processor.

mod blocks;
mod cache;
mod control;
mod counters;
mod daemon;
mod device;
mod due;
mod error;
mod flow;
mod fuse;
#[cfg(test)]
mod it;
mod mount;
mod order;
mod process;
mod ring;
mod serve;
pub mod shaper;
mod storage;
mod switch;
mod way;
mod wire;

pub use control::Control;
pub use counters::Counters;
pub use daemon::{Daemon, DaemonProgram};
pub use error::DiskError;
pub use order::DaemonOrder;
pub use serve::serve;
pub use storage::Power;
pub use switch::RingSwitch;
pub use way::Way;
