//! How the clock of one machine stands to that of another.

use serde::{Deserialize, Serialize};

/// `CLOCK_MONOTONIC` of another machine against that of the machine that the program ran on, by round trips: the one that took least says most, since
/// the other clock was read at some time within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// The other clock less this one, nanoseconds.
    pub offset_ns: i64,
    /// How far off that may be in either direction, nanoseconds: half of the round trip.
    pub bound_ns: u64,
    /// The least round trip, nanoseconds.
    pub round_trip_ns: u64,
}

/// A question and its answer, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// When the request was sent, by this clock.
    pub asked_ns: u64,
    /// What the other clock said.
    pub said_ns: u64,
    /// When the answer arrived, by this clock.
    pub answered_ns: u64,
}

impl ClockOffset {
    /// By round trips; `None` where there are none.
    pub fn of(trips: &[RoundTrip]) -> Option<Self> {
        let length = |trip: &RoundTrip| trip.answered_ns.saturating_sub(trip.asked_ns);
        let best = trips.iter().min_by_key(|trip| length(trip))?;
        let round_trip_ns = length(best);
        let middle = i128::from(best.asked_ns) + i128::from(round_trip_ns / 2);
        let offset = i128::from(best.said_ns) - middle;
        Some(Self {
            offset_ns: i64::try_from(offset).ok()?,
            // Half of an odd number is rounded up, and the middle was rounded down.
            bound_ns: round_trip_ns.div_ceil(2),
            round_trip_ns,
        })
    }

    /// A time of this machine by the other clock, nanoseconds.
    pub fn there(&self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.offset_ns)
    }

    /// A time of the other machine by this clock, nanoseconds.
    pub fn here(&self, there_ns: u64) -> u64 {
        there_ns.saturating_add_signed(self.offset_ns.saturating_neg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_true_offset_is_within_the_bound(
            offset in -1_000_000_000_000_000_i64..1_000_000_000_000_000,
            trips in prop::collection::vec((0_u64..10_000_000, 0_u64..10_000_000), 1..20),
        ) {
            let start = 2_000_000_000_000_000_u64;
            let trips: Vec<RoundTrip> = trips
                .iter()
                .map(|(there, back)| RoundTrip {
                    asked_ns: start,
                    said_ns: (start + there).saturating_add_signed(offset),
                    answered_ns: start + there + back,
                })
                .collect();
            let found = ClockOffset::of(&trips).unwrap();
            prop_assert!(found.offset_ns.abs_diff(offset) <= found.bound_ns);
            let least = trips.iter().map(|trip| trip.answered_ns - trip.asked_ns).min();
            prop_assert_eq!(Some(found.round_trip_ns), least);
            prop_assert_eq!(found.here(found.there(start)), start);
        }
    }

    #[test]
    fn without_a_round_trip_nothing_is_known() {
        assert_eq!(ClockOffset::of(&[]), None);
    }
}
