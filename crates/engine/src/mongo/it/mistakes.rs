//! Servers that answer wrongly, late, half or not at all.

use crate::mongo::it::records::{loader, small_data, updates};
use crate::mongo::it::script::{Act, Script, body, found, hello, message, reply};
use crate::mongo::reply::Flaw;
use crate::mongo::{Host, LeanClient, LeanError, LeanErrorKind, LeanOptions};
use bson::{Document, doc};
use plimsoll_testing::{allocations, assert_contains, assert_ends};
use plimsoll_workload::{Ask, FieldChoice};
use std::net::TcpListener;
use std::time::Duration;

/// For a server that listens there.
fn at_port(port: u16) -> LeanOptions {
    let host = "127.0.0.1".into();
    LeanOptions::new(Host::Tcp { host, port }, "ycsb", &small_data(1))
}

fn one_record() -> Document {
    found("firstBatch", &[doc! { "_id": "user1", "field0": "x" }], 0)
}

/// How a read fails that is answered so. The read after it goes to a new connection and succeeds.
fn read_fails(act: Act) -> LeanError {
    let good = vec![Act::Reply(one_record())];
    let script = Script::play(vec![vec![act], good]);
    let mut client = LeanClient::connect(&script.options(&small_data(1))).unwrap();
    let error = client.read(b"user1", FieldChoice::All, None).unwrap_err();
    assert!(client.read(b"user1", FieldChoice::All, None).unwrap());
    drop(client);
    assert_eq!(script.requests().len(), 4);
    error
}

/// The same for an error that leaves the connection as good as it was.
fn refused(document: Document) -> LeanError {
    let script = Script::play(vec![vec![Act::Reply(document), Act::Reply(one_record())]]);
    let mut client = LeanClient::connect(&script.options(&small_data(1))).unwrap();
    let error = client.read(b"user1", FieldChoice::All, None).unwrap_err();
    assert!(client.read(b"user1", FieldChoice::All, None).unwrap());
    error
}

fn flaw_of(act: Act) -> Flaw {
    match read_fails(act) {
        LeanError::Protocol { flaw, .. } => flaw,
        other => panic!("{other}"),
    }
}

