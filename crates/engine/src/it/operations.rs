//! Every operation of a session, by each client, on each server.

use crate::it::laboratory::{
    CLIENTS, assert_all_ok, assert_not_found, assert_ok, everywhere, failure, load, message,
    open_at, open_on, read, records, text, verifiable,
};
use crate::it::server::{Kind, Server};
use crate::{Engine, Outcome};
use plimsoll_plan::SettingValue;
use plimsoll_testing::{Need, assert_contains, needs};
use plimsoll_workload::{Ask, DataSpec, FieldChoice, FieldLength, KeySpace, Mix, Workload};
use std::sync::Arc;

/// At once, or with others later.
fn assert_taken(outcome: &Outcome) {
    let is_taken = matches!(outcome, Outcome::Ok | Outcome::Batched);
    assert!(is_taken, "{outcome:?}");
}

#[test]
fn what_is_stored_is_read_whole_and_by_fields() {
    everywhere(|server, client| {
        let data = verifiable(60);
        let engine = open_on(server, &data, &[("client", text(client))]).unwrap();
        let mut session = engine.session().unwrap();
        assert_all_ok(&load(&mut *session, &data));
        for (key, record) in records(&data) {
            assert_eq!(read(&mut *session, &key, FieldChoice::All).unwrap(), record);
            let some = read(&mut *session, &key, FieldChoice::Some(&[0, 7])).unwrap();
            assert_eq!(some, [record[0].clone(), record[7].clone()]);
            assert_ok(&session.read(&key, FieldChoice::All, None));
        }
        assert_not_found(&session.read(b"nobody", FieldChoice::All, None));
        assert_eq!(engine.count().unwrap(), Some(60));
        assert_eq!(session.retries(), 0);
        drop(session);
        engine.close().unwrap();
    });
}

#[test]
fn batches_are_sent_when_full_and_at_the_end() {
    everywhere(|server, client| {
        let data = verifiable(25);
        let pairs = [("client", text(client)), ("batch", SettingValue::Count(10))];
        let engine = open_on(server, &data, &pairs).unwrap();
        let mut session = engine.session().unwrap();
        let outcomes = load(&mut *session, &data);
        for (number, outcome) in outcomes.iter().enumerate() {
            if (number + 1) % 10 == 0 {
                assert_ok(outcome);
            } else {
                assert!(matches!(outcome, Outcome::Batched), "{number}: {outcome:?}");
            }
        }
        assert_eq!(engine.count().unwrap(), Some(20));
        assert_ok(&session.flush().unwrap());
        assert!(session.flush().is_none());
        assert_eq!(engine.count().unwrap(), Some(25));
        drop(session);

        // Records that another load stored are refused, and the others are stored.
        let more = verifiable(30);
        let mut session = engine.session().unwrap();
        let outcomes = load(&mut *session, &more);
        let said = failure(outcomes.into_iter().last().unwrap());
        assert_contains(&said, "5 of");
        assert_eq!(engine.count().unwrap(), Some(30));
    });
}

mod slow {
    use super::*;

    #[test]
    fn changes_that_nobody_acknowledges_are_all_there_in_the_end() {
        for kind in Kind::there() {
            let server = Server::start(kind);
            for batch in [1, 7] {
                let mut data = verifiable(100);
                data.table = format!("by_{batch}");
                let pairs = [("write_concern", text("0")), ("batch", SettingValue::Count(batch))];
                if kind == Kind::FerretDb {
                    let said = message(open_on(&server, &data, &pairs));
                    assert_contains(&said, "FerretDB answers even what wants no answer");
                    continue;
                }
                let engine = open_on(&server, &data, &pairs).unwrap();
                let mut session = engine.session().unwrap();
                for outcome in load(&mut *session, &data) {
                    assert_taken(&outcome);
                }
                assert_eq!(session.flush().is_some(), batch > 1);
                assert_eq!(engine.count().unwrap(), Some(100));
            }
        }
    }

    #[test]
    fn each_client_reads_what_the_other_wrote() {
        for kind in Kind::there() {
            let server = Server::start(kind);
            for (writer, reader) in [("lean", "driver"), ("driver", "lean")] {
                let mut data = verifiable(150);
                data.table = format!("by_{writer}");
                let engine = open_on(&server, &data, &[("client", text(writer))]).unwrap();
                assert_all_ok(&load(&mut *engine.session().unwrap(), &data));
                drop(engine);
                let engine = open_on(&server, &data, &[("client", text(reader))]).unwrap();
                let mut session = engine.session().unwrap();
                for (key, record) in records(&data) {
                    assert_eq!(read(&mut *session, &key, FieldChoice::All).unwrap(), record);
                }
                assert_eq!(engine.count().unwrap(), Some(150));
            }
        }
    }

