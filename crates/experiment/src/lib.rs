//! The experiment file: from its text to a checked [`Plan`](plimsoll_plan::Plan) in which every value is decided.
//!
//! [`check`] reads the text (YAML) against tables of all keys, together with its [`Surroundings`]: the available engines, the machine's memory, the
//! flags of the command line. It returns a plan, or [`Problems`]: every mistake at once, each underlined in the text with what to do about it.
//! Nothing here runs anything; the only side effects are reading a file that the experiment names, and measuring the size of a record on
//! disk where the data is a share of the cache, both through functions that are handed in.
//!
//! [`schema`] and [`reference_markdown`] describe the same tables to editors and to people. [`disk_presets`] and [`machine_presets`] are published
//! disks and machines that a file can name.
//!
//! ```
//! use plimsoll_experiment::{
//!     Limits, Overrides, Surroundings, cannot_measure, check, read_text_file,
//! };
//! use plimsoll_plan::{EngineKind, explain};
//! use std::path::Path;
//!
//! let engines = [EngineKind {
//!     name: "noop",
//!     about: "Returns at once.",
//!     keeps_data: false,
//!     server: None,
//!     cache_setting: None,
//!     usable_cache: 0.0,
//!     unfit: |_| None,
//!     settings: &[],
//! }];
//! let surroundings = Surroundings {
//!     base_dir: Path::new("."),
//!     engines: &engines,
//!     limits: Limits::UNKNOWN,
//!     overrides: &Overrides::default(),
//!     read_file: &read_text_file,
//!     measure: &cannot_measure,
//! };
//!
//! let text = "
//! plimsoll: 1
//! name: first
//! workload: {records: 100k, mixes: [a, c]}
//! defaults: {engine: noop}
//! arms: {one: , other: }
//! load: {closed: {threads: [1, 2, 4]}}
//! ";
//! let plan = check(text, "first.yaml", &surroundings)?;
//! assert_eq!(plan.points.len(), 6);
//! assert_eq!(plan.runs.len(), 16);
//! println!("{}", explain(&plan, &engines));
//!
//! let problems = check(&text.replace("threads", "treads"), "first.yaml", &surroundings).unwrap_err();
//! assert!(problems.render(false, 80).contains("did you mean `threads`?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod against_itself;
mod check;
mod controls;
pub mod document;
mod duet;
mod elements;
mod gate;
#[cfg(test)]
mod it;
mod keys;
mod mistake;
mod origins;
mod presets;
mod reference;
mod schema;
mod surroundings;
mod table;

pub use check::{check, read_text_file};
pub use document::Problems;
use document::{Collector, Reader};
pub use elements::disk::{disk_as_file, disk_by_text};
pub use elements::events::timeline_by_text;
pub use elements::working_set::{MeasureRecords, cannot_measure};
pub use mistake::Mistake;
pub use presets::{DiskPreset, MachinePreset, disk_presets, machine_presets};
pub use reference::{REFERENCE_BEGIN, REFERENCE_END, reference_markdown, with_reference};
pub use schema::{schema, schema_text};
pub use surroundings::{GateRequest, Limits, Overrides, Scouted, Surroundings};
