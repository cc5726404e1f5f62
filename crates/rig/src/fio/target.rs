//! What fio works on: a block device, or files of its own in a directory.

use crate::fio::FioError;
use crate::testbed::{DataDirectory, Journal};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Why what is on a block device may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// It may not: the device is only read.
    ReadOnly,
    /// The program made the device itself.
    MadeHere,
    /// The user allowed to erase it, and the testbed has proved that it is unused.
    MayBeErased,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Target {
    /// A block device, from its beginning.
    Device {
        path: PathBuf,
        /// Whether it may be written to.
        permission: Permission,
    },
    /// A directory. fio's file lies in a marked folder in it, which is removed afterwards; after a crash `plimsoll clean` removes it.
    Directory { path: PathBuf },
}

impl Target {
    /// A directory, or a block device that is only read.
    pub fn read_only(path: &Path) -> Result<Self, FioError> {
        let metadata = std::fs::metadata(path).map_err(|source| FioError::Io {
            what: "look at",
            path: path.to_owned(),
            source,
        })?;
        let path = path.to_owned();
        if metadata.is_dir() {
            Ok(Self::Directory { path })
        } else if metadata.file_type().is_block_device() {
            Ok(Self::Device { path, permission: Permission::ReadOnly })
        } else {
            Err(FioError::NoTarget { path })
        }
    }

    /// The device or the directory.
    pub fn path(&self) -> &Path {
        match self {
            Self::Device { path, .. } | Self::Directory { path } => path,
        }
    }

    /// Whether jobs that write are welcome.
    pub fn takes_writes(&self) -> bool {
        !matches!(self, Self::Device { permission: Permission::ReadOnly, .. })
    }

    /// Bytes that fio can work on: the whole device, or half of what is free.
    pub(crate) fn room_bytes(&self) -> Result<u64, FioError> {
        let failed =
            |what| move |source| FioError::Io { what, path: self.path().to_owned(), source };
        match self {
            Self::Device { path, .. } => {
                let mut device = File::open(path).map_err(failed("open"))?;
                device.seek(SeekFrom::End(0)).map_err(failed("find the size of"))
            }
            Self::Directory { path } => {
                let status = rustix::fs::statvfs(path)
                    .map_err(|error| failed("ask for the free space of")(error.into()))?;
                Ok(status.f_bavail.saturating_mul(status.f_frsize) / 2)
            }
        }
    }
}

/// Bytes of a target that are used, of at most this many.
fn room(target: &Target, at_most_bytes: u64) -> Result<u64, FioError> {
    let size_bytes = target.room_bytes()?.min(at_most_bytes) / ALIGNMENT * ALIGNMENT;
    if size_bytes == 0 {
        return Err(FioError::TooSmall {
            path: target.path().to_owned(),
            size_bytes,
            need_bytes: ALIGNMENT,
        });
    }
    Ok(size_bytes)
}

/// A target on which fio can begin: with the file made ready, if it needs one.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) file: String,
    pub(crate) size_bytes: u64,
    directory: Option<DataDirectory>,
}

/// fio's blocks are aligned to this.
const ALIGNMENT: u64 = 1 << 20;

impl Ready {
    /// With at most this many bytes. What is made in a directory is in a journal in the state directory until it is removed.
    pub(crate) fn make(
        target: &Target,
        at_most_bytes: u64,
        state: &Path,
    ) -> Result<Self, FioError> {
        let Target::Directory { path } = target else {
            return Self::as_it_is(target, at_most_bytes);
        };
        let size_bytes = room(target, at_most_bytes)?;
        let what = "characterisation of a disk";
        let journal = Journal::open(state, what)?;
        let directory = DataDirectory::create(&journal, path, "fio", what)?;
        Ok(Self {
            file: directory.path().join("blocks").to_string_lossy().into_owned(),
            size_bytes,
            directory: Some(directory),
        })
    }

    /// A device, with at most this many bytes of it.
    pub(crate) fn as_it_is(device: &Target, at_most_bytes: u64) -> Result<Self, FioError> {
        Ok(Self {
            file: device.path().to_string_lossy().into_owned(),
            size_bytes: room(device, at_most_bytes)?,
            directory: None,
        })
    }

    /// Whether the file must be written before it can be read.
    pub(crate) fn is_new(&self) -> bool {
        self.directory.is_some()
    }

    /// Removes the file that was made.
    pub(crate) fn remove(self) -> Result<(), FioError> {
        if let Some(directory) = self.directory {
            directory.remove()?;
        }
        Ok(())
    }
}
