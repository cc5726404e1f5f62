//! What a server wrote about itself while it was measured, laid onto the slices after the run: where it did not answer in time, it
//! may have written it to its own files.

use plimsoll_engine::MetricsSample;
use plimsoll_record::{Slice, WorkerUse, figures};
use plimsoll_store::{PointId, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// A gap that is longer is not bridged. Servers write about themselves each second.
const LONGEST_GAP_MS: f64 = 3_000.0;
const MILLISECOND_NS: f64 = 1e6;

/// The slices of a run, as far as they must be known to be filled up.
#[derive(Debug, Default)]
pub(crate) struct SliceIndex {
    points: Vec<IndexedPoint>,
}

#[derive(Debug)]
struct IndexedPoint {
    id: PointId,
    begun_ms: f64,
    /// In their order; late shares are left out.
    slices: Vec<IndexedSlice>,
}

/// When a slice was, and what is known of it.
#[derive(Debug)]
struct IndexedSlice {
    index: u32,
    start_ns: u64,
    length_ns: u64,
    warm_up: bool,
    known: BTreeSet<String>,
}

impl SliceIndex {
    /// A point or load phase begins, at a time as records write it. One whose time cannot be read is passed over.
    pub(crate) fn point(&mut self, id: PointId, started_at: &str) {
        if let Ok(begun) = started_at.parse::<jiff::Timestamp>() {
            self.points.push(IndexedPoint {
                id,
                begun_ms: begun.as_millisecond() as f64,
                slices: Vec::new(),
            });
        }
    }

    /// A slice of the point that began last.
    pub(crate) fn slice(&mut self, id: PointId, slice: &Slice) {
        let Some(point) = self.points.last_mut().filter(|point| point.id == id) else {
            return;
        };
        let is_late = point.slices.last().is_some_and(|last| last.index >= slice.index);
        if !is_late {
            point.slices.push(IndexedSlice {
                index: slice.index,
                start_ns: slice.start_ns,
                length_ns: slice.length_ns,
                warm_up: slice.warm_up,
                known: slice.telemetry.keys().cloned().collect(),
            });
        }
    }

    /// Adds figures of the samples that were missing.
    pub(crate) fn fill_up(
        &self,
        samples: &[MetricsSample],
        store: &mut Store,
    ) -> Result<(), StoreError> {
        for point in &self.points {
            for slice in &point.slices {
                let telemetry = missing(samples, point.begun_ms, slice);
                if telemetry.is_empty() {
                    continue;
                }
                // A share without any operation: when the record is loaded, its figures are merged with those of the slice.
                let share = Slice {
                    index: slice.index,
                    start_ns: slice.start_ns,
                    length_ns: slice.length_ns,
                    warm_up: slice.warm_up,
                    completed: plimsoll_record::Completed::default(),
                    operations: Vec::new(),
                    by_host: Vec::new(),
                    worker: WorkerUse::default(),
                    telemetry,
                };
                store.add_slice(point.id, &share)?;
            }
        }
        Ok(())
    }
}

/// Figures that the samples tell of a slice beyond those that are known.
fn missing(
    samples: &[MetricsSample],
    begun_ms: f64,
    slice: &IndexedSlice,
) -> BTreeMap<String, f64> {
    let begin = begun_ms + slice.start_ns as f64 / MILLISECOND_NS;
    let end = begin + slice.length_ns as f64 / MILLISECOND_NS;
    let (Some(at_begin), Some(at_end)) = (around(samples, begin), around(samples, end)) else {
        return BTreeMap::new();
    };
    let mut found = BTreeMap::new();
    for (name, _) in &at_end.0.1 {
        let name = name.as_ref();
        if slice.known.contains(name) {
            continue;
        }
        let figure = if figures::is_level(name) {
            between(at_end, end, name)
        } else {
            let counts = between(at_end, end, name).zip(between(at_begin, begin, name));
            // A counter that fell has begun again.
            counts.map(|(after, before)| after - before).filter(|rise| *rise >= 0.0)
        };
        found.extend(figure.map(|figure| (name.to_owned(), figure)));
    }
    found
}

/// The samples before and after a moment; `None` where they are too far apart.
fn around(samples: &[MetricsSample], moment_ms: f64) -> Option<(&MetricsSample, &MetricsSample)> {
    let after = samples.partition_point(|(time, _)| (*time as f64) < moment_ms);
    let next = samples.get(after)?;
    if next.0 as f64 == moment_ms {
        return Some((next, next));
    }
    let last = samples.get(after.checked_sub(1)?)?;
    ((next.0 - last.0) as f64 <= LONGEST_GAP_MS).then_some((last, next))
}

/// A figure at a moment between two samples, on the straight line through them.
fn between(
    (last, next): (&MetricsSample, &MetricsSample),
    moment_ms: f64,
    name: &str,
) -> Option<f64> {
    let of = |sample: &MetricsSample| {
        let found = sample.1.iter().find(|(known, _)| known == name)?;
        Some(found.1)
    };
    let (before, after) = (of(last)?, of(next)?);
    let length = (next.0 - last.0) as f64;
    if length <= 0.0 {
        return Some(after);
    }
    let share = (moment_ms - last.0 as f64) / length;
    Some(before + (after - before) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTER: &str = figures::ENGINE_PAGES_READ;
    const LEVEL: &str = figures::ENGINE_CACHE_DIRTY;

    fn slice(start_ns: u64, known: &[&str]) -> IndexedSlice {
        IndexedSlice {
            index: 0,
            start_ns,
            length_ns: 1_000_000_000,
            warm_up: false,
            known: known.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    fn samples(values: &[(i64, f64, f64)]) -> Vec<MetricsSample> {
        values
            .iter()
            .map(|&(time, count, level)| {
                (time, vec![(COUNTER.into(), count), (LEVEL.into(), level)])
            })
            .collect()
    }

    fn expected(counter: f64, level: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([(COUNTER.to_owned(), counter), (LEVEL.to_owned(), level)])
    }

    #[test]
    fn counters_rise_over_the_slice_and_levels_are_those_of_its_end() {
        // The slice lies from 10.5 s to 11.5 s.
        let samples = samples(&[(10_000, 100.0, 0.0), (11_000, 120.0, 8.0), (12_000, 180.0, 4.0)]);
        let found = missing(&samples, 10_000.0, &slice(500_000_000, &[]));
        assert_eq!(found, expected(150.0 - 110.0, 6.0));
        let on_the_samples = missing(&samples, 10_000.0, &slice(0, &[]));
        assert_eq!(on_the_samples, expected(20.0, 8.0));
    }

    #[test]
    fn what_is_known_is_left_alone() {
        let samples = samples(&[(0, 0.0, 0.0), (1_000, 5.0, 1.0)]);
        let found = missing(&samples, 0.0, &slice(0, &[COUNTER]));
        assert_eq!(found, BTreeMap::from([(LEVEL.to_owned(), 1.0)]));
        assert!(missing(&samples, 0.0, &slice(0, &[COUNTER, LEVEL])).is_empty());
    }

    #[test]
    fn gaps_ends_and_restarts_give_no_figures() {
        let gap = samples(&[(0, 0.0, 0.0), (10_000, 5.0, 1.0)]);
        assert!(missing(&gap, 0.0, &slice(500_000_000, &[])).is_empty());
        let ends = samples(&[(0, 0.0, 0.0), (900, 5.0, 1.0)]);
        assert!(missing(&ends, 0.0, &slice(0, &[])).is_empty());
        assert!(missing(&[], 0.0, &slice(0, &[])).is_empty());
        let restart = samples(&[(0, 9.0, 2.0), (1_000, 5.0, 1.0)]);
        let expected = BTreeMap::from([(LEVEL.to_owned(), 1.0)]);
        assert_eq!(missing(&restart, 0.0, &slice(0, &[])), expected);
    }
}
