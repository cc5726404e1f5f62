//! How often somebody else has the processor: a short look before anything is measured.

use serde::Serialize;
use std::time::{Duration, Instant};

/// A program that does nothing but read the clock notices every time it is not running. Hardware interrupts take a few microseconds; a
/// longer gap means that another task, or another guest, had the processor.
const GAP_NS: u64 = 10_000;

/// What a look at one processor showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Interruptions {
    /// Length of the look, nanoseconds.
    pub looked_ns: u64,
    /// Sum of all gaps of more than 10 µs, nanoseconds.
    pub lost_ns: u64,
    pub longest_ns: u64,
    /// How often the clock was read.
    pub clock_readings: u64,
}

impl Interruptions {
    /// The share of the time that was lost, 0 to 1.
    pub fn lost_share(&self) -> f64 {
        if self.looked_ns == 0 {
            return 0.0;
        }
        self.lost_ns as f64 / self.looked_ns as f64
    }

    /// Mean time to read the clock, nanoseconds.
    pub fn clock_reading_ns(&self) -> f64 {
        if self.clock_readings == 0 {
            return 0.0;
        }
        (self.looked_ns - self.lost_ns) as f64 / self.clock_readings as f64
    }
}

/// Keeps one processor busy for this long and says how often it was interrupted.
pub fn watch_for_interruptions(length: Duration) -> Interruptions {
    let start = Instant::now();
    let length_ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    watch(|| u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX), length_ns)
}

fn watch(mut now_ns: impl FnMut() -> u64, length_ns: u64) -> Interruptions {
    let mut seen = Interruptions::default();
    let start_ns = now_ns();
    let mut last_ns = start_ns;
    while last_ns - start_ns < length_ns {
        let now = now_ns();
        let gap_ns = now - last_ns;
        if gap_ns > GAP_NS {
            seen.lost_ns += gap_ns;
            seen.longest_ns = seen.longest_ns.max(gap_ns);
        }
        seen.clock_readings += 1;
        last_ns = now;
    }
    seen.looked_ns = last_ns - start_ns;
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_is_longer_than_an_interrupt() {
        let mut times = [100, 150, 200, 12_200, 12_250, 22_250, 42_250].into_iter();
        let seen = watch(|| times.next().unwrap(), 40_000);
        let expected = Interruptions {
            looked_ns: 42_150,
            lost_ns: 32_000,
            longest_ns: 20_000,
            clock_readings: 6,
        };
        assert_eq!(seen, expected);
        assert!((seen.lost_share() - 32_000.0 / 42_150.0).abs() < 1e-12);
        assert!((seen.clock_reading_ns() - 10_150.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn a_look_of_no_length_sees_nothing() {
        let seen = watch(|| 5, 0);
        assert_eq!(seen, Interruptions::default());
        assert_eq!((seen.lost_share(), seen.clock_reading_ns()), (0.0, 0.0));
    }
}
