//! Blocks whose runs were not made one right after the other: in parts of a grid, or because the experiment went on much later.

use crate::select::Selection;
use crate::words::list;
use plimsoll_quantities::units::about;
use plimsoll_record::{RunRecord, Warning, WarningId};
use std::collections::{BTreeMap, BTreeSet};

/// Seconds between two runs of a block from which on they are not side by side.
const LONG: f64 = 600.0;

/// The longest pause of each block that has a long one. Runs of other programs are told as unpaired.
pub(crate) fn warnings(selection: &Selection<'_>) -> Vec<Warning> {
    let blocks: BTreeSet<u32> = selection
        .finished
        .iter()
        .flat_map(BTreeMap::keys)
        .copied()
        .collect();
    let mut warnings = Vec::new();
    for block in blocks {
        let of_block = selection
            .finished
            .iter()
            .filter_map(|runs| runs.get(&block));
        let mut spans: Vec<(f64, f64)> = of_block.filter_map(|run| span(run)).collect();
        spans.sort_by(|left, right| left.0.total_cmp(&right.0));
        let pauses = spans.windows(2).map(|pair| pair[1].0 - pair[0].1);
        let Some(longest) = pauses.reduce(f64::max).filter(|pause| *pause > LONG) else {
            continue;
        };
        let subject = format!("block {}", u64::from(block) + 1);
        let message = format!("{} between two of its runs", about((longest * 1e9) as u64));
        warnings.push(Warning::new(WarningId::SplitBlock, subject, message));
    }
    together(warnings)
}

/// Begin and end, seconds of the wall clock.
fn span(run: &RunRecord) -> Option<(f64, f64)> {
    let instant = |text: &str| {
        let instant: jiff::Timestamp = text.parse().ok()?;
        Some(instant.as_millisecond() as f64 / 1e3)
    };
    let is_imported = run.points.iter().any(|point| point.imported().is_some());
    let end = run.ended_at.as_deref().filter(|_| !is_imported)?;
    Some((instant(&run.started_at)?, instant(end)?))
}

/// Of many blocks one warning: `blocks 1, 2 and 3`.
fn together(warnings: Vec<Warning>) -> Vec<Warning> {
    let [first, _, ..] = warnings.as_slice() else {
        return warnings;
    };
    let names = warnings
        .iter()
        .map(|one| one.subject.trim_start_matches("block ").to_owned());
    let names: Vec<String> = names.collect();
    let subject = format!("blocks {}", list(&names));
    let message = format!("in the first of them {}", first.message);
    vec![Warning::new(WarningId::SplitBlock, subject, message)]
}
