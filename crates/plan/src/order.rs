//! Which arm runs when, from the seed.
//!
//! The scheme is part of the format: a plan made again from the same file and seed must be the same plan, in every version of the
//! program, or an interrupted experiment could not be resumed. So it is written down here and pinned by a test.
//!
//! 1. SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) is started with the seed of the measurement. Its outputs, in order, are the seeds
//!    of the blocks. All runs of a block have its seed, so that every arm of a block gets the same operations.
//! 2. For the order within a block, SplitMix64 is started with the block's seed xor [`ORDER_STREAM`], so that the order and the workload
//!    draw different numbers. Then Fisher and Yates: for each place from the last down to the second, the arm there changes places with
//!    one drawn from it and all before it; a draw below n is the upper half of the 128-bit product of n and one output.
//!
//!
//! Duets are made in rounds of all pairs, and each block is one pair. Every second round mirrors the one before:
//!
//! 1. Outputs of SplitMix64 are drawn as above, one for each block; the seeds of the blocks of a round and of its mirror differ.
//! 2. For every second round, SplitMix64 is started with the seed of its first block xor [`ORDER_STREAM`]. The order of the pairs is
//!    drawn as that of arms above; then for each of them in this order, the upper half of the 128-bit product of 2 and one output says
//!    whether its arms change halves.
//! 3. In the round after it the pairs have the reverse order, and the other halves. So each arm has both halves equally often, and no
//!    pair is always early.
//!
//! More blocks therefore leave the earlier ones as they are.

use crate::{Order, PlannedRun};

/// Sets the numbers of the order apart from those of the workload. Its bytes spell "arms run".
const ORDER_STREAM: u64 = 0x6172_6d73_2072_756e;

pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must not be 0. Its bias is below `bound` ÷ 2^64.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for place in (1..all.len()).rev() {
            all.swap(place, self.below(place as u64 + 1) as usize);
        }
    }
}

/// Every run of a plan that has all arms in each block, block by block.
pub fn planned_runs(arms: u32, blocks: u32, order: Order, seed: u64) -> Vec<PlannedRun> {
    runs_in_blocks(blocks, order, seed, |_| (0..arms).collect())
}

/// Every run of a design that is folded over: the first half of the arms in the first block, the second half in the next, and so on in turns.
pub fn folded_runs(arms: u32, blocks: u32, order: Order, seed: u64) -> Vec<PlannedRun> {
    let half = arms / 2;
    runs_in_blocks(blocks, order, seed, |block| match block % 2 {
        0 => (0..half).collect(),
        _ => (half..arms).collect(),
    })
}

/// Every run of duets: each pair (baseline and other, indices of arms) in each round, as a block of its own.
pub fn duet_runs(pairs: &[[u32; 2]], rounds: u32, order: Order, seed: u64) -> Vec<PlannedRun> {
    let mut runs = Vec::new();
    let mut seeds = SplitMix64(seed);
    let mut block = 0;
    let mut of_round = pairs.to_vec();
    for round in 0..rounds {
        let block_seeds: Vec<u64> = pairs.iter().map(|_| seeds.next()).collect();
        if round % 2 == 1 {
            if order == Order::Shuffled {
                of_round.reverse();
            }
            of_round.iter_mut().for_each(|pair| pair.reverse());
        } else {
            of_round.copy_from_slice(pairs);
            if let (Order::Shuffled, Some(first)) = (order, block_seeds.first()) {
                let mut draws = SplitMix64(first ^ ORDER_STREAM);
                draws.shuffle(&mut of_round);
                for pair in &mut of_round {
                    if draws.below(2) == 1 {
                        pair.reverse();
                    }
                }
            }
        }
        for (pair, seed) in of_round.iter().zip(block_seeds) {
            for (position, arm) in (0..).zip(*pair) {
                runs.push(PlannedRun { block, position, arm, seed });
            }
            block += 1;
        }
    }
    runs
}

