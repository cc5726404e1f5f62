//! Points and looks in words.

use crate::needs::TRIALS;
use crate::{Looks, Plan, Point, PointRole, Search, Sessions};
use plimsoll_record::quantities::units;
use plimsoll_workload::schedule::Load;

/// The points of each run, a sweep as one line.
pub(crate) fn point_lines(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = plan.points.as_slice();
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|point| is_same_sweep(first, point)).count().max(1);
        let (points, others) = rest.split_at(count);
        rest = others;
        let mix = &plan.mixes[first.mix as usize].name;
        let search = plan.objective.as_ref().and_then(|objective| objective.search);
        let mut line = match (first.role, search) {
            (PointRole::Line, Some(search)) => format!("mix {mix}, {}", search_words(&search)),
            (PointRole::ShareOfLine { share }, _) => {
                format!("mix {mix}, open loop, {} of the line", units::share(share))
            }
            (PointRole::Sweep, _) => format!("mix {mix}, {}", sweep_words(points)),
            _ => format!("mix {mix}, {}, {}", kind(first), first.load),
        };
        if first.sessions == Sessions::Found {
            line.push_str(", sessions found in the closed loop");
        }
        lines.push(line);
    }
    lines
}

fn is_same_sweep(first: &Point, point: &Point) -> bool {
    first.role == PointRole::Sweep
        && point.role == PointRole::Sweep
        && point.mix == first.mix
        && kind(point) == kind(first)
}

fn kind(point: &Point) -> &'static str {
    if matches!(point.load, Load::Closed { .. }) { "closed loop" } else { "open loop" }
}

/// `closed loop, 1, 2, 4 … until bent, at most 1,024 threads`.
fn sweep_words(points: &[Point]) -> String {
    let value = |point: &Point| match &point.load {
        Load::Closed { sessions, .. } => sessions.to_string(),
        Load::Open { rate, .. } => units::rate(*rate),
        stages @ Load::Stages { .. } => stages.to_string(),
    };
    let begin: Vec<String> = points.iter().take(3).map(value).collect();
    let Some(last) = points.last() else {
        return String::new();
    };
    format!("{}, {} … until bent, at most {}", kind(last), begin.join(", "), last.load)
}

/// `search for the line, 10/s to 1M/s, within 2%: about 25 trials of 2s + 10s`.
fn search_words(search: &Search) -> String {
    format!(
        "search for the line from {} to {}, within {}: about {TRIALS} trials of {} after {} of warm-up",
        units::rate(search.rates.0),
        units::rate(search.rates.1),
        units::share(search.width),
        units::duration(search.trial_ns),
        units::duration(search.warm_up_ns),
    )
}

/// `6 to 24 blocks, until ±3%`.
pub(crate) fn looks_words(looks: &Looks, most: usize) -> String {
    if let Some(gate) = looks.gate {
        return format!(
            "{} to {most} blocks, until it is certain whether more than the margin is lost, at most {}",
            looks.first,
            units::to_the_second(gate.within_ns)
        );
    }
    let until = match looks.half_width {
        Some(share) => format!("±{}", units::share(share)),
        None => "each interval is within its margin".to_owned(),
    };
    format!("{} to {most} blocks, until {until}", looks.first)
}
