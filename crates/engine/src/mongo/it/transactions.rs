//! Transactions of an application: what is sent, and what is sent again.

use crate::Answer;
use crate::mongo::it::records::small_data;
use crate::mongo::it::script::{Act, Script, found, hello};
use crate::mongo::{LeanClient, LeanError, LeanErrorKind, LeanOptions, W};
use bson::{Document, doc};
use plimsoll_record::{OwnOperation, StatementKind};
use plimsoll_workload::{Expected, NewDocuments, Sequence, SequenceEnd, SequencePart, Statement};

use StatementKind::{Find, Insert, Update};

/// A transaction whose commands are kept.
pub struct KeptTransaction {
    commit: Vec<u8>,
    commands: Vec<u8>,
    parts: Vec<SequencePart>,
    retries: u32,
}

impl KeptTransaction {
    pub fn new(retries: u32, parts: &[(StatementKind, Document, Expected)]) -> Self {
        let mut kept = Self {
            commit: doc! { "commitTransaction": 1 }.to_vec().unwrap(),
            commands: Vec::new(),
            parts: Vec::new(),
            retries,
        };
        for (index, (kind, command, expected)) in parts.iter().enumerate() {
            kept.commands.extend(command.to_vec().unwrap());
            let count = command.get_array("documents").map_or(0, |list| list.len() as u32);
            let inserted = NewDocuments { collection: 0, first: 0, count };
            kept.parts.push(SequencePart {
                operation: OwnOperation::new(*kind, &format!("buy-{}", index + 1)).unwrap(),
                end: kept.commands.len(),
                limit: 0,
                expected: *expected,
                inserted: (*kind == Insert).then_some(inserted),
            });
        }
        kept
    }

    /// The same statements as steps.
    fn steps(&self) -> Statement<'_> {
        let operation = OwnOperation::new(StatementKind::Steps, "buy").unwrap();
        Statement { operation, command: &[], ..self.statement() }
    }

    pub fn statement(&self) -> Statement<'_> {
        let Self { commit, commands, parts, retries } = self;
        Statement {
            operation: OwnOperation::new(StatementKind::Transaction, "buy").unwrap(),
            slot: 3,
            command: commit,
            limit: 0,
            expected: Expected::Any,
            units: 1,
            inserted: None,
            growth: None,
            sequence: Some(Sequence { parts, commands, retries: *retries }),
        }
    }
}

fn find() -> Document {
    doc! { "find": "products", "filter": { "_id": 1 } }
}

fn update() -> Document {
    doc! { "update": "products", "updates": [{ "q": { "_id": 1 }, "u": { "$inc": { "stock": -1 } } }] }
}

fn find_and_update(retries: u32) -> KeptTransaction {
    let one = Expected::Between(1, 1);
    KeptTransaction::new(retries, &[(Find, find(), Expected::Some), (Update, update(), one)])
}

struct Sent {
    result: Result<(), LeanError>,
    answer: Answer,
    retries: u64,
    /// Commands as they arrived, without their session.
    requests: Vec<Document>,
}

impl Sent {
    /// The names of the commands, with the numbers of their transactions.
    fn names(&self) -> Vec<(&str, i64)> {
        let name = |request: &Document| request.get_i64("txnNumber").unwrap();
        let requests = self.requests.iter();
        requests.map(|one| (one.keys().next().unwrap().as_str(), name(one))).collect()
    }
}

/// Sends a transaction to a primary that answers by these acts, connection after connection.
fn send(
    kept: &KeptTransaction,
    change: impl Fn(&mut LeanOptions),
    connections: Vec<Vec<Act>>,
) -> Sent {
    let mut greeting = hello();
    greeting.insert("setName", "rs0");
    greeting.insert("logicalSessionTimeoutMinutes", 30);
    let greeted = connections.into_iter().map(|mut acts| {
        acts.insert(0, Act::Reply(greeting.clone()));
        acts
    });
    let script = Script::play_bare(greeted.collect());
    let mut options = script.options(&small_data(1));
    change(&mut options);
    let mut client = LeanClient::connect(&options).unwrap();
    let mut answer = Answer::default();
    let result = client.statement(&kept.statement(), &mut answer);
    let retries = client.retries();
    drop(client);
    let requests = script.requests();
    let mut requests: Vec<Document> =
        requests.iter().map(|request| Document::from_reader(&request[21..]).unwrap()).collect();
    requests.retain(|request| request.contains_key("txnNumber"));
    let session = requests[0].get("lsid").cloned();
    for request in &mut requests {
        assert_eq!(request.remove("lsid"), session);
    }
    Sent { result, answer, retries, requests }
}

