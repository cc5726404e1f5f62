//! What a trace says about itself before its first record.

use crate::error::TraceError;
use crate::request::OFFSET_LIMIT;
use plimsoll_record::DiskSpec;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The latest version of the file format, and the one that is written.
pub const VERSION: u32 = 1;

/// Bytes before the JSON of the head.
pub(crate) const PREFIX_BYTES: usize = 192;
/// Bytes of the prefix that never change once they are written, and that the checksum covers.
const FIXED_BYTES: usize = 64;
const CHECKSUM_AT: usize = 24;
const MAGIC: &[u8; 8] = b"PLMTRACE";

/// The disk whose requests these are, and which clock their times are of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    pub disk: DiskSpec,
    /// `CLOCK_MONOTONIC` when the trace began, nanoseconds.
    pub monotonic_start_ns: u64,
    /// UTC at the same moment, nanoseconds since 1970.
    pub utc_start_ns: u64,
    /// Which start of the kernel `CLOCK_MONOTONIC` counts from: `/proc/sys/kernel/random/boot_id`, where it can be read.
    pub boot_id: Option<String>,
}

impl Head {
    /// The head of a trace of this disk that begins now.
    pub fn new(disk: &DiskSpec) -> Self {
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .ok()
            .map(|id| id.trim().to_owned());
        Self {
            disk: disk.clone(),
            monotonic_start_ns: clock_ns(ClockId::Monotonic),
            utc_start_ns: clock_ns(ClockId::Realtime),
            boot_id,
        }
    }
}

/// `CLOCK_MONOTONIC` now, nanoseconds: the clock that requests, marks and maps are timed with.
pub fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The two forms of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A writer fills it, or filled it until it ended.
    Live = 1,
    Stored = 2,
}

/// The head with where everything lies in the file. Sizes in bytes from the beginning of the file; the live form has room for this many requests and marks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prefix {
    pub form: Form,
    pub head: Head,
    pub requests: u64,
    pub marks: u64,
    pub marks_at: u64,
    pub records_at: u64,
}

impl Prefix {
    /// The first bytes of the file: fixed part, room for the counters of the live form, JSON.
    pub fn encoded(&self) -> Result<Vec<u8>, TraceError> {
        let json = serde_json::to_vec(&self.head).map_err(TraceError::Json)?;
        let mut bytes = vec![0; PREFIX_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&(self.form as u32).to_le_bytes());
        let numbers = [
            (16, json.len() as u64),
            (32, self.requests),
            (40, self.marks),
            (48, self.marks_at),
            (56, self.records_at),
        ];
        for (at, number) in numbers {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        let checksum = checksum(&bytes[..FIXED_BYTES], &json);
        bytes[CHECKSUM_AT..CHECKSUM_AT + 8].copy_from_slice(&checksum.to_le_bytes());
        bytes.extend(json);
        Ok(bytes)
    }

    /// From the beginning of the file at this path.
    pub fn decoded(bytes: &[u8], path: &Path) -> Result<Self, TraceError> {
        if bytes.len() < 16 || &bytes[..8] != MAGIC {
            return Err(TraceError::NotATrace { path: path.to_owned() });
        }
        let version = number32(bytes, 8);
        if version > VERSION {
            return Err(TraceError::Newer { path: path.to_owned(), version, known: VERSION });
        }
        if bytes.len() < PREFIX_BYTES {
            return Err(TraceError::damaged(path, "it ends within its head"));
        }
        let json = usize::try_from(number64(bytes, 16))
            .ok()
            .and_then(|length| bytes.get(PREFIX_BYTES..PREFIX_BYTES.checked_add(length)?))
            .ok_or_else(|| TraceError::damaged(path, "it ends within its head"))?;
        let mut fixed = bytes[..FIXED_BYTES].to_vec();
        fixed[CHECKSUM_AT..CHECKSUM_AT + 8].fill(0);
        if checksum(&fixed, json) != number64(bytes, CHECKSUM_AT) {
            return Err(TraceError::damaged(path, "the checksum of its head is wrong"));
        }
        let form = match number32(bytes, 12) {
            1 => Form::Live,
            2 => Form::Stored,
            other => {
                let what = format!("it is of form {other}, which does not exist");
                return Err(TraceError::damaged(path, what));
            }
        };
        let head = serde_json::from_slice(json)
            .map_err(|error| TraceError::damaged(path, format!("its head says: {error}")))?;
        Ok(Self {
            form,
            head,
            requests: number64(bytes, 32),
            marks: number64(bytes, 40),
            marks_at: number64(bytes, 48),
            records_at: number64(bytes, 56),
        })
    }
}

/// Whether offsets on this disk fit into a record.
pub(crate) fn check_disk(disk: &DiskSpec) -> Result<(), TraceError> {
    if disk.capacity_bytes > OFFSET_LIMIT {
        return Err(TraceError::DiskTooLarge {
            capacity_bytes: disk.capacity_bytes,
            limit: OFFSET_LIMIT,
        });
    }
    Ok(())
}

fn number32(bytes: &[u8], at: usize) -> u32 {
    let four = bytes[at..at + 4].try_into().expect("four bytes were taken");
    u32::from_le_bytes(four)
}

fn number64(bytes: &[u8], at: usize) -> u64 {
    let eight = bytes[at..at + 8].try_into().expect("eight bytes were taken");
    u64::from_le_bytes(eight)
}

fn checksum(fixed: &[u8], json: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in fixed.iter().chain(json) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}
