//! The accesses of a trace in few bytes: what the player on the page reads (`web/src/map/unpack.ts`).
//!
//! Numbers are little endian.
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `PLMDKMAP` |
//! | 8 | 4 | version: 1 |
//! | 12 | 4 | length of the head, bytes |
//! | 16 | | the head: [`PackHead`] as JSON |
//! | then | | the columns, as one raw deflate stream |
//!
//! Of *n* accesses in the order of time, the columns are, one after the other: time (4 *n* bytes), offset (4 *n*), length (4 *n*), file (*n*). A column of
//! four bytes a number holds the lowest bytes of all numbers first, then the next ones, and so on: what hardly changes is then next to nothing.
//!
//! - **time**: ticks since the access before; of the first, since the beginning. A tick is `tick_ns`: a microsecond, or ten, hundred, … where all
//!   would not fit into 32 bits otherwise.
//! - **offset**: in sectors of 512 bytes from the first byte of the file, as the distance from the end of the access to this file before (0 for the first)
//!   modulo 2^32, folded: twice the distance, or twice its absolute value less one where it is negative.
//! - **length**: sectors, at least 1.
//! - **file**: its place among the files; 128 more for a write.
//!
//! A reader refuses a version that it does not know. A field more in the head is not a new version.

use crate::diskmap::{Access, Accesses, DiskmapError, FileUse, Layout};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use plimsoll_record::{NotedOperation, Operation};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::ops::Range;

/// The version that [`pack`] writes.
pub const PACK_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"PLMDKMAP";
const HEAD_AT: usize = 16;
const SECTOR_BYTES: u64 = 512;
/// Bytes of an access: three numbers of four bytes, and the file.
const ACCESS_BYTES: usize = 13;
const IS_WRITE: u8 = 0x80;
/// Pixels of the picture by which the layout is chosen.
const LAYOUT_WIDTH: usize = 1024;
/// What the mark at the begin of a measured part ends with.
const MEASURING: &str = "measuring";
/// Far more than a page has room for.
const MOST: usize = 1 << 24;
/// A budget of bytes is never tried with fewer accesses.
const FEWEST: usize = 256;

/// A measured point whose operations were noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedPoint<'a> {
    /// Such as `reads, 1 thread`.
    pub label: String,
    /// Sessions that read or wrote at the same time.
    pub sessions: u32,
    /// In the order in which they began.
    pub operations: &'a [NotedOperation],
}

/// What there is to know beside the accesses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackHead {
    pub accesses: u64,
    pub tick_ns: u64,
    /// Tick 0: nanoseconds after the first request of the trace.
    pub begin_ns: u64,
    /// Cells in a row of the picture of all files.
    pub columns: u64,
    /// Bytes of a file that share a cell, so that all files fill a square together.
    pub cell_bytes: u64,
    /// What was done to each file in the whole selection, also by accesses that are left out.
    pub files: Vec<FileUse>,
    /// Marks of the trace, in the order of time.
    pub moments: Vec<PackedMoment>,
    /// Operations that were noted, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<PackedOperations>,
    /// What is not in the columns.
    pub left_out: LeftOut,
}

impl PackHead {
    /// The head of the first of its accesses.
    fn of_the_first(&self, kept: &[Access]) -> Self {
        let mut head = self.clone();
        let ticks = Ticks { begin_ns: self.begin_ns, tick_ns: self.tick_ns };
        let last = kept.last().map_or(0, |access| ticks.at(access.time_ns));
        let after = head.accesses.saturating_sub(kept.len() as u64);
        head.left_out.after = head.left_out.after.saturating_add(after);
        head.accesses = kept.len() as u64;
        head.moments.retain(|moment| moment.tick <= last);
        if let Some(operations) = &mut head.operations {
            // Sorted by their begin.
            let begun = operations.begin.partition_point(|begin| *begin <= last);
            let after = operations.end_after(begun, head.accesses);
            head.left_out.operations = head.left_out.operations.saturating_add(after);
        }
        head
    }
}

