//! Undoing a step: by what the kernel says of the thing now, and never without proof that it is ours.

use crate::testbed::TestbedError;
use crate::testbed::loops::{self, BackingFile};
use crate::testbed::privileged::kill::{end, end_marked};
use crate::testbed::privileged::removal::remove_abandoned;
use crate::testbed::privileged::unmount::{unmount, unmount_shown};
use crate::testbed::privileged::{group, kernel, readahead, rings};
use crate::testbed::step::{Making, MountedFrom, Step, Undone};
use crate::testbed::tools::Tools;
use crate::testbed::wait::until;
use crate::testbed::{mounts, processes};
use plimsoll_telemetry::Mount;
use std::path::Path;
use std::time::Duration;

/// How long a process that is ending may take to be gone.
const LONGEST_GOING: Duration = Duration::from_secs(1);

/// Undoes a step. What is in use is only forced in the `last` attempt, because what is undone after it may free it.
pub(crate) fn undo(making: &Making, tools: &Tools, last: bool) -> Result<Undone, TestbedError> {
    match &making.step {
        Step::Directory { path } => remove_abandoned(path, making.inode),
        Step::Rings => rings::turn_off(),
        Step::Daemon { mark, mount_point } => undo_daemon(tools, mark, mount_point, last),
        Step::Loop { backing_file } => undo_loop(tools, backing_file, last),
        Step::Readahead { from, was_bytes, set_bytes } => {
            readahead::undo(tools, from, *was_bytes, *set_bytes)
        }
        Step::Setting { setting, of, was, set } => kernel::undo(tools, *setting, of, (was, set)),
        Step::Mount { mount_point, from } => undo_mount(tools, mount_point, from, last, unmount),
        Step::Shown { directory, from } => undo_mount(tools, directory, from, last, unmount_shown),
        Step::Group { path } => group::remove(path, &group::prefix(tools.token()), making.inode),
        Step::Controllers { group: parent, controllers } => Ok(group::disable(parent, controllers)),
        Step::Server { mark, .. } => undo_marked(tools, mark),
        Step::Process { process, started_ticks, mark } => {
            undo_process(*process, *started_ticks, mark)
        }
    }
}

fn undo_process(process: u32, started: u64, mark: &str) -> Result<Undone, TestbedError> {
    if processes::started_ticks(process) != Some(started) {
        return Ok(Undone::WasGone);
    }
    let is_marked = || processes::is_marked(process, mark);
    if end(process, started, || is_marked() == Some(true)) {
        return Ok(Undone::Gone);
    }
    // A process that is ending loses its environment first.
    let is_gone = || processes::started_ticks(process) != Some(started);
    match is_marked() {
        Some(false) if until(LONGEST_GOING, is_gone) => Ok(Undone::WasGone),
        Some(false) => Ok(Undone::Foreign(format!(
            "the process {process} has no mark of ours; it is left alone"
        ))),
        _ => Err(TestbedError::DoesNotEnd { process }),
    }
}

fn undo_marked(tools: &Tools, mark: &str) -> Result<Undone, TestbedError> {
    match end_marked(mark, tools.since()) {
        Ok(0) => Ok(Undone::WasGone),
        Ok(_) => Ok(Undone::Gone),
        Err(process) => Err(TestbedError::DoesNotEnd { process }),
    }
}

fn undo_mount(
    tools: &Tools,
    point: &Path,
    from: &MountedFrom,
    last: bool,
    unmount: fn(&Path, bool) -> Result<bool, TestbedError>,
) -> Result<Undone, TestbedError> {
    let Some(mounted) = mounts::at(point)? else {
        return Ok(Undone::WasGone);
    };
    let is_ours = match from {
        MountedFrom::Device(device) => mounted.source == *device,
        // A disk is seen itself where its filesystem did not survive a power cut.
        MountedFrom::LoopOver(file) if is_emulated_disk(&mounted) => {
            file.is_in(&mounted.device_number)
        }
        MountedFrom::LoopOver(file) => mounted
            .source
            .strip_prefix("/dev")
            .ok()
            .and_then(Path::to_str)
            .is_some_and(|name| file.is_below(tools, name)),
    };
    if !is_ours {
        return Ok(Undone::Foreign(format!(
            "{} is mounted at {} now, which is not ours; it is left alone",
            mounted.source.display(),
            point.display()
        )));
    }
    Ok(match unmount(point, last)? {
        true => Undone::Gone,
        false => Undone::Going(format!(
            "the filesystem at {} is still in use by a program; it is out of sight and goes with its last user",
            point.display()
        )),
    })
}

fn undo_loop(
    tools: &Tools,
    backing_file: &BackingFile,
    last: bool,
) -> Result<Undone, TestbedError> {
    let devices = backing_file.devices(tools);
    if devices.is_empty() {
        return Ok(Undone::WasGone);
    }
    let mut busy = Vec::new();
    for device in devices {
        if !loops::detach(tools, &device, backing_file)? {
            busy.push(device);
        }
    }
    match busy.pop() {
        None => Ok(Undone::Gone),
        Some(device) if !last => Err(TestbedError::DeviceBusy { device }),
        Some(device) => Ok(Undone::Going(format!(
            "/dev/{device} is still in use by a program; it goes with its last user"
        ))),
    }
}

/// Whether this is the mount of an emulated disk's file.
pub(crate) fn is_emulated_disk(mounted: &Mount) -> bool {
    (mounted.kind == "fuse" || mounted.kind.starts_with("fuse."))
        && mounted.source == Path::new("plimsoll-disk")
}

fn undo_daemon(
    tools: &Tools,
    mark: &str,
    mount_point: &Path,
    last: bool,
) -> Result<Undone, TestbedError> {
    let is_ours = is_emulated_disk;
    let mut undone = Undone::WasGone;
    // First the mount, so that the daemon can finish, unless it is still in use.
    if mounts::at(mount_point)?.is_some_and(|mounted| is_ours(&mounted))
        && unmount(mount_point, false).is_ok()
    {
        undone = Undone::Gone;
    }
    match end_marked(mark, tools.since()) {
        Ok(0) => {}
        Ok(_) => undone = Undone::Gone,
        Err(process) => return Err(TestbedError::DoesNotEnd { process }),
    }
    // Without its daemon every request ends with an error, and so what waited for one ends too.
    match mounts::at(mount_point)? {
        None => Ok(undone),
        Some(mounted) if is_ours(&mounted) => Ok(match unmount(mount_point, last)? {
            true => Undone::Gone,
            false => Undone::Going(format!(
                "the file of the emulated disk at {} is still in use; it goes with its last user",
                mount_point.display()
            )),
        }),
        Some(mounted) => Ok(Undone::Foreign(format!(
            "{} is mounted at {} now, which is not ours; it is left alone",
            mounted.source.display(),
            mount_point.display()
        ))),
    }
}
