//! What each operation of a mix did, arm by arm and point by point.

use super::{Cell, Column, Group, Narrow, Table};
use crate::{select, text};
use plimsoll_judge::{Curve, CurvePoint, LatencySummary};
use plimsoll_record::quantities::numbers::Numbers;

/// Columns to which names are shortened.
const NAME: usize = 48;

/// The operations at each point with a valid run; `None` without any.
pub(crate) fn operations(curves: &[&Curve], numbers: Numbers) -> Option<Table> {
    let points = curves.iter().flat_map(|curve| &curve.points);
    let known = points.filter(|point| point.valid_runs > 0 && !point.by_operation.is_empty());
    let groups: Vec<Group> = known.map(|point| group(point, numbers)).collect();
    if groups.is_empty() {
        return None;
    }
    Some(Table {
        title: "operations",
        lead: "",
        columns: vec![
            Column::words("Operation"),
            Column::figure("Throughput", "op/s", "op/s"),
            Column::figure("p50", "", ""),
            Column::figure("p95", "", ""),
            Column::figure("p99", "", ""),
            Column::figure("Found nothing", "of the calls", "found nothing"),
            Column::figure("p99.9", "", ""),
            Column::figure("Mean", "", ""),
        ],
        groups,
        remark: "",
        file: "analysis.json",
        narrow: Narrow::Drop,
    })
}

/// Whether a table of these says more than that of all operations together.
pub(crate) fn has_several_operations(curves: &[&Curve]) -> bool {
    let mut points = curves.iter().flat_map(|curve| &curve.points);
    points.any(|point| point.by_operation.len() > 1)
}

fn group(point: &CurvePoint, numbers: Numbers) -> Group {
    let rows = point.by_operation.iter();
    Group {
        arm: Some(point.arm.clone()),
        words: format!(" · {}", text::line(&point.load_label)),
        rows: rows.map(|(name, latencies)| row(point, name, latencies, numbers)).collect(),
    }
}

fn row(point: &CurvePoint, name: &str, latencies: &LatencySummary, numbers: Numbers) -> Vec<Cell> {
    let is_service = point.response.mean.median.is_none();
    let latency = |estimate| numbers.latency(select::median(estimate));
    let [throughput, nothing] = match point.operations.get(name) {
        Some(own) => [own.throughput.median, own.nothing.median],
        // Alone it is all that there is.
        None if point.by_operation.len() == 1 => [point.throughput.median, None],
        None => [None, None],
    };
    vec![
        Cell::from(text::short(name, NAME)).with(is_service.then(|| "service time".to_owned())),
        throughput.map(|rate| numbers.rate(rate)).into(),
        latency(&latencies.p50).into(),
        latency(&latencies.p95).into(),
        latency(&latencies.p99).into(),
        nothing.map(|share| numbers.percent(share)).into(),
        latency(&latencies.p999).into(),
        latency(&latencies.mean).into(),
    ]
}
