//! Every arm against its baseline, over the blocks in which both have a valid point.
//!
//! A value that is only a bound stays in, as an ordering: whatever the arm did beyond it counts against that arm. The same goes for a point that is invalid by the
//! arm's own fault, beside a valid one of the other arm. To leave such pairs out would favour the arm that fails in its slow blocks.

use crate::arm_samples::ArmSamples;
use crate::deciding::deciding;
use crate::demanded::Demanded;
use crate::estimate::CONFIDENCE;
use crate::matched::{ArmValues, Matched, preferred};
use crate::pairing::primaries;
use crate::roles::{is_line, load_label};
use crate::sample::Sample;
use crate::select::as_u32;
use crate::sentence::{Question, Unit, sentence};
use crate::words::{Change, counted, list, percent};
use crate::{Adjustment, Comparison, FactorResults, Judgement, Undisturbed, Verdict};
use plimsoll_plan::{Direction, Metric, Plan, Point};
use plimsoll_record::{Operation, WarningId};
use plimsoll_stats::{Grounds, Interval, Rule, Standing, judge, judge_together};
use plimsoll_workload::Mix;

/// Looked at in every experiment, beside the metrics that decide.
const ALWAYS: [Metric; 6] = [
    Metric::Line,
    Metric::Throughput,
    Metric::Response { percentile: 50.0 },
    Metric::Response { percentile: 99.0 },
    Metric::CpuPerOperation,
    Metric::Size,
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
    let (mut primary, mut exploratory) = (Vec::new(), Vec::new());
    let mut unjudged = Vec::new();
    for (mix_index, mix) in plan.mixes.iter().enumerate() {
        let primary_metrics = primaries(plan, mix);
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
                for metric in metrics(&primary_metrics, mix, is_priced) {
                    let decides = deciding.contains(&(metric, point_index));
                    // The data is the same at every load.
                    let is_known = metric == Metric::Size && point_index > 0;
                    if !decides && (is_known || !is_compared(point, metric)) {
                        continue;
                    }
                    let measured = if paired {
                        let matched = Matched::in_plan(plan, arms, pair, point_index, metric);
                        ArmValues::Paired(matched)
                    } else {
                        let sides = pair.map(|arm| &arms[arm].points[point_index][..]);
                        ArmValues::apart(sides, metric)
                    };
                    let mut case = Case::of(plan, pair, point_index, metric, measured);
                    case.in_two_states =
                        pair.map(|arm| in_two_states(&arms[arm].points[point_index]));
                    if case.obstacle.is_none() {
                        let samples = pair.map(|arm| &arms[arm].points[point_index][..]);
                        case.obstacle = crate::unpublished::obstacle(plan, pair, metric, samples)
                            .or_else(|| {
                                crate::disturbance::obstacle(plan, arms, &pair, point_index, true)
                            });
                    }
                    if decides {
                        deciding_pairs.push(case);
                    } else if case.measured.has_any() {
                        exploratory.extend(judged(vec![case], false, Demanded::ONCE));
                    }
                }
            }
            primary.extend(judged(deciding_pairs, true, demanded));
        }
    }
    primary.append(&mut exploratory);
    Comparisons { all: primary, factors: None, unjudged }
}

/// Whether a metric is compared at a point where it does not decide. At the line that is the line itself, what it costs, and the response times there.
pub(crate) fn is_compared(point: &Point, metric: Metric) -> bool {
    match metric {
        Metric::Line => is_line(point),
        Metric::Cost | Metric::Response { .. } => true,
        _ => !is_line(point),
    }
}

