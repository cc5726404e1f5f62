//! Measuring path: no allocation, lock, log or formatting here once the buffers have grown.
//!
//! Writing BSON at the end of a buffer.

use crate::mongo::document::{ARRAY, BINARY, BOOLEAN, DOCUMENT, INT32, INT64, STRING};
use plimsoll_workload::Fields;

/// Subtype of binary values: generic.
const GENERIC: u8 = 0x00;
/// Subtype of binary values: a UUID.
const UUID: u8 = 0x04;

/// A document that has begun: where its length belongs.
#[derive(Clone, Copy, Debug)]
#[must_use = "a document must be ended"]
pub(crate) struct Begun(usize);

/// Begins a document that is no element: a whole one, or one behind [`name`].
#[inline]
pub(crate) fn begin(out: &mut Vec<u8>) -> Begun {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    Begun(at)
}

/// Begins a document that is an element.
#[inline]
pub(crate) fn begin_element(name: &[u8], out: &mut Vec<u8>) -> Begun {
    write_name(DOCUMENT, name, out);
    begin(out)
}

/// Begins a list that is an element; its elements must be called `0`, `1` and so on.
#[inline]
pub(crate) fn begin_list(name: &[u8], out: &mut Vec<u8>) -> Begun {
    write_name(ARRAY, name, out);
    begin(out)
}

/// Ends a document or list.
#[inline]
pub(crate) fn end(begun: Begun, out: &mut Vec<u8>) {
    out.push(0);
    write_length_at(begun.0, out.len() - begun.0, out);
}

/// Overwrites four bytes with a length.
#[inline]
pub(crate) fn write_length_at(at: usize, length: usize, out: &mut [u8]) {
    out[at..at + 4].copy_from_slice(&(length as u32).to_le_bytes());
}

#[inline]
fn write_name(kind: u8, name: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(name);
    out.push(0);
}

/// A binary value that is a UUID.
pub(crate) fn uuid(name: &[u8], value: &[u8; 16], out: &mut Vec<u8>) {
    write_name(BINARY, name, out);
    out.extend_from_slice(&16_u32.to_le_bytes());
    out.push(UUID);
    out.extend_from_slice(value);
}

/// The session of a command, and its number there, which comes last.
pub(crate) fn session(id: &[u8; 16], number: i64, out: &mut Vec<u8>) {
    let at = begin_element(b"lsid", out);
    uuid(b"id", id, out);
    end(at, out);
    int64(b"txnNumber", number, out);
}

#[inline]
pub(crate) fn string(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    write_name(STRING, name, out);
    out.extend_from_slice(&(value.len() as u32 + 1).to_le_bytes());
    out.extend_from_slice(value);
    out.push(0);
}

#[inline]
pub(crate) fn binary(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    write_name(BINARY, name, out);
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.push(GENERIC);
    out.extend_from_slice(value);
}

#[inline]
pub(crate) fn int32(name: &[u8], value: i32, out: &mut Vec<u8>) {
    write_name(INT32, name, out);
    out.extend_from_slice(&value.to_le_bytes());
}

#[inline]
pub(crate) fn int64(name: &[u8], value: i64, out: &mut Vec<u8>) {
    write_name(INT64, name, out);
    out.extend_from_slice(&value.to_le_bytes());
}

#[inline]
pub(crate) fn boolean(name: &[u8], value: bool, out: &mut Vec<u8>) {
    write_name(BOOLEAN, name, out);
    out.push(u8::from(value));
}

/// Fills and ends a document: `{_id: key, field0: BinData(0), ...}`, as YCSB stores records. Gives its bytes.
#[inline]
pub(crate) fn record(begun: Begun, key: &[u8], fields: Fields<'_>, out: &mut Vec<u8>) -> usize {
    string(b"_id", key, out);
    for (_, name, value) in fields {
        binary(name, value, out);
    }
    end(begun, out);
    out.len() - begun.0
}

#[inline]
pub(crate) fn by_id(name: &[u8], key: &[u8], out: &mut Vec<u8>) {
    let begun = begin_element(name, out);
    string(b"_id", key, out);
    end(begun, out);
}
