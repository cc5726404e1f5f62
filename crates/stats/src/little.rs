//! Little's law as a check on every point of a closed loop.

use serde::{Deserialize, Serialize};

/// Largest relative distance between the sessions there were and the sessions the figures imply.
pub const LITTLE_TOLERANCE: f64 = 0.05;

/// What Little's law says about a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LittleCheck {
    /// Sessions that the figures imply: throughput × (mean response + think time).
    pub implied_sessions: f64,
    /// Implied sessions over real sessions; 1 is perfect.
    pub ratio: f64,
    /// Whether the ratio is within 5 % of 1.
    pub passed: bool,
}

/// Checks throughput and mean response of a closed loop against each other: sessions = throughput × (mean response + think time) (Little, 1961).
///
/// The law holds for any system and any spread, as long as all three figures speak of the same operations over the same window. So a miss says that a
/// figure is wrong: operations that were not counted, a mean over another window, sessions that died or waited elsewhere. Use the *mean*, never a
/// percentile; units are operations per second and nanoseconds. Operations cut by the ends of the window put the ratio off by up to one
/// response in a window: keep windows much longer than responses.
///
/// Zero sessions, or figures that are not finite, never pass.
///
/// ```
/// // A published table: 8 threads with 521 µs and 7,629 op/s cannot be true, 32 threads with 1,191 µs and 26,745 op/s can.
/// assert!(!plimsoll_stats::little(8, 7_629.0, 521e3, 0.0).passed);
/// assert!(plimsoll_stats::little(32, 26_745.0, 1_191e3, 0.0).passed);
/// ```
pub fn little(
    sessions: u32,
    throughput_per_second: f64,
    mean_response_ns: f64,
    think_ns: f64,
) -> LittleCheck {
    let implied_sessions = throughput_per_second * (mean_response_ns + think_ns) / 1e9;
    let ratio = if sessions == 0 { 0.0 } else { implied_sessions / f64::from(sessions) };
    LittleCheck { implied_sessions, ratio, passed: (ratio - 1.0).abs() <= LITTLE_TOLERANCE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_table_is_sorted_into_true_and_false() {
        let wrong = little(8, 7_629.0, 521_000.0, 0.0);
        assert!(!wrong.passed);
        assert!((wrong.ratio - 0.497).abs() < 1e-3, "wrong by a factor of two");
        let right = little(32, 26_745.0, 1_191_000.0, 0.0);
        assert!(right.passed);
        assert!((right.implied_sessions - 31.85).abs() < 0.01);
    }

    #[test]
    fn think_time_counts() {
        // 10 sessions, 2 ms response and 8 ms thinking: 1,000 op/s.
        assert!(little(10, 1_000.0, 2e6, 8e6).passed);
        assert!(!little(10, 1_000.0, 2e6, 0.0).passed);
    }

    #[test]
    fn the_limit_is_five_percent_both_ways() {
        for (throughput, passed) in [(0.951, true), (1.049, true), (0.949, false), (1.051, false)] {
            let found = little(1, throughput, 1e9, 0.0).passed;
            assert_eq!(found, passed, "{throughput}");
        }
    }

    #[test]
    fn nonsense_never_passes() {
        assert!(!little(0, 0.0, 0.0, 0.0).passed);
        assert!(!little(4, f64::NAN, 1.0, 0.0).passed);
        assert!(!little(4, f64::INFINITY, 1.0, 0.0).passed);
    }
}
