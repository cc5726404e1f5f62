//! One second of one point.

use crate::{Histogram, OwnOperation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// The kind of an operation.
///
/// In records, one of YCSB's is its name, and one of an application is its kind and its name: `find:by-customer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Operation {
    /// One record by its key.
    Read,
    /// Some fields of one record changed.
    Update,
    /// Stores one record that does not exist.
    Insert,
    /// A range of records from a key on.
    Scan,
    /// A read and an update of the same record, measured as a whole; its parts are counted as read and update too.
    ReadModifyWrite,
    /// Removes one record by its key.
    Delete,
    /// A read record compared with what must be in it. Its time is that of the comparison.
    Verify,
    /// One of an application, by its own name.
    Own(OwnOperation),
}

impl Operation {
    /// YCSB's operations, in the order in which screens list them.
    pub const YCSB: [Self; 7] = [
        Self::Read,
        Self::Update,
        Self::Insert,
        Self::Scan,
        Self::ReadModifyWrite,
        Self::Delete,
        Self::Verify,
    ];

    /// The name in files and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Update => "update",
            Self::Insert => "insert",
            Self::Scan => "scan",
            Self::ReadModifyWrite => "read-modify-write",
            Self::Delete => "delete",
            Self::Verify => "verify",
            Self::Own(own) => own.name(),
        }
    }

    /// Whether it changes what is stored.
    pub fn writes(self) -> bool {
        match self {
            Self::Read | Self::Scan | Self::Verify => false,
            Self::Update | Self::Insert | Self::ReadModifyWrite | Self::Delete => true,
            Self::Own(own) => own.kind().writes(),
        }
    }
}

/// How an operation ended, as counters distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The operation did what it should.
    Ok,
    /// Kept by the client for a batch that was not sent yet: its time says nothing, that of the operation that sends the batch does.
    Batched,
    /// The record was not there.
    NotFound,
    /// The engine failed, or a verification found other data than expected.
    Error,
}

impl Status {
    /// All statuses, in the order of counters.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Batched, Self::NotFound, Self::Error];

    /// The name in files and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Batched => "batched",
            Self::NotFound => "not-found",
            Self::Error => "error",
        }
    }
}

/// The latencies of the operations of one kind and status, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// Service times: from dispatch to completion.
    pub service: Histogram,
    /// completed - intended. `None` where operations had no intended time before their dispatch (a closed loop), in which response
    /// time is service time and wait time is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<Box<OpenLatencies>>,
}

/// What only an open loop has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenLatencies {
    /// Response times: from the intended begin to completion.
    pub response: Histogram,
    /// Waits: from the intended begin to dispatch.
    pub wait: Histogram,
}

impl Latencies {
    /// The headline: completed - intended.
    pub fn response(&self) -> &Histogram {
        match &self.open {
            Some(open) => &open.response,
            None => &self.service,
        }
    }

    /// dispatched - intended, in an open loop.
    pub fn wait(&self) -> Option<&Histogram> {
        self.open.as_ref().map(|open| &open.wait)
    }

    /// The same with each histogram made into another.
    #[must_use]
    pub fn map(&self, made: impl Fn(&Histogram) -> Histogram) -> Self {
        let open = self
            .open
            .as_ref()
            .map(|open| OpenLatencies { response: made(&open.response), wait: made(&open.wait) });
        Self { service: made(&self.service), open: open.map(Box::new) }
    }

    /// Adds all counts of `other`. A closed loop's latencies never meet an open loop's within one point.
    pub fn merge(&mut self, other: &Self) {
        self.service.merge(&other.service);
        let Some(theirs) = &other.open else { return };
        let ours = self.open.get_or_insert_default();
        ours.response.merge(&theirs.response);
        ours.wait.merge(&theirs.wait);
    }

    /// How many operations are in here.
    pub fn count(&self) -> u64 {
        self.service.count()
    }
}

