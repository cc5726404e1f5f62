//! What each point must pass before its numbers may be compared, and what else there is to know about it.

mod gated;
mod generator;
mod hosts;

pub(crate) use gated::{ForeignUse, GENERATOR_LIMIT, Gated};
pub(crate) use generator::{CLIENT_LIMIT, ClientUse, THROTTLED};
pub(crate) use hosts::{cores, is_of_arm, telemetry_cores, worker_here};

use crate::extract::Extract;
use crate::words::percent;
use generator::{busy_client, client_use, closed, lag, late_generator, little};
use hosts::{Finding, PointHost, each, together};
use plimsoll_plan::{Arm, Plan};
use plimsoll_record::quantities::words::grouped;
use plimsoll_record::{
    FOREIGN_CAUTION, FOREIGN_INVALID, FOREIGN_NOTE, LoadKind, Operation, OperationSlice, PointEnd,
    PointRecord, RunRecord, Severity, Status, Warning, WarningId,
};
use plimsoll_stats::samples_for_percentile;
use std::collections::BTreeMap;

/// Share of the processors' time that the hypervisor may take without a word.
const STOLEN_LIMIT: f64 = 0.01;
/// A point shorter than this, its warm-up included, or all points of an arm together, is too short to be refused for what others did in it: a program that runs for a second takes a fifth of it.
pub(crate) const FOREIGN_JUDGED_NS: u64 = 5_000_000_000;
/// Resolution of that time in the kernel: 1/100 s, whatever its own tick is.
const STOLEN_TICK_NS: u64 = 10_000_000;
/// How far the wall clock may move against the monotonic one; adjustment by NTP (at most 0.5 ms a second) stays below this for three minutes.
const CLOCK_JUMP_LIMIT_NS: u64 = 100_000_000;
/// Achieved share of an open loop's rate where the file has no objective.
const ACHIEVED_DEFAULT: f64 = 0.99;

/// Ids that are found again here, at every point of the run that the runner found them in.
pub(crate) const FOUND_AGAIN: [WarningId; 2] = [WarningId::RecordCount, WarningId::Verification];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Highest share of units that may fail.
    pub(crate) errors: f64,
    /// Lowest share of the rate that must be achieved.
    pub(crate) achieved: f64,
}

impl Limits {
    /// The objective's, or no failure and 99 % of the rate.
    pub(crate) fn of(plan: &Plan) -> Self {
        match &plan.objective {
            Some(objective) => Self { errors: objective.errors, achieved: objective.achieved },
            None => Self { errors: 0.0, achieved: ACHIEVED_DEFAULT },
        }
    }

    /// The limits for trials of a search. A trial exists to find failures and rates that are not achieved: neither makes it invalid.
    pub(crate) fn of_trials(plan: &Plan) -> Self {
        Self { errors: f64::INFINITY, achieved: Self::of(plan).achieved }
    }
}

/// What the clients of a server use of each machine that makes load.
pub(crate) fn clients(
    extract: &Extract,
    point: &PointRecord,
    run: &RunRecord,
    arm: &Arm,
) -> Vec<ClientUse> {
    let hosts = PointHost::all(extract, point, run, arm);
    let clients = hosts.iter().filter_map(|host| client_use(host, extract));
    clients.collect()
}

/// Share of operations without a record from which on they change the response times of the others.
const NOTICEABLE: f64 = 0.01;
/// Share of an operation's calls without a document beyond which it was not that operation that was measured.
const FRUITLESS: f64 = 0.5;

/// For each operation in the measured part of a point: calls that found nothing, and all calls.
fn missing_of_all(point: &PointRecord) -> BTreeMap<Operation, [u64; 2]> {
    let stated = point.imported().and_then(|one| one.stated.as_ref());
    let parts: Vec<&OperationSlice> = match stated {
        Some(stated) => stated.operations.iter().collect(),
        None => {
            let measured = point.slices.iter().filter(|slice| !slice.warm_up);
            measured.flat_map(|slice| &slice.operations).collect()
        }
    };
    let mut counts: BTreeMap<Operation, [u64; 2]> = BTreeMap::new();
    for part in parts {
        let [missing, all] = counts.entry(part.operation).or_default();
        let count = part.latencies.count();
        *all = all.saturating_add(count);
        if part.status == Status::NotFound {
            *missing = missing.saturating_add(count);
        }
    }
    counts
}

