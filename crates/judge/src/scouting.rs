//! Scouting: between which levels an axis that is to be refined is looked at more closely. What scouting runs measured chooses levels and judges nothing.

use crate::analyse::plan_of;
use crate::arm_samples::{ArmSamples, samples};
use crate::axes::{margin, rising};
use crate::effects::{Place, described, places};
use crate::select::{Selection, as_u32};
use crate::{CauseKind, JudgeError, words};
use plimsoll_plan::Plan;
use plimsoll_record::ExperimentRecord;
use plimsoll_stats::{median, steepest_step};

/// Part of a refined axis between two neighbouring levels in which something changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Bracket {
    /// Amount of the lower level.
    pub from: f64,
    /// Amount of the upper level.
    pub to: f64,
    /// What changes there, in words.
    pub what: String,
}

impl Bracket {
    /// Whether its ends are at most `refine` apart.
    #[must_use]
    pub fn is_narrow(&self, refine: f64) -> bool {
        self.to - self.from <= refine * (1.0 + 1e-9)
    }

    /// The amount at which it is divided: about its middle, whole multiples of `refine` from its lower end. `None` where it is narrow.
    #[must_use]
    pub fn middle(&self, refine: f64) -> Option<f64> {
        if self.is_narrow(refine) {
            return None;
        }
        let steps = ((self.to - self.from) / refine - 1e-9).ceil();
        Some(self.from + refine * (steps / 2.0).floor())
    }
}

/// The parts of the refined axis in which the curve of a deciding metric changes most, the cause changes, or a level of the compared factor begins or ceases to keep up
/// with its baseline; in rising order, each once for each thing that changes. `records` are scouting experiments of one file, in their order: each has the levels of
/// the one before it and more, and cells that another has measured may be missing.
///
/// # Errors
/// When a plan inside a record cannot be read.
pub fn brackets(records: &[ExperimentRecord]) -> Result<Vec<Bracket>, JudgeError> {
    let mut scouted = Scouted { rounds: Vec::new() };
    for record in records {
        let plan = plan_of(record)?;
        let arms = samples(&Selection::of(record, &plan), &plan, &record.calibrations);
        scouted.rounds.push((plan, arms));
    }
    let (Some((first, arms)), Some((plan, _))) = (scouted.rounds.first(), scouted.rounds.last())
    else {
        return Ok(Vec::new());
    };
    let levels = plan
        .refined_factor()
        .and_then(|axis| Some((axis, rising(plan, axis)?)));
    let Some((axis, levels)) = levels else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for place in places(first, arms) {
        scouted.changes_and_causes(plan, (axis, &levels), place, &mut found);
        scouted.winners(plan, (axis, &levels), place, &mut found);
    }
    found.sort_by(|left, right| left.from.total_cmp(&right.from));
    Ok(found)
}

/// What all rounds measured.
struct Scouted {
    rounds: Vec<(Plan, Vec<ArmSamples>)>,
}

impl Scouted {
    /// Median logarithm of what a cell measured, turned so that more is better.
    fn value(&self, cell: &str, (_, metric, point): Place) -> Option<f64> {
        let mut values = Vec::new();
        for (plan, arms) in &self.rounds {
            let arm = plan.arms.iter().position(|arm| arm.name == cell);
            let samples = arm.and_then(|arm| arms.get(arm)?.points.get(point));
            for sample in samples.into_iter().flatten() {
                let reading = sample.reading(metric).filter(|one| one.value > 0.0);
                values.extend(reading.map(|one| metric.direction().sign() * one.value.ln()));
            }
        }
        median(&values)
    }

    fn cause(&self, cell: &str, point: usize) -> Option<CauseKind> {
        self.rounds.iter().find_map(|(plan, arms)| {
            let arm = plan.arms.iter().position(|arm| arm.name == cell)?;
            let samples: Vec<_> = arms.get(arm)?.points.get(point)?.iter().collect();
            Some(crate::rules::cause(plan, &plan.arms[arm], &samples)?.kind)
        })
    }