fn ok() -> Act {
    Act::Reply(doc! { "ok": 1.0 })
}

fn one_found() -> Act {
    Act::Reply(found("firstBatch", &[doc! { "_id": 1 }], 0))
}

fn updated(n: i32) -> Act {
    Act::Reply(doc! { "n": n, "nModified": n, "ok": 1.0 })
}

fn error(code: i32, labels: &[&str]) -> Act {
    Act::Reply(doc! {
        "ok": 0.0, "code": code, "codeName": "Some", "errmsg": "no", "errorLabels": labels.to_vec(),
    })
}

const TRANSIENT: [&str; 1] = ["TransientTransactionError"];
const UNKNOWN: [&str; 1] = ["UnknownTransactionCommitResult"];

#[test]
fn a_transaction_is_sent_as_drivers_send_it() {
    let batches = vec![
        Act::Reply(found("firstBatch", &[doc! { "_id": 1 }], 9)),
        Act::Reply(found("nextBatch", &[doc! { "_id": 1 }], 0)),
        updated(1),
        ok(),
    ];
    let sent = send(
        &find_and_update(10),
        |options| {
            options.read_concern = Some("snapshot".into());
            options.write_concern.w = Some(W::Majority);
            options.retry_writes = true;
        },
        vec![batches],
    );
    sent.result.as_ref().unwrap();
    let each = doc! { "_id": 1 }.to_vec().unwrap().len() as u64;
    let expected =
        Answer { documents: 3, modified: 1, bytes: 2 * each, round_trips: 4, ..Answer::default() };
    assert_eq!((sent.answer, sent.retries), (expected, 0));
    let with = |mut command: Document, rest: Document| {
        command.extend(rest);
        command
    };
    let within = doc! { "$db": "ycsb", "txnNumber": 1_i64, "autocommit": false };
    let starts = doc! { "readConcern": { "level": "snapshot" }, "startTransaction": true };
    let more = doc! { "getMore": 9_i64, "collection": "products" };
    let commit = doc! {
        "commitTransaction": 1, "txnNumber": 1_i64, "autocommit": false,
        "writeConcern": { "w": "majority" }, "$db": "admin",
    };
    let expected = [
        with(with(find(), starts), within.clone()),
        with(more, within.clone()),
        with(update(), within),
        commit,
    ];
    assert_eq!(sent.requests, expected);
}

#[test]
fn own_concerns_of_a_transaction_replace_those_of_the_connection() {
    let mut first = update();
    first.insert("readConcern", doc! { "level": "local" });
    let mut kept = KeptTransaction::new(0, &[(Update, first, Expected::Any)]);
    kept.commit = doc! { "commitTransaction": 1, "writeConcern": { "w": 1 } }.to_vec().unwrap();
    let sent = send(
        &kept,
        |options| {
            options.read_concern = Some("majority".into());
            options.write_concern.w = Some(W::Majority);
        },
        vec![vec![updated(1), ok()]],
    );
    sent.result.as_ref().unwrap();
    let level = sent.requests[0].get_document("readConcern").unwrap();
    assert_eq!(level, &doc! { "level": "local" });
    assert!(!sent.requests[0].contains_key("writeConcern"));
    assert_eq!(sent.requests[1].get_document("writeConcern").unwrap(), &doc! { "w": 1 });
}