    #[test]
    fn a_unix_socket_is_as_good_as_a_port() {
        for kind in Kind::there() {
            let server = Server::start(kind);
            let socket = server.socket();
            let uri = format!("mongodb://{}", socket.to_str().unwrap().replace('/', "%2F"));
            for client in CLIENTS {
                let mut data = verifiable(10);
                data.table = client.into();
                let engine = open_at(&uri, &data, &[("client", text(client))]).unwrap();
                assert_all_ok(&load(&mut *engine.session().unwrap(), &data));
                assert_eq!(engine.count().unwrap(), Some(10));
            }
        }
    }

    #[test]
    fn a_replica_set_is_found_by_its_name() {
        // A mongod would have to be made a member first; FerretDB says that it is one.
        needs!([Need::Server("ferretdb")]);
        let server = Server::start_with(Kind::FerretDb, &["--repl-set-name=rs0"]);
        for client in CLIENTS {
            let mut data = verifiable(10);
            data.table = client.into();
            let uri = format!("{}?replicaSet=rs0", server.uri());
            let engine = open_at(&uri, &data, &[("client", text(client))]).unwrap();
            assert_all_ok(&load(&mut *engine.session().unwrap(), &data));
            assert_eq!(engine.count().unwrap(), Some(10));
            let kind = &engine.description().notes["server"];
            assert_eq!(kind, "FerretDB, primary of the replica set rs0");
        }
    }

    #[test]
    fn changes_replace_fields_and_leave_the_others() {
        everywhere(|server, client| {
            let mut data = verifiable(20);
            data.data_integrity = false;
            data.field_length = FieldLength::Uniform { min: 0, max: 40 };
            let engine = open_on(server, &data, &[("client", text(client))]).unwrap();
            let mut session = engine.session().unwrap();
            assert_all_ok(&load(&mut *session, &data));
            let key_space = KeySpace::new(&data).unwrap();
            let mut mix = Mix::preset("a").unwrap();
            (mix.read, mix.update) = (0.0, 1.0);
            for write_all in [false, true] {
                mix.write_all_fields = write_all;
                let workload = Arc::new(Workload::new(&key_space, &mix, 1, None).unwrap());
                let mut generator = workload.generator(0);
                for _ in 0..30 {
                    let Ask::Update { key, changes } = generator.next() else {
                        panic!("there are only updates")
                    };
                    let mut expected = read(&mut *session, key, FieldChoice::All).unwrap();
                    assert_ok(&session.update(key, changes));
                    for (_, name, value) in changes {
                        let field = expected.iter_mut().find(|(known, _)| known == name);
                        field.unwrap().1 = value.to_vec();
                    }
                    let found = read(&mut *session, key, FieldChoice::All).unwrap();
                    assert_eq!(found, expected);
                    // The same again changes nothing, and is still found.
                    assert_ok(&session.update(key, changes));
                    assert_not_found(&session.update(b"nobody", changes));
                }
            }
            assert_eq!(engine.count().unwrap(), Some(20));
        });
    }

    #[test]
    fn scans_go_on_over_several_batches() {
        everywhere(|server, client| {
            let data = verifiable(350);
            let engine = open_on(server, &data, &[("client", text(client))]).unwrap();
            let mut session = engine.session().unwrap();
            assert_all_ok(&load(&mut *session, &data));
            let keys: Vec<Vec<u8>> = records(&data).into_iter().map(|(key, _)| key).collect();
            // A first batch of a server holds 101 documents.
            for (start, count, expected) in [
                (0, 1, 1),
                (0, 101, 101),
                (0, 102, 102),
                (5, 300, 300),
                (340, 100, 10),
                (0, 1_000, 350),
            ] {
                for fields in [FieldChoice::All, FieldChoice::Some(&[3])] {
                    let mut rows = 77;
                    let outcome = session.scan(&keys[start], count, fields, &mut rows);
                    assert_ok(&outcome);
                    assert_eq!(rows, expected, "{count} from {start}");
                }
            }
            let mut rows = 77;
            assert_ok(&session.scan(b"zzz", 10, FieldChoice::All, &mut rows));
            assert_eq!(rows, 0);
        });
    }

