//! One row for the experiment: its question, its machine, and its answer.

use crate::Report;
use crate::table::{Rows, table};
use plimsoll_judge::{Analysis, Outcome};
use plimsoll_record::ExperimentState;
use std::io;

table! {
    fn row<'a>(report: &Report<'a>);
    let record = report.record;
    let analysis = report.analysis;
    let machine = &record.machine;
    "experiment_id": Text = &record.id;
    "experiment": Text = &record.name;
    "question": Text = record.question.as_ref();
    "answer": Text = analysis.headline.join(" ");
    "outcome": Text = outcome(analysis);
    "finished": Flag = record.state == ExperimentState::Finished;
    "started_at": Text = &record.started_at;
    "ended_at": Text = record.ended_at.as_ref();
    "arms": Integer = analysis.arms.len() as u64;
    "runs_planned": Integer = analysis.progress.runs_planned;
    "runs_finished": Integer = analysis.progress.runs_finished;
    "plan_hash": Text = &record.plan_hash;
    "seed": Integer = record.seed;
    "program_version": Text = &record.program.version;
    "program_commit": Text = &record.program.commit;
    "machine": Text = machine.fingerprint();
    "cpu_model": Text = machine.cpu_model.as_ref();
    "processors": Integer = machine.cores;
    "memory_bytes": Integer = machine.memory_bytes;
    "kernel": Text = machine.kernel.as_ref();
    "distribution": Text = machine.distribution.as_ref();
    "virtualisation": Text = machine.virtualisation.as_ref();
    "command": Text = &record.command;
}

pub(super) fn write(report: &Report<'_>, take: &mut Rows<'_>) -> io::Result<()> {
    take(&row(report))
}

fn outcome(analysis: &Analysis) -> &'static str {
    match analysis.outcome() {
        Outcome::Good => "good",
        Outcome::ThresholdBroken => "threshold broken",
        Outcome::Invalid => "invalid",
    }
}
