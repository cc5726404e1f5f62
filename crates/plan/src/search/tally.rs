//! What a point comes to, slice by slice, as far as it decides what is measured next.

use crate::Objective;
use plimsoll_record::{
    Completed, Histogram, Latencies, Operation, PointEnd, Slice, Status, add_units,
};
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

/// Adds up the measured part of a point.
#[derive(Clone, Debug)]
pub struct Tally<'a> {
    objective: Option<&'a Objective>,
    seconds: f64,
    completed: Completed,
    /// Response times of what succeeded.
    responses: BTreeMap<Operation, Histogram>,
}

impl<'a> Tally<'a> {
    /// Nothing yet, to be held against this objective.
    pub fn new(objective: Option<&'a Objective>) -> Self {
        Self {
            objective,
            seconds: 0.0,
            completed: Completed::default(),
            responses: BTreeMap::new(),
        }
    }

    /// Adds a slice. Those of the warm-up do not count.
    pub fn add(&mut self, slice: &Slice) {
        if slice.warm_up {
            return;
        }
        self.seconds += slice.length_ns as f64 / 1e9;
        self.completed += slice.completed;
        for part in &slice.operations {
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
        let Some(objective) = self.objective else {
            return false;
        };
        // Poisson arrivals may be more than their mean.
        let most_due = due + 4.0 * due.max(1.0).sqrt();
        if self.completed.error as f64 > objective.errors * most_due {
            return true;
        }
        let units = self.units();
        objective.response.iter().any(|(percentile, limit_ns)| {
            let above: u64 = units
                .buckets()
                .filter(|(value_ns, _)| *value_ns > *limit_ns)
                .map(|(_, count)| count)
                .sum();
            // A bucket holds values that differ by a thousandth; a whole percent more is certain.
            above as f64 > 1.01 * (1.0 - percentile / 100.0) * most_due + 1.0
        })
    }

    /// What the trial showed about the line.
    pub fn outcome(&self, end: &PointEnd) -> Outcome {
        let mut units = self.units();
        if let Some(unfinished) = &end.unfinished {
            units.merge(unfinished);
        }
        let finished = self.completed.total();
        let achieved = end.due.filter(|due| *due > 0).map(|due| finished as f64 / due as f64);
        let percentile = |percentile: f64| units.percentile_ns(percentile).map(|ns| ns as f64);
        let throughput =
            if self.seconds > 0.0 { self.completed.ok as f64 / self.seconds } else { 0.0 };
        let meets_objective = self.objective.map(|objective| {
            let in_time = objective.response.iter().all(|(requested, limit_ns)| {
                percentile(*requested).is_some_and(|value_ns| value_ns <= *limit_ns as f64)
            });
            in_time
                && finished > 0
                && self.completed.error as f64 <= objective.errors * finished as f64
                && achieved.is_none_or(|achieved| achieved >= objective.achieved)
                && self.unfinished_is_within(objective, end)
        });
        Outcome { throughput, p99_ns: percentile(99.0), achieved, meets_objective }
    }

    /// Operations that were due and unfinished at the end took longer than is known: where a percentile lies among them it is no evidence that a limit holds.
    fn unfinished_is_within(&self, objective: &Objective, end: &PointEnd) -> bool {
        let unfinished = end.unfinished.as_ref().map_or(0, Histogram::count) as f64;
        let all = self.completed.total() as f64 + unfinished;
        objective
            .response
            .iter()
            .all(|(percentile, _)| unfinished <= (1.0 - percentile / 100.0) * all)
    }
}
