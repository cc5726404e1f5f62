//! Files that appear as a whole or not at all.

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Names that are tried before it is given up: left over by programs of the same number that were killed.
const TRIES: u32 = 100;

/// Writes a file that the user named, replacing an existing one, with the permissions that the user's umask leaves.
///
/// # Errors
/// What the operating system says; then there is nothing new.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole_by(path, |out| out.write_all(bytes))
}

/// The same of what is written piece by piece.
///
/// # Errors
/// As [`write_whole`], and what the content says.
pub fn write_whole_by(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let name = path.file_name().ok_or(Errno::ISDIR)?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(CWD, folder, flags, Mode::empty())?;
    replace_by(&folder, name, content, Mode::from_raw_mode(0o666))
}

/// Writes a new file beside the place and moves it there. What lies there, a link as well, is replaced and not written to.
pub(crate) fn replace(folder: impl AsFd, name: &OsStr, bytes: &[u8], mode: Mode) -> io::Result<()> {
    replace_by(folder, name, |out| out.write_all(bytes), mode)
}

fn replace_by(
    folder: impl AsFd,
    name: &OsStr,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    mode: Mode,
) -> io::Result<()> {
    let (part, file) = new_file(&folder, mode)?;
    let mut out = BufWriter::new(file);
    let written = content(&mut out)
        .and_then(|()| out.flush())
        .and_then(|()| Ok(renameat(&folder, &part, &folder, name)?));
    if written.is_err() {
        let _ = unlinkat(&folder, &part, AtFlags::empty());
    }
    written
}

fn new_file(folder: impl AsFd, mode: Mode) -> io::Result<(String, File)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut number = 0;
    loop {
        let name = format!(".plimsoll-{}-{number}.part", std::process::id());
        match openat(&folder, &name, flags, mode) {
            Ok(file) => return Ok((name, file.into())),
            Err(Errno::EXIST) if number < TRIES => number += 1,
            Err(error) => return Err(error.into()),
        }
    }
}
