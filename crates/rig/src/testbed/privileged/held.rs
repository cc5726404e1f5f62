//! Directories that no other user can exchange for others: walked to one component at a time, and held open.

use crate::testbed::error::{TestbedError, Untrust};
use plimsoll_record::files::{Refusal, is_open_to_others};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use rustix::process::{Gid, Uid, geteuid};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Mode of intermediate directories: others, such as servers, may pass through but not list them.
const MODE_OF_PLACES: Mode = Mode::from_raw_mode(0o711);

pub(super) const FLAGS: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory that is open, to which no component of the way could have been changed by another user.
#[derive(Debug)]
pub(crate) struct HeldDirectory {
    directory: OwnedFd,
    path: PathBuf,
}

impl AsFd for HeldDirectory {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

impl HeldDirectory {
    /// Opens a directory; `None` where there is none.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, TestbedError> {
        match walk(path, None) {
            Ok(held) => Ok(Some(held)),
            Err(TestbedError::Io { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The same, with all that is missing of it made.
    pub(crate) fn make(path: &Path) -> Result<Self, TestbedError> {
        walk(path, Some(MODE_OF_PLACES))
    }

    /// Its path, without symbolic links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a file that was not there.
    pub(crate) fn new_file(&self, name: &str) -> std::io::Result<File> {
        new_file_in(&self.directory, name)
    }

    /// Opens a plain file of this user's for reading and appending, or says what else it is.
    pub(crate) fn own_file(&self, name: &OsStr) -> std::io::Result<OwnFile> {
        let flags =
            OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match fs::openat(&self.directory, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::LOOP) => return Ok(OwnFile::Foreign("is a symbolic link")),
            // A pipe without a reader, or a socket.
            Err(Errno::NXIO | Errno::ISDIR) => return Ok(OwnFile::Foreign("is no file")),
            Err(error) => return Err(error.into()),
        };
        Ok(match why_not_own_file(&fs::fstat(&file)?) {
            Some(reason) => OwnFile::Foreign(reason),
            None => OwnFile::Open(File::from(file)),
        })
    }

    /// Gives a file in it another name, which nothing may have.
    pub(crate) fn rename(&self, name: &str, to: &str) -> std::io::Result<()> {
        let held = &self.directory;
        Ok(fs::renameat_with(held, name, held, to, RenameFlags::NOREPLACE)?)
    }

    /// The names of what is in it, in order.
    pub(crate) fn names(&self) -> std::io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.directory)? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// The inode of what has this name; of a symbolic link, its own.
    pub(crate) fn inode_of(&self, name: &OsStr) -> std::io::Result<u64> {
        Ok(fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW)?.st_ino)
    }

    /// Removes a file in it.
    pub(crate) fn remove_file(&self, name: impl rustix::path::Arg) -> std::io::Result<()> {
        Ok(fs::unlinkat(&self.directory, name, AtFlags::empty())?)
    }

    /// Waits until its entries are on the disk.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        Ok(fs::fsync(&self.directory)?)
    }
}

/// What was found under the name of a file.
#[derive(Debug)]
pub(crate) enum OwnFile {
    Open(File),
    /// It is not ours to read, as in "it …".
    Foreign(&'static str),
}

/// Makes a file in an open directory that was not there, for this user alone.
pub(crate) fn new_file_in(directory: impl AsFd, name: &str) -> std::io::Result<File> {
    let flags = OFlags::CREATE
        | OFlags::EXCL
        | OFlags::RDWR
        | OFlags::APPEND
        | OFlags::NOFOLLOW
        | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    Ok(File::from(fs::openat(directory, name, flags, mode)?))
}

/// Makes a directory that was not there in an open one, and opens it.
pub(crate) fn new_directory_in(
    directory: impl AsFd,
    name: impl rustix::path::Arg + Copy,
) -> std::io::Result<OwnedFd> {
    fs::mkdirat(&directory, name, Mode::RWXU)?;
    Ok(fs::openat(directory, name, FLAGS, Mode::empty())?)
}

/// Opens what is below an open directory, step by step.
pub(crate) fn open_subdirectory(directory: impl AsFd, names: &[&str]) -> std::io::Result<OwnedFd> {
    let mut open = directory.as_fd().try_clone_to_owned()?;
    for name in names {
        open = fs::openat(&open, *name, FLAGS, Mode::empty())?;
    }
    Ok(open)
}

/// Lets everybody read an open directory, and its owner alone change it.
pub(crate) fn open_to_read(directory: impl AsFd) -> std::io::Result<()> {
    Ok(fs::fchmod(directory, Mode::from_raw_mode(0o755))?)
}

/// Gives an open directory to another user, whose alone it is.
pub(crate) fn hand_over(directory: impl AsFd, user: u32, group: u32) -> std::io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    Ok(fs::fchown(directory, Some(user), Some(group))?)
}

/// Gives what has this name in an open directory to another user; of a symbolic link, the link itself.
pub(crate) fn hand_over_entry(
    directory: impl AsFd,
    name: &str,
    user: u32,
    group: u32,
) -> std::io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    Ok(fs::chownat(directory, name, Some(user), Some(group), flags)?)
}

/// Lets everybody pass through an open directory, and not look around in it.
pub(crate) fn open_to_pass(directory: impl AsFd) -> std::io::Result<()> {
    Ok(fs::fchmod(directory, MODE_OF_PLACES)?)
}

/// What speaks against a directory as one that only this user can change, as in "it …".
pub(crate) fn why_not_own(status: &Stat) -> Option<&'static str> {
    if status.st_uid != geteuid().as_raw() {
        Some("is owned by another user")
    } else if is_open_to_others(status) {
        Some("can be changed by other users")
    } else {
        None
    }
}

/// The same of a file, which must not have a second name either.
pub(crate) fn why_not_own_file(status: &Stat) -> Option<&'static str> {
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        Some("is no file")
    } else if status.st_nlink != 1 {
        Some("has a second name")
    } else {
        why_not_own(status)
    }
}

/// Goes there step by step, as `plimsoll_record::files` does.
fn walk(path: &Path, missing: Option<Mode>) -> Result<HeldDirectory, TestbedError> {
    match plimsoll_record::files::walk(path, missing) {
        Ok((directory, path)) => Ok(HeldDirectory { directory, path }),
        Err(error) => Err(explained(path, error)),
    }
}

fn explained(path: &Path, error: std::io::Error) -> TestbedError {
    let refusal = error.get_ref().and_then(|inner| inner.downcast_ref());
    let (path, why) = match refusal {
        Some(Refusal::Foreign { path, owner }) => (path, Untrust::Owner(*owner)),
        Some(Refusal::Exposed { path, is_sticky }) => {
            let why = if *is_sticky { Untrust::Sticky } else { Untrust::Others };
            (path, why)
        }
        _ if error.kind() == std::io::ErrorKind::NotADirectory => {
            return TestbedError::InTheWay { path: path.to_owned(), reason: "is no directory" };
        }
        _ => return TestbedError::io("open", path, error),
    };
    TestbedError::Untrusted { path: path.clone(), why }
}
