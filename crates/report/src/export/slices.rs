//! One row for each slice, operation and status; a slice in which nothing was completed has one row without an operation.

use crate::table::{Cell, Column, Kind, Rows};
use plimsoll_record::{
    ExperimentRecord, Histogram, Latencies, OperationSlice, PointRecord, RunRecord, RunState, Slice,
};
use std::collections::BTreeSet;
use std::io;

const WHERE: [(&str, Kind); 12] = [
    ("arm", Kind::Text),
    ("block", Kind::Integer),
    ("attempt", Kind::Integer),
    ("run_state", Kind::Text),
    ("mix", Kind::Text),
    ("point", Kind::Integer),
    ("load", Kind::Text),
    ("slice", Kind::Integer),
    ("slice_start_ns", Kind::Integer),
    ("slice_length_ns", Kind::Integer),
    ("slice_is_warm_up", Kind::Flag),
    ("trial", Kind::Integer),
];
/// Columns of the whole slice, the same in each of its rows.
const SLICE: [&str; 6] = [
    "slice_ok_operations",
    "slice_not_found_operations",
    "slice_failed_operations",
    "slice_worker_cpu_user_ns",
    "slice_worker_cpu_system_ns",
    "slice_worker_resident_bytes",
];
/// Columns of one operation and status.
const PART: [(&str, Kind); 3] =
    [("operation", Kind::Text), ("status", Kind::Text), ("operations", Kind::Integer)];
const KINDS: [&str; 3] = ["response", "service", "wait"];
const PERCENTILES: [(&str, f64); 4] = [("p50", 50.0), ("p95", 95.0), ("p99", 99.0), ("p999", 99.9)];

/// The columns that every record has, and those of what was watched.
pub(super) fn columns(record: &ExperimentRecord) -> Vec<Column> {
    let mut columns: Vec<Column> = WHERE.map(|(name, kind)| Column::new(name, kind)).into();
    columns.extend(SLICE.map(|name| Column::new(name, Kind::Integer)));
    columns.extend(PART.map(|(name, kind)| Column::new(name, kind)));
    for kind in KINDS {
        for (figure, _) in PERCENTILES {
            columns.push(Column::new(format!("{kind}_{figure}_ns"), Kind::Integer));
        }
        columns.push(Column::new(format!("{kind}_max_ns"), Kind::Integer));
        columns.push(Column::new(format!("{kind}_mean_ns"), Kind::Number));
    }
    for name in watched(record) {
        columns.push(Column::new(name.to_owned(), Kind::Number));
    }
    columns
}

pub(super) fn write(record: &ExperimentRecord, take: &mut Rows<'_>) -> io::Result<()> {
    let watched = watched(record);
    for run in &record.runs {
        for point in run.load.iter().chain(&run.points) {
            for slice in &point.slices {
                if slice.operations.is_empty() {
                    take(&row(run, point, slice, None, &watched))?;
                }
                for part in &slice.operations {
                    take(&row(run, point, slice, Some(part), &watched))?;
                }
            }
        }
    }
    Ok(())
}

/// Names of all figures that any slice has, in alphabetical order.
fn watched(record: &ExperimentRecord) -> BTreeSet<&str> {
    let points = record.runs.iter().flat_map(|run| run.load.iter().chain(&run.points));
    points
        .flat_map(|point| &point.slices)
        .flat_map(|slice| slice.telemetry.keys())
        .map(String::as_str)
        .collect()
}

fn row<'a>(
    run: &'a RunRecord,
    point: &'a PointRecord,
    slice: &'a Slice,
    part: Option<&'a OperationSlice>,
    watched: &BTreeSet<&str>,
) -> Vec<Cell<'a>> {
    let state = match run.state {
        RunState::Started => "started",
        RunState::Finished => "finished",
        RunState::Interrupted => "interrupted",
        RunState::Failed { .. } => "failed",
    };
    let mut row: Vec<Cell<'_>> = vec![
        (&run.arm).into(),
        run.block.into(),
        run.attempt.into(),
        state.into(),
        (&point.label.mix).into(),
        point.label.point.into(),
        (&point.label.load_label).into(),
        slice.index.into(),
        slice.start_ns.into(),
        slice.length_ns.into(),
        slice.warm_up.into(),
        point.label.trial.into(),
        slice.completed.ok.into(),
        slice.completed.not_found.into(),
        slice.completed.error.into(),
        slice.worker.cpu_user_ns.into(),
        slice.worker.cpu_system_ns.into(),
        slice.worker.resident_bytes.into(),
        part.map(|part| part.operation.name()).into(),
        part.map(|part| part.status.name()).into(),
        part.map_or(0, |part| part.latencies.count()).into(),
    ];
    let latencies = part.map(|part| &part.latencies);
    figures(&mut row, latencies.map(Latencies::response));
    figures(&mut row, latencies.map(|latencies| &latencies.service));
    figures(&mut row, latencies.and_then(Latencies::wait));
    // These are of the whole slice as well.
    for name in watched {
        row.push(slice.telemetry.get(*name).copied().into());
    }
    row
}

fn figures(row: &mut Vec<Cell<'_>>, histogram: Option<&Histogram>) {
    for (_, percentile) in PERCENTILES {
        row.push(histogram.and_then(|histogram| histogram.percentile_ns(percentile)).into());
    }
    row.push(histogram.and_then(Histogram::max_ns).into());
    row.push(histogram.and_then(Histogram::mean_ns).into());
}
