//! The arms as reports introduce them.

use crate::ArmSummary;
use crate::select::Selection;
use plimsoll_experiment::Plan;

/// One entry for each arm, in the order of the file.
pub(crate) fn arms(plan: &Plan, selection: &Selection<'_>, baseline: usize) -> Vec<ArmSummary> {
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
            baseline: index == baseline,
        });
    }
    arms
}
