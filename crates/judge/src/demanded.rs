//! What confidence the intervals that decide must attain.

use crate::estimate::CONFIDENCE;
use crate::select::Selection;
use plimsoll_plan::Plan;
use plimsoll_stats::{gate_confidences, looks};

/// Confidences that intervals must attain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Demanded {
    /// At a look before the last, where there is one after just so many blocks: what is certain by this may end the experiment.
    pub(crate) before: Option<f64>,
    /// Of what is said when it has ended.
    pub(crate) last: f64,
}

impl Demanded {
    /// By 95 %, once.
    pub(crate) const ONCE: Self = Self {
        before: None,
        last: CONFIDENCE,
    };

    /// Of a gate so much that all its looks at all its mixes together are wrong as rarely as one interval of 95 %.
    pub(crate) fn of(plan: &Plan, selection: &Selection<'_>) -> Self {
        let Some(asked) = plan.measurement.looks.filter(|looks| looks.gate.is_some()) else {
            return Self::ONCE;
        };
        let looks = looks(asked.first, plan.measurement.blocks);
        let of_mix = 1.0 - (1.0 - CONFIDENCE) / plan.mixes.len().max(1) as f64;
        let (before, last) = gate_confidences(of_mix, looks.len());
        let blocks = selection.progress.order.len();
        let mut early = looks[..looks.len() - 1].iter();
        let is_look = early.any(|look| usize::try_from(*look) == Ok(blocks));
        Self {
            before: is_look.then_some(before),
            last,
        }
    }
}
