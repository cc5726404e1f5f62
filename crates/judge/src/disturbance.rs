//! What other programs took of the processors while the runs of a pair were measured: it is no doing of the arms, so it is taken out of their difference, or the blocks in
//! which it was are left out.

use crate::arm_samples::ArmSamples;
use crate::sample::Sample;
use crate::words::percent;
use plimsoll_plan::{Pairing, Plan};
use plimsoll_record::FOREIGN_CAUTION;
use plimsoll_stats::{Observation, mean, median};
use std::collections::{BTreeMap, BTreeSet};

/// How what other programs took of the processors is kept out of what is known of each pair, and what would be known `with` it.
#[derive(Clone, Debug)]
pub(crate) enum KeptOut {
    Explained {
        with: Vec<[Observation; 2]>,
    },
    /// They kept both sides of duets busy, and took more from one: both with what they took and without is possible.
    TakenOutOrLeftIn {
        with: Vec<[Observation; 2]>,
        left: [f64; 2],
    },
    /// They preferred a side: only the blocks are known in which they did not.
    LeftOut {
        with: Vec<[Observation; 2]>,
        judged: BTreeSet<u32>,
        left: [f64; 2],
        /// Whether other programs kept both sides busy in the known blocks, and left no side alone.
        kept_busy: bool,
        /// Whether what they took there is both taken out and left in.
        both_ways: bool,
    },
}

impl KeptOut {
    pub(crate) fn with(&self) -> &[[Observation; 2]] {
        match self {
            Self::Explained { with }
            | Self::TakenOutOrLeftIn { with, .. }
            | Self::LeftOut { with, .. } => with,
        }
    }
}

/// How much more was left to the other arm than to the baseline in each of these blocks; `None` where it is to be left in their differences.
pub(crate) fn disturbance(sides: [&[Sample]; 2], blocks: &[u32]) -> Option<Vec<f64>> {
    let [baseline, other] = left(sides, blocks)?;
    plimsoll_stats::disturbance(&baseline, &other)
}

/// Duets in which other programs preferred one side.
#[derive(Clone, Debug)]
pub(crate) struct OneSided {
    /// Blocks in which they took nothing from either side.
    pub(crate) undisturbed: BTreeSet<u32>,
    /// What they left to each side on average, a share of its processors' time.
    pub(crate) left: [f64; 2],
    /// Blocks in which they always wanted the processors of both sides, so that there was nothing to prefer: what they left is what the arms took. Empty unless
    /// most are so.
    pub(crate) kept_busy: BTreeSet<u32>,
}

/// Busy share of a side's processor time where some task always wants it.
const BUSY: f64 = 0.97;
/// Least share that others take of it if they are among those tasks: a program that never sleeps gets as much beside any server.
const TAKEN: f64 = 0.25;
/// Least share of the duets in which both sides must be so: programs that never sleep change sides now and then.
const BUSY_DUETS: f64 = 0.5;

/// Whether other programs took more from one side of these duets, and in which they preferred none; `None` where they did not, or nothing is known of it.
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
        undisturbed: each.filter_map(|(block, is)| is.then_some(*block)).collect(),
        left: left.map(|left| mean(&left).unwrap_or(1.0)),
        kept_busy: kept_busy(sides, &blocks),
    })
}

fn kept_busy(sides: [&[Sample]; 2], blocks: &[u32]) -> BTreeSet<u32> {
    let is_busy = |sample: &Sample| {
        let figures = &sample.extract.figures;
        let stolen = figures.machine_steal.unwrap_or(0.0);
        let busy = figures.machine_busy.map(|busy| busy + stolen);
        let left = sample.result.left_by_others;
        busy.is_some_and(|busy| busy >= BUSY) && left.is_some_and(|left| left <= 1.0 - TAKEN)
    };
    let of_block = |side: &[Sample], block: u32| {
        let mut runs = side.iter().filter(|sample| sample.result.valid);
        runs.any(|sample| sample.result.block == block && is_busy(sample))
    };
    let is_of_both = |block: &&u32| sides.iter().all(|side| of_block(side, **block));
    let kept: BTreeSet<u32> = blocks.iter().filter(is_of_both).copied().collect();
    if kept.len() as f64 > BUSY_DUETS * blocks.len() as f64 { kept } else { BTreeSet::new() }
}

/// Why these duets say nothing: other programs used much of the machine. They run where a processor is idle, which is beside the side that waits more, so they make differences that
/// no arm has.
///
/// `can_leave_out` is for comparisons of two arms, which leave out the duets in which a side was preferred, if the records tell; effects of factors do not.
pub(crate) fn obstacle(
    plan: &Plan,
    all: &[ArmSamples],
    compared: &[usize],
    point: usize,
    can_leave_out: bool,
) -> Option<String> {
    if plan.measurement.pairing != Pairing::Duet {
        return None;
    }
    let samples = compared.iter().flat_map(|arm| &all[*arm].points[point]);
    let valid: Vec<&Sample> = samples.filter(|sample| sample.result.valid).collect();
    let shares: Vec<f64> = valid.iter().filter_map(|sample| Some(sample.foreign?.share)).collect();
    let share = median(&shares).filter(|share| *share >= FOREIGN_CAUTION)?;
    let why = if !can_leave_out {
        "what they did beside one arm may look like an effect"
    } else if valid.iter().any(|sample| sample.result.left_by_others.is_none()) {
        "it is unknown beside which arm"
    } else {
        return None;
    };
    let share = percent(share, 0);
    Some(format!(
        "other programs used {share} of the machine, and {why}: end them, or run the arms in turn"
    ))
}

/// What others left to both sides in each of these blocks, where that is known of all.
pub(crate) fn left(sides: [&[Sample]; 2], blocks: &[u32]) -> Option<[Vec<f64>; 2]> {
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
