//! What a point comes to, slice by slice, as far as it decides what is measured next.

use crate::{Objective, OperationObjective};
use plimsoll_record::{
    Completed, Histogram, Latencies, Operation, OperationSlice, PointEnd, PointRecord, Slice,
    Status, add_units,
};
use plimsoll_workload::Mix;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a point came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Successful operations per second of the measured part.
    pub throughput: f64,
    /// Response time p99, nanoseconds; `None` where nothing succeeded.
    pub p99_ns: Option<f64>,
    /// Finished over due operations, in an open loop.
    pub achieved: Option<f64>,
    /// Whether it met the objective, where there is one.
    pub meets_objective: Option<bool>,
}

/// An objective at one mix: bounds on operations that the mix does not have do not apply.
#[derive(Clone, Copy, Debug)]
pub struct MixObjective<'a> {
    /// What counts as good service.
    pub objective: &'a Objective,
    /// The operations that are measured.
    pub mix: &'a Mix,
}

impl<'a> MixObjective<'a> {
    /// The bounds on operations of this mix.
    pub fn operations(self) -> impl Iterator<Item = &'a OperationObjective> {
        let bounds = self.objective.operations.iter();
        bounds.filter(move |bound| self.mix.share_of(bound.operation) > 0.0)
    }
}

/// A bound of the objective that a point did not keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Miss {
    /// A percentile of the response time was above its limit.
    Response {
        /// The operation that is bounded; `None`: all together.
        operation: Option<Operation>,
        /// Which percentile, from 0 to 100.
        percentile: f64,
        /// The percentile as it was measured, nanoseconds.
        value_ns: u64,
        /// The highest that is allowed, nanoseconds.
        limit_ns: u64,
    },
    /// Operations that were unfinished at the end leave the percentile unknown.
    Unfinished {
        /// The operation that is bounded; `None`: all together.
        operation: Option<Operation>,
        /// Which percentile, from 0 to 100.
        percentile: f64,
    },
    /// Nothing succeeded, so no limit is known to hold.
    Nothing {
        /// The operation that is bounded; `None`: all together.
        operation: Option<Operation>,
    },
    /// More operations failed than the objective allows.
    Errors {
        /// Share of the finished operations that failed, 0 to 1.
        share: f64,
    },
    /// Too little of the offered rate was achieved.
    Achieved {
        /// Operations that finished over those that were due.
        share: f64,
    },
}

/// How many of the operations that were unfinished at the end are expected to be of one operation: as the time that its calls took is to that of all
/// calls (Little's law). `spent` has the count and the mean time of each operation.
pub fn unfinished_of(
    operation: Operation,
    unfinished: u64,
    spent: impl Iterator<Item = (Operation, u64, f64)>,
) -> f64 {
    let (mut own, mut all) = (0.0, 0.0);
    for (of, count, mean_ns) in spent {
        let time = count as f64 * mean_ns;
        if of == operation {
            own += time;
        }
        // The parts of a read-modify-write are counted as read and update.
        if !matches!(of, Operation::ReadModifyWrite | Operation::Verify) {
            all += time;
        }
    }
    let share = if all > 0.0 { (own / all).min(1.0) } else { 1.0 };
    unfinished as f64 * share
}

/// Adds up the measured part of a point.
#[derive(Clone, Debug)]
pub struct Tally<'a> {
    aim: Option<MixObjective<'a>>,
    seconds: f64,
    completed: Completed,
    /// Response times of what succeeded.
    responses: BTreeMap<Operation, Histogram>,
}

impl<'a> Tally<'a> {
    /// An empty tally, for this objective.
    pub fn new(aim: Option<MixObjective<'a>>) -> Self {
        Self { aim, seconds: 0.0, completed: Completed::default(), responses: BTreeMap::new() }
    }

    /// All of a point that is over.
    pub fn of(point: &PointRecord, aim: MixObjective<'a>) -> Self {
        let mut tally = Self::new(Some(aim));
        for slice in &point.slices {
            tally.add(slice);
        }
        // Sums stand in the place of slices without histograms.
        if let Some(sums) = point.summed_up() {
            tally.responses.clear();
            tally.add_latencies(&sums.kept);
        }
        tally
    }

    /// Adds a slice. Those of the warm-up do not count.
    pub fn add(&mut self, slice: &Slice) {
        if slice.warm_up {
            return;
        }
        self.seconds += slice.length_ns as f64 / 1e9;
        self.completed += slice.completed;
        self.add_latencies(&slice.operations);
    }

    fn add_latencies(&mut self, operations: &[OperationSlice]) {
        for part in operations {
            if part.status == Status::Ok {
                let responses = self.responses.entry(part.operation).or_default();
                responses.merge(Latencies::response(&part.latencies));
            }
        }
    }

    /// Response times of units of work.
    fn units(&self) -> Histogram {
        let parts: Vec<(Operation, &Histogram)> =
            self.responses.iter().map(|(operation, histogram)| (*operation, histogram)).collect();
        let mut units = Histogram::new();
        add_units(&mut units, &parts);
        units
    }

