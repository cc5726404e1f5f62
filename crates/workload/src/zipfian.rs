//! Measuring path: no allocation, lock, log or formatting here.
//!
//! YCSB's family of Zipfian generators (Gray et al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994).

use crate::harmonic::Harmonic;
use crate::hash::fnv_hash_40;
use crate::remainder::Divisor;
use crate::stream::Stream;

/// The exponent. YCSB has no property for another.
pub(crate) const THETA: f64 = 0.99;
/// 1 / (1 - theta) as it comes out in doubles.
const ALPHA: f64 = 1.0 / (1.0 - THETA);
/// 1 + 2^-theta: the sum of the first two terms.
const ZETA_OF_2: f64 = 1.503_477_775_028_359_4;

/// Draws ranks: 0 is the most frequent, and rank r comes about (r + 1)^-0.99 as often.
#[derive(Clone, Debug)]
pub struct Zipfian {
    items: f64,
    last: u64,
    zeta: f64,
    eta: f64,
    /// 1 - (2 / n)^(1 - theta), where n is the first number of items, also after it has grown. So it is in YCSB.
    numerator: f64,
    harmonic: Harmonic,
}

impl Zipfian {
    /// Ranks 0 to `items` - 1. At least one item.
    pub fn new(items: u64) -> Self {
        Self::with_zeta(items, Harmonic::new(THETA).sum(items))
    }

    fn with_zeta(items: u64, zeta: f64) -> Self {
        let numerator = 1.0 - (2.0 / items as f64).powf(1.0 - THETA);
        let mut zipfian = Self {
            items: 0.0,
            last: 0,
            zeta: 0.0,
            eta: 0.0,
            numerator,
            harmonic: Harmonic::new(THETA),
        };
        zipfian.set(items, zeta);
        zipfian
    }

    fn set(&mut self, items: u64, zeta: f64) {
        self.items = items as f64;
        self.last = items - 1;
        self.zeta = zeta;
        self.eta = self.numerator / (1.0 - ZETA_OF_2 / zeta);
    }

    /// Draws from this many items from now on, if they are more than before.
    ///
    /// YCSB adds the new terms to its sum one by one; the closed form used here gives the same sum to 13 digits, whatever the steps.
    #[inline]
    pub fn grow(&mut self, items: u64) {
        if items > self.last + 1 {
            self.set(items, self.harmonic.sum(items));
        }
    }

    /// Draws the next rank, counted from 0.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        self.rank(stream.unit())
    }

    /// The rank that belongs to a number in [0, 1).
    #[inline]
    pub fn rank(&self, unit: f64) -> u64 {
        self.rank_with(unit, power_100(self.base(unit)))
    }

    #[inline]
    fn base(&self, unit: f64) -> f64 {
        self.eta * unit - self.eta + 1.0
    }

    /// The rank, with the hundredth power of the base already at hand.
    #[inline]
    fn rank_with(&self, unit: f64, power: f64) -> u64 {
        let position = unit * self.zeta;
        if position < 1.0 {
            return 0;
        }
        if position < ZETA_OF_2 {
            return 1.min(self.last);
        }
        let rank = match whole_part(self.items * power) {
            Some(rank) => rank,
            None => by_power(self.items, self.base(unit)),
        };
        // The limit matters for the largest number below 1 alone, whose power can round up to 1.
        rank.min(self.last)
    }
}

/// base^100. The power that is requested is base^alpha, which differs by a factor of base^(-9e-14) only.
#[inline]
fn power_100(base: f64) -> f64 {
    let square = base * base;
    let power_4 = square * square;
    let power_8 = power_4 * power_4;
    let power_16 = power_8 * power_8;
    let power_32 = power_16 * power_16;
    let power_64 = power_32 * power_32;
    power_64 * (power_32 * power_4)
}

