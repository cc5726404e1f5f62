//! What each point must pass before its numbers may be compared, and what else there is to know about it.

use crate::extract::{Extract, units};
use crate::rules::is_late_by_arm;
use plimsoll_plan::{Arm, Plan, is_by_uri};
use plimsoll_record::{
    FOREIGN_CAUTION, FOREIGN_INVALID, FOREIGN_NOTE, Histogram, LONGEST_LAG_NS, LoadKind, Operation,
    PointEnd, PointRecord, RunRecord, Severity, Warning, WarningId,
};
use plimsoll_stats::{LITTLE_TOLERANCE, samples_for_percentile};

/// Highest share of the sessions' time that the generator may take for itself: outside of calls and pauses in a closed loop, by waking late in an open
/// one. Simulations in `loadgen` show that percentiles of an open loop stay within 2 % of the theory up to here.
pub(crate) const GENERATOR_LIMIT: f64 = 0.2;
/// Highest share of the processors that its sessions can use that the client of a server may keep busy.
pub(crate) const CLIENT_LIMIT: f64 = 0.8;
/// Beyond this share of the sessions' time, lag makes an open loop another one than was asked for.
const LAG_LIMIT: f64 = 0.5;
/// Share of the measured part in which a generator may stand still: more is seen in a p99.9.
const STALLED_LIMIT: f64 = 0.001;
/// More than this is seen in a p99.
const LONG_STALLED_LIMIT: f64 = 0.01;
/// In records whose response times contain the lag: its highest p99 as a share of the median service time.
const CONTAINED_LAG_LIMIT: f64 = 0.05;
/// Share of the processors' time that the hypervisor may take without a word.
const STOLEN_LIMIT: f64 = 0.01;
/// A point shorter than this, its warm-up included, is too short to be refused for what others did in it: a program that runs for a second takes a fifth of it.
const FOREIGN_JUDGED_NS: u64 = 5_000_000_000;
/// In what steps the kernel counts that time: 1/100 s, whatever its own tick is.
const STOLEN_TICK_NS: u64 = 10_000_000;
/// How far the wall clock may move against the monotonic one; adjustment by NTP (at most 0.5 ms a second) stays below this for three minutes.
const CLOCK_JUMP_LIMIT_NS: u64 = 100_000_000;
/// Achieved share of an open loop's rate where the file has no objective.
const ACHIEVED_DEFAULT: f64 = 0.99;

/// What the file allows.
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
            Some(objective) => Self {
                errors: objective.errors,
                achieved: objective.achieved,
            },
            None => Self {
                errors: 0.0,
                achieved: ACHIEVED_DEFAULT,
            },
        }
    }

    /// Those of the trials of a search. Failures and a rate that was not achieved are what a trial is to find out, not what makes it invalid.
    pub(crate) fn of_trials(plan: &Plan) -> Self {
        Self {
            errors: f64::INFINITY,
            achieved: Self::of(plan).achieved,
        }
    }
}

/// What the gates found at one point of one run.
#[derive(Debug, Default)]
pub(crate) struct Gated {
    /// Every remark, the subject being the run.
    pub(crate) warnings: Vec<Warning>,
    /// Whether the point has an end and operations at all; the rest of validity is in the warnings.
    pub(crate) complete: bool,
    /// Share of the sessions' time that the generator took: outside of engine calls and pauses in a closed loop, by waking late in an open one.
    pub(crate) generator_share: Option<f64>,
    /// p99 of the generator's lag in an open loop, nanoseconds.
    pub(crate) generator_lag_p99_ns: Option<f64>,
    /// Finished over due, in an open loop.
    pub(crate) achieved: Option<f64>,
}

