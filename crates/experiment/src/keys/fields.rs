//! `workload.fields`: what a record is made of.

use crate::table::*;

pub(crate) const FIELD_BYTES: Shape = Shape::size(1, 64 << 20);

object! {
    /// What a record is made of.
    FIELDS fields: "The fields of a record."
    count = Shape::count(1, 100_000), Default("10"), "10";
        "Number of fields of each record.";
    length = Shape::Any(&[FIELD_BYTES, Shape::Object(&FIELD_LENGTH)]), Default("100"), "100";
        "Length of each field in bytes: a number, or a distribution of numbers.";
    compressible = Shape::number(0.0, 0.99), Default("0%"), "60%";
        "The share of each value that repeats, so that compressors remove it. The rest is random, as all of YCSB's values: its letters shrink by a \
         quarter under zstd, and not at all under snappy.";
    name_prefix = Shape::Name, Default("field"), "field";
        "Prefix of field names; the number of the field follows, from 0.";
}

object! {
    FIELD_LENGTH field_length: "A distribution of field lengths."
    uniform = Shape::list(&FIELD_BYTES, 2, 2), Optional, "[1, 100]";
        "Each length between the two is equally likely.";
    zipfian = Shape::list(&FIELD_BYTES, 2, 2), Optional, "[1, 100]";
        "Short lengths are the most frequent, by Zipf's law with exponent 0.99.";
    histogram = Shape::Text { most: 1_000 }, Optional, "lengths.txt";
        "A file in YCSB's format; relative paths start at the folder of the experiment file. It has `BlockSize`, a tab and a number of bytes; then for \
         each bucket from 0 its number, a tab and its count.";
    => one of [uniform, zipfian, histogram];
}
