//! What is stored in the database.

use crate::documents::DocumentsSpec;
use crate::key::KeyOrder;
use crate::problem::{Problem, Wrong, in_range};
use serde::{Deserialize, Serialize};

/// The largest record that can be made, so that a slip of the pen does not take all memory.
const MOST_RECORD_BYTES: u64 = 64 << 20;
/// Key numbers are hashed as 63-bit numbers.
const MOST_RECORDS: u64 = 1 << 62;
const MOST_PADDING: u32 = 1_000;
const MOST_FIELDS: u32 = 100_000;
/// Something of each value must be its own.
const MOST_COMPRESSIBLE: f64 = 0.99;

/// The records of a database: how many, how long, under which keys.
///
/// Names and defaults are those of YCSB's core workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSpec {
    /// Records present after the load: key numbers 0 to `records` - 1.
    pub records: u64,
    /// Number of fields of each record.
    #[serde(default = "default_field_count")]
    pub field_count: u32,
    /// Number of bytes in each field.
    #[serde(default)]
    pub field_length: FieldLength,
    /// Fields are called by this and their number, from 0.
    #[serde(default = "default_field_name_prefix")]
    pub field_name_prefix: String,
    /// Whether keys follow the key numbers or are scattered by a hash.
    #[serde(default)]
    pub key_order: KeyOrder,
    /// Least number of digits in a key; shorter numbers get zeros in front.
    #[serde(default = "default_zero_padding")]
    pub zero_padding: u32,
    /// Makes each value follow from its key and field, so that it can be verified when read.
    #[serde(default)]
    pub data_integrity: bool,
    /// Share of each value that repeats, so that compressors remove it, from 0 to below 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub compressible: f64,
    /// First key number that is loaded and used.
    #[serde(default)]
    pub insert_start: u64,
    /// How many key numbers are loaded and used; all from `insert_start` on when absent.
    #[serde(default)]
    pub insert_count: Option<u64>,
    /// Name of the table or collection.
    #[serde(default = "default_table")]
    pub table: String,
    /// Documents and operations of an application, in place of records with fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<DocumentsSpec>,
}

/// How many bytes a field has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FieldLength {
    /// Every field has this length.
    Constant(u32),
    /// Each length from the least to the most equally often.
    Uniform {
        /// Shortest length of a field, in bytes.
        min: u32,
        /// Longest length of a field, in bytes.
        max: u32,
    },
    /// Zipfian with exponent 0.99: the shortest most often.
    Zipfian {
        /// Shortest length of a field, in bytes.
        min: u32,
        /// Longest length of a field, in bytes.
        max: u32,
    },
    /// Multiples of a block size, each as often as its count says. Bucket `i` stands for `(i + 1) * block_size` bytes, except that
    /// the last stands for `i * block_size`, as in YCSB.
    Histogram {
        /// Width of a bucket in bytes.
        block_size: u32,
        /// Weight of each bucket, from the shortest on.
        counts: Vec<u64>,
    },
}

impl Default for FieldLength {
    fn default() -> Self {
        Self::Constant(100)
    }
}

impl FieldLength {
    /// The longest length that can occur, in bytes.
    pub fn longest(&self) -> u64 {
        match self {
            Self::Constant(length) => u64::from(*length),
            Self::Uniform { max, .. } | Self::Zipfian { max, .. } => u64::from(*max),
            Self::Histogram { block_size, counts } => {
                // The last bucket stands for the same length as the one before it; a single bucket for no byte at all.
                (counts.len() as u64).saturating_sub(1).saturating_mul(u64::from(*block_size))
            }
        }
    }

