//! What two arms measured of one metric at one load, pair by pair, and what is known of each pair.
//!
//! What is measured becomes what is known in three steps: a side that failed is a bound for it, the effect of the halves of duets is taken out, and so is what other
//! programs did, or the duets are left out in which they did it.

use crate::Undisturbed;
use crate::arm_samples::ArmSamples;
use crate::disturbance::{KeptOut, OneSided, disturbance, left, one_sided};
use crate::extract::Reading;
use crate::sample::Sample;
use crate::select::as_u32;
use crate::sentence::Unit;
use crate::words::{counted, percent};
use plimsoll_plan::{Direction, Metric, Pairing, Plan};
use plimsoll_stats::{
    Comparison, Duet, FEWEST_BLOCKS, Observation, StatsError, standard_deviation,
    taken_out_or_left_in, visible_with_spread, without_explained, without_halves,
};
use plimsoll_workload::schedule::Load;
use std::collections::BTreeSet;
use std::f64::consts::SQRT_2;

/// What two arms measured of one metric at one load.
pub(crate) enum ArmValues {
    Paired(Matched),
    /// Each by itself, where nothing says which runs belong together.
    Apart(Apart),
}

/// What each of two arms measured in its valid runs.
pub(crate) struct Apart {
    pub(crate) values: [Vec<f64>; 2],
    /// What is known of them.
    known: [Vec<Observation>; 2],
    /// How many are only bounds.
    bounds: usize,
}

impl ArmValues {
    pub(crate) fn apart(sides: [&[Sample]; 2], metric: Metric) -> Self {
        let readings = sides.map(|side| {
            let readings = side.iter().filter_map(|sample| sample.reading(metric));
            readings.collect::<Vec<Reading>>()
        });
        let values = readings.each_ref().map(|side| {
            let values = side.iter().map(|reading| reading.value);
            values.collect()
        });
        Self::Apart(Apart {
            values,
            bounds: readings.iter().flatten().filter(|one| one.at_least).count(),
            known: readings.map(|side| side.into_iter().map(observed).collect()),
        })
    }

    pub(crate) fn has_any(&self) -> bool {
        match self {
            Self::Paired(matched) => !matched.values.is_empty(),
            Self::Apart(Apart { values: [a, b], .. }) => !a.is_empty() && !b.is_empty(),
        }
    }

    /// Blocks, or runs of the arm with fewer.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Paired(matched) if matched.values.is_empty() => 0,
            Self::Paired(matched) => matched.known.len(),
            Self::Apart(Apart { values: [a, b], .. }) => a.len().min(b.len()),
        }
    }

    /// How many of the pairs, or of the runs, are only known by a bound.
    pub(crate) fn bounds(&self) -> usize {
        match self {
            Self::Paired(matched) => matched.bounds,
            Self::Apart(apart) => apart.bounds,
        }
    }

    pub(crate) fn unit(&self) -> Unit {
        match self {
            Self::Paired(_) => Unit::Block,
            Self::Apart(Apart { values: [a, b], .. }) => {
                Unit::Run { baseline: a.len(), arm: b.len() }
            }
        }
    }

    /// The blocks, where there are any.
    pub(crate) fn matched(&self) -> Option<&Matched> {
        match self {
            Self::Paired(matched) => Some(matched),
            Self::Apart(_) => None,
        }
    }

    pub(crate) fn compared(&self) -> Result<Comparison, StatsError> {
        match self {
            Self::Paired(matched) => Matched::compared(&matched.known),
            Self::Apart(Apart { known: [a, b], .. }) => Comparison::unpaired_within(a, b),
        }
    }

    /// Values of each arm; of blocks, in the order of these.
    pub(crate) fn into_values(self) -> [Vec<f64>; 2] {
        match self {
            Self::Paired(matched) => {
                let values = matched.values.into_iter();
                values.map(|(_, a, b)| (a, b)).unzip::<_, _, Vec<f64>, Vec<f64>>().into()
            }
            Self::Apart(apart) => apart.values,
        }
    }

    /// Forgets all values: there is nothing to compare.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Paired(matched) => matched.values.clear(),
            Self::Apart(apart) => apart.values.iter_mut().for_each(Vec::clear),
        }
    }
}

