//! What a mongod wrote about itself: the files of `diagnostic.data` (full-time diagnostic data capture), one sample a second.
//!
//! A file is a row of BSON documents. Those of type 1 carry a chunk: a length, and compressed by zlib a reference document, the number of
//! its numbers, the number of samples that follow, and for each number in turn its differences from sample to sample as variable-length
//! integers, where a zero is followed by how many more zeros there are. `metrics.interim` holds the chunk that was not full when the
//! server ended. The last document of a file is often cut off.
//!
//! The crate `mprobe-diagnostics` was tried for this: it leaves out `metrics.interim` and the first sample of each chunk, and panics on
//! damaged files.

use super::status::{figures_by, places};
use crate::MetricsSample;
use flate2::read::ZlibDecoder;
use mongodb::bson::{RawBsonRef, RawDocument};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;

/// The section of a sample that holds serverStatus.
const SECTION: &str = "serverStatus";
/// When the server began to take the section, within it.
const START: &str = "start";
/// Type of a document with a chunk.
const CHUNK: i32 = 1;
/// mongod makes chunks of 300 samples.
const MOST_SAMPLES: usize = 10_000;
/// And of a few MB.
const MOST_CHUNK_BYTES: u64 = 256 << 20;
/// Bytes of a file that are read at most. The default of a server is 10 MB, but its settings can allow any size.
const MOST_FILE_BYTES: u64 = 1 << 30;
/// Documents of serverStatus are not nested deeper than five.
const MOST_DEPTH: u32 = 32;

/// Every sample of a directory, in the order of time.
pub(super) fn samples(directory: &Path) -> io::Result<Vec<MetricsSample>> {
    let refuse = |path: &Path, source: io::Error| {
        io::Error::new(source.kind(), format!("cannot read {}: {source}", path.display()))
    };
    let entries = std::fs::read_dir(directory).map_err(|source| refuse(directory, source))?;
    let mut samples = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| refuse(directory, source))?.path();
        let is_metrics = path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with("metrics."));
        if is_metrics {
            let bytes = plimsoll_record::files::read(&path, MOST_FILE_BYTES)
                .map_err(|source| refuse(&path, source))?;
            read_file(&bytes, &mut samples);
        }
    }
    samples.sort_by_key(|(time, _)| *time);
    // What is in metrics.interim may be in a file as well.
    samples.dedup_by_key(|(time, _)| *time);
    Ok(samples)
}

/// Every chunk of a file that is whole.
fn read_file(mut bytes: &[u8], samples: &mut Vec<MetricsSample>) {
    while let Some((document, rest)) = split_document(bytes) {
        bytes = rest;
        if document.get_i32("type").ok() == Some(CHUNK)
            && let Ok(data) = document.get_binary("data")
        {
            read_chunk(data.bytes, samples);
        }
    }
}

fn split_document(bytes: &[u8]) -> Option<(&RawDocument, &[u8])> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    let document = RawDocument::from_bytes(bytes.get(..length)?).ok()?;
    Some((document, &bytes[length..]))
}

/// Adds the samples of a chunk; of a damaged one nothing.
fn read_chunk(data: &[u8], samples: &mut Vec<MetricsSample>) -> Option<()> {
    let mut chunk = Vec::new();
    let packed = data.get(4..)?;
    ZlibDecoder::new(packed).take(MOST_CHUNK_BYTES).read_to_end(&mut chunk).ok()?;
    let (reference, mut rest) = split_document(&chunk)?;
    let numbers = take_u32(&mut rest)? as usize;
    let differences = take_u32(&mut rest)? as usize;
    if differences > MOST_SAMPLES {
        return None;
    }
    let wanted = wanted();
    let mut columns = Columns { wanted: &wanted, numbers: 0, kept: Vec::new() };
    columns.gather(reference, &mut String::new(), 0)?;
    if columns.numbers != numbers {
        return None;
    }
    let mut values: HashMap<&str, Vec<i64>> = HashMap::new();
    let mut kept = columns.kept.into_iter().peekable();
    let mut zeros = 0;
    for number in 0..numbers {
        let column = kept.next_if(|column| column.number == number);
        let mut row = Vec::new();
        let mut value = column.as_ref().map_or(0, |column| column.first);
        row.push(value);
        for _ in 0..differences {
            let difference = if zeros > 0 {
                zeros -= 1;
                0
            } else {
                let difference = take_variable(&mut rest)?;
                if difference == 0 {
                    zeros = take_variable(&mut rest)?;
                }
                difference
            };
            value = value.wrapping_add(difference as i64);
            row.push(value);
        }
        if let Some(column) = column {
            values.insert(column.place, row);
        }
    }
    let times = values.get(joined(&[START]).as_str())?;
    for (index, time) in times.iter().enumerate() {
        let mut figures = Vec::new();
        let value = |place: &[&str]| {
            let row = values.get(joined(place).as_str())?;
            Some(row[index] as f64)
        };
        figures_by(&value, &mut figures);
        let figures = figures.into_iter().map(|(name, figure)| (name.into(), figure));
        samples.push((*time, figures.collect()));
    }
    Some(())
}

