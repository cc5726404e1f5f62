//! The extended JSON of a server's log as BSON. Values of types without a text of their own keep their type and their length; they are never written.

use mongodb::bson::oid::ObjectId;
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, Bson, DateTime, Document, Regex, Timestamp};
use plimsoll_workload::documents::Literal;

/// One line of a log. The library's own reader refuses the binary data that servers write there.
pub(crate) fn document(line: &[u8]) -> Option<Document> {
    match bson(serde_json::from_slice(line).ok()?) {
        Bson::Document(document) => Some(document),
        _ => None,
    }
}

fn bson(value: Literal) -> Bson {
    match value {
        Literal::Null => Bson::Null,
        Literal::Bool(flag) => Bson::Boolean(flag),
        Literal::Int(whole) => i32::try_from(whole).map_or(Bson::Int64(whole), Bson::Int32),
        Literal::Double(number) => Bson::Double(number),
        Literal::Text(text) => Bson::String(text),
        Literal::List(items) => Bson::Array(items.into_iter().map(bson).collect()),
        Literal::Map(entries) => match entries.as_slice() {
            [(key, value)] if key.starts_with('$') => extended(key, value),
            _ => None,
        }
        .unwrap_or_else(|| {
            let entries = entries.into_iter().map(|(key, value)| (key, bson(value)));
            Bson::Document(entries.collect())
        }),
    }
}

/// A value that is written as a map with one key; `None` of any other map.
fn extended(key: &str, value: &Literal) -> Option<Bson> {
    let text = value.scalar();
    let number = |text: &str| text.parse::<f64>().ok();
    match key {
        "$oid" => ObjectId::parse_str(text?).ok().map(Bson::ObjectId),
        "$date" => match value.get("$numberLong").and_then(Literal::scalar) {
            Some(millis) => Some(Bson::DateTime(DateTime::from_millis(millis.parse().ok()?))),
            None => DateTime::parse_rfc3339_str(text?).ok().map(Bson::DateTime),
        },
        "$numberInt" | "$numberLong" => text?.parse().ok().map(Bson::Int64),
        "$numberDouble" => number(&text?).map(Bson::Double),
        "$numberDecimal" => text?.parse().ok().map(Bson::Decimal128),
        "$uuid" => Some(binary(text?)),
        "$binary" => value.get("base64")?.scalar().map(binary),
        "$timestamp" => {
            let part = |key| value.get(key)?.scalar()?.parse().ok();
            Some(Bson::Timestamp(Timestamp { time: part("t")?, increment: part("i")? }))
        }
        "$regularExpression" => {
            value.get("pattern")?;
            let nothing = || "".try_into().ok();
            let regex = Regex { pattern: nothing()?, options: nothing()? };
            Some(Bson::RegularExpression(regex))
        }
        "$minKey" => Some(Bson::MinKey),
        "$maxKey" => Some(Bson::MaxKey),
        "$undefined" => Some(Bson::Undefined),
        _ => None,
    }
}

/// Binary data that are equal where their texts are, a third longer than the original.
fn binary(text: String) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: text.into_bytes() })
}
