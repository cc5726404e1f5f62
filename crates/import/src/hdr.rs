//! Logs of HdrHistogram: one histogram for each interval, in V2 compressed form.
//!
//! ```text
//! #[Logging for: READ]
//! #[StartTime: 1763688024.034 (seconds since epoch), …]
//! "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
//! Tag=READ,0.127,1.000,2.769,HISTFAAA…
//! ```
//!
//! The histograms are taken over value by value, so nothing is lost but the difference between values that HdrHistogram itself holds for equal.
//! In which unit they count no log says; the writers that are known write microseconds.

use crate::error::{ImportError, Problem, quoted};
use crate::lines::Lines;
use crate::measured::Measured;
use crate::{Format, Unit, text};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::Deserializer;
use plimsoll_record::{Completed, Histogram, Latencies, Operation, OperationSlice, Slice, Status};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// The most intervals of one log; a day of them each second, for some operations.
const MOST: usize = 100_000;
/// The most points of one log.
const MOST_POINTS: usize = 1_000;
/// The longest histogram uncompressed, bytes.
const LONGEST_V2: u64 = 4 << 20;
/// The most counts that a histogram may have room for. One with 5 digits from 1 ns to an hour has 4 millions.
const MOST_COUNTS: f64 = 4.5e6;
/// Cookies of the V2 encoding, plain and compressed, apart from the bits that say how wide a count is.
const COOKIE_V2: u32 = 0x1c84_9303;
const COOKIE_V2_DEFLATE: u32 = 0x1c84_9304;
const COOKIE_MASK: u32 = !0xf0;
/// Bytes before the counts: cookie, length, offset, digits, lowest and highest value, ratio.
const HEADER: usize = 40;

/// The intervals of one point. Most logs have one; those that we write ourselves have the points of a whole run.
struct Point {
    /// Mix and load, where the tags name them.
    place: Option<(String, String)>,
    /// By the start in nanoseconds.
    slices: BTreeMap<u64, Slice>,
    /// Start of the first interval and of the last one, seconds.
    first: f64,
    last: f64,
}

/// One line, in seconds.
struct Interval {
    tag: Option<String>,
    start: f64,
    length: f64,
    encoded: String,
}

