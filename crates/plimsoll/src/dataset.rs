//! `plimsoll export --all`: every experiment of the store as one partitioned Parquet data set, brought up to date each time.
//!
//! `TABLE/month=2026-11/ID-VERSION.parquet`: the version is that of the experiment and of the program, so that what is there is left as it is.

use crate::arguments;
use crate::exit::Exit;
use crate::read::{is_empty, nothing_in, store_path};
use crate::run::this_program;
use crate::screen::{print, print_json, tell};
use crate::written::Written;
use plimsoll_judge::analyse;
use plimsoll_plan::sha256;
use plimsoll_report::export::{Table, write_table};
use plimsoll_report::{Report, text::file_stem};
use plimsoll_store::{Filter, Store, Summary};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The list of what was written.
const LIST: &str = ".plimsoll-dataset";
/// Hexadecimal digits of a version.
const DIGITS: usize = 12;

/// Writes what is new, and takes away what was deleted or has changed.
pub fn export_all(arguments: &arguments::Export, store: Option<&Path>) -> anyhow::Result<Exit> {
    let store = Store::open_read_only(&store_path(store)?)?;
    if is_empty(&store)? {
        tell(nothing_in(&store));
        return Ok(Exit::Good);
    }
    let folder = arguments.to.clone();
    let folder = folder.unwrap_or_else(|| PathBuf::from("plimsoll-dataset"));
    let mut written = Written::begin(&folder, LIST)?;
    let (mut new, mut kept, mut unreadable) = (0, 0, 0);
    for summary in store.list(&Filter::default())? {
        let stem = stem(&store, &summary)?;
        let there: Vec<String> =
            written.before().filter(|name| name.ends_with(&stem)).map(str::to_owned).collect();
        if !there.is_empty() {
            there.iter().for_each(|name| written.keep(name));
            kept += 1;
            continue;
        }
        match tables(&store, &summary) {
            Ok(tables) => {
                let month = month(&summary.started_at);
                for (table, bytes) in tables {
                    let name = format!("{}/month={month}/{stem}", table.name());
                    written.write(&name, &bytes)?;
                }
                new += 1;
            }
            Err(error) => {
                tell(format_args!("left out {}: {error:#}", summary.id));
                unreadable += 1;
            }
        }
    }
    written.end()?;
    if arguments.json {
        print_json(&json!({"folder": folder, "new": new, "kept": kept, "left_out": unreadable}))?;
    } else {
        let folder = folder.display();
        print(format_args!("{folder}: {new} new, {kept} as they were\n"))?;
    }
    Ok(match unreadable {
        0 => Exit::Good,
        _ => Exit::Failed,
    })
}

/// What files of this state of an experiment end with.
fn stem(store: &Store, summary: &Summary) -> anyhow::Result<String> {
    let (_, version) = store.version(&summary.id)?;
    let program = this_program();
    let state = format!("{} {} {}", version.number(), program.version, program.commit);
    let state = sha256(state);
    Ok(format!("{}-{}.parquet", file_stem(&summary.id), &state[..DIGITS]))
}

/// The tables of an experiment, each as a file.
fn tables(store: &Store, summary: &Summary) -> anyhow::Result<Vec<(Table, Vec<u8>)>> {
    let record = store.load(&summary.id)?;
    let analysis = analyse(&record)?;
    let report = Report { record: &record, analysis: &analysis };
    let mut files = Vec::new();
    for table in Table::of(&report) {
        let mut bytes = Vec::new();
        write_table(table, &report, &mut bytes)?;
        files.push((table, bytes));
    }
    Ok(files)
}

fn month(started_at: &str) -> &str {
    let month = started_at.get(..7).unwrap_or_default();
    let is_month = month.bytes().enumerate().all(|(place, byte)| match place {
        4 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    match is_month && month.len() == 7 {
        true => month,
        false => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_nothing_else() {
        assert_eq!(month("2026-11-21T03:44:00Z"), "2026-11");
        for other in ["", "2026", "2026/11", "../../x/y", "2026-1é"] {
            assert_eq!(month(other), "unknown", "{other}");
        }
    }
}
