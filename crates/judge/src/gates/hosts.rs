//! The machines of a point, each with what its own gates look at, and the gates of several machines together.
//!
//! A point in which one worker took part has one machine without a name, that of its run. Where several took part, each machine has said what it did, and every
//! gate of a machine is tried on each.

use super::gated::{ForeignUse, GENERATOR_LIMIT};
use crate::extract::Extract;
use crate::words;
use plimsoll_plan::Arm;
use plimsoll_record::{
    ForeignCpu, Histogram, HostPoint, LoadKind, PointEnd, PointRecord, RunRecord, Severity,
    Warning, WarningId,
};
use plimsoll_workload::schedule::Share;

/// Seconds of hosts are laid on each other by their clocks. A slice is 1 s long, so a clock that is known to 1 ms puts at most 0.1 % of it into the wrong one.
const CLOCK_BOUND_LIMIT_NS: u64 = 1_000_000;
/// How far apart the hosts of a closed loop may begin, beside what their clocks leave open.
const START_SKEW_LIMIT_NS: u64 = 1_000_000;
/// How much of what the others do a host must do, without a word. Hosts may differ by the share of the sessions' time that each generator may take for itself:
/// what is more must have another cause.
const DIFFER_LIMIT: f64 = 1.0 - GENERATOR_LIMIT;
/// Operations of a host from which on its rate is known: their number is known to 5 % by chance alone, a quarter of what would be remarked.
const DIFFER_FEWEST: u64 = 400;

/// What was found on one machine.
pub(super) struct Finding {
    pub(super) id: WarningId,
    /// Where it depends on the figures.
    pub(super) weight: Option<Severity>,
    pub(super) message: String,
}

/// One machine of a point.
pub(super) struct PointHost<'a> {
    /// As it stands at the beginning of a message; `None` where it is the only one.
    name: Option<String>,
    /// Logical processors; `None` where they are not known. Shares of them are then not judged: with a guess they would be wrong by as much as the guess.
    pub(super) cores: Option<u32>,
    /// Whether its pair ran on the other half of the machine at the same time.
    pub(super) is_half: bool,
    pub(super) stolen_ns: u64,
    pub(super) clock_jump_ns: i64,
    pub(super) foreign: Option<&'a ForeignCpu>,
    pub(super) lag: Option<&'a Histogram>,
    /// Length of its measured part, nanoseconds.
    pub(super) measured_ns: u64,
    pub(super) sessions: u32,
    /// Processors that its load generator kept busy.
    pub(super) client: Option<f64>,
    /// Whether the arm stands on it, so that a server shares its processors with the load generator.
    pub(super) is_of_arm: bool,
}

impl<'a> PointHost<'a> {
    /// Every machine of a point.
    pub(super) fn all(
        extract: &Extract,
        point: &'a PointRecord,
        run: &RunRecord,
        arm: &Arm,
    ) -> Vec<Self> {
        let end = point.end.as_ref();
        let hosts = end.map_or(&[][..], |end| end.hosts.as_slice());
        if hosts.is_empty() {
            return vec![Self {
                name: None,
                cores: Some(run.machine.cores),
                is_half: run.half.is_some(),
                stolen_ns: end.map_or(0, |end| end.stolen_ns),
                clock_jump_ns: end.map_or(0, |end| end.clock_jump_ns),
                foreign: end.and_then(|end| end.foreign.as_deref()),
                lag: end.and_then(|end| end.generator_lag.as_ref()),
                measured_ns: end.map_or(0, |end| end.measured_ns),
                sessions: point.label.load.sessions(),
                client: extract.figures.worker_processors,
                is_of_arm: true,
            }];
        }
        let sessions = sessions(hosts, point.label.load);
        let named = hosts.iter().zip(sessions);
        named
            .map(|(host, sessions)| Self {
                name: Some(words::host(host.host.as_deref())),
                cores: cores(host, run, arm),
                is_half: false,
                stolen_ns: host.stolen_ns,
                clock_jump_ns: host.clock_jump_ns,
                foreign: host.foreign.as_deref(),
                lag: host.generator_lag.as_ref(),
                measured_ns: host.measured_ns,
                sessions,
                client: host.worker_processors(),
                is_of_arm: is_of_arm(host, arm),
            })
            .collect()
    }

