//! The normal form of a command: the command without its values.

use crate::calls::has_file;
use crate::fields::map;
use mongodb::bson::spec::ElementType;
use mongodb::bson::{Bson, Document};
use plimsoll_workload::documents::Literal;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// Its key lives in memory only, so that no value can be found by its hash.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
/// The deepest nesting that is read. The server allows 200 levels of documents.
const MOST_DEPTH: usize = 60;

#[derive(Clone, Debug, Default)]
pub(crate) struct NormalCommand {
    /// The operation in the file's vocabulary, with `<0>`, `<1>`, ... in place of values.
    pub(crate) operation: Literal,
    pub(crate) values: Vec<OmittedValue>,
    /// Why no file can have the operation.
    pub(crate) unfit: Option<String>,
    /// Hints, concerns, time limits and batches, which calls of one shape need not share.
    pub(crate) manner: Vec<(&'static str, Literal)>,
}

#[derive(Clone, Debug)]
pub(crate) struct OmittedValue {
    /// The field with which it is compared or which it becomes; empty where this is not known.
    pub(crate) path: String,
    pub(crate) role: ValueRole,
    pub(crate) kind: ElementType,
    /// Characters of a text, bytes of binary data, items of a list.
    pub(crate) length: u64,
    /// One keyed hash for each item of `$in`, else one.
    pub(crate) hashes: Vec<u64>,
    /// A number that ascends with the value, of types that ascend with time.
    pub(crate) order: Option<f64>,
    /// 0, 1 or -1 where it is not the value of a field: these reveal nothing about users.
    pub(crate) small: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueRole {
    Equal,
    /// A list of values of the field.
    In,
    Lower,
    Upper,
    New,
    Items,
    Free,
}

impl OmittedValue {
    /// Whether both are one and the same value, however often each is used.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let first = self.hashes.first();
        first.is_some() && self.hashes.iter().chain(&other.hashes).all(|hash| Some(hash) == first)
    }
}

impl NormalCommand {
    /// The text that is equal for equal shapes.
    pub(crate) fn form(&self) -> String {
        let mut unnumbered = |text: &str| hole(text).map(|_| Literal::Text("<>".into()));
        mapped(&self.operation, &mut unnumbered).to_string()
    }
}

/// The number in a text such as `<7>`.
pub(crate) fn hole(text: &str) -> Option<usize> {
    text.strip_prefix('<')?.strip_suffix('>')?.parse().ok()
}

/// A value in which texts are replaced, where `replace` has something for them.
pub(crate) fn mapped(value: &Literal, replace: &mut dyn FnMut(&str) -> Option<Literal>) -> Literal {
    match value {
        Literal::Text(text) => replace(text).unwrap_or_else(|| value.clone()),
        Literal::List(items) => {
            Literal::List(items.iter().map(|item| mapped(item, replace)).collect())
        }
        Literal::Map(entries) => {
            let entries = entries.iter();
            Literal::Map(entries.map(|(key, item)| (key.clone(), mapped(item, replace))).collect())
        }
        other => other.clone(),
    }
}

/// The normal form of a command whose first key says what it does: `{find: orders, ...}`, `{update: orders, q: ..., u: ...}`.
pub(crate) fn normal(command: &Document) -> Option<NormalCommand> {
    let (verb, collection) = command.iter().next()?;
    if !has_file(verb) {
        let operation = map(verb, Literal::Text(collection.as_str()?.into()));
        let unfit = Some(format!("an experiment file has no `{verb}`"));
        return Some(NormalCommand { operation, unfit, ..NormalCommand::default() });
    }
    let mut reading = CommandReader { values: Vec::new(), unfit: None, depth: 0 };
    let mut entries = Vec::new();
    let mut add = |key: &str, value: Literal| entries.push((key.to_owned(), value));
    let word = if verb == "findAndModify" { "find_and_modify" } else { verb.as_str() };
    add(word, Literal::Text(collection.as_str()?.into()));
    let document = |key: &str| command.get_document(key).ok().filter(|found| !found.is_empty());
    let is_set = |key: &str| command.get(key).is_some_and(is_true);
    let filter = ["filter", "query", "q"].iter().find_map(|key| document(key));
    if verb == "distinct" {
        add("field", Literal::Text(reading.path(command.get_str("key").ok()?)));
    }
    if let Some(filter) = filter {
        add("filter", reading.filter(filter, ""));
    }
    if let Ok(stages) = command.get_array("pipeline") {
        add("pipeline", reading.pipeline(stages, true));
    }
    if let Some(sort) = document("sort") {
        add("sort", reading.directions(sort));
    }
    match (verb.as_str(), command.get("limit").and_then(whole)) {
        ("find" | "count", Some(limit)) if limit != 0 => {
            add("limit", Literal::Int(limit.saturating_abs()))
        }
        ("delete", Some(0)) => add("many", Literal::Bool(true)),
        _ => {}
    }
    if let Some(projection) = document("projection") {
        add("project", reading.projection(projection));
    }
    if let Some(change) =
        command.get("u").or_else(|| command.get("update").filter(|_| verb == "findAndModify"))
    {
        let (key, change) = reading.change(change);
        add(key, change);
    }
    for (key, word) in [("multi", "many"), ("upsert", "upsert"), ("new", "new")] {
        if is_set(key) {
            add(word, Literal::Bool(true));
        }
    }
    reading.refuse(verb, command);
    let mut manner = manner(command);
    match command.get("hint") {
        Some(Bson::Document(keys)) => manner.push(("hint", reading.directions(keys))),
        Some(Bson::String(name)) => manner.push(("hint", Literal::Text(name.clone()))),
        _ => {}
    }
    let CommandReader { mut values, unfit, .. } = reading;
    if unfit.is_some() {
        // Not all of them were read.
        values.clear();
    }
    Some(NormalCommand { operation: Literal::Map(entries), values, unfit, manner })
}

/// What the file's `read_concern`, `write_concern`, `read_preference`, `max_time` and `batch` say.
pub(crate) fn manner(command: &Document) -> Vec<(&'static str, Literal)> {
    let mut manner = Vec::new();
    let millis = |limit: i64| Literal::Text(format!("{limit}ms"));
    let part = |of: &str, key: &str| command.get_document(of).ok().and_then(|of| of.get(key));
    let positive = |value: Option<&Bson>| value.and_then(whole).filter(|number| *number > 0);
    if let Some(Bson::String(level)) = part("readConcern", "level") {
        manner.push(("read_concern", Literal::Text(level.clone())));
    }
    let preference = match part("$readPreference", "mode") {
        Some(Bson::String(mode)) => match mode.as_str() {
            // Drivers send `primaryPreferred` wherever they are connected to a single member.
            "secondary" => Some("secondary"),
            "secondaryPreferred" => Some("secondary-preferred"),
            "nearest" => Some("nearest"),
            _ => None,
        },
        _ => None,
    };
    manner.extend(preference.map(|mode| ("read_preference", Literal::Text(mode.into()))));
    let members = match part("writeConcern", "w") {
        Some(Bson::String(word)) if word == "majority" => Some(Literal::Text(word.clone())),
        other => positive(other).map(Literal::Int),
    };
    let mut concern: Vec<(String, Literal)> = Vec::new();
    concern.extend(members.map(|members| ("w".into(), members)));
    if let Some(Bson::Boolean(journal)) = part("writeConcern", "j") {
        concern.push(("journal".into(), Literal::Bool(*journal)));
    }
    let limit = positive(part("writeConcern", "wtimeout"));
    concern.extend(limit.map(|limit| ("timeout".into(), millis(limit))));
    match concern.as_slice() {
        [] => {}
        [(key, only)] if key == "w" => manner.push(("write_concern", only.clone())),
        _ => manner.push(("write_concern", Literal::Map(concern))),
    }
    manner.extend(positive(command.get("maxTimeMS")).map(|limit| ("max_time", millis(limit))));
    let batch = positive(command.get("batchSize").or(part("cursor", "batchSize")));
    let batch = batch.filter(|batch| *batch <= 1_000_000);
    manner.extend(batch.map(|batch| ("batch", Literal::Int(batch))));
    manner
}

struct CommandReader {
    values: Vec<OmittedValue>,
    unfit: Option<String>,
    depth: usize,
}

impl CommandReader {
    fn refuse(&mut self, verb: &str, command: &Document) {
        for (verbs, key, what) in [
            ("find count", "skip", "`skip`"),
            ("find count", "tailable", "a tailable cursor"),
            ("findAndModify", "remove", "`remove` in findAndModify"),
            ("findAndModify", "upsert", "`upsert` in findAndModify"),
            (verb, "collation", "a collation"),
            (verb, "arrayFilters", "array filters"),
            (verb, "min", "`min`"),
            (verb, "max", "`max`"),
        ] {
            let is_set = command.get(key).is_some_and(is_true);
            if is_set && verbs.split(' ').any(|known| known == verb) {
                self.cannot(what);
            }
        }
    }

