//! Measuring path: no allocation, lock, log or formatting here once the buffers have grown.
//!
//! Fields of documents: the value of a field is a function of the seed, the field and the number of the document.
//!
//! A value is found in two steps. The *pick* of a field is a number: that of the document, or that of one of a known number of values. From the pick the
//! *shape* makes the value, always the same one. So a filter for value 17 of a field needs no document, and matches exactly the documents whose pick is 17.

use crate::documents::bson;
use crate::documents::finite::Finite;
use crate::documents::law::Law;
use crate::documents::literal::Literal;
use crate::stream::{Stream, scatter};
use crate::value::REPEATED;
use std::sync::Arc;

/// The longest text or number of bytes that is made.
pub(crate) const MOST_LENGTH: i64 = 15_000_000;
/// Bytes of a text in which a share of it repeats. In shorter blocks, what compressors write besides would be several per cent.
pub(crate) const BLOCK: usize = 1_024;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Six bits of a draw make a letter.
const LETTERS_A_DRAW: usize = 10;
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// Odd, and divisible by neither 2 nor 3: multiplying by it permutes the numbers below a power of 36.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15 - 0x9e37_79b9_7f4a_7c15 % 6 + 1;
/// 2024-01-01, in seconds since 1970: object ids count from there.
const FIRST_OBJECT_ID: u64 = 1_704_067_200;
/// Object ids for each second of their clock.
const IDS_A_SECOND: u64 = 1_000;
/// Items that a list may have.
pub(crate) const MOST_ITEMS: u64 = 1 << 16;

/// A field of a document.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    /// Key of the random streams of the field.
    pub(crate) key: u64,
    /// Whether a document has it: where the value is 1. Absent where all have it.
    pub(crate) present: Option<Finite>,
    pub(crate) pick: Pick,
    pub(crate) shape: Shape,
}

/// Which of its values a field has in a document.
#[derive(Clone, Debug)]
pub(crate) enum Pick {
    /// One of its own for each document, drawn freely: some may be the same.
    Free,
    /// One of its own for each document, by the number of the document.
    Unique,
    /// One of a known number.
    Finite(Finite),
}

/// What a value looks like.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Whole(Number),
    Double {
        number: Number,
        digits: Option<i32>,
    },
    Decimal {
        number: Number,
        digits: i32,
    },
    Text(Text),
    Bytes(Text),
    Date(Number),
    ObjectId,
    Uuid,
    Bool,
    Choice(Arc<[Literal]>),
    Constant(Literal),
    /// The `_id` of another collection's document.
    KeyOf(Arc<Field>),
    /// The value that a field has in the document to which a reference of the same document leads.
    Copy {
        reference: Arc<Field>,
        of: Arc<Field>,
    },
    Document(Vec<Arc<Field>>),
    List {
        of: Arc<Field>,
        length: Law,
    },
}

/// Numbers: by a law, or in even steps.
#[derive(Clone, Debug)]
pub(crate) enum Number {
    Law(Law),
    /// `from + pick * step`.
    Steps {
        from: f64,
        step: f64,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) prefix: Box<str>,
    pub(crate) length: Law,
    /// Characters that spell the pick, so that no two values are the same; 0 for free ones.
    pub(crate) spelled: u32,
    /// Bytes of each block that repeat.
    pub(crate) repeated: usize,
}

impl Field {
    /// A pick from which on no document has the value, where the field has values that differ; far above the numbers of documents.
    pub(crate) fn absent_from(&self) -> Option<u64> {
        let field = match &self.shape {
            Shape::KeyOf(id) => id,
            _ => self,
        };
        match &field.shape {
            Shape::Text(text) | Shape::Bytes(text) if text.spelled > 0 => {
                let all = 36_u64.pow(text.spelled);
                Some(all - all / 4)
            }
            Shape::Whole(Number::Steps { .. })
            | Shape::Double { number: Number::Steps { .. }, .. }
            | Shape::Decimal { number: Number::Steps { .. }, .. }
            | Shape::Date(Number::Steps { .. })
            | Shape::ObjectId
            | Shape::Uuid => Some(1 << 40),
            _ => None,
        }
    }

    /// Whether a document has the field.
    #[inline]
    pub(crate) fn is_in(&self, document: u64) -> bool {
        self.present.as_ref().is_none_or(|present| present.value_of(document) == 1)
    }

    /// The pick of a document.
    #[inline]
    pub(crate) fn pick(&self, document: u64) -> u64 {
        match &self.pick {
            Pick::Free | Pick::Unique => document,
            Pick::Finite(finite) => finite.value_of(document),
        }
    }

    /// Writes the field of a document, if the document has it.
    #[inline]
    pub(crate) fn write(&self, document: u64, out: &mut Vec<u8>) {
        if self.is_in(document) {
            self.write_as(self.name.as_bytes(), self.pick(document), out);
        }
    }

