//! The same experiment over weeks: one metric of one arm in each record, and where it changed for good.

use crate::curve::curve_of;
use crate::select::as_u32;
use crate::words::counted;
use crate::{Analysis, CurvePoint, Estimate, JudgeError, analyse, words};
use plimsoll_plan::Metric;
use plimsoll_record::{ExperimentRecord, ExperimentState, LoadKind, Machine};
use plimsoll_stats::{ChangeRule, FEWEST_AROUND_A_CHANGE, change_points};
use serde::{Deserialize, Serialize};

/// Results from which on a change can be found: enough of them on both sides.
pub const FEWEST_RESULTS: usize = 2 * FEWEST_AROUND_A_CHANGE;

/// The metrics that a history may follow.
const METRICS: [Metric; 17] = [
    Metric::Throughput,
    Metric::ResponseMean,
    Metric::Response { percentile: 50.0 },
    Metric::Response { percentile: 95.0 },
    Metric::Response { percentile: 99.0 },
    Metric::Response { percentile: 99.9 },
    Metric::Service { percentile: 50.0 },
    Metric::Service { percentile: 95.0 },
    Metric::Service { percentile: 99.0 },
    Metric::Service { percentile: 99.9 },
    Metric::CpuPerOperation,
    Metric::Errors,
    Metric::Line,
    Metric::Cost,
    Metric::Size,
    Metric::Written,
    Metric::WriteAmplification,
];

/// What a history is to follow. What is left open is taken from the newest record.
#[derive(Clone, Debug, Default)]
pub struct HistoryQuestion {
    pub metric: Option<Metric>,
    /// Without: the only arm, or the one that the others are compared with.
    pub arm: Option<String>,
    pub mix: Option<String>,
    /// A load as reports spell it; without: the point that decides about the mix.
    pub at: Option<String>,
    /// Whether records with another plan belong to the series. What is measured may then differ.
    pub any_plan: bool,
}

/// Why there is no history.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A record cannot be judged.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// Something was requested that the newest record does not have.
    #[error("record {id} has no {what} `{requested}`: {}", match known.is_empty() {
        true => "it has none at all".to_owned(),
        false => format!("there are {}", known.join(", ")),
    })]
    Unknown {
        /// Id of the newest record.
        id: String,
        what: &'static str,
        requested: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// The metric is not kept for every point.
    #[error("`{metric}` cannot be followed: a history has {}", METRICS.map(|metric| metric.name()).join(", "))]
    Metric { metric: String },
    /// The newest record has nothing to begin with.
    #[error("record {id} says nothing of {what}: {reason}")]
    Nothing {
        /// Id of the newest record.
        id: String,
        what: String,
        reason: &'static str,
    },
}

/// One metric of one arm over the records of an experiment, the oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    pub name: String,
    pub metric: Metric,
    pub metric_label: String,
    pub arm: String,
    pub mix: String,
    pub load_label: String,
    pub machine: String,
    /// Every result, the oldest first.
    pub results: Vec<HistoryResult>,
    /// Where the series changed, the oldest first.
    pub changes: Vec<HistoryChange>,
    /// What is not in the series, and why: `3 records of other machines`.
    pub left_out: Vec<String>,
    /// What can be said, in sentences.
    pub sentences: Vec<String>,
    /// What else could be followed.
    pub choices: HistoryChoices,
}

/// What of the newest record can be followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryChoices {
    /// Metrics that the followed arm has a value of: as [`Metric::parse`] reads them, and in words.
    pub metrics: Vec<(String, String)>,
    pub arms: Vec<String>,
    pub mixes: Vec<String>,
    /// Loads of the followed arm and mix, in words.
    pub loads: Vec<String>,
    /// Whether records of other plans are taken.
    pub any_plan: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryResult {
    pub id: String,
    /// When it was begun, UTC, RFC 3339.
    pub started_at: String,
    /// Median over its blocks with the interval, in the metric's unit.
    pub value: Estimate,
    /// What it was measured with and on.
    pub circumstances: Circumstances,
}

/// What may explain a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circumstances {
    /// Version and commit of this program.
    pub program: String,
    /// The arm's engine and its version.
    pub engine: String,
    /// Release and build of the kernel.
    pub kernel: String,
    pub plan: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryChange {
    /// Index of the first result after it.
    pub index: usize,
    /// Mean of the results before it, up to the change before.
    pub before: f64,
    /// Mean of the results from it on, up to the next change.
    pub after: f64,
    /// After over before, less 1.
    pub change: f64,
    pub p: f64,
    /// What differs between the last record before it and the first after it: (what, before, after).
    pub differs: Vec<(String, String, String)>,
    pub sentence: String,
}