fn runs_in_blocks(
    blocks: u32,
    order: Order,
    seed: u64,
    arms: impl Fn(u32) -> Vec<u32>,
) -> Vec<PlannedRun> {
    let mut runs = Vec::new();
    let mut seeds = SplitMix64(seed);
    for block in 0..blocks {
        let block_seed = seeds.next();
        let mut arms = arms(block);
        if order == Order::Shuffled {
            SplitMix64(block_seed ^ ORDER_STREAM).shuffle(&mut arms);
        }
        for (position, arm) in (0..).zip(arms) {
            runs.push(PlannedRun { block, position, arm, seed: block_seed });
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The outputs that others publish for this generator and seed.
    #[test]
    fn splitmix_is_splitmix() {
        let mut draws = SplitMix64(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| draws.next()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    /// Made by a program of its own in another language from the words at the top of this file.
    #[test]
    fn order_never_changes() {
        let runs = planned_runs(5, 4, Order::Shuffled, 42);
        let seeds: Vec<u64> = runs.iter().step_by(5).map(|run| run.seed).collect();
        let arms: Vec<Vec<u32>> =
            runs.chunks(5).map(|block| block.iter().map(|run| run.arm).collect()).collect();
        assert_eq!(seeds, PINNED_SEEDS);
        assert_eq!(arms, PINNED_ORDER);
    }

    const PINNED_SEEDS: [u64; 4] = [
        13_679_457_532_755_275_413,
        2_949_826_092_126_892_291,
        5_139_283_748_462_763_858,
        6_349_198_060_258_255_764,
    ];
    const PINNED_ORDER: [[u32; 5]; 4] =
        [[4, 1, 2, 3, 0], [3, 2, 4, 1, 0], [3, 0, 4, 1, 2], [3, 2, 0, 1, 4]];

    #[test]
    fn each_order_is_equally_frequent() {
        let mut counts = std::collections::BTreeMap::new();
        for block in planned_runs(3, 60_000, Order::Shuffled, 7).chunks(3) {
            let order: Vec<u32> = block.iter().map(|run| run.arm).collect();
            *counts.entry(order).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Standard deviation of each is 91: five of them.
        assert!(counts.values().all(|count| count.abs_diff(10_000) < 456), "{counts:?}");
    }

    /// Made by a program of its own in another language from the words at the top of this file.
    #[test]
    fn order_of_duets_never_changes() {
        let runs = duet_runs(&[[0, 1], [0, 2], [0, 3]], 4, Order::Shuffled, 42);
        let seeds: Vec<u64> = runs.iter().step_by(2).map(|run| run.seed).collect();
        assert_eq!(seeds[..4], PINNED_SEEDS);
        let arms: Vec<[u32; 2]> = runs.chunks(2).map(|pair| [pair[0].arm, pair[1].arm]).collect();
        assert_eq!(arms, PINNED_DUETS);
    }

    const PINNED_DUETS: [[u32; 2]; 12] = [
        [3, 0],
        [2, 0],
        [1, 0],
        [0, 1],
        [0, 2],
        [0, 3],
        [0, 2],
        [0, 3],
        [0, 1],
        [1, 0],
        [3, 0],
        [2, 0],
    ];

    proptest! {
        #[test]
        fn every_second_round_of_duets_mirrors_the_one_before(arms in 2u32..8, rounds in 1u32..9, seed: u64) {
            let pairs: Vec<[u32; 2]> = (1..arms).map(|arm| [0, arm]).collect();
            let all = duet_runs(&pairs, rounds, Order::Shuffled, seed);
            prop_assert_eq!(all.len(), pairs.len() * rounds as usize * 2);
            for (number, pair) in all.chunks(2).enumerate() {
                prop_assert!(pair.iter().zip(0..).all(|(run, position)| run.block as usize == number && run.position == position));
                prop_assert_eq!(pair[0].seed, pair[1].seed);
            }
            for both in all.chunks(pairs.len() * 4) {
                let (one, mirror) = both.split_at(both.len().min(pairs.len() * 2));
                let arms = |runs: &[PlannedRun]| runs.iter().map(|run| run.arm).collect::<Vec<_>>();
                let mut mirrored = arms(mirror);
                mirrored.reverse();
                prop_assert!(mirror.is_empty() || arms(one) == mirrored);
            }
            prop_assert_eq!(&duet_runs(&pairs, rounds + 1, Order::Shuffled, seed)[..all.len()], &all[..]);
        }

        #[test]
        fn every_block_is_a_permutation(arms in 1u32..40, blocks in 1u32..20, seed: u64, shuffled: bool) {
            let order = if shuffled { Order::Shuffled } else { Order::AsWritten };
            let all = planned_runs(arms, blocks, order, seed);
            prop_assert_eq!(all.len() as u32, arms * blocks);
            for (number, block) in all.chunks(arms as usize).enumerate() {
                let mut seen: Vec<u32> = block.iter().map(|run| run.arm).collect();
                prop_assert!(shuffled || seen.is_sorted());
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..arms).collect::<Vec<_>>());
                let places_are_right = block.iter().zip(0..).all(|(run, position)| run.position == position);
                prop_assert!(places_are_right && block.iter().all(|run| run.block as usize == number && run.seed == block[0].seed));
            }
            let longer = planned_runs(arms, blocks + 3, order, seed);
            prop_assert_eq!(&longer[..all.len()], &all[..]);
        }
    }
}
