//! Folders and files that belong to this user alone.

use crate::files::walk::walk;
use crate::files::whole::replace;
use crate::files::{Refusal, kind};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, chmod, fchmod, fstat, mkdirat, openat, statat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const OTHERS: u32 = 0o077;

/// A folder that is held open, so that what is in it stays what is in it whatever becomes of the way there.
#[derive(Debug)]
pub struct OwnFolder {
    descriptor: OwnedFd,
    path: PathBuf,
    is_safe: bool,
}

impl OwnFolder {
    /// A folder to write in. It is made if it is missing, for this user alone.
    ///
    /// # Errors
    /// For root [`Refusal::Foreign`] or [`Refusal::Exposed`] where another user could lead it elsewhere; what the operating system says.
    pub fn make(path: &Path) -> io::Result<Self> {
        let path = or_here(path);
        if geteuid().is_root() {
            let (descriptor, path) = walk(path, Some(Mode::RWXU))?;
            return Ok(Self { descriptor, path, is_safe: true });
        }
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Self::look(path)
    }

    /// A folder to read in, which makes nothing.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn look(path: &Path) -> io::Result<Self> {
        let path = or_here(path);
        if geteuid().is_root() {
            match walk(path, None) {
                Ok((descriptor, path)) => {
                    return Ok(Self { descriptor, path, is_safe: true });
                }
                Err(error) if is_refusal(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let path = path.canonicalize()?;
        Ok(Self {
            descriptor: open_folder(CWD, path.as_os_str())?,
            path,
            is_safe: !geteuid().is_root(),
        })
    }

    /// Whether what is written by its path cannot be led elsewhere by another user: always, unless this is root in a folder of others.
    pub fn is_safe(&self) -> bool {
        self.is_safe
    }

    /// Where it is, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder in this one, made if it is missing, for this user alone whatever it was before.
    ///
    /// # Errors
    /// [`Refusal::Foreign`], a symbolic link in its place, or what else the operating system says.
    pub fn make_inside(&self, name: &OsStr) -> io::Result<Self> {
        match mkdirat(&self.descriptor, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let path = self.path.join(name);
        let descriptor = open_folder(&self.descriptor, name)?;
        let about = fstat(&descriptor)?;
        ours(&path, &about)?;
        if about.st_mode & OTHERS != 0 {
            allowed(fchmod(&descriptor, Mode::RWXU))?;
        }
        Ok(Self { descriptor, path, is_safe: self.is_safe })
    }

    /// A file in this folder for reading and writing, made if it is missing, for this user alone whatever it was before.
    ///
    /// # Errors
    /// [`Refusal::NotAFile`], [`Refusal::Foreign`], [`Refusal::SeveralNames`], or what the operating system says.
    pub fn open(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE;
        let (file, about) = self.open_as(name, flags)?;
        let path = self.path.join(name);
        ours(&path, &about)?;
        if about.st_nlink > 1 {
            return Err(Refusal::SeveralNames { path }.into());
        }
        if about.st_mode & OTHERS != 0 {
            allowed(fchmod(&file, Mode::RUSR | Mode::WUSR))?;
        }
        Ok(file.into())
    }

    /// A file in this folder for reading.
    ///
    /// # Errors
    /// [`Refusal::NotAFile`], or what the operating system says.
    pub fn open_to_read(&self, name: &OsStr) -> io::Result<File> {
        Ok(self.open_as(name, OFlags::RDONLY)?.0.into())
    }

    fn open_as(&self, name: &OsStr, flags: OFlags) -> io::Result<(OwnedFd, Stat)> {
        let path = || self.path.join(name);
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.descriptor, name, flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::LOOP) => return Err(not_a_file(&path(), FileType::Symlink).into()),
            Err(Errno::ISDIR) => return Err(not_a_file(&path(), FileType::Directory).into()),
            file => file?,
        };
        let about = fstat(&file)?;
        match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile => Ok((file, about)),
            found => Err(not_a_file(&path(), found).into()),
        }
    }

    /// What lies in this folder under a name, a link as a link; `None` where there is nothing.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn stat(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => Ok(Some(about)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the rights of others to a file in this folder, if there is one. The file is not opened, which would cost it the locks that this
    /// process has on it.
    ///
    /// # Errors
    /// [`Refusal::NotAFile`], [`Refusal::Foreign`], or what the operating system says.
    pub fn make_private(&self, name: &OsStr) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(&self.descriptor, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(()),
            file => file?,
        };
        let about = fstat(&file)?;
        let path = self.path.join(name);
        let found = FileType::from_raw_mode(about.st_mode);
        if found != FileType::RegularFile {
            return Err(not_a_file(&path, found).into());
        }
        ours(&path, &about)?;
        if about.st_mode & OTHERS != 0 {
            let file = format!("/proc/self/fd/{}", file.as_raw_fd());
            allowed(chmod(file, Mode::from_raw_mode(about.st_mode & 0o777 & !OTHERS)))?;
        }
        Ok(())
    }

    /// Writes a file in this folder as a whole or not at all, for this user alone. What lies there, a link as well, is replaced.
    ///
    /// # Errors
    /// What the operating system says; then there is nothing new.
    pub fn write_whole(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        replace(&self.descriptor, name, bytes, Mode::RUSR | Mode::WUSR)
    }
}

fn or_here(path: &Path) -> &Path {
    if path == Path::new("") { Path::new(".") } else { path }
}

fn is_refusal(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Refusal>())
}

fn open_folder(from: impl rustix::fd::AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(from, name, flags, Mode::empty())
}