    /// Writes one of its values under a name.
    pub(crate) fn write_as(&self, name: &[u8], pick: u64, out: &mut Vec<u8>) {
        let at = out.len();
        bson::name(bson::NULL, name, out);
        let kind = self.write_value(pick, out);
        out[at] = kind;
    }

    /// Writes the value alone, and gives its type.
    fn write_value(&self, pick: u64, out: &mut Vec<u8>) -> u8 {
        let mut stream = Stream::from_state(scatter(self.key ^ scatter(pick)));
        match &self.shape {
            Shape::Whole(number) => {
                let value = number.whole(pick, &mut stream);
                match i32::try_from(value) {
                    Ok(value) => {
                        out.extend_from_slice(&value.to_le_bytes());
                        bson::INT32
                    }
                    Err(_) => {
                        out.extend_from_slice(&value.to_le_bytes());
                        bson::INT64
                    }
                }
            }
            Shape::Double { number, digits } => {
                let mut value = number.value(pick, &mut stream);
                if let Some(digits) = digits {
                    let scale = 10_f64.powi(*digits);
                    value = (value * scale).round() / scale;
                }
                out.extend_from_slice(&value.to_le_bytes());
                bson::DOUBLE
            }
            Shape::Decimal { number, digits } => {
                let value = (number.value(pick, &mut stream) * 10_f64.powi(*digits)).round();
                write_decimal(value, *digits, out)
            }
            Shape::Text(text) => {
                let at = bson::begin(out);
                text.write(pick, &mut stream, fill_letters, out);
                out.push(0);
                let length = (out.len() - at - 4) as u32;
                out[at..at + 4].copy_from_slice(&length.to_le_bytes());
                bson::STRING
            }
            Shape::Bytes(text) => {
                let at = bson::begin(out);
                out.push(0);
                text.write(pick, &mut stream, fill_bytes, out);
                let length = (out.len() - at - 5) as u32;
                out[at..at + 4].copy_from_slice(&length.to_le_bytes());
                bson::BINARY
            }
            Shape::Date(number) => {
                out.extend_from_slice(&number.whole(pick, &mut stream).to_le_bytes());
                bson::DATE
            }
            Shape::ObjectId => {
                let seconds = (FIRST_OBJECT_ID + pick / IDS_A_SECOND) as u32;
                out.extend_from_slice(&seconds.to_be_bytes());
                out.extend_from_slice(&scatter(self.key).to_be_bytes()[..5]);
                out.extend_from_slice(&(pick as u32).to_be_bytes()[1..]);
                bson::OBJECT_ID
            }
            Shape::Uuid => {
                out.extend_from_slice(&16_u32.to_le_bytes());
                out.push(bson::UUID);
                let at = out.len();
                out.extend_from_slice(&scatter(self.key ^ scatter(pick)).to_be_bytes());
                out.extend_from_slice(&scatter(pick ^ self.key).to_be_bytes());
                // Version 4 and its variant. Each half is a bijection of the pick, and the bits that are lost are not those of both.
                out[at + 6] = out[at + 6] & 0x0f | 0x40;
                out[at + 8] = out[at + 8] & 0x3f | 0x80;
                bson::BINARY
            }
            Shape::Bool => {
                out.push(u8::from(pick == 1));
                bson::BOOLEAN
            }
            Shape::Choice(values) => write_literal(&values[pick as usize % values.len()], out),
            Shape::Constant(value) => write_literal(value, out),
            Shape::KeyOf(id) => id.write_value(pick, out),
            Shape::Copy { reference, of } => {
                let document = reference.pick(pick);
                match of.is_in(document) {
                    true => of.write_value(of.pick(document), out),
                    false => bson::NULL,
                }
            }
            Shape::Document(fields) => {
                let at = bson::begin(out);
                for field in fields {
                    field.write(pick, out);
                }
                bson::end(at, out);
                bson::DOCUMENT
            }
            Shape::List { of, length } => {
                let items = length.whole(&mut stream).clamp(0, MOST_ITEMS as i64 - 1) as u64;
                let at = bson::begin(out);
                for item in 0..items {
                    let kind_at = out.len();
                    bson::index_name(bson::NULL, item as u32, out);
                    let kind = of.write_value(
                        of.pick(pick.wrapping_mul(MOST_ITEMS).wrapping_add(item)),
                        out,
                    );
                    out[kind_at] = kind;
                }
                bson::end(at, out);
                bson::ARRAY
            }
        }
    }
}

/// The value of a literal without type and name.
fn write_literal(value: &Literal, out: &mut Vec<u8>) -> u8 {
    let at = out.len();
    value.write(b"", out);
    let kind = out[at];
    out.drain(at..at + 2);
    kind
}

