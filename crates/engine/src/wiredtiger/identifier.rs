//! Measuring path: no allocation, lock, log or formatting here once the buffers have grown.
//!
//! Keys and record ids in the bytes that mongod's `_id` index holds (its KeyString format, version 1), so that comparisons, prefix
//! compression and sizes are the same.

/// What a string begins with in a KeyString.
const STRING: u8 = 60;
const END: u8 = 4;

/// Writes the index key of a record's key: text, then a zero; zeros inside are followed by 0xFF, so that the order is kept.
#[inline]
pub(super) fn write_key(key: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.push(STRING);
    if key.contains(&0) {
        for byte in key {
            out.push(*byte);
            if *byte == 0 {
                out.push(0xFF);
            }
        }
    } else {
        out.extend_from_slice(key);
    }
    out.extend_from_slice(&[0, END]);
}

/// Writes a record id in two to nine bytes: its bits, highest first, between two groups of three bits that say how many bytes are
/// between the first and the last.
#[inline]
pub(super) fn write_record_id(record_id: i64, out: &mut Vec<u8>) {
    debug_assert!(record_id > 0);
    let bits = record_id.unsigned_abs();
    let needed = u64::BITS - bits.leading_zeros();
    let extra = needed.saturating_sub(10).div_ceil(8);
    out.clear();
    out.push((extra << 5) as u8 | (bits >> (5 + extra * 8)) as u8);
    let between = (bits >> 5).to_be_bytes();
    out.extend_from_slice(&between[between.len() - extra as usize..]);
    out.push((bits << 3) as u8 | extra as u8);
}

/// Reads a record id, or `None` when these are not the bytes of one.
#[inline]
pub(super) fn read_record_id(bytes: &[u8]) -> Option<i64> {
    let (first, rest) = bytes.split_first()?;
    let extra = usize::from(first >> 5);
    let between = rest.get(..extra)?;
    let last = rest.get(extra)?;
    let mut bits = u64::from(first & 0x1F);
    for byte in between {
        bits = bits << 8 | u64::from(*byte);
    }
    Some((bits << 5 | u64::from(last >> 3)).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &[u8]) -> Vec<u8> {
        let mut out = vec![9; 3];
        write_key(text, &mut out);
        out
    }

    fn record_id(value: i64) -> Vec<u8> {
        let mut out = vec![9; 3];
        write_record_id(value, &mut out);
        out
    }

    #[test]
    fn keys_are_strings_with_an_end() {
        assert_eq!(key(b"user1"), b"\x3Cuser1\0\x04");
        assert_eq!(key(b"a\0b"), b"\x3Ca\0\xFFb\0\x04");
    }

    /// By the rule: 10 bits fit into two bytes, each byte between adds 8.
    #[test]
    fn record_ids_take_as_many_bytes_as_they_need() {
        assert_eq!(record_id(1), [0, 1 << 3]);
        assert_eq!(record_id(1023), [0b1_1111, 0b1_1111 << 3]);
        assert_eq!(record_id(1024), [1 << 5, 0b10_0000, 1]);
        assert_eq!(record_id(1_000_000).len(), 4);
        assert_eq!(record_id(i64::MAX).len(), 9);
        assert_eq!(read_record_id(&[]), None);
        assert_eq!(read_record_id(&[1 << 5, 7]), None);
    }

    proptest! {
        #[test]
        fn record_ids_read_back_and_keep_their_order(one in 1..i64::MAX, other in 1..i64::MAX, shift in 0..62_u32) {
            for value in [one, (one >> shift) | 1] {
                prop_assert_eq!(read_record_id(&record_id(value)), Some(value));
            }
            prop_assert_eq!(record_id(one).cmp(&record_id(other)), one.cmp(&other));
        }

        #[test]
        fn keys_keep_their_order(one in proptest::collection::vec(0..4_u8, 0..6), other in proptest::collection::vec(0..4_u8, 0..6)) {
            prop_assert_eq!(key(&one).cmp(&key(&other)), one.cmp(&other));
        }
    }
}
