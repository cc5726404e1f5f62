//! Two records made at different times, one arm of each.

use crate::analyse::plan_of;
use crate::arm_samples::ArmSamples;
use crate::comparison::{
    bounds_reason, is_compared, metrics, not_only_bounds, rule, size, verdict, without_figures,
};
use crate::cost::in_one_currency;
use crate::difference::{ComparedArm, between};
use crate::estimate::CONFIDENCE;
use crate::matched::{ArmValues, Matched};
use crate::pairing::primaries;
use crate::roles::follows_line;
use crate::sample::{Requirements, Sample};
use crate::select::{Selection, as_u32};
use crate::sentence::{Question, sentence};
use crate::words::counted;
use crate::words::list;
use crate::{Difference, JudgeError, Judgement, Verdict};
use plimsoll_plan::{Arm, Direction, Metric, Plan, Point};
use plimsoll_record::{ExperimentRecord, LoadKind, RunRecord, Warning, WarningId};
use plimsoll_stats::{Grounds, judge, judge_together};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What comparing runs of different days costs, beside the chance of drift.
const PRICE: &str = "These runs were not made side by side: whatever else changed between the two records (the machine's state, its \
    neighbours, its disk) counts as a difference between the arms, and the intervals are wider than those of blocks. Run both arms in one \
    experiment to be sure.";

/// One arm of one record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    pub record: String,
    pub name: String,
    pub arm: String,
    /// When the record was begun, UTC, RFC 3339.
    pub started_at: String,
    /// Finished runs of the arm.
    pub runs: u32,
}

impl Side {
    /// The arm, with its record where the other side has an arm of the same name.
    pub fn label(&self, other: &Self) -> String {
        label([&self.arm, &self.record], &other.arm)
    }
}

fn label([arm, record]: [&str; 2], other: &str) -> String {
    if arm == other { format!("{arm} ({record})") } else { arm.to_owned() }
}

/// One metric at one load that both records measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnpairedComparison {
    pub mix: String,
    pub load_label: String,
    pub metric: Metric,
    pub direction: Direction,
    /// Whether the first record's file (or its default) named the metric as deciding.
    pub primary: bool,
    /// Whether the values are pairs: of two arms of one experiment, each block gives one.
    #[serde(default)]
    pub paired: bool,
    /// One value for each valid run of A. A value may be a lower bound.
    pub baseline_values: Vec<f64>,
    /// One value for each valid run of B.
    pub values: Vec<f64>,
    /// The result. Without pairs its `blocks` are the runs of the side with fewer, its p that of Mann and Whitney.
    pub verdict: Verdict,
    pub sentence: String,
}

/// Two arms of two records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordComparison {
    pub baseline: Side,
    pub other: Side,
    /// The answer, and what it costs that the runs are not paired.
    pub headline: Vec<String>,
    /// Deciding metrics first, each in the order of A's points.
    pub comparisons: Vec<UnpairedComparison>,
    /// What differs between the two sides: all of it found by looking.
    pub differences: Vec<Difference>,
    /// About the points of both sides, gravest first.
    pub warnings: Vec<Warning>,
}

/// Compares arm B of one record with arm A of another, or of the same, at every load that both measured.
///
/// Two arms of one experiment are compared block by block, as the experiment itself does. Of two experiments the values of a run count by themselves (Mann and
/// Whitney, with the Hodges-Lehmann estimate over all pairs), so a common drift is not taken out. Mixes are matched by name, loads by their numbers; A's margins and deciding metrics are used. The deciding metrics of a load are judged
/// together.
pub fn compare_records(
    a: &ExperimentRecord,
    arm_a: &str,
    b: &ExperimentRecord,
    arm_b: &str,
) -> Result<RecordComparison, JudgeError> {
    let (a, b) = (Read::of(a, arm_a, arm_b)?, Read::of(b, arm_b, arm_a)?);
    let mut comparisons = Vec::new();
    for shared in shared_points(&a, &b) {
        comparisons.extend(of_point(&a, &b, &shared));
    }
    comparisons.sort_by_key(|comparison| !comparison.primary);
    let differences = differences(&a, &b);
    let mut warnings = Vec::new();
    for read in [&a, &b] {
        warnings.extend(read.warnings.iter().cloned());
    }
    warnings.extend(other_machine(&a, &b));
    if a.plan.compare.primary.contains(&Metric::Cost)
        && let Err(reason) = in_one_currency([a.arm(), b.arm()])
    {
        let message = format!("{reason}: their costs are not compared");
        warnings.push(Warning::new(WarningId::Prices, "price", message));
    }
    crate::warnings::sort(&mut warnings);
    Ok(RecordComparison {
        headline: headline(&a, &b, &comparisons),
        baseline: a.side(),
        other: b.side(),
        comparisons,
        differences,
        warnings,
    })
}

