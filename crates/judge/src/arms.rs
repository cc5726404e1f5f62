//! The arms as reports introduce them.

use crate::comparison::baselines;
use crate::rig::calibration_of;
use crate::select::Selection;
use crate::{ArmSummary, CalibrationResult, WorkingSetResult};
use plimsoll_experiment::{Arm, Plan};
use plimsoll_record::{Calibration, RunRecord};
use plimsoll_stats::median;
use std::collections::BTreeMap;

/// One entry for each arm, in the order of the file.
pub(crate) fn arms(
    plan: &Plan,
    selection: &Selection<'_>,
    calibrations: &[Calibration],
) -> Vec<ArmSummary> {
    let baselines = baselines(plan);
    let mut factors = crate::difference::factors(plan).into_iter();
    let mut arms = Vec::with_capacity(plan.arms.len());
    for (index, (arm, runs)) in plan.arms.iter().zip(&selection.finished).enumerate() {
        let engine = runs.values().find_map(|run| run.engine.as_ref());
        arms.push(ArmSummary {
            name: arm.name.clone(),
            about: arm.about.clone(),
            engine: engine.map_or_else(
                || arm.engine.clone(),
                |engine| format!("{} {}", engine.name, engine.version),
            ),
            factors: factors.next().unwrap_or_default(),
            settings: engine
                .map(|engine| engine.settings.clone())
                .unwrap_or_default(),
            records: arm.data.key_count(),
            storage: runs.values().find_map(|run| run.storage.clone()),
            baseline: baselines.contains(&index),
            made: runs.values().find_map(|run| run.rig.clone()),
            working_set: working_set(arm, runs),
            calibration: calibration_of(&arm.rig, calibrations).map(CalibrationResult::from),
            rig: arm.rig.clone(),
        });
    }
    arms
}

/// What the working set came to, where the file asks for one.
pub(crate) fn working_set(arm: &Arm, runs: &BTreeMap<u32, &RunRecord>) -> Option<WorkingSetResult> {
    let asked = arm.working_set?;
    let stored: Vec<f64> = runs
        .values()
        .filter_map(|run| run.data_bytes)
        .map(|bytes| bytes as f64)
        .collect();
    let data_bytes = median(&stored);
    let usable = asked.usable_cache_bytes as f64;
    Some(WorkingSetResult {
        asked: asked.share,
        got: data_bytes
            .filter(|_| usable > 0.0)
            .map(|bytes| bytes / usable),
        records: arm.data.key_count(),
        data_bytes,
        usable_cache_bytes: asked.usable_cache_bytes,
    })
}