/// What two arms measured of one metric at one load, block by block.
pub(crate) struct Matched {
    /// (block, baseline, arm): what was measured, and bounds where no more is known.
    pub(crate) values: Vec<(u32, f64, f64)>,
    /// The known pairs: pairs of values, and those with one side that failed by its own fault.
    pub(crate) known: Vec<[Observation; 2]>,
    /// How many pairs are only known by a bound.
    pub(crate) bounds: usize,
    /// How what other programs did is kept out of it, where it is.
    pub(crate) kept_out: Option<KeptOut>,
}

impl Matched {
    pub(crate) fn of(of_a: &[Sample], of_b: &[Sample], metric: Metric) -> Self {
        Self::within([of_a, of_b], metric, |_| true)
    }

    /// The same within some blocks.
    pub(crate) fn within(
        [of_a, of_b]: [&[Sample]; 2],
        metric: Metric,
        is_within: impl Fn(u32) -> bool,
    ) -> Self {
        // A side that finished something in no block has no ratio to the other.
        let is_active = |side: &[Sample]| {
            let within = side.iter().filter(|sample| is_within(sample.result.block));
            let mut readings = within.filter_map(|sample| sample.reading(metric));
            readings.any(|reading| reading.value > 0.0)
        };
        let are_active =
            metric.of_all() == Metric::Throughput && is_active(of_a) && is_active(of_b);
        let is_idle = |reading: Reading| are_active && reading.value == 0.0;
        let (mut values, mut known, mut bounds) = (Vec::new(), Vec::new(), 0);
        for left in of_a.iter().filter(|sample| is_within(sample.result.block)) {
            let Some(right) = of_b.iter().find(|right| right.result.block == left.result.block)
            else {
                continue;
            };
            let sides = [left, right].map(|side| side.reading(metric));
            match sides {
                // It was slower than one operation in all of its time.
                [Some(one), Some(other)] if is_idle(one) || is_idle(other) => {
                    bounds += 1;
                    let at_most = |sample: &Sample, reading| match is_idle(reading) {
                        true => no_better_than(
                            Reading { value: sample.one_operation(), ..reading },
                            metric,
                        ),
                        false => observed(reading),
                    };
                    known.push([at_most(left, one), at_most(right, other)]);
                }
                [Some(one), Some(other)] => {
                    bounds += usize::from(one.at_least || other.at_least);
                    values.push((left.result.block, one.value, other.value));
                    known.push([one, other].map(observed));
                }
                [Some(one), None] if right.is_faulty() => {
                    bounds += 1;
                    known.push([observed(one), no_better_than(one, metric)]);
                }
                [None, Some(other)] if left.is_faulty() => {
                    bounds += 1;
                    known.push([no_better_than(other, metric), observed(other)]);
                }
                _ => {}
            }
        }
        Self { values, known, bounds, kept_out: None }
    }

    /// Of two arms of a plan. Where other programs preferred a side of duets, only undisturbed blocks are in it, or those in which they kept both sides busy, if most are so: there was nothing to prefer. Unless there are bounds, the effect of the halves of duets is
    /// taken out of what is known, and what other programs took of the processors out of the throughput of closed loops.
    pub(crate) fn in_plan(
        plan: &Plan,
        arms: &[ArmSamples],
        [a, b]: [usize; 2],
        point: usize,
        metric: Metric,
    ) -> Self {
        let sides = [a, b].map(|arm| &arms[arm].points[point][..]);
        let mut matched = Self::of(sides[0], sides[1], metric);
        let is_duet = plan.measurement.pairing == Pairing::Duet;
        let is_closed = matches!(plan.points[point].load, Load::Closed { .. });
        let is_explained = metric == Metric::Throughput && is_closed;
        if let Some(one_sided) = is_duet.then(|| one_sided(sides)).flatten() {
            matched.take_halves_out(plan, b);
            let with = matched.known;
            if matched.bounds == 0
                && let Some(kept) =
                    Self::kept_busy(plan, sides, (b, metric), is_explained, &one_sided, &with)
            {
                return kept;
            }
            let judged = one_sided.undisturbed;
            matched = Self::within(sides, metric, |block| judged.contains(&block));
            matched.take_halves_out(plan, b);
            matched.kept_out = Some(KeptOut::LeftOut {
                with,
                judged,
                left: one_sided.left,
                kept_busy: false,
                both_ways: false,
            });
            return matched;
        }
        if matched.bounds > 0 {
            return matched;
        }
        let duets = matched.take_halves_out(plan, b);
        if is_explained && let Some(without) = matched.without_explained(sides, duets.as_deref()) {
            let without = matched.apart_by(&without);
            let with = std::mem::replace(&mut matched.known, without);
            matched.kept_out = Some(KeptOut::Explained { with });
        }
        matched
    }