#[test]
fn a_conflict_repeats_all_and_an_unknown_commit_the_commit() {
    let acts = vec![
        one_found(),
        error(112, &TRANSIENT),
        one_found(),
        updated(1),
        error(91, &UNKNOWN),
        ok(),
    ];
    // A server that shuts down ends the connection.
    let (first, second) = {
        let mut acts = acts;
        let second = acts.split_off(5);
        (acts, second)
    };
    let sent = send(&find_and_update(2), |_| {}, vec![first, second]);
    sent.result.as_ref().unwrap();
    assert_eq!((sent.answer.documents, sent.answer.round_trips, sent.retries), (2, 6, 2));
    assert!(sent.answer.early_end.is_none() && sent.answer.wrong.is_none());
    let commit = "commitTransaction";
    assert_eq!(
        sent.names(),
        [("find", 1), ("update", 1), ("find", 2), ("update", 2), (commit, 2), (commit, 2)]
    );
    assert!(sent.requests[2].contains_key("startTransaction"));

    // A commit that conflicts is no commit.
    let acts = vec![one_found(), updated(1), error(112, &TRANSIENT), one_found(), updated(1), ok()];
    let sent = send(&find_and_update(1), |_| {}, vec![acts]);
    sent.result.as_ref().unwrap();
    assert_eq!((sent.names()[3], sent.retries), (("find", 2), 1));

    // The write concern took too long; the commit is sent again until it is satisfied.
    let late = doc! { "ok": 1.0, "writeConcernError": { "code": 64, "errmsg": "late" } };
    let acts = vec![one_found(), updated(1), Act::Reply(late.clone()), ok()];
    let sent = send(&find_and_update(1), |_| {}, vec![acts]);
    sent.result.as_ref().unwrap();
    assert_eq!((sent.names()[3], sent.retries), ((commit, 1), 1));
}

#[test]
fn lost_connections_repeat_what_specifications_let_them() {
    let cut = || Act::cut(|_| Vec::new());
    let again = vec![one_found(), updated(1), ok()];
    let sent = send(&find_and_update(1), |_| {}, vec![vec![one_found(), cut()], again]);
    sent.result.as_ref().unwrap();
    let numbers = [("find", 1), ("update", 1), ("find", 2), ("update", 2)];
    assert_eq!((&sent.names()[..4], sent.retries), (&numbers[..], 1));

    let lost = vec![one_found(), updated(1), cut()];
    let sent = send(&find_and_update(1), |_| {}, vec![lost, vec![ok()]]);
    sent.result.as_ref().unwrap();
    let commit = ("commitTransaction", 1);
    assert_eq!((&sent.names()[2..], sent.retries), (&[commit, commit][..], 1));
}

#[test]
fn what_is_not_committed_is_aborted() {
    let abort = "abortTransaction";
    // Another error.
    let acts = vec![one_found(), error(66, &[]), ok()];
    let sent = send(&find_and_update(9), |_| {}, vec![acts]);
    assert_eq!(sent.result.as_ref().unwrap_err().kind(), LeanErrorKind::Refused);
    assert_eq!(sent.names(), [("find", 1), ("update", 1), (abort, 1)]);
    assert!(sent.answer.early_end.is_some() && sent.retries == 0);
    let expected = doc! {
        "abortTransaction": 1, "txnNumber": 1_i64, "autocommit": false, "$db": "admin",
    };
    assert_eq!(sent.requests[2], expected);

    // A conflict, once too often.
    let acts = vec![error(112, &TRANSIENT), error(112, &TRANSIENT), ok()];
    let sent = send(&find_and_update(1), |_| {}, vec![acts]);
    assert!(sent.result.is_err() && sent.answer.early_end.is_some() && sent.retries == 1);
    assert_eq!(sent.names(), [("find", 1), ("find", 2), (abort, 2)]);

    // Nothing found where something must be.
    let nothing = Act::Reply(found("firstBatch", &[], 0));
    let sent = send(&find_and_update(9), |_| {}, vec![vec![nothing, ok()]]);
    assert!(sent.result.is_ok() && sent.answer.early_end.is_some());
    assert_eq!(sent.names(), [("find", 1), (abort, 1)]);
}

#[test]
fn a_commit_without_an_answer_is_in_doubt() {
    let acts = vec![one_found(), updated(1), error(50, &UNKNOWN)];
    let sent = send(&find_and_update(0), |_| {}, vec![acts]);
    assert!(sent.result.is_err() && sent.answer.early_end.is_none());
    assert_eq!(sent.names().last(), Some(&("commitTransaction", 1)));
}

