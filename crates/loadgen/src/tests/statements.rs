//! Statements of an application: what they find decides how they end.

use super::{Jumping, SECOND};
use crate::asking::{SessionParts, Source};
use crate::closed::{self, ClosedPace};
use crate::grid::Grid;
use crate::recorder::{Counted, Recording};
use crate::session_end::SessionEnd;
use crate::shared::Shared;
use plimsoll_engine::{Answer, FieldVisitor, Outcome, PartTime, Session};
use plimsoll_record::{Operation, OwnOperation, StatementKind, StatementTimes, Status};
use plimsoll_testing::allocations::during;
use plimsoll_workload::{
    Ask, Expected, FieldChoice, Fields, NewDocuments, Sequence, SequenceEnd, SequencePart,
    Statement,
};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Answers every statement with as many documents as its command has bytes; one that begins with `!` fails.
struct Length(Jumping, [PartTime; 2]);

impl Session for Length {
    fn read(&mut self, _: &[u8], _: FieldChoice<'_>, _: Option<&mut dyn FieldVisitor>) -> Outcome {
        unreachable!("only statements are asked")
    }

    fn update(&mut self, _: &[u8], _: Fields<'_>) -> Outcome {
        unreachable!("only statements are asked")
    }

    fn insert(&mut self, _: &[u8], _: Fields<'_>) -> Outcome {
        unreachable!("only statements are asked")
    }

    fn scan(&mut self, _: &[u8], _: u32, _: FieldChoice<'_>, _: &mut u32) -> Outcome {
        unreachable!("only statements are asked")
    }

    fn delete(&mut self, _: &[u8]) -> Outcome {
        unreachable!("only statements are asked")
    }

    fn part_times(&self) -> &[PartTime] {
        &self.1
    }

    fn statement(&mut self, statement: &Statement<'_>, answer: &mut Answer) -> Outcome {
        assert_eq!(*answer, Answer::default());
        self.0.jump_to(self.0.now.load(Ordering::Relaxed) + 1_000);
        if statement.command.starts_with(b"!") {
            return Outcome::error("out of memory");
        }
        answer.documents = statement.command.len() as u64;
        answer.early_end = match statement.command {
            b"undone" => Some(SequenceEnd::Undone),
            b"stopped" => Some(SequenceEnd::StoppedAt(0)),
            _ => None,
        };
        self.1 = [1, 2].map(|count| PartTime { count, total_ns: 300 });
        if statement.command == b"wrong" {
            answer.wrong = Some((1, 5));
        }
        Outcome::Ok
    }
}

/// Gives these statements in turns, and keeps what is acknowledged.
#[derive(Default)]
struct List {
    statements: Vec<Statement<'static>>,
    /// How many commands were given out so far.
    given: AtomicU64,
    acknowledged: Mutex<Vec<NewDocuments>>,
    ends: Vec<SequenceEnd>,
}

impl Source for List {
    fn next(&mut self) -> Option<Ask<'_>> {
        let number = self.given.fetch_add(1, Ordering::Relaxed) as usize;
        Some(Ask::Statement(self.statements[number % self.statements.len()]))
    }

    fn acknowledge(&self, _: u64) {
        unreachable!("statements insert documents")
    }

    fn acknowledge_documents(&self, new: NewDocuments) {
        self.acknowledged.lock().unwrap().push(new);
    }

    fn sequence_ended(&mut self, end: SequenceEnd) {
        self.ends.push(end);
    }
}

fn own(kind: StatementKind, name: &str) -> OwnOperation {
    OwnOperation::new(kind, name).unwrap()
}

