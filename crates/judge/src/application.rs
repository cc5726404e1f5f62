//! How the servers carried out an application's operations: their plans, what their indexes take, and what there is to say about both.

use crate::words::{bytes, counted, duration, list};
use crate::{ArmApplication, Comparison, IndexUse, OperationUse};
use plimsoll_plan::Plan;
use plimsoll_record::figures::ENGINE_CACHE_MAXIMUM;
use plimsoll_record::quantities::words::{grouped, percent};
use plimsoll_record::{
    ApplicationState, CollectionState, Operation, OperationPlan, PointRecord, RunRecord,
    StatementKind, Status, Warning, WarningId,
};
use plimsoll_stats::median;
use plimsoll_workload::documents::{DataClock, DocumentsSpec};
use std::collections::BTreeMap;

/// Fewer documents are read quickly, whether or not there is an index.
const MANY_DOCUMENTS: f64 = 1_000.0;
/// An operation that examines this many documents per result wastes most of its work.
const MANY_FOR_ONE: f64 = 100.0;
/// Growth of the mean document from which on a point measured other documents than it began with.
const GROWN: f64 = 1.2;
/// Measurements in a bucket, below which buckets take more room than what they hold.
const FEW_MEASUREMENTS: f64 = 10.0;
/// How fast dates may run, in speeds of the wall clock.
const CLOCK_SPEEDS: [f64; 2] = [0.8, 1.2];
/// Operations that one sentence names.
const NAMED: usize = 2;

/// What the server said in each finished run of one arm: before the first point, and after the last.
struct Runs<'a>(Vec<&'a [ApplicationState]>);

impl<'a> Runs<'a> {
    fn of(runs: &BTreeMap<u32, &'a RunRecord>) -> Self {
        let states = runs.values().map(|run| run.application.as_slice());
        Self(states.filter(|states| !states.is_empty()).collect())
    }

    fn first(&self) -> impl Iterator<Item = &'a ApplicationState> {
        self.0.iter().filter_map(|states| states.first())
    }

    fn last(&self) -> impl Iterator<Item = &'a ApplicationState> {
        self.0.iter().filter_map(|states| states.last())
    }

    fn all(&self) -> impl Iterator<Item = &'a ApplicationState> {
        self.0.iter().flat_map(|states| states.iter())
    }

    /// First and last, where there are both.
    fn pairs(&self) -> impl Iterator<Item = [&'a ApplicationState; 2]> {
        self.0.iter().filter_map(|states| match states {
            [first, .., last] => Some([first, last]),
            _ => None,
        })
    }
}

/// What the runs of each arm report together; nothing without a server.
pub(crate) fn applications(
    plan: &Plan,
    finished: &[BTreeMap<u32, &RunRecord>],
) -> Vec<ArmApplication> {
    let mut all = Vec::new();
    for (arm, runs) in plan.arms.iter().zip(finished) {
        let runs = Runs::of(runs);
        let Some(example) = runs.first().next() else { continue };
        all.push(ArmApplication {
            arm: arm.name.clone(),
            operations: (example.operations.iter())
                .map(|plan| operation_use(plan, &runs))
                .collect(),
            indexes: example.collections.iter().flat_map(|one| index_uses(one, &runs)).collect(),
        });
    }
    all
}

fn operation_use(example: &OperationPlan, runs: &Runs<'_>) -> OperationUse {
    let first: Vec<&OperationPlan> =
        runs.first().filter_map(|state| state.plan(example.operation)).collect();
    let mut plans: Vec<String> = Vec::new();
    for stages in first.iter().flat_map(|plan| &plan.stages) {
        if !plans.contains(stages) {
            plans.push(stages.clone());
        }
    }
    let middle = |value: fn(&OperationPlan) -> f64| {
        let values: Vec<f64> = first.iter().map(|plan| value(plan)).collect();
        median(&values).unwrap_or(0.0)
    };
    let other = runs
        .all()
        .filter_map(|state| state.plan(example.operation))
        .find(|plan| !plan.stages.is_empty() && !shares_a_plan(&plan.stages, &plans));
    OperationUse {
        operation: example.operation,
        // Draws may have different plans; it is another one only where none is the same.
        changed_to: other.map(|plan| plan.stages.join("; ")).or_else(|| {
            let (one, another) = two_apart(&first)?;
            Some(format!("{} in one run, {} in another", one.join("; "), another.join("; ")))
        }),
        plans,
        keys_examined: middle(|plan| plan.keys_examined),
        documents_examined: middle(|plan| plan.documents_examined),
        documents_found: middle(|plan| plan.documents_found),
        scans_collection: first.iter().any(|plan| plan.scans_collection),
        sorts: first.iter().any(|plan| plan.sorts),
        refused: first.iter().find_map(|plan| plan.refused.clone()),
    }
}

