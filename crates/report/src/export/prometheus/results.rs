//! What an experiment came to: each point of each run, in base units.

use super::{Family, Labels, encoded, labelled, with};
use crate::export::points::{of_run, per_million};
use crate::{Report, select, words};
use plimsoll_judge::{CurvePoint, FigureUnit, Figures, LatencySummary, PointResult};
use std::io::{self, Write};

/// Writes every point of every run; of runs that are not valid only that they are not.
pub(crate) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(encoded(families(report)).as_bytes())
}

fn families(report: &Report<'_>) -> Vec<Family> {
    let analysis = report.analysis;
    let whole = labelled([("experiment", analysis.name.as_str()), ("id", analysis.id.as_str())]);
    let mut results = Results::new();
    let progress = &analysis.progress;
    results.finished.add(&whole, Some(progress.runs_finished.into()));
    results.planned.add(&whole, Some(progress.runs_planned.into()));
    for curve in &analysis.curves {
        for point in &curve.points {
            let load = point.load_label.as_str();
            results.add(report, &whole, &curve.mix, load, point);
        }
    }
    for line in &analysis.lines {
        let labels = labelled_arm(&whole, &line.arm, &line.mix);
        for (end, rate) in [("lower", line.lower), ("upper", line.upper)] {
            results.line.add(&with(&labels, "end", end), rate);
        }
        if let Some(point) = &line.at_line {
            results.add(report, &whole, &line.mix, words::AT_LINE, point);
        }
    }
    results.families()
}

fn labelled_arm(whole: &Labels, arm: &str, mix: &str) -> Labels {
    with(&with(whole, "arm", arm), "mix", mix)
}

struct Results {
    finished: Family,
    planned: Family,
    line: Family,
    valid: Family,
    throughput: Family,
    response: Family,
    service: Family,
    operation_throughput: Family,
    operation_response: Family,
    cpu: Family,
    cost: Family,
    /// In the order of [`Figures::ALL`].
    figures: Vec<Family>,
}

impl Results {
    fn new() -> Self {
        Self {
            finished: Family::gauge("runs_finished", "", "Runs that are finished"),
            planned: Family::gauge("runs_planned", "", "Runs in the plan"),
            line: Family::gauge(
                "line",
                "operations_per_second",
                "The plimsoll line: the highest rate that holds the objective lies between these ends",
            ),
            valid: Family::gauge("valid", "", "Whether the point passed every gate"),
            throughput: Family::gauge(
                "throughput",
                "operations_per_second",
                "Operations that succeeded, after the warm-up",
            ),
            response: Family::gauge("response", "seconds", "Completed less intended"),
            service: Family::gauge("service", "seconds", "Completed less dispatched"),
            operation_throughput: Family::gauge(
                "operation_throughput",
                "operations_per_second",
                "Calls of one operation that succeeded, after the warm-up",
            ),
            operation_response: Family::gauge(
                "operation_response",
                "seconds",
                "Completed less intended, of one operation",
            ),
            cpu: Family::gauge(
                "cpu",
                "seconds_per_operation",
                "CPU time for each operation: of the server without its client, of an embedded engine with it",
            ),
            cost: Family::gauge(
                "cost_per_million_operations",
                "",
                "Price of a million operations at this throughput, in the currency of the label",
            ),
            figures: Figures::ALL
                .iter()
                .filter(|kind| kind.name != OF_THROUGHPUT)
                .map(|kind| {
                    let (name, unit) = named(kind.name, kind.unit);
                    Family::gauge(name, unit, format!("What was watched: {}", kind.label))
                })
                .collect(),
        }
    }

    fn add(
        &mut self,
        report: &Report<'_>,
        whole: &Labels,
        mix: &str,
        load: &str,
        point: &CurvePoint,
    ) {
        let price = select::cost(report.analysis, &point.arm, mix);
        let labels = with(&labelled_arm(whole, &point.arm, mix), "load", load);
        for result in &point.results {
            let labels = with(&labels, "block", &result.block.to_string());
            self.valid.add(&labels, Some(f64::from(u8::from(result.valid))));
            if !result.valid {
                continue;
            }
            self.throughput.add(&labels, Some(result.throughput));
            quantiles(&mut self.response, &labels, &point.response, result);
            quantiles(&mut self.service, &labels, &point.service, result);
            for (name, latencies) in &point.by_operation {
                let labels = with(&labels, "operation", name);
                // Without response times those of the operations are service times.
                if of_run(&point.response.mean, result).is_some() {
                    quantiles(&mut self.operation_response, &labels, latencies, result);
                }
                let own = point.operations.get(name);
                self.operation_throughput
                    .add(&labels, own.and_then(|own| of_run(&own.throughput, result)));
            }
            self.cpu
                .add(&labels, of_run(&point.cpu_per_operation, result).map(|nanos| nanos / 1e9));
            if let Some(price) = price {
                let labels = with(&labels, "currency", &price.currency);
                self.cost.add(&labels, per_million(price.per_hour, result));
            }
            let values = Figures::ALL.iter().zip(result.figures.values());
            let values = values.filter(|(kind, _)| kind.name != OF_THROUGHPUT);
            for (family, (kind, value)) in self.figures.iter_mut().zip(values) {
                let scale = match kind.unit {
                    FigureUnit::Nanoseconds | FigureUnit::NanosecondsPerOperation => 1e-9,
                    _ => 1.0,
                };
                family.add(&labels, value.map(|value| value * scale));
            }
        }
    }

    fn families(self) -> Vec<Family> {
        let mut all = vec![
            self.finished,
            self.planned,
            self.line,
            self.valid,
            self.throughput,
            self.response,
            self.service,
            self.operation_throughput,
            self.operation_response,
            self.cpu,
            self.cost,
        ];
        all.extend(self.figures);
        all
    }
}

/// The throughput has a family of its own.
const OF_THROUGHPUT: &str = "operations_per_second";

/// Name and unit of a figure in base units.
fn named(name: &'static str, unit: FigureUnit) -> (String, &'static str) {
    let without = |ending: &str| name.strip_suffix(ending).unwrap_or(name).to_owned();
    match unit {
        FigureUnit::Share => (without("_ratio"), "ratio"),
        FigureUnit::Count => (name.into(), ""),
        FigureUnit::PerSecond => (without("_per_second"), "per_second"),
        FigureUnit::PerOperation => (without("_per_operation"), "per_operation"),
        FigureUnit::Nanoseconds => (without("_ns"), "seconds"),
        FigureUnit::NanosecondsPerOperation => {
            (without("_ns_per_operation"), "seconds_per_operation")
        }
        FigureUnit::Bytes => (without("_bytes"), "bytes"),
        FigureUnit::BytesPerSecond => (without("_bytes_per_second"), "bytes_per_second"),
        FigureUnit::BytesPerOperation => (without("_bytes_per_operation"), "bytes_per_operation"),
        FigureUnit::Processors => (without("_processors"), "processors"),
    }
}

fn quantiles(
    family: &mut Family,
    labels: &Labels,
    latencies: &LatencySummary,
    result: &PointResult,
) {
    let known = [
        ("0.5", &latencies.p50),
        ("0.95", &latencies.p95),
        ("0.99", &latencies.p99),
        ("0.999", &latencies.p999),
    ];
    for (quantile, estimate) in known {
        let nanos = of_run(estimate, result);
        family.add(&with(labels, "quantile", quantile), nanos.map(|nanos| nanos / 1e9));
    }
}
