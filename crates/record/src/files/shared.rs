//! Folders in which files are published: others may read them.

use crate::files::walk::{is_open_to_others, walk};
use crate::files::whole::replace;
use crate::files::{Refusal, kind};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const READABLE: Mode = Mode::from_raw_mode(0o755);

/// A folder that is held open. Names in it are resolved from there, and no symbolic link is followed.
#[derive(Debug)]
pub struct SharedFolder {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl SharedFolder {
    /// Opens a folder to write in, and makes it if it is missing.
    ///
    /// # Errors
    /// For root [`Refusal::Foreign`] or [`Refusal::Exposed`] where another user could lead it elsewhere; what the operating system says.
    pub fn make(path: &Path) -> io::Result<Self> {
        if geteuid().is_root() {
            let (descriptor, path) = walk(path, Some(READABLE))?;
            return Ok(Self { descriptor, path });
        }
        std::fs::create_dir_all(path)?;
        let path = path.canonicalize()?;
        let descriptor = open_folder(CWD, path.as_os_str())?;
        Ok(Self { descriptor, path })
    }

    /// Where it is, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder in this one, and makes it if it is missing.
    ///
    /// # Errors
    /// [`Refusal::Exposed`] for root where others can write in it, a symbolic link in its place, or what else the operating system says.
    pub fn inside(&self, name: &OsStr) -> io::Result<Self> {
        match mkdirat(&self.descriptor, name, READABLE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.existing_inside(name)
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// As [`Self::inside`].
    pub fn existing_inside(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.path.join(name);
        let descriptor = open_folder(&self.descriptor, name)?;
        let about = fstat(&descriptor)?;
        let is_foreign = about.st_uid != geteuid().as_raw();
        if geteuid().is_root() && (is_foreign || is_open_to_others(&about)) {
            let is_sticky = false;
            return Err(Refusal::Exposed { path, is_sticky }.into());
        }
        Ok(Self { descriptor, path })
    }

    /// Reads a whole file of at most `most` bytes in this folder; `None` if there is none of this name.
    ///
    /// # Errors
    /// [`Refusal::NotAFile`], [`Refusal::TooLarge`], or what the operating system says.
    pub fn read(&self, name: &OsStr, most: u64) -> io::Result<Option<Vec<u8>>> {
        let opened = self.open(name, OFlags::RDONLY)?;
        opened.map(|(file, _)| read_within(file, most)).transpose()
    }

    /// As [`Self::read`], of a file that this user made and that has no other name.
    ///
    /// # Errors
    /// As [`Self::read`]; [`Refusal::Foreign`], [`Refusal::SeveralNames`].
    pub fn read_own(&self, name: &OsStr, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some((file, about)) = self.open(name, OFlags::RDONLY)? else {
            return Ok(None);
        };
        self.own(name, &about)?;
        read_within(file, most).map(Some)
    }

    /// Adds a line to a file that this user made, or makes it.
    ///
    /// # Errors
    /// As [`Self::read_own`].
    pub fn append(&self, name: &OsStr, line: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        if let Some((mut file, about)) = self.open(name, flags)? {
            self.own(name, &about)?;
            writeln!(file, "{line}")?;
        }
        Ok(())
    }

    /// Writes a file as a whole or not at all, with the permissions that the user's umask leaves. What lies there, a link as well, is replaced.
    ///
    /// # Errors
    /// What the operating system says; then there is nothing new.
    pub fn write_whole(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        replace(&self.descriptor, name, bytes, Mode::from_raw_mode(0o666))
    }

    /// Removes a file, or a link as such.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.descriptor, name, AtFlags::empty())?)
    }

    fn open(&self, name: &OsStr, flags: OFlags) -> io::Result<Option<(File, Stat)>> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        let not_a_file =
            |found| Refusal::NotAFile { path: self.path.join(name), kind: kind(found) };
        let file = match openat(&self.descriptor, name, flags, mode) {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(not_a_file(FileType::Symlink).into()),
            file => file?,
        };
        let about = fstat(&file)?;
        match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile => Ok(Some((file.into(), about))),
            found => Err(not_a_file(found).into()),
        }
    }

    fn own(&self, name: &OsStr, about: &Stat) -> io::Result<()> {
        let path = self.path.join(name);
        if about.st_uid != geteuid().as_raw() {
            let owner = about.st_uid;
            return Err(Refusal::Foreign { path, owner }.into());
        }
        if about.st_nlink > 1 {
            return Err(Refusal::SeveralNames { path }.into());
        }
        Ok(())
    }
}

fn read_within(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Refusal::TooLarge { most }.into());
    }
    Ok(bytes)
}

fn open_folder(from: impl rustix::fd::AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(from, name, flags, Mode::empty())
}
