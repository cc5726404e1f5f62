use crate::arguments;
use crate::exit::Exit;
use crate::read::store_path;
use crate::screen::{print_drawn, print_json, screen};
use anyhow::Context;
use plimsoll_judge::HistoryQuestion;
use plimsoll_report::page::shell::Place;
use plimsoll_serve::lookup;
use plimsoll_store::Store;
use std::path::Path;

pub fn history(arguments: &arguments::History, store: Option<&Path>) -> anyhow::Result<Exit> {
    let store = Store::open_read_only(&store_path(store)?)?;
    let question = HistoryQuestion {
        metric: Some(arguments.metric),
        arm: arguments.arm.clone(),
        mix: arguments.mix.clone(),
        at: arguments.at.clone(),
        any_plan: arguments.any_plan,
    };
    let found = lookup::history(std::slice::from_ref(&store), &arguments.experiment, &question)?;
    if let Some(file) = &arguments.page {
        let page =
            plimsoll_report::page::history::page(&found, env!("CARGO_PKG_VERSION"), Place::File);
        plimsoll_record::files::write_whole(file, page.as_bytes())
            .with_context(|| format!("cannot write the page {}", file.display()))?;
    }
    if arguments.json {
        print_json(&found)?;
    } else {
        print_drawn(&plimsoll_report::terminal::history(&found, &screen()))?;
    }
    Ok(Exit::Good)
}
