//! One row for each control and each of its comparisons. Shares are of the baseline: -0.02 is 2 % less.

use crate::table::{Cell, Column, Kind, Rows};
use plimsoll_judge::{Analysis, ControlResult};
use std::io;

const COLUMNS: [(&str, Kind); 17] = [
    ("experiment_id", Kind::Text),
    ("experiment", Kind::Text),
    ("arm", Kind::Text),
    ("baseline", Kind::Text),
    ("mix", Kind::Text),
    ("load", Kind::Text),
    ("metric", Kind::Text),
    ("planted_share", Kind::Number),
    ("expected", Kind::Number),
    ("expected_least", Kind::Number),
    ("estimate", Kind::Number),
    ("lower", Kind::Number),
    ("upper", Kind::Number),
    ("blocks", Kind::Integer),
    ("worse_in_blocks", Kind::Integer),
    ("different", Kind::Flag),
    ("found", Kind::Flag),
];

pub(super) fn columns() -> Vec<Column> {
    COLUMNS.map(|(name, kind)| Column::new(name, kind)).into()
}

pub(super) fn write(analysis: &Analysis, take: &mut Rows<'_>) -> io::Result<()> {
    for control in &analysis.controls {
        take(&row(analysis, control))?;
    }
    Ok(())
}

fn row<'a>(analysis: &'a Analysis, one: &'a ControlResult) -> [Cell<'a>; 17] {
    [
        (&analysis.id).into(),
        (&analysis.name).into(),
        (&one.control).into(),
        (&one.baseline).into(),
        (&one.mix).into(),
        (&one.load_label).into(),
        one.metric.name().into(),
        one.planted.into(),
        one.expected.into(),
        one.expected_least.into(),
        one.estimate.into(),
        one.interval.map(|(lower, _)| lower).into(),
        one.interval.map(|(_, upper)| upper).into(),
        (one.blocks as u64).into(),
        (one.worse_in as u64).into(),
        one.is_different.into(),
        one.is_found.into(),
    ]
}
