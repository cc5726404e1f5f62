//! One row for each control and each of its comparisons. Shares are of the baseline: -0.02 is 2 % less.

use crate::table::{Rows, table};
use plimsoll_judge::{Analysis, ControlResult};
use std::io;

table! {
    fn row<'a>(analysis: &'a Analysis, one: &'a ControlResult);
    "experiment_id": Text = &analysis.id;
    "experiment": Text = &analysis.name;
    "arm": Text = &one.control;
    "baseline": Text = &one.baseline;
    "mix": Text = &one.mix;
    "load": Text = &one.load_label;
    "metric": Text = one.metric.name();
    "planted_share": Number = one.planted;
    "expected": Number = one.expected;
    "expected_least": Number = one.expected_least;
    "estimate": Number = one.estimate;
    "lower": Number = one.interval.map(|(lower, _)| lower);
    "upper": Number = one.interval.map(|(_, upper)| upper);
    "blocks": Integer = one.blocks as u64;
    "worse_in_blocks": Integer = one.worse_in as u64;
    "different": Flag = one.is_different;
    "found": Flag = one.is_found;
}

pub(super) fn write(analysis: &Analysis, take: &mut Rows<'_>) -> io::Result<()> {
    for control in &analysis.controls {
        take(&row(analysis, control))?;
    }
    Ok(())
}
