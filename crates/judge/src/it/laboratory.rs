//! Records whose numbers are known because they were put there.

use crate::{Analysis, Comparison, CurvePoint, analyse};
use plimsoll_plan::{
    Arm, Compare, LoadPhase, Measurement, Metric, Order, PLAN_VERSION, Pairing, Plan, PlannedRun,
    Point, Settings,
};
use plimsoll_record::{
    Completed, EngineDescription, ExperimentRecord, ExperimentState, Histogram, Latencies,
    LoadKind, Machine, OpenLatencies, Operation, OperationSlice, PointEnd, PointLabel, PointRecord,
    RECORD_VERSION, RigSpec, RunRecord, RunState, ShapedFrom, Slice, Status, WarningId, WorkerUse,
};
use plimsoll_workload::schedule::{Arrivals, Load};
use plimsoll_workload::{DataSpec, Mix};
use std::collections::BTreeMap;

pub const SECOND_NS: u64 = 1_000_000_000;

/// An experiment in the making: the plan can be changed before anything is measured, the runs afterwards.
pub struct Laboratory {
    pub plan: Plan,
    pub runs: Vec<RunRecord>,
}

/// The point of the run to make up.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub arm: &'a str,
    pub mix: &'a str,
    pub block: u32,
    pub load: LoadKind,
}

impl Case<'_> {
    pub fn sessions(&self) -> f64 {
        f64::from(self.load.sessions())
    }
}

/// What a point is to show, each second alike unless changed.
#[derive(Clone)]
pub struct Shown {
    pub throughput: f64,
    pub response_ns: f64,
    pub errors: u64,
    pub seconds: u32,
    /// Share of the sessions' time inside the engine.
    pub busy: f64,
}

impl Shown {
    /// A point that obeys Little's law: every session is always inside a call.
    pub fn closed(case: Case<'_>, throughput: f64) -> Self {
        let response_ns = case.sessions() / throughput * 1e9;
        Self { throughput, response_ns, errors: 0, seconds: 12, busy: 1.0 }
    }
}

impl Laboratory {
    /// A closed sweep of these arms, mixes and session counts, not yet measured.
    pub fn closed(arms: &[&str], mixes: &[&str], threads: &[u32], blocks: u32) -> Self {
        let loads: Vec<Load> = threads
            .iter()
            .map(|sessions| Load::Closed { sessions: *sessions, think_time_ns: 0, target: None })
            .collect();
        Self::with_loads(arms, mixes, &loads, blocks)
    }

    /// An open sweep of these rates with 8 sessions, not yet measured.
    pub fn open(arms: &[&str], mixes: &[&str], rates: &[f64], blocks: u32) -> Self {
        let open =
            |rate: &f64| Load::Open { rate: *rate, arrivals: Arrivals::Constant, sessions: 8 };
        let loads: Vec<Load> = rates.iter().map(open).collect();
        Self::with_loads(arms, mixes, &loads, blocks)
    }

