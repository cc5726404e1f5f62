use crate::documents::{Facts, describe};
use crate::indexes::indexes;
use crate::it::laboratory::{checked, plan};
use crate::{Observed, ServerFacts, Stored, rename, write};
use mongodb::bson::oid::ObjectId;
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, Bson, DateTime, Document, Regex, Timestamp, doc};
use plimsoll_testing::assert_contains;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A collection of this many documents, seen through a sample, with a plain, a unique and a compound index.
fn stored(name: &str, sample: &[Document], documents: u64, indexed: &[String]) -> Stored {
    let mut listed = vec![doc! { "key": { "_id": 1 }, "name": "_id_" }];
    for (number, field) in indexed.iter().enumerate() {
        let mut index = doc! { "key": { field: 1 }, "name": format!("i{number}") };
        match number % 3 {
            0 => index.extend(doc! { "unique": true }),
            1 => index.extend(doc! { "key": { field: 1, "_id": -1 }, "expireAfterSeconds": 60 }),
            _ => {}
        }
        listed.push(index);
    }
    let unique = indexed.iter().step_by(3).map(|field| (field.clone(), true));
    let facts = Facts {
        documents,
        most_fields: 500,
        is_complete: documents == sample.len() as u64,
        unique: unique.collect::<BTreeMap<_, _>>(),
        ..Facts::default()
    };
    let described = describe(sample, &facts);
    let (indexes, omitted) = indexes(&listed, &Document::new(), &[], &described);
    Stored {
        database: "d".into(),
        name: name.into(),
        documents,
        bytes: 100 * documents,
        sampled: sample.len() as u64,
        fields: described.fields,
        indexes,
        omitted,
        ..Stored::default()
    }
}

fn observed(collections: Vec<Stored>) -> Observed {
    let server = ServerFacts {
        version: "6.0.5".into(),
        members: 3,
        cache_bytes: Some(1 << 30),
        rates: vec![("query".into(), 70.0), ("insert".into(), 12.5), ("delete".into(), 1.0)],
        ..ServerFacts::default()
    };
    Observed { server, database: "d".into(), collections, ..Observed::default() }
}

fn any_leaf() -> impl Strategy<Value = Bson> {
    prop_oneof![
        any::<i32>().prop_map(Bson::Int32),
        any::<i64>().prop_map(Bson::Int64),
        (-9..9_i32).prop_map(Bson::Int32),
        any::<f64>().prop_map(Bson::Double),
        (0..400_i32).prop_map(|number| Bson::Double(f64::from(number) / 100.0)),
        (-999..999_i32)
            .prop_map(|number| Bson::Decimal128(format!("{number}E-2").parse().unwrap())),
        ".{0,30}".prop_map(Bson::String),
        "[a-z]{2}".prop_map(Bson::String),
        any::<i64>().prop_map(|moment| DateTime::from_millis(moment).into()),
        (0..9_i64).prop_map(|day| DateTime::from_millis(day * 86_400_000).into()),
        any::<[u8; 12]>().prop_map(|bytes| ObjectId::from_bytes(bytes).into()),
        any::<[u8; 16]>().prop_map(|bytes| Binary {
            subtype: BinarySubtype::Uuid,
            bytes: bytes.to_vec()
        }
        .into()),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(|bytes| Binary {
            subtype: BinarySubtype::Generic,
            bytes
        }
        .into()),
        any::<bool>().prop_map(Bson::Boolean),
        Just(Bson::Null),
        Just(Bson::MinKey),
        Just(Timestamp { time: 1, increment: 2 }.into()),
        Just(Regex { pattern: "x".try_into().unwrap(), options: "".try_into().unwrap() }.into()),
    ]
}

fn any_value() -> impl Strategy<Value = Bson> {
    any_leaf().prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Bson::Array),
            proptest::collection::vec((any_name(), inner), 0..5)
                .prop_map(|fields| Bson::Document(fields.into_iter().collect())),
        ]
    })
}

/// Among them words of the format, and what YAML takes for something else.
fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        ".{0,8}",
        proptest::sample::select(vec![
            "text", "value", "distinct", "present", "length", "list", "keys", "null", "no", "1",
            "<<", "_id"
        ])
        .prop_map(Into::into),
    ]
}

