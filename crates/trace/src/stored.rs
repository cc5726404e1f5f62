//! The form for keeping. After the head a single zstd frame with checksum: the length of a JSON text (8 bytes) and this text with all but the
//! requests; then blocks of up to [`BLOCK`] requests, each with the number of its requests and of its bytes (4 bytes both), the last one empty. A
//! block holds one column after another, every number as a varint: what hardly changes is then next to nothing.

use crate::error::TraceError;
use crate::extents::ExtentMap;
use crate::head::{Form, Head, Prefix};
use crate::request::{Kind, Request};
use crate::trace::{Mark, Trace};
use plimsoll_record::TraceReference;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

const BLOCK: usize = 65_536;
/// No request takes more: ten bytes for each of three numbers of 64 bits, at most five for the others.
const REQUEST_LIMIT: usize = 3 * 10 + 4 * 5;
const COMPRESSION: i32 = 9;
/// The text beside the requests holds marks and maps of files: thousands at most.
const LONGEST_ABOUT_BYTES: u64 = 256 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// For the record of the run.
    pub reference: TraceReference,
    /// Requests among the last ones that were not whole.
    pub incomplete: u64,
    pub bytes: u64,
}

#[derive(Deserialize)]
struct About {
    overwritten: u64,
    incomplete: u64,
    marks: Vec<Mark>,
    marks_missing: u64,
    maps: Vec<ExtentMap>,
}

#[derive(Serialize)]
struct AboutRef<'a> {
    overwritten: u64,
    incomplete: u64,
    marks: &'a [Mark],
    marks_missing: u64,
    maps: &'a [ExtentMap],
}

/// Writes what a trace holds, with the places of the files, as a compact file that is only read from then on. The destination appears at once and
/// whole, for this user alone; the trace itself is left as it is, for the caller to remove.
pub fn finish(path: &Path, destination: &Path, extents: &[ExtentMap]) -> Result<Kept, TraceError> {
    let mut trace = Trace::open(path)?;
    trace.maps.extend_from_slice(extents);
    trace.maps.sort_by_key(|map| map.time_ns);

    let folder = match destination.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let failed = || TraceError::io("write", destination);
    let mut file =
        tempfile::Builder::new().prefix(".trace-").tempfile_in(folder).map_err(failed())?;
    let mut prefix = Prefix {
        form: Form::Stored,
        head: trace.head.clone(),
        requests: trace.requests.len() as u64,
        marks: trace.marks.len() as u64,
        marks_at: 0,
        records_at: 0,
    };
    prefix.records_at = prefix.encoded()?.len() as u64;
    let head = prefix.encoded()?;
    let about = about(&trace)?;
    write(file.as_file_mut(), &head, &about, &trace.requests).map_err(failed())?;
    let bytes = file.as_file().metadata().map_err(failed())?.len();
    file.as_file().sync_all().map_err(failed())?;
    file.persist_noclobber(destination).map_err(|error| failed()(error.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed())?;
    Ok(Kept {
        reference: TraceReference {
            path: destination.to_owned(),
            requests: trace.requests.len() as u64,
            overwritten: trace.overwritten,
        },
        incomplete: trace.incomplete,
        bytes,
    })
}

fn about(trace: &Trace) -> Result<Vec<u8>, TraceError> {
    let about = AboutRef {
        overwritten: trace.overwritten,
        incomplete: trace.incomplete,
        marks: &trace.marks,
        marks_missing: trace.marks_missing,
        maps: &trace.maps,
    };
    serde_json::to_vec(&about).map_err(TraceError::Json)
}

fn write(file: &mut File, head: &[u8], about: &[u8], requests: &[Request]) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    file.write_all(head)?;
    let mut out = zstd::Encoder::new(file, COMPRESSION)?;
    out.include_checksum(true)?;
    out.write_all(&(about.len() as u64).to_le_bytes())?;
    out.write_all(about)?;
    let mut before = Before::default();
    let mut columns = Vec::new();
    for block in requests.chunks(BLOCK) {
        columns.clear();
        encode(block, &mut before, &mut columns);
        out.write_all(&(block.len() as u32).to_le_bytes())?;
        out.write_all(&(columns.len() as u32).to_le_bytes())?;
        out.write_all(&columns)?;
    }
    out.write_all(&[0; 8])?;
    out.finish()?.flush()
}

pub(crate) fn read(mut file: File, prefix: Prefix, path: &Path) -> Result<Trace, TraceError> {
    let damaged = |error: io::Error| TraceError::damaged(path, error.to_string());
    file.seek(SeekFrom::Start(prefix.records_at)).map_err(TraceError::io("read", path))?;
    let mut body = zstd::Decoder::new(BufReader::new(file)).map_err(damaged)?;
    let mut length = [0; 8];
    body.read_exact(&mut length).map_err(damaged)?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_ABOUT_BYTES {
        return Err(TraceError::damaged(path, "its description is larger than descriptions are"));
    }
    let mut about = Vec::new();
    (&mut body).take(length).read_to_end(&mut about).map_err(damaged)?;
    let about: About = serde_json::from_slice(&about)
        .map_err(|error| TraceError::damaged(path, error.to_string()))?;
    let requests = requests(&mut body, prefix.requests).map_err(damaged)?;
    // Reading to the very end checks the checksum. A small file can unfold to a very large one, so nothing more is read than belongs there.
    if body.read(&mut [0]).map_err(damaged)? > 0 {
        return Err(TraceError::damaged(path, "something follows the last request"));
    }
    if requests.len() as u64 != prefix.requests {
        let what = format!("it holds {} requests and says {}", requests.len(), prefix.requests);
        return Err(TraceError::damaged(path, what));
    }
    Ok(trace(prefix.head, about, requests))
}

