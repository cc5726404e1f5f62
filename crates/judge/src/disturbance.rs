//! What other programs took of the processors while the runs of a pair were measured: it is no doing of the arms, so it is taken out of their difference, or the blocks in
//! which it was are left out.

use crate::sample::Sample;
use plimsoll_stats::mean;
use std::collections::BTreeSet;

/// How much more was left to the other arm than to the baseline in each of these blocks; `None` where it is to be left in their differences.
pub(crate) fn disturbance(sides: [&[Sample]; 2], blocks: &[u32]) -> Option<Vec<f64>> {
    let [baseline, other] = left(sides, blocks)?;
    plimsoll_stats::disturbance(&baseline, &other)
}

/// Duets of which other programs preferred one side.
#[derive(Clone, Debug)]
pub(crate) struct OneSided {
    /// Blocks in which they took nothing from either side.
    pub(crate) undisturbed: BTreeSet<u32>,
    /// How many blocks there are.
    pub(crate) of: usize,
    /// What they left to each side on average, a share of its processors' time.
    pub(crate) left: [f64; 2],
}

impl OneSided {
    /// Share of the blocks that are undisturbed.
    pub(crate) fn share(&self) -> f64 {
        self.undisturbed.len() as f64 / self.of.max(1) as f64
    }
}

/// Whether other programs preferred one side of these duets, and in which they preferred none; `None` where they did not, or nothing is known of it.
pub(crate) fn one_sided(sides: [&[Sample]; 2]) -> Option<OneSided> {
    let of_side = |side: &[Sample]| -> BTreeSet<u32> {
        let valid = side.iter().filter(|sample| sample.result.valid);
        valid.map(|sample| sample.result.block).collect()
    };
    let [ours, theirs] = sides.map(of_side);
    let blocks: Vec<u32> = ours.intersection(&theirs).copied().collect();
    let left = left(sides, &blocks)?;
    let undisturbed = plimsoll_stats::undisturbed(&left[0], &left[1])?;
    let each = blocks.iter().zip(undisturbed);
    Some(OneSided {
        undisturbed: each
            .filter_map(|(block, is)| is.then_some(*block))
            .collect(),
        of: blocks.len(),
        left: left.map(|left| mean(&left).unwrap_or(1.0)),
    })
}

/// What others left to both sides in each of these blocks, where that is known of all.
fn left(sides: [&[Sample]; 2], blocks: &[u32]) -> Option<[Vec<f64>; 2]> {
    let of_block = |side: &[Sample], block: u32| {
        let mut samples = side.iter();
        let found = samples.find(|sample| sample.result.block == block)?;
        found.result.left_by_others
    };
    let of_side = |side: &[Sample]| blocks.iter().map(|block| of_block(side, *block)).collect();
    let [baseline, other]: [Option<Vec<f64>>; 2] = sides.map(of_side);
    Some([baseline?, other?])
}
