//! Settings of the kernel: the files that hold them, what they offer, and how one is set, verified and put back.

use crate::testbed::TestbedError;
use crate::testbed::privileged::readahead::queue_of_device;
use crate::testbed::rig_parts::RigParts;
use crate::testbed::step::{MountedFrom, SettingOf, Step, Undone};
use crate::testbed::tools::Tools;
use plimsoll_record::{DiskChoice, KernelSetting, RigSpec};
use rustix::fs::{Access, access};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder of the groups of processors that change their frequency together.
const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";

/// A setting of an arm with the text that its files are to hold.
pub(crate) type Requested<'a> = (KernelSetting, &'a str);

/// A device under a filesystem: its name, and how it is found again.
pub(crate) type DiskBelow<'a> = (&'a str, &'a MountedFrom);

/// The file of a setting that the whole machine has once.
fn file_of_machine(setting: KernelSetting) -> Option<&'static Path> {
    let path = match setting {
        KernelSetting::TransparentHugePages => "/sys/kernel/mm/transparent_hugepage/enabled",
        KernelSetting::Swappiness => "/proc/sys/vm/swappiness",
        KernelSetting::DirtyRatio => "/proc/sys/vm/dirty_ratio",
        KernelSetting::DirtyBackgroundRatio => "/proc/sys/vm/dirty_background_ratio",
        KernelSetting::DirtyExpire => "/proc/sys/vm/dirty_expire_centisecs",
        KernelSetting::DirtyWriteback => "/proc/sys/vm/dirty_writeback_centisecs",
        KernelSetting::Scheduler | KernelSetting::Governor => return None,
    };
    Some(Path::new(path))
}

fn file_of_policy(policy: &str) -> PathBuf {
    Path::new(POLICIES).join(policy).join("scaling_governor")
}

fn file_of_disk(device: &str) -> PathBuf {
    queue_of_device(device).join("scheduler")
}

fn policies() -> Vec<String> {
    let names = fs::read_dir(POLICIES).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut policies: Vec<String> = names.filter(|name| name.starts_with("policy")).collect();
    policies.sort();
    policies
}

/// All files that hold a setting of an arm, which may have a disk.
pub(crate) fn places(
    requested: Requested<'_>,
    disk: Option<DiskBelow<'_>>,
) -> Result<Vec<(SettingOf, PathBuf)>, TestbedError> {
    let (setting, _) = requested;
    if let Some(file) = file_of_machine(setting) {
        return Ok(vec![(SettingOf::Machine, file.to_owned())]);
    }
    if setting == KernelSetting::Scheduler {
        let (name, from) = disk.ok_or_else(|| refused(requested, "the arm has no disk".into()))?;
        return Ok(vec![(SettingOf::Disk(from.clone()), file_of_disk(name))]);
    }
    let policies = policies();
    if policies.is_empty() {
        return Err(refused(requested, missing(&file_of_policy("policy*"))));
    }
    let of_policy = |policy: String| {
        let file = file_of_policy(&policy);
        (SettingOf::Policy(policy), file)
    };
    Ok(policies.into_iter().map(of_policy).collect())
}

/// Checks that this machine has the settings of an arm and offers what is requested. Nothing is changed.
pub(crate) fn check(spec: &RigSpec) -> Result<(), TestbedError> {
    for (setting, value) in &spec.kernel {
        let requested = (*setting, value.as_str());
        let files: Vec<PathBuf> = match setting {
            KernelSetting::Scheduler => scheduler_to_check(spec).into_iter().collect(),
            _ => places(requested, None)?.into_iter().map(|(_, file)| file).collect(),
        };
        for file in files {
            acceptable(requested, &file)?;
        }
    }
    Ok(())
}

/// The scheduler of the arm's device, or of any loop device where its own is still to be made: all offer the same.
fn scheduler_to_check(spec: &RigSpec) -> Option<PathBuf> {
    let name = match spec.disk.as_ref()? {
        DiskChoice::Emulated { .. } => {
            let mut names = fs::read_dir("/sys/block").ok()?.flatten();
            names.find_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                name.starts_with("loop").then_some(name)
            })?
        }
        DiskChoice::Device { path } => path.canonicalize().ok()?.file_name()?.to_str()?.to_owned(),
    };
    Some(file_of_disk(&name))
}

/// What a file holds, and the words that it offers, if it holds words.
#[derive(Debug, PartialEq, Eq)]
struct Content {
    chosen: String,
    offered: Vec<String>,
}

/// Files of words list all of them, with the chosen one in brackets; beside that of the governor is another with the list.
fn read(file: &Path) -> std::io::Result<Content> {
    let text = fs::read_to_string(file)?;
    let bare = |word: &str| word.trim_matches(['[', ']']).to_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    let chosen = words.iter().find(|word| word.starts_with('[')).or(words.first());
    let chosen = chosen.map(|word| bare(word)).unwrap_or_default();
    if chosen.parse::<u64>().is_ok() {
        return Ok(Content { chosen, offered: Vec::new() });
    }
    let list = fs::read_to_string(file.with_file_name("scaling_available_governors"));
    let offered = match &list {
        Ok(list) => list.split_whitespace().map(bare).collect(),
        Err(_) => words.into_iter().map(bare).collect(),
    };
    Ok(Content { chosen, offered })
}

