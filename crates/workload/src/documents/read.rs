//! Reads collections from the file: documents, their fields, indexes.

use crate::documents::bson;
use crate::documents::field::{BLOCK, Field, MOST_LENGTH, Number, Pick, Shape, Text};
use crate::documents::finite::{Finite, Shares};
use crate::documents::law::Law;
use crate::documents::literal::{Literal, index_keys, index_name, write_document};
use crate::documents::time_series::TimeSeries;
use crate::stream::scatter;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use plimsoll_record::quantities::units;
use std::sync::Arc;

/// The most collections of a workload.
pub const MOST_COLLECTIONS: usize = 32;
/// The date of the last document is that of the begin of the run.
pub(crate) const NOW: &str = "now";
/// What stands for it before a run begins: 2026-01-01, in milliseconds since 1970.
const UNTIL_NOW: f64 = 1_767_225_600_000.0;
/// The most values of a field with unequal shares, which a table holds in memory.
pub const MOST_WEIGHTED: u64 = 20_000_000;
/// The most documents of a collection.
const MOST_DOCUMENTS: u64 = 1_000_000_000_000;
/// What a load sends in one command, in bytes, about, and in documents at most.
const BATCH_BYTES: f64 = 1e6;
const BATCH_DOCUMENTS: f64 = 1_000.0;
/// For `hotspot`: the share of values that have this share of documents.
const HOT_VALUES: f64 = 0.2;
const HOT_DOCUMENTS: f64 = 0.8;

const KINDS: [&str; 16] = [
    "int",
    "double",
    "decimal",
    "text",
    "bytes",
    "date",
    "object_id",
    "uuid",
    "bool",
    "null",
    "value",
    "choice",
    "key_of",
    "copy_of",
    "document",
    "list",
];
const MODIFIERS: [&str; 9] = [
    "distinct",
    "skew",
    "unique",
    "present",
    "follows",
    "digits",
    "prefix",
    "compressible",
    "length",
];

/// Whether a map is the generator of a list's items, and not the fields of documents in it.
pub fn is_generator(item: &Literal) -> bool {
    let known = |key: &str| KINDS.contains(&key) || MODIFIERS.contains(&key);
    item.entries().iter().all(|(key, _)| known(key))
}

/// Something in a description of documents or operations that cannot be, and where: the keys that lead there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentProblem {
    /// Keys from `collections` or `operations` on; of an item of a list its number.
    pub path: Vec<String>,
    /// What is wrong, and what to write instead.
    pub what: String,
}

/// A collection, ready to make documents.
#[derive(Clone, Debug)]
pub(crate) struct Collection {
    pub(crate) name: Box<str>,
    pub(crate) records: u64,
    /// In the order of the file, `_id` first.
    pub(crate) fields: Vec<Arc<Field>>,
    /// Without the index of `_id`, which every collection has.
    pub(crate) indexes: Vec<Index>,
    /// Options of `create`, as they are given.
    pub(crate) options: Vec<(String, Literal)>,
    pub(crate) time_series: Option<TimeSeries>,
    /// Seconds after which documents of a time series are removed.
    pub(crate) expire_after: Option<i64>,
    /// Documents in one command of the load.
    pub(crate) batch: u32,
    /// Mean size of a document in BSON.
    pub(crate) mean_bytes: f64,
}

/// An index of a collection.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(crate) keys: Vec<(String, Literal)>,
    /// A BSON document for `createIndexes`.
    pub(crate) order: Vec<u8>,
    /// Whether the server removes documents by it.
    pub(crate) expires: bool,
}

impl Collection {
    /// The field with this path, such as `address.city`; none within lists, or within what not all documents have, or what they share.
    pub(crate) fn field(&self, path: &str) -> Option<&Arc<Field>> {
        let mut fields = &self.fields;
        let mut names = path.split('.').peekable();
        loop {
            let name = names.next()?;
            let field = fields.iter().find(|field| &*field.name == name)?;
            if names.peek().is_none() {
                return Some(field);
            }
            // Where documents share whole documents, nothing is known of their fields.
            let is_of_each = field.present.is_none() && !matches!(field.pick, Pick::Finite(_));
            match &field.shape {
                Shape::Document(inner) if is_of_each => fields = inner,
                _ => return None,
            }
        }
    }

    /// The part of a path that leads to the first list in it.
    pub(crate) fn list_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        let mut fields = &self.fields;
        let mut end = 0;
        for name in path.split('.') {
            end += name.len();
            match &fields.iter().find(|field| &*field.name == name)?.shape {
                Shape::List { .. } => return Some(&path[..end]),
                Shape::Document(inner) => fields = inner,
                _ => return None,
            }
            end += 1;
        }
        None
    }

    pub(crate) fn field_names(&self) -> String {
        let names: Vec<&str> = self.fields.iter().map(|field| &*field.name).collect();
        names.join(", ")
    }

    pub(crate) fn write_document(&self, number: u64, out: &mut Vec<u8>) {
        let at = bson::begin(out);
        for field in &self.fields {
            field.write(number, out);
        }
        bson::end(at, out);
    }
}

