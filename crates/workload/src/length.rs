//! Measuring path: no allocation, lock, log or formatting here after [`Lengths::new`].
//!
//! Draws the lengths of fields.

use crate::data::FieldLength;
use crate::harmonic::Harmonic;
use crate::stream::Stream;
use crate::zipfian::{THETA, Zipfian};

/// A [`FieldLength`] prepared for drawing.
#[derive(Clone, Debug)]
pub(crate) enum Lengths {
    Constant(usize),
    Uniform {
        min: u64,
        count: u64,
    },
    Zipfian {
        min: u64,
        above: Zipfian,
    },
    /// For each bucket the sum of the counts up to it, and the length it stands for.
    Histogram {
        sums: Vec<u64>,
        lengths: Vec<usize>,
    },
}

impl Lengths {
    pub(crate) fn new(length: &FieldLength) -> Self {
        match length {
            FieldLength::Constant(length) => Self::Constant(*length as usize),
            FieldLength::Uniform { min, max } => {
                Self::Uniform { min: u64::from(*min), count: u64::from(max - min) + 1 }
            }
            FieldLength::Zipfian { min, max } => Self::Zipfian {
                min: u64::from(*min),
                above: Zipfian::new(u64::from(max - min) + 1),
            },
            FieldLength::Histogram { block_size, counts } => {
                let mut sums = Vec::new();
                let mut sum = 0;
                for count in counts {
                    sum += count;
                    sums.push(sum);
                }
                let lengths = (0..counts.len())
                    .map(|bucket| bucket_length(bucket, *block_size, counts.len()) as usize);
                Self::Histogram { sums, lengths: lengths.collect() }
            }
        }
    }

    #[inline]
    pub(crate) fn draw(&self, stream: &mut Stream) -> usize {
        match self {
            Self::Constant(length) => *length,
            Self::Uniform { min, count } => (min + stream.below(*count)) as usize,
            Self::Zipfian { min, above } => (min + above.draw(stream)) as usize,
            Self::Histogram { sums, lengths } => {
                let total = sums.last().copied().unwrap_or_default();
                let drawn = stream.below(total);
                lengths[sums.partition_point(|sum| *sum <= drawn)]
            }
        }
    }
}

/// The length that a bucket stands for. The last one stands for a block less, as in YCSB.
fn bucket_length(bucket: usize, block_size: u32, buckets: usize) -> u64 {
    let blocks = if bucket + 1 == buckets { bucket } else { bucket + 1 };
    blocks as u64 * u64::from(block_size)
}

impl FieldLength {
    /// The mean length in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(length) => f64::from(*length),
            Self::Uniform { min, max } => (f64::from(*min) + f64::from(*max)) / 2.0,
            Self::Zipfian { min, max } => {
                // Rank r of n has weight r^-0.99, so the mean rank is the sum of r^0.01 over the sum of r^-0.99.
                let count = u64::from(max.saturating_sub(*min)) + 1;
                f64::from(*min) - 1.0
                    + Harmonic::new(THETA - 1.0).sum(count) / Harmonic::new(THETA).sum(count)
            }
            Self::Histogram { block_size, counts } => {
                let mut bytes = 0.0;
                let mut total = 0.0;
                for (bucket, count) in counts.iter().enumerate() {
                    bytes +=
                        bucket_length(bucket, *block_size, counts.len()) as f64 * *count as f64;
                    total += *count as f64;
                }
                if total > 0.0 { bytes / total } else { 0.0 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::assert_follows;

    fn mean_of_draws(length: &FieldLength, least: usize, most: usize) -> f64 {
        let lengths = Lengths::new(length);
        let mut stream = Stream::from_state(1);
        let mut sum = 0;
        for _ in 0..400_000 {
            let drawn = lengths.draw(&mut stream);
            assert!((least..=most).contains(&drawn));
            sum += drawn;
        }
        sum as f64 / 400_000.0
    }

    #[test]
    fn means_are_those_of_the_draws() {
        assert_eq!(mean_of_draws(&FieldLength::Constant(30), 30, 30), 30.0);
        let uniform = FieldLength::Uniform { min: 10, max: 90 };
        assert_eq!(uniform.mean(), 50.0);
        assert!((mean_of_draws(&uniform, 10, 90) - 50.0).abs() < 0.2);
        // The generator is an approximation of Zipf's law, the mean is that of the law.
        let zipfian = FieldLength::Zipfian { min: 10, max: 1_009 };
        assert!((mean_of_draws(&zipfian, 10, 1_009) / zipfian.mean() - 1.0).abs() < 0.03);
        let one = FieldLength::Zipfian { min: 10, max: 10 };
        assert_eq!(mean_of_draws(&one, 10, 10), 10.0);
        assert!((one.mean() - 10.0).abs() < 1e-12);
    }

    #[test]
    fn uniform_reaches_both_ends_equally_often() {
        let lengths = Lengths::new(&FieldLength::Uniform { min: 3, max: 7 });
        let mut stream = Stream::from_state(2);
        assert_follows(&[0.2; 5], 100_000, || lengths.draw(&mut stream) - 3);
    }

    /// Buckets 0 to 3 stand for 10, 20, 30 and, being the last, 30 bytes.
    #[test]
    fn histogram_follows_its_counts() {
        let length = FieldLength::Histogram { block_size: 10, counts: vec![1, 0, 2, 5] };
        let lengths = Lengths::new(&length);
        let mut stream = Stream::from_state(2);
        assert_follows(&[1.0 / 8.0, 7.0 / 8.0], 100_000, || match lengths.draw(&mut stream) {
            10 => 0,
            30 => 1,
            other => panic!("{other}"),
        });
        assert_eq!(length.mean(), 220.0 / 8.0);
        assert_eq!(length.longest(), 30);
    }
}
