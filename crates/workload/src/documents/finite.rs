//! Measuring path: no allocation, lock, log or formatting here after [`Finite::new`].
//!
//! Fields with a known number of values: which document has which value, and how many documents have a value.
//!
//! The documents 0 to N - 1 are permuted, and the place of a document in the permutation decides its value: the first places have value 0, the next ones value 1, and
//! so on. So each value has exactly as many documents as its share says, rounded, although which ones look random; and both directions can be computed. Each further
//! N documents, which inserts add, are permuted by themselves in another way.

use crate::stream::scatter;
use std::sync::Arc;

/// Rounds of the permutation. With fewer, or with weaker ones, two fields of the same documents are correlated.
const ROUNDS: u64 = 4;

/// A bijection of 0 to `size` - 1 that looks random: a Feistel network over the next power of 4, whose places beyond the end are walked through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permutation {
    size: u64,
    half_bits: u32,
    key: u64,
}

impl Permutation {
    /// `size` is at least 1.
    pub(crate) fn new(size: u64, key: u64) -> Self {
        let bits = u64::BITS - (size - 1).leading_zeros();
        Self { size, half_bits: bits.div_ceil(2).max(1), key }
    }

    #[inline]
    fn round(&self, half: u64, round: u64) -> u64 {
        scatter(half ^ self.key.rotate_left(round as u32 * 13).wrapping_add(round))
            & ((1 << self.half_bits) - 1)
    }

    #[inline]
    pub(crate) fn forward(&self, mut place: u64) -> u64 {
        loop {
            let (mut left, mut right) =
                (place >> self.half_bits, place & ((1 << self.half_bits) - 1));
            for round in 0..ROUNDS {
                (left, right) = (right, left ^ self.round(right, round));
            }
            place = left << self.half_bits | right;
            if place < self.size {
                return place;
            }
        }
    }

    /// The place that [`forward`](Self::forward) takes there.
    #[inline]
    pub(crate) fn backward(&self, mut place: u64) -> u64 {
        loop {
            let (mut left, mut right) =
                (place >> self.half_bits, place & ((1 << self.half_bits) - 1));
            for round in (0..ROUNDS).rev() {
                (left, right) = (right ^ self.round(left, round), left);
            }
            place = left << self.half_bits | right;
            if place < self.size {
                return place;
            }
        }
    }
}

/// How documents spread over values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shares {
    /// This many values, all alike.
    Even(u64),
    Weights(Vec<f64>),
}

impl Shares {
    /// Zipf's law: value j has a weight of (j + 1)^-exponent.
    pub(crate) fn zipfian(values: u64, exponent: f64) -> Self {
        Self::Weights((0..values).map(|value| ((value + 1) as f64).powf(-exponent)).collect())
    }

    /// The first values, as large a share of all as `of_values`, have `of_documents` of the documents; at least one value does.
    pub(crate) fn hotspot(values: u64, of_values: f64, of_documents: f64) -> Self {
        let hot = (values as f64 * of_values).round().clamp(1.0, values as f64) as u64;
        let weight = |value| match value < hot {
            true => of_documents / hot as f64,
            false => (1.0 - of_documents) / (values - hot) as f64,
        };
        // Where all values are hot, they are alike.
        if hot == values {
            Self::Even(values)
        } else {
            Self::Weights((0..values).map(weight).collect())
        }
    }
}

/// A field with a known number of values.
#[derive(Clone, Debug)]
pub(crate) struct Finite {
    documents: u64,
    key: u64,
    ends: Ends,
}

/// Where the places of each value end.
#[derive(Clone, Debug)]
enum Ends {
    Even { values: u64 },
    Table(Arc<[u64]>),
}

impl Finite {
    /// A collection that begins with this many documents, at least 1.
    pub(crate) fn new(documents: u64, key: u64, shares: &Shares) -> Self {
        let ends = match shares {
            Shares::Even(values) => Ends::Even { values: *values },
            Shares::Weights(weights) => {
                let total: f64 = weights.iter().sum();
                let mut sum = 0.0;
                let mut ends: Vec<u64> = Vec::with_capacity(weights.len());
                for weight in weights {
                    sum += weight;
                    ends.push((documents as f64 * (sum / total)).round() as u64);
                }
                // Rounding leaves no document over.
                if let Some(last) = weights.iter().rposition(|weight| *weight > 0.0) {
                    ends[last..].fill(documents);
                }
                Ends::Table(ends.into())
            }
        };
        Self { documents, key, ends }
    }

    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// How many values there are.
    pub(crate) fn values(&self) -> u64 {
        match &self.ends {
            Ends::Even { values } => *values,
            Ends::Table(ends) => ends.len() as u64,
        }
    }

    /// Where the places of a value end.
    #[inline]
    fn end(&self, value: u64) -> u64 {
        match &self.ends {
            Ends::Even { values } => {
                let all = u128::from(self.documents) * (u128::from(value) + 1);
                ((all + u128::from(*values) / 2) / u128::from(*values)) as u64
            }
            Ends::Table(ends) => ends[value as usize],
        }
    }

