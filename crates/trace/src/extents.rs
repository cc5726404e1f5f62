//! Where the files of a filesystem lie on its disk.

use crate::btrfs::Chunks;
use crate::error::TraceError;
use crate::head::monotonic_ns;
use fiemap::{Fiemap, FiemapExtent, FiemapExtentFlags};
use rustix::fs::{fstatfs, syncfs};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const BTRFS: u64 = 0x9123_683e;

/// Part of a file that lies in one piece on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Offset in the file, bytes.
    pub logical: u64,
    /// Offset on the disk, bytes. Without meaning unless [`Extent::is_placed`].
    pub physical: u64,
    pub length: u64,
    /// As the kernel gives them, see [`Extent::UNWRITTEN`] and the others.
    pub flags: u32,
}

impl Extent {
    /// Flag: it has no place on the disk yet.
    pub const DELAYED: u32 = FiemapExtentFlags::DELALLOC.bits();
    /// Flag: it lies within metadata.
    pub const INLINE: u32 = FiemapExtentFlags::DATA_INLINE.bits();
    /// Flag: it has a place, but reads as zeros.
    pub const UNWRITTEN: u32 = FiemapExtentFlags::UNWRITTEN.bits();
    /// Flag: other files, or other parts of this one, lie there, too.
    pub const SHARED: u32 = FiemapExtentFlags::SHARED.bits();
    /// Flag: what lies there is compressed or encrypted.
    pub const ENCODED: u32 = FiemapExtentFlags::ENCODED.bits();

    const UNPLACED: u32 = Self::DELAYED
        | Self::INLINE
        | Self::ENCODED
        | FiemapExtentFlags::UNKNOWN.bits()
        | FiemapExtentFlags::DATA_TAIL.bits();

    /// Whether byte for byte of the file corresponds to byte for byte of the disk from `physical` on.
    pub fn is_placed(&self) -> bool {
        self.flags & Self::UNPLACED == 0
    }

    fn of(found: FiemapExtent) -> Self {
        Self {
            logical: found.fe_logical,
            physical: found.fe_physical,
            length: found.fe_length,
            flags: found.fe_flags.bits() & !FiemapExtentFlags::LAST.bits(),
        }
    }
}

/// Why it is not known where a file, or a part of it, lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unmapped {
    /// Parts have no place on the disk yet, in spite of the sync before: the file was being written to.
    Delayed,
    /// Parts are compressed or encrypted.
    Encoded,
    /// The btrfs filesystem lies on several devices.
    SeveralDevices,
    /// The btrfs filesystem spreads the file as RAID does.
    Spread,
    /// The btrfs filesystem moved the file while the map was taken.
    Moved,
}

/// A regular file and its extents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedFile {
    /// Relative to the mount point. What is not UTF-8 is replaced.
    pub path: String,
    pub size: u64,
    /// In order of their offset in the file; holes have none.
    pub extents: Vec<Extent>,
    /// Set where `extents` does not tell all.
    pub unmapped: Option<Unmapped>,
}

/// Where every regular file below a mount point lay on the disk at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtentMap {
    /// Nanoseconds of `CLOCK_MONOTONIC`, when it was complete.
    pub time_ns: u64,
    pub files: Vec<MappedFile>,
}

impl ExtentMap {
    /// Maps the files on a filesystem that lies on one whole device, without partitions. Writes out dirty data first, because data has no place before.
    ///
    /// A file with several names is listed by the first that is found; what vanishes meanwhile, and what lies on other filesystems (or
    /// subvolumes of btrfs) that are mounted below, is left out.
    ///
    /// On btrfs, what the kernel calls physical is an address of the filesystem's own; it is translated by its chunk tree, for which root is needed.
    pub fn take(mount_point: &Path) -> Result<Self, TraceError> {
        let root = File::open(mount_point).map_err(TraceError::io("open", mount_point))?;
        syncfs(&root).map_err(|error| TraceError::io("sync", mount_point)(error.into()))?;
        let about = fstatfs(&root).map_err(|error| {
            TraceError::io("look at the filesystem of", mount_point)(error.into())
        })?;
        let chunks = if about.f_type as u64 == BTRFS {
            let chunks =
                Chunks::of(&root).map_err(TraceError::io("read the chunk tree of", mount_point))?;
            Some(chunks)
        } else {
            None
        };
        let device = root.metadata().map_err(TraceError::io("look at", mount_point))?.dev();
        let mut walk = Walk {
            mount_point,
            device,
            chunks,
            with_several_names: HashSet::new(),
            files: Vec::new(),
        };
        walk.folder(mount_point)?;
        let mut files = walk.files;
        files.sort_by(|one: &MappedFile, other| one.path.cmp(&other.path));
        Ok(Self { time_ns: monotonic_ns(), files })
    }

    /// Whether every file's place is known.
    pub fn is_complete(&self) -> bool {
        self.files.iter().all(|file| file.unmapped.is_none())
    }
}

struct Walk<'a> {
    mount_point: &'a Path,
    device: u64,
    chunks: Option<Chunks>,
    with_several_names: HashSet<u64>,
    files: Vec<MappedFile>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path) -> Result<(), TraceError> {
        let failed = || TraceError::io("list", folder);
        let Some(entries) = present(fs::read_dir(folder)).map_err(failed())? else {
            return Ok(());
        };
        for entry in entries {
            let entry = entry.map_err(failed())?;
            let path = entry.path();
            let Some(about) =
                present(fs::symlink_metadata(&path)).map_err(TraceError::io("look at", &path))?
            else {
                continue;
            };
            if about.dev() != self.device {
                continue;
            }
            if about.is_dir() {
                self.folder(&path)?;
            } else if about.is_file() {
                self.file(&path)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), TraceError> {
        let Some(file) =
            present(plimsoll_record::files::open(path)).map_err(TraceError::io("open", path))?
        else {
            return Ok(());
        };
        let about = file.metadata().map_err(TraceError::io("look at", path))?;
        if about.nlink() > 1 && !self.with_several_names.insert(about.ino()) {
            return Ok(());
        }
        let mut mapped = MappedFile {
            path: path
                .strip_prefix(self.mount_point)
                .expect("the walk begins at the mount point")
                .to_string_lossy()
                .into_owned(),
            size: about.len(),
            extents: Vec::new(),
            unmapped: None,
        };
        for found in Fiemap::new(&file) {
            let extent = Extent::of(found.map_err(|error| self.no_extents(path, error))?);
            mapped.add(extent, self.chunks.as_ref());
        }
        self.files.push(mapped);
        Ok(())
    }

    fn no_extents(&self, path: &Path, error: io::Error) -> TraceError {
        if error.raw_os_error() == Some(Errno::OPNOTSUPP.raw_os_error()) {
            return TraceError::NoExtents { path: self.mount_point.to_owned() };
        }
        TraceError::io("find the extents of", path)(error)
    }
}

impl MappedFile {
    fn add(&mut self, extent: Extent, chunks: Option<&Chunks>) {
        if !extent.is_placed() {
            if extent.flags & Extent::INLINE == 0 {
                self.unmapped = Some(match extent.flags & Extent::ENCODED {
                    0 => Unmapped::Delayed,
                    _ => Unmapped::Encoded,
                });
            }
            self.extents.push(extent);
            return;
        }
        match chunks.map(|chunks| chunks.translate(extent)) {
            None => self.extents.push(extent),
            Some(Ok(translated)) => self.extents.extend(translated),
            Some(Err(reason)) => self.unmapped = Some(reason),
        }
    }
}

/// Without what vanished in the meantime.
fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(there) => Ok(Some(there)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
