//! Scouting: the levels between which an axis is refined. What scouting runs measured chooses levels and judges nothing.

use crate::analyse::plan_of;
use crate::arm_samples::{ArmSamples, samples};
use crate::axes::{margin, rising};
use crate::effects::{Place, described, places};
use crate::sample::Sample;
use crate::select::{Selection, as_u32};
use crate::{CauseKind, JudgeError, words};
use plimsoll_plan::Plan;
use plimsoll_record::ExperimentRecord;
use plimsoll_stats::{median, steepest_step};
use std::collections::BTreeMap;

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
    pub fn is_narrow(&self, refine: f64) -> bool {
        self.to - self.from <= refine * (1.0 + 1e-9)
    }

    /// The amount at which it is divided, about its middle: so that equal parts, as few as are narrow, lie on both sides, to a tenth of `refine`. `None` where it is narrow.
    pub fn middle(&self, refine: f64) -> Option<f64> {
        if self.is_narrow(refine) {
            return None;
        }
        let steps = ((self.to - self.from) / refine - 1e-9).ceil();
        let before = (self.to - self.from) * (steps / 2.0).floor() / steps;
        let grain = refine / 10.0;
        Some(self.from + (before / grain).round() * grain)
    }
}

/// The parts of the refined axis in which the curve of a deciding metric changes most, the cause changes, or a level of the compared factor begins or ceases to keep up
/// with its baseline; in rising order, each once for each thing that changes. `records` are scouting experiments of one file, in their order: each has the levels of
/// the one before it and more, and cells that another has measured may be missing.
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
    let levels = plan.refined_factor().and_then(|axis| Some((axis, rising(plan, axis)?)));
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

struct Scouted {
    rounds: Vec<(Plan, Vec<ArmSamples>)>,
}

impl Scouted {
    /// What a cell measured at a point, each round beside its plan and the cell's arm there.
    fn cell(&self, cell: &str, point: usize) -> impl Iterator<Item = (&Plan, usize, &[Sample])> {
        let rounds = self.rounds.iter();
        let name = cell.to_owned();
        rounds.filter_map(move |(plan, arms)| {
            let arm = plan.arms.iter().position(|arm| arm.name == name)?;
            let samples = arms.get(arm)?.points.get(point)?;
            Some((plan, arm, samples.as_slice()))
        })
    }

    /// Logarithms of what a cell measured in each block, turned so that more is better.
    fn values(&self, cell: &str, (_, metric, point): Place) -> BTreeMap<u32, f64> {
        let samples = self.cell(cell, point).flat_map(|(_, _, samples)| samples);
        let values = samples.filter_map(|sample| {
            let reading = sample.reading(metric).filter(|one| one.value > 0.0)?;
            Some((sample.result.block, metric.direction().sign() * reading.value.ln()))
        });
        values.collect()
    }

    /// What limits a cell; `None` where it is not known.
    fn cause(&self, cell: &str, point: usize) -> Option<CauseKind> {
        let causes = self.cell(cell, point).filter_map(|(plan, arm, samples)| {
            let samples: Vec<_> = samples.iter().collect();
            Some(crate::rules::cause(plan, &plan.arms[arm], &samples)?.kind)
        });
        causes.filter(|kind| *kind != CauseKind::Unknown).last()
    }

    /// The cells along an axis that were measured: amount, name, and the values of their blocks.
    fn along<'p>(
        &self,
        plan: &'p Plan,
        (axis, levels): (usize, &[(u32, f64)]),
        condition: &[u32],
        place: Place,
    ) -> Vec<(f64, &'p str, BTreeMap<u32, f64>)> {
        let mut cells = Vec::new();
        for (level, amount) in levels {
            let mut cell = condition.to_vec();
            cell[axis] = *level;
            let name = plan.cell(&cell).map(|arm| plan.arms[arm].name.as_str());
            let values = name.map(|name| (name, self.values(name, place)));
            let measured = values.filter(|(_, values)| !values.is_empty());
            cells.extend(measured.map(|(name, values)| (*amount, name, values)));
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
            let medians = cells.iter().filter_map(|cell| {
                let values: Vec<f64> = cell.2.values().copied().collect();
                median(&values)
            });
            let values: Vec<f64> = medians.collect();
            let of = within(plan, &condition, &[axis], place);
            if let Some((step, change)) = steepest_step(&amounts, &values)
                && change.abs() >= margin(plan, place.1)
            {
                let what = format!("{} changes most{of}", words::metric(place.1));
                add(found, amounts[step], amounts[step + 1], what);
            }
            let causes: Vec<_> =
                cells.iter().map(|cell| (cell.0, self.cause(cell.1, place.2))).collect();
            for turn in turns(&causes, |one, other| one != other) {
                let (one, other) = (turn.before.name(), turn.after.name());
                let what = format!("what limits it changes from {one} to {other}{of}");
                add(found, turn.from, turn.to, what);
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
                let mut standings = Vec::new();
                for (amount, _, values) in ours {
                    let other = theirs.iter().find(|other| other.0 == amount);
                    let standing = other
                        .map(|other| CellStanding::of(&values, &other.2, margin(plan, place.1)));
                    standings.extend(standing.map(|standing| (amount, standing)));
                }
                let (name, baseline) = (factor.level(level), factor.level(factor.baseline()));
                for (from, to, keeps_up) in changes_of_standing(&standings) {
                    let verb = if keeps_up { "begins" } else { "ceases" };
                    let what = format!("{name} {verb} to keep up with {baseline}{of}");
                    add(found, from, to, what);
                }
            }
        }
    }
}

