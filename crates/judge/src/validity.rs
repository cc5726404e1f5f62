//! The strip of gates: how each stands over all points, with its figures.

mod imported;

use crate::arm_samples::ArmSamples;
use crate::gates::{CLIENT_LIMIT, GENERATOR_LIMIT};
use crate::rig::{emulated, is_uncalibrated};
use crate::sample::Sample;
use crate::select::Selection;
use crate::words::counted;
use crate::words::percent;
use crate::{CauseKind, Curve, Progress, Steadiness, Validity, ValidityState};
use plimsoll_plan::{Arm, Order, Plan};
use plimsoll_record::{Calibration, LoadKind, Severity, Warning, WarningId};
use plimsoll_stats::FEWEST_WARM_UP_SAMPLES;
use std::collections::BTreeMap;

/// From this share of the sessions' time on the generator's own part is mentioned.
const GENERATOR_MENTIONED: f64 = 0.05;

impl From<Severity> for ValidityState {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Note => Self::Note,
            Severity::Caution => Self::Caution,
            Severity::Invalid => Self::Bad,
        }
    }
}

/// Every entry, in the order in which a reader should look.
pub(crate) fn validity(
    plan: &Plan,
    selection: &Selection<'_>,
    arms: &[ArmSamples],
    curves: &[Curve],
    calibrations: &[Calibration],
    warnings: &[Warning],
) -> Vec<Validity> {
    let points: Vec<&Sample> = arms.iter().flat_map(|arm| arm.points.iter().flatten()).collect();
    let all: Vec<&Sample> =
        arms.iter().flat_map(|arm| arm.load.iter()).chain(points.iter().copied()).collect();
    if crate::imported::is_imported(selection) {
        return imported::validity(plan, selection, &points, warnings);
    }
    let mut strip = vec![blocks(plan, selection), failures(&all)];
    strip.extend(rate_achieved(&points));
    strip.extend(crate::line::validity(arms));
    strip.extend(generator(&points));
    strip.extend(client(arms));
    strip.extend(crate::hosts::validity(&points, warnings));
    strip.push(if plan.events.is_empty() {
        steadiness(&points)
    } else {
        let text = "not judged: something was done to the servers or disks on purpose";
        Validity::of("steadiness", ValidityState::Note, text.to_owned())
    });
    strip.push(records(selection, &all));
    if plan.load_phase.once {
        let text = "stored one time for each arm, and copied for each run: what differs from load to load is in no interval";
        strip.push(Validity::of("data", ValidityState::Note, text.to_owned()));
    }
    strip.extend(disk(plan, calibrations, &points));
    strip.extend(disk_at_its_cap(curves));
    strip.push(machine(plan, arms, &points, warnings));
    if plan.has_several_arms() {
        strip.push(sameness(plan, selection, warnings));
    }
    strip
}

/// How many of the samples have a warning of this id.
fn has(sample: &Sample, id: WarningId) -> bool {
    sample.result.warnings.iter().any(|warning| warning.id == id)
}

fn having(samples: &[&Sample], id: WarningId) -> usize {
    samples.iter().filter(|sample| has(sample, id)).count()
}

fn blocks(plan: &Plan, selection: &Selection<'_>) -> Validity {
    let Progress {
        runs_planned, runs_finished, runs_failed, blocks_planned, blocks_complete, ..
    } = selection.progress;
    let mut text = format!("{blocks_complete} of {blocks_planned} complete");
    if selection.ended_by_looks {
        let is_gate = plan.measurement.gate().is_some();
        let why = match is_gate {
            true => "the gate ended",
            false => "ended when every interval was narrow enough",
        };
        text = format!("{blocks_complete} complete of at most {blocks_planned}, {why}");
    }
    let needed = crate::pairing::fewest_blocks_to_judge(plan);
    let of_a_pair = plan.blocks_of_a_pair(blocks_complete);
    let few = usize::try_from(of_a_pair).is_ok_and(|complete| complete < needed);
    if few {
        text.push_str(&format!(", a verdict needs {needed}"));
    }
    if runs_failed > 0 {
        text.push_str(&format!(", {runs_failed} of {runs_planned} runs failed"));
    } else if runs_finished < runs_planned {
        text.push_str(&format!(", {runs_finished} of {runs_planned} runs finished"));
    }
    let state = match () {
        () if runs_failed > 0 || runs_finished == 0 => ValidityState::Bad,
        () if few => ValidityState::Caution,
        () if runs_finished < runs_planned => ValidityState::Note,
        () => ValidityState::Good,
    };
    Validity::of("blocks", state, text)
}

