//! The experiment file: parse, check, explain, plan.

mod catalogue;
mod plan;
pub mod units;

pub use catalogue::{EngineKind, Setting, SettingKind, SettingValue, Settings};
pub use plan::{
    Arm, Compare, Direction, LoadAt, LoadPhase, Measurement, Metric, Objective, Order, Origin, PLAN_VERSION,
    Plan, PlannedRun, Point, Source, Threshold,
};