    pub(super) fn foreign_use(&self) -> Option<ForeignUse> {
        let foreign = self.foreign?;
        // Other programs can be on both halves.
        let halves = if self.is_half { 2 } else { 1 };
        Some(ForeignUse {
            share: foreign.share(self.cores? * halves),
            elapsed_ns: foreign.elapsed_ns,
            is_shared: self.is_half,
        })
    }
}

/// Whether an arm stands on a host.
pub(crate) fn is_of_arm(host: &HostPoint, arm: &Arm) -> bool {
    host.host == arm.on
}

/// Processors of a host: as it said, or those of the run's machine, which is the one that the arm stands on.
pub(crate) fn cores(host: &HostPoint, run: &RunRecord, arm: &Arm) -> Option<u32> {
    let of_run = is_of_arm(host, arm).then_some(run.machine.cores);
    Some(host.cores).filter(|cores| *cores > 0).or(of_run)
}

/// The watched machine: that of the server, or without one the first that makes load. `None` if only one took part.
fn watched<'a>(point: &'a PointRecord, arm: &Arm) -> Option<&'a HostPoint> {
    let hosts = &point.end.as_ref()?.hosts;
    let watcher = hosts.iter().find(|host| !host.makes_load);
    let of_arm = || hosts.iter().find(|host| is_of_arm(host, arm));
    watcher.or_else(of_arm).or(hosts.first())
}

/// Processors of the machine that the telemetry of a point is of.
pub(crate) fn telemetry_cores(point: &PointRecord, run: &RunRecord, arm: &Arm) -> u32 {
    let of_host = watched(point, arm).and_then(|host| cores(host, run, arm));
    of_host.unwrap_or(run.machine.cores)
}

/// Processors that load generators kept busy on the machine that the telemetry of a point is of.
pub(crate) fn worker_here(extract: &Extract, point: &PointRecord, arm: &Arm) -> Option<f64> {
    match watched(point, arm) {
        Some(host) if host.makes_load => host.worker_processors(),
        Some(_) => Some(0.0),
        None => extract.figures.worker_processors,
    }
}

/// The sessions of each host: they are divided among those that make load, in their order.
fn sessions(hosts: &[HostPoint], load: LoadKind) -> Vec<u32> {
    let makers = hosts.iter().filter(|host| host.makes_load).count();
    let of = u32::try_from(makers).unwrap_or(u32::MAX);
    let mut index = 0;
    let mut sessions = Vec::with_capacity(hosts.len());
    for host in hosts {
        if !host.makes_load {
            sessions.push(0);
            continue;
        }
        let share = Share::new(index, of).map(|share| share.sessions(load.sessions()).len());
        sessions.push(share.map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX)));
        index += 1;
    }
    sessions
}