/// One arm of one record, with everything drawn from it.
struct Read<'a> {
    record: &'a ExperimentRecord,
    plan: Plan,
    arm: usize,
    runs: Vec<&'a RunRecord>,
    /// Whether runs of one block belong together.
    has_blocks: bool,
    samples: ArmSamples,
    warnings: Vec<Warning>,
}

impl<'a> Read<'a> {
    /// `other` is the arm of the other side, so that warnings say which of two of one name they are about.
    fn of(record: &'a ExperimentRecord, name: &str, other: &str) -> Result<Self, JudgeError> {
        let plan = plan_of(record)?;
        let Some(arm) = plan.arms.iter().position(|arm| arm.name == name) else {
            let known = plan.arms.iter().map(|arm| arm.name.clone()).collect();
            return Err(JudgeError::UnknownArm {
                id: record.id.clone(),
                arm: name.to_owned(),
                known,
            });
        };
        let mut selection = Selection::of(record, &plan);
        let has_blocks = crate::imported::is_paired(&selection);
        let runs = selection.finished.swap_remove(arm);
        let requested = Requirements::by(&plan, &record.calibrations);
        let samples = ArmSamples::of(&plan.arms[arm], (&runs, &selection.cut_off[arm]), &requested);
        let labelled = Arm { name: label([name, &record.id], other), ..plan.arms[arm].clone() };
        let mut warnings = crate::warnings::of_arm(&labelled.name, &samples);
        let lines = crate::line::lines_of(&plan, &labelled, &samples);
        let plan_of_arm = Plan { arms: vec![labelled], ..plan.clone() };
        warnings.extend(crate::line::warnings(
            &lines,
            std::slice::from_ref(&samples),
            &plan_of_arm,
        ));
        let runs = runs.into_values().collect();
        Ok(Self { record, plan, arm, runs, has_blocks, samples, warnings })
    }

    fn arm(&self) -> &Arm {
        &self.plan.arms[self.arm]
    }

    /// The arm, with its record where both have the same name.
    fn label(&self, other: &Self) -> String {
        label([&self.arm().name, &self.record.id], &other.arm().name)
    }

    /// Whether both are arms of one experiment, measured side by side in its blocks.
    fn is_paired_with(&self, other: &Self) -> bool {
        self.record.id == other.record.id && self.arm != other.arm && self.has_blocks
    }

    fn side(&self) -> Side {
        Side {
            record: self.record.id.clone(),
            name: self.record.name.clone(),
            arm: self.arm().name.clone(),
            started_at: self.record.started_at.clone(),
            runs: as_u32(self.runs.len()),
        }
    }
}

/// One point that both sides measured: as A's plan has it, and the samples of A and of B.
struct Shared<'a> {
    point: &'a Point,
    of_a: &'a [Sample],
    of_b: &'a [Sample],
}

/// Every point that both sides measured, in the order of A's plan.
fn shared_points<'a>(a: &'a Read<'_>, b: &'a Read<'_>) -> Vec<Shared<'a>> {
    let mut shared = Vec::new();
    for (point, of_a) in a.plan.points.iter().zip(&a.samples.points) {
        let mut others = b.plan.points.iter().zip(&b.samples.points);
        let found = others.find(|(other, of_b)| is_same_load((point, of_a), (other, of_b)));
        if let Some((_, of_b)) = found {
            shared.push(Shared { point, of_a, of_b });
        }
    }
    shared
}

/// Whether two points of two plans are the same load of the same mix. Where a run decides a part of the load, that part is no difference.
fn is_same_load(
    (point_a, of_a): (&Point, &[Sample]),
    (point_b, of_b): (&Point, &[Sample]),
) -> bool {
    let (Some(a), Some(b)) = (of_a.first(), of_b.first()) else {
        return false;
    };
    if a.label.mix != b.label.mix {
        return false;
    }
    if follows_line(point_a) || follows_line(point_b) {
        return point_a.role == point_b.role;
    }
    match (a.label.load, b.label.load) {
        (LoadKind::Open { rate, .. }, LoadKind::Open { rate: other, .. })
            if !point_a.sessions.is_given() && !point_b.sessions.is_given() =>
        {
            rate == other
        }
        (a, b) => a == b,
    }
}

/// Warns where the two sides were measured on different machines.
fn other_machine(a: &Read<'_>, b: &Read<'_>) -> Option<Warning> {
    let machines = |read: &Read<'_>| {
        let of_runs = read.runs.iter().map(|run| run.machine.fingerprint());
        of_runs.collect::<BTreeSet<String>>()
    };
    let (of_a, of_b) = (machines(a), machines(b));
    if of_a == of_b || of_a.is_empty() || of_b.is_empty() {
        return None;
    }
    let words = |machines: BTreeSet<String>| machines.into_iter().collect::<Vec<_>>().join(" or ");
    let message = format!(
        "{} was measured on {}, {} on {}",
        a.label(b),
        words(of_a),
        b.label(a),
        words(of_b)
    );
    Some(Warning::new(WarningId::MixedMachines, "machine", message))
}