/// Fields, each with a few values or one of its own for each document, that some documents lack.
fn any_documents() -> impl Strategy<Value = Vec<Document>> {
    let field =
        (any_name(), proptest::collection::vec(any_value(), 1..5), any::<u64>(), any::<bool>());
    let fields = proptest::collection::vec(field, 0..8);
    (fields, any_leaf(), 1..150_usize).prop_map(|(fields, id, count)| {
        let one = |number: usize| {
            let mut document = match &id {
                Bson::Int32(_) | Bson::Int64(_) => doc! { "_id": number as i64 * 3 },
                Bson::String(text) => doc! { "_id": format!("{text}{number}") },
                Bson::Double(_) => doc! { "_id": number as f64 },
                Bson::Document(_) | Bson::Null => doc! { "_id": { "a": number as i64 } },
                _ => doc! { "_id": ObjectId::from_bytes((number as u128).to_be_bytes()[4..].try_into().unwrap()) },
            };
            for (name, values, seed, is_unique) in &fields {
                let drawn = (number as u64 + 1).wrapping_mul(seed | 1) >> 7;
                if name != "_id" && !drawn.is_multiple_of(5) {
                    let value = match *is_unique && !drawn.is_multiple_of(3) {
                        true => Bson::Int64(number as i64 * 7),
                        false => values[drawn as usize % values.len()].clone(),
                    };
                    document.insert(name, value);
                }
            }
            document
        };
        (0..count).map(one).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever documents are, at any scale, with any names: `plimsoll plan` takes the file.
    #[test]
    fn whatever_is_written_is_a_valid_experiment(
        samples in proptest::collection::vec((any_documents(), 0..5_u64), 1..4),
        scale in proptest::option::of(0.001..10.0_f64),
        is_renamed: bool,
    ) {
        let collections = samples.iter().enumerate().map(|(number, (sample, more))| {
            let names: Vec<String> = sample[0].keys().skip(1).cloned().collect();
            let documents = sample.len() as u64 * 100_u64.pow(*more as u32);
            stored(&format!("c {number}"), sample, documents, &names)
        });
        let mut observed = observed(collections.collect());
        if is_renamed {
            rename(&mut observed);
        }
        let text = write(&observed, scale);
        if let Err(problems) = checked(&text) {
            return Err(TestCaseError::fail(format!("{problems}\n{text}")));
        }
    }
}

/// Records, numbers of values and cache have the scale; rates have not.
#[test]
fn a_scale_leaves_rates_as_they_are() {
    let orders: Vec<Document> = (0..1_000).map(|number| doc! { "_id": number * 5, "team": format!("team-{:03}", number * 7 % 200), "state": format!("state-{:02}", number % 40) }).collect();
    let observed = observed(vec![stored("orders", &orders, 2_000_000, &[])]);
    let whole = write(&observed, Some(1.0));
    for part in [
        "records: 2M",
        "distinct: 200}",
        "distinct: 40, follows: team}",
        "cache_size: 1024MiB",
        "rates: [84",
    ] {
        assert_contains(&whole, part);
    }
    let tenth = write(&observed, Some(0.1));
    for part in [
        "records: 200k",
        "distinct: 100}",
        "distinct: 40, follows: team}",
        "cache_size: 102MiB",
        "rates: [84",
        "are 10% of the server's",
    ] {
        assert_contains(&tenth, part);
    }
    // 200 MB fit into 2 GB.
    assert_contains(write(&observed, None), "records: 2M");
    plan(&whole);
    plan(&tenth);
}

/// Weights are those of the server's counters: 70 finds and 12.5 inserts per second, no updates.
#[test]
fn guessed_operations_have_the_weights_of_the_counters() {
    let orders: Vec<Document> = (0..100)
        .map(|number| doc! { "_id": number, "team": format!("team-{}", number % 4) })
        .collect();
    let indexed = ["absent", "absent", "team"].map(str::to_owned);
    let observed = observed(vec![stored("orders", &orders, 100, &indexed)]);
    let text = write(&observed, None);
    for line in [
        "    orders-by-team: {find: orders, by: team, limit: 100} # guessed: no operation was seen",
        "    insert-orders: {insert: orders} # guessed: no operation was seen",
        "      orders-by-team: 85%",
        "      insert-orders: 15%",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(!text.contains("update-orders"), "{text}");
    assert_contains(&text, "# - deletes, 1 per second: which documents is not known");
    plan(&text);
}
