//! Directories that nobody else can exchange for others: walked to one component at a time, and held open.

use crate::error::{TestbedError, Untrust};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use rustix::process::{Gid, Uid, getegid, geteuid};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// As many symbolic links as the kernel follows in a path.
const MOST_LINKS: usize = 40;

/// Of directories that are made on the way: others may pass through, as servers must, and not look around.
const MODE_OF_PLACES: Mode = Mode::from_raw_mode(0o711);

const WRITABLE_FOR_OTHERS: u32 = 0o002;
const WRITABLE_FOR_GROUP: u32 = 0o020;
const STICKY: u32 = 0o1000;

pub(super) const FLAGS: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Of directories on the way, which need not be readable.
const FLAGS_OF_WAY: OFlags = FLAGS.union(OFlags::PATH);

/// A directory that is open, to which no component of the way could have been changed by another user.
#[derive(Debug)]
pub(crate) struct HeldDirectory {
    directory: OwnedFd,
    /// Without symbolic links.
    path: PathBuf,
}

impl AsFd for HeldDirectory {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

impl HeldDirectory {
    /// Opens a directory; `None` where there is none.
    ///
    /// # Errors
    /// [`TestbedError::Untrusted`] with the component that another user owns or can change, or what else keeps it from being opened.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, TestbedError> {
        match walk(path, false) {
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
        walk(path, true)
    }

    /// Its path, without symbolic links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a file that was not there.
    pub(crate) fn new_file(&self, name: &str) -> std::io::Result<File> {
        new_file_in(&self.directory, name)
    }

    /// Opens a plain file of this user's for reading, and where it is said for appending. `Err` with what else it is.
    pub(crate) fn own_file(&self, name: &OsStr, appended: bool) -> std::io::Result<OwnFile> {
        let access = if appended {
            OFlags::RDWR | OFlags::APPEND
        } else {
            OFlags::RDONLY
        };
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
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
        Ok(fs::renameat_with(
            held,
            name,
            held,
            to,
            RenameFlags::NOREPLACE,
        )?)
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

/// Gives an open directory to another user, whose alone it is.
pub(crate) fn hand_over(directory: impl AsFd, user: u32, group: u32) -> std::io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    Ok(fs::fchown(directory, Some(user), Some(group))?)
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

/// Whether anybody but its owner and root can write to it. A group that belongs to this user alone, as many systems give one to each, is no other.
fn is_open_to_others(status: &Stat) -> bool {
    let is_private_group =
        status.st_gid == geteuid().as_raw() && status.st_gid == getegid().as_raw();
    status.st_mode & WRITABLE_FOR_OTHERS != 0
        || (status.st_mode & WRITABLE_FOR_GROUP != 0 && !is_private_group)
}

fn is_trusted_owner(user: u32) -> bool {
    user == 0 || user == geteuid().as_raw()
}

/// A directory on the way.
struct Passed {
    directory: OwnedFd,
    /// Everybody can make things in it, and only owners take them away: what is found in it must be ours.
    is_sticky: bool,
}

/// The way to a directory, from the root.
struct Way {
    passed: Vec<Passed>,
    path: PathBuf,
}

impl Way {
    fn from_root() -> Result<Self, TestbedError> {
        let path = PathBuf::from("/");
        let root = fs::openat(fs::CWD, &path, FLAGS_OF_WAY, Mode::empty())
            .map_err(|error| TestbedError::io("open", &path, error))?;
        let mut way = Self {
            passed: Vec::new(),
            path,
        };
        way.pass(root)?;
        Ok(way)
    }

    fn last(&self) -> &Passed {
        self.passed.last().expect("the root stays")
    }

    fn back(&mut self) {
        if self.passed.len() > 1 {
            self.passed.pop();
            self.path.pop();
        }
    }

    /// Checks the directory whose path this is by now.
    fn pass(&mut self, directory: OwnedFd) -> Result<(), TestbedError> {
        let status = fs::fstat(&directory)
            .map_err(|error| TestbedError::io("look at", &self.path, error))?;
        if !is_trusted_owner(status.st_uid) {
            return Err(self.untrusted(Untrust::Owner(status.st_uid)));
        }
        let is_sticky = is_open_to_others(&status);
        if is_sticky && status.st_mode & STICKY == 0 {
            return Err(self.untrusted(Untrust::Others));
        }
        self.passed.push(Passed {
            directory,
            is_sticky,
        });
        Ok(())
    }

    fn untrusted(&self, why: Untrust) -> TestbedError {
        TestbedError::Untrusted {
            path: self.path.clone(),
            why,
        }
    }
}

fn walk(path: &Path, make: bool) -> Result<HeldDirectory, TestbedError> {
    let absolute = std::path::absolute(path)
        .map_err(|error| TestbedError::io("find the place of", path, error))?;
    let mut names: VecDeque<OsString> = VecDeque::new();
    push_front(&mut names, &absolute);
    let mut way = Way::from_root()?;
    let mut links = 0;
    while let Some(name) = names.pop_front() {
        if name == ".." {
            way.back();
            continue;
        }
        let here = way.last();
        let parent_is_sticky = here.is_sticky;
        let failed = |error: Errno| TestbedError::io("open", &way.path.join(&name), error);
        let status = match fs::statat(&here.directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) if make => {
                match fs::mkdirat(&here.directory, &name, MODE_OF_PLACES) {
                    // Another program of ours may have been quicker; whose it is, is looked at.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => {
                        return Err(TestbedError::io("make", &way.path.join(&name), error));
                    }
                }
                fs::statat(&here.directory, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?
            }
            found => found.map_err(failed)?,
        };
        if FileType::from_raw_mode(status.st_mode) == FileType::Symlink {
            links += 1;
            if links > MOST_LINKS {
                return Err(failed(Errno::LOOP));
            }
            if parent_is_sticky && !is_trusted_owner(status.st_uid) {
                way.path.push(&name);
                return Err(way.untrusted(Untrust::Owner(status.st_uid)));
            }
            let target = fs::readlinkat(&here.directory, &name, Vec::new()).map_err(failed)?;
            let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
            if target.is_absolute() {
                way = Way::from_root()?;
            }
            push_front(&mut names, &target);
            continue;
        }
        let opened = fs::openat(&here.directory, &name, FLAGS_OF_WAY, Mode::empty());
        let in_the_way = || TestbedError::InTheWay {
            path: way.path.join(&name),
            reason: "is no directory",
        };
        let directory = opened.map_err(|error| match error {
            Errno::NOTDIR => in_the_way(),
            error => failed(error),
        })?;
        way.path.push(&name);
        way.pass(directory)?;
    }
    // Being sticky protects what is ours in a directory, and keeps nobody from making what should be ours first.
    if way.last().is_sticky {
        return Err(way.untrusted(Untrust::Sticky));
    }
    let directory = fs::openat(&way.last().directory, c".", FLAGS, Mode::empty())
        .map_err(|error| TestbedError::io("open", &way.path, error))?;
    Ok(HeldDirectory {
        directory,
        path: way.path,
    })
}

fn push_front(names: &mut VecDeque<OsString>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::Normal(name) => names.push_front(name.to_owned()),
            Component::ParentDir => names.push_front(OsStr::from_bytes(b"..").to_owned()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
}
