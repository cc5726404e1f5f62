//! Sessions that pace themselves, batches, and observers.

use super::{CommandKind, Jumping, Keep, MILLISECOND, MeasuredPoint, SECOND, Server};
use super::{closed, measure, spec, workload};
use crate::clock::Clock;
use crate::observer::{After, ObservedOp, OpObserver};
use crate::point::run_point_on;
use plimsoll_engine::{Engine, Outcome};
use plimsoll_record::{Operation, PointEnd, Status};
use plimsoll_workload::schedule::Load;
use plimsoll_workload::{DataSpec, KeySpace, Mix, Workload};
use std::sync::{Arc, Mutex};

/// Ten operations a second from one session would be spread: those of 2,000 begin at once, one each 500 µs.
fn paced(operations: Option<u64>, duration_ns: u64, end_of: fn(u64) -> u64) -> MeasuredPoint {
    let load = Load::Closed { sessions: 1, think_time_ns: 0, target: Some(2_000.0) };
    let mut spec = spec(load, 0, duration_ns);
    spec.operations = operations;
    measure(&spec, end_of)
}

#[test]
fn a_paced_session_asks_when_it_is_due() {
    let measured = paced(Some(2_000), u64::MAX, |begin| begin + 100_000);
    let [service, response, wait] = measured.histograms();
    assert_eq!(service.count(), 2_000);
    assert_eq!(service.max_ns(), Some(100_031));
    assert_eq!(response.max_ns(), Some(100_031));
    assert_eq!(wait.max_ns(), Some(0));
    // 2,000 ticks of 500 µs, less the pause after the last operation.
    assert_eq!(measured.end.measured_ns, SECOND - 400_000 + 1);
    assert!(measured.end.unfinished.is_none());
}

/// One stall of 10 ms makes 20 ticks late. With operations of 100 µs a session catches up at 400 µs each, so 25 operations wait.
#[test]
fn a_session_that_falls_behind_catches_up_and_its_operations_have_waited() {
    let measured = paced(Some(200), u64::MAX, |begin| match begin {
        10_000_000 => begin + 10 * MILLISECOND,
        _ => begin + 100_000,
    });
    let [service, response, wait] = measured.histograms();
    assert_eq!(service.count(), 200);
    assert_eq!(service.count_above(MILLISECOND), 1);
    // The first that was due in the stall waited 9.5 ms, the next 9.1 ms and so on: 24 of them.
    let have_not = wait.count() - wait.count_above(0).min(wait.count());
    assert_eq!(have_not, 200 - 24);
    let longest = wait.max_ns().unwrap();
    assert!((9_500_000..9_510_000).contains(&longest), "{longest}");
    assert_eq!(response.count_above(MILLISECOND), 1 + 22);
    assert_eq!(measured.end.measured_ns, 100 * MILLISECOND - 400_000 + 1);
}

/// Operations of 1 ms, one due each 500 µs: within 100 ms, 200 are due and 100 are sent; the last of these ends too late.
#[test]
fn what_a_paced_session_could_not_begin_is_counted_as_unfinished() {
    let measured = paced(None, 100 * MILLISECOND, |begin| begin + MILLISECOND);
    assert_eq!(measured.completed(), 99);
    assert_eq!(measured.unfinished().count(), 101);
    assert_eq!(measured.end.due, Some(200));
    assert_eq!(measured.end.measured_ns, 100 * MILLISECOND);
}

/// A database that takes inserts four at a time, a millisecond for each batch, and fails the last, which is not full, if so configured.
fn batches(clock: &Jumping, flush_fails: bool) -> Server {
    let mut kept = 0;
    Server::answering(clock, move |requested, clock| {
        match requested {
            CommandKind::Other => return Some(Outcome::NotFound),
            CommandKind::Insert => kept += 1,
            CommandKind::Flush if kept == 0 => return None,
            CommandKind::Flush => {}
        }
        if requested == CommandKind::Insert && kept < 4 {
            clock.jump_to(clock.now() + 1_000);
            return Some(Outcome::Batched);
        }
        let fails = flush_fails && kept < 4;
        kept = 0;
        clock.jump_to(clock.now() + MILLISECOND);
        Some(match fails {
            true => Outcome::error("the disk is full"),
            false => Outcome::Ok,
        })
    })
}

