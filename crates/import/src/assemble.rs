//! Outputs made into a record.
//!
//! An arm's outputs at the same load of the same workload are its blocks, in the order in which they are given; outputs at other loads are
//! other points. Outputs of one workload that overlap in time are clients of one run, see [`crate::clients`]. The plan inside the record is a frame for the judge:
//! what it has to name and nobody said is a placeholder.

use crate::clients;
use crate::error::{ImportError, Problem};
use crate::measured::{MOST_OUTPUTS, Measured};
use plimsoll_plan::{
    Compare, LoadPhase, Measurement, Metric, Objective, Order, PLAN_VERSION, Pairing, Plan,
    PlannedRun, Point,
};
use plimsoll_record::{
    EngineDescription, ExperimentRecord, ExperimentState, Imported, LoadKind, Operation,
    OperationSlice, PointEnd, PointLabel, PointRecord, Program, RECORD_VERSION, RigSpec, RunRecord,
    RunState, ShapedFrom, Status, Warning, WarningId,
};
use plimsoll_workload::schedule::Load;
use serde_json::json;
use std::collections::BTreeMap;

/// Lowest share of a target that must be achieved; as in experiments that do not say.
const ACHIEVED: f64 = 0.99;

/// The outputs of one arm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arm {
    pub name: String,
    /// In the order of the blocks.
    pub outputs: Vec<Measured>,
}

/// What the record needs beside the outputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    pub name: String,
    /// Name of the workload, in place of what the outputs say.
    pub mix: Option<String>,
    /// Concurrent sessions, in place of what the outputs say.
    pub sessions: Option<u32>,
    /// Share of the operations that may have failed in a point that counts, 0 to 1.
    pub errors: f64,
    /// Whether the runs of each block were made side by side.
    pub side_by_side: bool,
    /// Present time in UTC, as RFC 3339 writes it.
    pub now: String,
    pub program: Program,
    /// The command line of the import, without passwords.
    pub command: String,
}

/// One place in the plan.
struct PlannedPoint {
    mix: String,
    load: Load,
    kind: LoadKind,
}

/// Makes a record of outputs.
pub fn record(frame: &Frame, mut arms: Vec<Arm>) -> Result<ExperimentRecord, ImportError> {
    check(&arms)?;
    for arm in &mut arms {
        let outputs = std::mem::take(&mut arm.outputs);
        arm.outputs = clients::together(outputs, |output| mix_of(frame, output));
    }
    let mut places: Vec<PlannedPoint> = Vec::new();
    // By arm: (place, output).
    let mut placed: Vec<Vec<(usize, Measured)>> = Vec::new();
    let mut arms_of_plan = Vec::new();
    let mut longest_ns = 0;
    let mut primary = Knows::all();
    for arm in arms {
        arms_of_plan.push(arm_of_plan(&arm));
        let mut of_arm = Vec::new();
        for output in arm.outputs {
            longest_ns = longest_ns.max(output.measured_ns);
            primary.also(Knows::of(&output));
            let place = place_of(frame, &output);
            let same = |known: &PlannedPoint| known.mix == place.mix && known.kind == place.kind;
            let index = places.iter().position(same).unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            });
            of_arm.push((index, output));
        }
        placed.push(of_arm);
    }
    let order = order_of(&places);
    let mut mixes: Vec<String> = Vec::new();
    let mut points = Vec::new();
    for index in &order {
        let place = &places[*index];
        let known = mixes.iter().position(|mix| *mix == place.mix);
        let mix = known.unwrap_or_else(|| {
            mixes.push(place.mix.clone());
            mixes.len() - 1
        });
        points.push(Point::fixed(as_u32(mix), place.load.clone()));
    }
    let rank = |place: usize| order.iter().position(|index| *index == place).unwrap_or(0);

    let mut runs: BTreeMap<(u32, u32), RunRecord> = BTreeMap::new();
    for (number, of_arm) in placed.into_iter().enumerate() {
        let mut next_block = vec![0_u32; places.len()];
        for (place, output) in of_arm {
            let block = next_block[place];
            next_block[place] += 1;
            let run = runs
                .entry((block, as_u32(number)))
                .or_insert_with(|| empty_run(block, as_u32(number), &arms_of_plan[number].name));
            add_point(run, frame, &places[place], rank(place), output);
        }
    }
    let mut planned = Vec::new();
    let mut blocks = 0;
    let mut records = Vec::new();
    for ((block, arm), mut run) in runs {
        blocks = blocks.max(block + 1);
        planned.push(PlannedRun { block, position: arm, arm, seed: 0 });
        run.points.sort_by_key(|point| point.label.point);
        records.push(run);
    }
    let shares = Shares::of(&records);
    let plan = Plan {
        version: PLAN_VERSION,
        name: frame.name.clone(),
        question: None,
        scale: None,
        mixes: mixes.iter().map(|mix| shares.mix(mix)).collect(),
        points,
        load_phase: LoadPhase { sessions: 0, once: false },
        measurement: Measurement {
            warm_up_ns: 0,
            duration_ns: longest_ns,
            operations: None,
            blocks,
            looks: None,
            order: Order::AsWritten,
            pairing: Pairing::InTurn,
            seed: 0,
            shaped_from: ShapedFrom::default(),
            checkpoints: plimsoll_plan::Checkpoints::default(),
            log_operations: 0,
            spare_blocks: None,
            caches: plimsoll_plan::Caches::AsLoaded,
            end_timeout_ns: plimsoll_plan::END_TIMEOUT_NS,
        },
        objective: (frame.errors > 0.0).then(|| Objective {
            response: Vec::new(),
            errors: frame.errors,
            achieved: ACHIEVED,
            operations: Vec::new(),
            search: None,
        }),
        compare: Compare {
            baseline: arms_of_plan[0].name.clone(),
            factor: None,
            pairs: Vec::new(),
            primary: primary.metrics(),
            at: None,
            margins: BTreeMap::new(),
        },
        events: Vec::new(),
        against_itself: false,
        factors: Vec::new(),
        design: plimsoll_plan::Design::Full,
        arms: arms_of_plan,
        hosts: Vec::new(),
        load_hosts: Vec::new(),
        thresholds: Vec::new(),
        runs: planned,
        origins: Vec::new(),
    };
    Ok(ExperimentRecord {
        plimsoll_record: RECORD_VERSION,
        name: frame.name.clone(),
        state: ExperimentState::Finished,
        plan_hash: plan.hash(),
        plan: json!(plan),
        program: frame.program.clone(),
        command: frame.command.clone(),
        started_at: frame.now.clone(),
        ended_at: Some(frame.now.clone()),
        runs: records,
        ..ExperimentRecord::default()
    })
}