/// The whole part of scale * base^alpha, given scale * base^100 for a base in [0.5, 1], where that is certain to be what `powf` gives.
///
/// Nine products (3 ns) have a relative error of at most 100 roundings (1.2e-14), the factor between the powers is within 6.3e-14 of one and
/// `powf` (16 ns) is good to one rounding: together below 8e-14. Where so much more or less would be another whole number, which is one draw
/// in ten thousand, `powf` decides.
#[inline]
fn whole_part(estimate: f64) -> Option<u64> {
    const LESS: f64 = 1.0 - 1e-13;
    const MORE: f64 = 1.0 + 1e-13;
    let low = (estimate * LESS) as i64;
    let high = (estimate * MORE) as i64;
    (low == high).then_some(low as u64)
}

#[cold]
#[inline(never)]
fn by_power(scale: f64, base: f64) -> u64 {
    (scale * base.powf(ALPHA)) as u64
}

/// Number of ranks behind a [`ScrambledZipfian`].
const SCRAMBLED_ITEMS: u64 = 10_000_000_001;
/// Sum of their weights, as YCSB has it.
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;

/// Zipfian ranks scattered over a key space by a hash, so that the frequent keys do not lie together.
///
/// The ranks are always drawn from 10^10, so that the skew does not depend on the number of keys: the most frequent rank gets 3.78 % of the
/// draws, the second 1.90 %.
#[derive(Clone, Debug)]
pub struct ScrambledZipfian {
    first: u64,
    count: Divisor,
    ranks: Zipfian,
}

impl ScrambledZipfian {
    /// Draws from `count` (at least one) numbers from `first` on.
    pub fn new(first: u64, count: u64) -> Self {
        Self {
            first,
            count: Divisor::new(count),
            ranks: Zipfian::with_zeta(SCRAMBLED_ITEMS, SCRAMBLED_ZETA),
        }
    }

    /// Draws the next number of a key.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        self.number(stream.unit())
    }

    /// The number that belongs to a number in [0, 1).
    #[inline]
    pub fn number(&self, unit: f64) -> u64 {
        self.scatter(self.ranks.rank(unit))
    }

    #[inline]
    fn scatter(&self, rank: u64) -> u64 {
        self.first + self.count.remainder(fnv_hash_40(rank))
    }

    /// The next numbers, drawn as by [`draw`](Self::draw), but step by step for all of them, so that the processor need not wait for one
    /// product before it begins the next.
    #[inline]
    pub(crate) fn draw_many<const COUNT: usize>(&self, stream: &mut Stream) -> [u64; COUNT] {
        let mut units = [0.0; COUNT];
        for unit in &mut units {
            *unit = stream.unit();
        }
        let powers = units.map(|unit| power_100(self.ranks.base(unit)));
        let mut numbers = [0; COUNT];
        for index in 0..COUNT {
            numbers[index] = self.ranks.rank_with(units[index], powers[index]);
        }
        numbers.map(|rank| self.scatter(rank))
    }
}

/// The newest key number most often, the oldest least.
///
/// As in YCSB the ages are drawn from one item less than there are keys, so that key number 0 is never chosen.
#[derive(Clone, Debug)]
pub struct SkewedLatest {
    ages: Zipfian,
}

impl SkewedLatest {
    /// For key numbers 0 to `newest`, which is at least 1.
    pub fn new(newest: u64) -> Self {
        Self { ages: Zipfian::new(newest) }
    }

