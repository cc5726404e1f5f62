//! What a file says, in the order in which it says it.

use crate::documents::bson;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A value of an experiment file. Maps keep the order of their keys, which matters to a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Another number.
    Double(f64),
    /// A text, or a quantity such as `2M` that the key which takes it reads.
    Text(String),
    /// Values in brackets or with dashes.
    List(Vec<Literal>),
    /// Keys with their values.
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

    /// A scalar as text.
    pub(crate) fn scalar(&self) -> Option<String> {
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
                let at = bson::begin(out);
                for (key, value) in entries {
                    value.write(key.as_bytes(), out);
                }
                bson::end(at, out);
            }
        }
    }
}

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
                let mut map = to.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
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
                Ok(Literal::Map(entries))
            }
        }
        from.deserialize_any(Any)
    }
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

    #[test]
    fn the_order_of_keys_is_kept() {
        let text = r#"{"z":1,"a":[null,true,0.5,"x"],"m":{"b":-3,"a":{}}}"#;
        let literal: Literal = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&literal).unwrap(), text);
    }
}
