//! What the factors of an experiment do, as data.

use crate::Verdict;
use plimsoll_plan::{Design, Direction, Factor, Metric};
use serde::{Deserialize, Serialize};

/// What the factors of an experiment do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorResults {
    pub factors: Vec<Factor>,
    /// Which combinations of their levels are measured.
    pub design: Design,
    /// Effects that the design cannot tell apart.
    pub aliases: Vec<Vec<String>>,
    /// The factor whose levels are compared, by index.
    pub compared: u32,
    /// Which levels scouting chose, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scouting: Option<String>,
    /// The arms with their levels, in the order of the plan.
    pub cells: Vec<Cell>,
    /// Every effect on a metric that decides, of each mix: main effects, interactions, simple effects.
    pub effects: Vec<Effect>,
    /// Interactions that are proven, as what they mean for the effect of one factor.
    pub dependences: Vec<Dependence>,
    /// Where a curve over an axis falls or rises most.
    pub cliffs: Vec<CliffResult>,
    /// Up to where a level keeps up with the baseline.
    pub crossings: Vec<CrossingResult>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    pub arm: String,
    /// Index of the level of each factor.
    pub levels: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectPlace {
    pub mix: String,
    pub point: u32,
    pub load_label: String,
    pub metric: Metric,
    pub direction: Direction,
}

/// Two levels of a factor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub factor: String,
    pub baseline: String,
    pub level: String,
}

/// What kind of contrast an effect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectKind {
    /// The effect of one factor, averaged over all levels of the others.
    Main,
    /// By how much the effect of one factor differs between two levels of another.
    Interaction,
    /// The effect of one factor at given levels of all others.
    Simple,
}

/// One effect. Its verdict is about the change from the baseline to the level; p is adjusted over all effects of the mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    #[serde(flatten)]
    pub place: EffectPlace,
    pub kind: EffectKind,
    pub change: Change,
    /// For an interaction: the other factor that changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Change>,
    /// For a simple effect: the levels of the other factors in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// For a main effect: factors on whose levels it depends, so that its average does not stand alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Its value in each block: (block, logarithm of the ratio).
    pub values: Vec<(u32, f64)>,
    /// The result; `p_holm` is adjusted by sign flips over all effects of the mix.
    pub verdict: Verdict,
    pub sentence: String,
}

/// How the effect of one factor depends on another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    #[serde(flatten)]
    pub place: EffectPlace,
    pub change: Change,
    /// On which factor it depends.
    pub on: String,
    /// The effect at each level of that factor, over the levels of all others.
    pub at: Vec<EffectAt>,
    pub sentence: String,
}

/// An effect at one level of another factor. Changes are shares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectAt {
    pub level: String,
    /// Estimate; `None` where nothing was measured.
    pub estimate: Option<f64>,
    pub interval: Option<(f64, f64)>,
}

/// Where a curve over an axis falls or rises most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CliffResult {
    #[serde(flatten)]
    pub place: EffectPlace,
    /// Name of the factor that is the axis.
    pub axis: String,
    /// Levels of all other factors in words; empty where there are none.
    pub within: String,
    /// Names of the levels between which it changes most.
    pub between: (String, String),
    /// Change of the metric between them, a share, with its interval.
    pub change: f64,
    pub interval: Option<(f64, f64)>,
    pub sentence: String,
}

/// Up to which level of an axis, or from which on, a level of another factor keeps up with its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossingResult {
    #[serde(flatten)]
    pub place: EffectPlace,
    /// Name of the factor that is the axis.
    pub axis: String,
    /// The levels that are compared.
    pub change: Change,
    /// Levels of all further factors in words; empty where there are none.
    pub within: String,
    /// Whether it keeps up at small amounts and not at large ones; otherwise the other way round.
    pub up_to: bool,
    /// The amount, in the unit of the axis.
    pub at: f64,
    /// Its interval; an end beyond the levels is `None`.
    pub interval: (Option<f64>, Option<f64>),
    /// Confidence that the interval attains.
    pub confidence: f64,
    pub sentence: String,
}