fn not_a_file(path: &Path, found: FileType) -> Refusal {
    Refusal::NotAFile { path: path.to_owned(), kind: kind(found) }
}

fn ours(path: &Path, about: &Stat) -> Result<(), Refusal> {
    if about.st_uid == geteuid().as_raw() {
        return Ok(());
    }
    Err(Refusal::Foreign { path: path.to_owned(), owner: about.st_uid })
}

/// Filesystems without permissions, such as FAT, do not let even the owner change them.
fn allowed(changed: Result<(), Errno>) -> Result<(), Errno> {
    match changed {
        Err(Errno::PERM) => Ok(()),
        changed => changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    const SOMEBODY: u32 = 65_534;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    fn refusal<T>(result: io::Result<T>) -> String {
        let error = result.err().expect("it is refused");
        assert!(is_refusal(&error), "{error}");
        error.to_string()
    }

    #[test]
    fn what_is_made_is_for_its_owner_alone_and_what_was_not_becomes_so() {
        let place = tempfile::tempdir().unwrap();
        let folder = OwnFolder::make(&place.path().join("a/b")).unwrap();
        folder.open("file".as_ref()).unwrap();
        folder.write_whole("whole".as_ref(), b"1").unwrap();
        let inside = folder.make_inside("c".as_ref()).unwrap();
        assert_eq!(mode(&place.path().join("a")), 0o700);
        for (name, right) in [("", 0o700), ("c", 0o700), ("file", 0o600), ("whole", 0o600)] {
            assert_eq!(mode(&folder.path().join(name)), right, "{name}");
        }
        let set = |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode));
        for (name, wide) in [("c", 0o777), ("file", 0o644), ("whole", 0o666)] {
            set(&folder.path().join(name), wide).unwrap();
        }
        folder.make_inside("c".as_ref()).unwrap();
        folder.open("file".as_ref()).unwrap();
        folder.make_private("whole".as_ref()).unwrap();
        folder.make_private("nothing".as_ref()).unwrap();
        assert_eq!(mode(inside.path()), 0o700);
        assert_eq!(mode(&folder.path().join("file")), 0o600);
        assert_eq!(mode(&folder.path().join("whole")), 0o600);
    }

    #[test]
    fn no_link_in_a_folder_is_followed() {
        let place = tempfile::tempdir().unwrap();
        let elsewhere = place.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("precious"), "precious").unwrap();
        let folder = OwnFolder::make(&place.path().join("store")).unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink(&elsewhere, at("pages")).unwrap();
        symlink(elsewhere.join("new"), at("lock")).unwrap();
        symlink(elsewhere.join("precious"), at("page.html")).unwrap();
        fs::hard_link(elsewhere.join("precious"), at("second")).unwrap();
        assert!(folder.make_inside("pages".as_ref()).is_err());
        assert!(refusal(folder.open("lock".as_ref())).contains("is a symbolic link"));
        assert!(refusal(folder.open_to_read("page.html".as_ref())).contains("is a symbolic link"));
        assert!(refusal(folder.make_private("page.html".as_ref())).contains("is a symbolic link"));
        assert!(refusal(folder.open("second".as_ref())).contains("several names"));
        folder.write_whole("page.html".as_ref(), b"page").unwrap();
        assert_eq!(fs::read(at("page.html")).unwrap(), b"page");
        assert_eq!(fs::read(elsewhere.join("precious")).unwrap(), b"precious");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
    }

    /// As root, which tests need not be.
    #[test]
    fn root_makes_nothing_where_another_user_could_lead_it_elsewhere() {
        if !geteuid().is_root() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let set = |name: &str, mode| fs::set_permissions(at(name), PermissionsExt::from_mode(mode));
        for name in ["theirs", "theirs/below", "open", "sticky", "ours"] {
            fs::create_dir(at(name)).unwrap();
        }
        set("open", 0o777).unwrap();
        set("sticky", 0o1777).unwrap();
        fs::create_dir(at("sticky/ours")).unwrap();
        symlink(at("ours"), at("theirs/link")).unwrap();
        symlink(at("ours"), at("sticky/link")).unwrap();
        symlink("../ours", at("sticky/root-s-link")).unwrap();
        chown(at("theirs"), Some(SOMEBODY), None).unwrap();
        std::os::unix::fs::lchown(at("sticky/link"), Some(SOMEBODY), None).unwrap();

        for name in ["theirs", "theirs/below", "theirs/new", "theirs/link", "sticky/link"] {
            let refused = refusal(OwnFolder::make(&at(name)));
            assert!(refused.contains("belongs to user 65534"), "{name}: {refused}");
        }
        for name in ["open", "open/new", "sticky"] {
            let refused = refusal(OwnFolder::make(&at(name)));
            assert!(refused.contains("other users can write there"), "{name}: {refused}");
        }
        assert!(!at("theirs/new").exists() && !at("open/new").exists());

        for name in ["ours", "ours/a/../b", "sticky/ours", "sticky/new", "sticky/root-s-link"] {
            assert!(OwnFolder::make(&at(name)).unwrap().is_safe(), "{name}");
        }
        let linked = OwnFolder::make(&at("sticky/root-s-link")).unwrap();
        assert_eq!(linked.path(), at("ours").canonicalize().unwrap());
        // It may be looked at, and says what it is.
        assert!(!OwnFolder::look(&at("theirs")).unwrap().is_safe());
        assert!(OwnFolder::look(&at("ours")).unwrap().is_safe());
    }
}
