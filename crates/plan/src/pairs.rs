//! What is compared with what.

use crate::Plan;

impl Plan {
    /// Whether the question is about more than one arm. Controls are no arms of the question.
    pub fn has_several_arms(&self) -> bool {
        let is_requested = |arm: &&crate::Arm| arm.planted.is_none();
        self.arms.iter().filter(is_requested).count() > 1
    }

    /// Index of the arm that the others are compared with: the one named, or the first.
    pub fn baseline(&self) -> usize {
        let is_named = |arm: &crate::Arm| arm.name == self.compare.baseline;
        self.arms.iter().position(is_named).unwrap_or(0)
    }

    /// Baseline and other arm of each comparison, by their places in the plan: those that the file names, or every other arm with the baseline; where the arms are
    /// cells of a grid only those that the plan names. A pair that names an arm which the plan does not have, or one arm twice, is left out.
    pub fn pairs(&self) -> Vec<[usize; 2]> {
        if self.compare.pairs.is_empty() && self.factors.is_empty() {
            let baseline = self.baseline();
            let is_other = |arm: &usize| *arm != baseline && self.arms[*arm].planted.is_none();
            let others = (0..self.arms.len()).filter(is_other);
            return others.map(|other| [baseline, other]).collect();
        }
        let named = |name: &str| self.arms.iter().position(|arm| arm.name == name);
        let mut pairs = Vec::new();
        for (baseline, other) in &self.compare.pairs {
            if let (Some(baseline), Some(other)) = (named(baseline), named(other))
                && baseline != other
                && !pairs.contains(&[baseline, other])
            {
                pairs.push([baseline, other]);
            }
        }
        pairs
    }

    /// The baseline and each control, by their places in the plan.
    pub fn controls(&self) -> Vec<[usize; 2]> {
        let baseline = self.baseline();
        let arms = self.arms.iter().enumerate();
        let controls = arms.filter(|(_, arm)| arm.planted.is_some());
        controls.map(|(control, _)| [baseline, control]).collect()
    }

    /// All pairs of arms that are measured to be compared: those of the question, and the controls.
    pub fn measured_pairs(&self) -> Vec<[usize; 2]> {
        let mut pairs = self.pairs();
        pairs.append(&mut self.controls());
        pairs
    }
}
