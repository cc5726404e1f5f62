//! The program as its users meet it: the real binary, real files, its own store and data directories for each test.
//!
//! Nothing here depends on how fast the machine is: where a test must catch the program at a certain moment, it asks the store until
//! that moment is there, and tries again when it came too late. Tests that need root, or a build with WiredTiger, say so.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but sees only functions that are tests themselves"
)]

#[cfg(feature = "wiredtiger")]
mod attacks;
#[cfg(feature = "wiredtiger")]
mod controls;
mod deciding;
mod disks;
#[cfg(feature = "wiredtiger")]
mod duets;
mod ending;
mod exports;
mod factors;
mod gate;
#[cfg(all(feature = "mongodb", feature = "wiredtiger"))]
mod grafana;
mod history;
mod hostile;
mod hosts;
#[cfg(feature = "mongodb")]
mod imitate;
mod import;
#[cfg(all(feature = "mongodb", feature = "wiredtiger"))]
mod init;
#[cfg(feature = "wiredtiger")]
mod kernel;
#[cfg(feature = "wiredtiger")]
mod killing;
#[cfg(all(feature = "mongodb", feature = "wiredtiger"))]
mod killing_hosts;
mod laboratory;
mod logging;
mod mistakes;
mod mounted;
mod places;
mod power_cuts;
mod published;
mod quiet;
mod records;
mod resume;
#[cfg(feature = "wiredtiger")]
mod rights;
mod screens;
mod seconds;
#[cfg(feature = "mongodb")]
mod servers;
mod serving;
mod stores;
mod untrusted;
mod whole;
mod ycsb;
