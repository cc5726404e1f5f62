//! Hosts that start together, and what is known of it.

use super::{Jumping, Keep, MILLISECOND, SECOND, Server, closed, spec, workload};
use crate::clock::{ClockStart, wait_for_start};
use crate::point::run_point_on;
use crate::spec::SliceSink;
use plimsoll_engine::Engine;
use plimsoll_record::{EngineDescription, PointEnd, Slice};
use plimsoll_workload::Mix;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A monotonic clock on which each reading takes 100 ns, and each sleep 60 µs more than was wanted.
struct Slow {
    now: Cell<u64>,
    sleeps: RefCell<Vec<u64>>,
    clock: Jumping,
    journal: Journal,
}

type Journal = Arc<Mutex<Vec<String>>>;

impl Slow {
    fn at(now: u64, journal: &Journal) -> Self {
        Self {
            now: Cell::new(now),
            sleeps: RefCell::default(),
            clock: Jumping::default(),
            journal: Arc::clone(journal),
        }
    }
}

impl ClockStart for Slow {
    type Clock = Jumping;

    fn monotonic_ns(&self) -> u64 {
        self.now.set(self.now.get() + 100);
        self.now.get()
    }

    fn sleep(&self, nanos: u64) {
        self.sleeps.borrow_mut().push(nanos);
        self.now.set(self.now.get() + nanos + 60_000);
    }

    fn start(&self) -> (Jumping, u64) {
        let text = format!("clock started at {}", self.now.get());
        self.journal.lock().unwrap().push(text);
        (self.clock.clone(), self.now.get())
    }
}

#[test]
fn the_way_to_the_start_is_slept_but_for_its_end() {
    let journal = Journal::default();
    let start = 10 * SECOND;
    let clock = Slow::at(start - 130 * MILLISECOND, &journal);
    wait_for_start(&clock, start, || false);
    let late = clock.now.get() - start;
    assert!(late < 100, "{late} ns after the start");
    let slept: u64 = clock.sleeps.borrow().iter().sum();
    assert!(slept > 129 * MILLISECOND);
    // A request to stop is noticed meanwhile.
    let longest = clock.sleeps.borrow().iter().copied().max().unwrap();
    assert!(longest <= 50 * MILLISECOND);
}

#[test]
fn a_start_in_the_past_is_now() {
    let journal = Journal::default();
    let clock = Slow::at(SECOND, &journal);
    wait_for_start(&clock, SECOND, || panic!("nobody waits"));
    assert_eq!(clock.now.get(), SECOND + 100);
    assert!(clock.sleeps.borrow().is_empty());
}

#[test]
fn a_request_to_stop_ends_the_waiting() {
    let journal = Journal::default();
    let clock = Slow::at(SECOND, &journal);
    let mut looks = 0;
    wait_for_start(&clock, u64::MAX, || {
        looks += 1;
        looks == 4
    });
    assert_eq!(clock.sleeps.borrow().len(), 3);
}

/// Writes down in which order things begin.
struct Watched {
    server: Server,
    journal: Journal,
}

impl Engine for Watched {
    fn description(&self) -> EngineDescription {
        self.server.description()
    }

    fn session(&self) -> Result<Box<dyn plimsoll_engine::Session>, plimsoll_engine::EngineError> {
        self.journal.lock().unwrap().push("session".into());
        self.server.session()
    }

    fn count(&self) -> Result<Option<u64>, plimsoll_engine::EngineError> {
        Ok(None)
    }

    fn point_begins(&self) {
        self.journal.lock().unwrap().push("point begins".into());
    }

    fn close(self: Box<Self>) -> Result<(), plimsoll_engine::EngineError> {
        Ok(())
    }
}

struct Ready {
    journal: Journal,
    start_ns: Option<u64>,
    keep: Keep,
}

impl SliceSink for Ready {
    fn slice(&mut self, slice: Slice) {
        self.keep.slice(slice);
    }

    fn ready(&mut self) -> Option<u64> {
        self.journal.lock().unwrap().push("ready".into());
        self.start_ns
    }

    fn measuring_begins(&mut self, _: Duration) {
        self.journal.lock().unwrap().push("measuring begins".into());
    }
}

/// A point of one session that begins operations of 1 ms, and what happened before.
fn started(start_ns: Option<u64>) -> (PointEnd, Vec<String>) {
    let journal = Journal::default();
    let clock = Slow::at(SECOND, &journal);
    let engine = Watched {
        server: Server::new(&clock.clock, |begin| begin + MILLISECOND),
        journal: Arc::clone(&journal),
    };
    let mut sink = Ready { journal: Arc::clone(&journal), start_ns, keep: Keep::default() };
    let mix = Mix::preset("c").unwrap();
    let mut spec = spec(closed(), 0, u64::MAX);
    spec.operations = Some(5);
    let workload = workload(&mix);
    let end = run_point_on(&engine, &workload, &spec, &mix, &mut sink, |_| (), &clock).unwrap();
    assert_eq!(sink.keep.slices.len(), 1);
    drop(engine);
    let said = std::mem::take(&mut *journal.lock().unwrap());
    (end, said)
}

#[test]
fn the_clock_starts_when_the_sink_says() {
    let order = |start: &str| {
        let order = ["session", "measuring begins", "ready", "point begins", start];
        order.map(str::to_owned)
    };
    let (end, said) = started(None);
    assert_eq!(said, order("clock started at 1000000000"));
    assert_eq!(end.first_operation_ns, Some(SECOND));
    let (end, said) = started(Some(3 * SECOND));
    // Readings are 100 ns apart, and sleeps a whole number of them.
    assert_eq!(said, order("clock started at 3000000000"));
    assert_eq!(end.first_operation_ns, Some(3 * SECOND));
    assert_eq!(end.measured_ns, 5 * MILLISECOND + 1);
}
