//! The known figures of latencies without a histogram.

use serde::{Deserialize, Serialize};

/// How near two percentiles must be to be the same one.
const SAME: f64 = 1e-9;

/// A few figures of some latencies: no more is known of them. What is `None` or not listed is not known.
///
/// Summaries can be added up as far as their figures allow: counts, means and the ends. Percentiles of a sum do not follow from those of
/// its parts, so they are given up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many values there were.
    pub count: u64,
    /// Mean of the values, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// Smallest of the values, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<u64>,
    /// Largest of the values, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    /// (percentile from 0 to 100, nanoseconds), in rising order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<(f64, u64)>,
}

impl Summary {
    /// A percentile that is known. The ends are percentiles too.
    pub(crate) fn percentile(&self, percentile: f64) -> Option<u64> {
        let known = self.percentiles.iter().find(|(known, _)| (known - percentile).abs() <= SAME);
        match known {
            Some((_, value_ns)) => Some(*value_ns),
            None if percentile <= 0.0 => self.min_ns,
            None if percentile >= 100.0 => self.max_ns,
            None => None,
        }
    }

    /// Adds all that `other` knows, and forgets what cannot be known of both together.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            self.clone_from(other);
            return;
        }
        let (ours, theirs) = (self.count as f64, other.count as f64);
        let weighted = |(mine, its): (f64, f64)| mine + (its - mine) * (theirs / (ours + theirs));
        self.mean_ns = self.mean_ns.zip(other.mean_ns).map(weighted);
        self.min_ns = self.min_ns.zip(other.min_ns).map(|(a, b)| a.min(b));
        self.max_ns = self.max_ns.zip(other.max_ns).map(|(a, b)| a.max(b));
        self.count = self.count.saturating_add(other.count);
        self.percentiles.clear();
    }
}
