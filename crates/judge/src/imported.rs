//! What can be said of points that another program measured.
//!
//! Their totals are the other program's own where it prints any: nothing can be cut from those, and where it kept no histograms only the percentiles
//! that it printed are known. Of the gates those are tried that the output allows, and each of the others says that it cannot be. Whether runs
//! were made side by side no output says, so they are compared unpaired unless the user who imported them says so.

use crate::select::Selection;
use crate::steadiness::Settling;
use crate::{SeriesSecond, Steadiness};
use plimsoll_plan::Plan;
use plimsoll_record::{Imported, Latencies, LoadKind, PointRecord, Slice, Warning, WarningId};
use std::collections::BTreeMap;

/// Every imported point of the runs that count.
pub(crate) fn points<'a>(selection: &'a Selection<'_>) -> impl Iterator<Item = &'a Imported> {
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
        length_ns,
        completed: stated.completed,
        operations: stated.operations.clone(),
        ..Slice::default()
    })
}

/// Latencies of all units together, where the other program prints them.
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

/// A slow start that lowers the total by less than this share is not reported.
const LOWERED: f64 = 0.01;

/// Removes the cut, because totals cannot be cut. If the warm-up lowers the total, the point is not steady.
pub(crate) fn uncut(settling: Settling, measured: &[SeriesSecond]) -> Settling {
    let whole = Settling { cut: 0, ..settling };
    let Steadiness::Steady { cut_seconds } = settling.steadiness else {
        return whole;
    };
    let rate = |seconds: &[SeriesSecond]| {
        let length: f64 = seconds.iter().map(|second| second.length).sum();
        let done = seconds.iter().map(|second| second.throughput * second.length);
        done.sum::<f64>() / length
    };
    let lower = 1.0 - rate(measured) / rate(&measured[settling.cut..]);
    if lower.is_nan() || lower < LOWERED {
        return Settling { steadiness: Steadiness::Steady { cut_seconds: 0.0 }, ..whole };
    }
    Settling {
        steadiness: Steadiness::NotSteady,
        remark: Some(format!(
            "the first {cut_seconds:.0} s were slower, and make the whole {} slower: they cannot be cut from totals",
            crate::words::percent(lower, 1)
        )),
        ..whole
    }
}

/// Warns that arms are compared without pairs, and what that costs.
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
