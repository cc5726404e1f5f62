//! Detects outputs that are not repetitions: clients of one run, and copies of one output.
//!
//! Several clients that load one server at the same time print one output each. Counted as blocks, they would show a fraction of the throughput with almost no spread,
//! so their rates and sessions are added up. No output names its run; clients are recognised by their clocks: same arm, same workload, and most of the shorter output
//! overlaps the longer one. Logs of HdrHistogram of one client are laid over each other before: one log holds the times of one operation, or its response times alone.

use crate::Format;
use crate::hdr;
use crate::join::{is_good, overlay};
use crate::measured::{Measured, add_totals};
use jiff::Timestamp;
use plimsoll_record::{Operation, Slice};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Share of the shorter output that must overlap the other one.
const SHARED: f64 = 0.5;
/// Largest relative difference in length of two status intervals that are added up.
const ALIKE: f64 = 0.2;

/// Start and end of a measurement, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Whether the clock is local time of an unknown time zone.
    local: bool,
    begin_ms: i64,
    end_ms: i64,
}

impl Span {
    /// The span of an output; `None` if its start is unknown.
    pub fn of(output: &Measured) -> Option<Self> {
        let absolute = output.started_at.as_ref();
        let absolute = absolute.and_then(|at| Some(at.parse::<Timestamp>().ok()?.as_millisecond()));
        let begin_ms = absolute.or(output.began_ms)?;
        let length_ms = i64::try_from(output.measured_ns / 1_000_000).ok()?;
        Some(Self { local: absolute.is_none(), begin_ms, end_ms: begin_ms.checked_add(length_ms)? })
    }

    /// Whether most of the shorter span overlaps the other one.
    fn is_shared(self, other: Self) -> bool {
        let both = self.end_ms.min(other.end_ms) - self.begin_ms.max(other.begin_ms);
        let shorter = (self.end_ms - self.begin_ms).min(other.end_ms - other.begin_ms);
        self.local == other.local && both > 0 && both as f64 > SHARED * shorter as f64
    }
}

/// The operations in a log of HdrHistogram.
#[derive(Debug)]
pub struct Logged(BTreeMap<(Operation, bool), Held>);

/// What a log holds of one operation.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    count: u64,
    service: bool,
    response: bool,
}

impl Logged {
    /// The operations of an output; `None` if it is no log.
    pub fn of(output: &Measured) -> Option<Self> {
        if output.tool != Format::HdrLog.tool() {
            return None;
        }
        let mut all: BTreeMap<_, Held> = BTreeMap::new();
        for part in output.slices.iter().flat_map(|slice| &slice.operations) {
            let held = all.entry((part.operation, is_good(part.status))).or_default();
            held.count += part.latencies.count();
            held.service |= part.latencies.service.mean_ns().is_some();
            held.response |= part.latencies.open.is_some();
        }
        Some(Self(all))
    }

    /// Whether the other log holds nothing that this one holds already: other operations, or other times of as many operations.
    fn is_completed_by(&self, other: &Self) -> bool {
        other.0.iter().all(|(operation, theirs)| {
            self.0.get(operation).is_none_or(|ours| ours.is_completed_by(*theirs))
        })
    }

    /// Whether both logs hold different times of the same operations.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.0.keys().eq(other.0.keys()) && self.is_completed_by(other)
    }
}

impl Held {
    fn is_completed_by(self, other: Self) -> bool {
        self.count == other.count
            && !(self.service && other.service || self.response && other.response)
    }
}

/// Lays the logs of each client over each other.
fn logs_joined(outputs: Vec<Measured>) -> Vec<Measured> {
    let mut joined: Vec<Measured> = Vec::new();
    for output in outputs {
        let is_completed = |ours: &Measured| {
            let logs = || Logged::of(ours).zip(Logged::of(&output));
            are_shared(Span::of(ours), Span::of(&output))
                && logs().is_some_and(|(ours, theirs)| ours.is_completed_by(&theirs))
        };
        match joined.iter().position(is_completed) {
            Some(place) => {
                let ours = joined.remove(place);
                joined.splice(place..place, overlay(vec![ours, output]));
            }
            None => joined.push(output),
        }
    }
    joined
}

/// Merges the clients of each run into one output.
pub(crate) fn together(outputs: Vec<Measured>, mix: impl Fn(&Measured) -> String) -> Vec<Measured> {
    let each = logs_joined(outputs).into_iter().map(|output| {
        let (span, mix) = (Span::of(&output), mix(&output));
        (span, mix, output)
    });
    let runs = grouped(each, |(ours, our_mix, first), (theirs, mix, output)| {
        are_shared(*ours, *theirs) && (our_mix, &first.tool) == (mix, &output.tool)
    });
    let clients = |run: Vec<(_, _, Measured)>| run.into_iter().map(|(_, _, output)| output);
    runs.into_iter().map(|run| one(clients(run).collect())).collect()
}

