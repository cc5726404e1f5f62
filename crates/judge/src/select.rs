//! Which runs count: the latest finished attempt of every arm in every block. All others are named.

use crate::words::counted;
use crate::{BlockOrder, Progress};
use plimsoll_plan::{Plan, PlannedRun};
use plimsoll_record::{
    ExperimentRecord, ExperimentState, PointRecord, RunRecord, RunState, Warning, WarningId,
};
use std::collections::{BTreeMap, BTreeSet};

/// The runs that count, and how far the experiment got.
pub(crate) struct Selection<'a> {
    /// For each arm of the plan: block and its latest finished attempt.
    pub(crate) finished: Vec<BTreeMap<u32, &'a RunRecord>>,
    /// For each arm of the plan: block and its attempts that were cut off before that, in their order.
    pub(crate) cut_off: Vec<BTreeMap<u32, Vec<&'a RunRecord>>>,
    /// The latest attempt of every arm and block, however it ended.
    pub(crate) latest: Vec<&'a RunRecord>,
    /// Whether looks ended the experiment before all blocks were made.
    pub(crate) ended_by_looks: bool,
    /// Runs that are missing from every comparison, with their messages.
    pub(crate) warnings: Vec<Warning>,
    pub(crate) progress: Progress,
}

impl<'a> Selection<'a> {
    /// Sorts the runs of a record by the arms of its plan.
    pub(crate) fn of(record: &'a ExperimentRecord, plan: &Plan) -> Self {
        let mut finished = vec![BTreeMap::new(); plan.arms.len()];
        let mut latest: BTreeMap<(u32, usize), &RunRecord> = BTreeMap::new();
        let mut warnings = Vec::new();
        for run in &record.runs {
            let Some(arm) = plan.arms.iter().position(|arm| arm.name == run.arm) else {
                let message = "the plan has no such arm; its runs are left out";
                let warning = Warning::new(WarningId::RunFailed, &run.arm, message);
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
                continue;
            };
            let last = latest.entry((run.block, arm)).or_insert(run);
            if run.attempt >= last.attempt {
                *last = run;
            }
            if run.state == RunState::Finished {
                let best = finished[arm].entry(run.block).or_insert(run);
                if run.attempt >= best.attempt {
                    *best = run;
                }
            }
        }

        let mut failed = 0;
        for ((block, arm), run) in &latest {
            if finished[*arm].contains_key(block) {
                continue;
            }
            let subject = format!("{}, block {}", run.arm, u64::from(*block) + 1);
            match &run.state {
                RunState::Failed { message } => {
                    failed += 1;
                    warnings.push(Warning::new(WarningId::RunFailed, subject, message));
                }
                RunState::Started | RunState::Interrupted => {
                    let is_trial = |point: &PointRecord| point.label.trial.is_some();
                    let one = match run.points.iter().any(is_trial) {
                        true => "trial",
                        false => "point",
                    };
                    let message = format!("cut off after {}", counted(run.points.len(), one));
                    warnings.push(Warning::new(WarningId::RunInterrupted, subject, message));
                }
                RunState::Finished => {}
            }
        }
        let blocks_begun = latest.keys().map(|(block, _)| block.saturating_add(1)).max();
        let ended_by_looks = record.state == ExperimentState::Finished
            && plan.measurement.looks.is_some()
            && blocks_begun.is_some_and(|begun| begun < plan.measurement.blocks);
        let mut progress = progress(plan, &finished, &latest, failed);
        if ended_by_looks {
            // Blocks that were not made are not missing.
            let is_made = |run: &&PlannedRun| blocks_begun.is_some_and(|begun| run.block < begun);
            progress.runs_planned = as_u32(plan.runs.iter().filter(is_made).count());
        }
        Self {
            cut_off: cut_off(record, plan, &finished),
            latest: latest.into_values().collect(),
            ended_by_looks,
            finished,
            warnings,
            progress,
        }
    }
}

/// Attempts that were cut off before the one that finished.
fn cut_off<'a>(
    record: &'a ExperimentRecord,
    plan: &Plan,
    finished: &[BTreeMap<u32, &'a RunRecord>],
) -> Vec<BTreeMap<u32, Vec<&'a RunRecord>>> {
    let mut cut_off = vec![BTreeMap::<u32, Vec<&RunRecord>>::new(); plan.arms.len()];
    for run in &record.runs {
        let is_cut_off = matches!(run.state, RunState::Interrupted | RunState::Started);
        let Some(arm) = plan.arms.iter().position(|arm| arm.name == run.arm) else {
            continue;
        };
        let is_before =
            finished[arm].get(&run.block).is_some_and(|finished| run.attempt < finished.attempt);
        if is_cut_off && is_before {
            cut_off[arm].entry(run.block).or_default().push(run);
        }
    }
    for runs in cut_off.iter_mut().flat_map(BTreeMap::values_mut) {
        runs.sort_by_key(|run| run.attempt);
    }
    cut_off
}

fn progress(
    plan: &Plan,
    finished: &[BTreeMap<u32, &RunRecord>],
    latest: &BTreeMap<(u32, usize), &RunRecord>,
    runs_failed: u32,
) -> Progress {
    let mut order = Vec::new();
    let blocks: BTreeSet<u32> = latest.keys().map(|(block, _)| *block).collect();
    for block in &blocks {
        let mut runs: Vec<&RunRecord> = Vec::new();
        for ((of, _), run) in latest {
            if of == block {
                runs.push(run);
            }
        }
        runs.sort_by_key(|run| run.position);
        let arms = runs.into_iter().map(|run| run.arm.clone()).collect();
        order.push(BlockOrder { block: *block, arms });
    }
    let of_block = |block: u32| plan.runs.iter().filter(move |run| run.block == block);
    let is_complete = |block: &&u32| {
        let is_finished = |run: &PlannedRun| {
            let arm = usize::try_from(run.arm).ok().and_then(|arm| finished.get(arm));
            arm.is_some_and(|arm| arm.contains_key(block))
        };
        of_block(**block).next().is_some() && of_block(**block).all(is_finished)
    };
    Progress {
        runs_planned: as_u32(plan.runs.len()),
        runs_finished: as_u32(finished.iter().map(BTreeMap::len).sum()),
        runs_failed,
        blocks_planned: plan.measurement.blocks,
        blocks_complete: as_u32(blocks.iter().filter(is_complete).count()),
        order,
        too_few_usable: None,
    }
}

/// A length as a count of 32 bits.
pub(crate) fn as_u32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