    /// The next key number, from 1 to `newest`, which never falls.
    #[inline]
    pub fn draw(&mut self, newest: u64, stream: &mut Stream) -> u64 {
        self.ages.grow(newest);
        newest - self.ages.draw(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::assert_follows;
    use proptest::prelude::*;

    #[test]
    fn constants_are_those_of_ycsb() {
        assert_eq!(ALPHA, 99.999_999_999_999_91);
        assert_eq!(ZETA_OF_2, 1.0 + 0.5_f64.powf(THETA));
        let scrambled = ScrambledZipfian::new(0, 1);
        assert_eq!(scrambled.ranks.eta, 0.212_200_033_809_674_06);
        assert!((Harmonic::new(THETA).sum(SCRAMBLED_ITEMS) - SCRAMBLED_ZETA).abs() < 1e-8);
    }

    #[test]
    fn scrambled_agrees_with_ycsb() {
        let vectors = [
            (0.05, 1, 610),
            (0.1, 6, 942),
            (0.25, 296, 809),
            (0.5, 134_552, 367),
            (0.9, 1_170_869_537, 991),
            (0.99, 8_086_205_587, 745),
            (0.999_999, 9_999_787_803, 383),
        ];
        let scrambled = ScrambledZipfian::new(0, 1_001);
        let shifted = ScrambledZipfian::new(5_000, 1_001);
        for (unit, rank, number) in vectors {
            assert_eq!(scrambled.ranks.rank(unit), rank);
            assert_eq!(scrambled.number(unit), number);
            assert_eq!(shifted.number(unit), 5_000 + number);
        }
        assert_eq!(scrambled.number(0.0), 6_284_781_860_667_377_211 % 1_001);
    }

    /// Three million draws, of ranks over the scrambled and over smaller and larger numbers of items.
    #[test]
    fn quick_power_is_exact() {
        let mut stream = Stream::from_state(11);
        for items in [10_000_000_001, 1_000_000, 1 << 53] {
            let zipfian = Zipfian::new(items);
            for _ in 0..1_000_000 {
                let base = zipfian.base(stream.unit());
                let exact = by_power(items as f64, base);
                let quick = whole_part(items as f64 * power_100(base));
                assert_eq!(quick.unwrap_or(exact), exact, "{base:?}");
            }
        }
    }

    /// Bases right beside those where the rank changes: the estimate alone would get many of them wrong.
    #[test]
    fn quick_power_is_exact_at_the_boundaries() {
        let scale = 1e10;
        let mut estimate_was_wrong = 0;
        for rank in (2_000_000_000..10_000_000_000_u64).step_by(3_999_971) {
            let boundary = (rank as f64 / scale).powf(1.0 / ALPHA);
            for step in -3..=3_i64 {
                let base = f64::from_bits(boundary.to_bits().wrapping_add_signed(step));
                let exact = by_power(scale, base);
                let estimate = scale * power_100(base);
                assert_eq!(whole_part(estimate).unwrap_or(exact), exact, "{base:?}");
                estimate_was_wrong += u64::from(estimate as u64 != exact);
            }
        }
        assert!(estimate_was_wrong > 100, "the boundaries were not met: {estimate_was_wrong}");
    }

    /// The share of draws with a rank up to `rank` that the formula implies.
    fn share_up_to(zipfian: &Zipfian, rank: u64) -> f64 {
        match rank {
            0 => 1.0 / zipfian.zeta,
            1 => ZETA_OF_2 / zipfian.zeta,
            _ => {
                (((rank + 1) as f64 / zipfian.items).powf(1.0 - THETA) - 1.0 + zipfian.eta)
                    / zipfian.eta
            }
        }
    }

    #[test]
    fn ranks_follow_the_law() {
        for items in [100, 5_000, 10_000_000_001] {
            let zipfian = Zipfian::new(items);
            let edges = [0, 1, 2, 3, 5, 9, 19, 49, 98, items - 1];
            let mut shares = Vec::new();
            let mut before = 0.0;
            for edge in edges {
                let share = share_up_to(&zipfian, edge);
                shares.push(share - before);
                before = share;
            }
            assert!((before - 1.0).abs() < 1e-9);
            let mut stream = Stream::from_state(items);
            assert_follows(&shares, 1_000_000, || {
                let rank = zipfian.draw(&mut stream);
                edges.iter().position(|edge| rank <= *edge).unwrap()
            });
        }
    }

    /// The formula is an approximation of Zipf's law: within a tenth for each rank.
    #[test]
    fn the_formula_is_near_zipfs_law() {
        let zipfian = Zipfian::new(1_000);
        for rank in 1..1_000_u64 {
            let share = share_up_to(&zipfian, rank) - share_up_to(&zipfian, rank - 1);
            let zipf = ((rank + 1) as f64).powf(-THETA) / zipfian.zeta;
            assert!((share / zipf - 1.0).abs() < 0.2, "{rank}: {share} {zipf}");
        }
    }

    #[test]
    fn skew_of_the_scrambled_does_not_depend_on_the_number_of_keys() {
        for count in [1_000, 1_000_000] {
            let scrambled = ScrambledZipfian::new(0, count);
            let favourite = 6_284_781_860_667_377_211 % count;
            let mut stream = Stream::from_state(3);
            let mut hits = 0;
            for _ in 0..1_000_000 {
                hits += u64::from(scrambled.draw(&mut stream) == favourite);
            }
            // 3.778 % and what other ranks add; five standard deviations are 0.1 %.
            let others = 0.962 / count as f64;
            assert!((hits as f64 / 1e6 - 0.03778 - others).abs() < 0.001, "{hits} of a million");
        }
    }

    #[test]
    fn many_are_drawn_as_one_by_one() {
        let scrambled = ScrambledZipfian::new(100, 1_000_000);
        let mut stream = Stream::from_state(3);
        let mut same = stream.clone();
        for _ in 0..10_000 {
            let numbers: [u64; 16] = scrambled.draw_many(&mut stream);
            assert_eq!(numbers, [(); 16].map(|()| scrambled.draw(&mut same)));
        }
    }

    #[test]
    fn latest_prefers_the_newest_and_never_takes_the_first() {
        let mut latest = SkewedLatest::new(999);
        let fixed = Zipfian::new(999);
        let mut stream = Stream::from_state(9);
        let mut same = stream.clone();
        for _ in 0..100_000 {
            let number = latest.draw(999, &mut stream);
            assert!((1..=999).contains(&number));
            assert_eq!(number, 999 - fixed.draw(&mut same));
        }
    }

    /// The path by which the number of keys was reached does not matter.
    #[test]
    fn latest_grows_with_the_keys() {
        let mut stepwise = SkewedLatest::new(999);
        let mut at_once = SkewedLatest::new(999);
        let mut stream = Stream::from_state(5);
        for newest in 1_000..5_000 {
            let number = stepwise.draw(newest, &mut stream);
            assert!((1..=newest).contains(&number));
        }
        let mut same = stream.clone();
        for _ in 0..10_000 {
            let expected = at_once.draw(5_000, &mut same);
            assert_eq!(stepwise.draw(5_000, &mut stream), expected);
        }
        // As YCSB: the first number of items stays in one part of the formula.
        let eta = (1.0 - (2.0_f64 / 999.0).powf(1.0 - THETA))
            / (1.0 - ZETA_OF_2 / Harmonic::new(THETA).sum(5_000));
        assert!((stepwise.ages.eta - eta).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn ranks_stay_in_range(items in 1_u64..1 << 62, unit in 0.0..1.0_f64) {
            let zipfian = Zipfian::new(items);
            prop_assert!(zipfian.rank(unit) < items);
            prop_assert!(zipfian.rank(1.0 - f64::EPSILON / 2.0) < items);
        }

        #[test]
        fn small_numbers_of_items_stay_in_range(items in 1_u64..6, unit in 0.0..1.0_f64) {
            let zipfian = Zipfian::new(items);
            prop_assert!(zipfian.rank(unit) < items);
            prop_assert!(zipfian.rank(1.0 - f64::EPSILON / 2.0) < items);
        }

        #[test]
        fn scrambled_stays_in_range(first in 0_u64..1 << 40, count in 1_u64..1 << 62, unit in 0.0..1.0_f64) {
            let number = ScrambledZipfian::new(first, count).number(unit);
            prop_assert!(number >= first && number - first < count);
        }
    }
}