fn shares_a_plan(one: &[String], other: &[String]) -> bool {
    one.iter().any(|stages| other.contains(stages))
}

/// Two runs that have no plan in common.
fn two_apart<'a>(plans: &[&'a OperationPlan]) -> Option<(&'a [String], &'a [String])> {
    let mut known = plans.iter().map(|plan| plan.stages.as_slice()).filter(|one| !one.is_empty());
    let first = known.next()?;
    known.find(|one| !shares_a_plan(first, one)).map(|other| (first, other))
}

fn collection<'a>(state: &'a ApplicationState, name: &str) -> Option<&'a CollectionState> {
    state.collections.iter().find(|one| one.name == name)
}

fn index_uses(example: &CollectionState, runs: &Runs<'_>) -> Vec<IndexUse> {
    let mut uses = Vec::new();
    for index in &example.indexes {
        let of = |state| {
            let mut indexes = collection(state, &example.name)?.indexes.iter();
            indexes.find(|one| one.name == index.name)
        };
        let sizes: Vec<f64> = runs.last().filter_map(of).map(|one| one.bytes as f64).collect();
        let used = runs.pairs().filter_map(|[first, last]| {
            let (first, last) = (of(first)?.uses?, of(last)?.uses?);
            // A server that was started again counts from 0.
            Some(last.checked_sub(first).unwrap_or(last) as f64)
        });
        let used: Vec<f64> = used.collect();
        uses.push(IndexUse {
            collection: example.name.clone(),
            name: index.name.clone(),
            bytes: median(&sizes).unwrap_or(0.0),
            uses: median(&used),
        });
    }
    uses
}

/// What there is to say about each arm.
pub(crate) fn warnings(
    plan: &Plan,
    finished: &[BTreeMap<u32, &RunRecord>],
    applications: &[ArmApplication],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for application in applications {
        let arm = &application.arm;
        let mut add = |id, words: String| warnings.push(Warning::new(id, arm, words));
        for one in &application.operations {
            if let Some((id, words)) = one.wasteful() {
                add(id, words);
            }
            if let Some(other) = &one.changed_to {
                let (name, plans) = (one.operation.name(), one.plans.join("; "));
                add(WarningId::PlanChanged, format!("{name}: {plans}, and later {other}"));
            }
        }
        let Some(place) = plan.arms.iter().position(|known| known.name == *arm) else { continue };
        let runs = Runs::of(&finished[place]);
        for words in grown(&runs) {
            add(WarningId::Growing, words);
        }
        for words in small_buckets(&runs) {
            add(WarningId::Buckets, words);
        }
        if let Some(words) = outgrown(application, cache_bytes(&finished[place])) {
            add(WarningId::IndexesOutgrow, words);
        }
    }
    warnings
}

/// Time series whose buckets hold few measurements.
fn small_buckets(runs: &Runs<'_>) -> Vec<String> {
    let Some(example) = runs.last().next() else {
        return Vec::new();
    };
    let of = |name: &str| {
        let each = runs.last().filter_map(|state| collection(state, name)?.measurements_per_bucket);
        median(&each.collect::<Vec<_>>())
    };
    let held = example.collections.iter().filter_map(|one| Some((one, of(&one.name)?)));
    held.filter(|(_, held)| *held < FEW_MEASUREMENTS)
        .map(|(one, held)| format!("a bucket of {} holds {} measurements", one.name, amount(held)))
        .collect()
}

/// Arms whose inserted documents have dates that run faster or slower than the wall clock.
pub(crate) fn clocks(plan: &Plan, finished: &[BTreeMap<u32, &RunRecord>]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (arm, runs) in plan.arms.iter().zip(finished) {
        let clocks = arm.data.documents.as_ref().map(DocumentsSpec::clocks).unwrap_or_default();
        for clock in clocks {
            let mut by_point: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for point in runs.values().flat_map(|run| &run.points) {
                if let Some(number) = point.label.point {
                    by_point.entry(number).or_default().extend(speed(&clock, point));
                }
            }
            let speeds: Vec<f64> = by_point.values().filter_map(|speeds| median(speeds)).collect();
            let [slowest, fastest] =
                [f64::min, f64::max].map(|end| speeds.iter().copied().reduce(end));
            let (Some(slowest), Some(fastest)) = (slowest, fastest) else { continue };
            if slowest >= CLOCK_SPEEDS[0] && fastest <= CLOCK_SPEEDS[1] {
                continue;
            }
            let speeds = match amount(slowest) == amount(fastest) {
                true => amount(slowest),
                false => format!("{} to {}", amount(slowest), amount(fastest)),
            };
            let words = format!(
                "`{}` of {} runs at {speeds} times the speed of the wall clock: a document is inserted every {}, and their dates are {} apart",
                clock.field,
                clock.collection,
                apart(clock.every_ms / fastest, clock.every_ms / slowest),
                duration(clock.every_ms * 1e6),
            );
            warnings.push(Warning::new(WarningId::DataClock, &arm.name, words));
        }
    }
    warnings
}

