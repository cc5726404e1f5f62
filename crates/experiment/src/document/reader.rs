//! Reads a tree of YAML against tables of keys: every key and value by itself, all problems at once.

use crate::document::problems::Collector;
use crate::document::scalar::is_name;
use crate::document::shape::{Key, Keys, Need, Object, Shape};
use crate::document::source::Span;
use crate::document::yaml::{Entry, Kind, Node};
use crate::mistake::Mistake;
use plimsoll_record::quantities::setting::{SettingKind, SettingValue};
use plimsoll_record::quantities::units::shortened;

/// A value that has the right shape, or is known to be wrong.
#[derive(Clone, Debug)]
pub struct Checked {
    pub place: Span,
    pub value: Value,
}

/// What was read of a value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A problem was reported: whatever needs it does without.
    Wrong,
    One(SettingValue),
    /// The values of a list.
    List(Vec<Checked>),
    Map(Vec<Field>),
}

/// A key with its checked value.
#[derive(Clone, Debug)]
pub struct Field {
    pub key: String,
    /// Where the key is written.
    pub key_place: Span,
    pub checked: Checked,
}

impl Checked {
    /// The fields of a map; none of anything else.
    pub fn fields(&self) -> &[Field] {
        if let Value::Map(fields) = &self.value { fields } else { &[] }
    }

    /// The items of a list; none of anything else.
    pub fn items(&self) -> &[Checked] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    pub fn field(&self, key: &Key) -> Option<&Field> {
        self.fields().iter().find(|field| field.key == key.name)
    }

    /// The value of a key.
    pub fn get(&self, key: &Key) -> Option<&Checked> {
        self.field(key).map(|field| &field.checked)
    }

    /// A number, share or rate.
    pub fn number(&self) -> Option<f64> {
        if let Value::One(SettingValue::Number(number)) = &self.value {
            Some(*number)
        } else {
            None
        }
    }

    /// A whole number of anything: things, bytes or nanoseconds.
    pub fn whole(&self) -> Option<u64> {
        match &self.value {
            Value::One(value) => value.whole(),
            _ => None,
        }
    }

    pub fn flag(&self) -> Option<bool> {
        if let Value::One(SettingValue::Flag(flag)) = &self.value { Some(*flag) } else { None }
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::One(SettingValue::Text(text)) = &self.value { Some(text) } else { None }
    }
}

/// Reads values and gathers problems.
pub struct Reader<'r, 's> {
    problems: &'r mut Collector<'s>,
}

impl<'r, 's> Reader<'r, 's> {
    pub fn new(problems: &'r mut Collector<'s>) -> Self {
        Self { problems }
    }

    /// Checks a value against a shape. Of open maps only the kind is checked, and they have no fields.
    pub fn read(&mut self, path: &str, shape: &Shape, node: &Node) -> Checked {
        let value = match (shape, &node.kind) {
            (Shape::Any(shapes), _) => match pick(shapes, node) {
                Some(shape) => return self.read(path, shape, node),
                None => self.wrong_kind(path, shape, node),
            },
            (Shape::List { of, least, most }, _) => {
                self.list(path, shape, of, (*least, *most), node)
            }
            (Shape::Keyed { keys, of, least, most }, _) => {
                self.keyed(path, shape, (*keys, of), (*least, *most), node)
            }
            // A key without a value is an empty map.
            (Shape::Object(object), Kind::Map(_) | Kind::Null) => {
                let mut fields = Vec::new();
                for entry in node.entries() {
                    let own = object.others.map(|shape| (&*entry.key, shape));
                    let known = object.key(&entry.key).map(|key| (key.name, &key.shape));
                    let Some((name, shape)) = known.or(own) else {
                        let mistake =
                            Mistake::UnknownKey { key: entry.key.clone(), valid: object.names() };
                        self.problems.add(path, Some(entry.key_place), mistake);
                        continue;
                    };
                    fields.push(Field {
                        key: entry.key.clone(),
                        key_place: entry.key_place,
                        checked: self.read(&join(path, name), shape, &entry.value),
                    });
                }
                self.missing(path, object, node);
                self.choices(path, object, node.entries(), node.place);
                Value::Map(fields)
            }
            (Shape::Open(_), Kind::Map(_) | Kind::Null) => Value::Map(Vec::new()),
            (Shape::Object(_) | Shape::Open(_), _) => self.wrong_kind(path, shape, node),
            (_, Kind::Scalar(text)) => match shape.scalar(text) {
                Ok(value) => Value::One(value),
                Err(mistake) => self.mistake(path, node.place, mistake),
            },
            _ => self.wrong_kind(path, shape, node),
        };
        Checked { place: node.place, value }
    }

