//! One point of one run, extracted and gated.

use crate::event_outcome::EventOutcome;
use crate::extract::{Extract, Reading};
use crate::gates::{
    ClientUse, ForeignUse, Gated, Limits, clients, cores, gate, is_of_arm, telemetry_cores,
    worker_here,
};
use crate::network::NetworkSample;
use crate::others::left_by_others;
use crate::rig::remarks;
use crate::transients::transients;
use crate::words::run_subject;
use crate::{PointResult, Steadiness, TimeSeries};
use plimsoll_plan::search::MixObjective;
use plimsoll_plan::{Arm, Metric, Objective, OperationObjective, Plan};
use plimsoll_record::{
    Calibration, HostPoint, LoadKind, PointLabel, PointRecord, RunRecord, Severity, Warning,
    WarningId,
};
use plimsoll_stats::{median, silences, stalls};

/// From this many seconds on in which nothing completed there is a caution; shorter ones are marked in the series.
const SILENCE_CAUTION_SECONDS: f64 = 3.0 * 0.99;

/// A stop of that length has at least this many slices of a second within it, wherever it begins.
const SILENT_SLICES: f64 = SILENCE_CAUTION_SECONDS - 1.0;

/// One point of one run.
pub(crate) struct Sample {
    pub(crate) label: PointLabel,
    pub(crate) result: PointResult,
    pub(crate) extract: Extract,
    /// What was done to its server on purpose.
    pub(crate) seen: Option<EventOutcome>,
    /// Whether it kept the objective of the file, if there is one.
    pub(crate) meets_objective: Option<bool>,
    /// Stalls: begin and end, seconds from the start of the point.
    stalls: Vec<(f64, f64)>,
    warm_up_seconds: f64,
    /// Processors of the machine that was watched.
    pub(crate) cores: u32,
    /// Processors of that machine that the load generators on it kept busy.
    pub(crate) worker_here: Option<f64>,
    /// What the clients of a server used of each machine that makes load.
    pub(crate) clients: Vec<ClientUse>,
    /// What each machine did, where several took part.
    pub(crate) hosts: Vec<HostSample>,
    /// The network between load and server, where it was watched.
    pub(crate) network: Option<NetworkSample>,
    /// Processors that the control group of the program may use, where that is limited.
    pub(crate) cpu_limit: Option<f64>,
    /// Whether its engine keeps data on this machine.
    pub(crate) keeps_data: bool,
    /// The plimsoll line of its run, where it stands for that: operations per second; only a lower bound where no rate was too high.
    pub(crate) line: Option<Reading>,
    /// Price of an hour of the arm, where it has one.
    price_per_hour: Option<f64>,
    /// What other programs used of the machine, where that is known.
    pub(crate) foreign: Option<ForeignUse>,
}

/// What one of several machines did at a point.
pub(crate) struct HostSample {
    pub(crate) host: HostPoint,
    /// Its processors, where they are known.
    pub(crate) cores: Option<u32>,
    /// Whether the arm stands on it.
    pub(crate) is_of_arm: bool,
    /// Length of the point with its warm-up, nanoseconds.
    pub(crate) length_ns: f64,
}

fn host_samples(point: &PointRecord, run: &RunRecord, arm: &Arm) -> Vec<HostSample> {
    let Some(end) = &point.end else {
        return Vec::new();
    };
    let samples = end.hosts.iter().map(|host| HostSample {
        host: host.clone(),
        cores: cores(host, run, arm),
        is_of_arm: is_of_arm(host, arm),
        length_ns: point.warm_up_ns as f64 + end.measured_ns as f64,
    });
    samples.collect()
}

/// What is required of every point.
pub(crate) struct Requirements<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) objective: Option<&'a Objective>,
    limits: Limits,
    limits_of_trials: Limits,
    percentiles: Vec<f64>,
    calibrations: &'a [Calibration],
}

impl<'a> Requirements<'a> {
    pub(crate) fn by(plan: &'a Plan, calibrations: &'a [Calibration]) -> Self {
        Self {
            plan,
            objective: plan.objective.as_ref(),
            limits: Limits::of(plan),
            limits_of_trials: Limits::of_trials(plan),
            percentiles: percentiles(plan),
            calibrations,
        }
    }
}

