//! Statements of an application, with real servers and with replies that lie.

use crate::Answer;
use crate::mongo::it::records::{command, small_data};
use crate::mongo::it::script::{Act, Script, body, found, hello, message};
use crate::mongo::it::servers::{Kind, each, each_of};
use crate::mongo::reply::Flaw;
use crate::mongo::{LeanClient, LeanError, LeanErrorKind, LeanOptions, W};
use bson::{Document, doc};
use plimsoll_record::{OwnOperation, StatementKind};
use plimsoll_testing::assert_contains;
use plimsoll_workload::{Expected, NewDocuments, Statement};

use StatementKind::{Aggregate, Count, Delete, Distinct, Find, FindAndModify, Insert, Update};

/// A statement whose command is kept.
pub struct Kept {
    kind: StatementKind,
    command: Vec<u8>,
    pub limit: u32,
    pub expected: Expected,
    pub inserted: Option<NewDocuments>,
}

impl Kept {
    pub fn new(kind: StatementKind, command: &Document) -> Self {
        let listed = command.get_array("documents").map_or(0, |list| list.len() as u32);
        let inserted = NewDocuments { collection: 0, first: 0, count: listed };
        Self {
            kind,
            command: command.to_vec().unwrap(),
            limit: 0,
            expected: Expected::Any,
            inserted: (kind == Insert).then_some(inserted),
        }
    }

    pub fn with_limit(kind: StatementKind, command: &Document, limit: u32) -> Self {
        Self { limit, ..Self::new(kind, command) }
    }

    /// Each kind has its slot, and a name by its command, so that commands of other shapes are other operations.
    pub fn statement(&self) -> Statement<'_> {
        let sum: u32 = self.command.iter().map(|byte| u32::from(*byte)).sum();
        let name = format!("sum{sum}");
        Statement {
            operation: OwnOperation::new(self.kind, &name).unwrap(),
            slot: self.kind as u8,
            command: &self.command,
            limit: self.limit,
            expected: self.expected,
            units: 1,
            inserted: self.inserted,
            growth: None,
            sequence: None,
        }
    }
}

fn run(client: &mut LeanClient, kept: &Kept) -> Result<Answer, LeanError> {
    let mut answer = Answer::default();
    client.statement(&kept.statement(), &mut answer).map(|()| answer)
}

fn send(client: &mut LeanClient, kind: StatementKind, command: &Document) -> Answer {
    run(client, &Kept::new(kind, command)).unwrap()
}

fn of(documents: u64, modified: u64, bytes: u64, round_trips: u32) -> Answer {
    Answer { documents, modified, bytes, round_trips, ..Answer::default() }
}

fn order(number: i32) -> Document {
    doc! { "_id": number, "shop": number % 3, "total": number * 10 }
}

fn fill(client: &mut LeanClient, count: i32) {
    let documents: Vec<Document> = (0..count).map(order).collect();
    let insert = doc! { "insert": "orders", "documents": documents };
    assert_eq!(send(client, Insert, &insert), of(count as u64, 0, 0, 1));
}

fn connect(options: &LeanOptions) -> LeanClient {
    LeanClient::connect(options).unwrap()
}

