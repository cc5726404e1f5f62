//! What go-ycsb prints: its properties, a line for each operation every few seconds, and the same once more at the end.
//!
//! Each line counts from the start of the run, so what was done in between is the difference of two counts, and of its latencies nothing is
//! known. The line `TOTAL` is of all operations together. Its times are rounded to a tenth of a second, so a count and its rate say better how long it took. Of its
//! styles plain, table and JSON are read.

use crate::error::{ImportError, Problem, quoted};
use crate::lines::Lines;
use crate::measured::{self, Measured};
use crate::text::{self, need_count, need_number};
use crate::{Format, command_line};
use plimsoll_record::{
    Completed, Histogram, Latencies, Operation, OperationSlice, Slice, Stated, Status, Summary,
};
use std::collections::BTreeMap;
use std::io::BufRead;

/// The most reports within one output.
const MOST: usize = 100_000;

/// One line of a report.
#[derive(Clone, Debug, Default)]
struct Row {
    takes_seconds: f64,
    /// Operations per second, rounded to a tenth as well.
    rate: f64,
    summary: Summary,
    line: u64,
}

/// Rounding error of a number with one decimal.
const ROUNDED: f64 = 0.05;

impl Row {
    /// Whether a row is printed a second time.
    fn is_equal(&self, other: &Self) -> bool {
        (self.takes_seconds, self.rate, &self.summary)
            == (other.takes_seconds, other.rate, &other.summary)
    }

    /// Runtime and its rounding error, seconds: count ÷ rate where that is more precise than the printed runtime.
    fn seconds(&self) -> (f64, f64) {
        let by_rate = self.summary.count as f64 / self.rate;
        let off = by_rate * ROUNDED / self.rate;
        let fits = (by_rate - self.takes_seconds).abs() <= 2.0 * ROUNDED + off;
        if by_rate.is_finite() && off < ROUNDED && fits {
            (by_rate, off)
        } else {
            (self.takes_seconds, ROUNDED)
        }
    }
}

/// The longest runtime of all rows; among equally long ones the most precise.
fn longest_seconds(moment: &Moment) -> f64 {
    let each = || moment.values().map(Row::seconds);
    let longest = each().map(|(seconds, _)| seconds).fold(0.0, f64::max);
    let as_long = each().filter(|(seconds, off)| longest - seconds <= off + 2.0 * ROUNDED);
    let exact = as_long.min_by(|(_, one), (_, other)| one.total_cmp(other));
    exact.map_or(longest, |(seconds, _)| seconds)
}

/// The rows of one moment, by the names of the operations.
type Moment = BTreeMap<String, Row>;

#[derive(Default)]
struct Section {
    measured: Measured,
    moments: Vec<Moment>,
    current: Moment,
    /// `Run finished, takes …`, seconds.
    takes_seconds: Option<f64>,
    finished: bool,
    /// Whether the last line of the file was not complete.
    cut_off: bool,
}

pub(crate) fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<Vec<Measured>, ImportError> {
    let file = lines.name().to_owned();
    let mut sections = vec![Section::default()];
    let mut columns: Vec<String> = Vec::new();
    let mut in_properties = false;
    // With measurementtype=csv it prints a line for each operation.
    let mut is_listed = false;
    while let Some(text) = lines.next(Format::GoYcsb)? {
        let text = text.trim().to_owned();
        let number = lines.number();
        let section = sections.last_mut().expect("there is always one");
        if text.starts_with("****") && text.contains("properties") {
            if section.finished || !section.current.is_empty() {
                measured::check_outputs(sections.len(), &file, number)?;
                sections.push(Section::default());
            }
            in_properties = true;
        } else if text.starts_with("****") {
            in_properties = false;
        } else if let Some((name, value)) = text.split_once("\"=\"").filter(|_| in_properties) {
            let value = value.strip_suffix('"').unwrap_or(value);
            command_line::property(name.trim_start_matches('"'), value, &mut section.measured);
        } else if let Some(takes) = text.strip_prefix("Run finished, takes ") {
            section.close();
            section.takes_seconds = go_duration(takes);
            section.finished = true;
        } else if text == "operation,timestamp_us,latency_us" {
            is_listed = true;
        } else if text.starts_with("[{") {
            section.close();
            let rows: Vec<BTreeMap<String, String>> = serde_json::from_str(&text)
                .map_err(|error| Problem::BadJson(error.to_string()).at(&file, number))?;
            for row in rows {
                let fields: Vec<(String, String)> = row.into_iter().collect();
                section.row(&fields, &file, number)?;
            }
            section.close();
        } else if text.starts_with("+--") {
            // A table has a line above its head, below it, and at its end.
            if !columns.is_empty() && !section.current.is_empty() {
                section.close();
                columns.clear();
            }
        } else if let Some(cells) = text.strip_prefix('|') {
            let cells: Vec<String> =
                cells.trim_end_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
            if cells.first().is_some_and(|first| first.eq_ignore_ascii_case("operation")) {
                columns = cells;
            } else if cells.len() == columns.len() {
                let fields: Vec<(String, String)> = columns.iter().cloned().zip(cells).collect();
                section.row(&fields, &file, number)?;
            }
        } else if let Some(fields) = plain(&text) {
            section.row(&fields, &file, number)?;
        } else if text.contains(" - Takes(s):") || (text.contains(" - Tak") && !lines.is_whole()) {
            section.cut_off = true;
        }
    }
    let mut all = Vec::new();
    let count = sections.len();
    for (place, mut section) in sections.into_iter().enumerate() {
        section.cut_off &= place + 1 == count && !lines.is_whole();
        if let Some(measured) = section.finish(&file)? {
            all.push(measured);
        }
    }
    if all.is_empty() {
        let expected = if is_listed {
            "it lists every operation by itself (measurementtype=csv); run it with measurementtype=histogram"
        } else {
            "there is no line such as `READ - Takes(s): 10.0, Count: 100, OPS: …`; \
            import what it printed up to the end of a run"
        };
        let format = Format::GoYcsb;
        return Err(Problem::NoResult { format, expected }.of(&file));
    }
    Ok(all)
}

