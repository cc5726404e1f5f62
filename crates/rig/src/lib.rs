//! What needs root, in a process of its own, on typed orders.
//!
//! `plimsoll rig` makes disks, filesystems, limits and servers, lets fio measure block devices, and undoes what programs left behind. It is
//! started before the program reads anything, and takes [`Order`]s over a socket, one JSON value a line; each is answered by one line, fio
//! and clean-up by lines of progress before. All that reads files, generates load, judges and draws is on the other side of that socket and
//! needs no root: where `sudo` started the program it is the user who called it, and the workers of root are `nobody`.
//!
//! ```text
//!   plimsoll run (who called sudo)                   plimsoll rig (root)
//!     RigProcess ──── Order ───────────────────────►  serve ─► testbed, fio
//!         ▲   └────── Answer, Message ◄─────────────────┘         │
//!         │                                                       ▼
//!       worker (who called sudo, or nobody)            disks, filesystems, groups, servers
//! ```
//!
//! What it logs goes the same way, and is logged by the program.
//!
//! When the program is gone, the socket ends: `plimsoll rig` undoes everything that it has made, and ends. When `plimsoll rig` is gone, its
//! journal is found by the next one.

mod allowed;
mod client;
mod disk_task;
mod error;
pub mod fio;
mod log;
mod orders;
mod process;
pub mod testbed;

pub use crate::testbed::{Disturb, Disturbed, GroupPaths, MARK_VARIABLE, RunUser};
pub use allowed::Allowed;
pub use client::{BuiltRig, RigProcess, RigProgram};
pub use error::RigError;
pub use orders::{Built, Characterised, Order, RunningServer, TornDown, User};
pub use process::serve;