#[test]
fn a_connection_that_is_cut_is_made_again() {
    let whole = reply(2, &one_record()).len() as u64;
    for cut in [0, 2, 4, 30, whole as usize - 1] {
        let expected = (cut >= 4).then_some(whole);
        let act = Act::cut(move |id| reply(id, &one_record())[..cut].to_vec());
        let error = read_fails(act);
        assert_eq!(error.kind(), LeanErrorKind::Disconnected);
        match error {
            LeanError::Disconnected { received, expected: of, .. } => {
                assert_eq!((received, of), (cut as u64, expected));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn replies_that_are_none_are_told_apart() {
    let good = |id| reply(id, &one_record());
    let (expected, found) = (2, 3);
    let flaw = flaw_of(Act::bytes(move |id| reply(id + 1, &one_record())));
    assert_eq!(flaw, Flaw::Request { expected, found });
    let changed = |at: usize, bytes: &'static [u8]| {
        flaw_of(Act::bytes(move |id| {
            let mut reply = good(id);
            reply[at..at + bytes.len()].copy_from_slice(bytes);
            reply
        }))
    };
    assert_eq!(changed(12, b"\x01\0\0\0"), Flaw::Opcode(1));
    assert_eq!(changed(12, b"\xdc\x07\0\0"), Flaw::Opcode(2012));
    assert_eq!(changed(16, b"\x02\0\0\0"), Flaw::MoreToCome);
    assert_eq!(changed(16, b"\x01\0\0\0"), Flaw::Checksum);
    assert_eq!(changed(16, b"\x08\0\0\0"), Flaw::Flags(8));
    assert_eq!(changed(20, b"\x01"), Flaw::Section(1));
    assert_eq!(changed(0, b"\x14\0\0\0"), Flaw::TooShort(20));
    assert_eq!(changed(0, b"\xff\xff\xff\xff"), Flaw::TooLong(u32::MAX));
    assert_eq!(changed(0, b"\x01\x6c\xdc\x02"), Flaw::TooLong(48_000_001));
    // Not BSON, in its length, in an element's type, and in a nested document.
    assert!(matches!(changed(21, b"\xff\0\0\0"), Flaw::Malformed(_)));
    assert!(matches!(changed(25, b"\x99"), Flaw::Malformed(_)));
    let bytes = good(2);
    let text = bytes.windows(2).position(|two| two == b"\0x").unwrap() - 3;
    for at in [33, text] {
        let flaw = flaw_of(Act::bytes(move |id| {
            let mut reply = good(id);
            reply[at..at + 4].copy_from_slice(b"\xff\xff\xff\x7f");
            reply
        }));
        let is_described = matches!(flaw, Flaw::Malformed(_) | Flaw::Missing("cursor"));
        assert!(is_described, "{flaw}");
    }
    let surplus = flaw_of(Act::bytes(move |id| [good(id), good(id)].concat()));
    assert_eq!(surplus, Flaw::Surplus(good(2).len()));
    let two_sections = flaw_of(Act::bytes(|id| {
        let sections = [body(&one_record()), body(&doc! {})].concat();
        message(1, id, 0, &sections)
    }));
    assert_eq!(two_sections, Flaw::Surplus(6));
}

#[test]
fn replies_to_something_else_are_told_apart() {
    let flaw = |document| flaw_of(Act::Reply(document));
    let batch =
        |batch: bson::Bson| doc! { "cursor": { "firstBatch": batch, "id": 0_i64 }, "ok": 1 };
    let whole = doc! { "firstBatch": [], "id": 0_i64 };
    let no_id = doc! { "firstBatch": [] };
    let no_batch = doc! { "id": 0_i64 };
    for (reply, missing) in [
        (doc! { "cursor": whole }, "ok"),
        (doc! { "ok": "yes" }, "ok"),
        (doc! { "ok": 1 }, "cursor"),
        (doc! { "cursor": 5, "ok": 1 }, "cursor"),
        (doc! { "cursor": no_id, "ok": 1 }, "cursor.id"),
        (doc! { "cursor": no_batch, "ok": 1 }, "cursor.firstBatch"),
        (batch(bson::bson!({ "0": {} })), "cursor.firstBatch"),
        (batch(bson::bson!([5])), "document in a batch"),
    ] {
        assert_eq!(flaw(reply), Flaw::Missing(missing));
    }
    assert_eq!(flaw(batch(bson::bson!([{}, {}]))), Flaw::TooMany);
}

/// A reply that calls itself 47 MB long takes no 47 MB.
#[test]
fn memory_follows_what_came_and_not_what_is_announced() {
    let script = Script::play(vec![vec![Act::cut(|id| {
        let mut reply = message(1, id, 0, &[0; 100_000]);
        reply[..4].copy_from_slice(&47_000_000_u32.to_le_bytes());
        reply
    })]]);
    let mut client = LeanClient::connect(&script.options(&small_data(1))).unwrap();
    let before = allocations::bytes();
    let error = client.read(b"user1", FieldChoice::All, None).unwrap_err();
    let allocated = allocations::bytes() - before;
    assert!(allocated < 1_000_000, "{allocated} bytes");
    let words = "in the middle of a reply, after 100020 of 47000000 bytes; see its log for why it ended or whether it was restarted";
    assert_ends(&error, words);
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let script = Script::play(vec![vec![Act::Silence]]);
    let mut options = script.options(&small_data(1));
    options.call_timeout = Some(Duration::from_millis(30));
    let mut client = LeanClient::connect(&options).unwrap();
    let error = client.read(b"user1", FieldChoice::All, None).unwrap_err();
    assert_eq!(error.kind(), LeanErrorKind::Timeout);

    let script = Script::play_bare(vec![vec![Act::Silence]]);
    options.host = script.host.clone();
    options.connect_timeout = Duration::from_millis(30);
    let error = LeanClient::connect(&options).err().unwrap();
    assert_eq!(error.kind(), LeanErrorKind::Timeout);
}

/// One byte at a time may take as long as a limit, but not one limit for each byte.
#[test]
fn a_reply_that_trickles_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1_000]);
        // Each write wakes the client, until it is gone.
        while stream.write_all(&[0x7f, 0, 0, 0][..1]).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let mut options = at_port(port);
    options.connect_timeout = Duration::from_millis(50);
    // 0x7f7f7f7f bytes are too long for a reply, so it ends either way.
    assert!(LeanClient::connect(&options).is_err());
    script.join().unwrap();
}

