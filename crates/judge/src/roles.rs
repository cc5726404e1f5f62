//! Points of which the run decided a part: what they are called, at which load they were, and which of them a sweep is made of.

use crate::sample::Sample;
use crate::words::percent;
use plimsoll_plan::{LoadAt, Plan, Point, PointRole};
use plimsoll_record::LoadKind;
use plimsoll_stats::median;

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

/// `80 %`, `62.5 %`.
pub(crate) fn share_in_words(share: f64) -> String {
    let hundredths = share * 100.0;
    percent(
        share,
        usize::from((hundredths - hundredths.round()).abs() > 1e-9),
    )
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
    plan.points
        .iter()
        .position(|point| usize::try_from(point.mix) == Ok(mix) && is_line(point))
}

/// The load of the samples of one point in numbers: the median of what they were really measured at, where that differs from run to run. `None` without a sample.
pub(crate) fn load_of(samples: &[Sample]) -> Option<LoadKind> {
    let first = samples.first()?.label.load;
    let sessions: Vec<f64> = samples
        .iter()
        .map(|sample| f64::from(sample.label.load.sessions()))
        .collect();
    // Numbers of sessions are far below 2³².
    let sessions = median(&sessions)?.round() as u32;
    Some(match first {
        LoadKind::Closed {
            think_time_ns,
            target,
            ..
        } => LoadKind::Closed {
            sessions,
            think_time_ns,
            target,
        },
        LoadKind::Open { rate: first, .. } => {
            let mut rates = Vec::with_capacity(samples.len());
            for sample in samples {
                if let LoadKind::Open { rate, .. } = sample.label.load {
                    rates.push(rate);
                }
            }
            LoadKind::Open {
                rate: median(&rates).unwrap_or(first),
                sessions,
            }
        }
    })
}

/// Whether this point is at the load that the file means; `load` is what was measured there.
pub(crate) fn is_at(point: &Point, load: LoadKind, at: LoadAt) -> bool {
    match (point.role, at) {
        (PointRole::Line, LoadAt::Line(share)) => share == 1.0,
        (PointRole::ShareOfLine { share }, LoadAt::Line(asked)) => share == asked,
        (PointRole::Line | PointRole::ShareOfLine { .. }, _) | (_, LoadAt::Line(_)) => false,
        (PointRole::Fixed | PointRole::Sweep, _) => match (load, at) {
            (LoadKind::Closed { sessions, .. }, LoadAt::Threads(threads)) => sessions == threads,
            (LoadKind::Open { rate, .. }, LoadAt::Rate(asked)) => rate == asked,
            _ => false,
        },
    }
}
