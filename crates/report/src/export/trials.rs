//! One row for each trial of each search for the plimsoll line.

use crate::table::{Rows, table};
use plimsoll_judge::{Analysis, BlockLine, LineResult, TrialResult};
use std::io;

table! {
    fn row<'a>(analysis: &'a Analysis, line: &'a LineResult, block: &BlockLine, number: u64, trial: &TrialResult);
    "experiment_id": Text = &analysis.id;
    "experiment": Text = &analysis.name;
    "arm": Text = &line.arm;
    "mix": Text = &line.mix;
    "point": Integer = line.point;
    "block": Integer = block.block;
    "trial": Integer = number;
    "offered_operations_per_second": Number = trial.rate;
    "measured_seconds": Number = trial.seconds;
    "held_objective": Flag = trial.is_good;
    "valid": Flag = trial.valid;
    "response_p99_ns": Number = trial.p99_ns;
    "achieved_share_of_offered": Number = trial.achieved;
    "line_of_block_from_operations_per_second": Number = block.lower;
    "line_of_block_to_operations_per_second": Number = block.upper;
    "objective": Text = &line.objective;
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