fn failures(all: &[&Sample]) -> Validity {
    let (mut failed, mut not_found) = (0_u64, 0_u64);
    for sample in all {
        failed = failed.saturating_add(sample.extract.whole.completed.error);
        not_found = not_found.saturating_add(sample.extract.whole.completed.not_found);
    }
    let wrong = having(all, WarningId::Verification);
    let bad = having(all, WarningId::Errors);
    if wrong > 0 {
        let text = format!("wrong data was read in {wrong} of {}", counted(all.len(), "point"));
        return Validity::of("errors", ValidityState::Bad, text);
    }
    let fruitless = having(all, WarningId::ReturnsNothing);
    if fruitless > 0 {
        let text =
            format!("an operation found nothing in {fruitless} of {}", counted(all.len(), "point"));
        return Validity::of("errors", ValidityState::Bad, text);
    }
    let missing =
        if not_found > 0 { format!(", {not_found} found no record") } else { String::new() };
    if bad > 0 {
        let of = counted(all.len(), "point");
        let mut with_errors = all.iter().filter(|sample| has(sample, WarningId::Errors));
        let is_expected = with_errors.all(|sample| sample.seen.is_some());
        let (state, text) = match is_expected {
            true => (
                ValidityState::Note,
                format!(
                    "{failed} operations failed, in {bad} of {of}, around the planned events{missing}"
                ),
            ),
            false => (
                ValidityState::Bad,
                format!("{failed} operations failed, too many in {bad} of {of}{missing}"),
            ),
        };
        return Validity::of("errors", state, text);
    }
    let state = match (failed, not_found) {
        _ if all.is_empty() => {
            return Validity::of("errors", ValidityState::Note, "nothing was measured".into());
        }
        (0, 0) => return Validity::of("errors", ValidityState::Good, "none".into()),
        (_, 0) => ValidityState::Note,
        _ => ValidityState::Caution,
    };
    Validity::of(
        "errors",
        state,
        format!("{failed} operations failed, within what the objective allows{missing}"),
    )
}

fn is_closed(sample: &Sample) -> bool {
    matches!(sample.label.load, LoadKind::Closed { target: None, .. })
}

fn rate_achieved(points: &[&Sample]) -> Option<Validity> {
    let mut lowest = f64::INFINITY;
    let open: Vec<&Sample> = points.iter().copied().filter(|sample| !is_closed(sample)).collect();
    let mut known = 0;
    for sample in &open {
        if let Some(achieved) = sample.result.achieved {
            lowest = lowest.min(achieved);
            known += 1;
        }
    }
    if open.is_empty() {
        return None;
    }
    if known == 0 {
        return Some(Validity::of(
            "rate achieved",
            ValidityState::Note,
            "unknown: no point says how many operations were due".into(),
        ));
    }
    let missed = having(&open, WarningId::RateNotAchieved);
    let mut text = format!(
        "in {} of {}, at least {}",
        known - missed.min(known),
        counted(known, "point"),
        percent(lowest, 1)
    );
    let censored = having(&open, WarningId::CensoredTail);
    if censored > 0 {
        text.push_str(&format!("; upper percentiles are lower bounds in {censored}"));
    }
    let state = if missed + censored == 0 { ValidityState::Good } else { ValidityState::Caution };
    Some(Validity::of("rate achieved", state, text))
}