    fn check(&self, problems: &mut Vec<Problem>) {
        match self {
            Self::Constant(_) => {}
            Self::Uniform { min, max } | Self::Zipfian { min, max } => {
                if min > max {
                    let (minimum, maximum) = (u64::from(*min), u64::from(*max));
                    let wrong = Wrong::MinimumAboveMaximum { minimum, maximum };
                    problems.push(Problem { field: "field_length", wrong });
                }
            }
            Self::Histogram { block_size, counts } => {
                in_range(
                    problems,
                    "field_length.block_size",
                    f64::from(*block_size),
                    1.0,
                    f64::from(u32::MAX),
                );
                let total = counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
                if total == 0 {
                    problems.push(Problem { field: "field_length.counts", wrong: Wrong::Empty });
                } else {
                    in_range(
                        problems,
                        "field_length.counts",
                        total as f64,
                        1.0,
                        MOST_RECORDS as f64,
                    );
                }
            }
        }
    }
}

impl DataSpec {
    /// This many records of ten fields of 100 bytes under hashed keys: YCSB's defaults.
    pub fn with_records(records: u64) -> Self {
        Self {
            records,
            field_count: default_field_count(),
            field_length: FieldLength::default(),
            field_name_prefix: default_field_name_prefix(),
            key_order: KeyOrder::default(),
            zero_padding: default_zero_padding(),
            data_integrity: false,
            compressible: 0.0,
            insert_start: 0,
            insert_count: None,
            table: default_table(),
            documents: None,
        }
    }

    /// The documents and operations of an application.
    pub fn with_documents(documents: DocumentsSpec) -> Self {
        let (records, _) = documents.size();
        Self { documents: Some(documents), ..Self::with_records(records) }
    }

    /// How many key numbers are loaded and used, from `insert_start` on.
    pub fn key_count(&self) -> u64 {
        self.insert_count.unwrap_or(self.records.saturating_sub(self.insert_start))
    }

    /// Everything impossible in this description.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        in_range(&mut problems, "records", self.records as f64, 0.0, MOST_RECORDS as f64);
        in_range(
            &mut problems,
            "field_count",
            f64::from(self.field_count),
            1.0,
            f64::from(MOST_FIELDS),
        );
        self.field_length.check(&mut problems);
        let record_bytes = self.field_length.longest().saturating_mul(u64::from(self.field_count));
        in_range(&mut problems, "field_length", record_bytes as f64, 0.0, MOST_RECORD_BYTES as f64);
        in_range(
            &mut problems,
            "zero_padding",
            f64::from(self.zero_padding),
            0.0,
            f64::from(MOST_PADDING),
        );
        if self.data_integrity && !matches!(self.field_length, FieldLength::Constant(_)) {
            problems.push(Problem { field: "data_integrity", wrong: Wrong::NeedsConstantLength });
        }
        in_range(&mut problems, "compressible", self.compressible, 0.0, MOST_COMPRESSIBLE);
        if self.data_integrity && self.compressible > 0.0 {
            problems.push(Problem { field: "compressible", wrong: Wrong::NotWithIntegrity });
        }
        let count = self.insert_count.unwrap_or(0);
        let inside = self.insert_start.checked_add(count).is_some_and(|end| end <= self.records);
        if !inside {
            let (start, records) = (self.insert_start, self.records);
            let field = if self.insert_count.is_some() { "insert_count" } else { "insert_start" };
            problems
                .push(Problem { field, wrong: Wrong::OutsideRecords { start, count, records } });
        }
        problems
    }

    /// Mean bytes in the values of one record.
    pub fn mean_value_bytes(&self) -> f64 {
        self.field_length.mean() * f64::from(self.field_count)
    }

    /// Mean bytes of one record: its key, the names of its fields and their values, without whatever an engine adds.
    pub fn mean_record_bytes(&self) -> f64 {
        if let Some(documents) = &self.documents {
            let (count, bytes) = documents.size();
            return bytes / count.max(1) as f64;
        }
        let mut name_bytes = 0;
        for index in 0..u64::from(self.field_count) {
            name_bytes += self.field_name_prefix.len() as u64 + u64::from(digits(index));
        }
        self.mean_key_bytes() + name_bytes as f64 + self.mean_value_bytes()
    }

    /// Mean bytes of one key.
    pub fn mean_key_bytes(&self) -> f64 {
        // Hashed key numbers are uniform below 2^63. So nine in ten have 19 digits.
        let (start, end) = match self.key_order {
            KeyOrder::Hashed => (0, 1_u64 << 63),
            KeyOrder::Ordered => {
                (self.insert_start, self.insert_start.saturating_add(self.key_count().max(1)))
            }
        };
        let mut sum = 0.0;
        let mut from = start;
        while from < end {
            let length = digits(from);
            let next_length = 10_u64.checked_pow(length).unwrap_or(u64::MAX).min(end);
            sum += (next_length - from) as f64 * f64::from(length.max(self.zero_padding));
            from = next_length;
        }
        crate::key::PREFIX.len() as f64 + sum / (end - start) as f64
    }
}