    fn with_loads(arms: &[&str], mixes: &[&str], loads: &[Load], blocks: u32) -> Self {
        let mixes: Vec<Mix> = mixes.iter().map(|name| Mix::preset(name).unwrap()).collect();
        let mut points = Vec::new();
        for mix in 0..mixes.len() {
            for load in loads {
                points.push(Point::fixed(u32::try_from(mix).unwrap(), load.clone()));
            }
        }
        let mut runs = Vec::new();
        for block in 0..blocks {
            for position in 0..u32::try_from(arms.len()).unwrap() {
                // Every other block the other way round, so that no arm is always first.
                let last = u32::try_from(arms.len()).unwrap() - 1;
                let arm = if block % 2 == 0 { position } else { last - position };
                runs.push(PlannedRun { block, position, arm, seed: 1 });
            }
        }
        let arm = |name: &&str| Arm {
            planted: None,
            name: (*name).into(),
            about: None,
            engine: "simulated".into(),
            settings: Settings::default(),
            data: DataSpec::with_records(1_000),
            levels: Vec::new(),
            working_set: None,
            on: None,
            directory: None,
            rig: RigSpec::default(),
        };
        let plan = Plan {
            hosts: Vec::new(),
            load_hosts: Vec::new(),
            version: PLAN_VERSION,
            name: "laboratory".into(),
            question: None,
            scale: None,
            factors: Vec::new(),
            design: plimsoll_plan::Design::Full,
            arms: arms.iter().map(arm).collect(),
            mixes,
            points,
            load_phase: LoadPhase { sessions: 1, once: false },
            events: Vec::new(),
            measurement: Measurement {
                warm_up_ns: SECOND_NS,
                duration_ns: 12 * SECOND_NS,
                operations: None,
                blocks,
                looks: None,
                order: Order::Shuffled,
                pairing: Pairing::InTurn,
                seed: 1,
                shaped_from: ShapedFrom::default(),
                checkpoints: plimsoll_plan::Checkpoints::default(),
                log_operations: 0,
                spare_blocks: None,
                caches: plimsoll_plan::Caches::AsLoaded,
                end_timeout_ns: plimsoll_plan::END_TIMEOUT_NS,
            },
            objective: None,
            against_itself: false,
            compare: Compare {
                baseline: arms[0].into(),
                factor: None,
                pairs: Vec::new(),
                primary: vec![Metric::Throughput],
                at: None,
                margins: BTreeMap::from([
                    ("throughput".into(), 0.03),
                    ("response.p99".into(), 0.05),
                ]),
            },
            thresholds: Vec::new(),
            runs,
            origins: Vec::new(),
        };
        Self { plan, runs: Vec::new() }
    }