/// What is followed, as the newest record has it.
#[derive(Clone)]
struct Followed {
    metric: Metric,
    arm: String,
    mix: String,
    /// `None` for what belongs to a whole mix.
    load: Option<LoadKind>,
    load_label: String,
}

/// A history in the making: the newest record says what is followed, older ones are added one by one.
pub struct HistoryBuilder {
    question: HistoryQuestion,
    name: String,
    machine: String,
    plan_hash: String,
    followed: Followed,
    choices: HistoryChoices,
    results: Vec<HistoryResult>,
    other_machines: usize,
    other_plans: usize,
    unfinished: usize,
    without_value: usize,
}

/// How records of other plans are named among those left out.
const OF_OTHER_PLANS: &str = "of other plans";

impl History {
    /// Whether records were left out because their plans are others, which can be requested.
    pub fn has_other_plans(&self) -> bool {
        self.left_out.iter().any(|description| description.ends_with(OF_OTHER_PLANS))
    }
}

impl HistoryBuilder {
    /// Begins with the newest finished record, which says what is followed, on which machine, and by which plan.
    pub fn begin(
        newest: &ExperimentRecord,
        question: &HistoryQuestion,
    ) -> Result<Self, HistoryError> {
        let analysis = analyse(newest)?;
        let followed = followed(&analysis, question)?;
        let mut builder = Self {
            question: question.clone(),
            name: newest.name.clone(),
            machine: hardware(&newest.machine),
            plan_hash: newest.plan_hash.clone(),
            choices: choices(&analysis, &followed, question.any_plan),
            followed,
            results: Vec::new(),
            other_machines: 0,
            other_plans: 0,
            unfinished: 0,
            without_value: 0,
        };
        builder.take(newest, &analysis);
        if builder.results.is_empty() {
            return Err(HistoryError::Nothing {
                id: newest.id.clone(),
                what: builder.subject(),
                reason: "no valid run has a value of it",
            });
        }
        Ok(builder)
    }

    /// Adds a record of the same experiment, if it belongs to the series.
    pub fn add(&mut self, record: &ExperimentRecord) -> Result<(), HistoryError> {
        if hardware(&record.machine) != self.machine {
            self.other_machines += 1;
        } else if record.plan_hash != self.plan_hash && !self.question.any_plan {
            self.other_plans += 1;
        } else if record.state == ExperimentState::Unfinished {
            self.add_unfinished();
        } else {
            let analysis = analyse(record)?;
            self.take(record, &analysis);
        }
        Ok(())
    }

    /// Counts a record that has not been finished, and is not judged.
    pub fn add_unfinished(&mut self) {
        self.unfinished += 1;
    }

    fn take(&mut self, record: &ExperimentRecord, analysis: &Analysis) {
        let value = value(analysis, &self.followed);
        let Some(value) = value.filter(|value| value.median.is_some()) else {
            self.without_value += 1;
            return;
        };
        let engine = analysis
            .arms
            .iter()
            .find(|arm| arm.name == self.followed.arm)
            .map_or(String::new(), |arm| arm.engine.clone());
        let program = &record.program;
        self.results.push(HistoryResult {
            id: record.id.clone(),
            started_at: record.started_at.clone(),
            value,
            circumstances: Circumstances {
                program: match program.commit.is_empty() {
                    true => program.version.clone(),
                    false => format!("{} ({})", program.version, program.commit),
                },
                engine,
                kernel: record.machine.kernel.clone().unwrap_or_default(),
                plan: record.plan_hash.clone(),
            },
        });
    }

    fn subject(&self) -> String {
        let Followed { arm, mix, .. } = &self.followed;
        format!("{} of {arm}, mix {mix}", words::metric(self.followed.metric))
    }

    /// The whole series, with its changes.
    pub fn finish(mut self) -> History {
        // Times of equal form and zone are in order as texts.
        self.results.sort_by(|a, b| {
            (a.started_at.as_str(), a.id.as_str()).cmp(&(b.started_at.as_str(), b.id.as_str()))
        });
        let (changes, mut sentences) = self.changes();
        let mut left_out = Vec::new();
        for (count, of) in [
            (self.other_machines, "of other machines"),
            (self.other_plans, OF_OTHER_PLANS),
            (self.unfinished, "not finished"),
            (self.without_value, "without a valid value"),
        ] {
            if count > 0 {
                left_out.push(format!("{} {of}", counted(count, "record")));
            }
        }
        if !left_out.is_empty() {
            sentences.push(format!("Left out: {}.", left_out.join(", ")));
        }
        History {
            name: self.name,
            metric: self.followed.metric,
            metric_label: words::metric(self.followed.metric),
            arm: self.followed.arm,
            mix: self.followed.mix,
            load_label: self.followed.load_label,
            machine: self.machine,
            results: self.results,
            changes,
            left_out,
            sentences,
            choices: self.choices,
        }
    }