/// A decimal number of 128 bits: a coefficient and an exponent of ten.
fn write_decimal(coefficient: f64, digits: i32, out: &mut Vec<u8>) -> u8 {
    const DECIMAL: u8 = 0x13;
    const BIAS: i64 = 6_176;
    let sign = u64::from(coefficient < 0.0) << 63;
    out.extend_from_slice(&(coefficient.abs() as u64).to_le_bytes());
    out.extend_from_slice(&(sign | ((BIAS - i64::from(digits)) as u64) << 49).to_le_bytes());
    DECIMAL
}

impl Number {
    #[inline]
    fn value(&self, pick: u64, stream: &mut Stream) -> f64 {
        match self {
            Self::Law(law) => law.draw(stream),
            Self::Steps { from, step } => from + pick as f64 * step,
        }
    }

    #[inline]
    fn whole(&self, pick: u64, stream: &mut Stream) -> i64 {
        match self {
            Self::Law(law) => law.whole(stream),
            // In whole numbers, which are exact where products of floating point numbers are not.
            Self::Steps { from, step } if step.fract() == 0.0 => {
                (*from as i64).wrapping_add((pick as i64).wrapping_mul(*step as i64))
            }
            Self::Steps { from, step } => (from + pick as f64 * step).floor() as i64,
        }
    }
}

impl Text {
    fn write(
        &self,
        pick: u64,
        stream: &mut Stream,
        fill: fn(&mut Stream, &mut [u8]),
        out: &mut Vec<u8>,
    ) {
        let length = self.length.whole(stream).clamp(0, MOST_LENGTH) as usize;
        let at = out.len();
        out.extend_from_slice(self.prefix.as_bytes());
        if self.spelled > 0 {
            let all = 36_u128.pow(self.spelled);
            let mut left = u128::from(pick) * SPREAD % all;
            let digits_at = out.len();
            out.resize(digits_at + self.spelled as usize, b'0');
            for digit in out[digits_at..].iter_mut().rev() {
                *digit = DIGITS[(left % 36) as usize];
                left /= 36;
            }
        }
        let written = out.len() - at;
        let rest = length.saturating_sub(written);
        let from = out.len();
        out.resize(from + rest, REPEATED);
        for block in out[from..].chunks_mut(BLOCK) {
            let repeated = self.repeated * block.len() / BLOCK;
            fill(stream, &mut block[repeated..]);
        }
    }
}

/// Random letters and digits, and of 64 characters two others.
#[inline]
fn fill_letters(stream: &mut Stream, out: &mut [u8]) {
    for piece in out.chunks_mut(LETTERS_A_DRAW) {
        let mut bits = stream.bits();
        for byte in piece {
            *byte = LETTERS[(bits & 63) as usize];
            bits >>= 6;
        }
    }
}

#[inline]
fn fill_bytes(stream: &mut Stream, out: &mut [u8]) {
    for piece in out.chunks_mut(8) {
        piece.copy_from_slice(&stream.bits().to_le_bytes()[..piece.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn field(pick: Pick, shape: Shape) -> Field {
        Field { name: "f".into(), key: 99, present: None, pick, shape }
    }

    fn value(field: &Field, pick: u64) -> Vec<u8> {
        let mut out = Vec::new();
        field.write_as(b"f", pick, &mut out);
        out
    }

    #[test]
    fn unique_values_are_all_different() {
        let text = |spelled| {
            let (prefix, length) = ("c-".into(), Law::Uniform(6.0, 9.0));
            Shape::Text(Text { prefix, length, spelled, repeated: 0 })
        };
        let steps = Shape::Whole(Number::Steps { from: 5.0, step: 3.0 });
        for shape in [text(4), Shape::ObjectId, Shape::Uuid, steps] {
            let field = field(Pick::Unique, shape);
            let values: HashSet<_> = (0..200_000).map(|pick| value(&field, pick)).collect();
            assert_eq!(values.len(), 200_000, "{field:?}");
        }
    }

    #[test]
    fn decimals_have_their_digits() {
        let number = Number::Steps { from: 0.0, step: 0.25 };
        let field = field(Pick::Unique, Shape::Decimal { number, digits: 2 });
        // 0.75 is 75 times ten to the power of -2.
        let mut expected = b"\x13f\0".to_vec();
        expected.extend_from_slice(&75_u64.to_le_bytes());
        expected.extend_from_slice(&((6_176 - 2_u64) << 49).to_le_bytes());
        assert_eq!(value(&field, 3), expected);
    }

    #[test]
    fn a_share_of_each_block_repeats() {
        let text =
            Text { prefix: "".into(), length: Law::Constant(2_560.0), spelled: 0, repeated: 600 };
        let field = field(Pick::Free, Shape::Text(text));
        let bytes = value(&field, 1);
        let text = &bytes[7..bytes.len() - 1];
        assert_eq!(text.len(), 2_560);
        // The half block at the end too.
        let repeated: Vec<usize> = text
            .chunks(1_024)
            .map(|block| block.iter().take_while(|byte| **byte == REPEATED).count())
            .collect();
        assert_eq!(repeated, [600, 600, 300]);
    }
}
