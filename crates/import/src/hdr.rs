//! HdrHistogram logs: one histogram per interval, in the encodings V0, V1 (YCSB up to 0.17.0) or V2, compressed or not.
//!
//! ```text
//! #[Logging for: READ]
//! #[StartTime: 1763688024.034 (seconds since epoch), …]
//! "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
//! Tag=READ,0.127,1.000,2.769,HISTFAAA…
//! ```
//!
//! The histograms are taken over value by value, so nothing is lost but the difference between values that HdrHistogram itself holds for equal.
//! Most logs do not name their unit. YCSB writes microseconds, jHiccup nanoseconds.

use crate::error::{ImportError, Problem, quoted};
use crate::lines::Lines;
use crate::measured::Measured;
use crate::{Format, Unit, text};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::ZlibDecoder;
use plimsoll_record::quantities::words::counted;
use plimsoll_record::{
    Completed, Histogram, Latencies, Operation, OperationSlice, Slice, Status, Summary,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read};

/// The most intervals of one log; a day of them each second, for some operations.
const MOST: usize = 100_000;
/// The most points of one log.
const MOST_POINTS: usize = 1_000;
/// The longest histogram uncompressed, bytes.
const LONGEST_PLAIN: u64 = 4 << 20;
/// The most counts that a histogram may have room for. One with 5 digits from 1 ns to an hour has 4 millions.
const MOST_COUNTS: f64 = 4.5e6;
/// A latency may exceed the length of the log by this, because the operation may have started before the log.
const BEFORE_SECONDS: f64 = 60.0;

/// Which time of an operation a histogram contains.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    /// From dispatch to completion; also the time of logs that have only one.
    Service,
    /// From intended start to completion.
    Response,
    /// From intended start to dispatch.
    Wait,
}

type Subject = (Operation, Status, Time);

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
    let mut measured = Measured { tool: Format::HdrLog.tool().to_owned(), ..Measured::default() };
    let mut untagged = operation.map(|operation| (operation, Status::Ok, Time::Service));
    let mut unit_ns = unit.unwrap_or(Unit::Micros).nanos();
    // Unknown tags that --operation covers.
    let mut named_tags = BTreeSet::new();
    let mut longest_ns = 0;
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
                untagged = untagged.or(subject(name));
                if untagged.is_none() && is_none(name) {
                    let name = quoted(name);
                    return Err(Problem::NoOperationLog { name }.at(&file, number));
                }
            } else if let Some(at) = seconds_in(comment, "[StartTime:") {
                start_time = Some(at);
            } else if let Some(at) = seconds_in(comment, "[BaseTime:") {
                base_time = Some(at);
            } else if is_in_nanoseconds(comment) && unit.is_none() {
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
        let Some((operation, status, time)) = key else {
            continue;
        };
        if let Some(tag) = interval.tag.as_ref().filter(|tag| subject(tag).is_none()) {
            named_tags.insert(tag.clone());
        }
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
        longest_ns = longest_ns.max(histogram.max_ns().unwrap_or(0));
        let slice = point.slices.entry(start_ns).or_insert_with(|| Slice {
            start_ns,
            length_ns,
            ..Slice::default()
        });
        slice.length_ns = slice.length_ns.max(length_ns);
        add(slice, (operation, status), time, &histogram);
    }
    if named_tags.len() > 1 && operation.is_some() {
        let names: Vec<String> =
            named_tags.iter().map(|tag| format!("`{}`", quoted(tag))).collect();
        let words = format!(
            "--operation would add up the histograms of {}: keep the lines of one tag, and import each by itself",
            names.join(", ")
        );
        return Err(Problem::Together(words).of(&file));
    }
    points.retain(|point| !point.slices.is_empty());
    if points.is_empty() {
        let expected = "there is no interval; import the log of a run that came to its end";
        let format = Format::HdrLog;
        return Err(Problem::NoResult { format, expected }.of(&file));
    }
    if empty > 0 {
        let words = format!("{} without any operation", counted(empty, "interval"));
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
        output.slices.iter_mut().for_each(settle);
        number_slices(&mut output.slices);
        output.measured_ns = covered(&output.slices);
        all.push(output);
    }
    let covered_ns: u64 = all.iter().map(|output| output.measured_ns).max().unwrap_or(0);
    if unit.is_none() && longest_ns as f64 > covered_ns as f64 + BEFORE_SECONDS * 1e9 {
        let words = format!(
            "its longest time would be {:.0} s in {:.0} s: it does not count in {}; say in what with --unit",
            longest_ns as f64 / 1e9,
            covered_ns as f64 / 1e9,
            if unit_ns > 1.0 { "microseconds" } else { "nanoseconds" }
        );
        return Err(Problem::Together(words).of(&file));
    }
    Ok(all)
}

