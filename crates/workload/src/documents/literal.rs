//! What a file says, in the order in which it says it.

use crate::documents::bson;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::{self, Write};

/// A value of an experiment file. Maps keep the order of their keys, which matters to a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Literal {
    /// What `null` or nothing at all stands for.
    #[default]
    Null,
    /// One of the words `true` and `false`.
    Bool(bool),
    /// A number without a point or an exponent.
    Int(i64),
    /// A number with a point or an exponent.
    Double(f64),
    /// A text, or a quantity such as `2M` that the key which takes it reads.
    Text(String),
    /// Values in brackets or with dashes.
    List(Vec<Literal>),
    /// Keys with their values, in the order of the file.
    Map(Vec<(String, Literal)>),
}

impl Literal {
    /// A scalar as a file has it: `quoted` ones are texts whatever they look like.
    pub fn of_scalar(text: &str, quoted: bool) -> Self {
        if quoted {
            return Self::Text(text.into());
        }
        match text {
            "null" | "~" => Self::Null,
            "true" => Self::Bool(true),
            "false" => Self::Bool(false),
            _ => match (text.parse::<i64>(), text.parse::<f64>()) {
                (Ok(whole), _) => Self::Int(whole),
                // `inf` and `nan` are words.
                (_, Ok(number)) if text.starts_with(|c: char| !c.is_ascii_alphabetic()) => {
                    Self::Double(number)
                }
                _ => Self::Text(text.into()),
            },
        }
    }

    /// The entries of a map; none of anything else.
    pub fn entries(&self) -> &[(String, Self)] {
        if let Self::Map(entries) = self { entries } else { &[] }
    }

    /// The value of a key of a map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether a filter for this value finds a field with the other one.
    pub(crate) fn finds(&self, other: &Self) -> bool {
        let number = |value: &Self| match value {
            Self::Int(whole) => Some(*whole as f64),
            Self::Double(number) => Some(*number),
            _ => None,
        };
        match (number(self), number(other), other) {
            (Some(one), Some(other), _) => one == other,
            (_, _, Self::List(items)) => self == other || items.iter().any(|item| self.finds(item)),
            _ => self == other,
        }
    }

