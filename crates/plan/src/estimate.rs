//! Estimates of disk space and memory, before anything is stored.

use crate::{Arm, WorkingSet};
use plimsoll_record::{FilesystemKind, ServerSpec};
use plimsoll_workload::DataSpec;

/// Bytes on disk for a byte of a record: 1.2 kB for ten fields of 100 bytes, measured on WiredTiger with snappy.
const DISK_PER_BYTE: f64 = 1.15;
/// Bytes on disk that each record takes besides, mostly in the index.
const DISK_PER_RECORD: f64 = 40.0;
/// Checkpoints write new blocks before they free those that they replace: at worst everything exists twice.
const DISK_COPIES: f64 = 2.0;
/// Journal, metadata and the statistics of an engine.
const DISK_BESIDES: f64 = 256e6;

/// What an engine takes beside what it fills of its cache once it works, about, bytes: its own memory, its program, and what the kernel keeps for it.
pub const MEMORY_OF_ENGINE: u64 = 112 << 20;
/// What an embedded engine needs to start besides its cache, bytes.
pub const MEMORY_BESIDES_CACHE: u64 = 32 << 20;
/// What a server needs besides the cache of its engine, bytes: mongod 6.0.5 with 16 connections held 165 MB more than was in its cache.
pub const MEMORY_BESIDES_CACHE_OF_SERVER: u64 = 192 << 20;

/// Copies of an arm's data.
#[derive(Clone, Copy, Debug)]
pub struct Copies {
    /// One for each member of a server.
    pub number: f64,
    /// The log of changes that each keeps besides.
    log_bytes: f64,
}

impl Copies {
    /// The copies of the data under a server, or under an embedded engine.
    pub fn of(server: Option<&ServerSpec>) -> Self {
        Self {
            number: server.map_or(1.0, |server| f64::from(server.members)),
            log_bytes: server.map_or(0.0, |server| server.log_bytes as f64),
        }
    }
}

/// Mean bytes of all records, before the engine adds or compresses anything.
pub fn data_bytes(data: &DataSpec) -> f64 {
    data.mean_record_bytes() * data.key_count() as f64
}

/// Bytes on disk of this many records.
pub fn stored_bytes(data: &DataSpec, records: f64) -> f64 {
    records * (data.mean_record_bytes() * DISK_PER_BYTE + DISK_PER_RECORD)
}

/// Bytes on disk after the load. A working set has its share of the cache, whatever was measured: a disk
/// that is made for it must not differ from one measurement to the next.
pub fn loaded_bytes(data: &DataSpec, working_set: Option<&WorkingSet>) -> f64 {
    match working_set {
        Some(set) => set.share * set.usable_cache_bytes as f64,
        None => stored_bytes(data, data.key_count() as f64),
    }
}

/// The same as [`loaded_bytes`], for the data of one arm.
pub fn loaded_bytes_of(arm: &Arm) -> f64 {
    loaded_bytes(&arm.data, arm.working_set.as_ref())
}

/// The least capacity for this much data: checkpoints and the journal need room beside it, and each filesystem some for itself.
pub fn least_capacity(loaded_bytes: f64, copies: Copies, filesystem: FilesystemKind) -> u64 {
    let each = loaded_bytes * 1.25 + copies.log_bytes.min(loaded_bytes);
    with_filesystem(each * copies.number, filesystem) as u64
}

/// A capacity whose filesystem has this much room for data. What stock mkfs takes for itself: XFS its journal and little of the rest; EXT4 its journal, 1.6 %
/// for inodes, and 5 % that only root may fill, which a server is not; Btrfs metadata twice, and chunks that it cannot share between data and metadata.
fn with_filesystem(room_bytes: f64, filesystem: FilesystemKind) -> f64 {
    const MIB: f64 = (1 << 20) as f64;
    let (own, share) = match filesystem {
        FilesystemKind::Xfs => (300.0 * MIB, 0.02),
        FilesystemKind::Ext4 => (64.0 * MIB, 0.08),
        FilesystemKind::Btrfs => (256.0 * MIB, 0.10),
    };
    own + room_bytes / (1.0 - share)
}

/// Bytes on disk at the worst moment, where this many are stored at the end.
pub fn most_held(stored_bytes: f64, copies: Copies) -> f64 {
    (stored_bytes * DISK_COPIES + DISK_BESIDES + copies.log_bytes) * copies.number
}

/// A capacity that suffices for everything that is written beside the data: four times the loaded bytes, and the worst moment
/// when records were inserted as well, with what the greediest filesystem takes for itself, so that arms
/// with different filesystems have disks of one size; at least 2 GiB, in whole GiB.
pub fn ample_capacity(loaded_bytes: f64, inserted_bytes: f64, copies: Copies) -> u64 {
    const GIB: u64 = 1 << 30;
    let room =
        (4.0 * loaded_bytes * copies.number).max(most_held(loaded_bytes + inserted_bytes, copies));
    let ample = with_filesystem(room, FilesystemKind::Btrfs);
    let whole = (ample / GIB as f64).ceil() as u64;
    whole.max(2).saturating_mul(GIB)
}

/// Warm-up and measured part together, nanoseconds.
pub fn window_ns(warm_up_ns: u64, duration_ns: u64) -> u64 {
    warm_up_ns.saturating_add(duration_ns)
}
