//! Factors: what the cells of an experiment vary, and which combinations of their levels are measured.

use crate::Plan;
use plimsoll_record::quantities::units;
use serde::{Deserialize, Serialize};

/// One thing that is varied. Each arm is a cell: a combination of one level of each factor, see [`Arm::levels`](crate::Arm::levels).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// As in the file: a key of an arm, or a name for bundles of keys.
    pub name: String,
    /// The values it takes, at least two.
    pub levels: Vec<Level>,
    /// Index of the level that the others are compared with.
    pub baseline: u32,
    /// What the levels are amounts of, where the factor is an axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Quantity>,
    /// Of an axis: between its levels scouting runs look for others, until what they look for lies between two that are at most so far apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refine: Option<f64>,
}

/// One level of a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Name of the level, as in the file.
    pub name: String,
    /// Its amount, where the factor is an axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// What the levels of an axis are amounts of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// A share of a whole: 1.38 is 138 %.
    Share,
    /// An amount of data, in bytes.
    Bytes,
    /// A span of time, in nanoseconds.
    Nanos,
    /// A number of things, such as threads.
    Count,
    /// A number without one of these units.
    Number,
}

impl Quantity {
    /// An amount in people's units.
    pub fn in_words(self, amount: f64) -> String {
        match self {
            Self::Share => {
                let decimals = usize::from((amount * 100.0).fract().abs() > 0.05 && amount < 0.1);
                format!("{:.decimals$} %", amount * 100.0)
            }
            Self::Bytes => plimsoll_record::quantities::words::bytes(amount),
            Self::Nanos => plimsoll_record::quantities::words::duration(amount),
            Self::Count => units::count(amount.round() as u64),
            Self::Number => {
                let text = format!("{amount:.2}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        }
    }
}

/// Which combinations of levels are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// All that the file does not leave out.
    #[default]
    Full,
    /// Plackett and Burman's, folded over: the first half of the arms in one block, their mirror images in the next.
    Screening,
    /// A regular part of all combinations of two levels.
    Fraction,
}

impl Design {
    /// Whether all combinations are measured.
    pub fn is_full(&self) -> bool {
        *self == Self::Full
    }
}

impl Factor {
    /// The amounts of its levels, in their order, where it is an axis.
    pub fn axis(&self) -> Option<Vec<f64>> {
        self.quantity?;
        self.levels.iter().map(|level| level.value).collect()
    }

    /// Name of a level; empty for an index that there is not.
    pub fn level(&self, index: u32) -> &str {
        let level = self.levels.get(index as usize);
        level.map_or("", |level| level.name.as_str())
    }

    /// Index of its baseline, or of the first level where a record says otherwise.
    pub fn baseline(&self) -> u32 {
        if (self.baseline as usize) < self.levels.len() {
            self.baseline
        } else {
            0
        }
    }
}

impl Plan {
    /// Index of the factor whose levels scouting runs choose.
    pub fn refined_factor(&self) -> Option<usize> {
        self.factors.iter().position(|one| one.refine.is_some())
    }

    /// Index of the arm with these levels, one for each factor.
    pub fn cell(&self, levels: &[u32]) -> Option<usize> {
        self.arms.iter().position(|arm| arm.levels == levels)
    }

    /// Index of the factor whose levels are compared: the one that the file names, or the first.
    pub fn compared_factor(&self) -> Option<usize> {
        if self.factors.is_empty() {
            return None;
        }
        let named = self.compare.factor.as_ref();
        let place = named.and_then(|name| self.factors.iter().position(|one| one.name == *name));
        Some(place.unwrap_or(0))
    }

    /// The combinations of levels of all factors but `apart`, in the order in which arms have them; each with 0 in the places of `apart`.
    pub fn conditions(&self, apart: &[usize]) -> Vec<Vec<u32>> {
        let mut conditions: Vec<Vec<u32>> = Vec::new();
        for arm in &self.arms {
            let mut levels = arm.levels.clone();
            for factor in apart {
                if let Some(level) = levels.get_mut(*factor) {
                    *level = 0;
                }
            }
            if !conditions.contains(&levels) {
                conditions.push(levels);
            }
        }
        conditions
    }

    /// The levels of a condition in words, without the factors `apart`: `92%, ext4`.
    pub fn condition_in_words(&self, levels: &[u32], apart: &[usize]) -> String {
        let mut words = Vec::new();
        for (index, (factor, level)) in self.factors.iter().zip(levels).enumerate() {
            if !apart.contains(&index) {
                words.push(factor.level(*level));
            }
        }
        words.join(", ")
    }

    /// Which effects of a two-level design cannot be told apart, each group as names joined by `×`, for the main effects and interactions of two
    /// factors. Empty where all combinations are measured.
    pub fn aliases(&self) -> Vec<Vec<String>> {
        if self.design != Design::Fraction {
            return Vec::new();
        }
        let sign = |arm: &crate::Arm, factor: usize| match arm.levels.get(factor) {
            Some(1) => 1i8,
            _ => -1,
        };
        let mut effects: Vec<(String, Vec<i8>)> = Vec::new();
        for (index, factor) in self.factors.iter().enumerate() {
            let column = self.arms.iter().map(|arm| sign(arm, index)).collect();
            effects.push((factor.name.clone(), column));
        }
        for (first, one) in self.factors.iter().enumerate() {
            for (second, other) in self.factors.iter().enumerate().skip(first + 1) {
                let product = |arm| sign(arm, first) * sign(arm, second);
                let column = self.arms.iter().map(product).collect();
                effects.push((format!("{}×{}", one.name, other.name), column));
            }
        }
        let mut groups: Vec<(Vec<i8>, Vec<String>)> = Vec::new();
        for (name, column) in effects {
            let opposite: Vec<i8> = column.iter().map(|sign| -sign).collect();
            match groups
                .iter_mut()
                .find(|(known, _)| *known == column || *known == opposite)
            {
                Some((_, names)) => names.push(name),
                None => groups.push((column, vec![name])),
            }
        }
        let groups = groups.into_iter().map(|(_, names)| names);
        groups.filter(|names| names.len() > 1).collect()
    }
}