/// Every metric that both sides have at one point.
fn of_point(a: &Read<'_>, b: &Read<'_>, shared: &Shared<'_>) -> Vec<UnpairedComparison> {
    let Shared { point, of_a, of_b } = *shared;
    let prices = in_one_currency([a.arm(), b.arm()]);
    let paired = a.is_paired_with(b);
    let mut figures = Vec::new();
    let Some(mix) = a.plan.mix_of(point) else { return Vec::new() };
    let primary = primaries(&a.plan, mix);
    for metric in metrics(&primary, mix, prices.is_ok()) {
        if !is_compared(point, metric) {
            continue;
        }
        let mut measured = if paired {
            ArmValues::Paired(Matched::of(of_a, of_b, metric))
        } else {
            ArmValues::apart([of_a, of_b], metric)
        };
        // The rate at the line stands for throughput there.
        let stands_for = if metric == Metric::Line { Metric::Throughput } else { metric };
        let is_primary = primary.contains(&metric) || primary.contains(&stands_for);
        let obstacle = prices.as_ref().err().filter(|_| metric == Metric::Cost);
        if obstacle.is_some() {
            measured.clear();
        }
        let no_value = !measured.has_any();
        if no_value && !is_primary {
            continue;
        }
        let compared = match (obstacle, metric) {
            (Some(obstacle), _) => Err(obstacle.clone()),
            (None, Metric::Line) if no_value => {
                Err("no run of one of them knows its line from both sides".to_owned())
            }
            (None, _) if no_value => {
                Err("one of them has no valid run with such a value".to_owned())
            }
            (None, _) => not_only_bounds(measured.compared(), metric),
        };
        figures.push((metric, is_primary, measured, compared));
    }
    let primaries = figures.iter().filter(|(_, is_primary, ..)| *is_primary);
    let together: Vec<_> = primaries
        .filter_map(|(metric, _, _, compared)| {
            Some((compared.as_ref().ok()?, rule(&a.plan, *metric)))
        })
        .collect();
    let deciding = together.len();
    let judged = judge_together(&together, CONFIDENCE);
    let mut judged = judged.expect("a confidence of 0.95 lies between 0 and 1").into_iter();
    let label = &of_a[0].label;
    let (name_a, name_b) = (a.label(b), b.label(a));
    let mut comparisons = Vec::new();
    for (metric, primary, measured, compared) in figures {
        let rule = rule(&a.plan, metric);
        let unit = measured.unit();
        let (mut verdict, grounds) = match &compared {
            Err(reason) => {
                let runs = as_u32(measured.count());
                (without_figures(reason.clone(), runs, rule.margin()), None)
            }
            Ok(_) if primary => {
                let judgement =
                    judged.next().expect("there is a judgement for every deciding comparison");
                verdict(&judgement, (deciding > 1).then_some(deciding), unit)
            }
            Ok(comparison) => {
                let judgement = judge(comparison, rule, CONFIDENCE)
                    .expect("a confidence of 0.95 lies between 0 and 1");
                verdict(&judgement, None, unit)
            }
        };
        let is_too_few = matches!(grounds, Some(Grounds::NotEnoughBlocks { .. }));
        if verdict.judgement == Judgement::Inconclusive && compared.is_ok() && !is_too_few {
            let reason = bounds_reason(measured.bounds(), measured.count(), unit);
            verdict.reason = reason.or(verdict.reason);
        }
        let question = Question {
            mix: &label.mix,
            load_label: &label.load_label,
            metric,
            baseline: &name_a,
            arm: &name_b,
            unit,
        };
        let [baseline_values, values] = measured.into_values();
        comparisons.push(UnpairedComparison {
            mix: label.mix.clone(),
            load_label: label.load_label.clone(),
            metric,
            direction: metric.direction(),
            primary,
            sentence: sentence(&question, &verdict, grounds),
            paired,
            baseline_values,
            values,
            verdict,
        });
    }
    comparisons
}

fn headline(a: &Read<'_>, b: &Read<'_>, comparisons: &[UnpairedComparison]) -> Vec<String> {
    let (name_a, name_b) = (a.label(b), b.label(a));
    for (read, name) in [(a, &name_a), (b, &name_b)] {
        if read.runs.is_empty() {
            return vec![format!(
                "{name} has no finished run in record {}, so there is nothing to compare.",
                read.record.id
            )];
        }
    }
    if comparisons.is_empty() {
        return vec![format!(
            "{name_a} and {name_b} share no workload at the same load, so there is nothing to compare. A has {}; B has {}.",
            measured(a),
            measured(b)
        )];
    }
    let mut sentences = verdicts([&name_a, &name_b], comparisons);
    if let Some(warning) = other_machine(a, b) {
        sentences.push(format!(
            "They were made on different machines, so the machine is part of every difference: {}.",
            warning.message
        ));
    }
    if !a.is_paired_with(b) {
        sentences.push(PRICE.into());
    }
    sentences
}

