//! Measuring path: no lock, log or formatting here. Memory is taken when a name is seen for the first time, when its histogram grows, and for
//! raw rows and time series, which grow by nature.
//!
//! What was counted under each name: the four kinds of measurement that YCSB has.

use crate::metric::{Metric, Return};
use hdrhistogram::Histogram;
use std::sync::Arc;

const DIGITS: u8 = 3;
const RETURNS: usize = Return::ALL.len();
/// Variants of each metric: its own, that of all failures, and one for each way of failing.
const VARIANTS: usize = 2 + RETURNS;

/// What is kept of every latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    /// An HDR histogram of microseconds.
    pub(crate) hdr: bool,
    /// This many buckets of a millisecond.
    pub(crate) buckets: Option<usize>,
    /// Means over this many milliseconds.
    pub(crate) series_ms: Option<u64>,
    pub(crate) raw: bool,
}

impl Kinds {
    /// Whether an HDR histogram is kept beside another kind: then each has a prefix in its names.
    pub(crate) fn is_two_in_one(self) -> bool {
        self.hdr && (self.buckets.is_some() || self.raw)
    }
}

/// How many operations ended in each way of [`Return`].
pub(crate) type Returns = [u64; RETURNS];

/// Which latencies are kept: `measurement.interval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interval {
    Op,
    /// From when it was due, under the plain names.
    Intended,
    /// Both, those from when it was due under names of their own.
    Both,
}

/// How a tally is laid out: the same for all sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) kinds: Kinds,
    pub(crate) interval: Interval,
    /// For each way of ending, whether its latencies have a name of their own when it is a failure.
    pub(crate) apart: [bool; RETURNS],
}

/// Latencies from dispatch, and from when the operation was due, microseconds rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Micros {
    pub(crate) plain: u64,
    pub(crate) intended: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Tally {
    layout: Arc<Layout>,
    cells: Vec<Option<Box<Cell>>>,
}

/// What was counted under one name.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// When it was first used, nanoseconds from the start: decides the order of names.
    first_ns: u64,
    /// How operations ended, by [`Return`].
    pub(crate) returns: Returns,
    pub(crate) hdr: Option<Histogram<u64>>,
    pub(crate) buckets: Option<Buckets>,
    pub(crate) series: Option<Series>,
    pub(crate) raw: Option<Vec<Row>>,
}

/// One latency of the raw kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// When it completed, milliseconds since 1970.
    pub(crate) at_ms: u64,
    pub(crate) micros: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Buckets {
    pub(crate) counts: Vec<u64>,
    pub(crate) overflow: u64,
    pub(crate) sums: Sums,
}

/// What means and variances are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    pub(crate) count: u64,
    pub(crate) sum: u64,
    pub(crate) squares: f64,
    pub(crate) min: u64,
    pub(crate) max: u64,
}

/// Sum and count of each stretch of time, from the start of the point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) stretch_ms: u64,
    pub(crate) stretches: Vec<(u64, u64)>,
    pub(crate) sums: Sums,
}

impl Sums {
    fn add(&mut self, micros: u64) {
        self.min = if self.count == 0 { micros } else { self.min.min(micros) };
        self.max = self.max.max(micros);
        self.count += 1;
        self.sum = self.sum.saturating_add(micros);
        self.squares += micros as f64 * micros as f64;
    }

    fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.squares += other.squares;
    }

    /// 0 where nothing was counted.
    pub(crate) fn mean(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        self.sum as f64 / self.count as f64
    }

    /// The variance of everything counted, 0 where nothing was.
    pub(crate) fn variance(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        (self.squares / self.count as f64 - self.mean() * self.mean()).max(0.0)
    }
}

impl Cell {
    #[cold]
    fn new(kinds: Kinds, first_ns: u64) -> Box<Self> {
        Box::new(Self {
            first_ns,
            returns: [0; RETURNS],
            hdr: kinds.hdr.then(|| {
                Histogram::new(DIGITS).expect("3 is a number of digits that HdrHistogram takes")
            }),
            buckets: kinds.buckets.map(|count| Buckets {
                counts: vec![0; count],
                overflow: 0,
                sums: Sums::default(),
            }),
            series: kinds.series_ms.map(|stretch_ms| Series {
                stretch_ms,
                stretches: Vec::new(),
                sums: Sums::default(),
            }),
            raw: kinds.raw.then(Vec::new),
        })
    }

    fn add(&mut self, micros: u64, completed_ns: u64, now_ms: u64) {
        if let Some(hdr) = &mut self.hdr {
            // It grows by itself, so that nothing is too large for it: saturating would be its first size.
            let _ = hdr.record(micros);
        }
        if let Some(buckets) = &mut self.buckets {
            buckets.sums.add(micros);
            match usize::try_from(micros / 1_000)
                .ok()
                .and_then(|index| buckets.counts.get_mut(index))
            {
                Some(count) => *count += 1,
                None => buckets.overflow += 1,
            }
        }
        if let Some(series) = &mut self.series {
            series.sums.add(micros);
            let index = (completed_ns / 1_000_000 / series.stretch_ms) as usize;
            if series.stretches.len() <= index {
                series.stretches.resize(index + 1, (0, 0));
            }
            let (sum, count) = &mut series.stretches[index];
            *sum = sum.saturating_add(micros);
            *count += 1;
        }
        if let Some(raw) = &mut self.raw {
            raw.push(Row { at_ms: now_ms, micros });
        }
    }

