//! `plimsoll clean`.

use crate::arguments;
use crate::exit::Exit;
use crate::screen::print;
use plimsoll_testbed::{
    abandoned, default_parent, default_parent_of_servers, default_state_dir, leftovers,
};
use serde_json::json;
use std::io;

/// `plimsoll clean`: undoes what programs that are gone had made (mounts, loop devices, groups, processes), and removes what carries this program's
/// marker and belongs to no living run.
pub fn clean(arguments: &arguments::Clean) -> anyhow::Result<Exit> {
    let mut directories = arguments.directory.clone();
    if directories.is_empty() {
        directories.push(default_parent()?);
        let of_servers = default_parent_of_servers()?;
        if !directories.contains(&of_servers) {
            directories.push(of_servers);
        }
    }
    let mut told = Told {
        json: arguments.json,
        lines: Vec::new(),
    };
    for left in abandoned(&default_state_dir()?)? {
        if arguments.dry_run {
            for line in left.describe() {
                told.tell("would undo: ", &line)?;
            }
            continue;
        }
        let mut shown = Ok(());
        left.undo(&mut |what| {
            if shown.is_ok() {
                shown = told.tell("", what);
            }
        })?;
        shown?;
    }
    let journaled = told.lines.len();
    for directory in directories {
        for leftover in leftovers(&directory)? {
            let path = leftover.path.display().to_string();
            // What belongs to a journal is not told again where its directory is found.
            let mut of_journals = told.lines[..journaled].iter();
            if arguments.dry_run && of_journals.any(|line| line.contains(&path)) {
                continue;
            }
            if arguments.dry_run {
                told.tell("would remove ", &path)?;
                continue;
            }
            leftover.remove()?;
            told.tell("removed ", &path)?;
        }
    }
    if arguments.json {
        let all = json!({ "dry_run": arguments.dry_run, "done": told.lines });
        print(format_args!("{}\n", serde_json::to_string_pretty(&all)?))?;
    } else if told.lines.is_empty() {
        anstream::eprintln!("nothing was left behind");
    }
    Ok(Exit::Good)
}

/// What was done or would be, line by line; as JSON all at once at the end.
struct Told {
    json: bool,
    lines: Vec<String>,
}

impl Told {
    fn tell(&mut self, before: &str, what: &str) -> io::Result<()> {
        self.lines.push(format!("{before}{what}"));
        if self.json {
            return Ok(());
        }
        print(format_args!("{before}{what}\n"))
    }
}
