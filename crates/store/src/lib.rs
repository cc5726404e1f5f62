//! Where records are kept and found again: one SQLite file.
//!
//! A [`Store`] writes an experiment down piece by piece while it is being measured, so that a program killed at any moment loses
//! nothing but the slice it was in, and gives back whole [`ExperimentRecord`](plimsoll_record::ExperimentRecord)s later. It knows
//! nothing of statistics.
//!
//! ```text
//! begin ─► begin_run ─► begin_load ──► add_slice … ─► end_point
//!   │          │        begin_point ─► add_slice … ─► end_point …
//!   │          └ update_run, at any time and at its end
//!   └ finish                          resume, revise: after an interruption, instead of begin
//!
//! list, load, find_unfinished, delete, import
//! follow ─► news … : what another program writes, as it comes; version: whether anything is new
//! ```
//!
//! **Durability.** Each call is one transaction in a write-ahead log. It outlives the death of the program. It is not forced to the
//! disk before the point is over, because the disk is what is being measured: nothing is flushed while a point runs, and everything is
//! when it ends. So a power cut can cost the point that was running, and damages nothing.
//!
//! **One worker for each experiment.** [`Store::begin`] and [`Store::resume`] take the experiment for this store until
//! [`Store::finish`], or until the program ends, however it ends. Another program that wants to resume it meanwhile gets
//! [`StoreError::Busy`]. Reading is always possible.
//!
//! **For its owner alone.** All files are made so, and those of earlier versions become so when they are opened for writing. No symbolic link
//! is followed but on the way to the folder. Root writes only where no other user can put something in the place of what it writes
//! ([`OwnFolder`](plimsoll_record::files::OwnFolder)); a store elsewhere it reads without writing.
//!
//! **Versions.** The file says which program it belongs to (`application_id`) and which schema it has (`user_version`). Older schemas
//! are brought forward when the store is opened, later ones are refused, and so is any file that is something else.
//!
//! ```
//! use plimsoll_record::{ExperimentRecord, ExperimentState, Machine, Program};
//! use plimsoll_store::Store;
//!
//! let directory = tempfile::tempdir()?;
//! let mut store = Store::open(&directory.path().join("plimsoll.db"))?;
//! let id = store.begin(&ExperimentRecord {
//!     plimsoll_record: plimsoll_record::RECORD_VERSION,
//!     id: String::new(), // the store chooses one
//!     name: "cache size".to_owned(),
//!     question: None,
//!     state: ExperimentState::Unfinished,
//!     file_text: String::new(),
//!     file_hash: String::new(),
//!     plan_hash: "5a0b".to_owned(),
//!     plan: serde_json::json!({ "arms": [{ "name": "small" }, { "name": "large" }], "runs": [] }),
//!     seed: 1,
//!     program: Program::default(),
//!     machine: Machine::default(),
//!     command: "plimsoll run cache.yaml".to_owned(),
//!     started_at: "2026-11-21T03:44:00Z".to_owned(),
//!     ended_at: None,
//!     calibrations: Vec::new(),
//!     runs: Vec::new(),
//! })?;
//! store.finish(&id, "2026-11-21T03:48:00Z")?;
//!
//! assert_eq!(store.list(&Default::default())?[0].arms, ["small", "large"]);
//! assert_eq!(store.load("cache size")?.id, id);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blob;
pub mod bundle;
mod claim;
mod error;
mod follow;
mod holder;
#[cfg(test)]
mod it;
mod open;
mod place;
mod read;
mod rows;
mod schema;
mod write;

pub use error::StoreError;
pub use follow::{Following, NewPoint, News, PointKey, RunKey, Version};
pub use holder::Holder;
pub use open::Store;
pub use read::{Filter, Summary};
pub use write::{PointId, RunId};
