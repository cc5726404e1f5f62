//! `plimsoll clean`.

use crate::arguments;
use crate::exit::Exit;
use crate::screen::print;
use plimsoll_testbed::{default_parent, leftovers};

/// `plimsoll clean`: removes what carries this program's marker and belongs to no living run.
pub fn clean(arguments: &arguments::Clean) -> anyhow::Result<Exit> {
    let mut directories = arguments.directory.clone();
    if directories.is_empty() {
        directories.push(default_parent()?);
    }
    let mut found = 0;
    for directory in directories {
        for leftover in leftovers(&directory)? {
            found += 1;
            let path = leftover.path.display();
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
