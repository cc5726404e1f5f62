//! `plimsoll history`.

use crate::arguments;
use crate::exit::Exit;
use crate::read::store_path;
use crate::screen::{print, screen};
use anyhow::{Context, bail};
use plimsoll_judge::{HistoryBuilder, HistoryQuestion};
use plimsoll_record::ExperimentState;
use plimsoll_report::history;
use plimsoll_report::shell::Place;
use plimsoll_store::{Filter, Store, Summary};
use std::path::Path;

/// `plimsoll history`: records are read one by one, the newest first, because all of them together may be large.
pub fn history(arguments: &arguments::History, store: Option<&Path>) -> anyhow::Result<Exit> {
    let store = Store::open_read_only(&store_path(store)?)?;
    let summaries = of_one_name(&store, &arguments.experiment)?;
    let (finished, unfinished): (Vec<Summary>, Vec<Summary>) = summaries
        .into_iter()
        .partition(|summary| summary.state == ExperimentState::Finished);
    let Some(newest) = finished.first() else {
        bail!(
            "no record of {} is finished ({} unfinished): a history is made of finished ones",
            arguments.experiment,
            unfinished.len()
        );
    };
    let question = HistoryQuestion {
        metric: Some(arguments.metric),
        arm: arguments.arm.clone(),
        mix: arguments.mix.clone(),
        at: arguments.at.clone(),
        any_plan: arguments.any_plan,
    };
    let mut builder = HistoryBuilder::begin(&store.load(&newest.id)?, &question)?;
    for older in &finished[1..] {
        builder.add(&store.load(&older.id)?)?;
    }
    for _ in &unfinished {
        builder.add_unfinished();
    }
    let found = builder.finish();
    if let Some(file) = &arguments.page {
        let page = history::page(&found, env!("CARGO_PKG_VERSION"), Place::File);
        std::fs::write(file, page)
            .with_context(|| format!("cannot write the page {}", file.display()))?;
    }
    if arguments.json {
        print(format_args!("{}\n", serde_json::to_string_pretty(&found)?))?;
    } else {
        print(history::terminal(&found, &screen()))?;
    }
    Ok(Exit::Good)
}

/// All records of the experiment that is meant, the newest first.
fn of_one_name(store: &Store, wanted: &str) -> anyhow::Result<Vec<Summary>> {
    let named = |name: &str| {
        store.list(&Filter {
            name: Some(name.to_owned()),
            state: None,
        })
    };
    let found = named(wanted)?;
    if !found.is_empty() {
        return Ok(found);
    }
    // An id, its beginning, or `last`.
    Ok(named(&store.load(wanted)?.name)?)
}
