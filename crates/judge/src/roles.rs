//! Points that the run partly decides: their names, their loads, and which of them a sweep consists of.

use crate::words::percent;
use plimsoll_plan::{LoadAt, Plan, Point, PointRole};
use plimsoll_record::LoadKind;

/// What the point that searches the plimsoll line is called.
const LINE_LABEL: &str = "the plimsoll line";

/// The load of a point in words, the same for every run.
pub(crate) fn load_label(point: &Point) -> String {
    match point.role {
        PointRole::Line => LINE_LABEL.into(),
        PointRole::ShareOfLine { share } => format!("{} of the line", share_in_words(share)),
        PointRole::Fixed | PointRole::Sweep => point.load.to_string(),
    }
}

pub(crate) fn share_in_words(share: f64) -> String {
    let hundredths = share * 100.0;
    percent(share, usize::from((hundredths - hundredths.round()).abs() > 1e-9))
}

/// Whether a point searches the plimsoll line.
pub(crate) fn is_line(point: &Point) -> bool {
    point.role == PointRole::Line
}

/// Whether the rate of a point follows from the line that its run found.
pub(crate) fn follows_line(point: &Point) -> bool {
    matches!(point.role, PointRole::Line | PointRole::ShareOfLine { .. })
}

/// Index of the point that searches the line of a mix.
pub(crate) fn line_point(plan: &Plan, mix: usize) -> Option<usize> {
    plan.points.iter().position(|point| usize::try_from(point.mix) == Ok(mix) && is_line(point))
}

/// Whether this point is at the load that the file means; `load` is what was measured there.
pub(crate) fn is_at(point: &Point, load: LoadKind, at: LoadAt) -> bool {
    match (point.role, at) {
        (PointRole::Line, LoadAt::Line(share)) => share == 1.0,
        (PointRole::ShareOfLine { share }, LoadAt::Line(requested)) => share == requested,
        (PointRole::Line | PointRole::ShareOfLine { .. }, _) | (_, LoadAt::Line(_)) => false,
        (PointRole::Fixed | PointRole::Sweep, _) => match (load, at) {
            (LoadKind::Closed { sessions, .. }, LoadAt::Threads(threads)) => sessions == threads,
            (LoadKind::Open { rate, .. }, LoadAt::Rate(requested)) => rate == requested,
            _ => false,
        },
    }
}
