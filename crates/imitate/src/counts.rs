//! How often each number and each value was seen, in bounded memory.

use crate::Spread;
use std::collections::{BTreeMap, HashMap};

/// Standard errors within which two samples of one server differ: in 1 of 16,000 comparisons they differ by more.
pub(crate) const ERRORS: f64 = 4.0;
/// Calls after which the share of the hottest values is noted.
const LEVELS: [u64; 3] = [1_000, 10_000, 100_000];
/// With fewer calls, no share of the hottest values is given.
const FEWEST_CALLS: u64 = 100;

/// With fewer calls, one value may be the only one by chance.
const FEWEST_OF_ONE: u64 = 10;

/// How often each number was seen. Numbers above 999 are rounded to three digits.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberCounts {
    seen: BTreeMap<u64, u64>,
    total: u64,
}

impl NumberCounts {
    pub(crate) fn add(&mut self, number: u64) {
        let unit = 10_u64.pow(number.max(1).ilog10().saturating_sub(2));
        *self.seen.entry(number / unit * unit).or_default() += 1;
        self.total += 1;
    }

    /// The number of this rank, counted from 1; the largest one for ranks beyond the end.
    fn ranked(&self, rank: f64) -> f64 {
        let mut sum = 0;
        let found = self.seen.iter().find(|(_, count)| {
            sum += **count;
            sum as f64 >= rank
        });
        found.or_else(|| self.seen.last_key_value()).map_or(0.0, |(number, _)| *number as f64)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub(crate) fn median(&self) -> u64 {
        self.ranked(self.total as f64 * 0.5) as u64
    }

    pub(crate) fn spread(&self) -> Spread {
        let total = self.total as f64;
        let within = |share: f64| {
            let error = ERRORS * (total * share * (1.0 - share)).sqrt();
            let highest = (total * share + error).ceil();
            let high = if highest > total { f64::INFINITY } else { self.ranked(highest) };
            let lowest = total * share - error;
            (if lowest < 1.0 { 0.0 } else { self.ranked(lowest) }, high)
        };
        Spread {
            median: self.ranked(total * 0.5),
            p95: self.ranked(total * 0.95),
            median_within: within(0.5),
            p95_within: within(0.95),
        }
    }
}

/// How often each value of a parameter was used, by keyed hashes. Counting ends at the last level.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueFrequencies {
    counts: HashMap<u64, u32>,
    last: u64,
    total: u64,
    /// For each level that was reached: calls, and the share of the hottest values.
    pub(crate) levels: Vec<(u64, f64)>,
}

impl ValueFrequencies {
    /// Counts a value, and takes a place in `room` for one that is new.
    pub(crate) fn add(&mut self, hash: u64, room: &mut u64) {
        if self.total >= LEVELS[2] || (*room == 0 && !self.counts.contains_key(&hash)) {
            return;
        }
        self.last = hash;
        let count = self.counts.entry(hash).or_default();
        *room -= u64::from(*count == 0);
        *count += 1;
        self.total += 1;
        if LEVELS.contains(&self.total) {
            self.levels.push((self.total, self.share()));
        }
        if self.total == LEVELS[2] {
            *room += self.counts.len() as u64;
            self.counts = HashMap::new();
        }
    }

    /// The number of uses, and the share of them that the most frequent 1 % of the values have.
    pub(crate) fn hottest(&self) -> Option<(u64, f64)> {
        match self.counts.is_empty() {
            true => self.levels.last().copied(),
            false if self.total < FEWEST_CALLS => None,
            false => Some((self.total, self.share())),
        }
    }

    /// The value that all of several calls used.
    pub(crate) fn single(&self) -> Option<u64> {
        let is_all = self.levels.last().is_none_or(|(_, share)| *share >= 1.0);
        (self.total >= FEWEST_OF_ONE && self.counts.len() <= 1 && is_all).then_some(self.last)
    }

    fn share(&self) -> f64 {
        let mut counts: Vec<u32> = self.counts.values().copied().collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let hot: u32 = counts[..counts.len().div_ceil(100)].iter().sum();
        f64::from(hot) / self.total as f64
    }
}