impl PackedOperations {
    /// Leaves out those from this one on, and of the others what is beyond this many accesses. Returns how many it left out.
    fn end_after(&mut self, begun: usize, accesses: u64) -> u64 {
        let left_out = self.begin.len().saturating_sub(begun) as u64;
        self.kind.truncate(begun);
        for column in [&mut self.point, &mut self.number, &mut self.session] {
            column.truncate(begun);
        }
        for column in [&mut self.begin, &mut self.end, &mut self.first, &mut self.count] {
            column.truncate(begun);
        }
        for (first, count) in self.first.iter_mut().zip(&mut self.count) {
            *first = (*first).min(accesses);
            *count = (*count).min(accesses - *first);
        }
        left_out
    }
}

/// A mark of the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedMoment {
    /// When it was set; 0 where that was before.
    pub tick: u64,
    /// Such as `reads, 1 thread: measuring`.
    pub label: String,
}

/// Operations in the order in which they began, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedOperations {
    /// Sessions that read or wrote at the same time, at most. With one, an access lies in one operation; with more, in any of those under way.
    pub sessions: u32,
    pub points: Vec<String>,
    pub point: Vec<u32>,
    /// Number in its point, from 0.
    pub number: Vec<u32>,
    pub kind: Vec<Operation>,
    /// The session of the access, from 0.
    pub session: Vec<u32>,
    pub begin: Vec<u64>,
    pub end: Vec<u64>,
    /// The first access while it was under way.
    pub first: Vec<u64>,
    /// How many there were, one after the other.
    pub count: Vec<u64>,
}

/// Numbers of what is not in the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Accesses before those in the columns.
    pub before: u64,
    pub after: u64,
    /// Files that were accessed and are not drawn.
    pub files: u64,
    /// Requests that went to no known file, such as the filesystem's own log.
    pub elsewhere: u64,
    /// Requests before the first of the trace, which made room for later ones.
    pub overwritten: u64,
    /// Operations before or after the accesses in the columns.
    pub operations: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked {
    pub head: PackHead,
    /// In the order of time, which is rounded down to whole ticks; offsets and lengths are whole sectors.
    pub accesses: Vec<Access>,
}

