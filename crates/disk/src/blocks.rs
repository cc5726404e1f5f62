//! Where the blocks of a disk are kept: in memory or in a sparse file.

use crate::DiskError;
use plimsoll_record::{Backing, DiskSpec};
use rustix::fs::{FallocateFlags, MemfdFlags, SeekFrom, fallocate, memfd_create, seek};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Alignment of direct I/O, bytes.
pub(crate) const ALIGNMENT: usize = 4096;

/// The blocks of a disk. Blocks that were never written, or were discarded, take no room and read as zeros.
pub(crate) struct Blocks {
    file: File,
    /// The same past the page cache of the host, so that what is measured is this disk and not that cache.
    direct: Option<File>,
    pub(crate) backing: Backing,
}

impl Blocks {
    /// Makes them: in memory, or in a new file at this path.
    pub(crate) fn create(spec: &DiskSpec, path: Option<&Path>) -> Result<Self, DiskError> {
        let place = || match (spec.backing, path) {
            (Backing::File, Some(path)) => path.display().to_string(),
            _ => "memory".to_owned(),
        };
        let failed = |source| DiskError::Backing { place: place(), source };
        let (file, direct) = match (spec.backing, path) {
            (Backing::Memory, _) => (in_memory().map_err(failed)?, None),
            (Backing::File, Some(path)) => {
                let file = OpenOptions::new()
                    .read(true)
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(path)
                    .map_err(failed)?;
                // Some filesystems, tmpfs among them, know no direct I/O.
                let direct = OpenOptions::new()
                    .read(true)
                    .write(true)
                    .custom_flags(libc::O_DIRECT)
                    .open(path)
                    .ok();
                (file, direct)
            }
            (Backing::File, None) => {
                return Err(DiskError::Order("a disk in a file without a file".into()));
            }
        };
        file.set_len(spec.capacity_bytes).map_err(failed)?;
        Ok(Self { file, direct, backing: spec.backing })
    }

    pub(crate) fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        self.file_for(into.as_ptr(), into.len(), offset).read_exact_at(into, offset)
    }

    pub(crate) fn write(&self, data: &[u8], offset: u64) -> io::Result<()> {
        self.file_for(data.as_ptr(), data.len(), offset).write_all_at(data, offset)
    }

    /// Brings what was written to the host's disk.
    pub(crate) fn flush(&self) -> io::Result<()> {
        match self.direct {
            Some(_) => self.file.sync_data(),
            None => Ok(()),
        }
    }

    /// Gives blocks back; they read as zeros from now on.
    pub(crate) fn discard(&self, offset: u64, length: u64) -> io::Result<()> {
        let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(fallocate(&self.file, mode, offset, length)?)
    }

    /// The first blocks from here on that were written and not discarded since.
    pub(crate) fn next_data(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        match seek(&self.file, SeekFrom::Data(from)) {
            Ok(begin) => Ok(Some(begin..seek(&self.file, SeekFrom::Hole(begin))?)),
            Err(Errno::NXIO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The file through which a request of the host's disk goes: past the page cache where memory, length and offset are aligned.
    pub(crate) fn file_for(&self, memory: *const u8, length: usize, offset: u64) -> &File {
        let aligned = |number: usize| number.is_multiple_of(ALIGNMENT);
        match &self.direct {
            Some(direct)
                if aligned(memory as usize) && aligned(length) && aligned(offset as usize) =>
            {
                direct
            }
            _ => &self.file,
        }
    }
}

fn in_memory() -> io::Result<File> {
    Ok(memfd_create("plimsoll-disk", MemfdFlags::CLOEXEC)?.into())
}

/// Memory for a request, aligned for direct I/O. It grows and is kept.
#[derive(Default)]
pub(crate) struct Buffer {
    bytes: Vec<Page>,
}

#[derive(Clone, Copy)]
#[repr(align(4096))]
struct Page(#[allow(dead_code, reason = "seen as bytes")] [u8; ALIGNMENT]);

impl Buffer {
    /// Its first bytes; what they hold is left from before.
    pub(crate) fn of_length(&mut self, length: usize) -> &mut [u8] {
        let pages = length.div_ceil(ALIGNMENT);
        if self.bytes.len() < pages {
            self.bytes.resize(pages, Page([0; ALIGNMENT]));
        }
        // SAFETY: there are at least this many initialised bytes, and bytes have no alignment of their own.
        unsafe { std::slice::from_raw_parts_mut(self.bytes.as_mut_ptr().cast(), length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_discarded_is_zero() {
        let folder = tempfile::tempdir().unwrap();
        for (name, backing) in [("memory", Backing::Memory), ("file", Backing::File)] {
            let spec = DiskSpec { backing, ..DiskSpec::unlimited(1 << 20) };
            let blocks = Blocks::create(&spec, Some(&folder.path().join(name))).unwrap();
            let (mut written, mut read) = (Buffer::default(), Buffer::default());
            // 512 bytes are no whole page.
            for (offset, data) in [(8192, vec![1; 8192]), (512, vec![2; 512])] {
                let from = written.of_length(data.len());
                from.copy_from_slice(&data);
                blocks.write(from, offset).unwrap();
                let into = read.of_length(data.len());
                blocks.read(into, offset).unwrap();
                assert_eq!(into, data, "{name}");
            }
            blocks.flush().unwrap();
            blocks.discard(8192, 4096).unwrap();
            let into = read.of_length(8192);
            blocks.read(into, 8192).unwrap();
            assert_eq!((into[4095], into[4096]), (0, 1), "{name}");
        }
    }

    #[test]
    fn a_file_that_is_there_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("precious");
        std::fs::write(&path, "precious").unwrap();
        let spec = DiskSpec { backing: Backing::File, ..DiskSpec::unlimited(1 << 20) };
        assert!(Blocks::create(&spec, Some(&path)).is_err());
        assert_eq!(std::fs::read_to_string(path).unwrap(), "precious");
    }
}