    /// The number of the value that a document has.
    #[inline]
    pub(crate) fn value_of(&self, document: u64) -> u64 {
        let segment = document / self.documents;
        let permutation = Permutation::new(self.documents, self.key ^ scatter(segment));
        let place = permutation.forward(document % self.documents);
        match &self.ends {
            Ends::Even { values } => {
                let near = u128::from(place) * u128::from(*values) / u128::from(self.documents);
                let mut value = (near as u64).saturating_sub(1);
                while self.end(value) <= place {
                    value += 1;
                }
                value
            }
            Ends::Table(ends) => ends.partition_point(|end| *end <= place) as u64,
        }
    }

    /// How many of the first N documents have a value, and of each further N.
    #[inline]
    pub(crate) fn count(&self, value: u64) -> u64 {
        if value >= self.values() {
            return 0;
        }
        self.end(value) - if value == 0 { 0 } else { self.end(value - 1) }
    }

    /// The least and the most documents that have a value, when those below `acknowledged` exist for certain and those below `issued` may.
    #[inline]
    pub(crate) fn bounds(&self, value: u64, acknowledged: u64, issued: u64) -> (u64, u64) {
        let count = self.count(value);
        let least = count.saturating_mul(acknowledged / self.documents);
        (least, count.saturating_mul(issued.div_ceil(self.documents)))
    }

    /// The same where inserted documents may have other values than they would have by the law: only those of the first N are known.
    #[inline]
    pub(crate) fn bounds_given(&self, value: u64, issued: u64) -> (u64, u64) {
        let count = self.count(value);
        (count, count.saturating_add(issued.saturating_sub(self.documents)))
    }

    /// One of the first N documents that have a value, which at least one has, by a number of any size.
    #[inline]
    pub(crate) fn member(&self, value: u64, number: u64) -> u64 {
        let place = self.end(value) - 1 - number % self.count(value);
        Permutation::new(self.documents, self.key ^ scatter(0)).backward(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn permutations_are_bijections(size in 1..5_000_u64, key: u64) {
            let permutation = Permutation::new(size, key);
            let mut seen = vec![false; size as usize];
            for place in 0..size {
                let to = permutation.forward(place);
                prop_assert!(to < size && !seen[to as usize]);
                seen[to as usize] = true;
                prop_assert_eq!(permutation.backward(to), place);
            }
        }

        /// By looking at every document, also at those that are inserted later.
        #[test]
        fn counts_are_exact(
            documents in 1..3_000_u64,
            key: u64,
            values in 1..200_u64,
            skewed: bool,
            more in 0..3_000_u64,
        ) {
            let shares =
                if skewed { Shares::zipfian(values, 0.99) } else { Shares::Even(values) };
            let finite = Finite::new(documents, key, &shares);
            let present = documents + more;
            let (mut first, mut all) = (vec![0; values as usize], vec![0; values as usize]);
            for document in 0..present {
                let value = finite.value_of(document) as usize;
                first[value] += u64::from(document < documents);
                all[value] += 1;
            }
            for value in 0..values {
                prop_assert_eq!(finite.count(value), first[value as usize]);
                let (least, most) = finite.bounds(value, present, present);
                prop_assert!((least..=most).contains(&all[value as usize]));
                if first[value as usize] > 0 {
                    let members: std::collections::BTreeSet<u64> =
                        (0..first[value as usize]).map(|number| finite.member(value, number)).collect();
                    prop_assert_eq!(members.len() as u64, first[value as usize]);
                    prop_assert!(members.iter().all(|one| *one < documents && finite.value_of(*one) == value));
                }
            }
            prop_assert_eq!(first.iter().sum::<u64>(), documents);
        }
    }

    /// Two fields of the same documents are independent: chi-square over 10 x 10 cells has 81 degrees of freedom; for twenty pairs of keys, the largest is below 150 with a
    /// probability of 0.9999.
    #[test]
    fn fields_are_independent() {
        for pair in 0..20 {
            let one = Finite::new(100_000, scatter(2 * pair), &Shares::Even(10));
            let two = Finite::new(100_000, scatter(2 * pair + 1), &Shares::Even(10));
            let mut cells = [0_u32; 100];
            for document in 0..100_000 {
                cells[(one.value_of(document) * 10 + two.value_of(document)) as usize] += 1;
            }
            let chi: f64 =
                cells.iter().map(|cell| (f64::from(*cell) - 1_000.0).powi(2) / 1_000.0).sum();
            assert!((30.0..150.0).contains(&chi), "{pair}: {chi}");
        }
    }

    /// A value that nobody has in the middle of the weights gets no document.
    #[test]
    fn weights_of_zero_have_no_document() {
        let finite = Finite::new(1_000, 7, &Shares::Weights(vec![1.0, 0.0, 3.0, 0.0]));
        let counts = [0, 1, 2, 3].map(|value| finite.count(value));
        assert_eq!(counts, [250, 0, 750, 0]);
        assert!((0..5_000).all(|document| [0, 2].contains(&finite.value_of(document))));
    }
}
