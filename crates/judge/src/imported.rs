//! What can be said of points that another program measured.
//!
//! Their totals are the other program's own where it prints any: nothing can be cut from those, and where it kept no histograms only the percentiles
//! that it printed are known. Of the gates those are tried that the output allows, and each of the others says that it cannot be. Whether runs
//! were made side by side no output says, so they are compared unpaired unless whoever imported them vouches for it.

use crate::extract::{Extract, units};
use crate::gates::{GENERATOR_LIMIT, Gated};
use crate::sample::Sample;
use crate::select::Selection;
use crate::steadiness::Settling;
use crate::validity::{blocks, entry, failures, having, rate_achieved};
use crate::words::{counted, percent};
use crate::{SeriesSecond, Steadiness, Validity, ValidityState};
use plimsoll_plan::Plan;
use plimsoll_record::{
    Imported, Latencies, LoadKind, PointRecord, Slice, Warning, WarningId, WorkerUse,
};
use plimsoll_stats::LITTLE_TOLERANCE;
use std::collections::BTreeMap;

/// Every imported point of the runs that count.
fn points<'a>(selection: &'a Selection<'_>) -> impl Iterator<Item = &'a Imported> {
    selection
        .finished
        .iter()
        .flat_map(BTreeMap::values)
        .flat_map(|run| &run.points)
        .filter_map(PointRecord::imported)
}

/// Whether another program measured any of it.
pub(crate) fn is_imported(selection: &Selection<'_>) -> bool {
    points(selection).next().is_some()
}

/// Whether the runs of a block belong together.
pub(crate) fn is_paired(selection: &Selection<'_>) -> bool {
    points(selection).all(|imported| imported.side_by_side)
}

/// What the other program says of the whole measured part, as one slice.
pub(crate) fn whole(point: &PointRecord) -> Option<Slice> {
    let stated = point.imported()?.stated.as_ref()?;
    let length_ns = point.end.as_ref()?.measured_ns;
    Some(Slice {
        index: 0,
        start_ns: 0,
        length_ns,
        warm_up: false,
        completed: stated.completed,
        operations: stated.operations.clone(),
        worker: WorkerUse::default(),
        telemetry: BTreeMap::new(),
    })
}

/// Latencies of all units together, where the other program tells them.
pub(crate) fn all(point: &PointRecord) -> Option<&Latencies> {
    point.imported()?.stated.as_ref()?.all.as_ref()
}

/// Whether only service times are known: sessions paced themselves, and nothing was timed from when it was due.
pub(crate) fn without_response(point: &PointRecord, is_timed_from_due: bool) -> bool {
    let is_paced = match point.label.load {
        LoadKind::Closed { target, .. } => target.is_some(),
        LoadKind::Open { .. } => true,
    };
    point.imported().is_some() && is_paced && !is_timed_from_due
}

/// Takes the percentiles away from seconds whose response times are not known.
pub(crate) fn forget_response(seconds: &mut [SeriesSecond]) {
    for second in seconds {
        second.p50_ns = None;
        second.p99_ns = None;
    }
}

/// The same without a cut. A point of which something should be cut is not steady: its totals hold the warm-up as well.
pub(crate) fn uncut(settling: Settling) -> Settling {
    match settling.steadiness {
        Steadiness::Steady { cut_seconds } if cut_seconds > 0.0 => Settling {
            cut: 0,
            steadiness: Steadiness::NotSteady,
            remark: Some(format!(
                "the first {cut_seconds:.0} s are still warm-up, and cannot be cut from totals"
            )),
        },
        _ => Settling { cut: 0, ..settling },
    }
}

