//! Documents and commands as text, for people.

use crate::ask::{Expected, Statement};
use crate::documents::operation::OwnStatement;
use crate::documents::statements::{DocumentSpace, StatementDesk};
use crate::documents::{CollectionNote, Documents, OperationNote, bson};
use crate::mix::Mix;
use crate::schedule::Share;
use crate::stream::Stream;
use jiff::Timestamp;
use std::fmt::Write;
use std::sync::Arc;

/// Characters of a text that are shown.
const MOST_SHOWN: usize = 40;
/// Items of a list that are shown.
const MOST_ITEMS: usize = 3;

pub(crate) fn notes(
    read: &Arc<Documents>,
    examples: u64,
) -> (Vec<CollectionNote>, Vec<OperationNote>) {
    let mut collections = Vec::new();
    for collection in &read.collections {
        let example = |number: u64| {
            let mut out = Vec::new();
            collection.write_document(number, &mut out);
            shown(&out)
        };
        collections.push(CollectionNote {
            name: collection.name.to_string(),
            documents: collection.records,
            mean_bytes: collection.mean_bytes,
            indexes: collection.indexes.iter().map(|index| index.name.clone()).collect(),
            examples: (0..examples.min(collection.records)).map(example).collect(),
        });
    }
    let space = Arc::new(DocumentSpace::of(Arc::clone(read), Share::WHOLE));
    let mut desk = StatementDesk::new(&space, &Mix::named("example"));
    let mut operations = Vec::new();
    for (index, own) in space.documents.operations.iter().enumerate() {
        let example = match &mut desk {
            Err(error) => error.to_string(),
            Ok(desk) => {
                let statement = desk.draw(index, &mut Stream::from_state(1), || 0);
                let line = |one: Statement<'_>| {
                    format!("{}   {}", shown(one.command), wanted(one.expected))
                };
                match statement.sequence {
                    None => line(statement),
                    Some(sequence) => {
                        let mut lines: Vec<String> = sequence.statements(0).map(line).collect();
                        if !statement.command.is_empty() {
                            lines.push(shown(statement.command));
                        }
                        lines.join("; ")
                    }
                }
            }
        };
        operations.push(OperationNote {
            operation: own.operation,
            collection: collections_of(own, &space.documents),
            verified: own.verified(),
            example,
        });
    }
    (collections, operations)
}

/// The collections of an operation, each once.
fn collections_of(own: &OwnStatement, documents: &Documents) -> String {
    let mut names: Vec<&str> = Vec::new();
    for one in own.statements() {
        let name = &*documents.collections[one.collection].name;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

fn wanted(expected: Expected) -> String {
    match expected {
        Expected::Between(least, most) if least == most => format!("must find {least}"),
        Expected::Between(least, most) => format!("must find {least} to {most}"),
        Expected::Some => "must find something".into(),
        Expected::Any => "may find nothing".into(),
    }
}

/// A whole document of BSON, in the notation of MongoDB's shell, texts shortened. What this program did not write is shown as far as it goes.
pub(crate) fn shown(document: &[u8]) -> String {
    let mut text = String::new();
    container(document, false, &mut text);
    text
}

fn container(bytes: &[u8], is_list: bool, text: &mut String) {
    text.push(if is_list { '[' } else { '{' });
    for (count, (kind, name, value)) in bson::elements(bytes).enumerate() {
        if count > 0 {
            text.push_str(", ");
        }
        if is_list && count == MOST_ITEMS {
            text.push_str("...");
            break;
        }
        if !is_list {
            let _ = write!(text, "{}: ", String::from_utf8_lossy(name));
        }
        scalar(kind, value, text);
    }
    text.push(if is_list { ']' } else { '}' });
}

fn scalar(kind: u8, value: &[u8], text: &mut String) {
    let eight = || value.try_into().map(i64::from_le_bytes).unwrap_or_default();
    let _ = match kind {
        bson::STRING => {
            let whole = String::from_utf8_lossy(&value[4..value.len() - 1]);
            let short: String = whole.chars().take(MOST_SHOWN).collect();
            let dots = if short.len() < whole.len() { "..." } else { "" };
            write!(text, "'{short}{dots}'")
        }
        bson::DOCUMENT | bson::ARRAY => {
            container(value, kind == bson::ARRAY, text);
            Ok(())
        }
        bson::BINARY => write!(text, "BinData({} bytes)", value.len() - 5),
        bson::OBJECT_ID => {
            let hexadecimal: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
            write!(text, "ObjectId('{hexadecimal}')")
        }
        bson::BOOLEAN => write!(text, "{}", value == [1]),
        bson::DATE => match Timestamp::from_millisecond(eight()) {
            Ok(instant) => write!(text, "ISODate('{instant}')"),
            Err(_) => write!(text, "a date out of range"),
        },
        bson::INT32 => {
            let whole = value.try_into().map(i32::from_le_bytes).unwrap_or_default();
            write!(text, "{whole}")
        }
        bson::INT64 => write!(text, "{}", eight()),
        bson::DOUBLE => write!(text, "{}", f64::from_bits(eight() as u64)),
        0x13 => {
            let coefficient = u64::from_le_bytes(value[..8].try_into().unwrap_or_default());
            let high = u64::from_le_bytes(value[8..].try_into().unwrap_or_default());
            let digits = 6_176 - (high >> 49 & 0x3fff) as i32;
            let sign = if high >> 63 == 1 { "-" } else { "" };
            let number = coefficient as f64 / 10_f64.powi(digits);
            write!(text, "Decimal('{sign}{number:.*}')", digits.max(0) as usize)
        }
        _ => write!(text, "null"),
    };
}
