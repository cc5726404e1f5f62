//! `workload.fields`: what a record is made of.

use crate::table::*;

pub(crate) const FIELD_BYTES: Shape = Shape::size(1, 64 << 20);

object! {
    /// What a record is made of.
    FIELDS fields: "What a record is made of."
    count = Shape::count(1, 100_000), Default("10"), "10";
        "Fields of each record.";
    length = Shape::Any(&[FIELD_BYTES, Shape::Object(&FIELD_LENGTH)]), Default("100"), "100";
        "Bytes in each field: a number, or a distribution of numbers.";
    name_prefix = Shape::Name, Default("field"), "field";
        "Fields are called by this and their number, from 0.";
}

object! {
    /// A distribution of field lengths.
    FIELD_LENGTH field_length: "How long fields are."
    uniform = Shape::list(&FIELD_BYTES, 2, 2), Optional, "[1, 100]";
        "Each length from the least to the most equally often.";
    zipfian = Shape::list(&FIELD_BYTES, 2, 2), Optional, "[1, 100]";
        "The shortest most often, by Zipf's law with exponent 0.99.";
    histogram = Shape::Text { most: 1_000 }, Optional, "lengths.txt";
        "A file in YCSB's form, found from the folder of the experiment file: `BlockSize`, a tab and a number of bytes; \
         then for each bucket from 0 its number, a tab and its count.";
    => one of [uniform, zipfian, histogram];
}