    fn cannot(&mut self, what: impl Into<String>) -> Literal {
        self.unfit.get_or_insert_with(|| format!("{} cannot be written", what.into()));
        Literal::Null
    }

    /// Reads something nested, unless it is too deep.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Literal) -> Literal {
        if self.depth == MOST_DEPTH {
            return self.cannot("more than 60 levels");
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn hole(&mut self, path: &str, role: ValueRole, value: &Bson) -> Literal {
        // The first item of a list represents all items.
        let (value, hashes) = match (role, value) {
            (ValueRole::In | ValueRole::Items, Bson::Array(items)) => {
                (items.first().unwrap_or(&Bson::Null), items.iter().map(hash).collect())
            }
            _ => (value, vec![hash(value)]),
        };
        let kind = value.element_type();
        let length = match value {
            Bson::String(text) => text.chars().count(),
            Bson::Binary(binary) => binary.bytes.len(),
            Bson::Array(items) => items.len(),
            _ => 0,
        };
        let order = match value {
            Bson::DateTime(date) => Some(date.timestamp_millis() as f64),
            // The seconds, and then the counter.
            Bson::ObjectId(id) => {
                let [.., a, b, c] = id.bytes();
                let counter = f64::from(u32::from_be_bytes([0, a, b, c]));
                Some(id.timestamp().timestamp_millis() as f64 * 16_777.216 + counter)
            }
            other => number(other),
        };
        let is_constant = matches!(role, ValueRole::Lower | ValueRole::Upper | ValueRole::Free);
        let small = whole(value).filter(|number| is_constant && (-1..=1).contains(number));
        let (path, length) = (path.to_owned(), length as u64);
        self.values.push(OmittedValue { path, role, kind, length, hashes, order, small });
        Literal::Text(format!("<{}>", self.values.len() - 1))
    }

    /// A path of fields, without keys that look like values.
    fn path(&mut self, path: &str) -> String {
        let is_value = |part: &str| {
            let digits = part.bytes().filter(u8::is_ascii_digit).count();
            // Angle brackets mark values.
            let is_plain = |b: u8| (b.is_ascii_graphic() || b >= 0x80) && b != b'<';
            digits > 3 || !part.bytes().all(is_plain)
        };
        if path.split('.').any(is_value) {
            self.cannot("a field's name that looks like a value");
            let parts: Vec<&str> =
                path.split('.').map(|part| if is_value(part) { "*" } else { part }).collect();
            return parts.join(".");
        }
        path.into()
    }

    /// Reads each value of a map.
    fn each<'d>(
        &mut self,
        entries: impl IntoIterator<Item = (&'d String, &'d Bson)>,
        read: impl Fn(&mut Self, &str, &Bson) -> Literal,
    ) -> Literal {
        let entries = entries.into_iter().map(|(key, value)| {
            let value = read(self, key, value);
            (self.path(key), value)
        });
        Literal::Map(entries.collect())
    }

