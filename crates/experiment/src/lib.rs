//! The experiment file: from the text that somebody writes to a checked [`Plan`] in which every value is decided.
//!
//! [`check`] reads the text (YAML) against tables of all keys, together with what surrounds it: the engines that there are, the
//! memory of the machine, the flags of the command line ([`Surroundings`]). It gives a [`Plan`], or [`Problems`]: everything that is wrong,
//! at once, each mistake underlined in the text with what to do about it. [`explain`] says what a plan would do before it is done.
//! Nothing here runs anything; the only side effect is reading a file that the experiment names, through a function that is handed in.
//!
//! How the types fit together: an [`EngineKind`] lists its [`Setting`]s, each of a [`SettingKind`]; a file's value for one becomes a
//! [`SettingValue`] in the [`Settings`] of an [`Arm`]. A plan has arms, mixes and [`Point`]s, the [`PlannedRun`]s in their order, what is
//! judged ([`Objective`], [`Compare`], [`Threshold`]), and the [`Origin`] of every value. [`schema`] and [`reference_markdown`] describe
//! the same tables to editors and to people. [`units`] reads and writes sizes, counts, durations, rates and shares.
//!
//! ```
//! use plimsoll_experiment::{EngineKind, Limits, Overrides, Surroundings, check, explain, read_text_file};
//! use std::path::Path;
//!
//! let engines = [EngineKind {
//!     name: "noop",
//!     about: "Returns at once.",
//!     keeps_data: false,
//!     cache_setting: None,
//!     settings: &[],
//! }];
//! let surroundings = Surroundings {
//!     base_dir: Path::new("."),
//!     engines: &engines,
//!     limits: Limits::UNKNOWN,
//!     overrides: &Overrides::default(),
//!     read_file: &read_text_file,
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

mod arms;
mod catalogue;
mod check;
mod document;
mod explain;
mod format;
mod judging;
mod load;
mod measurement;
mod mistake;
mod mixes;
mod nearest;
mod order;
mod plan;
mod plan_hash;
mod problems;
mod reader;
mod reference;
mod scalar;
mod schema;
mod settle;
mod shape;
mod source;
pub mod units;
mod workload;

pub use catalogue::{EngineKind, Setting, SettingKind, SettingValue, Settings};
pub use check::{Limits, Overrides, Surroundings, check, read_text_file};
pub use explain::{ArmExplanation, Needs, PlanExplanation, explain};
pub use mistake::Mistake;
pub use plan::{
    Arm, Compare, Direction, LoadAt, LoadPhase, Measurement, Metric, Objective, Order, Origin,
    PLAN_VERSION, Plan, PlannedRun, Point, Source, Threshold,
};
pub use plan_hash::text_hash;
pub use problems::{Problem, Problems};
pub use reference::{REFERENCE_BEGIN, REFERENCE_END, reference_markdown, with_reference};
pub use schema::{schema, schema_text};
