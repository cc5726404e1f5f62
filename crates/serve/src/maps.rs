//! The disk maps of an experiment: stills for its page, and the accesses of a run for the player.

use crate::App;
use crate::failure::Failure;
use crate::pages::Query;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plimsoll_judge::Analysis;
use plimsoll_record::{ExperimentRecord, RunRecord};
use plimsoll_report::arms::telling_arms;
use plimsoll_report::page::experiment::DiskMap;
use plimsoll_trace::diskmap::{
    DiskmapError, MOST_MAPS, RunMap, STILL_WIDTH, accesses_of, is_traced, last_of_each_arm,
};
use std::sync::Arc;

/// What the player is given at most.
pub(crate) const MOST_BYTES: usize = 16 << 20;

/// Draws the last traced run of each arm, as far as the traces are on this machine; without the accesses, which the player asks for.
pub(crate) fn stills(record: &ExperimentRecord, analysis: &Analysis) -> Vec<DiskMap> {
    // A trace that cannot be read leaves its map out; what is wrong with it says who asks for it.
    let drawn = last_of_each_arm(record, &telling_arms(analysis))
        .into_iter()
        .filter_map(|run| Some((run, draw(run, 0).ok()?)));
    let maps = drawn
        .take(MOST_MAPS)
        .map(|(run, map)| DiskMap { packed: Vec::new(), ..DiskMap::of(run, map) });
    maps.collect()
}

fn draw(run: &RunRecord, most_bytes: usize) -> Result<RunMap, DiskmapError> {
    RunMap::of(run, &accesses_of(run)?, most_bytes, STILL_WIDTH)
}

pub(crate) async fn map(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let query = Query::of(query);
    let judged = app.library.judged(&id).await?;
    let arm = query.last("arm").unwrap_or_default().to_owned();
    let block: Option<u32> = query.last("block").and_then(|block| block.parse().ok());
    let packed = app.library.map(judged, arm, block).await?;
    let kind = HeaderValue::from_static("application/octet-stream");
    Ok(([(header::CONTENT_TYPE, kind)], packed).into_response())
}

/// What the player is given of the last attempt at a run.
pub(crate) fn packed(
    record: &ExperimentRecord,
    arm: &str,
    block: Option<u32>,
) -> Result<Vec<u8>, Failure> {
    let runs = record.runs.iter();
    let run = runs
        .filter(|run| run.arm == arm && Some(run.block) == block && is_traced(run))
        .max_by_key(|run| run.attempt);
    let missing = |why: &str| {
        let title = "There is no disk map of that run";
        Failure::new(StatusCode::NOT_FOUND, title, why)
    };
    let run =
        run.ok_or_else(|| missing("It kept no trace, or the trace is no longer on this machine."))?;
    // The answer does not say what is wrong with the file: it may be anybody's.
    let drawn = draw(run, MOST_BYTES).map_err(|_| missing("Its trace cannot be drawn."))?;
    Ok(drawn.packed)
}