/// Whether two spans are known and shared.
pub fn are_shared(ours: Option<Span>, theirs: Option<Span>) -> bool {
    let both = ours.zip(theirs);
    both.is_some_and(|(ours, theirs)| ours.is_shared(theirs))
}

/// Groups of items, each with the first group whose first item belongs to it.
pub fn grouped<T>(
    items: impl IntoIterator<Item = T>,
    belong: impl Fn(&T, &T) -> bool,
) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| belong(&group[0], &item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// Merges the clients of one run.
fn one(clients: Vec<Measured>) -> Measured {
    let count = clients.len();
    let mut clients = clients.into_iter();
    let mut whole = clients.next().expect("a run has a client");
    if count == 1 {
        return whole;
    }
    let mut rate = rate(&whole);
    for client in clients {
        rate += self::rate(&client);
        let sum = whole.sessions.zip(client.sessions);
        whole.sessions = sum.and_then(|(ours, theirs)| ours.checked_add(theirs));
        let sum = whole.target.zip(client.target);
        whole.target = sum.map(|(ours, theirs)| ours + theirs);
        whole.records = whole.records.max(client.records);
        whole.retries = whole.retries.saturating_add(client.retries);
        whole.errors.extend(client.errors);
        whole.damage.extend(client.damage);
        whole.files.extend(client.files);
        whole.slices = match fit(&whole.slices, &client.slices) {
            true => laid_over(std::mem::take(&mut whole.slices), client.slices),
            false => Vec::new(),
        };
        whole.stated = match (whole.stated.take(), client.stated) {
            (Some(mut ours), Some(theirs)) => {
                add_totals(&mut ours, theirs);
                Some(ours)
            }
            _ => None,
        };
    }
    if whole.slices.is_empty() {
        whole
            .remarks
            .push("the status intervals of the clients differ in length, and are left out".into());
    }
    // The clients do not start and end at the same instant, so the throughput is the sum of their rates.
    let done = self::done(&whole);
    if rate > 0.0 {
        whole.measured_ns = (done as f64 / rate * 1e9).round() as u64;
    }
    whole.remarks.push(format!(
        "{count} outputs overlap in time: they are clients of one run, and their rates and threads are added up"
    ));
    whole
}

fn done(output: &Measured) -> u64 {
    let mut done = output.stated.as_ref().map(|stated| stated.completed);
    if done.is_none() {
        for slice in &output.slices {
            *done.get_or_insert_default() += slice.completed;
        }
    }
    done.unwrap_or_default().total()
}

/// Operations per second, however they ended.
fn rate(output: &Measured) -> f64 {
    let seconds = output.measured_ns as f64 / 1e9;
    if seconds > 0.0 { done(output) as f64 / seconds } else { 0.0 }
}

/// Whether the intervals of two clients can be added up pairwise. The last interval may have any length.
fn fit(ours: &[Slice], theirs: &[Slice]) -> bool {
    let both = ours.len().min(theirs.len());
    let mut pairs = ours.iter().zip(theirs).take(both.saturating_sub(1).max(1));
    both > 0
        && pairs.all(|(ours, theirs)| {
            let longer = ours.length_ns.max(theirs.length_ns) as f64;
            ours.length_ns.abs_diff(theirs.length_ns) as f64 <= ALIKE * longer
        })
}

/// Pairwise sum of the intervals, as far as both clients have some.
fn laid_over(mut ours: Vec<Slice>, theirs: Vec<Slice>) -> Vec<Slice> {
    ours.truncate(theirs.len());
    for (slice, other) in ours.iter_mut().zip(theirs) {
        slice.completed += other.completed;
        for part in other.operations {
            hdr::lay(slice, (part.operation, part.status), part.latencies);
        }
        slice.operations.sort_by_key(|part| (part.operation, part.status));
    }
    ours
}

/// Equal for two outputs only if both are copies of one output: built from the hashes of the files and the totals. `None` without files.
pub fn fingerprint(output: &Measured) -> Option<String> {
    let mut key = String::new();
    for file in &output.files {
        if file.sha256.is_empty() {
            return None;
        }
        key.push_str(&file.sha256);
    }
    let says = serde_json::to_string(&output.stated).unwrap_or_default();
    let _ = write!(
        key,
        "{:?} {:?} {} {} {says}",
        output.workload,
        output.sessions,
        output.measured_ns,
        output.slices.len(),
    );
    (!output.files.is_empty()).then_some(key)
}

#[cfg(test)]
mod tests;
