//! Removing data directories, and nothing that is not one, without ever leaving them.

use super::HeldDirectory;
use super::held::FLAGS;
use super::marker::{Contents, MARKER_NAME, Marker, examine, lock};
use crate::testbed::TestbedError;
use crate::testbed::step::Undone;
use rustix::fs::{self, AtFlags, Mode, OFlags, RenameFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What the name of every data directory begins with.
pub(crate) const NAME: &str = "plimsoll-";

/// What begins the name of a directory that was moved up. Names of engines do not begin so.
const MOVED: &str = ".plimsoll-moved-";

/// Opens a directory that must not be a symbolic link.
pub(crate) fn open_directory(
    parent: impl AsFd,
    name: impl rustix::path::Arg,
) -> rustix::io::Result<OwnedFd> {
    fs::openat(parent, name, FLAGS | OFlags::RDONLY, Mode::empty())
}

/// Whether something is mounted on the open directory. Kernels before 5.8 do not say; there, a mount shows by its other device.
pub(crate) fn is_mount_point(directory: impl AsFd, parent: impl AsFd) -> rustix::io::Result<bool> {
    let status = fs::statx(&directory, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
    if status.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) {
        return Ok(true);
    }
    Ok(fs::fstat(directory)?.st_dev != fs::fstat(parent)?.st_dev)
}

/// Removes the directory of a program that is gone, which its journal names: one with a marker, or one that did not get so far. Anything
/// else is left. `inode` is what the directory got when it was made, if that was written down in time.
pub(crate) fn remove_abandoned(path: &Path, inode: Option<u64>) -> Result<Undone, TestbedError> {
    let failed = |error| TestbedError::io("remove", path, error);
    let left = |reason: &str| {
        Ok(Undone::Foreign(format!("{} {reason}; it is left alone", path.display())))
    };
    let (Some(parent), Some(name)) =
        (path.parent(), path.file_name().and_then(|name| name.to_str()))
    else {
        return left("has no name of ours");
    };
    if !name.starts_with(NAME) {
        return left("has no name of ours");
    }
    let parent = match HeldDirectory::open(parent) {
        Ok(Some(parent)) => parent,
        Ok(None) => return Ok(Undone::WasGone),
        Err(TestbedError::Untrusted { .. }) => {
            return left("is in a place that other users can change");
        }
        Err(error) => return Err(error),
    };
    let directory = match open_directory(&parent, name) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(Undone::WasGone),
        Err(Errno::LOOP | Errno::NOTDIR) => return left("is no longer a directory"),
        Err(error) => return Err(failed(error)),
    };
    let found = fs::fstat(&directory).map_err(failed)?.st_ino;
    if inode.is_some_and(|inode| inode != found) {
        return left("is another directory now");
    }
    match examine(&directory, path)? {
        Contents::Marked(marker, file) => {
            if !lock(&file, path)? {
                return left("is used by another plimsoll");
            }
            remove_marked(&parent, name, path, &marker)?;
        }
        Contents::Empty => {
            if is_mount_point(&directory, &parent).map_err(failed)? {
                return left("is a mount point");
            }
            match fs::unlinkat(&directory, MARKER_NAME, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(failed(error)),
            }
            fs::unlinkat(&parent, name, AtFlags::REMOVEDIR).map_err(failed)?;
        }
        Contents::Foreign(reason) => return left(reason),
    }
    Ok(Undone::Gone)
}

/// Removes a directory that still has exactly this marker. The caller holds the lock of the marker.
pub(crate) fn remove_marked(
    parent: &HeldDirectory,
    name: &str,
    path: &Path,
    marker: &Marker,
) -> Result<(), TestbedError> {
    let failed = |error| TestbedError::io("remove", path, error);
    let refused = |reason| TestbedError::NotRemoved { path: path.to_owned(), reason };
    let directory = match open_directory(parent, name) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(refused("is no longer a directory")),
        Err(error) => return Err(failed(error)),
    };
    if is_mount_point(&directory, parent).map_err(failed)? {
        return Err(refused("is a mount point"));
    }
    match examine(&directory, path)? {
        Contents::Marked(found, _) if found == *marker => {}
        Contents::Marked(..) => return Err(refused("has the marker of another run")),
        Contents::Empty => return Err(refused("has lost its marker")),
        Contents::Foreign(reason) => return Err(refused(reason)),
    }
    empty(&directory, path, MARKER_NAME)?;
    fs::unlinkat(&directory, MARKER_NAME, AtFlags::empty()).map_err(failed)?;
    if let Err(error) = fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
        // Another program wrote into it meanwhile. It must not stay behind without a marker.
        marker.write(&directory, path)?;
        return Err(failed(error));
    }
    Ok(())
}

