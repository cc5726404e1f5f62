//! The experiment file: parse, check, explain, plan.

mod arms;
mod catalogue;
mod check;
mod document;
mod format;
mod judging;
mod load;
mod measurement;
mod mistake;
mod order;
mod plan;
mod plan_hash;
mod problems;
mod reader;
mod settle;
mod shape;
mod source;
pub mod units;
mod workload;

pub use catalogue::{EngineKind, Setting, SettingKind, SettingValue, Settings};
pub use check::{Limits, Overrides, Surroundings, check, read_text_file};
pub use mistake::Mistake;
pub use plan::{
    Arm, Compare, Direction, LoadAt, LoadPhase, Measurement, Metric, Objective, Order, Origin,
    PLAN_VERSION, Plan, PlannedRun, Point, Source, Threshold,
};
pub use problems::{Problem, Problems};
