//! `plimsoll gallery`: many results as static pages, for a website.

use crate::arguments;
use crate::bundle::bundled;
use crate::exit::Exit;
use crate::read::{found, store_path};
use crate::screen::{print, tell};
use crate::show::{drawn, file_stem, link};
use crate::written::Written;
use plimsoll_judge::{Outcome, analyse};
use plimsoll_record::ExperimentState;
use plimsoll_report::Report;
use plimsoll_report::page::gallery::{Exhibit, page};
use plimsoll_store::bundle::EXTENSION;
use plimsoll_store::{Filter, Store};
use std::collections::BTreeSet;
use std::path::Path;

/// The list of what was written.
const LIST: &str = ".plimsoll-gallery";
const INDEX: &str = "index.html";

pub fn gallery(arguments: &arguments::Gallery, store: Option<&Path>) -> anyhow::Result<Exit> {
    let folder = &arguments.folder;
    let wanted = match arguments.experiments.is_empty() {
        false => arguments.experiments.clone(),
        true => newest_of_each_name(store)?,
    };
    if wanted.is_empty() {
        tell("there is no finished experiment to show");
        return Ok(Exit::Usage);
    }
    let mut written = Written::begin(folder, LIST)?;
    // Before anything is written.
    written.may_write(INDEX)?;
    let mut exhibits = Vec::new();
    for wanted in &wanted {
        let found = found(wanted, store)?;
        let record = &found.record;
        let analysis = analyse(record)?;
        let report = Report { record, analysis: &analysis };
        let drawn = drawn(&report, &found.maps);
        let stem = file_stem(record);
        let file = format!("{stem}.html");
        written.write(&file, drawn.page.as_bytes())?;
        let bundle = match arguments.bundles {
            false => None,
            true => {
                let name = format!("{stem}.{EXTENSION}");
                written.write(&name, &bundled(&report, &drawn)?)?;
                Some(name)
            }
        };
        exhibits.push(Exhibit {
            name: record.name.clone(),
            question: record.question.clone(),
            answer: match analysis.headline.first() {
                Some(sentence) => sentence.clone(),
                None => "There is no verdict.".into(),
            },
            valid: analysis.outcome() != Outcome::Invalid,
            arms: analysis.arms.iter().map(|arm| arm.name.clone()).collect(),
            started_at: record.started_at.clone(),
            page: file,
            bundle,
        });
    }
    let index = page(&arguments.title, &exhibits, env!("CARGO_PKG_VERSION"));
    written.write(INDEX, index.as_bytes())?;
    written.end()?;
    print(format_args!("Gallery: {}\n", link(&folder.join(INDEX))))?;
    Ok(Exit::Good)
}

fn newest_of_each_name(store: Option<&Path>) -> anyhow::Result<Vec<String>> {
    let store = Store::open_read_only(&store_path(store)?)?;
    let filter = Filter { state: Some(ExperimentState::Finished), ..Filter::default() };
    let mut names = BTreeSet::new();
    let mut newest = store.list(&filter)?;
    newest.retain(|summary| names.insert(summary.name.clone()));
    Ok(newest.into_iter().map(|summary| summary.id).collect())
}