/// The percentiles of every report, and those that the plan names.
pub(crate) fn percentiles(plan: &Plan) -> Vec<f64> {
    let mut percentiles = vec![50.0, 95.0, 99.0, 99.9];
    let named = plan
        .compare
        .primary
        .iter()
        .chain(plan.thresholds.iter().map(|threshold| &threshold.metric));
    for metric in named {
        if let Metric::Response { percentile } | Metric::Service { percentile } = metric.of_all() {
            percentiles.push(percentile);
        }
    }
    let limits = plan.objective.iter().flat_map(Objective::limits);
    percentiles.extend(limits.map(|(percentile, _)| percentile));
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup();
    percentiles
}

impl Sample {
    pub(crate) fn of(
        point: &PointRecord,
        run: &RunRecord,
        arm: &Arm,
        requested: &Requirements<'_>,
    ) -> Self {
        Self::within(requested.limits, point, run, arm, requested)
    }

    /// A trial of a search.
    pub(crate) fn of_trial(
        point: &PointRecord,
        run: &RunRecord,
        arm: &Arm,
        requested: &Requirements<'_>,
    ) -> Self {
        Self::within(requested.limits_of_trials, point, run, arm, requested)
    }

    fn within(
        limits: Limits,
        point: &PointRecord,
        run: &RunRecord,
        arm: &Arm,
        requested: &Requirements<'_>,
    ) -> Self {
        let cores = telemetry_cores(point, run, arm);
        let mut extract = Extract::of(point, arm, &requested.percentiles, cores);
        extract.figures.data_bytes = run.data_bytes.map(|bytes| bytes as f64);
        let mix = requested.plan.mixes.iter().find(|mix| mix.name == point.label.mix);
        extract.figures.write_amplification = mix.and_then(|mix| {
            let written = extract.figures.engine_written_bytes_per_operation?;
            Some(written / extract.changed_bytes(&arm.data, mix.write_all_fields)?)
        });
        let gated = gate(&extract, point, run, arm, limits);
        let disturbed_from = disturbed_from(point);
        let mut stalls = stalled(&extract);
        stalls.retain(|(begin, _)| *begin < disturbed_from);
        let mut silences = silent(&extract, point);
        silences.retain(|silence| silence.begin < disturbed_from);
        let mut warnings = gated.warnings.clone();
        let is_point = point.label.point.is_some();
        warnings.extend(remarks(&extract, is_point, run, arm, requested.calibrations));
        if point.label.point.is_some() {
            for (begin, end) in &stalls {
                let message =
                    format!("below half of the mean throughput from {begin:.0} s to {end:.0} s");
                warnings.push(Warning::new(WarningId::Stall, run_subject(run), message));
            }
            let is_in_a_stall = |silence: &Silence| {
                stalls.iter().any(|(from, to)| (*from..*to).contains(&silence.begin))
            };
            let further: Vec<Silence> =
                silences.into_iter().filter(|silence| !is_in_a_stall(silence)).collect();
            for silence in &further {
                if let Some(message) = silence.caution() {
                    warnings.push(Warning::new(WarningId::Stall, run_subject(run), message));
                }
            }
            stalls.extend(further.iter().map(|silence| (silence.begin, silence.end)));
            stalls.sort_by(|(left, _), (right, _)| left.total_cmp(right));
        }
        if is_point && point.disturbance().is_none() {
            let found = transients(&extract).into_iter();
            warnings.extend(found.map(|(id, words)| Warning::new(id, run_subject(run), words)));
        }
        let is_invalid = |warning: &Warning| warning.severity() == Severity::Invalid;
        let valid = gated.complete && !warnings.iter().any(is_invalid);
        let meets_objective = requested.objective.map(|objective| {
            let own = mix.map(|mix| MixObjective { objective, mix });
            valid
                && meets(objective, &extract, &gated)
                && own.is_none_or(|own| own.operations().all(|bound| holds(bound, &extract)))
        });
        let result = PointResult {
            block: run.block,
            attempt: run.attempt,
            valid,
            warnings,
            throughput: extract.throughput,
            p99_ns: extract.response.as_ref().and_then(|response| response.percentile(99.0)),
            seconds: extract.kept_seconds,
            steadiness: extract.settling.steadiness,
            generator_share: gated.generator_share,
            generator_lag_p99_ns: gated.generator_lag_p99_ns,
            due: gated.due,
            achieved: gated.achieved,
            left_by_others: left_by_others(&extract.figures, point, run, arm, cores),
            figures: extract.figures.clone(),
        };
        let warm_up_seconds = point.warm_up_ns as f64 / 1e9;
        let worker_here = worker_here(&extract, point, arm);
        let clients = clients(&extract, point, run, arm);
        Self {
            label: point.label.clone(),
            result,
            extract,
            seen: EventOutcome::of(point),
            meets_objective,
            stalls,
            warm_up_seconds,
            cores,
            worker_here,
            clients,
            hosts: host_samples(point, run, arm),
            network: NetworkSample::of(point),
            cpu_limit: run.machine.cpu_limit,
            keeps_data: run.storage.is_some(),
            line: None,
            price_per_hour: arm.rig.price.as_ref().map(|price| price.per_hour),
            foreign: gated.foreign,
        }
    }

