//! Every arm against its baseline, over the blocks in which both have a valid point.
//!
//! A value that is only a bound stays in, as an ordering: whatever the arm did beyond it counts against that arm. The same goes for a point that is invalid by the
//! arm's own fault, beside a valid one of the other arm. To leave such pairs out would favour the arm that fails in its slow blocks.

use crate::arm_samples::ArmSamples;
use crate::deciding::deciding;
use crate::demanded::Demanded;
use crate::disturbance::{KeptOut, disturbance, one_sided};
use crate::estimate::CONFIDENCE;
use crate::extract::Reading;
use crate::pairing::primaries;
use crate::roles::{is_line, load_label};
use crate::sample::Sample;
use crate::select::as_u32;
use crate::sentence::{Question, Unit, sentence};
use crate::words::{Change, percent};
use crate::{Adjustment, Comparison, FactorResults, Judgement, Undisturbed, Verdict};
use plimsoll_plan::{Direction, Metric, Pairing, Plan, Point};
use plimsoll_schedule::Load;
use plimsoll_stats::{
    Duet, FEWEST_BLOCKS, Grounds, Interval, Observation, Rule, Standing, judge, judge_together,
    standard_deviation, without_explained, without_halves,
};
use std::collections::BTreeSet;

/// Looked at in every experiment, beside the metrics that decide.
const ALWAYS: [Metric; 5] = [
    Metric::Line,
    Metric::Throughput,
    Metric::Response { percentile: 50.0 },
    Metric::Response { percentile: 99.0 },
    Metric::CpuPerOperation,
];

/// All comparisons, primaries first, and for each mix that cannot be judged the reason.
pub(crate) struct Comparisons {
    pub(crate) all: Vec<Comparison>,
    /// Where arms are cells of a grid.
    pub(crate) factors: Option<FactorResults>,
    pub(crate) unjudged: Vec<(String, String)>,
}

/// Compares the arms of every pair: each mix, each point, each metric.
///
/// The metrics that decide about one pair under one mix are judged together, so that the chance of any false word among them stays at 5 % (Holm). Each pair
/// and each mix is a question of its own; everything else is exploratory and judged by itself. Where the runs of a block are not `paired`, each arm's
/// runs count by themselves. What decides attains what is `demanded` of it; all else 95 %.
pub(crate) fn comparisons(
    plan: &Plan,
    arms: &[ArmSamples],
    paired: bool,
    demanded: Demanded,
) -> Comparisons {
    let primary_metrics = primaries(plan);
    let (mut primary, mut exploratory) = (Vec::new(), Vec::new());
    let mut unjudged = Vec::new();
    for (mix_index, mix) in plan.mixes.iter().enumerate() {
        for pair in plan.pairs() {
            let (deciding, reasons) = deciding(plan, mix_index, arms, pair[0]);
            for reason in reasons {
                let remark = (mix.name.clone(), reason);
                if !unjudged.contains(&remark) {
                    unjudged.push(remark);
                }
            }
            let is_priced = crate::cost::in_one_currency(pair.map(|arm| &plan.arms[arm])).is_ok();
            let mut deciding_pairs = Vec::new();
            for (point_index, point) in plan.points.iter().enumerate() {
                if usize::try_from(point.mix) != Ok(mix_index) {
                    continue;
                }
                for metric in metrics(&primary_metrics, is_priced) {
                    let decides = deciding.contains(&(metric, point_index));
                    if !decides && !is_compared(point, metric) {
                        continue;
                    }
                    let pairs = if paired {
                        Pairs::of(plan, arms, pair, point_index, metric)
                    } else {
                        Pairs::apart(plan, arms, pair, point_index, metric)
                    };
                    if decides {
                        deciding_pairs.push(pairs);
                    } else if pairs.has_any() {
                        exploratory.extend(judged(vec![pairs], false, Demanded::ONCE));
                    }
                }
            }
            primary.extend(judged(deciding_pairs, true, demanded));
        }
    }
    primary.append(&mut exploratory);
    Comparisons {
        all: primary,
        factors: None,
        unjudged,
    }
}

