//! One row for the experiment: what it asked, on which machine, and what it came to.

use crate::Report;
use crate::table::{Column, Kind, Rows};
use plimsoll_judge::Outcome;
use plimsoll_record::ExperimentState;
use std::io;

const COLUMNS: [(&str, Kind); 23] = [
    ("experiment_id", Kind::Text),
    ("experiment", Kind::Text),
    ("question", Kind::Text),
    ("answer", Kind::Text),
    ("outcome", Kind::Text),
    ("finished", Kind::Flag),
    ("started_at", Kind::Text),
    ("ended_at", Kind::Text),
    ("arms", Kind::Integer),
    ("runs_planned", Kind::Integer),
    ("runs_finished", Kind::Integer),
    ("plan_hash", Kind::Text),
    ("seed", Kind::Integer),
    ("program_version", Kind::Text),
    ("program_commit", Kind::Text),
    ("machine", Kind::Text),
    ("cpu_model", Kind::Text),
    ("processors", Kind::Integer),
    ("memory_bytes", Kind::Integer),
    ("kernel", Kind::Text),
    ("distribution", Kind::Text),
    ("virtualisation", Kind::Text),
    ("command", Kind::Text),
];

pub(super) fn columns() -> Vec<Column> {
    COLUMNS.map(|(name, kind)| Column::new(name, kind)).into()
}

pub(super) fn write(report: &Report<'_>, take: &mut Rows<'_>) -> io::Result<()> {
    let (record, analysis) = (report.record, report.analysis);
    let machine = &record.machine;
    let outcome = match analysis.outcome() {
        Outcome::Good => "good",
        Outcome::ThresholdBroken => "threshold broken",
        Outcome::Invalid => "invalid",
    };
    take(&[
        (&record.id).into(),
        (&record.name).into(),
        record.question.as_ref().into(),
        analysis.headline.join(" ").into(),
        outcome.into(),
        (record.state == ExperimentState::Finished).into(),
        (&record.started_at).into(),
        record.ended_at.as_ref().into(),
        (analysis.arms.len() as u64).into(),
        analysis.progress.runs_planned.into(),
        analysis.progress.runs_finished.into(),
        (&record.plan_hash).into(),
        record.seed.into(),
        (&record.program.version).into(),
        (&record.program.commit).into(),
        machine.fingerprint().into(),
        machine.cpu_model.as_ref().into(),
        machine.cores.into(),
        machine.memory_bytes.into(),
        machine.kernel.as_ref().into(),
        machine.distribution.as_ref().into(),
        machine.virtualisation.as_ref().into(),
        (&record.command).into(),
    ])
}
