//! One row for each comparison. Differences are shares: 0.03 is 3 % more than the baseline.

use crate::table::{Cell, Column, Kind, Rows};
use crate::words;
use plimsoll_judge::{Analysis, Comparison};
use std::io;

const COLUMNS: [(&str, Kind); 19] = [
    ("experiment_id", Kind::Text),
    ("experiment", Kind::Text),
    ("arm", Kind::Text),
    ("baseline", Kind::Text),
    ("mix", Kind::Text),
    ("point", Kind::Integer),
    ("load", Kind::Text),
    ("metric", Kind::Text),
    ("decides", Kind::Flag),
    ("judgement", Kind::Text),
    ("estimate", Kind::Number),
    ("lower", Kind::Number),
    ("upper", Kind::Number),
    ("confidence", Kind::Number),
    ("p_value", Kind::Number),
    ("margin", Kind::Number),
    ("smallest_visible", Kind::Number),
    ("blocks", Kind::Integer),
    ("sentence", Kind::Text),
];

pub(super) fn columns() -> Vec<Column> {
    COLUMNS.map(|(name, kind)| Column::new(name, kind)).into()
}

pub(super) fn write(analysis: &Analysis, take: &mut Rows<'_>) -> io::Result<()> {
    for comparison in &analysis.comparisons {
        take(&row(analysis, comparison))?;
    }
    Ok(())
}

fn row<'a>(analysis: &'a Analysis, one: &'a Comparison) -> [Cell<'a>; 19] {
    let verdict = &one.verdict;
    [
        (&analysis.id).into(),
        (&analysis.name).into(),
        (&one.arm).into(),
        (&one.baseline).into(),
        (&one.mix).into(),
        one.point.into(),
        (&one.load_label).into(),
        one.metric.name().into(),
        one.primary.into(),
        words::judgement(verdict.judgement).into(),
        verdict.estimate.into(),
        verdict.interval.map(|(lower, _)| lower).into(),
        verdict.interval.map(|(_, upper)| upper).into(),
        verdict.confidence.into(),
        verdict.p_value.into(),
        verdict.margin.into(),
        verdict.smallest_visible.into(),
        verdict.blocks.into(),
        (&one.sentence).into(),
    ]
}
