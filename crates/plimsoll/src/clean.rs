//! `plimsoll clean`.

use crate::arguments;
use crate::exit::Exit;
use crate::screen::print;
use plimsoll_testbed::{
    abandoned, default_parent, default_parent_of_servers, default_state_dir, leftovers,
};

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
    let mut found = 0;
    // Of a dry run: what belongs to a journal is not told again where its directory is found.
    let mut told = String::new();
    for left in abandoned(&default_state_dir()?)? {
        found += 1;
        if arguments.dry_run {
            for line in left.describe() {
                print(format_args!("would undo: {line}\n"))?;
                told.push_str(&line);
            }
            continue;
        }
        let mut shown = Ok(());
        left.undo(&mut |what| {
            if shown.is_ok() {
                shown = print(format_args!("{what}\n"));
            }
        })?;
        shown?;
    }
    for directory in directories {
        for leftover in leftovers(&directory)? {
            found += 1;
            let path = leftover.path.display();
            if arguments.dry_run && told.contains(&path.to_string()) {
                continue;
            }
            if arguments.dry_run {
                print(format_args!("would remove {path}\n"))?;
                continue;
            }
            leftover.remove()?;
            print(format_args!("removed {path}\n"))?;
        }
    }
    if found == 0 {
        anstream::eprintln!("nothing was left behind");
    }
    Ok(Exit::Good)
}
