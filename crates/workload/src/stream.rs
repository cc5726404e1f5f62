//! Measuring path: no allocation, lock, log or formatting here.
//!
//! Random numbers: streams that are found by a key.
//!
//! Every draw of a workload comes from a [`Stream`], and every stream from the one recorded seed and a key: a session, an arrival or
//! a record. So no draw depends on which thread makes it.
//!
//! A stream is a 64-bit counter whose values are folded through one 128-bit product: `wyrand` of Wang Yi's wyhash (final version 4.2, public
//! domain), which passes BigCrush and PractRand. A generator with a small state was chosen because open-loop arrivals need a new stream
//! for each operation, and this one because it is the cheapest: 0.5 ns a draw where SplitMix64 takes 1.0 and xoshiro256++ 0.9, and a
//! value of 100 bytes needs nine draws.

const INCREMENT: u64 = 0x2d35_8dcc_aa6c_78a5;
const FOLD: u64 = 0x8bb8_4b93_962e_acc9;

/// What the streams of a family are numbered by. Families never share streams.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// One stream for each session of a closed loop: which operations, which keys.
    Sessions = 1,
    /// Another stream for each session of a closed loop: what is written, which fields, how much.
    SessionContents = 4,
    /// One stream for each arrival of an open loop.
    Arrivals = 2,
    /// One stream for the contents of each record.
    Records = 3,
}

/// All streams of one seed and purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    key: u64,
}

impl Family {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        Self { key: scatter(scatter(seed) ^ (purpose as u64)) }
    }

    /// The stream of the given number.
    #[inline]
    pub(crate) fn stream(self, number: u64) -> Stream {
        Stream { state: scatter(self.key.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))) }
    }
}

/// A bijection that makes neighbours strangers: the finaliser of SplitMix64 (Stafford's variant 13), so that streams begin at
/// unrelated places of the counter's cycle.
#[inline]
pub(crate) fn scatter(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// A stream that begins at the given state of the counter.
    pub fn from_state(state: u64) -> Self {
        Self { state }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(INCREMENT);
        let product = u128::from(self.state) * u128::from(self.state ^ FOLD);
        (product >> 64) as u64 ^ product as u64
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
        // Through i64, which is one instruction where u64 is several; the value has 53 bits.
        (self.bits() >> 11) as i64 as f64 * SCALE
    }

    /// Uniform in 0..`count`. The product with a 64-bit draw favours no number by more than `count` / 2^64.
    #[inline]
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(count)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with a separate program from the published definition of `wyrand`.
    #[test]
    fn follows_the_published_generator() {
        let mut stream = Stream::from_state(42);
        let drawn: Vec<u64> = (0..4).map(|_| stream.bits()).collect();
        assert_eq!(drawn, VECTORS);
    }

    const VECTORS: [u64; 4] = [
        0xca71_d87c_7698_3989,
        0x7e5b_a615_5208_5fc6,
        0xcdf1_01e3_bab8_8b9f,
        0x0a38_25ad_7326_7808,
    ];

    #[test]
    fn families_and_numbers_give_different_streams() {
        let mut first_draws = std::collections::HashSet::new();
        for purpose in
            [Purpose::Sessions, Purpose::SessionContents, Purpose::Arrivals, Purpose::Records]
        {
            for seed in 0..30 {
                let family = Family::new(seed, purpose);
                for number in 0..100 {
                    assert!(first_draws.insert(family.stream(number).bits()));
                }
            }
        }
    }

    /// Each bit of the first draw of neighbouring streams is set half of the time: 100,000 tosses, so five standard deviations are 791.
    #[test]
    fn first_draws_of_neighbouring_streams_are_unbiased() {
        let family = Family::new(7, Purpose::Arrivals);
        let mut set = [0_i64; 64];
        for number in 0..100_000 {
            let bits = family.stream(number).bits();
            for (bit, count) in set.iter_mut().enumerate() {
                *count += (bits >> bit & 1) as i64;
            }
        }
        for count in set {
            assert!((count - 50_000).abs() < 791, "{count}");
        }
    }

    #[test]
    fn unit_and_below_keep_their_ranges() {
        let mut stream = Stream::from_state(1);
        for count in 1..2_000 {
            assert!((0.0..1.0).contains(&stream.unit()));
            assert!(stream.below(count) < count);
        }
        assert_eq!(stream.below(1), 0);
    }
}
