//! The way to a folder that no other user can exchange for another.

use crate::files::Refusal;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, readlinkat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// As many as the kernel follows.
const MOST_LINKS: u32 = 40;

const STICKY: u32 = 0o1000;
const WRITABLE_BY_OTHERS: u32 = 0o002;
const WRITABLE_BY_GROUP: u32 = 0o020;

/// Goes to a folder step by step from `/`, and refuses to where another user could lead us: each folder and each link on the way belongs to
/// root or to us, and nobody else can write to the folder, or it is sticky, where nobody can rename what is ours. The last one is not sticky
/// either, because others could make files in it. Returns the folder and its path without links. Folders that are missing are made where
/// a mode for them is given.
///
/// # Errors
/// [`Refusal::Foreign`] or [`Refusal::Exposed`] with the folder or link on the way, or what the operating system says.
pub fn walk(path: &Path, missing: Option<Mode>) -> io::Result<(OwnedFd, PathBuf)> {
    let path = std::path::absolute(path)?;
    let mut here = step(CWD, "/".as_ref())?;
    let root = fstat(&here)?.st_uid;
    let mut shown = PathBuf::from("/");
    let mut is_shared = checked(&here, &shown, root)?;
    let mut steps: VecDeque<OsString> = names(&path).collect();
    let mut links = 0;
    while let Some(name) = steps.pop_front() {
        if name == ".." {
            here = step(&here, &name)?;
            shown.pop();
            is_shared = checked(&here, &shown, root)?;
            continue;
        }
        let there = shown.join(&name);
        let next = match step(&here, &name) {
            Err(Errno::NOENT) if missing.is_some() => {
                match mkdirat(&here, &name, missing.unwrap_or(Mode::RWXU)) {
                    // Another program of ours may have been quicker; the owner is checked.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                step(&here, &name)?
            }
            next => next?,
        };
        let about = fstat(&next)?;
        if FileType::from_raw_mode(about.st_mode) == FileType::Symlink {
            if !is_trusted(about.st_uid, root) {
                return Err(foreign(&there, about.st_uid));
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(Errno::LOOP.into());
            }
            let target = readlinkat(&next, "", Vec::new())?;
            let target = Path::new(OsStr::from_bytes(target.as_bytes())).to_owned();
            if target.is_absolute() {
                here = step(CWD, "/".as_ref())?;
                shown = PathBuf::from("/");
                is_shared = checked(&here, &shown, root)?;
            }
            for name in names(&target).collect::<Vec<_>>().into_iter().rev() {
                steps.push_front(name);
            }
            continue;
        }
        is_shared = checked(&next, &there, root)?;
        here = next;
        shown = there;
    }
    if is_shared {
        let is_sticky = true;
        let path = shown;
        return Err(Refusal::Exposed { path, is_sticky }.into());
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok((openat(&here, ".", flags, Mode::empty())?, shown))
}

fn step(from: impl rustix::fd::AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(from, name, flags, Mode::empty())
}

fn names(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

/// Ourselves and root. Who owns `/` can do everything anyway: root, or nobody that is known here where a user namespace has no number for root.
fn is_trusted(owner: u32, root: u32) -> bool {
    owner == 0 || owner == root || owner == geteuid().as_raw()
}

/// Whether anybody but its owner and root can write to it. A group that belongs to this user alone, as many systems give one to each, is no other.
pub fn is_open_to_others(about: &Stat) -> bool {
    let is_private_group = about.st_gid == geteuid().as_raw() && about.st_gid == getegid().as_raw();
    about.st_mode & WRITABLE_BY_OTHERS != 0
        || (about.st_mode & WRITABLE_BY_GROUP != 0 && !is_private_group)
}

fn foreign(path: &Path, owner: u32) -> io::Error {
    Refusal::Foreign { path: path.to_owned(), owner }.into()
}

/// Checks a folder on the way. Returns whether others can make files in it.
fn checked(folder: &OwnedFd, path: &Path, root: u32) -> io::Result<bool> {
    let about = fstat(folder)?;
    if FileType::from_raw_mode(about.st_mode) != FileType::Directory {
        return Err(Errno::NOTDIR.into());
    }
    if !is_trusted(about.st_uid, root) {
        return Err(foreign(path, about.st_uid));
    }
    let is_shared = is_open_to_others(&about);
    if is_shared && about.st_mode & STICKY == 0 {
        let is_sticky = false;
        let path = path.to_owned();
        return Err(Refusal::Exposed { path, is_sticky }.into());
    }
    Ok(is_shared)
}