    fn merge(&mut self, other: &mut Self) {
        self.first_ns = self.first_ns.min(other.first_ns);
        for (ours, theirs) in self.returns.iter_mut().zip(other.returns) {
            *ours += theirs;
        }
        if let (Some(ours), Some(theirs)) = (&mut self.hdr, &other.hdr) {
            ours.add(theirs).expect("a histogram that grows takes all of another");
        }
        if let (Some(ours), Some(theirs)) = (&mut self.buckets, &other.buckets) {
            for (ours, theirs) in ours.counts.iter_mut().zip(&theirs.counts) {
                *ours += theirs;
            }
            ours.overflow += theirs.overflow;
            ours.sums.merge(&theirs.sums);
        }
        if let (Some(ours), Some(theirs)) = (&mut self.series, &other.series) {
            if ours.stretches.len() < theirs.stretches.len() {
                ours.stretches.resize(theirs.stretches.len(), (0, 0));
            }
            for (ours, theirs) in ours.stretches.iter_mut().zip(&theirs.stretches) {
                ours.0 = ours.0.saturating_add(theirs.0);
                ours.1 += theirs.1;
            }
            ours.sums.merge(&theirs.sums);
        }
        if let (Some(ours), Some(theirs)) = (&mut self.raw, &mut other.raw) {
            ours.append(theirs);
        }
    }
}

impl Tally {
    pub(crate) fn new(layout: &Arc<Layout>) -> Self {
        let mut cells = Vec::new();
        cells.resize_with(2 * Metric::ALL.len() * VARIANTS, || None);
        Self { layout: Arc::clone(layout), cells }
    }

    /// Counts one latency of an operation that ended so, without counting how it ended. Names of failures are found by how it ended.
    #[inline]
    pub(crate) fn measure(
        &mut self,
        metric: Metric,
        ended: Return,
        micros: Micros,
        completed_ns: u64,
        now_ms: u64,
    ) {
        let variant = if ended.is_good() {
            0
        } else if self.layout.apart[ended as usize] {
            2 + ended as usize
        } else {
            1
        };
        let plain = match self.layout.interval {
            Interval::Op | Interval::Both => micros.plain,
            Interval::Intended => micros.intended,
        };
        self.cell(false, metric, variant, completed_ns).add(plain, completed_ns, now_ms);
        if self.layout.interval == Interval::Both {
            self.cell(true, metric, variant, completed_ns).add(
                micros.intended,
                completed_ns,
                now_ms,
            );
        }
    }

    /// Counts how an operation ended, under its own name.
    #[inline]
    pub(crate) fn count(&mut self, metric: Metric, ended: Return, completed_ns: u64) {
        self.cell(false, metric, 0, completed_ns).returns[ended as usize] += 1;
    }

    /// Counts a latency that has no intended one: under the plain name whatever is kept, and nothing where only intended ones are.
    pub(crate) fn measure_plain(
        &mut self,
        metric: Metric,
        micros: u64,
        completed_ns: u64,
        now_ms: u64,
    ) {
        if self.layout.interval != Interval::Intended {
            self.cell(false, metric, 0, completed_ns).add(micros, completed_ns, now_ms);
        }
    }

    #[inline]
    fn cell(&mut self, intended: bool, metric: Metric, variant: usize, at_ns: u64) -> &mut Cell {
        let index =
            (usize::from(intended) * Metric::ALL.len() + metric as usize) * VARIANTS + variant;
        let kinds = self.layout.kinds;
        self.cells[index].get_or_insert_with(|| Cell::new(kinds, at_ns))
    }

    /// Adds what another tally of the same layout counted, and leaves it empty.
    pub(crate) fn take(&mut self, other: &mut Self) {
        for (ours, theirs) in self.cells.iter_mut().zip(&mut other.cells) {
            match (ours.as_deref_mut(), theirs.take()) {
                (Some(ours), Some(mut theirs)) => ours.merge(&mut theirs),
                (None, theirs) => *ours = theirs,
                (Some(_), None) => {}
            }
        }
    }

    /// Everything counted with its name, plain names first, in the order in which they were first used.
    pub(crate) fn named(&self, intended: bool) -> Vec<(String, &Cell)> {
        let mut all = Vec::new();
        for metric in Metric::ALL {
            for variant in 0..VARIANTS {
                let index = (usize::from(intended) * Metric::ALL.len() + metric as usize)
                    * VARIANTS
                    + variant;
                if let Some(cell) = &self.cells[index] {
                    let name = metric.name();
                    let name = match variant {
                        0 => name.to_owned(),
                        1 => format!("{name}-FAILED"),
                        other => format!("{name}-{}", Return::ALL[other - 2].name()),
                    };
                    all.push((name, cell.as_ref()));
                }
            }
        }
        all.sort_by_key(|(_, cell)| cell.first_ns);
        all
    }

