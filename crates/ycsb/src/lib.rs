//! The drop-in for YCSB: its command line, its properties, its report and its status lines, over Plimsoll's engines and load generator.
//!
//! [`Command`] reads a command line in YCSB's grammar with its property files; [`execute`] carries it out. What it prints is accepted line by line by
//! whatever reads YCSB's output. [`PROPERTIES`] lists every property that is known and what becomes of it; `docs/ycsb.md` says where this differs from
//! YCSB, and why.
//!
//! ```text
//! words, files ─► Command ─► Settings, Plan ─► sessions with a Watcher each ─► Reporter ─► status lines, HDR logs
//!                                                                                  └─► Totals ─► report
//! ```
//!
//! ```
//! use plimsoll_ycsb::{Command, Phase};
//!
//! let words = ["basic", "-P", "mine", "-threads", "4"].map(str::to_owned);
//! let command = Command::read("load", &words, &|_| Ok(b"recordcount=1000".to_vec()))?;
//! assert_eq!(command.phase, Phase::Load);
//! assert_eq!(command.properties.get("threadcount"), Some("4"));
//! # Ok::<(), plimsoll_ycsb::CommandError>(())
//! ```

// All output goes through `talk` and `say`.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod address;
mod basic;
mod binding;
mod catalogue;
mod command;
mod error;
mod execute;
mod exporter;
mod hdr_log;
mod kept;
mod metric;
mod number;
mod order;
mod report;
mod reporter;
mod settings;
mod status;
mod talk;
mod tally;
mod watcher;

pub use catalogue::{KnownProperty, PROPERTIES, Treatment};
pub use command::{Binding, Command, CommandError, Phase, USAGE};
pub use error::YcsbError;
pub use execute::{Ended, Surroundings, execute};

/// Bytes of a property file, or of a file that a property names.
pub const MOST_OF_A_FILE: u64 = 16 << 20;
