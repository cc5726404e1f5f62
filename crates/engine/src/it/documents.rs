//! Documents of an application on a real server: as many are found as was predicted, and the same ones are stored by any number of sessions and hosts.

use crate::it::collections::Other;
use crate::it::laboratory::{assert_ok, settings, text};
use crate::it::server::{Kind, Server};
use crate::{Answer, Engine, Opening, Session, open};
use bson::{Document, doc};
use plimsoll_record::StatementKind;
use plimsoll_testing::{Need, needs};
use plimsoll_workload::documents::DocumentsSpec;
use plimsoll_workload::schedule::Share;
use plimsoll_workload::{Ask, DataSpec, Expected, KeySpace, Mix, OpGenerator, Statement, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

/// Orders with every kind of field whose counts are known for each value.
fn order_collections(records: u64) -> String {
    let collections = r#"{"people": {"records": 300, "document": {"_id": {"uuid": null}, "name": {"text": 9}, "team": {"int": {"uniform": [1, 9]}, "distinct": 9}}},
      "orders": {"records": RECORDS, "document": {
        "customer": {"text": 12, "distinct": 700, "skew": "zipfian"},
        "level": {"int": {"uniform": [1, 100]}, "distinct": 37},
        "heat": {"decimal": {"uniform": [0, 1000]}, "distinct": 50, "skew": {"zipfian": 0.7}},
        "day": {"date": {"uniform": ["2024-01-01", "2026-01-01"]}, "distinct": 90},
        "blob": {"bytes": {"uniform": [10, 40]}, "distinct": 30, "compressible": "50%"},
        "status": {"choice": {"open": "5%", "paid": "15%", "sent": "80%"}},
        "kind": {"choice": [1, 2.5, true, null, "x", {"a": 1}, ["p", "q"]]},
        "gift": {"bool": "12%"},
        "person": {"key_of": "people", "skew": "zipfian"},
        "name": {"copy_of": "person.name"},
        "grade": {"text": 6, "distinct": 25, "skew": "hotspot"},
        "country": {"choice": {"DE": "40%", "FR": "25%", "US": "35%"}},
        "city": {"text": 12, "distinct": 60, "follows": "country"},
        "serial": {"text": 14, "unique": true, "prefix": "s-"},
        "number": {"int": "sequence"},
        "placed": {"date": {"every": "15s", "until": "2026-01-01"}},
        "email": {"text": 20, "unique": true, "present": "40%"},
        "coupon": {"text": 8, "distinct": 20, "present": "50%"},
        "address": {"document": {"city": {"text": 8, "distinct": 50},
            "geo": {"document": {"zone": {"choice": {"a": 1, "b": 2, "c": 3}}, "code": {"uuid": null}}}}},
        "shop": {"document": {"city": {"text": 8, "distinct": 6}}, "distinct": 4},
        "items": {"list": {"product": {"int": {"uniform": [1, 9]}}}, "length": {"uniform": [0, 3]}},
        "seen": {"int": 0}},
        "indexes": [{"customer": 1}, {"level": 1}, {"heat": 1}, {"day": 1}, {"serial": 1}, {"number": 1}, {"placed": 1}, {"address.city": 1},
            {"keys": {"email": 1}, "unique": true, "sparse": true}]}}"#;
    collections.replace("RECORDS", &records.to_string())
}

