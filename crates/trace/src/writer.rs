//! Hot path: recording a request allocates nothing, takes no lock, makes no system call.
//!
//! A record's place is claimed by counting, and written under its sequence lock (`slot`).

use crate::error::TraceError;
use crate::head::{Form, Head, PREFIX_BYTES, Prefix, check_disk};
use crate::map::Words;
use crate::request::{RECORD_BYTES, RECORD_WORDS, Request};
use crate::slot;
use rustix::fs::{FallocateFlags, fallocate};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Marks that a trace has room for.
pub const MARKS: u64 = 4096;
/// Bytes of a mark's label; a longer one is cut.
pub const LABEL_BYTES: usize = 240;

pub(crate) const MARK_BYTES: usize = 16 + LABEL_BYTES;
pub(crate) const MARK_WORDS: usize = MARK_BYTES / 8;
/// Set in the second word of a mark that is whole; the rest of the word is the label's length.
pub(crate) const MARK_WHOLE: u64 = 1 << 63;
/// Word of the number of requests that were ever recorded.
pub(crate) const REQUESTS_CLAIMED: usize = 8;
/// Word of the number of marks that were ever set; in another cache line.
pub(crate) const MARKS_CLAIMED: usize = 16;

const PAGE_BYTES: u64 = 4096;

/// Records the last requests in a file, up to its capacity.
///
/// The file is as good as its last whole record at any moment: nothing has to be closed. Lay it into memory (`/dev/shm`, or another `tmpfs`):
/// on a disk its pages would be written back while they are written to, and a process that serves a disk must not wait for another.
pub struct Writer {
    words: Words,
    /// Word of the first record.
    records_at: usize,
    capacity: u64,
    /// Word of the first mark.
    marks_at: usize,
}

impl Writer {
    /// A new file with room for this many requests (32 bytes each), all of it allocated and in memory.
    pub fn create(path: &Path, capacity_requests: u64, head: &Head) -> Result<Self, TraceError> {
        if capacity_requests == 0 {
            return Err(TraceError::Empty);
        }
        check_disk(&head.disk)?;
        let mut prefix = Prefix {
            form: Form::Live,
            head: head.clone(),
            requests: capacity_requests,
            marks: MARKS,
            marks_at: 0,
            records_at: 0,
        };
        let head_bytes = prefix.encoded()?.len() as u64;
        prefix.marks_at = head_bytes.next_multiple_of(PAGE_BYTES);
        prefix.records_at = prefix.marks_at + MARKS * MARK_BYTES as u64;
        let length = capacity_requests
            .checked_mul(RECORD_BYTES as u64)
            .and_then(|records| records.checked_add(prefix.records_at))
            .filter(|length| i64::try_from(*length).is_ok())
            .ok_or_else(|| TraceError::Io {
                what: "make room for",
                path: path.to_owned(),
                source: std::io::ErrorKind::FileTooLarge.into(),
            })?;

        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(TraceError::io("make", path))?;
        let made = fallocate(&file, FallocateFlags::empty(), 0, length)
            .map_err(|error| TraceError::io("make room for", path)(error.into()))
            .and_then(|()| {
                let words = Words::writable(&file, path)?;
                file.write_all(&prefix.encoded()?).map_err(TraceError::io("write", path))?;
                Ok(words)
            });
        let words = match made {
            Ok(words) => words,
            Err(error) => {
                // The unfinished file is useless, and may be what fills the disk.
                let _ = std::fs::remove_file(path);
                return Err(error);
            }
        };
        Ok(Self {
            words,
            records_at: prefix.records_at as usize / 8,
            capacity: capacity_requests,
            marks_at: prefix.marks_at as usize / 8,
        })
    }

    /// Records a request. From any thread; a few tens of nanoseconds.
    #[inline]
    pub fn record(&self, request: &Request) {
        let words = self.words.all();
        let index = words[REQUESTS_CLAIMED].fetch_add(1, Ordering::Relaxed);
        let lap = index / self.capacity;
        let slot = (index % self.capacity) as usize;
        let at = self.records_at + slot * RECORD_WORDS;
        let record = &words[at..at + RECORD_WORDS];
        let packed = request.packed(lap);

        slot::write(record, packed, lap);
    }

    /// Marks a moment (nanoseconds of `CLOCK_MONOTONIC`), such as `block 0, arm san, point 3 measuring`. Labels are cut after [`LABEL_BYTES`];
    /// after [`MARKS`] of them further ones are only counted.
    pub fn mark(&self, time_ns: u64, label: &str) {
        let words = self.words.all();
        let index = words[MARKS_CLAIMED].fetch_add(1, Ordering::Relaxed);
        if index >= MARKS {
            return;
        }
        let at = self.marks_at + index as usize * MARK_WORDS;
        let mark = &words[at..at + MARK_WORDS];
        let mut end = label.len().min(LABEL_BYTES);
        while !label.is_char_boundary(end) {
            end -= 1;
        }
        let label = &label.as_bytes()[..end];
        mark[0].store(time_ns, Ordering::Relaxed);
        for (word, bytes) in mark[2..].iter().zip(label.chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(eight), Ordering::Relaxed);
        }
        mark[1].store(MARK_WHOLE | label.len() as u64, Ordering::Release);
    }

    /// Requests that were recorded so far, those that were overwritten included.
    pub fn recorded(&self) -> u64 {
        self.words.all()[REQUESTS_CLAIMED].load(Ordering::Relaxed)
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Writer>();
    assert!(MARKS_CLAIMED * 8 < PREFIX_BYTES && MARK_BYTES.is_multiple_of(8));
    assert!(size_of::<AtomicU64>() == 8);
};