fn trace(head: Head, about: About, requests: Vec<Request>) -> Trace {
    Trace {
        head,
        requests,
        overwritten: about.overwritten,
        incomplete: about.incomplete,
        marks: about.marks,
        marks_missing: about.marks_missing,
        maps: about.maps,
    }
}

fn requests(body: &mut impl Read, most: u64) -> io::Result<Vec<Request>> {
    let mut requests = Vec::new();
    let mut before = Before::default();
    let mut columns = Vec::new();
    loop {
        let count = number32(body)? as usize;
        let length = number32(body)? as usize;
        if count == 0 {
            return Ok(requests);
        }
        if count > BLOCK || length > count * REQUEST_LIMIT {
            return Err(invalid("a block is larger than blocks are"));
        }
        if requests.len() as u64 + count as u64 > most {
            return Err(invalid("it holds more requests than it says"));
        }
        columns.resize(length, 0);
        body.read_exact(&mut columns)?;
        decode(count, &columns, &mut before, &mut requests)?;
    }
}

fn number32(body: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    body.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// What the next request is stored relative to: the time before, and the end of the last request of the kind.
#[derive(Default)]
struct Before {
    time_ns: u64,
    end: [u64; 4],
}

impl Before {
    /// Where the kind's next request begins if it goes on where the last one ended, which is now this one.
    fn end(&mut self, request: &Request) -> u64 {
        let end = &mut self.end[request.kind as usize];
        std::mem::replace(end, request.offset.wrapping_add(u64::from(request.length)))
    }
}

fn encode(block: &[Request], before: &mut Before, out: &mut Vec<u8>) {
    for request in block {
        put(out, request.time_ns - before.time_ns);
        before.time_ns = request.time_ns;
    }
    for request in block {
        put(out, request.kind.code());
    }
    for request in block {
        put(out, u64::from(request.length));
    }
    for request in block {
        let distance = request.offset.wrapping_sub(before.end(request)) as i64;
        put(out, ((distance << 1) ^ (distance >> 63)) as u64);
    }
    for request in block {
        put(out, request.latency_ns);
    }
    for request in block {
        put(out, u64::from(request.in_flight));
    }
    for request in block {
        put(out, u64::from(request.lateness_ns));
    }
}

fn decode(
    count: usize,
    mut columns: &[u8],
    before: &mut Before,
    requests: &mut Vec<Request>,
) -> io::Result<()> {
    let first = requests.len();
    for _ in 0..count {
        before.time_ns = before.time_ns.wrapping_add(take(&mut columns)?);
        requests.push(Request {
            time_ns: before.time_ns,
            offset: 0,
            length: 0,
            kind: Kind::Flush,
            latency_ns: 0,
            in_flight: 0,
            lateness_ns: 0,
        });
    }
    let block = &mut requests[first..];
    for request in block.iter_mut() {
        request.kind =
            Kind::of_code(take(&mut columns)?).ok_or_else(|| invalid("an unknown kind"))?;
    }
    for request in block.iter_mut() {
        request.length = take(&mut columns)? as u32;
    }
    for request in block.iter_mut() {
        let folded = take(&mut columns)?;
        let distance = (folded >> 1) ^ (folded & 1).wrapping_neg();
        let end = before.end[request.kind as usize];
        request.offset = end.wrapping_add(distance);
        before.end(request);
    }
    for request in block.iter_mut() {
        request.latency_ns = take(&mut columns)?;
    }
    for request in block.iter_mut() {
        request.in_flight = take(&mut columns)? as u16;
    }
    for request in block.iter_mut() {
        request.lateness_ns = take(&mut columns)? as u32;
    }
    if columns.is_empty() { Ok(()) } else { Err(invalid("a block is longer than its requests")) }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(columns: &mut &[u8]) -> io::Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) =
            columns.split_first().ok_or_else(|| invalid("a block ends too early"))?;
        *columns = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(invalid("a number is longer than numbers are"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tests::request;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_give_their_requests_back(mut requested in vec(request(), 0..300), split in 1..100_usize) {
            requested.sort_by_key(|request| request.time_ns);
            let (mut encoding, mut decoding) = (Before::default(), Before::default());
            let mut found = Vec::new();
            for block in requested.chunks(split) {
                let mut columns = Vec::new();
                encode(block, &mut encoding, &mut columns);
                prop_assert!(columns.len() <= block.len() * REQUEST_LIMIT);
                decode(block.len(), &columns, &mut decoding, &mut found).unwrap();
            }
            prop_assert_eq!(found, requested);
        }

        /// A small file can unfold to any number of requests.
        #[test]
        fn no_more_is_read_than_was_announced(requested in vec(request(), 2..50), split in 1..10_usize) {
            let mut requested = requested;
            requested.sort_by_key(|request| request.time_ns);
            let mut body = Vec::new();
            let mut before = Before::default();
            for block in requested.chunks(split) {
                let mut columns = Vec::new();
                encode(block, &mut before, &mut columns);
                body.extend((block.len() as u32).to_le_bytes());
                body.extend((columns.len() as u32).to_le_bytes());
                body.extend(columns);
            }
            body.extend([0; 8]);
            let announced = requested.len() as u64;
            prop_assert_eq!(requests(&mut &*body, announced).unwrap(), requested);
            let error = requests(&mut &*body, announced - 1).unwrap_err();
            prop_assert_eq!(error.to_string(), "it holds more requests than it says");
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200), count in 0..50_usize) {
            let _ = decode(count, &bytes, &mut Before::default(), &mut Vec::new());
        }
    }
}
