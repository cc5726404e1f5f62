//! Slices as they lie in the store: JSON, deflated.
//!
//! The histograms inside are deflated already, but base64 makes them a third longer. Deflating once more wins that back: 10.2 kB of
//! JSON for a slice of 50,000 operations of two kinds become 7.4 kB. The lowest level is as small as the default one here, in a third
//! of the time.

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use plimsoll_record::Slice;
use std::io::{Read, Write};

/// No slice comes near this length; a longer one is damage, and would fill the memory.
const LONGEST_JSON_BYTES: u64 = 256 << 20;

/// The stored form of a slice.
pub(crate) fn pack(slice: &Slice) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let json = serde_json::to_vec(slice).expect("a slice has only string keys and plain numbers");
    encoder
        .write_all(&json)
        .and_then(|()| encoder.finish())
        .expect("writing into memory does not fail")
}

/// Reads the stored form, or says in words why it cannot.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Slice, String> {
    let mut json = Vec::with_capacity(bytes.len() * 2);
    DeflateDecoder::new(bytes)
        .take(LONGEST_JSON_BYTES)
        .read_to_end(&mut json)
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&json).map_err(|error| error.to_string())
}
