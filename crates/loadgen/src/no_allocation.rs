//! Between its first and its last operation a session allocates nothing: whole points with real threads and the engine that does nothing.
//! That nothing is allocated from slice to slice either is shown on a clock that jumps, beside the loops.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use crate::{PointSpec, SliceSink, run_point, run_point_noting};
use plimsoll_engine::{Engine, EngineError, FieldVisitor, Opening, Outcome, Session, open};
use plimsoll_plan::Settings;
use plimsoll_record::{EngineDescription, Slice};
use plimsoll_testing::allocations::count;
use plimsoll_workload::schedule::{Arrivals, Load, Share, Stage};
use plimsoll_workload::{DataSpec, FieldChoice, Fields, KeySpace, Mix, Workload};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Hands everything on, and looks at its thread's allocations at every call.
struct Watching {
    engine: Box<dyn Engine>,
    calls: Arc<AtomicU64>,
    /// Allocations of each session between its first and its last call.
    allocations: Arc<Mutex<Vec<u64>>>,
}

struct WatchingSession {
    session: Box<dyn Session>,
    calls: Arc<AtomicU64>,
    allocations: Arc<Mutex<Vec<u64>>>,
    /// At the first and at the last call.
    seen: Option<(u64, u64)>,
}

impl WatchingSession {
    fn look(&mut self) {
        let now = count();
        self.seen = Some((self.seen.map_or(now, |(first, _)| first), now));
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for WatchingSession {
    fn drop(&mut self) {
        if let Some((first, last)) = self.seen {
            self.allocations.lock().unwrap().push(last - first);
        }
    }
}

impl Engine for Watching {
    fn description(&self) -> EngineDescription {
        self.engine.description()
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(WatchingSession {
            session: self.engine.session()?,
            calls: Arc::clone(&self.calls),
            allocations: Arc::clone(&self.allocations),
            seen: None,
        }))
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        self.engine.count()
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        self.engine.close()
    }
}

impl Session for WatchingSession {
    fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Outcome {
        self.look();
        self.session.read(key, fields, visitor)
    }

    fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Outcome {
        self.look();
        self.session.update(key, changes)
    }

    fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Outcome {
        self.look();
        self.session.insert(key, fields)
    }

    fn scan(&mut self, key: &[u8], count: u32, fields: FieldChoice<'_>, rows: &mut u32) -> Outcome {
        self.look();
        self.session.scan(key, count, fields, rows)
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        self.look();
        self.session.delete(key)
    }
}

/// Stops when all operations were sent.
struct Until(u64, Arc<AtomicU64>);

impl SliceSink for Until {
    fn slice(&mut self, _: Slice) {}

    fn stop_requested(&mut self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }
}

const OPERATIONS: u64 = 20_000;

fn allocations(mix: &str, load: Load) -> Vec<u64> {
    allocations_noting(mix, load, 0)
}

/// With notes of the first `noted` operations.
fn allocations_noting(mix: &str, load: Load, noted: usize) -> Vec<u64> {
    let data = DataSpec::with_records(10_000);
    let settings = Settings::default();
    let opening = Opening { allocator: "counting", ..Opening::new(&settings, &data) };
    let engine = Watching {
        engine: open("noop", &opening).unwrap(),
        calls: Arc::default(),
        allocations: Arc::default(),
    };
    let mix = Mix::preset(mix).unwrap();
    let workload = Workload::new(&KeySpace::new(&data).unwrap(), &mix, 1, None).unwrap();
    let closed = matches!(load, Load::Closed { .. });
    let spec = PointSpec {
        load,
        warm_up_ns: 0,
        duration_ns: 1_000_000_000_000,
        operations: closed.then_some(OPERATIONS),
        seed: 1,
        verify: false,
        share: Share::WHOLE,
    };
    let mut until = Until(OPERATIONS, Arc::clone(&engine.calls));
    let workload = Arc::new(workload);
    let end = match noted {
        0 => run_point(&engine, &workload, &spec, &mix, &mut until),
        most => run_point_noting(&engine, &workload, &spec, &mix, &mut until, most),
    };
    assert_eq!(end.unwrap().operations.len(), noted);
    assert!(engine.calls.load(Ordering::Relaxed) >= OPERATIONS);
    engine.allocations.lock().unwrap().clone()
}

#[test]
fn a_closed_loop_does_not_allocate() {
    for mix in ["a", "c"] {
        let load = Load::closed(2);
        assert_eq!(allocations(mix, load), [0, 0], "workload {mix}");
    }
}

#[test]
fn noting_operations_does_not_allocate() {
    let load = Load::closed(2);
    assert_eq!(allocations_noting("a", load, 5_000), [0, 0]);
}

#[test]
fn an_open_loop_does_not_allocate() {
    for mix in ["a", "c"] {
        // All are due within a fifth of a millisecond.
        let stage = Stage { rate_from: 1e8, rate_to: 1e8, duration_ns: OPERATIONS * 10 };
        let load = Load::Stages { stages: vec![stage], arrivals: Arrivals::Constant, sessions: 2 };
        let allocations = allocations(mix, load);
        assert!(!allocations.is_empty());
        let all = allocations.iter().sum::<u64>();
        assert_eq!(all, 0, "workload {mix}: {allocations:?}");
    }
}
