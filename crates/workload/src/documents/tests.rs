//! Whole descriptions: what they draw is what they promise.

use super::field::Pick;
use super::operation::Known;
use super::*;
use crate::law::assert_follows;
use crate::schedule::Share;
use crate::{Ask, DataSpec, Expected, KeySpace, Mix, SequenceEnd, Statement, Workload};
use plimsoll_record::StatementKind;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn spec(collections: &str, operations: &str) -> DocumentsSpec {
    let read = |text: &str| serde_json::from_str(text).unwrap();
    DocumentsSpec::new(7, read(collections), read(operations))
}

thread_local! {
    static READINGS: Cell<u32> = const { Cell::new(0) };
}

/// Called whenever a description is read.
pub(super) fn count_reading() {
    READINGS.set(READINGS.get() + 1);
}

/// Orders of customers, of whom few have most.
fn orders() -> DocumentsSpec {
    spec(
        r#"{"orders": {"records": 20000, "document": {
            "_id": {"object_id": null},
            "customer": {"text": 12, "distinct": 500, "skew": "zipfian"},
            "placed": {"date": {"every": "15s", "until": "2026-01-01"}},
            "status": {"choice": {"open": "5%", "paid": "15%", "sent": "80%"}},
            "note": {"text": {"uniform": [20, 60]}},
            "items": {"list": {"product": {"key_of": "products"}, "quantity": {"int": {"uniform": [1, 4]}}},
                "length": {"table": {"p0": 1, "p50": 2, "p100": 9}}},
            "address": {"document": {"city": {"text": 8, "distinct": 50}, "street": {"text": 20}}},
            "body": {"text": {"lognormal": {"median": "200B", "p99": "400B"}}, "compressible": "60%"}},
            "indexes": [{"customer": 1, "placed": -1}, {"keys": {"placed": 1}, "only": {"status": "paid"}}]},
          "products": {"records": 300, "document": {
            "_id": {"int": "sequence"}, "price": {"decimal": {"lognormal": {"median": 15, "p99": 400}}, "digits": 2}}}}"#,
        r#"{"by-customer": {"find": "orders", "by": "customer", "keys": "zipfian", "sort": {"placed": -1}, "limit": 10},
          "all-of-customer": {"count": "orders", "by": "customer"},
          "by-city": {"find": "orders", "filter": {"address.city": "<city>"}, "with": {"city": {"value_of": "address.city"}}},
          "one": {"find": "orders", "by": "_id", "keys": "latest"},
          "week": {"aggregate": "orders", "pipeline": [{"$match": {"placed": {"$gte": "<at.from>", "$lt": "<at.to>"}}}, {"$group": {"_id": "$status", "n": {"$sum": 1}}}], "with": {"at": {"range_of": "placed", "documents": 100}}},
          "span": {"find": "orders", "filter": {"placed": {"$gte": "<at.from>", "$lt": "<at.to>"}}, "with": {"at": {"range_of": "placed", "documents": 100}}},
          "place": {"insert": "orders", "documents": 3},
          "touch": {"update": "orders", "by": "_id", "set": ["note", "status"]},
          "by-status": {"find": "orders", "by": "status", "limit": 1},
          "price": {"find_and_modify": "products", "by": "_id", "change": {"$inc": {"price": "<more>"}}, "with": {"more": {"int": {"uniform": [1, 3]}}}}}"#,
    )
}

fn read(spec: &DocumentsSpec) -> Documents {
    Documents::read(spec).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// A workload of all operations, each as often.
fn workload(spec: &DocumentsSpec) -> Arc<Workload> {
    let key_space = KeySpace::new(&DataSpec::with_documents(spec.clone())).unwrap();
    let operations = spec.operations().into_iter().map(|own| (own, 1.0)).collect();
    let mix = Mix { operations, ..Mix::named("all") };
    Arc::new(Workload::new(&key_space, &mix, 3, None).unwrap())
}

fn statement(ask: Ask<'_>) -> Statement<'_> {
    match ask {
        Ask::Statement(statement) => statement,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_description_is_read_whole() {
    let read = read(&orders());
    let [orders, products] = read.collections.as_slice() else { panic!() };
    assert_eq!((&*orders.name, orders.records, products.records), ("orders", 20_000, 300));
    let indexes: Vec<&str> = orders.indexes.iter().map(|index| index.name.as_str()).collect();
    assert_eq!(indexes, ["customer_1_placed_-1", "placed_1"]);
    // Two texts of 40 and about 200 bytes, a list of some three items, names and numbers.
    assert!((400.0..700.0).contains(&orders.mean_bytes), "{}", orders.mean_bytes);
    let known: BTreeMap<&str, &Known> =
        read.operations.iter().map(|own| (own.operation.name(), &own.known)).collect();
    assert_eq!(known["by-customer"], &Known::Having { parameter: 0, most: 10 });
    assert_eq!(known["all-of-customer"], &Known::Having { parameter: 0, most: u64::MAX });
    assert_eq!(known["by-city"], &Known::Having { parameter: 0, most: u64::MAX });
    assert_eq!(known["one"], &Known::Exactly(1));
    assert_eq!(known["span"], &Known::Exactly(100));
    assert_eq!(known["place"], &Known::Exactly(3));
    assert_eq!(known["touch"], &Known::Exactly(1));
    assert_eq!(known["price"], &Known::Exactly(1));
    assert!(matches!(known["week"], Known::Some(_)));
    // `touch` changes it.
    assert!(matches!(known["by-status"], Known::Any(_)));
}

/// What is promised for a value is what is counted by making every document, before and after inserts.
#[test]
fn promised_counts_are_those_of_the_documents() {
    let spec = orders();
    let documents = read(&spec);
    let collection = &documents.collections[0];
    let count = |path: &str, present: u64| {
        let field = collection.field(path).unwrap();
        let mut counts = BTreeMap::new();
        for number in 0..present {
            *counts.entry(field.pick(number)).or_insert(0_u64) += 1;
        }
        counts
    };
    for present in [20_000, 20_900, 47_001] {
        for path in ["customer", "address.city", "status"] {
            let counts = count(path, present);
            let Pick::Finite(finite) = &collection.field(path).unwrap().pick else { panic!() };
            for (value, count) in counts {
                let (least, most) = finite.bounds(value, present, present);
                assert!((least..=most).contains(&count), "{path} {value}: {count}");
                assert!(present > 20_000 || least == most);
            }
        }
    }
    // By Zipf's law over 500 customers, computed apart: 20,000 / sum of j^-0.99 = 2,861.5.
    let largest = count("customer", 20_000).into_values().max().unwrap();
    assert_eq!(largest, 2_862);
}

#[test]
fn documents_and_operations_follow_from_the_seed() {
    let drawn = |spec: &DocumentsSpec| {
        let workload = workload(spec);
        let mut generator = workload.generator(0);
        let mut drawn: Vec<Vec<u8>> = Vec::new();
        for _ in 0..500 {
            let statement = statement(generator.next());
            let inserted = statement.inserted;
            drawn.push(statement.command.to_vec());
            if let Some(new) = inserted {
                generator.acknowledge_documents(new);
            }
        }
        let key_space = KeySpace::new(&DataSpec::with_documents(spec.clone())).unwrap();
        let mut load = key_space.loader(1).generator(0);
        while let Some(ask) = load.next() {
            drawn.push(statement(ask).command.to_vec());
        }
        drawn
    };
    let first = drawn(&orders());
    assert_eq!(first, drawn(&orders()));
    let other = orders();
    let other = DocumentsSpec::new(8, other.collections, other.operations);
    assert_ne!(first, drawn(&other));
}

#[test]
fn arrivals_draw_alike_in_every_session() {
    let workload = workload(&orders());
    let mut generators = [workload.generator(0), workload.generator(1)];
    for arrival in 0..300 {
        let drawn = generators.each_mut().map(|generator| {
            let drawn = statement(generator.at(arrival));
            // New documents have numbers of their own.
            (drawn.inserted.is_none()).then(|| drawn.command.to_vec())
        });
        assert_eq!(drawn[0], drawn[1]);
    }
}

/// Byte for byte, whichever host and session an arrival comes to, and in a second run.
#[test]
fn arrivals_are_the_same_on_every_host() {
    let spec = orders();
    let data = DataSpec::with_documents(spec.clone());
    let drawn = |share: Share, seed: u64| {
        let key_space = KeySpace::with_share(&data, share).unwrap();
        let own = spec.operations().into_iter().filter(|own| own.kind() != StatementKind::Insert);
        let mix = Mix { operations: own.map(|own| (own, 1.0)).collect(), ..Mix::named("all") };
        let workload = Arc::new(Workload::new(&key_space, &mix, seed, None).unwrap());
        let mut generator = workload.generator(share.index().into());
        let mut drawn = Vec::new();
        for arrival in 0..2_000 {
            let statement = statement(generator.at(arrival));
            drawn.push((statement.operation, statement.command.to_vec(), statement.expected));
        }
        drawn
    };
    let first = drawn(Share::WHOLE, 3);
    assert_eq!(drawn(Share::WHOLE, 3), first);
    assert_ne!(drawn(Share::WHOLE, 4), first);
    for index in 0..3 {
        let of_host = drawn(Share::new(index, 3).unwrap(), 3);
        // What a host predicts is less, because others may insert.
        let commands = |drawn: &[(_, Vec<u8>, _)]| -> Vec<Vec<u8>> {
            drawn.iter().map(|(_, command, _)| command.clone()).collect()
        };
        assert_eq!(commands(&of_host), commands(&first));
    }
}

#[test]
fn a_load_has_every_document_once() {
    let key_space = KeySpace::new(&DataSpec::with_documents(orders())).unwrap();
    let loader = key_space.loader(1);
    let mut generators = [loader.generator(0), loader.generator(1)];
    let (mut documents, mut turn, mut commands) = (0, 0, BTreeSet::new());
    while let Some(ask) = generators[turn % 2].next() {
        let statement = statement(ask);
        assert_eq!(
            statement.expected,
            Expected::Between(statement.units.into(), statement.units.into())
        );
        documents += u64::from(statement.units);
        assert!(commands.insert(statement.command.to_vec()));
        turn += 1;
    }
    assert_eq!(documents, 20_300);
}

/// A shop whose orders and stock change together.
fn shop() -> DocumentsSpec {
    spec(
        r#"{"orders": {"records": 100, "document": {"_id": {"int": "sequence"}, "status": {"choice": {"open": "20%", "sent": "80%"}}}},
          "products": {"records": 10, "document": {"_id": {"int": "sequence"}, "kind": {"text": 6, "distinct": 5}, "stock": {"int": 1000}}}}"#,
        r#"{"check-out": {"transaction": [
              {"insert": "orders", "documents": 2},
              {"update": "products", "filter": {"_id": "<product>"}, "change": {"$inc": {"stock": "<taken>"}}},
              {"find": "products", "by": "kind"},
              {"find": "products", "filter": {"_id": "<product>", "stock": {"$gte": "<least>"}}, "with": {"least": {"int": 0}}}],
            "with": {"product": {"value_of": "_id", "in": "products", "keys": "zipfian"}, "taken": {"int": {"uniform": [-3, -1]}}},
            "retries": 7, "read_concern": "snapshot", "write_concern": "majority"},
          "newest": {"find": "orders", "by": "_id", "keys": "latest"}}"#,
    )
}

