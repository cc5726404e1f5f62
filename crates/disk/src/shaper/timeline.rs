//! What a disk does at stated moments, beside its limits.

use super::RequestKind;
use super::law::unit;
use plimsoll_record::{DiskFault, EventRecord, EventSpec};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Events of a disk, which do not overlap. An event applies to the requests that arrive during it, so edges are exact.
#[derive(Debug)]
pub struct Timeline {
    entries: Vec<Entry>,
    /// Before this time all edges were [passed](Self::pass).
    passed_ns: u64,
    random: Xoshiro256PlusPlus,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Place in the list of events.
    event: u32,
    begin_ns: u64,
    end_ns: u64,
    fault: DiskFault,
}

impl Timeline {
    /// The events of the disk among these. Their times count from `start_ns`; what has begun before `now_ns` begins now, and what has ended never
    /// happens. Which requests fail depends on the seed alone.
    pub fn new(events: &[EventSpec], start_ns: u64, now_ns: u64, seed: u64) -> Self {
        let entry = |(event, spec): (u32, &EventSpec)| {
            let (begin_ns, end_ns, fault) = spec.of_disk()?;
            let begin_ns = start_ns.saturating_add(begin_ns).max(now_ns);
            let end_ns = start_ns.saturating_add(end_ns);
            (begin_ns < end_ns).then_some(Entry { event, begin_ns, end_ns, fault })
        };
        Self {
            entries: (0..).zip(events).filter_map(entry).collect(),
            passed_ns: now_ns,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// A disk to which nothing happens.
    pub fn empty() -> Self {
        Self::new(&[], 0, 0, 0)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn at(&self, now_ns: u64) -> Option<&Entry> {
        self.entries.iter().find(|entry| (entry.begin_ns..entry.end_ns).contains(&now_ns))
    }

    /// How much longer a request takes that arrives now.
    pub(super) fn latency_ns(&self, now_ns: u64) -> u64 {
        match self.at(now_ns).map(|entry| entry.fault) {
            Some(DiskFault::Latency { ns }) => ns,
            _ => 0,
        }
    }

    /// Whether a request that arrives now is to fail.
    pub fn fails(&mut self, now_ns: u64, kind: RequestKind) -> bool {
        let Some(DiskFault::Errors { read, write, flush }) =
            self.at(now_ns).map(|entry| entry.fault)
        else {
            return false;
        };
        let share = match kind {
            RequestKind::Read => read,
            RequestKind::Write => write,
            RequestKind::Flush => flush,
            RequestKind::Discard => return false,
        };
        unit(&mut self.random) < share
    }

    /// When the stall ends in which this time lies.
    pub fn stall_end(&self, now_ns: u64) -> Option<u64> {
        self.at(now_ns).filter(|entry| entry.fault == DiskFault::Stall).map(|entry| entry.end_ns)
    }

    /// This time, or the end of the stall in which it lies.
    pub fn after_stall(&self, now_ns: u64) -> u64 {
        self.stall_end(now_ns).unwrap_or(now_ns)
    }

    pub(super) fn has_credits(&self, now_ns: u64) -> bool {
        self.at(now_ns).is_none_or(|entry| entry.fault != DiskFault::NoCredits)
    }

    /// The edges that came since the last call, with what begins or ends, in order of time.
    pub fn pass(&mut self, now_ns: u64) -> Vec<(u64, String)> {
        let from_ns = std::mem::replace(&mut self.passed_ns, now_ns.saturating_add(1));
        let mut edges = Vec::new();
        for Entry { event, begin_ns, end_ns, fault } in &self.entries {
            for (at_ns, what) in [(begin_ns, "begins"), (end_ns, "ends")] {
                if (from_ns..=now_ns).contains(at_ns) {
                    edges.push((*at_ns, format!("event {} {what}: the disk {fault}", event + 1)));
                }
            }
        }
        edges.sort_by_key(|(at_ns, _)| *at_ns);
        edges
    }

    /// What has happened so far, on the clock of `now_ns`.
    pub fn records(&self, now_ns: u64) -> Vec<EventRecord> {
        let begun = self.entries.iter().filter(|entry| entry.begin_ns <= now_ns);
        let record = |entry: &Entry| EventRecord {
            event: entry.event,
            at_ns: entry.begin_ns,
            until_ns: Some(entry.end_ns).filter(|end_ns| *end_ns <= now_ns),
            ..EventRecord::default()
        };
        begun.map(record).collect()
    }
}