/// The generator's own part in what was measured, closed and open.
fn generator(points: &[&Sample]) -> Option<Validity> {
    let (mut highest_share, mut highest_lag_ns) = (None::<f64>, None::<f64>);
    for sample in points {
        if let Some(share) = sample.result.generator_share {
            highest_share = Some(highest_share.map_or(share, |highest| highest.max(share)));
        }
        if let Some(lag_ns) = sample.result.generator_lag_p99_ns {
            highest_lag_ns = Some(highest_lag_ns.map_or(lag_ns, |highest| highest.max(lag_ns)));
        }
    }
    let mut parts = Vec::new();
    let late = having(points, WarningId::GeneratorLate);
    let is_refused = |warning: &Warning| {
        warning.id == WarningId::GeneratorLimited && warning.severity() == Severity::Invalid
    };
    let refused =
        points.iter().filter(|sample| sample.result.warnings.iter().any(is_refused)).count();
    if let Some(share) = highest_share {
        parts.push(format!(
            "overhead up to {} of session time (limit {})",
            percent(share, 1),
            percent(GENERATOR_LIMIT, 0)
        ));
    }
    if let Some(lag_ns) = highest_lag_ns {
        let lag = crate::words::duration(lag_ns);
        parts.push(format!("woke up to {lag} late (p99) in open loops"));
    }
    if parts.is_empty() {
        return None;
    }
    if late > 0 {
        parts.push(format!("late in {late} of {}", counted(points.len(), "point")));
    }
    if refused > 0 {
        parts.push(format!("the bottleneck in {refused} of {}", counted(points.len(), "point")));
    }
    let excused = points
        .iter()
        .filter(|sample| {
            let has = |id| sample.result.warnings.iter().any(|warning| warning.id == id);
            sample.result.generator_share > Some(GENERATOR_LIMIT)
                && has(WarningId::GeneratorLimited)
                && !has(WarningId::GeneratorLate)
                && !sample.result.warnings.iter().any(is_refused)
        })
        .count();
    if excused > 0 {
        parts.push(format!(
            "excused in {} because one operation stalled for most of the window",
            counted(excused, "point")
        ));
    }
    let state = match highest_share {
        _ if refused > 0 => ValidityState::Bad,
        _ if excused > 0 => ValidityState::Caution,
        _ if late > 0 => ValidityState::Caution,
        Some(share) if share > GENERATOR_MENTIONED => ValidityState::Note,
        _ => ValidityState::Good,
    };
    Some(Validity::of("generator", state, parts.join("; ")))
}

/// How much of the processors that they can use the clients of servers kept busy. An embedded engine works in the threads of its client.
fn client(arms: &[ArmSamples]) -> Option<Validity> {
    let mut busiest: Option<(f64, u32)> = None;
    let (mut is_known, mut is_apart, mut is_server_known, mut decides) = (false, false, false, 0);
    for sample in arms.iter().flat_map(|arm| arm.points.iter().flatten()) {
        let is_known_here = sample.extract.figures.worker_processors.is_some();
        is_known |= is_known_here;
        is_apart |= is_known_here && sample.extract.is_client_apart;
        is_server_known |= sample.extract.figures.server_processors.is_some();
        decides += usize::from(sample.clients.iter().any(|client| client.decides.is_some()));
        for client in &sample.clients {
            let share = client.processors / f64::from(client.usable);
            if busiest.is_none_or(|(highest, ..)| share > highest) {
                busiest = Some((share, client.usable));
            }
        }
    }
    let Some((share, usable)) = busiest else {
        if is_apart {
            let text = "not judged: the number of the load hosts' processors is unknown";
            return Some(Validity::of("client CPU", ValidityState::Note, text.into()));
        }
        let text = "client and engine share a process; CPU/op includes both";
        return is_known.then(|| Validity::of("client CPU", ValidityState::Good, text.into()));
    };
    let of = match usable {
        1 => "the processor".to_owned(),
        several => format!("the {several} processors"),
    };
    let mut text = format!(
        "up to {} of {of} that its sessions can use (limit {}){}",
        percent(share, 1),
        percent(CLIENT_LIMIT, 0),
        if is_server_known { "; CPU/op is the server's" } else { "" }
    );
    if decides > 0 {
        text.push_str(&format!(
            "; the client, not the server, limits the rate in {}",
            counted(decides, "point")
        ));
    }
    let state = match share {
        share if share > CLIENT_LIMIT => ValidityState::Bad,
        _ if decides > 0 => ValidityState::Caution,
        share if share > CLIENT_LIMIT / 2.0 => ValidityState::Note,
        _ => ValidityState::Good,
    };
    Some(Validity::of("client CPU", state, text))
}