/// Removes everything in an open directory but the entry to keep. Symbolic links are removed and not followed, mount points stay with what is
/// in them. What cannot be removed keeps nothing else from being removed.
///
/// A directory in a directory is moved up before it is emptied, so the tree may be as deep as it likes: two directories are open at a time.
///
/// `path` is for messages alone.
fn empty(directory: &OwnedFd, path: &Path, keep: &str) -> Result<(), TestbedError> {
    let mut emptying = Emptying {
        top: directory,
        path,
        moved: 0,
        stays: BTreeSet::from([CString::new(keep).unwrap_or_default()]),
        first: None,
    };
    emptying.all()?;
    emptying.first.map_or(Ok(()), Err)
}

struct Emptying<'a> {
    top: &'a OwnedFd,
    path: &'a Path,
    /// How many directories were moved up.
    moved: u64,
    /// What could not be removed, or is kept on purpose.
    stays: BTreeSet<CString>,
    first: Option<TestbedError>,
}

impl Emptying<'_> {
    fn all(&mut self) -> Result<(), TestbedError> {
        loop {
            let listed =
                names(self.top).map_err(|error| TestbedError::io("list", self.path, error));
            let mut left = listed?;
            left.retain(|name| !self.stays.contains(name));
            if left.is_empty() {
                return Ok(());
            }
            for name in left {
                if let Err(error) = self.one(&name) {
                    self.stays.insert(name);
                    self.first.get_or_insert(error);
                }
            }
        }
    }

    /// Removes an entry of the directory; of a directory all that is in it, which may come up instead.
    fn one(&mut self, name: &CString) -> Result<(), TestbedError> {
        let path = self.path.join(OsStr::from_bytes(name.as_bytes()));
        let failed = |error| TestbedError::io("remove", &path, error);
        if unlinked(self.top, name).map_err(failed)? {
            return Ok(());
        }
        let directory = open_directory(self.top, name).map_err(failed)?;
        let refuse_mount_point = |directory: &OwnedFd, parent: &OwnedFd, path: &Path| {
            if is_mount_point(directory, parent).map_err(failed)? {
                return Err(TestbedError::NotRemoved {
                    path: path.to_owned(),
                    reason: "is a mount point",
                });
            }
            Ok(())
        };
        refuse_mount_point(&directory, self.top, &path)?;
        let mut first = None;
        for inner in names(&directory).map_err(failed)? {
            let inner_path = path.join(OsStr::from_bytes(inner.as_bytes()));
            let failed = |error| TestbedError::io("remove", &inner_path, error);
            let outcome = unlinked(&directory, &inner).map_err(failed).and_then(|is_gone| {
                if is_gone {
                    return Ok(());
                }
                let deeper = open_directory(&directory, &inner).map_err(failed)?;
                refuse_mount_point(&deeper, &directory, &inner_path)?;
                self.move_up(&directory, &inner).map_err(failed)
            });
            if let Err(error) = outcome {
                first.get_or_insert(error);
            }
        }
        match first {
            Some(error) => Err(error),
            None => fs::unlinkat(self.top, name, AtFlags::REMOVEDIR).map_err(failed),
        }
    }

    fn move_up(&mut self, from: &OwnedFd, name: &CString) -> rustix::io::Result<()> {
        loop {
            let to = format!("{MOVED}{}", self.moved);
            self.moved += 1;
            match fs::renameat_with(from, name, self.top, to, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                moved => return moved,
            }
        }
    }
}

/// Removes what is no directory; `false` for what is one.
fn unlinked(directory: &OwnedFd, name: &CString) -> rustix::io::Result<bool> {
    match fs::unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        // What Linux says of a directory, and what POSIX allows instead.
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(error) => Err(error),
    }
}

/// All names are read before anything is removed, because a directory that changes may be listed with gaps.
pub(super) fn names(directory: &OwnedFd) -> rustix::io::Result<Vec<CString>> {
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

    mod slow {
        use super::*;

        /// As a hostile or broken engine may leave it: deeper than any path and than the files that may be open.
        #[test]
        fn a_tree_30_000_deep_is_emptied() {
            let directory = tempfile::tempdir().unwrap();
            let top = open_directory(fs::CWD, directory.path()).unwrap();
            let mut deepest = open_directory(fs::CWD, directory.path()).unwrap();
            for _ in 0..30_000 {
                fs::mkdirat(&deepest, "d", Mode::RWXU).unwrap();
                deepest = open_directory(&deepest, "d").unwrap();
            }
            empty(&top, directory.path(), "").unwrap();
            assert_eq!(names(&top).unwrap(), Vec::<CString>::new());
        }
    }
}
