//! Which of many things a report puts first.

use plimsoll_judge::{Analysis, Comparison, CurvePoint, Estimate};
use plimsoll_record::{Warning, WarningId};

/// The point at which a mix is judged: that of its first deciding comparison, else the baseline's point of the highest throughput, else
/// any arm's.
pub(crate) fn judged_point(analysis: &Analysis, mix: &str) -> Option<u32> {
    let deciding = analysis
        .comparisons
        .iter()
        .find(|comparison| comparison.primary && comparison.mix == mix);
    if let Some(comparison) = deciding {
        return Some(comparison.point);
    }
    let baseline = baseline(analysis);
    let mut best: Option<(bool, f64, u32)> = None;
    for curve in analysis.curves.iter().filter(|curve| curve.mix == mix) {
        for point in curve.points.iter().filter(|point| point.valid_runs > 0) {
            let Some(index) = point.point else { continue };
            let rank = (
                Some(curve.arm.as_str()) == baseline,
                median(&point.throughput),
                index,
            );
            let better = best
                .is_none_or(|(own, rate, _)| (rank.0 && !own) || (rank.0 == own && rank.1 > rate));
            if better && rank.1.is_finite() {
                best = Some(rank);
            }
        }
    }
    best.map(|(_, _, index)| index)
}

/// Name of the arm that the others are compared with.
pub(crate) fn baseline(analysis: &Analysis) -> Option<&str> {
    analysis
        .arms
        .iter()
        .find(|arm| arm.baseline)
        .map(|arm| arm.name.as_str())
}

/// One arm's point of a mix.
pub(crate) fn point<'a>(
    analysis: &'a Analysis,
    arm: &str,
    mix: &str,
    point: u32,
) -> Option<&'a CurvePoint> {
    let curve = analysis
        .curves
        .iter()
        .find(|curve| curve.arm == arm && curve.mix == mix)?;
    curve
        .points
        .iter()
        .find(|candidate| candidate.point == Some(point))
}

/// The deciding comparisons.
pub(crate) fn primaries(analysis: &Analysis) -> impl Iterator<Item = &Comparison> {
    analysis
        .comparisons
        .iter()
        .filter(|comparison| comparison.primary)
}

/// Names of all mixes: those of the analysis, and any other that a curve has.
pub(crate) fn mixes(analysis: &Analysis) -> Vec<&str> {
    let mut mixes: Vec<&str> = analysis.mixes.iter().map(String::as_str).collect();
    for curve in &analysis.curves {
        if !mixes.contains(&curve.mix.as_str()) {
            mixes.push(&curve.mix);
        }
    }
    mixes
}

/// Warnings by id, the gravest kinds first, otherwise in the order in which they came.
pub(crate) fn by_kind(warnings: &[Warning]) -> Vec<(WarningId, Vec<&Warning>)> {
    let mut kinds: Vec<(WarningId, Vec<&Warning>)> = Vec::new();
    for warning in warnings {
        match kinds.iter_mut().find(|(id, _)| *id == warning.id) {
            Some((_, known)) => known.push(warning),
            None => kinds.push((warning.id, vec![warning])),
        }
    }
    kinds.sort_by_key(|(id, _)| std::cmp::Reverse(id.severity()));
    kinds
}

/// The median, or no number where no run gave a value.
pub(crate) fn median(estimate: &Estimate) -> f64 {
    if estimate.values.is_empty() {
        f64::NAN
    } else {
        estimate.median
    }
}