/// The places that are kept, by their joined names.
fn wanted() -> Vec<String> {
    let mut wanted: Vec<String> = places().map(|place| joined(&place)).collect();
    wanted.push(joined(&[START]));
    wanted.sort_unstable();
    wanted
}

/// A place in a sample, by the names from the outside in. Names hold no NUL.
fn joined(place: &[&str]) -> String {
    let mut text = SECTION.to_owned();
    for name in place {
        text.push('\0');
        text.push_str(name);
    }
    text
}

struct Column<'a> {
    place: &'a str,
    /// Which of the numbers of the reference document.
    number: usize,
    first: i64,
}

/// The numbers of a reference document, in their order.
struct Columns<'a> {
    wanted: &'a [String],
    numbers: usize,
    kept: Vec<Column<'a>>,
}

impl Columns<'_> {
    /// Everything that counts as a number, as mongod sees it.
    fn gather(&mut self, document: &RawDocument, place: &mut String, depth: u32) -> Option<()> {
        if depth > MOST_DEPTH {
            return None;
        }
        for element in document.iter_elements() {
            let element = element.ok()?;
            let before = place.len();
            if before > 0 {
                place.push('\0');
            }
            place.push_str(element.key().as_str());
            match element.value().ok()? {
                RawBsonRef::Int32(value) => self.number(place, i64::from(value)),
                RawBsonRef::Int64(value) => self.number(place, value),
                RawBsonRef::Double(value) => self.number(place, value as i64),
                RawBsonRef::Boolean(value) => self.number(place, i64::from(value)),
                RawBsonRef::DateTime(value) => self.number(place, value.timestamp_millis()),
                // Two numbers, neither of which is kept.
                RawBsonRef::Timestamp(_) => self.numbers += 2,
                RawBsonRef::Decimal128(_) => self.numbers += 1,
                RawBsonRef::Document(inner) => self.gather(inner, place, depth + 1)?,
                RawBsonRef::Array(inner) => {
                    let inner = RawDocument::from_bytes(inner.as_bytes()).ok()?;
                    self.gather(inner, place, depth + 1)?;
                }
                _ => {}
            }
            place.truncate(before);
        }
        Some(())
    }

    fn number(&mut self, place: &str, first: i64) {
        let found = self.wanted.binary_search_by(|known| known.as_str().cmp(place));
        if let Ok(index) = found {
            self.kept.push(Column { place: &self.wanted[index], number: self.numbers, first });
        }
        self.numbers += 1;
    }
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number))
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn take_variable(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use mongodb::bson::{Binary, DateTime, Document, Timestamp, doc};
    use plimsoll_record::figures;
    use plimsoll_testing::assert_starts;
    use std::io::Write;

    fn variable(mut number: u64, out: &mut Vec<u8>) {
        while number > 0x7f {
            out.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }

    /// A chunk from its reference document and the differences of each of its numbers, sample after sample.
    fn chunk(reference: &Document, differences: &[&[i64]]) -> Vec<u8> {
        let mut inner = reference.to_vec().unwrap();
        let samples = differences.first().map_or(0, |row| row.len());
        inner.extend((differences.len() as u32).to_le_bytes());
        inner.extend((samples as u32).to_le_bytes());
        // Runs of zeros continue from one number to the next.
        let all: Vec<i64> = differences.concat();
        let mut at = 0;
        while at < all.len() {
            variable(all[at] as u64, &mut inner);
            if all[at] == 0 {
                let more = all[at + 1..].iter().take_while(|value| **value == 0).count();
                variable(more as u64, &mut inner);
                at += more;
            }
            at += 1;
        }
        let mut data = (inner.len() as u32).to_le_bytes().to_vec();
        let mut encoder = ZlibEncoder::new(&mut data, Compression::default());
        encoder.write_all(&inner).unwrap();
        encoder.finish().unwrap();
        let data = Binary { subtype: mongodb::bson::spec::BinarySubtype::Generic, bytes: data };
        doc! { "_id": DateTime::from_millis(0), "type": 1, "data": data }.to_vec().unwrap()
    }

    fn metadata() -> Vec<u8> {
        doc! { "_id": DateTime::from_millis(0), "type": 0, "doc": { "buildInfo": { "version": "6.0.5" } } }
            .to_vec()
            .unwrap()
    }

    fn reference() -> Document {
        doc! {
            "start": DateTime::from_millis(900),
            "serverStatus": {
                "start": DateTime::from_millis(1_000),
                "host": "db1",
                "uptime": 2.9,
                "connections": { "current": 5_i32 },
                "wiredTiger": { "cache": { "bytes currently in the cache": 7_000_i64 } },
                "list": [1_i32, { "x": true }],
                "clusterTime": Timestamp { time: 3, increment: 4 },
                "end": DateTime::from_millis(1_001),
            },
            "end": DateTime::from_millis(1_002),
        }
    }

    const NO_DIFFERENCES: [&[i64]; 11] = [&[]; 11];

    /// Two differences for each of the eleven numbers of the reference document.
    const DIFFERENCES: [&[i64]; 11] = [
        &[1_000, 1_000],
        &[1_000, 999],
        &[0, 0],
        &[0, -3],
        &[1 << 40, -1],
        &[0, 0],
        &[0, 0],
        &[0, 1],
        &[0, 0],
        &[1_000, 999],
        &[1_000, 1_000],
    ];

    fn expected() -> Vec<MetricsSample> {
        let at = |time, connections, used: i64| {
            let figures = vec![
                (figures::ENGINE_CACHE_USED.into(), used as f64),
                (figures::SERVER_CONNECTIONS.into(), connections),
            ];
            (time, figures)
        };
        vec![
            at(1_000, 5.0, 7_000),
            at(2_000, 5.0, 7_000 + (1 << 40)),
            at(2_999, 2.0, 6_999 + (1 << 40)),
        ]
    }

    #[test]
    fn files_and_the_interim_one_are_read_in_the_order_of_time() {
        let directory = tempfile::tempdir().unwrap();
        let mut later = reference();
        let status = later.get_document_mut("serverStatus").unwrap();
        status.insert("start", DateTime::from_millis(9_000));
        let interim = [chunk(&reference(), &DIFFERENCES), chunk(&later, &NO_DIFFERENCES)].concat();
        let first = [metadata(), chunk(&reference(), &DIFFERENCES)].concat();
        std::fs::write(directory.path().join("metrics.interim"), interim).unwrap();
        std::fs::write(directory.path().join("metrics.2026-11-01T10-00-00Z-00000"), first).unwrap();
        std::fs::write(directory.path().join("other"), b"?").unwrap();
        let mut all = expected();
        all.push((9_000, expected()[0].1.clone()));
        assert_eq!(samples(directory.path()).unwrap(), all);
    }

    /// The directory belongs to the user under whom servers run.
    #[test]
    fn a_pipe_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let metrics = directory.path().join("metrics.interim");
        rustix::fs::mkfifoat(rustix::fs::CWD, &metrics, rustix::fs::Mode::RUSR).unwrap();
        let error = samples(directory.path()).unwrap_err();
        let named = format!("cannot read {}: ", metrics.display());
        assert_starts(&error, &named);
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_left_out() {
        let whole = [metadata(), chunk(&reference(), &DIFFERENCES)].concat();
        let mut file = whole.clone();
        file.extend(&whole);
        for length in whole.len()..file.len() {
            let mut found = Vec::new();
            read_file(&file[..length], &mut found);
            assert_eq!(found, expected(), "{length}");
        }
        // Every byte that is changed gives the samples, others, or none, and never a panic.
        for at in 0..whole.len() {
            for flip in [1, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] ^= flip;
                read_file(&damaged, &mut Vec::new());
            }
        }
        let mut found = Vec::new();
        // One number fewer than the reference document has.
        read_file(&chunk(&reference(), &DIFFERENCES[1..]), &mut found);
        assert!(found.is_empty());
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let error = samples(Path::new("/nowhere/diagnostic.data")).unwrap_err();
        let said = error.to_string();
        assert_starts(&said, "cannot read /nowhere/diagnostic.data");
    }
}
