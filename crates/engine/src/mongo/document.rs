//! Measuring path: no allocation, lock, log or formatting here.
//!
//! Reading BSON where it lies: the elements of a document one after the other, each checked to lie within it. The format is that of
//! bsonspec.org, version 1.1.

/// Type of an element: a 64-bit floating point number.
pub const DOUBLE: u8 = 0x01;
/// Type of an element: a string.
pub const STRING: u8 = 0x02;
/// Type of an element: a document.
pub const DOCUMENT: u8 = 0x03;
/// Type of an element: a list, stored as a document whose names are `0`, `1` and so on.
pub const ARRAY: u8 = 0x04;
/// Type of an element: bytes with a subtype.
pub const BINARY: u8 = 0x05;
/// Type of an element: true or false.
pub const BOOLEAN: u8 = 0x08;
/// Type of an element: a 32-bit whole number.
pub const INT32: u8 = 0x10;
/// Type of an element: a 64-bit whole number.
pub const INT64: u8 = 0x12;

/// Fewest bytes of a document: its length and the byte that ends it.
const LEAST: usize = 5;

/// Why bytes are not the BSON that they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Fewer bytes than an empty document has.
    #[error("a document of fewer than 5 bytes")]
    TooShort,
    /// The length that a document gives itself is not what there is of it.
    #[error("a document whose length is not its own")]
    Length,
    /// A document does not end with a zero.
    #[error("a document without its end")]
    NoEnd,
    /// The name of an element does not end within its document.
    #[error("an element whose name does not end")]
    Name,
    /// A value does not end within its document.
    #[error("an element that reaches out of its document")]
    Value,
    /// A string does not end with a zero.
    #[error("a string without its end")]
    Text,
    /// A truth value that is neither true nor false.
    #[error("a truth value that is neither true nor false")]
    Truth,
    /// No such type of element.
    #[error("an element of an unknown type")]
    Type,
}

/// One element of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// Its type, such as [`STRING`].
    pub kind: u8,
    /// Its name, without the zero behind it.
    pub name: &'a [u8],
    /// All bytes behind the name: with the length that strings, bytes and documents begin with.
    pub value: &'a [u8],
}

impl<'a> Element<'a> {
    /// A whole number, if it is one or a floating point number that stands for one.
    #[inline]
    pub fn whole(&self) -> Option<i64> {
        match self.kind {
            INT32 => Some(i64::from(i32::from_le_bytes(self.value.try_into().ok()?))),
            INT64 => Some(i64::from_le_bytes(self.value.try_into().ok()?)),
            DOUBLE => {
                let number = f64::from_le_bytes(self.value.try_into().ok()?);
                // Conversion saturates, so a number that is too large is not equal to what it becomes, or is the limit itself.
                let whole = number as i64;
                (whole as f64 == number && whole != i64::MAX).then_some(whole)
            }
            _ => None,
        }
    }

    /// Whether it is true or a number that is not 0; nothing if it is neither a truth value nor a number.
    #[inline]
    pub fn truth(&self) -> Option<bool> {
        match self.kind {
            BOOLEAN => Some(self.value == [1]),
            DOUBLE => {
                let number = f64::from_le_bytes(self.value.try_into().ok()?);
                Some(number != 0.0)
            }
            _ => self.whole().map(|number| number != 0),
        }
    }

    /// The bytes of a string, without the zero behind it.
    #[inline]
    pub fn string(&self) -> Option<&'a [u8]> {
        let with_end = (self.kind == STRING).then_some(self.value)?.get(4..)?.split_last()?;
        Some(with_end.1)
    }

    /// A string as text, with replacements where it is not UTF-8.
    pub fn text(&self) -> Option<String> {
        Some(String::from_utf8_lossy(self.string()?).into_owned())
    }

    /// The bytes of a binary value, of whatever subtype.
    #[inline]
    pub fn binary(&self) -> Option<&'a [u8]> {
        (self.kind == BINARY).then_some(self.value)?.get(5..)
    }

    /// The elements of a document or list.
    #[inline]
    pub fn elements(&self) -> Option<Elements<'a>> {
        if self.kind != DOCUMENT && self.kind != ARRAY {
            return None;
        }
        Elements::of(self.value).ok()
    }
}

/// The elements of a document in their order.
///
/// ```
/// use plimsoll_engine::mongo::document::Elements;
///
/// let document = b"\x0c\0\0\0\x10n\0\x07\0\0\0\0";
/// let mut elements = Elements::of(document)?;
/// let n = elements.next()?.expect("there is one");
/// assert_eq!((n.name, n.whole()), (&b"n"[..], Some(7)));
/// assert_eq!(elements.next()?, None);
/// # Ok::<(), plimsoll_engine::mongo::document::Malformed>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// What is left, without the zero that ends the document.
    rest: &'a [u8],
}