/// Milliseconds of dates in a millisecond of a point; `None` where nothing was inserted.
fn speed(clock: &DataClock, point: &PointRecord) -> Option<f64> {
    let measured = || point.slices.iter().filter(|slice| !slice.warm_up);
    let elapsed_ns: u64 = measured().map(|slice| slice.length_ns).sum();
    let inserted: f64 = measured()
        .flat_map(|slice| &slice.operations)
        .filter(|part| part.status == Status::Ok)
        .map(|part| {
            let count =
                clock.inserts.iter().find(|(own, _)| Operation::Own(*own) == part.operation);
            count.map_or(0.0, |(_, count)| part.latencies.count() as f64 * f64::from(*count))
        })
        .sum();
    (inserted > 0.0).then(|| inserted * clock.every_ms * 1e6 / elapsed_ns as f64)
}

/// `20 ms`, or `20 ms to 1.5 s`.
fn apart(least_ms: f64, most_ms: f64) -> String {
    let [least, most] = [least_ms, most_ms].map(|ms| duration(ms * 1e6));
    if least == most { least } else { format!("{least} to {most}") }
}

impl OperationUse {
    /// `by-customer: COLLSCAN, 100,000 documents examined for 10 found`.
    fn figures(&self) -> String {
        let plans = if self.plans.is_empty() { "no plan".into() } else { self.plans.join("; ") };
        let examined = documents(self.documents_examined);
        format!("{plans}, {examined} examined for {} found", amount(self.documents_found))
    }

    /// Whether it does much more than it has to, and how.
    fn wasteful(&self) -> Option<(WarningId, String)> {
        let words = format!("{}: {}", self.operation.name(), self.figures());
        let many = self.documents_examined > MANY_DOCUMENTS;
        let for_one = self.documents_examined / self.documents_found.max(1.0);
        // A pipeline that groups returns few documents of many.
        let is_pipeline = self.operation.kind() == StatementKind::Aggregate;
        match () {
            () if self.scans_collection && many => Some((WarningId::CollectionScan, words)),
            () if is_pipeline => None,
            () if for_one > MANY_FOR_ONE => Some((WarningId::Examined, words)),
            () if self.sorts && many => {
                Some((WarningId::Examined, format!("{words}, and sorted in memory")))
            }
            () => None,
        }
    }
}

/// Collections whose documents are longer after the last point than before the first.
fn grown(runs: &Runs<'_>) -> Vec<String> {
    let mut words = Vec::new();
    for known in runs.first().take(1).flat_map(|state| &state.collections) {
        let ratios = runs.pairs().filter_map(|[first, last]| {
            let mean = |state| {
                let one = collection(state, &known.name)?;
                (one.documents > 0).then(|| one.bytes as f64 / one.documents as f64)
            };
            let (before, after) = (mean(first)?, mean(last)?);
            (before > 0.0).then_some((after / before, before, after))
        });
        let most = ratios.max_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((ratio, before, after)) = most.filter(|(ratio, ..)| *ratio >= GROWN) {
            words.push(format!(
                "a document of {} had {} at the start and {} at the end, {} more",
                known.name,
                bytes(before),
                bytes(after),
                percent(ratio - 1.0, 0)
            ));
        }
    }
    words
}

/// The size of the engine's cache, where it is known.
fn cache_bytes(runs: &BTreeMap<u32, &RunRecord>) -> Option<f64> {
    let mut slices = runs.values().flat_map(|run| &run.points).flat_map(|point| &point.slices);
    slices.find_map(|slice| slice.telemetry.get(ENGINE_CACHE_MAXIMUM)).copied()
}

/// `the indexes in use take 310 MiB, the engine's cache has 256 MiB`.
fn outgrown(application: &ArmApplication, cache_bytes: Option<f64>) -> Option<String> {
    let used = application.indexes.iter().filter(|one| one.uses != Some(0.0));
    let index_bytes: f64 = used.map(|one| one.bytes).sum();
    let cache_bytes = cache_bytes?;
    (index_bytes > cache_bytes).then(|| {
        format!(
            "the indexes in use take {}, the engine's cache has {}",
            bytes(index_bytes),
            bytes(cache_bytes)
        )
    })
}

