//! The arms as reports introduce them.

use crate::arm_samples::ArmSamples;
use crate::pairing::baselines;
use crate::rig::{calibration_of, stored, working_set};
use crate::select::Selection;
use crate::{ArmSummary, CalibrationResult, Figures};
use plimsoll_plan::{Arm, DataShares, Plan};
use plimsoll_record::{Calibration, RunRecord};
use plimsoll_stats::median;
use std::collections::BTreeMap;

/// One entry for each arm, in the order of the file.
pub(crate) fn arms(
    plan: &Plan,
    selection: &Selection<'_>,
    samples: &[ArmSamples],
    calibrations: &[Calibration],
) -> Vec<ArmSummary> {
    let baselines = baselines(plan);
    let mut factors = crate::difference::factors(plan).into_iter();
    let mut arms = Vec::with_capacity(plan.arms.len());
    let runs = selection.finished.iter().zip(samples);
    for (index, (arm, (runs, of_arm))) in plan.arms.iter().zip(runs).enumerate() {
        let engine = runs.values().find_map(|run| run.engine.as_ref());
        arms.push(ArmSummary {
            name: arm.name.clone(),
            control: arm.planted.is_some(),
            about: arm.about.clone(),
            engine: engine.map_or_else(
                || arm.engine.clone(),
                |engine| format!("{} {}", engine.name, engine.version),
            ),
            factors: factors.next().unwrap_or_default(),
            on: arm.on.clone(),
            settings: engine.map(|engine| engine.settings.clone()).unwrap_or_default(),
            records: arm.data.key_count(),
            storage: runs.values().find_map(|run| run.storage.clone()),
            baseline: baselines.contains(&index),
            made: runs.values().find_map(|run| run.rig.clone()),
            working_set: working_set(arm, runs),
            shares: shares(arm, runs, of_arm),
            calibration: calibration_of(&arm.rig, calibrations).map(CalibrationResult::from),
            rig: arm.rig.clone(),
        });
    }
    arms
}

/// What share of the data was where while it was measured, where memory is limited: by what the caches held, of all points and blocks the median.
fn shares(arm: &Arm, runs: &BTreeMap<u32, &RunRecord>, samples: &ArmSamples) -> Option<DataShares> {
    if !arm.rig.limits.is_of_memory() {
        return None;
    }
    let of_points = |figure: fn(&Figures) -> Option<f64>| {
        let points = samples.points.iter().flatten();
        let values: Vec<f64> =
            points.filter_map(|sample| figure(&sample.extract.figures)).collect();
        median(&values)
    };
    let members = arm.rig.server.as_ref().map_or(1, |server| server.members);
    DataShares::of(
        median(&stored(runs))?,
        of_points(|figures| figures.engine_cache_bytes)?,
        of_points(|figures| figures.group_page_cache_bytes)? / f64::from(members),
    )
}
