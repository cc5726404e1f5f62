//! What other programs took of the processors while the runs of a pair were measured: it is no doing of the arms, so it is taken out of their difference, or the blocks in
//! which it was are left out.

use crate::sample::Sample;
use plimsoll_stats::{Observation, mean};
use std::collections::{BTreeMap, BTreeSet};

/// How what other programs took of the processors is kept out of what is known of each pair, and what would be known `with` it.
#[derive(Clone, Debug)]
pub(crate) enum KeptOut {
    /// By regression.
    Explained { with: Vec<[Observation; 2]> },
    /// They preferred a side: only undisturbed blocks are known.
    LeftOut {
        with: Vec<[Observation; 2]>,
        one_sided: OneSided,
    },
}

impl KeptOut {
    pub(crate) fn with(&self) -> &[[Observation; 2]] {
        match self {
            Self::Explained { with } | Self::LeftOut { with, .. } => with,
        }
    }
}

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
    /// What they left to each side on average, a share of its processors' time.
    pub(crate) left: [f64; 2],
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
        left: left.map(|left| mean(&left).unwrap_or(1.0)),
    })
}

/// What others left to both sides in each of these blocks, where that is known of all.
fn left(sides: [&[Sample]; 2], blocks: &[u32]) -> Option<[Vec<f64>; 2]> {
    let of_side = |side: &[Sample]| {
        let results = side.iter().map(|sample| &sample.result);
        let known = results.map(|result| (result.block, result.left_by_others));
        let known: BTreeMap<u32, Option<f64>> = known.collect();
        let each = blocks.iter().map(|block| known.get(block).copied());
        each.map(Option::flatten).collect()
    };
    let [baseline, other]: [Option<Vec<f64>>; 2] = sides.map(of_side);
    Some([baseline?, other?])
}
