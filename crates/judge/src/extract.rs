//! One point of one run in numbers: slices added up after the warm-up.

use crate::distribution::Distribution;
use crate::steadiness::{Settling, rate, seconds, settling};
use crate::telemetry::{by_second, figures};
use crate::{Figures, SeriesSecond, Steadiness};
use plimsoll_plan::search::unfinished_of;
use plimsoll_plan::{Arm, Metric, is_by_uri};
use plimsoll_record::{
    Completed, Histogram, Latencies, Operation, OperationSlice, PointRecord, Slice, StatementTimes,
    Status, add_units,
};
use plimsoll_workload::DataSpec;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Totals {
    seconds: f64,
    completed: Completed,
    cpu_ns: u64,
    latencies: BTreeMap<(Status, Operation), Latencies>,
}

impl Totals {
    pub(crate) fn of(slices: &[&Slice]) -> Self {
        let mut totals = Self::default();
        for slice in slices {
            totals.seconds += slice.length_ns as f64 / 1e9;
            totals.completed += slice.completed;
            for cpu_ns in [slice.worker.cpu_user_ns, slice.worker.cpu_system_ns] {
                totals.cpu_ns = totals.cpu_ns.saturating_add(cpu_ns);
            }
            for part in &slice.operations {
                totals
                    .latencies
                    .entry((part.status, part.operation))
                    .or_default()
                    .merge(&part.latencies);
            }
        }
        totals
    }

    /// The slices of a point that count. Where they have no histograms of their own, the latencies are the sums that the point keeps.
    pub(crate) fn of_kept(point: &PointRecord, kept: &[&Slice]) -> Self {
        let mut totals = Self::of(kept);
        if let Some(sums) = point.summed_up() {
            let whole = sums.kept.iter();
            totals.latencies =
                whole.map(|part| ((part.status, part.operation), part.latencies.clone())).collect();
        }
        totals
    }

    /// The latencies, per operation and status.
    pub(crate) fn into_operations(self) -> Vec<OperationSlice> {
        let parts = self.latencies.into_iter();
        let mut operations: Vec<_> = parts
            .map(|((status, operation), latencies)| OperationSlice { operation, status, latencies })
            .collect();
        operations.sort_by_key(|part| (part.operation, part.status));
        operations
    }

    /// Units of one status, of the histograms that `pick` takes.
    pub(crate) fn units(&self, status: Status, pick: fn(&Latencies) -> &Histogram) -> Histogram {
        let mut parts = Vec::new();
        for ((of, operation), latencies) in &self.latencies {
            if *of == status {
                parts.push((*operation, pick(latencies)));
            }
        }
        let mut units = Histogram::new();
        add_units(&mut units, &parts);
        units
    }

    pub(crate) fn completed(&self) -> Completed {
        self.completed
    }

    /// Whether operations had a time at which they were due.
    pub(crate) fn is_open(&self) -> bool {
        self.latencies.values().any(|latencies| latencies.open.is_some())
    }

    /// Count and sum of the service times of all units, however they ended, nanoseconds; `None` where the time of any is not known. The parts of read-modify-writes take the time of the wholes: their
    /// sum is exact, while units by themselves are only known by an even share of reads and updates, in which a few long calls may be missing.
    fn service_sum(&self) -> Option<(u64, f64)> {
        let mut count = 0_u64;
        for status in Status::ALL {
            let units = self.units(status, |latencies| &latencies.service);
            count = units.count().saturating_add(count);
        }
        let of = |operation: Operation| {
            let own = self.latencies.iter().filter(move |((_, of), _)| *of == operation);
            own.map(|(_, latencies)| latencies.service.count()).sum::<u64>()
        };
        // Each begins with a read; at the edge of a window that may lie in the second before.
        let parts_are_there = of(Operation::Read) * 2 >= of(Operation::ReadModifyWrite);
        let left_out = if parts_are_there { Operation::ReadModifyWrite } else { Operation::Verify };
        let mut sum_ns = 0.0;
        for ((_, operation), latencies) in &self.latencies {
            if *operation != left_out && *operation != Operation::Verify {
                let timed = latencies.service.count();
                if timed > 0 {
                    sum_ns += latencies.service.mean_ns()? * timed as f64;
                }
            }
        }
        Some((count, sum_ns))
    }
}

