//! The gate of the load generator: how much of the sessions' time, and of the processors, was its own.

use super::gated::{GENERATOR_LIMIT, Gated};
use super::hosts::{Finding, PointHost};
use crate::Figures;
use crate::extract::Extract;
use crate::words::percent;
use plimsoll_plan::{Arm, is_by_uri};
use plimsoll_record::{
    Histogram, LONGEST_LAG_NS, LoadKind, PointEnd, PointRecord, Severity, Warning, WarningId,
};
use plimsoll_stats::LITTLE_TOLERANCE;

/// Highest share of the processors that its sessions can use that the client of a server may keep busy.
pub(crate) const CLIENT_LIMIT: f64 = 0.8;
/// Beyond this share of the sessions' time, lag makes an open loop another one than was requested.
const LAG_LIMIT: f64 = 0.5;
/// Share of the measured part in which a generator may stand still: more is seen in a p99.9.
const STALLED_LIMIT: f64 = 0.001;
/// More than this is seen in a p99.
const LONG_STALLED_LIMIT: f64 = 0.01;
/// In records whose response times contain the lag: its highest p99 as a share of the median service time.
const CONTAINED_LAG_LIMIT: f64 = 0.05;
/// Least share of the time in which the CPU limit must hold the process back.
pub(crate) const THROTTLED: f64 = 0.1;
/// Busy share of the processors that an embedded engine and its client share.
const FILLED: f64 = 0.9;

/// From here on the processors of a machine are used up.
const PROCESSORS_USED_UP: f64 = 0.9;
/// A client that takes this share of the CPU time of an operation decides more about the rate than the server beside it does.
const CLIENT_DECIDES: f64 = 0.5;

/// The client's share of the CPU time of an operation, where client and server have used up the processors of their machine and the greater part of it is the
/// client's.
fn deciding_client(client: f64, server: Option<f64>, cores: u32) -> Option<f64> {
    let both = client + server?;
    let share = client / both;
    let is_used_up = both >= PROCESSORS_USED_UP * f64::from(cores.max(1));
    (is_used_up && share >= CLIENT_DECIDES).then_some(share)
}

/// How much of the processors the client of a server keeps busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClientUse {
    pub(crate) processors: f64,
    /// Processors that its sessions can use.
    pub(crate) usable: u32,
    /// Its share of the CPU time of an operation, where that limits the rate more than the server does.
    pub(crate) decides: Option<f64>,
}

/// What the client on one machine uses, where it can be distinguished from the engine. On a machine with an unknown number of processors nobody
/// knows what is used up.
pub(super) fn client_use(host: &PointHost<'_>, extract: &Extract) -> Option<ClientUse> {
    if !extract.is_client_apart {
        return None;
    }
    let server = extract.figures.server_processors;
    let cores = host.cores?;
    let processors = host.client?;
    Some(ClientUse {
        processors,
        usable: host.sessions.min(cores).max(1),
        // Elsewhere the server does not share its processors with this client.
        decides: deciding_client(processors, server.filter(|_| host.is_of_arm), cores),
    })
}

/// Whether the client has no room. A client that shares the processors with its server may be the limit long before its sessions have used up all of them.
pub(super) fn busy_client(host: &PointHost<'_>, extract: &Extract) -> Option<Finding> {
    let client = client_use(host, extract)?;
    let (processors, usable) = (client.processors, client.usable);
    if processors > CLIENT_LIMIT * f64::from(usable) {
        let message = format!(
            "the client kept {processors:.2} processors busy, its sessions can use {usable}"
        );
        return Some(Finding {
            id: WarningId::GeneratorLimited,
            weight: Some(Severity::Invalid),
            message,
        });
    }
    let (share, cores) = (client.decides?, host.cores?);
    let message = format!(
        "{:.0} % of the CPU time of an operation is the client's, and the {cores} processors that it shares with the server are used up: the client limits the rate more than the server does",
        share * 100.0
    );
    Some(Finding { id: WarningId::GeneratorLimited, weight: Some(Severity::Caution), message })
}

/// The generator's own share of the sessions' time: choosing an operation, reading clocks and counting.
///
/// Little's law is not tried here. Sessions, their time inside calls and the number of calls come from the same readings of the same clock, so it would hold whatever they
/// are. It is tried where another program counted.
pub(super) fn closed(
    extract: &Extract,
    end: &PointEnd,
    sessions: u32,
    think_ns: u64,
    subject: &str,
    gated: &mut Gated,
) {
    let total = extract.whole.completed.total();
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
        gated.warnings.push(Warning::new(WarningId::LittlesLaw, subject, message));
    }
    if share > GENERATOR_LIMIT {
        let message =
            format!("the sessions spent {:.0} % of their time outside the engine", share * 100.0);
        // In short windows with long stalls the ends are more than the limit, and it is unknown whose time that was.
        let weight = if share > GENERATOR_LIMIT + at_the_ends {
            Severity::Invalid
        } else {
            Severity::Caution
        };
        let warning = Warning::new(WarningId::GeneratorLimited, subject, message);
        gated.warnings.push(warning.weighing(weight));
    }
}

/// Whether the generator is late because of the arm: an embedded engine shares its processors and their limit with its client. Where it fills them, or the limit holds
/// both back, so it would be in any program that embeds the engine.
fn is_late_by_arm(host: &PointHost<'_>, figures: &Figures, arm: &Arm) -> bool {
    if arm.rig.server.is_some() || is_by_uri(arm) {
        return false;
    }
    let limits = &arm.rig.limits;
    let cores = host.cores.map_or(f64::INFINITY, f64::from);
    let mut room = limits.cpus.unwrap_or(f64::INFINITY).min(cores);
    if !limits.pin.is_empty() {
        room = room.min(limits.pin.len() as f64);
    }
    let used = figures.group_processors.or(host.client);
    used.is_some_and(|used| used >= FILLED * room)
        || figures.throttled.is_some_and(|share| share >= THROTTLED)
}

