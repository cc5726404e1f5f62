//! What a Plimsoll benchmark asks: operations, keys, records; pure and seeded.
//!
//! This is YCSB's core workload with 64-bit numbers and with every random draw from one recorded seed, so that the same experiment asks the
//! same things again. Nothing here has a socket, a thread, a clock or a file.
//!
//! A [`DataSpec`] describes the records, a [`Mix`] the operations; both are plain data that can list what is wrong with them. A [`KeySpace`]
//! is made from the data and lasts as long as the database does. It gives a [`Loader`] for the load phase and one [`Workload`] for each point.
//! From these each session takes an [`OpGenerator`] of its own, which holds all the buffers it needs and gives one [`Ask`] after the other without
//! allocating: with [`OpGenerator::next`] in a closed loop, with [`OpGenerator::at`] in an open one.
//!
//! Several load hosts can generate one workload: each makes its key space with its own [`Share`](crate::schedule::Share)
//! ([`KeySpace::with_share`]).
//!
//! ```
//! use plimsoll_workload::{Ask, DataSpec, KeySpace, Mix, Workload};
//! use std::sync::Arc;
//!
//! let key_space = KeySpace::new(&DataSpec::with_records(1_000))?;
//! let mut load = key_space.loader(42).generator(0);
//! let mut loaded = 0;
//! while let Some(Ask::Insert { key, fields, .. }) = load.next() {
//!     assert!(key.starts_with(b"user"));
//!     assert_eq!(fields.value_bytes(), 1_000);
//!     loaded += 1;
//! }
//! assert_eq!(loaded, 1_000);
//!
//! let mix = Mix::preset("d").expect("d is a preset");
//! let workload = Arc::new(Workload::new(&key_space, &mix, 42, None)?);
//! let mut generator = workload.generator(0);
//! for _ in 0..100 {
//!     let mut inserted = None;
//!     match generator.next() {
//!         Ask::Read { key, .. } => assert!(key.starts_with(b"user")),
//!         Ask::Insert { number, .. } => inserted = Some(number),
//!         other => unreachable!("workload d has no {other:?}"),
//!     }
//!     if let Some(number) = inserted {
//!         generator.acknowledge(number);
//!     }
//! }
//! assert!(key_space.records() > 1_000);
//! # Ok::<(), plimsoll_workload::WorkloadError>(())
//! ```
//!
//! # Where it differs from YCSB
//!
//! Counts and key numbers have 64 bits everywhere. Records follow from the seed and their key number. The window of unacknowledged inserts has
//! no end. Random lengths and choices use the same laws but other random numbers; keys, hashes, value bytes and the Zipfian formulas are the same
//! to the bit. Proportions are normalised before the number of inserts is predicted from them.

#![deny(missing_docs)]

#[cfg(test)]
mod allocation;
mod ask;
mod chooser;
mod counter;
mod data;
pub mod documents;
mod generator;
mod harmonic;
mod hash;
mod histogram;
mod inserted;
mod integrity;
mod key;
mod keyspace;
#[cfg(test)]
mod law;
mod length;
mod loader;
mod mix;
mod operation;
mod problem;
pub mod properties;
#[cfg(test)]
mod questions;
mod record;
mod remainder;
pub mod schedule;
#[cfg(test)]
mod shares;
mod stream;
mod value;
mod workload;
mod zipfian;

pub use ask::{
    Ask, CollectionOrder, CommandProbes, CommandSamples, Expected, FieldChoice, Fields, Growth,
    NewDocuments, Sequence, SequenceEnd, SequencePart, Statement,
};
pub use counter::{AcknowledgedCounter, Counter};
pub use data::{DataSpec, FieldLength};
pub use generator::OpGenerator;
pub use hash::fnv_hash;
pub use histogram::HistogramError;
pub use integrity::{Verification, Verifier};
pub use key::{KeyOrder, KeyText};
pub use keyspace::KeySpace;
pub use loader::{InsertGenerator, Loader};
pub use mix::{Mix, RequestDistribution, ScanDistribution, ScanLength};
pub use problem::{Problem, WorkloadError, Wrong};
pub use stream::Stream;
pub use workload::Workload;
pub use zipfian::{ScrambledZipfian, SkewedLatest, Zipfian};
