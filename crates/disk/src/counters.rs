//! What a disk did since it was made.

use plimsoll_record::Lateness;
use serde::{Deserialize, Serialize};

/// What a disk did since it was made. Times are nanoseconds; latencies are from the arrival at the daemon to its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub discards: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Latencies of all reads, summed.
    pub read_ns: u64,
    /// Latencies of all writes, summed.
    pub write_ns: u64,
    /// Latencies of all flushes, summed.
    pub flush_ns: u64,
    /// Time with at least one request in flight.
    pub busy_ns: u64,
    /// Requests in flight, integrated over time.
    pub queue_ns: u64,
    pub in_flight: u64,
    /// Requests that failed because the host could not read or write, for want of room for example.
    pub failed: u64,
    /// Requests that an event of the disk made fail.
    pub errors: u64,
    /// CPU time of the daemon.
    pub cpu_ns: u64,
    /// Burst credits that can be spent, of a disk with burst credits.
    pub credits: Option<f64>,
    /// Whether requests come through rings of io_uring, and not one at a time from `/dev/fuse`.
    pub rings: bool,
    /// Whether the limits are in force.
    pub shaped: bool,
    /// How late held answers were.
    pub lateness: Lateness,
}
