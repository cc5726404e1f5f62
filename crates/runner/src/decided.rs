//! What earlier runs of an experiment decided, as far as a later one has to know it.

use plimsoll_plan::search::{Known, MixObjective, replay, trial};
use plimsoll_plan::{Plan, PlannedRun, PointRole};
use plimsoll_record::{ExperimentRecord, PointLabel, PointRecord, RunState};
use plimsoll_stats::LineTrial;
use std::collections::{BTreeMap, BTreeSet};

/// Trials of one run by point, in their order.
type Trials = BTreeMap<u32, Vec<LineTrial>>;

/// What is known of all runs so far.
pub(crate) struct Decided<'a> {
    plan: &'a Plan,
    /// Points that some finished run measured.
    measured: BTreeSet<u32>,
    /// By arm and point: a rate near which the line was found last.
    near: BTreeMap<(u32, u32), f64>,
    /// By block and arm: trials of attempts that were interrupted.
    interrupted: BTreeMap<(u32, u32), Trials>,
}

impl<'a> Decided<'a> {
    /// What a record that is continued already knows. Without points that a run decides, nothing needs to be known.
    pub(crate) fn of(plan: &'a Plan, record: Option<&ExperimentRecord>) -> Self {
        let mut decided = Self {
            plan,
            measured: BTreeSet::new(),
            near: BTreeMap::new(),
            interrupted: BTreeMap::new(),
        };
        let mut runs: Vec<_> = record.iter().flat_map(|record| &record.runs).collect();
        runs.sort_by_key(|run| (run.block, run.attempt));
        for run in runs {
            let Some(planned) = plan.runs.iter().find(|planned| {
                planned.block == run.block && plan.arms[planned.arm as usize].name == run.arm
            }) else {
                continue;
            };
            let mut made = RunResults::default();
            for point in &run.points {
                made.point(plan, point);
            }
            match run.state {
                RunState::Finished => decided.finished(planned, made),
                RunState::Interrupted | RunState::Started => {
                    let trials =
                        decided.interrupted.entry((planned.block, planned.arm)).or_default();
                    for (point, of_point) in made.trials {
                        trials.entry(point).or_default().extend(of_point);
                    }
                }
                RunState::Failed { .. } => {}
            }
        }
        decided
    }

    /// Whether the plan leaves anything open.
    pub(crate) fn is_needed(plan: &Plan) -> bool {
        plan.points.iter().any(|point| point.role != PointRole::Fixed)
    }

    /// What this run has to know.
    pub(crate) fn known(&self, run: &PlannedRun) -> Known {
        let of_arm = self.near.iter().filter(|((arm, _), _)| *arm == run.arm);
        let trials = self.interrupted.get(&(run.block, run.arm));
        Known {
            measured: self.measured.iter().copied().collect(),
            near: of_arm.map(|((_, point), rate)| (*point, *rate)).collect(),
            trials: trials.cloned().unwrap_or_default(),
        }
    }

    /// Takes what a run measured that is finished.
    pub(crate) fn finished(&mut self, run: &PlannedRun, made: RunResults) {
        self.measured.extend(made.measured);
        let Some(search) = self.plan.objective.as_ref().and_then(|objective| objective.search)
        else {
            return;
        };
        let mut trials = self.interrupted.get(&(run.block, run.arm)).cloned().unwrap_or_default();
        for (point, of_point) in made.trials {
            trials.entry(point).or_default().extend(of_point);
        }
        for (point, of_point) in trials {
            let line = replay(&search, &of_point).map(|line| line.line());
            if let Some(rate) = line.ok().and_then(|line| line.lower.or(line.upper)) {
                self.near.insert((run.arm, point), rate);
            }
        }
    }
}

#[derive(Default)]
pub(crate) struct RunResults {
    measured: BTreeSet<u32>,
    trials: Trials,
    /// The point that is being measured.
    point: Option<PointRecord>,
}

impl RunResults {
    /// A point of the plan begins.
    pub(crate) fn begins(&mut self, label: &PointLabel, warm_up_ns: u64) {
        self.point = Some(PointRecord {
            label: label.clone(),
            warm_up_ns,
            started_at: String::new(),
            slices: Vec::new(),
            end: None,
        });
    }

    /// Takes a slice of a trial; of other points it is not needed.
    pub(crate) fn slice(&mut self, slice: &plimsoll_record::Slice) {
        if let Some(point) = &mut self.point
            && point.label.trial.is_some()
            && !slice.warm_up
        {
            point.slices.push(slice.clone());
        }
    }

    pub(crate) fn ends(&mut self, plan: &Plan, end: &plimsoll_record::PointEnd) {
        if let Some(mut point) = self.point.take() {
            point.end = Some(end.clone());
            self.point(plan, &point);
        }
    }

    fn point(&mut self, plan: &Plan, point: &PointRecord) {
        let Some(index) = point.label.point else {
            return;
        };
        let Some(end) = &point.end else { return };
        if point.label.trial.is_none() {
            if !end.cut_short {
                self.measured.insert(index);
            }
            return;
        }
        let planned = usize::try_from(index).ok().and_then(|index| plan.points.get(index));
        let mix = planned.and_then(|planned| plan.mix_of(planned));
        let objective = plan.objective.as_ref();
        let search = objective.and_then(|objective| objective.search.as_ref());
        if let (Some(objective), Some(mix), Some(search)) = (objective, mix, search)
            && let Some(trial) = trial(point, MixObjective { objective, mix }, search)
        {
            self.trials.entry(index).or_default().push(trial);
        }
    }
}
