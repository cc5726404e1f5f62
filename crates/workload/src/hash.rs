//! Measuring path: no allocation, lock, log or formatting here.
//!
//! The hash that scatters key numbers.

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x100_0000_01b3;

/// YCSB's hash of a key number: FNV-1a over its eight octets, the least significant first, as a signed number without its sign.
///
/// Java's absolute value leaves -2^63 negative; here it is 2^63. One number in 2^64 differs.
#[inline]
pub fn fnv_hash(number: u64) -> u64 {
    // Octets of zero leave only the multiplication, so that the upper ones fold into one product. A key space keeps to one of these
    // branches, which therefore cost nothing; eight dependent products would take 32 cycles.
    let hash = if number < 1 << 24 {
        fold::<3>(number)
    } else if number < 1 << 40 {
        fold::<5>(number)
    } else {
        fold::<8>(number)
    };
    hash.cast_signed().unsigned_abs()
}

/// [`fnv_hash`] of a number below 2^40. For numbers of any size below that, which would make the processor guess the branch.
#[inline]
pub(crate) fn fnv_hash_40(number: u64) -> u64 {
    debug_assert!(number < 1 << 40, "{number} has more than 40 bits");
    fold::<5>(number).cast_signed().unsigned_abs()
}

/// The hash of a number with nonzero bits only in its lowest `OCTETS` octets.
#[inline]
fn fold<const OCTETS: u32>(number: u64) -> u64 {
    let mut hash = OFFSET_BASIS;
    for octet in 0..OCTETS {
        hash = (hash ^ (number >> (8 * octet) & 0xff)).wrapping_mul(PRIME);
    }
    hash.wrapping_mul(const { PRIME.wrapping_pow(8 - OCTETS) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn agrees_with_ycsb() {
        let vectors = [
            (0, 6_284_781_860_667_377_211),
            (1, 8_517_097_267_634_966_620),
            (2, 1_820_151_046_732_198_393),
            (3, 4_052_466_453_699_787_802),
            (4, 3_232_700_585_171_816_769),
            (5, 1_000_385_178_204_227_360),
            (6, 7_697_331_399_106_995_587),
            (10, 2_408_371_864_701_034_737),
            (99, 6_405_349_725_575_133_178),
            (296, 291_938_140_621_933_614),
            (999, 2_071_219_101_098_386_137),
            (134_552, 6_595_293_188_871_280_260),
            (123_456_789, 2_350_796_791_908_741_607),
            (1_170_869_537, 1_947_785_993_254_781_670),
            (8_086_205_587, 9_117_654_726_164_761_521),
            (9_999_787_803, 2_708_605_090_501_016_089),
        ];
        for (number, hash) in vectors {
            assert_eq!(fnv_hash(number), hash, "{number}");
        }
    }

    /// The definition, octet by octet.
    fn by_definition(number: u64) -> u64 {
        let mut hash = OFFSET_BASIS;
        for octet in number.to_le_bytes() {
            hash = (hash ^ u64::from(octet)).wrapping_mul(PRIME);
        }
        hash.cast_signed().unsigned_abs()
    }

    proptest! {
        #[test]
        fn short_cuts_change_nothing(number: u64, shift in 0..64_u32) {
            prop_assert_eq!(fnv_hash(number >> shift), by_definition(number >> shift));
            let short = number >> 24 >> shift.min(39);
            prop_assert_eq!(fnv_hash_40(short), by_definition(short));
        }
    }
}
