//! Whole descriptions: what they draw is what they promise.

use super::field::Pick;
use super::operation::Known;
use super::*;
use crate::{Ask, DataSpec, Expected, KeySpace, Mix, Statement, Workload};
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
        (at_field(r#"{"date": {"every": "1s", "until": "now"}}"#), "the same in every run"),
        (at_field(r#"{"list": {"int": 3}}"#), "say how long"),
        (operation(r#"{"find": "order", "by": "s"}"#), "no collection `order`"),
        (operation(r#"{"find": "orders", "delete": "orders"}"#), "an operation is one of"),
        (operation(r#"{"find": "orders", "by": "f"}"#), "nobody knows which values"),
        (operation(r#"{"find": "orders", "by": "z"}"#), "no field `z`"),
        (operation(r#"{"find": "orders", "filter": {"s": "<p>"}}"#), "`<p>` is no parameter"),
        (
            operation(
                r#"{"find": "orders", "filter": {"s": "a"}, "with": {"p": {"value_of": "s"}}}"#,
            ),
            "nothing uses it",
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
        chosen.map(|(_, words)| words),
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
