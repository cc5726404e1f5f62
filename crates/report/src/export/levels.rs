//! The levels of each cell, as columns behind those of every table: `factor.disk`, and of an axis its amount as well, `amount.working_set`.

use crate::table::{Cell, Column, Kind, Rows};
use plimsoll_judge::{Analysis, FactorResults};
use std::io;

/// Two columns for an axis, one for any other factor; none where arms are listed.
pub(super) fn columns(analysis: &Analysis) -> Vec<Column> {
    let mut columns = Vec::new();
    for factor in analysis.factors.iter().flat_map(|results| &results.factors) {
        columns.push(Column::new(format!("factor.{}", factor.name), Kind::Text));
        if factor.axis().is_some() {
            columns.push(Column::new(format!("amount.{}", factor.name), Kind::Number));
        }
    }
    columns
}

/// Takes rows with a cell in column `arm`, and passes them on with its levels behind. Rows without an arm stay as they are.
pub(super) fn behind<'a>(
    analysis: &'a Analysis,
    arm: Option<usize>,
    take: &'a mut Rows<'_>,
) -> impl FnMut(&[Cell<'_>]) -> io::Result<()> + 'a {
    move |row| {
        let (Some(results), Some(arm)) = (&analysis.factors, arm) else {
            return take(row);
        };
        let name = match row.get(arm) {
            Some(Cell::Text(name)) => name.as_ref(),
            _ => "",
        };
        let mut row = row.to_vec();
        row.extend(levels(results, name));
        take(&row)
    }
}

fn levels<'a>(results: &'a FactorResults, arm: &str) -> Vec<Cell<'a>> {
    let cell = results.cells.iter().find(|cell| cell.arm == arm);
    let mut cells = Vec::new();
    for (index, factor) in results.factors.iter().enumerate() {
        let level = cell.and_then(|cell| factor.levels.get(*cell.levels.get(index)? as usize));
        cells.push(match level {
            Some(level) => level.name.as_str().into(),
            None => Cell::Unknown,
        });
        if factor.axis().is_some() {
            cells.push(level.and_then(|level| level.value).into());
        }
    }
    cells
}
