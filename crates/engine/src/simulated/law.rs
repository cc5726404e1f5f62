//! Measuring path: no allocation, lock, log or formatting here.
//!
//! Laws of the service time.

use plimsoll_workload::Stream;

/// The stream of random numbers of one session.
pub(super) fn stream(seed: u64, session: u64) -> Stream {
    // Streams that begin at neighbouring states are alike, so the state goes through the finaliser of SplitMix64 (Stafford's variant 13).
    let mut z = seed.wrapping_add((session + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    Stream::from_state(z ^ (z >> 31))
}

/// A law of service times, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Law {
    Exponential {
        mean_ns: f64,
    },
    Constant {
        ns: u64,
    },
    /// The logarithm is normal with these parameters.
    Lognormal {
        mean: f64,
        deviation: f64,
    },
}

impl Law {
    pub(super) fn exponential(mean_ns: u64) -> Self {
        Self::Exponential { mean_ns: mean_ns as f64 }
    }

    pub(super) fn constant(ns: u64) -> Self {
        Self::Constant { ns }
    }

    /// With this mean, and with a standard deviation of `spread` times the mean.
    pub(super) fn lognormal(mean_ns: u64, spread: f64) -> Self {
        // From the moments: variance of the logarithm = ln(1 + spread²), its mean = ln(mean) - half of that.
        let variance = (1.0 + spread * spread).ln();
        Self::Lognormal { mean: (mean_ns as f64).ln() - variance / 2.0, deviation: variance.sqrt() }
    }

    pub(super) fn draw_ns(self, stream: &mut Stream) -> u64 {
        match self {
            Self::Constant { ns } => ns,
            // 1 - unit is in (0, 1], so that its logarithm is finite. A float that is too large becomes the largest integer.
            Self::Exponential { mean_ns } => (-(1.0 - stream.unit()).ln() * mean_ns) as u64,
            Self::Lognormal { mean, deviation } => {
                // Box and Muller, "A note on the generation of random normal deviates", 1958.
                let radius = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
                let normal = radius * (std::f64::consts::TAU * stream.unit()).cos();
                (mean + deviation * normal).exp() as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of many draws.
    fn moments(law: Law) -> (f64, f64) {
        let mut stream = stream(7, 0);
        let count = 400_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..count {
            let value = law.draw_ns(&mut stream) as f64;
            sum += value;
            squares += value * value;
        }
        let mean = sum / f64::from(count);
        (mean, (squares / f64::from(count) - mean * mean).sqrt())
    }

    /// The standard error of both means is 0.16 %, of the lognormal's deviation about 1 %.
    #[test]
    fn moments_are_as_asked() {
        let (mean, deviation) = moments(Law::exponential(1_000_000));
        assert!(
            (mean / 1e6 - 1.0).abs() < 0.01 && (deviation / 1e6 - 1.0).abs() < 0.02,
            "{mean} {deviation}"
        );
        let (mean, deviation) = moments(Law::lognormal(1_000_000, 0.5));
        assert!(
            (mean / 1e6 - 1.0).abs() < 0.01 && (deviation / 5e5 - 1.0).abs() < 0.03,
            "{mean} {deviation}"
        );
        assert_eq!(moments(Law::constant(250)), (250.0, 0.0));
    }

    #[test]
    fn no_service_time_is_no_service_time() {
        let mut stream = stream(7, 0);
        for law in [Law::exponential(0), Law::lognormal(0, 1.0), Law::constant(0)] {
            assert_eq!(law.draw_ns(&mut stream), 0);
        }
    }
}