    /// A scalar as text; `None` of nothing, lists and maps.
    pub fn scalar(&self) -> Option<String> {
        match self {
            Self::Bool(flag) => Some(flag.to_string()),
            Self::Int(whole) => Some(whole.to_string()),
            Self::Double(number) => Some(number.to_string()),
            Self::Text(text) => Some(text.clone()),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Writes it as an element of a document or list.
    pub(crate) fn write(&self, name: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Null => bson::name(bson::NULL, name, out),
            Self::Bool(flag) => {
                bson::name(bson::BOOLEAN, name, out);
                out.push(u8::from(*flag));
            }
            Self::Int(whole) => bson::whole(name, *whole, out),
            Self::Double(number) => {
                bson::name(bson::DOUBLE, name, out);
                out.extend_from_slice(&number.to_le_bytes());
            }
            Self::Text(text) => {
                bson::name(bson::STRING, name, out);
                bson::text(text.as_bytes(), out);
            }
            Self::List(items) => {
                bson::name(bson::ARRAY, name, out);
                let at = bson::begin(out);
                for (index, item) in items.iter().enumerate() {
                    item.write(index.to_string().as_bytes(), out);
                }
                bson::end(at, out);
            }
            Self::Map(entries) => {
                bson::name(bson::DOCUMENT, name, out);
                write_document(entries, out);
            }
        }
    }
}

pub(crate) fn write_document(entries: &[(String, Literal)], out: &mut Vec<u8>) {
    let at = bson::begin(out);
    for (key, value) in entries {
        value.write(key.as_bytes(), out);
    }
    bson::end(at, out);
}

/// The keys of an index, and whether it is written in the long form, with `keys` and properties.
pub(crate) fn index_keys(index: &Literal) -> (&[(String, Literal)], bool) {
    match index.get("keys") {
        Some(Literal::Map(keys)) => (keys, true),
        _ => (index.entries(), false),
    }
}

/// The name of an index by its keys: `customer_1_placed_-1`.
pub(crate) fn index_name(keys: &[(String, Literal)]) -> String {
    let part = |(field, direction): &(String, Literal)| {
        format!("{field}_{}", direction.scalar().unwrap_or_default())
    };
    keys.iter().map(part).collect::<Vec<_>>().join("_")
}

/// A literal in the notation of experiment files: `{customer: 1, status: 'no'}`. Their reader gives the same value back; numbers that are not finite become `null`.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = |index: usize| if index > 0 { ", " } else { "" };
        match self {
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Int(whole) => write!(f, "{whole}"),
            // With a point or an exponent, so that it stays no whole number.
            Self::Double(number) if number.is_finite() => write!(f, "{number:?}"),
            Self::Double(_) | Self::Null => f.write_str("null"),
            Self::Text(text) => f.write_str(&yaml_scalar(text)),
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", comma(index))?;
                }
                f.write_str("]")
            }
            Self::Map(entries) => {
                f.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{}: {value}", comma(index), yaml_scalar(key))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Words that some readers of YAML take for a truth value or for nothing.
const WORDS: [&str; 8] = ["null", "true", "false", "yes", "no", "on", "off", "~"];

/// A text as a key or a value, in quotes where it would be read as something else.
pub fn yaml_scalar(text: &str) -> String {
    if is_plain(text) {
        return text.into();
    }
    // The separators of lines and the mark of the byte order would not survive in single quotes.
    let is_special = |c: char| c.is_control() || "\u{2028}\u{2029}\u{feff}".contains(c);
    if !text.contains(is_special) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        // Writing into a text cannot fail.
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            c if is_special(c) => write!(out, "\\U{:08x}", u32::from(c)),
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
    out
}

fn is_plain(text: &str) -> bool {
    let looks_like_a_number = || {
        let digits = text.replace('_', "").to_ascii_lowercase();
        digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
            && (digits.parse::<f64>().is_ok()
                || digits.starts_with("0x")
                || digits.starts_with("0o"))
    };
    text.starts_with(|c: char| c.is_alphanumeric() || "_$<".contains(c))
        && text.chars().all(|c| c.is_alphanumeric() || "_$.-%+/<>".contains(c))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
        && !text.starts_with("<<")
        && !looks_like_a_number()
}

/// The key under which a map is serialised as a list of pairs, because a tree of JSON sorts the keys of maps.
const IN_ORDER: &str = "in_order";

impl Serialize for Literal {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(flag) => to.serialize_bool(*flag),
            Self::Int(whole) => to.serialize_i64(*whole),
            Self::Double(number) => to.serialize_f64(*number),
            Self::Text(text) => to.serialize_str(text),
            Self::List(items) => {
                let mut list = to.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Map(entries) => {
                let mut map = to.serialize_map(Some(1))?;
                map.serialize_entry(IN_ORDER, entries)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Literal;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_unit<E>(self) -> Result<Literal, E> {
                Ok(Literal::Null)
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Literal, E> {
                Ok(Literal::Bool(flag))
            }

            fn visit_i64<E>(self, whole: i64) -> Result<Literal, E> {
                Ok(Literal::Int(whole))
            }

            fn visit_u64<E>(self, whole: u64) -> Result<Literal, E> {
                Ok(i64::try_from(whole).map_or(Literal::Double(whole as f64), Literal::Int))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Literal, E> {
                Ok(Literal::Double(number))
            }

            fn visit_str<E>(self, text: &str) -> Result<Literal, E> {
                Ok(Literal::Text(text.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Literal, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Literal::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Literal, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(pairs(&entries).unwrap_or(Literal::Map(entries)))
            }
        }
        from.deserialize_any(Any)
    }
}

/// The map that was serialised as pairs under [`IN_ORDER`]; `None` where the entries are a map as it is.
fn pairs(entries: &[(String, Literal)]) -> Option<Literal> {
    let [(key, Literal::List(pairs))] = entries else {
        return None;
    };
    let pair = |pair: &Literal| match pair {
        Literal::List(pair) => match pair.as_slice() {
            [Literal::Text(key), value] => Some((key.clone(), value.clone())),
            _ => None,
        },
        _ => None,
    };
    let map: Option<Vec<_>> = pairs.iter().map(pair).collect();
    map.filter(|_| key == IN_ORDER).map(Literal::Map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_what_they_look_like_unless_quoted() {
        assert_eq!(Literal::of_scalar("12", false), Literal::Int(12));
        assert_eq!(Literal::of_scalar("-0.5", false), Literal::Double(-0.5));
        assert_eq!(Literal::of_scalar("true", false), Literal::Bool(true));
        for text in ["2M", "inf", "nan", "5%", "<p>", "01:00", ""] {
            assert_eq!(Literal::of_scalar(text, false), Literal::Text(text.into()));
        }
        assert_eq!(Literal::of_scalar("12", true), Literal::Text("12".into()));
    }

    /// Also by a tree of JSON, which sorts the keys of its maps.
    #[test]
    fn the_order_of_keys_is_kept() {
        let text =
            r#"{"z":1,"a":[null,true,0.5,"x",[["k",1]]],"m":{"b":-3,"a":{},"in_order":[["k",1]]}}"#;
        let literal: Literal = serde_json::from_str(text).unwrap();
        let keys: Vec<&str> = literal.entries().iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["z", "a", "m"]);
        let tree = serde_json::to_value(&literal).unwrap();
        assert_eq!(serde_json::from_value::<Literal>(tree.clone()).unwrap(), literal);
        let text = serde_json::to_string(&tree).unwrap();
        assert_eq!(serde_json::from_str::<Literal>(&text).unwrap(), literal);
    }

    /// The tests of reading files show that every value comes back.
    #[test]
    fn literals_are_shown_as_files_have_them() {
        let text =
            r#"{"a":1,"b":[true,null,"x y","12","it's"],"$c":{"d":-0.5,"e":"paid"},"no":5.0}"#;
        let literal: Literal = serde_json::from_str(text).unwrap();
        assert_eq!(
            literal.to_string(),
            "{a: 1, b: [true, null, 'x y', '12', 'it''s'], $c: {d: -0.5, e: paid}, 'no': 5.0}"
        );
    }
}