    /// Duets in which other programs kept both sides busy, where most are so: elsewhere they were beside one side alone. `None` where nothing can be said of them.
    fn kept_busy(
        plan: &Plan,
        sides: [&[Sample]; 2],
        (b, metric): (usize, Metric),
        both_ways: bool,
        one_sided: &OneSided,
        all: &[[Observation; 2]],
    ) -> Option<Self> {
        let judged = &one_sided.kept_busy;
        if judged.is_empty() {
            return None;
        }
        let mut kept = Self::within(sides, metric, |block| judged.contains(&block));
        let duets = kept.take_halves_out(plan, b);
        if both_ways {
            kept.known = kept.in_ranges(sides, &duets?)?;
        }
        let (with, left) = (all.to_vec(), one_sided.left);
        kept.kept_out = match kept.known.len() < all.len() {
            true => Some(KeptOut::LeftOut {
                with,
                judged: judged.clone(),
                left,
                kept_busy: true,
                both_ways,
            }),
            false => both_ways.then_some(KeptOut::TakenOutOrLeftIn { with, left }),
        };
        Some(kept)
    }

    /// Takes the effect of the halves out of what is known, unless there are bounds; the duets, where they are.
    fn take_halves_out(&mut self, plan: &Plan, other: usize) -> Option<Vec<Duet>> {
        let duets = self.duets(plan, other).filter(|_| self.bounds == 0)?;
        if let Some(alike) = without_halves(&duets, None) {
            self.known = self.apart_by(&alike);
        }
        Some(duets)
    }

    /// Whether a block is one of those that are judged, if both arms have a value there.
    pub(crate) fn has(&self, block: u32) -> bool {
        match &self.kept_out {
            Some(KeptOut::LeftOut { judged, .. }) => judged.contains(&block),
            _ => true,
        }
    }

    /// Which duets are known, where only some are.
    pub(crate) fn undisturbed(&self) -> Option<Undisturbed> {
        let Some(KeptOut::LeftOut { with, left, kept_busy, .. }) = &self.kept_out else {
            return None;
        };
        Some(Undisturbed {
            blocks: as_u32(self.known.len()),
            of: as_u32(with.len()),
            left: (*left).into(),
            kept_busy: *kept_busy,
        })
    }

    /// What was left to each side, where that is as much the doing of the arms as of other programs.
    pub(crate) fn left_unequally(&self) -> Option<(f64, f64)> {
        match &self.kept_out {
            Some(
                KeptOut::TakenOutOrLeftIn { left, .. }
                | KeptOut::LeftOut { left, both_ways: true, .. },
            ) => Some((*left).into()),
            _ => None,
        }
    }

    /// Why nothing can be said, where other programs preferred a side and left too few blocks alone.
    pub(crate) fn obstacle(&self, names: [&str; 2]) -> Option<String> {
        let judged = self.undisturbed()?;
        let Undisturbed { blocks, of, left, .. } = judged;
        let in_which = judged.in_which();
        ((blocks as usize) < FEWEST_BLOCKS && blocks < of).then(|| {
            format!(
                "{}, and {in_which} in {blocks} of {of} blocks; at least {FEWEST_BLOCKS} are needed: end those programs, measure more blocks, or run the arms in turn",
                preferred(left, names)
            )
        })
    }

    /// The smallest difference that would be seen four times in five, a share, and the blocks that show it in words; `None` where nothing is kept out, so that
    /// every block does.
    pub(crate) fn visible_beside_others(&self) -> Option<(Option<f64>, String)> {
        let blocks = self.known.len();
        let words = match self.kept_out.as_ref()? {
            KeptOut::LeftOut { kept_busy: false, .. } => counted(blocks, "undisturbed duet"),
            KeptOut::LeftOut { .. } | KeptOut::TakenOutOrLeftIn { .. } => counted(blocks, "duet"),
            KeptOut::Explained { .. } => {
                format!("{} and without what other programs took", counted(blocks, "block"))
            }
        };
        let spread = spread(&self.known).unwrap_or_default();
        let visible = visible_with_spread(spread / SQRT_2, blocks);
        Some((visible.map(f64::exp_m1), words))
    }

