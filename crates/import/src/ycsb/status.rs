//! Status lines: what was done between one and the next.

use crate::error::{ImportError, Problem};
use crate::text;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use plimsoll_record::{
    Completed, Histogram, Latencies, OpenLatencies, Operation, OperationSlice, Slice, Status,
    Summary,
};
use std::collections::{BTreeMap, BTreeSet};

/// The most status lines; a day of them each second.
const MOST: usize = 100_000;
/// A clock that says something else than the seconds counted, by more than this, was set meanwhile.
const CLOCK_MS: i64 = 2_000;
/// Letters of a point in time.
const INSTANT: usize = 23;

#[derive(Debug, PartialEq)]
pub(super) struct StatusLine {
    /// Milliseconds of the clock of the client, in its own time zone.
    clock_ms: Option<i64>,
    /// Whole seconds from the start.
    second: u64,
    /// Operations so far, however they ended.
    operations: u64,
    /// Name and figures of what was done since the last line.
    parts: Vec<(String, Summary)>,
    broken: usize,
}

/// Whether the last bracket of a line is not closed.
pub(super) fn is_open(text: &str) -> bool {
    text.rfind('[') > text.rfind(']')
}

/// Whether a line starts with the figures of a status line.
pub(super) fn is_figures(text: &str) -> bool {
    text.starts_with('[') && text.contains(": Count=")
}

/// Appends the continuation of a broken status line. A blank at the end of the first part was trimmed: it belongs after a separating comma, not after a decimal comma.
pub(super) fn join(begin: &mut String, rest: &str) {
    let is_label = rest.find(['=', ',', ']']);
    let is_label = is_label.is_some_and(|at| rest[at..].starts_with('='));
    if begin.ends_with(',') && is_label {
        begin.push(' ');
    }
    begin.push_str(rest);
}

/// Reads `… 10 sec: 376385 operations; 37634.74 current ops/sec; … [READ: Count=…, Max=…] …`.
pub(super) fn parse(line: &str) -> Option<StatusLine> {
    let (before, rest) = line.split_once(" sec: ")?;
    let (operations, rest) = rest.split_once(" operations;")?;
    let operations = operations.trim().parse().ok()?;
    let (before, second) = match before.rsplit_once(' ') {
        Some((before, second)) => (before, second),
        None => ("", before),
    };
    let (mut parts, mut broken) = (Vec::new(), 0);
    for piece in rest.split('[').skip(1) {
        let figures = piece.split_once(']').map(|(figures, _)| figures);
        let named = figures.and_then(|figures| figures.split_once(':'));
        match named.and_then(|(name, figures)| Some((name, summary(figures)?))) {
            Some((name, summary)) if summary.count > 0 => {
                parts.push((name.trim().to_owned(), summary));
            }
            Some(_) => {}
            None => broken += 1,
        }
    }
    Some(StatusLine {
        clock_ms: clock(before),
        second: second.parse().ok()?,
        operations,
        parts,
        broken,
    })
}

/// `Count=98465, Max=4057, Min=0, Avg=0.08, 90=0, 99.99=1`, in microseconds. Some locales have decimal commas.
fn summary(figures: &str) -> Option<Summary> {
    let mut summary = Summary::default();
    let separator = if figures.contains(", ") { ", " } else { "," };
    for figure in figures.split(separator) {
        let (name, value) = figure.split_once('=')?;
        let (name, value) = (name.trim(), value.trim_end_matches(','));
        // Without operations the average is NaN, in the spelling of the locale.
        let Some(value) = text::number(&value.replace(',', ".")) else {
            if value.contains(|letter: char| letter.is_ascii_digit()) {
                return None;
            }
            continue;
        };
        text::figure(&mut summary, &name.replace(',', "."), value);
    }
    summary.percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(summary)
}