fn check(arms: &[Arm]) -> Result<(), ImportError> {
    let problem = |words: String| Err(Problem::Together(words).of("import"));
    let outputs: usize = arms.iter().map(|arm| arm.outputs.len()).sum();
    if outputs == 0 || arms.iter().any(|arm| arm.outputs.is_empty()) {
        return problem(
            "there is an arm without any output: name at least one file for each".into(),
        );
    }
    if outputs > MOST_OUTPUTS {
        return problem(format!(
            "{outputs} outputs are more than a record takes ({MOST_OUTPUTS}): import them as several experiments"
        ));
    }
    for (place, arm) in arms.iter().enumerate() {
        if arms[..place].iter().any(|other| other.name == arm.name) {
            return problem(format!(
                "two arms are called `{}`: give them different names",
                arm.name
            ));
        }
    }
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for output in arms.iter().flat_map(|arm| &arm.outputs) {
        let Some(key) = clients::fingerprint(output) else {
            continue;
        };
        let names: Vec<&str> = output.files.iter().map(|file| file.name.as_str()).collect();
        let names = names.join(" + ");
        if let Some(other) = seen.insert(key, names.clone()) {
            return problem(match other == names {
                true => format!("{names} is named twice: one run counts once, name each file once"),
                false => format!(
                    "{other} and {names} hold the same output: one run counts once, leave one of them out"
                ),
            });
        }
    }
    Ok(())
}

fn as_u32(length: usize) -> u32 {
    u32::try_from(length).expect("a record takes few enough outputs")
}

fn arm_of_plan(arm: &Arm) -> plimsoll_plan::Arm {
    let first = &arm.outputs[0];
    let records = arm.outputs.iter().find_map(|output| output.records);
    let data = json!({ "records": records.unwrap_or(0) });
    plimsoll_plan::Arm {
        planted: None,
        name: arm.name.clone(),
        about: None,
        engine: engine(first).name,
        settings: plimsoll_plan::Settings::default(),
        data: serde_json::from_value(data).expect("a number of records describes data"),
        levels: Vec::new(),
        working_set: None,
        on: None,
        directory: None,
        rig: RigSpec::default(),
    }
}

/// What was under test, by the words of the tool.
fn engine(output: &Measured) -> EngineDescription {
    let tool = output.version.as_deref().unwrap_or(&output.tool);
    let named = output.database.clone();
    EngineDescription {
        name: named.unwrap_or_else(|| "not named".to_owned()),
        version: format!("(measured by {tool})"),
        settings: output.properties.clone(),
        notes: BTreeMap::new(),
    }
}

