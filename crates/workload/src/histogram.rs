//! YCSB's file of field lengths.

use crate::data::FieldLength;
use thiserror::Error;

/// What is wrong with a histogram file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum HistogramError {
    /// The first line is not as it must be.
    #[error("line 1 is {found:?}; it must be BlockSize, a tab and the bytes in a block")]
    NoBlockSize {
        /// The line, shortened for the message.
        found: String,
    },
    /// A later line is not as it must be.
    #[error("line {line} is {found:?}; it must be the bucket {bucket}, a tab and its count")]
    NoBucket {
        /// Number of the line, counted from 1.
        line: usize,
        /// The line, shortened for the message.
        found: String,
        /// The bucket that should be described there.
        bucket: usize,
    },
    /// The file has no bucket at all.
    #[error(
        "there is no bucket after the first line; add lines of a bucket (0, 1, 2, and so on), a tab and its count"
    )]
    NoBuckets,
}

impl FieldLength {
    /// Reads the text of a histogram file: `BlockSize<TAB>n`, then for each bucket from 0 on `bucket<TAB>count`.
    ///
    /// # Errors
    /// The first line that is not of this form.
    pub fn from_histogram(text: &str) -> Result<Self, HistogramError> {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let block_size = first.split_once('\t').filter(|(word, _)| *word == "BlockSize");
        let Some(Ok(block_size)) = block_size.map(|(_, number)| number.trim_end().parse()) else {
            return Err(HistogramError::NoBlockSize { found: first.into() });
        };
        let mut counts = Vec::new();
        for (index, line) in lines.enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let bucket = counts.len();
            let count = line.split_once('\t').filter(|(word, _)| word.parse() == Ok(bucket));
            let Some(Ok(count)) = count.map(|(_, number)| number.trim_end().parse()) else {
                return Err(HistogramError::NoBucket {
                    line: index + 2,
                    found: line.into(),
                    bucket,
                });
            };
            counts.push(count);
        }
        if counts.is_empty() {
            return Err(HistogramError::NoBuckets);
        }
        Ok(Self::Histogram { block_size, counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_file() {
        let length = FieldLength::from_histogram("BlockSize\t10\n0\t3\n1\t0\n2\t5\n\n").unwrap();
        assert_eq!(length, FieldLength::Histogram { block_size: 10, counts: vec![3, 0, 5] });
        let windows =
            FieldLength::from_histogram("BlockSize\t10\r\n0\t3\r\n1\t0\r\n2\t5\r\n").unwrap();
        assert_eq!(windows, length);
    }

    #[test]
    fn names_the_line_that_is_wrong() {
        for text in
            ["", "Block\t10\n", "BlockSize 10\n", "BlockSize\tten\n", "BlockSize\t-1\n0\t1\n"]
        {
            let error = FieldLength::from_histogram(text).unwrap_err();
            assert!(matches!(error, HistogramError::NoBlockSize { .. }), "{error}");
        }
        for (text, found) in [
            ("BlockSize\t10\n0\t3\n2\t5\n", "2\t5"),
            ("BlockSize\t10\n0\t3\n1 5\n", "1 5"),
            ("BlockSize\t10\n0\t3\n1\t-5\n", "1\t-5"),
        ] {
            let error = FieldLength::from_histogram(text).unwrap_err();
            assert_eq!(error, HistogramError::NoBucket { line: 3, found: found.into(), bucket: 1 });
        }
        let found = FieldLength::from_histogram("BlockSize\t10\n").unwrap_err();
        assert_eq!(found, HistogramError::NoBuckets);
    }
}