    #[test]
    fn what_is_removed_is_gone() {
        everywhere(|server, client| {
            let data = verifiable(10);
            let engine = open_on(server, &data, &[("client", text(client))]).unwrap();
            let mut session = engine.session().unwrap();
            assert_all_ok(&load(&mut *session, &data));
            let keys: Vec<Vec<u8>> = records(&data).into_iter().map(|(key, _)| key).collect();
            assert_ok(&session.delete(&keys[3]));
            assert_not_found(&session.delete(&keys[3]));
            assert!(read(&mut *session, &keys[3], FieldChoice::All).is_none());
            assert_eq!(engine.count().unwrap(), Some(9));
        });
    }

    #[test]
    fn a_record_that_is_there_is_refused_or_replaced() {
        everywhere(|server, client| {
            let data = verifiable(3);
            let engine = open_on(server, &data, &[("client", text(client))]).unwrap();
            let mut session = engine.session().unwrap();
            assert_all_ok(&load(&mut *session, &data));
            for outcome in load(&mut *session, &data) {
                let said = failure(outcome);
                assert_contains(&said, "already");
            }
            assert_eq!(engine.count().unwrap(), Some(3));
            drop((session, engine));

            let mut shorter = data.clone();
            shorter.field_length = FieldLength::Constant(7);
            for batch in [1, 2] {
                let pairs = [
                    ("client", text(client)),
                    ("upsert", SettingValue::Flag(true)),
                    ("batch", SettingValue::Count(batch)),
                ];
                let engine = open_on(server, &shorter, &pairs).unwrap();
                let mut session = engine.session().unwrap();
                for outcome in load(&mut *session, &shorter) {
                    assert_taken(&outcome);
                }
                if let Some(outcome) = session.flush() {
                    assert_ok(&outcome);
                }
                assert_eq!(engine.count().unwrap(), Some(3));
                for (key, record) in records(&shorter) {
                    assert_eq!(read(&mut *session, &key, FieldChoice::All).unwrap(), record);
                }
            }
        });
    }

    #[test]
    fn many_sessions_work_at_the_same_time() {
        everywhere(|server, client| {
            let data = verifiable(200);
            let engine = open_on(server, &data, &[("client", text(client))]).unwrap();
            assert_all_ok(&load(&mut *engine.session().unwrap(), &data));
            let engine: &dyn Engine = &*engine;
            let all = records(&data);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        let mut session = engine.session().unwrap();
                        for (key, record) in &all {
                            let found = read(&mut *session, key, FieldChoice::All).unwrap();
                            assert_eq!(&found, record);
                        }
                    });
                }
            });
        });
    }

    #[test]
    fn sizes_and_figures_are_told() {
        everywhere(|server, client| {
            let data = DataSpec::with_records(500);
            let engine = open_on(server, &data, &[("client", text(client))]).unwrap();
            assert_all_ok(&load(&mut *engine.session().unwrap(), &data));
            engine.settle().unwrap();
            let bytes = engine.data_bytes().unwrap().unwrap();
            assert!((100_000..10_000_000).contains(&bytes), "{bytes}");
            let mut figures = Vec::new();
            engine.statistics(&mut figures);
            let of = |name| {
                let found = figures.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| *value)
            };
            match server.kind {
                // It has no figures of its own.
                Kind::FerretDb => {}
                Kind::Mongod => {
                    use plimsoll_record::figures as names;
                    assert!(of(names::SERVER_OPERATIONS).unwrap() >= 500.0);
                    assert!(of(names::SERVER_CONNECTIONS).unwrap() >= 1.0);
                    assert!(of(names::ENGINE_CACHE_USED).unwrap() > 0.0);
                    assert!(of(names::ENGINE_PAGES_REQUESTED).unwrap() >= 500.0);
                    assert!(of(names::ENGINE_CHECKPOINTS).unwrap() >= 1.0);
                    assert!(of(names::ENGINE_BLOCK_WRITES).unwrap() >= 1.0);
                    assert!(engine.checkpoint().unwrap());
                }
            }
            let description = engine.description();
            assert_eq!(description.name, "mongodb");
            assert_eq!(description.settings["client"], client);
            assert!(description.notes.contains_key("server_command"));
            match server.kind {
                Kind::FerretDb => assert!(description.version.starts_with("FerretDB 1.")),
                Kind::Mongod => assert_eq!(description.notes["storage_engine"], "wiredTiger"),
            }
        });
    }
}
