//! What confidence the intervals that decide must attain.

use crate::estimate::CONFIDENCE;
use crate::pairing::most_primaries;
use crate::select::Selection;
use plimsoll_plan::Plan;
use plimsoll_stats::{fewest_blocks, gate_confidences, looks};

/// Confidences that intervals must attain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Demanded {
    /// At a look before the last, where there is one after just this many blocks: what is certain by this may end the experiment.
    pub(crate) before: Option<f64>,
    /// Confidence that the final verdict demands.
    pub(crate) last: f64,
}

impl Demanded {
    pub(crate) const ONCE: Self = Self { before: None, last: CONFIDENCE };

    /// The demand of a gate: all looks at all its mixes together are wrong as rarely as one interval of 95 %.
    pub(crate) fn of(plan: &Plan, selection: &Selection<'_>) -> Self {
        let Some(requested) = plan.measurement.looks.filter(|looks| looks.gate.is_some()) else {
            return Self::ONCE;
        };
        let looks = looks(requested.first, plan.measurement.blocks);
        let (before, last) = of_gate(plan, looks.len());
        let blocks = selection.progress.order.len();
        let mut early = looks[..looks.len() - 1].iter();
        let is_look = early.any(|look| usize::try_from(*look) == Ok(blocks));
        Self { before: is_look.then_some(before), last }
    }
}

/// The demand of each look of a gate before the last, and that of the last.
fn of_gate(plan: &Plan, looks: usize) -> (f64, f64) {
    let of_mix = 1.0 - (1.0 - CONFIDENCE) / plan.mixes.len().max(1) as f64;
    gate_confidences(of_mix, looks)
}

/// After how many blocks a gate has its first look: the fewest, from `least` on, that can attain what such a look demands, or `most`.
pub fn first_look_of_gate(plan: &Plan, least: u32, most: u32) -> u32 {
    let metrics = most_primaries(plan) as f64;
    let is_enough = |first: &u32| {
        let (before, _) = of_gate(plan, looks(*first, most).len());
        let fewest = fewest_blocks(1.0 - (1.0 - before) / metrics);
        u32::try_from(fewest).is_ok_and(|fewest| fewest <= *first)
    };
    (least..most).find(is_enough).unwrap_or(most)
}