/// Decimal digits of a number.
fn digits(number: u64) -> u32 {
    number.checked_ilog10().map_or(1, |log| log + 1)
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

fn default_field_count() -> u32 {
    10
}

fn default_field_name_prefix() -> String {
    "field".into()
}

fn default_zero_padding() -> u32 {
    1
}

fn default_table() -> String {
    "usertable".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_ycsb() {
        let data: DataSpec = serde_json::from_str(r#"{"records": 1000}"#).unwrap();
        assert_eq!(data, DataSpec::with_records(1_000));
        assert_eq!(data.field_count, 10);
        assert_eq!(data.field_length, FieldLength::Constant(100));
        assert_eq!(data.field_name_prefix, "field");
        assert_eq!(data.key_order, KeyOrder::Hashed);
        assert_eq!(data.zero_padding, 1);
        assert_eq!(data.table, "usertable");
        assert_eq!(data.key_count(), 1_000);
        assert!(data.check().is_empty());
        assert!(serde_json::from_str::<DataSpec>(r#"{"record": 1000}"#).is_err());
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let mut data = DataSpec::with_records(10);
        data.field_count = 0;
        data.field_length = FieldLength::Uniform { min: 9, max: 3 };
        data.zero_padding = 5_000;
        data.data_integrity = true;
        data.insert_start = 6;
        data.insert_count = Some(5);
        let fields: Vec<_> = data.check().into_iter().map(|problem| problem.field).collect();
        assert_eq!(
            fields,
            ["field_count", "field_length", "zero_padding", "data_integrity", "insert_count"]
        );
    }

    #[test]
    fn sizes_that_no_memory_holds_are_refused() {
        let mut data = DataSpec::with_records(10);
        data.field_length = FieldLength::Constant(7 << 20);
        assert_eq!(data.check().len(), 1);
        data.field_length = FieldLength::Histogram { block_size: u32::MAX, counts: vec![1; 9] };
        assert_eq!(data.check().len(), 1);
    }

    #[test]
    fn histograms_need_weight() {
        let mut data = DataSpec::with_records(10);
        data.field_length = FieldLength::Histogram { block_size: 0, counts: vec![0, 0] };
        let wrong: Vec<_> = data.check().into_iter().map(|problem| problem.wrong).collect();
        assert_eq!(
            wrong,
            [Wrong::OutOfRange { value: 0.0, least: 1.0, most: f64::from(u32::MAX) }, Wrong::Empty]
        );
    }

    /// By counting the digits one by one.
    #[test]
    fn mean_key_length_is_that_of_the_keys() {
        let mut data = DataSpec::with_records(12_345);
        data.key_order = KeyOrder::Ordered;
        data.insert_start = 7;
        let mut bytes = 0;
        for number in 7..12_345_u64 {
            bytes += "user".len() + number.to_string().len();
        }
        assert!((data.mean_key_bytes() - bytes as f64 / 12_338.0).abs() < 1e-9);
        data.zero_padding = 20;
        assert!((data.mean_key_bytes() - 24.0).abs() < 1e-9);
    }

    /// 2^63 = 9.22e18: 89.16 % have 19 digits, 9.76 % have 18, and so on.
    #[test]
    fn mean_hashed_key_length() {
        let data = DataSpec::with_records(1_000);
        assert!((data.mean_key_bytes() - (4.0 + 18.8795)).abs() < 1e-3);
        assert!((data.mean_record_bytes() - (22.8795 + 60.0 + 1_000.0)).abs() < 1e-3);
    }
}
