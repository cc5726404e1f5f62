//! Histograms that are only read, in few bytes.
//!
//! A histogram in which values can be counted takes 270 kB. An experiment has tens of thousands of them, one for each operation and
//! second, so those that come from a record stay as they were written: the counts in the V2 encoding of HdrHistogram, some kB, read
//! through from the start for each question.

/// Cookie, length of the counts, normalising offset, digits, lowest and highest value, ratio: 4 + 4 + 4 + 4 + 8 + 8 + 8 bytes.
pub(crate) const HEADER_BYTES: usize = 40;
const COOKIE: u32 = 0x1c84_9313;

/// Buckets double in width from one half of this to the next: 3 digits need at least 2 × 10³ steps.
const STEPS: u64 = 2048;
const HALF: u64 = STEPS / 2;

/// Latencies above this (one hour) are counted as this.
pub const HIGHEST_LATENCY_NS: u64 = 3_600_000_000_000;

pub(crate) const SIGNIFICANT_DIGITS: u8 = 3;

/// How many buckets a histogram has: [`bucket_of`] is below this.
pub const BUCKETS: usize = bucket_of(HIGHEST_LATENCY_NS) + 1;

/// The bucket in which a histogram counts a value in nanoseconds, as HdrHistogram numbers them. To count many values, keep an array
/// of [`BUCKETS`] counts and hand it to [`Histogram::record_bucket`](crate::Histogram::record_bucket).
#[inline(always)]
pub const fn bucket_of(value_ns: u64) -> usize {
    let value = if value_ns < HIGHEST_LATENCY_NS { value_ns } else { HIGHEST_LATENCY_NS };
    let doubling = (value | (STEPS - 1)).ilog2() - (STEPS - 1).ilog2();
    (doubling as u64 * HALF + (value >> doubling)) as usize
}

/// The smallest value that is counted in a bucket.
pub(crate) const fn lowest_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    match (bucket / HALF).checked_sub(1) {
        Some(doubling) => (bucket % HALF + HALF) << doubling,
        None => bucket,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    counts: Box<[u8]>,
    total: u64,
    /// The highest value that is counted with the largest; 0 when empty.
    max: u64,
}

/// Values that are counted together, and how many of them there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) lowest: u64,
    pub(crate) highest: u64,
    pub(crate) count: u64,
}

impl Bucket {
    /// The middle, as HdrHistogram takes it for a mean.
    pub(crate) fn middle(&self) -> u64 {
        self.lowest + (self.highest - self.lowest).div_ceil(2)
    }
}

impl Packed {
    /// Takes the uncompressed V2 encoding; `None` when its bounds are not those of this crate or it is damaged.
    pub(crate) fn from_v2(encoded: &[u8]) -> Option<Self> {
        let (header, counts) = encoded.split_at_checked(HEADER_BYTES)?;
        if header != header_of(counts.len()) {
            return None;
        }
        let mut reader = Counts { rest: counts, index: 0 };
        let (mut total, mut max) = (0_u64, 0);
        for bucket in &mut reader {
            total = total.checked_add(bucket.count)?;
            max = bucket.highest;
        }
        let ended_at_the_end = reader.rest.is_empty();
        ended_at_the_end.then(|| Self { counts: counts.into(), total, max })
    }

    pub(crate) fn to_v2(&self) -> Vec<u8> {
        let mut encoded = header_of(self.counts.len());
        encoded.extend_from_slice(&self.counts);
        encoded
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The highest value that is counted with the largest, or `None` when empty.
    pub(crate) fn max(&self) -> Option<u64> {
        (self.total > 0).then_some(self.max)
    }

    /// The non-empty buckets in rising order.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        Counts { rest: &self.counts, index: 0 }
    }

    /// As HdrHistogram defines it: the highest value that is counted with the first one at or below which the share lies.
    pub(crate) fn percentile(&self, percentile: f64) -> u64 {
        let wanted = values_wanted(self.total, percentile);
        let mut seen = 0;
        for bucket in self.buckets() {
            seen += bucket.count;
            if seen >= wanted {
                return if percentile == 0.0 { bucket.lowest } else { bucket.highest };
            }
        }
        0
    }
}

/// How many of the smallest values lie at or below a percentile of `total` values.
pub(crate) fn values_wanted(total: u64, percentile: f64) -> u64 {
    let quantile = (percentile / 100.0).min(1.0);
    ((quantile * total as f64).ceil() as u64).max(1)
}

fn header_of(counts_bytes: usize) -> Vec<u8> {
    let counts_bytes = u32::try_from(counts_bytes).unwrap_or(u32::MAX);
    let mut header = Vec::with_capacity(HEADER_BYTES + counts_bytes as usize);
    for number in [COOKIE, counts_bytes, 0, u32::from(SIGNIFICANT_DIGITS)] {
        header.extend_from_slice(&number.to_be_bytes());
    }
    for number in [1, HIGHEST_LATENCY_NS, 1.0_f64.to_bits()] {
        header.extend_from_slice(&number.to_be_bytes());
    }
    header
}

/// Reads counts: whole numbers, zigzag and LEB128 encoded in at most 9 bytes; a negative one is this many empty buckets.
struct Counts<'a> {
    rest: &'a [u8],
    index: u64,
}

impl Counts<'_> {
    fn number(&mut self) -> Option<i64> {
        let mut value = 0_u64;
        for place in 0..9 {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            // The ninth byte is taken whole.
            if place == 8 {
                value |= u64::from(byte) << 56;
                break;
            }
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                break;
            }
        }
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

impl Iterator for Counts<'_> {
    type Item = Bucket;

    /// Ends at the end of the counts, and before it when they are damaged.
    fn next(&mut self) -> Option<Bucket> {
        loop {
            let before = self.rest;
            let number = self.number()?;
            let index = self.index;
            let count = match u64::try_from(number) {
                Ok(count) => {
                    self.index += 1;
                    count
                }
                Err(_) => {
                    self.index = self.index.saturating_add(number.unsigned_abs());
                    continue;
                }
            };
            if count == 0 {
                continue;
            }
            // Which doubling this is, and the step within it.
            let (doubling, step) = match (index / HALF).checked_sub(1) {
                Some(doubling) => (doubling, index % HALF + HALF),
                None => (0, index),
            };
            let lowest = if doubling < 53 { step << doubling } else { u64::MAX };
            if lowest > HIGHEST_LATENCY_NS {
                self.rest = before;
                return None;
            }
            return Some(Bucket { lowest, highest: lowest + (1 << doubling) - 1, count });
        }
    }
}