    /// The cells along an axis that were measured: amount, name, value.
    fn along<'p>(
        &self,
        plan: &'p Plan,
        (axis, levels): (usize, &[(u32, f64)]),
        condition: &[u32],
        place: Place,
    ) -> Vec<(f64, &'p str, f64)> {
        let mut cells = Vec::new();
        for (level, amount) in levels {
            let mut cell = condition.to_vec();
            cell[axis] = *level;
            let name = plan.cell(&cell).map(|arm| plan.arms[arm].name.as_str());
            let value = name.and_then(|name| Some((name, self.value(name, place)?)));
            cells.extend(value.map(|(name, value)| (*amount, name, value)));
        }
        cells
    }

    fn changes_and_causes(
        &self,
        plan: &Plan,
        (axis, levels): (usize, &[(u32, f64)]),
        place: Place,
        found: &mut Vec<Bracket>,
    ) {
        for condition in plan.conditions(&[axis]) {
            let cells = self.along(plan, (axis, levels), &condition, place);
            let amounts: Vec<f64> = cells.iter().map(|cell| cell.0).collect();
            let values: Vec<f64> = cells.iter().map(|cell| cell.2).collect();
            let of = within(plan, &condition, &[axis], place);
            if let Some((step, change)) = steepest_step(&amounts, &values)
                && change.abs() >= margin(plan, place.1)
            {
                let what = format!("{} changes most{of}", words::metric(place.1));
                add(found, amounts[step], amounts[step + 1], what);
            }
            let causes: Vec<_> = cells
                .iter()
                .map(|cell| self.cause(cell.1, place.2))
                .collect();
            for (step, pair) in causes.windows(2).enumerate() {
                if let [Some(one), Some(other)] = pair
                    && one != other
                {
                    let (one, other) = (one.name(), other.name());
                    let what = format!("what limits it changes from {one} to {other}{of}");
                    add(found, amounts[step], amounts[step + 1], what);
                }
            }
        }
    }

    fn winners(
        &self,
        plan: &Plan,
        (axis, levels): (usize, &[(u32, f64)]),
        place: Place,
        found: &mut Vec<Bracket>,
    ) {
        let Some(compared) = plan.compared_factor().filter(|compared| *compared != axis) else {
            return;
        };
        let factor = &plan.factors[compared];
        let others = 0..as_u32(factor.levels.len());
        for level in others.filter(|level| *level != factor.baseline()) {
            for mut condition in plan.conditions(&[axis, compared]) {
                let of = within(plan, &condition, &[axis, compared], place);
                condition[compared] = factor.baseline();
                let theirs = self.along(plan, (axis, levels), &condition, place);
                condition[compared] = level;
                let ours = self.along(plan, (axis, levels), &condition, place);
                let mut kept_up: Vec<(f64, bool)> = Vec::new();
                for (amount, _, value) in ours {
                    let other = theirs.iter().find(|other| other.0 == amount);
                    kept_up.extend(other.map(|other| {
                        let is_behind = value - other.2 < -margin(plan, place.1);
                        (amount, !is_behind)
                    }));
                }
                for pair in kept_up.windows(2) {
                    let [(from, before), (to, after)] = pair else {
                        continue;
                    };
                    let (name, baseline) = (factor.level(level), factor.level(factor.baseline()));
                    let verb = match (before, after) {
                        (true, false) => "ceases",
                        (false, true) => "begins",
                        _ => continue,
                    };
                    let what = format!("{name} {verb} to keep up with {baseline}{of}");
                    add(found, *from, *to, what);
                }
            }
        }
    }
}

fn add(found: &mut Vec<Bracket>, from: f64, to: f64, what: String) {
    let bracket = Bracket { from, to, what };
    if !found.contains(&bracket) {
        found.push(bracket);
    }
}

/// ` (spinning-disk; mix reads)`, or nothing.
fn within(plan: &Plan, condition: &[u32], apart: &[usize], place: Place) -> String {
    let mut parts = vec![plan.condition_in_words(condition, apart)];
    if plan.mixes.len() > 1 {
        parts.push(format!("mix {}", described(plan, place).mix));
    }
    parts.retain(|part| !part.is_empty());
    match parts.is_empty() {
        true => String::new(),
        false => format!(" ({})", parts.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_divided_until_they_are_narrow() {
        let bracket = |from, to| Bracket {
            from,
            to,
            what: String::new(),
        };
        let middle = |from, to| bracket(from, to).middle(0.05);
        assert_eq!(middle(0.90, 0.95), None);
        assert_eq!(middle(0.90, 1.30), Some(0.90 + 0.05 * 4.0));
        // As narrow as asked at the latest after the steps that a division by two takes.
        let (mut from, mut to, mut divided) = (0.90, 1.30, 0);
        while let Some(middle) = bracket(from, to).middle(0.05) {
            assert!(from < middle && middle < to);
            (from, to, divided) = if divided % 2 == 0 {
                (middle, to, divided + 1)
            } else {
                (from, middle, divided + 1)
            };
        }
        assert_eq!(divided, 3);
        // A step that is no multiple leaves no more than was asked for.
        assert_eq!(middle(0.0, 0.12), Some(0.05));
        assert_eq!(middle(0.0, 0.0501), Some(0.05));
    }
}
