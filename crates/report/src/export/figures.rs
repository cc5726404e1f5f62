//! What was watched: one row for each point of each run, one column for each figure in the unit that its name or its share says.

use crate::table::{Cell, Column, Kind, Rows};
use plimsoll_judge::{Analysis, CurvePoint, Figures};
use std::io;

const WHERE: [(&str, Kind); 9] = [
    ("experiment_id", Kind::Text),
    ("experiment", Kind::Text),
    ("arm", Kind::Text),
    ("mix", Kind::Text),
    ("point", Kind::Integer),
    ("load", Kind::Text),
    ("block", Kind::Integer),
    ("attempt", Kind::Integer),
    ("valid", Kind::Flag),
];

pub(super) fn columns() -> Vec<Column> {
    let mut columns: Vec<Column> = WHERE.map(|(name, kind)| Column::new(name, kind)).into();
    let names = Figures::ALL.iter().map(|kind| kind.name);
    columns.extend(names.map(|name| Column::new(name, Kind::Number)));
    columns.push(Column::new("cause", Kind::Text));
    columns
}

pub(super) fn write(analysis: &Analysis, take: &mut Rows<'_>) -> io::Result<()> {
    for curve in &analysis.curves {
        for point in &curve.points {
            rows(take, analysis, &curve.mix, point)?;
        }
    }
    for point in &analysis.load_phase {
        rows(take, analysis, "load", point)?;
    }
    Ok(())
}

fn rows(take: &mut Rows<'_>, analysis: &Analysis, mix: &str, point: &CurvePoint) -> io::Result<()> {
    for result in &point.results {
        let mut row: Vec<Cell<'_>> = vec![
            (&analysis.id).into(),
            (&analysis.name).into(),
            (&point.arm).into(),
            mix.into(),
            point.point.into(),
            (&point.load_label).into(),
            result.block.into(),
            result.attempt.into(),
            result.valid.into(),
        ];
        row.extend(result.figures.values().into_iter().map(Cell::from));
        // The cause is that of the point over all its runs.
        row.push(point.cause.as_ref().map(|cause| cause.kind.name()).into());
        take(&row)?;
    }
    Ok(())
}