fn place_of(frame: &Frame, output: &Measured) -> PlannedPoint {
    let sessions = frame.sessions.or(output.sessions).unwrap_or(0);
    let target = output.target;
    let load = Load::Closed { sessions, think_time_ns: 0, target };
    let kind = LoadKind::Closed { sessions, think_time_ns: 0, target };
    let mix = mix_of(frame, output);
    PlannedPoint { mix, load, kind }
}

/// The name of its workload.
fn mix_of(frame: &Frame, output: &Measured) -> String {
    let named = frame.mix.clone().or_else(|| output.workload.clone());
    named.unwrap_or_else(|| composed(output))
}

/// A name for a workload that has none: what it consists of, in whole parts of a hundred.
fn composed(output: &Measured) -> String {
    let counts = output.counts();
    let total: u64 = counts.values().fold(0, |sum, count| sum.saturating_add(*count));
    let mut parts: Vec<(u64, &str)> = Vec::new();
    for (operation, count) in &counts {
        let share = (*count as f64 / total as f64 * 100.0).round() as u64;
        parts.push((share, operation.name()));
    }
    match parts[..] {
        [] => "nothing".to_owned(),
        [(_, only)] => only.to_owned(),
        _ => {
            parts.sort_by_key(|(share, _)| std::cmp::Reverse(*share));
            let words: Vec<String> =
                parts.iter().map(|(share, name)| format!("{share} % {name}")).collect();
            words.join(", ")
        }
    }
}

/// Places by mix in the order in which they came, then by load.
fn order_of(places: &[PlannedPoint]) -> Vec<usize> {
    let mut mixes: Vec<&str> = Vec::new();
    for place in places {
        if !mixes.contains(&place.mix.as_str()) {
            mixes.push(&place.mix);
        }
    }
    let number = |place: &PlannedPoint| match place.kind {
        LoadKind::Closed { target: Some(target), .. } => target,
        LoadKind::Closed { sessions, .. } => f64::from(sessions),
        LoadKind::Open { rate, .. } => rate,
    };
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| {
        let mix = |index: &usize| mixes.iter().position(|mix| *mix == places[*index].mix);
        let by_load = number(&places[*a]).total_cmp(&number(&places[*b]));
        mix(a).cmp(&mix(b)).then(by_load)
    });
    order
}

fn empty_run(block: u32, position: u32, arm: &str) -> RunRecord {
    RunRecord {
        block,
        arm: arm.to_owned(),
        position,
        attempt: 1,
        state: RunState::Finished,
        ..RunRecord::default()
    }
}

/// Puts an output into its run.
fn add_point(
    run: &mut RunRecord,
    frame: &Frame,
    place: &PlannedPoint,
    index: usize,
    output: Measured,
) {
    let engine = engine(&output);
    let subject = match &output.files[..] {
        [] => run.arm.clone(),
        [file, ..] => {
            let name = file.name.rsplit('/').next().unwrap_or(&file.name);
            format!("{}, {name}", run.arm)
        }
    };
    for words in &output.damage {
        let warning = Warning::new(WarningId::ImportDamaged, &subject, words);
        run.warnings.push(warning);
    }
    let mut remarks = output.remarks.clone();
    remarks.extend(unknown(&output, place.kind));
    if !remarks.is_empty() {
        let words = remarks.join("; ");
        run.warnings.push(Warning::new(WarningId::Imported, &subject, words));
    }
    match &mut run.engine {
        Some(known) => known.settings.extend(engine.settings),
        None => run.engine = Some(engine),
    }
    let started_at = output.started_at.clone().unwrap_or_default();
    if run.started_at.is_empty() {
        run.started_at.clone_from(&started_at);
    }
    let due = match place.kind {
        LoadKind::Closed { target: Some(rate), .. } | LoadKind::Open { rate, .. } => {
            Some((rate * output.measured_ns as f64 / 1e9).floor() as u64)
        }
        LoadKind::Closed { target: None, .. } => None,
    };
    let end = PointEnd {
        measured_ns: output.measured_ns,
        due,
        retries: output.retries,
        cut_short: !output.damage.is_empty(),
        errors: output.errors,
        imported: Some(Box::new(Imported {
            tool: output.tool,
            version: output.version,
            command: output.command,
            files: output.files,
            side_by_side: frame.side_by_side,
            stated: output.stated,
        })),
        ..PointEnd::default()
    };
    run.points.push(PointRecord {
        label: PointLabel {
            point: Some(as_u32(index)),
            mix: place.mix.clone(),
            load_label: place.load.to_string(),
            load: place.kind,
            trial: None,
        },
        warm_up_ns: 0,
        started_at,
        slices: output.slices,
        end: Some(end),
    });
}

