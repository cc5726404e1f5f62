//! How many different values a field has, and how unevenly documents spread over them, from a sample.

use crate::documents::law::rounded;
use crate::fields::map;
use plimsoll_workload::documents::Literal;
use std::collections::HashMap;

const USUAL: f64 = 0.99;
/// A sample of 1,000 cannot distinguish exponents below it from an even spread.
const LEAST: f64 = 0.3;
const MOST: f64 = 3.0;
/// The first ranks of Zipf's law are summed up one by one, the others in blocks that grow by a fiftieth.
const ONE_BY_ONE: f64 = 100.0;

pub(super) struct Tally {
    pub(super) sampled: u64,
    times: Vec<u64>,
}

/// A number of values, and Zipf's exponent: 0 for an even spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Population {
    pub(super) values: u64,
    pub(super) exponent: f64,
}

impl Population {
    /// As `skew` of a file takes it.
    pub(super) fn skew(self) -> Option<Literal> {
        match self.exponent {
            exponent if exponent < LEAST => None,
            exponent if (exponent - USUAL).abs() < 0.1 => Some(Literal::Text("zipfian".into())),
            exponent => Some(map("zipfian", Literal::Double(rounded(exponent)))),
        }
    }
}

impl Tally {
    pub(super) fn of(classes: &[usize]) -> Self {
        let mut times: HashMap<usize, u64> = HashMap::new();
        classes.iter().for_each(|class| *times.entry(*class).or_default() += 1);
        Self { sampled: classes.len() as u64, times: times.into_values().collect() }
    }

    pub(super) fn distinct(&self) -> u64 {
        self.times.len() as u64
    }

    /// Chao's lower estimate of how many values there are: those seen once and those seen twice tell how many were not seen.
    pub(super) fn chao(&self) -> f64 {
        let seen = |times: u64| self.times.iter().filter(|one| **one == times).count() as f64;
        let (once, twice) = (seen(1), seen(2));
        self.distinct() as f64 + once * (once - 1.0) / (2.0 * (twice + 1.0))
    }

    /// Pairs of sampled documents with the same value.
    fn pairs(&self) -> f64 {
        self.times.iter().map(|times| (times * (times - 1)) as f64 / 2.0).sum()
    }

    /// The values of the whole collection: `known` where they were counted, otherwise an estimate of at most `most`. The exponent is chosen so that two documents
    /// have the same value as often as in the sample. The number of values is then chosen so that a sample of this size would have as many different values.
    pub(super) fn population(&self, known: Option<u64>, most: u64) -> Population {
        let least = self.distinct().max(1);
        let most = most.max(least);
        let mut values = known.unwrap_or(self.chao() as u64).clamp(least, most);
        let all = (self.sampled * self.sampled.saturating_sub(1)) as f64 / 2.0;
        let mut exponent = 0.0;
        for _ in 0..4 {
            let even = all / values as f64;
            // Five standard errors: with few values, chance alone gives four in 1 of 400 samples.
            if self.pairs() <= even + 5.0 * even.sqrt() {
                return Population { values, exponent: 0.0 };
            }
            let observed = self.pairs() / all;
            exponent = bisected(0.0, MOST, |exponent| same(values, exponent) > observed);
            if known.is_none() {
                let has_enough =
                    |values: f64| expected(values as u64, exponent, self.sampled) > least as f64;
                values = bisected(least as f64, most as f64, has_enough).round() as u64;
            }
        }
        Population { values, exponent }
    }
}

/// The number from which on a condition holds.
fn bisected(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}

/// Weights of Zipf's law, each with the number of ranks that have it, about.
fn weights(values: u64, exponent: f64) -> Vec<(f64, f64)> {
    let mut weights = Vec::new();
    let (mut rank, values) = (1.0, values as f64);
    while rank <= values {
        let width =
            if rank <= ONE_BY_ONE { 1.0 } else { (rank / 50.0).floor().min(values - rank + 1.0) };
        weights.push(((rank + (width - 1.0) / 2.0).powf(-exponent), width));
        rank += width;
    }
    weights
}

/// How likely two documents have the same value.
fn same(values: u64, exponent: f64) -> f64 {
    let weights = weights(values, exponent);
    let all: f64 = weights.iter().map(|(weight, width)| weight * width).sum();
    weights.iter().map(|(weight, width)| weight * weight * width).sum::<f64>() / (all * all)
}

/// How many values a sample of this many documents has on average.
fn expected(values: u64, exponent: f64, sampled: u64) -> f64 {
    let weights = weights(values, exponent);
    let all: f64 = weights.iter().map(|(weight, width)| weight * width).sum();
    let seen = |weight: f64| 1.0 - (-(sampled as f64) * weight / all).exp();
    weights.iter().map(|(weight, width)| seen(*weight) * width).sum()
}

/// How much of the entropy of one field another one removes, from 0 to 1.
pub(super) fn explained(of: &[usize], by: &[usize]) -> f64 {
    let alone = entropy(of.iter().copied());
    let both = entropy(of.iter().copied().zip(by.iter().copied()));
    let by = entropy(by.iter().copied());
    if alone > 0.0 { 1.0 - (both - by) / alone } else { 0.0 }
}

/// The entropy of these values, in bits.
pub(super) fn entropy<T: std::hash::Hash + Eq>(values: impl Iterator<Item = T>) -> f64 {
    let mut times: HashMap<T, f64> = HashMap::new();
    values.for_each(|value| *times.entry(value).or_default() += 1.0);
    let all: f64 = times.values().sum();
    times.values().map(|times| -(times / all) * (times / all).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_workload::{Stream, Zipfian};

    /// From a sample of 1,000 out of 3,000 values, the law (even or Zipf's) and the number of values are found.
    #[test]
    fn the_spread_of_a_sample_is_found() {
        let mut stream = Stream::from_state(3);
        let zipfian = Zipfian::new(3_000);
        let skewed: Vec<usize> = (0..1_000).map(|_| zipfian.draw(&mut stream) as usize).collect();
        let found = Tally::of(&skewed).population(Some(3_000), 1_000_000);
        assert_eq!(found.values, 3_000);
        assert!((found.exponent - USUAL).abs() < 0.1, "{found:?}");
        let found = Tally::of(&skewed).population(None, 1_000_000);
        assert!((found.exponent - USUAL).abs() < 0.15, "{found:?}");
        assert!((1_500..6_000).contains(&found.values), "{found:?}");
        let even: Vec<usize> = (0..1_000).map(|_| stream.below(3_000) as usize).collect();
        let found = Tally::of(&even).population(None, 1_000_000);
        assert_eq!(found.exponent, 0.0);
        assert!((2_000..4_500).contains(&found.values), "{found:?}");
    }

    #[test]
    fn few_values_are_counted_exactly() {
        let classes: Vec<usize> = (0..1_000).map(|number| number % 7).collect();
        let found = Tally::of(&classes).population(None, 50);
        assert_eq!(found, Population { values: 7, exponent: 0.0 });
        let one = Tally::of(&[4]);
        assert_eq!((one.distinct(), one.population(None, 9).values), (1, 1));
    }
}
