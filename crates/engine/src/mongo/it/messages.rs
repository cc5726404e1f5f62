//! Every request, byte for byte, against what another implementation of BSON makes of the same.

use crate::mongo::it::records::{document, loader, small_data, updates};
use crate::mongo::it::script::{Act, Script, body, found, message};
use crate::mongo::{LeanClient, LeanOptions, W};
use bson::{Document, doc};
use plimsoll_workload::{Ask, FieldChoice};

/// A section with a sequence of documents.
fn sequence(name: &str, documents: &[Document]) -> Vec<u8> {
    let mut contents = Vec::new();
    contents.extend_from_slice(name.as_bytes());
    contents.push(0);
    for document in documents {
        contents.extend_from_slice(&document.to_vec().unwrap());
    }
    let mut section = vec![1];
    section.extend_from_slice(&(4 + contents.len() as u32).to_le_bytes());
    section.extend_from_slice(&contents);
    section
}

fn with_sequence(command: &Document, name: &str, documents: &[Document]) -> Vec<u8> {
    let mut sections = body(command);
    sections.extend_from_slice(&sequence(name, documents));
    sections
}

/// What the client sends after the greeting, without its header, when the server answers so.
fn sent(
    change: impl Fn(&mut LeanOptions),
    replies: Vec<Document>,
    run: impl Fn(&mut LeanClient),
) -> Vec<Vec<u8>> {
    let script = Script::play(vec![replies.into_iter().map(Act::Reply).collect()]);
    let mut options = script.options(&small_data(10));
    change(&mut options);
    let mut client = LeanClient::connect(&options).unwrap();
    run(&mut client);
    drop(client);
    let mut requests = script.requests();
    // One id after the other, each an OP_MSG that answers nothing.
    for (index, request) in requests.iter().enumerate() {
        let sections = &request[20..];
        let flags = u32::from_le_bytes(request[16..20].try_into().unwrap());
        assert_eq!(*request, message(index as i32 + 1, 0, flags, sections));
    }
    requests.remove(0);
    requests
}

fn sections(requests: &[Vec<u8>]) -> Vec<&[u8]> {
    let sections = requests.iter().map(|request| {
        assert_eq!(request[16..20], [0; 4]);
        &request[20..]
    });
    sections.collect()
}

#[test]
fn the_greeting_introduces_the_client() {
    let script = Script::play(vec![Vec::new()]);
    drop(LeanClient::connect(&script.options(&small_data(1))).unwrap());
    let expected = doc! {
        "isMaster": 1,
        "helloOk": true,
        "client": {
            "application": { "name": "plimsoll" },
            "driver": { "name": "plimsoll-lean", "version": env!("CARGO_PKG_VERSION") },
            "os": { "type": "linux" },
        },
        "$db": "admin",
    };
    assert_eq!(script.requests(), [message(1, 0, 0, &body(&expected))]);
}

#[test]
fn reads() {
    let none = found("firstBatch", &[], 0);
    let requests = sent(
        |_| {},
        vec![none.clone(), none.clone(), none.clone()],
        |client| {
            assert!(!client.read(b"user1", FieldChoice::All, None).unwrap());
            let some = FieldChoice::Some(&[0, 2]);
            assert!(!client.read(b"user123", some, None).unwrap());
            // Operations before it leave no trace.
            assert!(!client.read(b"u", FieldChoice::All, None).unwrap());
        },
    );
    let begin = doc! { "find": "usertable", "limit": 1, "singleBatch": true, "$db": "ycsb" };
    let expected = [
        doc! { "filter": { "_id": "user1" } },
        doc! { "filter": { "_id": "user123" }, "projection": { "field0": 1, "field2": 1 } },
        doc! { "filter": { "_id": "u" } },
    ]
    .map(|end| body(&begin.clone().into_iter().chain(end).collect()));
    assert_eq!(sections(&requests), expected);

    let requests = sent(
        |options| options.read_concern = Some("majority".into()),
        vec![none],
        |client| assert!(!client.read(b"user1", FieldChoice::All, None).unwrap()),
    );
    let expected = doc! {
        "find": "usertable",
        "limit": 1,
        "singleBatch": true,
        "readConcern": { "level": "majority" },
        "$db": "ycsb",
        "filter": { "_id": "user1" },
    };
    assert_eq!(sections(&requests), [body(&expected)]);
}

#[test]
fn scans() {
    let one = doc! { "_id": "user1" };
    let requests = sent(
        |_| {},
        vec![
            found("firstBatch", &[one.clone(), one.clone()], 1 << 40),
            found("nextBatch", std::slice::from_ref(&one), 1 << 40),
            found("nextBatch", &[one], 1 << 40),
            doc! { "cursorsKilled": [1_i64 << 40], "ok": 1.0 },
        ],
        |client| {
            let rows = client.scan(b"user1", 4, FieldChoice::Some(&[1]));
            assert_eq!(rows.unwrap(), 4);
        },
    );
    let more = doc! { "getMore": 1_i64 << 40, "collection": "usertable", "$db": "ycsb" };
    let expected = [
        doc! {
            "find": "usertable",
            "sort": { "_id": 1 },
            "$db": "ycsb",
            "limit": 4_i64,
            "filter": { "_id": { "$gte": "user1" } },
            "projection": { "field1": 1 },
        },
        more.clone(),
        more,
        doc! { "killCursors": "usertable", "cursors": [1_i64 << 40], "$db": "ycsb" },
    ];
    assert_eq!(sections(&requests), expected.map(|command| body(&command)));
}

