//! Measuring path: no allocation, lock, log or formatting here once the buffers have grown.
//!
//! Writing BSON at the end of a buffer, as bsonspec.org describes it.

pub(crate) const DOUBLE: u8 = 0x01;
pub(crate) const STRING: u8 = 0x02;
pub(crate) const DOCUMENT: u8 = 0x03;
pub(crate) const ARRAY: u8 = 0x04;
pub(crate) const BINARY: u8 = 0x05;
pub(crate) const OBJECT_ID: u8 = 0x07;
pub(crate) const BOOLEAN: u8 = 0x08;
pub(crate) const DATE: u8 = 0x09;
pub(crate) const NULL: u8 = 0x0a;
pub(crate) const INT32: u8 = 0x10;
pub(crate) const INT64: u8 = 0x12;

/// Subtype of binary values that are UUIDs.
pub(crate) const UUID: u8 = 0x04;

/// Begins a document or list, and gives where its length belongs.
#[inline]
pub(crate) fn begin(out: &mut Vec<u8>) -> usize {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    at
}

#[inline]
pub(crate) fn end(at: usize, out: &mut Vec<u8>) {
    out.push(0);
    let length = (out.len() - at) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// Type and name of an element.
#[inline]
pub(crate) fn name(kind: u8, name: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(name);
    out.push(0);
}

/// A whole number, in 32 bits where it fits, as drivers write it.
#[inline]
pub(crate) fn whole(label: &[u8], value: i64, out: &mut Vec<u8>) {
    match i32::try_from(value) {
        Ok(value) => {
            name(INT32, label, out);
            out.extend_from_slice(&value.to_le_bytes());
        }
        Err(_) => {
            name(INT64, label, out);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// The value of a string.
#[inline]
pub(crate) fn text(value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(value.len() as u32 + 1).to_le_bytes());
    out.extend_from_slice(value);
    out.push(0);
}

/// Type, name and value of each element of a document or list, as far as it is whole.
pub(crate) fn elements(document: &[u8]) -> impl Iterator<Item = (u8, &[u8], &[u8])> {
    let mut rest = document.get(4..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (kind, after) = rest.split_first().filter(|(kind, _)| **kind != 0)?;
        let end = after.iter().position(|byte| *byte == 0)?;
        let (name, value) = (&after[..end], &after[end + 1..]);
        let length = || {
            let four = value.get(..4).and_then(|four| four.try_into().ok());
            four.map_or(0, u32::from_le_bytes) as usize
        };
        let size = match *kind {
            STRING => 4 + length(),
            DOCUMENT | ARRAY => length(),
            BINARY => 5 + length(),
            OBJECT_ID => 12,
            BOOLEAN => 1,
            NULL => 0,
            INT32 => 4,
            0x13 => 16,
            _ => 8,
        };
        let own = value.get(..size)?;
        rest = &value[size..];
        Some((*kind, name, own))
    })
}

/// The name of an item of a list, without formatting.
#[inline]
pub(crate) fn index_name(kind: u8, index: u32, out: &mut Vec<u8>) {
    out.push(kind);
    let mut digits = [0; 10];
    let mut at = digits.len();
    let mut left = index;
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
    out.push(0);
}