/// The metrics that decide, then the usual ones, and those of each operation of an application; cost where both arms are `priced` in one currency.
pub(crate) fn metrics(primary: &[Metric], mix: &Mix, priced: bool) -> Vec<Metric> {
    let mut metrics = primary.to_vec();
    let cost = priced.then_some(Metric::Cost);
    let own = mix.operations.iter().filter(|(_, weight)| *weight > 0.0);
    let of_operations = own.flat_map(|(operation, _)| {
        let times = [50.0, 99.0].map(|percentile| Metric::Response { percentile });
        times.into_iter().filter_map(|metric| metric.of(Operation::Own(*operation)))
    });
    for metric in ALWAYS.into_iter().chain(cost).chain(of_operations) {
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
    let requested = plan.compare.margin(metric).unwrap_or(default);
    Rule::new(direction, requested)
        .or_else(|_| Rule::new(direction, default))
        .expect("a default margin is a positive share")
}

/// One metric of two arms at one point, to be judged.
struct Case {
    arms: [String; 2],
    mix: String,
    point: u32,
    load_label: String,
    metric: Metric,
    rule: Rule,
    measured: ArmValues,
    /// Why there is nothing to compare, where that is known beforehand.
    obstacle: Option<String>,
    /// For each arm, the number of runs whose throughput alternated between two levels, and the number of all runs.
    in_two_states: [(usize, usize); 2],
}

fn in_two_states(runs: &[Sample]) -> (usize, usize) {
    let valid = runs.iter().filter(|run| run.result.valid);
    let has = |run: &&Sample| {
        let mut warnings = run.result.warnings.iter();
        warnings.any(|warning| warning.id == WarningId::TwoStates)
    };
    (valid.clone().filter(has).count(), valid.count())
}

/// `in-memory was in two states by turns in 3 of 8 runs: what is compared is a mixture of them.`
fn mixture_words(case: &Case) -> Option<String> {
    let each = case.arms.iter().zip(case.in_two_states);
    let mixed = each.filter(|(_, (runs, _))| *runs > 0);
    let description: Vec<String> = mixed
        .map(|(arm, (runs, of))| format!("{arm} in {runs} of {}", counted(of, "run")))
        .collect();
    (!description.is_empty()).then(|| {
        format!(
            "Throughput stood at two levels by turns, of {}: what is compared is a mixture of them.",
            list(&description)
        )
    })
}

impl Case {
    fn of(
        plan: &Plan,
        [a, b]: [usize; 2],
        point: usize,
        metric: Metric,
        mut measured: ArmValues,
    ) -> Self {
        let arms = [a, b].map(|arm| plan.arms[arm].name.clone());
        let names = arms.each_ref().map(String::as_str);
        let mut obstacle = measured.matched().and_then(|matched| matched.obstacle(names));
        if metric == Metric::Cost
            && let Err(prices) = crate::cost::in_one_currency([&plan.arms[a], &plan.arms[b]])
        {
            measured.clear();
            obstacle = Some(prices);
        }
        let mix = plan.mix_of(&plan.points[point]);
        Self {
            arms,
            mix: mix.map(|mix| mix.name.clone()).unwrap_or_default(),
            point: as_u32(point),
            load_label: load_label(&plan.points[point]),
            metric,
            rule: rule(plan, metric),
            measured,
            obstacle,
            in_two_states: [(0, 0); 2],
        }
    }

    fn figures(&self) -> Result<plimsoll_stats::Comparison, String> {
        if let Some(obstacle) = &self.obstacle {
            return Err(obstacle.clone());
        }
        if !self.measured.has_any() {
            let nothing = match (&self.measured, self.metric) {
                (ArmValues::Apart(_), _) => "one of them has no valid run with such a value",
                (_, Metric::Line) => "in no block is the line of both known from both sides",
                _ => "in no block have both a valid point with such a value",
            };
            return Err(nothing.into());
        }
        if let Some(nothing) = self.nothing_done() {
            return Err(nothing);
        }
        not_only_bounds(self.measured.compared(), self.metric)
    }

    /// Where a side finished nothing, there is no ratio: says which, and when.
    fn nothing_done(&self) -> Option<String> {
        if self.metric.of_all() != Metric::Throughput {
            return None;
        }
        let mut values = self.measured.matched()?.values.iter();
        values.find_map(|(block, a, b)| {
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
        let is_nothing = match &self.measured {
            ArmValues::Paired(matched) => {
                let mut values = matched.values.iter();
                values.all(|(_, a, b)| *a == 0.0 && *b == 0.0)
            }
            ArmValues::Apart(apart) => apart.values.iter().flatten().all(|value| *value == 0.0),
        };
        self.measured.has_any() && is_nothing
    }
}

/// A comparison whose estimate is a number; or why there is none.
pub(crate) fn not_only_bounds(
    compared: Result<plimsoll_stats::Comparison, plimsoll_stats::StatsError>,
    metric: Metric,
) -> Result<plimsoll_stats::Comparison, String> {
    let compared = compared.map_err(|error| error.to_string())?;
    let is_known = compared.ln_ratio(CONFIDENCE).is_ok_and(|estimate| estimate.value.is_finite());
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

/// Judges comparisons that belong together: by what is demanded of a look where that answers the question of a gate, and otherwise by what is demanded at last.
fn judged(family: Vec<Case>, primary: bool, demanded: Demanded) -> Vec<Comparison> {
    let mut figures = Vec::with_capacity(family.len());
    for case in &family {
        figures.push(case.figures());
    }
    let mut together = Vec::new();
    for (case, figures) in family.iter().zip(&figures) {
        if let Ok(comparison) = figures {
            together.push((comparison, case.rule));
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
    let mut judgements = by_look.unwrap_or_else(|| judge_all(demanded.last)).into_iter();
    let deciding = family.len();
    let mut comparisons = Vec::with_capacity(family.len());
    for (mut case, figures) in family.into_iter().zip(figures) {
        let (verdict, grounds) = match figures {
            Ok(_) => {
                let judgement =
                    judgements.next().expect("there is a judgement for every comparison handed in");
                let (mut verdict, grounds) = verdict(
                    &judgement,
                    (primary && deciding > 1).then_some(deciding),
                    case.measured.unit(),
                );
                if verdict.judgement == Judgement::Inconclusive
                    && !matches!(grounds, Some(Grounds::NotEnoughBlocks { .. }))
                {
                    let measured = &case.measured;
                    let reason =
                        bounds_reason(measured.bounds(), measured.count(), measured.unit());
                    verdict.reason = reason.or(verdict.reason);
                }
                (verdict, grounds)
            }
            Err(_) if case.nothing_on_either_side() => (nothing_to_tell(&case), None),
            Err(reason) => {
                if case.measured.bounds() > 0 {
                    // Nothing but bounds is nothing to compare.
                    case.measured.clear();
                }
                let verdict =
                    without_figures(reason, as_u32(case.measured.count()), case.rule.margin());
                (verdict, None)
            }
        };
        comparisons.push(comparison(case, primary, verdict, grounds));
    }
    comparisons
}

/// What it changed that what other programs took was kept out.
fn adjustment(case: &Case, confidence: Option<f64>) -> Option<Adjustment> {
    let matched = case.measured.matched()?;
    let compared = Matched::compared(matched.kept_out.as_ref()?.with()).ok()?;
    let judgement = judge(&compared, case.rule, confidence.unwrap_or(CONFIDENCE)).ok()?;
    let interval = attained(&judgement).map(|interval| (interval.lower, interval.upper));
    Some(Adjustment {
        explained: matched.explained(),
        left: matched.left_unequally(),
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
    let left_unequally = adjustment.and_then(|adjustment| adjustment.left);
    let (how, others) = match (undisturbed, left_unequally, explained) {
        (Some(judged), both_ways, _) => (
            format!(
                "Because {}, only the {} of {} blocks are judged in which they {}{}",
                preferred(judged.left, names),
                judged.blocks,
                judged.of,
                judged.in_which(),
                match both_ways {
                    Some(_) =>
                        ", and the interval covers the difference without what they took and with it",
                    None => "",
                }
            ),
            "the others",
        ),
        (None, Some(left), _) => (
            format!(
                "Because {} and kept both busy, the interval covers the difference without what they took and with it",
                preferred(left, names)
            ),
            "it",
        ),
        (None, None, Some(share)) => (
            format!(
                "What other programs took of the processors explains {} of the noise and is taken out",
                percent(share, 0)
            ),
            "it",
        ),
        (None, None, None) => return None,
    };
    let with = adjustment.map_or_else(String::new, |adjustment| {
        let Adjustment { estimate, interval, .. } = adjustment;
        let change = Change::style(metric, estimate, interval);
        let interval =
            interval.map_or_else(|| "no interval".to_owned(), |interval| change.interval(interval));
        format!("; with {others}: {} ({interval})", change.estimate(estimate))
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

fn comparison(case: Case, primary: bool, verdict: Verdict, grounds: Option<Grounds>) -> Comparison {
    let [baseline, arm] = &case.arms;
    let question = Question {
        mix: &case.mix,
        load_label: &case.load_label,
        metric: case.metric,
        baseline,
        arm,
        unit: case.measured.unit(),
    };
    let mut sentence = sentence(&question, &verdict, grounds);
    let adjustment = adjustment(&case, verdict.confidence);
    let undisturbed = case.measured.matched().and_then(Matched::undisturbed);
    if verdict.estimate.is_some()
        && let Some(words) = kept_out_words(case.metric, undisturbed, adjustment, [baseline, arm])
    {
        sentence.push(' ');
        sentence.push_str(&words);
    }
    if verdict.estimate.is_some()
        && let Some(words) = mixture_words(&case)
    {
        sentence.push(' ');
        sentence.push_str(&words);
    }
    let bounds = case.measured.bounds();
    let (pairs, apart, judged) = match case.measured {
        ArmValues::Paired(Matched { values, known, .. }) => {
            let measured = values.iter().map(|(_, a, b)| (*a, *b));
            let judged = known.iter().map(|[a, b]| (a.value(), b.value()));
            let is_as_measured = bounds > 0 || measured.eq(judged.clone());
            let judged = if is_as_measured { Vec::new() } else { judged.collect() };
            (values, None, judged)
        }
        ArmValues::Apart(apart) => (Vec::new(), Some(apart.values.into()), Vec::new()),
    };
    let [baseline, arm] = case.arms;
    Comparison {
        mix: case.mix,
        point: case.point,
        load_label: case.load_label,
        metric: case.metric,
        direction: case.metric.direction(),
        primary,
        pairs,
        apart,
        bounds: as_u32(bounds),
        judged,
        undisturbed,
        adjustment,
        verdict,
        sentence,
        because: None,
        plans: None,
        cost_difference: None,
        baseline,
        arm,
    }
}

/// How far a comparison is from no difference, as a logarithm without its sign: the same for twice and for half.
pub fn effect(comparison: &Comparison) -> f64 {
    size(&comparison.verdict)
}

/// The same of a verdict.
pub(crate) fn size(verdict: &Verdict) -> f64 {
    let ratio = 1.0 + verdict.estimate.unwrap_or(0.0);
    if ratio > 0.0 { ratio.ln().abs() } else { f64::INFINITY }
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
            "the interval excludes zero; the estimate is beyond the margin of {margin}, the whole interval is not"
        )),
        Grounds::DirectionUnclear => {
            Some(format!("the interval includes zero and extends beyond the margin of {margin}"))
        }
        Grounds::SizeUnclear => Some(format!(
            "the interval excludes zero, but it is unclear whether the difference exceeds the margin of {margin}"
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

fn nothing_to_tell(case: &Case) -> Verdict {
    let blocks = as_u32(case.measured.count());
    let mut verdict = without_figures("it is zero in both".into(), blocks, case.rule.margin());
    if verdict.blocks >= as_u32(plimsoll_stats::FEWEST_BLOCKS) {
        verdict.judgement = Judgement::Equivalent;
    }
    verdict
}
