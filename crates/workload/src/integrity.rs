//! Values that follow from their key and field, and their verification.

/// What the verification of one record found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// At least one field, and every one is as it must be.
    Matches,
    /// Some field is not as it must be.
    Mismatch,
    /// The engine returned no field at all.
    Empty,
}

/// Verifies one record that was read, field by field, without allocating.
///
/// Made by [`KeySpace::verifier`](crate::KeySpace::verifier). Fields that are missing are not noticed, except when all are.
#[derive(Clone, Debug)]
pub struct Verifier<'a> {
    key: &'a [u8],
    length: usize,
    found: Verification,
}

impl<'a> Verifier<'a> {
    pub(crate) fn new(key: &'a [u8], length: usize) -> Self {
        Self { key, length, found: Verification::Empty }
    }

    /// Takes one field that the engine returned.
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        if !self.matches(name, value) {
            self.found = Verification::Mismatch;
        } else if self.found == Verification::Empty {
            self.found = Verification::Matches;
        }
    }

    /// What was found so far.
    pub fn found(&self) -> Verification {
        self.found
    }

    fn matches(&self, name: &[u8], value: &[u8]) -> bool {
        if value.len() != self.length {
            return false;
        }
        let mut rest = value;
        for_each_piece(self.key, name, self.length, |piece| {
            let (front, back) = rest.split_at(piece.len());
            rest = back;
            front == piece
        })
    }
}

/// Writes the value that belongs to a key and a field; its length is that of `out`.
pub(crate) fn write(key: &[u8], name: &[u8], out: &mut [u8]) {
    let mut at = 0;
    let length = out.len();
    for_each_piece(key, name, length, |piece| {
        out[at..at + piece.len()].copy_from_slice(piece);
        at += piece.len();
        true
    });
}

/// Gives the value that belongs to a key and a field in pieces, in order, together `length` bytes, until `take` says no. Says whether `take`
/// never did.
///
/// The value is the key, a colon and the name; then, again and again, a colon and the hash of everything before, that colon
/// included; cut to its length. So it is in YCSB (`CoreWorkload.buildDeterministicValue`).
fn for_each_piece(
    key: &[u8],
    name: &[u8],
    length: usize,
    mut take: impl FnMut(&[u8]) -> bool,
) -> bool {
    let mut hash = JavaHash::default();
    let mut left = length;
    let mut give = |piece: &[u8], hash: &mut JavaHash| {
        hash.add(piece);
        let piece = &piece[..piece.len().min(left)];
        left -= piece.len();
        take(piece).then_some(left)
    };
    let Some(_) = give(key, &mut hash) else {
        return false;
    };
    let Some(_) = give(b":", &mut hash) else {
        return false;
    };
    let Some(mut left) = give(name, &mut hash) else {
        return false;
    };
    while left > 0 {
        let Some(_) = give(b":", &mut hash) else {
            return false;
        };
        let mut text = [0; 11];
        let text = decimal(hash.value(), &mut text);
        let Some(rest) = give(text, &mut hash) else {
            return false;
        };
        left = rest;
    }
    true
}

/// Java's `String.hashCode` of ASCII text.
#[derive(Clone, Copy, Debug, Default)]
struct JavaHash(u32);

impl JavaHash {
    fn add(&mut self, text: &[u8]) {
        for byte in text {
            self.0 = self.0.wrapping_mul(31).wrapping_add(u32::from(*byte));
        }
    }

    fn value(self) -> i32 {
        self.0.cast_signed()
    }
}

/// The decimal form of a number, which takes at most eleven bytes.
fn decimal(number: i32, text: &mut [u8; 11]) -> &[u8] {
    let mut rest = number.unsigned_abs();
    let mut start = text.len();
    loop {
        start -= 1;
        text[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        start -= 1;
        text[start] = b'-';
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &[u8] = b"user6284781860667377211";

    #[test]
    fn hash_is_that_of_java() {
        let mut hash = JavaHash::default();
        hash.add(b"user6284781860667377211:field0");
        assert_eq!(hash.value(), 1_106_546_143);
        hash.add(b":");
        assert_eq!(hash.value(), -56_807_877);
    }

    /// Put together as YCSB does, in whole strings.
    fn by_definition(key: &str, name: &str, length: usize) -> Vec<u8> {
        let mut text = format!("{key}:{name}");
        while text.len() < length {
            text.push(':');
            let mut hash = 0_i32;
            for character in text.chars() {
                hash = hash.wrapping_mul(31).wrapping_add(character as i32);
            }
            text.push_str(&hash.to_string());
        }
        text.truncate(length);
        text.into_bytes()
    }

    #[test]
    fn values_follow_the_definition() {
        for length in 0..300 {
            let mut value = vec![0; length];
            write(KEY, b"field3", &mut value);
            let expected = by_definition("user6284781860667377211", "field3", length);
            assert_eq!(value, expected);
        }
        let mut value = [0; 45];
        write(KEY, b"field0", &mut value);
        let expected = b"user6284781860667377211:field0:-56807877:2032";
        assert_eq!(value.as_slice(), expected);
    }

    #[test]
    fn verification_sees_every_difference() {
        let mut value = vec![0; 100];
        write(KEY, b"field3", &mut value);
        let found = |name: &[u8], value: &[u8]| {
            let mut verifier = Verifier::new(KEY, 100);
            verifier.field(name, value);
            verifier.found()
        };
        assert_eq!(Verifier::new(KEY, 100).found(), Verification::Empty);
        assert_eq!(found(b"field3", &value), Verification::Matches);
        assert_eq!(found(b"field4", &value), Verification::Mismatch);
        assert_eq!(found(b"field3", &value[..99]), Verification::Mismatch);
        assert_eq!(found(b"field3", b""), Verification::Mismatch);
        for at in 0..100 {
            value[at] ^= 1;
            assert_eq!(found(b"field3", &value), Verification::Mismatch);
            value[at] ^= 1;
        }
    }

    #[test]
    fn one_mismatch_is_remembered() {
        let mut value = vec![0; 40];
        write(KEY, b"field1", &mut value);
        let mut verifier = Verifier::new(KEY, 40);
        verifier.field(b"field0", &value);
        verifier.field(b"field1", &value);
        assert_eq!(verifier.found(), Verification::Mismatch);
    }

    proptest! {
        #[test]
        fn decimals_are_exact(number: i32) {
            let mut text = [0; 11];
            prop_assert_eq!(decimal(number, &mut text), &number.to_string().into_bytes()[..]);
        }
    }

    #[test]
    fn extreme_decimals_are_exact() {
        for number in [i32::MIN, -1, 0, 9, 10, i32::MAX] {
            assert_eq!(decimal(number, &mut [0; 11]), number.to_string().as_bytes());
        }
    }
}
