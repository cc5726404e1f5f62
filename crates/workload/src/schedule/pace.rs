//! The pace of a closed loop whose sessions hold themselves to a rate.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Sessions that ask more often than this, operations per second, begin together.
const FASTEST_THAT_SPREADS: f64 = 1e3;

/// When a session of a paced closed loop is due to ask again, as in YCSB: all sessions have an equal share of the target, and a session that has
/// finished its n-th operation waits until n ticks after it began. The times are fixed beforehand and never moved, so a session that falls
/// behind asks again at once until it has caught up. Only one operation of each session is ever under way, so this is no open
/// loop: where operations take longer than a tick the rate is simply not reached. The times at which they were due are known nevertheless.
///
/// ```
/// use plimsoll_workload::schedule::Pace;
///
/// let pace = Pace::new(3_000.0, 2);
/// assert_eq!(pace.tick_ns(), 666_666);
/// assert_eq!(pace.due_ns(1_000, 3), 1_000 + 3 * 666_666);
/// assert_eq!(pace.start_ns(42, 0), 0, "1,500 operations a second need not be spread");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    tick_ns: u64,
    is_spread: bool,
}

impl Pace {
    /// The pace of each of so many sessions that ask for `target` operations per second together. Both are above zero.
    pub fn new(target: f64, sessions: u32) -> Self {
        let per_second = target / f64::from(sessions.max(1));
        Self {
            tick_ns: ((1e9 / per_second) as u64).max(1),
            is_spread: per_second <= FASTEST_THAT_SPREADS,
        }
    }

    /// From one operation of a session to its next, nanoseconds, rounded down.
    pub fn tick_ns(self) -> u64 {
        self.tick_ns
    }

    /// How long a session waits before it begins, nanoseconds: less than a tick, each time equally often, from the seed. Sessions that ask more than
    /// a thousand times a second do not wait.
    pub fn start_ns(self, seed: u64, session: u32) -> u64 {
        if !self.is_spread {
            return 0;
        }
        let stream = u64::from(session + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ stream);
        let product = u128::from(random.next_u64()) * u128::from(self.tick_ns);
        // The upper half: a uniform number below a tick.
        (product >> 64) as u64
    }

    /// When the operation after `finished` operations is due in a session that began at `begin_ns`.
    #[inline]
    pub fn due_ns(self, begin_ns: u64, finished: u64) -> u64 {
        begin_ns.saturating_add(self.tick_ns.saturating_mul(finished))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_the_share_of_one_session_rounded_down() {
        for (target, sessions, tick_ns) in [
            (1_000.0, 1, 1_000_000),
            (1_000.0, 4, 4_000_000),
            (7.0, 3, 428_571_428),
            (0.1, 1, 10_000_000_000),
            (1e12, 1, 1),
        ] {
            assert_eq!(Pace::new(target, sessions).tick_ns(), tick_ns, "{target}");
        }
        let slow = Pace::new(1e-9, 1_000_000);
        assert_eq!(slow.due_ns(u64::MAX - 1, 2), u64::MAX);
    }

    #[test]
    fn slow_sessions_begin_anywhere_in_their_first_tick() {
        let pace = Pace::new(2_000.0, 2);
        let starts: Vec<u64> = (0..1_000).map(|session| pace.start_ns(7, session)).collect();
        assert!(starts.iter().all(|start| *start < pace.tick_ns()));
        let mean = starts.iter().sum::<u64>() as f64 / 1_000.0;
        // Five standard errors of a uniform law.
        let half = pace.tick_ns() as f64 / 2.0;
        assert!((mean / half - 1.0).abs() < 5.0 / (3.0_f64 * 1_000.0).sqrt(), "{mean}");
        assert_eq!(starts[3], pace.start_ns(7, 3));
        assert_ne!(starts[3], pace.start_ns(8, 3));
        assert_eq!(Pace::new(2_001.0, 2).start_ns(7, 0), 0);
        assert!(Pace::new(0.1, 1).start_ns(7, 0) < 10_000_000_000, "slow rates too");
    }
}
