//! The plan: a checked experiment in which every value is decided, with the origin of each.
//!
//! The crates that run, search, judge and show experiments depend on this one, not on the file format: it knows neither YAML nor positions in a text.
//!
//! How the types fit together: an [`EngineKind`] lists its [`Setting`]s, each of a [`SettingKind`]; their values are the [`Settings`] of an [`Arm`].
//! A [`Plan`] has [`Factor`]s whose combinations are its arms, or just arms, mixes and [`Point`]s, the [`PlannedRun`]s in their order, what is judged ([`Objective`], [`Compare`], [`Threshold`]), and the
//! [`Origin`] of every value. An arm runs on its [`RigSpec`](plimsoll_record::RigSpec). [`Plan::hash`] identifies what is measured, [`differences`]
//! compares two arms, [`needs`] estimates time, disk and memory, and [`explain`] shows all of it before anything runs.
//!
//! ```
//! use plimsoll_plan::{Order, planned_runs};
//!
//! let runs = planned_runs(2, 8, Order::Shuffled, 42);
//! assert_eq!(runs.len(), 16);
//! // All arms of a block have its seed; more blocks leave the earlier ones as they are.
//! assert_eq!(runs[0].seed, runs[1].seed);
//! assert_eq!(planned_runs(2, 9, Order::Shuffled, 42)[..16], runs);
//! ```

#![deny(missing_docs)]

mod catalogue;
mod cautions;
pub mod design;
mod differences;
pub mod estimate;
mod explain;
mod explained_arm;
mod factors;
mod grid;
mod hash;
mod host;
mod metric;
mod needs;
mod order;
mod pairs;
mod plan;
mod plan_parts;
mod point_words;
mod power_cuts;
mod redaction;
pub mod search;
mod server;
mod server_presets;
mod shares;
pub mod words;

pub use catalogue::{EngineKind, Setting, Settings, Unfit};
pub use cautions::{JUDGED_FROM_NS, lacks_flush_cost, lacks_latency};
pub use differences::{Difference, differences};
pub use explain::{PlanExplanation, explain};
pub use explained_arm::ArmExplanation;
pub use factors::{Design, Factor, Level, Quantity};
pub use grid::{FactorExplanation, GridExplanation};
pub use hash::{sha256, sha256_of};
pub use host::{CONTROLLER, HostRole, HostSpec, HostWay};
pub use metric::{Direction, Metric, percentile, table_percentile};
pub use needs::{MOST_TRIALS, Needs, inserted_at, needs, not_loaded_once};
pub use order::{duet_runs, folded_runs, planned_runs};
pub use plan::{
    Arm, Caches, Checkpoints, Compare, END_TIMEOUT_NS, Gate, LoadAt, LoadPhase, Looks, Measurement,
    Objective, OperationObjective, Order, Origin, PLAN_VERSION, Pairing, Plan, PlannedRun, Point,
    PointRole, Search, Sessions, Source, Threshold, WorkingSet,
};
pub use plimsoll_record::quantities::setting::{SettingKind, SettingValue};
pub use power_cuts::{PlannedCut, power_cuts};
pub use redaction::redact_json;
pub use server::{
    URI, is_by_uri, keeps_data_here, measures_existing, server_uri, standing_alone, uri_variables,
};
pub use server_presets::{
    ReplicaSetPreset, ServerPreset, ServerSetting, server_preset, server_presets,
};
pub use shares::DataShares;
