//! What an analysis comes to, for exit codes.

use crate::{Analysis, GateOutcome, GateResult, Judgement, PointResult};
use plimsoll_record::{Severity, Warning};

/// What an analysis comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What was measured may be used, and every bound holds.
    Good,
    /// What was measured may be used, and a bound of the file is broken, or a gate failed.
    ThresholdBroken,
    /// A run failed, no point is valid, not one deciding comparison has a pair of valid points, or too few of a gate's blocks have.
    Invalid,
}

impl crate::Comparison {
    /// Whether both arms have something to compare, even if other programs disturbed all of it.
    pub fn has_values(&self) -> bool {
        let is_some = |(a, b): &(Vec<f64>, Vec<f64>)| !a.is_empty() && !b.is_empty();
        let is_measured = match self.undisturbed {
            Some(undisturbed) => undisturbed.of > 0,
            None => !self.pairs.is_empty(),
        };
        is_measured || self.apart.as_ref().is_some_and(is_some)
    }
}

impl Analysis {
    /// Which point of a run is not valid, and why; `None` where all are.
    pub fn why_refused(&self, block: u32, arm: &str) -> Option<String> {
        let curves = self.curves.iter().filter(|curve| curve.arm == arm);
        let mut points =
            curves.flat_map(|curve| curve.points.iter().map(|point| (&curve.mix, point)));
        points.find_map(|(mix, point)| {
            let is_refused = |one: &&PointResult| one.block == block && !one.valid;
            let result = point.results.iter().find(is_refused)?;
            let mut warnings = result.warnings.iter();
            let gravest = warnings.find(|one| one.severity() == Severity::Invalid);
            let because = gravest.map_or("it did not end", |warning| warning.message.as_str());
            Some(format!("{mix} at {}: {because}", point.load_label))
        })
    }

    /// What it comes to. Invalid weighs more than a broken bound: a bound on numbers that may not be used says nothing.
    pub fn outcome(&self) -> Outcome {
        let of_factors = self.factors.iter().flat_map(|factors| &factors.effects);
        let arms = self.arms.iter().filter(|arm| !arm.control);
        let no_pair = arms.count() > 1
            && !self.comparisons.iter().any(|one| one.primary && one.has_values())
            && !of_factors.into_iter().any(|effect| !effect.values.is_empty());
        if self.progress.runs_failed > 0
            || !self.has_valid_point()
            || no_pair
            || self.progress.too_few_usable.is_some()
            || self.has_useless_gate()
        {
            return Outcome::Invalid;
        }
        let has_failed = |gate: &GateResult| gate.outcome == GateOutcome::Failed;
        if self.gate.as_ref().is_some_and(has_failed)
            || self.thresholds.iter().any(|threshold| !threshold.passed)
        {
            return Outcome::ThresholdBroken;
        }
        Outcome::Good
    }

    /// Whether nothing can be said for no other reason than that runs are missing: nothing failed, and no check was missed.
    pub fn is_too_early(&self) -> bool {
        let progress = &self.progress;
        let is_wrong = |warning: &Warning| warning.severity() == Severity::Invalid;
        self.outcome() == Outcome::Invalid
            && progress.runs_failed == 0
            && progress.blocks_complete == 0
            && (progress.runs_finished == 0 || self.has_valid_point())
            && !self.warnings.iter().any(is_wrong)
    }

    fn has_valid_point(&self) -> bool {
        let mut points = self.curves.iter().flat_map(|curve| &curve.points);
        let mut at_lines = self.lines.iter().filter_map(|line| line.at_line.as_ref());
        points.any(|point| point.valid_runs > 0) || at_lines.any(|point| point.valid_runs > 0)
    }

    /// Whether too few of a gate's blocks can be compared.
    fn has_useless_gate(&self) -> bool {
        let is_useless = |gate: &GateResult| gate.outcome == GateOutcome::Open && !gate.usable;
        self.gate.as_ref().is_some_and(is_useless)
    }

    /// How many deciding comparisons ended with this word.
    pub fn decided(&self, judgement: Judgement) -> usize {
        self.comparisons
            .iter()
            .filter(|one| one.primary && one.verdict.judgement == judgement)
            .count()
    }
}
