//! Whole distributions of response times, for those who draw more of them than the few percentiles of an analysis: far into the tail, and over the
//! seconds of a run. They are made from the record when they are requested, of the slices that the analysis counts.

use crate::extract::Totals;
use crate::steadiness::{rate, successful_units};
use crate::{CurvePoint, PointResult, TimeSeries};
use plimsoll_record::{
    ExperimentRecord, Histogram, Latencies, PointRecord, RunState, Slice, Status, each_unit,
};
use std::collections::BTreeMap;

/// Shares of the operations that took longer, within one decade.
const WITHIN_DECADE: [f64; 6] = [1.0, 0.75, 0.5, 0.35, 0.25, 0.15];
/// Decades, at most: one operation in a million.
const DECADES: i32 = 6;
/// Beyond a value of the tail there are at least this many operations; with fewer it would be chance.
const FEWEST_BEYOND: f64 = 5.0;
/// How much two sums of the same seconds may differ by rounding.
const ROUNDING: f64 = 1e-6;

/// Rows of a [`Heat`] for each power of ten of the response time.
pub const HEAT_ROWS_PER_DECADE: u32 = 12;

/// The response times of an arm at one load, all valid runs together: histograms merged, after the warm-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    pub runs: u32,
    pub operations: u64,
    /// Response times, from p25 on as far as enough operations lie beyond.
    pub response: Vec<TailValue>,
    /// Service times; empty where they are the same.
    pub service: Vec<TailValue>,
    pub longest_ns: f64,
    /// So many operations were due and unfinished at the ends of the runs that response times are lower bounds where this share took longer.
    pub at_least_from: Option<f64>,
}

/// One place of a tail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TailValue {
    /// Share of the operations that took longer: 0.001 at p99.9.
    pub beyond: f64,
    pub value_ns: f64,
}

/// Over the seconds of one run, how many operations took how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    pub columns: Vec<HeatColumn>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HeatColumn {
    /// Begin, seconds from the start of the point.
    pub from: f64,
    pub to: f64,
    /// Row and operations in it, in rising order. Row `r` holds response times from `10^(r / HEAT_ROWS_PER_DECADE)` nanoseconds on.
    pub rows: Vec<(u32, u64)>,
}

/// The tail of a point of a curve; `None` where no histograms of it are known.
pub fn tail(record: &ExperimentRecord, point: &CurvePoint) -> Option<Tail> {
    let (mut response, mut service) = (Histogram::new(), Histogram::new());
    let (mut runs, mut finished, mut unfinished) = (0, 0_u64, 0_u64);
    let mut is_open = false;
    for result in point.results.iter().filter(|result| result.valid) {
        let Some(measured) = measured(record, point, result) else {
            continue;
        };
        let stated = crate::imported::whole(measured);
        let totals = match &stated {
            Some(whole) => Totals::of(&[whole]),
            None => Totals::of_kept(measured, &kept(measured, result.seconds)),
        };
        response.merge(&totals.units(Status::Ok, Latencies::response));
        service.merge(&totals.units(Status::Ok, |latencies| &latencies.service));
        is_open |= totals.is_open();
        finished = finished.saturating_add(totals.completed().total());
        if let Some(late) = measured.end.as_ref().and_then(|end| end.unfinished.as_ref()) {
            unfinished = unfinished.saturating_add(late.count());
            response.merge(late);
        }
        runs += 1;
    }
    // Imported figures without buckets have a few percentiles at most, and no curve goes through those.
    if response.is_empty() || response.summary().is_some() || service.summary().is_some() {
        return None;
    }
    let due = finished.saturating_add(unfinished);
    Some(Tail {
        runs,
        operations: response.count(),
        service: if is_open { values(&service) } else { Vec::new() },
        longest_ns: response.max_ns().unwrap_or(0) as f64,
        response: values(&response),
        at_least_from: (unfinished > 0 && due > 0).then(|| unfinished as f64 / due as f64),
    })
}

fn values(histogram: &Histogram) -> Vec<TailValue> {
    let count = histogram.count() as f64;
    let mut values = Vec::new();
    for decade in 0..DECADES {
        for share in WITHIN_DECADE {
            let beyond = share * 10f64.powi(-decade);
            // The single fastest operation is chance.
            if beyond >= 1.0 {
                continue;
            }
            if beyond * count < FEWEST_BEYOND {
                return values;
            }
            let percentile = (1.0 - beyond) * 100.0;
            if let Some(value_ns) = histogram.percentile_ns(percentile) {
                values.push(TailValue { beyond, value_ns: value_ns as f64 });
            }
        }
    }
    values
}