/// A statement of the first operation that finds as many documents as `command` has bytes.
fn find(command: &'static str, expected: Expected) -> Statement<'static> {
    Statement {
        operation: own(StatementKind::Find, "by-customer"),
        slot: 0,
        command: command.as_bytes(),
        limit: 0,
        expected,
        units: 1,
        inserted: None,
        growth: None,
        sequence: None,
    }
}

struct Found {
    counted: Counted,
    end: SessionEnd,
    acknowledged: Vec<NewDocuments>,
    ends: Vec<SequenceEnd>,
    allocations: u64,
}

impl Found {
    fn counts(&self) -> BTreeMap<(Operation, Status), u64> {
        let parts = self.counted.operations.iter();
        parts.map(|part| ((part.operation, part.status), part.latencies.count())).collect()
    }

    fn completed(&self) -> [u64; 3] {
        let completed = self.counted.completed;
        [completed.ok, completed.not_found, completed.error]
    }

    fn messages(&self) -> Vec<(Operation, &str, u64)> {
        let errors = self.end.errors.iter();
        errors.map(|one| (one.operation, one.message.as_str(), one.count)).collect()
    }
}

/// Sends the statements in turn, `times` of them in all.
fn ask(statements: &[Statement<'static>], times: u64) -> Found {
    let mut operations = BTreeMap::new();
    for statement in statements {
        operations.insert(statement.slot, Operation::Own(statement.operation));
    }
    let operations: Vec<Operation> = operations.into_values().collect();
    let clock = Jumping::default();
    let recording = Recording::new(Grid::new(0), &operations, 1, false, false);
    let parts = SessionParts {
        clock: clock.clone(),
        session: Box::new(Length(clock, [PartTime::default(); 2])),
        recorder: recording.recorder(0),
        end: SessionEnd::default(),
        copied: None,
        observer: (),
    };
    let ends = Vec::with_capacity(times as usize);
    let mut list = List { statements: statements.to_vec(), ends, ..List::default() };
    let shared = Shared::new(SECOND);
    let pacing = ClosedPace { warm_up_ns: 0, think_time_ns: 0, share: times, pace: None };
    let mut end = SessionEnd::default();
    let allocations = during(|| end = closed::run(parts, &mut list, &shared, pacing));
    let acknowledged = list.acknowledged.into_inner().unwrap();
    let ends = list.ends;
    Found { counted: recording.take(0), end, acknowledged, ends, allocations }
}

#[test]
fn what_is_found_as_expected_is_well_and_allocates_nothing() {
    let expected = [
        find("ten bytes.", Expected::Between(10, 10)),
        find("some", Expected::Some),
        find("", Expected::Any),
        find("", Expected::Between(0, 3)),
    ];
    let found = ask(&expected, 400);
    let operation = Operation::Own(own(StatementKind::Find, "by-customer"));
    assert_eq!(found.counts(), [((operation, Status::Ok), 400)].into());
    assert_eq!(found.completed(), [400, 0, 0]);
    assert_eq!(found.messages(), []);
    assert_eq!(found.allocations, 0);
}

#[test]
fn nothing_where_there_must_be_something_is_not_found() {
    let operation = Operation::Own(own(StatementKind::Find, "by-customer"));
    for expected in [Expected::Some, Expected::Between(1, 1), Expected::Between(5, u64::MAX)] {
        let found = ask(&[find("", expected)], 3);
        assert_eq!(found.counts(), [((operation, Status::NotFound), 3)].into());
        assert_eq!(found.completed(), [0, 3, 0]);
        assert_eq!(found.messages(), []);
    }
}

#[test]
fn another_number_than_expected_is_an_operation_and_a_failed_verification() {
    let operation = Operation::Own(own(StatementKind::Find, "by-customer"));
    let expected = [
        (Expected::Between(10, 10), "by-customer found 3 documents, 10 were to be found"),
        (Expected::Between(1, 1), "by-customer found 3 documents, 1 was to be found"),
        (Expected::Between(1, 2), "by-customer found 3 documents, 1 to 2 were to be found"),
        (
            Expected::Between(4, u64::MAX),
            "by-customer found 3 documents, at least 4 were to be found",
        ),
    ];
    for (expected, message) in expected {
        let found = ask(&[find("too", expected)], 5);
        let counts = [((operation, Status::Ok), 5), ((Operation::Verify, Status::Error), 5)];
        assert_eq!(found.counts(), counts.into());
        assert_eq!(found.completed(), [5, 0, 0]);
        assert_eq!(found.messages(), [(Operation::Verify, message, 5)]);
    }
}

/// The names differ in a digit only.
#[test]
fn wrong_numbers_of_two_operations_are_told_apart() {
    let two = [(0, "q1"), (1, "q2")].map(|(slot, name)| Statement {
        operation: own(StatementKind::Delete, name),
        slot,
        ..find("x", Expected::Between(2, 2))
    });
    let found = ask(&two, 5);
    let message = |name| format!("{name} removed 1 document, 2 were to be removed");
    let [first, second] = ["q1", "q2"].map(message);
    let messages =
        [(Operation::Verify, first.as_str(), 3), (Operation::Verify, second.as_str(), 2)];
    assert_eq!(found.messages(), messages);
}

#[test]
fn a_command_of_a_load_completes_all_its_documents_and_has_one_time() {
    let new = |first| Some(NewDocuments { collection: 2, first, count: 1_000 });
    let store = Statement {
        operation: own(StatementKind::Insert, "store"),
        units: 1_000,
        inserted: new(0),
        ..find("a load", Expected::Any)
    };
    let refused = Statement { command: b"!", inserted: new(1_000), ..store };
    let found = ask(&[store, refused], 2);
    let operation = Operation::Own(store.operation);
    let counts = [((operation, Status::Ok), 1), ((operation, Status::Error), 1)];
    assert_eq!(found.counts(), counts.into());
    assert_eq!(found.completed(), [1_000, 0, 1]);
    assert_eq!(found.messages(), [(operation, "out of memory", 1)]);
    assert_eq!(found.acknowledged, [new(0).unwrap(), new(1_000).unwrap()]);
}

#[test]
fn operations_are_counted_apart_in_the_order_of_their_slots() {
    let slots = [
        (2, StatementKind::Find, "basket"),
        (0, StatementKind::Update, "pay"),
        (1, StatementKind::Delete, "expire"),
    ];
    let three = slots.map(|(slot, kind, name)| Statement {
        operation: own(kind, name),
        slot,
        ..find("x", Expected::Some)
    });
    let found = ask(&three, 7);
    let parts = found.counted.operations.iter();
    let order: Vec<_> = parts.map(|part| (part.operation.name(), part.latencies.count())).collect();
    assert_eq!(order, [("pay", 2), ("expire", 2), ("basket", 3)]);
}

/// A transaction of two statements; its answer is by the first letter of its command.
fn transaction(command: &'static [u8]) -> Statement<'static> {
    static PARTS: std::sync::LazyLock<[SequencePart; 2]> = std::sync::LazyLock::new(|| {
        let part = |kind, name, end, expected| SequencePart {
            operation: own(kind, name),
            end,
            limit: 0,
            expected,
            inserted: None,
        };
        [
            part(StatementKind::Insert, "check-out-1", 1, Expected::Any),
            part(StatementKind::Update, "check-out-2", 2, Expected::Between(1, 1)),
        ]
    });
    Statement {
        operation: own(StatementKind::Transaction, "check-out"),
        growth: None,
        sequence: Some(Sequence { parts: &*PARTS, commands: b"iu", retries: 3 }),
        command,
        ..find("", Expected::Any)
    }
}

#[test]
fn a_transaction_is_one_operation_and_its_end_is_reported() {
    use SequenceEnd::{Committed, InDoubt, StoppedAt, Undone};
    let operation = Operation::Own(own(StatementKind::Transaction, "check-out"));
    let all =
        [b"committed".as_slice(), b"undone", b"wrong", b"!refused", b"stopped"].map(transaction);
    let found = ask(&all, 10);
    assert_eq!(found.ends, [Committed, Undone, Committed, InDoubt, StoppedAt(0)].repeat(2));
    let counts = found.counts();
    assert_eq!(counts[&(operation, Status::Ok)], 4);
    assert_eq!(counts[&(operation, Status::NotFound)], 4);
    assert_eq!(counts[&(operation, Status::Error)], 2);
    assert_eq!(counts[&(Operation::Verify, Status::Error)], 2);
    assert_eq!(found.completed(), [4, 4, 2]);
    let wrong = "check-out-2 matched 5 documents, 1 was to be matched";
    assert!(found.messages().contains(&(Operation::Verify, wrong, 2)), "{:?}", found.messages());
    let committed = ask(&all[..1], 500);
    assert_eq!((committed.completed(), committed.allocations), ([500, 0, 0], 0));
    let times = [
        (StatementKind::Insert, "check-out-1", 500),
        (StatementKind::Update, "check-out-2", 1_000),
    ];
    let times = times.map(|(kind, name, count)| StatementTimes {
        operation: own(kind, name),
        count,
        total_ns: 150_000,
    });
    assert_eq!(committed.end.statements, times);
}
