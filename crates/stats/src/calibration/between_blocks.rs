//! How well is it known how much the blocks of one arm vary?

use crate::{Comparison, spread, visible_with_spread};

use crate::calibration::comparing::excludes_zero;
use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Studies, Study};
use Promise::{AtMost, Exactly};

const REPEATS: usize = 4000;
const NOISE: f64 = 0.03;
/// A run in this many stalls, and does half.
const ONE_IN: f64 = 10.0;

/// Whether the interval of the spread of 8 values holds the true one.
fn holds(mut value: impl FnMut() -> f64, truth: f64) -> Option<bool> {
    let values: Vec<f64> = (0..8).map(|_| value()).collect();
    let found = spread(&values)?;
    Some(found.lower <= truth && truth <= found.upper)
}

pub fn studies() -> Vec<Study> {
    let mut studies = Studies::repeated(REPEATS);
    let simulated = "8 blocks of one arm, 3 % noise";
    let counted = "interval of the spread holds the truth, 95 %";
    studies.add(91, simulated, counted, Exactly(0.95), |source| {
        holds(|| NOISE * source.normal(), NOISE)
    });
    // The interval depends on the normal law. Without a stall among the 8, which happens with 0.9⁸ = 43 %, it cannot know of any.
    let share = 1.0 / ONE_IN;
    let of_stalls = share * (1.0 - share) * 0.5_f64.ln().powi(2);
    let simulated = "8 blocks of one arm, one run in ten stalls to half";
    let counted = "interval of the spread holds the truth, 95 %";
    studies.add(92, simulated, counted, AtMost(0.57), |source| {
        let mut value = || {
            let stall = if source.chance(share) { 0.5_f64.ln() } else { 0.0 };
            NOISE * source.normal() + stall
        };
        holds(&mut value, (NOISE * NOISE + of_stalls).sqrt())
    });
    // What a spread says could be seen is what a comparison of two arms that vary so much shows about four times in five.
    for (seed, blocks) in [(93, 6_u8), (94, 8), (95, 20)] {
        let visible =
            visible_with_spread(NOISE, blocks.into()).expect("6 blocks and more are compared");
        let mut source = Source::new(seed);
        let arm = |source: &mut Source, ratio: f64| -> Vec<f64> {
            (0..blocks).map(|_| ratio * (NOISE * source.normal()).exp()).collect()
        };
        studies.all.push(Study::new(
            &format!("{blocks} blocks, 3 % noise, true difference = what that spread would show"),
            "difference shown",
            Promise::Between(0.74, 0.88),
            REPEATS,
            || {
                let (a, b) = (arm(&mut source, 1.0), arm(&mut source, visible.exp()));
                let comparison = Comparison::paired(&a, &b).expect("simulated runs are positive");
                Some(excludes_zero(&comparison))
            },
        ));
    }
    studies.all
}