pub(crate) fn read<R: BufRead>(
    lines: &mut Lines<R>,
    unit: Option<Unit>,
    operation: Option<Operation>,
) -> Result<Vec<Measured>, ImportError> {
    let file = lines.name().to_owned();
    let mut measured = Measured {
        tool: Format::HdrLog.tool().to_owned(),
        ..Measured::default()
    };
    let mut untagged = operation.map(|operation| (operation, Status::Ok));
    let mut unit_ns = unit.unwrap_or(Unit::Micros).nanos();
    let mut start_time = None;
    let mut base_time = None;
    let mut points: Vec<Point> = Vec::new();
    let (mut count, mut empty) = (0_usize, 0_usize);
    while let Some(text) = lines.next(Format::HdrLog)? {
        let text = text.trim().to_owned();
        let number = lines.number();
        if let Some(comment) = text.strip_prefix('#') {
            if let Some(name) = comment.strip_prefix("[Logging for: ") {
                let name = name.trim_end_matches(']').trim();
                untagged = untagged.or(text::operation(name));
            } else if let Some(at) = seconds_in(comment, "[StartTime:") {
                start_time = Some(at);
            } else if let Some(at) = seconds_in(comment, "[BaseTime:") {
                base_time = Some(at);
            } else if comment.starts_with("[Histograms in nanoseconds") && unit.is_none() {
                unit_ns = Unit::Nanos.nanos();
            } else if comment.starts_with("[Plimsoll") {
                measured.version = Some(quoted(comment));
            }
            continue;
        }
        if text.is_empty() || text.starts_with("\"StartTimestamp\"") {
            continue;
        }
        let Some(interval) = interval(&text) else {
            if !lines.is_whole() {
                let words = format!("line {number} is not complete, it is left out");
                measured.damage.push(words);
                continue;
            }
            let problem = Problem::BadNumber {
                what: "the line".to_owned(),
                text: quoted(&text),
                wanted: "interval such as `Tag=READ,0.1,1.0,2.7,HIST…`",
            };
            return Err(problem.at(&file, number));
        };
        count += 1;
        if count > MOST {
            let (what, most) = ("intervals", MOST);
            return Err(Problem::TooMany { what, most }.at(&file, number));
        }
        let key = operation_of(&interval, operation, untagged, &file, number)?;
        let Some((operation, status)) = key else {
            continue;
        };
        let histogram = match decode(&interval.encoded, unit_ns) {
            Ok(histogram) => histogram,
            Err(_) if !lines.is_whole() => {
                let words = format!("line {number} is not complete, it is left out");
                measured.damage.push(words);
                continue;
            }
            Err(words) => return Err(Problem::BadHistogram(words).at(&file, number)),
        };
        let place = place_of(&interval);
        let known = points.iter().position(|point| point.place == place);
        let index = known.unwrap_or_else(|| {
            points.push(Point {
                place,
                slices: BTreeMap::new(),
                first: interval.start,
                last: interval.start,
            });
            points.len() - 1
        });
        if points.len() > MOST_POINTS {
            let (what, most) = ("points", MOST_POINTS);
            return Err(Problem::TooMany { what, most }.at(&file, number));
        }
        let point = &mut points[index];
        if interval.start < point.last {
            let at = interval.start.max(0.0) as u64;
            return Err(Problem::BackInTime { at }.at(&file, number));
        }
        point.last = interval.start;
        let start_ns = text::nanos(interval.start - point.first, 1e9);
        let length_ns = text::nanos(interval.length, 1e9);
        if length_ns == 0 && histogram.is_empty() {
            continue;
        }
        empty += usize::from(histogram.is_empty());
        let slice = point.slices.entry(start_ns).or_insert_with(|| Slice {
            start_ns,
            length_ns,
            ..Slice::default()
        });
        slice.length_ns = slice.length_ns.max(length_ns);
        add(slice, operation, status, histogram);
    }
    points.retain(|point| !point.slices.is_empty());
    if points.is_empty() {
        let expected = "there is no interval; import the log of a run that came to its end";
        let format = Format::HdrLog;
        return Err(Problem::NoResult { format, expected }.of(&file));
    }
    if empty > 0 {
        let words = format!("{empty} intervals without any operation");
        measured.remarks.push(words);
    }
    let mut all = Vec::with_capacity(points.len());
    for point in points {
        let mut output = measured.clone();
        if let Some((mix, load)) = &point.place {
            output.workload = Some(quoted(mix));
            output.sessions = sessions(load);
        }
        output.started_at = started(point.first, start_time, base_time);
        output.slices = point.slices.into_values().collect();
        number_slices(&mut output.slices);
        output.measured_ns = covered(&output.slices);
        all.push(output);
    }
    Ok(all)
}

/// Mix and load of a tag of our own logs, `mix/load/operation` with or without more behind.
fn place_of(interval: &Interval) -> Option<(String, String)> {
    let mut parts = interval.tag.as_ref()?.split('/');
    let (mix, load) = (parts.next()?, parts.next()?);
    parts.next()?;
    Some((mix.to_owned(), load.to_owned()))
}

/// Sessions of a closed loop without pauses, as it stands in a tag: `16-threads`.
fn sessions(load: &str) -> Option<u32> {
    let number = load
        .strip_suffix("-threads")
        .or_else(|| load.strip_suffix("-thread"))?;
    number.replace(',', "").parse().ok()
}

/// Numbers slices in their order, and keeps each from reaching into the next: the writers round to a millisecond.
pub(crate) fn number_slices(slices: &mut [Slice]) {
    for place in 0..slices.len() {
        if let Some(next) = slices.get(place + 1) {
            let room = next.start_ns - slices[place].start_ns;
            slices[place].length_ns = slices[place].length_ns.min(room);
        }
        slices[place].index = u32::try_from(place).unwrap_or(u32::MAX);
    }
}