fn orders(records: u64) -> DocumentsSpec {
    let operations = r#"{"by-customer": {"find": "orders", "by": "customer", "keys": "zipfian"},
        "some-of-customer": {"find": "orders", "by": "customer", "limit": 3, "sort": {"placed": -1}, "project": {"level": 1}},
        "by-level": {"count": "orders", "by": "level"},
        "by-heat": {"count": "orders", "by": "heat", "keys": "hotspot"},
        "by-day": {"find": "orders", "by": "day", "batch": 20},
        "by-blob": {"count": "orders", "by": "blob", "keys": "exponential"},
        "by-status": {"count": "orders", "by": "status"},
        "by-kind": {"count": "orders", "by": "kind"},
        "by-gift": {"count": "orders", "by": "gift", "limit": 500},
        "by-person": {"count": "orders", "by": "person", "keys": "zipfian"},
        "by-country": {"count": "orders", "filter": {"country": "<c>"}, "with": {"c": {"value_of": "country"}}},
        "by-city": {"count": "orders", "filter": {"city": "<c>"}, "with": {"c": {"value_of": "city", "keys": "latest"}}},
        "by-serial": {"find": "orders", "by": "serial", "keys": "latest"},
        "by-number": {"find": "orders", "by": "number", "keys": "sequential"},
        "by-email": {"find": "orders", "by": "email"},
        "newest-email": {"find": "orders", "by": "email", "keys": "latest"},
        "one": {"find": "orders", "by": "_id", "keys": "zipfian"},
        "by-own-city": {"count": "orders", "by": "address.city"},
        "by-zone": {"count": "orders", "filter": {"address.geo.zone": "<z>"}, "with": {"z": {"value_of": "address.geo.zone"}}},
        "numbers": {"find": "orders", "filter": {"number": {"$gte": "<n.from>", "$lt": "<n.to>"}}, "with": {"n": {"range_of": "number", "documents": 37}}},
        "span": {"count": "orders", "filter": {"placed": {"$gte": "<at.from>", "$lt": "<at.to>"}}, "with": {"at": {"range_of": "placed", "documents": 111, "keys": "zipfian"}}},
        "person": {"find": "people", "by": "_id"},
        "team": {"find": "people", "by": "team"},
        "see": {"update": "orders", "by": "level", "many": true, "change": {"$inc": {"seen": 1}}},
        "see-one": {"update": "orders", "by": "day", "change": {"$inc": {"seen": 1}}},
        "take": {"find_and_modify": "orders", "by": "serial", "change": {"$inc": {"seen": 1}}},
        "by-coupon": {"count": "orders", "by": "coupon"},
        "cities": {"distinct": "orders", "field": "city", "by": "country"},
        "place": {"insert": "orders", "documents": 4, "values": {"seen": 1000000}},
        "join": {"insert": "people", "documents": 3}}"#;
    spec(&order_collections(records), operations)
}

/// The same orders, with queries for absent values and for the newest.
fn edges(records: u64) -> DocumentsSpec {
    let operations = r#"{
        "newest": {"find": "orders", "filter": {"number": {"$gte": "<n.from>", "$lt": "<n.to>"}}, "with": {"n": {"range_of": "number", "documents": 23, "at": "end"}}},
        "by-grade": {"count": "orders", "by": "grade"},
        "no-serial": {"find": "orders", "filter": {"serial": "<s>"}, "with": {"s": {"absent": "serial"}}},
        "no-customer": {"count": "orders", "filter": {"customer": "<s>"}, "with": {"s": {"absent": "customer"}}},
        "no-person": {"update": "orders", "filter": {"person": "<s>"}, "with": {"s": {"absent": "person"}}, "change": {"$inc": {"seen": 1}}},
        "no-day": {"count": "orders", "filter": {"day": "<s>"}, "with": {"s": {"absent": "day"}}},
        "place": {"insert": "orders", "documents": 4, "values": {"seen": 1000000}},
        "join": {"insert": "people", "documents": 3}}"#;
    spec(&order_collections(records), operations)
}

fn spec(collections: &str, operations: &str) -> DocumentsSpec {
    let read = |text: &str| serde_json::from_str(text).unwrap();
    let spec = DocumentsSpec::new(7, read(collections), read(operations));
    assert_eq!(spec.problems(), []);
    spec
}

