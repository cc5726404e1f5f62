//! One row for each point of each run, valid or not.

use crate::table::{Cell, Column, Kind, Rows};
use crate::{Report, select};
use plimsoll_judge::{CurvePoint, Estimate, LatencySummary, PointResult, Steadiness};
use plimsoll_record::{Completed, ExperimentRecord, LoadKind, PointRecord};
use std::collections::HashMap;
use std::io;

/// What identifies a point.
const COLUMNS: [(&str, Kind); 46] = [
    ("experiment_id", Kind::Text),
    ("experiment", Kind::Text),
    ("arm", Kind::Text),
    ("mix", Kind::Text),
    ("point", Kind::Integer),
    ("load", Kind::Text),
    ("load_kind", Kind::Text),
    ("sessions", Kind::Integer),
    ("offered_operations_per_second", Kind::Number),
    ("think_time_ns", Kind::Integer),
    ("block", Kind::Integer),
    ("attempt", Kind::Integer),
    ("valid", Kind::Flag),
    ("warnings", Kind::Text),
    ("measured_seconds", Kind::Number),
    ("steadiness", Kind::Text),
    ("cut_seconds", Kind::Number),
    ("throughput_operations_per_second", Kind::Number),
    ("ok_operations_after_warm_up", Kind::Integer),
    ("not_found_operations_after_warm_up", Kind::Integer),
    ("failed_operations_after_warm_up", Kind::Integer),
    ("response_mean_ns", Kind::Number),
    ("response_p50_ns", Kind::Number),
    ("response_p95_ns", Kind::Number),
    ("response_p99_ns", Kind::Number),
    ("response_p999_ns", Kind::Number),
    ("any_response_p99_is_lower_bound", Kind::Flag),
    ("any_response_p999_is_lower_bound", Kind::Flag),
    ("service_mean_ns", Kind::Number),
    ("service_p50_ns", Kind::Number),
    ("service_p95_ns", Kind::Number),
    ("service_p99_ns", Kind::Number),
    ("service_p999_ns", Kind::Number),
    ("cpu_per_operation_ns", Kind::Number),
    ("generator_share", Kind::Number),
    ("generator_lag_p99_ns", Kind::Number),
    ("achieved_share_of_offered", Kind::Number),
    ("records_loaded", Kind::Integer),
    ("engine", Kind::Text),
    ("engine_version", Kind::Text),
    ("run_position", Kind::Integer),
    ("run_seed", Kind::Integer),
    ("run_started_at", Kind::Text),
    ("is_plimsoll_line", Kind::Flag),
    ("cost_per_million_operations", Kind::Number),
    ("cost_currency", Kind::Text),
];

type Key<'a> = (&'a str, u32, u32);

pub(super) fn columns() -> Vec<Column> {
    COLUMNS.map(|(name, kind)| Column::new(name, kind)).into()
}

pub(super) fn write(report: &Report<'_>, take: &mut Rows<'_>) -> io::Result<()> {
    let runs = runs(report.record);
    for curve in &report.analysis.curves {
        for point in &curve.points {
            rows(take, report, &runs, &curve.mix, point, false)?;
        }
    }
    for line in &report.analysis.lines {
        if let Some(point) = &line.at_line {
            rows(take, report, &runs, &line.mix, point, true)?;
        }
    }
    for point in &report.analysis.load_phase {
        rows(take, report, &runs, "load", point, false)?;
    }
    Ok(())
}

fn runs(record: &ExperimentRecord) -> HashMap<Key<'_>, &plimsoll_record::RunRecord> {
    record.runs.iter().map(|run| ((run.arm.as_str(), run.block, run.attempt), run)).collect()
}