    /// What other programs used, where the other side of a duet did not have the same company.
    pub(crate) fn foreign_alone(&self) -> Option<ForeignUse> {
        self.foreign.filter(|one| !one.is_shared)
    }

    /// Makes it invalid, because other programs used this much of the machine over all points of its arm.
    pub(crate) fn refuse_for_foreign(&mut self, of_arm: f64) {
        for warning in &mut self.result.warnings {
            if warning.id == WarningId::ForeignCpu && warning.severity() < Severity::Invalid {
                let message = format!(
                    "{}; {:.1} % over all points of the arm",
                    warning.message,
                    of_arm * 100.0
                );
                *warning =
                    Warning::new(warning.id, &warning.subject, message).weighing(Severity::Invalid);
            }
        }
        self.result.valid = false;
        self.meets_objective = self.meets_objective.map(|_| false);
    }

    /// A metric of this sample, if it passed the gates. Failures are what makes a sample invalid, so their share is given always.
    pub(crate) fn reading(&self, metric: Metric) -> Option<Reading> {
        if !self.result.valid && metric != Metric::Errors {
            return None;
        }
        match metric {
            Metric::Line => self.line,
            Metric::Cost => self.cost().map(Reading::exact),
            _ => self.extract.reading(metric),
        }
    }

    /// The throughput of a point in which one operation was finished: the lowest throughput above zero.
    pub(crate) fn one_operation(&self) -> f64 {
        let measured = &self.extract.seconds[self.extract.first_measured..];
        measured.iter().map(|second| second.length).sum::<f64>().recip()
    }

    /// Whether it is invalid by what its arm did, rather than by what happened to the machine or the measuring.
    pub(crate) fn is_faulty(&self) -> bool {
        let by_arm = |warning: &Warning| {
            matches!(
                warning.id,
                WarningId::Errors
                    | WarningId::RecordCount
                    | WarningId::Verification
                    | WarningId::ReturnsNothing
            )
        };
        !self.result.valid && self.result.warnings.iter().any(by_arm)
    }

    /// Price of a million successful operations, at the rate of the line where it stands for that.
    fn cost(&self) -> Option<f64> {
        let per_hour = self.price_per_hour.filter(|price| *price > 0.0)?;
        let is_of_line = self.label.trial.is_some();
        let rate = if is_of_line {
            self.line.filter(|line| !line.at_least)?.value
        } else {
            self.extract.throughput
        };
        (rate > 0.0).then(|| per_hour / 3600.0 / rate * 1e6)
    }

    /// Number and throughput of each measured second after the warm-up, counted from the start of the point.
    pub(crate) fn kept_seconds(&self) -> impl Iterator<Item = (u64, f64)> {
        let cut_seconds = match self.result.steadiness {
            Steadiness::Steady { cut_seconds } => cut_seconds,
            Steadiness::Unknown | Steadiness::NotSteady => 0.0,
        };
        // Slices begin a few microseconds early or late.
        let from = self.warm_up_seconds + cut_seconds - 0.5;
        let seconds = self.extract.seconds.iter();
        let kept = seconds.filter(move |second| second.at >= from && second.length > 0.5);
        kept.map(|second| (second.at.round() as u64, second.throughput))
    }

    pub(crate) fn into_series(self, arm: &str, plan: &Plan) -> TimeSeries {
        let cut_seconds = match self.result.steadiness {
            Steadiness::Steady { cut_seconds } => cut_seconds,
            Steadiness::Unknown | Steadiness::NotSteady => 0.0,
        };
        TimeSeries {
            arm: arm.to_owned(),
            mix: self.label.mix,
            point: self.label.point,
            block: self.result.block,
            warm_up_seconds: self.warm_up_seconds,
            cut_seconds,
            seconds: self.extract.seconds,
            figures: self.extract.figures_by_second,
            stalls: self.stalls,
            events: self.seen.map_or_else(Vec::new, |seen| seen.drawn(plan)),
        }
    }
}