/// Operations of an application that mostly found nothing, in words: `by-customer found nothing in 98 % of its 12,345 calls`.
fn fruitless(point: &PointRecord) -> Vec<String> {
    let mut found = Vec::new();
    for (operation, [missing, all]) in missing_of_all(point) {
        let Operation::Own(own) = operation else { continue };
        let share = missing as f64 / all.max(1) as f64;
        if share > FRUITLESS {
            let (name, done, calls) = (own.name(), own.kind().done(), grouped(all as f64, 0));
            let share = percent(share, 0);
            found.push(format!("{name} {done} nothing in {share} of its {calls} calls"));
        }
    }
    found
}

/// What verifications found wrong in a point: of an application's operations in the words of those that counted.
fn wrong_data(wrong: u64, point: &PointRecord) -> String {
    let mut parts = point.slices.iter().flat_map(|slice| &slice.operations);
    if !parts.any(|part| matches!(part.operation, Operation::Own(_))) {
        return format!("{wrong} records held other data than expected");
    }
    let errors = point.end.iter().flat_map(|end| &end.errors);
    let wrong_numbers = errors.filter(|sample| sample.operation == Operation::Verify);
    let each: Vec<&str> = wrong_numbers.map(|sample| sample.message.as_str()).collect();
    let named = if each.is_empty() { String::new() } else { format!(": {}", each.join("; ")) };
    let calls = grouped(wrong as f64, 0);
    format!("{calls} calls found another number of documents than expected{named}")
}

/// The operation with the most missing records and their share of it, ` (20.8 % of read)`; empty if unknown.
fn mostly_of(point: &PointRecord) -> String {
    let most = missing_of_all(point).into_iter().max_by_key(|(_, [missing, _])| *missing);
    match most {
        Some((operation, [missing, all])) if missing > 0 => {
            let share = missing as f64 / all as f64;
            let share = match share < 0.001 {
                true => "less than 0.1 %".to_owned(),
                false => percent(share, 1),
            };
            format!(" ({share} of {})", operation.name())
        }
        _ => String::new(),
    }
}

/// Warnings about one run at one point.
struct Remarks {
    subject: String,
    warnings: Vec<Warning>,
}

impl Remarks {
    fn add(&mut self, id: WarningId, message: impl Into<String>) {
        self.warnings.push(Warning::new(id, &self.subject, message));
    }

    /// About the data of the run.
    fn of_data(&mut self, extract: &Extract, point: &PointRecord, run: &RunRecord, arm: &Arm) {
        let requested = arm.data.key_count();
        if let Some(stored) = run.records_loaded
            && stored != requested
        {
            let message = format!("{stored} records after the load, {requested} were requested");
            self.add(WarningId::RecordCount, message);
        }
        let wrong = extract.whole.wrong_data;
        if wrong > 0 {
            self.add(WarningId::Verification, wrong_data(wrong, point));
        }
        for noticed in &run.warnings {
            let is_known = self.warnings.iter().any(|one| one.id == noticed.id);
            if FOUND_AGAIN.contains(&noticed.id) && !is_known {
                self.add(noticed.id, noticed.message.clone());
            }
        }
    }