pub(crate) fn open_for(server: &Server, spec: &DocumentsSpec) -> Box<dyn Engine> {
    let settings = settings(&[("uri", text(&server.uri())), ("existing", text("drop"))]);
    let data = DataSpec::with_documents(spec.clone());
    let collections = spec.collections();
    let opening = Opening { collections: &collections, ..Opening::new(&settings, &data) };
    open("mongodb", &opening).unwrap()
}

fn statement(ask: Ask<'_>) -> Statement<'_> {
    match ask {
        Ask::Statement(statement) => statement,
        other => panic!("{other:?}"),
    }
}

/// Stores the part of one host with these sessions.
pub(crate) fn load(engine: &dyn Engine, key_space: &Arc<KeySpace>, sessions: u32) {
    let loader = key_space.loader(1).part(key_space.share(), 6, None);
    thread::scope(|scope| {
        for number in 0..sessions {
            let mut generator = loader.generator(number.into());
            let mut session = engine.session().unwrap();
            scope.spawn(move || {
                while let Some(ask) = generator.next() {
                    let mut answer = Answer::default();
                    assert_ok(&session.statement(&statement(ask), &mut answer));
                }
            });
        }
    });
}

/// The operations whose kind is among these, each as often.
pub(crate) fn workload(
    key_space: &Arc<KeySpace>,
    spec: &DocumentsSpec,
    wanted: impl Fn(StatementKind) -> bool,
) -> Arc<Workload> {
    let operations = spec.operations().into_iter().filter(|own| wanted(own.kind()));
    let mix = Mix { operations: operations.map(|own| (own, 1.0)).collect(), ..Mix::named("all") };
    Arc::new(Workload::new(key_space, &mix, 3, None).unwrap())
}

/// Sends the next operation, and returns its name, what it must find, and what it found.
pub(crate) fn send(
    generator: &mut OpGenerator,
    session: &mut dyn Session,
) -> (&'static str, Expected, u64) {
    let drawn = statement(generator.next());
    let mut answer = Answer::default();
    let name = drawn.operation.name();
    let outcome = session.statement(&drawn, &mut answer);
    assert!(matches!(outcome, crate::Outcome::Ok), "{name}: {outcome:?}");
    assert!(
        drawn.fits(answer.documents),
        "{name}: {} found, {:?} predicted, at most {:?} now: {:?}",
        answer.documents,
        drawn.expected,
        drawn.growth.map(|growth| growth.most()),
        Document::from_reader(drawn.command)
    );
    let (expected, inserted) = (drawn.expected, drawn.inserted);
    if let Some(new) = inserted {
        generator.acknowledge_documents(new);
    }
    (name, expected, answer.documents)
}

/// Sends this many operations, and returns how many of each had an exact prediction. Each was met.
pub(crate) fn prove(
    generator: &mut OpGenerator,
    session: &mut dyn Session,
    filters: u32,
) -> BTreeMap<&'static str, u32> {
    let mut exact = BTreeMap::new();
    for _ in 0..filters {
        let (name, expected, found) = send(generator, session);
        match expected {
            Expected::Between(least, most) if least == most => {
                assert_eq!(found, least, "{name}");
                *exact.entry(name).or_default() += 1;
            }
            Expected::Between(..) => {}
            Expected::Some => assert!(found > 0, "{name}"),
            Expected::Any => panic!("{name}"),
        }
    }
    exact
}

/// The names of the operations that read or change a known number of documents.
fn exact_names(spec: &DocumentsSpec) -> Vec<&'static str> {
    let operations =
        spec.operations().into_iter().filter(|own| own.kind() != StatementKind::Insert);
    let names = operations.map(|own| own.name());
    names.filter(|name| !matches!(*name, "by-coupon" | "cities")).collect()
}