/// One or two deciding comparisons in full; of more, the largest difference that is decided, and how many there are of each word.
fn verdicts([name_a, name_b]: [&str; 2], comparisons: &[UnpairedComparison]) -> Vec<String> {
    let deciding: Vec<&UnpairedComparison> = comparisons.iter().filter(|one| one.primary).collect();
    if deciding.len() <= 2 {
        return deciding.iter().map(|one| one.sentence.clone()).collect();
    }
    let of_word =
        |word: Judgement| deciding.iter().filter(move |one| one.verdict.judgement == word);
    let count = |word: Judgement| of_word(word).count();
    let decided = of_word(Judgement::Better).chain(of_word(Judgement::Worse));
    let largest =
        decided.reduce(
            |largest, one| {
                if size(&one.verdict) > size(&largest.verdict) { one } else { largest }
            },
        );
    let mut sentences: Vec<String> = largest.iter().map(|one| one.sentence.clone()).collect();

    let mut metrics: Vec<String> = Vec::new();
    for one in &deciding {
        let metric = crate::words::metric(one.metric);
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    let mut reasons: Vec<&str> =
        of_word(Judgement::Inconclusive).filter_map(|one| one.verdict.reason.as_deref()).collect();
    reasons.dedup();
    let because = match reasons[..] {
        [only] if count(Judgement::Inconclusive) == deciding.len() => format!(": {only}"),
        _ => String::new(),
    };
    sentences.push(format!(
        "{name_b} against {name_a} in {} ({} at every load that both measured): {}{because}.",
        counted(deciding.len(), "deciding comparison"),
        list(&metrics),
        tally(&[
            (count(Judgement::Better), "better"),
            (count(Judgement::Worse), "worse"),
            (count(Judgement::Equivalent), "equivalent"),
            (count(Judgement::Inconclusive), "inconclusive"),
        ]),
    ));
    sentences
}

/// `10 worse; none better, equivalent or inconclusive`.
fn tally(counts: &[(usize, &str)]) -> String {
    let some: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let none: Vec<&str> =
        counts.iter().filter(|(count, _)| *count == 0).map(|(_, word)| *word).collect();
    let none = match &none[..] {
        [] => None,
        [only] => Some(format!("none {only}")),
        [first @ .., last] => Some(format!("none {} or {last}", first.join(", "))),
    };
    let parts: Vec<String> =
        (!some.is_empty()).then(|| some.join(", ")).into_iter().chain(none).collect();
    parts.join("; ")
}

/// `c at 1 thread, c at 4 threads`.
fn measured(read: &Read<'_>) -> String {
    let mut places = Vec::new();
    for samples in &read.samples.points {
        if let Some(sample) = samples.first() {
            places.push(format!("{} at {}", sample.label.mix, sample.label.load_label));
        }
    }
    if places.is_empty() { "no point".into() } else { places.join(", ") }
}

/// What differs between the two sides, also in their plans, programs and workloads.
fn differences(a: &Read<'_>, b: &Read<'_>) -> Vec<Difference> {
    let (name_a, name_b) = (a.label(b), b.label(a));
    let seen = [
        ComparedArm { label: name_a.clone(), arm: a.arm(), runs: a.runs.clone() },
        ComparedArm { label: name_b.clone(), arm: b.arm(), runs: b.runs.clone() },
    ];
    let mut differences = between(&seen);
    let mut compare = |what: &str, of_a: String, of_b: String| {
        if of_a != of_b {
            let values = vec![(name_a.clone(), of_a), (name_b.clone(), of_b)];
            differences.push(Difference { what: what.to_owned(), values, declared: false });
        }
    };
    let program = |read: &Read<'_>| {
        format!("{} ({})", read.record.program.version, read.record.program.commit)
    };
    compare("program", program(a), program(b));
    let seconds = |nanos: u64| crate::words::duration(nanos as f64);
    compare(
        "warm-up",
        seconds(a.plan.measurement.warm_up_ns),
        seconds(b.plan.measurement.warm_up_ns),
    );
    compare(
        "duration",
        seconds(a.plan.measurement.duration_ns),
        seconds(b.plan.measurement.duration_ns),
    );
    for mix in &a.plan.mixes {
        if let Some(other) = b.plan.mixes.iter().find(|other| other.name == mix.name) {
            let text = |mix| serde_json::to_string(mix).unwrap_or_default();
            compare(&format!("workload {}", mix.name), text(mix), text(other));
        }
    }
    differences
}
