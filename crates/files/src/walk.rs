//! The way to a folder in which root may write.

use crate::Refusal;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, readlinkat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// As many as the kernel follows.
const MOST_LINKS: u32 = 40;

const STICKY: u32 = 0o1000;
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Goes to a folder step by step from `/`, and refuses to where a user who is not root could lead us: each folder on the way belongs to root
/// and can be written by root alone, or is sticky, where nobody can rename what is root's. The last one is not sticky either, because others
/// could make files in it. Returns the folder and its path without links; with `make`, folders that are missing are made, for root alone.
pub(crate) fn walk(path: &Path, make: bool) -> io::Result<(OwnedFd, PathBuf)> {
    let path = std::path::absolute(path)?;
    let mut here = step(CWD, "/".as_ref())?;
    let root = fstat(&here)?.st_uid;
    let mut shown = PathBuf::from("/");
    let mut mode = checked(&here, &shown, root)?;
    let mut steps: VecDeque<OsString> = names(&path).collect();
    let mut links = 0;
    while let Some(name) = steps.pop_front() {
        if name == ".." {
            here = step(&here, &name)?;
            shown.pop();
            mode = checked(&here, &shown, root)?;
            continue;
        }
        let there = shown.join(&name);
        let next = match step(&here, &name) {
            Err(Errno::NOENT) if make => {
                match mkdirat(&here, &name, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                step(&here, &name)?
            }
            next => next?,
        };
        let about = fstat(&next)?;
        if FileType::from_raw_mode(about.st_mode) == FileType::Symlink {
            if !is_root(about.st_uid, root) {
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
                mode = checked(&here, &shown, root)?;
            }
            for name in names(&target).collect::<Vec<_>>().into_iter().rev() {
                steps.push_front(name);
            }
            continue;
        }
        mode = checked(&next, &there, root)?;
        here = next;
        shown = there;
    }
    if mode & WRITABLE_BY_OTHERS != 0 {
        return Err(Refusal::Exposed { path: shown }.into());
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

/// Who owns `/` can do everything anyway: root, or nobody that is known here where a user namespace has no number for root.
fn is_root(owner: u32, root: u32) -> bool {
    owner == 0 || owner == root
}

fn foreign(path: &Path, owner: u32) -> io::Error {
    Refusal::Foreign {
        path: path.to_owned(),
        owner,
    }
    .into()
}

/// The mode of a folder on the way.
fn checked(folder: &OwnedFd, path: &Path, root: u32) -> io::Result<u32> {
    let about = fstat(folder)?;
    if FileType::from_raw_mode(about.st_mode) != FileType::Directory {
        return Err(Errno::NOTDIR.into());
    }
    if !is_root(about.st_uid, root) {
        return Err(foreign(path, about.st_uid));
    }
    if about.st_mode & WRITABLE_BY_OTHERS != 0 && about.st_mode & STICKY == 0 {
        return Err(Refusal::Exposed {
            path: path.to_owned(),
        }
        .into());
    }
    Ok(about.st_mode)
}