/// The same number of drawn filters before inserts, after some, and after as many that the collections have three times their documents.
fn predictions_are_met(
    spec: &DocumentsSpec,
    records: u64,
    filters: u32,
) -> BTreeMap<&'static str, u32> {
    let server = Server::start(Kind::Mongod);
    let engine = open_for(&server, spec);
    let key_space = KeySpace::new(&DataSpec::with_documents(spec.clone())).unwrap();
    load(&*engine, &key_space, 2);
    assert_eq!(engine.count().unwrap(), Some(records + 300));
    let mut session = engine.session().unwrap();
    let asks = workload(&key_space, spec, |kind| kind != StatementKind::Insert);
    let mut asking = asks.generator(0);
    let names = exact_names(spec);
    let each_is_exact = |exact: &BTreeMap<&str, u32>| {
        for name in &names {
            assert!(exact.get(name).is_some_and(|count| *count > 10), "{name}: {exact:?}");
        }
    };
    each_is_exact(&prove(&mut asking, &mut *session, filters));

    let insert = |name: &str, times: u64, session: &mut dyn Session| {
        let of_name = spec.operations().into_iter().find(|own| own.name() == name).unwrap();
        let mix = Mix { operations: vec![(of_name, 1.0)], ..Mix::named(name) };
        let mut generator =
            Arc::new(Workload::new(&key_space, &mix, 5, None).unwrap()).generator(0);
        for _ in 0..times {
            send(&mut generator, session);
        }
    };
    insert("place", records / 8, &mut *session);
    insert("join", 40, &mut *session);
    let while_it_grows = prove(&mut asking, &mut *session, filters);
    // With as many more as there were, or twice as many, each value has exactly as many more.
    insert("place", records / 2 - records / 8, &mut *session);
    insert("join", 60, &mut *session);
    assert_eq!(engine.count().unwrap(), Some(3 * records + 600));
    let count = |stages: Vec<Document>| {
        let counted = [stages, vec![doc! { "$count": "n" }]].concat();
        let reply = Other::of(&server)
            .run(&doc! { "aggregate": "orders", "pipeline": counted, "cursor": {} });
        let found = reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
        found.first().map_or(0, |one| one.as_document().unwrap().get_i32("n").unwrap())
    };
    let copied =
        doc! { "from": "people", "localField": "person", "foreignField": "_id", "as": "of" };
    let is_copy = doc! { "$expr": { "$in": ["$name", "$of.name"] } };
    let copies = count(vec![doc! { "$lookup": copied }, doc! { "$match": is_copy }]);
    assert_eq!(copies as u64, 3 * records);
    // What is inserted has the values that the operation gives, whatever was added to them later.
    let given = doc! { "$match": { "seen": { "$gte": 1_000_000 } } };
    assert_eq!(count(vec![given]) as u64, 2 * records);
    each_is_exact(&prove(&mut asking, &mut *session, filters));
    while_it_grows
}

#[test]
fn as_many_documents_are_found_as_was_predicted() {
    needs!([Need::Server("mongod")]);
    let exact = predictions_are_met(&orders(1_000), 1_000, 1_000);
    assert!(exact["by-serial"] > 10 && exact["newest-email"] > 10, "{exact:?}");
}

#[test]
fn nothing_is_found_of_what_nobody_has_and_the_newest_are_found() {
    needs!([Need::Server("mongod")]);
    let exact = predictions_are_met(&edges(1_000), 1_000, 400);
    assert!(exact["newest"] > 10 && exact["no-serial"] > 10, "{exact:?}");
}