    fn filter(&mut self, filter: &Document, prefix: &str) -> Literal {
        let entries = by_key(filter).into_iter().filter(|(key, _)| *key != "$comment");
        self.each(entries, |reading, key, value| match (key, value) {
            ("$and" | "$or" | "$nor", Bson::Array(parts)) => {
                let parts = parts.iter().filter_map(Bson::as_document);
                let part = |part| reading.nested(|reading| reading.filter(part, prefix));
                Literal::List(parts.map(part).collect())
            }
            ("$expr", value) => reading.expression(value),
            (word, _) if word.starts_with('$') => reading.cannot(format!("`{word}`")),
            (name, value) if prefix.is_empty() => reading.condition(name, value),
            (name, value) => reading.condition(&format!("{prefix}.{name}"), value),
        })
    }

    /// What a field is compared with.
    fn condition(&mut self, path: &str, value: &Bson) -> Literal {
        match value {
            Bson::Document(only) if only.len() == 1 && only.contains_key("$eq") => {
                self.condition_value(path, only.get("$eq").unwrap_or(&Bson::Null))
            }
            Bson::Document(operators) if is_operators(operators) => self
                .each(by_key(operators), |reading, word, value| {
                    reading.operator(path, word, value)
                }),
            value => self.condition_value(path, value),
        }
    }

