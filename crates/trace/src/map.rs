//! The live form of a trace as words of memory that its writer and its readers share. The only `unsafe` of the recording path is here.

use crate::error::TraceError;
use memmap2::{MmapOptions, MmapRaw};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(target_endian = "big")]
compile_error!("traces are little endian, and their words are written as this machine has them");

/// Words (of eight bytes) per page, or a divisor of it.
const PAGE_WORDS: usize = 512;

pub(crate) struct Words {
    map: MmapRaw,
}

impl Words {
    /// All of a file that is still nothing but zeros, for writing; every page is written to, so that no later store waits for one. (Mapping with
    /// `MAP_POPULATE` only reads pages of a shared map: the first store to each then costs some microseconds.)
    pub fn writable(file: &File, path: &Path) -> Result<Self, TraceError> {
        let map = MmapOptions::new().map_raw(file).map_err(TraceError::io("map", path))?;
        let words = Self { map };
        for word in words.all().iter().step_by(PAGE_WORDS) {
            word.store(0, Ordering::Relaxed);
        }
        Ok(words)
    }

    /// All of a file, for loads alone.
    pub fn readable(file: &File, path: &Path) -> Result<Self, TraceError> {
        let map =
            MmapOptions::new().map_raw_read_only(file).map_err(TraceError::io("map", path))?;
        Ok(Self { map })
    }

    #[inline]
    pub fn all(&self) -> &[AtomicU64] {
        let words = self.map.len() / 8;
        // SAFETY: The map begins at a page, thus aligned, and lives as long as `self`; it is `words` words long; any bits are a u64. This
        // process reaches it through these atomics only, and other processes' stores of the same kind are, on the machines that Linux runs
        // on, as those of a thread. Readers only load, which is allowed of memory that is read-only.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast::<AtomicU64>(), words) }
    }
}
