//! Measuring path: no allocation, lock, log or formatting here once the buffers have grown.
//!
//! Records as BSON documents: `{_id: key, field0: BinData(0, ...), ...}`, as YCSB's MongoDB binding stores them.
//! The format is that of bsonspec.org, version 1.1.

use plimsoll_workload::Fields;

const STRING: u8 = 0x02;
const BINARY: u8 = 0x05;
/// Subtype of binary values: generic.
const GENERIC: u8 = 0x00;

/// Writes the document of a new record.
#[inline]
pub(super) fn write(key: &[u8], fields: Fields<'_>, out: &mut Vec<u8>) {
    begin(out);
    out.push(STRING);
    out.extend_from_slice(b"_id\0");
    out.extend_from_slice(&(key.len() as u32 + 1).to_le_bytes());
    out.extend_from_slice(key);
    out.push(0);
    for (_, name, value) in fields {
        write_field(name, value, out);
    }
    end(out);
}

/// Writes a document again with other values for some fields; fields that it did not have go to its end.
pub(super) fn write_changed(old: &[u8], changes: Fields<'_>, out: &mut Vec<u8>) {
    begin(out);
    let first_field = Elements::of(old).at;
    out.extend_from_slice(old.get(4..first_field).unwrap_or_default());
    for field in Elements::of(old) {
        let mut value = field.value;
        for (_, name, new) in changes {
            if name == field.name {
                value = new;
            }
        }
        write_field(field.name, value, out);
    }
    for (_, name, value) in changes {
        if !Elements::of(old).any(|field| field.name == name) {
            write_field(name, value, out);
        }
    }
    end(out);
}

fn begin(out: &mut Vec<u8>) {
    out.clear();
    // The length, known at the end.
    out.extend_from_slice(&[0; 4]);
}

fn end(out: &mut Vec<u8>) {
    out.push(0);
    let length = (out.len() as u32).to_le_bytes();
    out[..4].copy_from_slice(&length);
}

#[inline]
fn write_field(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.push(BINARY);
    out.extend_from_slice(name);
    out.push(0);
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.push(GENERIC);
    out.extend_from_slice(value);
}

/// One binary field of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element<'a> {
    pub(super) name: &'a [u8],
    pub(super) value: &'a [u8],
    /// Where the value begins in the document.
    pub(super) value_at: usize,
}

/// The binary fields of a document in their order, without `_id`. Ends early where the document is damaged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elements<'a> {
    document: &'a [u8],
    at: usize,
}

impl<'a> Elements<'a> {
    #[inline]
    pub(super) fn of(document: &'a [u8]) -> Self {
        let mut elements = Self { document, at: 4 };
        if document.get(4) == Some(&STRING) {
            elements.at = elements.end_of_string().unwrap_or(document.len());
        }
        elements
    }

    fn end_of_string(&self) -> Option<usize> {
        let length_at = self.after_name()?;
        Some(length_at + 4 + self.length(length_at)?)
    }

    /// Where the bytes after the type and the name begin.
    #[inline]
    fn after_name(&self) -> Option<usize> {
        let name = self.document.get(self.at + 1..)?;
        Some(self.at + 1 + name.iter().position(|byte| *byte == 0)? + 1)
    }

    #[inline]
    fn length(&self, at: usize) -> Option<usize> {
        let bytes = self.document.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize)
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Element<'a>> {
        if *self.document.get(self.at)? != BINARY {
            return None;
        }
        let length_at = self.after_name()?;
        let value_at = length_at + 5;
        let value = self.document.get(value_at..value_at + self.length(length_at)?)?;
        let name = &self.document[self.at + 1..length_at - 1];
        self.at = value_at + value.len();
        Some(Element { name, value, value_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_workload::{Ask, DataSpec, FieldLength, KeySpace, Mix, Workload};
    use std::sync::Arc;

    fn fields(document: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut found = Vec::new();
        for field in Elements::of(document) {
            assert_eq!(&document[field.value_at..field.value_at + field.value.len()], field.value);
            found.push((field.name.to_vec(), field.value.to_vec()));
        }
        found
    }

    /// `{_id: "ab", f: BinData(0, "xyz"), g: BinData(0, "")}` by hand, from the specification.
    const BY_HAND: &[u8] =
        b"\x24\0\0\0\x02_id\0\x03\0\0\0ab\0\x05f\0\x03\0\0\0\0xyz\x05g\0\0\0\0\0\0\0";

    #[test]
    fn a_document_is_read_as_specified() {
        assert_eq!(BY_HAND.len(), 0x24);
        assert_eq!(
            fields(BY_HAND),
            [(b"f".to_vec(), b"xyz".to_vec()), (b"g".to_vec(), b"".to_vec())]
        );
    }

    #[test]
    fn damaged_documents_end_early() {
        for length in 0..BY_HAND.len() {
            assert!(Elements::of(&BY_HAND[..length]).count() <= 2);
        }
        assert_eq!(Elements::of(b"\x05\0\0\0\0").count(), 0);
    }

    #[test]
    fn a_record_is_written_as_specified() {
        let mut data = DataSpec::with_records(1);
        data.field_count = 1;
        data.field_length = FieldLength::Constant(3);
        data.field_name_prefix = "f".into();
        let key_space = KeySpace::new(&data).unwrap();
        let mut generator = key_space.loader(1).generator(0);
        let Some(Ask::Insert { mut fields, .. }) = generator.next() else {
            panic!("the load inserts")
        };
        let mut out = vec![9; 3];
        write(b"ab", fields, &mut out);
        let (_, _, value) = fields.next().unwrap();
        let mut expected = b"\x1d\0\0\0\x02_id\0\x03\0\0\0ab\0\x05f0\0\x03\0\0\0\0".to_vec();
        expected.extend_from_slice(value);
        expected.push(0);
        assert_eq!(out, expected);
        assert_eq!(out.len(), 0x1d);
    }

    #[test]
    fn changes_replace_values_of_any_length_and_add_what_is_missing() {
        let mut data = DataSpec::with_records(10);
        data.field_length = FieldLength::Uniform { min: 0, max: 9 };
        let key_space = KeySpace::new(&data).unwrap();
        let mut loader = key_space.loader(1).generator(0);
        let Some(Ask::Insert { key, fields: all, .. }) = loader.next() else {
            panic!("the load inserts")
        };
        let mut old = Vec::new();
        write(key, all, &mut old);

        let mut mix = Mix::preset("a").unwrap();
        (mix.read, mix.update) = (0.0, 1.0);
        let workload = Arc::new(Workload::new(&key_space, &mix, 1, None).unwrap());
        let mut generator = workload.generator(0);
        let mut changed = Vec::new();
        for _ in 0..20 {
            let Ask::Update { changes, .. } = generator.next() else {
                panic!("there are only updates")
            };
            let mut expected = fields(&old);
            for (index, _, value) in changes {
                expected[index as usize].1 = value.to_vec();
            }
            write_changed(&old, changes, &mut changed);
            assert_eq!(fields(&changed), expected);
            assert_eq!(changed[..4], (changed.len() as u32).to_le_bytes());

            write_changed(BY_HAND, changes, &mut changed);
            let mut expected = fields(BY_HAND);
            expected.extend(changes.map(|(_, name, value)| (name.to_vec(), value.to_vec())));
            assert_eq!(fields(&changed), expected);
        }
    }
}