/// Whether the log names a writer that counts in nanoseconds.
fn is_in_nanoseconds(comment: &str) -> bool {
    comment.starts_with("[Histograms in nanoseconds") || comment.starts_with("[Logged with jHiccup")
}

/// Operation, status and time from a tag or file name: `READ`, `READ-FAILED`, `Intended-READ`, `READ-rt`.
fn subject(name: &str) -> Option<Subject> {
    let (name, time) = match name.strip_prefix("Intended-") {
        Some(rest) => (rest, Time::Response),
        None => (name, Time::Service),
    };
    let by_suffix = [("-rt", Time::Response), ("-st", Time::Service), ("-wt", Time::Wait)];
    let apart =
        by_suffix.into_iter().find_map(|(suffix, time)| Some((name.strip_suffix(suffix)?, time)));
    let (name, time) = apart.unwrap_or((name, time));
    let (operation, status) = text::operation(name)?;
    Some((operation, status, time))
}

/// Whether YCSB writes a log of this name that is not of an operation.
fn is_none(name: &str) -> bool {
    let name = name.strip_prefix("Intended-").unwrap_or(name);
    matches!(name, "CLEANUP" | "SCAN-LATENCY-PER-RECORD")
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
    let number = load.strip_suffix("-threads").or_else(|| load.strip_suffix("-thread"))?;
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

/// Adds a histogram to a slice.
fn add(slice: &mut Slice, of: (Operation, Status), time: Time, histogram: &Histogram) {
    if histogram.is_empty() {
        return;
    }
    let mut latencies = Latencies::default();
    match time {
        Time::Service => latencies.service = packed(histogram),
        Time::Response => latencies.open.get_or_insert_default().response = packed(histogram),
        Time::Wait => latencies.open.get_or_insert_default().wait = packed(histogram),
    }
    lay(slice, of, latencies);
}

/// Adds latencies to those of the same operation and status. A histogram replaces a mere count.
pub(crate) fn lay(slice: &mut Slice, of: (Operation, Status), latencies: Latencies) {
    let same = slice.operations.iter_mut().find(|part| (part.operation, part.status) == of);
    let Some(part) = same else {
        let (operation, status) = of;
        slice.operations.push(OperationSlice { operation, status, latencies });
        return;
    };
    let known = &mut part.latencies;
    let is_count = |histogram: &Histogram| {
        let summary = histogram.summary();
        summary.is_some_and(|summary| summary.mean_ns.is_none())
    };
    if is_count(&known.service) && !latencies.service.is_empty() {
        known.service = latencies.service;
    } else if !is_count(&latencies.service) {
        merge(&mut known.service, &latencies.service);
    }
    if let Some(open) = latencies.open {
        let ours = known.open.get_or_insert_default();
        merge(&mut ours.response, &open.response);
        merge(&mut ours.wait, &open.wait);
    }
}

fn merge(into: &mut Histogram, other: &Histogram) {
    if !other.is_empty() {
        into.merge(other);
        *into = packed(into);
    }
}

/// Completes a slice after its last histogram: counts its operations, and where only response times are known, the number of service times. The read and the update of a
/// read-modify-write are not counted by themselves.
pub(crate) fn settle(slice: &mut Slice) {
    let mut completed = Completed::default();
    let mut whole = 0;
    for part in &mut slice.operations {
        if part.latencies.service.is_empty() {
            let count = part.latencies.response().count();
            part.latencies.service = Histogram::known(Summary { count, ..Summary::default() });
        }
        let count = part.latencies.count();
        match (part.operation, part.status) {
            (Operation::ReadModifyWrite, Status::Ok) => whole += count,
            (Operation::ReadModifyWrite | Operation::Verify, _) => {}
            (_, Status::Ok | Status::Batched) => completed.ok += count,
            (_, Status::NotFound) => completed.not_found += count,
            (_, Status::Error) => completed.error += count,
        }
    }
    slice.operations.sort_by_key(|part| (part.operation, part.status));
    completed.ok = completed.ok.saturating_sub(whole);
    slice.completed = completed;
}

/// The same in a few kilobytes.
fn packed(histogram: &Histogram) -> Histogram {
    Histogram::from_bytes(&histogram.to_bytes()).unwrap_or_else(|_| histogram.clone())
}

/// `[Tag=X,]start,length,max,histogram`, with seven fields where the locale has decimal commas.
fn interval(text: &str) -> Option<Interval> {
    let (tag, rest) = match text.strip_prefix("Tag=") {
        Some(tagged) => {
            let (tag, rest) = tagged.split_once(',')?;
            (Some(tag.to_owned()), rest)
        }
        None => (None, text),
    };
    let fields: Vec<&str> = rest.split(',').collect();
    let numbers: Vec<String> = match fields[..] {
        [start, length, max, _] => [start, length, max].map(str::to_owned).into(),
        [a, b, c, d, e, f, _] => {
            [(a, b), (c, d), (e, f)].map(|(whole, part)| format!("{whole}.{part}")).into()
        }
        _ => return None,
    };
    let numbers = numbers.iter().map(|number| text::number(number));
    let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
    let (start, length) = (numbers[0], numbers[1]);
    let encoded = fields[fields.len() - 1].trim().to_owned();
    let is_possible = start < MOST_SECONDS && length < MOST_SECONDS && !encoded.is_empty();
    is_possible.then_some(Interval { tag, start, length, encoded })
}

/// A time beyond the year 5000 is no time.
const MOST_SECONDS: f64 = 1e11;

/// The number of seconds after a mark in a comment.
fn seconds_in(comment: &str, mark: &str) -> Option<f64> {
    let rest = comment.strip_prefix(mark)?.trim();
    text::number(&rest.split([' ', ']']).next()?.replace(',', "."))
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
    untagged: Option<Subject>,
    file: &str,
    line: u64,
) -> Result<Option<Subject>, ImportError> {
    let Some(tag) = &interval.tag else {
        // YCSB names its logs `READ.hdr`; users rename them to `run1_READ.hdr`.
        let by_name = || {
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            let name = name.split('.').next().unwrap_or(name);
            subject(name).or_else(|| subject(name.rsplit('_').next()?))
        };
        return match untagged.or_else(by_name) {
            Some(found) => Ok(Some(found)),
            None => Err(Problem::NoOperation.at(file, line)),
        };
    };
    if let Some(found) = subject(tag) {
        return Ok(Some(found));
    }
    let service = |found: (Operation, Status)| Ok(Some((found.0, found.1, Time::Service)));
    // Tags of our own logs: `mix/load/operation`, with a status or `service` behind.
    let parts: Vec<&str> = tag.split('/').collect();
    match parts[..] {
        [_, _, operation] => {
            if let Some(found) = text::operation(operation) {
                return service(found);
            }
        }
        [_, _, _, "service"] | [_, _, _, _, "service"] => return Ok(None),
        [_, _, operation, status] => {
            if let Some(found) = text::operation(&format!("{operation}-{status}")) {
                return service(found);
            }
        }
        _ => {}
    }
    match named {
        _ if is_none(tag) => Ok(None),
        Some(operation) => service((operation, Status::Ok)),
        None => {
            let name = quoted(tag);
            Err(Problem::UnknownOperation { name }.at(file, line))
        }
    }
}

/// Cookies of V0, V1 and V2: plain and compressed.
const COOKIES: [(u32, u32); 3] =
    [(0x1c84_9308, 0x1c84_9309), (0x1c84_9301, 0x1c84_9302), (0x1c84_9303, 0x1c84_9304)];
const V0: usize = 0;
const V2: usize = 2;
/// Bits of a cookie that contain the bytes per count (V0 and V1).
const WIDTH: u32 = 0xf0;

/// Decodes a histogram and counts its values as nanoseconds.
fn decode(encoded: &str, unit_ns: f64) -> Result<Histogram, String> {
    let bytes =
        STANDARD.decode(encoded).map_err(|error| format!("its text is no base64 ({error})"))?;
    let cookie = |bytes: &[u8]| u32_at(bytes, 0).ok_or("it is too short".to_owned());
    let base = cookie(&bytes)? & !WIDTH;
    let plain = match COOKIES.iter().any(|(_, compressed)| *compressed == base) {
        true => {
            let mut plain = Vec::new();
            ZlibDecoder::new(bytes.get(8..).unwrap_or_default())
                .take(LONGEST_PLAIN + 1)
                .read_to_end(&mut plain)
                .map_err(|error| format!("it cannot be decompressed ({error})"))?;
            plain
        }
        false => bytes,
    };
    if plain.len() as u64 > LONGEST_PLAIN {
        return Err(format!("it is longer than {LONGEST_PLAIN} bytes"));
    }
    let cookie = cookie(&plain)?;
    let version = COOKIES.iter().position(|(plain, _)| *plain == cookie & !WIDTH);
    let version = version.ok_or("it is in none of the encodings V0, V1 and V2 of HdrHistogram")?;
    let scale = Scale::of(&plain, version)?;
    let mut histogram = Histogram::new();
    let mut index = 0_u64;
    let mut rest = scale.counts;
    while !rest.is_empty() {
        let count = match version {
            V2 => zig_zag(&mut rest),
            _ => word(&mut rest, (cookie & WIDTH) >> 4),
        };
        let count = count.ok_or("it ends within a count")?;
        if count < 0 && version == V2 {
            index = index.saturating_add(count.unsigned_abs());
            continue;
        }
        if count > 0 {
            let value = scale.middle(index).ok_or("it counts beyond its highest value")?;
            histogram.record_n(text::nanos(value, unit_ns), count.unsigned_abs());
        } else if count < 0 {
            return Err("it has a count below zero".into());
        }
        index = index.saturating_add(1);
    }
    Ok(histogram)
}

/// The header of a histogram.
struct Scale<'a> {
    /// log2 of the lowest discernible value.
    unit: u32,
    /// log2 of half the number of sub-buckets.
    half: u32,
    most: f64,
    ratio: f64,
    counts: &'a [u8],
}

