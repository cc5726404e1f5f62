//! One row for each trial of each search for the plimsoll line.

use crate::table::{Cell, Column, Kind, Rows};
use plimsoll_judge::{Analysis, BlockLine, LineResult, TrialResult};
use std::io;

const COLUMNS: [(&str, Kind); 16] = [
    ("experiment_id", Kind::Text),
    ("experiment", Kind::Text),
    ("arm", Kind::Text),
    ("mix", Kind::Text),
    ("point", Kind::Integer),
    ("block", Kind::Integer),
    ("trial", Kind::Integer),
    ("offered_operations_per_second", Kind::Number),
    ("measured_seconds", Kind::Number),
    ("held_objective", Kind::Flag),
    ("valid", Kind::Flag),
    ("response_p99_ns", Kind::Number),
    ("achieved_share_of_offered", Kind::Number),
    ("line_of_block_from_operations_per_second", Kind::Number),
    ("line_of_block_to_operations_per_second", Kind::Number),
    ("objective", Kind::Text),
];

pub(super) fn columns() -> Vec<Column> {
    COLUMNS.map(|(name, kind)| Column::new(name, kind)).into()
}

pub(super) fn write(analysis: &Analysis, take: &mut Rows<'_>) -> io::Result<()> {
    for line in &analysis.lines {
        for block in &line.blocks {
            for (number, trial) in block.trials.iter().enumerate() {
                take(&row(analysis, line, block, number as u64, trial))?;
            }
        }
    }
    Ok(())
}

fn row<'a>(
    analysis: &'a Analysis,
    line: &'a LineResult,
    block: &BlockLine,
    number: u64,
    trial: &TrialResult,
) -> [Cell<'a>; 16] {
    [
        (&analysis.id).into(),
        (&analysis.name).into(),
        (&line.arm).into(),
        (&line.mix).into(),
        line.point.into(),
        block.block.into(),
        number.into(),
        trial.rate.into(),
        trial.seconds.into(),
        trial.is_good.into(),
        trial.valid.into(),
        trial.p99_ns.into(),
        trial.achieved.into(),
        block.lower.into(),
        block.upper.into(),
        (&line.objective).into(),
    ]
}