/// Gives each comparison what its two arms do differently for the operations of its mix, as a sentence.
pub(crate) fn explain(comparisons: &mut [Comparison], plan: &Plan, all: &[ArmApplication]) {
    for one in comparisons {
        let of = |arm: &str| all.iter().find(|application| application.arm == arm);
        let (Some(baseline), Some(arm)) = (of(&one.baseline), of(&one.arm)) else { continue };
        let Some(mix) = plan.mixes.iter().find(|mix| mix.name == one.mix) else { continue };
        let is_in_mix = |used: &&OperationUse| mix.share_of(Operation::Own(used.operation)) > 0.0;
        let mut parts = other_plans(baseline, arm, &is_in_mix);
        if mix.measured_operations().into_iter().any(Operation::writes) {
            parts.extend(other_indexes(baseline, arm));
        }
        one.plans = (!parts.is_empty()).then(|| format!("Why: {}.", parts.join("; ")));
    }
}

/// What operations are carried out differently, the greatest difference first.
fn other_plans(
    baseline: &ArmApplication,
    arm: &ArmApplication,
    is_in_mix: &dyn Fn(&&OperationUse) -> bool,
) -> Vec<String> {
    let mut apart: Vec<(&OperationUse, &OperationUse)> = Vec::new();
    for one in baseline.operations.iter().filter(is_in_mix) {
        let other = arm.operations.iter().find(|other| other.operation == one.operation);
        if let Some(other) = other
            && !one.plans.is_empty()
            && !other.plans.is_empty()
            && !shares_a_plan(&one.plans, &other.plans)
        {
            apart.push((one, other));
        }
    }
    let work = |used: &OperationUse| used.documents_examined + used.keys_examined + 1.0;
    let ratio = |(one, other): &(&OperationUse, &OperationUse)| {
        (work(one) / work(other)).max(work(other) / work(one))
    };
    apart.sort_by(|one, other| ratio(other).total_cmp(&ratio(one)));
    let mut parts = Vec::new();
    for (one, other) in apart.iter().take(NAMED) {
        parts.push(format!(
            "{} examines {} for {} in {} ({}), {} for {} in {} ({})",
            one.operation.name(),
            documents(one.documents_examined),
            amount(one.documents_found),
            baseline.arm,
            one.plans.join("; "),
            amount(other.documents_examined),
            amount(other.documents_found),
            arm.arm,
            other.plans.join("; "),
        ));
    }
    if apart.len() > NAMED {
        let others = counted(apart.len() - NAMED, "other operation");
        parts.push(format!("{others} have other plans too"));
    }
    parts
}

/// `in wide, each insert writes 1 index more: customer_1 (3.1 MiB)`, and what nothing has used; where each has its own,
/// `inserts write customer_1 (1.7 MiB) in one, placed_1 (2 MiB) in the other`.
fn other_indexes(baseline: &ArmApplication, arm: &ArmApplication) -> Option<String> {
    let of_baseline = further_indexes(baseline, arm);
    let of_arm = further_indexes(arm, baseline);
    let (further, indexes) = match (of_baseline.is_empty(), of_arm.is_empty()) {
        (true, true) => return None,
        (false, true) => (baseline, of_baseline),
        (true, false) => (arm, of_arm),
        (false, false) => {
            return Some(format!(
                "inserts write {} in {}, {} in {}",
                in_words(&of_baseline),
                baseline.arm,
                in_words(&of_arm),
                arm.arm
            ));
        }
    };
    let more = match indexes.len() {
        1 => "1 index".to_owned(),
        several => format!("{several} indexes"),
    };
    Some(format!("in {}, each insert writes {more} more: {}", further.arm, in_words(&indexes)))
}

/// Indexes that the other arm does not have.
fn further_indexes<'a>(arm: &'a ArmApplication, than: &ArmApplication) -> Vec<&'a IndexUse> {
    let is_there = |one: &&IndexUse| {
        let same = |other: &IndexUse| other.collection == one.collection && other.name == one.name;
        !than.indexes.iter().any(same)
    };
    arm.indexes.iter().filter(is_there).collect()
}

/// `customer_1 and note_1 (3 MiB), but no operation uses note_1`.
fn in_words(indexes: &[&IndexUse]) -> String {
    let names = |indexes: &[&IndexUse]| {
        let names: Vec<String> = indexes.iter().map(|one| one.name.clone()).collect();
        list(&names)
    };
    let index_bytes: f64 = indexes.iter().map(|one| one.bytes).sum();
    let unused = indexes.iter().filter(|one| one.uses == Some(0.0)).copied();
    let unused: Vec<&IndexUse> = unused.collect();
    let in_vain = match unused.len() {
        0 => String::new(),
        all if all == indexes.len() => ", which no operation uses".into(),
        _ => format!(", but no operation uses {}", names(&unused)),
    };
    format!("{} ({}){in_vain}", names(indexes), bytes(index_bytes))
}

fn documents(count: f64) -> String {
    match count {
        1.0 => "1 document".into(),
        _ => format!("{} documents", amount(count)),
    }
}

/// A mean number of documents.
fn amount(count: f64) -> String {
    let digits = u8::from(count < 10.0 && count.fract() > 0.049);
    grouped(count, digits.into())
}