/// Start-up time of another program's sessions that its runtime may include, seconds.
const STARTING_SECONDS: f64 = 0.5;

/// Little's law, as far as an output allows.
///
/// How long the sessions of another program were outside of its calls is not known. Throughput × mean time must then not exceed the sessions, and what is
/// missing is time that they spent elsewhere. Beyond the share that is allowed to a generator nobody can tell whether they did, or whether the
/// figures contradict each other. Sessions that are held down to a target wait for their turn, so nothing can be missing there.
pub(super) fn little(extract: &Extract, load: LoadKind, subject: &str, gated: &mut Gated) {
    let sessions = f64::from(load.sessions());
    let Some(implied) = busy_sessions(extract).filter(|_| sessions > 0.0) else {
        return;
    };
    let is_paced = !matches!(load, LoadKind::Closed { target: None, .. });
    let at_the_ends = extract.whole.longest_service_ns as f64 / 1e9 / extract.whole.seconds;
    let missing = 1.0 - implied / sessions;
    // The runtime may include connecting and starting the threads.
    let at_the_start = STARTING_SECONDS / extract.whole.seconds;
    let message = if missing < -(LITTLE_TOLERANCE + at_the_ends) {
        format!("throughput × time makes {implied:.2} busy sessions, there were only {sessions}")
    } else if !is_paced && missing > GENERATOR_LIMIT + at_the_ends + at_the_start {
        format!(
            "throughput × time makes {implied:.2} busy sessions, there were {sessions}: the figures contradict each other, or the sessions spent {} of their time elsewhere",
            percent(missing, 0)
        )
    } else {
        if !is_paced {
            gated.generator_share = Some(missing.clamp(0.0, 1.0));
        }
        return;
    };
    gated.warnings.push(Warning::new(WarningId::LittlesLaw, subject, message));
}

/// Throughput × mean time of all units.
fn busy_sessions(extract: &Extract) -> Option<f64> {
    let mean_ns = extract.whole.mean_service_ns?;
    let total = extract.whole.completed.total();
    let seconds = extract.whole.seconds;
    (total > 0 && seconds > 0.0).then(|| total as f64 / seconds * mean_ns / 1e9)
}

/// p99 of a generator's lag, nanoseconds, and the share of the sessions' time that it took.
fn lag_of(lag: &Histogram, sessions: u32, measured_ns: u64) -> Option<(f64, Option<f64>)> {
    let p99_ns = lag.percentile_ns(99.0)? as f64;
    let there_ns = f64::from(sessions.max(1)) * (measured_ns as f64).max(1.0);
    let share = lag.mean_ns().map(|mean| mean * lag.count() as f64 / there_ns);
    Some((p99_ns, share))
}

/// How late the generators of an open loop were, all together.
pub(super) fn lag(point: &PointRecord, end: &PointEnd, gated: &mut Gated) {
    let sessions = point.label.load.sessions();
    let lag = end.generator_lag.as_ref();
    if let Some((p99_ns, share)) = lag.and_then(|lag| lag_of(lag, sessions, end.measured_ns)) {
        gated.generator_lag_p99_ns = Some(p99_ns);
        gated.generator_share = share.or(gated.generator_share);
    }
}

/// Whether the generator of an open loop was in time on one machine. What matters is the arrivals: whether enough sessions were there for what was due, and whether
/// there were times in which none could be. Response times are without the lag.
pub(super) fn late_generator(
    host: &PointHost<'_>,
    extract: &Extract,
    end: &PointEnd,
    arm: &Arm,
    is_missed: bool,
) -> Option<Finding> {
    let found = |id, message| {
        let by_arm = is_late_by_arm(host, &extract.figures, arm);
        let id = match id {
            WarningId::GeneratorLimited if by_arm => WarningId::GeneratorLate,
            id => id,
        };
        Some(Finding { id, weight: None, message })
    };
    let lag = host.lag?;
    let (p99_ns, share) = lag_of(lag, host.sessions, host.measured_ns)?;
    let share = share?;
    let sessions = f64::from(host.sessions.max(1));
    let stalled_ns = stalled_ns(lag, sessions);
    let stalled = stalled_ns / (host.measured_ns as f64).max(1.0);
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
        return found(id, message);
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
        return found(id, message);
    }
    let service_ns = extract.service.as_ref()?.percentile(50.0)?;
    if end.lag_is_apart || p99_ns <= CONTAINED_LAG_LIMIT * service_ns {
        return None;
    }
    let message = format!(
        "response times contain the generator's own lag, up to {} (p99); the median service took {}",
        crate::words::duration(p99_ns),
        crate::words::duration(service_ns)
    );
    found(WarningId::GeneratorLate, message)
}

/// For how long at least no session was woken that should have been: the longest such lag, or the sum of all over the sessions.
fn stalled_ns(lag: &Histogram, sessions: f64) -> f64 {
    let stalls = lag.buckets().filter(|(ns, _)| *ns > LONGEST_LAG_NS);
    let (longest, sum) = stalls.fold((0.0_f64, 0.0), |(longest, sum), (ns, count)| {
        (longest.max(ns as f64), sum + ns as f64 * count as f64)
    });
    longest.max(sum / sessions)
}