/// Time that the slices cover, nanoseconds.
pub(crate) fn covered(slices: &[Slice]) -> u64 {
    slices.iter().map(|slice| slice.length_ns).sum()
}

/// Adds a histogram to a slice, and counts its units: the parts of a read-modify-write are none by themselves.
pub(crate) fn add(slice: &mut Slice, operation: Operation, status: Status, histogram: Histogram) {
    if histogram.is_empty() {
        return;
    }
    let same = slice
        .operations
        .iter_mut()
        .find(|part| part.operation == operation && part.status == status);
    match same {
        Some(part) => {
            part.latencies.service.merge(&histogram);
            part.latencies.service = packed(&part.latencies.service);
        }
        None => slice.operations.push(OperationSlice {
            operation,
            status,
            latencies: Latencies {
                service: packed(&histogram),
                open: None,
            },
        }),
    }
    slice
        .operations
        .sort_by_key(|part| (part.operation, part.status));
    let mut completed = Completed::default();
    let mut whole = 0;
    for part in &slice.operations {
        let count = part.latencies.count();
        match (part.operation, part.status) {
            (Operation::ReadModifyWrite, Status::Ok) => whole += count,
            (Operation::ReadModifyWrite | Operation::Verify, _) => {}
            (_, Status::Ok | Status::Batched) => completed.ok += count,
            (_, Status::NotFound) => completed.not_found += count,
            (_, Status::Error) => completed.error += count,
        }
    }
    completed.ok = completed.ok.saturating_sub(whole);
    slice.completed = completed;
}

/// The same in a few kilobytes.
fn packed(histogram: &Histogram) -> Histogram {
    Histogram::from_bytes(&histogram.to_bytes()).unwrap_or_else(|_| histogram.clone())
}

/// `[Tag=X,]start,length,max,histogram`.
fn interval(text: &str) -> Option<Interval> {
    let (tag, rest) = match text.strip_prefix("Tag=") {
        Some(tagged) => {
            let (tag, rest) = tagged.split_once(',')?;
            (Some(tag.to_owned()), rest)
        }
        None => (None, text),
    };
    let mut fields = rest.splitn(4, ',');
    let start = text::number(fields.next()?)?;
    let length = text::number(fields.next()?)?;
    text::number(fields.next()?)?;
    let encoded = fields.next()?.trim().to_owned();
    let is_possible = start < MOST_SECONDS && length < MOST_SECONDS && !encoded.is_empty();
    is_possible.then_some(Interval {
        tag,
        start,
        length,
        encoded,
    })
}

/// A time beyond the year 5000 is none.
const MOST_SECONDS: f64 = 1e11;

/// The number of seconds after a mark in a comment.
fn seconds_in(comment: &str, mark: &str) -> Option<f64> {
    let rest = comment.strip_prefix(mark)?.trim();
    text::number(rest.split([' ', ']']).next()?)
}

/// When the first interval began: its time stands for itself, or counts from the base or the start of the log.
fn started(first: f64, start_time: Option<f64>, base_time: Option<f64>) -> Option<String> {
    const ABSOLUTE: f64 = 1e9;
    if first > ABSOLUTE {
        return text::instant(first * 1e3);
    }
    let base = base_time.filter(|base| *base > 0.0).or(start_time)?;
    text::instant((base + first) * 1e3)
}

