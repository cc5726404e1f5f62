//! The file that says that a directory is ours.

use super::held::{new_file_in, why_not_own, why_not_own_file};
use crate::testbed::TestbedError;
use rustix::fs::{self, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Name of the marker in its directory.
pub(crate) const MARKER_NAME: &str = ".plimsoll-data";

const MARKER_VERSION: u32 = 1;

/// Markers are a few hundred bytes long.
const LONGEST_MARKER_BYTES: u64 = 64 << 10;

/// What is written into a data directory before anything else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    plimsoll_data: u32,
    pub experiment: String,
    /// The run, in the words of the experiment.
    pub run: String,
    /// The process that made it, as it knew itself; in a container, others know it by another number.
    pub process: u32,
    /// When, in seconds since 1970.
    pub created_unix_s: u64,
    /// Random, so that no two markers are equal.
    token: String,
    /// Inode of the directory for which this marker was written.
    pub(crate) inode: u64,
}

/// Whether a file is in a data directory, or is one, wherever symbolic links on the way to it lead.
pub fn is_within_data_directory(file: &Path) -> bool {
    let found = file.canonicalize();
    found.is_ok_and(|file| {
        let mut folders = file.ancestors();
        folders.any(|folder| {
            let marker = folder.join(MARKER_NAME).symlink_metadata();
            marker.is_ok_and(|marker| marker.is_file())
        })
    })
}

/// Opens a file in a data directory that this user has made, for a process that may open no other. A user of the data can lead no step of its path elsewhere: it goes
/// over no symbolic link, and only a plain file is opened.
pub fn open_in_data_directory(file: &Path) -> std::io::Result<File> {
    let refused = || std::io::Error::other("only files of rigs are sent");
    let is_plain = |part: std::path::Component<'_>| {
        use std::path::Component::{Normal, RootDir};
        matches!(part, Normal(_) | RootDir)
    };
    if !file.is_absolute() || !file.components().all(is_plain) {
        return Err(refused());
    }
    let opened = fs::openat2(
        fs::CWD,
        file,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
        fs::ResolveFlags::NO_SYMLINKS | fs::ResolveFlags::NO_MAGICLINKS,
    )?;
    let about = fs::fstat(&opened)?;
    let us = rustix::process::geteuid().as_raw();
    let mut folders = file.ancestors().skip(1);
    let is_ours = folders.any(|folder| {
        let marker = fs::lstat(folder.join(MARKER_NAME));
        marker.is_ok_and(|marker| {
            FileType::from_raw_mode(marker.st_mode).is_file() && marker.st_uid == us
        })
    });
    if !is_ours || !FileType::from_raw_mode(about.st_mode).is_file() {
        return Err(refused());
    }
    Ok(opened.into())
}

/// What is known of an opened directory.
#[derive(Debug)]
pub(crate) enum Contents {
    /// It has our marker; the file is open.
    Marked(Marker, File),
    /// Nothing is in it, or a marker that its writer had no time to fill.
    Empty,
    /// It is not ours, as in "it …".
    Foreign(&'static str),
}

impl Marker {
    /// For the directory, which is open.
    pub(crate) fn new(
        directory: impl AsFd,
        experiment: &str,
        run: &str,
    ) -> rustix::io::Result<Self> {
        let mut token = [0_u8; 16];
        getrandom(&mut token, GetRandomFlags::empty())?;
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            plimsoll_data: MARKER_VERSION,
            experiment: experiment.to_owned(),
            run: run.to_owned(),
            process: std::process::id(),
            created_unix_s: since_1970.as_secs(),
            token: token.iter().map(|byte| format!("{byte:02x}")).collect(),
            inode: fs::fstat(directory)?.st_ino,
        })
    }

    /// Writes the marker to the disk, and returns it open and locked. There is none yet.
    pub(crate) fn write(&self, directory: impl AsFd, path: &Path) -> Result<File, TestbedError> {
        let failed = |error: std::io::Error| TestbedError::io("mark", path, error);
        let mut file = new_file_in(&directory, MARKER_NAME).map_err(failed)?;
        if !lock(&file, path)? {
            return Err(TestbedError::InUse { path: path.to_owned() });
        }
        let text = serde_json::to_string_pretty(self).expect("a marker has only plain fields");
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        fs::fsync(directory).map_err(|error| failed(error.into()))?;
        Ok(file)
    }
}

/// Whether the lock of an open marker could be had. It is held until the file is closed.
pub(crate) fn lock(marker: &File, path: &Path) -> Result<bool, TestbedError> {
    match fs::flock(marker, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(TestbedError::io("lock the marker of", path, error)),
    }
}

/// Looks at an open directory. Ours is one that only this user can change, with a marker that only this user can change.
pub(crate) fn examine(directory: impl AsFd, path: &Path) -> Result<Contents, TestbedError> {
    let failed = |error: std::io::Error| TestbedError::io("look into", path, error);
    let status = fs::fstat(&directory).map_err(|error| failed(error.into()))?;
    if let Some(reason) = why_not_own(&status) {
        return Ok(Contents::Foreign(reason));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match fs::openat(&directory, MARKER_NAME, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) if is_bare(&directory).map_err(|error| failed(error.into()))? => {
            return Ok(Contents::Empty);
        }
        Err(Errno::NOENT) => {
            return Ok(Contents::Foreign("has no marker of plimsoll and is not empty"));
        }
        Err(Errno::LOOP) => return Ok(Contents::Foreign("has a symbolic link for a marker")),
        Err(Errno::ACCESS) => return Ok(Contents::Foreign("has a marker of another user")),
        Err(error) => return Err(failed(error.into())),
    };
    let of_marker = fs::fstat(&file).map_err(|error| failed(error.into()))?;
    match FileType::from_raw_mode(of_marker.st_mode) {
        FileType::RegularFile => {}
        _ => return Ok(Contents::Foreign("has a marker that is no file")),
    }
    if why_not_own_file(&of_marker).is_some() {
        return Ok(Contents::Foreign("has a marker that another user could have written"));
    }
    let mut text = String::new();
    let read = (&file).take(LONGEST_MARKER_BYTES).read_to_string(&mut text);
    match read {
        Ok(0) if is_bare(&directory).map_err(|error| failed(error.into()))? => {
            return Ok(Contents::Empty);
        }
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => text.clear(),
        Err(error) => return Err(failed(error)),
    }
    Ok(match parse(&text) {
        Ok(marker) if marker.inode == status.st_ino => Contents::Marked(marker, file),
        Ok(_) => {
            Contents::Foreign("has a marker that was written for another directory, as copies do")
        }
        Err(reason) => Contents::Foreign(reason),
    })
}

fn parse(text: &str) -> Result<Marker, &'static str> {
    let broken = "has a marker that cannot be read";
    let value: serde_json::Value = serde_json::from_str(text).map_err(|_| broken)?;
    let version = value.get("plimsoll_data").and_then(serde_json::Value::as_u64);
    match version {
        Some(version) if version == u64::from(MARKER_VERSION) => {
            serde_json::from_value(value).map_err(|_| broken)
        }
        Some(_) => Err("has a marker of another version of plimsoll"),
        None => Err(broken),
    }
}

/// Whether nothing but perhaps a marker is in the directory.
fn is_bare(directory: impl AsFd) -> rustix::io::Result<bool> {
    for entry in fs::Dir::read_from(directory)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..")
            && entry.file_name().to_bytes() != MARKER_NAME.as_bytes()
        {
            return Ok(false);
        }
    }
    Ok(true)
}
