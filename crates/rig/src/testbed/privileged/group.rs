//! Control groups: made, written to and removed where the filesystem is one of control groups, and nowhere else.

use super::held::FLAGS;
use super::kill::end;
use crate::testbed::TestbedError;
use crate::testbed::processes::started_ticks;
use crate::testbed::step::Undone;
use crate::testbed::wait::until;
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

/// How the kernel names the filesystems of both versions (`linux/magic.h`).
const CONTROL_GROUPS: [u64; 2] = [0x0027_e0eb, 0x6367_7270];

/// The kernel needs a moment to forget the last process of a group.
const LONGEST_REMOVAL: Duration = Duration::from_secs(5);

/// Makes a group and returns its inode.
pub(crate) fn make(path: &Path) -> Result<u64, TestbedError> {
    let failed = |error| TestbedError::io("make the control group", path, error);
    let (parent, name) = parent_of(path).map_err(failed)?;
    fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755)).map_err(|error| failed(error.into()))?;
    let group = open(&parent, name).map_err(failed)?;
    Ok(fs::fstat(&group).map_err(|error| failed(error.into()))?.st_ino)
}

/// Writes to a control file, which takes a value as a single write.
pub(crate) fn write(path: &Path, value: &str) -> Result<(), TestbedError> {
    let written = || -> io::Result<()> {
        let (group, file) = parent_of(path)?;
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = fs::openat(&group, file, flags, Mode::empty())?;
        File::from(file).write_all(value.as_bytes())
    };
    written().map_err(|source| TestbedError::Group {
        file: path.to_owned(),
        value: value.to_owned(),
        source,
    })
}

/// How the names of all groups begin that the owner of a journal with this token makes.
pub(crate) fn prefix(token: &str) -> String {
    format!("plimsoll-{token}-")
}

/// Takes controllers away from the children of a group, unless other groups have come to use it.
pub(crate) fn disable(group_path: &Path, controllers: &[String]) -> Undone {
    let words: Vec<String> = controllers.iter().map(|name| format!("-{name}")).collect();
    match write(&group_path.join("cgroup.subtree_control"), &words.join(" ")) {
        Ok(()) => Undone::Gone,
        Err(error) => Undone::Foreign(format!(
            "the controllers {} below {} stay, because another group uses them by now ({error})",
            controllers.join(" "),
            group_path.display()
        )),
    }
}

/// Removes a group with the processes in it. Ours is one whose name begins so, with the inode that it got when it was made, if that was
/// written down in time.
pub(crate) fn remove(
    path: &Path,
    begins: &str,
    inode: Option<u64>,
) -> Result<Undone, TestbedError> {
    let failed = |error: io::Error| TestbedError::io("remove the control group", path, error);
    let foreign = |what: &str| {
        Ok(Undone::Foreign(format!(
            "the control group {} {what}; it is left alone",
            path.display()
        )))
    };
    let found = parent_of(path).and_then(|(parent, name)| {
        let group = open(&parent, name)?;
        Ok((parent, name, group))
    });
    let (parent, name, group) = match found {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Undone::WasGone),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            return foreign("is in no filesystem of control groups");
        }
        Err(error) => return Err(failed(error)),
    };
    if !name.starts_with(begins) {
        return foreign("has no name of ours");
    }
    let status = fs::fstat(&group).map_err(|error| failed(error.into()))?;
    if inode.is_some_and(|inode| inode != status.st_ino) {
        return foreign("is another one now");
    }
    let mut outcome = Ok(());
    let removed = until(LONGEST_REMOVAL, || {
        for process in processes_in(&group) {
            if let Some(started) = started_ticks(process) {
                end(process, started, || processes_in(&group).contains(&process));
            }
        }
        match fs::unlinkat(&parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => true,
            Err(error) => {
                outcome = Err(error);
                false
            }
        }
    });
    match outcome {
        Err(error) if !removed => Err(failed(error.into())),
        _ => Ok(Undone::Gone),
    }
}

/// The directory that a group or control file is in, with the name. Only filesystems of control groups have any.
fn parent_of(path: &Path) -> io::Result<(OwnedFd, &str)> {
    let (Some(parent), Some(name)) =
        (path.parent(), path.file_name().and_then(|name| name.to_str()))
    else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let flags = FLAGS | OFlags::RDONLY;
    let parent = fs::openat(fs::CWD, parent, flags, Mode::empty())?;
    let kind = fs::fstatfs(&parent)?.f_type;
    if !u64::try_from(kind).is_ok_and(|kind| CONTROL_GROUPS.contains(&kind)) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is in no filesystem of control groups",
        ));
    }
    Ok((parent, name))
}

fn open(parent: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    Ok(fs::openat(parent, name, FLAGS, Mode::empty())?)
}

fn processes_in(group: &OwnedFd) -> Vec<u32> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut text = String::new();
    if let Ok(file) = fs::openat(group, "cgroup.procs", flags, Mode::empty()) {
        // A group that is being removed cannot be read.
        let _ = File::from(file).read_to_string(&mut text);
    }
    text.lines().filter_map(|line| line.parse().ok()).collect()
}