#[test]
fn each_kind_of_statement_says_what_it_found() {
    each(|server| {
        let mut client = server.connect(&small_data(1));
        fill(&mut client, 30);
        let each_bytes = order(1).to_vec().unwrap().len() as u64;
        let find = doc! { "find": "orders", "filter": { "shop": 1 }, "limit": 4 };
        let answer = run(&mut client, &Kept::with_limit(Find, &find, 4)).unwrap();
        assert_eq!(answer, of(4, 0, 4 * each_bytes, 1));
        let none = doc! { "find": "orders", "filter": { "shop": 7 } };
        assert_eq!(send(&mut client, Find, &none), of(0, 0, 0, 1));

        let pipeline = [doc! { "$match": { "shop": 2 } }, doc! { "$sort": { "total": -1 } }];
        let aggregate = doc! { "aggregate": "orders", "pipeline": pipeline.to_vec(), "cursor": {} };
        assert_eq!(send(&mut client, Aggregate, &aggregate), of(10, 0, 10 * each_bytes, 1));
        let count = doc! { "count": "orders", "query": { "total": { "$gte": 200 } } };
        assert_eq!(send(&mut client, Count, &count), of(10, 0, 0, 1));
        let distinct = doc! { "distinct": "orders", "key": "shop" };
        assert_eq!(send(&mut client, Distinct, &distinct), of(3, 0, 12, 1));

        let update = |query: Document, change: Document, multi: bool, upsert: bool| {
            doc! { "update": "orders", "updates": [{ "q": query, "u": change, "multi": multi, "upsert": upsert }] }
        };
        let pay = doc! { "$set": { "paid": 1 } };
        let one = update(doc! { "_id": 3 }, pay.clone(), false, false);
        assert_eq!(send(&mut client, Update, &one), of(1, 1, 0, 1));
        assert_eq!(send(&mut client, Update, &one), of(1, 0, 0, 1));
        let many = update(doc! { "shop": 0 }, pay.clone(), true, false);
        assert_eq!(send(&mut client, Update, &many), of(10, 9, 0, 1));
        let new = update(doc! { "_id": 100 }, pay.clone(), false, true);
        assert_eq!(send(&mut client, Update, &new), of(1, 0, 0, 1));
        let nobody = update(doc! { "_id": 200 }, pay, false, false);
        assert_eq!(send(&mut client, Update, &nobody), of(0, 0, 0, 1));

        let change = |id: i32, upsert: bool| {
            doc! { "findAndModify": "orders", "query": { "_id": id }, "update": { "$inc": { "total": 1 } }, "upsert": upsert }
        };
        let answer = send(&mut client, FindAndModify, &change(1, false));
        assert_eq!(answer, of(1, 1, each_bytes, 1));
        assert_eq!(send(&mut client, FindAndModify, &change(300, false)), of(0, 0, 0, 1));
        assert_eq!(send(&mut client, FindAndModify, &change(300, true)), of(1, 1, 0, 1));

        let delete = |query: Document, limit: i32| doc! { "delete": "orders", "deletes": [{ "q": query, "limit": limit }] };
        let one = delete(doc! { "_id": 1 }, 1);
        assert_eq!(send(&mut client, Delete, &one), of(1, 1, 0, 1));
        assert_eq!(send(&mut client, Delete, &one), of(0, 0, 0, 1));
        assert_eq!(send(&mut client, Delete, &delete(doc! { "shop": 2 }, 0)), of(10, 10, 0, 1));
        assert_eq!(client.retries(), 0);
    });
}

#[test]
fn cursors_are_read_to_their_end_or_to_the_limit() {
    each_of(&[Kind::Mongod], None, |server| {
        let mut client = server.connect(&small_data(1));
        fill(&mut client, 25);
        let bytes: u64 = (0..25).map(|number| order(number).to_vec().unwrap().len() as u64).sum();
        // The last of the batches ends the cursor.
        let find = doc! { "find": "orders", "batchSize": 10 };
        assert_eq!(send(&mut client, Find, &find), of(25, 0, bytes, 3));
        let sort = doc! { "$sort": { "_id": 1 } };
        let aggregate =
            doc! { "aggregate": "orders", "pipeline": [sort], "cursor": { "batchSize": 10 } };
        assert_eq!(send(&mut client, Aggregate, &aggregate), of(25, 0, bytes, 3));
        // Two batches are fetched, and the cursor is killed, which takes a third message.
        for (kind, command) in [(Find, &find), (Aggregate, &aggregate)] {
            let answer = run(&mut client, &Kept::with_limit(kind, command, 20)).unwrap();
            assert_eq!((answer.documents, answer.round_trips), (20, 3));
            // More than was wanted came with a batch.
            let answer = run(&mut client, &Kept::with_limit(kind, command, 15)).unwrap();
            assert_eq!((answer.documents, answer.round_trips), (20, 3));
        }
        let status = command(&mut client, &doc! { "serverStatus": 1 }).unwrap();
        let open = status.get_document("metrics").unwrap().get_document("cursor").unwrap();
        let open = open.get_document("open").unwrap();
        assert_eq!(open.get_i64("total").unwrap(), 0);
    });
}

#[test]
fn a_pipeline_may_store_its_documents() {
    each_of(&[Kind::Mongod], None, |server| {
        let mut options = server.options(&small_data(1));
        options.write_concern.journal = Some(true);
        options.read_concern = Some("local".into());
        let mut client = connect(&options);
        fill(&mut client, 5);
        let pipeline = [doc! { "$match": { "shop": 1 } }, doc! { "$out": "copies" }];
        let aggregate = doc! { "aggregate": "orders", "pipeline": pipeline.to_vec(), "cursor": {} };
        assert_eq!(send(&mut client, Aggregate, &aggregate), of(0, 0, 0, 1));
        assert_eq!(send(&mut client, Count, &doc! { "count": "copies" }), of(2, 0, 0, 1));
    });
}

