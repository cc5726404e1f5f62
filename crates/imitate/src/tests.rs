//! From commands to lines of a file, with made-up collections.

mod fidelity;
mod log;
mod operations;
mod slow;

use crate::{Call, Field, Index, Observed, Stored};
use mongodb::bson::Document;
use plimsoll_workload::documents::Literal;

/// A value as JSON has it.
fn literal(json: &str) -> Literal {
    serde_json::from_str(json).unwrap()
}

/// A collection whose fields are those of a file's `document`.
fn stored(name: &str, documents: u64, fields: &str, indexes: &[&str]) -> Stored {
    let field = |(path, generator): &(String, Literal)| Field {
        path: path.clone(),
        generator: Some(generator.clone()),
        origin: String::new(),
    };
    let index = |keys: &&str| {
        let spec = literal(keys);
        let name = spec.entries().iter().map(|(path, _)| format!("{path}_1")).collect();
        Index { name, spec, uses: None, bytes: 0 }
    };
    Stored {
        database: "shop".into(),
        name: name.into(),
        documents,
        fields: literal(fields).entries().iter().map(field).collect(),
        indexes: indexes.iter().map(index).collect(),
        ..Stored::default()
    }
}

fn shop() -> Vec<Stored> {
    vec![
        stored(
            "orders",
            10_000,
            r#"{"_id": {"object_id": null}, "customer": {"text": 12, "distinct": 500, "skew": "zipfian"},
                "placed": {"date": {"every": "15s", "until": "2026-06-30"}},
                "status": {"choice": {"v1": "5%", "v2": "95%"}}, "note": {"text": {"uniform": [20, 60]}},
                "total": {"double": {"uniform": [1, 900]}},
                "address": {"document": {"city": {"text": 9, "distinct": 50}}},
                "items": {"list": {"product": {"key_of": "products"}, "quantity": {"int": 3}}, "length": {"uniform": [1, 5]}}}"#,
            &[r#"{"customer": 1}"#],
        ),
        stored(
            "products",
            400,
            r#"{"_id": {"int": "sequence"}, "stock": {"int": {"uniform": [1, 99]}}}"#,
            &[],
        ),
    ]
}

/// Log lines of one command on the database `shop`. Each call found one document and took a millisecond.
fn calls(command: &str, times: usize) -> Vec<Call> {
    let command: Document = serde_json::from_str(command).unwrap();
    let collection = command.iter().next().unwrap().1.as_str().unwrap();
    let call = Call {
        namespace: format!("shop.{collection}"),
        micros: 1_000,
        documents_examined: 1,
        returned: Some(1),
        statements: 1,
        command,
        ..Call::default()
    };
    vec![call; times]
}

fn observed(calls: Vec<Call>) -> Observed {
    let shapes = crate::shapes(calls.into_iter(), &shop());
    Observed { shapes, collections: shop(), ..Observed::default() }
}