impl<'a> Elements<'a> {
    /// The elements of these bytes, which must be one whole document.
    #[inline]
    pub fn of(document: &'a [u8]) -> Result<Self, Malformed> {
        if document.len() < LEAST {
            return Err(Malformed::TooShort);
        }
        if length(document, 0) != Some(document.len()) {
            return Err(Malformed::Length);
        }
        let [_, _, _, _, rest @ .., 0] = document else {
            return Err(Malformed::NoEnd);
        };
        Ok(Self { rest })
    }

    /// The next element, or `None` at the end.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a malformed element is an error, and must be looked at"
    )]
    pub fn next(&mut self) -> Result<Option<Element<'a>>, Malformed> {
        let Some((&kind, behind)) = self.rest.split_first() else {
            return Ok(None);
        };
        let name_length = end_of_name(behind).ok_or(Malformed::Name)?;
        let (name, behind) = (&behind[..name_length], &behind[name_length + 1..]);
        let value_length = value_length(kind, behind)?;
        let (value, rest) = behind.split_at_checked(value_length).ok_or(Malformed::Value)?;
        check_end(kind, value)?;
        self.rest = rest;
        Ok(Some(Element { kind, name, value }))
    }

    /// The first element of this name.
    #[inline]
    pub fn find(mut self, name: &[u8]) -> Result<Option<Element<'a>>, Malformed> {
        while let Some(element) = self.next()? {
            if element.name == name {
                return Ok(Some(element));
            }
        }
        Ok(None)
    }

    /// Goes through all elements that are left.
    #[inline]
    pub fn check(mut self) -> Result<(), Malformed> {
        while self.next()?.is_some() {}
        Ok(())
    }
}

#[inline]
fn end_of_name(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == 0)
}

/// A length that is stored in four bytes. Negative ones become too large for any document.
#[inline]
fn length(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(four.try_into().expect("these are four bytes")) as usize)
}

/// Bytes of a value of this type that begins here; it may reach too far.
#[inline]
fn value_length(kind: u8, behind: &[u8]) -> Result<usize, Malformed> {
    let stored = || length(behind, 0).ok_or(Malformed::Value);
    match kind {
        BINARY => Ok(stored()? + 5),
        // A string, JavaScript code, a symbol.
        STRING | 0x0d | 0x0e => Ok(stored()? + 4),
        DOCUMENT | ARRAY | 0x0f => stored(),
        DOUBLE | INT64 | 0x09 | 0x11 => Ok(8),
        INT32 => Ok(4),
        BOOLEAN => Ok(1),
        0x06 | 0x0a | 0x7f | 0xff => Ok(0),
        0x07 => Ok(12),
        0x13 => Ok(16),
        // A string and an object id.
        0x0c => Ok(stored()? + 4 + 12),
        // A regular expression: two names.
        0x0b => {
            let pattern = end_of_name(behind).ok_or(Malformed::Value)?;
            let options = end_of_name(&behind[pattern + 1..]).ok_or(Malformed::Value)?;
            Ok(pattern + options + 2)
        }
        _ => Err(Malformed::Type),
    }
}

