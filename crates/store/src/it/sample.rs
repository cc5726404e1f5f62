//! Records for the tests of the store.

use plimsoll_record::{
    Acknowledged, Completed, Disturbance, EngineDescription, ErrorSample, EventRecord,
    ExperimentRecord, Histogram, Latencies, LoadKind, Machine, NetworkPoint, NotedOperation,
    OpenLatencies, Operation, OperationSlice, PointEnd, PointLabel, PointRecord, Program,
    RECORD_VERSION, RoundTrips, RunRecord, RunState, Slice, Status, Storage, Warning, WarningId,
    WorkerUse,
};
use std::collections::BTreeMap;

/// An unfinished experiment of two arms and two blocks, without runs.
pub fn experiment(id: &str) -> ExperimentRecord {
    ExperimentRecord {
        plimsoll_record: RECORD_VERSION,
        id: id.to_owned(),
        name: "cache size".to_owned(),
        question: Some("does a larger cache pay?".to_owned()),
        file_text: "plimsoll: 1\nname: cache size\n".to_owned(),
        file_hash: "f11e".to_owned(),
        plan_hash: "91a4".to_owned(),
        plan: serde_json::json!({
            "version": 1,
            "arms": [{ "name": "small" }, { "name": "large" }],
            "runs": [{}, {}, {}, {}],
        }),
        seed: u64::MAX,
        program: Program { version: "0.1.0".to_owned(), commit: "abc-dirty".to_owned() },
        machine: Machine {
            cpu_model: Some("A fast one".to_owned()),
            cores: 2,
            memory_bytes: 4 << 30,
            cpu_limit: Some(1.3),
            ..Machine::default()
        },
        command: "plimsoll run cache.yaml".to_owned(),
        started_at: "2026-11-21T03:44:00Z".to_owned(),
        ..ExperimentRecord::default()
    }
}

/// A run that has just begun.
pub fn run(arm: &str, block: u32) -> RunRecord {
    RunRecord {
        block,
        arm: arm.to_owned(),
        position: 1,
        attempt: 1,
        seed: 7 + u64::from(block),
        started_at: "2026-11-21T03:44:01Z".to_owned(),
        ..RunRecord::default()
    }
}

/// What is known of a run when it is over.
pub fn complete(run: &mut RunRecord, state: RunState) {
    run.state = state;
    run.ended_at = Some("2026-11-21T03:45:00.25Z".to_owned());
    run.engine = Some(EngineDescription {
        name: "wiredtiger".to_owned(),
        version: "11.3.1".to_owned(),
        settings: BTreeMap::from([("cache_size".to_owned(), "256MiB".to_owned())]),
        notes: BTreeMap::new(),
    });
    run.storage = Some(Storage { directory: "/data".to_owned(), ..Storage::default() });
    run.records_loaded = Some(1_000_000);
    run.warnings.push(Warning::new(WarningId::Stall, &run.arm, "12 s below half"));
}

/// A point that has just begun.
pub fn point(number: Option<u32>) -> PointRecord {
    PointRecord {
        label: PointLabel {
            point: number,
            mix: number.map_or("load", |_| "a").to_owned(),
            load_label: "16 threads".to_owned(),
            load: LoadKind::Closed { sessions: 16, think_time_ns: 0, target: None },
            trial: None,
        },
        warm_up_ns: 1_000_000_000,
        started_at: "2026-11-21T03:44:02Z".to_owned(),
        slices: Vec::new(),
        end: None,
    }
}

pub fn end() -> PointEnd {
    PointEnd {
        network: Some(Box::new(NetworkPoint {
            length_ns: 2_000_000_000,
            received_bytes: 7,
            link_bytes_per_second: Some(125_000_000),
            round_trips: Some(RoundTrips::default()),
            ..NetworkPoint::default()
        })),
        measured_ns: 2_000_000_000,
        lag_is_apart: true,
        first_operation_ns: Some(90_000_000_000),
        foreign: Some(Box::default()),
        due: Some(40_000),
        unfinished: Some(histogram(&[5_000_000_000])),
        generator_lag: Some(histogram(&[900, 1_100])),
        busy_ns: 31_000_000_000,
        retries: 3,
        errors: vec![ErrorSample {
            operation: Operation::Update,
            message: "conflict".to_owned(),
            count: 2,
        }],
        operations: vec![NotedOperation {
            begin_ns: 81_000_000_000,
            end_ns: 81_007_000_000,
            session: 3,
            operation: Operation::Read,
            status: Status::Ok,
        }],
        stolen_ns: 10_000_000,
        clock_jump_ns: -5,
        disturbance: Some(Box::new(Disturbance {
            started_ns: 5,
            events: vec![EventRecord {
                event: 0,
                at_ns: 7,
                until_ns: None,
                member: Some("127.0.0.1:1".into()),
                cut: None,
            }],
            write_gaps: vec![(7, 200_000_007)],
            read_gaps: Vec::new(),
            acknowledged: Some(Acknowledged {
                writes: 3,
                lost: 1,
                lost_between_ns: Some((6, 6)),
                lost_keys: vec!["user1".into()],
                ..Acknowledged::default()
            }),
        })),
        ..PointEnd::default()
    }
}

/// A slice whose reads took these times.
pub fn slice(index: u32, reads_ns: &[u64]) -> Slice {
    let service = histogram(reads_ns);
    let open = OpenLatencies { response: service.clone(), wait: Histogram::new() };
    Slice {
        index,
        start_ns: u64::from(index) * 1_000_000_000,
        length_ns: 1_000_000_000,
        warm_up: index == 0,
        completed: Completed { ok: reads_ns.len() as u64, not_found: 0, error: 0 },
        operations: vec![OperationSlice {
            operation: Operation::Read,
            status: Status::Ok,
            latencies: Latencies { service, open: Some(Box::new(open)) },
        }],
        by_host: vec![3, 4],
        worker: WorkerUse {
            cpu_user_ns: 800,
            cpu_system_ns: 90,
            context_switches: 7,
            resident_bytes: 1 << 20,
        },
        // No binary fraction, and the neighbour of one: both must come back to the last bit.
        telemetry: BTreeMap::from([
            ("cache_bytes".to_owned(), 0.1 + 0.2),
            ("reads".to_owned(), 1.0 / 3.0),
        ]),
    }
}

fn histogram(values_ns: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for value_ns in values_ns {
        histogram.record(*value_ns);
    }
    histogram
}

/// A whole record: one finished run with a load phase, a point with a late share and a point that was cut off, and one failed run.
pub fn whole_experiment(id: &str) -> ExperimentRecord {
    let mut record = experiment(id);
    let mut first = run("small", 0);
    complete(&mut first, RunState::Finished);
    first.load =
        Some(PointRecord { slices: vec![slice(0, &[100])], end: Some(end()), ..point(None) });
    first.points.push(PointRecord {
        slices: vec![slice(0, &[1_000, 2_000]), slice(1, &[3_000]), slice(0, &[9_000_000])],
        end: Some(end()),
        ..point(Some(0))
    });
    first.points.push(PointRecord { slices: vec![slice(0, &[4_000])], ..point(Some(1)) });
    let mut second = run("large", 0);
    second.state = RunState::Failed { message: "the library is missing: install it".to_owned() };
    record.runs = vec![first, second];
    record
}

/// The record as it must come back: late shares merged.
pub fn merged(record: &ExperimentRecord) -> ExperimentRecord {
    let mut merged = record.clone();
    for run in &mut merged.runs {
        for point in run.points.iter_mut().chain(run.load.as_mut()) {
            point.merge_late_slices();
        }
    }
    merged
}
