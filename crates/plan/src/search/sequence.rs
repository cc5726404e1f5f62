//! The points of one run, each decided by those before it.

use crate::search::{Outcome, replay};
use crate::{MOST_TRIALS, Measurement, Objective, Point, PointRole, Search, Sessions};
use plimsoll_stats::{LineStep, LineTrial, StatsError, has_bent};
use plimsoll_workload::schedule::Load;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Share of the best throughput of a closed loop at which the search for the line begins if nothing better is known.
const FIRST_OF_BEST: f64 = 0.75;

/// What is known before a run begins, from other runs of the same experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Points that another finished run measured: this run measures them too, so that blocks stay comparable.
    pub measured: Vec<u32>,
    /// By point: a rate near which the line of the same arm was found in an earlier block.
    pub near: BTreeMap<u32, f64>,
    /// By point: trials that an interrupted attempt at this run had made, in their order.
    pub trials: BTreeMap<u32, Vec<LineTrial>>,
}

/// One point to be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Index into the points of the plan.
    pub point: usize,
    /// Number of the trial, where the point is a search.
    pub trial: Option<u32>,
    /// The load, with nothing left open.
    pub load: Load,
    /// The load in words, for screens.
    pub load_label: String,
    /// Load before the point that is not counted, in nanoseconds.
    pub warm_up_ns: u64,
    /// Length of the measured part, in nanoseconds.
    pub duration_ns: u64,
    /// Ends the trial as soon as this many operations have completed.
    pub operations: Option<u64>,
}

/// The points of one run, in order.
#[derive(Clone, Debug)]
pub struct PointSequence<'a> {
    points: &'a [Point],
    measurement: &'a Measurement,
    objective: Option<&'a Objective>,
    known: &'a Known,
    /// Loads and outcomes of the measured points; a search has none.
    done: BTreeMap<usize, (Load, Outcome)>,
    /// All trials of each search, those of an interrupted attempt first.
    trials: BTreeMap<usize, Vec<LineTrial>>,
    /// The rate that was found to hold by each search that is over.
    lines: BTreeMap<usize, Option<f64>>,
    /// The point to be decided next.
    at: usize,
    requested: Option<Step>,
}

impl<'a> PointSequence<'a> {
    /// The sequence of a run through these points.
    pub fn new(
        points: &'a [Point],
        measurement: &'a Measurement,
        objective: Option<&'a Objective>,
        known: &'a Known,
    ) -> Self {
        let trials = known.trials.iter().map(|(point, trials)| (*point as usize, trials.clone()));
        Self {
            points,
            measurement,
            objective,
            known,
            done: BTreeMap::new(),
            trials: trials.collect(),
            lines: BTreeMap::new(),
            at: 0,
            requested: None,
        }
    }

    /// What to measure next; `None` when the run is over. Called again before [`Self::done`], it returns the same.
    ///
    /// # Errors
    /// When the settings of a search are out of their bounds.
    pub fn next_step(&mut self) -> Result<Option<Step>, StatsError> {
        while let Some(point) = self.points.get(self.at) {
            let step = match point.role {
                PointRole::Fixed => Some(self.step(point.load.clone())),
                PointRole::Sweep => self.wants_sweep().then(|| self.step(point.load.clone())),
                PointRole::Line => self.trial()?,
                PointRole::ShareOfLine { share } => self.share_of_line(share),
            };
            if step.is_some() {
                self.requested.clone_from(&step);
                return Ok(step);
            }
            self.at += 1;
        }
        Ok(None)
    }

    /// Takes what the point came to that was requested last.
    pub fn done(&mut self, outcome: Outcome) {
        let Some(step) = self.requested.take() else {
            return;
        };
        if step.trial.is_none() {
            self.done.insert(step.point, (step.load, outcome));
            self.at += 1;
        } else if let Load::Open { rate, .. } = step.load {
            let trial = LineTrial {
                rate,
                seconds: step.duration_ns as f64 / 1e9,
                is_good: outcome.meets_objective == Some(true),
            };
            self.trials.entry(step.point).or_default().push(trial);
        }
    }

    /// The point at hand under this load.
    fn step(&self, load: Load) -> Step {
        let load = self.with_sessions(load);
        Step {
            point: self.at,
            trial: None,
            load_label: load.to_string(),
            load,
            warm_up_ns: self.measurement.warm_up_ns,
            duration_ns: self.measurement.duration_ns,
            operations: self.measurement.operations,
        }
    }

    /// With the sessions that were found, where the point leaves them open.
    fn with_sessions(&self, mut load: Load) -> Load {
        let point = &self.points[self.at];
        if point.sessions == Sessions::Found
            && let Some((found, _)) = self.best_closed(point.mix)
            && let Load::Open { sessions, .. } | Load::Stages { sessions, .. } = &mut load
        {
            *sessions = found;
        }
        load
    }