#[test]
fn a_primary_that_steps_down_is_asked_anew() {
    let stepped_down = doc! {
        "ok": 0.0,
        "errmsg": "not primary",
        "code": 10_107,
        "codeName": "NotWritablePrimary",
    };
    let mut secondary = hello();
    secondary.extend(doc! {
        "ismaster": false,
        "secondary": true,
        "setName": "rs0",
        "primary": "db2:27017",
    });
    let done = doc! { "n": 1, "ok": 1.0 };
    let script = Script::play_bare(vec![
        vec![Act::Reply(hello()), Act::Reply(done.clone()), Act::Reply(stepped_down)],
        vec![Act::Reply(secondary)],
        vec![Act::Reply(hello()), Act::Reply(done)],
    ]);
    let mut client = LeanClient::connect(&script.options(&small_data(1))).unwrap();
    assert!(client.delete(b"user1").unwrap());
    let error = client.delete(b"user1").unwrap_err();
    assert_eq!(error.kind(), LeanErrorKind::NotPrimary);
    assert_contains(&error, "not primary (NotWritablePrimary, code 10107)");
    let error = client.delete(b"user1").unwrap_err();
    assert_eq!(error.kind(), LeanErrorKind::NotPrimary);
    let words = "it is a secondary of the replica set `rs0`, whose primary is db2:27017";
    assert_contains(&error, words);
    assert!(client.delete(b"user1").unwrap());
}

#[test]
fn refusals_are_told_in_the_words_of_the_server() {
    let error = refused(doc! {
        "ok": 0.0, "errmsg": "ouch", "code": 50, "codeName": "MaxTimeMSExpired",
    });
    assert_eq!(error.kind(), LeanErrorKind::Refused);
    assert_ends(&error, " refused: ouch (MaxTimeMSExpired, code 50)");
    // Older servers give no names, and some nothing at all.
    let error = refused(doc! { "ok": 0 });
    assert_eq!(error.kind(), LeanErrorKind::Refused);
}

#[test]
fn changes_that_fail_are_told_apart() {
    let delete = |replied: Document| {
        let script = Script::play(vec![vec![Act::Reply(replied)]]);
        let mut client = LeanClient::connect(&script.options(&small_data(1))).unwrap();
        client.delete(b"user1")
    };
    assert!(delete(doc! { "n": 1, "writeErrors": [], "ok": 1 }).unwrap());
    assert!(!delete(doc! { "n": 0.0, "ok": true }).unwrap());
    let kind = |replied| delete(replied).unwrap_err().kind();
    for reply in [
        doc! { "ok": 1 },
        doc! { "n": 2, "ok": 1 },
        doc! { "n": -1, "ok": 1 },
        doc! { "n": "1", "ok": 1 },
        doc! { "n": 0, "writeErrors": 3, "ok": 1 },
        doc! { "n": 0, "writeErrors": [3], "ok": 1 },
    ] {
        assert_eq!(kind(reply.clone()), LeanErrorKind::Protocol, "{reply}");
    }
    let errors = |code: i32| {
        doc! { "n": 0, "writeErrors": [{ "index": 0, "code": code, "errmsg": "why" }], "ok": 1 }
    };
    assert_eq!(kind(errors(11_000)), LeanErrorKind::Duplicate);
    assert_eq!(kind(errors(17_419)), LeanErrorKind::TooLarge);
    assert_eq!(kind(errors(112)), LeanErrorKind::Refused);
    assert_eq!(kind(errors(10_107)), LeanErrorKind::NotPrimary);
    let late = doc! {
        "n": 1,
        "writeConcernError": { "code": 64, "codeName": "WriteConcernFailed", "errmsg": "waiting" },
        "ok": 1,
    };
    assert_eq!(kind(late), LeanErrorKind::WriteConcern);
}

