//! What a report puts first, and lookups in an analysis.

use crate::text;
use plimsoll_judge::{
    Analysis, BlocksNeeded, Cause, Comparison, CostResult, Curve, CurvePoint, Estimate, Judgement,
    LineResult, Outcome,
};
use plimsoll_record::quantities::numbers::Numbers;
use plimsoll_record::{LoadKind, Severity, Warning, WarningId};

/// Names in sentences are cut at this width.
const NAME: usize = 60;

/// The point at which a mix is judged: that of its first deciding comparison, else the baseline's point of the highest throughput, else
/// any arm's; of points without a valid run only where there are no others.
pub fn judged_point(analysis: &Analysis, mix: &str) -> Option<u32> {
    let deciding =
        analysis.comparisons.iter().find(|comparison| comparison.primary && comparison.mix == mix);
    if let Some(comparison) = deciding {
        return Some(comparison.point);
    }
    let baseline = baseline(analysis);
    let mut best: Option<((bool, bool, f64), u32)> = None;
    for curve in analysis.curves.iter().filter(|curve| curve.mix == mix) {
        for point in &curve.points {
            let Some(index) = point.point else { continue };
            let shown = point.refused.as_deref().unwrap_or(point);
            let rank = (
                point.valid_runs > 0,
                Some(curve.arm.as_str()) == baseline,
                median(&shown.throughput),
            );
            if rank.2.is_finite() && best.is_none_or(|(known, _)| rank > known) {
                best = Some((rank, index));
            }
        }
    }
    best.map(|(_, index)| index)
}

/// A sentence of the analysis in which long names of arms and mixes are shortened.
pub fn with_short_names(analysis: &Analysis, sentence: &str) -> String {
    let arms = analysis.arms.iter().map(|arm| arm.name.as_str());
    let names = arms.chain(analysis.mixes.iter().map(String::as_str));
    text::naming(sentence, names, NAME)
}

/// Whether the result is invalid as a whole, so that no verdict may be shown as one. One for which it is too early is not.
pub fn is_invalid(analysis: &Analysis) -> bool {
    analysis.outcome() == Outcome::Invalid && !analysis.is_too_early()
}

/// The name of the baseline.
pub fn baseline(analysis: &Analysis) -> Option<&str> {
    analysis.arms.iter().find(|arm| arm.baseline).map(|arm| arm.name.as_str())
}

/// Whether a point of the plan searches the plimsoll line.
pub fn is_line(analysis: &Analysis, mix: &str, point: u32) -> bool {
    analysis.lines.iter().any(|line| line.mix == mix && line.point == point)
}

/// The plimsoll line of one arm and mix.
pub fn line<'a>(analysis: &'a Analysis, arm: &str, mix: &str) -> Option<&'a LineResult> {
    analysis.lines.iter().find(|line| line.arm == arm && line.mix == mix)
}

/// Whether there is nothing but searches for the plimsoll line, and no point over a load.
pub fn is_searched_alone(analysis: &Analysis) -> bool {
    let mut curves = analysis.curves.iter();
    curves.all(|curve| curve.points.is_empty()) && !analysis.lines.is_empty()
}

/// Whether there is a run of a point or a trial of a search.
pub fn is_measured(analysis: &Analysis) -> bool {
    let mut points = analysis.curves.iter().flat_map(|curve| &curve.points);
    let mut searches = analysis.lines.iter().flat_map(|line| &line.blocks);
    points.any(|point| point.runs > 0) || searches.any(|search| !search.trials.is_empty())
}

/// The bottleneck of an arm at a point. At the plimsoll line, where the arm still meets the requested rate, it is what limits the line.
pub fn bottleneck<'a>(
    analysis: &'a Analysis,
    mix: &str,
    point: &'a CurvePoint,
) -> Option<&'a Cause> {
    let of_line = line(analysis, &point.arm, mix)
        .filter(|line| Some(line.point) == point.point)
        .and_then(|line| line.limit.as_ref());
    of_line.or(point.cause.as_ref())
}

/// The cost of operations of one arm and mix.
pub fn cost<'a>(analysis: &'a Analysis, arm: &str, mix: &str) -> Option<&'a CostResult> {
    analysis.costs.iter().find(|cost| cost.arm == arm && cost.mix == mix)
}

/// Whether any arm has a cost at the line; costs are then shown there.
fn has_costs_at_line(analysis: &Analysis) -> bool {
    analysis.costs.iter().any(|cost| cost.at_line.is_some())
}

/// The cost shown beside an arm: at the line if any arm has one there, otherwise at the highest throughput.
pub fn shown_cost<'a>(analysis: &Analysis, cost: &'a CostResult) -> Option<&'a Estimate> {
    if has_costs_at_line(analysis) {
        cost.at_line.as_ref()
    } else {
        cost.at_best.as_ref().map(|(_, estimate)| estimate)
    }
}

/// In words, where [`shown_cost`] was measured.
pub fn shown_cost_place(analysis: &Analysis) -> &'static str {
    if has_costs_at_line(analysis) { "at the line" } else { "at best" }
}

/// The load of [`shown_cost`] in words, unless that is the line.
pub fn shown_cost_load<'a>(analysis: &Analysis, cost: &'a CostResult) -> Option<&'a str> {
    if has_costs_at_line(analysis) {
        return None;
    }
    cost.at_best.as_ref().map(|(load, _)| load.as_str())
}

