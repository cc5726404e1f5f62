//! One row for each slice, operation and status; a slice in which nothing was completed has one row without an operation.

use csv::Writer;
use plimsoll_record::{
    ExperimentRecord, Histogram, OperationSlice, PointRecord, RunRecord, RunState, Slice,
};
use std::collections::BTreeSet;
use std::io::Write;

const WHERE: [&str; 12] = [
    "arm",
    "block",
    "attempt",
    "run_state",
    "mix",
    "point",
    "load",
    "slice",
    "slice_start_ns",
    "slice_length_ns",
    "slice_is_warm_up",
    "trial",
];
/// Of the whole slice, so the same in each of its rows.
const SLICE: [&str; 6] = [
    "slice_ok_operations",
    "slice_not_found_operations",
    "slice_failed_operations",
    "slice_worker_cpu_user_ns",
    "slice_worker_cpu_system_ns",
    "slice_worker_resident_bytes",
];
const KINDS: [&str; 3] = ["response", "service", "wait"];
const FIGURES: [&str; 6] = ["p50", "p95", "p99", "p999", "max", "mean"];

pub(super) fn write(record: &ExperimentRecord, out: &mut dyn Write) -> csv::Result<()> {
    let mut table = Writer::from_writer(out);
    let watched = watched(record);
    table.write_record(header(&watched))?;
    for run in &record.runs {
        for point in run.load.iter().chain(&run.points) {
            for slice in &point.slices {
                if slice.operations.is_empty() {
                    table.write_record(row(run, point, slice, None, &watched))?;
                }
                for part in &slice.operations {
                    table.write_record(row(run, point, slice, Some(part), &watched))?;
                }
            }
        }
    }
    table.flush()?;
    Ok(())
}

/// Names of all figures that any slice has, in alphabetical order.
fn watched(record: &ExperimentRecord) -> BTreeSet<&str> {
    let points = record
        .runs
        .iter()
        .flat_map(|run| run.load.iter().chain(&run.points));
    points
        .flat_map(|point| &point.slices)
        .flat_map(|slice| slice.telemetry.keys())
        .map(String::as_str)
        .collect()
}

fn header(watched: &BTreeSet<&str>) -> Vec<String> {
    let mut names: Vec<String> = WHERE
        .iter()
        .chain(&SLICE)
        .map(|name| (*name).to_owned())
        .collect();
    names.extend(["operation", "status", "operations"].map(str::to_owned));
    for kind in KINDS {
        names.extend(FIGURES.iter().map(|figure| format!("{kind}_{figure}_ns")));
    }
    names.extend(watched.iter().map(|name| (*name).to_owned()));
    names
}

fn row(
    run: &RunRecord,
    point: &PointRecord,
    slice: &Slice,
    part: Option<&OperationSlice>,
    watched: &BTreeSet<&str>,
) -> Vec<String> {
    let state = match run.state {
        RunState::Started => "started",
        RunState::Finished => "finished",
        RunState::Interrupted => "interrupted",
        RunState::Failed { .. } => "failed",
    };
    let mut row = vec![
        run.arm.clone(),
        run.block.to_string(),
        run.attempt.to_string(),
        state.to_owned(),
        point.label.mix.clone(),
        point
            .label
            .point
            .map_or_else(String::new, |index| index.to_string()),
        point.label.load_label.clone(),
        slice.index.to_string(),
        slice.start_ns.to_string(),
        slice.length_ns.to_string(),
        slice.warm_up.to_string(),
        point
            .label
            .trial
            .map_or_else(String::new, |trial| trial.to_string()),
        slice.completed.ok.to_string(),
        slice.completed.not_found.to_string(),
        slice.completed.error.to_string(),
        slice.worker.cpu_user_ns.to_string(),
        slice.worker.cpu_system_ns.to_string(),
        slice.worker.resident_bytes.to_string(),
    ];
    match part {
        Some(part) => {
            row.push(part.operation.name().to_owned());
            row.push(part.status.name().to_owned());
            row.push(part.latencies.count().to_string());
            figures(&mut row, Some(part.latencies.response()));
            figures(&mut row, Some(&part.latencies.service));
            figures(&mut row, part.latencies.wait());
        }
        None => {
            row.extend([String::new(), String::new(), "0".to_owned()]);
            for _ in KINDS {
                figures(&mut row, None);
            }
        }
    }
    // Of the whole slice as well. What was not seen, or is no number, is an empty field.
    for name in watched {
        let value = slice.telemetry.get(*name).filter(|value| value.is_finite());
        row.push(value.map_or_else(String::new, f64::to_string));
    }
    row
}

fn figures(row: &mut Vec<String>, histogram: Option<&Histogram>) {
    let text = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    for percentile in [50.0, 95.0, 99.0, 99.9] {
        row.push(text(
            histogram.and_then(|histogram| histogram.percentile_ns(percentile)),
        ));
    }
    row.push(text(histogram.and_then(Histogram::max_ns)));
    row.push(
        histogram
            .and_then(Histogram::mean_ns)
            .map_or_else(String::new, |mean| format!("{mean:.1}")),
    );
}
