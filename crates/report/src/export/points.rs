//! One row for each point of each run, valid or not.

use crate::table::{Rows, table};
use crate::{Report, select};
use plimsoll_judge::{Analysis, CurvePoint, Estimate, PointResult, Steadiness};
use plimsoll_record::{Completed, ExperimentRecord, LoadKind, PointRecord, RunRecord};
use std::collections::HashMap;
use std::io;

table! {
    fn row<'a>(
        analysis: &'a Analysis,
        mix: &'a str,
        point: &'a CurvePoint,
        result: &'a PointResult,
        run: Option<&'a RunRecord>,
        is_line: bool
    );
    let (kind, offered, think) = match point.load {
        LoadKind::Closed { think_time_ns, target, .. } => ("closed", target, Some(think_time_ns)),
        LoadKind::Open { rate, .. } => ("open", Some(rate), None),
    };
    let (steadiness, cut) = match result.steadiness {
        Steadiness::Unknown => ("unknown", None),
        Steadiness::Steady { cut_seconds } => ("steady", Some(cut_seconds)),
        Steadiness::NotSteady => ("not-steady", None),
    };
    let warnings = result.warnings.iter().map(|warning| warning.id.id()).collect::<Vec<&str>>();
    // At the line several trials are one point; each of them alone is in slices.csv and trials.csv.
    let measured = run.filter(|_| !is_line).and_then(|run| match point.point {
        Some(index) => run.points.iter().find(|record| record.label.point == Some(index)),
        None => run.load.as_ref(),
    });
    let completed = measured.map(completed);
    let engine = run.and_then(|run| run.engine.as_ref());
    let price = select::cost(analysis, &point.arm, mix);
    let cost = price.and_then(|price| per_million(price.per_hour, result));
    "experiment_id": Text = &analysis.id;
    "experiment": Text = &analysis.name;
    "arm": Text = &point.arm;
    "mix": Text = mix;
    "point": Integer = point.point;
    "load": Text = &point.load_label;
    "load_kind": Text = kind;
    "sessions": Integer = point.load.sessions();
    "offered_operations_per_second": Number = offered;
    "think_time_ns": Integer = think;
    "block": Integer = result.block;
    "attempt": Integer = result.attempt;
    "valid": Flag = result.valid;
    "warnings": Text = warnings.join(" ");
    "measured_seconds": Number = result.seconds;
    "steadiness": Text = steadiness;
    "cut_seconds": Number = cut;
    "throughput_operations_per_second": Number = result.throughput;
    "ok_operations_after_warm_up": Integer = completed.map(|completed| completed.ok);
    "not_found_operations_after_warm_up": Integer = completed.map(|completed| completed.not_found);
    "failed_operations_after_warm_up": Integer = completed.map(|completed| completed.error);
    "response_mean_ns": Number = of_run(&point.response.mean, result);
    "response_p50_ns": Number = of_run(&point.response.p50, result);
    "response_p95_ns": Number = of_run(&point.response.p95, result);
    "response_p99_ns": Number = of_run(&point.response.p99, result);
    "response_p999_ns": Number = of_run(&point.response.p999, result);
    "any_response_p99_is_lower_bound": Flag = point.p99_at_least;
    "any_response_p999_is_lower_bound": Flag = point.p999_at_least;
    "service_mean_ns": Number = of_run(&point.service.mean, result);
    "service_p50_ns": Number = of_run(&point.service.p50, result);
    "service_p95_ns": Number = of_run(&point.service.p95, result);
    "service_p99_ns": Number = of_run(&point.service.p99, result);
    "service_p999_ns": Number = of_run(&point.service.p999, result);
    "cpu_per_operation_ns": Number = of_run(&point.cpu_per_operation, result);
    "generator_share": Number = result.generator_share;
    "generator_lag_p99_ns": Number = result.generator_lag_p99_ns;
    "achieved_share_of_offered": Number = result.achieved;
    "records_loaded": Integer = run.and_then(|run| run.records_loaded);
    "engine": Text = engine.map(|engine| &engine.name);
    "engine_version": Text = engine.map(|engine| &engine.version);
    "run_position": Integer = run.map(|run| run.position);
    "run_seed": Integer = run.map(|run| run.seed);
    "run_started_at": Text = run.map(|run| &run.started_at);
    "is_plimsoll_line": Flag = is_line;
    "cost_per_million_operations": Number = cost;
    "cost_currency": Text = cost.and(price).map(|price| &price.currency);
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

/// Runs by arm, block and attempt.
type RunsByKey<'a> = HashMap<(&'a str, u32, u32), &'a RunRecord>;

fn runs(record: &ExperimentRecord) -> RunsByKey<'_> {
    record.runs.iter().map(|run| ((run.arm.as_str(), run.block, run.attempt), run)).collect()
}

fn rows(
    take: &mut Rows<'_>,
    report: &Report<'_>,
    runs: &RunsByKey<'_>,
    mix: &str,
    point: &CurvePoint,
    is_line: bool,
) -> io::Result<()> {
    for result in &point.results {
        let run = runs.get(&(point.arm.as_str(), result.block, result.attempt)).copied();
        take(&row(report.analysis, mix, point, result, run, is_line))?;
    }
    Ok(())
}

/// Price of a million successful operations at the throughput of a run that is valid.
pub(super) fn per_million(per_hour: f64, result: &PointResult) -> Option<f64> {
    let cost = per_hour / 3_600.0 / result.throughput * 1e6;
    (result.valid && result.throughput > 0.0 && cost.is_finite()).then_some(cost)
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