#[test]
fn scans_do_not_go_on_for_ever() {
    let one = doc! { "_id": "user1" };
    let scan = |acts: Vec<Act>| {
        let script = Script::play(vec![acts]);
        let mut client = LeanClient::connect(&script.options(&small_data(1))).unwrap();
        client.scan(b"user1", 3, FieldChoice::All)
    };
    let first = |cursor| Act::Reply(found("firstBatch", std::slice::from_ref(&one), cursor));
    let next = |count, cursor| Act::Reply(found("nextBatch", &vec![one.clone(); count], cursor));
    let slowly = scan(vec![first(9), next(0, 9), next(1, 9), next(1, 0)]);
    assert_eq!(slowly.unwrap(), 3);
    assert_eq!(scan(vec![first(9), next(0, 0)]).unwrap(), 1);
    let error = scan(vec![first(9), next(3, 0)]).unwrap_err();
    assert_eq!(error.kind(), LeanErrorKind::Protocol);
    let endless = std::iter::once(first(9)).chain((0..2_000).map(|_| next(0, 9)));
    let error = scan(endless.collect()).unwrap_err();
    assert_eq!(error.kind(), LeanErrorKind::Protocol);
    assert_contains(&error, "reply after reply without a document");
    // A cursor that the server forgot meanwhile.
    let lost = doc! { "ok": 0.0, "errmsg": "cursor id 9 not found", "code": 43, "codeName": "CursorNotFound" };
    let error = scan(vec![first(9), Act::Reply(lost)]).unwrap_err();
    assert_eq!(error.kind(), LeanErrorKind::Refused);
}

#[test]
fn a_batch_that_breaks_off_is_lost_and_the_next_begins_anew() {
    let data = small_data(6);
    let done = Act::Reply(doc! { "n": 3, "ok": 1.0 });
    let script = Script::play(vec![vec![Act::cut(|_| Vec::new())], vec![done]]);
    let mut options = script.options(&data);
    options.batch = 3;
    let mut client = LeanClient::connect(&options).unwrap();
    let mut loader = loader(&data);
    let mut results = Vec::new();
    while let Some(Ask::Insert { key, fields, .. }) = loader.next() {
        results.push(client.insert(key, fields).map_err(|error| error.kind()));
    }
    use crate::mongo::Inserted::{Batched, Stored};
    let (batched, broken) = (Ok(Batched), Err(LeanErrorKind::Disconnected));
    let expected = [&batched, &batched, &broken, &batched, &batched, &Ok(Stored)];
    assert_eq!(results.iter().collect::<Vec<_>>(), expected);
    assert!(client.flush().is_none());
}

#[test]
fn a_server_that_does_not_fit_is_refused() {
    let data = small_data(1);
    let connect = |acts: Vec<Act>| {
        let script = Script::play_bare(vec![acts]);
        let error = LeanClient::connect(&script.options(&data)).err().unwrap();
        assert_contains(&error, &script.host.to_string());
        (error.kind(), error.to_string())
    };
    let web = Act::bytes(|_| b"HTTP/1.0 400 Bad Request\r\n\r\n".to_vec());
    let mut old = hello();
    old.insert("maxWireVersion", 5);
    for (act, words) in [
        (web, &["is no MongoDB", "HTTP/1.0 400"][..]),
        (Act::cut(|_| Vec::new()), &["closed the connection"]),
        (Act::Reply(old), &["too old"]),
        (Act::Reply(doc! { "ok": 1.0 }), &[]),
    ] {
        let (kind, said) = connect(vec![act]);
        assert_eq!(kind, LeanErrorKind::Connect, "{said}");
        for word in words {
            assert_contains(&said, word);
        }
    }
    let mut arbiter = hello();
    arbiter.extend(doc! { "ismaster": false, "arbiterOnly": true, "setName": "rs0" });
    let (kind, said) = connect(vec![Act::Reply(arbiter)]);
    assert_eq!(kind, LeanErrorKind::NotPrimary);
    let words = "it is an arbiter of the replica set `rs0`, which has no primary";
    assert_contains(&said, words);

    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = nobody.local_addr().unwrap().port();
    drop(nobody);
    let error = LeanClient::connect(&at_port(port)).err().unwrap();
    assert!(matches!(error, LeanError::Connect { .. }), "{error}");
}