/// The last letters before the seconds: `2026-11-21 01:20:24:034`. A label stands right before it.
fn clock(before: &str) -> Option<i64> {
    let before = before.trim_end();
    let start = before.len().checked_sub(INSTANT)?;
    let text = before.get(start..)?;
    let (seconds, millis) = text.rsplit_once(':')?;
    let civil: DateTime = format!("{seconds}.{millis}").parse().ok()?;
    let zoned = civil.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

/// All status lines of one output.
#[derive(Default)]
pub(super) struct StatusLines {
    lines: Vec<StatusLine>,
}

impl StatusLines {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Operations at the last line.
    pub(super) fn done(&self) -> Option<u64> {
        self.lines.last().map(|line| line.operations)
    }

    /// Start by the client's clock, milliseconds, in an unknown time zone.
    pub(super) fn began_ms(&self) -> Option<i64> {
        let first = self.lines.first()?;
        let before = i64::try_from(first.second).ok()?.checked_mul(1_000)?;
        first.clock_ms?.checked_sub(before)
    }

    /// Number of lines with unreadable figures.
    pub(super) fn broken(&self) -> usize {
        self.lines.iter().filter(|line| line.broken > 0).count()
    }

    /// Whether `line` belongs to another run, which counts from zero again.
    pub(super) fn begins_anew(&self, line: &StatusLine) -> bool {
        let [Some(first), Some(last)] = [self.lines.first(), self.lines.last()] else {
            return false;
        };
        line.operations < last.operations
            && line.second <= first.second
            && line.operations <= first.operations
    }

    pub(super) fn take(
        &mut self,
        line: StatusLine,
        file: &str,
        number: u64,
    ) -> Result<(), ImportError> {
        if self.lines.len() >= MOST {
            let (what, most) = ("status lines", MOST);
            return Err(Problem::TooMany { what, most }.at(file, number));
        }
        if let Some(last) = self.lines.last() {
            if last == &line {
                // Printed on both outputs.
                return Ok(());
            }
            if line.second < last.second || line.operations < last.operations {
                let at = line.second;
                return Err(Problem::BackInTime { at }.at(file, number));
            }
        }
        self.lines.push(line);
        Ok(())
    }

    /// A slice for each line, and their total length in nanoseconds. Status lines do not distinguish failures from missing records; `missing` are the operations whose
    /// failures were all missing records.
    pub(super) fn slices(
        &self,
        is_intended: bool,
        missing: &BTreeSet<Operation>,
    ) -> (Vec<Slice>, u64) {
        let mut slices: Vec<Slice> = Vec::new();
        let (mut done, mut end_ns) = (0, 0);
        let mut carried: Vec<&(String, Summary)> = Vec::new();
        let Some(first) = self.lines.first() else {
            return (slices, 0);
        };
        for line in &self.lines {
            let at_ns = since_start(first, line).max(end_ns);
            carried.extend(&line.parts);
            if at_ns == end_ns {
                continue;
            }
            let mut slice = slice(&carried, line.operations - done, is_intended, missing);
            slice.index = u32::try_from(slices.len()).unwrap_or(u32::MAX);
            slice.start_ns = end_ns;
            slice.length_ns = at_ns - end_ns;
            slices.push(slice);
            (done, end_ns) = (line.operations, at_ns);
            carried.clear();
        }
        (slices, end_ns)
    }
}

/// From the start to a line, nanoseconds: by the clock where it can be, otherwise in whole seconds.
fn since_start(first: &StatusLine, line: &StatusLine) -> u64 {
    let by_count = i64::try_from(line.second.saturating_mul(1_000)).unwrap_or(i64::MAX);
    let before = i64::try_from(first.second.saturating_mul(1_000)).unwrap_or(i64::MAX);
    let by_clock = first.clock_ms.zip(line.clock_ms);
    let by_clock = by_clock.map(|(a, b)| (b - a).saturating_add(before));
    let millis = match by_clock {
        Some(clock) if clock.saturating_sub(by_count).abs() <= CLOCK_MS => clock,
        _ => by_count,
    };
    u64::try_from(millis).unwrap_or(0).saturating_mul(1_000_000)
}

fn slice(
    parts: &[&(String, Summary)],
    units: u64,
    is_intended: bool,
    missing: &BTreeSet<Operation>,
) -> Slice {
    let mut plain: BTreeMap<(Operation, Status), Histogram> = BTreeMap::new();
    let mut intended: BTreeMap<(Operation, Status), Histogram> = BTreeMap::new();
    for (name, summary) in parts {
        let (map, name) = match name.strip_prefix("Intended-") {
            Some(name) => (&mut intended, name),
            None => (&mut plain, name.strip_prefix("Hdr").unwrap_or(name)),
        };
        if let Some((operation, status)) = text::operation(name) {
            let is_missing = status == Status::Error && missing.contains(&operation);
            let status = if is_missing { Status::NotFound } else { status };
            let known = Histogram::known(summary.clone());
            map.entry((operation, status)).or_default().merge(&known);
        }
    }
    let mut completed = Completed::default();
    let mut operations = Vec::with_capacity(plain.len());
    for ((operation, status), histogram) in plain {
        let is_part = matches!(operation, Operation::ReadModifyWrite | Operation::Verify);
        let count = if is_part { 0 } else { histogram.count() };
        match status {
            Status::Error => completed.error = completed.error.saturating_add(count),
            Status::NotFound => completed.not_found = completed.not_found.saturating_add(count),
            Status::Ok | Status::Batched => {}
        }
        let response = intended.remove(&(operation, status));
        operations.push(OperationSlice {
            operation,
            status,
            latencies: latencies(histogram, response, is_intended),
        });
    }
    completed.error = completed.error.min(units);
    completed.not_found = completed.not_found.min(units - completed.error);
    completed.ok = units - completed.error - completed.not_found;
    Slice { length_ns: 0, completed, operations, ..Slice::default() }
}

/// Times from the dispatch, with those from the intended start beside them where there are any. `is_intended`: the plain ones are from the intended start, and
/// of the others only the count is known.
pub(super) fn latencies(
    plain: Histogram,
    intended: Option<Histogram>,
    is_intended: bool,
) -> Latencies {
    let open = |response| {
        let wait = Histogram::new();
        Some(Box::new(OpenLatencies { response, wait }))
    };
    if is_intended {
        let summary = Summary { count: plain.count(), ..Summary::default() };
        return Latencies { service: Histogram::known(summary), open: open(plain) };
    }
    Latencies { service: plain, open: intended.and_then(open) }
}
