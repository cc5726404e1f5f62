//! Invented histograms for every second of the invented series, so that tails and heat can be drawn.

use plimsoll_judge::{Analysis, TimeSeries};
use plimsoll_record::{
    Completed, ExperimentRecord, Histogram, Latencies, OpenLatencies, Operation, OperationSlice,
    PointEnd, PointLabel, PointRecord, Slice, Status,
};
use std::collections::HashMap;

const OPERATIONS: u32 = 3_000;

/// Histograms made so far, by the logarithms of their median and of how far their tail goes.
#[derive(Default)]
struct HistogramCache(HashMap<(i32, i32), Histogram>);

impl HistogramCache {
    /// A hump around p50 that reaches p99, as a record has it that was read from a file.
    fn histogram(&mut self, p50_ns: f64, p99_ns: f64) -> Histogram {
        let key =
            ((p50_ns.log2() * 6.0).round() as i32, ((p99_ns / p50_ns).ln() * 6.0).round() as i32);
        let make = || {
            let (p50_ns, steep) =
                (2f64.powf(f64::from(key.0) / 6.0), f64::from(key.1) / 6.0 / 99f64.ln());
            let mut histogram = Histogram::new();
            for place in 0..OPERATIONS {
                let share = (f64::from(place) + 0.5) / f64::from(OPERATIONS);
                histogram.record((p50_ns * (share / (1.0 - share)).powf(steep)) as u64);
            }
            Histogram::from_bytes(&histogram.to_bytes()).expect("it was written here")
        };
        self.0.entry(key).or_insert_with(make).clone()
    }
}

/// Gives every series its slices. `open`: with the times at which operations were due.
pub fn furnish(record: &mut ExperimentRecord, analysis: &Analysis, open: bool) {
    let mut made = HistogramCache::default();
    for run in &mut record.runs {
        let mine = |series: &&TimeSeries| series.arm == run.arm && series.block == run.block;
        run.points = analysis
            .series
            .iter()
            .filter(mine)
            .filter_map(|series| point(analysis, series, &mut made, open))
            .collect();
    }
}

fn point(
    analysis: &Analysis,
    series: &TimeSeries,
    made: &mut HistogramCache,
    open: bool,
) -> Option<PointRecord> {
    let curves =
        analysis.curves.iter().filter(|curve| curve.arm == series.arm && curve.mix == series.mix);
    let point = curves.flat_map(|curve| &curve.points).find(|point| point.point == series.point)?;
    let slices = series.seconds.iter().enumerate().map(|(index, second)| {
        let (p50, p99) = (second.p50_ns.unwrap_or(1e5), second.p99_ns.unwrap_or(1e6));
        let response = made.histogram(p50, p99);
        let latencies = if open {
            let service = made.histogram(p50 * 0.7, p99 * 0.4);
            Latencies {
                service: service.clone(),
                open: Some(Box::new(OpenLatencies { response, wait: service })),
            }
        } else {
            Latencies { service: response, open: None }
        };
        Slice {
            index: index as u32,
            start_ns: (second.at * 1e9) as u64,
            length_ns: (second.length * 1e9) as u64,
            warm_up: second.at < series.warm_up_seconds,
            completed: Completed { ok: u64::from(OPERATIONS), not_found: 0, error: 0 },
            operations: vec![OperationSlice {
                operation: Operation::Read,
                status: Status::Ok,
                latencies,
            }],
            ..Slice::default()
        }
    });
    Some(PointRecord {
        label: PointLabel {
            point: series.point,
            mix: series.mix.clone(),
            load_label: point.load_label.clone(),
            load: point.load,
            trial: None,
        },
        warm_up_ns: (series.warm_up_seconds * 1e9) as u64,
        started_at: "2026-03-01T09:00:00Z".into(),
        slices: slices.collect(),
        end: Some(PointEnd::default()),
    })
}
