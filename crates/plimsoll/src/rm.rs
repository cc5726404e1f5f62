//! `plimsoll clean ID`: removes experiments, with the files beside the store that belong to them.

use crate::arguments;
use crate::exit::Exit;
use crate::read::store_path;
use crate::screen::{print, tell};
use plimsoll_store::{Filter, Store, Summary};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Folders beside the store with a folder for each experiment, and how the files in them end.
const BESIDE: [(&str, &str); 2] = [("traces", ".trace"), ("servers", ".log")];

pub fn rm(arguments: &arguments::Clean, store: Option<&Path>) -> anyhow::Result<Exit> {
    let file = store_path(store)?;
    let listed = Store::open_read_only(&file)?.list(&Filter::default())?;
    let mut chosen: Vec<&Summary> = Vec::new();
    for wanted in &arguments.ids {
        let found: Vec<&Summary> = match listed.iter().find(|summary| summary.id == *wanted) {
            Some(exact) => vec![exact],
            None => listed
                .iter()
                .filter(|summary| !wanted.is_empty() && summary.id.starts_with(wanted.as_str()))
                .collect(),
        };
        match found.as_slice() {
            [one] => chosen.push(one),
            [] => {
                tell(format_args!(
                    "no experiment has the id {wanted}, so nothing was removed; `plimsoll list` shows the ids"
                ));
                return Ok(Exit::Failed);
            }
            several => {
                tell(format_args!(
                    "{} experiments have ids that begin with {wanted}, so nothing was removed; write more of the id",
                    several.len()
                ));
                return Ok(Exit::Failed);
            }
        }
    }
    if arguments.failed {
        let has_nothing = |summary: &&Summary| summary.runs_finished == 0 && !summary.running;
        chosen.extend(listed.iter().filter(has_nothing));
    }
    chosen.sort_by(|one, other| one.id.cmp(&other.id));
    chosen.dedup_by(|one, other| one.id == other.id);
    if chosen.is_empty() {
        tell("Nothing to remove: every experiment has finished runs.");
        return Ok(Exit::Good);
    }
    for summary in chosen {
        let verb = if arguments.dry_run { "would remove" } else { "removed" };
        if !arguments.dry_run {
            Store::open(&file)?.delete(&summary.id)?;
            remove_beside(&file, summary);
        }
        print(format_args!(
            "{verb} {} {}: {} of {} runs, begun {}\n",
            summary.id,
            summary.name,
            summary.runs_finished,
            summary.runs_planned,
            summary.started_at
        ))?;
    }
    Ok(Exit::Good)
}

/// Removes traces, logs of servers and the page. What cannot be removed stays, and is named.
fn remove_beside(store: &Path, summary: &Summary) {
    // The id names folders, and may have come from elsewhere.
    if !summary.id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return;
    }
    let mut stays = Vec::new();
    let mut note = |path: &Path, removed: std::io::Result<()>| match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            stays.push(format!("{}: {error}", path.display()));
        }
        _ => {}
    };
    for (folder, ending) in BESIDE {
        let folder = store.with_file_name(folder).join(&summary.id);
        // A link in its place is not ours.
        let is_folder = fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir());
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_ours = is_folder && entry.file_name().to_string_lossy().ends_with(ending);
            if is_ours {
                note(&path, fs::remove_file(&path));
            }
        }
        if is_folder {
            note(&folder, fs::remove_dir(&folder));
        }
    }
    let page = format!("{}.html", crate::show::stem(&summary.name, &summary.id));
    let page = store.with_file_name("pages").join(page);
    note(&page, fs::remove_file(&page));
    for what in stays {
        tell(format_args!("it stays: {what}"));
    }
}