/// How a cell stands against the baseline beside it, over the blocks that have both.
#[derive(Clone, Copy, Debug)]
struct CellStanding {
    /// Whether it keeps up with it; `None` where the blocks do not agree.
    keeps_up: Option<bool>,
    /// Median difference, as a logarithm.
    difference: f64,
    /// From the smallest difference to the largest.
    range: f64,
}

impl CellStanding {
    fn of(ours: &BTreeMap<u32, f64>, theirs: &BTreeMap<u32, f64>, margin: f64) -> Self {
        let differences = ours.iter().filter_map(|(block, value)| Some(value - theirs.get(block)?));
        let differences: Vec<f64> = differences.collect();
        let smallest = differences.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self {
            keeps_up: match () {
                () if differences.is_empty() => None,
                () if smallest >= -margin => Some(true),
                () if largest < -margin => Some(false),
                () => None,
            },
            difference: median(&differences).unwrap_or(0.0),
            range: largest - smallest,
        }
    }
}

/// Between which neighbouring amounts a cell begins (`true`) or ceases to keep up: all blocks agree on both sides, and it changes by more than the blocks of either side
/// differ. Two blocks of noise alone would too often say that something changes.
fn changes_of_standing(standings: &[(f64, CellStanding)]) -> Vec<(f64, f64, bool)> {
    let states: Vec<_> = standings
        .iter()
        .map(|(amount, standing)| (*amount, standing.keeps_up.map(|_| *standing)))
        .collect();
    let of_state = |before: &CellStanding, after: &CellStanding| {
        let change = (after.difference - before.difference).abs();
        before.keeps_up != after.keeps_up && change > before.range.max(after.range)
    };
    turns(&states, of_state)
        .into_iter()
        .filter_map(|turn| Some((turn.from, turn.to, turn.after.keeps_up?)))
        .collect()
}

/// Where something that is known at some of the amounts becomes something else.
struct Turn<T> {
    from: f64,
    to: f64,
    before: T,
    after: T,
}

/// The turns along an axis. Where nothing is known it is taken to be as before.
fn turns<T: Copy>(states: &[(f64, Option<T>)], is_other: impl Fn(&T, &T) -> bool) -> Vec<Turn<T>> {
    let mut turns = Vec::new();
    let mut last: Option<T> = None;
    for (place, (to, state)) in states.iter().enumerate() {
        let Some(after) = *state else { continue };
        if let Some(before) = last.filter(|before| is_other(before, &after)) {
            turns.push(Turn { from: states[place - 1].0, to: *to, before, after });
        }
        last = Some(after);
    }
    turns
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

    /// The standing of a cell whose blocks differ from the baseline by these logarithms.
    fn standing(differences: [f64; 2]) -> CellStanding {
        let ours = BTreeMap::from([(0, differences[0]), (1, differences[1])]);
        CellStanding::of(&ours, &BTreeMap::from([(0, 0.0), (1, 0.0)]), 0.03)
    }

    #[test]
    fn noise_of_two_blocks_is_no_change_of_the_winner() {
        let changes = |cells: &[[f64; 2]]| {
            let standings: Vec<_> = cells
                .iter()
                .zip(1..)
                .map(|(cell, amount)| (f64::from(amount), standing(*cell)))
                .collect();
            changes_of_standing(&standings)
        };
        // Behind in one block of two; behind in both, by less than they differ.
        assert_eq!(changes(&[[-0.13, 0.02], [0.01, 0.0], [0.02, 0.0]]), []);
        assert_eq!(changes(&[[-0.04, -0.14], [0.01, 0.0]]), []);
        // The fall is where it is, with a level before it at which the blocks do not agree.
        let falls = [[0.02, -0.01], [-0.06, 0.01], [-3.8, -4.1], [-2.2, -2.3]];
        assert_eq!(changes(&falls), [(2.0, 3.0, false)]);
        assert_eq!(changes(&[[-0.5, -0.6], [0.1, 0.0]]), [(1.0, 2.0, true)]);
    }

    #[test]
    fn what_is_not_known_changes_nothing() {
        let causes = [
            (0.92, Some(CauseKind::Cpu)),
            (1.38, None),
            (1.84, Some(CauseKind::Cpu)),
            (2.30, Some(CauseKind::DiskIops)),
            (2.76, None),
        ];
        let found = turns(&causes, |one, other| one != other);
        let ends: Vec<_> = found.iter().map(|turn| (turn.from, turn.to)).collect();
        assert_eq!(ends, [(1.84, 2.30)]);
    }

    #[test]
    fn brackets_are_divided_until_they_are_narrow() {
        let bracket = |from, to| Bracket { from, to, what: String::new() };
        let middle = |from, to| bracket(from, to).middle(0.05);
        let is_about = |one: Option<f64>, other: f64| (one.unwrap() - other).abs() < 1e-9;
        assert_eq!(middle(0.90, 0.95), None);
        assert!(is_about(middle(0.90, 1.30), 1.10));
        // As narrow as requested at the latest after the steps that a division by two takes.
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
        // A step that is no multiple is divided evenly, and leaves no sliver.
        assert!(is_about(middle(0.0, 0.12), 0.04));
        assert!(is_about(middle(0.0, 0.0501), 0.025));
        assert!(is_about(bracket(1.38, 1.84).middle(0.15), 1.605));
    }
}
