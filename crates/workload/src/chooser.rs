//! Measuring path: no allocation, lock, log or formatting here after [`KeyChooser::new`].
//!
//! Which key an operation goes to.

use crate::mix::{Mix, RequestDistribution};
use crate::problem::{Problem, Wrong};
use crate::remainder::Divisor;
use crate::stream::Stream;
use crate::zipfian::{ScrambledZipfian, SkewedLatest};

/// Chooses key numbers of existing records. Each session has its own.
#[derive(Clone, Debug)]
pub(crate) enum KeyChooser {
    Uniform { first: u64, count: u64 },
    Sequential { first: u64, count: Divisor },
    Zipfian(ScrambledZipfian),
    Latest(SkewedLatest),
    Hotspot { first: u64, hot: u64, count: u64, operation_fraction: f64 },
    Exponential { mean: f64 },
}

/// The keys that a chooser is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    /// The first key number that may be chosen.
    pub(crate) first: u64,
    /// How many may be chosen, from there on.
    pub(crate) count: u64,
    /// How many records there are, from key number 0 on.
    pub(crate) present: u64,
    /// How many more keys will be requested, because they will be inserted: YCSB takes twice the planned inserts.
    pub(crate) expected: u64,
}

impl KeyChooser {
    pub(crate) fn new(mix: &Mix, keys: Keys) -> Result<Self, Problem> {
        let Keys { first, count, present, expected } = keys;
        let too_few = |needed, records| {
            let wrong = Wrong::TooFewRecords { needed, records };
            Problem { field: "request_distribution", wrong }
        };
        if count == 0 {
            return Err(too_few(1, 0));
        }
        Ok(match mix.request_distribution {
            RequestDistribution::Uniform => Self::Uniform { first, count },
            RequestDistribution::Sequential => {
                Self::Sequential { first, count: Divisor::new(count) }
            }
            // The upper end of YCSB's range is inclusive, so that one key is in it that is not there and is drawn again.
            RequestDistribution::Zipfian => Self::Zipfian(ScrambledZipfian::new(
                first,
                count.saturating_add(expected).saturating_add(1),
            )),
            RequestDistribution::Latest => {
                if present < 2 {
                    return Err(too_few(2, present));
                }
                Self::Latest(SkewedLatest::new(present - 1))
            }
            RequestDistribution::Hotspot { data_fraction, operation_fraction } => {
                let hot = (count as f64 * data_fraction) as u64;
                let hot_is_missing = hot == 0 && operation_fraction > 0.0;
                let cold_is_missing = hot >= count && operation_fraction < 1.0;
                if hot_is_missing || cold_is_missing {
                    let wrong = Wrong::EmptyPart { keys: hot, all: count };
                    return Err(Problem { field: "request_distribution.data_fraction", wrong });
                }
                Self::Hotspot { first, hot: hot.min(count), count, operation_fraction }
            }
            RequestDistribution::Exponential { percentile, fraction } => {
                let mean = present as f64 * fraction / -(1.0 - percentile / 100.0).ln();
                Self::Exponential { mean }
            }
        })
    }

    /// The next key number. `present` records are there; those after them are drawn again, as in YCSB.
    ///
    /// `turn` says whose turn it is where keys are sequential. Of several hosts, the number may be that of
    /// another host's record: see [`Records::certain`](crate::inserted::Records::certain).
    #[inline]
    pub(crate) fn draw(
        &mut self,
        present: u64,
        turn: impl FnOnce() -> u64,
        stream: &mut Stream,
    ) -> u64 {
        match self {
            Self::Uniform { first, count } => until(present, || *first + stream.below(*count)),
            Self::Sequential { first, count } => {
                // All keys in question existed from the start.
                *first + count.remainder(turn())
            }
            Self::Zipfian(zipfian) => until(present, || zipfian.draw(stream)),
            Self::Latest(latest) => latest.draw(present - 1, stream),
            Self::Hotspot { first, hot, count, operation_fraction } => {
                if stream.unit() < *operation_fraction {
                    *first + stream.below(*hot)
                } else {
                    *first + *hot + stream.below(*count - *hot)
                }
            }
            Self::Exponential { mean } => loop {
                // 1 - U lies in (0, 1], so that the logarithm is finite.
                let age = -(1.0 - stream.unit()).ln() * *mean;
                if age < present as f64 {
                    // The age can round up to the number of records beyond 2^53.
                    return present - 1 - (age as u64).min(present - 1);
                }
            },
        }
    }
}

impl KeyChooser {
    /// The next key numbers, as by [`draw`](Self::draw); `present` does not change in between.
    #[inline]
    pub(crate) fn draw_many<const COUNT: usize>(
        &mut self,
        present: u64,
        turn: impl Fn() -> u64,
        stream: &mut Stream,
    ) -> [u64; COUNT] {
        if let Self::Zipfian(zipfian) = self {
            let mut numbers = zipfian.draw_many(stream);
            for number in &mut numbers {
                while *number >= present {
                    *number = zipfian.draw(stream);
                }
            }
            return numbers;
        }
        [(); COUNT].map(|()| self.draw(present, &turn, stream))
    }
}

#[inline]
fn until(present: u64, mut draw: impl FnMut() -> u64) -> u64 {
    loop {
        let number = draw();
        if number < present {
            return number;
        }
    }
}