/// Tries one point of one run.
pub(crate) fn gate(
    extract: &Extract,
    point: &PointRecord,
    run: &RunRecord,
    arm: &Arm,
    limits: Limits,
) -> Gated {
    let subject = crate::sample::run_subject(run);
    let mut gated = Gated::default();
    let mut warn = |id, message: String| gated.warnings.push(Warning::new(id, &subject, message));

    let asked = arm.data.key_count();
    if let Some(stored) = run.records_loaded
        && stored != asked
    {
        warn(
            WarningId::RecordCount,
            format!("{stored} records after the load, {asked} were asked for"),
        );
    }
    if extract.whole.wrong_data > 0 {
        warn(
            WarningId::Verification,
            format!(
                "{} records held other data than expected",
                extract.whole.wrong_data
            ),
        );
    }
    for noticed in &run.warnings {
        let found = gated
            .warnings
            .iter()
            .any(|warning| warning.id == noticed.id);
        if crate::warnings::FOUND_AGAIN.contains(&noticed.id) && !found {
            gated
                .warnings
                .push(Warning::new(noticed.id, &subject, noticed.message.clone()));
        }
    }
    let done = extract.whole.completed;
    if extract.error_share() > limits.errors {
        let message = errors(done.error, units(done), point.end.as_ref());
        let warning = Warning::new(WarningId::Errors, &subject, message);
        // What fails for something that was done on purpose is what is asked.
        gated.warnings.push(if point.disturbance().is_some() {
            warning.weighing(Severity::Caution)
        } else {
            warning
        });
    }
    let mut warn = |id, message: String| gated.warnings.push(Warning::new(id, &subject, message));
    if done.not_found > 0 {
        warn(
            WarningId::NotFound,
            format!(
                "{} of {} operations found no record; they do not count in the throughput",
                done.not_found,
                units(done)
            ),
        );
    }
    let writes = [Operation::Update, Operation::Insert, Operation::Delete];
    let is_unacknowledged = run.engine.as_ref().is_some_and(|engine| {
        engine.settings.get("write_concern").map(String::as_str) == Some("0")
    });
    if is_unacknowledged
        && writes
            .iter()
            .any(|one| extract.by_operation.contains_key(one))
    {
        warn(
            WarningId::Unacknowledged,
            "writes were not acknowledged (w:0): their times are those of the socket's buffer"
                .into(),
        );
    }
    if point.label.point.is_some()
        && let Some(remark) = &extract.settling.remark
    {
        let is_unknown = matches!(extract.settling.steadiness, crate::Steadiness::Unknown);
        let id = if is_unknown {
            WarningId::SteadinessUnknown
        } else {
            WarningId::NotSteady
        };
        warn(id, remark.clone());
    }
    let operations = extract
        .response
        .as_ref()
        .map_or(0, |response| response.count);
    let operations = match point.imported() {
        Some(_) => operations.max(extract.whole.completed.ok),
        None => operations,
    };
    let needed = samples_for_percentile(0.99, 0.95).expect("0.99 and 0.95 lie between 0 and 1");
    if operations == 0 {
        warn(
            WarningId::FewOperations,
            "no operation succeeded after the warm-up".into(),
        );
    } else if operations < needed {
        warn(
            WarningId::FewOperations,
            format!("{operations} operations, p99 needs {needed} for a bound"),
        );
    }

    let Some(end) = &point.end else {
        warn(
            WarningId::RunInterrupted,
            "the point has no end: it was cut off".into(),
        );
        return gated;
    };
    if end.cut_short {
        warn(
            WarningId::RunInterrupted,
            "the point was stopped before its time".into(),
        );
    }
    gated.complete = !end.cut_short && operations > 0 && extract.kept_seconds > 0.0;
    let stolen = stolen_share(point, end, run.machine.cores);
    if stolen > STOLEN_LIMIT {
        warn(
            WarningId::StolenCpu,
            format!("{:.1} % of the processors' time was stolen", stolen * 100.0),
        );
    }
    if let Some((weight, message)) = foreign(end, run.machine.cores) {
        let warning = Warning::new(WarningId::ForeignCpu, &subject, message);
        gated.warnings.push(warning.weighing(weight));
    }
    let mut warn = |id, message: String| gated.warnings.push(Warning::new(id, &subject, message));
    if end.clock_jump_ns.unsigned_abs() > CLOCK_JUMP_LIMIT_NS {
        let seconds = end.clock_jump_ns as f64 / 1e9;
        warn(
            WarningId::ClockJumped,
            format!("the wall clock moved by {seconds:+.3} s"),
        );
    }
    if let Some((weight, message)) = busy_client(extract, point, run, arm) {
        let warning = Warning::new(WarningId::GeneratorLimited, &subject, message);
        gated.warnings.push(warning.weighing(weight));
    }
    if point.imported().is_some() {
        crate::imported::little(extract, point.label.load, &subject, &mut gated);
    }
    match point.label.load {
        LoadKind::Closed { target: None, .. } if point.imported().is_some() => {}
        LoadKind::Closed {
            sessions,
            think_time_ns,
            target: None,
        } => closed(extract, end, sessions, think_time_ns, &subject, &mut gated),
        // Sessions that pace themselves are idle between their operations, and have a rate to achieve.
        LoadKind::Closed { .. } | LoadKind::Open { .. } => {
            open(extract, end, limits, &subject, &mut gated);
            if let Some(late) = late_generator(extract, point, end, limits, &mut gated) {
                let by_arm = is_late_by_arm(&extract.figures, arm, run.machine.cores);
                let id = match late.id {
                    WarningId::GeneratorLimited if by_arm => WarningId::GeneratorLate,
                    id => id,
                };
                gated
                    .warnings
                    .push(Warning::new(id, &subject, late.message));
            }
        }
    }
    gated
}