type Journal = Arc<Mutex<Vec<(&'static str, ObservedOp)>>>;

/// Writes down what it sees, and asks failed inserts again as often as configured.
struct Recorder {
    journal: Journal,
    again: u32,
}

impl OpObserver for Recorder {
    fn saw(&mut self, seen: &ObservedOp) {
        self.journal.lock().unwrap().push(("saw", *seen));
    }

    fn after(&mut self, operation: Operation, status: Status, attempts: u32) -> After {
        if operation != Operation::Insert || status != Status::Error {
            After::GoOn
        } else if attempts <= self.again {
            let pause_ns = 5_000_000;
            After::Again { pause_ns }
        } else {
            After::Stop
        }
    }

    fn flushed(&mut self, seen: &ObservedOp) {
        self.journal.lock().unwrap().push(("flushed", *seen));
    }
}

/// What came of inserts: the slices, the end, and what the observer saw.
type Inserted = (Keep, PointEnd, Vec<(&'static str, ObservedOp)>);

fn inserts(engine: &dyn Engine, clock: Jumping, operations: u64, again: u32) -> Inserted {
    let mut mix = Mix::preset("c").unwrap();
    (mix.read, mix.insert) = (0.0, 1.0);
    let mut spec = spec(closed(), 0, u64::MAX);
    spec.operations = Some(operations);
    let mut keep = Keep::default();
    let journal = Journal::default();
    let observer = |_| Recorder { journal: Arc::clone(&journal), again };
    let workload = workload(&mix);
    let end = run_point_on(engine, &workload, &spec, &mix, &mut keep, observer, &clock).unwrap();
    let seen = std::mem::take(&mut *journal.lock().unwrap());
    (keep, end, seen)
}

#[test]
fn batches_have_a_cell_of_their_own_and_the_last_is_sent() {
    for flush_fails in [false, true] {
        let clock = Jumping::default();
        let engine = batches(&clock, flush_fails);
        let (keep, end, seen) = inserts(&engine, clock, 10, 0);
        let slice = &keep.slices[0];
        let parts = slice.operations.iter();
        let counts: Vec<_> = parts
            .map(|part| (part.status, &part.latencies))
            .map(|(status, times)| (status, times.count(), times.service.min_ns()))
            .collect();
        let batched = (Status::Batched, 8, Some(1_000));
        let batch = Some(999_936);
        if flush_fails {
            let expected = [(Status::Ok, 2, batch), batched, (Status::Error, 1, batch)];
            assert_eq!(counts, expected);
            assert_eq!((slice.completed.ok, slice.completed.error), (10, 1));
            assert_eq!(end.errors[0].message, "the disk is full");
        } else {
            assert_eq!(counts, [(Status::Ok, 3, batch), batched]);
            assert_eq!((slice.completed.ok, slice.completed.error), (10, 0));
        }
        assert_eq!(seen.len(), 11);
        let flushed = seen.iter().filter(|(what, _)| *what == "flushed");
        assert_eq!(flushed.count(), 1);
    }
}

#[test]
fn a_witness_can_have_an_insert_asked_again_and_end_its_session() {
    let clock = Jumping::default();
    let mut calls = 0;
    let server = Server::answering(&clock, move |requested, clock| {
        if requested == CommandKind::Flush {
            return None;
        }
        calls += 1;
        let took = if calls == 2 { 7 } else { 1 };
        clock.jump_to(clock.now() + took * MILLISECOND);
        Some(Outcome::error("no"))
    });
    let (_, end, seen) = inserts(&server, clock, 10, 2);
    let begins = seen.iter().map(|(_, seen)| seen.dispatched_ns / MILLISECOND);
    // Three attempts, 5 ms after the last one ended.
    assert_eq!(begins.collect::<Vec<_>>(), [0, 6, 18]);
    assert_eq!(end.errors[0].count, 3);
}

/// A read that ends after the time is up is not counted here, but who watches sees it, and sees it verified like every other.
#[test]
fn a_read_that_ends_too_late_is_verified_too() {
    let clock = Jumping::default();
    let engine = Server::new(&clock, |begin| begin + 3 * MILLISECOND);
    let mix = Mix::preset("c").unwrap();
    let mut data = DataSpec::with_records(100);
    data.data_integrity = true;
    let key_space = KeySpace::new(&data).unwrap();
    let workload = Arc::new(Workload::new(&key_space, &mix, 1, None).unwrap());
    let mut spec = spec(closed(), 0, 10 * MILLISECOND);
    spec.verify = true;
    let mut keep = Keep::default();
    let journal = Journal::default();
    let observer = |_| Recorder { journal: Arc::clone(&journal), again: 0 };
    run_point_on(&engine, &workload, &spec, &mix, &mut keep, observer, &clock).unwrap();
    let seen = journal.lock().unwrap();
    let count = |operation| {
        let of = |(_, one): &&(_, ObservedOp)| one.operation == operation;
        seen.iter().filter(of).count()
    };
    assert_eq!((count(Operation::Read), count(Operation::Verify)), (4, 4));
    let counted = keep.slices.iter().map(|slice| slice.completed.total());
    assert_eq!(counted.sum::<u64>(), 3);
}
