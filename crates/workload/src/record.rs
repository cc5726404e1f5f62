//! Measuring path: no allocation, lock, log or formatting here after the buffers are made.
//!
//! The contents of records.

use crate::data::DataSpec;
use crate::integrity;
use crate::length::Lengths;
use crate::stream::Stream;
use crate::value;

/// The names of all fields, in one piece.
#[derive(Clone, Debug)]
pub(crate) struct FieldNames {
    bytes: Box<[u8]>,
    ends: Box<[u32]>,
}

impl FieldNames {
    fn new(prefix: &str, count: u32) -> Self {
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        for index in 0..count {
            bytes.extend_from_slice(format!("{prefix}{index}").as_bytes());
            ends.push(bytes.len() as u32);
        }
        Self { bytes: bytes.into(), ends: ends.into() }
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start as usize..self.ends[index] as usize]
    }
}

/// How records are made: what all sessions share.
#[derive(Clone, Debug)]
pub(crate) struct RecordShape {
    pub(crate) names: FieldNames,
    pub(crate) field_count: u32,
    lengths: Lengths,
    data_integrity: bool,
    /// Share of each value that repeats.
    compressible: f64,
    longest: usize,
}

impl RecordShape {
    pub(crate) fn new(data: &DataSpec) -> Self {
        Self {
            names: FieldNames::new(&data.field_name_prefix, data.field_count),
            field_count: data.field_count,
            lengths: Lengths::new(&data.field_length),
            data_integrity: data.data_integrity,
            compressible: data.compressible,
            longest: data.field_length.longest() as usize,
        }
    }

    /// A buffer that can hold any record of this shape.
    pub(crate) fn buffer(&self) -> RecordBuffer {
        let fields = self.field_count as usize;
        RecordBuffer {
            entries: vec![Entry::default(); fields].into(),
            filled: 0,
            bytes: vec![0; fields * self.longest + value::ROOM].into(),
        }
    }

    /// Makes values for one field, chosen at random.
    #[inline]
    pub(crate) fn fill_one(&self, key: &[u8], stream: &mut Stream, record: &mut RecordBuffer) {
        let index = stream.below(u64::from(self.field_count)) as u32;
        record.filled = 0;
        self.add(index, 0, key, stream, record);
    }

    /// Makes values for all fields.
    #[inline]
    pub(crate) fn fill_all(&self, key: &[u8], stream: &mut Stream, record: &mut RecordBuffer) {
        record.filled = 0;
        let mut end = 0;
        for index in 0..self.field_count {
            end = self.add(index, end, key, stream, record);
        }
    }

    #[inline]
    fn add(
        &self,
        index: u32,
        start: usize,
        key: &[u8],
        stream: &mut Stream,
        record: &mut RecordBuffer,
    ) -> usize {
        let length = self.lengths.draw(stream);
        let end = start + length;
        if self.data_integrity {
            integrity::write(key, self.names.get(index), &mut record.bytes[start..end]);
        } else {
            let random = length - (length as f64 * self.compressible) as usize;
            let room = &mut record.bytes[start..start + random + value::ROOM];
            value::fill(stream, room, random);
            record.bytes[start + random..end].fill(value::REPEATED);
        }
        record.entries[record.filled] = Entry { index, start: start as u32, end: end as u32 };
        record.filled += 1;
        end
    }
}

/// Where one value lies in the bytes of a record.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    index: u32,
    start: u32,
    end: u32,
}

/// The values of one record, or of some fields of it. Made once for each session and filled again and again.
#[derive(Clone, Debug)]
pub(crate) struct RecordBuffer {
    entries: Box<[Entry]>,
    filled: usize,
    bytes: Box<[u8]>,
}

impl RecordBuffer {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.filled
    }

    /// The field number and the value at a position.
    #[inline]
    pub(crate) fn get(&self, position: usize) -> Option<(u32, &[u8])> {
        let entry = self.entries[..self.filled].get(position)?;
        Some((entry.index, &self.bytes[entry.start as usize..entry.end as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_is_requested_repeats_and_the_rest_does_not() {
        for (compressible, length, random) in
            [(0.6, 100, 40), (0.99, 50, 1), (0.0, 30, 30), (0.5, 1, 1)]
        {
            let data = DataSpec {
                field_length: crate::FieldLength::Constant(length),
                compressible,
                ..DataSpec::with_records(1)
            };
            let shape = RecordShape::new(&data);
            let (mut record, mut stream) = (shape.buffer(), Stream::from_state(7));
            shape.fill_all(b"user1", &mut stream, &mut record);
            let mut plain = vec![0; length as usize + value::ROOM];
            let mut stream = Stream::from_state(7);
            for position in 0..10 {
                let (_, value) = record.get(position).unwrap();
                value::fill(&mut stream, &mut plain, random);
                assert_eq!(value.len(), length as usize);
                assert_eq!(value[..random], plain[..random], "field {position}");
                assert!(value[random..].iter().all(|byte| *byte == value::REPEATED));
            }
        }
    }

    #[test]
    fn names_are_prefix_and_number() {
        let names = FieldNames::new("field", 12);
        assert_eq!(names.get(0), b"field0");
        assert_eq!(names.get(9), b"field9");
        assert_eq!(names.get(11), b"field11");
        assert_eq!(FieldNames::new("", 1).get(0), b"0");
    }
}