#[test]
fn updates_set_the_fields_that_change() {
    let data = small_data(10);
    let workload = updates(&data);
    let done = doc! { "n": 1, "nModified": 1, "ok": 1.0 };
    let requests = sent(
        |_| {},
        vec![done.clone(), done],
        |client| {
            let mut generator = workload.generator(0);
            for _ in 0..2 {
                let Ask::Update { key, changes } = generator.next() else {
                    panic!("there are only updates")
                };
                assert!(client.update(key, changes).unwrap());
            }
        },
    );
    let command = doc! { "update": "usertable", "ordered": true, "$db": "ycsb" };
    let mut generator = workload.generator(0);
    let mut expected = Vec::new();
    for _ in 0..2 {
        let Ask::Update { key, changes } = generator.next() else {
            panic!("there are only updates")
        };
        let mut set = document(key, changes);
        let id = set.remove("_id").unwrap();
        let statement = doc! { "q": { "_id": id }, "u": { "$set": set } };
        expected.push(with_sequence(&command, "updates", &[statement]));
    }
    assert_eq!(sections(&requests), expected);
}

#[test]
fn inserts_and_batches_and_upserts() {
    let data = small_data(10);
    let insert = |client: &mut LeanClient, count| {
        let mut loader = loader(&data);
        for _ in 0..count {
            let Some(Ask::Insert { key, fields, .. }) = loader.next() else {
                panic!("the load inserts")
            };
            client.insert(key, fields).unwrap();
        }
    };
    let mut all = loader(&data);
    let mut documents = Vec::new();
    while let Some(Ask::Insert { key, fields, .. }) = all.next() {
        documents.push(document(key, fields));
    }
    let done = |n: i32| doc! { "n": n, "ok": 1.0 };

    let requests = sent(
        |options| options.write_concern.w = Some(W::Tag("both".into())),
        vec![done(1), done(1)],
        |client| insert(client, 2),
    );
    let command = doc! {
        "insert": "usertable", "ordered": true, "writeConcern": { "w": "both" }, "$db": "ycsb",
    };
    let expected = [
        with_sequence(&command, "documents", &documents[..1]),
        with_sequence(&command, "documents", &documents[1..2]),
    ];
    assert_eq!(sections(&requests), expected);

    let requests = sent(
        |options| {
            options.batch = 3;
            options.write_concern.w = Some(W::Majority);
            options.write_concern.journal = Some(false);
            options.write_concern.timeout_ms = Some(9);
        },
        vec![done(3), done(2)],
        |client| {
            insert(client, 5);
            client.flush().unwrap().unwrap();
        },
    );
    let command = doc! {
        "insert": "usertable",
        "ordered": false,
        "writeConcern": { "w": "majority", "j": false, "wtimeout": 9_i64 },
        "$db": "ycsb",
    };
    let expected = [
        with_sequence(&command, "documents", &documents[..3]),
        with_sequence(&command, "documents", &documents[3..5]),
    ];
    assert_eq!(sections(&requests), expected);

    let requests = sent(
        |options| {
            options.upsert = true;
            options.batch = 2;
        },
        vec![done(2)],
        |client| insert(client, 2),
    );
    let command = doc! { "update": "usertable", "ordered": false, "$db": "ycsb" };
    let statements = [&documents[0], &documents[1]].map(|document| {
        let id = document.get_str("_id").unwrap();
        doc! { "q": { "_id": id }, "u": document.clone(), "upsert": true }
    });
    let expected = [with_sequence(&command, "updates", &statements)];
    assert_eq!(sections(&requests), expected);
}

#[test]
fn deletes() {
    let done = doc! { "n": 1, "ok": 1.0 };
    let requests = sent(
        |options| options.write_concern.w = Some(W::Number(1)),
        vec![done],
        |client| assert!(client.delete(b"user1").unwrap()),
    );
    let command = doc! {
        "delete": "usertable", "ordered": true, "writeConcern": { "w": 1 }, "$db": "ycsb",
    };
    let statement = doc! { "q": { "_id": "user1" }, "limit": 1 };
    let expected = [with_sequence(&command, "deletes", &[statement])];
    assert_eq!(sections(&requests), expected);
}

/// The client expects no answer, and the message says so.
#[test]
fn unacknowledged_changes_want_no_answer() {
    let requests = sent(
        |options| options.write_concern.w = Some(W::Number(0)),
        Vec::new(),
        |client| assert!(client.delete(b"user1").unwrap()),
    );
    let command = doc! {
        "delete": "usertable", "ordered": true, "writeConcern": { "w": 0 }, "$db": "ycsb",
    };
    let statement = doc! { "q": { "_id": "user1" }, "limit": 1 };
    let sections = with_sequence(&command, "deletes", &[statement]);
    assert_eq!(requests, [message(2, 0, 2, &sections)]);
}
