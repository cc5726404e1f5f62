//! When a request of an emulated disk is due: arithmetic alone, without clock, thread or disk.
//!
//! A request waits until all limits of its direction and of both together allow it and a server of the disk is free; then it takes its
//! latency. Limits are kept in virtual time: each has a lane on which a request occupies the time that it uses up, so that no idle
//! time is saved for later and N requests take N / rate seconds, whatever their pattern.
//!
//! A flush takes its own latency alone. It promises that what was *answered* before it is kept, and what was answered is stored
//! already; so it neither waits for requests that are still held nor counts against a limit. A discard is due at once.
//!
//! A [`Timeline`] changes this for a time: it adds latency, lets nothing start or end during a stall, or takes the burst credits away.

mod burst;
mod lane;
mod law;
mod limit;
mod timeline;

use burst::Bucket;
use law::Law;
use limit::{Limit, fine_of_ns, ns_of_fine};
use plimsoll_record::DiskSpec;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
pub use timeline::Timeline;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    Read,
    Write,
    /// A flush: every answered write must be kept.
    Flush,
    Discard,
}

/// A request as far as its speed depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub kind: RequestKind,
    pub bytes: u64,
}

/// Gives every request of a disk the instant at which its answer is due.
///
/// ```
/// use plimsoll_disk::shaper::{Request, RequestKind, Shaper};
/// use plimsoll_record::{DiskLatency, DiskRates, DiskSpec};
///
/// let disk = DiskSpec {
///     iops: DiskRates { joint: Some(500.0), ..DiskRates::default() },
///     read_latency: DiskLatency::Constant { ns: 7_000_000 },
///     ..DiskSpec::unlimited(1 << 30)
/// };
/// let mut shaper = Shaper::new(&disk, 42);
/// let read = Request { kind: RequestKind::Read, bytes: 4096 };
/// assert_eq!(shaper.admit(0, read), 7_000_000);
/// assert_eq!(shaper.admit(0, read), 9_000_000);
/// ```
#[derive(Debug)]
pub struct Shaper {
    io_unit_bytes: Option<u64>,
    reads: Direction,
    writes: Direction,
    joint: Direction,
    bucket: Option<Bucket>,
    flush_latency: Law,
    /// When each server is free; empty when there are as many as requests.
    servers: BinaryHeap<Reverse<u128>>,
    random: Xoshiro256PlusPlus,
    pub timeline: Timeline,
}

/// The limits and the latency of reads, of writes, or of both.
#[derive(Debug)]
struct Direction {
    iops: Option<Limit>,
    bandwidth: Option<Limit>,
    latency: Law,
    /// Bytes per second at which one request is moved.
    transfer: Option<f64>,
}

impl Direction {
    /// How long a request is served.
    fn served_ns(&self, bytes: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
        let moved_ns = self.transfer.map_or(0.0, |rate| bytes as f64 * 1e9 / rate);
        self.latency.draw(random).saturating_add(moved_ns as u64)
    }

    /// The earliest instant from which all limits here allow such a request.
    fn earliest(&self, from: u128, units: u64, bytes: u64) -> u128 {
        let mut at = from;
        if let Some(limit) = &self.iops {
            at = limit.earliest(at, units);
        }
        if let Some(limit) = &self.bandwidth {
            at = limit.earliest(at, bytes);
        }
        at
    }

    fn take(&mut self, now: u128, at: u128, units: u64, bytes: u64, bursting: bool) {
        if let Some(limit) = &mut self.iops {
            limit.take(now, at, units, bursting);
        }
        if let Some(limit) = &mut self.bandwidth {
            limit.take(now, at, bytes, bursting);
        }
    }
}

