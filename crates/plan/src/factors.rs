//! Factors: what the cells of an experiment vary, and which combinations of their levels are measured.

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
    /// For an axis: scouting runs try levels between its own, until the effect in question lies between two levels at most this far apart.
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

    /// Name of a level; empty for an unknown index.
    pub fn level(&self, index: u32) -> &str {
        let level = self.levels.get(index as usize);
        level.map_or("", |level| level.name.as_str())
    }

    /// Index of its baseline, or of the first level where a record says otherwise.
    pub fn baseline(&self) -> u32 {
        if (self.baseline as usize) < self.levels.len() { self.baseline } else { 0 }
    }
}
