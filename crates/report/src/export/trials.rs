//! One row for each trial of each search for the plimsoll line.

use csv::Writer;
use plimsoll_judge::{Analysis, BlockLine, LineResult, TrialResult};
use std::io::Write;

const COLUMNS: [&str; 16] = [
    "experiment_id",
    "experiment",
    "arm",
    "mix",
    "point",
    "block",
    "trial",
    "offered_operations_per_second",
    "measured_seconds",
    "held_objective",
    "valid",
    "response_p99_ns",
    "achieved_share_of_offered",
    "line_of_block_from_operations_per_second",
    "line_of_block_to_operations_per_second",
    "objective",
];

pub(super) fn write(analysis: &Analysis, out: &mut dyn Write) -> csv::Result<()> {
    let mut table = Writer::from_writer(out);
    table.write_record(COLUMNS)?;
    for line in &analysis.lines {
        for block in &line.blocks {
            for (number, trial) in block.trials.iter().enumerate() {
                table.write_record(row(analysis, line, block, number, trial))?;
            }
        }
    }
    table.flush()?;
    Ok(())
}

fn row(
    analysis: &Analysis,
    line: &LineResult,
    block: &BlockLine,
    number: usize,
    trial: &TrialResult,
) -> [String; 16] {
    [
        analysis.id.clone(),
        analysis.name.clone(),
        line.arm.clone(),
        line.mix.clone(),
        line.point.to_string(),
        block.block.to_string(),
        number.to_string(),
        known(Some(trial.rate)),
        known(Some(trial.seconds)),
        trial.is_good.to_string(),
        trial.valid.to_string(),
        known(trial.p99_ns),
        known(trial.achieved),
        known(block.lower),
        known(block.upper),
        line.objective.clone(),
    ]
}

/// What is no number is an empty field.
fn known(value: Option<f64>) -> String {
    let finite = value.filter(|value| value.is_finite());
    finite.map_or_else(String::new, |value| value.to_string())
}
