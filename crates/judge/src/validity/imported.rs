//! The strip of gates of points that another program measured.

use super::{blocks, failures, having, rate_achieved};
use crate::imported::{is_paired, points as imported_points};
use crate::sample::Sample;
use crate::select::Selection;
use crate::words::{counted, percent};
use crate::{Steadiness, Validity, ValidityState};
use plimsoll_plan::Plan;
use plimsoll_record::{Warning, WarningId};

/// The strip of gates. What an output does not allow to try says so.
pub(super) fn validity(
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
    let unknown = |name, text: &str| Validity::of(name, ValidityState::Note, text.to_owned());
    strip.push(unknown("records", "not known: no output counts them after the load"));
    strip.push(unknown("machine", "not known: no output describes it, nor the storage"));
    if plan.arms.len() > 1 {
        strip.push(sides(selection, warnings));
    }
    strip
}

fn origin(selection: &Selection<'_>, warnings: &[Warning]) -> Validity {
    let mut tools: Vec<&str> = Vec::new();
    let mut files = 0;
    for imported in imported_points(selection) {
        files += imported.files.len();
        if !tools.contains(&imported.tool.as_str()) {
            tools.push(&imported.tool);
        }
    }
    let is_damaged = warnings.iter().any(|warning| warning.id == WarningId::ImportDamaged);
    let text = format!(
        "imported: measured by {}, read from {}{}",
        tools.join(" and "),
        counted(files, "file"),
        if is_damaged { ", not all of them whole" } else { "" }
    );
    let state = if is_damaged { ValidityState::Caution } else { ValidityState::Note };
    Validity::of("origin", state, text)
}

fn littles_law(points: &[&Sample]) -> Validity {
    let name = "Little's law";
    let can_be = |sample: &&&Sample| {
        sample.label.load.sessions() > 0 && sample.extract.whole.mean_service_ns.is_some()
    };
    let tried = points.iter().filter(can_be).count();
    if tried == 0 {
        let text = "cannot be tried: no output says both how many sessions there were and how long operations took";
        return Validity::of(name, ValidityState::Note, text.to_owned());
    }
    let failed = having(points, WarningId::LittlesLaw);
    let mut text = format!(
        "throughput × time fits the sessions in {} of {}",
        tried - failed.min(tried),
        counted(tried, "point")
    );
    if tried < points.len() {
        text.push_str(&format!(
            "; not checked in {}, whose sessions or times are unknown",
            points.len() - tried
        ));
    }
    let state = match () {
        () if failed > 0 => ValidityState::Bad,
        () if tried < points.len() => ValidityState::Note,
        () => ValidityState::Good,
    };
    Validity::of(name, state, text)
}

fn generator(points: &[&Sample]) -> Validity {
    let shares = points.iter().filter_map(|sample| sample.result.generator_share);
    let text = match shares.reduce(f64::max) {
        Some(share) => format!(
            "sessions spent up to {} of their time outside of calls, as follows from Little's law; its CPU time is not known",
            percent(share, 0)
        ),
        None => "cannot be tried: no output says what the generator took".to_owned(),
    };
    Validity::of("generator", ValidityState::Note, text)
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
        let text = "cannot be tried: no output says enough about the time between";
        return Validity::of("steadiness", ValidityState::Note, text.to_owned());
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
    Validity::of("steadiness", state, text)
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
        "; made side by side, according to the import"
    } else {
        "; not known to have been made side by side, so compared unpaired"
    });
    Validity::of("differences", ValidityState::Caution, text)
}