fn rows(
    take: &mut Rows<'_>,
    report: &Report<'_>,
    runs: &HashMap<Key<'_>, &plimsoll_record::RunRecord>,
    mix: &str,
    point: &CurvePoint,
    is_line: bool,
) -> io::Result<()> {
    let price = select::cost(report.analysis, &point.arm, mix);
    for result in &point.results {
        let run = runs.get(&(point.arm.as_str(), result.block, result.attempt)).copied();
        // At the line several trials are one point; each of them alone is in slices.csv and trials.csv.
        let measured = run.filter(|_| !is_line).and_then(|run| match point.point {
            Some(index) => run.points.iter().find(|record| record.label.point == Some(index)),
            None => run.load.as_ref(),
        });
        let (kind, offered, think) = match point.load {
            LoadKind::Closed { think_time_ns, target, .. } => {
                ("closed", target, Some(think_time_ns))
            }
            LoadKind::Open { rate, .. } => ("open", Some(rate), None),
        };
        let warnings: Vec<&str> = result.warnings.iter().map(|warning| warning.id.id()).collect();
        let (steadiness, cut) = match result.steadiness {
            Steadiness::Unknown => ("unknown", None),
            Steadiness::Steady { cut_seconds } => ("steady", Some(cut_seconds)),
            Steadiness::NotSteady => ("not-steady", None),
        };
        let completed = measured.map(completed);
        let mut row: Vec<Cell<'_>> = vec![
            (&report.analysis.id).into(),
            (&report.analysis.name).into(),
            (&point.arm).into(),
            mix.into(),
            point.point.into(),
            (&point.load_label).into(),
            kind.into(),
            point.load.sessions().into(),
            offered.into(),
            think.into(),
            result.block.into(),
            result.attempt.into(),
            result.valid.into(),
            warnings.join(" ").into(),
            result.seconds.into(),
            steadiness.into(),
            cut.into(),
            result.throughput.into(),
            completed.map(|completed| completed.ok).into(),
            completed.map(|completed| completed.not_found).into(),
            completed.map(|completed| completed.error).into(),
        ];
        latencies(&mut row, &point.response, result);
        row.push(point.p99_at_least.into());
        row.push(point.p999_at_least.into());
        latencies(&mut row, &point.service, result);
        let engine = run.and_then(|run| run.engine.as_ref());
        let cost = price.and_then(|price| per_million(price.per_hour, result));
        row.extend([
            of_run(&point.cpu_per_operation, result).into(),
            result.generator_share.into(),
            result.generator_lag_p99_ns.into(),
            result.achieved.into(),
            run.and_then(|run| run.records_loaded).into(),
            engine.map(|engine| &engine.name).into(),
            engine.map(|engine| &engine.version).into(),
            run.map(|run| run.position).into(),
            run.map(|run| run.seed).into(),
            run.map(|run| &run.started_at).into(),
            is_line.into(),
            cost.into(),
            cost.and(price).map(|price| &price.currency).into(),
        ]);
        take(&row)?;
    }
    Ok(())
}

/// Price of a million successful operations at the throughput of a run that is valid.
pub(super) fn per_million(per_hour: f64, result: &PointResult) -> Option<f64> {
    let cost = per_hour / 3_600.0 / result.throughput * 1e6;
    (result.valid && result.throughput > 0.0 && cost.is_finite()).then_some(cost)
}

/// Mean, p50, p95, p99, p99.9. Unknown for a run that is not valid.
fn latencies(row: &mut Vec<Cell<'_>>, latencies: &LatencySummary, result: &PointResult) {
    for estimate in
        [&latencies.mean, &latencies.p50, &latencies.p95, &latencies.p99, &latencies.p999]
    {
        row.push(of_run(estimate, result).into());
    }
}

/// The value of one run; `None` where the run is not valid.
pub(super) fn of_run(estimate: &Estimate, result: &PointResult) -> Option<f64> {
    if !result.valid {
        return None;
    }
    estimate.values.iter().find(|(block, _)| *block == result.block).map(|(_, value)| *value)
}

fn completed(point: &PointRecord) -> Completed {
    // What another program says of the whole is more than what its slices add up to.
    if let Some(stated) = point.imported().and_then(|imported| imported.stated.as_ref()) {
        return stated.completed;
    }
    let mut sum = Completed::default();
    for slice in point.slices.iter().filter(|slice| !slice.warm_up) {
        sum += slice.completed;
    }
    sum
}