/// What was measured of a point in one run. A search has many measurements of one point; it is that one whose throughput was reported.
fn measured<'a>(
    record: &'a ExperimentRecord,
    point: &CurvePoint,
    result: &PointResult,
) -> Option<&'a PointRecord> {
    let run = record.runs.iter().find(|run| {
        (run.arm.as_str(), run.block, run.attempt)
            == (point.arm.as_str(), result.block, result.attempt)
    })?;
    if point.point.is_none() {
        return run.load.as_ref();
    }
    let is_described = |measured: &&PointRecord| {
        let slices = kept(measured, result.seconds);
        // Counts come from a file, which may hold anything.
        let counts = slices.iter().map(|slice| slice.completed.ok);
        let ok = counts.fold(0, u64::saturating_add);
        let off = rate(ok, result.seconds) - result.throughput;
        off.abs() <= ROUNDING * result.throughput.abs()
    };
    let mut candidates = run.points.iter().filter(|measured| measured.label.point == point.point);
    let first = candidates.next()?;
    if first.label.trial.is_none() || is_described(&first) {
        return Some(first);
    }
    candidates.find(is_described)
}

/// The last slices that make this many seconds together: those after the warm-up and what was cut beyond it.
fn kept(point: &PointRecord, seconds: f64) -> Vec<&Slice> {
    let mut kept = Vec::new();
    let mut sum = 0.0;
    for slice in point.slices.iter().rev().filter(|slice| !slice.warm_up) {
        sum += slice.length_ns as f64 / 1e9;
        if sum > seconds + ROUNDING {
            break;
        }
        kept.push(slice);
    }
    kept
}

/// Response times over the seconds of a series, in at most `columns` stretches; `None` where no histograms of it are known.
pub fn heat(record: &ExperimentRecord, series: &TimeSeries, columns: usize) -> Option<Heat> {
    let runs = record.runs.iter().filter(|run| run.arm == series.arm && run.block == series.block);
    let mut attempts: Vec<_> =
        runs.filter(|run| run.state == RunState::Finished || series.point.is_some()).collect();
    attempts.sort_by_key(|run| (run.state != RunState::Finished, std::cmp::Reverse(run.attempt)));
    let points = attempts.into_iter().flat_map(|run| {
        let load = run.load.iter().filter(|_| series.point.is_none());
        let points = run.points.iter().filter(|_| series.point.is_some());
        load.chain(points)
    });
    let mut candidates = points.filter(|point| {
        point.label.point == series.point && point.slices.len() == series.seconds.len()
    });
    let is_described = |point: &&PointRecord| {
        let mut both = point.slices.iter().zip(&series.seconds);
        both.all(|(slice, second)| {
            let off = rate(slice.completed.ok, second.length) - second.throughput;
            off.abs() <= ROUNDING * second.throughput.abs()
        })
    };
    let first = candidates.next()?;
    let point = if first.label.trial.is_none() || is_described(&first) {
        first
    } else {
        candidates.find(is_described)?
    };
    let stretch = point.slices.len().div_ceil(columns.max(1)).max(1);
    let columns: Vec<HeatColumn> = point.slices.chunks(stretch).map(column).collect();
    let is_known = columns.iter().any(|column| !column.rows.is_empty());
    is_known.then_some(Heat { columns })
}

fn column(slices: &[Slice]) -> HeatColumn {
    let mut rows: BTreeMap<u32, u64> = BTreeMap::new();
    for slice in slices {
        each_unit(&successful_units(slice), |value_ns, count| {
            let row = (value_ns.max(1) as f64).log10() * f64::from(HEAT_ROWS_PER_DECADE);
            let held = rows.entry(row as u32).or_default();
            *held = held.saturating_add(count);
        });
    }
    let at = |nanos: u64| nanos as f64 / 1e9;
    let (from, to) = match (slices.first(), slices.last()) {
        (Some(first), Some(last)) => {
            (at(first.start_ns), at(last.start_ns.saturating_add(last.length_ns)))
        }
        _ => (0.0, 0.0),
    };
    HeatColumn { from, to, rows: rows.into_iter().collect() }
}