/// What `gate` finds on each machine as one warning for each id and weight, so that a point counts once.
pub(super) fn each(
    hosts: &[PointHost<'_>],
    subject: &str,
    gate: impl Fn(&PointHost<'_>) -> Option<Finding>,
) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for host in hosts {
        let Some(found) = gate(host) else { continue };
        let message = match &host.name {
            Some(name) => format!("{name}: {}", found.message),
            None => found.message,
        };
        let is_same =
            |warning: &&mut Warning| warning.id == found.id && warning.weight == found.weight;
        match warnings.iter_mut().find(is_same) {
            Some(warning) => warning.message.push_str(&format!("; {message}")),
            None => warnings
                .push(Warning { weight: found.weight, ..Warning::new(found.id, subject, message) }),
        }
    }
    warnings
}

/// The gates of several machines together.
pub(super) fn together(point: &PointRecord, end: &PointEnd, subject: &str) -> Vec<Warning> {
    // A load phase is one job from its first to its last record: who began when, and who stored more, is no remark about it.
    if end.hosts.is_empty() || point.label.point.is_none() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    if let Some(message) = loose_clocks(&end.hosts) {
        warnings.push(Warning::new(WarningId::ClockBound, subject, message));
    }
    if let Some((weight, message)) = start_skew(point, &end.hosts) {
        let warning = Warning::new(WarningId::StartSkew, subject, message);
        warnings.push(warning.weighing(weight));
    }
    if let Some(message) = differing(&end.hosts, point.label.load) {
        warnings.push(Warning::new(WarningId::HostsDiffer, subject, message));
    }
    warnings
}

fn loose_clocks(hosts: &[HostPoint]) -> Option<String> {
    let mut loose = Vec::new();
    for host in hosts {
        let bound_ns = host.clock_bound_ns();
        if bound_ns > CLOCK_BOUND_LIMIT_NS {
            let name = words::host(host.host.as_deref());
            loose.push(format!("{name} to ±{}", words::duration(bound_ns as f64)));
        }
    }
    (!loose.is_empty()).then(|| {
        let limit = words::duration(CLOCK_BOUND_LIMIT_NS as f64);
        format!("clocks are known less well than ±{limit}: {}", loose.join(", "))
    })
}

/// How far apart the first operations of a closed loop were, beyond what the clocks of the first and the last host leave open. In an open loop, and where
/// sessions pace themselves, the first operations are due at different times.
fn start_skew(point: &PointRecord, hosts: &[HostPoint]) -> Option<(Severity, String)> {
    if !matches!(point.label.load, LoadKind::Closed { target: None, .. }) {
        return None;
    }
    let mut begun = Vec::new();
    for host in hosts.iter().filter(|host| host.makes_load) {
        if let Some(after_ns) = host.first_after_ns {
            begun.push((after_ns, host));
        }
    }
    let (first_ns, first) = *begun.iter().min_by_key(|(after_ns, _)| *after_ns)?;
    let (last_ns, last) = *begun.iter().max_by_key(|(after_ns, _)| *after_ns)?;
    let skew_ns = last_ns.abs_diff(first_ns);
    // The instants were laid on one clock by the offsets from before the point.
    let open_ns = first.clock.bound_ns.saturating_add(last.clock.bound_ns);
    if skew_ns <= open_ns.saturating_add(START_SKEW_LIMIT_NS) {
        return None;
    }
    let is_measured = u64::try_from(last_ns).is_ok_and(|last_ns| last_ns > point.warm_up_ns);
    let (weight, part) = if is_measured {
        (Severity::Caution, "in the measured part")
    } else {
        (Severity::Note, "within the warm-up")
    };
    let message = format!(
        "{} began {} after {}, {part}",
        words::host(last.host.as_deref()),
        words::duration(skew_ns as f64),
        words::host(first.host.as_deref()),
    );
    Some((weight, message))
}

/// A host that did more or less than the others. In a closed loop what counts is the rate of a session, as hosts may differ by one session; in an open one every
/// host has an equal part of the rate.
fn differing(hosts: &[HostPoint], load: LoadKind) -> Option<String> {
    let is_by_session = matches!(load, LoadKind::Closed { .. });
    let mut rates = Vec::new();
    for (host, sessions) in hosts.iter().zip(sessions(hosts, load)) {
        // A host without a session has nothing to do.
        if sessions == 0 || host.measured_ns == 0 {
            continue;
        }
        let weight = if is_by_session { f64::from(sessions) } else { 1.0 };
        let seconds = host.measured_ns as f64 / 1e9;
        let count = host.completed.total();
        rates.push((host, weight, count, count as f64 / seconds));
    }
    let total: f64 = rates.iter().map(|(.., rate)| rate).sum();
    let weights: f64 = rates.iter().map(|(_, weight, ..)| weight).sum();
    let most = rates.iter().map(|(_, _, count, _)| *count).max()?;
    if rates.len() < 2 || most < DIFFER_FEWEST {
        return None;
    }
    let mut furthest: Option<(f64, &HostPoint, f64, f64)> = None;
    let mut differ = 0;
    for (host, weight, _, rate) in &rates {
        let own = rate / weight;
        let others = (total - rate) / (weights - weight);
        let ratio = own.min(others) / own.max(others);
        differ += usize::from(ratio < DIFFER_LIMIT);
        // Two hosts are equally far from each other: the slower one is named.
        let is_further = furthest.is_none_or(|(known, _, known_own, _)| {
            let is_equal = (ratio - known).abs() <= 1e-9;
            (ratio < known && !is_equal) || (is_equal && own < known_own)
        });
        if is_further {
            furthest = Some((ratio, host, own, others));
        }
    }
    let (ratio, host, own, others) = furthest?;
    if ratio >= DIFFER_LIMIT {
        return None;
    }
    let per = if is_by_session { " per session" } else { "" };
    let (whom, more) = match rates.len() {
        // If one of two differs, so does the other.
        2 => ("the other host", 0),
        _ => ("the others", differ - 1),
    };
    let more = match more {
        0 => String::new(),
        more => {
            format!("; {} differ by more than 20 % as well", words::counted(more, "other host"))
        }
    };
    Some(format!(
        "{} did {}{per}, {whom} {}{more}",
        words::host(host.host.as_deref()),
        words::rate(own),
        words::rate(others),
    ))
}