impl<'a> Scale<'a> {
    fn of(plain: &'a [u8], version: usize) -> Result<Self, String> {
        // V0 has no payload length, offset or ratio.
        let (header, shift) = if version == V0 { (32, 8) } else { (40, 0) };
        let fields =
            (u32_at(plain, 12 - shift), u64_at(plain, 16 - shift), u64_at(plain, 24 - shift));
        let (Some(digits), Some(lowest), Some(highest)) = fields else {
            return Err(format!("it is shorter than its header of {header} bytes"));
        };
        let stated = match version {
            V0 => plain.len().checked_sub(header),
            _ => u32_at(plain, 4).map(|stated| stated as usize),
        };
        let there = plain.len().checked_sub(header);
        let (Some(stated), Some(there)) = (stated, there) else {
            return Err(format!("it is shorter than its header of {header} bytes"));
        };
        let (offset, ratio) = match version {
            V0 => (0, 1.0),
            _ => (u32_at(plain, 8).unwrap_or(0), f64::from_bits(u64_at(plain, 32).unwrap_or(0))),
        };
        let is_sane = digits <= 5 && lowest > 0 && highest >= lowest.saturating_mul(2);
        if !is_sane || offset != 0 || !ratio.is_finite() || ratio <= 0.0 {
            return Err("its header makes no sense".into());
        }
        if there < stated {
            return Err(format!(
                "its header announces {stated} bytes of counts, and only {there} follow"
            ));
        }
        // The first bucket has all sub-buckets; each doubling of the range adds half as many.
        let sub_buckets = (2.0 * 10_f64.powi(digits.cast_signed())).log2().ceil();
        let unit = lowest.ilog2();
        let in_units = highest as f64 / 2_f64.powi(unit.cast_signed());
        let doublings = (in_units.log2() - sub_buckets).ceil().max(0.0);
        let most = (doublings + 2.0) * sub_buckets.exp2() / 2.0;
        if most > MOST_COUNTS {
            return Err("it has room for more values than any latency needs".into());
        }
        Ok(Self {
            unit,
            half: sub_buckets as u32 - 1,
            most,
            ratio,
            counts: &plain[header..header + stated],
        })
    }

