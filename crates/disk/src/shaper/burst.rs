//! Burst credits: how they fill, and what a request costs.

use super::limit::seconds;
use plimsoll_record::DiskBurst;

/// A bucket of credits. Every request pays one credit for each of its units, as far as there are any. While there is one for the next
/// request, the burst's rates hold. Where credits flow in at the rate of the disk itself, an empty bucket therefore stays empty under
/// a full load, and requests go at exactly that rate.
#[derive(Debug)]
pub(super) struct Bucket {
    credits: f64,
    /// When there were that many; `None` before the first request.
    at: Option<u128>,
    size: f64,
    refill: f64,
}

impl Bucket {
    pub(super) fn new(burst: &DiskBurst) -> Self {
        Self {
            credits: burst.credits * burst.start.clamp(0.0, 1.0),
            at: None,
            size: burst.credits,
            refill: burst.refill,
        }
    }

    /// Pays for a request, and says whether the burst's rates hold until the next.
    pub(super) fn spend(&mut self, at: u128, units: u64) -> bool {
        self.credits = (self.credits_at(at) - units as f64).max(0.0);
        self.at = Some(self.at.map_or(at, |before| before.max(at)));
        self.credits >= 1.0
    }

    pub(super) fn credits_at(&self, at: u128) -> f64 {
        let earned = self.at.map_or(0.0, |before| seconds(before, at) * self.refill);
        (self.credits + earned).min(self.size)
    }
}