/// From here on the processors of a machine are used up.
const PROCESSORS_USED_UP: f64 = 0.9;
/// A client that takes this share of the CPU time of an operation decides more about the rate than the server beside it does.
const CLIENT_DECIDES: f64 = 0.5;

/// The client's share of the CPU time of an operation, where client and server have used up the processors of their machine and the greater part of it is the
/// client's.
pub(crate) fn deciding_client(client: f64, server: Option<f64>, cores: u32) -> Option<f64> {
    let both = client + server?;
    let share = client / both;
    let is_used_up = both >= PROCESSORS_USED_UP * f64::from(cores.max(1));
    (is_used_up && share >= CLIENT_DECIDES).then_some(share)
}

/// Whether the client has no room, where it can be told from the engine: where that is a server. A client that shares the processors with its server may be the
/// limit long before its sessions have used up all of them.
fn busy_client(
    extract: &Extract,
    point: &PointRecord,
    run: &RunRecord,
    arm: &Arm,
) -> Option<(Severity, String)> {
    if extract.figures.server_processors.is_none() && !is_by_uri(arm) {
        return None;
    }
    let cores = run.machine.cores;
    let client = extract.figures.worker_processors?;
    let usable = point.label.load.sessions().min(cores).max(1);
    if client > CLIENT_LIMIT * f64::from(usable) {
        let message =
            format!("the client kept {client:.2} processors busy, its sessions can use {usable}");
        return Some((Severity::Invalid, message));
    }
    let share = deciding_client(client, extract.figures.server_processors, cores)?;
    let message = format!(
        "{:.0} % of the CPU time of an operation is the client's, and the {cores} processors that it shares with the server are used up: the client limits the rate more than the server does",
        share * 100.0
    );
    Some((Severity::Caution, message))
}

/// Share of the processors' time that the hypervisor took in the whole point. The kernel counts it in ticks, so one tick of each processor says
/// nothing: in a point of a few milliseconds it would be more than all there is.
fn stolen_share(point: &PointRecord, end: &PointEnd, cores: u32) -> f64 {
    let cores = u64::from(cores.max(1));
    let there_ns = cores as f64 * (point.warm_up_ns as f64 + end.measured_ns as f64);
    if end.stolen_ns <= cores * STOLEN_TICK_NS || there_ns <= 0.0 {
        return 0.0;
    }
    (end.stolen_ns as f64 / there_ns).min(1.0)
}

/// What other programs used of the machine, and how much that weighs.
fn foreign(end: &PointEnd, cores: u32) -> Option<(Severity, String)> {
    let foreign = end.foreign.as_ref()?;
    let share = foreign.share(cores);
    let weight = match share {
        _ if share >= FOREIGN_INVALID && foreign.elapsed_ns >= FOREIGN_JUDGED_NS => {
            Severity::Invalid
        }
        _ if share >= FOREIGN_CAUTION => Severity::Caution,
        _ if share >= FOREIGN_NOTE => Severity::Note,
        _ => return None,
    };
    let message = format!(
        "other programs used {:.1} % of the machine: {} processors",
        share * 100.0,
        foreign.names()
    );
    Some((weight, message))
}

fn errors(failed: u64, total: u64, end: Option<&PointEnd>) -> String {
    let first = end.and_then(|end| end.errors.first());
    let words = first.map_or(String::new(), |sample| {
        format!(", first: {}", sample.message)
    });
    format!("{failed} of {total} operations failed{words}")
}

/// The generator's own share of the sessions' time: choosing an operation, reading clocks and counting.
///
/// Little's law is not tried here. Sessions, their time inside calls and the number of calls come from the same readings of the same clock, so it would hold whatever they
/// are. It is tried where another program counted.
fn closed(
    extract: &Extract,
    end: &PointEnd,
    sessions: u32,
    think_ns: u64,
    subject: &str,
    gated: &mut Gated,
) {
    let total = units(extract.whole.completed);
    let session_ns = f64::from(sessions) * end.measured_ns as f64;
    if total == 0 || session_ns <= 0.0 || end.busy_ns == 0 {
        return;
    }
    let accounted_share = (end.busy_ns as f64 + think_ns as f64 * total as f64) / session_ns;
    let share = (1.0 - accounted_share).clamp(0.0, 1.0);
    gated.generator_share = Some(share);
    // At each end of the window every session may have one operation that is counted whole or not at all: as much of the session's time as
    // the longest operation takes.
    let at_the_ends = extract.whole.longest_service_ns as f64 / end.measured_ns as f64;
    if accounted_share > 1.0 + LITTLE_TOLERANCE + at_the_ends {
        let message = format!(
            "the sessions were inside calls for {:.0} % of the time that there was",
            accounted_share * 100.0
        );
        gated
            .warnings
            .push(Warning::new(WarningId::LittlesLaw, subject, message));
    }
    if share > GENERATOR_LIMIT {
        let message = format!(
            "the sessions spent {:.0} % of their time outside the engine",
            share * 100.0
        );
        // In short windows with long stalls the ends are more than the limit, and nobody can tell whose time it was.
        let weight = if share > GENERATOR_LIMIT + at_the_ends {
            Severity::Invalid
        } else {
            Severity::Caution
        };
        let warning = Warning::new(WarningId::GeneratorLimited, subject, message);
        gated.warnings.push(warning.weighing(weight));
    }
}