/// The measured part of a point as a whole, before any further cut: what the counts at its end speak of.
pub(crate) struct Whole {
    pub(crate) seconds: f64,
    pub(crate) completed: Completed,
    /// Mean service time of all units, however they ended, nanoseconds. Closed loops only: there it is checked by Little's law.
    pub(crate) mean_service_ns: Option<f64>,
    /// The longest service time, nanoseconds: so much of one operation of each session may lie outside of the window.
    pub(crate) longest_service_ns: u64,
    /// Units that were due and unfinished at the end.
    pub(crate) unfinished: u64,
    /// Verifications that found other data than expected, warm-up included.
    pub(crate) wrong_data: u64,
}

/// A metric of one run, and whether it is only a lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    /// Value in the unit of the metric.
    pub(crate) value: f64,
    /// So much was unfinished at the end that the true value may lie anywhere above.
    pub(crate) at_least: bool,
}

impl Reading {
    /// A value that is known as it is.
    pub(crate) fn exact(value: f64) -> Self {
        Self { value, at_least: false }
    }
}

/// The successful calls of one operation.
pub(crate) struct OfOperation {
    /// Response time; the service time where only that is known.
    pub(crate) response: Distribution,
    service: Option<Distribution>,
    /// Including operations that a client kept for a batch.
    succeeded: u64,
    missing: u64,
}

impl OfOperation {
    /// Share of the calls that found nothing, of those that did not fail.
    pub(crate) fn nothing(&self) -> f64 {
        let all = self.succeeded.saturating_add(self.missing);
        self.missing as f64 / all.max(1) as f64
    }
}

/// One point of one run in numbers.
pub(crate) struct Extract {
    pub(crate) seconds: Vec<SeriesSecond>,
    /// What was watched in each of them; empty where nothing was.
    pub(crate) figures_by_second: Vec<Figures>,
    /// What was watched after the cut.
    pub(crate) figures: Figures,
    /// Index of the first slice after the requested warm-up.
    pub(crate) first_measured: usize,
    /// Warm-up found beyond the requested one.
    pub(crate) settling: Settling,
    /// The measured part before that cut.
    pub(crate) whole: Whole,
    pub(crate) kept_seconds: f64,
    /// Successful units per second after the cut.
    pub(crate) throughput: f64,
    /// Whether the client can be distinguished from the engine: where that is a server.
    pub(crate) is_client_apart: bool,
    /// CPU time per unit after the cut, nanoseconds: of the server where there is one, otherwise of the process in which client and engine are.
    pub(crate) cpu_per_operation_ns: Option<f64>,
    /// Response time of successful units after the cut, with those unfinished at the end counted as at least so late as they were.
    pub(crate) response: Option<Distribution>,
    /// Service time of successful units after the cut.
    pub(crate) service: Option<Distribution>,
    /// The statements of transactions and steps in the measured part, and its length.
    pub(crate) statements: Vec<StatementTimes>,
    pub(crate) measured_seconds: f64,
    /// What succeeded after the cut, for each operation.
    pub(crate) by_operation: BTreeMap<Operation, OfOperation>,
    /// Successful inserts and updates after the cut, those of read-modify-writes among them, for each operation.
    changes: [f64; 2],
}

/// The result for a series that need not settle.
const NOT_JUDGED: Settling = Settling { cut: 0, steadiness: Steadiness::Unknown, remark: None };

