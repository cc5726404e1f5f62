//! What runs right now, from the latest slice of each arm.

use super::{Family, Kind, Labels, QUANTILES, describe, encoded, labelled, with};
use plimsoll_record::{Histogram, Operation, Slice, Status, unit_percentiles_ns};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct ExperimentStatus<'a> {
    pub experiment: &'a str,
    pub id: &'a str,
    /// Whether a program is working on it.
    pub running: bool,
    pub runs_finished: u32,
    pub runs_planned: u32,
    /// Until all are made, as far as is known.
    pub time_left_seconds: Option<f64>,
    /// The latest slice of each arm that has one, or only of the running arm.
    pub latest: Vec<LatestSlice<'a>>,
}

/// The last second of an arm.
#[derive(Clone, Copy, Debug)]
pub struct LatestSlice<'a> {
    pub arm: &'a str,
    pub mix: &'a str,
    pub load: &'a str,
    /// Index of the block, counted from 0.
    pub block: u32,
    pub slice: &'a Slice,
    /// Operations that failed since the run began.
    pub errors: u64,
}

/// The text for a scrape: each experiment as it stands, and the latest second of its arms.
pub fn now(experiments: &[ExperimentStatus<'_>]) -> String {
    let mut running = Family::gauge("running", "", "Whether a program is working on it");
    let mut finished = Family::gauge("runs_finished", "", "Runs that are finished");
    let mut planned = Family::gauge("runs_planned", "", "Runs in the plan");
    let mut left = Family::gauge("time_left", "seconds", "Until all runs are made");
    let mut seconds = Seconds::new();
    for one in experiments {
        let labels = labelled([("experiment", one.experiment), ("id", one.id)]);
        running.add(&labels, Some(f64::from(u8::from(one.running))));
        finished.add(&labels, Some(one.runs_finished.into()));
        planned.add(&labels, Some(one.runs_planned.into()));
        left.add(&labels, one.time_left_seconds);
        for latest in &one.latest {
            seconds.add(&labels, latest);
        }
    }
    let mut families = vec![running, finished, planned, left];
    families.extend(seconds.families());
    encoded(families)
}

/// The families of a slice.
struct Seconds {
    throughput: Family,
    response: Family,
    service: Family,
    errors: Family,
    cpu: Family,
    memory: Family,
    warm_up: Family,
    figures: BTreeMap<String, Family>,
}

impl Seconds {
    fn new() -> Self {
        Self {
            throughput: Family::gauge(
                "throughput",
                "operations_per_second",
                "Operations that succeeded in the last second",
            ),
            response: Family::gauge(
                "response",
                "seconds",
                "Completed less intended, of the operations of the last second",
            ),
            service: Family::gauge(
                "service",
                "seconds",
                "Completed less dispatched, of the operations of the last second",
            ),
            errors: Family::new(
                Kind::Counter,
                "errors",
                "",
                "Operations that failed since the run began",
            ),
            cpu: Family::gauge(
                "worker_cpu",
                "seconds_per_second",
                "CPU time of the worker: 1.5 is one and a half processors",
            ),
            memory: Family::gauge("worker_resident", "bytes", "Memory of the worker"),
            warm_up: Family::gauge("warm_up", "", "Whether the last second is warm-up"),
            figures: BTreeMap::new(),
        }
    }

    fn add(&mut self, experiment: &Labels, latest: &LatestSlice<'_>) {
        let mut labels = experiment.clone();
        for (name, text) in [("arm", latest.arm), ("mix", latest.mix), ("load", latest.load)] {
            labels.push((name, text.to_owned()));
        }
        labels.push(("block", latest.block.to_string()));
        let slice = latest.slice;
        let seconds = slice.length_ns as f64 / 1e9;
        self.throughput.add(&labels, Some(slice.completed.ok as f64 / seconds));
        quantiles(&mut self.response, &labels, slice, |part| part.latencies.response());
        quantiles(&mut self.service, &labels, slice, |part| &part.latencies.service);
        self.errors.add(&labels, Some(latest.errors as f64));
        let cpu = slice.worker.cpu_user_ns as f64 + slice.worker.cpu_system_ns as f64;
        self.cpu.add(&labels, Some(cpu / 1e9 / seconds));
        self.memory.add(&labels, Some(slice.worker.resident_bytes as f64));
        self.warm_up.add(&labels, Some(f64::from(u8::from(slice.warm_up))));
        for (figure, value) in &slice.telemetry {
            let Some((name, unit, scale)) = describe(figure, seconds) else {
                continue;
            };
            let family = self.figures.entry(figure.clone()).or_insert_with(|| {
                Family::gauge(name, unit, format!("The figure {figure} of the last second"))
            });
            family.add(&labels, Some(value * scale));
        }
    }

    fn families(self) -> impl Iterator<Item = Family> {
        [
            self.throughput,
            self.response,
            self.service,
            self.errors,
            self.cpu,
            self.memory,
            self.warm_up,
        ]
        .into_iter()
        .chain(self.figures.into_values())
    }
}

/// Percentiles of the units of work that ended as requested.
fn quantiles(
    family: &mut Family,
    labels: &Labels,
    slice: &Slice,
    of: impl Fn(&plimsoll_record::OperationSlice) -> &Histogram,
) {
    let parts: Vec<(Operation, &Histogram)> = slice
        .operations
        .iter()
        .filter(|part| part.status == Status::Ok)
        .map(|part| (part.operation, of(part)))
        .collect();
    let found = unit_percentiles_ns(&parts, QUANTILES.map(|(_, percentile)| percentile));
    for ((quantile, _), nanos) in QUANTILES.iter().zip(found) {
        family.add(&with(labels, "quantile", quantile), nanos.map(|nanos| nanos as f64 / 1e9));
    }
}
