//! Seeded sources of simulated measurements.

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal, StudentT};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of draws from one seed.
pub struct Source(Xoshiro256PlusPlus);

impl Source {
    pub fn new(seed: u64) -> Source {
        Source(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Draws from the standard normal distribution.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Student's t draw with two degrees of freedom: a spread so heavy that it has no variance.
    pub fn wild(&mut self) -> f64 {
        StudentT::new(2.0).expect("two degrees of freedom are valid").sample(&mut self.0)
    }

    /// True with this probability, from 0 to 1.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.random_bool(probability)
    }

    /// Even draw from 0 to 1.
    pub fn share(&mut self) -> f64 {
        self.0.random()
    }

    /// True with a probability of one half.
    pub fn coin(&mut self) -> bool {
        self.0.next_u64() >> 63 == 1
    }

    /// Steady first-order autoregressive series of variance 1: each value keeps the share `memory` of the one before it.
    pub fn autoregressive(&mut self, memory: f64, count: usize) -> Vec<f64> {
        let fresh = (1.0 - memory * memory).sqrt();
        let mut value = self.normal();
        let mut series = Vec::with_capacity(count);
        for _ in 0..count {
            series.push(value);
            value = memory * value + fresh * self.normal();
        }
        series
    }
}