    fn changes(&self) -> (Vec<HistoryChange>, Vec<String>) {
        let values: Vec<f64> =
            self.results.iter().filter_map(|result| result.value.median).collect();
        if values.len() < FEWEST_RESULTS {
            let sentence = format!(
                "There {} so far; a change can be found from {FEWEST_RESULTS} on, with {FEWEST_AROUND_A_CHANGE} on each side of it.",
                match values.len() {
                    1 => "is 1 result".to_owned(),
                    count => format!("are {count} results"),
                }
            );
            return (Vec::new(), vec![sentence]);
        }
        let rule = ChangeRule::default();
        let found = match change_points(&values, rule) {
            Ok(found) => found,
            Err(error) => {
                let sentence = format!("Changes cannot be detected: {error}.");
                return (Vec::new(), vec![sentence]);
            }
        };
        if found.is_empty() {
            let sentence = format!(
                "No change of {} or more in {} results.",
                words::percent(rule.least_change, 0),
                as_u32(values.len())
            );
            return (Vec::new(), vec![sentence]);
        }
        let changes: Vec<HistoryChange> = found
            .iter()
            .map(|point| self.change(point.index, point.before, point.after, point.p))
            .collect();
        let sentences = changes.iter().map(|change| change.sentence.clone()).collect();
        (changes, sentences)
    }

