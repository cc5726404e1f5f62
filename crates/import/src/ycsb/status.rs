//! Status lines: what was done between one and the next.

use crate::error::{ImportError, Problem};
use crate::text;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use plimsoll_record::{
    Completed, Histogram, Latencies, OpenLatencies, Operation, OperationSlice, Slice, Status,
    Summary,
};
use std::collections::BTreeMap;

/// The most status lines; a day of them each second.
const MOST: usize = 100_000;
/// A clock that says something else than the seconds counted, by more than this, was set meanwhile.
const CLOCK_MS: i64 = 2_000;
/// Letters of a point in time.
const INSTANT: usize = 23;

#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// Milliseconds of the clock of the client, in its own time zone.
    clock_ms: Option<i64>,
    /// Whole seconds from the start.
    second: u64,
    /// Operations so far, however they ended.
    operations: u64,
    /// Name and figures of what was done since the last line.
    parts: Vec<(String, Summary)>,
}

/// Reads `… 10 sec: 376385 operations; 37634.74 current ops/sec; … [READ: Count=…, Max=…] …`.
pub(super) fn parse(line: &str) -> Option<Line> {
    let (before, rest) = line.split_once(" sec: ")?;
    let (operations, rest) = rest.split_once(" operations;")?;
    let operations = operations.trim().parse().ok()?;
    let (before, second) = match before.rsplit_once(' ') {
        Some((before, second)) => (before, second),
        None => ("", before),
    };
    let mut parts = Vec::new();
    for piece in rest.split('[').skip(1) {
        let Some((name, figures)) = piece.split(']').next().and_then(|one| one.split_once(':'))
        else {
            continue;
        };
        if let Some(summary) = summary(figures) {
            parts.push((name.trim().to_owned(), summary));
        }
    }
    Some(Line {
        clock_ms: clock(before),
        second: second.parse().ok()?,
        operations,
        parts,
    })
}

/// `Count=98465, Max=4057, Min=0, Avg=0.08, 90=0, 99.99=1`, in microseconds.
fn summary(figures: &str) -> Option<Summary> {
    let mut summary = Summary::default();
    for figure in figures.split(',') {
        let (name, value) = figure.split_once('=')?;
        // An average of nothing is no number.
        let Some(value) = text::number(value) else {
            continue;
        };
        let value_ns = text::nanos(value, 1e3);
        match name.trim() {
            "Count" => summary.count = value as u64,
            "Max" => summary.max_ns = Some(value_ns),
            "Min" => summary.min_ns = Some(value_ns),
            "Avg" => summary.mean_ns = Some(value * 1e3),
            label => {
                if let Some(percentile) = text::percentile(label) {
                    summary.percentiles.push((percentile, value_ns));
                }
            }
        }
    }
    summary.percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    (summary.count > 0).then_some(summary)
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
    lines: Vec<Line>,
}

impl StatusLines {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn take(&mut self, line: Line, file: &str, number: u64) -> Result<(), ImportError> {
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

    /// Slices between the lines, and how long all of them are together, nanoseconds.
    pub(super) fn slices(&self, is_intended: bool) -> (Vec<Slice>, u64) {
        let mut slices: Vec<Slice> = Vec::new();
        let Some(first) = self.lines.first() else {
            return (slices, 0);
        };
        // Of what was done before the first line nobody knows how long it took.
        let mut done = first.operations;
        let mut end_ns = 0;
        let mut carried: Vec<&(String, Summary)> = Vec::new();
        for line in &self.lines[1..] {
            let at_ns = since(first, line).max(end_ns);
            carried.extend(&line.parts);
            if at_ns == end_ns {
                continue;
            }
            let mut slice = slice(&carried, line.operations - done, is_intended);
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

/// From one line to another, nanoseconds: by the clock where it can be, otherwise in whole seconds.
fn since(first: &Line, line: &Line) -> u64 {
    let seconds = line.second.saturating_sub(first.second);
    let by_count = i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX);
    let by_clock = first.clock_ms.zip(line.clock_ms).map(|(a, b)| b - a);
    let millis = match by_clock {
        Some(clock) if clock.saturating_sub(by_count).abs() <= CLOCK_MS => clock,
        _ => by_count,
    };
    u64::try_from(millis).unwrap_or(0).saturating_mul(1_000_000)
}

fn slice(parts: &[&(String, Summary)], units: u64, is_intended: bool) -> Slice {
    let mut plain: BTreeMap<(Operation, Status), Histogram> = BTreeMap::new();
    let mut intended: BTreeMap<(Operation, Status), Histogram> = BTreeMap::new();
    for (name, summary) in parts {
        let (map, name) = match name.strip_prefix("Intended-") {
            Some(name) => (&mut intended, name),
            None => (&mut plain, name.strip_prefix("Hdr").unwrap_or(name)),
        };
        if let Some(key) = text::operation(name) {
            let known = Histogram::known(summary.clone());
            map.entry(key).or_default().merge(&known);
        }
    }
    let mut failed = 0_u64;
    let mut operations = Vec::with_capacity(plain.len());
    for ((operation, status), histogram) in plain {
        let is_part = matches!(operation, Operation::ReadModifyWrite | Operation::Verify);
        if matches!(status, Status::Error | Status::NotFound) && !is_part {
            failed = failed.saturating_add(histogram.count());
        }
        let response = intended.remove(&(operation, status));
        operations.push(OperationSlice {
            operation,
            status,
            latencies: latencies(histogram, response, is_intended),
        });
    }
    let failed = failed.min(units);
    Slice {
        length_ns: 0,
        completed: Completed {
            ok: units - failed,
            not_found: 0,
            error: failed,
        },
        operations,
        ..Slice::default()
    }
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
        let summary = Summary {
            count: plain.count(),
            ..Summary::default()
        };
        return Latencies {
            service: Histogram::known(summary),
            open: open(plain),
        };
    }
    Latencies {
        service: plain,
        open: intended.and_then(open),
    }
}
