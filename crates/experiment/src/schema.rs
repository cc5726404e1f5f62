//! The JSON Schema of an experiment file, for editors: made from the tables of the elements.

use crate::Collector;
use crate::document::{Key, Keys, Kind, Need, Node, Object, Shape, SourceText};
use crate::elements::ratio::RATIO;
use crate::elements::scales::can_be_scaled;
use crate::keys::arm::{ARM, OPEN_ARM, OPEN_DEFAULTS, arm as arm_keys};
use crate::keys::file::FILE;
use crate::keys::scales::OPEN_SCALE;
use plimsoll_plan::{EngineKind, Setting, SettingKind};
use plimsoll_record::quantities::units;
use serde_json::{Map, Value, json};

/// What a size looks like.
const SIZE: &str =
    r"^[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]{1,2})? *(B|[kK]B|MB|GB|TB|[kK]iB|MiB|GiB|TiB)?$";
const COUNT: &str = r"^[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]{1,2})? *[kKMG]?$";
const DURATION: &str = r"^(0|([0-9][0-9_]*(\.[0-9]+)? *(ns|us|µs|ms|s|m|min|h|d) *)+)$";
const NUMBER: &str = r"^[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]{1,2})? *%?$";
const RATE: &str = r"^[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]{1,2})? *[kKMG]?(/s)?$";
const BANDWIDTH: &str =
    r"^[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]{1,2})? *(B|[kK]B|MB|GB|TB|[kK]iB|MiB|GiB|TiB)?(/s)?$";
const COUNT_OR_OFF: &str =
    r"^([oO][fF][fF]|[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]{1,2})? *[kKMG]?)$";
const NAME: &str = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$";

/// The JSON Schema (draft 2020-12) of an experiment file whose arms can name these engines.
///
/// Editors check the shape of a file with it; [`check`](crate::check) also compares values with each other and with the machine.
pub fn schema(engines: &[EngineKind]) -> Value {
    let mut schema = object(&FILE, engines);
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plimsoll experiment",
    });
    for (key, value) in head.as_object().into_iter().flatten() {
        schema.insert(key.clone(), value.clone());
    }
    Value::Object(schema)
}

/// The schema as it is kept in the repository: indented, keys sorted, with a line feed at its end.
pub fn schema_text(engines: &[EngineKind]) -> String {
    format!("{:#}\n", sorted(schema(engines)))
}

/// The same value with the keys of its maps sorted, whatever order the map type keeps.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        scalar => scalar,
    }
}

fn object(object: &Object, engines: &[EngineKind]) -> Map<String, Value> {
    let mut properties = Map::new();
    for key in object.keys {
        properties.insert(key.name.to_owned(), property(key, engines));
    }
    let required: Vec<&str> =
        object.keys.iter().filter(|key| key.need == Need::Required).map(|key| key.name).collect();
    let mut schema = Map::new();
    schema.insert("description".into(), json!(object.about));
    schema.insert("type".into(), json!("object"));
    let others = object.others.map(|others| Value::Object(shape(others, engines)));
    schema.insert("additionalProperties".into(), others.unwrap_or(json!(false)));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema.insert("properties".into(), Value::Object(properties));
    let mut choices = Vec::new();
    for choice in object.choices {
        let mut each: Vec<Value> =
            choice.keys.iter().map(|key| json!({ "required": [key] })).collect();
        if !choice.required {
            each.push(json!({ "not": { "anyOf": each.clone() } }));
        }
        let how = if choice.exclusive { "oneOf" } else { "anyOf" };
        choices.push(json!({ how: each }));
    }
    if !choices.is_empty() {
        schema.insert("allOf".into(), Value::Array(choices));
    }
    schema
}

fn property(key: &Key, engines: &[EngineKind]) -> Value {
    let mut schema = shape(&key.shape, engines);
    schema.insert("description".into(), json!(key.about));
    schema.insert("examples".into(), json!([written(key.example)]));
    // A default in words is in the description.
    if let Need::Default(default) = key.need
        && !default.contains(" for ")
    {
        schema.insert("default".into(), written(default));
    }
    Value::Object(schema)
}

fn shape(shape: &Shape, engines: &[EngineKind]) -> Map<String, Value> {
    let value = match shape {
        Shape::Version(known) => json!({ "const": known }),
        Shape::Name => pattern(NAME, false),
        Shape::Text { most } => json!({ "type": "string", "maxLength": most }),
        Shape::Value(kind) => setting_kind(kind),
        Shape::Rate { .. } => pattern(RATE, true),
        Shape::Bandwidth => pattern(BANDWIDTH, true),
        // `off` without quotes is text in YAML 1.2, and a flag to editors that read YAML 1.1.
        Shape::CountOrOff { .. } => {
            json!({ "anyOf": [pattern(COUNT_OR_OFF, true), { "const": false }] })
        }
        Shape::Word(word) => pattern(word.pattern, word.is_quantity),
        Shape::List { of, least, most } => {
            let items = Value::Object(self::shape(of, engines));
            let list =
                json!({ "type": "array", "items": items, "minItems": least, "maxItems": most });
            if *least > 1 { list } else { json!({ "anyOf": [list, items] }) }
        }
        Shape::Keyed { keys, of, least, most } => {
            let names = match keys {
                Keys::Names(_) => NAME,
                Keys::Words(words) => words.pattern,
            };
            json!({
                "type": "object",
                "propertyNames": { "pattern": names },
                "additionalProperties": self::shape(of, engines),
                "minProperties": least,
                "maxProperties": most,
            })
        }
        Shape::Object(known) => return object(known, engines),
        Shape::Any(shapes) => {
            let each: Vec<Value> =
                shapes.iter().map(|one| Value::Object(self::shape(one, engines))).collect();
            json!({ "anyOf": each })
        }
        Shape::Open(map) if std::ptr::eq(*map, &OPEN_ARM) => return arm(engines, true),
        Shape::Open(map) if std::ptr::eq(*map, &OPEN_DEFAULTS) => return arm(engines, false),
        Shape::Open(map) if std::ptr::eq(*map, &OPEN_SCALE) => return scale(),
        Shape::Open(_) => json!({ "type": "object" }),
    };
    let Value::Object(map) = value else {
        return Map::new();
    };
    map
}