/// Where the disk, not the arm on it, decided how fast it went.
fn disk_at_its_cap(curves: &[Curve]) -> Option<Validity> {
    let (mut watched, mut at_cap, mut by_latency) = (0, 0, 0);
    for point in curves.iter().flat_map(|curve| &curve.points) {
        let Some(cause) = &point.cause else { continue };
        if point.figures.median.device_reads_per_second.is_none() {
            continue;
        }
        watched += 1;
        let is_limit = matches!(
            cause.kind,
            CauseKind::DiskIops
                | CauseKind::DiskBandwidth
                | CauseKind::DiskQueueDepth
                | CauseKind::DiskBusy
        );
        at_cap += usize::from(is_limit);
        by_latency += usize::from(cause.kind == CauseKind::DiskLatency);
    }
    let points = (watched > 0).then(|| counted(watched, "point"))?;
    let mut text = if at_cap == 0 {
        format!("not reached in any of {points}")
    } else {
        format!("reached in {at_cap} of {points}, where the disk limits the arm")
    };
    if by_latency > 0 {
        text.push_str(&format!("; its latency limits the arm in {by_latency}"));
    }
    let state = if at_cap + by_latency == 0 { ValidityState::Good } else { ValidityState::Note };
    Some(Validity::of("disk limit", state, text))
}

fn steadiness(points: &[&Sample]) -> Validity {
    let (mut steady, mut unknown, mut longest_cut) = (0, 0, 0.0_f64);
    for sample in points {
        match sample.result.steadiness {
            Steadiness::Steady { cut_seconds } => {
                steady += 1;
                longest_cut = longest_cut.max(cut_seconds);
            }
            Steadiness::Unknown => unknown += 1,
            Steadiness::NotSteady => {}
        }
    }
    let judged = points.len() - unknown;
    let mut text = if judged == 0 && unknown > 0 {
        format!("points are too short to judge ({FEWEST_WARM_UP_SAMPLES} s needed)")
    } else {
        format!("settled in {steady} of {}", counted(judged, "point"))
    };
    if longest_cut > 0.0 {
        text.push_str(&format!(", up to {longest_cut:.0} s more warm-up was cut"));
    }
    if unknown > 0 && judged > 0 {
        text.push_str(&format!(
            "; {unknown} more too short to judge ({FEWEST_WARM_UP_SAMPLES} s needed)"
        ));
    }
    let stalls = having(points, WarningId::Stall);
    if stalls > 0 {
        text.push_str(&format!(", stalls in {stalls}"));
    }
    let state = match () {
        () if steady + unknown < points.len() || stalls > 0 => ValidityState::Caution,
        () if unknown > 0 || points.is_empty() => ValidityState::Note,
        () => ValidityState::Good,
    };
    Validity::of("steadiness", state, text)
}

fn records(selection: &Selection<'_>, all: &[&Sample]) -> Validity {
    let runs: Vec<_> = selection.finished.iter().flat_map(BTreeMap::values).collect();
    let counted_runs = runs.iter().filter(|run| run.records_loaded.is_some()).count();
    if having(all, WarningId::RecordCount) > 0 {
        let text =
            "the engine held a different number of records after the load than requested".into();
        return Validity::of("records", ValidityState::Bad, text);
    }
    if counted_runs == 0 {
        return Validity::of(
            "records",
            ValidityState::Note,
            "the number of records was not checked".into(),
        );
    }
    let state = if counted_runs == runs.len() { ValidityState::Good } else { ValidityState::Note };
    Validity::of(
        "records",
        state,
        format!("record count correct after {counted_runs} of {}", counted(runs.len(), "load")),
    )
}

/// Emulated disks: whether each was calibrated and kept its limits.
fn disk(plan: &Plan, calibrations: &[Calibration], points: &[&Sample]) -> Option<Validity> {
    let has_one = |arm: &&Arm| emulated(&arm.rig).is_some();
    let arms = plan.arms.iter().filter(has_one).count();
    if arms == 0 {
        return None;
    }
    let mut state = ValidityState::Good;
    let mut remarks = Vec::new();
    // Also of disks on which nothing was measured, because one of them is not what was requested.
    let is_unknown = |arm: &&Arm| is_uncalibrated(&arm.rig, calibrations);
    let unknown = plan.arms.iter().filter(is_unknown).count();
    if unknown > 0 {
        remarks
            .push(format!("not verified under {unknown} of {}", counted(plan.arms.len(), "arm")));
        state = ValidityState::Bad;
    }
    for (id, words, gravity) in [
        (WarningId::DiskUnshaped, "without limits", ValidityState::Bad),
        (WarningId::EmulatorLate, "answered late", ValidityState::Caution),
        (WarningId::IdentityBroken, "did more than its limits allow", ValidityState::Caution),
    ] {
        let count = having(points, id);
        if count > 0 {
            remarks.push(format!("{words} in {}", counted(count, "point")));
            if state == ValidityState::Good {
                state = gravity;
            }
        }
    }
    let text = if remarks.is_empty() {
        format!("verified under {}", counted(arms, "arm"))
    } else {
        remarks.join("; ")
    };
    Some(Validity::of("disk", state, text))
}