    fn condition_value(&mut self, path: &str, value: &Bson) -> Literal {
        match value {
            Bson::Boolean(flag) => Literal::Bool(*flag),
            Bson::Null => Literal::Null,
            Bson::RegularExpression(_) => self.cannot("a regular expression"),
            value => self.hole(path, ValueRole::Equal, value),
        }
    }

    fn operator(&mut self, path: &str, word: &str, value: &Bson) -> Literal {
        match (word, value) {
            ("$eq" | "$ne", value) => self.condition_value(path, value),
            ("$gt" | "$gte", value) => self.hole(path, ValueRole::Lower, value),
            ("$lt" | "$lte", value) => self.hole(path, ValueRole::Upper, value),
            ("$in" | "$nin" | "$all", Bson::Array(items)) => {
                match items.iter().any(|item| matches!(item, Bson::RegularExpression(_))) {
                    true => self.cannot("a regular expression"),
                    false if items.is_empty() => Literal::List(Vec::new()),
                    false => Literal::List(vec![self.hole(path, ValueRole::In, value)]),
                }
            }
            ("$exists", value) => Literal::Bool(is_true(value)),
            ("$not", value) => self.nested(|reading| reading.condition(path, value)),
            ("$elemMatch", Bson::Document(part)) => {
                self.nested(|reading| match is_operators(part) {
                    true => reading.condition(path, &Bson::Document(part.clone())),
                    false => reading.filter(part, path),
                })
            }
            ("$size", value) if whole(value).is_some_and(|size| size < 1_000) => {
                Literal::Int(whole(value).unwrap_or_default())
            }
            ("$regex" | "$options", _) => self.cannot("a regular expression"),
            _ => self.cannot(format!("`{word}`")),
        }
    }

    /// A sort, or the keys of an index.
    fn directions(&mut self, keys: &Document) -> Literal {
        self.each(keys, |reading, _, direction| match whole(direction) {
            Some(number) => Literal::Int(number.signum()),
            None => reading.cannot("a sort by another thing than fields"),
        })
    }

    fn projection(&mut self, projection: &Document) -> Literal {
        self.each(by_key(projection), |reading, _, value| match (value, whole(value)) {
            (Bson::Boolean(flag), _) => Literal::Int(i64::from(*flag)),
            (_, Some(number)) => Literal::Int(i64::from(number != 0)),
            (value, None) => reading.expression(value),
        })
    }

    /// What an update changes: the key of the file, and its value.
    fn change(&mut self, change: &Bson) -> (&'static str, Literal) {
        match change {
            Bson::Array(stages) => ("change", self.pipeline(stages, true)),
            Bson::Document(change) if is_operators(change) => {
                let read = self.each(by_key(change), |reading, operator, fields| match fields {
                    Bson::Document(fields) => reading
                        .each(by_key(fields), |reading, path, value| {
                            reading.changed(operator, path, value)
                        }),
                    _ => reading.cannot(format!("`{operator}`")),
                });
                ("change", read)
            }
            // A whole document in the place of another one.
            _ => ("set", Literal::Text("*".into())),
        }
    }