    /// Of the variance of the differences, the share that other programs explain, where what they did is taken out by regression.
    pub(crate) fn explained(&self) -> Option<f64> {
        let Some(KeptOut::Explained { with }) = &self.kept_out else {
            return None;
        };
        let (before, after) = (spread(with)?, spread(&self.known)?);
        Some((1.0 - (after / before).powi(2)).max(0.0))
    }

    /// The differences of logarithms if other programs had taken as much from both arms; `None` where that is left as it is.
    fn without_explained(&self, sides: [&[Sample]; 2], duets: Option<&[Duet]>) -> Option<Vec<f64>> {
        let blocks: Vec<u32> = self.values.iter().map(|(block, _, _)| *block).collect();
        let disturbance = disturbance(sides, &blocks)?;
        if let Some(duets) = duets {
            return without_halves(duets, Some(&disturbance));
        }
        let differences = self.values.iter().map(|(_, a, b)| (b / a).ln());
        without_explained(&differences.collect::<Vec<f64>>(), [&disturbance])
    }

    /// The pairs with what other programs took taken out, and left in.
    fn in_ranges(&self, sides: [&[Sample]; 2], duets: &[Duet]) -> Option<Vec<[Observation; 2]>> {
        let blocks: Vec<u32> = self.values.iter().map(|(block, _, _)| *block).collect();
        let [baseline, other] = left(sides, &blocks)?;
        let ranges = taken_out_or_left_in(duets, [&baseline, &other])?;
        Some(self.apart_within(ranges))
    }

    fn apart_by(&self, differences: &[f64]) -> Vec<[Observation; 2]> {
        self.apart_within(differences.iter().map(|difference| [*difference; 2]))
    }

    /// Pairs of the same middles as the values, on a scale of logarithms, whose difference is in such a range.
    fn apart_within(&self, ranges: impl IntoIterator<Item = [f64; 2]>) -> Vec<[Observation; 2]> {
        let each = self.values.iter().zip(ranges);
        let pairs = each.map(|((_, a, b), [least, most])| {
            let middle = f64::midpoint(a.ln(), b.ln());
            let baseline = middle - f64::midpoint(least, most) / 2.0;
            [
                Observation::exactly(baseline.exp()),
                Observation::between((baseline + least).exp(), (baseline + most).exp()),
            ]
        });
        pairs.collect()
    }

    /// The values as duets; `None` where the plan has none, or a value has no logarithm.
    pub(crate) fn duets(&self, plan: &Plan, other: usize) -> Option<Vec<Duet>> {
        if plan.measurement.pairing != Pairing::Duet {
            return None;
        }
        let runs = plan.runs.iter();
        let on_second = runs.filter(|run| run.arm as usize == other && run.position == 1);
        let on_second: BTreeSet<u32> = on_second.map(|run| run.block).collect();
        let duets = self.values.iter().map(|(block, baseline, other)| {
            (*baseline > 0.0 && *other > 0.0).then(|| Duet {
                baseline: baseline.ln(),
                other: other.ln(),
                other_is_second: on_second.contains(block),
            })
        });
        duets.collect()
    }

    pub(crate) fn compared(known: &[[Observation; 2]]) -> Result<Comparison, StatsError> {
        let (a, b): (Vec<Observation>, Vec<Observation>) =
            known.iter().map(|[a, b]| (*a, *b)).unzip();
        Comparison::paired_within(&a, &b)
    }
}

/// `other programs left one 92 % of its processors and other 67 %`
pub(crate) fn preferred((of_baseline, of_arm): (f64, f64), [baseline, arm]: [&str; 2]) -> String {
    format!(
        "other programs left {baseline} {} of its processors and {arm} {}",
        percent(of_baseline, 0),
        percent(of_arm, 0)
    )
}

/// Standard deviation of the differences of logarithms.
fn spread(pairs: &[[Observation; 2]]) -> Option<f64> {
    let differences = pairs.iter().map(|[a, b]| (b.value() / a.value()).ln());
    standard_deviation(&differences.collect::<Vec<f64>>())
}

/// What a reading says of the true value.
fn observed(reading: Reading) -> Observation {
    if reading.at_least {
        Observation::at_least(reading.value)
    } else {
        Observation::exactly(reading.value)
    }
}

/// What is known of a side that failed by its own fault, beside what the other measured: it is no better.
fn no_better_than(other: Reading, metric: Metric) -> Observation {
    match metric.direction() {
        Direction::HigherIsBetter => Observation::at_most(other.value),
        Direction::LowerIsBetter => Observation::at_least(other.value),
    }
}