    fn change(&self, index: usize, before: f64, after: f64, p: f64) -> HistoryChange {
        let (last, first) = (&self.results[index - 1], &self.results[index]);
        let (old, new) = (&last.circumstances, &first.circumstances);
        let mut differs = Vec::new();
        for (what, old, new) in [
            ("plimsoll", &old.program, &new.program),
            ("engine", &old.engine, &new.engine),
            ("kernel", &old.kernel, &new.kernel),
            ("plan", &old.plan, &new.plan),
        ] {
            if old != new {
                let spelled = |text: &str| match text {
                    "" => "unknown".to_owned(),
                    _ => text.to_owned(),
                };
                differs.push((what.to_owned(), spelled(old), spelled(new)));
            }
        }
        let change = after / before - 1.0;
        let verb = if change < 0.0 { "fell" } else { "rose" };
        let why = match differs.is_empty() {
            true => "nothing that is recorded differs from the record before".to_owned(),
            false => differs
                .iter()
                .map(|(what, old, new)| format!("{what} {old} → {new}"))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let date = first.started_at.get(..10).unwrap_or(&first.started_at);
        let sentence = format!(
            "The {} of {} {verb} by {} at the record of {date}, {}: {why}.",
            words::metric(self.followed.metric),
            self.followed.arm,
            words::percent(change.abs(), 1),
            first.id
        );
        HistoryChange { index, before, after, change, p, differs, sentence }
    }
}

/// What must be equal for results to be of one machine. Not its kernel, which may well be the cause of a change; memory to a gibibyte, because kernels keep
/// more or less of it for themselves.
fn hardware(machine: &Machine) -> String {
    format!(
        "{}, {} cores, {:.0} GiB",
        machine.cpu_model.as_deref().unwrap_or("unknown CPU"),
        machine.cores,
        machine.memory_bytes as f64 / f64::from(1_u32 << 30),
    )
}

/// What the newest record makes of a question.
fn followed(analysis: &Analysis, question: &HistoryQuestion) -> Result<Followed, HistoryError> {
    let metric = question.metric.unwrap_or(Metric::Throughput);
    let unknown = |what, requested: &str, known: Vec<String>| HistoryError::Unknown {
        id: analysis.id.clone(),
        what,
        requested: requested.to_owned(),
        known,
    };
    let arms = || analysis.arms.iter().map(|arm| arm.name.clone()).collect();
    let arm = match &question.arm {
        Some(requested) => analysis.arms.iter().find(|arm| arm.name == *requested),
        None => {
            let baseline = analysis.arms.iter().find(|arm| arm.baseline);
            baseline.or(analysis.arms.first())
        }
    };
    let arm = arm.ok_or_else(|| unknown("arm", question.arm.as_deref().unwrap_or(""), arms()))?;
    let mix = match &question.mix {
        Some(requested) => analysis.mixes.iter().find(|mix| *mix == requested),
        None => analysis.mixes.first(),
    };
    let requested_mix = question.mix.as_deref().unwrap_or("");
    let mix = mix.ok_or_else(|| unknown("mix", requested_mix, analysis.mixes.clone()))?;
    let (arm, mix) = (arm.name.clone(), mix.clone());
    if is_of_mix(metric) {
        let load_label = match metric {
            Metric::Line => "the highest rate that holds the objective",
            _ => "at the plimsoll line, or at the best point where none was searched",
        };
        return Ok(Followed { metric, arm, mix, load: None, load_label: load_label.into() });
    }
    let curve = curve_of(&analysis.curves, &arm, &mix);
    let nothing = |reason| HistoryError::Nothing {
        id: analysis.id.clone(),
        what: format!("{} of {arm}, mix {mix}", words::metric(metric)),
        reason,
    };
    let points = match curve {
        Some(curve) if !curve.points.is_empty() => &curve.points,
        _ => return Err(nothing("no point of it was measured in a finished run")),
    };
    let point = match &question.at {
        Some(requested) => {
            let labels = points.iter().map(|point| point.load_label.clone());
            let found = points.iter().find(|point| point.load_label == *requested);
            found.ok_or_else(|| unknown("load", requested, labels.collect()))?
        }
        None => deciding(analysis, &arm, &mix, points)
            .ok_or_else(|| nothing("none of its points is valid"))?,
    };
    if point.estimate(metric).is_none() {
        let metric = metric.name();
        return Err(HistoryError::Metric { metric });
    }
    Ok(Followed { metric, load: Some(point.load), load_label: point.load_label.clone(), arm, mix })
}

/// Whether a metric belongs to a whole mix, not to a load.
fn is_of_mix(metric: Metric) -> bool {
    matches!(metric, Metric::Line | Metric::Cost)
}

/// What else of a record can be followed beside `followed`.
fn choices(analysis: &Analysis, followed: &Followed, any_plan: bool) -> HistoryChoices {
    let (arm, mix) = (&followed.arm, &followed.mix);
    let curve = curve_of(&analysis.curves, arm, mix);
    let points = curve.map_or(&[][..], |curve| &curve.points);
    let decides = || deciding(analysis, arm, mix, points).map(|point| point.load);
    let load = followed.load.or_else(decides);
    let has_value = |metric: &Metric| {
        let of_mix = is_of_mix(*metric);
        let requested =
            Followed { metric: *metric, load: load.filter(|_| !of_mix), ..followed.clone() };
        (of_mix || requested.load.is_some())
            && value(analysis, &requested).is_some_and(|value| value.median.is_some())
    };
    HistoryChoices {
        metrics: METRICS
            .iter()
            .filter(|metric| has_value(metric))
            .map(|metric| (metric.name(), words::metric(*metric)))
            .collect(),
        arms: analysis.arms.iter().map(|arm| arm.name.clone()).collect(),
        mixes: analysis.mixes.clone(),
        loads: points.iter().map(|point| point.load_label.clone()).collect(),
        any_plan,
    }
}

/// The point that decides about a mix: where it is compared, or else where most was done.
fn deciding<'a>(
    analysis: &Analysis,
    arm: &str,
    mix: &str,
    points: &'a [CurvePoint],
) -> Option<&'a CurvePoint> {
    let compared = analysis.comparisons.iter().find(|comparison| {
        comparison.primary
            && comparison.mix == mix
            && (comparison.arm == arm || comparison.baseline == arm)
    });
    let repeated =
        analysis.repeatability.iter().find(|repeated| repeated.arm == arm && repeated.mix == mix);
    let index =
        compared.map(|comparison| comparison.point).or(repeated.map(|repeated| repeated.point));
    let named = points.iter().find(|point| index.is_some() && point.point == index);
    let valid = points
        .iter()
        .filter(|point| point.valid_runs > 0)
        .filter_map(|point| Some((point, point.throughput.median?)));
    named.or_else(|| valid.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(point, _)| point))
}

/// The followed value of a record; `None` where it has none.
fn value(analysis: &Analysis, followed: &Followed) -> Option<Estimate> {
    let Followed { metric, arm, mix, .. } = followed;
    let Some(load) = followed.load else {
        if *metric == Metric::Line {
            let mut lines = analysis.lines.iter();
            let line = lines.find(|line| line.arm == *arm && line.mix == *mix)?;
            return Some(line.rate.clone());
        }
        let mut costs = analysis.costs.iter();
        let cost = costs.find(|cost| cost.arm == *arm && cost.mix == *mix)?;
        let at_best = cost.at_best.as_ref().map(|(_, estimate)| estimate);
        return cost.at_line.as_ref().or(at_best).cloned();
    };
    let curve = curve_of(&analysis.curves, arm, mix)?;
    let point = curve.points.iter().find(|point| point.load == load)?;
    point.estimate(*metric)
}
