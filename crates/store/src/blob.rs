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

/// Unpacks many slices on all processors, which is nearly all of the time that reading takes. They come back in the same order.
pub(crate) fn unpack_all(packed: &[(i64, Vec<u8>)]) -> Result<Vec<Slice>, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // A thread takes as long to begin as two slices to unpack.
    let share = packed.len().div_ceil(threads).max(16);
    let unpack_share = |share: &[(i64, Vec<u8>)]| -> Result<Vec<Slice>, String> {
        share.iter().map(|(_, bytes)| unpack(bytes)).collect()
    };
    if packed.len() <= share {
        return unpack_share(packed);
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            packed.chunks(share).map(|share| scope.spawn(move || unpack_share(share))).collect();
        let mut slices = Vec::with_capacity(packed.len());
        for worker in workers {
            let unpacked = worker.join().map_err(|_| "the program failed on it".to_owned())??;
            slices.extend(unpacked);
        }
        Ok(slices)
    })
}