#[test]
fn errors_name_themselves() {
    each(|server| {
        let mut client = server.connect(&small_data(1));
        fill(&mut client, 3);
        let again = doc! { "insert": "orders", "documents": [order(1)] };
        let error = run(&mut client, &Kept::new(Insert, &again)).unwrap_err();
        assert_eq!(error.kind(), LeanErrorKind::Duplicate);
        let two = doc! { "insert": "orders", "documents": [order(5), order(1)], "ordered": false };
        let error = run(&mut client, &Kept::new(Insert, &two)).unwrap_err();
        assert_eq!(error.kind(), LeanErrorKind::Duplicate);
        assert_contains(&error, "1 of 2 records");
        assert_contains(&error, "there is already a document with this `_id`");
        let wrong = doc! { "find": "orders", "filter": { "$nonsense": 1 } };
        let error = run(&mut client, &Kept::new(Find, &wrong)).unwrap_err();
        assert_eq!(error.kind(), LeanErrorKind::Refused);
        assert_contains(&error, "$nonsense");
        let mut kept = Kept::new(Find, &doc! { "find": "orders" });
        kept.command.pop();
        let error = run(&mut client, &kept).unwrap_err();
        assert_eq!(error.kind(), LeanErrorKind::Options);
        // The connection is as good as before.
        assert_eq!(send(&mut client, Count, &doc! { "count": "orders" }), of(4, 0, 0, 1));
    });
}

#[test]
fn a_command_that_no_server_takes_is_not_sent() {
    each_of(&[Kind::Mongod], None, |server| {
        let mut client = server.connect(&small_data(1));
        let long = "x".repeat(9 << 20);
        let two = [doc! { "_id": 1, "a": &long }, doc! { "_id": 2, "a": &long }];
        let insert = doc! { "insert": "orders", "documents": two.to_vec() };
        let error = run(&mut client, &Kept::new(Insert, &insert)).unwrap_err();
        assert_contains(&error, "make its documents fewer or shorter");
        let insert = doc! { "insert": "orders", "documents": two[..1].to_vec() };
        assert_eq!(send(&mut client, Insert, &insert), of(1, 0, 0, 1));
    });
}

#[test]
fn unacknowledged_statements_are_carried_out() {
    each_of(&[Kind::Mongod], None, |server| {
        let mut options = server.options(&small_data(1));
        options.write_concern.w = Some(W::Number(0));
        let mut client = connect(&options);
        let documents: Vec<Document> = (0..10).map(order).collect();
        let insert = doc! { "insert": "orders", "documents": documents };
        assert_eq!(send(&mut client, Insert, &insert), of(10, 0, 0, 0));
        let update = doc! { "update": "orders", "updates": [{ "q": {}, "u": { "$set": { "a": 1 } }, "multi": true }] };
        let mut kept = Kept::new(Update, &update);
        kept.expected = Expected::Between(10, 10);
        assert_eq!(run(&mut client, &kept).unwrap(), of(10, 10, 0, 0));
        let delete = doc! { "delete": "orders", "deletes": [{ "q": { "_id": 3 }, "limit": 1 }] };
        assert_eq!(send(&mut client, Delete, &delete), of(1, 1, 0, 0));
        // The server takes one message after the other, and answers to these.
        let change = doc! { "findAndModify": "orders", "query": { "_id": 4 }, "remove": true };
        let answer = send(&mut client, FindAndModify, &change);
        assert_eq!((answer.documents, answer.round_trips), (1, 1));
        let count = doc! { "count": "orders", "query": { "a": 1 } };
        assert_eq!(send(&mut client, Count, &count), of(8, 0, 0, 1));
    });
}