fn machine(plan: &Plan, arms: &[ArmSamples], points: &[&Sample], warnings: &[Warning]) -> Validity {
    let mut remarks: Vec<String> = Vec::new();
    let mut state = ValidityState::Good;
    let of_foreign = warnings.iter().filter(|warning| warning.id == WarningId::ForeignCpu);
    let gravest = of_foreign.map(Warning::severity).max();
    let crowded = arms.iter().zip(&plan.arms).filter_map(|(samples, arm)| {
        let share = percent(samples.foreign?, 0);
        Some(format!("{share} of the processors while {} was measured", arm.name))
    });
    let crowded: Vec<String> = crowded.collect();
    let is_refused = |sample: &&&Sample| {
        let mut warnings = sample.result.warnings.iter();
        warnings.any(|warning| {
            warning.id == WarningId::ForeignCpu && warning.severity() == Severity::Invalid
        })
    };
    let refused = points.iter().filter(is_refused).count();
    // Points that were refused are left out of everything: what is left is what counts.
    let (foreign, foreign_words) = match gravest {
        _ if !crowded.is_empty() => {
            (ValidityState::Bad, format!("other programs used {}", crowded.join(", ")))
        }
        Some(Severity::Invalid) if refused == points.len() => {
            (ValidityState::Bad, "other programs used the processors in every point".into())
        }
        Some(Severity::Invalid) => (
            ValidityState::Caution,
            format!(
                "other programs used the processors, and {} of {} are left out for that",
                refused,
                counted(points.len(), "point")
            ),
        ),
        Some(Severity::Caution) => {
            (ValidityState::Caution, "other programs used the processors".into())
        }
        Some(Severity::Note) | None => {
            (ValidityState::Note, "other programs used the processors a little".into())
        }
    };
    for (id, words, gravity) in [
        (
            WarningId::MixedMachines,
            "runs on different machines or versions",
            ValidityState::Caution,
        ),
        (WarningId::StolenCpu, "the hypervisor took CPU time", ValidityState::Caution),
        (WarningId::ForeignCpu, foreign_words.as_str(), foreign),
        (WarningId::ClockJumped, "the clock jumped", ValidityState::Caution),
        (WarningId::Machine, "not set up for measuring, see the warnings", ValidityState::Note),
    ] {
        if warnings.iter().any(|warning| warning.id == id) {
            remarks.push(words.to_owned());
            state = state.max(gravity);
        }
    }
    let text = if remarks.is_empty() { "nothing to remark".into() } else { remarks.join("; ") };
    Validity::of("machine", state, text)
}

/// Whether the arms differ in nothing but what the file says, and came in fair order.
fn sameness(plan: &Plan, selection: &Selection<'_>, warnings: &[Warning]) -> Validity {
    if selection.progress.runs_finished == 0 {
        let text = "no run is finished, so nothing was checked".to_owned();
        return Validity::of("differences", ValidityState::Note, text);
    }
    let mut others = Vec::new();
    for warning in warnings {
        if warning.id == WarningId::OtherDifference {
            others.push(warning.subject.as_str());
        }
    }
    let order = match plan.measurement.order {
        Order::Shuffled => "order shuffled in every block",
        Order::AsWritten => "order as in the file",
    };
    if others.is_empty() {
        return Validity::of(
            "differences",
            ValidityState::Good,
            format!("none but the declared factors; {order}"),
        );
    }
    Validity::of(
        "differences",
        ValidityState::Caution,
        format!("also in {}; {order}", others.join(", ")),
    )
}