    /// Measures every run of the plan.
    pub fn measure(mut self, show: impl Fn(Case<'_>) -> Shown) -> Self {
        for planned in self.plan.runs.clone() {
            let arm = self.plan.arms[planned.arm as usize].name.clone();
            let mut points = Vec::new();
            for (index, point) in self.plan.points.iter().enumerate() {
                let mix = self.plan.mixes[point.mix as usize].name.clone();
                let (load, load_label) = (in_record(&point.load), point.load.to_string());
                let case = Case { arm: &arm, mix: &mix, block: planned.block, load };
                let label = PointLabel {
                    point: Some(u32::try_from(index).unwrap()),
                    mix: mix.clone(),
                    load_label,
                    load,
                    trial: None,
                };
                points.push(point_record(label, &show(case)));
            }
            self.runs.push(finished_run(planned, &arm, points));
        }
        self
    }

    pub fn record(&self) -> ExperimentRecord {
        ExperimentRecord {
            plimsoll_record: RECORD_VERSION,
            id: "r1".into(),
            name: self.plan.name.clone(),
            state: ExperimentState::Finished,
            plan: serde_json::to_value(&self.plan).unwrap(),
            seed: 1,
            started_at: "2026-03-01T10:00:00Z".into(),
            runs: self.runs.clone(),
            ..ExperimentRecord::default()
        }
    }

    pub fn analyse(&self) -> Analysis {
        analyse(&self.record()).unwrap()
    }

    /// Every point of every run.
    pub fn points(&mut self) -> impl Iterator<Item = &mut PointRecord> {
        self.runs.iter_mut().flat_map(|run| &mut run.points)
    }
}

fn in_record(load: &Load) -> LoadKind {
    match load {
        Load::Closed { sessions, think_time_ns, target } => {
            LoadKind::Closed { sessions: *sessions, think_time_ns: *think_time_ns, target: *target }
        }
        Load::Open { rate, sessions, .. } => LoadKind::Open { rate: *rate, sessions: *sessions },
        Load::Stages { .. } => panic!("the laboratory has no stages"),
    }
}

pub fn finished_run(planned: PlannedRun, arm: &str, points: Vec<PointRecord>) -> RunRecord {
    RunRecord {
        block: planned.block,
        arm: arm.into(),
        position: planned.position,
        attempt: 1,
        state: RunState::Finished,
        seed: planned.seed,
        engine: Some(EngineDescription {
            name: "simulated".into(),
            version: "1".into(),
            ..EngineDescription::default()
        }),
        machine: Machine { cores: 2, ..Machine::default() },
        records_loaded: Some(1_000),
        points,
        ..RunRecord::default()
    }
}

/// A second of warm-up, half as fast, then the measured seconds.
pub fn point_record(label: PointLabel, shown: &Shown) -> PointRecord {
    let mut slices = vec![slice(
        0,
        true,
        label.load,
        &Shown { throughput: shown.throughput / 2.0, ..shown.clone() },
    )];
    for index in 1..=shown.seconds {
        slices.push(slice(index, false, label.load, shown));
    }
    let measured_ns = u64::from(shown.seconds) * SECOND_NS;
    let finished: u64 = slices[1..].iter().map(|slice| slice.completed.total()).sum();
    let is_open = matches!(label.load, LoadKind::Open { .. });
    let busy_ns = f64::from(label.load.sessions()) * measured_ns as f64 * shown.busy;
    let end = PointEnd {
        measured_ns,
        due: is_open.then_some(finished),
        busy_ns: busy_ns as u64,
        ..PointEnd::default()
    };
    PointRecord { label, warm_up_ns: SECOND_NS, started_at: String::new(), slices, end: Some(end) }
}

pub fn slice(index: u32, warm_up: bool, load: LoadKind, shown: &Shown) -> Slice {
    let ok = shown.throughput.round() as u64;
    let mut operations = vec![part(Operation::Read, Status::Ok, load, shown.response_ns, ok)];
    if shown.errors > 0 {
        operations.push(part(
            Operation::Read,
            Status::Error,
            load,
            shown.response_ns,
            shown.errors,
        ));
    }
    Slice {
        index,
        start_ns: u64::from(index) * SECOND_NS,
        length_ns: SECOND_NS,
        warm_up,
        completed: Completed { ok, not_found: 0, error: shown.errors },
        operations,
        by_host: Vec::new(),
        worker: WorkerUse { cpu_user_ns: SECOND_NS, ..WorkerUse::default() },
        telemetry: BTreeMap::new(),
    }
}

pub fn part(
    operation: Operation,
    status: Status,
    load: LoadKind,
    response_ns: f64,
    count: u64,
) -> OperationSlice {
    let mut latencies = Latencies::default();
    latencies.service.record_n(response_ns.round() as u64, count);
    if let LoadKind::Open { .. } = load {
        let mut open = OpenLatencies::default();
        open.response.record_n(response_ns.round() as u64, count);
        open.wait.record_n(1, count);
        latencies.open = Some(Box::new(open));
    }
    OperationSlice { operation, status, latencies }
}

pub fn histogram(value_ns: u64, count: u64) -> Histogram {
    let mut histogram = Histogram::new();
    histogram.record_n(value_ns, count);
    histogram
}

/// Six (and eight) blocks whose logarithms lie evenly around zero, so that their middle is exactly the value put in.
pub const SPREAD: [f64; 8] = [-0.020, 0.010, -0.005, 0.005, -0.010, 0.020, -0.015, 0.015];

/// The ups and downs that both arms of a block share.
pub fn weather(block: u32) -> f64 {
    [1.0, 0.7, 1.2, 0.9, 1.1, 0.8, 1.05, 0.95][block as usize % 8]
}

/// The deciding comparison of a metric.
pub fn primary(analysis: &Analysis, metric: Metric) -> &Comparison {
    analysis.comparisons.iter().find(|one| one.primary && one.metric == metric).unwrap()
}

pub fn point<'a>(analysis: &'a Analysis, arm: &str, label: &str) -> &'a CurvePoint {
    let curve = analysis.curves.iter().find(|curve| curve.arm == arm).unwrap();
    curve.points.iter().find(|point| point.load_label == label).unwrap()
}

/// Whether a warning of this id is among those of the whole.
pub fn warns(analysis: &Analysis, id: WarningId) -> bool {
    analysis.warnings.iter().any(|warning| warning.id == id)
}
