//! Several files of one run: the text that a tool printed, and the logs of HdrHistogram that belong to it.

use crate::Format;
use crate::error::{ImportError, Problem};
use crate::hdr::{covered, number_slices, settle};
use crate::measured::Measured;
use jiff::Timestamp;
use plimsoll_record::{Latencies, Operation, Slice, Status};
use std::collections::BTreeMap;

/// Makes one output of the files of one run.
///
/// Logs of the operations of one run are laid over each other by the time of their intervals. Where the text is among the files, it says how
/// long the run took, how much was done and with how many sessions, and the logs replace its figures wherever they count the same
/// operations: then every percentile is known.
pub fn join(parts: Vec<Measured>, name: &str) -> Result<Measured, ImportError> {
    let is_log = |part: &Measured| part.tool == Format::HdrLog.tool();
    let (logs, mut texts): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_log);
    if texts.len() > 1 {
        let words = "more than one output among files joined by `+`: only logs of HdrHistogram can be joined to an output, name several runs with commas between them";
        return Err(Problem::Together(words.to_owned()).of(name));
    }
    let Some(log) = overlay(logs) else {
        return texts.pop().ok_or_else(|| Problem::Empty.of(name));
    };
    match texts.pop() {
        Some(text) => Ok(with_log(text, log)),
        None => Ok(log),
    }
}

/// Logs laid over each other.
pub(crate) fn overlay(logs: Vec<Measured>) -> Option<Measured> {
    let begins: Vec<Option<Timestamp>> =
        logs.iter().map(|log| log.started_at.as_ref()?.parse().ok()).collect();
    let earliest = begins.iter().flatten().min().copied();
    let all_known = begins.iter().all(Option::is_some);
    let mut joined: Option<Measured> = None;
    for (log, begin) in logs.into_iter().zip(begins) {
        let mut offset_ns = 0;
        if let (true, Some(begin), Some(earliest)) = (all_known, begin, earliest) {
            let nanos = begin.duration_since(earliest).as_nanos();
            offset_ns = u64::try_from(nanos).unwrap_or(0);
        }
        let Some(joined) = &mut joined else {
            let mut first = log;
            for slice in &mut first.slices {
                slice.start_ns = slice.start_ns.saturating_add(offset_ns);
            }
            joined = Some(first);
            continue;
        };
        joined.files.extend(log.files);
        joined.damage.extend(log.damage);
        for remark in log.remarks {
            if !joined.remarks.contains(&remark) {
                joined.remarks.push(remark);
            }
        }
        for mut slice in log.slices {
            slice.start_ns = slice.start_ns.saturating_add(offset_ns);
            lay(&mut joined.slices, slice);
        }
    }
    let mut joined = joined?;
    joined.slices.sort_by_key(|slice| slice.start_ns);
    let begin_ns = joined.slices.first().map_or(0, |slice| slice.start_ns);
    for slice in &mut joined.slices {
        slice.start_ns -= begin_ns;
    }
    number_slices(&mut joined.slices);
    joined.measured_ns = covered(&joined.slices);
    joined.started_at =
        earliest.filter(|_| all_known).map(|at| format!("{at:.3}")).or(joined.started_at);
    Some(joined)
}

/// Puts a slice into the one in which its middle lies, or among them where there is none.
fn lay(slices: &mut Vec<Slice>, slice: Slice) {
    let middle_ns = slice.start_ns.saturating_add(slice.length_ns / 2);
    let around = slices.iter_mut().find(|other| {
        let end_ns = other.start_ns.saturating_add(other.length_ns);
        (other.start_ns..=end_ns).contains(&middle_ns)
    });
    match around {
        Some(other) => {
            for part in slice.operations {
                crate::hdr::lay(other, (part.operation, part.status), part.latencies);
            }
            settle(other);
        }
        None => slices.push(slice),
    }
}

/// A text with the histograms of its logs in the place of its figures.
fn with_log(mut text: Measured, log: Measured) -> Measured {
    let mut whole: BTreeMap<(Operation, bool), Latencies> = BTreeMap::new();
    for part in log.slices.iter().flat_map(|slice| &slice.operations) {
        let key = (part.operation, is_good(part.status));
        whole.entry(key).or_default().merge(&part.latencies);
    }
    if let Some(stated) = &mut text.stated {
        for part in &mut stated.operations {
            let Some(of_log) = whole.get(&(part.operation, is_good(part.status))) else {
                continue;
            };
            if of_log.count() != part.latencies.count() {
                text.remarks.push(format!(
                    "the log of {} holds {} operations, the text says {}: the figures of the text are used",
                    part.operation.name(),
                    of_log.count(),
                    part.latencies.count()
                ));
                continue;
            }
            // A log of one time alone knows how many there were of the other.
            let is_timed = of_log.service.mean_ns().is_some();
            if is_timed && (part.latencies.open.is_none() || of_log.open.is_some()) {
                part.latencies.service = of_log.service.clone();
            }
            if of_log.open.is_some() {
                part.latencies.open.clone_from(&of_log.open);
            }
        }
    }
    if log.slices.len() >= text.slices.len() || text.stated.is_none() {
        text.slices = log.slices;
    }
    text.started_at = text.started_at.or(log.started_at);
    text.files.extend(log.files);
    text.damage.extend(log.damage);
    text.remarks.extend(log.remarks);
    text
}

pub(crate) fn is_good(status: Status) -> bool {
    matches!(status, Status::Ok | Status::Batched)
}
