//! YCSB's property files: Java's syntax, and what they say of records and operations.
//!
//! [`Properties`] are names with values, read from a file as Java reads it; its typed readers take numbers exactly as Java does. [`Core`] is what
//! they say of the records and the mix of operations, in the terms of `plimsoll-workload`; it is the same for `plimsoll foreign ycsb` and for an
//! experiment that names a property file.
//!
//! ```
//! use plimsoll_workload::properties::{Core, Properties};
//!
//! let file = b"recordcount=1000\nreadproportion=0.5\nupdateproportion: 0.5\nrequestdistribution=zipfian\n";
//! let properties = Properties::parse(file)?;
//! let core = Core::read("workloada", &properties, &|_| unreachable!("no file is named"))?;
//! assert_eq!(core.records, 1_000);
//! assert_eq!(core.mix.update, 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here opens a file: text comes in as bytes, and the caller reads the files that properties name.

mod core;
mod fault;
mod file;
mod typed;

pub use core::{CORE_PROPERTIES, Core};
pub use fault::{Fault, PropertyError};
pub use file::Properties;
