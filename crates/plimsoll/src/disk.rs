mod calibrate;
mod characterise;
mod clone;
mod cut;
mod emulated;
mod mount;
mod mounted;
mod presets;
mod progress;
mod trace;

use crate::arguments::Disk;
use crate::exit::Exit;
use crate::rig::Rigs;
use crate::screen::tell;
use anyhow::bail;
use plimsoll_rig::RigError;
use std::path::Path;

pub use mount::in_background;

pub fn disk(command: &Disk, rigs: &Rigs, store: Option<&Path>) -> anyhow::Result<Exit> {
    let ended = match command {
        Disk::Presets(presets) => presets::presets(presets),
        Disk::Characterise(characterise) => characterise::characterise(characterise, rigs),
        Disk::Clone(clone) => clone::clone(clone, rigs),
        Disk::Calibrate(calibrate) => calibrate::calibrate(calibrate, rigs),
        Disk::Mount(mount) => mount::mount(mount, rigs),
        Disk::Cut(requested) => cut::cut(requested),
        Disk::Unmount(unmount) => mount::unmount(unmount, rigs),
        Disk::Set(set) => mounted::set(set),
        Disk::Log(log) => mounted::log(log),
        Disk::Trace(trace) => trace::trace(trace),
        Disk::Map(map) => crate::diskmap::diskmap(map, store),
    };
    match ended {
        Err(error) if matches!(error.downcast_ref(), Some(RigError::Interrupted)) => {
            tell("interrupted; everything that was made is removed");
            Ok(Exit::Interrupted)
        }
        ended => ended,
    }
}

/// The process behind an emulated disk, on the orders of the one that started it.
pub fn daemon() -> anyhow::Result<Exit> {
    plimsoll_disk::serve(std::io::stdin(), std::io::stdout())?;
    Ok(Exit::Good)
}

/// The folder of a file that does not exist yet.
fn folder_of_new(file: &Path) -> anyhow::Result<&Path> {
    if file.exists() {
        bail!("{} already exists", file.display());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok(folder.unwrap_or(Path::new(".")))
}

/// Rows of cells below each other: the first `left` columns begin, the others end at the same place.
fn aligned(rows: &[Vec<String>], left: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(place, (cell, &width))| {
            if place < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        out.push_str(&format!("  {}\n", line.trim_end()));
    }
    out
}
