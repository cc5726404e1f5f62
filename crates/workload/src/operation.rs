//! Measuring path: no allocation, lock, log or formatting here.
//!
//! Which operation comes next.

use crate::mix::Mix;
use crate::stream::Stream;

/// The kinds of operations, in the order in which YCSB draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
}

/// Draws operations by their weights.
#[derive(Clone, Debug)]
pub(crate) struct Operations {
    /// Draws of 63 bits from `thresholds[i]` on belong to an operation after the i-th.
    thresholds: [u64; 4],
    only_inserts: bool,
}

const ALL_DRAWS: u64 = 1 << 63;

impl Operations {
    /// The operations of a checked mix.
    pub(crate) fn new(mix: &Mix) -> Self {
        let weights = mix.weights().map(|(_, weight)| weight);
        let total: f64 = weights.iter().sum();
        let mut thresholds = [0; 4];
        let mut sum = 0.0;
        for (index, threshold) in thresholds.iter_mut().enumerate() {
            sum += weights[index];
            // Where nothing follows, rounding must leave no draw over.
            let last = weights[index + 1..].iter().all(|weight| *weight == 0.0);
            *threshold = if last { ALL_DRAWS } else { (sum / total * ALL_DRAWS as f64) as u64 };
        }
        Self { thresholds, only_inserts: mix.insert == total }
    }

    pub(crate) fn only_inserts(&self) -> bool {
        self.only_inserts
    }

    #[inline]
    pub(crate) fn draw(&self, stream: &mut Stream) -> Operation {
        let drawn = stream.bits() >> 1;
        let [read, update, insert, scan] = self.thresholds;
        if drawn < read {
            Operation::Read
        } else if drawn < update {
            Operation::Update
        } else if drawn < insert {
            Operation::Insert
        } else if drawn < scan {
            Operation::Scan
        } else {
            Operation::ReadModifyWrite
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::assert_follows;

    fn mix(weights: [f64; 5]) -> Mix {
        let mut mix = Mix::preset("c").unwrap();
        [mix.read, mix.update, mix.insert, mix.scan, mix.read_modify_write] = weights;
        mix
    }

    #[test]
    fn operations_follow_their_weights() {
        let operations = Operations::new(&mix([1.0, 2.0, 3.0, 4.0, 10.0]));
        let mut stream = Stream::from_state(1);
        assert_follows(&[0.05, 0.1, 0.15, 0.2, 0.5], 200_000, || {
            operations.draw(&mut stream) as usize
        });
    }

    #[test]
    fn operations_without_weight_never_come() {
        for alone in 0..5 {
            let mut weights = [0.0; 5];
            weights[alone] = 0.3;
            let operations = Operations::new(&mix(weights));
            assert_eq!(operations.only_inserts(), alone == 2);
            let mut stream = Stream::from_state(1);
            for _ in 0..1_000 {
                assert_eq!(operations.draw(&mut stream) as usize, alone);
            }
        }
        let operations = Operations::new(&mix([0.1, 0.0, 0.2, 0.0, 0.0]));
        let mut stream = Stream::from_state(1);
        for _ in 0..10_000 {
            assert!(matches!(operations.draw(&mut stream), Operation::Read | Operation::Insert));
        }
    }
}