/// `READ   - Takes(s): 10.0, Count: 100, …` as names and values.
fn plain(text: &str) -> Option<Vec<(String, String)>> {
    let (name, figures) = text.split_once(" - Takes(s):")?;
    let mut fields = vec![("Operation".to_owned(), name.trim().to_owned())];
    for figure in format!("Takes(s):{figures}").split(", ") {
        let (name, value) = figure.split_once(':')?;
        fields.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    // A line that was cut off in the middle of its last number cannot be distinguished from a whole one, but the others have the 99th percentile.
    fields.iter().any(|(name, _)| name.starts_with("99")).then_some(fields)
}

/// A span of time as Go prints it: `1m2.5s`, `250.3ms`, in seconds.
fn go_duration(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let value = text::number(&rest[..end])?;
        let unit_end = rest[end..]
            .find(|letter: char| letter.is_ascii_digit())
            .map_or(rest.len(), |length| end + length);
        seconds += value
            * match &rest[end..unit_end] {
                "h" => 3_600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "µs" | "us" => 1e-6,
                "ns" => 1e-9,
                _ => return None,
            };
        rest = &rest[unit_end..];
    }
    (seconds > 0.0).then_some(seconds)
}

impl Section {
    /// Takes one row. A repeated name begins the next moment.
    fn row(
        &mut self,
        fields: &[(String, String)],
        file: &str,
        line: u64,
    ) -> Result<(), ImportError> {
        let mut name = None;
        let mut row = Row { line, ..Row::default() };
        for (field, value) in fields {
            let what = || format!("{field} of the line");
            match field.to_ascii_lowercase().as_str() {
                "operation" => name = Some(value.to_ascii_uppercase()),
                "takes(s)" => row.takes_seconds = need_number(&what(), value, file, line)?,
                "count" => row.summary.count = need_count(&what(), value, file, line)?,
                "ops" => row.rate = text::number(value).unwrap_or(0.0),
                label => {
                    let Some(label) = label.strip_suffix("(us)") else {
                        continue;
                    };
                    let value = need_number(&what(), value, file, line)?;
                    text::figure(&mut row.summary, label, value);
                }
            }
        }
        row.summary.percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(name) = name else { return Ok(()) };
        if let Some(known) = self.current.get(&name) {
            if self.finished && known.is_equal(&row) {
                return Ok(());
            }
            if self.finished {
                let (group, first) = (quoted(&name), self.current[&name].line);
                return Err(Problem::Repeated { group, first }.at(file, line));
            }
            self.close();
        }
        if let Some(last) = self.moments.last().and_then(|last| last.get(&name))
            && row.summary.count < last.summary.count
        {
            let at = row.takes_seconds as u64;
            return Err(Problem::BackInTime { at }.at(file, line));
        }
        if self.moments.len() >= MOST {
            let (what, most) = ("reports", MOST);
            return Err(Problem::TooMany { what, most }.at(file, line));
        }
        self.current.insert(name, row);
        Ok(())
    }

    fn close(&mut self) {
        if !self.current.is_empty() {
            self.moments.push(std::mem::take(&mut self.current));
        }
    }