    /// Sessions and throughput of the best point of the closed loops of a mix.
    fn best_closed(&self, mix: u32) -> Option<(u32, f64)> {
        let of_mix = self.done.iter().filter(|(index, _)| self.points[**index].mix == mix);
        let closed = of_mix.filter_map(|(_, (load, outcome))| match load {
            Load::Closed { sessions, target: None, .. } => Some((*sessions, outcome.throughput)),
            _ => None,
        });
        closed.max_by(|left, right| left.1.total_cmp(&right.1))
    }

    /// Whether the point at hand belongs to a sweep that has not bent, or was measured by another run.
    fn wants_sweep(&self) -> bool {
        let point = &self.points[self.at];
        let by_others = u32::try_from(self.at).is_ok_and(|at| self.known.measured.contains(&at));
        if by_others {
            return true;
        }
        let before: Vec<&Outcome> = self
            .done
            .iter()
            .filter(|(index, _)| is_of_sweep(&self.points[**index], point))
            .map(|(_, (_, outcome))| outcome)
            .collect();
        // A sweep that was ended is not taken up again at a later point.
        let measured_all =
            (0..self.at).filter(|index| is_of_sweep(&self.points[*index], point)).count()
                == before.len();
        let throughput: Vec<f64> = before.iter().map(|outcome| outcome.throughput).collect();
        let past_objective = before.last().is_some_and(|last| last.meets_objective == Some(false));
        measured_all && !past_objective && !has_bent(&throughput)
    }

    /// The next trial of the search at hand; `None` when it is over.
    fn trial(&mut self) -> Result<Option<Step>, StatsError> {
        if self.lines.contains_key(&self.at) {
            return Ok(None);
        }
        let Some(search) = self.objective.and_then(|objective| objective.search.as_ref()) else {
            return Ok(None);
        };
        let point = &self.points[self.at];
        let trials = self.trials.entry(self.at).or_default();
        let made = trials.len();
        let index = u32::try_from(self.at).ok();
        let near = index.and_then(|index| self.known.near.get(&index).copied());
        let rate = if trials.is_empty() {
            Some(self.first_rate(search, near))
        } else {
            let mut line = replay(search, trials)?;
            if near.is_some() {
                line = line.near();
            }
            match line.next() {
                LineStep::Try { rate } if made < MOST_TRIALS => Some(rate),
                LineStep::Try { .. } | LineStep::Done(_) => {
                    self.lines.insert(self.at, line.line().lower);
                    None
                }
            }
        };
        let Some(rate) = rate else { return Ok(None) };
        let step = self.step(at_rate(&point.load, rate));
        Ok(Some(Step {
            load_label: at_rate(&point.load, in_four_digits(rate)).to_string(),
            trial: u32::try_from(made).ok(),
            warm_up_ns: search.warm_up_ns,
            duration_ns: search.trial_ns,
            operations: None,
            ..step
        }))
    }

    /// Where the search at hand begins.
    fn first_rate(&self, search: &Search, near: Option<f64>) -> f64 {
        let point = &self.points[self.at];
        let planned = match point.load {
            Load::Open { rate, .. } => rate,
            Load::Closed { .. } | Load::Stages { .. } => search.rates.0,
        };
        let best = self.best_closed(point.mix);
        let rate = near.or(best.map(|(_, throughput)| FIRST_OF_BEST * throughput));
        rate.unwrap_or(planned).clamp(search.rates.0, search.rates.1)
    }

    /// The point at hand at a share of the line of its mix; `None` where no rate was found to hold.
    fn share_of_line(&self, share: f64) -> Option<Step> {
        let point = &self.points[self.at];
        let line = self.lines.iter().find_map(|(index, lower)| {
            (self.points[*index].mix == point.mix).then_some(*lower).flatten()
        })?;
        let step = self.step(at_rate(&point.load, share * line));
        Some(Step { load_label: share_label(share), ..step })
    }
}

/// `80 % of the line`, as the label of a point.
pub fn share_label(share: f64) -> String {
    let percent = format!("{:.2}", share * 100.0);
    let percent = percent.trim_end_matches('0').trim_end_matches('.');
    format!("{percent} % of the line")
}

/// Whether two points belong to one sweep.
fn is_of_sweep(one: &Point, other: &Point) -> bool {
    let is_closed = |point: &Point| matches!(point.load, Load::Closed { .. });
    one.role == PointRole::Sweep
        && other.role == PointRole::Sweep
        && one.mix == other.mix
        && is_closed(one) == is_closed(other)
}

/// A rate as people read it.
fn in_four_digits(rate: f64) -> f64 {
    let unit = 10.0_f64.powf(rate.log10().floor() - 3.0);
    // A tenth is no binary number: what is below one operation per second is counted in whole parts of one.
    let digits = (rate / unit).round();
    if unit < 1.0 { digits / (1.0 / unit).round() } else { digits * unit }
}

/// An open loop at another rate.
fn at_rate(load: &Load, rate: f64) -> Load {
    match load {
        Load::Open { arrivals, sessions, .. } => {
            Load::Open { rate, arrivals: *arrivals, sessions: *sessions }
        }
        other => other.clone(),
    }
}