/// The value of an integer of 32 bits behind this name.
fn int_after(command: &[u8], name: &[u8]) -> i32 {
    let element = [&[0x10], name, &[0]].concat();
    let at = command.windows(element.len()).position(|part| part == element).unwrap();
    let at = at + element.len();
    i32::from_le_bytes(command[at..at + 4].try_into().unwrap())
}

#[test]
fn a_transaction_shares_what_is_drawn_for_it() {
    let workload = workload(&shop());
    let mut generator = workload.generator(0);
    let mut products = BTreeSet::new();
    for _ in 0..500 {
        let drawn = statement(generator.next());
        let Some(transaction) = drawn.sequence else {
            assert_eq!(drawn.operation.to_string(), "find:newest");
            continue;
        };
        assert_eq!(drawn.operation.to_string(), "transaction:check-out");
        assert_eq!((transaction.retries, drawn.inserted), (7, None));
        assert_eq!(
            show::shown(drawn.command),
            "{commitTransaction: 1, writeConcern: {w: 'majority'}}"
        );
        let parts: Vec<Statement<'_>> = transaction.statements(drawn.slot).collect();
        let names: Vec<String> = parts.iter().map(|part| part.operation.to_string()).collect();
        assert_eq!(
            names,
            ["insert:check-out-1", "update:check-out-2", "find:check-out-3", "find:check-out-4"]
        );
        let expected: Vec<Expected> = parts.iter().map(|part| part.expected).collect();
        let exactly = |count| Expected::Between(count, count);
        assert_eq!(expected, [exactly(2), exactly(1), exactly(2), Expected::Some]);
        // The first statement has the read concern of all.
        let concerned = parts.iter().map(|part| show::shown(part.command).contains("readConcern"));
        assert!(concerned.eq([true, false, false, false]));
        let product = int_after(parts[1].command, b"_id");
        assert_eq!(int_after(parts[3].command, b"_id"), product);
        assert!((-3..=-1).contains(&int_after(parts[1].command, b"stock")));
        assert_eq!(int_after(parts[3].command, b"$gte"), 0);
        products.insert(product);
    }
    assert!(products.len() > 5);
}

/// What a transaction inserts has the values that its other statements ask for, in place of those of the fields.
#[test]
fn inserted_values_are_those_of_parameters() {
    let spec = spec(
        r#"{"people": {"records": 50, "document": {"_id": {"int": "sequence"}, "name": {"text": 9, "unique": true}}},
          "orders": {"records": 9, "document": {"_id": {"int": "sequence"}, "person": {"key_of": "people"}, "state": {"choice": ["a", "b"]}}}}"#,
        r#"{"place": {"transaction": [
              {"insert": "orders", "documents": 2, "values": {"person": "<who>", "state": "new"}},
              {"find": "people", "filter": {"_id": "<who>"}},
              {"find": "people", "filter": {"name": "<nobody>"}}],
            "with": {"who": {"value_of": "_id", "in": "people"}, "nobody": {"absent": "name", "in": "people"}}},
          "of-person": {"count": "orders", "by": "person"}, "by-id": {"find": "orders", "by": "_id"}}"#,
    );
    assert_eq!(spec.problems(), []);
    let known = read(&spec).operations;
    assert!(matches!(known[1].known, Known::Having { .. }) && known[1].is_given);
    assert_eq!(known[2].known, Known::Exactly(1));
    let workload = workload(&spec);
    let mut generator = workload.generator(0);
    for _ in 0..200 {
        let Some(transaction) = statement(generator.next()).sequence else { continue };
        let parts: Vec<Statement<'_>> = transaction.statements(0).collect();
        assert_eq!(parts[2].expected, Expected::Between(0, 0));
        let who = int_after(parts[1].command, b"_id");
        let insert = ::bson::Document::from_reader(parts[0].command).unwrap();
        let inserted = insert.get_array("documents").unwrap();
        assert_eq!(inserted.len(), 2);
        for document in inserted {
            let document = document.as_document().unwrap();
            assert_eq!(document.keys().collect::<Vec<_>>(), ["_id", "person", "state"]);
            assert_eq!(document.get_i32("person").unwrap(), who);
            assert_eq!(document.get_str("state").unwrap(), "new");
        }
        generator.sequence_ended(SequenceEnd::Undone);
    }
}

/// Documents of the load are counted exactly, and each inserted one may have the value that an insert gives to it, whatever its law says.
#[test]
fn inserted_values_are_between_those_of_the_load_and_all() {
    let collections = r#"{"c": {"records": 100, "document": {"state": {"choice": {"new": "10%", "old": "90%"}}, "tag": {"text": 5, "unique": true}}}}"#;
    let find = |by: &str, others: &str| {
        let operations = format!(
            r#"{{"x": {{"count": "c", "by": "{by}"}}, "place": {{"insert": "c", "documents": 3, "values": {{"{by}": "new"}}}}{others}}}"#
        );
        spec(collections, &operations)
    };
    let known = |spec: &DocumentsSpec| read(spec).operations.swap_remove(0);
    // What else changes it is not counted, nor is it known how many have a value that was unique.
    for (by, others) in
        [("state", r#", "y": {"update": "c", "by": "_id", "set": "state"}"#), ("tag", "")]
    {
        assert!(matches!(known(&find(by, others)).known, Known::Any(_)), "{by}");
    }
    let spec = find("state", "");
    let own = known(&spec);
    assert!(own.is_given && own.verified().contains("inserted ones may be"), "{own:?}");
    let workload = workload(&spec);
    let mut generator = workload.generator(0);
    let (mut counted, mut stored, mut found) = (BTreeMap::from([("new", 10), ("old", 90)]), 0, 0);
    for _ in 0..500 {
        let drawn = statement(generator.next());
        if let Some(new) = drawn.inserted {
            *counted.get_mut("new").unwrap() += 3;
            stored += 3;
            generator.acknowledge_documents(new);
            continue;
        }
        let filter = ::bson::Document::from_reader(drawn.command).unwrap();
        let state = filter.get_document("query").unwrap().get_str("state").unwrap();
        let loaded = if state == "new" { 10 } else { 90 };
        assert!(drawn.fits(counted[state]) && drawn.fits(loaded), "{drawn:?}");
        assert!(!drawn.fits(loaded - 1) && !drawn.fits(loaded + stored + 1), "{drawn:?}");
        found += 1;
    }
    assert!(found > 100 && stored > 300);
}

/// Documents of a transaction are requested when it is committed; the numbers of one that changed nothing are those of the next, and one in doubt keeps its own.
#[test]
fn only_what_is_committed_is_there() {
    let workload = workload(&shop());
    let space = workload.key_space().documents.as_ref().unwrap();
    let mut generator = workload.generator(0);
    let mut run = |end: SequenceEnd| {
        let first = loop {
            if let Some(transaction) = statement(generator.next()).sequence {
                break transaction.parts[0].inserted.unwrap().first;
            }
        };
        generator.sequence_ended(end);
        (first, space.acknowledged(0))
    };
    assert_eq!(run(SequenceEnd::Committed), (100, 102));
    assert_eq!(run(SequenceEnd::Undone), (102, 102));
    assert_eq!(run(SequenceEnd::Undone), (102, 102));
    assert_eq!(run(SequenceEnd::Committed), (102, 104));
    assert_eq!(run(SequenceEnd::InDoubt), (104, 104));
    assert_eq!(run(SequenceEnd::Committed), (106, 104));
}

/// The same statements without a transaction: parameters are shared, nothing commits, and each statement has its own concern.
#[test]
fn steps_share_what_is_drawn_for_them() {
    let steps = spec(
        r#"{"orders": {"records": 100, "document": {"_id": {"int": "sequence"}}},
          "products": {"records": 10, "document": {"_id": {"int": "sequence"}}}}"#,
        r#"{"check-out": {"steps": [
              {"count": "products", "filter": {"_id": "<product>"}, "read_concern": "majority"},
              {"insert": "orders", "documents": 2, "write_concern": 1},
              {"find": "products", "filter": {"_id": "<product>"}},
              {"insert": "orders"}],
            "with": {"product": {"value_of": "_id", "in": "products"}}}}"#,
    );
    assert_eq!(steps.problems(), []);
    let (_, operations) = steps.notes(0);
    assert_eq!(operations[0].operation.to_string(), "steps:check-out");
    assert_eq!(operations[0].collection, "products, orders");
    assert_eq!(operations[0].example.matches("must find").count(), 4);
    assert!(operations[0].example.ends_with("must find 1"), "{}", operations[0].example);
    let workload = workload(&steps);
    let space = workload.key_space().documents.as_ref().unwrap();
    let mut generator = workload.generator(0);
    let mut run = |end: SequenceEnd| {
        let drawn = statement(generator.next());
        assert_eq!(drawn.command, b"");
        let parts: Vec<Statement<'_>> = drawn.sequence.unwrap().statements(0).collect();
        let product = int_after(parts[0].command, b"_id");
        assert_eq!(int_after(parts[2].command, b"_id"), product);
        assert_eq!(parts[2].expected, Expected::Between(1, 1));
        assert!(show::shown(parts[0].command).contains("readConcern"));
        assert!(show::shown(parts[1].command).contains("writeConcern"));
        let firsts = [1, 3].map(|part: usize| parts[part].inserted.unwrap().first);
        generator.sequence_ended(end);
        (firsts, space.acknowledged(0))
    };
    assert_eq!(run(SequenceEnd::Committed), ([100, 102], 103));
    // What was not sent is inserted by the next one.
    assert_eq!(run(SequenceEnd::StoppedAt(2)), ([103, 105], 105));
    assert_eq!(run(SequenceEnd::StoppedAt(0)), ([106, 105], 105));
    assert_eq!(run(SequenceEnd::Committed), ([106, 105], 108));
}