#[test]
fn answers_that_nobody_wanted_are_noticed() {
    let done = || Act::Reply(doc! { "n": 1, "ok": 1.0 });
    let script = Script::play(vec![(0..200).map(|_| done()).collect()]);
    let mut options = script.options(&small_data(1));
    options.write_concern.w = Some(crate::mongo::W::Number(0));
    let mut client = LeanClient::connect(&options).unwrap();
    let error = loop {
        if let Err(error) = client.delete(b"user1") {
            break error;
        }
    };
    let LeanError::Protocol { flaw, .. } = &error else { panic!("{error}") };
    assert_eq!(*flaw, Flaw::Unrequested);
}

#[test]
fn impossible_options_are_refused_before_anything_is_asked() {
    let script = Script::play(vec![]);
    let changes: [fn(&mut crate::mongo::LeanOptions); 5] = [
        |options| options.batch = 0,
        |options| options.collection = String::new(),
        |options| options.database = "a\0b".into(),
        |options| options.call_timeout = Some(Duration::ZERO),
        |options| {
            options.write_concern.w = Some(crate::mongo::W::Number(0));
            options.write_concern.journal = Some(true);
        },
    ];
    for change in changes {
        let mut options = script.options(&small_data(1));
        change(&mut options);
        let error = LeanClient::connect(&options).err().unwrap();
        assert_eq!(error.kind(), LeanErrorKind::Options, "{error}");
    }
}

/// A reply of several buffers' length, in pieces.
#[test]
fn long_replies_are_put_together() {
    let value =
        bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![7; 1_000_000] };
    let document = doc! { "_id": "user1", "field0": value };
    let found = found("firstBatch", &[document], 0);
    let script = Script::play(vec![vec![Act::Reply(found)]]);
    let mut client = LeanClient::connect(&script.options(&small_data(1))).unwrap();
    let mut bytes = 0;
    let mut visitor = |name: &[u8], value: &[u8]| {
        assert_eq!(name, b"field0");
        bytes += value.len();
    };
    assert!(client.read(b"user1", FieldChoice::All, Some(&mut visitor)).unwrap());
    assert_eq!(bytes, 1_000_000);
}

#[test]
fn an_operation_that_succeeds_allocates_nothing() {
    let data = small_data(40);
    let rows: Vec<_> = (0..30).map(|_| doc! { "_id": "user1", "field0": "x" }).collect();
    let mut acts = Vec::new();
    let done = |n: i32| Act::Reply(doc! { "n": n, "ok": 1.0 });
    for _ in 0..2 {
        for _ in 0..10 {
            acts.push(Act::Reply(one_record()));
            acts.push(done(1));
            acts.push(done(1));
            acts.push(Act::Reply(found("firstBatch", &rows, 5)));
            acts.push(Act::Reply(found("nextBatch", &rows, 0)));
        }
        acts.extend((0..10).map(|_| done(4)));
    }
    let script = Script::play(vec![acts]);
    let mut options = script.options(&data);
    options.batch = 4;
    let mut client = LeanClient::connect(&options).unwrap();
    let workload = updates(&data);
    let mut round = || {
        let mut generator = workload.generator(0);
        let mut records = loader(&data);
        let before = allocations::count();
        for _ in 0..10 {
            let Ask::Update { key, changes } = generator.next() else {
                panic!("there are only updates")
            };
            let mut bytes = 0;
            let mut visitor = |_: &[u8], value: &[u8]| bytes += value.len();
            let fields = FieldChoice::Some(&[0, 1]);
            assert!(client.read(key, fields, Some(&mut visitor)).unwrap());
            assert!(client.update(key, changes).unwrap());
            assert!(client.delete(key).unwrap());
            assert_eq!(client.scan(key, 60, FieldChoice::All).unwrap(), 60);
        }
        while let Some(Ask::Insert { key, fields, .. }) = records.next() {
            client.insert(key, fields).unwrap();
        }
        allocations::count() - before
    };
    // Buffers grow in the first round.
    round();
    assert_eq!(round(), 0);
}