/// What the client sends for these statements, without header and flags, to a server that knows repeated changes.
fn sent(change: impl Fn(&mut LeanOptions), statements: &[(Kept, Document)]) -> Vec<Vec<u8>> {
    let mut greeting = hello();
    greeting.insert("setName", "rs0");
    greeting.insert("logicalSessionTimeoutMinutes", 30);
    let mut acts = vec![Act::Reply(greeting)];
    acts.extend(statements.iter().map(|(_, reply)| Act::Reply(reply.clone())));
    let script = Script::play_bare(vec![acts]);
    let mut options = script.options(&small_data(1));
    change(&mut options);
    let mut client = connect(&options);
    for (kept, _) in statements {
        run(&mut client, kept).unwrap();
    }
    drop(client);
    let requests = script.requests().split_off(1);
    for (index, request) in requests.iter().enumerate() {
        assert_eq!(*request, message(index as i32 + 2, 0, 0, &request[20..]));
    }
    requests.into_iter().map(|request| request[20..].to_vec()).collect()
}

fn written(n: i32) -> Document {
    doc! { "n": n, "nModified": n, "ok": 1.0 }
}

#[test]
fn a_command_is_sent_as_it_is_with_what_the_client_adds() {
    let find = doc! { "find": "orders", "filter": { "a": 1 }, "batchSize": 1 };
    let update = |multi: bool| doc! { "update": "orders", "updates": [{ "q": {}, "u": { "$set": { "a": 1 } }, "multi": multi }] };
    let delete = |limit: i32| doc! { "delete": "orders", "deletes": [{ "q": {}, "limit": limit }] };
    let insert = doc! { "insert": "orders", "documents": [{ "_id": 1 }] };
    let and_modify = doc! { "findAndModify": "orders", "query": {}, "remove": true };
    let count = doc! { "count": "orders" };
    let removed = doc! { "lastErrorObject": { "n": 1 }, "value": { "_id": 1 }, "ok": 1.0 };
    let statements = [
        (Kept::new(Find, &find), found("firstBatch", &[], 0)),
        (Kept::new(Count, &count), doc! { "n": 5, "ok": 1.0 }),
        (Kept::new(Insert, &insert), written(1)),
        (Kept::new(Update, &update(false)), written(1)),
        (Kept::new(Update, &update(true)), written(7)),
        (Kept::new(Delete, &delete(1)), written(1)),
        (Kept::new(Delete, &delete(0)), written(7)),
        (Kept::new(FindAndModify, &and_modify), removed),
    ];
    let with = |command: &Document, rest: Document| {
        let mut command = command.clone();
        command.extend(rest);
        body(&command)
    };
    let requests = sent(
        |options| {
            options.read_concern = Some("majority".into());
            options.write_concern.w = Some(W::Majority);
        },
        &statements,
    );
    let read = doc! { "readConcern": { "level": "majority" }, "$db": "ycsb" };
    let write = doc! { "writeConcern": { "w": "majority" }, "$db": "ycsb" };
    let expected = [
        with(&find, read.clone()),
        with(&count, read),
        with(&insert, write.clone()),
        with(&update(false), write.clone()),
        with(&update(true), write.clone()),
        with(&delete(1), write.clone()),
        with(&delete(0), write.clone()),
        with(&and_modify, write),
    ];
    assert_eq!(requests, expected);

    // Changes of several documents have no number, because servers take none.
    let requests = sent(|options| options.retry_writes = true, &statements);
    let numbers: Vec<Option<i64>> = requests
        .iter()
        .map(|request| {
            let command = Document::from_reader(&request[1..]).unwrap();
            assert_eq!(command.contains_key("lsid"), command.contains_key("txnNumber"));
            command.get_i64("txnNumber").ok()
        })
        .collect();
    assert_eq!(numbers, [None, None, Some(1), Some(2), None, Some(3), None, Some(4)]);
}

