//! Measuring path: no allocation, lock, log or formatting here.
//!
//! The random bytes in values.

use crate::stream::Stream;

/// Values are written in pieces of this size, so that a buffer needs this much room behind its last byte.
pub(crate) const ROOM: usize = 24;

/// What fills the part of a value that repeats.
pub(crate) const REPEATED: u8 = b'-';

/// Bytes that come from one draw of 64 bits: two groups of six.
const PER_DRAW: usize = 12;

/// Writes a random value of `length` bytes to the front of `out`, which is longer by [`ROOM`] and may be written to as well there.
///
/// As in YCSB, each six bytes come from one random 32-bit number (see [`six_bytes`]); here they are the lower and the upper half of each draw.
#[inline]
pub(crate) fn fill(stream: &mut Stream, out: &mut [u8], length: usize) {
    let whole = length / ROOM * ROOM;
    let rest = length - whole;
    let (front, back) = out.split_at_mut(whole);
    for piece in front.chunks_exact_mut(ROOM) {
        write_piece(piece, stream.bits(), stream.bits());
    }
    if rest > PER_DRAW {
        write_piece(&mut back[..ROOM], stream.bits(), stream.bits());
    } else if rest > 0 {
        let draw = stream.bits();
        let (first, second) = (six_bytes(draw as u32), six_bytes((draw >> 32) as u32));
        back[..8].copy_from_slice(&(first | second << 48).to_le_bytes());
        back[8..16].copy_from_slice(&(second >> 16).to_le_bytes());
    }
}

/// Four groups of six bytes, packed into three words.
#[inline]
fn write_piece(piece: &mut [u8], low: u64, high: u64) {
    let a = six_bytes(low as u32);
    let b = six_bytes((low >> 32) as u32);
    let c = six_bytes(high as u32);
    let d = six_bytes((high >> 32) as u32);
    piece[..8].copy_from_slice(&(a | b << 48).to_le_bytes());
    piece[8..16].copy_from_slice(&(b >> 16 | c << 32).to_le_bytes());
    piece[16..24].copy_from_slice(&(c >> 32 | d << 16).to_le_bytes());
}

/// Byte i is (x >> 5i) & (31, 63, 95, 31, 63, 95) + 32, for all six at once: first the upper three are moved beside the lower three, then within
/// both halves the bytes to their places.
#[inline]
fn six_bytes(x: u32) -> u64 {
    let x = u64::from(x);
    let halves = (x & 0x1_ffff) | (x << 9 & 0x1_ffff << 24);
    let bytes =
        (halves & 0x1f00_001f) | (halves << 3 & 0x3f_0000_3f00) | (halves << 6 & 0x5f00_005f_0000);
    bytes + 0x2020_2020_2020
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// YCSB's definition, with its arithmetic shifts of a signed number.
    fn by_definition(x: i32) -> [u8; 6] {
        let group = [
            (x & 31) + 32,
            (x >> 5 & 63) + 32,
            (x >> 10 & 95) + 32,
            (x >> 15 & 31) + 32,
            (x >> 20 & 63) + 32,
            (x >> 25 & 95) + 32,
        ];
        group.map(|byte| u8::try_from(byte).unwrap())
    }

    #[test]
    fn values_of_every_length_follow_the_definition() {
        for length in 0..200 {
            let mut stream = Stream::from_state(length as u64);
            let mut draws = stream.clone();
            let mut expected = Vec::new();
            while expected.len() < length {
                let draw = draws.bits();
                expected.extend(by_definition(draw as i32));
                expected.extend(by_definition((draw >> 32) as i32));
            }
            expected.truncate(length);
            let mut out = vec![0; length + ROOM];
            fill(&mut stream, &mut out, length);
            assert_eq!(out[..length], expected);
            assert_eq!(stream.bits(), draws.bits(), "no draw more than needed");
        }
    }

    proptest! {
        #[test]
        fn six_bytes_follow_the_definition(x: i32) {
            prop_assert_eq!(six_bytes(x as u32).to_le_bytes()[..6].to_vec(), by_definition(x).to_vec());
        }
    }

    #[test]
    fn bits_alone_go_to_their_places() {
        for bit in 0..32 {
            let x = 1_i32 << bit;
            assert_eq!(six_bytes(x as u32).to_le_bytes()[..6], by_definition(x));
        }
    }
}
