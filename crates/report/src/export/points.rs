//! One row for each point of each run, valid or not.

use crate::{Report, select};
use csv::Writer;
use plimsoll_judge::{CurvePoint, Estimate, LatencySummary, PointResult, Steadiness};
use plimsoll_record::{Completed, ExperimentRecord, LoadKind, PointRecord};
use std::collections::HashMap;
use std::io::Write;

const COLUMNS: [&str; 46] = [
    "experiment_id",
    "experiment",
    "arm",
    "mix",
    "point",
    "load",
    "load_kind",
    "sessions",
    "offered_operations_per_second",
    "think_time_ns",
    "block",
    "attempt",
    "valid",
    "warnings",
    "measured_seconds",
    "steadiness",
    "cut_seconds",
    "throughput_operations_per_second",
    "ok_operations_after_warm_up",
    "not_found_operations_after_warm_up",
    "failed_operations_after_warm_up",
    "response_mean_ns",
    "response_p50_ns",
    "response_p95_ns",
    "response_p99_ns",
    "response_p999_ns",
    "any_response_p99_is_lower_bound",
    "any_response_p999_is_lower_bound",
    "service_mean_ns",
    "service_p50_ns",
    "service_p95_ns",
    "service_p99_ns",
    "service_p999_ns",
    "worker_cpu_per_operation_ns",
    "generator_share",
    "generator_lag_p99_ns",
    "achieved_share_of_offered",
    "records_loaded",
    "engine",
    "engine_version",
    "run_position",
    "run_seed",
    "run_started_at",
    "is_plimsoll_line",
    "cost_per_million_operations",
    "cost_currency",
];

type Key<'a> = (&'a str, u32, u32);

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> csv::Result<()> {
    let mut table = Writer::from_writer(out);
    table.write_record(COLUMNS)?;
    let runs = runs(report.record);
    for curve in &report.analysis.curves {
        for point in &curve.points {
            rows(&mut table, report, &runs, &curve.mix, point, false)?;
        }
    }
    for line in &report.analysis.lines {
        if let Some(point) = &line.at_line {
            rows(&mut table, report, &runs, &line.mix, point, true)?;
        }
    }
    for point in &report.analysis.load_phase {
        rows(&mut table, report, &runs, "load", point, false)?;
    }
    table.flush()?;
    Ok(())
}

fn runs(record: &ExperimentRecord) -> HashMap<Key<'_>, &plimsoll_record::RunRecord> {
    record
        .runs
        .iter()
        .map(|run| ((run.arm.as_str(), run.block, run.attempt), run))
        .collect()
}

fn rows(
    table: &mut Writer<&mut dyn Write>,
    report: &Report<'_>,
    runs: &HashMap<Key<'_>, &plimsoll_record::RunRecord>,
    mix: &str,
    point: &CurvePoint,
    is_line: bool,
) -> csv::Result<()> {
    let price = select::cost(report.analysis, &point.arm, mix);
    for result in &point.results {
        let run = runs
            .get(&(point.arm.as_str(), result.block, result.attempt))
            .copied();
        // At the line several trials are one point; each of them alone is in slices.csv and trials.csv.
        let measured = run.filter(|_| !is_line).and_then(|run| match point.point {
            Some(index) => run
                .points
                .iter()
                .find(|record| record.label.point == Some(index)),
            None => run.load.as_ref(),
        });
        let (kind, offered, think) = match point.load {
            LoadKind::Closed {
                think_time_ns,
                target,
                ..
            } => ("closed", target, Some(think_time_ns)),
            LoadKind::Open { rate, .. } => ("open", Some(rate), None),
        };
        let warnings: Vec<&str> = result
            .warnings
            .iter()
            .map(|warning| warning.id.id())
            .collect();
        let (steadiness, cut) = match result.steadiness {
            Steadiness::Unknown => ("unknown", None),
            Steadiness::Steady { cut_seconds } => ("steady", Some(cut_seconds)),
            Steadiness::NotSteady => ("not-steady", None),
        };
        let completed = measured.map(completed);
        let mut row: Vec<String> = vec![
            report.analysis.id.clone(),
            report.analysis.name.clone(),
            point.arm.clone(),
            mix.to_owned(),
            text(point.point),
            point.load_label.clone(),
            kind.to_owned(),
            point.load.sessions().to_string(),
            number(offered),
            text(think),
            result.block.to_string(),
            result.attempt.to_string(),
            result.valid.to_string(),
            warnings.join(" "),
            number(Some(result.seconds)),
            steadiness.to_owned(),
            number(cut),
            number(Some(result.throughput)),
            text(completed.map(|completed| completed.ok)),
            text(completed.map(|completed| completed.not_found)),
            text(completed.map(|completed| completed.error)),
        ];
        latencies(&mut row, &point.response, result);
        row.push(point.p99_at_least.to_string());
        row.push(point.p999_at_least.to_string());
        latencies(&mut row, &point.service, result);
        row.push(number(of_run(&point.cpu_per_operation, result)));
        row.push(number(result.generator_share));
        row.push(number(result.generator_lag_p99_ns));
        row.push(number(result.achieved));
        let engine = run.and_then(|run| run.engine.as_ref());
        row.push(text(run.and_then(|run| run.records_loaded)));
        row.push(engine.map_or_else(String::new, |engine| engine.name.clone()));
        row.push(engine.map_or_else(String::new, |engine| engine.version.clone()));
        row.push(text(run.map(|run| run.position)));
        row.push(text(run.map(|run| run.seed)));
        row.push(run.map_or_else(String::new, |run| run.started_at.clone()));
        row.push(is_line.to_string());
        let cost = price.and_then(|price| per_million(price.per_hour, result));
        row.push(number(cost));
        row.push(
            cost.and(price)
                .map_or_else(String::new, |price| price.currency.clone()),
        );
        table.write_record(&row)?;
    }
    Ok(())
}

/// Price of a million successful operations at the throughput of a run that is valid.
fn per_million(per_hour: f64, result: &PointResult) -> Option<f64> {
    let cost = per_hour / 3_600.0 / result.throughput * 1e6;
    (result.valid && result.throughput > 0.0 && cost.is_finite()).then_some(cost)
}

/// Mean, p50, p95, p99, p99.9. Empty for a run that is not valid.
fn latencies(row: &mut Vec<String>, latencies: &LatencySummary, result: &PointResult) {
    for estimate in [
        &latencies.mean,
        &latencies.p50,
        &latencies.p95,
        &latencies.p99,
        &latencies.p999,
    ] {
        row.push(number(of_run(estimate, result)));
    }
}

fn of_run(estimate: &Estimate, result: &PointResult) -> Option<f64> {
    if !result.valid {
        return None;
    }
    estimate
        .values
        .iter()
        .find(|(block, _)| *block == result.block)
        .map(|(_, value)| *value)
}

fn completed(point: &PointRecord) -> Completed {
    // What another program says of the whole is more than what its slices add up to.
    if let Some(stated) = point
        .imported()
        .and_then(|imported| imported.stated.as_ref())
    {
        return stated.completed;
    }
    let mut sum = Completed::default();
    for slice in point.slices.iter().filter(|slice| !slice.warm_up) {
        sum.ok += slice.completed.ok;
        sum.not_found += slice.completed.not_found;
        sum.error += slice.completed.error;
    }
    sum
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// What is no number is an empty field.
fn number(value: Option<f64>) -> String {
    text(value.filter(|value| value.is_finite()))
}
