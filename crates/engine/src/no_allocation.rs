//! Operations that succeed do not allocate, once a session's buffers have grown. What WiredTiger allocates inside goes to malloc and is
//! not counted.

use crate::{Answer, FieldVisitor, Opening, Outcome, Session, open};
use bson::doc;
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_record::{OwnOperation, StatementKind};
use plimsoll_testing::allocations::{CountingAllocator, count};
use plimsoll_workload::{
    Ask, DataSpec, Expected, FieldChoice, KeySpace, Mix, NewDocuments, Statement, Workload,
};
use std::path::Path;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

struct Bytes(usize);

impl FieldVisitor for Bytes {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.0 += name.len() + value.len();
    }
}

fn assert_ok(outcome: Outcome) {
    assert!(matches!(outcome, Outcome::Ok), "{outcome:?}");
}

/// Every operation on every record, three rounds of it. The first makes the buffers grow.
fn rounds(session: &mut dyn Session, data: &DataSpec) {
    let key_space = KeySpace::new(data).expect("the data is possible");
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut load = key_space.loader(1).generator(0);
    while let Some(Ask::Insert { key, .. }) = load.next() {
        keys.push(key.to_vec());
    }
    let mut mix = Mix::preset("a").expect("a preset");
    (mix.read, mix.update) = (0.0, 1.0);
    let workload = Arc::new(Workload::new(&key_space, &mix, 1, None).expect("the mix is possible"));
    let mut updates = workload.generator(0);
    for round in 0..3 {
        let mut load = key_space.loader(1).generator(0);
        let before = count();
        let mut visitor = Bytes(0);
        let mut rows = 0;
        while let Some(Ask::Insert { key, fields, .. }) = load.next() {
            assert_ok(session.insert(key, fields));
            assert_ok(session.read(key, FieldChoice::All, None));
            assert_ok(session.read(key, FieldChoice::All, Some(&mut visitor)));
            assert_ok(session.read(key, FieldChoice::Some(&[0, 3]), Some(&mut visitor)));
            let Ask::Update { changes, .. } = updates.next() else {
                unreachable!("there are only updates")
            };
            assert_ok(session.update(key, changes));
            assert_ok(session.scan(key, 10, FieldChoice::Some(&[5]), &mut rows));
        }
        for key in &keys {
            assert_ok(session.delete(key));
        }
        if round > 0 {
            assert_eq!(count() - before, 0);
        }
    }
}

/// Statements of each kind on a collection of 50 documents.
fn statement_commands() -> Vec<(StatementKind, bson::Document)> {
    let documents: Vec<bson::Document> = (0..50).map(|id| doc! { "_id": id, "a": 1 }).collect();
    let set = doc! { "$inc": { "a": 1 } };
    let change =
        |multi: bool| doc! { "q": { "_id": { "$gte": 10 } }, "u": set.clone(), "multi": multi };
    let removal = |limit: i32| doc! { "q": {}, "limit": limit };
    let stages = [doc! { "$match": { "_id": { "$lt": 30 } } }];
    vec![
        (StatementKind::Insert, doc! { "insert": "orders", "documents": documents }),
        // Over several batches.
        (StatementKind::Find, doc! { "find": "orders", "batchSize": 20 }),
        (
            StatementKind::Aggregate,
            doc! { "aggregate": "orders", "pipeline": stages.to_vec(), "cursor": { "batchSize": 20 } },
        ),
        (StatementKind::Count, doc! { "count": "orders", "query": { "a": 1 } }),
        (StatementKind::Distinct, doc! { "distinct": "orders", "key": "a" }),
        (StatementKind::Update, doc! { "update": "orders", "updates": [change(false)] }),
        (StatementKind::Update, doc! { "update": "orders", "updates": [change(true)] }),
        (
            StatementKind::FindAndModify,
            doc! { "findAndModify": "orders", "query": { "_id": 5 }, "update": set.clone() },
        ),
        (StatementKind::Delete, doc! { "delete": "orders", "deletes": [removal(1)] }),
        // Everything, so that the next round can insert again.
        (StatementKind::Delete, doc! { "delete": "orders", "deletes": [removal(0)] }),
    ]
}

/// Every statement in three rounds. The first makes the buffers grow.
fn statement_rounds(session: &mut dyn Session) {
    let commands: Vec<(StatementKind, Vec<u8>)> = statement_commands()
        .iter()
        .map(|(kind, command)| (*kind, command.to_vec().expect("it is BSON")))
        .collect();
    let inserted = NewDocuments { collection: 0, first: 0, count: 50 };
    let statements: Vec<Statement<'_>> = commands
        .iter()
        .enumerate()
        .map(|(slot, (kind, command))| Statement {
            operation: OwnOperation::new(*kind, &format!("s{slot}")).expect("a name"),
            slot: slot as u8,
            command,
            limit: if *kind == StatementKind::Find { 40 } else { 0 },
            expected: Expected::Any,
            units: 1,
            inserted: (*kind == StatementKind::Insert).then_some(inserted),
            growth: None,
            sequence: None,
        })
        .collect();
    for round in 0..3 {
        let before = count();
        for statement in &statements {
            let mut answer = Answer::default();
            assert_ok(session.statement(statement, &mut answer));
            assert!(answer.documents > 0);
        }
        if round > 0 {
            assert_eq!(count() - before, 0);
        }
    }
}