/// The load of the samples of one point in numbers: the median of what they were really measured at, where that differs from run to run. `None` without a sample.
pub(crate) fn load_of(samples: &[Sample]) -> Option<LoadKind> {
    let first = samples.first()?.label.load;
    let sessions: Vec<f64> =
        samples.iter().map(|sample| f64::from(sample.label.load.sessions())).collect();
    // Numbers of sessions are far below 2³².
    let sessions = median(&sessions)?.round() as u32;
    Some(match first {
        LoadKind::Closed { think_time_ns, target, .. } => {
            LoadKind::Closed { sessions, think_time_ns, target }
        }
        LoadKind::Open { rate: first, .. } => {
            let mut rates = Vec::with_capacity(samples.len());
            for sample in samples {
                if let LoadKind::Open { rate, .. } = sample.label.load {
                    rates.push(rate);
                }
            }
            LoadKind::Open { rate: median(&rates).unwrap_or(first), sessions }
        }
    })
}

/// The second before the first event: what stalls from then on was made to.
fn disturbed_from(point: &PointRecord) -> f64 {
    let events = point.disturbance().into_iter().flat_map(|seen| &seen.events);
    let first = events.map(|event| event.at_ns).min();
    first.map_or(f64::INFINITY, |first| first as f64 / 1e9 - 1.0)
}

/// Stalls in the measured part, in seconds from the start of the point.
fn stalled(extract: &Extract) -> Vec<(f64, f64)> {
    let measured = &extract.seconds[extract.first_measured..];
    let slices: Vec<(f64, f64)> =
        measured.iter().map(|second| (second.throughput, second.length)).collect();
    let mut spans = Vec::new();
    for range in stalls(&slices) {
        let (first, last) = (&measured[range.start], &measured[range.end - 1]);
        spans.push((first.at, last.at + last.length));
    }
    spans
}

/// Slices of the measured part in which nothing completed, though the rate was such that something should have.
struct Silence {
    /// Seconds from the start of the point.
    begin: f64,
    end: f64,
    /// Longest service time of what completed right behind it.
    longest_ns: u64,
}

impl Silence {
    /// The remark on a long stop. Stops rarely begin and end with a slice: the operations under way show how long one was.
    fn caution(&self) -> Option<String> {
        let Self { begin, end, .. } = self;
        let silent = format!("nothing completed from {begin:.0} s to {end:.0} s");
        let longest = self.longest_ns as f64 / 1e9;
        if end - begin >= SILENCE_CAUTION_SECONDS {
            Some(silent)
        } else if end - begin >= SILENT_SLICES && longest >= SILENCE_CAUTION_SECONDS {
            let longest = crate::words::duration(self.longest_ns as f64);
            Some(format!("{silent}, and an operation that was under way took {longest}"))
        } else {
            None
        }
    }
}

fn silent(extract: &Extract, point: &PointRecord) -> Vec<Silence> {
    let measured = &extract.seconds[extract.first_measured..];
    let slices: Vec<(f64, f64)> =
        measured.iter().map(|second| (second.throughput, second.length)).collect();
    let spans = silences(&slices).into_iter().map(|range| {
        let (first, last) = (&measured[range.start], &measured[range.end - 1]);
        let behind = point.slices.get(extract.first_measured + range.end);
        let parts = behind.iter().flat_map(|slice| &slice.operations);
        Silence {
            begin: first.at,
            end: last.at + last.length,
            longest_ns: parts.filter_map(|part| part.latencies.service.max_ns()).max().unwrap_or(0),
        }
    });
    spans.collect()
}

/// Whether every condition holds. A lower bound that lies within a limit does not show that the limit holds.
fn meets(objective: &Objective, extract: &Extract, gated: &Gated) -> bool {
    if !within(&objective.response, |metric| extract.reading(metric)) {
        return false;
    }
    let in_time = gated.achieved.is_none_or(|achieved| achieved >= objective.achieved);
    in_time && extract.whole.completed.total() > 0 && extract.error_share() <= objective.errors
}

/// Whether an operation keeps its own bounds.
fn holds(bound: &OperationObjective, extract: &Extract) -> bool {
    within(&bound.response, |metric| extract.reading_of(bound.operation, metric))
}

/// Whether percentiles are known to be within their limits.
fn within(limits: &[(f64, u64)], reading: impl Fn(Metric) -> Option<Reading>) -> bool {
    limits.iter().all(|(percentile, highest_ns)| {
        let reading = reading(Metric::Response { percentile: *percentile });
        reading.is_some_and(|reading| !reading.at_least && reading.value <= *highest_ns as f64)
    })
}
