//! Emptying a directory without ever leaving it.

use crate::TestbedError;
use rustix::fs::{self, AtFlags, Mode, OFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Opens a directory that must not be a symbolic link.
pub(crate) fn open_directory(
    parent: impl AsFd,
    name: impl rustix::path::Arg,
) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::openat(parent, name, flags, Mode::empty())
}

/// Whether something is mounted on the open directory. Kernels before 5.8 do not say; there, a mount shows by its other device.
pub(crate) fn is_mount_point(directory: impl AsFd, parent: impl AsFd) -> rustix::io::Result<bool> {
    let status = fs::statx(
        &directory,
        c"",
        AtFlags::EMPTY_PATH,
        StatxFlags::BASIC_STATS,
    )?;
    if status.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) {
        return Ok(true);
    }
    Ok(fs::fstat(directory)?.st_dev != fs::fstat(parent)?.st_dev)
}

/// Removes everything in an open directory but the entry to keep. Symbolic links are removed and not followed; a mount point ends it.
///
/// `path` is for messages alone.
pub(crate) fn empty(directory: &OwnedFd, path: &Path, keep: &str) -> Result<(), TestbedError> {
    for name in names(directory).map_err(|error| TestbedError::io("list", path, error))? {
        if name.as_bytes() == keep.as_bytes() {
            continue;
        }
        let entry_path = path.join(OsStr::from_bytes(name.as_bytes()));
        match fs::unlinkat(directory, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            // What Linux says of a directory, and what POSIX allows instead.
            Err(Errno::ISDIR | Errno::PERM) => remove_directory(directory, &name, &entry_path)?,
            Err(error) => return Err(TestbedError::io("remove", &entry_path, error)),
        }
    }
    Ok(())
}

fn remove_directory(parent: &OwnedFd, name: &CString, path: &Path) -> Result<(), TestbedError> {
    let failed = |error| TestbedError::io("remove", path, error);
    let directory = open_directory(parent, name).map_err(failed)?;
    if is_mount_point(&directory, parent).map_err(failed)? {
        return Err(TestbedError::NotRemoved {
            path: path.to_owned(),
            reason: "is a mount point",
        });
    }
    empty(&directory, path, "")?;
    fs::unlinkat(parent, name, AtFlags::REMOVEDIR).map_err(failed)
}

/// All names are read before anything is removed, because a directory that changes may be listed with gaps.
fn names(directory: &OwnedFd) -> rustix::io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in fs::Dir::read_from(directory)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.as_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_is_seen() {
        let root = open_directory(fs::CWD, "/").unwrap();
        let mounted = open_directory(&root, "proc").unwrap();
        assert!(is_mount_point(&mounted, &root).unwrap());
        let directory = tempfile::tempdir().unwrap();
        let parent = open_directory(fs::CWD, directory.path()).unwrap();
        std::fs::create_dir(directory.path().join("plain")).unwrap();
        let plain = open_directory(&parent, "plain").unwrap();
        assert!(!is_mount_point(&plain, &parent).unwrap());
    }
}
