//! A judgement with its figures.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// B is better than A.
    Better,
    /// B is worse than A.
    Worse,
    Equivalent,
    Inconclusive,
}

/// A judgement with its figures. Differences are shares: 0.03 is 3 % more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub judgement: Judgement,
    /// Why it is inconclusive, or what limits it.
    pub reason: Option<String>,
    /// Hodges-Lehmann estimate of B/A - 1.
    pub estimate: Option<f64>,
    /// Its interval. Where values are only bounds it may reach from -1 or to infinity, which JSON writes as `null`.
    #[serde(deserialize_with = "open_interval")]
    pub interval: Option<(f64, f64)>,
    /// Confidence that the interval attains, 0 to 1.
    pub confidence: Option<f64>,
    /// Two-sided p of the exact signed-rank test.
    pub p_value: Option<f64>,
    /// The same after correction for all that is judged together: Holm's for several primaries, by sign flips for the effects of factors.
    pub p_holm: Option<f64>,
    /// Smallest difference that this many blocks could have shown.
    pub smallest_visible: Option<f64>,
    pub blocks: u32,
    pub margin: f64,
}

/// An infinite end is `null` in JSON.
fn open_interval<'de, D>(deserializer: D) -> Result<Option<(f64, f64)>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let ends = Option::<(Option<f64>, Option<f64>)>::deserialize(deserializer)?;
    Ok(ends.map(|(lower, upper)| (lower.unwrap_or(-1.0), upper.unwrap_or(f64::INFINITY))))
}