    /// How many operations of this metric ended so.
    pub(crate) fn returns(&self, metric: Metric, ended: Return) -> u64 {
        self.cells[metric as usize * VARIANTS]
            .as_ref()
            .map_or(0, |cell| cell.returns[ended as usize])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn layout(kinds: Kinds, interval: Interval) -> Arc<Layout> {
        Arc::new(Layout { kinds, interval, apart: [false; RETURNS] })
    }

    const ALL_KINDS: Kinds =
        Kinds { hdr: true, buckets: Some(10), series_ms: Some(100), raw: true };

    fn micros(plain: u64) -> Micros {
        Micros { plain, intended: plain + 1_000 }
    }

    fn names(tally: &Tally, intended: bool) -> Vec<String> {
        tally.named(intended).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn failures_go_to_names_of_their_own_and_are_counted_under_the_operation() {
        let mut tally = Tally::new(&layout(ALL_KINDS, Interval::Op));
        for (ended, at) in
            [(Return::Ok, 1), (Return::NotFound, 2), (Return::Error, 3), (Return::BatchedOk, 4)]
        {
            tally.measure(Metric::Read, ended, micros(500), at, 9);
            tally.count(Metric::Read, ended, at);
        }
        let named = tally.named(false);
        assert_eq!(names(&tally, false), ["READ", "READ-FAILED"]);
        assert_eq!(named[0].1.returns, [1, 1, 1, 1, 0]);
        assert_eq!(named[1].1.returns, [0; 5]);
        for (_, cell) in named {
            assert_eq!(cell.hdr.as_ref().unwrap().len(), 2);
        }
        assert!(names(&tally, true).is_empty());

        let mut layout =
            Layout { kinds: ALL_KINDS, interval: Interval::Op, apart: [false; RETURNS] };
        layout.apart[Return::NotFound as usize] = true;
        let mut tally = Tally::new(&Arc::new(layout));
        tally.measure(Metric::Read, Return::NotFound, micros(1), 1, 0);
        tally.measure(Metric::Read, Return::Error, micros(1), 2, 0);
        assert_eq!(names(&tally, false), ["READ-NOT_FOUND", "READ-FAILED"]);
    }

    #[test]
    fn the_interval_decides_which_latencies_are_kept() {
        for (interval, plain, intended) in [
            (Interval::Op, 500, None),
            (Interval::Intended, 1_500, None),
            (Interval::Both, 500, Some(1_500)),
        ] {
            let mut tally = Tally::new(&layout(ALL_KINDS, interval));
            tally.measure(Metric::Scan, Return::Ok, micros(500), 1, 0);
            tally.measure_plain(Metric::ScanPerRecord, 5, 1, 0);
            let of = |intended| {
                let named = tally.named(intended);
                named.first().map(|(_, cell)| cell.raw.as_ref().unwrap()[0].micros)
            };
            assert_eq!((of(false), of(true)), (Some(plain), intended));
            let expected = if interval == Interval::Intended { 1 } else { 2 };
            assert_eq!(tally.named(false).len(), expected);
        }
    }

    #[test]
    fn merging_is_counting_everything_in_one() {
        let layout = layout(ALL_KINDS, Interval::Both);
        let (mut left, mut right, mut whole) =
            (Tally::new(&layout), Tally::new(&layout), Tally::new(&layout));
        for number in 0..100_u64 {
            let at = number * 7_000_000;
            let part = if number % 3 == 0 { &mut left } else { &mut right };
            for tally in [part, &mut whole] {
                tally.measure(Metric::Update, Return::Ok, micros(number * 131), at, number);
                tally.count(Metric::Update, Return::Ok, at);
            }
        }
        left.take(&mut right);
        assert!(right.named(false).is_empty());
        for intended in [false, true] {
            let (merged, expected) = (left.named(intended), whole.named(intended));
            assert_eq!(merged.len(), 1);
            let (merged, expected) = (merged[0].1, expected[0].1);
            assert_eq!(merged.hdr, expected.hdr);
            assert_eq!(merged.buckets, expected.buckets);
            assert_eq!(merged.series, expected.series);
            assert_eq!(merged.returns, expected.returns);
            let sorted = |cell: &Cell| {
                let mut rows = cell.raw.clone().unwrap();
                rows.sort_by_key(|row| row.at_ms);
                rows
            };
            assert_eq!(sorted(merged), sorted(expected));
        }
    }

    #[test]
    fn sums_give_mean_and_variance() {
        let mut sums = Sums::default();
        assert_eq!((sums.mean(), sums.variance()), (0.0, 0.0));
        for micros in [2, 4, 4, 4, 5, 5, 7, 9] {
            sums.add(micros);
        }
        let found = (sums.mean(), sums.variance(), sums.min, sums.max);
        assert_eq!(found, (5.0, 4.0, 2, 9));
    }
}