#[test]
fn mistakes_in_steps_and_read_preferences_are_named_where_they_are() {
    let collections = r#"{"a": {"records": 9, "document": {"s": {"text": 9, "distinct": 3}}}}"#;
    let one = r#"{"find": "a", "by": "s"}"#;
    let with = |rest: &str| format!(r#"{{"steps": [{one}], {rest}}}"#);
    for (operation, place, words) in [
        (r#"{"steps": []}"#.to_owned(), "steps", "a list of 1 to 16 operations"),
        (format!(r#"{{"steps": [{{"steps": [{one}]}}]}}"#), "steps.0.steps", "no other steps"),
        (
            format!(r#"{{"steps": [{{"transaction": [{one}]}}]}}"#),
            "steps.0.transaction",
            "no other transaction",
        ),
        (format!(r#"{{"steps": [{one}], "transaction": [{one}]}}"#), "", "an operation is one of"),
        (
            r#"{"find": "a", "by": "s", "read_preference": "secondaryPreferred"}"#.into(),
            "read_preference",
            "one of primary, primary-preferred, secondary, secondary-preferred, nearest",
        ),
        (
            r#"{"insert": "a", "read_preference": "secondary"}"#.into(),
            "read_preference",
            "go to the primary",
        ),
        (
            r#"{"find": "a", "by": "s", "read_preference": "nearest", "read_concern": "linearizable"}"#.into(),
            "read_preference",
            "only the primary",
        ),
        (with(r#""retries": 3"#), "retries", "not sent again as a whole"),
        (with(r#""write_concern": 1"#), "write_concern", "the steps that need it"),
        (with(r#""read_concern": "local""#), "read_concern", "the steps that need it"),
        (with(r#""max_time": "5ms""#), "max_time", "no key `max_time`"),
    ] {
        let problems = spec(collections, &format!(r#"{{"x": {operation}}}"#)).problems();
        let [problem] = &problems[..] else { panic!("{operation}: {problems:?}") };
        let path = format!("operations.x.{place}");
        assert_eq!(problem.path.join("."), path.trim_end_matches('.'));
        assert!(problem.what.contains(words), "{words}: {problem:?}");
    }
}

#[test]
fn statements_of_transactions_are_explained_by_themselves() {
    let spec = shop();
    let key_space = KeySpace::new(&DataSpec::with_documents(spec.clone())).unwrap();
    let operations = spec.operations().into_iter().map(|own| (own, 1.0)).collect();
    let mixes = [Mix { operations, ..Mix::named("all") }];
    let samples = key_space.samples(&mixes, 3, 4).unwrap();
    let names: Vec<(String, usize)> =
        samples.iter().map(|(own, commands)| (own.to_string(), commands.len())).collect();
    let of = |name: &str| (name.to_owned(), 4);
    assert_eq!(
        names,
        [
            of("update:check-out-2"),
            of("find:check-out-3"),
            of("find:check-out-4"),
            of("find:newest")
        ]
    );
    // They are not sent, so no document takes a number.
    let space = key_space.documents.as_ref().unwrap();
    let mut desk = StatementDesk::new(space, &mixes[0]).unwrap();
    let drawn = desk.draw(0, &mut crate::stream::Stream::from_state(1), || 0);
    assert_eq!(drawn.sequence.unwrap().parts[0].inserted.unwrap().first, 100);
}

#[test]
fn drawing_transactions_allocates_nothing() {
    let workload = workload(&shop());
    let mut generator = workload.generator(0);
    let mut draw = |count: u64| {
        for number in 0..count {
            if statement(generator.next()).sequence.is_some() {
                let ends = [SequenceEnd::Committed, SequenceEnd::Undone];
                generator.sequence_ended(ends[number as usize % 2]);
            }
        }
    };
    draw(2_000);
    assert_eq!(plimsoll_testing::allocations::during(|| draw(5_000)), 0);
}

/// Each mistake in a transaction is named at its place.
#[test]
fn mistakes_in_transactions_are_named_where_they_are() {
    let collections = r#"{"a": {"records": 9, "document": {"s": {"text": 9, "distinct": 3}}},
        "b": {"records": 9, "document": {"n": {"int": "sequence"}}}}"#;
    let one = r#"{"find": "a", "by": "s"}"#;
    let with = |rest: &str| format!(r#"{{"transaction": [{one}, {{"insert": "b"}}], {rest}}}"#);
    let of = |items: &str| format!(r#"{{"transaction": [{items}]}}"#);
    for (operation, place, words) in [
        (of(""), "transaction", "a list of 1 to 16 operations"),
        (r#"{"transaction": "a"}"#.into(), "transaction", "a list of 1 to 16 operations"),
        (of(&[one; 17].join(",")), "transaction", "a list of 1 to 16 operations"),
        (
            of(r#"{"transaction": [{"insert": "a"}]}"#),
            "transaction.0.transaction",
            "holds no other",
        ),
        (of(r#"{"count": "a", "by": "s"}"#), "transaction.0.count", "no server counts"),
        (of(r#"{"find": "c", "by": "s"}"#), "transaction.0.find", "no collection `c`"),
        (of(r#"{"insert": "a", "write_concern": 1}"#), "transaction.0.write_concern", "beside"),
        (
            of(r#"{"find": "a", "by": "s", "read_concern": "local"}"#),
            "transaction.0.read_concern",
            "beside",
        ),
        (
            of(r#"{"find": "a", "filter": {"s": "<p>"}}"#),
            "transaction.0.filter.s",
            "`<p>` is no parameter",
        ),
        (
            of(r#"{"find": "a", "by": "s", "read_preference": "nearest"}"#),
            "transaction.0.read_preference",
            "read from the primary",
        ),
        (with(r#""write_concern": 0"#), "write_concern", "without an answer"),
        (with(r#""read_concern": "linearizable""#), "read_concern", "local, majority or snapshot"),
        (with(r#""retries": 1001"#), "retries", "0 to 1000"),
        (with(r#""retries": -1"#), "retries", "0 to 1000"),
        (with(r#""max_time": "5ms""#), "max_time", "no key `max_time`"),
        (with(r#""with": {"p": {"int": 3}}"#), "with.p", "nothing uses it"),
        (with(r#""with": {"p": {"value_of": "s"}}"#), "with.p", "`in:` with one of a, b"),
        (with(r#""with": {"p": {"value_of": "s", "in": "z"}}"#), "with.p", "no collection `z`"),
        (with(r#""with": {"by": {"int": 3}}"#), "with.by", "each statement's own"),
    ] {
        let problems = spec(collections, &format!(r#"{{"x": {operation}}}"#)).problems();
        let [problem] = &problems[..] else { panic!("{operation}: {problems:?}") };
        assert_eq!(problem.path.join("."), format!("operations.x.{place}"));
        assert!(problem.what.contains(words), "{words}: {problem:?}");
    }
}

fn concerned() -> DocumentsSpec {
    spec(
        r#"{"c": {"records": 1000, "document": {"_id": {"int": "sequence"}, "s": {"text": 9, "distinct": 10}}}}"#,
        r#"{"grow": {"insert": "c", "write_concern": {"w": "majority", "journal": true, "timeout": "5s"}},
          "touch": {"update": "c", "by": "_id", "change": {"$set": {"x": 1}}, "write_concern": 2},
          "having": {"find": "c", "by": "s", "max_time": "50ms"},
          "agreed": {"find": "c", "by": "s", "read_concern": "majority"},
          "newest": {"find": "c", "by": "_id", "keys": "latest", "read_concern": "snapshot"},
          "sure": {"count": "c", "by": "s", "read_concern": "linearizable"}}"#,
    )
}

#[test]
fn concerns_stand_in_the_commands() {
    let (_, operations) = concerned().notes(1);
    let example = |name: &str| {
        let note = operations.iter().find(|note| note.operation.name() == name).unwrap();
        (note.example.as_str(), note.verified.as_str())
    };
    let ends = |name: &str, words: &str| {
        let (example, _) = example(name);
        assert!(example.contains(words), "{example}");
    };
    ends("grow", "], writeConcern: {w: 'majority', j: true, wtimeout: 5000}}");
    ends("touch", "], writeConcern: {w: 2}}");
    ends("having", "}, maxTimeMS: 50}");
    ends("agreed", "}, readConcern: {level: 'majority'}}");
    ends("sure", "}, readConcern: {level: 'linearizable'}}");
    assert_eq!(example("sure").1, "each count is verified");
    assert_eq!(
        example("agreed").1,
        "each count is verified; reads at `majority` may lack the newest documents, so only those of the load must be found"
    );
}

/// Where nobody writes, secondaries must have what was loaded; elsewhere they may lag.
#[test]
fn read_preferences_stand_in_the_commands() {
    let spec = spec(
        r#"{"c": {"records": 90, "document": {"s": {"text": 9, "distinct": 9}}},
          "d": {"records": 90, "document": {"s": {"text": 9, "distinct": 9}}}}"#,
        r#"{"fixed": {"find": "c", "by": "s", "read_preference": "secondary-preferred"},
          "here": {"count": "c", "by": "s", "read_preference": "primary"},
          "history": {"find": "d", "by": "s", "read_preference": "nearest"},
          "both": {"steps": [{"insert": "d"}, {"distinct": "d", "field": "s", "read_preference": "secondary"}]}}"#,
    );
    let (_, operations) = spec.notes(1);
    let notes: Vec<(&str, &str)> =
        operations.iter().map(|note| (&*note.example, &*note.verified)).collect();
    assert!(
        notes[0].0.contains("}, $readPreference: {mode: 'secondaryPreferred'}}   must find 10")
    );
    assert_eq!(notes[0].1, "each count is verified");
    assert!(!notes[1].0.contains("readPreference"), "{}", notes[1].0);
    assert!(notes[2].0.contains("$readPreference: {mode: 'nearest'}}   may find nothing"));
    assert_eq!(notes[2].1, "not verified: secondaries may lag");
    assert_eq!(notes[3].1, "1: each count is verified; 2: not verified: secondaries may lag");
    let read: Vec<(String, &str)> =
        spec.read_preferences().iter().map(|(own, mode)| (own.to_string(), *mode)).collect();
    let of = |name: &str, mode| (name.to_owned(), mode);
    assert_eq!(
        read,
        [
            of("find:fixed", "secondaryPreferred"),
            of("find:history", "nearest"),
            of("distinct:both-2", "secondary")
        ]
    );
}

/// A lagging read must find what existed after the load, and may find what exists now.
#[test]
fn lagging_reads_need_not_find_what_is_new() {
    let workload = workload(&concerned());
    let mut generator = workload.generator(0);
    let mut newer = 0;
    for _ in 0..20_000 {
        let drawn = statement(generator.next());
        match drawn.operation.name() {
            "agreed" => {
                let Expected::Between(least, most) = drawn.expected else { panic!() };
                assert!(least == 100 && most >= 100, "{least} {most}");
            }
            "newest" => {
                assert!(matches!(drawn.expected, Expected::Between(0 | 1, 1)));
                newer += u64::from(drawn.expected.allows_none());
            }
            _ => {}
        }
        if let Some(new) = drawn.inserted {
            generator.acknowledge_documents(new);
        }
    }
    assert!(newer > 1_000, "{newer}");
}

/// New documents get numbers that nobody has, and only acknowledged ones are requested.
#[test]
fn inserted_documents_are_requested_when_they_are_there() {
    let spec = orders();
    let workload = workload(&spec);
    let mut generator = workload.generator(0);
    let mut seen = BTreeSet::new();
    let mut held = None;
    for _ in 0..20_000 {
        let drawn = statement(generator.next());
        if let Some(new) = drawn.inserted {
            assert_eq!((new.collection, new.count), (0, 3));
            assert!((0..3).all(|offset| seen.insert(new.first + offset)));
            match held {
                None => held = Some(new),
                Some(_) => generator.acknowledge_documents(new),
            }
        }
    }
    assert!(seen.iter().copied().eq(20_000..20_000 + seen.len() as u64));
    // The first one is not acknowledged, so nothing behind it counts.
    let space = workload.key_space().documents.as_ref().unwrap();
    assert_eq!(space.acknowledged(0), 20_000);
    generator.acknowledge_documents(held.unwrap());
    assert_eq!(space.acknowledged(0), 20_000 + seen.len() as u64);
}

#[test]
fn drawing_allocates_nothing() {
    let workload = workload(&orders());
    let mut generator = workload.generator(0);
    let mut draw = |count: u64| {
        for _ in 0..count {
            let inserted = statement(generator.next()).inserted;
            if let Some(new) = inserted {
                generator.acknowledge_documents(new);
            }
        }
    };
    // The longest command has come by then.
    draw(20_000);
    assert_eq!(plimsoll_testing::allocations::during(|| draw(5_000)), 0);
}

/// The last document of the load has the moment at which the run begins, the first inserted one the date after it.
#[test]
fn dates_until_now_end_when_the_run_begins() {
    let spec = spec(
        r#"{"c": {"records": 1000, "document": {"at": {"date": {"every": "15s", "until": "now"}}, "d": {"value": {"until": "now"}}},
            "indexes": [{"keys": {"at": 1}, "expire_after": "30m"}]},
          "fixed": {"records": 10, "document": {"at": {"date": {"every": "15s", "until": "2026-06-30"}}},
            "indexes": [{"keys": {"at": 1}, "expire_after": "30m"}]}}"#,
        r#"{"place": {"insert": "c", "documents": 3}, "all": {"count": "c"}}"#,
    );
    assert!(spec.problems().is_empty() && spec.follows_clock());
    let begun = spec.begun_at("2027-03-05T10:00:00.250Z").unwrap();
    assert!(!begun.follows_clock());
    let documents = read(&begun);
    let at = |number| {
        let mut out = Vec::new();
        documents.collections[0].write_document(number, &mut out);
        let document = ::bson::Document::from_reader(&out[..]).unwrap();
        assert_eq!(document.get_document("d").unwrap().get_str("until").ok(), Some("now"));
        document.get_datetime("at").unwrap().try_to_rfc3339_string().unwrap()
    };
    assert_eq!(at(999), "2027-03-05T10:00:00.25Z");
    assert_eq!(at(1_000), "2027-03-05T10:00:15.25Z");
    let [clock] = &spec.clocks()[..] else { panic!() };
    assert_eq!((&*clock.collection, &*clock.field, clock.every_ms), ("c", "at", 15_000.0));
    assert_eq!(
        clock.inserts.iter().map(|(own, n)| (own.name(), *n)).collect::<Vec<_>>(),
        [("place", 3)]
    );
    assert_eq!(spec.expiring_by_fixed_dates(), [("fixed".to_owned(), "at".to_owned())]);
}

#[test]
fn what_no_server_does_to_a_time_series_is_refused() {
    let series = |more: &str| {
        format!(
            r#"{{"c": {{"records": 100, "document": {{"at": {{"date": {{"every": "10ms", "until": "now"}}}}, "late": {{"date": {{"uniform": ["2024-01-01", "2026-01-01"]}}}},
                "of": {{"document": {{"id": {{"int": "sequence", "distinct": 9}}}}}}, "x": {{"int": 3}}}}, {more}}}}}"#
        )
    };
    let kept = r#""time_series": {"time": "at", "meta": "of"}"#;
    let find = r#"{"x": {"find": "c", "by": "of.id"}}"#.to_owned();
    let collection = |more: &str| (series(more), find.clone());
    let operation = |text: &str| (series(kept), format!(r#"{{"x": {text}}}"#));
    let transaction = r#"{"transaction": [{"insert": "c"}]}"#;
    for ((collections, operations), why) in [
        (collection(r#""time_series": {}"#), "name the field with the time"),
        (collection(r#""time_series": {"time": "x"}"#), "must be a date of every document"),
        (collection(r#""time_series": {"time": "late"}"#), "must be a date of every document"),
        (collection(r#""time_series": {"time": "at", "meta": "at"}"#), "no other field"),
        (collection(r#""time_series": {"time": "at", "granularity": "days"}"#), "seconds, minutes"),
        (collection(r#""expire_after": "3h""#), "only a `time_series` expires as a whole"),
        (collection(&format!(r#"{kept}, "expire_after": "3ms""#)), "from 1s on"),
        (
            collection(&format!(r#"{kept}, "indexes": [{{"keys": {{"x": 1}}, "unique": true}}]"#)),
            "no server has such an index",
        ),
        (operation(r#"{"update": "c", "by": "of.id", "change": {"$inc": {"x": 1}}}"#), "only `of`"),
        (
            operation(
                r#"{"update": "c", "by": "of.id", "many": true, "change": {"$inc": {"x": 1}}}"#,
            ),
            "only `of`",
        ),
        (operation(r#"{"delete": "c", "filter": {"x": 3}, "many": true}"#), "only `of`"),
        (operation(r#"{"find_and_modify": "c", "by": "of.id", "set": "x"}"#), "only `of`"),
        (operation(transaction), "within a transaction"),
        (
            operation(r#"{"find": "c", "filter": {"at": "<t>"}, "with": {"t": {"ago": "soon"}}}"#),
            "`ago` is a duration",
        ),
        (
            operation(
                r#"{"find": "c", "filter": {"at": "<t>"}, "with": {"t": {"ago": "5m", "of": "x"}}}"#,
            ),
            "`of` names the date",
        ),
    ] {
        let problems = spec(&collections, &operations).problems();
        assert!(problems.iter().any(|problem| problem.what.contains(why)), "{why}: {problems:?}");
    }
    let possible = [
        r#"{"update": "c", "by": "of.id", "many": true, "change": {"$set": {"of.name": "y"}}}"#,
        r#"{"delete": "c", "by": "of.id", "many": true}"#,
        r#"{"insert": "c", "documents": 9}"#,
    ];
    for text in possible {
        let (collections, operations) = operation(text);
        assert_eq!(spec(&collections, &operations).problems(), []);
    }
}

/// A fifth of 50 values has four fifths of the documents, evenly; the others have the rest.
#[test]
fn few_values_of_a_hotspot_have_most_documents() {
    let spec = spec(
        r#"{"c": {"records": 10000, "document": {
            "a": {"int": {"uniform": [1, 50]}, "distinct": 50, "skew": "hotspot"},
            "b": {"int": {"uniform": [1, 50]}, "distinct": 50, "skew": {"hotspot": {"values": "10%", "documents": "50%"}}},
            "all": {"int": {"uniform": [1, 50]}, "distinct": 50, "skew": {"hotspot": {"values": "100%", "documents": "80%"}}}}}}"#,
        r#"{"all": {"find": "c"}}"#,
    );
    let documents = read(&spec);
    let counts = |name: &str| {
        let Pick::Finite(finite) = &documents.collections[0].field(name).unwrap().pick else {
            panic!()
        };
        [0, 4, 5, 9, 10, 49].map(|value| finite.count(value))
    };
    assert_eq!(counts("a"), [800, 800, 800, 800, 50, 50]);
    assert_eq!(counts("all"), [200; 6]);
    // 5,000 / 5 and 5,000 / 45, rounded so that all are 10,000.
    let [first, fifth, others @ ..] = counts("b");
    assert_eq!([first, fifth], [1_000, 1_000]);
    assert!(others.iter().all(|count| [111, 112].contains(count)), "{others:?}");
}

/// In a list each item copies from the document to which it refers itself.
#[test]
fn copies_are_of_what_is_referred_to() {
    let spec = spec(
        r#"{"products": {"records": 50, "document": {"_id": {"int": "sequence"}, "price": {"int": {"uniform": [1, 1000000]}},
              "of": {"document": {"maker": {"text": 9}}}, "rare": {"text": 5, "present": "40%"}}},
          "orders": {"records": 200, "document": {"product": {"key_of": "products"}, "rare": {"copy_of": "product.rare"},
              "items": {"list": {"product": {"key_of": "products", "skew": "zipfian"}, "price": {"copy_of": "product.price"},
                "maker": {"copy_of": "product.of.maker"}}, "length": 3}}}}"#,
        r#"{"all": {"find": "orders"}}"#,
    );
    let documents = read(&spec);
    let [products, orders] = documents.collections.as_slice() else { panic!() };
    let document = |collection: &Collection, number| {
        let mut out = Vec::new();
        collection.write_document(number, &mut out);
        ::bson::Document::from_reader(&out[..]).unwrap()
    };
    let products: BTreeMap<i32, ::bson::Document> = (0..50)
        .map(|number| document(products, number))
        .map(|product| (product.get_i32("_id").unwrap(), product))
        .collect();
    let mut seen = BTreeSet::new();
    for order in (0..300).map(|number| document(orders, number)) {
        let product = &products[&order.get_i32("product").unwrap()];
        assert_eq!(order.get("rare").unwrap(), product.get("rare").unwrap_or(&::bson::Bson::Null));
        for item in order.get_array("items").unwrap() {
            let item = item.as_document().unwrap();
            let product = &products[&item.get_i32("product").unwrap()];
            assert_eq!(item.get("price"), product.get("price"));
            assert_eq!(item.get("maker"), product.get_document("of").unwrap().get("maker"));
            seen.insert(item.get_i32("product").unwrap());
        }
    }
    assert!(seen.len() > 30, "{seen:?}");
}

#[test]
fn fields_that_follow_others_lie_within_them() {
    let spec = spec(
        r#"{"c": {"records": 10000, "document": {"country": {"choice": {"DE": "40%", "FR": "25%", "US": "35%"}},
            "city": {"text": 12, "distinct": 60, "follows": "country"}}}}"#,
        r#"{"x": {"find": "c", "by": "city"}}"#,
    );
    let read = read(&spec);
    let collection = &read.collections[0];
    let mut countries: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for number in 0..10_000 {
        let pick = |name| collection.field(name).unwrap().pick(number);
        countries.entry(pick("city")).or_default().insert(pick("country"));
    }
    // Three countries have two borders, and one city may lie across each.
    let across = countries.values().filter(|all| all.len() > 1).count();
    assert!(countries.len() == 60 && across <= 2, "{across}");
}

#[test]
fn a_share_of_the_documents_has_a_field() {
    let spec = spec(
        r#"{"c": {"records": 1000, "document": {"battery": {"double": {"uniform": [2.9, 4.2]}, "present": "25%"}}}}"#,
        r#"{"x": {"find": "c", "by": "_id"}}"#,
    );
    let read = read(&spec);
    let field = read.collections[0].field("battery").unwrap();
    assert_eq!((0..1_000).filter(|number| field.is_in(*number)).count(), 250);
}

/// Each mistake is named at its place.
#[test]
fn mistakes_are_named_where_they_are() {
    let orders = |field: &str| {
        format!(
            r#"{{"orders": {{"records": 1000, "document": {{"f": {field}, "n": {{"int": "sequence"}}, "s": {{"text": 9, "distinct": 9}}}}}}}}"#
        )
    };
    let find = r#"{"x": {"find": "orders", "by": "s"}}"#;
    let at_field = |field: &str| (orders(field), find.to_owned(), "collections.orders.document.f");
    let operation =
        |text: &str| (orders(r#"{"int": 3}"#), format!(r#"{{"x": {text}}}"#), "operations.x");
    for ((collections, operations, place), words) in [
        (at_field(r#""open""#), "{value: open}"),
        (at_field(r#"{"int": 3, "text": 4}"#), "one kind of value, here are 2"),
        (at_field("{}"), "needs one of int"),
        (at_field(r#"{"txt": 3}"#), "no key `txt`"),
        (at_field(r#"{"text": 9, "distinct": 2000}"#), "1 to 1000 values"),
        (at_field(r#"{"text": 1, "unique": true}"#), "too short for 1000 different ones"),
        (at_field(r#"{"key_of": "nobody"}"#), "no collection `nobody`"),
        (at_field(r#"{"int": {"uniform": [9, 3]}}"#), "9 is above 3"),
        (at_field(r#"{"int": {"table": {"p0": 5, "p100": 3}}}"#), "quantiles that rise"),
        (at_field(r#"{"text": 9, "skew": "zipfian"}"#), "it needs `distinct`"),
        (at_field(r#"{"text": 9, "distinct": 9, "follows": "s"}"#), "no field `s` stands before"),
        (at_field(r#"{"list": {"int": 3}}"#), "say how long"),
        (at_field(r#"{"text": 9, "distinct": 9, "skew": {"hotspot": {"values": 3}}}"#), "a share"),
        (at_field(r#"{"copy_of": "n"}"#), "a field of what it refers to"),
        (at_field(r#"{"copy_of": "n.price"}"#), "no field `n` with `key_of`"),
        (at_field(r#"{"copy_of": "n.price", "present": "5%"}"#), "leave out `present`"),
        (at_field(r#"{"date": {"every": "100ns", "until": "2026-01-01"}}"#), "1us at least"),
        (at_field(r#"{"int": {"sequence": {"step": 0.5}}}"#), "the same number: 1 at least"),
        (at_field(r#"{"decimal": {"sequence": {"step": 0.001}}}"#), "the same number: 0.01"),
        (at_field(r#"{"value": 5, "distinct": 9}"#), "leave out `distinct`"),
        (at_field(r#"{"key_of": "orders", "unique": true}"#), "leave out `unique`"),
        (at_field(r#"{"choice": ["a", "b", "a"]}"#), "a filter for a finds a"),
        (at_field(r#"{"choice": {"1": 3, "1.0": 4}}"#), "a filter for 1 finds 1"),
        (at_field(r#"{"choice": [["a", "b"], "b"]}"#), "a filter for b finds [a, b]"),
        (operation(r#"{"find": "order", "by": "s"}"#), "no collection `order`"),
        (operation(r#"{"find": "orders", "delete": "orders"}"#), "an operation is one of"),
        (operation(r#"{"find": "orders", "by": "f"}"#), "the values of `f` are unknown"),
        (operation(r#"{"find": "orders", "by": "z"}"#), "no field `z`"),
        (operation(r#"{"find": "orders", "filter": {"s": "<p>"}}"#), "`<p>` is no parameter"),
        (
            operation(
                r#"{"find": "orders", "filter": {"s": "a"}, "with": {"p": {"value_of": "s"}}}"#,
            ),
            "nothing uses it",
        ),
        (
            operation(r#"{"insert": "orders", "values": {"z": 3}}"#),
            "`values` are for fields of `orders`: _id, f, n, s",
        ),
        (operation(r#"{"insert": "orders", "values": {"f": "<p>"}}"#), "`<p>` is no parameter"),
        (
            operation(
                r#"{"find": "orders", "filter": {"f": "<p>"}, "with": {"p": {"absent": "f"}}}"#,
            ),
            "no value of `f` is known that no document has",
        ),
        (
            operation(
                r#"{"find": "orders", "filter": {"n": {"$gte": "<p.from>"}}, "with": {"p": {"range_of": "n", "documents": 3, "at": "start"}}}"#,
            ),
            "`at: end` takes the newest documents",
        ),
        (operation(r#"{"find": "orders", "filter": {"s": {"text": 3}}}"#), "filters are literal"),
        (operation(r#"{"find": "orders", "filter": {"$where": "1"}}"#), "runs scripts"),
        (operation(r#"{"update": "orders", "by": "s", "change": {"f": 1}}"#), "operators, such as"),
        (
            operation(r#"{"update": "orders", "by": "s", "set": ["_id"]}"#),
            "different in each document",
        ),
        (operation(r#"{"update": "orders", "by": "s"}"#), "say what changes"),
        (
            operation(r#"{"aggregate": "orders", "pipeline": [{"$out": "x"}]}"#),
            "writes a collection",
        ),
        (operation(r#"{"find": "orders", "by": "s", "limits": 3}"#), "no key `limits`"),
        // It would not be sent.
        (
            operation(r#"{"distinct": "orders", "field": "s", "hint": "_id_"}"#),
            "no key `hint` here",
        ),
        (operation(r#"{"distinct": "orders"}"#), "name the field whose different values"),
        (
            operation(r#"{"find": "orders", "by": "s", "hint": "s_1"}"#),
            "has no index s_1; it has _id_",
        ),
        (
            operation(
                r#"{"find": "orders", "filter": {"n": {"$gte": "<r.from>", "$lt": "<r.to>"}}, "with": {"r": {"range_of": "f", "documents": 5}}}"#,
            ),
            "rises from document to document",
        ),
        (operation(r#"{"insert": "orders", "documents": 0}"#), "a whole number from 1"),
        (
            operation(r#"{"find": "orders", "by": "s", "write_concern": "majority"}"#),
            "take no write concern",
        ),
        (operation(r#"{"insert": "orders", "read_concern": "majority"}"#), "take no read concern"),
        (operation(r#"{"find": "orders", "by": "s", "read_concern": "fresh"}"#), "one of local"),
        (
            operation(r#"{"count": "orders", "by": "s", "read_concern": "snapshot"}"#),
            "no server counts",
        ),
        (operation(r#"{"insert": "orders", "write_concern": 0}"#), "without an answer"),
        (operation(r#"{"insert": "orders", "write_concern": {"w": 0}}"#), "without an answer"),
        (operation(r#"{"insert": "orders", "write_concern": "all"}"#), "a number of members"),
        (operation(r#"{"insert": "orders", "write_concern": {}}"#), "`majority`, a number"),
        (operation(r#"{"insert": "orders", "write_concern": {"j": true}}"#), "no key `j`"),
        (operation(r#"{"insert": "orders", "write_concern": {"journal": 1}}"#), "true or false"),
        (
            operation(r#"{"insert": "orders", "write_concern": {"timeout": "5"}}"#),
            "whole milliseconds",
        ),
        (operation(r#"{"find": "orders", "by": "s", "max_time": "1500us"}"#), "whole milliseconds"),
        (operation(r#"{"find": "orders", "by": "s", "max_time": 0}"#), "whole milliseconds"),
        (
            (
                orders(r#"{"int": 3}"#),
                r#"{"overall": {"find": "orders", "by": "s"}}"#.to_owned(),
                "operations.overall",
            ),
            "means something else",
        ),
    ] {
        let problems = spec(&collections, &operations).problems();
        let found = problems.iter().find(|problem| problem.what.contains(words));
        let found = found.unwrap_or_else(|| panic!("{words}: {problems:?}"));
        assert!(found.path.join(".").starts_with(place), "{words}: {:?}", found.path);
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}

/// What MongoDB 4.4.2, 5.0.4 and 6.0.27 refuse, and what at least one of them takes.
#[test]
fn indexes_that_no_server_takes_are_refused() {
    let document = r#"{"n": {"int": "sequence"}, "email": {"text": 9, "unique": true, "present": "40%"}, "few": {"text": 9, "distinct": 999},
        "each": {"text": 9, "distinct": 1000}, "drawn": {"int": {"uniform": [1, 5000]}}, "long": {"text": 30}, "tags": {"list": {"int": {"uniform": [1, 50]}}, "length": 2},
        "lines": {"list": {"of": {"text": 30}}, "length": 3}, "empty": {"list": {"int": 3}, "length": 0}, "same": {"value": 3}, "some": {"text": 9, "distinct": 400, "present": "40%"}}"#;
    let found = |index: &str| {
        let collections = format!(
            r#"{{"c": {{"records": 1000, "document": {document}, "indexes": [{index}]}}}}"#
        );
        spec(&collections, r#"{"x": {"find": "c", "by": "_id"}}"#).problems()
    };
    let only = |filter: &str| format!(r#"{{"keys": {{"n": 1}}, "only": {filter}}}"#);
    let unique = |keys: &str| format!(r#"{{"keys": {keys}, "unique": true}}"#);
    let sparse = |keys: &str| format!(r#"{{"keys": {keys}, "unique": true, "sparse": true}}"#);
    for (index, key, words) in [
        (r#"{"keys": {"n": 1}, "sparse": true, "only": {"n": 3}}"#.into(), "sparse", "not both"),
        (r#"{"keys": {"n": 1}, "unique": "yes"}"#.into(), "unique", "true or false"),
        (r#"{"keys": {"n": 1}, "sparse": null}"#.into(), "sparse", "true or false"),
        (only(r#"{"few": {"$ne": "a"}}"#), "only", "no server takes `$ne`"),
        (only(r#"{"few": {"$not": {"$gt": "a"}}}"#), "only", "no server takes `$not`"),
        (only(r#"{"few": {"$regex": "a"}}"#), "only", "no server takes `$regex`"),
        (only(r#"{"$and": [{"n": {"$nin": [3]}}]}"#), "only", "no server takes `$nin`"),
        (only(r#"{"email": {"$exists": false}}"#), "only", "`$exists: false`"),
        (only(r#""paid""#), "only", "a filter"),
        (unique(r#"{"_id": 1}"#), "unique", "already has an index"),
        (unique(r#"{"n": "hashed"}"#), "unique", "a hashed index cannot be unique"),
        (unique(r#"{"$**": 1}"#), "unique", "a wildcard index"),
        (unique(r#"{"few": 1}"#), "unique", "has 999 values"),
        (unique(r#"{"drawn": 1}"#), "unique", "the same `drawn`"),
        (unique(r#"{"same": 1, "few": -1}"#), "unique", "the same `same`, `few`"),
        (unique(r#"{"tags": 1}"#), "unique", "the same `tags`"),
        (unique(r#"{"empty": 1}"#), "unique", "the same `empty`"),
        (unique(r#"{"email": 1}"#), "unique", "lack `email`"),
        (sparse(r#"{"same": 1, "email": 1}"#), "unique", "the same `same`, `email`"),
        (sparse(r#"{"some": 1, "same": 1}"#), "unique", "the same `some`, `same`"),
    ] {
        let problems = found(&index);
        let [problem] = problems.as_slice() else { panic!("{index}: {problems:?}") };
        assert_eq!(problem.path, ["collections", "c", "indexes", "0", key], "{index}");
        assert!(problem.what.contains(words), "{index}: {}", problem.what);
    }
    for (index, words) in [
        (r#"{"tags": 1, "lines.of": 1}"#, "not both `tags` and `lines`"),
        (r#"{"keys": {"n": 1, "lines": 1, "tags": -1}}"#, "not both `lines` and `tags`"),
        (r#"{"tags": "hashed"}"#, "cannot be hashed"),
    ] {
        let problems = found(index);
        let [problem] = problems.as_slice() else { panic!("{index}: {problems:?}") };
        assert!(problem.what.contains(words), "{index}: {}", problem.what);
    }
    for index in [
        r#"{"tags": 1, "n": 1}"#.into(),
        r#"{"keys": {"n": 1}, "sparse": false, "only": {"n": 3}}"#.into(),
        r#"{"keys": {"few": 1}, "unique": true, "only": {"few": "a"}}"#.into(),
        r#"{"keys": {"few": 1}, "unique": false}"#.into(),
        r#"{"_id": "hashed"}"#.into(),
        only(r#"{"$or": [{"n": 3}, {"few": {"$in": ["a"]}}]}"#),
        only(r#"{"$and": [{"n": {"$gte": 3, "$lt": 5}}, {"few": {"$type": "string"}}]}"#),
        only(r#"{"email": {"$exists": true}, "n": null, "tags": {"$all": [3]}}"#),
        only("{}"),
        unique(r#"{"n": 1}"#),
        unique(r#"{"few": 1, "n": 1}"#),
        unique(r#"{"each": 1}"#),
        unique(r#"{"long": 1}"#),
        unique(r#"{"lines.of": 1}"#),
        unique(r#"{"email": 1, "n": 1}"#),
        sparse(r#"{"email": 1}"#),
    ] {
        assert_eq!(found(&index), [], "{index}");
    }
}

/// What is known of the first operation.
fn known(document: &str, indexes: &str, operations: &str) -> Known {
    let collections =
        format!(r#"{{"c": {{"records": 1000, "document": {document}, "indexes": {indexes}}}}}"#);
    read(&spec(&collections, operations)).operations.swap_remove(0).known
}

/// A number is promised only where nothing else can change it.
#[test]
fn what_others_change_is_not_promised() {
    let document = r#"{"a": {"document": {"city": {"text": 8, "distinct": 9}}}, "b": {"document": {"city": {"text": 8, "distinct": 9}}},
        "at": {"date": {"every": "15s", "until": "2026-01-01"}}, "cart": {"document": {"n": {"int": 3}}, "distinct": 9}}"#;
    let having = Known::Having { parameter: 0, most: u64::MAX };
    let of =
        |first: &str, others: &str| known(document, "[]", &format!(r#"{{"x": {first}{others}}}"#));
    let by_city = r#"{"count": "c", "by": "a.city"}"#;
    assert_eq!(of(by_city, ""), having);
    let update = |what: &str| format!(r#", "y": {{"update": "c", {what}}}"#);
    for (other, is_known) in [
        (r#""by": "_id", "set": ["b"]"#, true),
        (r#""by": "_id", "set": ["b.city"]"#, true),
        (r#""by": "_id", "set": ["a.city"]"#, false),
        (r#""by": "_id", "set": ["a"]"#, false),
        (r#""by": "_id", "change": {"$set": {"a.city.name": 1}}"#, false),
        (r#""by": "_id", "change": {"$set": {"new": 1}}, "upsert": true"#, true),
        (r#""filter": {"day": 1}, "change": {"$set": {"new": 1}}, "upsert": true"#, false),
    ] {
        assert_eq!(of(by_city, &update(other)) == having, is_known, "{other}");
    }
    // The values of one field say nothing of another with the same name.
    let elsewhere =
        r#"{"count": "c", "filter": {"b.city": "<p>"}, "with": {"p": {"value_of": "a.city"}}}"#;
    assert!(matches!(of(elsewhere, ""), Known::Some(_) | Known::Any(_)));
    // Documents can be the same although they were drawn apart.
    assert!(matches!(of(r#"{"count": "c", "by": "cart"}"#, ""), Known::Some(_)));
    let expires = r#"[{"keys": {"at": 1}, "expire_after": "1h"}]"#;
    let find = format!(r#"{{"x": {by_city}}}"#);
    assert!(matches!(known(document, expires, &find), Known::Any(_)));
    // Also where an arm chooses it.
    let collections = format!(r#"{{"c": {{"records": 1000, "document": {document}}}}}"#);
    let choices = serde_json::from_str(&format!(r#"{{"c": {{"indexes": {expires}}}}}"#)).unwrap();
    let chosen = |base: &DocumentsSpec, choices: &Literal| {
        let arm = base.with_choices(choices).unwrap();
        arm.read().unwrap().operations[0].known.clone()
    };
    let base = spec(&collections, &find);
    assert!(matches!(chosen(&base, &choices), Known::Any(_)));
    // And where an arm does without it, or only waits longer.
    let expiring = base.with_choices(&choices).unwrap();
    for (indexes, is_known) in
        [("[]", true), (r#"[{"at": 1}]"#, true), (&expires.replace("1h", "2h"), false)]
    {
        let choices = serde_json::from_str(&format!(r#"{{"c": {{"indexes": {indexes}}}}}"#));
        assert_eq!(chosen(&expiring, &choices.unwrap()) == having, is_known, "{indexes}");
    }
    let series = collections.replacen(
        r#""document""#,
        r#""time_series": {"time": "at"}, "expire_after": "1h", "document""#,
        1,
    );
    let choices = serde_json::from_str(r#"{"c": {"expire_after": null}}"#).unwrap();
    let series = spec(&series, &find);
    assert!(matches!(read(&series).operations[0].known, Known::Any(_)));
    assert_eq!(chosen(&series, &choices), having);
}

#[test]
fn fields_of_shared_documents_are_not_counted() {
    let inner = r#"{"shop": {"document": {"city": {"text": 8, "distinct": 9}}, "distinct": 4}}"#;
    let collections = format!(r#"{{"c": {{"records": 1000, "document": {inner}}}}}"#);
    let problems = spec(&collections, r#"{"x": {"find": "c", "by": "shop.city"}}"#).problems();
    assert_eq!(problems[0].path, ["operations", "x", "by"]);
    assert!(problems[0].what.contains("it is unknown which documents"), "{problems:?}");
}

/// Who looks for a value of a field that few documents have draws one of these.
#[test]
fn values_are_those_of_documents_that_have_the_field() {
    for (share, keys) in [("40%", "uniform"), ("1%", "zipfian"), ("1%", "latest")] {
        let spec = spec(
            &format!(
                r#"{{"c": {{"records": 1000, "document": {{"email": {{"text": 20, "unique": true, "present": "{share}"}}}}}}}}"#
            ),
            &format!(
                r#"{{"x": {{"find": "c", "by": "email", "keys": "{keys}"}}, "y": {{"insert": "c"}}}}"#
            ),
        );
        let documents = read(&spec);
        assert_eq!(documents.operations[0].known, Known::Exactly(1));
        let workload = workload(&spec);
        let mut generator = workload.generator(0);
        let field = documents.collections[0].field("email").unwrap();
        let mut there = BTreeSet::new();
        let mut stored = 0;
        for _ in 0..1_000 {
            let drawn = statement(generator.next());
            match drawn.inserted {
                Some(new) => generator.acknowledge_documents(new),
                None => {
                    let space = workload.key_space().documents.as_ref().unwrap();
                    for number in stored..space.acknowledged(0) {
                        let mut text = Vec::new();
                        field.write(number, &mut text);
                        there.insert(text);
                    }
                    stored = space.acknowledged(0);
                    let filter = drawn.command.windows(6).position(|part| part == b"email\0");
                    let from = filter.unwrap() - 1;
                    let value = &drawn.command[from..from + 1 + 6 + 4 + 21];
                    assert!(there.contains(value), "{share} {keys}: {value:?}");
                }
            }
        }
    }
}

/// A customer with a tenth of the orders appears in a tenth of the calls, and the number of its orders is still verified.
#[test]
fn values_are_drawn_as_often_as_documents_have_them() {
    const DRAWS: u32 = 20_000;
    let spec = spec(
        r#"{"c": {"records": 1000, "document": {"who": {"text": 8, "distinct": 50, "skew": "zipfian"}}}}"#,
        r#"{"x": {"find": "c", "by": "who", "keys": "documents"}}"#,
    );
    let workload = workload(&spec);
    let mut generator = workload.generator(0);
    let mut seen: BTreeMap<Vec<u8>, (u64, u32)> = BTreeMap::new();
    for _ in 0..DRAWS {
        let drawn = statement(generator.next());
        let Expected::Between(least, most) = drawn.expected else { panic!("{drawn:?}") };
        assert_eq!(least, most);
        seen.entry(drawn.command.to_vec()).or_insert((least, 0)).1 += 1;
    }
    assert_eq!(seen.len(), 50);
    assert_eq!(seen.values().map(|(count, _)| count).sum::<u64>(), 1_000);
    for (count, draws) in seen.values() {
        let share = *count as f64 / 1_000.0;
        let (mean, deviation) = (share * f64::from(DRAWS), (share * f64::from(DRAWS)).sqrt());
        assert!((f64::from(*draws) - mean).abs() < 5.0 * deviation, "{count} {draws}");
    }
}

/// Values of documents: each is the first draw of a stream of its own.
#[test]
fn values_follow_their_laws_from_document_to_document() {
    let spec = spec(
        r#"{"c": {"records": 100000, "document": {"even": {"int": {"uniform": [1, 20]}}, "small": {"int": {"zipfian": [1, 100]}},
            "middle": {"int": {"normal": {"mean": 0, "deviation": 1000000}}}, "long": {"int": {"lognormal": {"median": 1000000, "p99": 100000000}}},
            "steps": {"int": {"table": {"p0": 0, "p50": 1000000, "p100": 9000000}}}}}}"#,
        r#"{"x": {"find": "c", "by": "_id"}}"#,
    );
    let read = read(&spec);
    let follows = |path: &str, edges: &[i64], shares: &[f64]| {
        let field = read.collections[0].field(path).unwrap();
        let (mut number, mut out) = (0, Vec::new());
        assert_follows(shares, 100_000, || {
            out.clear();
            field.write_as(b"", number, &mut out);
            number += 1;
            let value = match out.len() {
                6 => i64::from(i32::from_le_bytes(out[2..].try_into().unwrap())),
                _ => i64::from_le_bytes(out[2..].try_into().unwrap()),
            };
            edges.partition_point(|edge| *edge <= value)
        });
    };
    let twenty: Vec<i64> = (2..=20).collect();
    follows("even", &twenty, &[0.05; 20]);
    let zeta: f64 = (1..=100).map(|rank| f64::from(rank).powf(-0.99)).sum();
    let (first, second) = (1.0 / zeta, 0.5_f64.powf(0.99) / zeta);
    follows("small", &[2, 3], &[first, second, 1.0 - first - second]);
    let quintiles = [-841_621, -253_347, 253_347, 841_621];
    follows("middle", &quintiles, &[0.2; 5]);
    follows("long", &[1_000_000, 100_000_000], &[0.5, 0.49, 0.01]);
    follows("steps", &[500_000, 1_000_000, 5_000_000], &[0.25; 4]);
}

/// Fields with a known number of values are independent of each other and of whether documents have others, also among inserted documents.
#[test]
fn pairs_of_fields_are_independent() {
    const EACH: u64 = 40_000;
    let spec = spec(
        r#"{"c": {"records": 40000, "document": {"even": {"text": 9, "distinct": 11}, "skewed": {"text": 9, "distinct": 9, "skew": "zipfian"},
            "status": {"choice": {"open": "5%", "paid": "15%", "sent": "80%"}}, "gift": {"bool": "12%"}, "other": {"key_of": "d"},
            "sub": {"document": {"even": {"text": 9, "distinct": 11}, "deep": {"document": {"status": {"choice": [1, 2, 3]}}}}},
            "email": {"text": 20, "unique": true, "present": "30%"}, "code": {"int": 3, "present": "30%"}}},
          "d": {"records": 12, "document": {"n": {"int": 1}}}}"#,
        r#"{"x": {"find": "c", "by": "_id"}}"#,
    );
    let read = read(&spec);
    let collection = &read.collections[0];
    let field = |path: &str| Arc::clone(collection.field(path).unwrap());
    let paths = ["even", "skewed", "status", "gift", "other", "sub.even", "sub.deep.status"];
    let mut finites: Vec<(&str, super::Finite)> = Vec::new();
    for path in paths {
        let Pick::Finite(finite) = &field(path).pick else { panic!("{path}") };
        finites.push((path, finite.clone()));
    }
    for path in ["email", "code"] {
        finites.push((path, field(path).present.clone().unwrap()));
    }
    for first in [0, EACH] {
        let values: Vec<Vec<u64>> = (finites.iter())
            .map(|(_, finite)| {
                (first..first + EACH).map(|number| finite.value_of(number)).collect()
            })
            .collect();
        for (one, (path, rows)) in finites.iter().enumerate() {
            for (other, (other_path, columns)) in finites.iter().enumerate().skip(one + 1) {
                let width = columns.values() as usize;
                let mut cells = vec![0_u32; rows.values() as usize * width];
                for (row, column) in values[one].iter().zip(&values[other]) {
                    cells[*row as usize * width + *column as usize] += 1;
                }
                let mut chi_square = 0.0;
                for (cell, count) in cells.iter().enumerate() {
                    let (row, column) = (cell / width, cell % width);
                    let expected = rows.count(row as u64) as f64
                        * columns.count(column as u64) as f64
                        / EACH as f64;
                    chi_square += (f64::from(*count) - expected).powi(2) / expected;
                }
                let freedom = ((rows.values() - 1) * (columns.values() - 1)) as f64;
                let bound = freedom + 6.0 * (2.0 * freedom).sqrt();
                assert!(chi_square < bound, "{path} and {other_path}: {chi_square}, {freedom}");
            }
        }
    }
}

/// The share of a kilobyte that compressors remove from pages of 32 kB, as storage engines write them.
fn removed(kind: &str, share: &str) -> [f64; 2] {
    let spec = spec(
        &format!(
            r#"{{"c": {{"records": 1000, "document": {{"body": {{"{kind}": "1kB", "compressible": "{share}"}}}}}}}}"#
        ),
        r#"{"x": {"find": "c", "by": "_id"}}"#,
    );
    let read = read(&spec);
    let body = read.collections[0].field("body").unwrap();
    let mut all = Vec::new();
    for number in 0..1_000 {
        let mut value = Vec::new();
        body.write_as(b"", number, &mut value);
        all.extend_from_slice(&value[value.len() - 1_000..]);
    }
    let pages = || all.chunks(32 << 10);
    let snappy: usize =
        pages().map(|page| snap::raw::Encoder::new().compress_vec(page).unwrap().len()).sum();
    let zstd: usize = pages().map(|page| zstd::bulk::compress(page, 6).unwrap().len()).sum();
    [snappy, zstd].map(|size| 1.0 - size as f64 / all.len() as f64)
}

/// Within five points of what is requested. The letters of texts have 6 bits in 8, and zstd removes the rest as well.
#[test]
fn compressors_remove_what_is_requested() {
    for share in [0.0, 0.2, 0.6, 0.9] {
        let percent = format!("{}%", share * 100.0);
        let (texts, bytes) = (removed("text", &percent), removed("bytes", &percent));
        let is_near = |found: f64, wanted: f64| (found - wanted).abs() < 0.05;
        let near = [
            is_near(texts[0], share),
            is_near(texts[1], 1.0 - (1.0 - share) * 0.75),
            is_near(bytes[0], share),
            is_near(bytes[1], share),
        ];
        assert_eq!(near, [true; 4], "{share}: texts {texts:?}, bytes {bytes:?}");
    }
}

#[test]
fn notes_show_documents_and_commands() {
    let (collections, operations) = orders().notes(2);
    assert_eq!(collections[0].examples.len(), 2);
    let first = &collections[0].examples[0];
    assert!(first.starts_with("{_id: ObjectId('"), "{first}");
    assert!(first.contains("placed: ISODate('2025-12-28T12:40:15Z')"), "{first}");
    let by_customer = &operations[0];
    assert!(by_customer.example.starts_with("{find: 'orders', filter: {customer: '"));
    assert!(by_customer.example.contains("}, sort: {placed: -1}, limit: 10}   must find "));
    assert_eq!(by_customer.verified, "each count is verified");
}

/// However often and by however many copies something is asked of a description.
#[test]
fn a_description_is_read_once() {
    let spec = orders();
    let data = DataSpec::with_documents(spec.clone());
    assert_eq!(spec.problems(), []);
    assert_eq!(spec.collections().len(), 2);
    assert_eq!(spec.operations().len(), 10);
    assert_eq!(spec.notes(1).0.len(), 2);
    assert!(data.clone().mean_record_bytes() > 0.0);
    for _ in 0..2 {
        KeySpace::new(&data).unwrap();
    }
    // Other indexes are no other documents.
    let choices = serde_json::from_str(r#"{"orders": {"indexes": []}}"#).unwrap();
    let bare = spec.with_choices(&choices).unwrap();
    KeySpace::new(&DataSpec::with_documents(bare.clone())).unwrap();
    assert_eq!(READINGS.get(), 1);
    let field = |spec: &DocumentsSpec| spec.read().unwrap().collections[0].fields[1].clone();
    assert!(Arc::ptr_eq(&field(&spec), &field(&bare)));
    // What is sent to another process is read there.
    let text = serde_json::to_string(&bare).unwrap();
    let sent: DocumentsSpec = serde_json::from_str(&text).unwrap();
    assert_eq!((&sent, sent.collections()), (&bare, bare.collections()));
    assert_eq!(READINGS.get(), 2);
}

/// Order matters to a server: of fields, of the keys of an index.
#[test]
fn descriptions_are_kept_in_their_order() {
    let spec = orders();
    let tree = serde_json::to_value(&spec).unwrap();
    let kept: DocumentsSpec = serde_json::from_value(tree).unwrap();
    assert_eq!(kept, spec);
    assert_eq!(kept.collections(), spec.collections());
}

#[test]
fn arms_choose_indexes_and_options() {
    let spec = orders();
    let with = |choices: &str| spec.with_choices(&serde_json::from_str(choices).unwrap());
    let bare = with(
        r#"{"orders": {"indexes": []}, "products": {"options": {"validator": {"price": {"$gte": 0}}}}}"#,
    );
    let bare = bare.unwrap();
    let [orders, products] = &bare.collections()[..] else { panic!() };
    assert!(orders.indexes.is_empty() && orders.options.is_none());
    assert!(products.options.as_ref().is_some_and(|options| options.len() > 30));
    assert_eq!(bare.size(), spec.size());
    let parts = |spec: &DocumentsSpec| spec.parts().into_iter().collect::<BTreeSet<_>>();
    let differing: Vec<_> = parts(&spec).difference(&parts(&bare)).cloned().collect();
    let text = |what: &str, value: &str| (what.to_owned(), value.to_owned());
    assert_eq!(
        differing,
        [
            text("indexes of orders", "customer_1_placed_-1, placed_1 (only: {status: paid})"),
            text("options of products", "none"),
        ]
    );
    let chosen = bare.choices_in_words("products").unwrap();
    assert_eq!(
        chosen.into_iter().map(|(_, words)| words).collect::<Vec<_>>(),
        ["none besides _id", "{validator: {price: {$gte: 0}}}"]
    );
    assert_eq!(with(r#"{"products": {"options": {}}}"#).unwrap().collections(), spec.collections());
    for (choices, place, words) in [
        (r#"{"order": {"indexes": []}}"#, "collections.order", "no collection `order`"),
        (r#"{"orders": {"records": 5}}"#, "collections.orders.records", "same for all arms"),
        (r#"{"orders": {"document": {}}}"#, "collections.orders.document", "same for all arms"),
        (r#"{"orders": {"index": []}}"#, "collections.orders.index", "no key `index`"),
        (r#"{"orders": 5}"#, "collections.orders", "a map with `indexes`"),
        (
            r#"{"orders": {"indexes": [{"z": 1}]}}"#,
            "collections.orders.indexes.0.z",
            "no field `z`",
        ),
        (
            r#"{"orders": {"options": {"capped": true}}}"#,
            "collections.orders.options.capped",
            "not supported",
        ),
        (r#"{"orders": {"options": 1}}"#, "collections.orders.options", "options of MongoDB's"),
    ] {
        let problems = with(choices).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].path.join("."), place);
        assert!(problems[0].what.contains(words), "{problems:?}");
    }
}

#[test]
fn an_index_that_is_hinted_at_must_be_there() {
    let of = |hint: &str| {
        let operations = format!(r#"{{"x": {{"find": "c", "by": "s", "hint": {hint}}}}}"#);
        let document = r#"{"s": {"text": 9, "distinct": 9}, "n": {"int": 3}}"#;
        let indexes = r#"[{"s": 1, "n": -1}, {"keys": {"n": "hashed"}}]"#;
        let collections =
            format!(r#"{{"c": {{"records": 90, "document": {document}, "indexes": {indexes}}}}}"#);
        spec(&collections, &operations)
    };
    for hint in [
        r#""s_1_n_-1""#,
        r#"{"s": 1, "n": -1}"#,
        r#"{"n": "hashed"}"#,
        r#""_id_""#,
        r#"{"_id": 1}"#,
        r#"{"$natural": -1}"#,
    ] {
        assert_eq!(of(hint).problems(), [], "{hint}");
    }
    for hint in [r#""s_1""#, r#"{"s": 1}"#, r#"{"n": -1, "s": 1}"#, r#"{"s": 1, "n": 1}"#, "[1]"] {
        let problems = of(hint).problems();
        let [problem] = &problems[..] else { panic!("{hint}: {problems:?}") };
        assert_eq!(problem.path, ["operations", "x", "hint"]);
        assert!(problem.what.contains("it has _id_, s_1_n_-1, n_hashed"), "{problem:?}");
    }
    let choices = serde_json::from_str(r#"{"c": {"indexes": [{"s": 1}]}}"#).unwrap();
    let problems = of(r#""s_1_n_-1""#).with_choices(&choices).unwrap_err();
    assert_eq!(problems[0].path, ["operations", "x", "hint"]);
    assert!(of(r#""_id_""#).with_choices(&choices).is_ok());
}
