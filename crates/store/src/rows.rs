//! One row for each part of a record.

use crate::{StoreError, blob};
use plimsoll_record::{
    ExperimentRecord, ExperimentState, PointEnd, PointRecord, RunRecord, RunState, Slice,
};
use rusqlite::{Connection, ErrorCode, params};
use serde_json::Value;
use std::path::Path;

/// Key and id, the latter `None` when it is taken.
pub(crate) fn insert_experiment(
    connection: &Connection,
    mut head: ExperimentRecord,
) -> rusqlite::Result<(i64, Option<String>)> {
    if head.id.is_empty() {
        head.id = connection.query_row("SELECT lower(hex(randomblob(4)))", [], |row| row.get(0))?;
    }
    let inserted = connection.execute(
        "INSERT INTO experiment
             (id, name, question, state, plan_hash, fingerprint, started_at, ended_at, arms, runs_planned, record)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (id) DO NOTHING",
        params![
            head.id,
            head.name,
            head.question,
            experiment_state(head.state),
            head.plan_hash,
            head.machine.fingerprint(),
            head.started_at,
            head.ended_at,
            Value::from(arm_names(&head.plan)).to_string(),
            planned_runs(&head.plan),
            head.to_json(),
        ],
    )?;
    let id = (inserted == 1).then_some(head.id);
    Ok((connection.last_insert_rowid(), id))
}

/// Deletes an experiment with all that belongs to it.
pub(crate) fn delete_experiment(connection: &Connection, key: i64) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM experiment WHERE key = ?1", [key])?;
    Ok(())
}

/// Writes a run with its load phase and its points.
pub(crate) fn insert_whole_run(
    connection: &Connection,
    path: &Path,
    experiment: i64,
    mut run: RunRecord,
) -> Result<(), StoreError> {
    let sqlite = |error| StoreError::from_sqlite(path, error);
    let load = run.load.take();
    let points = std::mem::take(&mut run.points);
    let key = insert_run(connection, path, experiment, &run)?;
    if let Some(load) = load {
        insert_whole_point(connection, key, true, load).map_err(sqlite)?;
    }
    for point in points {
        insert_whole_point(connection, key, false, point).map_err(sqlite)?;
    }
    Ok(())
}

/// Writes the head of a run, and returns its key.
pub(crate) fn insert_run(
    connection: &Connection,
    path: &Path,
    experiment: i64,
    head: &RunRecord,
) -> Result<i64, StoreError> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO run (experiment, block, arm, attempt, state, record) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .and_then(|mut statement| {
            statement.insert(params![
                experiment,
                head.block,
                head.arm,
                head.attempt,
                run_state(&head.state),
                run_json(head)
            ])
        });
    inserted.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => {
            StoreError::RunTaken { arm: head.arm.clone(), block: head.block, attempt: head.attempt }
        }
        _ => StoreError::from_sqlite(path, error),
    })
}

pub(crate) fn update_run(
    connection: &Connection,
    run: i64,
    head: &RunRecord,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE run SET state = ?2, record = ?3 WHERE key = ?1")?
        .execute(params![run, run_state(&head.state), run_json(head)])?;
    Ok(())
}

fn insert_whole_point(
    connection: &Connection,
    run: i64,
    is_load: bool,
    mut point: PointRecord,
) -> rusqlite::Result<()> {
    let slices = std::mem::take(&mut point.slices);
    let end = point.end.take();
    let key = insert_point(connection, run, is_load, &point)?;
    for slice in &slices {
        insert_slice(connection, key, slice)?;
    }
    if let Some(end) = &end {
        set_ending(connection, key, end)?;
    }
    Ok(())
}

pub(crate) fn insert_point(
    connection: &Connection,
    run: i64,
    is_load: bool,
    head: &PointRecord,
) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("INSERT INTO point (run, is_load, record) VALUES (?1, ?2, ?3)")?
        .insert(params![run, is_load, json(head)])
}

pub(crate) fn insert_slice(
    connection: &Connection,
    point: i64,
    slice: &Slice,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO slice (point, record) VALUES (?1, ?2)")?
        .execute(params![point, blob::pack(slice)])?;
    Ok(())
}

pub(crate) fn set_ending(
    connection: &Connection,
    point: i64,
    end: &PointEnd,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE point SET ending = ?2 WHERE key = ?1")?
        .execute(params![point, json(end)])?;
    Ok(())
}

fn run_json(head: &RunRecord) -> String {
    if head.load.is_none() && head.points.is_empty() {
        return json(head);
    }
    json(&RunRecord { load: None, points: Vec::new(), ..head.clone() })
}

fn json(part: &impl serde::Serialize) -> String {
    serde_json::to_string(part).expect("a record has only string keys and plain numbers")
}

fn experiment_state(state: ExperimentState) -> &'static str {
    match state {
        ExperimentState::Unfinished => "unfinished",
        ExperimentState::Finished => "finished",
    }
}

fn run_state(state: &RunState) -> &'static str {
    match state {
        RunState::Started => "started",
        RunState::Finished => "finished",
        RunState::Interrupted => "interrupted",
        RunState::Failed { .. } => "failed",
    }
}

/// The plan belongs to the `experiment` crate. Of it, the store looks only for the names of the arms and the number of runs, for its
/// list, and does without where they are not.
fn arm_names(plan: &Value) -> Vec<String> {
    let arms = plan.get("arms").and_then(Value::as_array);
    let names = arms.into_iter().flatten().filter_map(|arm| arm.get("name")?.as_str());
    names.map(str::to_owned).collect()
}

fn planned_runs(plan: &Value) -> u32 {
    let runs = plan.get("runs").and_then(Value::as_array).map_or(0, Vec::len);
    u32::try_from(runs).unwrap_or(u32::MAX)
}