    /// About operations that failed, found nothing, or were not acknowledged.
    fn of_outcomes(
        &mut self,
        extract: &Extract,
        point: &PointRecord,
        run: &RunRecord,
        limits: Limits,
    ) {
        let done = extract.whole.completed;
        if extract.error_share() > limits.errors {
            let message = errors(done.error, done.total(), point.end.as_ref());
            let warning = Warning::new(WarningId::Errors, &self.subject, message);
            // A disturbance that the experiment makes is expected to cause errors.
            self.warnings.push(match point.disturbance() {
                Some(_) => warning.weighing(Severity::Caution),
                None => warning,
            });
        }
        if done.not_found > 0 {
            let is_noticeable = done.not_found as f64 >= NOTICEABLE * done.total() as f64;
            let effect = match is_noticeable {
                true => ", and make the others faster: an operation without a record costs less",
                false => "",
            };
            let message = format!(
                "{} of {} operations found no record{}; they do not count in the throughput{effect}",
                done.not_found,
                done.total(),
                mostly_of(point),
            );
            self.add(WarningId::NotFound, message);
            let fruitless = fruitless(point);
            if !fruitless.is_empty() {
                self.add(WarningId::ReturnsNothing, fruitless.join("; "));
            }
        }
        let is_unacknowledged = run.engine.as_ref().is_some_and(|engine| {
            engine.settings.get("write_concern").map(String::as_str) == Some("0")
        });
        if is_unacknowledged && extract.by_operation.keys().any(|one| one.writes()) {
            let message =
                "writes were not acknowledged (w:0): their times are those of the socket's buffer";
            self.add(WarningId::Unacknowledged, message);
        }
    }

    /// About whether the point is long enough.
    fn of_length(&mut self, extract: &Extract, point: &PointRecord, operations: u64) {
        if point.label.point.is_some()
            && let Some(remark) = &extract.settling.remark
        {
            let id = match extract.settling.steadiness {
                crate::Steadiness::Unknown => WarningId::SteadinessUnknown,
                _ => WarningId::NotSteady,
            };
            self.add(id, remark.clone());
        }
        let needed = samples_for_percentile(0.99, 0.95).expect("0.99 and 0.95 lie between 0 and 1");
        if operations == 0 {
            self.add(WarningId::FewOperations, "no operation succeeded after the warm-up");
        } else if operations < needed {
            let message = format!("{operations} operations, p99 needs {needed} for a bound");
            self.add(WarningId::FewOperations, message);
        }
        match &point.end {
            None => self.add(WarningId::RunInterrupted, "the point has no end: it was cut off"),
            Some(end) if end.cut_short => {
                self.add(WarningId::RunInterrupted, "the point was stopped before its time");
            }
            Some(_) => {}
        }
    }
}

/// Tries one point of one run.
pub(crate) fn gate(
    extract: &Extract,
    point: &PointRecord,
    run: &RunRecord,
    arm: &Arm,
    limits: Limits,
) -> Gated {
    let response = extract.response.as_ref();
    let answered = response.map_or(0, |response| response.count);
    let operations = match point.imported() {
        Some(_) => answered.max(extract.whole.completed.ok),
        None => answered,
    };
    let mut remarks = Remarks { subject: crate::words::run_subject(run), warnings: Vec::new() };
    remarks.of_data(extract, point, run, arm);
    remarks.of_outcomes(extract, point, run, limits);
    remarks.of_length(extract, point, operations);
    let Remarks { subject, warnings } = remarks;
    let mut gated = Gated { warnings, ..Gated::default() };
    let Some(end) = &point.end else {
        return gated;
    };
    gated.complete = !end.cut_short && operations > 0 && extract.kept_seconds > 0.0;
    let hosts = PointHost::all(extract, point, run, arm);
    gated.foreign = hosts
        .iter()
        .filter_map(PointHost::foreign_use)
        .max_by(|one, other| one.share.total_cmp(&other.share));
    let mut on_each = |gate: &dyn Fn(&PointHost<'_>) -> Option<Finding>| {
        gated.warnings.extend(each(&hosts, &subject, gate));
    };
    let length_ns = point.warm_up_ns as f64 + end.measured_ns as f64;
    on_each(&|host| stolen(host, length_ns));
    on_each(&foreign);
    on_each(&clock_jump);
    on_each(&|host| busy_client(host, extract));
    gated.warnings.extend(together(point, end, &subject));
    if point.imported().is_some() {
        little(extract, point.label.load, &subject, &mut gated);
    }
    match point.label.load {
        LoadKind::Closed { target: None, .. } if point.imported().is_some() => {}
        LoadKind::Closed { sessions, think_time_ns, target: None } => {
            closed(extract, end, sessions, think_time_ns, &subject, &mut gated)
        }
        // Sessions that pace themselves are idle between their operations, and have a rate to achieve.
        LoadKind::Closed { .. } | LoadKind::Open { .. } => {
            open(extract, end, limits, &subject, &mut gated);
            lag(point, end, &mut gated);
            let is_missed = gated.achieved.is_some_and(|achieved| achieved < limits.achieved);
            let late = |host: &PointHost<'_>| late_generator(host, extract, end, arm, is_missed);
            gated.warnings.extend(each(&hosts, &subject, late));
        }
    }
    gated
}

