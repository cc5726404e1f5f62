//! Measuring path: no allocation, lock, log or formatting here after [`KeyText::new`].
//!
//! The text of keys.

use crate::hash::fnv_hash;
use serde::{Deserialize, Serialize};

/// Whether keys follow the key numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyOrder {
    /// A key holds the hash of its number: neighbouring numbers lie far apart.
    #[default]
    Hashed,
    /// A key holds its number: keys are stored in the order of their numbers (as text, unless padded).
    Ordered,
}

/// What every key begins with.
pub(crate) const PREFIX: &[u8; 4] = b"user";

/// Digits are written in three blocks of eight, from the end: enough for every 64-bit number.
const BLOCKS: usize = 24;

/// Makes keys: `user`, zeros up to the requested number of digits, and the number or its hash.
///
/// ```
/// use plimsoll_workload::{KeyOrder, KeyText};
/// let mut key = KeyText::new(KeyOrder::Hashed, 1);
/// assert_eq!(key.write(0), b"user6284781860667377211");
/// let mut key = KeyText::new(KeyOrder::Ordered, 8);
/// assert_eq!(key.write(5), b"user00000005");
/// ```
#[derive(Clone, Debug)]
pub struct KeyText {
    order: KeyOrder,
    least_digits: usize,
    /// Room for the blocks of a short number, the prefix, the digits. Digits are '0' where nothing was written.
    bytes: Box<[u8]>,
    end: usize,
}

impl KeyText {
    /// Keys of at least `least_digits` digits.
    pub fn new(order: KeyOrder, least_digits: u32) -> Self {
        let least_digits = least_digits as usize;
        let bytes = vec![b'0'; BLOCKS + PREFIX.len() + least_digits.max(BLOCKS)];
        Self { order, least_digits, bytes: bytes.into(), end: BLOCKS }
    }

    /// Makes the key of a key number.
    #[inline]
    pub fn write(&mut self, number: u64) -> &[u8] {
        let shown = match self.order {
            KeyOrder::Hashed => fnv_hash(number),
            KeyOrder::Ordered => number,
        };
        let digits = digit_count(shown).max(self.least_digits);
        let end = BLOCKS + PREFIX.len() + digits;
        let upper = shown / 100_000_000;
        let blocks = &mut self.bytes[end - BLOCKS..end];
        blocks[..8].copy_from_slice(&eight_digits(upper / 100_000_000));
        blocks[8..16].copy_from_slice(&eight_digits(upper % 100_000_000));
        blocks[16..].copy_from_slice(&eight_digits(shown % 100_000_000));
        // The blocks' zeros may lie where the prefix belongs.
        self.bytes[BLOCKS..BLOCKS + PREFIX.len()].copy_from_slice(PREFIX);
        self.end = end;
        self.text()
    }

    /// The key that was made last, as bytes.
    #[inline]
    pub fn text(&self) -> &[u8] {
        &self.bytes[BLOCKS..self.end]
    }
}

/// Decimal digits of a number, at least one.
#[inline]
fn digit_count(number: u64) -> usize {
    // Of the hashes, which are uniform below 2^63, one in a thousand is below 10^16. Which of 17, 18 or 19 digits it has cannot be
    // foreseen and is counted without a branch.
    if number < 10_000_000_000_000_000 {
        return (number | 1).ilog10() as usize + 1;
    }
    17 + usize::from(number >= 100_000_000_000_000_000)
        + usize::from(number >= 1_000_000_000_000_000_000)
        + usize::from(number >= 10_000_000_000_000_000_000)
}

/// The decimal digits of a number below 10^8, all eight at once: split into halves, quarters and digits that lie side by side in one word.
/// Products with the rounded-up reciprocals 10486 / 2^20 and 103 / 2^10 are exact for lanes below 10^4 and 100.
#[inline]
fn eight_digits(number: u64) -> [u8; 8] {
    let halves = (number / 10_000) | (number % 10_000) << 32;
    let hundreds = (halves * 10_486) >> 20 & 0x7f_0000_007f;
    let quarters = hundreds | (halves - hundreds * 100) << 16;
    let tens = (quarters * 103) >> 10 & 0x000f_000f_000f_000f;
    let digits = tens | (quarters - tens * 10) << 8;
    (digits | 0x3030_3030_3030_3030).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_definition(order: KeyOrder, width: usize, number: u64) -> Vec<u8> {
        let shown = if order == KeyOrder::Hashed { fnv_hash(number) } else { number };
        format!("user{shown:0width$}").into_bytes()
    }

    #[test]
    fn eight_digits_are_exact() {
        for number in
            (0..100_000_000).step_by(9_973).chain(0..20_000).chain(99_990_000..100_000_000)
        {
            let expected = format!("{number:08}");
            assert_eq!(eight_digits(number), expected.as_bytes());
        }
    }

    #[test]
    fn lengths_change_from_key_to_key() {
        let mut key = KeyText::new(KeyOrder::Ordered, 1);
        let mut number = 1_u64;
        let mut numbers = vec![0, u64::MAX, 9, 10];
        while let Some(next) = number.checked_mul(10) {
            numbers.extend([number, next - 1, next, next + 1]);
            number = next;
        }
        let reversed: Vec<_> = numbers.iter().rev().copied().collect();
        for number in numbers.into_iter().chain(reversed) {
            let expected = by_definition(KeyOrder::Ordered, 1, number);
            assert_eq!(key.write(number), expected);
        }
    }

    proptest! {
        #[test]
        fn keys_follow_the_definition(number: u64, shift in 0..64_u32, width in 0..60_usize, hashed: bool) {
            let order = if hashed { KeyOrder::Hashed } else { KeyOrder::Ordered };
            let mut key = KeyText::new(order, width as u32);
            key.write(number);
            prop_assert_eq!(key.write(number >> shift), by_definition(order, width, number >> shift));
            prop_assert_eq!(key.text(), by_definition(order, width, number >> shift));
        }
    }
}