    fn changed(&mut self, operator: &str, path: &str, value: &Bson) -> Literal {
        if path.split('.').any(|part| part.starts_with("$[") && part != "$[]") {
            return self.cannot("array filters");
        }
        match (operator, value) {
            ("$unset", _) => Literal::Int(1),
            ("$currentDate", _) => Literal::Bool(true),
            ("$pop", value) => Literal::Int(whole(value).unwrap_or(1).signum()),
            ("$rename", Bson::String(name)) => Literal::Text(self.path(name)),
            ("$inc" | "$mul", value) => self.hole(path, ValueRole::Free, value),
            ("$push" | "$addToSet", Bson::Document(how)) if how.contains_key("$each") => {
                self.each(how, |reading, word, value| match (word, value) {
                    ("$each", Bson::Array(items)) if items.is_empty() => Literal::List(Vec::new()),
                    ("$each", value) => {
                        Literal::List(vec![reading.hole(path, ValueRole::Items, value)])
                    }
                    ("$slice" | "$position", value) => Literal::Int(whole(value).unwrap_or(0)),
                    ("$sort", Bson::Document(keys)) => reading.directions(keys),
                    ("$sort", value) => Literal::Int(whole(value).unwrap_or(1).signum()),
                    _ => reading.cannot(format!("`{word}`")),
                })
            }
            ("$push" | "$addToSet", value) => {
                self.hole(path, ValueRole::Items, &Bson::Array(vec![value.clone()]))
            }
            ("$pull", Bson::Document(part)) => match is_operators(part) {
                true => self.condition(path, value),
                false => self.filter(part, path),
            },
            ("$pull", value) => self.hole(path, ValueRole::Equal, value),
            ("$pullAll", value @ Bson::Array(_)) => {
                Literal::List(vec![self.hole(path, ValueRole::In, value)])
            }
            ("$set" | "$setOnInsert" | "$min" | "$max", value) => {
                self.hole(path, ValueRole::New, value)
            }
            _ => self.cannot(format!("`{operator}`")),
        }
    }

    /// The stages of a pipeline. `is_stored` is whether it begins with stored documents.
    fn pipeline(&mut self, stages: &[Bson], mut is_stored: bool) -> Literal {
        let mut list = Vec::new();
        for stage in stages {
            let Some((word, body)) = stage.as_document().and_then(|stage| stage.iter().next())
            else {
                return self.cannot("a stage without a name");
            };
            let keeps_paths = match word.as_str() {
                "$match" | "$sort" | "$limit" | "$skip" | "$unwind" | "$sample" => true,
                "$project" | "$addFields" | "$set" | "$unset" | "$group" | "$count"
                | "$sortByCount" | "$replaceRoot" | "$replaceWith" | "$lookup" | "$facet"
                | "$unionWith" => false,
                _ => return self.cannot(format!("the stage `{word}`")),
            };
            let from = self.values.len();
            let read = self.nested(|reading| reading.stage(word, body, is_stored));
            if !is_stored {
                self.values[from..].iter_mut().for_each(|value| value.path.clear());
            }
            is_stored &= keeps_paths;
            list.push(map(word, read));
        }
        Literal::List(list)
    }

    fn stage(&mut self, word: &str, body: &Bson, is_stored: bool) -> Literal {
        match (word, body) {
            ("$match", Bson::Document(filter)) => self.filter(filter, ""),
            ("$sort", Bson::Document(keys)) => self.directions(keys),
            ("$limit" | "$skip", size) => Literal::Int(whole(size).unwrap_or(1)),
            ("$sample", Bson::Document(how)) => {
                map("size", Literal::Int(how.get("size").and_then(whole).unwrap_or(1)))
            }
            ("$count" | "$unwind" | "$unset", names) => self.names(names),
            ("$lookup" | "$unionWith", Bson::Document(how)) => {
                self.each(how, |reading, key, value| match (key, value) {
                    ("pipeline", Bson::Array(stages)) => reading.pipeline(stages, false),
                    ("let", value) => reading.expression(value),
                    (_, names) => reading.names(names),
                })
            }
            ("$unionWith", name) => self.names(name),
            ("$facet", Bson::Document(facets)) => {
                self.each(facets, |reading, _, stages| match stages {
                    Bson::Array(stages) => reading.pipeline(stages, is_stored),
                    _ => reading.cannot("`$facet`"),
                })
            }
            (_, body) => self.expression(body),
        }
    }

