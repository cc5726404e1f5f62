//! What is compared with what.

use crate::Plan;

impl Plan {
    /// Index of the arm that the others are compared with: the one named, or the first.
    #[must_use]
    pub fn baseline(&self) -> usize {
        let is_named = |arm: &crate::Arm| arm.name == self.compare.baseline;
        self.arms.iter().position(is_named).unwrap_or(0)
    }

    /// Baseline and other arm of each comparison, by their places in the plan: those that the file names, or every other arm with the baseline; where the arms are
    /// cells of a grid only those that the plan names. A pair that names an arm which the plan does not have, or one arm twice, is left out.
    #[must_use]
    pub fn pairs(&self) -> Vec<[usize; 2]> {
        if self.compare.pairs.is_empty() && self.factors.is_empty() {
            let baseline = self.baseline();
            let others = (0..self.arms.len()).filter(|arm| *arm != baseline);
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
}