/// How much of the processors' time of a machine the hypervisor took.
fn stolen(host: &PointHost<'_>, length_ns: f64) -> Option<Finding> {
    let share = stolen_share(host.stolen_ns, host.cores?, length_ns);
    (share > STOLEN_LIMIT).then(|| Finding {
        id: WarningId::StolenCpu,
        weight: None,
        message: format!("{:.1} % of the processors' time was stolen", share * 100.0),
    })
}

/// Share of the processors' time that the hypervisor took in the whole of a time that was so long. The kernel counts it in ticks, so one tick of each processor says
/// nothing: in a point of a few milliseconds it would be more than all there is.
pub(crate) fn stolen_share(stolen_ns: u64, cores: u32, length_ns: f64) -> f64 {
    let cores = u64::from(cores.max(1));
    let there_ns = cores as f64 * length_ns;
    if stolen_ns <= cores * STOLEN_TICK_NS || there_ns <= 0.0 {
        return 0.0;
    }
    (stolen_ns as f64 / there_ns).min(1.0)
}

/// What other programs used of a machine, and how much that weighs.
fn foreign(host: &PointHost<'_>) -> Option<Finding> {
    let used = host.foreign_use()?;
    let share = used.share;
    let weight = match share {
        // In a duet the other side had the same company; where it had not, the comparison leaves the block out.
        _ if share >= FOREIGN_INVALID
            && used.elapsed_ns >= FOREIGN_JUDGED_NS
            && !used.is_shared =>
        {
            Severity::Invalid
        }
        _ if share >= FOREIGN_CAUTION => Severity::Caution,
        _ if share >= FOREIGN_NOTE => Severity::Note,
        _ => return None,
    };
    let message = format!(
        "other programs used {:.1} % of the machine: {} processors",
        share * 100.0,
        host.foreign?.names()
    );
    Some(Finding { id: WarningId::ForeignCpu, weight: Some(weight), message })
}

/// Whether the wall clock of a machine was set.
fn clock_jump(host: &PointHost<'_>) -> Option<Finding> {
    let seconds = host.clock_jump_ns as f64 / 1e9;
    (host.clock_jump_ns.unsigned_abs() > CLOCK_JUMP_LIMIT_NS).then(|| Finding {
        id: WarningId::ClockJumped,
        weight: None,
        message: format!("the wall clock moved by {seconds:+.3} s"),
    })
}

fn errors(failed: u64, total: u64, end: Option<&PointEnd>) -> String {
    let mut samples = end.into_iter().flat_map(|end| &end.errors);
    let first = samples.find(|sample| sample.operation != Operation::Verify);
    let words = first.map_or(String::new(), |sample| format!(", first: {}", sample.message));
    format!("{failed} of {total} operations failed{words}")
}

/// Whether the rate was achieved, and how much was left undone.
fn open(extract: &Extract, end: &PointEnd, limits: Limits, subject: &str, gated: &mut Gated) {
    let finished = extract.whole.completed.total();
    if let Some(due) = end.due
        && due > 0
    {
        let achieved = finished as f64 / due as f64;
        gated.achieved = Some(achieved);
        gated.due = Some(due as f64 / (end.measured_ns as f64 / 1e9));
        if achieved < limits.achieved {
            let message = format!(
                "{finished} of {due} operations due were finished, {:.1} %",
                achieved * 100.0
            );
            gated.warnings.push(Warning::new(WarningId::RateNotAchieved, subject, message));
        }
    }
    for percentile in [50.0, 95.0, 99.0, 99.9] {
        if extract.is_lower_bound(percentile) {
            let share = extract.unfinished_share() * 100.0;
            let message = format!(
                "{share:.2} % were unfinished at the end: p{percentile} and above are lower bounds"
            );
            gated.warnings.push(Warning::new(WarningId::CensoredTail, subject, message));
            break;
        }
    }
}