#[test]
fn a_wrong_number_is_reported_with_its_statement() {
    let three = [doc! { "_id": 1 }, doc! { "_id": 2 }, doc! { "_id": 3 }];
    let kept = KeptTransaction::new(
        0,
        &[(Update, update(), Expected::Any), (Find, find(), Expected::Between(1, 2))],
    );
    let acts = vec![updated(0), Act::Reply(found("firstBatch", &three, 0)), ok()];
    let sent = send(&kept, |_| {}, vec![acts]);
    sent.result.as_ref().unwrap();
    assert_eq!((sent.answer.wrong, sent.answer.early_end.is_some()), (Some((1, 3)), false));
}

/// Steps on a standalone that answers by these acts: how they end, and the names of the commands.
fn step(acts: Vec<Act>) -> (Result<(), LeanError>, Answer, Vec<String>) {
    let script = Script::play(vec![acts]);
    let mut client = LeanClient::connect(&script.options(&small_data(1))).unwrap();
    let mut answer = Answer::default();
    let kept = find_and_update(0);
    let result = client.statement(&kept.steps(), &mut answer);
    let answered = client.part_times().iter().filter(|time| time.count == 1).count();
    assert_eq!(answered as u32, answer.round_trips.min(2 - u32::from(result.is_err())));
    drop(client);
    let requests = script.requests();
    let requests = requests[1..].iter().map(|one| Document::from_reader(&one[21..]).unwrap());
    let name = |request: Document| {
        assert!(!request.contains_key("txnNumber") && !request.contains_key("autocommit"));
        request.keys().next().unwrap().clone()
    };
    (result, answer, requests.map(name).collect())
}

#[test]
fn steps_are_sent_one_after_the_other() {
    let (result, answer, names) = step(vec![one_found(), updated(1)]);
    result.unwrap();
    assert_eq!((answer.documents, answer.modified, answer.round_trips), (2, 1, 2));
    assert_eq!((answer.wrong, answer.early_end), (None, None));
    assert_eq!(names, ["find", "update"]);

    // What finds nothing where it must find something is the last one.
    let nothing = Act::Reply(found("firstBatch", &[], 0));
    let (result, answer, names) = step(vec![nothing]);
    result.unwrap();
    assert_eq!((answer.early_end, names.len()), (Some(SequenceEnd::StoppedAt(0)), 1));
    let (result, answer, _) = step(vec![one_found(), error(66, &[])]);
    assert_eq!(result.unwrap_err().kind(), LeanErrorKind::Refused);
    assert_eq!(answer.early_end, Some(SequenceEnd::StoppedAt(1)));
}

/// In a replica set each change is sent again by itself, under its own number.
#[test]
fn a_step_is_sent_again_as_an_operation_is() {
    let mut greeting = hello();
    greeting.insert("setName", "rs0");
    greeting.insert("logicalSessionTimeoutMinutes", 30);
    let first = vec![Act::Reply(greeting.clone()), one_found(), Act::cut(|_| Vec::new())];
    let second = vec![Act::Reply(greeting), updated(1)];
    let script = Script::play_bare(vec![first, second]);
    let mut options = script.options(&small_data(1));
    options.retry_writes = true;
    let mut client = LeanClient::connect(&options).unwrap();
    let mut answer = Answer::default();
    client.statement(&find_and_update(0).steps(), &mut answer).unwrap();
    assert_eq!((answer.documents, answer.early_end, client.retries()), (2, None, 1));
}

#[test]
fn a_standalone_has_no_transactions() {
    let script = Script::play(vec![Vec::new()]);
    let mut client = LeanClient::connect(&script.options(&small_data(1))).unwrap();
    let kept = find_and_update(0);
    let error = client.statement(&kept.statement(), &mut Answer::default()).unwrap_err();
    assert!(error.to_string().contains("use a replica set"), "{error}");
    drop(client);
    assert_eq!(script.requests().len(), 1);
}