/// Packs at most this many accesses, in the order of time. Where there are more, they begin with the first measured part, or earlier where less than that
/// is left from there on; the head says how many are left out.
pub fn pack(accesses: &Accesses, points: &[NotedPoint<'_>], most_accesses: usize) -> Vec<u8> {
    let range = chosen(accesses, most_accesses);
    let kept = &accesses.all[range.clone()];
    let ticks = Ticks::of(kept);
    let layout = Layout::of(accesses, LAYOUT_WIDTH);
    let (operations, operations_left_out) =
        packed_operations(points, kept, accesses.start_ns, &ticks);
    let head = PackHead {
        accesses: kept.len() as u64,
        tick_ns: ticks.tick_ns,
        begin_ns: ticks.begin_ns,
        columns: layout.columns as u64,
        cell_bytes: layout.cell_bytes,
        files: accesses.used(),
        moments: moments(accesses, kept, &ticks),
        operations,
        left_out: LeftOut {
            before: range.start as u64,
            after: (accesses.all.len() - range.end) as u64,
            files: accesses.files_left_out as u64,
            elsewhere: accesses.elsewhere,
            overwritten: accesses.overwritten,
            operations: operations_left_out,
        },
    };
    encoded(&head, kept)
}

fn encoded(head: &PackHead, kept: &[Access]) -> Vec<u8> {
    let json = serde_json::to_vec(head).expect("a head has only string keys and whole numbers");
    let mut packed = Vec::with_capacity(HEAD_AT + json.len() + 4 * kept.len());
    packed.extend_from_slice(&MAGIC);
    packed.extend_from_slice(&PACK_VERSION.to_le_bytes());
    let length = u32::try_from(json.len()).expect("few thousand marks and operations are no 4 GiB");
    packed.extend_from_slice(&length.to_le_bytes());
    packed.extend_from_slice(&json);
    let mut encoder = DeflateEncoder::new(packed, Compression::default());
    encoder
        .write_all(&columns(kept, head))
        .and_then(|()| encoder.finish())
        .expect("memory takes everything")
}

/// As [`pack`], with as many accesses as make the whole at most this large, as far as the head alone is not larger.
pub fn pack_within(accesses: &Accesses, points: &[NotedPoint<'_>], most_bytes: usize) -> Vec<u8> {
    within(most_bytes, accesses.all.len(), |most| pack(accesses, points, most))
}

/// Drops accesses from the end until the result takes at most this many bytes. It takes more only if the head and a few accesses do.
pub fn shortened(packed: &[u8], most_bytes: usize) -> Result<Vec<u8>, DiskmapError> {
    let Unpacked { head, accesses } = unpack(packed)?;
    Ok(within(most_bytes, accesses.len(), |most| {
        let kept = &accesses[..most.min(accesses.len())];
        encoded(&head.of_the_first(kept), kept)
    }))
}

/// Calls `pack` with fewer and fewer accesses until the result takes at most this many bytes.
fn within(most_bytes: usize, all: usize, pack: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    // Hardly any accesses take less than two bytes each.
    let mut most = all.min((most_bytes / 2).max(FEWEST));
    loop {
        let packed = pack(most);
        if packed.len() <= most_bytes || most <= FEWEST {
            return packed;
        }
        let share = most_bytes as f64 / packed.len() as f64;
        most = ((most as f64 * share * 0.95) as usize).max(FEWEST);
    }
}

pub fn unpack(packed: &[u8]) -> Result<Unpacked, DiskmapError> {
    let failed = DiskmapError::Packed;
    let (beginning, rest) = packed.split_at_checked(HEAD_AT).ok_or(failed("they are cut off"))?;
    if beginning[..8] != MAGIC {
        return Err(failed("they begin with something else"));
    }
    let number = |at: usize| {
        let bytes = beginning[at..at + 4].try_into();
        u32::from_le_bytes(bytes.expect("four bytes of sixteen"))
    };
    if number(8) != PACK_VERSION {
        return Err(failed("they are of another version"));
    }
    let (json, body) =
        rest.split_at_checked(number(12) as usize).ok_or(failed("their head is cut off"))?;
    let head: PackHead =
        serde_json::from_slice(json).map_err(|_| failed("their head is damaged"))?;
    let count = usize::try_from(head.accesses).ok().filter(|count| *count <= MOST);
    let count = count.ok_or(failed("there are too many"))?;
    let length = count.checked_mul(ACCESS_BYTES).ok_or(failed("there are too many"))?;
    let mut columns = Vec::new();
    DeflateDecoder::new(body)
        .take(length as u64 + 1)
        .read_to_end(&mut columns)
        .map_err(|_| failed("their columns are damaged"))?;
    if columns.len() != length {
        return Err(failed("their columns have another length than their head says"));
    }
    let word = |column: usize, index: usize| {
        let at = |plane: usize| columns[(column * 4 + plane) * count + index];
        u32::from_le_bytes([at(0), at(1), at(2), at(3)])
    };
    let mut ends = vec![0_u32; head.files.len()];
    let mut tick = 0_u64;
    let mut accesses = Vec::with_capacity(count);
    for index in 0..count {
        tick += u64::from(word(0, index));
        let byte = columns[12 * count + index];
        let file = usize::from(byte & !IS_WRITE);
        let end = ends.get_mut(file).ok_or(failed("an access is to no file"))?;
        let offset = end.wrapping_add(unfolded(word(1, index)));
        let length = word(2, index);
        *end = offset.wrapping_add(length);
        accesses.push(Access {
            time_ns: head.begin_ns + tick * head.tick_ns,
            file: file as u16,
            offset: u64::from(offset) * SECTOR_BYTES,
            length: u64::from(length) * SECTOR_BYTES,
            is_write: byte & IS_WRITE != 0,
        });
    }
    Ok(Unpacked { head, accesses })
}

/// Which of the accesses are packed.
fn chosen(accesses: &Accesses, most: usize) -> Range<usize> {
    let all = &accesses.all;
    if all.len() <= most {
        return 0..all.len();
    }
    let measuring = accesses.moments.iter().find(|moment| moment.label.ends_with(MEASURING));
    let from =
        measuring.map_or(0, |moment| all.partition_point(|access| access.time_ns < moment.time_ns));
    let from = from.min(all.len() - most);
    from..from + most
}

struct Ticks {
    begin_ns: u64,
    tick_ns: u64,
}

impl Ticks {
    fn of(kept: &[Access]) -> Self {
        let begin_ns = kept.first().map_or(0, |access| access.time_ns);
        let span_ns = kept.last().map_or(0, |access| access.time_ns - begin_ns);
        let mut tick_ns = 1_000;
        while span_ns / tick_ns > u64::from(u32::MAX) {
            tick_ns *= 10;
        }
        Self { begin_ns, tick_ns }
    }

    /// 0 for what was before.
    fn at(&self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.begin_ns) / self.tick_ns
    }
}

/// Marks up to the last access; of those before the first access the last one, which says what was going on.
fn moments(accesses: &Accesses, kept: &[Access], ticks: &Ticks) -> Vec<PackedMoment> {
    let last = kept.last().map_or(0, |access| ticks.at(access.time_ns));
    let mut moments: Vec<PackedMoment> = Vec::new();
    for moment in &accesses.moments {
        let tick = ticks.at(moment.time_ns);
        if tick > last {
            break;
        }
        if moment.time_ns <= ticks.begin_ns {
            moments.clear();
        }
        moments.push(PackedMoment { tick, label: moment.label.clone() });
    }
    moments
}

/// The operations whose accesses are kept, and the number of others.
fn packed_operations(
    points: &[NotedPoint<'_>],
    kept: &[Access],
    start_ns: u64,
    ticks: &Ticks,
) -> (Option<PackedOperations>, u64) {
    let mut packed = PackedOperations::default();
    let mut left_out = 0;
    let (Some(first), Some(last)) = (kept.first(), kept.last()) else {
        return (None, 0);
    };
    let (begin_ns, end_ns) = (start_ns + first.time_ns, start_ns + last.time_ns);
    for point in points {
        let place = packed.points.len() as u32;
        let mut any = false;
        for (number, operation) in (0..).zip(point.operations) {
            if operation.end_ns < begin_ns || operation.begin_ns > end_ns {
                left_out += 1;
                continue;
            }
            any = true;
            let since = |time_ns: u64| time_ns.saturating_sub(start_ns);
            let (begin, end) = (since(operation.begin_ns), since(operation.end_ns));
            let from = kept.partition_point(|access| access.time_ns < begin);
            let to = kept.partition_point(|access| access.time_ns <= end);
            packed.point.push(place);
            packed.number.push(number);
            packed.kind.push(operation.operation);
            packed.session.push(operation.session);
            packed.begin.push(ticks.at(begin));
            packed.end.push(ticks.at(end));
            packed.first.push(from as u64);
            packed.count.push(to.saturating_sub(from) as u64);
        }
        if any {
            packed.sessions = packed.sessions.max(point.sessions);
            packed.points.push(point.label.clone());
        }
    }
    let known = !packed.points.is_empty();
    (known.then_some(packed), left_out)
}

/// All columns, one after the other.
fn columns(kept: &[Access], head: &PackHead) -> Vec<u8> {
    let ticks = Ticks { begin_ns: head.begin_ns, tick_ns: head.tick_ns };
    let (count, files) = (kept.len(), head.files.len());
    let mut columns = vec![0; ACCESS_BYTES * count];
    let mut ends = vec![0_u32; files];
    let mut before = 0;
    for (index, access) in kept.iter().enumerate() {
        let mut put = |column: usize, value: u32| {
            for (plane, byte) in value.to_le_bytes().into_iter().enumerate() {
                columns[(column * 4 + plane) * count + index] = byte;
            }
        };
        let tick = ticks.at(access.time_ns);
        // Below 2^32, as all ticks together are.
        put(0, (tick - before) as u32);
        before = tick;
        let (offset, length) = sectors(access);
        let end = &mut ends[usize::from(access.file)];
        put(1, folded(offset.wrapping_sub(*end)));
        put(2, length);
        *end = offset.wrapping_add(length);
        let write = if access.is_write { IS_WRITE } else { 0 };
        // Far fewer files than 128 are ever drawn.
        columns[12 * count + index] = access.file as u8 & !IS_WRITE | write;
    }
    columns
}

/// Offset and length, modulo 2 TiB.
fn sectors(access: &Access) -> (u32, u32) {
    let begin = access.offset / SECTOR_BYTES;
    let end = (access.offset + access.length.max(1)).div_ceil(SECTOR_BYTES);
    (begin as u32, (end - begin) as u32)
}

fn folded(distance: u32) -> u32 {
    distance << 1 ^ ((distance as i32) >> 31) as u32
}

fn unfolded(folded: u32) -> u32 {
    folded >> 1 ^ (folded & 1).wrapping_neg()
}