/// Each concern is sent once: that of the operation, else that of the connection.
#[test]
fn an_operation_can_have_its_own_concerns() {
    let find = doc! {
        "find": "orders", "filter": {}, "readConcern": { "level": "snapshot" }, "maxTimeMS": 50,
    };
    let concern = doc! { "w": 2, "j": true, "wtimeout": 5_000 };
    let update = doc! {
        "update": "orders", "updates": [{ "q": {}, "u": { "$set": { "a": 1 } } }], "writeConcern": concern,
    };
    let several = doc! {
        "delete": "orders", "deletes": [{ "q": {}, "limit": 0 }], "writeConcern": { "w": "majority" },
    };
    let limited = doc! { "insert": "orders", "documents": [{ "_id": 1 }], "maxTimeMS": 50 };
    let statements = [
        (Kept::new(Find, &find), found("firstBatch", &[], 0)),
        (Kept::new(Update, &update), written(1)),
        (Kept::new(Delete, &several), written(7)),
        (Kept::new(Insert, &limited), written(1)),
    ];
    let with = |command: &Document, rest: Document| {
        let mut command = command.clone();
        command.extend(rest);
        body(&command)
    };
    let database = doc! { "$db": "ycsb" };
    let requests = sent(
        |options| {
            options.read_concern = Some("local".into());
            options.write_concern.w = Some(W::Number(1));
        },
        &statements,
    );
    let expected = [
        with(&find, database.clone()),
        with(&update, database.clone()),
        with(&several, database.clone()),
        with(&limited, doc! { "writeConcern": { "w": 1 }, "$db": "ycsb" }),
    ];
    assert_eq!(requests, expected);

    // Own concerns leave the number of a change as it is, and where the connection wants no answer an operation can want one.
    let requests = sent(
        |options| {
            options.write_concern.w = Some(W::Number(0));
            options.retry_writes = true;
        },
        &statements[1..3],
    );
    let update_sent = Document::from_reader(&requests[0][1..]).unwrap();
    let keys: Vec<&str> = update_sent.keys().map(String::as_str).collect();
    assert_eq!(keys, ["update", "updates", "writeConcern", "lsid", "txnNumber", "$db"]);
    assert_eq!(update_sent.get_i64("txnNumber").unwrap(), 1);
    assert_eq!(requests[1], with(&several, database));
}

#[test]
fn a_cursor_is_asked_for_in_its_own_collection() {
    let one = [doc! { "_id": 1 }];
    let script = Script::play(vec![vec![
        Act::Reply(found("firstBatch", &one, 9)),
        Act::Reply(found("nextBatch", &one, 9)),
        Act::Reply(doc! { "cursorsKilled": [9_i64], "ok": 1.0 }),
    ]]);
    let mut client = connect(&script.options(&small_data(1)));
    let find = doc! { "find": "orders", "batchSize": 1 };
    let answer = run(&mut client, &Kept::with_limit(Find, &find, 2)).unwrap();
    assert_eq!((answer.documents, answer.round_trips), (2, 3));
    drop(client);
    let expected = [
        doc! { "getMore": 9_i64, "collection": "orders", "batchSize": 1_i64, "$db": "ycsb" },
        doc! { "killCursors": "orders", "cursors": [9_i64], "$db": "ycsb" },
    ];
    let requests = script.requests();
    let sections: Vec<&[u8]> = requests[2..].iter().map(|request| &request[20..]).collect();
    assert_eq!(sections, expected.map(|command| body(&command)));
}

/// What is wrong with these replies to a statement.
fn flaw(kept: &Kept, replies: Vec<Document>) -> Flaw {
    let script = Script::play(vec![replies.into_iter().map(Act::Reply).collect()]);
    let mut client = connect(&script.options(&small_data(1)));
    match run(&mut client, kept).unwrap_err() {
        LeanError::Protocol { flaw, .. } => flaw,
        other => panic!("{other}"),
    }
}