/// Little is known of a collection that grows while it is searched, but it is never wrong: with collections so small that they often grow by as many documents as
/// they began with, and by hosts that do not know of each other's inserts.
#[test]
fn predictions_are_met_while_others_insert() {
    needs!([Need::Server("mongod")]);
    let spec = spec(
        r#"{"c": {"records": 40, "document": {"level": {"int": {"uniform": [1, 100]}, "distinct": 4}, "serial": {"text": 14, "unique": true}},
            "indexes": [{"level": 1}, {"serial": 1}]}}"#,
        r#"{"by-level": {"count": "c", "by": "level"}, "by-serial": {"find": "c", "by": "serial", "keys": "latest"},
            "place": {"insert": "c", "documents": 3}}"#,
    );
    let server = Server::start(Kind::Mongod);
    for hosts in [1, 3] {
        let engine = open_for(&server, &spec);
        let data = DataSpec::with_documents(spec.clone());
        load(&*engine, &KeySpace::new(&data).unwrap(), 1);
        thread::scope(|scope| {
            for index in 0..hosts {
                let share = Share::new(index, hosts).unwrap();
                let key_space = KeySpace::with_share(&data, share).unwrap();
                let asks = workload(&key_space, &spec, |_| true);
                for session in 0..6 / hosts {
                    let mut generator = asks.generator((index * 6 + session).into());
                    let mut session = engine.session().unwrap();
                    scope.spawn(move || {
                        for _ in 0..400 {
                            send(&mut generator, &mut *session);
                        }
                    });
                }
            }
        });
    }
}

/// The hash of each collection, by the server.
fn hashes(server: &Server) -> BTreeMap<String, String> {
    let reply = Other::of(server).run(&doc! { "dbHash": 1, "collections": ["orders", "people"] });
    let hashes = reply.get_document("collections").unwrap();
    hashes.iter().map(|(name, hash)| (name.clone(), hash.as_str().unwrap().to_owned())).collect()
}

fn stored_alike(records: u64, inserts: u64) {
    let server = Server::start(Kind::Mongod);
    let spec = orders(records);
    let data = DataSpec::with_documents(spec.clone());
    let insert = |engine: &dyn Engine, key_space: &Arc<KeySpace>, times: u64| {
        let place = spec.operations().into_iter().find(|own| own.name() == "place").unwrap();
        let mix = Mix { operations: vec![(place, 1.0)], ..Mix::named("place") };
        // What is inserted follows from its number, and not from the seed of the run.
        let seed = u64::from(key_space.share().index());
        let workload = Arc::new(Workload::new(key_space, &mix, seed, None).unwrap());
        let (mut generator, mut session) = (workload.generator(seed), engine.session().unwrap());
        for _ in 0..times {
            send(&mut generator, &mut *session);
        }
    };
    let (mut loaded, mut grown) = (Vec::new(), Vec::new());
    for (hosts, sessions) in [(1, 1), (1, 4), (1, 16), (3, 2)] {
        let engine = open_for(&server, &spec);
        let shares = (0..hosts).map(|index| Share::new(index, hosts).unwrap());
        let key_spaces = shares.map(|share| KeySpace::with_share(&data, share).unwrap());
        let key_spaces: Vec<_> = key_spaces.collect();
        // The last host begins.
        for key_space in key_spaces.iter().rev() {
            load(&*engine, key_space, sessions);
        }
        assert_eq!(engine.count().unwrap(), Some(records + 300));
        loaded.push(hashes(&server));
        for key_space in key_spaces.iter().rev() {
            insert(&*engine, key_space, inserts / u64::from(hosts));
        }
        assert_eq!(engine.count().unwrap(), Some(records + 300 + 4 * inserts));
        grown.push(hashes(&server));
    }
    assert_eq!(loaded[0].len(), 2);
    assert!(loaded[1..].iter().all(|other| *other == loaded[0]), "{loaded:?}");
    assert!(grown[1..].iter().all(|other| *other == grown[0]), "{grown:?}");
    assert_ne!(loaded[0], grown[0]);
}

#[test]
fn any_number_of_sessions_and_hosts_store_the_same() {
    needs!([Need::Server("mongod")]);
    stored_alike(5_000, 300);
}

mod slow {
    use super::*;

    #[test]
    fn ten_thousand_predictions_are_met() {
        needs!([Need::Server("mongod")]);
        predictions_are_met(&orders(2_000), 2_000, 10_000);
    }

    #[test]
    fn any_number_of_sessions_and_hosts_store_the_same_100_000() {
        needs!([Need::Server("mongod")]);
        stored_alike(100_000, 3_000);
    }
}