fn operations_do_not_allocate(
    engine: &str,
    directory: Option<&Path>,
    server: Option<&str>,
    settings: &Settings,
    data: &DataSpec,
) {
    let opening =
        Opening { directory, server, allocator: "counting", ..Opening::new(settings, data) };
    let engine = open(engine, &opening).expect("the engine opens");
    let mut session = engine.session().expect("a session");
    rounds(&mut *session, data);
    if engine.description().name != "wiredtiger" {
        statement_rounds(&mut *session);
    }
    drop(session);
    engine.close().expect("the engine closes");
}

#[test]
fn noop() {
    let (settings, data) = (Settings::default(), DataSpec::with_records(50));
    operations_do_not_allocate("noop", None, None, &settings, &data);
}

#[test]
fn simulated() {
    let settings = Settings([("service_mean".into(), SettingValue::Nanos(0))].into());
    let data = DataSpec::with_records(50);
    operations_do_not_allocate("simulated", None, None, &settings, &data);
}

#[cfg(feature = "wiredtiger")]
#[test]
fn wiredtiger() {
    use plimsoll_workload::FieldLength;
    let mut changing_lengths = DataSpec::with_records(50);
    changing_lengths.field_length = FieldLength::Uniform { min: 1, max: 200 };
    for data in [DataSpec::with_records(50), changing_lengths] {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (settings, folder) = (Settings::default(), Some(directory.path()));
        operations_do_not_allocate("wiredtiger", folder, None, &settings, &data);
    }
}

#[cfg(feature = "mongodb")]
mod slow {
    use super::*;

    /// A transaction that inserts, reads over several batches, and removes.
    fn transaction_rounds(session: &mut dyn Session) {
        use plimsoll_workload::{Sequence, SequencePart};
        let (mut commands, mut parts) = (Vec::new(), Vec::new());
        for place in [0, 1, 9] {
            let (kind, command) = &statement_commands()[place];
            commands.extend(command.to_vec().expect("it is BSON"));
            let inserted = NewDocuments { collection: 0, first: 0, count: 50 };
            parts.push(SequencePart {
                operation: OwnOperation::new(*kind, &format!("t{place}")).expect("a name"),
                end: commands.len(),
                limit: 0,
                expected: Expected::Between(50, 50),
                inserted: (*kind == StatementKind::Insert).then_some(inserted),
            });
        }
        let commit = doc! { "commitTransaction": 1 }.to_vec().expect("it is BSON");
        let statement = Statement {
            operation: OwnOperation::new(StatementKind::Transaction, "t").expect("a name"),
            slot: 0,
            command: &commit,
            limit: 0,
            expected: Expected::Any,
            units: 1,
            inserted: None,
            growth: None,
            sequence: Some(Sequence { parts: &parts, commands: &commands, retries: 3 }),
        };
        for round in 0..5 {
            let before = count();
            let mut answer = Answer::default();
            assert_ok(session.statement(&statement, &mut answer));
            assert_eq!((answer.documents, answer.wrong), (150, None));
            if round > 1 {
                assert_eq!(count() - before, 0);
            }
        }
    }

    #[test]
    fn transactions_of_the_lean_client() {
        use crate::{SetOrder, replica_set};
        use plimsoll_testing::servers::{Kind, Server};
        use plimsoll_testing::{Need, needs};
        needs!([Need::Server("mongod")]);
        let server = Server::start_with(Kind::Mongod, &["--replSet=plimsoll"]);
        let host = format!("127.0.0.1:{}", server.port);
        replica_set(SetOrder::Initiate, &host, &mut std::io::sink()).expect("a set");
        let uri = SettingValue::Text(format!("mongodb://{host}/?replicaSet=plimsoll"));
        let settings = Settings([("uri".into(), uri)].into());
        let data = DataSpec::with_records(1);
        let engine = open("mongodb", &Opening::new(&settings, &data)).expect("the engine opens");
        transaction_rounds(&mut *engine.session().expect("a session"));
        engine.close().expect("the engine closes");
    }

    #[test]
    fn lean_client_of_mongodb() {
        use plimsoll_testing::servers::{Kind, Server};
        for kind in Kind::there() {
            let server = Server::start(kind);
            let (settings, data) = (Settings::default(), DataSpec::with_records(50));
            let folder = Some(server.directory());
            operations_do_not_allocate("mongodb", folder, Some(&server.uri()), &settings, &data);
        }
    }
}
