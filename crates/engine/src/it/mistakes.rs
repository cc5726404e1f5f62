//! What can be wrong with a server, and the messages about it.

use crate::it::laboratory::{
    CLIENTS, assert_all_ok, assert_ok, failure, load, message, open_at, open_on, read, records,
    text, verifiable,
};
use crate::it::scripted::{
    Answer, Scripted, by_default, first_word, greeting, is_greeting, refusal,
};
use crate::it::server::{Kind, Server, closed_port, free_port};
use crate::mongo::{Host, LeanClient, LeanOptions};
use crate::{Opening, Outcome, open};
use bson::doc;
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_testing::{Need, assert_contains, certificates, needs};
use plimsoll_workload::{DataSpec, FieldChoice};
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const SECRET: &str = "swordfish-7";

type Pairs = [(&'static str, SettingValue); 2];

fn within(client: &str, milliseconds: u64) -> Pairs {
    let timeout = SettingValue::Nanos(milliseconds * 1_000_000);
    [("client", text(client)), ("connect_timeout", timeout)]
}

fn quickly(client: &str) -> Pairs {
    within(client, 500)
}

/// Waits for a server that starts late, or again. The driver lets half a second pass before it looks again.
fn patiently(client: &str) -> Pairs {
    within(client, 10_000)
}

/// Why a URI cannot be opened, with either client.
fn refused(uri: &str) -> Vec<String> {
    let refused = CLIENTS.iter().map(|client| {
        let said = message(open_at(uri, &verifiable(1), &quickly(client)));
        assert!(!said.contains(SECRET), "{said}");
        said
    });
    refused.collect()
}

fn assert_says(said: &str, words: &[&str]) {
    for word in words {
        assert_contains(said, word);
    }
}

#[test]
fn without_a_server_it_says_what_to_do() {
    for said in refused(&format!("mongodb://me:{SECRET}@127.0.0.1:{}/", closed_port())) {
        assert_says(&said, &["reaching mongodb://me:***@127.0.0.1:"]);
        assert_says(&said, &["Connection refused"]);
        assert_says(&said, &["start the server, or correct `uri`"]);
    }
    let settings = Settings::default();
    let data = verifiable(1);
    let opening = Opening::new(&settings, &data);
    let expected = "the engine `mongodb` needs a server: name one by `uri`, or have one started";
    assert_eq!(message(open("mongodb", &opening)), expected);
}

#[test]
fn a_uri_that_is_none_is_refused() {
    for (uri, words) in [
        ("http://localhost", "scheme"),
        ("mongodb://127.0.0.1/?wtimeoutMS=soon", "wtimeout"),
        ("mongodb://127.0.0.1/?speed=high", "speed is an invalid option"),
        ("mongodb://127.0.0.1:99999/", "port"),
    ] {
        for said in refused(uri) {
            assert_says(&said, &["does not suit the engine `mongodb`"]);
            assert!(said.to_lowercase().contains(words), "`{words}`: {said}");
        }
    }
    let unset = "mongodb://me:${PLIMSOLL_TEST_UNSET}@127.0.0.1/";
    for said in refused(unset) {
        let words = "the environment variable PLIMSOLL_TEST_UNSET is not set";
        assert_contains(&said, words);
    }
}

#[test]
fn settings_that_do_not_go_together_are_refused_by_name() {
    let uri = format!("mongodb://127.0.0.1:{}/?w=1", closed_port());
    let said = |pairs: &[(&str, SettingValue)]| {
        let mut all = quickly("driver").to_vec();
        all.retain(|(name, _)| pairs.iter().all(|(known, _)| known != name));
        all.extend(pairs.to_vec());
        message(open_at(&uri, &verifiable(1), &all))
    };
    let flag = SettingValue::Flag(true);
    for (pairs, words) in [
        (
            vec![("write_concern", text("majority"))],
            ["`write_concern: majority`", "the URI says it as well"],
        ),
        (vec![("parameters", text("a=1"))], ["`parameters: a=1`", "a running server"]),
        (
            vec![("directory_per_db", flag.clone())],
            ["`directory_per_db: true`", "a running server"],
        ),
        (
            vec![("compressors", text("snappy,lz4"))],
            ["`compressors: snappy,lz4`", "`lz4` is none of them"],
        ),
    ] {
        assert_says(&said(&pairs), &words);
    }
    let other = format!("mongodb://127.0.0.1:{}/", closed_port());
    let mut zero = quickly("driver").to_vec();
    zero.push(("write_concern", text("0")));
    let said = message(open_at(&other, &verifiable(1), &zero));
    assert_says(&said, &["`client: driver`", "write concern 0"]);
    assert_says(&said, &["`client: lean`"]);
}

#[test]
fn what_the_lean_client_cannot_do_names_the_other() {
    for (option, words) in [
        ("tls=true", "has no TLS"),
        ("compressors=zstd", "does not compress"),
        ("readPreference=secondary&replicaSet=x", "reads from the primary alone"),
    ] {
        let uri = format!("mongodb://127.0.0.1:{}/?{option}", closed_port());
        let said = message(open_at(&uri, &verifiable(1), &quickly("lean")));
        assert_says(&said, &["`client: lean`", words, "use `client: driver`"]);
    }
    let uri = format!("mongodb://127.0.0.1:{}/", closed_port());
    let mut pairs = quickly("lean").to_vec();
    pairs.push(("read_preference", text("nearest")));
    let said = message(open_at(&uri, &verifiable(1), &pairs));
    assert_says(&said, &["reads from the primary alone"]);
    assert_says(&said, &["use `client: driver`"]);
}

/// A server that greets with this instead, and has nothing else to say.
fn greeting_with(other: bson::Document) -> Scripted {
    Scripted::start(move |command| {
        if !is_greeting(command) {
            return by_default(command);
        }
        let mut greeting = greeting();
        greeting.extend(other.clone());
        Answer::Reply(greeting)
    })
}

#[test]
fn a_server_that_is_too_old_says_so() {
    let old = greeting_with(doc! { "maxWireVersion": 6 });
    for said in refused(&old.uri()) {
        assert_says(&said, &["wire version 6", "older than MongoDB 4.2"]);
    }
}

#[test]
fn a_secondary_says_so() {
    let secondary = greeting_with(doc! {
        "ismaster": false,
        "isWritablePrimary": false,
        "secondary": true,
        "setName": "rs0",
        "hosts": ["127.0.0.1:1"],
    });
    let uri = format!("{}?directConnection=true", secondary.uri());
    for said in refused(&uri) {
        assert_says(&said, &["it is no primary", "replicaSet"]);
    }
}

#[test]
fn a_user_without_rights_is_told_which() {
    let server = Scripted::start(|command| match first_word(command) {
        "listCollections" => Answer::Reply(refusal(13, "Unauthorized", "not authorized on ycsb")),
        _ => by_default(command),
    });
    for said in refused(&server.uri()) {
        assert_says(&said, &["listing ycsb.usertable failed"]);
        assert_says(&said, &["not authorized on ycsb (Unauthorized, code 13)"]);
        assert_says(&said, &["the role readWrite"]);
    }
    // A user who only reads need not be allowed to list.
    for client in CLIENTS {
        let mut pairs = quickly(client).to_vec();
        pairs.push(("existing", text("use")));
        let engine = open_at(&server.uri(), &verifiable(1), &pairs).unwrap();
        let host = &engine.description().notes["server_host"];
        assert_eq!(host, "unknown: the server does not have it");
    }
}

/// A server that answers everything but reads.
fn mute() -> Scripted {
    Scripted::start(|command| match command.get_str("find") {
        Ok("usertable") if command.contains_key("filter") => Answer::Never,
        _ => by_default(command),
    })
}

#[test]
fn a_call_that_is_not_answered_is_ended_by_another_thread() {
    for client in CLIENTS {
        let server = mute();
        let engine = open_at(&server.uri(), &verifiable(1), &patiently(client)).unwrap();
        let mut session = engine.session().unwrap();
        let interrupt = session.interrupter().unwrap();
        std::thread::scope(|scope| {
            let read = scope.spawn(|| failure(session.read(b"user0", FieldChoice::All, None)));
            // Before the read or in it, it ends.
            interrupt();
            let said = read.join().unwrap();
            assert_says(&said, &["did not answer"]);
        });
        let said = failure(session.read(b"user0", FieldChoice::All, None));
        assert_says(&said, &["did not answer"]);
    }
}

#[test]
fn both_clients_wait_no_longer_than_the_uri_says() {
    for client in CLIENTS {
        let server = mute();
        let uri = format!("{}?socketTimeoutMS=50", server.uri());
        let engine = open_at(&uri, &verifiable(1), &patiently(client)).unwrap();
        let mut session = engine.session().unwrap();
        let said = failure(session.read(b"user0", FieldChoice::All, None));
        assert_says(&said, &["50 ms"]);
    }
}

/// A server that gives collections no identity cannot say whether this one is the one that was loaded.
#[test]
fn what_has_no_identity_is_not_dropped() {
    let dropped = Arc::new(AtomicBool::new(false));
    let was_dropped = Arc::clone(&dropped);
    let server = Scripted::start(move |command| {
        let first = match (first_word(command), command.get_str("find")) {
            ("listCollections", _) => doc! { "name": "usertable", "type": "collection" },
            // An earlier load's mark, and a document.
            ("find", Ok("plimsoll.marks")) => doc! { "_id": "usertable", "loaded_by": "plimsoll" },
            ("find", _) => doc! { "_id": "theirs" },
            (word, _) => {
                was_dropped.fetch_or(matches!(word, "drop" | "delete"), Ordering::SeqCst);
                return by_default(command);
            }
        };
        Answer::Reply(doc! { "ok": 1.0, "cursor": { "id": 0_i64, "firstBatch": [first] } })
    });
    for client in CLIENTS {
        let mut pairs = quickly(client).to_vec();
        pairs.push(("existing", text("drop")));
        let said = message(open_at(&server.uri(), &verifiable(1), &pairs));
        assert_says(&said, &["dropping ycsb.usertable", "left alone"]);
    }
    assert!(!dropped.load(Ordering::SeqCst));
}

#[test]
fn a_reply_that_is_cut_off_fails_and_the_next_operation_connects_again() {
    for client in CLIENTS {
        let cut = Arc::new(AtomicBool::new(false));
        let is_cut_now = Arc::clone(&cut);
        let server = Scripted::start(move |command| {
            if first_word(command) == "find" && is_cut_now.swap(false, Ordering::SeqCst) {
                return Answer::CutOff(doc! { "ok": 1.0, "cursor": {} }, 30);
            }
            by_default(command)
        });
        let engine = open_at(&server.uri(), &verifiable(1), &patiently(client)).unwrap();
        let mut session = engine.session().unwrap();
        assert!(read(&mut *session, b"user1", FieldChoice::All).is_none());
        cut.store(true, Ordering::SeqCst);
        let said = failure(session.read(b"user1", FieldChoice::All, None));
        assert!(!said.is_empty());
        assert!(read(&mut *session, b"user1", FieldChoice::All).is_none());
    }
}

#[test]
fn repetitions_by_the_driver_are_counted() {
    let cut = Arc::new(AtomicU32::new(0));
    let cuts = Arc::clone(&cut);
    let server = Scripted::start(move |command| {
        if is_greeting(command) {
            let mut greeting = greeting();
            greeting.insert("logicalSessionTimeoutMinutes", 30);
            return Answer::Reply(greeting);
        }
        let one_less = |left: u32| left.checked_sub(1);
        let is_cut = || cuts.try_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        if first_word(command) == "find" && is_cut().is_ok() {
            return Answer::CutOff(doc! { "ok": 1.0 }, 20);
        }
        by_default(command)
    });
    for (option, failures, repeated) in [
        ("", 1, 0),
        ("?retryReads=true", 1, 1),
        // The second attempt fails as well, and there is no third.
        ("?retryReads=true", 2, 1),
    ] {
        let uri = format!("{}{option}", server.uri());
        let engine = open_at(&uri, &verifiable(1), &patiently("driver")).unwrap();
        let mut session = engine.session().unwrap();
        cut.store(failures, Ordering::SeqCst);
        let outcome = session.read(b"user1", FieldChoice::All, None);
        let failed = matches!(outcome, Outcome::Error(_));
        assert_eq!(failed, failures > repeated, "{outcome:?}");
        assert_eq!(session.retries(), u64::from(repeated));
    }
}

#[test]
fn a_mongos_is_known_as_one() {
    let server = greeting_with(doc! { "msg": "isdbgrid" });
    for client in CLIENTS {
        let engine = open_at(&server.uri(), &verifiable(1), &quickly(client)).unwrap();
        let description = engine.description();
        assert_eq!(description.notes["server"], "mongos of a sharded cluster");
        assert!(description.notes["client"].starts_with(client));
        let mut session = engine.session().unwrap();
        assert!(read(&mut *session, b"user1", FieldChoice::All).is_none());
    }
}

/// The answer of a server that is no longer primary.
fn stepped_down() -> bson::Document {
    refusal(10_107, "NotWritablePrimary", "not primary")
}

#[test]
fn a_primary_that_steps_down_is_followed_to_the_new_one() {
    for client in CLIENTS {
        let listeners = [0, 1].map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let host = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
        let hosts = listeners.each_ref().map(host);
        // Which of the two is the primary. Its elections are counted by the same number.
        let primary = Arc::new(AtomicU32::new(0));
        let requested = Arc::new([const { AtomicU32::new(0) }; 2]);
        let mut number = 0;
        let servers = listeners.map(|listener| {
            let (me, hosts) = (number, hosts.clone());
            number += 1;
            let (primary, requested) = (Arc::clone(&primary), Arc::clone(&requested));
            Scripted::on(listener, move |command| {
                let now = primary.load(Ordering::SeqCst);
                let is_primary = now == me;
                if is_greeting(command) {
                    let mut greeting = greeting();
                    greeting.extend(doc! {
                        "setName": "rs0",
                        "setVersion": 1,
                        "hosts": hosts.to_vec(),
                        "me": &hosts[me as usize],
                        "ismaster": is_primary,
                        "isWritablePrimary": is_primary,
                        "secondary": !is_primary,
                    });
                    if is_primary {
                        let term = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, now as u8 + 1];
                        greeting.insert("electionId", bson::oid::ObjectId::from_bytes(term));
                        greeting.insert("primary", &hosts[me as usize]);
                    }
                    return Answer::Reply(greeting);
                }
                if !is_primary {
                    return Answer::Reply(stepped_down());
                }
                if first_word(command) == "delete" {
                    requested[me as usize].fetch_add(1, Ordering::SeqCst);
                    return Answer::Reply(doc! { "ok": 1.0, "n": 1 });
                }
                by_default(command)
            })
        });
        let uri = format!("mongodb://{},{}/?replicaSet=rs0", hosts[0], hosts[1]);
        let engine = open_at(&uri, &verifiable(1), &patiently(client)).unwrap();
        let kind = &engine.description().notes["server"];
        assert_eq!(kind, "primary of the replica set rs0");
        let mut session = engine.session().unwrap();
        assert_ok(&session.delete(b"user1"));
        assert_eq!(requested[0].load(Ordering::SeqCst), 1);
        primary.store(1, Ordering::SeqCst);
        let said = failure(session.delete(b"user1"));
        assert_says(&said, &["not primary"]);
        // A new primary is sought at most once a second.
        let mut failures = 0;
        while let Outcome::Error(_) = session.delete(b"user1") {
            failures += 1;
            assert!(failures < 1_000, "{client}: the new primary is not found");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(requested[1].load(Ordering::SeqCst), 1);
        drop(session);
        drop(engine);
        drop(servers);
    }
}

#[test]
fn a_user_is_let_in_and_the_password_told_to_nobody() {
    // The official driver and FerretDB 1.24 do not agree on the end of SCRAM.
    needs!([Need::Server("mongod")]);
    let server = Server::start_with(Kind::Mongod, &["--auth"]);
    // While there is no user, a client on the same machine may create the first.
    let host = Host::Tcp { host: "127.0.0.1".into(), port: server.port };
    let mut client = LeanClient::connect(&LeanOptions::new(host, "admin", &verifiable(1))).unwrap();
    let user = doc! { "createUser": "me", "pwd": SECRET, "roles": ["root"] };
    client.command("admin", &user.to_vec().unwrap()).unwrap();
    let port = server.port;
    for said in refused(&format!("mongodb://me:not-{SECRET}@127.0.0.1:{port}/")) {
        assert_says(&said, &["check user, password and `authSource`"]);
    }
    for client in CLIENTS {
        let mut data = verifiable(20);
        data.table = client.into();
        let uri = format!("mongodb://me:{SECRET}@127.0.0.1:{port}/");
        let engine = open_at(&uri, &data, &[("client", text(client))]).unwrap();
        assert_all_ok(&load(&mut *engine.session().unwrap(), &data));
        assert_eq!(engine.count().unwrap(), Some(20));
        let description = format!("{:?}", engine.description());
        assert!(!description.contains(SECRET), "{description}");
        assert_says(&description, &["mongodb://me:***@127.0.0.1:"]);
    }
}

mod slow {
    use super::*;

    #[test]
    fn a_wrong_password_is_told_without_it() {
        needs!([Need::Server("ferretdb")]);
        let arguments = [
            "--test-enable-new-auth=true",
            "--setup-username=me",
            "--setup-password=right-one-1",
            "--setup-database=admin",
        ];
        let server = Server::start_with(Kind::FerretDb, &arguments);
        for said in refused(&format!("mongodb://me:{SECRET}@127.0.0.1:{}/", server.port)) {
            assert_says(&said, &["check user, password and `authSource`"]);
        }
        for said in refused(&server.uri()) {
            assert_says(&said, &["without a user in `uri`, the server wants one"]);
        }
    }

    #[test]
    fn tls_is_spoken_by_the_driver_and_missed_in_words() {
        needs!([Need::Server("ferretdb")]);
        let folder = tempfile::tempdir().unwrap();
        let authority = folder.path().join("authority.pem");
        let certificate = folder.path().join("certificate.pem");
        let key = folder.path().join("key.pem");
        std::fs::write(&authority, certificates::AUTHORITY).unwrap();
        std::fs::write(&certificate, certificates::SERVER).unwrap();
        std::fs::write(&key, certificates::SERVER_KEY).unwrap();
        let tls_port = free_port();
        let (certificate, key) = (certificate.display(), key.display());
        let arguments = [
            &*format!("--listen-tls=127.0.0.1:{tls_port}"),
            &format!("--listen-tls-cert-file={certificate}"),
            &format!("--listen-tls-key-file={key}"),
        ];
        let server = Server::start_with(Kind::FerretDb, &arguments);
        let data = verifiable(20);
        let authority = authority.display();
        let good = format!("mongodb://localhost:{tls_port}/?tls=true&tlsCAFile={authority}");
        let engine = open_at(&good, &data, &[("client", text("driver"))]).unwrap();
        assert_all_ok(&load(&mut *engine.session().unwrap(), &data));
        assert_eq!(engine.count().unwrap(), Some(20));
        drop(engine);

        let to_plain = format!("mongodb://localhost:{}/?tls=true", server.port);
        let said = message(open_at(&to_plain, &data, &quickly("driver")));
        assert_says(&said, &["check the port", "TLS (`tls=true` in `uri`)"]);
        for said in refused(&format!("mongodb://localhost:{tls_port}/")) {
            assert_says(&said, &["may not agree on TLS"]);
        }
        let untrusted = format!("mongodb://localhost:{tls_port}/?tls=true");
        let said = message(open_at(&untrusted, &data, &quickly("driver")));
        assert_says(&said, &["not trusted", "`tlsCAFile`"]);
    }

    #[test]
    fn documents_of_others_are_left_alone() {
        for kind in Kind::there() {
            let server = Server::start(kind);
            let data = verifiable(30);
            let existing = |word| [("existing", text(word))];
            let open = |data: &DataSpec, word| open_at(&server.uri(), data, &existing(word));
            let stored = |data: &DataSpec| {
                let engine = open(data, "use").unwrap();
                engine.count().unwrap()
            };

            // Documents without a mark, as another program would store them.
            let foreign = open_on(&server, &data, &[]).unwrap();
            assert_all_ok(&load(&mut *foreign.session().unwrap(), &data));
            drop(foreign);
            let said = message(open(&data, "refuse"));
            assert_says(&said, &["ycsb.usertable", "did not load"]);
            assert_says(&said, &["`existing: use`"]);
            let said = message(open(&data, "drop"));
            assert_says(&said, &["dropping ycsb.usertable", "left alone"]);
            assert_eq!(stored(&data), Some(30));
            let used = open(&data, "use").unwrap();
            let mut session = used.session().unwrap();
            let (key, record) = &records(&data)[0];
            assert_eq!(&read(&mut *session, key, FieldChoice::All).unwrap(), record);
            drop((session, used));

            // Our own.
            let mut ours = verifiable(10);
            ours.table = "ours".into();
            for client in CLIENTS {
                let pairs = [("existing", text("drop")), ("client", text(client))];
                let engine = open_at(&server.uri(), &ours, &pairs).unwrap();
                assert_eq!(engine.count().unwrap(), Some(0), "{client}");
                assert_all_ok(&load(&mut *engine.session().unwrap(), &ours));
                assert_eq!(engine.count().unwrap(), Some(10));
            }
            let said = message(open(&ours, "refuse"));
            assert_says(&said, &["ycsb.ours", "earlier load by this program"]);
            assert_says(&said, &["`existing: drop`"]);
            assert_eq!(stored(&ours), Some(10));

            // An empty collection: there is nothing to measure.
            let mut nothing = verifiable(10);
            nothing.table = "nothing".into();
            let said = message(open(&nothing, "use"));
            assert_says(&said, &["ycsb.nothing", "it holds no documents"]);
        }
    }

    #[test]
    fn a_server_that_dies_and_comes_back_is_used_again() {
        for kind in Kind::there() {
            for client in CLIENTS {
                let mut server = Server::start(kind);
                let data = verifiable(50);
                let mut pairs = within(client, 2_000).to_vec();
                pairs.push(("journal", SettingValue::Flag(true)));
                let engine = open_on(&server, &data, &pairs).unwrap();
                let mut session = engine.session().unwrap();
                assert_all_ok(&load(&mut *session, &data));
                server.kill();
                for _ in 0..3 {
                    let said = failure(session.read(b"user000001", FieldChoice::All, None));
                    assert!(said.to_lowercase().contains("connect"), "{said}");
                }
                let mut figures = Vec::new();
                engine.statistics(&mut figures);
                assert!(figures.is_empty());
                server.start_again();
                let (key, record) = &records(&data)[7];
                let mut failures = 0;
                loop {
                    // The driver lets some time pass before it believes that a server is back.
                    match session.read(key, FieldChoice::All, None) {
                        Outcome::Ok => break,
                        Outcome::Error(said) => {
                            failures += 1;
                            assert!(failures < 100, "{client}: {said}");
                        }
                        other => panic!("{other:?}"),
                    }
                }
                assert_eq!(&read(&mut *session, key, FieldChoice::All).unwrap(), record);
                assert_eq!(engine.count().unwrap(), Some(50));
                drop(session);
                engine.close().unwrap();
            }
        }
    }

    #[test]
    fn what_is_no_mongodb_says_so() {
        let talker = Scripted::raw(|mut stream| {
            let _ = stream.write_all(b"220 mail.example ESMTP ready, how do you do\r\n");
        });
        let closer = Scripted::raw(drop);
        for server in [talker, closer] {
            for said in refused(&server.uri()) {
                assert_says(&said, &["reaching mongodb://127.0.0.1:"]);
            }
        }
    }
}
