//! What other programs took of the processors while the runs of a pair were measured: it is no doing of the arms, so it can be taken out of their difference.

use crate::sample::Sample;

/// How much more was left to the other arm than to the baseline in each of these blocks; `None` where it is to be left in their differences.
pub(crate) fn disturbance(sides: [&[Sample]; 2], blocks: &[u32]) -> Option<Vec<f64>> {
    let left = |side: &[Sample], block: u32| {
        let mut samples = side.iter();
        let found = samples.find(|sample| sample.result.block == block)?;
        found.result.left_by_others
    };
    let of_side = |side: &[Sample]| blocks.iter().map(|block| left(side, *block)).collect();
    let [baseline, other]: [Option<Vec<f64>>; 2] = sides.map(of_side);
    plimsoll_stats::disturbance(&baseline?, &other?)
}