/// Whether the rate was achieved, and how much was left undone.
fn open(extract: &Extract, end: &PointEnd, limits: Limits, subject: &str, gated: &mut Gated) {
    let finished = units(extract.whole.completed);
    if let Some(due) = end.due
        && due > 0
    {
        let achieved = finished as f64 / due as f64;
        gated.achieved = Some(achieved);
        if achieved < limits.achieved {
            let message = format!(
                "{finished} of {due} operations due were finished, {:.1} %",
                achieved * 100.0
            );
            gated
                .warnings
                .push(Warning::new(WarningId::RateNotAchieved, subject, message));
        }
    }
    for percentile in [50.0, 95.0, 99.0, 99.9] {
        if extract.is_lower_bound(percentile) {
            let share = extract.unfinished_share() * 100.0;
            let message = format!(
                "{share:.2} % were unfinished at the end: p{percentile} and above are lower bounds"
            );
            gated
                .warnings
                .push(Warning::new(WarningId::CensoredTail, subject, message));
            break;
        }
    }
}

/// How late a generator was, and what that means.
struct Late {
    id: WarningId,
    message: String,
}

/// Whether the generator of an open loop was in time. What matters is the arrivals: whether enough sessions were there for what was due, and whether
/// there were times in which none could be. Response times are without the lag.
fn late_generator(
    extract: &Extract,
    point: &PointRecord,
    end: &PointEnd,
    limits: Limits,
    gated: &mut Gated,
) -> Option<Late> {
    let lag = end.generator_lag.as_ref()?;
    let p99_ns = lag.percentile_ns(99.0)? as f64;
    gated.generator_lag_p99_ns = Some(p99_ns);
    let sessions = f64::from(point.label.load.sessions().max(1));
    let measured_ns = (end.measured_ns as f64).max(1.0);
    let share = lag.mean_ns()? * lag.count() as f64 / (sessions * measured_ns);
    gated.generator_share = Some(share);
    let is_missed = gated
        .achieved
        .is_some_and(|achieved| achieved < limits.achieved);

    let stalled_ns = stalled_ns(lag, sessions);
    let stalled = stalled_ns / measured_ns;
    if stalled > STALLED_LIMIT {
        let (id, percentile) = if stalled > LONG_STALLED_LIMIT {
            (WarningId::GeneratorLimited, "p99")
        } else {
            (WarningId::GeneratorLate, "p99.9")
        };
        let time = crate::words::duration(stalled_ns);
        let message = format!(
            "the generator stood still for {time}, {:.1} % of the measured time: {percentile} and above are its work",
            stalled * 100.0
        );
        return Some(Late { id, message });
    }
    if share > GENERATOR_LIMIT {
        let id = if is_missed || share > LAG_LIMIT {
            WarningId::GeneratorLimited
        } else {
            WarningId::GeneratorLate
        };
        let message = format!(
            "waking late took {:.0} % of the sessions' time, {:.0} % is allowed: response times may be a few percent too long",
            share * 100.0,
            GENERATOR_LIMIT * 100.0
        );
        return Some(Late { id, message });
    }
    let service_ns = extract.service.as_ref()?.percentile(50.0)?;
    (!end.lag_is_apart && p99_ns > CONTAINED_LAG_LIMIT * service_ns).then(|| Late {
        id: WarningId::GeneratorLate,
        message: format!(
            "response times contain the generator's own lag, up to {} (p99); the median service took {}",
            crate::words::duration(p99_ns),
            crate::words::duration(service_ns)
        ),
    })
}

/// For how long at least no session was woken that should have been: the longest such lag, or the sum of all over the sessions.
fn stalled_ns(lag: &Histogram, sessions: f64) -> f64 {
    let stalls = lag.buckets().filter(|(ns, _)| *ns > LONGEST_LAG_NS);
    let (longest, sum) = stalls.fold((0.0_f64, 0.0), |(longest, sum), (ns, count)| {
        (longest.max(ns as f64), sum + ns as f64 * count as f64)
    });
    longest.max(sum / sessions)
}
