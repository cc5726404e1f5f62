//! Emulated disks of commands that need one for a while.

use crate::screen::tell;
use anyhow::Context;
use plimsoll_disk::{Control, DaemonProgram};
use plimsoll_experiment::{disk_by_text, disk_presets};
use plimsoll_record::DiskSpec;
use plimsoll_testbed::{BareDisk, Journal, default_parent, default_state_dir};
use std::path::Path;

/// A disk from the command line, without trace: nobody would read it.
pub fn by_text(text: &str) -> anyhow::Result<DiskSpec> {
    let mut spec = disk_by_text(text)?;
    spec.trace_requests = 0;
    Ok(spec)
}

/// Whether a word on the command line is meant as a disk, and not as a path.
pub fn is_disk(text: &str) -> bool {
    text.trim_start().starts_with('{') || disk_presets().iter().any(|preset| preset.name == text)
}

/// The name of the preset, or the text that described the disk.
pub fn name<'a>(spec: &'a DiskSpec, text: &'a str) -> &'a str {
    spec.preset.as_deref().unwrap_or(text)
}

/// Builds a disk, lets `use_it` have its device and control, and undoes it.
pub fn with_disk<T>(
    spec: &DiskSpec,
    what: &str,
    use_it: impl FnOnce(&Path, &mut Control) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let daemon = DaemonProgram {
        path: std::env::current_exe()
            .context("cannot find this program's own file to start the disk from")?,
        arguments: vec!["disk-daemon".into()],
    };
    let mut journal = Journal::open(&default_state_dir()?, what)?;
    let disk = BareDisk::build(spec, &default_parent()?, what, &daemon, &mut journal)?;
    let used = Control::connect(disk.control_socket())
        .map_err(anyhow::Error::from)
        .and_then(|mut control| use_it(&disk.device_path(), &mut control));
    let torn_down = disk.tear_down(&mut journal);
    let used = used?;
    for note in torn_down? {
        tell(note);
    }
    Ok(used)
}