    /// The median equivalent value of a count, with which HdrHistogram computes its mean.
    fn middle(&self, index: u64) -> Option<f64> {
        if index as f64 >= self.most {
            return None;
        }
        // The first bucket has all sub-buckets, every other one only the upper half.
        let bucket = (index >> self.half).saturating_sub(1);
        let sub_bucket = index - (bucket << self.half);
        let width = 2_f64.powi((bucket as u32 + self.unit).cast_signed());
        Some((sub_bucket as f64 * width + (width / 2.0).floor()) * self.ratio)
    }
}

/// Reads a big-endian count of `width` bytes.
fn word(rest: &mut &[u8], width: u32) -> Option<i64> {
    // V2 sets the lowest bit.
    let width = (width & 0xe) as usize;
    let (bytes, after) = rest.split_at_checked(width)?;
    let value = match width {
        2 => i64::from(i16::from_be_bytes(bytes.try_into().ok()?)),
        4 => i64::from(i32::from_be_bytes(bytes.try_into().ok()?)),
        8 => i64::from_be_bytes(bytes.try_into().ok()?),
        _ => return None,
    };
    *rest = after;
    Some(value)
}

/// Reads a ZigZag LEB128 number of at most nine bytes. The ninth byte has no continuation bit.
fn zig_zag(rest: &mut &[u8]) -> Option<i64> {
    let mut value = 0_u64;
    for place in 0..9 {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        let is_last = place == 8 || byte & 0x80 == 0;
        let bits = if place == 8 { *byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * place);
        if is_last {
            break;
        }
    }
    Some((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at + 8)?;
    Some(u64::from_be_bytes(eight.try_into().ok()?))
}

#[cfg(test)]
mod tests;