/// Index of the lowest cost, if there are at least two and all are in one currency.
pub fn cheapest<'a>(costs: impl Iterator<Item = Option<(&'a str, &'a Estimate)>>) -> Option<usize> {
    let mut found: Option<(usize, &str, f64)> = None;
    let mut candidates = 0;
    for (place, cost) in costs.enumerate() {
        let Some((currency, estimate)) = cost else {
            continue;
        };
        let median = median(estimate);
        if !median.is_finite() {
            continue;
        }
        candidates += 1;
        match found {
            Some((_, other, _)) if other != currency => return None,
            Some((_, _, lowest)) if lowest <= median => {}
            _ => found = Some((place, currency, median)),
        }
    }
    found.filter(|_| candidates > 1).map(|(place, ..)| place)
}

/// How many blocks an inconclusive deciding comparison needs.
pub fn blocks_needed<'a>(
    analysis: &'a Analysis,
    comparison: &Comparison,
) -> Option<&'a BlocksNeeded> {
    if !comparison.primary || comparison.verdict.judgement != Judgement::Inconclusive {
        return None;
    }
    analysis.blocks_needed.iter().find(|needed| {
        needed.baseline == comparison.baseline
            && needed.arm == comparison.arm
            && needed.mix == comparison.mix
            && needed.metric == comparison.metric
    })
}

/// The points of a curve with one kind of loop: sweeps of sessions and of rates share no axis.
pub fn of_kind(curve: &Curve, open: bool) -> Curve {
    let mut part = curve.clone();
    part.points.retain(|point| is_open(point) == open);
    let knee = part.knee.take();
    part.knee = knee.filter(|knee| {
        let mut points = part.points.iter();
        points.any(|point| point.load_label == knee.load_label)
    });
    if open {
        part.scalability = None;
    }
    part
}

/// Whether the load of a point is a rate.
pub fn is_open(point: &CurvePoint) -> bool {
    matches!(point.load, LoadKind::Open { .. })
}

/// An arm's point of a mix; for a search, the point at the line it found.
pub fn point<'a>(
    analysis: &'a Analysis,
    arm: &str,
    mix: &str,
    point: u32,
) -> Option<&'a CurvePoint> {
    let mut points = analysis
        .curves
        .iter()
        .filter(|curve| curve.arm == arm && curve.mix == mix)
        .flat_map(|curve| &curve.points);
    points
        .find(|candidate| candidate.point == Some(point))
        .or_else(|| line(analysis, arm, mix).filter(|line| line.point == point)?.at_line.as_ref())
}

pub fn primaries(analysis: &Analysis) -> impl Iterator<Item = &Comparison> {
    analysis.comparisons.iter().filter(|comparison| comparison.primary)
}

/// Names of all mixes: those of the analysis, then any others that have a curve.
pub fn mixes(analysis: &Analysis) -> Vec<&str> {
    let mut mixes: Vec<&str> = analysis.mixes.iter().map(String::as_str).collect();
    for curve in &analysis.curves {
        if !mixes.contains(&curve.mix.as_str()) {
            mixes.push(&curve.mix);
        }
    }
    mixes
}

/// Warnings grouped by id, the most severe first, otherwise in their order.
pub fn by_kind(warnings: &[Warning]) -> Vec<(WarningId, Severity, Vec<&Warning>)> {
    let mut kinds: Vec<(WarningId, Severity, Vec<&Warning>)> = Vec::new();
    for warning in warnings {
        let of_kind = |(id, severity, _): &&mut (WarningId, Severity, Vec<&Warning>)| {
            (*id, *severity) == (warning.id, warning.severity())
        };
        match kinds.iter_mut().find(of_kind) {
            Some((_, _, known)) => known.push(warning),
            None => kinds.push((warning.id, warning.severity(), vec![warning])),
        }
    }
    kinds.sort_by_key(|(_, severity, _)| std::cmp::Reverse(*severity));
    kinds
}

/// A figure that counts for nothing.
pub(crate) fn in_brackets(figure: &str, numbers: Numbers) -> String {
    if figure == numbers.nothing() { figure.to_owned() } else { format!("({figure})") }
}

/// Whether arms have sizes on the disk that differ by more than a hundredth, so that a table has a column for them.
pub fn is_size_shown<'a>(points: impl Iterator<Item = &'a CurvePoint>) -> bool {
    let sizes: Vec<f64> = points.filter_map(|point| point.figures.median.data_bytes).collect();
    let (least, most) = sizes
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), size| (least.min(*size), most.max(*size)));
    sizes.len() > 1 && most > 1.01 * least
}

/// Whether an engine wrote anything for the operations, so that a table has a column for it.
pub fn is_written_shown<'a>(mut points: impl Iterator<Item = &'a CurvePoint>) -> bool {
    points.any(|point| {
        point.figures.median.engine_written_bytes_per_operation.is_some_and(|bytes| bytes >= 1.0)
    })
}

/// The median; NaN if no run gave a value.
pub fn median(estimate: &Estimate) -> f64 {
    estimate.median.unwrap_or(f64::NAN)
}
