//! `caches: warm`: reads until the hit ratios of the engine's cache and of the page cache have settled.

use plimsoll_loadgen::SliceSink;
use plimsoll_record::figures::{
    DEVICE_READ_BYTES, ENGINE_BLOCK_READ_BYTES, ENGINE_PAGES_READ, ENGINE_PAGES_REQUESTED,
    PROCESS_READ_BYTES,
};
use plimsoll_record::{Slice, WarmedCaches, WorkerUse};
use std::collections::BTreeMap;
use std::time::Duration;

/// Length of each of the two stretches whose means are compared, seconds.
const WINDOW: usize = 5;
/// By how much two means may differ, a share of all that was requested.
const SETTLED: f64 = 0.005;

/// Takes the seconds of filling caches, which are no part of the record, and ends it when the hit ratios have settled.
pub(crate) struct Warming<'a, S> {
    pub(crate) below: &'a mut S,
    pub(crate) hits: Hits,
}

impl<S: SliceSink> SliceSink for Warming<'_, S> {
    fn slice(&mut self, slice: Slice) {
        self.hits.add(&slice);
    }

    fn sample(&mut self) -> (WorkerUse, BTreeMap<String, f64>) {
        self.below.sample()
    }

    fn overdue(&mut self, since_end: Duration) {
        self.below.overdue(since_end);
    }

    fn stop_requested(&mut self) -> bool {
        self.below.stop_requested() || self.hits.have_settled
    }
}

/// Hit ratios of each second: of the engine's cache, and of the page cache. `None` without requests, or where they are unknown.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    seconds: Vec<[Option<f64>; 2]>,
    length_ns: u64,
    have_settled: bool,
}

impl Hits {
    fn add(&mut self, slice: &Slice) {
        // What sessions still do until they end is no second of its own.
        if self.have_settled {
            return;
        }
        let of = |name: &str| slice.telemetry.get(name).copied();
        let ratio = |missed: Option<f64>, requested: Option<f64>| {
            let requested = requested.filter(|requested| *requested > 0.0)?;
            Some((1.0 - missed? / requested).max(0.0))
        };
        let requested = of(ENGINE_BLOCK_READ_BYTES).or_else(|| of(PROCESS_READ_BYTES));
        self.seconds.push([
            ratio(of(ENGINE_PAGES_READ), of(ENGINE_PAGES_REQUESTED)),
            ratio(of(DEVICE_READ_BYTES), requested),
        ]);
        self.length_ns += slice.length_ns;
        self.have_settled = self.are_alike();
    }

    /// Whether the means of the last five seconds are those of the five before. Something must be known of them.
    fn are_alike(&self) -> bool {
        let Some(begin) = self.seconds.len().checked_sub(2 * WINDOW) else {
            return false;
        };
        let (before, last) = self.seconds[begin..].split_at(WINDOW);
        let mut known = 0;
        for cache in 0..2 {
            if let (Some(before), Some(last)) = (mean(before, cache), mean(last, cache)) {
                known += 1;
                if (last - before).abs() > SETTLED {
                    return false;
                }
            }
        }
        known > 0
    }

    pub(crate) fn reached(&self) -> WarmedCaches {
        let last = &self.seconds[self.seconds.len().saturating_sub(WINDOW)..];
        WarmedCaches {
            seconds: self.length_ns as f64 / 1e9,
            settled: self.have_settled,
            engine_hits: mean(last, 0),
            page_cache_hits: mean(last, 1),
        }
    }
}

fn mean(seconds: &[[Option<f64>; 2]], cache: usize) -> Option<f64> {
    let known: Vec<f64> = seconds.iter().filter_map(|second| second[cache]).collect();
    plimsoll_stats::mean(&known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(missed: impl Fn(usize) -> f64, seconds: usize) -> Hits {
        let mut hits = Hits::default();
        for second in 0..seconds {
            let telemetry = [
                (ENGINE_PAGES_REQUESTED, 1_000.0),
                (ENGINE_PAGES_READ, 200.0),
                (ENGINE_BLOCK_READ_BYTES, 1e6),
                (DEVICE_READ_BYTES, 1e6 * missed(second)),
            ];
            let slice = Slice {
                length_ns: 1_000_000_000,
                telemetry: telemetry.map(|(name, value)| (name.to_owned(), value)).into(),
                ..Slice::default()
            };
            hits.add(&slice);
        }
        hits
    }

    #[test]
    fn caches_are_warm_when_nothing_changes_any_more() {
        let filling = |second: usize| 0.5 * (-(second as f64) / 4.0).exp();
        assert!(!hits(filling, 12).have_settled);
        let warm = hits(filling, 30).reached();
        assert!(warm.settled);
        assert_eq!(warm.engine_hits, Some(0.8));
        assert!(warm.page_cache_hits.is_some_and(|hits| hits > 0.98));
        assert!((15.0..30.0).contains(&warm.seconds), "nothing more is added: {warm:?}");
        assert!(!hits(|_| 0.1, 9).have_settled, "too soon to say");
        // Hit ratios that keep changing, and hit ratios that are not known.
        assert!(!hits(|second| 0.5 - second as f64 / 100.0, 30).have_settled);
        let mut silent = Hits::default();
        (0..30).for_each(|_| silent.add(&Slice::default()));
        assert!(!silent.reached().settled);
    }
}
