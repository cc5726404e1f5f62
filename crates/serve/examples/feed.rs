//! Writes an experiment of many arms into a store as a runner does, ten slices a second, so that the live page can be looked at and measured
//! without measuring anything: `cargo run -p plimsoll-serve --example feed -- STORE [SECONDS] [ARMS] [MILLISECONDS OF A POINT]`.
//!
//! Prints the id of the experiment when it has begun. It is finished when all of its runs are made in that time, and left interrupted otherwise.

use plimsoll_experiment::{Limits, Overrides, Surroundings, cannot_measure, check, read_text_file};
use plimsoll_plan::EngineKind;
use plimsoll_record::{
    Completed, ExperimentRecord, Histogram, Latencies, LoadKind, Operation, OperationSlice,
    PointEnd, PointLabel, RECORD_VERSION, RunRecord, RunState, Slice, Status,
};
use plimsoll_store::Store;
use std::error::Error;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

const SLICE: Duration = Duration::from_millis(100);
const SESSIONS: [u32; 5] = [1, 2, 4, 8, 16];
const BLOCKS: u32 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let store = arguments.next().ok_or("which store?")?;
    let mut number = |default: u64| match arguments.next() {
        Some(text) => text.parse().map_err(|error| format!("{text}: {error}")),
        None => Ok(default),
    };
    let (seconds, arms, point) = (number(30)?, number(16)?, number(500)?);
    let arms: Vec<String> = (1..=arms).map(|arm| format!("arm-{arm}")).collect();
    feed(Path::new(&store), Duration::from_secs(seconds), &arms, Duration::from_millis(point))
}

fn feed(
    path: &Path,
    length: Duration,
    arms: &[String],
    point: Duration,
) -> Result<(), Box<dyn Error>> {
    let mut store = Store::open(path)?;
    let id = store.begin(&experiment(arms, point)?)?;
    println!("{id}");
    let begin = Instant::now();
    let end = begin + length;
    let mut due = begin;
    for block in 0..BLOCKS {
        for (place, arm) in arms.iter().enumerate() {
            let mut head = run(arm, block, place as u32);
            let key = store.begin_run(&id, &head)?;
            for sessions in SESSIONS {
                let point_key = store.begin_point(key, &label(sessions), 0, &now())?;
                for index in 0..(point.as_millis() / SLICE.as_millis()) as u32 {
                    due += SLICE;
                    sleep(due.saturating_duration_since(Instant::now()));
                    let reads = speed(place, sessions, block + index);
                    store.add_slice(point_key, &slice(index, reads))?;
                    if Instant::now() >= end {
                        return Ok(());
                    }
                }
                let measured =
                    PointEnd { measured_ns: point.as_nanos() as u64, ..PointEnd::default() };
                store.end_point(point_key, &measured)?;
            }
            head.state = RunState::Finished;
            head.ended_at = Some(now());
            store.update_run(key, &head)?;
        }
    }
    store.finish(&id, &now())?;
    Ok(())
}

fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// Operations in a slice: more with more sessions, less and less so.
fn speed(arm: usize, sessions: u32, shift: u32) -> u64 {
    let sessions = f64::from(sessions);
    let wave = f64::from(shift % 7) * 9.0;
    (2_000.0 * sessions / (1.0 + sessions / 6.0) + 90.0 * arm as f64 + wave) as u64
}

fn experiment(arms: &[String], point: Duration) -> Result<ExperimentRecord, Box<dyn Error>> {
    let names: Vec<String> = arms.iter().map(|arm| format!("{arm}: ")).collect();
    let text = format!(
        "
plimsoll: 1
name: made-up
question: Which of many arms is the fastest?
workload: {{records: 1k, mixes: [a]}}
defaults: {{engine: noop}}
arms: {{{}}}
load: {{closed: {{threads: [1, 2, 4, 8, 16]}}}}
measurement: {{warm_up: 0s, duration: {}ms, blocks: {BLOCKS}, order: as-written}}
",
        names.join(", "),
        point.as_millis()
    );
    let engines = [EngineKind {
        name: "noop",
        about: "Returns at once.",
        keeps_data: false,
        server: None,
        cache_setting: None,
        usable_cache: 0.0,
        unfit: |_| None,
        settings: &[],
    }];
    let surroundings = Surroundings {
        base_dir: Path::new("."),
        engines: &engines,
        limits: Limits::UNKNOWN,
        overrides: &Overrides::default(),
        read_file: &read_text_file,
        measure: &cannot_measure,
    };
    let plan = check(&text, "made-up.yaml", &surroundings)?;
    Ok(ExperimentRecord {
        plimsoll_record: RECORD_VERSION,
        name: plan.name.clone(),
        question: plan.question.clone(),
        file_text: text,
        plan_hash: "made-up".to_owned(),
        plan: serde_json::to_value(&plan)?,
        seed: 1,
        command: "plimsoll run made-up.yaml".to_owned(),
        started_at: now(),
        ..ExperimentRecord::default()
    })
}

fn run(arm: &str, block: u32, position: u32) -> RunRecord {
    RunRecord {
        block,
        arm: arm.to_owned(),
        position,
        attempt: 1,
        seed: 1,
        started_at: now(),
        ..RunRecord::default()
    }
}

fn label(sessions: u32) -> PointLabel {
    PointLabel {
        point: SESSIONS.iter().position(|one| *one == sessions).map(|place| place as u32),
        mix: "A".to_owned(),
        load_label: format!("{sessions} threads"),
        load: LoadKind::Closed { sessions, think_time_ns: 0, target: None },
        trial: None,
    }
}

fn slice(index: u32, reads: u64) -> Slice {
    let mut service = Histogram::new();
    for tail in 0..100 {
        service.record_n(400_000 + tail * tail * 90, reads / 100 + 1);
    }
    let length_ns = SLICE.as_nanos() as u64;
    Slice {
        index,
        start_ns: u64::from(index) * length_ns,
        length_ns,
        completed: Completed { ok: reads, ..Completed::default() },
        operations: vec![OperationSlice {
            operation: Operation::Read,
            status: Status::Ok,
            latencies: Latencies { service, open: None },
        }],
        ..Slice::default()
    }
}
