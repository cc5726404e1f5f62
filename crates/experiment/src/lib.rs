//! The experiment file: from the text that somebody writes to a checked [`Plan`] in which every value is decided.
//!
//! [`check`] reads the text (YAML) against tables of all keys, together with what surrounds it: the engines that there are, the
//! memory of the machine, the flags of the command line ([`Surroundings`]). It gives a [`Plan`], or [`Problems`]: everything that is wrong,
//! at once, each mistake underlined in the text with what to do about it. [`explain`] says what a plan would do before it is done.
//! Nothing here runs anything; the only side effects are reading a file that the experiment names, and finding out what a record takes on
//! disk where data is asked for as a share of the cache, both through functions that are handed in.
//!
//! How the types fit together: an [`EngineKind`] lists its [`Setting`]s, each of a [`SettingKind`]; a file's value for one becomes a
//! [`SettingValue`] in the [`Settings`] of an [`Arm`]. A plan has arms, mixes and [`Point`]s, the [`PlannedRun`]s in their order, what is
//! judged ([`Objective`], [`Compare`], [`Threshold`]), and the [`Origin`] of every value. What an arm stands on is its
//! [`RigSpec`](plimsoll_record::RigSpec): a disk, perhaps one of [`disk_presets`], with a filesystem, limits and a price. [`schema`] and [`reference_markdown`] describe
//! the same tables to editors and to people.
//!
//! ```
//! use plimsoll_experiment::{
//!     EngineKind, Limits, Overrides, Surroundings, cannot_measure, check, explain, read_text_file,
//! };
//! use std::path::Path;
//!
//! let engines = [EngineKind {
//!     name: "noop",
//!     about: "Returns at once.",
//!     keeps_data: false,
//!     server: None,
//!     cache_setting: None,
//!     usable_cache: 0.0,
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
mod arms;
mod catalogue;
mod check;
mod differences;
mod disk;
mod disk_words;
mod document;
mod estimate;
mod events;
mod explain;
mod format;
mod judging;
mod limits;
mod load;
mod load_format;
mod measurement;
mod mistake;
mod mixes;
mod nearest;
mod needs;
mod order;
mod plan;
mod plan_hash;
mod point_words;
mod presets;
mod problems;
mod property_file;
mod reader;
mod redaction;
mod reference;
mod rig;
mod rig_format;
mod rig_mistake;
mod scalar;
mod scales;
mod schema;
mod search;
mod server;
mod server_presets;
mod settle;
mod shape;
mod shares;
mod source;
mod sweep;
mod working_set;
mod workload;

pub use catalogue::{EngineKind, Setting, SettingKind, SettingValue, Settings};
pub use check::{Limits, Overrides, Surroundings, check, read_text_file};
pub use differences::{Difference, differences};
pub use disk::disk_by_text;
pub use events::in_words as event_in_words;
pub use explain::{ArmExplanation, PlanExplanation, explain};
pub use mistake::Mistake;
pub use needs::{Needs, needs};
pub use plan::{
    Arm, Compare, Direction, LoadAt, LoadPhase, Looks, Measurement, Metric, Objective, Order,
    Origin, PLAN_VERSION, Plan, PlannedRun, Point, PointRole, Search, Sessions, Source, Threshold,
    WorkingSet,
};
pub use plan_hash::text_hash;
pub use plimsoll_redact::redact;
pub use presets::{DiskPreset, MachinePreset, disk_presets, machine_presets};
pub use problems::{Problem, Problems};
pub use redaction::redact_json;
pub use reference::{REFERENCE_BEGIN, REFERENCE_END, reference_markdown, with_reference};
pub use rig_mistake::RigMistake;
pub use schema::{schema, schema_text};
pub use server::{is_by_uri, keeps_data_here, server_uri};
pub use shares::DataShares;
pub use working_set::{MeasureRecords, cannot_measure};