/// The operations of one kind and one status that completed within a slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationSlice {
    /// The kind of operation that is counted.
    pub operation: Operation,
    /// How the counted operations ended.
    pub status: Status,
    /// How long the counted operations took.
    pub latencies: Latencies,
}

/// Finished units of work by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    /// Operations that did what they should.
    pub ok: u64,
    /// The record was not there.
    pub not_found: u64,
    /// Operations that the engine failed.
    pub error: u64,
}

impl Completed {
    /// Sum of all outcomes. Saturates, because counts may come from a foreign file.
    pub fn total(self) -> u64 {
        let others = self.not_found.saturating_add(self.error);
        self.ok.saturating_add(others)
    }

    /// Counts one operation that ended in this way.
    #[inline]
    pub fn add(&mut self, status: Status) {
        match status {
            Status::Ok | Status::Batched => self.ok += 1,
            Status::NotFound => self.not_found += 1,
            Status::Error => self.error += 1,
        }
    }
}

impl AddAssign for Completed {
    fn add_assign(&mut self, more: Self) {
        self.ok = self.ok.saturating_add(more.ok);
        self.not_found = self.not_found.saturating_add(more.not_found);
        self.error = self.error.saturating_add(more.error);
    }
}

/// What the worker process used within a slice. The sum of two is that of one process over both: its memory is the larger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerUse {
    /// CPU time in user mode, nanoseconds.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel, nanoseconds.
    pub cpu_system_ns: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Resident memory at the end of the slice, bytes.
    pub resident_bytes: u64,
}

impl AddAssign for WorkerUse {
    fn add_assign(&mut self, more: Self) {
        self.cpu_user_ns += more.cpu_user_ns;
        self.cpu_system_ns += more.cpu_system_ns;
        self.context_switches += more.context_switches;
        self.resident_bytes = self.resident_bytes.max(more.resident_bytes);
    }
}

/// One second of one point. The last one of the warm-up and of the point may be shorter.
///
/// An operation belongs to the slice in which it completed. Early records hold what a session handed in late as a further slice with the
/// same `index`, merged with the first when the record is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// Counted from 0 at the start of the point.
    pub index: u32,
    /// From the start of the point, nanoseconds.
    pub start_ns: u64,
    /// Nanoseconds; the divisor of every rate.
    pub length_ns: u64,
    /// Whether this lies in the requested warm-up, so that no result uses it.
    pub warm_up: bool,
    /// Finished units of work by how they ended. A read-modify-write is one unit, though its parts appear below as a read and an
    /// update too; a verification does not.
    pub completed: Completed,
    /// Per operation and status, in that order; those without any operation are left out.
    pub operations: Vec<OperationSlice>,
    /// Finished units of each load host, in the order of [`PointEnd::hosts`](crate::PointEnd::hosts), where several take part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_host: Vec<u64>,
    /// CPU time and memory that the worker used.
    pub worker: WorkerUse,
    /// Figures of engine, kernel and device by name with unit suffix.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub telemetry: BTreeMap<String, f64>,
}

impl Slice {
    /// Merges a further slice of the same index. Figures that both have are those of the first.
    pub fn merge(&mut self, other: &Self) {
        for theirs in &other.operations {
            let same = self
                .operations
                .iter_mut()
                .find(|ours| ours.operation == theirs.operation && ours.status == theirs.status);
            match same {
                Some(ours) => ours.latencies.merge(&theirs.latencies),
                None => self.operations.push(theirs.clone()),
            }
        }
        self.completed += other.completed;
        if self.by_host.len() < other.by_host.len() {
            self.by_host.resize(other.by_host.len(), 0);
        }
        for (ours, theirs) in self.by_host.iter_mut().zip(&other.by_host) {
            *ours = ours.saturating_add(*theirs);
        }
        self.operations.sort_by_key(|part| (part.operation, part.status));
        self.worker += other.worker;
        for (name, figure) in &other.telemetry {
            self.telemetry.entry(name.clone()).or_insert(*figure);
        }
    }
}