    /// Reports required keys that are missing.
    fn missing(&mut self, path: &str, object: &Object, node: &Node) {
        for key in object.keys {
            let is_there = node.entries().iter().any(|entry| entry.key == key.name);
            if key.need == Need::Required && !is_there {
                let mistake = Mistake::MissingKey { key: key.name, example: key.example };
                self.problems.add(path, Some(node.place), mistake);
            }
        }
    }

    /// Reports keys that exclude each other, and missing ones among those that need each other.
    pub fn choices(&mut self, path: &str, object: &Object, entries: &[Entry], place: Span) {
        for choice in object.choices {
            let mut present =
                entries.iter().filter(|entry| choice.keys.contains(&entry.key.as_str()));
            match (present.next(), present.next()) {
                (None, _) if choice.required => {
                    self.problems.add(
                        path,
                        Some(place),
                        Mistake::MissingOneOf { keys: choice.keys },
                    );
                }
                (Some(first), Some(second)) if choice.exclusive => {
                    let mistake =
                        Mistake::Exclusive { first: first.key.clone(), second: second.key.clone() };
                    self.problems.add_twice(path, second.key_place, first.key_place, mistake);
                }
                _ => {}
            }
        }
    }

    fn list(
        &mut self,
        path: &str,
        shape: &Shape,
        of: &Shape,
        (least, most): (usize, usize),
        node: &Node,
    ) -> Value {
        let items = match &node.kind {
            Kind::List(items) => items.as_slice(),
            Kind::Scalar(_) if least <= 1 => std::slice::from_ref(node),
            Kind::Map(_) if least <= 1 && (of.is_map() || matches!(of, Shape::Any(_))) => {
                std::slice::from_ref(node)
            }
            _ => return self.wrong_kind(path, shape, node),
        };
        if items.len() < least || items.len() > most {
            return self.mistake(
                path,
                node.place,
                Mistake::EntryCount { found: items.len(), least, most },
            );
        }
        let single = !matches!(node.kind, Kind::List(_));
        let mut checked = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let inner = if single { path.to_owned() } else { format!("{path}[{index}]") };
            checked.push(self.read(&inner, of, item));
        }
        Value::List(checked)
    }

    fn keyed(
        &mut self,
        path: &str,
        shape: &Shape,
        (keys, of): (Keys, &Shape),
        (least, most): (usize, usize),
        node: &Node,
    ) -> Value {
        let Kind::Map(entries) = &node.kind else {
            return self.wrong_kind(path, shape, node);
        };
        if entries.len() < least || entries.len() > most {
            return self.mistake(
                path,
                node.place,
                Mistake::EntryCount { found: entries.len(), least, most },
            );
        }
        let mut fields = Vec::with_capacity(entries.len());
        for entry in entries {
            let result = match keys {
                Keys::Names(_) if !is_name(&entry.key) => {
                    Err(Mistake::BadName { name: entry.key.clone() })
                }
                Keys::Names(_) => Ok(()),
                Keys::Words(words) => (words.check)(&entry.key),
            };
            if let Err(mistake) = result {
                self.problems.add(path, Some(entry.key_place), mistake);
            }
            let checked = self.read(&join(path, &entry.key), of, &entry.value);
            fields.push(Field { key: entry.key.clone(), key_place: entry.key_place, checked });
        }
        Value::Map(fields)
    }

    fn wrong_kind(&mut self, path: &str, shape: &Shape, node: &Node) -> Value {
        let found = node.kind_words();
        self.mistake(path, node.place, Mistake::WrongKind { expected: shape.expected(), found })
    }

    fn mistake(&mut self, path: &str, place: Span, mistake: Mistake) -> Value {
        self.problems.add(path, Some(place), mistake);
        Value::Wrong
    }
}

/// The shape of several that has the node's kind. Of several that a scalar can have, words go to a choice of words and everything else to the others.
fn pick<'a>(shapes: &'a [Shape], node: &Node) -> Option<&'a Shape> {
    let is_choice = |shape: &Shape| matches!(shape, Shape::Value(SettingKind::Choice(_)));
    match &node.kind {
        Kind::List(_) => shapes.iter().find(|shape| shape.is_list()),
        Kind::Map(_) => shapes.iter().find(|shape| shape.is_map()),
        Kind::Null => None,
        Kind::Scalar(text) => {
            let is_word = text.starts_with(char::is_alphabetic);
            let mut fitting = shapes.iter().filter(|shape| !shape.is_map());
            fitting.clone().find(|shape| is_choice(shape) == is_word).or_else(|| fitting.next())
        }
    }
}

/// A path with one more key.
pub fn join(path: &str, key: &str) -> String {
    let key = shortened(key);
    if path.is_empty() { key } else { format!("{path}.{key}") }
}
