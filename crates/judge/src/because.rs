//! What held the two arms of a comparison back, as a sentence beside its verdict.

use crate::curve::curve_of;
use crate::words::{bytes, duration, number};
use crate::{Cause, CauseKind, Comparison, Curve, CurvePoint, Figures, LineResult};

/// From this ratio on an operation of one arm counts as more expensive.
const EXPENSIVE_FROM: f64 = 1.05;
/// From this ratio on the pages that operations read into the engine's cache are named beside it.
const MORE_PAGES_FROM: f64 = 2.0;
/// Fewer pages for an operation than this explain nothing.
const PAGES_FROM: f64 = 0.01;

/// Gives every comparison the causes of its two arms, and where it is the same, what an operation costs each of them.
pub(crate) fn explain(comparisons: &mut [Comparison], curves: &[Curve], lines: &[LineResult]) {
    for comparison in comparisons {
        let of = |arm: &str| cause_of(curves, lines, arm, &comparison.mix, comparison.point);
        let (baseline, arm) = (of(&comparison.baseline), of(&comparison.arm));
        // Where nothing is compared, as while one of them has not run yet, there is nothing to explain.
        let compared = comparison.verdict.estimate.is_some();
        comparison.because =
            sentence((&comparison.baseline, baseline), (&comparison.arm, arm)).filter(|_| compared);
        let of = |arm: &str| point_of(curves, arm, &comparison.mix, comparison.point);
        comparison.cost_difference = cost_difference(of(&comparison.baseline), of(&comparison.arm));
    }
}

/// An arm's point of a mix.
pub(crate) fn point_of<'a>(
    curves: &'a [Curve],
    arm: &str,
    mix: &str,
    point: u32,
) -> Option<&'a CurvePoint> {
    let curve = curve_of(curves, arm, mix)?;
    curve.points.iter().find(|one| one.point == Some(point))
}

/// Compares what an operation costs of the resource that limits both points, the more expensive arm first. `None` if different resources limit them, if the costs
/// are alike, or if the more expensive arm is no slower: then it has more of the resource, and the causes say so.
///
/// `Why: each operation costs quarter 3.91× the CPU (50.0 µs vs 12.8 µs) and 10× the cache misses (0.735 vs 0.0735 pages).`
fn cost_difference(baseline: Option<&CurvePoint>, arm: Option<&CurvePoint>) -> Option<String> {
    let (baseline, arm) = (baseline?, arm?);
    let (first, second) = (cost(baseline)?, cost(arm)?);
    if first.of != second.of {
        return None;
    }
    let [(expensive, most), (cheap, least)] = if first.amount > second.amount {
        [(baseline, &first), (arm, &second)]
    } else {
        [(arm, &second), (baseline, &first)]
    };
    let times = most.amount / least.amount;
    let does_less = expensive.throughput.median < cheap.throughput.median;
    if !times.is_finite() || times < EXPENSIVE_FROM || !does_less {
        return None;
    }
    let pages = more_pages(&expensive.figures.median, &cheap.figures.median).unwrap_or_default();
    Some(format!(
        "Why: each operation costs {} {}× the {} ({} vs {}){pages}.",
        expensive.arm,
        number(times),
        most.of,
        (most.written)(most.amount),
        (least.written)(least.amount),
    ))
}

/// How much of the limiting resource an operation uses.
struct Cost {
    /// The resource, as it stands after "3× the": `CPU`.
    of: String,
    amount: f64,
    written: fn(f64) -> String,
}

fn cost(point: &CurvePoint) -> Option<Cost> {
    let cause = point.cause.as_ref()?;
    match cause.kind {
        // Copying from the page cache costs nothing but processor time.
        CauseKind::Cpu | CauseKind::CpuLimit | CauseKind::PageCache => {
            let figures = &point.figures.median;
            let server = figures.server_cpu_ns_per_operation.unwrap_or(0.0);
            Some(Cost {
                of: "CPU".into(),
                amount: figures.worker_cpu_ns_per_operation? + server,
                written: duration,
            })
        }
        CauseKind::DiskIops | CauseKind::DiskBandwidth => {
            let binding = cause.identities.iter().find(|check| check.binding)?;
            Some(Cost {
                of: binding.kind.name().to_owned(),
                amount: binding.per_operation,
                written: if binding.kind.is_iops() { number } else { bytes },
            })
        }
        _ => None,
    }
}

