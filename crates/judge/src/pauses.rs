//! Blocks whose runs were not made one right after the other: in parts of a grid, or because the experiment went on much later.

use crate::select::Selection;
use crate::words::list;
use plimsoll_record::quantities::units::to_the_second;
use plimsoll_record::{RunRecord, Warning, WarningId};
use std::collections::{BTreeMap, BTreeSet};

/// Seconds between two runs of a block from which on they are not side by side.
const LONG: f64 = 600.0;

/// One warning for all blocks that have a long pause. Runs of other programs count as unpaired.
pub(crate) fn warnings(selection: &Selection<'_>) -> Option<Warning> {
    let blocks = selection.finished.iter().flat_map(BTreeMap::keys);
    let blocks: BTreeSet<u32> = blocks.copied().collect();
    let mut split: Vec<(u32, f64)> = Vec::new();
    for block in blocks {
        let runs = selection.finished.iter();
        let of_block = runs.filter_map(|runs| span(runs.get(&block)?));
        let mut spans: Vec<(f64, f64)> = of_block.collect();
        spans.sort_by(|left, right| left.0.total_cmp(&right.0));
        let pauses = spans.windows(2).map(|pair| pair[1].0 - pair[0].1);
        let longest = pauses.reduce(f64::max).filter(|pause| *pause > LONG);
        split.extend(longest.map(|pause| (block, pause)));
    }
    let (_, first) = *split.first()?;
    let paused = format!("{} between two of its runs", to_the_second((first * 1e9) as u64));
    let names = split.iter().map(|(block, _)| (u64::from(*block) + 1).to_string());
    let names = list(&names.collect::<Vec<_>>());
    let (subject, message) = match split.len() {
        1 => (format!("block {names}"), paused),
        _ => (format!("blocks {names}"), format!("in the first of them {paused}")),
    };
    Some(Warning::new(WarningId::SplitBlock, subject, message))
}

/// Begin and end, seconds of the wall clock.
pub(crate) fn span(run: &RunRecord) -> Option<(f64, f64)> {
    let instant = |text: &str| {
        let instant: jiff::Timestamp = text.parse().ok()?;
        Some(instant.as_millisecond() as f64 / 1e3)
    };
    let is_imported = run.points.iter().any(|point| point.imported().is_some());
    let end = run.ended_at.as_deref().filter(|_| !is_imported)?;
    Some((instant(&run.started_at)?, instant(end)?))
}