fn refused((setting, value): Requested<'_>, why: String) -> TestbedError {
    TestbedError::Kernel { setting, value: value.to_owned(), why }
}

fn missing(file: &Path) -> String {
    let name = file.display();
    format!("this machine has no {name}: remove the key, or run the arm on another machine")
}

/// Checks that a file offers what is requested and can be restored. Returns what it holds.
fn acceptable(requested: Requested<'_>, file: &Path) -> Result<String, TestbedError> {
    let (setting, value) = requested;
    let name = file.display();
    let refused = |why: String| refused(requested, why);
    let Content { chosen, offered } = read(file).map_err(|error| {
        refused(match error.kind() {
            ErrorKind::NotFound => missing(file),
            _ => format!("cannot read {name}: {error}"),
        })
    })?;
    if !offered.is_empty() && !offered.iter().any(|word| word == value) {
        let or = match setting {
            KernelSetting::Scheduler => ", or load the kernel module of another",
            _ => "",
        };
        let offered = offered.join(", ");
        return Err(refused(format!("{name} offers only {offered}: write one of these{or}")));
    }
    if !setting.is_valid(value) {
        return Err(refused(format!("this is no value for {name}")));
    }
    if !setting.is_valid(&chosen) {
        return Err(refused(format!(
            "{name} holds {chosen}, which could not be restored, because another setting such as vm.dirty_bytes replaces it: set it by hand first"
        )));
    }
    access(file, Access::WRITE_OK)
        .map_err(|error| refused(format!("cannot write to {name}: {error}")))?;
    Ok(chosen)
}

/// Sets a file for a rig. The journal knows what it held before anything changes; where another rig of this program has set it, that is what it held before
/// both.
pub(crate) fn set(
    made: &RigParts,
    requested: Requested<'_>,
    of: SettingOf,
    file: &Path,
) -> Result<(), TestbedError> {
    let (setting, value) = requested;
    let name = file.display();
    let found = acceptable(requested, file)?;
    let was = match made.journal().set_here(setting, &of) {
        Some((_, set)) if set != value => {
            return Err(refused(
                requested,
                format!("another run at the same time needs {set} in {name}"),
            ));
        }
        Some((was, _)) => was,
        None => found,
    };
    let step = Step::Setting { setting, of, was: was.clone(), set: value.to_owned() };
    made.making(step.clone())?;
    // Only now, so that of two programs at the same time at least one sees the other.
    if let Some(process) = made.journal().set_elsewhere(&step)? {
        return Err(refused(
            requested,
            format!(
                "another plimsoll (process {process}) has changed {name} and not restored it yet: wait for it, or run `plimsoll clean` if it is gone"
            ),
        ));
    }
    write(requested, file).inspect_err(|_| {
        // Nothing undoes what was not requested.
        let _ = write((setting, &was), file);
    })
}

/// Writes a value, and checks that the kernel took it.
fn write(requested: Requested<'_>, file: &Path) -> Result<(), TestbedError> {
    let name = file.display();
    fs::write(file, requested.1)
        .map_err(|error| refused(requested, format!("cannot write to {name}: {error}")))?;
    is_still(requested, file, "after this was written")
}

/// Checks that a file holds what was requested. `since` says when it was so.
pub(crate) fn is_still(
    requested: Requested<'_>,
    file: &Path,
    since: &str,
) -> Result<(), TestbedError> {
    let found = read(file).map_err(|error| TestbedError::io("read", file, error))?.chosen;
    if found == requested.1 {
        return Ok(());
    }
    Err(refused(requested, format!("{} holds {found} {since}", file.display())))
}

/// Restores what a file held, unless it was changed since.
pub(crate) fn undo(
    tools: &Tools,
    setting: KernelSetting,
    of: &SettingOf,
    (was, set): (&str, &str),
) -> Result<Undone, TestbedError> {
    let files = match of {
        SettingOf::Machine => file_of_machine(setting).map(Path::to_owned).into_iter().collect(),
        SettingOf::Policy(policy) => {
            let found = policies().into_iter().filter(|name| name == policy);
            found.map(|name| file_of_policy(&name)).collect()
        }
        SettingOf::Disk(from) => {
            let names = from.devices(tools).into_iter();
            names.map(|name| file_of_disk(&name)).collect::<Vec<_>>()
        }
    };
    let mut undone = Undone::WasGone;
    for file in files {
        if setting.is_valid(was) && read(&file).is_ok_and(|found| found.chosen == set) {
            write((setting, was), &file)?;
            undone = Undone::Gone;
        }
    }
    Ok(undone)
}

#[cfg(test)]
mod tests;
