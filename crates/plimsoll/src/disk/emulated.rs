//! Emulated disks as they are named on the command line.

use plimsoll_experiment::{disk_by_text, disk_presets};
use plimsoll_record::DiskSpec;

/// A disk from the command line, without trace, which would have no reader.
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