pub(crate) struct Reading {
    pub(crate) problems: Vec<DocumentProblem>,
    pub(crate) seed: u64,
    /// Name, number of documents and `_id` of each collection.
    pub(crate) ids: Vec<(String, u64, Arc<Field>)>,
    /// Collections that were read, whose fields can be copied.
    before: Vec<Collection>,
    pub(crate) path: Vec<String>,
}

impl Reading {
    pub(crate) fn new(seed: u64) -> Self {
        Self { problems: Vec::new(), seed, ids: Vec::new(), before: Vec::new(), path: Vec::new() }
    }

    pub(crate) fn wrong<T>(&mut self, what: impl Into<String>) -> Option<T> {
        self.problems.push(DocumentProblem { path: self.path.clone(), what: what.into() });
        None
    }

    /// Reads something below a key.
    pub(crate) fn at<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        self.path.push(key.into());
        let found = read(self);
        self.path.pop();
        found
    }

    /// Reports keys that nobody reads.
    pub(crate) fn known_keys(&mut self, map: &Literal, known: &[&str]) {
        for (key, _) in map.entries() {
            if !known.contains(&key.as_str()) {
                let list = known.join(", ");
                self.at(key, |reading| {
                    reading.wrong::<()>(format!("there is no key `{key}` here; there are {list}"))
                });
            }
        }
    }

    /// The key of the streams below this path.
    fn key(&self) -> u64 {
        let bytes = self.path.iter().flat_map(|part| part.bytes().chain([0]));
        bytes.fold(scatter(self.seed), |key, byte| scatter(key ^ u64::from(byte)))
    }

    pub(crate) fn collections(&mut self, all: &Literal) -> Vec<Collection> {
        let entries = all.entries();
        if entries.is_empty() {
            self.wrong::<()>(
                "name at least one collection, such as `orders: {records: 100k, document: {...}}`",
            );
        }
        if entries.len() > MOST_COLLECTIONS {
            self.wrong::<()>(format!("there can be {MOST_COLLECTIONS} collections at most"));
            return Vec::new();
        }
        // References lead to the `_id` of any collection, also of a later one.
        for (name, collection) in entries {
            self.path.push(name.clone());
            let records = self.records(collection);
            let id = match collection.get("document").and_then(|document| document.get("_id")) {
                Some(id) => self.at("document", |reading| reading.field("_id", id, 1, &[])),
                None => Some(Arc::new(
                    self.at("_id", |reading| Some(reading.own_id()))
                        .unwrap_or_else(|| unreachable!("it always gives one")),
                )),
            };
            if let Some(records) = records
                && let Some(id) = id
            {
                self.ids.push((name.clone(), records, id));
            }
            self.path.pop();
        }
        // Problems of an `_id` are reported below once more.
        self.problems.clear();
        for (name, collection) in entries {
            let read = self.at(name, |reading| reading.collection(name, collection));
            self.before.extend(read);
        }
        std::mem::take(&mut self.before)
    }

    fn own_id(&self) -> Field {
        Field {
            name: "_id".into(),
            key: self.key(),
            present: None,
            pick: Pick::Unique,
            shape: Shape::ObjectId,
        }
    }

    fn records(&mut self, collection: &Literal) -> Option<u64> {
        let Some(given) = collection.get("records") else {
            return self.wrong("say how many documents it has: `records: 100k`");
        };
        self.at("records", |reading| {
            let count = given.scalar().and_then(|text| units::parse_count(&text).ok());
            match count {
                Some(count) if (1..=MOST_DOCUMENTS).contains(&count) => Some(count),
                _ => reading.wrong("a whole number from 1 on, such as 100k"),
            }
        })
    }

    fn collection(&mut self, name: &str, given: &Literal) -> Option<Collection> {
        if name.is_empty()
            || name.starts_with("system.")
            || name.contains(['$', '\0'])
            || name.len() > 100
        {
            return self.wrong("no server takes this name for a collection");
        }
        self.known_keys(
            given,
            &["records", "document", "indexes", "options", "time_series", "expire_after"],
        );
        let records = self.records(given)?;
        let Some(document) = given.get("document") else {
            return self.wrong("say what its documents are: `document: {name: {text: 20}, ...}`");
        };
        let mut fields = self.at("document", |reading| reading.fields(document, records))?;
        match fields.iter().position(|field| &*field.name == "_id") {
            Some(at) => {
                let id = fields.remove(at);
                if !matches!(id.pick, Pick::Unique) || id.present.is_some() {
                    return self.at("document", |reading| {
                        reading.at("_id", |reading| {
                            reading.wrong(
                                "every document needs an `_id` of its own: `{object_id: }`, `{int: sequence}`, `{uuid: }` or `{text: 24, unique: true}`",
                            )
                        })
                    });
                }
                fields.insert(0, id);
            }
            None => {
                let id = self.at("_id", |reading| Some(reading.own_id()))?;
                fields.insert(0, Arc::new(id));
            }
        }
        let mut collection = Collection {
            name: name.into(),
            records,
            fields,
            indexes: Vec::new(),
            options: Vec::new(),
            time_series: None,
            expire_after: None,
            batch: 1,
            mean_bytes: 0.0,
        };
        if let Some(series) = given.get("time_series") {
            collection.time_series =
                Some(self.at("time_series", |reading| reading.time_series(series, &collection))?);
        }
        self.choices(given, &mut collection);
        let mut out = Vec::new();
        let sample = 256.min(records);
        for number in 0..sample {
            collection.write_document(records / sample * number, &mut out);
        }
        collection.mean_bytes = out.len() as f64 / sample as f64;
        collection.batch = (BATCH_BYTES / collection.mean_bytes).clamp(1.0, BATCH_DOCUMENTS) as u32;
        Some(collection)
    }

    /// What arms may choose of a collection: its indexes and options, where they are given.
    pub(crate) fn choices(&mut self, given: &Literal, collection: &mut Collection) {
        if let Some(indexes) = given.get("indexes") {
            collection.indexes.clear();
            self.at("indexes", |reading| reading.indexes(indexes, collection));
        }
        if let Some(options) = given.get("options") {
            collection.options =
                self.at("options", |reading| reading.options(options)).unwrap_or_default();
        }
        if let Some(after) = given.get("expire_after") {
            collection.expire_after =
                self.at("expire_after", |reading| reading.expire_after(after, collection));
        }
    }

    fn options(&mut self, given: &Literal) -> Option<Vec<(String, Literal)>> {
        let Literal::Map(entries) = given else {
            return self
                .wrong("options of MongoDB's `create`, such as `{validator: {total: {$gte: 0}}}`");
        };
        for (key, _) in entries {
            let why = match key.as_str() {
                "capped" | "size" | "max" => "capped collections are not supported",
                "timeseries" => "`time_series: {time: at}` of the collection makes a time series",
                "expireAfterSeconds" => "`expire_after` of the collection says it",
                "viewOn" | "pipeline" => "views are not supported",
                "create" | "writeConcern" | "comment" => "the server keeps no such option",
                "" => "an option has a name",
                key if key.contains(['$', '\0']) => "an option has no `$` in its name",
                _ => continue,
            };
            self.at(key, |reading| reading.wrong::<()>(format!("{why}: leave out `{key}`")));
        }
        Some(entries.clone())
    }

    fn indexes(&mut self, given: &Literal, collection: &mut Collection) -> Option<()> {
        let Literal::List(items) = given else {
            return self.wrong("a list of indexes, such as `[{customer: 1, placed: -1}]`");
        };
        for (number, item) in items.iter().enumerate() {
            self.path.push(number.to_string());
            let (keys, long) = index_keys(item);
            if keys.is_empty() {
                self.wrong::<()>("an index needs fields, such as `{customer: 1, placed: -1}`");
            }
            if long {
                self.known_keys(item, &["keys", "unique", "sparse", "only", "expire_after"]);
            }
            for (field, direction) in keys {
                let direction = direction.scalar().unwrap_or_default();
                if !matches!(direction.as_str(), "1" | "-1" | "hashed" | "text" | "2dsphere") {
                    self.at(field, |reading| {
                        reading.wrong::<()>("the direction of an index is 1 or -1; or `hashed`")
                    });
                }
                let first = field.split('.').next().unwrap_or_default();
                let is_there = first.starts_with("$**")
                    || collection.fields.iter().any(|known| &*known.name == first);
                if !is_there {
                    let names = collection.field_names();
                    self.at(field, |reading| {
                        reading.wrong::<()>(format!(
                            "its documents have no field `{first}`; they have {names}"
                        ))
                    });
                }
            }
            self.refused_lists(keys, collection);
            if long {
                self.refused_index(item, keys, collection);
            }
            let name = index_name(keys);
            let mut spec: Vec<(String, Literal)> = vec![
                ("key".into(), Literal::Map(keys.to_vec())),
                ("name".into(), Literal::Text(name.clone())),
            ];
            for option in ["unique", "sparse"] {
                if long && let Some(value) = item.get(option) {
                    spec.push((option.into(), value.clone()));
                }
            }
            if long && let Some(only) = item.get("only") {
                spec.push(("partialFilterExpression".into(), only.clone()));
            }
            if collection.time_series.is_some()
                && ["unique", "expire_after"].iter().any(|key| long && item.get(key).is_some())
            {
                self.wrong::<()>("no server has such an index of a time series; `expire_after` of the collection removes old documents");
            }
            if long && let Some(after) = item.get("expire_after") {
                let seconds = after.scalar().and_then(|text| units::parse_duration(&text).ok());
                match seconds {
                    Some(ns) if keys.len() == 1 => {
                        let seconds = (ns / 1_000_000_000) as i64;
                        spec.push(("expireAfterSeconds".into(), Literal::Int(seconds)));
                    }
                    Some(_) => {
                        self.wrong::<()>("`expire_after` needs an index of one field");
                    }
                    None => {
                        self.wrong::<()>("`expire_after` is a duration, such as 30m");
                    }
                }
            }
            if collection.indexes.iter().any(|known| known.name == name) {
                self.wrong::<()>("this index occurs twice");
            }
            let mut out = Vec::new();
            write_document(&spec, &mut out);
            let expires = spec.iter().any(|(key, _)| key == "expireAfterSeconds");
            collection.indexes.push(Index { name, keys: keys.to_vec(), order: out, expires });
            self.path.pop();
        }
        Some(())
    }

    /// The fields of a document, in order.
    fn fields(&mut self, document: &Literal, records: u64) -> Option<Vec<Arc<Field>>> {
        if document.entries().is_empty() {
            return self.wrong("fields with their generators, such as `{name: {text: 20}}`");
        }
        let mut fields: Vec<Arc<Field>> = Vec::new();
        let mut whole = true;
        for (name, given) in document.entries() {
            match self.field(name, given, records, &fields) {
                Some(field) => fields.push(field),
                None => whole = false,
            }
        }
        whole.then_some(fields)
    }

    /// One field. `before` are the fields of the same document that come before it.
    fn field(
        &mut self,
        name: &str,
        given: &Literal,
        records: u64,
        before: &[Arc<Field>],
    ) -> Option<Arc<Field>> {
        self.at(name, |reading| {
            if name.is_empty() || name.starts_with('$') || name.contains(['.', '\0']) {
                return reading.wrong("a field of a document cannot have this name");
            }
            let field = reading.generator(name, given, records, before)?;
            Some(Arc::new(field))
        })
    }

    /// The value of a field: one kind with its modifiers.
    pub(crate) fn generator(
        &mut self,
        name: &str,
        given: &Literal,
        records: u64,
        before: &[Arc<Field>],
    ) -> Option<Field> {
        if !matches!(given, Literal::Map(_)) {
            return self.wrong(format!(
                "documents are described by generators: write `{{value: {}}}` for what is always the same, or for example `{{text: 20}}`",
                given.scalar().unwrap_or_else(|| "...".into())
            ));
        }
        let kinds: Vec<&(String, Literal)> =
            given.entries().iter().filter(|(key, _)| KINDS.contains(&key.as_str())).collect();
        let known: Vec<&str> = KINDS.iter().chain(&MODIFIERS).copied().collect();
        self.known_keys(given, &known);
        let [(kind, value)] = kinds.as_slice() else {
            let list = KINDS.join(", ");
            if kinds.is_empty() && !given.entries().is_empty() {
                // An unknown kind was named already.
                let of_kind = |(key, _): &&(String, Literal)| !MODIFIERS.contains(&key.as_str());
                if given.entries().iter().any(|entry| of_kind(&entry)) {
                    return None;
                }
            }
            return self.wrong(if kinds.is_empty() {
                format!("a field needs one of {list}")
            } else {
                format!("a field has one kind of value, here are {}", kinds.len())
            });
        };
        if kind == "copy_of" {
            return self.copy(name, value, given, before);
        }
        let distinct = match given.get("distinct") {
            None => None,
            Some(count) => Some(self.at("distinct", |reading| {
                let count = count.scalar().and_then(|text| units::parse_count(&text).ok());
                match count {
                    Some(count) if (1..=records).contains(&count) => Some(count),
                    Some(_) => reading.wrong(format!(
                        "there are {records} documents, so `distinct` is from 1 to {records} values"
                    )),
                    None => reading.wrong("a whole number, such as 100k"),
                }
            })?),
        };
        let unique = given.get("unique") == Some(&Literal::Bool(true));
        if let "value" | "null" = kind.as_str()
            && (unique || distinct.is_some())
        {
            let modifier = if unique { "unique" } else { "distinct" };
            return self.wrong(format!("`{kind}` is always the same: leave out `{modifier}`"));
        }
        if let "bool" | "choice" | "key_of" = kind.as_str()
            && unique
        {
            return self
                .wrong(format!("documents share the values of `{kind}`: leave out `unique`"));
        }
        if unique && distinct.is_some() {
            return self.wrong("`unique` gives each document a value of its own, `distinct` shares them: leave out one");
        }
        let (shape, natural) = self
            .at(kind, |reading| reading.shape(kind, value, given, (distinct, unique), records))?;
        let shares = match (&natural, distinct) {
            (Natural::Shares(shares), None) => Some(shares.clone()),
            (Natural::Shares(_), Some(_)) => {
                return self
                    .wrong(format!("`{kind}` has its values already: leave out `distinct`"));
            }
            (Natural::Reference(values), _) => Some(self.skew(given, distinct.unwrap_or(*values))?),
            (_, Some(values)) => Some(self.skew(given, values)?),
            (_, None) => None,
        };
        if shares.is_none() && given.get("skew").is_some() {
            return self.wrong("`skew` says how documents share values: it needs `distinct`");
        }
        let mut key = self.key();
        let pick = match shares {
            Some(shares) => {
                let mut permutation = key;
                if let Some(leader) = given.get("follows").and_then(Literal::scalar) {
                    let found = before.iter().find(|field| *field.name == *leader);
                    permutation = match found.map(|field| &field.pick) {
                        Some(Pick::Finite(finite)) => finite.key(),
                        Some(_) => {
                            return self.wrong(format!("`{leader}` has no known number of values to follow: give it `distinct`"));
                        }
                        None => {
                            return self.wrong(format!(
                                "no field `{leader}` stands before this one in the same document"
                            ));
                        }
                    };
                }
                Pick::Finite(Finite::new(records, permutation, &shares))
            }
            None if given.get("follows").is_some() => {
                return self.wrong("`follows` needs a known number of values: give it `distinct`");
            }
            None if unique || matches!(natural, Natural::Unique) => Pick::Unique,
            None => Pick::Free,
        };
        if matches!(shape, Shape::KeyOf(_) | Shape::Document(_)) {
            key = 0;
        }
        let present = match given.get("present") {
            None => None,
            Some(share) => {
                let share = self.at("present", |reading| reading.share(share))?;
                let weights = Shares::Weights(vec![1.0 - share, share]);
                Some(Finite::new(records, scatter(self.key() ^ 1), &weights))
            }
        };
        Some(Field { name: name.into(), key, present, pick, shape })
    }

    /// A field of the document to which a field of the same document refers: `product.price`.
    fn copy(
        &mut self,
        name: &str,
        value: &Literal,
        given: &Literal,
        before: &[Arc<Field>],
    ) -> Option<Field> {
        if let Some((modifier, _)) = given.entries().iter().find(|(key, _)| key != "copy_of") {
            return self.wrong(format!("a copy is what it copies: leave out `{modifier}`"));
        }
        let path = value.scalar().unwrap_or_default();
        let Some((leader, rest)) = path.split_once('.') else {
            return self.wrong("a reference of the same document and a field of what it refers to, such as `product.price`");
        };
        let found = before.iter().find(|field| *field.name == *leader);
        let Some((reference, Shape::KeyOf(id))) = found.map(|field| (field, &field.shape)) else {
            return self.wrong(format!(
                "no field `{leader}` with `key_of` stands before this one in the same document"
            ));
        };
        let known = self.ids.iter().find(|(.., other)| other.key == id.key);
        let of = known.map(|(of, ..)| of.clone()).unwrap_or_default();
        let Some(collection) = self.before.iter().find(|known| *known.name == *of) else {
            return self.wrong(format!("describe the collection `{of}` before this one"));
        };
        let Some(field) = collection.field(rest) else {
            return self
                .wrong(format!("documents of `{of}` have no field `{rest}` that can be copied"));
        };
        let shape = Shape::Copy { reference: Arc::clone(reference), of: Arc::clone(field) };
        Some(Field { name: name.into(), key: 0, present: None, pick: Pick::Free, shape })
    }

    fn share(&mut self, given: &Literal) -> Option<f64> {
        match given.scalar().and_then(|text| units::parse_share(&text).ok()) {
            Some(share) if (0.0..=1.0).contains(&share) => Some(share),
            _ => self.wrong("a share from 0 to 100 %, such as 25%"),
        }
    }

    /// How documents spread over values.
    fn skew(&mut self, given: &Literal, values: u64) -> Option<Shares> {
        let Some(skew) = given.get("skew") else {
            return Some(Shares::Even(values));
        };
        self.at("skew", |reading| {
            let hot = match skew.scalar().as_deref() {
                Some("hotspot") => Some((HOT_VALUES, HOT_DOCUMENTS)),
                _ => match skew.get("hotspot") {
                    Some(hotspot) => Some((
                        reading.part_of("values", hotspot, HOT_VALUES)?,
                        reading.part_of("documents", hotspot, HOT_DOCUMENTS)?,
                    )),
                    None => None,
                },
            };
            let exponent = match skew.scalar().as_deref() {
                Some("uniform") => return Some(Shares::Even(values)),
                Some("zipfian") => Some(crate::zipfian::THETA),
                _ => skew.get("zipfian").and_then(quantity),
            };
            if values > MOST_WEIGHTED {
                return reading.wrong(format!(
                    "values of unequal shares are kept in memory: {MOST_WEIGHTED} at most"
                ));
            }
            if let Some((of_values, of_documents)) = hot {
                return Some(Shares::hotspot(values, of_values, of_documents));
            }
            match exponent {
                Some(exponent) if (0.0..=5.0).contains(&exponent) => {
                    Some(Shares::zipfian(values, exponent))
                }
                _ => reading.wrong(
                    "`uniform`, `zipfian`, `{zipfian: 0.7}` with an exponent from 0 to 5, `hotspot`, or `{hotspot: {values: 20%, documents: 80%}}`",
                ),
            }
        })
    }

    /// A share among others of a map, with a default.
    fn part_of(&mut self, key: &str, given: &Literal, default: f64) -> Option<f64> {
        self.known_keys(given, &["values", "documents"]);
        match given.get(key) {
            None => Some(default),
            Some(share) => self.at(key, |reading| reading.share(share)),
        }
    }

    /// The shape of a kind, and what it says about the number of its values.
    fn shape(
        &mut self,
        kind: &str,
        value: &Literal,
        given: &Literal,
        (distinct, unique): (Option<u64>, bool),
        records: u64,
    ) -> Option<(Shape, Natural)> {
        let spelled = distinct.or(unique.then_some(records));
        Some(match kind {
            "int" | "double" | "decimal" => {
                let (number, natural) = self.number(value, spelled)?;
                let digits = match given.get("digits").map(|digits| (digits, quantity(digits))) {
                    None => None,
                    Some((_, Some(digits))) if (0.0..=12.0).contains(&digits) => {
                        Some(digits as i32)
                    }
                    Some(_) => return self.wrong("`digits` are digits after the point, 0 to 12"),
                };
                if let Number::Steps { step, .. } = number {
                    let least = match (kind, digits) {
                        ("int", _) => 1.0,
                        ("double", None) => f64::MIN_POSITIVE,
                        (_, digits) => 10_f64.powi(-digits.unwrap_or(2)),
                    };
                    if step.abs() < least {
                        return self.wrong(format!(
                            "steps of {step} give several documents the same number: {least} at least"
                        ));
                    }
                }
                let shape = match kind {
                    "int" => Shape::Whole(number),
                    "double" => Shape::Double { number, digits },
                    _ => Shape::Decimal { number, digits: digits.unwrap_or(2) },
                };
                (shape, natural)
            }
            "text" | "bytes" => {
                let text = self.text(value, given, spelled)?;
                let shape = if kind == "text" { Shape::Text(text) } else { Shape::Bytes(text) };
                (shape, Natural::Free)
            }
            "date" => self.date(value, spelled, records)?,
            "object_id" => (Shape::ObjectId, Natural::Unique),
            "uuid" => (Shape::Uuid, Natural::Unique),
            "bool" => {
                let share = if *value == Literal::Null { 0.5 } else { self.share(value)? };
                (Shape::Bool, Natural::Shares(Shares::Weights(vec![1.0 - share, share])))
            }
            "null" => (Shape::Constant(Literal::Null), Natural::Free),
            "value" => (Shape::Constant(value.clone()), Natural::Free),
            "choice" => self.choice(value)?,
            "key_of" => {
                let name = value.scalar().unwrap_or_default();
                let Some((_, count, id)) = self.ids.iter().find(|(known, ..)| *known == name)
                else {
                    let names: Vec<&str> = self.ids.iter().map(|(name, ..)| &**name).collect();
                    let names = names.join(", ");
                    return self
                        .wrong(format!("there is no collection `{name}`; there are {names}"));
                };
                if distinct.is_some_and(|distinct| distinct > *count) {
                    let what = format!("`{name}` has {count} documents to refer to");
                    return self.wrong(what);
                }
                (Shape::KeyOf(Arc::clone(id)), Natural::Reference(*count))
            }
            "document" => (Shape::Document(self.fields(value, records)?), Natural::Free),
            _ => {
                let of = if is_generator(value) {
                    self.generator("item", value, records, &[])?
                } else {
                    let fields = self.fields(value, records)?;
                    Field {
                        name: "item".into(),
                        key: 0,
                        present: None,
                        pick: Pick::Free,
                        shape: Shape::Document(fields),
                    }
                };
                let Some(length) = given.get("length") else {
                    return self
                        .wrong("say how long the list is, such as `length: {uniform: [1, 5]}`");
                };
                let length = self.law(length)?;
                (Shape::List { of: Arc::new(of), length }, Natural::Free)
            }
        })
    }

    fn number(&mut self, value: &Literal, values: Option<u64>) -> Option<(Number, Natural)> {
        let is_sequence = value.scalar().as_deref() == Some("sequence");
        if is_sequence || value.get("sequence").is_some() {
            let part =
                |key| value.get("sequence").and_then(|steps| steps.get(key)).and_then(quantity);
            let number = Number::Steps {
                from: part("from").unwrap_or(0.0),
                step: part("step").unwrap_or(1.0),
            };
            return Some((number, Natural::Unique));
        }
        let law = self.law(value)?;
        match (values, law) {
            (None, law) => Some((Number::Law(law), Natural::Free)),
            (Some(values), Law::Uniform(from, to)) => {
                let step = ((to - from + 1.0) / values as f64).floor();
                if step < 1.0 {
                    return self.wrong(format!("there are no {values} whole numbers from {from} to {to}"));
                }
                Some((Number::Steps { from, step }, Natural::Free))
            }
            (Some(_), _) => self.wrong(
                "values that are counted are `sequence`, or `uniform: [a, b]`; leave out `distinct` and `unique` with another law",
            ),
        }
    }

    fn text(&mut self, value: &Literal, given: &Literal, values: Option<u64>) -> Option<Text> {
        let length = self.law(value)?;
        let least = length.least();
        if least < 0.0 || least > MOST_LENGTH as f64 {
            return self.wrong(format!("a length from 0 to {MOST_LENGTH}"));
        }
        let prefix = given.get("prefix").and_then(Literal::scalar).unwrap_or_default();
        if prefix.contains('\0') {
            return self.wrong("a prefix without NUL");
        }
        let spelled = match values {
            None => 0,
            Some(values) => {
                // Room to grow, where the length has it.
                let needed = (1..=12).find(|digits| 36_u64.pow(*digits) >= 2 * values);
                let room = (least as usize).saturating_sub(prefix.len()).min(11) as u32;
                match needed {
                    Some(needed) if needed <= room => room,
                    _ => {
                        return self.wrong(format!(
                            "texts of {least} characters are too short for {values} different ones"
                        ));
                    }
                }
            }
        };
        let repeated = match given.get("compressible") {
            None => 0,
            Some(share) => (self.share(share)? * BLOCK as f64).round() as usize,
        };
        Some(Text { prefix: prefix.into(), length, spelled, repeated })
    }

    fn date(
        &mut self,
        value: &Literal,
        values: Option<u64>,
        records: u64,
    ) -> Option<(Shape, Natural)> {
        if value.get("every").is_some() || value.get("until").is_some() {
            self.known_keys(value, &["every", "until"]);
            let every = value.get("every").and_then(Literal::scalar);
            let every = every.and_then(|text| units::parse_duration(&text).ok());
            let Some(every) = every.filter(|every| *every >= 1_000) else {
                return self.wrong(
                    "`every` is the time from one document to the next, such as 15s, and 1us at least",
                );
            };
            let until = value.get("until").and_then(Literal::scalar);
            let until = match until.as_deref() {
                Some(NOW) => Some(UNTIL_NOW),
                text => text.and_then(instant),
            };
            let Some(until) = until else {
                return self.wrong("`until` is the date of the last document, such as 2026-01-01, or `now` for the begin of each run");
            };
            let step = every as f64 / 1e6;
            let from = until - (records - 1) as f64 * step;
            // Dates have whole milliseconds, so that nearer documents have the same.
            let natural = if step < 1.0 { Natural::Free } else { Natural::Unique };
            return Some((Shape::Date(Number::Steps { from, step }), natural));
        }
        let ends = match value.get("uniform") {
            Some(Literal::List(ends)) => ends.iter().filter_map(Literal::scalar).collect(),
            _ => Vec::new(),
        };
        let ends: Vec<f64> = ends.iter().filter_map(|text| instant(text)).collect();
        let [from, to] = ends.as_slice() else {
            return self.wrong(
                "`{every: 15s, until: 2026-01-01}`, or `{uniform: [2024-01-01, 2026-01-01]}`",
            );
        };
        if from >= to {
            return self.wrong("the first date must come before the second");
        }
        Some(match values {
            None => (Shape::Date(Number::Law(Law::Uniform(*from, *to))), Natural::Free),
            Some(values) => {
                let step = ((to - from) / values as f64).floor().max(1.0);
                (Shape::Date(Number::Steps { from: *from, step }), Natural::Free)
            }
        })
    }

    fn choice(&mut self, value: &Literal) -> Option<(Shape, Natural)> {
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        match value {
            Literal::List(items) => {
                values.clone_from(items);
                weights.resize(items.len(), 1.0);
            }
            Literal::Map(entries) => {
                for (text, weight) in entries {
                    let weight = weight.scalar().and_then(|text| units::parse_share(&text).ok());
                    let Some(weight) = weight.filter(|weight| *weight >= 0.0) else {
                        return self
                            .at(text, |reading| reading.wrong("a weight, such as 15% or 3"));
                    };
                    values.push(Literal::of_scalar(text, false));
                    weights.push(weight);
                }
            }
            _ => {
                return self
                    .wrong("a list of values, or values with weights: `{open: 5%, sent: 95%}`");
            }
        }
        for (index, value) in values.iter().enumerate() {
            let mut others = values.iter().enumerate().filter(|(at, _)| *at != index);
            if let Some((_, other)) = others.find(|(_, other)| value.finds(other)) {
                return self.wrong(format!(
                    "a filter for {value} finds {other} too: leave out one of the two"
                ));
            }
        }
        if weights.iter().sum::<f64>() <= 0.0 {
            return self.wrong("give at least one value a weight above zero");
        }
        Some((Shape::Choice(values.into()), Natural::Shares(Shares::Weights(weights))))
    }

    fn law(&mut self, value: &Literal) -> Option<Law> {
        if let Some(constant) = quantity(value) {
            return Some(Law::Constant(constant));
        }
        let words = "a number, or `{uniform: [1, 9]}`, `{zipfian: [1, 9]}`, `{normal: {mean: 5, deviation: 2}}`, `{lognormal: {median: 5, p99: 20}}`, `{table: {p0: 1, p50: 3, p100: 9}}`";
        let [(law, given)] = value.entries() else {
            return self.wrong(words);
        };
        let pair = || match given {
            Literal::List(ends) => match ends.as_slice() {
                [least, most] => Some((quantity(least)?, quantity(most)?)),
                _ => None,
            },
            _ => None,
        };
        let part = |key| given.get(key).and_then(quantity);
        let found = match law.as_str() {
            "uniform" | "zipfian" => match pair() {
                Some((least, most)) if least > most => {
                    return self.wrong(format!("{least} is above {most}"));
                }
                Some((least, most)) if law == "uniform" => Some(Law::Uniform(least, most)),
                Some((least, most)) if most - least < 1e9 => Some(Law::zipfian(least, most)),
                _ => None,
            },
            "normal" => match (part("mean"), part("deviation")) {
                (Some(mean), Some(deviation)) if deviation >= 0.0 => {
                    Some(Law::Normal { mean, deviation })
                }
                _ => None,
            },
            "lognormal" => match (part("median"), part("p99")) {
                (Some(median), Some(p99)) if median > 0.0 && p99 > median => {
                    Some(Law::lognormal(median, p99))
                }
                (Some(_), Some(_)) => return self.wrong("a positive median, and a p99 above it"),
                _ => None,
            },
            "table" => {
                let mut points = Vec::new();
                for (share, value) in given.entries() {
                    let share = share.strip_prefix('p').and_then(|text| text.parse::<f64>().ok());
                    points.extend(share.map(|share| share / 100.0).zip(quantity(value)));
                }
                let rises =
                    points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
                let ends = (points.first().map(|first| first.0), points.last().map(|last| last.0));
                if points.len() != given.entries().len() || !rises || ends != (Some(0.0), Some(1.0))
                {
                    return self.wrong(
                        "quantiles that rise from p0 to p100, such as `{p0: 1, p50: 3, p100: 9}`",
                    );
                }
                Some(Law::Table(points))
            }
            _ => None,
        };
        match found {
            Some(law) => Some(law),
            None => self.wrong(words),
        }
    }
}

/// What a kind says about the number of its values.
enum Natural {
    Free,
    Unique,
    Shares(Shares),
    /// One for each document of another collection.
    Reference(u64),
}

/// A number in any of the ways in which files write them: `5`, `2.7kB`, `100k`, `5%`.
pub(crate) fn quantity(value: &Literal) -> Option<f64> {
    let text = value.scalar()?;
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let count = units::parse_count(&text).or_else(|_| units::parse_size(&text));
    count.map(|count| count as f64).ok().or_else(|| units::parse_share(&text).ok())
}

/// Milliseconds since 1970 of a date, or of a date and time, in UTC.
fn instant(text: &str) -> Option<f64> {
    let moment: Timestamp = match text.parse::<Timestamp>() {
        Ok(moment) => moment,
        Err(_) => {
            let civil = text
                .parse::<DateTime>()
                .or_else(|_| text.parse::<Date>().map(|date| date.at(0, 0, 0, 0)))
                .ok()?;
            civil.to_zoned(TimeZone::UTC).ok()?.timestamp()
        }
    };
    Some(moment.as_millisecond() as f64)
}
