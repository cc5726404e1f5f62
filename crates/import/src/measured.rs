//! What was found in an output, before it becomes part of a record.

use crate::error::{ImportError, Problem};
use plimsoll_record::{ErrorSample, ImportedFile, Operation, Slice, Stated};
use std::collections::BTreeMap;

/// Most outputs of one record.
pub(crate) const MOST_OUTPUTS: usize = 10_000;

/// Whether one file may hold a further output.
pub(crate) fn check_outputs(sections: usize, file: &str, line: u64) -> Result<(), ImportError> {
    let (what, most) = ("outputs", MOST_OUTPUTS);
    if sections >= most {
        return Err(Problem::TooMany { what, most }.at(file, line));
    }
    Ok(())
}

/// One run of another tool at one load, as far as its output shows. What it does not show is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    pub tool: String,
    pub version: Option<String>,
    /// Its command line, without passwords.
    pub command: Option<String>,
    /// Its properties or options, without passwords.
    pub properties: BTreeMap<String, String>,
    /// What was measured, in the words of the tool.
    pub database: Option<String>,
    /// Name of the workload, where the tool has one.
    pub workload: Option<String>,
    pub sessions: Option<u32>,
    /// Operations per second that the sessions together were held down to.
    pub target: Option<f64>,
    /// Records that were stored before.
    pub records: Option<u64>,
    /// Begin in UTC, as RFC 3339 writes it.
    pub started_at: Option<String>,
    /// Start by the client's clock, milliseconds, if its time zone is unknown.
    pub began_ms: Option<i64>,
    /// Length of the measured part, nanoseconds.
    pub measured_ns: u64,
    /// The time between, in order.
    pub slices: Vec<Slice>,
    /// All of it in the words of the tool.
    pub stated: Option<Stated>,
    /// Failures that the tool describes.
    pub errors: Vec<ErrorSample>,
    /// Operations that the tool itself repeated.
    pub retries: u64,
    /// What could not be read or does not fit together, each in a few words. A run with any is not whole.
    pub damage: Vec<String>,
    /// What else there is to know, each in a few words.
    pub remarks: Vec<String>,
    pub files: Vec<ImportedFile>,
}

impl Measured {
    /// Units of work of each kind, for the name of a workload that has none.
    pub(crate) fn counts(&self) -> BTreeMap<Operation, u64> {
        let mut counts: BTreeMap<Operation, u64> = BTreeMap::new();
        let of_slices = self.slices.iter().flat_map(|slice| &slice.operations);
        let parts: Vec<_> = match &self.stated {
            Some(stated) => stated.operations.iter().collect(),
            None => of_slices.collect(),
        };
        for part in parts {
            if part.operation != Operation::Verify {
                let count = counts.entry(part.operation).or_default();
                *count = count.saturating_add(part.latencies.count());
            }
        }
        let whole = counts.get(&Operation::ReadModifyWrite).copied().unwrap_or(0);
        for part in [Operation::Read, Operation::Update] {
            if let Some(count) = counts.get_mut(&part) {
                *count = count.saturating_sub(whole);
            }
        }
        counts.retain(|_, count| *count > 0);
        counts
    }
}

/// Adds the totals of a concurrent output.
pub(crate) fn add_totals(into: &mut Stated, other: Stated) {
    into.completed += other.completed;
    for part in other.operations {
        let key = (part.operation, part.status);
        let mut known = into.operations.iter_mut();
        match known.find(|known| (known.operation, known.status) == key) {
            Some(known) => known.latencies.merge(&part.latencies),
            None => into.operations.push(part),
        }
    }
    into.operations.sort_by_key(|part| (part.operation, part.status));
    into.all = into.all.take().zip(other.all).map(|(mut ours, theirs)| {
        ours.merge(&theirs);
        ours
    });
}
