//! `plimsoll gallery`: many results as static pages, for a website.

use crate::arguments;
use crate::bundle::bundled;
use crate::exit::Exit;
use crate::read::{record, store_path};
use crate::screen::{print, tell};
use crate::show::{drawn, file_stem, link};
use anyhow::{Context, bail};
use plimsoll_bundle::EXTENSION;
use plimsoll_files::{read_text, write_whole};
use plimsoll_judge::{Outcome, analyse};
use plimsoll_page::gallery::{Exhibit, page};
use plimsoll_record::ExperimentState;
use plimsoll_report::Report;
use plimsoll_store::{Filter, Store};
use std::collections::BTreeSet;
use std::path::Path;

/// The list of what was written.
const LIST: &str = ".plimsoll-gallery";
const LARGEST_LIST: u64 = 1 << 20;
const INDEX: &str = "index.html";

/// `plimsoll gallery`.
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
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let before = written_before(folder)?;
    let mut written = Written {
        folder,
        before: &before,
        now: BTreeSet::new(),
    };
    // Before anything is written.
    written.may_write(INDEX)?;
    let mut exhibits = Vec::new();
    for wanted in &wanted {
        let record = record(wanted, store)?;
        let analysis = analyse(&record)?;
        let report = Report {
            record: &record,
            analysis: &analysis,
        };
        let html = drawn(&report);
        let stem = file_stem(&record);
        let file = format!("{stem}.html");
        written.write(&file, html.as_bytes())?;
        let bundle = match arguments.bundles {
            false => None,
            true => {
                let name = format!("{stem}.{EXTENSION}");
                written.write(&name, &bundled(&report, &html)?)?;
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
    let now = written.now;
    // What is not there any more goes with what shows it.
    for name in before.difference(&now) {
        let _ = std::fs::remove_file(folder.join(name));
    }
    let list: Vec<&str> = now.iter().map(String::as_str).collect();
    write_whole(&folder.join(LIST), (list.join("\n") + "\n").as_bytes())
        .with_context(|| format!("cannot write {}", folder.join(LIST).display()))?;
    print(format_args!("Gallery: {}\n", link(&folder.join(INDEX))))?;
    Ok(Exit::Good)
}

fn newest_of_each_name(store: Option<&Path>) -> anyhow::Result<Vec<String>> {
    let store = Store::open_read_only(&store_path(store)?)?;
    let filter = Filter {
        state: Some(ExperimentState::Finished),
        ..Filter::default()
    };
    let mut names = BTreeSet::new();
    let mut newest = store.list(&filter)?;
    newest.retain(|summary| names.insert(summary.name.clone()));
    Ok(newest.into_iter().map(|summary| summary.id).collect())
}

/// Names of the files that this command wrote into the folder. A name that leads elsewhere is none of them.
fn written_before(folder: &Path) -> anyhow::Result<BTreeSet<String>> {
    let list = folder.join(LIST);
    if !list.exists() {
        return Ok(BTreeSet::new());
    }
    let text = read_text(&list, LARGEST_LIST)
        .with_context(|| format!("cannot read {}", list.display()))?;
    let is_plain = |name: &&str| !name.is_empty() && !name.contains('/') && !name.starts_with('.');
    Ok(text.lines().filter(is_plain).map(str::to_owned).collect())
}

/// A gallery that is being written.
struct Written<'a> {
    folder: &'a Path,
    before: &'a BTreeSet<String>,
    now: BTreeSet<String>,
}

impl Written<'_> {
    /// A file that is new, or that this command wrote.
    fn may_write(&self, name: &str) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        let is_ours = self.before.contains(name) || self.now.contains(name);
        if path.exists() && !is_ours {
            bail!(
                "{} was not written by this command, so it is not replaced: name another folder",
                path.display()
            );
        }
        Ok(())
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        self.may_write(name)?;
        let path = self.folder.join(name);
        self.now.insert(name.to_owned());
        write_whole(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }
}