/// What an output leaves open, in words.
fn unknown(output: &Measured, kind: LoadKind) -> Vec<String> {
    let mut words = Vec::new();
    if kind.sessions() == 0 {
        words.push("how many sessions there were is not known: say it with --threads".to_owned());
    }
    let knows = Knows::of(output);
    if !knows.response_mean && !knows.response_p99 {
        words.push(
            "no response times, only service times: nothing was timed from when it was due"
                .to_owned(),
        );
    } else if !knows.response_p99 && !knows.service_p99 {
        words.push(
            "percentiles of all operations together are not known, only those of each kind"
                .to_owned(),
        );
    }
    if output.slices.is_empty() {
        words.push("nothing is known of the time between begin and end".to_owned());
    }
    words
}

/// Which figures of all operations together an output knows.
#[derive(Clone, Copy)]
struct Knows {
    response_p99: bool,
    response_mean: bool,
    service_p99: bool,
}

impl Knows {
    fn all() -> Self {
        Self { response_p99: true, response_mean: true, service_p99: true }
    }

    fn also(&mut self, other: Self) {
        self.response_p99 &= other.response_p99;
        self.response_mean &= other.response_mean;
        self.service_p99 &= other.service_p99;
    }

    fn of(output: &Measured) -> Self {
        let in_slices = || output.slices.iter().flat_map(|slice| &slice.operations);
        let parts: Vec<&OperationSlice> = match &output.stated {
            Some(stated) => stated.operations.iter().collect(),
            None => in_slices().collect(),
        };
        let good = |part: &&&OperationSlice| {
            part.status == Status::Ok && part.operation != Operation::Verify
        };
        let good: Vec<&OperationSlice> = parts.iter().filter(good).copied().collect();
        let all = output.stated.as_ref().and_then(|stated| stated.all.as_ref());
        let is_counted = |part: &&OperationSlice| part.latencies.service.summary().is_none();
        let together = good.iter().all(is_counted)
            || matches!(good[..], [only] if only.latencies.response().percentile_ns(99.0).is_some())
            || all.is_some_and(|all| all.service.percentile_ns(99.0).is_some());
        let has_mean = |part: &&OperationSlice| part.latencies.response().mean_ns().is_some();
        let has_response =
            output.target.is_none() || good.iter().all(|part| part.latencies.open.is_some());
        let has_service = good.iter().all(|part| part.latencies.service.mean_ns().is_some());
        Self {
            response_p99: has_response && together,
            response_mean: has_response && good.iter().all(has_mean),
            service_p99: has_service && together,
        }
    }

    /// Throughput, and the most telling time that all outputs know.
    fn metrics(self) -> Vec<Metric> {
        let time = match self {
            Self { response_p99: true, .. } => Some(Metric::Response { percentile: 99.0 }),
            Self { response_mean: true, .. } => Some(Metric::ResponseMean),
            Self { service_p99: true, .. } => Some(Metric::Service { percentile: 99.0 }),
            _ => None,
        };
        let mut metrics = vec![Metric::Throughput];
        metrics.extend(time);
        metrics
    }
}

/// What the workloads consisted of, over all runs, in whole parts of a hundred.
struct Shares {
    by_mix: BTreeMap<String, BTreeMap<Operation, u64>>,
}

impl Shares {
    fn of(runs: &[RunRecord]) -> Self {
        let mut by_mix: BTreeMap<String, BTreeMap<Operation, u64>> = BTreeMap::new();
        for point in runs.iter().flat_map(|run| &run.points) {
            let measured = Measured {
                slices: point.slices.clone(),
                stated: point.imported().and_then(|imported| imported.stated.clone()),
                ..Measured::default()
            };
            let shares = by_mix.entry(point.label.mix.clone()).or_default();
            for (operation, count) in measured.counts() {
                let sum = shares.entry(operation).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        Self { by_mix }
    }

    fn mix<T: serde::de::DeserializeOwned>(&self, name: &str) -> T {
        let mut mix = json!({ "name": name });
        if let Some(shares) = self.by_mix.get(name) {
            let total: f64 = shares.values().map(|count| *count as f64).sum();
            for (operation, count) in shares {
                let key = match operation {
                    Operation::ReadModifyWrite => "read_modify_write",
                    Operation::Read => "read",
                    Operation::Update => "update",
                    Operation::Insert => "insert",
                    Operation::Scan => "scan",
                    Operation::Delete | Operation::Verify | Operation::Own(_) => continue,
                };
                let share = (*count as f64 / total * 100.0).round();
                mix[key] = json!(share);
            }
        }
        serde_json::from_value(mix).expect("a name and some weights describe a mix")
    }
}

#[cfg(test)]
mod tests;