/// ` and 10× the cache misses (0.735 vs 0.0735 pages)`, where that is much more than the other has.
fn more_pages(dear: &Figures, cheap: &Figures) -> Option<String> {
    let more = dear.engine_pages_read_per_operation?;
    let fewer = cheap.engine_pages_read_per_operation?;
    let tells = more >= PAGES_FROM && more >= fewer * MORE_PAGES_FROM;
    tells.then(|| {
        if fewer > 0.0 {
            let times = number(more / fewer);
            let (more, fewer) = (number(more), number(fewer));
            format!(" and {times}× the cache misses ({more} vs {fewer} pages)")
        } else {
            format!(" and {} cache misses (pages) instead of none", number(more))
        }
    })
}

/// The cause of an arm at a point; at the line what limits it beyond that.
pub(crate) fn cause_of<'a>(
    curves: &'a [Curve],
    lines: &'a [LineResult],
    arm: &str,
    mix: &str,
    point: u32,
) -> Option<&'a Cause> {
    let line = lines.iter().find(|line| line.arm == arm && line.mix == mix && line.point == point);
    if let Some(line) = line {
        return line.limit.as_ref();
    }
    point_of(curves, arm, mix, point)?.cause.as_ref()
}

/// `slow is limited by disk IOPS: 598 of 600 used, …`.
pub(crate) fn held_back(name: &str, cause: &Cause) -> String {
    match cause.kind {
        CauseKind::Unknown => format!("the bottleneck of {name} is unknown"),
        CauseKind::Offered => {
            let figures = cause.sentence.split_once(": ");
            let figures = figures.map_or(cause.sentence.as_str(), |(_, figures)| figures);
            format!("{name} keeps up with the requested rate ({figures})")
        }
        _ => format!("{name} is limited by {}", cause.sentence),
    }
}

/// `Because slow is limited by disk IOPS: 598 of 600 used, …; and fast by CPU: ….`
fn sentence(baseline: (&str, Option<&Cause>), arm: (&str, Option<&Cause>)) -> Option<String> {
    if baseline.1.is_none() && arm.1.is_none() {
        return None;
    }
    // Where both reach the requested rate, no limit can explain a difference.
    let does_all = |cause: Option<&Cause>| cause.is_some_and(|one| one.kind == CauseKind::Offered);
    if does_all(baseline.1) && does_all(arm.1) {
        return None;
    }
    let is_unknown = |cause: Option<&Cause>| cause.is_none_or(|one| one.kind == CauseKind::Unknown);
    if is_unknown(baseline.1) && is_unknown(arm.1) {
        return Some("The bottleneck of both arms is unknown.".into());
    }
    let words = |(name, cause): (&str, Option<&Cause>)| match cause {
        None => format!("{name} was not monitored"),
        Some(cause) => held_back(name, cause),
    };
    Some(format!("Because {}; and {}.", words(baseline), words(arm)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(kind: CauseKind, figures: &str) -> Cause {
        Cause {
            kind,
            sentence: format!("{}: {figures}", kind.name()),
            identities: Vec::new(),
            rules: Vec::new(),
        }
    }

    #[test]
    fn both_arms_are_explained() {
        let disk = cause(CauseKind::DiskIops, "598 of 600 used");
        let offered = cause(CauseKind::Offered, "100.0 % of 200 op/s done");
        assert_eq!(
            sentence(("slow", Some(&disk)), ("fast", Some(&offered))).unwrap(),
            "Because slow is limited by disk IOPS: 598 of 600 used; and fast keeps up with the requested rate (100.0 % of 200 op/s done)."
        );
        assert_eq!(
            sentence(("slow", Some(&disk)), ("fast", None)).unwrap(),
            "Because slow is limited by disk IOPS: 598 of 600 used; and fast was not monitored."
        );
        assert_eq!(sentence(("slow", None), ("fast", None)), None);
        let both = sentence(("slow", Some(&offered)), ("fast", Some(&offered)));
        assert_eq!(both, None);
        let unknown = cause(CauseKind::Unknown, "ruled out is the disk");
        let both = sentence(("slow", Some(&unknown)), ("fast", Some(&unknown)));
        assert_eq!(both.unwrap(), "The bottleneck of both arms is unknown.");
    }
}