#[test]
fn replies_that_lie_are_told_apart() {
    let ok = || vec![doc! { "ok": 1.0 }];
    let n = |n: i64| vec![doc! { "n": n, "nModified": n, "ok": 1.0 }];
    let find = doc! { "find": "orders", "limit": 2 };
    let count = Kept::new(Count, &doc! { "count": "orders" });
    assert_eq!(flaw(&count, ok()), Flaw::Missing("n"));
    assert_eq!(flaw(&count, n(-1)), Flaw::Missing("n"));
    let distinct = Kept::new(Distinct, &doc! { "distinct": "orders", "key": "a" });
    assert_eq!(flaw(&distinct, ok()), Flaw::Missing("values"));
    let one = Kept::with_limit(Find, &find, 2);
    assert_eq!(flaw(&one, ok()), Flaw::Missing("cursor"));
    let three = vec![doc! {}; 3];
    assert_eq!(flaw(&one, vec![found("firstBatch", &three, 0)]), Flaw::TooMany);
    let then = vec![found("firstBatch", &three[..1], 5), found("nextBatch", &three[..2], 5)];
    assert_eq!(flaw(&one, then), Flaw::TooMany);
    let pipeline = doc! { "aggregate": "orders", "pipeline": [{ "$limit": 2 }], "cursor": {} };
    let kept = Kept::with_limit(Aggregate, &pipeline, 2);
    assert_eq!(flaw(&kept, vec![found("firstBatch", &three, 0)]), Flaw::TooMany);
    let mut endless = vec![found("firstBatch", &[], 5)];
    endless.resize(1_500, found("nextBatch", &[], 5));
    assert_eq!(flaw(&one, endless), Flaw::NoProgress);

    let two = doc! { "insert": "orders", "documents": [{}, {}] };
    let insert = Kept::new(Insert, &two);
    assert_eq!(flaw(&insert, ok()), Flaw::Missing("n"));
    assert_eq!(flaw(&insert, n(1)), Flaw::Count { expected: 2, found: 1 });
    let update = doc! { "update": "orders", "updates": [{ "q": {}, "u": {} }] };
    let update = Kept::new(Update, &update);
    assert_eq!(flaw(&update, n(2)), Flaw::Count { expected: 1, found: 2 });
    let unmodified = vec![doc! { "n": 1, "ok": 1.0 }];
    assert_eq!(flaw(&update, unmodified), Flaw::Missing("nModified"));
    let more = vec![doc! { "n": 0, "nModified": 1, "ok": 1.0 }];
    assert_eq!(flaw(&update, more), Flaw::Count { expected: 0, found: 1 });
    let delete = doc! { "delete": "orders", "deletes": [{ "q": {}, "limit": 1 }] };
    assert_eq!(flaw(&Kept::new(Delete, &delete), n(2)), Flaw::Count { expected: 1, found: 2 });
    let change = Kept::new(FindAndModify, &doc! { "findAndModify": "orders", "remove": true });
    assert_eq!(flaw(&change, ok()), Flaw::Missing("value"));
    let many = vec![doc! { "lastErrorObject": { "n": 2 }, "value": null, "ok": 1.0 }];
    assert_eq!(flaw(&change, many), Flaw::Count { expected: 1, found: 2 });
}

/// A connection that ends in place of the first answer.
fn answered_by_the_second(kept: &Kept, reply: Document) -> Result<(Answer, u64), LeanError> {
    let mut greeting = hello();
    greeting.insert("setName", "rs0");
    greeting.insert("logicalSessionTimeoutMinutes", 30);
    let first = vec![Act::Reply(greeting.clone()), Act::cut(|_| Vec::new())];
    let script = Script::play_bare(vec![first, vec![Act::Reply(greeting), Act::Reply(reply)]]);
    let mut options = script.options(&small_data(1));
    options.retry_reads = true;
    options.retry_writes = true;
    let mut client = connect(&options);
    let answer = run(&mut client, kept);
    let result = answer.map(|answer| (answer, client.retries()));
    if result.is_err() {
        // The script waits for a second connection.
        assert_eq!(run(&mut client, kept).unwrap().round_trips, 1);
    }
    drop(client);
    let requests = script.requests();
    // It is the same message but for its own number, and the number of the change is the same.
    if result.is_ok() {
        assert_eq!(requests[1][8..], requests[3][8..]);
    }
    result
}

#[test]
fn a_lost_connection_repeats_what_may_be_repeated() {
    let empty = found("firstBatch", &[], 0);
    let find = Kept::new(Find, &doc! { "find": "orders" });
    assert_eq!(answered_by_the_second(&find, empty.clone()).unwrap(), (of(0, 0, 0, 1), 1));
    let insert = Kept::new(Insert, &doc! { "insert": "orders", "documents": [{ "_id": 1 }] });
    assert_eq!(answered_by_the_second(&insert, written(1)).unwrap(), (of(1, 0, 0, 1), 1));
    let update = |multi: bool| doc! { "update": "orders", "updates": [{ "q": {}, "u": {}, "multi": multi }] };
    let one = Kept::new(Update, &update(false));
    assert_eq!(answered_by_the_second(&one, written(1)).unwrap(), (of(1, 1, 0, 1), 1));
    let many = Kept::new(Update, &update(true));
    let error = answered_by_the_second(&many, written(3)).unwrap_err();
    assert_eq!(error.kind(), LeanErrorKind::Disconnected);
    let stores = [doc! { "$out": "copies" }];
    let out = doc! { "aggregate": "orders", "pipeline": stores.to_vec(), "cursor": {} };
    let error = answered_by_the_second(&Kept::new(Aggregate, &out), empty).unwrap_err();
    assert_eq!(error.kind(), LeanErrorKind::Disconnected);
}
