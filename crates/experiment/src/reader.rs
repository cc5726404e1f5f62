//! Reads a tree of YAML against the tables of the format: every key and value by itself, all problems at once.

use crate::document::{Entry, Kind, Node};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::scalar::{is_name, scalar};
use crate::shape::{Keys, Need, Object, Shape};
use crate::source::Place;
use plimsoll_plan::{EngineKind, Metric, SettingKind, SettingValue};
use plimsoll_plan::{percentile, table_percentile};
use plimsoll_quantities::units::shortened;

/// A value that has the right shape, or is known to be wrong.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A problem was reported: whatever needs it does without.
    Wrong,
    One(SettingValue),
    List(Vec<Checked>),
    Map(Vec<Field>),
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub key: String,
    pub key_place: Place,
    pub checked: Checked,
}

impl Checked {
    /// The fields of a map; none of anything else.
    pub(crate) fn fields(&self) -> &[Field] {
        if let Value::Map(fields) = &self.value {
            fields
        } else {
            &[]
        }
    }

    /// The items of a list; none of anything else.
    pub(crate) fn items(&self) -> &[Checked] {
        if let Value::List(items) = &self.value {
            items
        } else {
            &[]
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Checked> {
        self.fields()
            .iter()
            .find(|field| field.key == key)
            .map(|field| &field.checked)
    }

    pub(crate) fn number(&self) -> Option<f64> {
        if let Value::One(SettingValue::Number(number)) = &self.value {
            Some(*number)
        } else {
            None
        }
    }

    /// A whole number of anything: things, bytes or nanoseconds.
    pub(crate) fn whole(&self) -> Option<u64> {
        match &self.value {
            Value::One(
                SettingValue::Count(whole)
                | SettingValue::Bytes(whole)
                | SettingValue::Nanos(whole),
            ) => Some(*whole),
            _ => None,
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        if let Value::One(SettingValue::Flag(flag)) = &self.value {
            Some(*flag)
        } else {
            None
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::One(SettingValue::Text(text)) = &self.value {
            Some(text)
        } else {
            None
        }
    }
}

/// Reads values and gathers problems.
pub(crate) struct Reader<'r, 's> {
    pub problems: &'r mut Collector<'s>,
    pub engines: &'r [EngineKind],
}

impl Reader<'_, '_> {
    /// A value that should have this shape. Arms are read by [`crate::arms`], scales by [`crate::scales`].
    pub(crate) fn read(&mut self, path: &str, shape: &Shape, node: &Node) -> Checked {
        let value = match shape {
            Shape::Any(shapes) => match pick(shapes, node) {
                Some(shape) => return self.read(path, shape, node),
                None => self.wrong_kind(path, shape, node),
            },
            Shape::List { of, least, most } => self.list(path, shape, of, (*least, *most), node),
            Shape::Keyed {
                keys,
                of,
                least,
                most,
            } => self.keyed(path, shape, (*keys, of), (*least, *most), node),
            Shape::Object(object) => match &node.kind {
                Kind::Map(entries) => Value::Map(self.object(path, object, entries, node.place)),
                // A key with nothing behind it says no more than no key.
                Kind::Null => Value::Map(self.object(path, object, &[], node.place)),
                _ => self.wrong_kind(path, shape, node),
            },
            Shape::Arm | Shape::Defaults | Shape::Scale => match &node.kind {
                Kind::Map(_) | Kind::Null => Value::Map(Vec::new()),
                _ => self.wrong_kind(path, shape, node),
            },
            _ => match &node.kind {
                Kind::Scalar(text) => match scalar(shape, text) {
                    Ok(value) => Value::One(value),
                    Err(mistake) => self.mistake(path, node.place, mistake),
                },
                _ => self.wrong_kind(path, shape, node),
            },
        };
        Checked {
            place: node.place,
            value,
        }
    }

    /// The fields of a map with known keys; those that must be there and those that exclude each other are seen to.
    pub(crate) fn object(
        &mut self,
        path: &str,
        object: &Object,
        entries: &[Entry],
        place: Place,
    ) -> Vec<Field> {
        let mut fields = Vec::new();
        for entry in entries {
            let inner = join(path, &entry.key);
            let Some(key) = object.key(&entry.key) else {
                let mistake = Mistake::UnknownKey {
                    key: entry.key.clone(),
                    valid: object.names(),
                };
                self.problems.add(path, Some(entry.key_place), mistake);
                continue;
            };
            let checked = self.read(&inner, &key.shape, &entry.value);
            fields.push(Field {
                key: entry.key.clone(),
                key_place: entry.key_place,
                checked,
            });
        }
        for key in object.keys {
            if key.need == Need::Required && !entries.iter().any(|entry| entry.key == key.name) {
                let mistake = Mistake::MissingKey {
                    key: key.name,
                    example: key.example,
                };
                self.problems.add(path, Some(place), mistake);
            }
        }
        self.choices(path, object, entries, place);
        fields
    }

    /// Sees to keys that exclude each other.
    pub(crate) fn choices(&mut self, path: &str, object: &Object, entries: &[Entry], place: Place) {
        for choice in object.choices {
            let mut present = entries
                .iter()
                .filter(|entry| choice.keys.contains(&entry.key.as_str()));
            match (present.next(), present.next()) {
                (None, _) if choice.required => {
                    self.problems.add(
                        path,
                        Some(place),
                        Mistake::MissingOneOf { keys: choice.keys },
                    );
                }
                (Some(first), Some(second)) if choice.exclusive => {
                    let mistake = Mistake::Exclusive {
                        first: first.key.clone(),
                        second: second.key.clone(),
                    };
                    self.problems
                        .add_twice(path, second.key_place, first.key_place, mistake);
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
                Mistake::EntryCount {
                    found: items.len(),
                    least,
                    most,
                },
            );
        }
        let single = !matches!(node.kind, Kind::List(_));
        let mut checked = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let inner = if single {
                path.to_owned()
            } else {
                format!("{path}[{index}]")
            };
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
                Mistake::EntryCount {
                    found: entries.len(),
                    least,
                    most,
                },
            );
        }
        let mut fields = Vec::with_capacity(entries.len());
        for entry in entries {
            let mistake = match keys {
                Keys::Names(_) if !is_name(&entry.key) => Some(Mistake::BadName {
                    name: entry.key.clone(),
                }),
                Keys::Percentiles if percentile(&entry.key).is_none() => {
                    Some(Mistake::BadPercentile {
                        name: entry.key.clone(),
                    })
                }
                Keys::TablePercentiles if table_percentile(&entry.key).is_none() => {
                    Some(Mistake::BadPercentile {
                        name: entry.key.clone(),
                    })
                }
                Keys::Metrics if Metric::parse(&entry.key).is_none() => {
                    Some(Mistake::UnknownMetric {
                        metric: entry.key.clone(),
                    })
                }
                _ => None,
            };
            if let Some(mistake) = mistake {
                self.problems.add(path, Some(entry.key_place), mistake);
            }
            let checked = self.read(&join(path, &entry.key), of, &entry.value);
            fields.push(Field {
                key: entry.key.clone(),
                key_place: entry.key_place,
                checked,
            });
        }
        Value::Map(fields)
    }

    fn wrong_kind(&mut self, path: &str, shape: &Shape, node: &Node) -> Value {
        let found = node.kind_words();
        self.mistake(
            path,
            node.place,
            Mistake::WrongKind {
                expected: shape.expected(),
                found,
            },
        )
    }

    fn mistake(&mut self, path: &str, place: Place, mistake: Mistake) -> Value {
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
            fitting
                .clone()
                .find(|shape| is_choice(shape) == is_word)
                .or_else(|| fitting.next())
        }
    }
}

/// A path with one more key.
pub(crate) fn join(path: &str, key: &str) -> String {
    let key = shortened(key);
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}