impl Extract {
    /// Reads a point of an arm, with percentiles at `requested`. A load phase is one job from its first to its last record: nothing of it is cut.
    pub(crate) fn of(point: &PointRecord, arm: &Arm, requested: &[f64], cores: u32) -> Self {
        let mut seconds = seconds(point);
        let first_measured =
            point.slices.iter().position(|slice| !slice.warm_up).unwrap_or(point.slices.len());
        let measured: Vec<&Slice> = point.slices[first_measured..].iter().collect();
        let sessions = point.label.load.sessions();
        let figures_by_second = by_second(&point.slices, cores, sessions);
        let settling = match point.label.point {
            Some(_) => {
                let watched = figures_by_second.get(first_measured..).unwrap_or_default();
                settling(&seconds[first_measured..], watched)
            }
            None => NOT_JUDGED,
        };
        // What was done to the server on purpose is what is measured, and no warm-up.
        let settling = match point.disturbance() {
            Some(_) => NOT_JUDGED,
            None => settling,
        };
        // The totals of another program take precedence over its slices. Nothing is cut from either.
        let stated = crate::imported::whole(point);
        let settling = match point.imported() {
            Some(_) => crate::imported::uncut(settling, &seconds[first_measured..]),
            None => settling,
        };
        let (cut, kept) = measured.split_at(settling.cut);
        let mut figures = figures(kept, cores, sessions);
        let (cut, kept) = match &stated {
            Some(whole) => (Totals::default(), Totals::of(&[whole])),
            None => (Totals::of(cut), Totals::of_kept(point, kept)),
        };
        if point.imported().is_some() {
            figures = Figures::default();
        }

        let mut response = kept.units(Status::Ok, Latencies::response);
        let mut unfinished = 0;
        if let Some(lateness) = point.end.as_ref().and_then(|end| end.unfinished.as_ref()) {
            unfinished = lateness.count();
            response.merge(lateness);
        }
        let mut response = Distribution::of(&response, requested);
        let is_open = kept.is_open();
        let mut service = if is_open {
            Distribution::of(&kept.units(Status::Ok, |latencies| &latencies.service), requested)
        } else {
            response.clone()
        };
        if let Some(all) = crate::imported::all(point) {
            response = Distribution::of(all.response(), requested);
            service = Distribution::of(&all.service, requested);
        }
        let no_response = crate::imported::without_response(point, is_open);
        let mut by_operation = BTreeMap::new();
        for ((status, operation), latencies) in &kept.latencies {
            let known = if no_response { &latencies.service } else { latencies.response() };
            if *status == Status::Ok
                && let Some(response) = Distribution::of(known, requested)
            {
                let service = match is_open {
                    true => Distribution::of(&latencies.service, requested),
                    false => Some(response.clone()),
                };
                let count = |status| {
                    let found = kept.latencies.get(&(status, *operation));
                    found.map_or(0, Latencies::count)
                };
                let own = OfOperation {
                    response,
                    service,
                    succeeded: latencies.count().saturating_add(count(Status::Batched)),
                    missing: count(Status::NotFound),
                };
                by_operation.insert(*operation, own);
            }
        }
        let units = kept.completed.total();
        let counted = |operation| {
            let found = kept.latencies.get(&(Status::Ok, operation));
            found.map_or(0, Latencies::count) as f64 / units.max(1) as f64
        };
        let updates = counted(Operation::Update).max(counted(Operation::ReadModifyWrite));
        let changes = [counted(Operation::Insert), updates];
        let is_client_apart = figures.server_processors.is_some() || is_by_uri(arm);
        let cpu_per_operation_ns = if is_client_apart {
            figures.server_cpu_ns_per_operation
        } else {
            (kept.cpu_ns > 0 && units > 0).then(|| kept.cpu_ns as f64 / units as f64)
        };
        let mut whole = whole(point, &cut, &kept, is_open, unfinished);
        if let Some(stated) = &stated {
            let longest = |part: &plimsoll_record::OperationSlice| part.latencies.service.max_ns();
            let longest_ns = stated.operations.iter().filter_map(longest).max();
            whole.longest_service_ns = longest_ns.unwrap_or(0).max(whole.longest_service_ns);
        }
        if no_response {
            response = None;
            crate::imported::forget_response(&mut seconds);
        }
        Self {
            whole,
            kept_seconds: kept.seconds,
            throughput: rate(kept.completed.ok, kept.seconds),
            is_client_apart,
            cpu_per_operation_ns,
            seconds,
            figures_by_second,
            figures,
            first_measured,
            settling,
            response,
            service,
            statements: point.end.as_ref().map_or_else(Vec::new, |end| end.statements.clone()),
            measured_seconds: point.end.as_ref().map_or(0.0, |end| end.measured_ns as f64 / 1e9),
            by_operation,
            changes,
        }
    }

    /// Bytes of values that an operation inserts or changes on the average, nothing where none does.
    pub(crate) fn changed_bytes(&self, data: &DataSpec, writes_all_fields: bool) -> Option<f64> {
        let [inserts, updates] = self.changes;
        let update = match writes_all_fields {
            true => data.mean_value_bytes(),
            false => data.mean_value_bytes() / f64::from(data.field_count),
        };
        let bytes = inserts * data.mean_record_bytes() + updates * update;
        (bytes > 0.0).then_some(bytes)
    }

    /// What was watched in each second after the cut; empty where nothing was.
    pub(crate) fn kept_figures(&self) -> &[Figures] {
        let cut = self.first_measured + self.settling.cut;
        self.figures_by_second.get(cut..).unwrap_or_default()
    }

    /// Share of the units due that were unfinished at the end.
    pub(crate) fn unfinished_share(&self) -> f64 {
        let due = self.whole.completed.total().saturating_add(self.whole.unfinished);
        if due == 0 { 0.0 } else { self.whole.unfinished as f64 / due as f64 }
    }

    /// Share of the finished units that failed.
    pub(crate) fn error_share(&self) -> f64 {
        let total = self.whole.completed.total();
        if total == 0 { 0.0 } else { self.whole.completed.error as f64 / total as f64 }
    }