/// What a line is of; `None` for what is no operation at all, such as cleaning up or the second histogram of an open loop.
fn operation_of(
    interval: &Interval,
    named: Option<Operation>,
    untagged: Option<(Operation, Status)>,
    file: &str,
    line: u64,
) -> Result<Option<(Operation, Status)>, ImportError> {
    let Some(tag) = &interval.tag else {
        let by_name = || {
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            text::operation(name.split('.').next().unwrap_or(name))
        };
        return match untagged.or_else(by_name) {
            Some(found) => Ok(Some(found)),
            None => Err(Problem::NoOperation.at(file, line)),
        };
    };
    if let Some(found) = text::operation(tag) {
        return Ok(Some(found));
    }
    // Tags of our own logs: `mix/load/operation`, with a status or `service` behind.
    let parts: Vec<&str> = tag.split('/').collect();
    match parts[..] {
        [_, _, operation] => {
            if let Some(found) = text::operation(operation) {
                return Ok(Some(found));
            }
        }
        [_, _, _, "service"] | [_, _, _, _, "service"] => return Ok(None),
        [_, _, operation, status] => {
            if let Some(found) = text::operation(&format!("{operation}-{status}")) {
                return Ok(Some(found));
            }
        }
        _ => {}
    }
    match named {
        Some(operation) => Ok(Some((operation, Status::Ok))),
        None if matches!(tag.as_str(), "CLEANUP" | "SCAN-LATENCY-PER-RECORD") => Ok(None),
        None => {
            let name = quoted(tag);
            Err(Problem::UnknownOperation { name }.at(file, line))
        }
    }
}

/// Decodes a histogram and counts its values as nanoseconds.
fn decode(encoded: &str, unit_ns: f64) -> Result<Histogram, String> {
    let bytes = STANDARD
        .decode(encoded)
        .map_err(|error| format!("its text is no base64 ({error})"))?;
    let cookie = u32_at(&bytes, 0).ok_or("it is too short")?;
    let v2 = match cookie & COOKIE_MASK {
        COOKIE_V2_DEFLATE => {
            let mut v2 = Vec::new();
            ZlibDecoder::new(bytes.get(8..).unwrap_or_default())
                .take(LONGEST_V2 + 1)
                .read_to_end(&mut v2)
                .map_err(|error| format!("it cannot be decompressed ({error})"))?;
            v2
        }
        COOKIE_V2 => bytes,
        _ => {
            return Err(
                "it is not in the V2 encoding, which HdrHistogram writes since version 2.1.5"
                    .into(),
            );
        }
    };
    if v2.len() as u64 > LONGEST_V2 {
        return Err(format!("it is longer than {LONGEST_V2} bytes"));
    }
    is_sane(&v2)?;
    let decoded: hdrhistogram::Histogram<u64> = Deserializer::new()
        .deserialize(&mut std::io::Cursor::new(&v2))
        .map_err(|error| error.to_string())?;
    let mut histogram = Histogram::new();
    for step in decoded.iter_recorded() {
        // The middle of the bucket stands for all of it: the mean comes out as HdrHistogram itself computes it.
        let value = decoded.median_equivalent(step.value_iterated_to());
        histogram.record_n(text::nanos(value as f64, unit_ns), step.count_at_value());
    }
    Ok(histogram)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at + 8)?;
    Some(u64::from_be_bytes(eight.try_into().ok()?))
}

/// Whether the header asks for no more memory than a histogram of latencies needs.
fn is_sane(v2: &[u8]) -> Result<(), String> {
    let header = (
        u32_at(v2, 4),
        u32_at(v2, 12),
        u64_at(v2, 16),
        u64_at(v2, 24),
    );
    let (Some(counts), Some(digits), Some(lowest), Some(highest)) = header else {
        return Err(format!("it is shorter than its header of {HEADER} bytes"));
    };
    if digits > 5 || lowest == 0 || highest < lowest.saturating_mul(2) {
        return Err("its header makes no sense".into());
    }
    // What is told is taken at its word when it is read.
    if v2.len() < HEADER + counts as usize {
        return Err(format!(
            "its header tells of {counts} bytes of counts, and {} are there",
            v2.len().saturating_sub(HEADER)
        ));
    }
    // Twice as many sub-buckets as the digits need, half of them anew for each doubling of the range.
    let sub_buckets = (2.0 * 10_f64.powi(digits.cast_signed()))
        .log2()
        .ceil()
        .exp2();
    let doublings = (highest as f64 / (lowest as f64 * sub_buckets))
        .log2()
        .ceil();
    let counts = (doublings.max(0.0) + 2.0) * sub_buckets / 2.0;
    if counts > MOST_COUNTS {
        return Err("it has room for more values than any latency needs".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