    /// Names of fields and collections, and flags.
    fn names(&mut self, value: &Bson) -> Literal {
        match value {
            Bson::String(name) => Literal::Text(self.path(name)),
            Bson::Boolean(flag) => Literal::Bool(*flag),
            Bson::Array(items) => {
                Literal::List(items.iter().map(|item| self.names(item)).collect())
            }
            Bson::Document(entries) => self.each(entries, |reading, _, value| reading.names(value)),
            _ => self.cannot("an option that is no name"),
        }
    }

    fn expression(&mut self, value: &Bson) -> Literal {
        match value {
            Bson::String(text) if text.starts_with('$') => Literal::Text(self.path(text)),
            Bson::Array(items) => self.nested(|reading| {
                Literal::List(items.iter().map(|item| reading.expression(item)).collect())
            }),
            Bson::Document(entries) => self.nested(|reading| {
                reading.each(entries, |reading, key, value| match (key, value) {
                    ("$literal" | "$const", value) => reading.hole("", ValueRole::Free, value),
                    ("$meta" | "$function" | "$accumulator" | "$dateFromString", _) => {
                        reading.cannot(format!("`{key}`"))
                    }
                    ("as", Bson::String(name)) if is_loop(entries) => {
                        Literal::Text(reading.path(name))
                    }
                    ("format", Bson::String(_)) => Literal::Text("%Y-%m-%d".into()),
                    ("timezone", Bson::String(_)) => Literal::Text("UTC".into()),
                    ("unit" | "to" | "startOfWeek", Bson::String(word)) if is_word(word) => {
                        Literal::Text(word.clone())
                    }
                    (_, value) => reading.expression(value),
                })
            }),
            Bson::Boolean(flag) => Literal::Bool(*flag),
            Bson::Null => Literal::Null,
            value => self.hole("", ValueRole::Free, value),
        }
    }
}

/// Equal for equal values, and for numbers that a server finds equal.
pub(crate) fn hash(value: &Bson) -> u64 {
    match number(value) {
        Some(number) => HASHER.hash_one(number.to_bits()),
        None => HASHER.hash_one(value.to_string()),
    }
}

/// Entries in the order of their keys, which does not matter to a server.
fn by_key(document: &Document) -> Vec<(&String, &Bson)> {
    let mut entries: Vec<_> = document.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
}

/// Whether a document has operators in place of fields.
fn is_operators(document: &Document) -> bool {
    document.keys().next().is_some_and(|key| key.starts_with('$') && key != "$ref" && key != "$id")
}

/// Whether a text is a word of the language: a unit of time, a day or a type.
fn is_word(text: &str) -> bool {
    let words = "year quarter month week day hour minute second millisecond sunday monday sun mon \
        int long double decimal string bool date objectId";
    words.split_whitespace().any(|word| word == text)
}

/// Whether these are the options of `$map`, `$filter` or `$reduce`, which name a variable.
fn is_loop(options: &Document) -> bool {
    options.keys().all(|key| ["input", "as", "in", "cond", "limit"].contains(&key.as_str()))
}

pub(crate) fn number(value: &Bson) -> Option<f64> {
    match value {
        Bson::Int32(number) => Some(f64::from(*number)),
        Bson::Int64(number) => Some(*number as f64),
        Bson::Double(number) => Some(*number),
        _ => None,
    }
}

/// A whole number, of whatever type.
pub(crate) fn whole(value: &Bson) -> Option<i64> {
    number(value).filter(|number| number.fract() == 0.0).map(|number| number as i64)
}

pub(crate) fn is_true(value: &Bson) -> bool {
    match value {
        Bson::Boolean(flag) => *flag,
        Bson::Null => false,
        other => number(other) != Some(0.0),
    }
}