#[inline]
fn check_end(kind: u8, value: &[u8]) -> Result<(), Malformed> {
    match kind {
        STRING | 0x0d | 0x0e => match value {
            [_, _, _, _, .., 0] => Ok(()),
            _ => Err(Malformed::Text),
        },
        DOCUMENT | ARRAY => match value {
            [_, _, _, _, .., 0] => Ok(()),
            _ => Err(Malformed::NoEnd),
        },
        BOOLEAN if value[0] > 1 => Err(Malformed::Truth),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::spec::BinarySubtype;
    use bson::{Binary, Decimal128, Regex, Timestamp, doc};

    fn names_and_kinds(document: &[u8]) -> Result<Vec<(String, u8)>, Malformed> {
        let mut elements = Elements::of(document)?;
        let mut found = Vec::new();
        while let Some(element) = elements.next()? {
            found.push((String::from_utf8_lossy(element.name).into_owned(), element.kind));
        }
        Ok(found)
    }

    /// Every type that another implementation can write.
    fn all_types() -> Vec<u8> {
        let document = doc! {
            "double": 1.5,
            "string": "text",
            "document": { "a": 1 },
            "array": [1, "two"],
            "binary": Binary { subtype: BinarySubtype::Generic, bytes: vec![1, 2, 3] },
            "undefined": bson::Bson::Undefined,
            "id": bson::oid::ObjectId::from_bytes([7; 12]),
            "true": true,
            "time": bson::DateTime::from_millis(5),
            "null": bson::Bson::Null,
            "regex": Regex { pattern: bson::raw::cstr!("a.*").into(), options: bson::raw::cstr!("i").into() },
            "code": bson::Bson::JavaScriptCode("f()".into()),
            "symbol": bson::Bson::Symbol("s".into()),
            "scoped": bson::JavaScriptCodeWithScope { code: "f()".into(), scope: doc! { "x": 1 } },
            "int32": 42,
            "timestamp": Timestamp { time: 1, increment: 2 },
            "int64": 1_i64 << 40,
            "decimal": Decimal128::from_bytes([1; 16]),
            "smallest": bson::Bson::MinKey,
            "largest": bson::Bson::MaxKey,
        };
        document.to_vec().unwrap()
    }

    #[test]
    fn every_type_is_walked() {
        let document = all_types();
        let found = names_and_kinds(&document).unwrap();
        let kinds: Vec<u8> = found.iter().map(|(_, kind)| *kind).collect();
        assert_eq!(
            kinds,
            [
                0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0d, 0x0e, 0x0f,
                0x10, 0x11, 0x12, 0x13, 0xff, 0x7f
            ]
        );
        let get =
            |name: &str| Elements::of(&document).unwrap().find(name.as_bytes()).unwrap().unwrap();
        assert_eq!(get("string").text().as_deref(), Some("text"));
        assert_eq!(get("binary").binary(), Some(&[1, 2, 3][..]));
        assert_eq!(get("int32").whole(), Some(42));
        assert_eq!(get("int64").whole(), Some(1 << 40));
        assert_eq!(get("double").whole(), None);
        assert_eq!(get("double").truth(), Some(true));
        assert_eq!(get("true").truth(), Some(true));
        assert_eq!(
            get("array").elements().unwrap().find(b"1").unwrap().unwrap().text().as_deref(),
            Some("two")
        );
        assert_eq!(get("string").whole(), None);
        assert_eq!(get("string").truth(), None);
        assert_eq!(Elements::of(&document).unwrap().find(b"none"), Ok(None));
    }

    /// A type that no current version of the other implementation writes: a string and twelve bytes.
    #[test]
    fn database_pointers_are_walked() {
        let document = b"\x1b\0\0\0\x0cp\0\x03\0\0\0ab\0abcdefghijkl\0";
        assert_eq!(names_and_kinds(document), Ok(vec![("p".to_owned(), 0x0c)]));
    }

    #[test]
    fn no_beginning_of_a_document_is_a_document() {
        let document = all_types();
        for length in 0..document.len() {
            assert!(names_and_kinds(&document[..length]).is_err());
            // Even if it says of itself that it is whole.
            let mut shortened = document[..length].to_vec();
            if length >= 4 {
                shortened[..4].copy_from_slice(&(length as u32).to_le_bytes());
                let _ = names_and_kinds(&shortened);
            }
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (document, wrong) in [
            (&b"\x05\0\0\0"[..], Malformed::TooShort),
            (b"\x06\0\0\0\0", Malformed::Length),
            (b"\xff\xff\xff\xff\0", Malformed::Length),
            (b"\x05\0\0\0\x01", Malformed::NoEnd),
            (b"\x07\0\0\0\x10n\0", Malformed::Name),
            (b"\x0a\0\0\0\x10n\0\x01\0\0", Malformed::Value),
            (b"\x0d\0\0\0\x02s\0\xff\xff\xff\xff\0\0", Malformed::Value),
            (b"\x0c\0\0\0\x02s\0\0\0\0\0\0", Malformed::Text),
            (b"\x0e\0\0\0\x02s\0\x02\0\0\0ab\0", Malformed::Text),
            (b"\x0c\0\0\0\x03d\0\x04\0\0\0\0", Malformed::NoEnd),
            (b"\x0d\0\0\0\x03d\0\x05\0\0\0\x01\0", Malformed::NoEnd),
            (b"\x09\0\0\0\x08b\0\x02\0", Malformed::Truth),
            (b"\x08\0\0\0\x14t\0\0", Malformed::Type),
        ] {
            assert_eq!(names_and_kinds(document), Err(wrong), "{document:?}");
        }
    }

    #[test]
    fn numbers_that_are_not_whole_or_too_large_are_no_whole_numbers() {
        for (number, whole) in [
            (3.0, Some(3)),
            (-3.0, Some(-3)),
            (0.5, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
            (1e19, None),
            (i64::MAX as f64, None),
            (i64::MIN as f64, Some(i64::MIN)),
        ] {
            let element = Element { kind: DOUBLE, name: b"", value: &number.to_le_bytes() };
            assert_eq!(element.whole(), whole, "{number}");
        }
    }
}
