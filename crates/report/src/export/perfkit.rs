//! PerfKit Benchmarker's samples: newline-delimited JSON as its `--json_path` writes it, metadata collapsed into `labels`.
//!
//! The names are those that its own YCSB benchmarks use: `overall Throughput` in `ops/sec`, `read p99 latency` in `ms`. A latency is the response time, which in a closed
//! loop is the service time too. Runs that are not valid have no samples.

use crate::Report;
use crate::export::points::of_run;
use jiff::Timestamp;
use plimsoll_judge::{CurvePoint, LatencySummary, PointResult};
use plimsoll_record::{LoadKind, RunRecord};
use serde_json::json;
use std::io::{self, Write};

/// Everything that the samples of one point of one run have in common.
struct Common<'a> {
    report: &'a Report<'a>,
    timestamp: f64,
    labels: Vec<(&'static str, String)>,
}

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let analysis = report.analysis;
    let mut count = 0;
    for curve in &analysis.curves {
        for point in &curve.points {
            write_point(report, &curve.mix, "run", point, &mut count, out)?;
        }
    }
    for line in &analysis.lines {
        if let Some(point) = &line.at_line {
            write_point(report, &line.mix, "run", point, &mut count, out)?;
        }
    }
    for point in &analysis.load_phase {
        write_point(report, "load", "load", point, &mut count, out)?;
    }
    Ok(())
}

fn write_point(
    report: &Report<'_>,
    mix: &str,
    stage: &str,
    point: &CurvePoint,
    count: &mut u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    for result in point.results.iter().filter(|result| result.valid) {
        let common = common(report, mix, stage, point, result);
        let mut sample = |metric: &str, value: Option<f64>, unit: &str, operation: &str| {
            let Some(value) = value.filter(|value| value.is_finite()) else {
                return Ok(());
            };
            *count += 1;
            let line = common.sample(metric, value, unit, operation, *count);
            writeln!(out, "{line}")
        };
        sample("overall Throughput", Some(result.throughput), "ops/sec", "overall")?;
        let mut latencies = |operation: &str, latencies: &LatencySummary| -> io::Result<()> {
            for (name, estimate) in [
                ("average", &latencies.mean),
                ("p50", &latencies.p50),
                ("p95", &latencies.p95),
                ("p99", &latencies.p99),
                ("p99.9", &latencies.p999),
            ] {
                let millis = of_run(estimate, result).map(|nanos| nanos / 1e6);
                sample(&format!("{operation} {name} latency"), millis, "ms", operation)?;
            }
            Ok(())
        };
        latencies("overall", &point.response)?;
        for (operation, summary) in &point.by_operation {
            latencies(operation, summary)?;
        }
        let cpu = of_run(&point.cpu_per_operation, result).map(|nanos| nanos / 1e3);
        sample("overall CPU per operation", cpu, "us", "overall")?;
    }
    Ok(())
}

fn common<'a>(
    report: &'a Report<'a>,
    mix: &str,
    stage: &str,
    point: &CurvePoint,
    result: &PointResult,
) -> Common<'a> {
    let analysis = report.analysis;
    let mut runs = report.record.runs.iter();
    let run = runs.find(|run| {
        (&run.arm, run.block, run.attempt) == (&point.arm, result.block, result.attempt)
    });
    let mut labels = vec![
        ("experiment", analysis.name.clone()),
        ("id", analysis.id.clone()),
        ("arm", point.arm.clone()),
        ("mix", mix.to_owned()),
        ("load", point.load_label.clone()),
        ("block", result.block.to_string()),
        ("stage", stage.to_owned()),
    ];
    match point.load {
        LoadKind::Closed { sessions, target, .. } => {
            // 0 where an imported point does not say.
            if sessions > 0 {
                labels.push(("threads", sessions.to_string()));
            }
            labels.extend(target.map(|target| ("target", target.to_string())));
        }
        LoadKind::Open { rate, sessions } => {
            labels.push(("threads", sessions.to_string()));
            labels.push(("offered", rate.to_string()));
        }
    }
    if let Some(engine) = run.and_then(|run| run.engine.as_ref()) {
        labels.push(("engine", engine.name.clone()));
        labels.push(("engine_version", engine.version.clone()));
    }
    Common { report, timestamp: begun(report, run, point), labels }
}

/// When the point was begun, or at least its run or the experiment: seconds since 1970.
fn begun(report: &Report<'_>, run: Option<&RunRecord>, point: &CurvePoint) -> f64 {
    let own = run.and_then(|run| match point.point {
        Some(index) => run.points.iter().find(|own| own.label.point == Some(index)),
        None => run.load.as_ref(),
    });
    let texts = [
        own.map(|own| own.started_at.as_str()),
        run.map(|run| run.started_at.as_str()),
        Some(report.record.started_at.as_str()),
    ];
    let mut instants =
        texts.into_iter().flatten().filter_map(|text| text.parse::<Timestamp>().ok());
    let first = instants.next().unwrap_or(Timestamp::UNIX_EPOCH);
    first.as_millisecond() as f64 / 1e3
}

impl Common<'_> {
    fn sample(
        &self,
        metric: &str,
        value: f64,
        unit: &str,
        operation: &str,
        number: u64,
    ) -> serde_json::Value {
        let mut labels: Vec<String> = Vec::with_capacity(self.labels.len() + 1);
        let own = ("operation", operation.to_owned());
        for (name, text) in std::iter::once(&own).chain(&self.labels) {
            labels.push(format!("|{name}:{}|", plain(text)));
        }
        let id = plain(&self.report.analysis.id);
        json!({
            "metric": metric,
            "value": value,
            "unit": unit,
            "timestamp": self.timestamp,
            "test": "plimsoll",
            "product_name": "Plimsoll",
            "official": false,
            "owner": "",
            "run_uri": id,
            "sample_uri": format!("{id}-{number}"),
            "labels": labels.join(","),
        })
    }
}

/// In labels nothing can be escaped: the sign that ends them is replaced.
fn plain(text: &str) -> String {
    text.replace('|', "/")
}