/// A part of a file: only its outermost keys, because the rest is checked when it is merged into the file.
fn scale() -> Map<String, Value> {
    let mut properties = Map::new();
    for key in FILE.keys.iter().filter(|key| can_be_scaled(key.name)) {
        properties.insert(key.name.to_owned(), json!({ "description": key.about }));
    }
    let about = "The file in proportion smaller: more than 0, at most 1, such as 1/20.";
    properties.insert(RATIO.into(), json!({ "description": about }));
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("additionalProperties".into(), json!(false));
    schema.insert("properties".into(), Value::Object(properties));
    schema
}

/// An arm with the settings of all engines; their descriptions name the engine.
fn arm(engines: &[EngineKind], with_about: bool) -> Map<String, Value> {
    let mut schema = object(&ARM, engines);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        if !with_about {
            properties.remove(arm_keys::about.name);
        }
        if let Some(engine) =
            properties.get_mut(arm_keys::engine.name).and_then(Value::as_object_mut)
        {
            engine.remove("maxLength");
            engine.insert("enum".into(), engines.iter().map(|kind| json!(kind.name)).collect());
        }
        for kind in engines {
            for entry in kind.settings {
                let described = setting(kind, entry);
                match properties.get_mut(entry.name) {
                    // Two engines with a setting of one name: either form will do.
                    Some(other) => *other = json!({ "anyOf": [other.clone(), described] }),
                    None => {
                        properties.insert(entry.name.to_owned(), described);
                    }
                }
            }
        }
    }
    // An arm that is its defaults may be written with nothing behind its name.
    schema.insert("type".into(), json!(["object", "null"]));
    schema
}

fn setting(kind: &EngineKind, setting: &Setting) -> Value {
    let mut schema = setting_kind(&setting.kind);
    schema["description"] = json!(format!("{}: {}", kind.name, setting.about));
    if let Some(default) = setting.default {
        schema["default"] = written(default);
    }
    schema
}

fn setting_kind(kind: &SettingKind) -> Value {
    match kind {
        SettingKind::Size { .. } => pattern(SIZE, true),
        SettingKind::Count { .. } => pattern(COUNT, true),
        SettingKind::Duration { .. } => {
            json!({ "anyOf": [{ "type": "string", "pattern": DURATION }, { "const": 0 }] })
        }
        SettingKind::Number { .. } => pattern(NUMBER, true),
        SettingKind::Flag => json!({ "type": "boolean" }),
        SettingKind::Choice(words) => json!({ "enum": words }),
        SettingKind::Text => json!({ "type": ["string", "number", "boolean"] }),
    }
}

/// A value as it would be written in a file, in JSON.
fn written(text: &str) -> Value {
    let source = SourceText::new(text);
    crate::document::read(text, &mut Collector::new(&source))
        .map_or_else(|| json!(text), |node| json_value(&node))
}

fn json_value(node: &Node) -> Value {
    match &node.kind {
        Kind::Null => Value::Null,
        Kind::Scalar(text) => match (text.parse::<bool>(), text.parse::<u64>()) {
            (Ok(flag), _) => json!(flag),
            (_, Ok(number)) => json!(number),
            _ => json!(text),
        },
        Kind::List(items) => Value::Array(items.iter().map(json_value).collect()),
        Kind::Map(entries) => Value::Object(
            entries.iter().map(|entry| (entry.key.clone(), json_value(&entry.value))).collect(),
        ),
    }
}

/// Text of this form; where it is a quantity, a number of YAML as well.
fn pattern(pattern: &str, quantity: bool) -> Value {
    if quantity {
        json!({ "type": ["string", "number"], "pattern": pattern, "minimum": 0 })
    } else {
        json!({ "type": "string", "pattern": pattern })
    }
}

/// Bounds of a value in words: `1 to 10k`. `None` where there are none.
pub(crate) fn bounds(shape: &Shape) -> Option<String> {
    const ENDLESS: f64 = u32::MAX as f64;
    let Shape::Value(kind) = shape else {
        return None;
    };
    let (least, most, endless) = match *kind {
        SettingKind::Size { min, max } => (units::size(min), units::size(max), false),
        SettingKind::Count { min, max } => {
            (units::count(min), units::count(max), max as f64 >= ENDLESS)
        }
        SettingKind::Duration { min_ns, max_ns } => {
            (units::duration(min_ns), units::duration(max_ns), false)
        }
        SettingKind::Number { min, max } if max <= 1.0 => {
            (units::share(min), units::share(max), false)
        }
        SettingKind::Number { min, max } => (min.to_string(), max.to_string(), max >= ENDLESS),
        SettingKind::Flag | SettingKind::Choice(_) | SettingKind::Text => return None,
    };
    Some(if endless { format!("at least {least}") } else { format!("{least} to {most}") })
}
