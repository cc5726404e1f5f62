//! Every point of every run that counts, arm by arm.

use crate::block_search::{BlockSearch, replay, trials};
use crate::gates::FOREIGN_JUDGED_NS;
use crate::roles::{follows_line, is_line, load_label};
use crate::sample::{Requirements, Sample};
use crate::select::Selection;
use plimsoll_plan::search::MixObjective;
use plimsoll_plan::{Arm, Plan};
use plimsoll_record::{Calibration, FOREIGN_INVALID, RunRecord};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct ArmSamples {
    /// Load phases, in order of blocks.
    pub(crate) load: Vec<Sample>,
    /// For each point of the plan: its samples in order of blocks. Of a search for the line those that stand for the line.
    pub(crate) points: Vec<Vec<Sample>>,
    /// For each point of the plan that searches a line: what the blocks found, in their order.
    pub(crate) searches: BTreeMap<usize, Vec<BlockSearch>>,
    /// Share of the processors that other programs used over all points together, where these are long enough to say so and it makes them invalid.
    pub(crate) foreign: Option<f64>,
}

/// Extracts and gates every point of the runs that count; one entry for each arm of the plan.
///
/// Nearly all of the time that judging takes is spent here, adding up histograms, so the arms are read side by side.
pub(crate) fn samples(
    selection: &Selection<'_>,
    plan: &Plan,
    calibrations: &[Calibration],
) -> Vec<ArmSamples> {
    let requested = &Requirements::by(plan, calibrations);
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(plan.arms.len());
        for (index, arm) in plan.arms.iter().enumerate() {
            let runs = (&selection.finished[index], &selection.cut_off[index]);
            threads.push(scope.spawn(move || ArmSamples::of(arm, runs, requested)));
        }
        let mut arms = Vec::with_capacity(threads.len());
        for thread in threads {
            arms.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        arms
    })
}

impl ArmSamples {
    /// All points of the runs of one arm: the finished ones, and those that were cut off before.
    pub(crate) fn of(
        arm: &Arm,
        (runs, cut_off): (&BTreeMap<u32, &RunRecord>, &BTreeMap<u32, Vec<&RunRecord>>),
        requested: &Requirements<'_>,
    ) -> Self {
        let mut samples = Self::default();
        let points = &requested.plan.points;
        samples.points.resize_with(points.len(), Vec::new);
        for (block, run) in runs {
            let cut_off = cut_off.get(block).map_or(&[][..], Vec::as_slice);
            samples.search_lines(arm, run, cut_off, requested);
            if let Some(load) = &run.load {
                samples.load.push(Sample::of(load, run, arm, requested));
            }
            for point in &run.points {
                let index = point.label.point.and_then(|index| usize::try_from(index).ok());
                let known = index
                    .and_then(|index| Some((points.get(index)?, samples.points.get_mut(index)?)));
                let Some((planned, of_point)) = known else {
                    continue;
                };
                if is_line(planned) {
                    continue;
                }
                // A run measures each point once.
                let is_new = of_point.last().is_none_or(|last| last.result.block != run.block);
                if is_new {
                    let mut sample = Sample::of(point, run, arm, requested);
                    if follows_line(planned) {
                        sample.label.load_label = load_label(planned);
                    }
                    of_point.push(sample);
                }
            }
        }
        samples.judge_foreign();
        samples
    }

    /// Refuses points in which other programs used too much, if they did so over all points: also those that are too short to be refused by themselves.
    fn judge_foreign(&mut self) {
        let points = self.points.iter().flatten();
        let known = points.filter_map(Sample::foreign_alone);
        let (used, elapsed_ns) = known.fold((0.0, 0), |(used, all), one| {
            (used + one.share * one.elapsed_ns as f64, all + one.elapsed_ns)
        });
        let share = used / (elapsed_ns as f64).max(1.0);
        if elapsed_ns < FOREIGN_JUDGED_NS || share < FOREIGN_INVALID {
            return;
        }
        self.foreign = Some(share);
        for sample in self.points.iter_mut().flatten() {
            if sample.foreign_alone().is_some_and(|one| one.share >= FOREIGN_INVALID) {
                sample.refuse_for_foreign(share);
            }
        }
    }

    /// Does every search of a run again.
    fn search_lines(
        &mut self,
        arm: &Arm,
        run: &RunRecord,
        cut_off: &[&RunRecord],
        requested: &Requirements<'_>,
    ) {
        let Some(objective) = requested.objective else {
            return;
        };
        let Some(search) = &objective.search else {
            return;
        };
        for (index, point) in requested.plan.points.iter().enumerate() {
            let trials = trials(cut_off, run, index);
            if !is_line(point) || trials.is_empty() {
                continue;
            }
            let Some(mix) = requested.plan.mix_of(point) else { continue };
            let aim = MixObjective { objective, mix };
            let (found, at_line) = replay(&trials, arm, requested, (aim, search), run.block);
            self.searches.entry(index).or_default().push(found);
            if let Some(mut sample) = at_line {
                sample.label.load_label = load_label(point);
                self.points[index].push(sample);
            }
        }
    }
}