    /// Whether the objective is missed already, whatever comes, in a measured part in which about this many operations are due in all.
    pub fn is_lost(&self, due: f64) -> bool {
        let Some(aim) = self.aim else {
            return false;
        };
        let most_due = most_of(due);
        if self.completed.error as f64 > aim.objective.errors * most_due {
            return true;
        }
        if is_beyond(&self.units(), &aim.objective.response, most_due) {
            return true;
        }
        aim.operations().any(|bound| {
            let most_due = most_of(due * aim.mix.share_of(bound.operation));
            let responses = self.responses.get(&bound.operation);
            responses.is_some_and(|responses| is_beyond(responses, &bound.response, most_due))
        })
    }

    /// What the trial showed about the line.
    pub fn outcome(&self, end: &PointEnd) -> Outcome {
        self.judged(end).0
    }

    /// The same with the bounds of the objective that were not kept: none where it was met, or there is none.
    pub fn judged(&self, end: &PointEnd) -> (Outcome, Vec<Miss>) {
        let mut units = self.units();
        if let Some(unfinished) = &end.unfinished {
            units.merge(unfinished);
        }
        let misses = self.aim.map(|aim| self.misses_of(aim, &units, end));
        let throughput =
            if self.seconds > 0.0 { self.completed.ok as f64 / self.seconds } else { 0.0 };
        let outcome = Outcome {
            throughput,
            p99_ns: units.percentile_ns(99.0).map(|ns| ns as f64),
            achieved: self.achieved(end),
            meets_objective: misses.as_ref().map(Vec::is_empty),
        };
        (outcome, misses.unwrap_or_default())
    }

    fn misses_of(&self, aim: MixObjective<'_>, units: &Histogram, end: &PointEnd) -> Vec<Miss> {
        let objective = aim.objective;
        let finished = self.completed.total();
        let unfinished = end.unfinished.as_ref().map_or(0, Histogram::count);
        let mut misses = Vec::new();
        if finished == 0 {
            misses.push(Miss::Nothing { operation: None });
        }
        let all = (units, finished as f64, unfinished as f64);
        late(&mut misses, None, &objective.response, all);
        for bound in aim.operations() {
            let operation = bound.operation;
            let Some(responses) = self.responses.get(&operation) else {
                misses.push(Miss::Nothing { operation: Some(operation) });
                continue;
            };
            let spent = self
                .responses
                .iter()
                .filter_map(|(of, responses)| Some((*of, responses.count(), responses.mean_ns()?)));
            let unfinished = unfinished_of(operation, unfinished, spent);
            let own = (responses, responses.count() as f64, unfinished);
            late(&mut misses, Some(operation), &bound.response, own);
        }
        if self.completed.error as f64 > objective.errors * finished as f64 {
            misses
                .push(Miss::Errors { share: self.completed.error as f64 / finished.max(1) as f64 });
        }
        if let Some(share) = self.achieved(end).filter(|share| *share < objective.achieved) {
            misses.push(Miss::Achieved { share });
        }
        misses
    }

    /// Finished over due operations, in an open loop.
    fn achieved(&self, end: &PointEnd) -> Option<f64> {
        let due = end.due.filter(|due| *due > 0)?;
        Some(self.completed.total() as f64 / due as f64)
    }
}

/// Poisson arrivals may be more than their mean.
fn most_of(due: f64) -> f64 {
    due + 4.0 * due.max(1.0).sqrt()
}

/// Whether more is above one of the limits than may be of the most that can be due.
fn is_beyond(responses: &Histogram, limits: &[(f64, u64)], most_due: f64) -> bool {
    limits.iter().any(|(percentile, limit_ns)| {
        let above: u64 = responses
            .buckets()
            .filter(|(value_ns, _)| *value_ns > *limit_ns)
            .map(|(_, count)| count)
            .sum();
        // A bucket holds values that differ by a thousandth; a whole percent more is certain.
        above as f64 > 1.01 * (1.0 - percentile / 100.0) * most_due + 1.0
    })
}

/// Adds the limits that do not hold for these responses, or are not known to.
///
/// Operations that were due and unfinished at the end took longer than is known: where a percentile lies among them it is no evidence that a limit holds.
fn late(
    misses: &mut Vec<Miss>,
    operation: Option<Operation>,
    limits: &[(f64, u64)],
    (responses, finished, unfinished): (&Histogram, f64, f64),
) {
    for (percentile, limit_ns) in limits {
        let (percentile, limit_ns) = (*percentile, *limit_ns);
        match responses.percentile_ns(percentile) {
            None => misses.push(Miss::Nothing { operation }),
            Some(value_ns) if value_ns > limit_ns => {
                misses.push(Miss::Response { operation, percentile, value_ns, limit_ns });
            }
            Some(_) if unfinished > (1.0 - percentile / 100.0) * (finished + unfinished) => {
                misses.push(Miss::Unfinished { operation, percentile });
            }
            Some(_) => {}
        }
    }
}