    fn finish(mut self, file: &str) -> Result<Option<Measured>, ImportError> {
        self.close();
        let Self { mut measured, moments, takes_seconds, finished, cut_off, .. } = self;
        let Some(last) = moments.last() else {
            return Ok(None);
        };
        measured.tool = Format::GoYcsb.tool().to_owned();
        measured.version =
            measured.version.map(|version| plimsoll_record::redact::redact_command(&version));
        if !finished {
            measured.damage.push(
                "there is no line `Run finished`: the output was cut off, or the run was ended"
                    .to_owned(),
            );
        } else if cut_off {
            measured.damage.push("the file ends in the middle of a line".to_owned());
        }
        // `takes` counts from the start of the client, the lines from the first operation of their kind. Operations were done in the latter.
        let longest = longest_seconds(last);
        let seconds = if longest > 0.0 { longest } else { takes_seconds.unwrap_or(0.0) };
        if seconds <= 0.0 {
            return Err(Problem::Together(
                "it does not say how long the run took: there is neither a `Takes(s)` above zero nor `Run finished, takes …`".to_owned(),
            )
            .at(file, last.values().map(|row| row.line).max().unwrap_or(0)));
        }
        measured.measured_ns = text::nanos(seconds, 1e9);
        measured.slices = slices(&moments);
        measured.stated = Some(stated(last, &mut measured.remarks));
        Ok(Some(measured))
    }
}

/// All of the run in the words of the last rows.
fn stated(last: &Moment, remarks: &mut Vec<String>) -> Stated {
    let mut stated = Stated { completed: completed(last), ..Stated::default() };
    for (name, row) in last {
        if row.summary.count == 0 {
            continue;
        }
        let latencies = Latencies { service: Histogram::known(row.summary.clone()), open: None };
        match text::operation(name) {
            Some((operation, status)) => {
                stated.operations.push(OperationSlice { operation, status, latencies })
            }
            None if name == "TOTAL" => stated.all = Some(latencies),
            None => remarks.push(format!("{} is left out", quoted(name))),
        }
    }
    // TOTAL counts the parts of a read-modify-write beside the whole, and failures beside successes.
    let units_apart = stated
        .operations
        .iter()
        .all(|part| part.operation != Operation::ReadModifyWrite && part.status == Status::Ok);
    if !units_apart {
        stated.all = None;
    }
    stated.operations.sort_by_key(|part| (part.operation, part.status));
    stated
}

/// Units so far by how they ended.
fn completed(moment: &Moment) -> Completed {
    let mut completed = Completed::default();
    let mut whole = 0_u64;
    for (name, row) in moment {
        let count = row.summary.count;
        match text::operation(name) {
            Some((Operation::ReadModifyWrite, Status::Ok)) => whole = whole.saturating_add(count),
            Some((Operation::ReadModifyWrite | Operation::Verify, _)) | None => {}
            Some((_, Status::Error)) => completed.error = completed.error.saturating_add(count),
            Some((_, Status::NotFound)) => {
                completed.not_found = completed.not_found.saturating_add(count);
            }
            Some(_) => completed.ok = completed.ok.saturating_add(count),
        }
    }
    completed.ok = completed.ok.saturating_sub(whole);
    completed
}

/// What was done between the reports.
fn slices(moments: &[Moment]) -> Vec<Slice> {
    let mut slices: Vec<Slice> = Vec::new();
    let empty = Moment::new();
    let (mut before, mut end_ns) = (&empty, 0);
    for moment in moments {
        let at_ns = text::nanos(longest_seconds(moment), 1e9);
        if at_ns <= end_ns {
            continue;
        }
        let (now, then) = (completed(moment), completed(before));
        let mut operations = Vec::new();
        for (name, row) in moment {
            let counted = before.get(name).map_or(0, |row| row.summary.count);
            let count = row.summary.count.saturating_sub(counted);
            if let (Some((operation, status)), true) = (text::operation(name), count > 0) {
                let summary = if counted == 0 {
                    row.summary.clone()
                } else {
                    Summary { count, ..Summary::default() }
                };
                operations.push(OperationSlice {
                    operation,
                    status,
                    latencies: Latencies { service: Histogram::known(summary), open: None },
                });
            }
        }
        operations.sort_by_key(|part| (part.operation, part.status));
        slices.push(Slice {
            index: u32::try_from(slices.len()).unwrap_or(u32::MAX),
            start_ns: end_ns,
            length_ns: at_ns - end_ns,
            completed: Completed {
                ok: now.ok.saturating_sub(then.ok),
                not_found: now.not_found.saturating_sub(then.not_found),
                error: now.error.saturating_sub(then.error),
            },
            operations,
            ..Slice::default()
        });
        (before, end_ns) = (moment, at_ns);
    }
    slices
}

#[cfg(test)]
mod tests;
