//! One limit: this many requests, or bytes, in a second.

use super::lane::Lane;

/// Binary places behind a nanosecond, so that a rate such as 600 per second is exact in the long run.
const PLACES: u32 = 32;

/// What a request may occupy at most, nanoseconds: some thirty years, for a rate that is next to nothing.
const LONGEST_NS: f64 = 1e18;

pub(super) fn fine_of_ns(ns: u64) -> u128 {
    u128::from(ns) << PLACES
}

pub(super) fn ns_of_fine(fine: u128) -> u64 {
    u64::try_from(fine >> PLACES).unwrap_or(u64::MAX)
}

pub(super) fn seconds(from: u128, to: u128) -> f64 {
    to.saturating_sub(from) as f64 / (1_u64 << PLACES) as f64 / 1e9
}

#[derive(Debug)]
pub(super) struct Limit {
    /// Per second, without and with burst; infinite where there is no limit.
    rate: f64,
    burst_rate: f64,
    lane: Lane,
}

impl Limit {
    /// `None` when there is nothing to limit, with burst or without. Without a rate for the burst, that of the disk holds in it.
    pub(super) fn new(rate: Option<f64>, burst_rate: Option<f64>) -> Option<Self> {
        if rate.is_none() && burst_rate.is_none() {
            return None;
        }
        let rate = rate.unwrap_or(f64::INFINITY);
        Some(Self { rate, burst_rate: burst_rate.unwrap_or(rate), lane: Lane::default() })
    }

    /// The earliest instant at which there is room for it, with burst or without.
    pub(super) fn earliest(&self, from: u128, amount: u64) -> u128 {
        self.lane.earliest(from, time_of(amount, self.rate.min(self.burst_rate)))
    }

    pub(super) fn take(&mut self, now: u128, at: u128, amount: u64, bursting: bool) {
        let rate = if bursting { self.burst_rate } else { self.rate };
        self.lane.forget(now);
        self.lane.take(at, time_of(amount, rate));
    }

    pub(super) fn empty(&mut self) {
        self.lane = Lane::default();
    }
}

fn time_of(amount: u64, rate: f64) -> u128 {
    let ns = (amount as f64 * 1e9 / rate).min(LONGEST_NS);
    (ns * (1_u64 << PLACES) as f64) as u128
}