/// Whether a metric is looked at at a point where it does not decide. At the line that is the line itself, what it costs, and the response times there.
pub(crate) fn is_compared(point: &Point, metric: Metric) -> bool {
    match metric {
        Metric::Line => is_line(point),
        Metric::Cost | Metric::Response { .. } => true,
        _ => !is_line(point),
    }
}

/// The metrics that decide, then the usual ones; cost where both arms are `priced` in one currency.
pub(crate) fn metrics(primary: &[Metric], priced: bool) -> Vec<Metric> {
    let mut metrics = primary.to_vec();
    let cost = priced.then_some(Metric::Cost);
    for metric in ALWAYS.into_iter().chain(cost) {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics
}

/// Smallest relative difference that matters: the file's, or 3 % of throughput and 5 % of anything else.
pub(crate) fn rule(plan: &Plan, metric: Metric) -> Rule {
    let (default, direction) = match metric.direction() {
        Direction::HigherIsBetter => (0.03, plimsoll_stats::Direction::HigherIsBetter),
        Direction::LowerIsBetter => (0.05, plimsoll_stats::Direction::LowerIsBetter),
    };
    let asked = plan
        .compare
        .margins
        .get(&metric.name())
        .copied()
        .unwrap_or(default);
    Rule::new(direction, asked)
        .or_else(|_| Rule::new(direction, default))
        .expect("a default margin is a positive share")
}

/// What two arms measured of one metric at one load, block by block.
pub(crate) struct Matched {
    /// (block, baseline, arm): what was measured, and bounds where no more is known.
    pub(crate) values: Vec<(u32, f64, f64)>,
    /// What is known of each pair: of the values, and of pairs of which one side failed by its own fault.
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
        let (mut values, mut known, mut bounds) = (Vec::new(), Vec::new(), 0);
        for left in of_a.iter().filter(|sample| is_within(sample.result.block)) {
            let Some(right) = of_b
                .iter()
                .find(|right| right.result.block == left.result.block)
            else {
                continue;
            };
            let sides = [left, right].map(|side| side.reading(metric));
            match sides {
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
        Self {
            values,
            known,
            bounds,
            kept_out: None,
        }
    }

    /// Of two arms of a plan. Where other programs preferred a side of duets, only undisturbed blocks are in it. Unless there are bounds, the effect of the halves of duets is
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
        if let Some(one_sided) = is_duet.then(|| one_sided(sides)).flatten() {
            matched.take_halves_out(plan, b);
            let with = matched.known;
            matched = Self::within(sides, metric, |block| {
                one_sided.undisturbed.contains(&block)
            });
            matched.take_halves_out(plan, b);
            matched.kept_out = Some(KeptOut::LeftOut { with, one_sided });
            return matched;
        }
        if matched.bounds > 0 {
            return matched;
        }
        let duets = matched.take_halves_out(plan, b);
        let is_closed = matches!(plan.points[point].load, Load::Closed { .. });
        if metric == Metric::Throughput
            && is_closed
            && let Some(without) = matched.without_explained(sides, duets.as_deref())
        {
            let without = matched.apart_by(&without);
            let with = std::mem::replace(&mut matched.known, without);
            matched.kept_out = Some(KeptOut::Explained { with });
        }
        matched
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
            Some(KeptOut::LeftOut { one_sided, .. }) => one_sided.undisturbed.contains(&block),
            _ => true,
        }
    }

    /// Which duets are known, where only undisturbed ones are.
    pub(crate) fn undisturbed(&self) -> Option<Undisturbed> {
        let Some(KeptOut::LeftOut { with, one_sided }) = &self.kept_out else {
            return None;
        };
        Some(Undisturbed {
            blocks: as_u32(self.known.len()),
            of: as_u32(with.len()),
            left: one_sided.left.into(),
        })
    }

    /// Why nothing can be said, where other programs preferred a side and left too few blocks alone.
    pub(crate) fn obstacle(&self, names: [&str; 2]) -> Option<String> {
        let Undisturbed { blocks, of, left } = self.undisturbed()?;
        ((blocks as usize) < FEWEST_BLOCKS && blocks < of).then(|| {
            format!(
                "{}, and left both alone in {blocks} of {of} blocks: at least {FEWEST_BLOCKS} are needed. End those programs, make more blocks, or run the arms in turn",
                preferred(left, names)
            )
        })
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

    /// Pairs of the same middles as the values, on a scale of logarithms, that are so far apart.
    fn apart_by(&self, differences: &[f64]) -> Vec<[Observation; 2]> {
        let each = self.values.iter().zip(differences);
        let pairs = each.map(|((_, a, b), difference)| {
            let middle = f64::midpoint(a.ln(), b.ln());
            [-0.5, 0.5].map(|side| Observation::exactly((middle + side * difference).exp()))
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

    /// The comparison of the pairs.
    pub(crate) fn compared(
        known: &[[Observation; 2]],
    ) -> Result<plimsoll_stats::Comparison, plimsoll_stats::StatsError> {
        let (a, b): (Vec<Observation>, Vec<Observation>) =
            known.iter().map(|[a, b]| (*a, *b)).unzip();
        plimsoll_stats::Comparison::paired_within(&a, &b)
    }
}

/// `other programs left 92 % of its processors to one, and 67 % to other`
fn preferred((of_baseline, of_arm): (f64, f64), [baseline, arm]: [&str; 2]) -> String {
    format!(
        "other programs left {} of its processors to {baseline}, and {} to {arm}",
        percent(of_baseline, 0),
        percent(of_arm, 0)
    )
}

/// Standard deviation of the differences of logarithms.
fn spread(pairs: &[[Observation; 2]]) -> Option<f64> {
    let differences = pairs.iter().map(|[a, b]| (b.value() / a.value()).ln());
    standard_deviation(&differences.collect::<Vec<f64>>())
}

/// What both arms measured at one point, block by block.
struct Pairs {
    arms: [String; 2],
    mix: String,
    point: u32,
    load_label: String,
    metric: Metric,
    rule: Rule,
    /// (block, baseline, arm): what was measured, and bounds where no more is known.
    values: Vec<(u32, f64, f64)>,
    /// What is known of each pair: of the values, and of pairs of which one side failed by its own fault.
    known: Vec<[Observation; 2]>,
    /// Values of each arm by themselves, where nothing pairs them.
    apart: Option<(Vec<f64>, Vec<f64>)>,
    /// What is known of them.
    known_apart: [Vec<Observation>; 2],
    /// How many of the pairs, or of the values apart, are only bounds.
    bounds: usize,
    /// Which duets those are, where only undisturbed ones are known.
    undisturbed: Option<Undisturbed>,
    /// Of the variance of the differences, the share that is taken out by regression.
    explained: Option<f64>,
    /// What would be known with what other programs did.
    with_others: Option<Vec<[Observation; 2]>>,
    /// Why there is nothing to compare, where that is known beforehand.
    obstacle: Option<String>,
}

impl Pairs {
    fn of(
        plan: &Plan,
        arms: &[ArmSamples],
        [a, b]: [usize; 2],
        point: usize,
        metric: Metric,
    ) -> Self {
        let matched = Matched::in_plan(plan, arms, [a, b], point, metric);
        let (undisturbed, explained) = (matched.undisturbed(), matched.explained());
        let undecidable = matched.obstacle([a, b].map(|arm| plan.arms[arm].name.as_str()));
        let Matched {
            mut values,
            known,
            bounds,
            kept_out,
        } = matched;
        let obstacle = match metric {
            Metric::Cost => crate::cost::in_one_currency([&plan.arms[a], &plan.arms[b]]).err(),
            _ => None,
        };
        if obstacle.is_some() {
            values.clear();
        }
        let mix = usize::try_from(plan.points[point].mix)
            .ok()
            .and_then(|mix| plan.mixes.get(mix));
        Self {
            arms: [plan.arms[a].name.clone(), plan.arms[b].name.clone()],
            mix: mix.map(|mix| mix.name.clone()).unwrap_or_default(),
            point: as_u32(point),
            load_label: load_label(&plan.points[point]),
            metric,
            rule: rule(plan, metric),
            values,
            known,
            apart: None,
            known_apart: [Vec::new(), Vec::new()],
            bounds,
            undisturbed,
            explained,
            with_others: kept_out.map(|kept_out| kept_out.with().to_vec()),
            obstacle: obstacle.or(undecidable),
        }
    }

    /// The same where nothing says which runs belong together.
    fn apart(
        plan: &Plan,
        arms: &[ArmSamples],
        pair: [usize; 2],
        point: usize,
        metric: Metric,
    ) -> Self {
        let readings = pair.map(|arm| readings(&arms[arm].points[point], metric));
        let values = readings.each_ref().map(|side| {
            let values = side.iter().map(|reading| reading.value);
            values.collect::<Vec<f64>>()
        });
        let bounds = readings.iter().flatten().filter(|one| one.at_least).count();
        Self {
            values: Vec::new(),
            known: Vec::new(),
            apart: Some(values.into()),
            known_apart: readings.map(|side| side.into_iter().map(observed).collect()),
            bounds,
            with_others: None,
            ..Self::of(plan, arms, pair, point, metric)
        }
    }

    fn has_any(&self) -> bool {
        match &self.apart {
            Some((a, b)) => !a.is_empty() && !b.is_empty(),
            None => !self.values.is_empty(),
        }
    }

    /// Runs of the arm with fewer, or blocks.
    fn count(&self) -> u32 {
        as_u32(match &self.apart {
            Some((a, b)) => a.len().min(b.len()),
            None if self.values.is_empty() => 0,
            None => self.known.len(),
        })
    }

    fn unit(&self) -> Unit {
        match &self.apart {
            Some((a, b)) => Unit::Run {
                baseline: a.len(),
                arm: b.len(),
            },
            None => Unit::Block,
        }
    }

    fn figures(&self) -> Result<plimsoll_stats::Comparison, String> {
        if let Some(obstacle) = &self.obstacle {
            return Err(obstacle.clone());
        }
        let compared = if self.apart.is_some() {
            if !self.has_any() {
                return Err("one of them has no valid run with such a value".into());
            }
            let [a, b] = &self.known_apart;
            plimsoll_stats::Comparison::unpaired_within(a, b)
        } else {
            if self.values.is_empty() {
                return Err(match self.metric {
                    Metric::Line => "in no block is the line of both known from both sides".into(),
                    _ => "in no block have both a valid point with such a value".into(),
                });
            }
            if let Some(nothing) = self.nothing_done() {
                return Err(nothing);
            }
            Matched::compared(&self.known)
        };
        not_only_bounds(compared, self.metric)
    }

    /// Where a side finished nothing, there is no ratio: says which, and when.
    fn nothing_done(&self) -> Option<String> {
        if self.metric != Metric::Throughput {
            return None;
        }
        self.values.iter().find_map(|(block, a, b)| {
            let idle = match (*a, *b) {
                (0.0, _) => &self.arms[0],
                (_, 0.0) => &self.arms[1],
                _ => return None,
            };
            let block = u64::from(*block) + 1;
            Some(format!("{idle} finished no operation in block {block}"))
        })
    }

    /// Failures may be absent from both arms, which no ratio can express.
    fn nothing_on_either_side(&self) -> bool {
        if let Some((a, b)) = &self.apart {
            return self.has_any() && a.iter().chain(b).all(|value| *value == 0.0);
        }
        !self.values.is_empty() && self.values.iter().all(|(_, a, b)| *a == 0.0 && *b == 0.0)
    }
}

/// A comparison whose estimate is a number; or why there is none.
pub(crate) fn not_only_bounds(
    compared: Result<plimsoll_stats::Comparison, plimsoll_stats::StatsError>,
    metric: Metric,
) -> Result<plimsoll_stats::Comparison, String> {
    let compared = compared.map_err(|error| error.to_string())?;
    let is_known = compared
        .ln_ratio(CONFIDENCE)
        .is_ok_and(|estimate| estimate.value.is_finite());
    if is_known {
        Ok(compared)
    } else if metric == Metric::Line {
        Err("one of them holds the objective at the highest rate that was tried, so its line has only a lower bound".into())
    } else {
        Err("too much was unfinished at the end, so that only lower bounds are known".into())
    }
}

/// Why a verdict may be owed to values that are only bounds.
pub(crate) fn bounds_reason(bounds: usize, count: usize, unit: Unit) -> Option<String> {
    if bounds == 0 {
        return None;
    }
    let of = match unit {
        Unit::Block => format!("{bounds} of {count} blocks"),
        Unit::Run { baseline, arm } => format!("{bounds} of {} runs", baseline + arm),
    };
    Some(format!(
        "in {of} one side failed or has only a lower bound, which counts against it and leaves the answer open"
    ))
}

/// What the valid runs of one arm show.
pub(crate) fn readings(samples: &[Sample], metric: Metric) -> Vec<Reading> {
    let readings = samples.iter().filter_map(|sample| sample.reading(metric));
    readings.collect()
}

/// What a reading says of the true value.
pub(crate) fn observed(reading: Reading) -> Observation {
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

/// Judges comparisons that belong together: by what is demanded of a look where that answers the question of a gate, and otherwise by what is demanded at last.
fn judged(family: Vec<Pairs>, primary: bool, demanded: Demanded) -> Vec<Comparison> {
    let mut figures = Vec::with_capacity(family.len());
    for pairs in &family {
        figures.push(pairs.figures());
    }
    let mut together = Vec::new();
    for (pairs, figures) in family.iter().zip(&figures) {
        if let Ok(comparison) = figures {
            together.push((comparison, pairs.rule));
        }
    }
    let judge_all = |confidence: f64| {
        let judgements = match together[..] {
            [(only, rule)] => judge(only, rule, confidence).map(|one| vec![one]),
            _ => judge_together(&together, confidence),
        };
        judgements.expect("what is demanded lies between 0 and 1")
    };
    let by_look = demanded.before.map(judge_all);
    let by_look = by_look.filter(|judgements| answers(family.len(), judgements));
    let mut judgements = by_look
        .unwrap_or_else(|| judge_all(demanded.last))
        .into_iter();
    let deciding = family.len();
    let mut comparisons = Vec::with_capacity(family.len());
    for (mut pairs, figures) in family.into_iter().zip(figures) {
        let (verdict, grounds) = match figures {
            Ok(_) => {
                let judgement = judgements
                    .next()
                    .expect("there is a judgement for every comparison handed in");
                let (mut verdict, grounds) = verdict(
                    &judgement,
                    (primary && deciding > 1).then_some(deciding),
                    pairs.unit(),
                );
                if verdict.judgement == Judgement::Inconclusive
                    && !matches!(grounds, Some(Grounds::NotEnoughBlocks { .. }))
                {
                    let reason = bounds_reason(pairs.bounds, pairs.known.len(), pairs.unit());
                    verdict.reason = reason.or(verdict.reason);
                }
                (verdict, grounds)
            }
            Err(_) if pairs.nothing_on_either_side() => (nothing_to_tell(&pairs), None),
            Err(reason) => {
                if pairs.bounds > 0 {
                    // Nothing but bounds is nothing to compare.
                    pairs.values.clear();
                }
                let verdict = without_figures(reason, pairs.count(), pairs.rule.margin());
                (verdict, None)
            }
        };
        comparisons.push(comparison(pairs, primary, verdict, grounds));
    }
    comparisons
}

/// What it changed that what other programs took was kept out.
fn adjustment(pairs: &Pairs, confidence: Option<f64>) -> Option<Adjustment> {
    let compared = Matched::compared(pairs.with_others.as_deref()?).ok()?;
    let judgement = judge(&compared, pairs.rule, confidence.unwrap_or(CONFIDENCE)).ok()?;
    let interval = attained(&judgement).map(|interval| (interval.lower, interval.upper));
    Some(Adjustment {
        explained: pairs.explained,
        estimate: judgement.change.value,
        interval,
    })
}

/// `What other programs took of the processors explains 97 % of the noise and is taken out; with it: 2.7 % lower (9.6 % lower to 4.3 % higher).`
fn kept_out_words(
    metric: Metric,
    undisturbed: Option<Undisturbed>,
    adjustment: Option<Adjustment>,
    names: [&str; 2],
) -> Option<String> {
    let explained = adjustment.and_then(|adjustment| adjustment.explained);
    let (how, others) = match (undisturbed, explained) {
        (Some(Undisturbed { blocks, of, left }), _) => (
            format!(
                "Because {}, only the {blocks} of {of} blocks are judged in which they left both alone",
                preferred(left, names)
            ),
            "the others",
        ),
        (None, Some(share)) => (
            format!(
                "What other programs took of the processors explains {} of the noise and is taken out",
                percent(share, 0)
            ),
            "it",
        ),
        (None, None) => return None,
    };
    let with = adjustment.map_or_else(String::new, |adjustment| {
        let Adjustment {
            estimate, interval, ..
        } = adjustment;
        let change = Change::style(metric, estimate, interval);
        let interval = interval.map_or_else(
            || "no interval".to_owned(),
            |interval| change.interval(interval),
        );
        format!(
            "; with {others}: {} ({interval})",
            change.estimate(estimate)
        )
    });
    Some(format!("{how}{with}."))
}

/// Whether a look answers whether any of `all` metrics loses more than its margin; those that cannot be judged are not among the judgements.
fn answers(all: usize, judgements: &[plimsoll_stats::Judgement]) -> bool {
    let stand = judgements.iter().map(|judgement| {
        let rule = Rule::new(judgement.direction, judgement.margin);
        let rule = rule.expect("it was judged by this rule");
        Standing::of(attained(judgement), judgement.change.value, rule)
    });
    let stand: Vec<Standing> = stand.collect();
    stand.contains(&Standing::Lost { surely: true })
        || all == stand.len() && stand.iter().all(|one| *one == Standing::Kept)
}

/// The interval of a judgement, where it attains what was demanded.
fn attained(judgement: &plimsoll_stats::Judgement) -> Option<Interval> {
    let interval = judgement.change.interval;
    (interval.confidence >= judgement.demanded_confidence).then_some(interval)
}

fn comparison(
    pairs: Pairs,
    primary: bool,
    verdict: Verdict,
    grounds: Option<Grounds>,
) -> Comparison {
    let unit = pairs.unit();
    let [baseline, arm] = pairs.arms.clone();
    let question = Question {
        mix: &pairs.mix,
        load_label: &pairs.load_label,
        metric: pairs.metric,
        baseline: &baseline,
        arm: &arm,
        unit,
    };
    let mut sentence = sentence(&question, &verdict, grounds);
    let adjustment = adjustment(&pairs, verdict.confidence);
    let names = [baseline.as_str(), &arm];
    if verdict.estimate.is_some()
        && let Some(words) = kept_out_words(pairs.metric, pairs.undisturbed, adjustment, names)
    {
        sentence.push(' ');
        sentence.push_str(&words);
    }
    let known = pairs.known.iter().map(|[a, b]| (a.value(), b.value()));
    let judged: Vec<(f64, f64)> = known.collect();
    let measured = pairs.values.iter().map(|(_, a, b)| (*a, *b));
    let is_as_measured = pairs.bounds > 0 || measured.eq(judged.iter().copied());
    Comparison {
        mix: pairs.mix,
        point: pairs.point,
        load_label: pairs.load_label,
        metric: pairs.metric,
        direction: pairs.metric.direction(),
        primary,
        pairs: pairs.values,
        apart: pairs.apart,
        bounds: as_u32(pairs.bounds),
        judged: if is_as_measured { Vec::new() } else { judged },
        undisturbed: pairs.undisturbed,
        adjustment,
        verdict,
        sentence,
        because: None,
        dearer: None,
        baseline,
        arm,
    }
}

/// How far a comparison is from no difference, as a logarithm without its sign: the same for twice and for half.
#[must_use]
pub fn effect(comparison: &Comparison) -> f64 {
    size(&comparison.verdict)
}

/// The same of a verdict.
pub(crate) fn size(verdict: &Verdict) -> f64 {
    let ratio = 1.0 + verdict.estimate.unwrap_or(0.0);
    if ratio > 0.0 {
        ratio.ln().abs()
    } else {
        f64::INFINITY
    }
}

/// A verdict in the words of the report. `deciding` is how many metrics were judged together, where there were several.
pub(crate) fn verdict(
    judgement: &plimsoll_stats::Judgement,
    deciding: Option<usize>,
    unit: Unit,
) -> (Verdict, Option<Grounds>) {
    let count = match judgement.design {
        plimsoll_stats::Design::Paired { blocks } => blocks,
        plimsoll_stats::Design::Unpaired { a_runs, b_runs } => a_runs.min(b_runs),
    };
    let margin = crate::words::percent(judgement.margin, 0);
    let reason = match judgement.grounds {
        Grounds::SurelyBeyondMargin | Grounds::WithinMargin => None,
        Grounds::LikelyBeyondMargin => Some(format!(
            "certainly different, and probably, but not certainly, by more than {margin}"
        )),
        Grounds::DirectionUnclear => Some(format!(
            "the interval includes zero and extends beyond the margin of {margin}"
        )),
        Grounds::SizeUnclear => Some(format!(
            "certainly different, but it is unclear whether by more than {margin}"
        )),
        Grounds::NotEnoughBlocks { needed } => Some(unit.too_few(count, needed, deciding)),
    };
    let attained = attained(judgement);
    let verdict = Verdict {
        judgement: match judgement.verdict {
            plimsoll_stats::Verdict::Better => Judgement::Better,
            plimsoll_stats::Verdict::Worse => Judgement::Worse,
            plimsoll_stats::Verdict::Equivalent => Judgement::Equivalent,
            plimsoll_stats::Verdict::Inconclusive => Judgement::Inconclusive,
        },
        reason,
        estimate: Some(judgement.change.value),
        interval: attained.map(|interval| (interval.lower, interval.upper)),
        confidence: attained.map(|interval| interval.confidence),
        p_value: Some(judgement.p),
        p_holm: deciding.map(|_| judgement.adjusted_p),
        smallest_visible: judgement.smallest_visible,
        blocks: as_u32(count),
        margin: judgement.margin,
    };
    (verdict, Some(judgement.grounds))
}

/// The verdict where there is nothing to compute.
pub(crate) fn without_figures(reason: String, blocks: u32, margin: f64) -> Verdict {
    Verdict {
        judgement: Judgement::Inconclusive,
        reason: Some(reason),
        estimate: None,
        interval: None,
        confidence: None,
        p_value: None,
        p_holm: None,
        smallest_visible: None,
        blocks,
        margin,
    }
}

fn nothing_to_tell(pairs: &Pairs) -> Verdict {
    let mut verdict = without_figures(
        "it is zero in both".into(),
        pairs.count(),
        pairs.rule.margin(),
    );
    if verdict.blocks >= as_u32(plimsoll_stats::FEWEST_BLOCKS) {
        verdict.judgement = Judgement::Equivalent;
    }
    verdict
}