/// Little's law, as far as an output allows.
///
/// How long the sessions of another program were outside of its calls is not known. Throughput × mean time must then not exceed the sessions, and what is
/// missing is time that they spent elsewhere. Beyond the share that is allowed to a generator nobody can tell whether they did, or whether the
/// figures contradict each other. Sessions that are held down to a target wait for their turn, so nothing can be missing there.
pub(crate) fn little(extract: &Extract, load: LoadKind, subject: &str, gated: &mut Gated) {
    let sessions = f64::from(load.sessions());
    let Some(implied) = busy_sessions(extract).filter(|_| sessions > 0.0) else {
        return;
    };
    let is_paced = !matches!(load, LoadKind::Closed { target: None, .. });
    let at_the_ends = extract.whole.longest_service_ns as f64 / 1e9 / extract.whole.seconds;
    let missing = 1.0 - implied / sessions;
    let message = if missing < -(LITTLE_TOLERANCE + at_the_ends) {
        format!("throughput × time makes {implied:.2} busy sessions, there were only {sessions}")
    } else if !is_paced && missing > GENERATOR_LIMIT + at_the_ends {
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
    gated
        .warnings
        .push(Warning::new(WarningId::LittlesLaw, subject, message));
}

/// Throughput × mean time of all units.
fn busy_sessions(extract: &Extract) -> Option<f64> {
    let mean_ns = extract.whole.mean_service_ns?;
    let total = units(extract.whole.completed);
    let seconds = extract.whole.seconds;
    (total > 0 && seconds > 0.0).then(|| total as f64 / seconds * mean_ns / 1e9)
}

/// That arms are compared without pairs, and what it costs.
pub(crate) fn unpaired(plan: &Plan, paired: bool) -> Option<Warning> {
    let is_compared = plan.arms.len() > 1 && !paired;
    is_compared.then(|| {
        Warning::new(
            WarningId::Unpaired,
            "",
            "nothing says that the runs were made side by side: whatever else changed between them counts as a difference between the arms, and intervals are wider than those of blocks",
        )
    })
}

/// The strip of gates. What an output does not allow to try says so.
pub(crate) fn validity(
    plan: &Plan,
    selection: &Selection<'_>,
    points: &[&Sample],
    warnings: &[Warning],
) -> Vec<Validity> {
    let mut strip = vec![origin(selection, warnings), blocks(plan, selection)];
    strip.push(failures(points));
    strip.push(littles_law(points));
    strip.extend(rate_achieved(points));
    strip.push(generator(points));
    strip.push(steadiness(points));
    let unknown = |name, text: &str| entry(name, ValidityState::Note, text.to_owned());
    strip.push(unknown(
        "records",
        "not known: no output counts them after the load",
    ));
    strip.push(unknown(
        "machine",
        "not known: no output describes it, nor the storage",
    ));
    if plan.arms.len() > 1 {
        strip.push(sides(selection, warnings));
    }
    strip
}

fn origin(selection: &Selection<'_>, warnings: &[Warning]) -> Validity {
    let mut tools: Vec<&str> = Vec::new();
    let mut files = 0;
    for imported in points(selection) {
        files += imported.files.len();
        if !tools.contains(&imported.tool.as_str()) {
            tools.push(&imported.tool);
        }
    }
    let is_damaged = warnings
        .iter()
        .any(|warning| warning.id == WarningId::ImportDamaged);
    let text = format!(
        "imported: measured by {}, read from {}{}",
        tools.join(" and "),
        counted(files, "file"),
        if is_damaged {
            ", not all of them whole"
        } else {
            ""
        }
    );
    let state = if is_damaged {
        ValidityState::Caution
    } else {
        ValidityState::Note
    };
    entry("origin", state, text)
}

fn littles_law(points: &[&Sample]) -> Validity {
    let name = "Little's law";
    let can_be = |sample: &&&Sample| {
        sample.label.load.sessions() > 0 && sample.extract.whole.mean_service_ns.is_some()
    };
    let tried = points.iter().filter(can_be).count();
    if tried == 0 {
        let text = "cannot be tried: no output says both how many sessions there were and how long operations took";
        return entry(name, ValidityState::Note, text.to_owned());
    }
    let failed = having(points, WarningId::LittlesLaw);
    let mut text = format!(
        "throughput × time fits the sessions in {} of {}",
        tried - failed.min(tried),
        counted(tried, "point")
    );
    if tried < points.len() {
        text.push_str(&format!(
            "; cannot be tried in {}, of which sessions or times are not known",
            points.len() - tried
        ));
    }
    let state = match () {
        () if failed > 0 => ValidityState::Bad,
        () if tried < points.len() => ValidityState::Note,
        () => ValidityState::Good,
    };
    entry(name, state, text)
}

fn generator(points: &[&Sample]) -> Validity {
    let shares = points
        .iter()
        .filter_map(|sample| sample.result.generator_share);
    let text = match shares.reduce(f64::max) {
        Some(share) => format!(
            "sessions spent up to {} of their time outside of calls, as follows from Little's law; its CPU time is not known",
            percent(share, 0)
        ),
        None => "cannot be tried: no output says what the generator took".to_owned(),
    };
    entry("generator", ValidityState::Note, text)
}

fn steadiness(points: &[&Sample]) -> Validity {
    let (mut steady, mut unknown) = (0, 0);
    for sample in points {
        match sample.result.steadiness {
            Steadiness::Steady { .. } => steady += 1,
            Steadiness::Unknown => unknown += 1,
            Steadiness::NotSteady => {}
        }
    }
    let all = points.len();
    if unknown == all {
        let text = "cannot be tried: no output tells enough of the time between";
        return entry("steadiness", ValidityState::Note, text.to_owned());
    }
    let mut text = format!("settled in {steady} of {}", counted(all, "point"));
    if unknown > 0 {
        text.push_str(&format!(", {unknown} tell too little of the time between"));
    }
    let stalls = having(points, WarningId::Stall);
    if stalls > 0 {
        text.push_str(&format!(", stalls in {stalls}"));
    }
    let state = match () {
        () if steady + unknown < all || stalls > 0 => ValidityState::Caution,
        () if unknown > 0 => ValidityState::Note,
        () => ValidityState::Good,
    };
    entry("steadiness", state, text)
}

/// What may differ between the arms beside what they are.
fn sides(selection: &Selection<'_>, warnings: &[Warning]) -> Validity {
    let mut others = Vec::new();
    for warning in warnings {
        if warning.id == WarningId::OtherDifference {
            others.push(warning.subject.as_str());
        }
    }
    let mut text = match &others[..] {
        [] => "none that the outputs show".to_owned(),
        _ => format!("in {}", others.join(", ")),
    };
    text.push_str(if is_paired(selection) {
        "; made side by side, as whoever imported them says"
    } else {
        "; not known to be made side by side, so compared unpaired"
    });
    entry("differences", ValidityState::Caution, text)
}
