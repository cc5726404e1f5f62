//! Power cuts: which are to happen, what a disk kept, and what clients lost.

use serde::{Deserialize, Serialize};

/// Which power cuts are to happen at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCutSpec {
    /// Together with that of the run it decides what the disk keeps of the writes that no flush has covered, and when each of several cuts happens.
    pub seed: u64,
    /// Size of the parts that are kept or lost as a whole, bytes: 512 or 4096.
    pub sector_bytes: u64,
    /// One cut in each interval of this length, nanoseconds, at a random moment of its first half; `None`: a single cut.
    pub every_ns: Option<u64>,
}

/// What a power cut left of the writes that no completed flush had covered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCut {
    /// What decided which sectors were kept.
    pub seed: u64,
    /// Size of the parts that are kept or lost as a whole, bytes.
    pub sector_bytes: u64,
    /// Writes and trims that no completed flush had covered.
    pub unflushed_writes: u64,
    /// Sum of their lengths, bytes.
    pub unflushed_bytes: u64,
    /// How many of the unflushed writes the disk had acknowledged.
    pub acknowledged_writes: u64,
    /// Unflushed writes that were kept as a whole.
    pub kept_writes: u64,
    /// Unflushed writes that were lost completely.
    pub lost_writes: u64,
    /// Unflushed writes that were kept in part.
    pub torn_writes: u64,
    /// Sectors that have the contents that were written last.
    pub kept_sectors: u64,
    /// Sectors that have older contents.
    pub lost_sectors: u64,
    /// Writes that counted as durable without a flush, because there was no memory left to remember them; since the last flush.
    pub written_back: u64,
    /// Time since the last flush was completed, nanoseconds; `None` where none ever was.
    pub since_flush_ns: Option<u64>,
}

/// What clients lost by a power cut: writes that were acknowledged since the cut before, or the start of the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutLoss {
    /// Writes that were acknowledged.
    pub acknowledged: u64,
    /// Lost writes.
    pub lost: u64,
    /// How long before the cut the first of the lost ones was acknowledged, nanoseconds; 0 where none is lost.
    pub oldest_ns: u64,
}