    /// Whether this percentile of the response is only a lower bound.
    pub(crate) fn is_lower_bound(&self, percentile: f64) -> bool {
        self.unfinished_share() > 1.0 - percentile / 100.0
    }

    /// Whether this percentile of the response of one operation is only a lower bound.
    fn is_lower_bound_of(&self, operation: Operation, percentile: f64) -> bool {
        let each = self.by_operation.iter();
        let spent = each.map(|(of, one)| (*of, one.response.count, one.response.mean_ns));
        let unfinished = unfinished_of(operation, self.whole.unfinished, spent);
        let count = self.by_operation.get(&operation).map_or(0, |one| one.response.count);
        unfinished > (1.0 - percentile / 100.0) * (count as f64 + unfinished)
    }

    /// A metric of one operation; `None` where no call of it succeeded, and for metrics that are known of all together alone.
    pub(crate) fn reading_of(&self, operation: Operation, metric: Metric) -> Option<Reading> {
        let exact = Reading::exact;
        let own = self.by_operation.get(&operation)?;
        let response = || self.response.as_ref().map(|_| &own.response);
        match metric {
            Metric::Throughput => {
                (self.kept_seconds > 0.0).then(|| exact(rate(own.succeeded, self.kept_seconds)))
            }
            Metric::ResponseMean => {
                let value = response()?.mean_ns;
                Some(Reading { value, at_least: self.is_lower_bound_of(operation, 99.0) })
            }
            Metric::Response { percentile } => {
                let value = response()?.percentile(percentile)?;
                Some(Reading { value, at_least: self.is_lower_bound_of(operation, percentile) })
            }
            Metric::Service { percentile } => {
                own.service.as_ref()?.percentile(percentile).map(exact)
            }
            Metric::CpuPerOperation
            | Metric::Errors
            | Metric::Line
            | Metric::Cost
            | Metric::Size
            | Metric::Written
            | Metric::WriteAmplification
            | Metric::Of { .. } => None,
        }
    }

    /// A metric of this point, if it has any sample.
    pub(crate) fn reading(&self, metric: Metric) -> Option<Reading> {
        let exact = Reading::exact;
        match metric {
            Metric::Of { operation, .. } => self.reading_of(operation, metric.of_all()),
            Metric::Throughput => (self.kept_seconds > 0.0).then(|| exact(self.throughput)),
            Metric::ResponseMean => {
                let value = self.response.as_ref()?.mean_ns;
                Some(Reading { value, at_least: self.is_lower_bound(99.0) })
            }
            Metric::Response { percentile } => {
                let value = self.response.as_ref()?.percentile(percentile)?;
                Some(Reading { value, at_least: self.is_lower_bound(percentile) })
            }
            Metric::Service { percentile } => {
                self.service.as_ref()?.percentile(percentile).map(exact)
            }
            Metric::CpuPerOperation => self.cpu_per_operation_ns.map(exact),
            Metric::Written => self.figures.engine_written_bytes_per_operation.map(exact),
            Metric::WriteAmplification => self.figures.write_amplification.map(exact),
            Metric::Size => self.figures.data_bytes.map(exact),
            // A single point has neither: a search has the line, and an arm with a price has the cost. The sample knows both.
            Metric::Line | Metric::Cost => None,
            Metric::Errors => (self.whole.completed.total() > 0).then(|| exact(self.error_share())),
        }
    }
}

fn whole(
    point: &PointRecord,
    cut: &Totals,
    kept: &Totals,
    is_open: bool,
    unfinished: u64,
) -> Whole {
    let mut mean_service_ns = None;
    if (!is_open || point.imported().is_some())
        && let Some((cut_count, cut_sum_ns)) = cut.service_sum()
        && let Some((kept_count, kept_sum_ns)) = kept.service_sum()
    {
        let count: u64 = cut_count.saturating_add(kept_count);
        mean_service_ns = (count > 0).then(|| (cut_sum_ns + kept_sum_ns) / count as f64);
    }
    let mut wrong_data = 0_u64;
    let mut longest_service_ns = 0;
    for slice in &point.slices {
        for part in &slice.operations {
            if !slice.warm_up {
                let longest = part.latencies.service.max_ns().unwrap_or(0);
                longest_service_ns = longest.max(longest_service_ns);
            }
            if part.operation == Operation::Verify && part.status == Status::Error {
                wrong_data = wrong_data.saturating_add(part.latencies.count());
            }
        }
    }
    let mut completed = cut.completed;
    completed += kept.completed;
    Whole {
        seconds: cut.seconds + kept.seconds,
        completed,
        mean_service_ns,
        longest_service_ns,
        unfinished,
        wrong_data,
    }
}
