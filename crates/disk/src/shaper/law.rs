//! The distributions from which latencies are drawn.

use plimsoll_record::{DiskLatency, latency_at};
use rand_core::Rng;

/// The 99th percentile of the standard normal distribution.
const NORMAL_P99: f64 = 2.326_347_874_040_841;

/// A law, ready to be drawn from.
#[derive(Clone, Debug)]
pub(super) enum Law {
    None,
    Constant(u64),
    /// Logarithm of the median, and standard deviation of the logarithm.
    Lognormal(f64, f64),
    Table(Vec<(f64, u64)>),
}

impl Law {
    pub(super) fn new(latency: &DiskLatency) -> Self {
        match latency {
            DiskLatency::None => Self::None,
            DiskLatency::Constant { ns } => Self::Constant(*ns),
            DiskLatency::Lognormal { median_ns, p99_ns } => {
                let median = (*median_ns).max(1) as f64;
                let p99 = (*p99_ns as f64).max(median);
                Self::Lognormal(median.ln(), (p99 / median).ln() / NORMAL_P99)
            }
            DiskLatency::Table { points } => Self::Table(points.clone()),
        }
    }

    pub(super) fn draw(&self, random: &mut impl Rng) -> u64 {
        match self {
            Self::None => 0,
            Self::Constant(ns) => *ns,
            Self::Lognormal(mean, deviation) => (mean + deviation * normal(random)).exp() as u64,
            Self::Table(points) => latency_at(points, unit(random) * 100.0) as u64,
        }
    }
}

/// Equally distributed from 0 to below 1.
pub(super) fn unit(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Box and Muller, "A note on the generation of random normal deviates", 1958.
fn normal(random: &mut impl Rng) -> f64 {
    let radius = (-2.0 * (1.0 - unit(random)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(random)).cos()
}