impl Shaper {
    /// A disk that is idle, its bucket of burst credits as full as it is at the beginning. Latencies that are drawn depend on the seed
    /// alone.
    pub fn new(spec: &DiskSpec, seed: u64) -> Self {
        let burst = spec.burst.as_ref();
        let [read_transfer, write_transfer] = spec.transfer.each();
        Self {
            io_unit_bytes: spec.io_unit_bytes,
            reads: Direction {
                iops: Limit::new(spec.iops.read, None),
                bandwidth: Limit::new(spec.bandwidth.read, None),
                latency: Law::new(&spec.read_latency),
                transfer: read_transfer,
            },
            writes: Direction {
                iops: Limit::new(spec.iops.write, None),
                bandwidth: Limit::new(spec.bandwidth.write, None),
                latency: Law::new(&spec.write_latency),
                transfer: write_transfer,
            },
            joint: Direction {
                iops: Limit::new(spec.iops.joint, burst.map(|burst| burst.iops)),
                bandwidth: Limit::new(
                    spec.bandwidth.joint,
                    burst.and_then(|burst| burst.bandwidth),
                ),
                latency: Law::None,
                transfer: None,
            },
            bucket: burst.map(Bucket::new),
            flush_latency: Law::new(&spec.flush_latency),
            servers: (0..spec.queue_depth.unwrap_or(0)).map(|_| Reverse(0)).collect(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            timeline: Timeline::empty(),
        }
    }

    /// When a request that arrives now is due, in the same nanoseconds. Call in the order in which requests arrive.
    pub fn admit(&mut self, now_ns: u64, request: Request) -> u64 {
        let timeline = &self.timeline;
        let from_ns = timeline.after_stall(now_ns);
        let added_ns = timeline.latency_ns(now_ns);
        let direction = match request.kind {
            RequestKind::Read => &mut self.reads,
            RequestKind::Write => &mut self.writes,
            RequestKind::Flush => {
                let latency_ns = self.flush_latency.draw(&mut self.random).saturating_add(added_ns);
                return timeline.after_stall(from_ns.saturating_add(latency_ns));
            }
            RequestKind::Discard => return timeline.after_stall(from_ns.saturating_add(added_ns)),
        };
        let units = self.io_unit_bytes.map_or(1, |unit| request.bytes.div_ceil(unit.max(1)).max(1));
        let latency_ns =
            direction.served_ns(request.bytes, &mut self.random).saturating_add(added_ns);

        let mut at = fine_of_ns(from_ns);
        if let Some(Reverse(free)) = self.servers.peek() {
            at = at.max(*free);
        }
        loop {
            let own = direction.earliest(at, units, request.bytes);
            let both = self.joint.earliest(own, units, request.bytes);
            let running = timeline.stall_end(ns_of_fine(both)).map_or(both, fine_of_ns);
            if running == at {
                break;
            }
            at = running;
        }

        let bursting = match &mut self.bucket {
            Some(bucket) if timeline.has_credits(ns_of_fine(at)) => bucket.spend(at, units),
            _ => false,
        };
        let now = fine_of_ns(now_ns);
        direction.take(now, at, units, request.bytes, false);
        self.joint.take(now, at, units, request.bytes, bursting);
        let due_ns = timeline.after_stall(ns_of_fine(at).saturating_add(latency_ns));
        if self.servers.pop().is_some() {
            self.servers.push(Reverse(fine_of_ns(due_ns)));
        }
        due_ns
    }

    /// Forgets every request that waits or is served. The bucket of burst credits stays as it is.
    pub fn empty_queues(&mut self) {
        for direction in [&mut self.reads, &mut self.writes, &mut self.joint] {
            let limits = [&mut direction.iops, &mut direction.bandwidth];
            for limit in limits.into_iter().flatten() {
                limit.empty();
            }
        }
        let depth = self.servers.len();
        self.servers.clear();
        self.servers.extend((0..depth).map(|_| Reverse(0)));
    }

    /// Burst credits that can be spent at that time; `None` for a disk without.
    pub fn credits(&self, now_ns: u64) -> Option<f64> {
        let bucket = self.bucket.as_ref()?;
        let can_spend = self.timeline.has_credits(now_ns);
        Some(if can_spend { bucket.credits_at(fine_of_ns(now_ns)) } else { 0.0 })
    }
}

#[cfg(test)]
mod tests;
