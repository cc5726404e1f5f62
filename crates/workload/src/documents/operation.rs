//! Reads operations from the file: a command with its parameters, and what it must find.

use crate::ask::Expected;
use crate::documents::bson;
use crate::documents::field::{Field, Number, Pick, Shape};
use crate::documents::literal::Literal;
use crate::documents::read::{Collection, Reading, quantity};
use crate::documents::template::{Drawn, Parameter, Part, Template, parameters_of};
use crate::mix::RequestDistribution;
use plimsoll_record::quantities::units;
use plimsoll_record::{OwnOperation, StatementKind};
use std::sync::Arc;

/// The most operations of a workload.
pub const MOST_OPERATIONS: usize = 32;
/// The most documents that one operation inserts.
const MOST_INSERTED: f64 = 100_000.0;
/// Documents for each value of a field that not all documents have, from which on hardly any value has none.
const MANY_EACH: u64 = 4;

/// How a value of `by` is drawn where each document is as likely as any other: as often as documents have it.
const DOCUMENTS: &str = "documents";

/// Names with a meaning of their own in exports.
const TAKEN: [&str; 3] = ["overall", "verify", "load"];

const COMMON: [&str; 5] = ["by", "keys", "filter", "with", "empty"];
/// Keys of every operation; those of the other kind of operation are refused with their reason.
const CONCERNS: [&str; 4] = ["read_concern", "write_concern", "read_preference", "max_time"];

/// An operation, ready to be drawn.
#[derive(Clone, Debug)]
pub(crate) struct OwnStatement {
    pub(crate) operation: OwnOperation,
    pub(crate) collection: usize,
    pub(crate) template: Template,
    pub(crate) parameters: Vec<Parameter>,
    /// Place of the parameter that `by` names.
    by: Option<usize>,
    pub(crate) limit: u32,
    pub(crate) inserts: u32,
    pub(crate) known: Known,
    /// What is known where no index removes documents of its collection.
    known_to_stay: Known,
    /// Whether inserts give values to the field by which it is found.
    pub(crate) is_given: bool,
    /// Fields that it gives new values.
    pub(crate) changes: Vec<String>,
    /// The read concern whose reads may lack acknowledged documents.
    pub(crate) lagging: Option<&'static str>,
    /// The mode of its read preference, unless it reads from the primary.
    pub(crate) reads_at: Option<&'static str>,
    /// The statements of a transaction or of steps. The parameters of each begin with those of the whole.
    pub(crate) parts: Vec<OwnStatement>,
    /// How often a transaction is sent again.
    pub(crate) retries: u32,
}

impl OwnStatement {
    pub(crate) fn new(
        operation: OwnOperation,
        collection: usize,
        parameters: Vec<Parameter>,
    ) -> Self {
        Self {
            operation,
            collection,
            template: Template::default(),
            parameters,
            by: None,
            limit: 0,
            inserts: 0,
            known: Known::Any("it has a filter of its own"),
            known_to_stay: Known::Any("it has a filter of its own"),
            is_given: false,
            changes: Vec::new(),
            lagging: None,
            reads_at: None,
            parts: Vec::new(),
            retries: 0,
        }
    }

    /// The statements that it sends, each with its collection: those of a transaction or of steps, otherwise itself.
    pub(crate) fn statements(&self) -> &[Self] {
        if self.parts.is_empty() { std::slice::from_ref(self) } else { &self.parts }
    }

    fn statements_mut(&mut self) -> &mut [Self] {
        if self.parts.is_empty() { std::slice::from_mut(self) } else { &mut self.parts }
    }

    /// How the number of documents is verified, in words.
    pub(crate) fn verified(&self) -> String {
        if !self.parts.is_empty() {
            let parts = self.parts.iter().enumerate();
            let parts: Vec<String> =
                parts.map(|(index, part)| format!("{}: {}", index + 1, part.verified())).collect();
            return parts.join("; ");
        }
        let mut words = self.known.words();
        if self.is_given && !matches!(self.known, Known::Any(_)) {
            words += "; inserts give the field values, so documents of the load must be found and inserted ones may be";
        }
        match (self.lagging, &self.known) {
            (None, _) | (_, Known::Any(_)) => words,
            (Some(level), _) => format!(
                "{words}; reads at `{level}` may lack the newest documents, so only those of the load must be found"
            ),
        }
    }
}

/// What is known of how many documents an operation finds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Known {
    /// As many as have the value of this parameter, at most `most`.
    Having {
        parameter: usize,
        most: u64,
    },
    Exactly(u64),
    Some(&'static str),
    Any(&'static str),
}

impl Known {
    /// How the number of documents is verified, in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Having { .. } | Self::Exactly(_) => "each count is verified".into(),
            Self::Some(why) => {
                format!("at least one must be found; the number is not known: {why}")
            }
            Self::Any(why) => format!("not verified: {why}"),
        }
    }
}

impl Reading {
    pub(crate) fn operations(
        &mut self,
        all: &Literal,
        collections: &[Collection],
    ) -> Vec<OwnStatement> {
        let entries = all.entries();
        if entries.is_empty() {
            self.wrong::<()>(
                "name at least one operation, such as `by-customer: {find: orders, by: customer}`",
            );
        }
        if entries.len() > MOST_OPERATIONS {
            self.wrong::<()>(format!("there can be {MOST_OPERATIONS} operations at most"));
            return Vec::new();
        }
        let mut operations = Vec::new();
        for (name, given) in entries {
            let read = self.at(name, |reading| reading.operation(name, given, collections));
            operations.extend(read);
        }
        loosen(&mut operations);
        loosen_expiring(&mut operations, collections);
        operations
    }

    fn operation(
        &mut self,
        name: &str,
        given: &Literal,
        collections: &[Collection],
    ) -> Option<OwnStatement> {
        let mut kinds =
            StatementKind::ALL.into_iter().filter(|kind| given.get(kind.word()).is_some());
        match (kinds.next(), kinds.next()) {
            (Some(kind @ (StatementKind::Transaction | StatementKind::Steps)), None) => {
                self.sequence(kind, name, given, collections)
            }
            _ => self.statement(name, given, collections, &[]),
        }
    }

    /// What an operation is called and what it does.
    pub(crate) fn named(&mut self, kind: StatementKind, name: &str) -> Option<OwnOperation> {
        let operation = match OwnOperation::new(kind, name) {
            Ok(operation) => operation,
            Err(error) => return self.wrong(error.to_string()),
        };
        if TAKEN.contains(&name) {
            return self
                .wrong(format!("`{name}` means something else in reports: choose another name"));
        }
        Some(operation)
    }

    /// An operation by itself or within a sequence, whose parameters are then `shared`.
    pub(crate) fn statement(
        &mut self,
        name: &str,
        given: &Literal,
        collections: &[Collection],
        shared: &[Parameter],
    ) -> Option<OwnStatement> {
        let kinds: Vec<(StatementKind, &Literal)> = StatementKind::ALL
            .into_iter()
            .filter_map(|kind| Some((kind, given.get(kind.word())?)))
            .collect();
        let [(kind, place)] = kinds.as_slice() else {
            let list = StatementKind::ALL.map(StatementKind::word).join(", ");
            return self.wrong(format!(
                "an operation is one of {list}, with the name of a collection: `find: orders`"
            ));
        };
        let operation = self.named(*kind, name)?;
        let place = place.scalar().unwrap_or_default();
        let Some(index) = collections.iter().position(|known| *known.name == *place) else {
            let names: Vec<&str> = collections.iter().map(|known| &*known.name).collect();
            let names = names.join(", ");
            return self.at(kind.word(), |reading| {
                reading.wrong(format!("there is no collection `{place}`; there are {names}"))
            });
        };
        let collection = &collections[index];
        let own: &[&str] = match kind {
            StatementKind::Find => &["sort", "limit", "project", "batch", "hint"],
            StatementKind::Aggregate => &["pipeline", "batch", "hint"],
            StatementKind::Count => &["limit", "hint"],
            StatementKind::Distinct => &["field"],
            StatementKind::Insert => &["documents", "values", "with"],
            StatementKind::Update => &["set", "change", "many", "upsert", "hint"],
            StatementKind::Delete => &["many", "hint"],
            StatementKind::FindAndModify => &["set", "change", "sort", "new", "hint"],
            StatementKind::Transaction | StatementKind::Steps => &[],
        };
        let common: &[&str] = if *kind == StatementKind::Insert { &[] } else { &COMMON };
        let known: Vec<&str> =
            [kind.word()].iter().chain(common).chain(own).chain(&CONCERNS).copied().collect();
        self.known_keys(given, &known);
        let mut statement = OwnStatement::new(operation, index, shared.to_vec());
        statement.limit = self.whole(given, "limit", 1_000_000.0)?;
        let before = self.problems.len();
        self.parameters(given, collection, &mut statement)?;
        if self.problems.len() > before {
            // What uses a parameter that could not be read is not wrong.
            return None;
        }
        self.known(given, collection, &mut statement);
        self.command(given, collection, &mut statement)?;
        if self.problems.len() == before {
            self.hint(given, collection);
        }
        if let Some(series) = &collection.time_series {
            let in_transaction = self.path.iter().any(|key| key == "transaction");
            self.on_time_series(*kind, given, series, &statement, in_transaction);
        }
        Some(statement)
    }

    /// Verifies that the index exists that an operation hints at.
    pub(crate) fn hint(&mut self, given: &Literal, collection: &Collection) {
        let Some(hint) = given.get("hint") else {
            return;
        };
        let is_there = match hint {
            Literal::Map(keys) => {
                let is_same = |(one, other): (&(String, Literal), &(String, Literal))| {
                    one.0 == other.0 && one.1.scalar() == other.1.scalar()
                };
                let of_id = [("_id".to_owned(), Literal::Int(1))];
                let is_index = |known: &[(String, Literal)]| {
                    known.len() == keys.len() && known.iter().zip(keys).all(is_same)
                };
                matches!(keys.as_slice(), [(key, _)] if key == "$natural")
                    || is_index(&of_id)
                    || collection.indexes.iter().any(|index| is_index(&index.keys))
            }
            name => name.scalar().is_some_and(|name| {
                name == "_id_" || collection.indexes.iter().any(|index| index.name == name)
            }),
        };
        if !is_there {
            let indexes = collection.indexes.iter().map(|index| index.name.as_str());
            let names: Vec<&str> = ["_id_"].into_iter().chain(indexes).collect();
            self.at("hint", |reading| {
                reading.wrong::<()>(format!(
                    "`{}` has no index {hint}; it has {}",
                    collection.name,
                    names.join(", ")
                ))
            });
        }
    }

    /// A whole number, 0 where it is not given.
    pub(crate) fn whole(&mut self, given: &Literal, key: &str, most: f64) -> Option<u32> {
        let Some(value) = given.get(key) else {
            return Some(0);
        };
        match quantity(value) {
            Some(number) if (1.0..=most).contains(&number) && number.fract() == 0.0 => {
                Some(number as u32)
            }
            _ => self.at(key, |reading| reading.wrong(format!("a whole number from 1 to {most}"))),
        }
    }

    fn flag(&mut self, given: &Literal, key: &str) -> bool {
        match given.get(key) {
            None => false,
            Some(Literal::Bool(flag)) => *flag,
            Some(_) => {
                self.at(key, |reading| reading.wrong::<()>("true or false"));
                false
            }
        }
    }

    fn keys(&mut self, given: &Literal) -> Option<RequestDistribution> {
        let Some(keys) = given.get("keys") else {
            return Some(RequestDistribution::Uniform);
        };
        self.at("keys", |reading| match keys.scalar().as_deref() {
            Some("uniform") => Some(RequestDistribution::Uniform),
            Some("sequential") => Some(RequestDistribution::Sequential),
            Some("zipfian") => Some(RequestDistribution::Zipfian),
            Some("latest") => Some(RequestDistribution::Latest),
            Some("hotspot") => Some(RequestDistribution::hotspot()),
            Some("exponential") => Some(RequestDistribution::exponential()),
            _ => reading.wrong(
                "uniform, sequential, zipfian, latest, hotspot or exponential; `by` takes documents too, and a parameter has `from`",
            ),
        })
    }

    /// The parameters: that of `by`, and those of `with`.
    fn parameters(
        &mut self,
        given: &Literal,
        collection: &Collection,
        statement: &mut OwnStatement,
    ) -> Option<()> {
        if given.get("by").is_some() && given.get("filter").is_some() {
            return self.wrong("`by` is a filter already: leave out one of the two");
        }
        if let Some(by) = given.get("by") {
            let path = by.scalar().unwrap_or_default();
            let of_documents = given.get("keys").and_then(Literal::scalar);
            let of_documents = of_documents.is_some_and(|keys| keys == DOCUMENTS);
            let keys = match of_documents {
                true => RequestDistribution::Uniform,
                false => self.keys(given)?,
            };
            let field = self.at("by", |reading| reading.field_of(collection, &path))?;
            let drawn = match &field.pick {
                Pick::Finite(_) if of_documents => Drawn::Document,
                Pick::Finite(_) => Drawn::Value,
                Pick::Unique => Drawn::Document,
                Pick::Free => {
                    return self.at("by", |reading| {
                        reading.wrong(format!(
                            "the values of `{path}` are unknown: give the field `distinct: 10k`, or name a field that has it"
                        ))
                    });
                }
            };
            statement.by = Some(statement.parameters.len());
            let (name, collection) = ("by".into(), statement.collection);
            statement.parameters.push(Parameter { name, path, field, drawn, collection, keys });
        } else if given.get("keys").is_some() {
            return self.at("keys", |reading| {
                reading
                    .wrong("`keys` says how the value of `by` is drawn; parameters have their own")
            });
        }
        let Some(with) = given.get("with") else {
            return Some(());
        };
        let mut used = Vec::new();
        parameters_of(given, &mut used);
        let place = statement.collection;
        self.at("with", |reading| {
            for (name, described) in with.entries() {
                let read = reading.at(name, |reading| {
                    if statement.parameters.iter().any(|known| known.name == *name) {
                        return reading.wrong(format!("there is a parameter `{name}` already"));
                    }
                    reading.with(name, described, collection, place)
                });
                if read.is_some() {
                    reading.is_used(name, &used);
                }
                statement.parameters.extend(read);
            }
            Some(())
        })
    }

    /// Verifies that a parameter is among those that are used.
    pub(crate) fn is_used(&mut self, name: &str, used: &[String]) {
        if !used.iter().any(|known| known == name) {
            self.at(name, |reading| {
                reading.wrong::<()>(format!(
                    "nothing uses it: write `<{name}>` where its value belongs, or leave it out"
                ))
            });
        }
    }

    /// A parameter of `with`, on a field of the collection at this place.
    pub(crate) fn with(
        &mut self,
        name: &str,
        described: &Literal,
        collection: &Collection,
        place: usize,
    ) -> Option<Parameter> {
        let word = |key: &str| described.get(key).and_then(Literal::scalar);
        let (path, field, drawn) = if let Some(path) = word("value_of") {
            self.known_keys(described, &["value_of", "keys"]);
            let field = self.field_of(collection, &path)?;
            match field.pick {
                Pick::Finite(_) => (path, field, Drawn::Value),
                Pick::Unique => (path, field, Drawn::Document),
                Pick::Free => {
                    return self.wrong(format!("the values of `{path}` are unknown: give the field `distinct`, or take `from: {path}`"));
                }
            }
        } else if let Some(path) = word("from") {
            self.known_keys(described, &["from", "keys"]);
            let field = self.field_of(collection, &path)?;
            (path, field, Drawn::Document)
        } else if let Some(path) = word("range_of") {
            self.known_keys(described, &["range_of", "documents", "keys", "at"]);
            let field = self.field_of(collection, &path)?;
            let rises = match &field.shape {
                Shape::Whole(Number::Steps { step, .. })
                | Shape::Date(Number::Steps { step, .. }) => *step > 0.0,
                _ => false,
            };
            if !rises || !matches!(field.pick, Pick::Unique) {
                return self.wrong(format!(
                    "a range with a known number of documents needs a field that rises from document to document: `{path}` as `{{int: sequence}}`, or as `{{date: {{every: 15s, until: 2026-01-01}}}}`"
                ));
            }
            let documents = u64::from(self.whole(described, "documents", 1e9)?);
            if documents == 0 || documents > collection.records {
                return self.wrong(format!(
                    "`documents` says how many lie in the range: 1 to {}",
                    collection.records
                ));
            }
            let at = described.get("at").and_then(Literal::scalar);
            let newest = at.as_deref() == Some("end");
            if described.get("at").is_some() && (!newest || described.get("keys").is_some()) {
                return self.at("at", |reading| {
                    reading.wrong("`at: end` takes the newest documents; otherwise `keys` draws where the range begins")
                });
            }
            (path, field, Drawn::Range { documents, newest })
        } else if described.get("ago").is_some() {
            self.known_keys(described, &["ago", "of"]);
            let ago = word("ago").and_then(|text| units::parse_duration(&text).ok());
            let Some(ago) = ago else {
                return self.wrong("`ago` is a duration before the newest document, such as 5m");
            };
            let rising = |field: &Field| match field.shape {
                Shape::Date(Number::Steps { step, .. }) => Some(step),
                _ => None,
            };
            let path = word("of").or_else(|| {
                let mut dates = collection.fields.iter().filter(|field| rising(field).is_some());
                let (first, second) = (dates.next(), dates.next());
                first.filter(|_| second.is_none()).map(|field| field.name.to_string())
            });
            let found = path.and_then(|path| Some((collection.field(&path)?, path)));
            let Some((field, step, path)) =
                found.and_then(|(field, path)| Some((Arc::clone(field), rising(field)?, path)))
            else {
                return self.wrong("`of` names the date before whose newest value it is, a field with `{date: {every: ..., until: ...}}`");
            };
            (path, field, Drawn::Before { documents: (ago as f64 / 1e6 / step) as u64 })
        } else if let Some(path) = word("absent") {
            self.known_keys(described, &["absent"]);
            let field = self.field_of(collection, &path)?;
            let Some(from) = field.absent_from() else {
                return self.wrong(format!(
                    "no value of `{path}` is known that no document has: name a field with `distinct`, `unique` or `sequence`, or write a value into the filter and `empty: allowed`"
                ));
            };
            (path, field, Drawn::Absent { from })
        } else {
            let records = collection.records;
            let field = self.generator(name, described, records, &[])?;
            (String::new(), Arc::new(field), Drawn::New { records })
        };
        let keys = self.keys(described)?;
        Some(Parameter { name: name.into(), path, field, drawn, collection: place, keys })
    }

    fn field_of(&mut self, collection: &Collection, path: &str) -> Option<Arc<Field>> {
        match collection.field(path) {
            Some(field) => Some(Arc::clone(field)),
            None if collection.field(path.split('.').next().unwrap_or_default()).is_some() => self
                .wrong(format!(
                    "it is unknown which documents have which `{path}`: it lies in a list, or in a document with `distinct` or `present`, or it is not there"
                )),
            None => {
                self.wrong(format!(
                    "documents of `{}` have no field `{path}`; they have {}",
                    collection.name,
                    collection.field_names()
                ))
            }
        }
    }

    /// What is known of how many documents it finds.
    fn known(&mut self, given: &Literal, collection: &Collection, statement: &mut OwnStatement) {
        let kind = statement.operation.kind();
        if given.get("empty").is_some_and(|empty| empty.scalar().as_deref() == Some("allowed")) {
            statement.known = Known::Any("`empty: allowed`");
            return;
        }
        if let Some(empty) = given.get("empty") {
            let empty = empty.scalar().unwrap_or_default();
            self.at("empty", |reading| {
                reading
                    .wrong::<()>(format!("`allowed` where finding nothing is right, not `{empty}`"))
            });
        }
        let many = self.flag(given, "many");
        let at_most_one = match kind {
            StatementKind::Update | StatementKind::Delete => !many,
            StatementKind::FindAndModify => true,
            _ => false,
        };
        let limit = if statement.limit == 0 { u64::MAX } else { u64::from(statement.limit) };
        let most = if at_most_one { 1 } else { limit };
        statement.known = match kind {
            StatementKind::Insert | StatementKind::Transaction | StatementKind::Steps => return,
            StatementKind::Aggregate => Known::Some("pipelines group and filter"),
            StatementKind::Distinct => Known::Some("documents share values"),
            _ if self.flag(given, "upsert") => Known::Any("what is not there is inserted"),
            _ => match filter_parameter(given, collection, statement) {
                Some((parameter, Part::Whole)) => {
                    let Parameter { field, drawn, .. } = &statement.parameters[parameter];
                    match (&field.pick, drawn, &field.present) {
                        (_, Drawn::Absent { .. }, _) => Known::Exactly(0),
                        (_, Drawn::Value | Drawn::Document, _) if may_be_equal(field) => {
                            Known::Some("several of its values may be the same")
                        }
                        // With few documents for each value some have none.
                        (Pick::Finite(finite), Drawn::Value, Some(present))
                            if present.count(1) / finite.values() < MANY_EACH =>
                        {
                            Known::Any("not all documents have the field")
                        }
                        (Pick::Finite(_), Drawn::Value, Some(_)) => {
                            Known::Some("not all documents have the field")
                        }
                        (_, Drawn::Document, Some(present)) if present.count(1) == 0 => {
                            Known::Any("no document has the field")
                        }
                        (Pick::Finite(_), Drawn::Value | Drawn::Document, None) => {
                            Known::Having { parameter, most }
                        }
                        (Pick::Unique, Drawn::Document, _) => Known::Exactly(1),
                        (_, Drawn::Document, _) => Known::Some("its value is free"),
                        _ => Known::Any("its value is drawn freely"),
                    }
                }
                Some((parameter, _)) => match statement.parameters[parameter].drawn {
                    Drawn::Range { .. }
                        if statement.parameters[parameter].field.present.is_some() =>
                    {
                        Known::Some("not all documents have the field")
                    }
                    Drawn::Range { documents, .. } => Known::Exactly(documents.min(most)),
                    _ => Known::Any("it has a filter of its own"),
                },
                None if given.get("filter").is_none() => {
                    Known::Exactly(collection.records.min(most))
                }
                None => Known::Some("it has a filter of its own"),
            },
        };
        let grows = given.get("filter").is_none() && given.get("by").is_none();
        if grows && matches!(kind, StatementKind::Find | StatementKind::Count) && limit == u64::MAX
        {
            statement.known = Known::Some("it meets all documents");
        }
    }

    fn command(
        &mut self,
        given: &Literal,
        collection: &Collection,
        statement: &mut OwnStatement,
    ) -> Option<()> {
        let kind = statement.operation.kind();
        let name = Literal::Text(collection.name.to_string());
        let mut to = Template::default();
        to.open();
        let command =
            if kind == StatementKind::FindAndModify { "findAndModify" } else { kind.word() };
        to.constant(command, &name);
        let parameters = statement.parameters.clone();
        match kind {
            StatementKind::Find => {
                self.filter(&mut to, "filter", given, statement);
                for (key, word) in [("sort", "sort"), ("project", "projection"), ("hint", "hint")] {
                    self.optional(&mut to, word, given.get(key), key, &parameters);
                }
                if statement.limit > 0 {
                    to.constant("limit", &Literal::Int(i64::from(statement.limit)));
                }
                let batch = self.whole(given, "batch", 1_000_000.0)?;
                if batch > 0 {
                    to.constant("batchSize", &Literal::Int(i64::from(batch)));
                }
            }
            StatementKind::Aggregate => {
                let Some(pipeline @ Literal::List(stages)) = given.get("pipeline") else {
                    return self.wrong("say what is computed: `pipeline: [{$match: {...}}, ...]`");
                };
                for stage in stages {
                    for (word, _) in stage.entries() {
                        if matches!(word.as_str(), "$out" | "$merge") {
                            return self.at("pipeline", |reading| {
                                reading.wrong(format!(
                                    "`{word}` writes a collection, which is not measured"
                                ))
                            });
                        }
                    }
                }
                self.at("pipeline", |reading| {
                    to.literal("pipeline", pipeline, &parameters, reading);
                    Some(())
                });
                self.optional(&mut to, "hint", given.get("hint"), "hint", &parameters);
                let batch = self.whole(given, "batch", 1_000_000.0)?;
                let size = if batch > 0 {
                    vec![("batchSize".into(), Literal::Int(i64::from(batch)))]
                } else {
                    Vec::new()
                };
                to.constant("cursor", &Literal::Map(size));
            }
            StatementKind::Count => {
                self.filter(&mut to, "query", given, statement);
                if statement.limit > 0 {
                    to.constant("limit", &Literal::Int(i64::from(statement.limit)));
                }
                self.optional(&mut to, "hint", given.get("hint"), "hint", &parameters);
            }
            StatementKind::Distinct => {
                let Some(field) = given.get("field").and_then(Literal::scalar) else {
                    return self.wrong(
                        "name the field whose different values are listed: `field: status`",
                    );
                };
                to.constant("key", &Literal::Text(field));
                self.filter(&mut to, "query", given, statement);
            }
            StatementKind::Insert => {
                statement.inserts = self.whole(given, "documents", MOST_INSERTED)?.max(1);
                let bytes = collection.mean_bytes * f64::from(statement.inserts);
                if bytes > 40e6 {
                    return self.wrong(format!(
                        "{} documents have {:.0} MB together, a command 48 MB at most",
                        statement.inserts,
                        bytes / 1e6
                    ));
                }
                statement.known = Known::Exactly(u64::from(statement.inserts));
                let values = given.get("values").map(Literal::entries).unwrap_or_default();
                let mut written = Template::default();
                for (name, value) in values {
                    self.path.extend(["values".into(), name.clone()]);
                    if !collection.fields.iter().skip(1).any(|field| *field.name == **name) {
                        self.wrong::<()>(format!(
                            "`values` are for fields of `{}`: {}",
                            collection.name,
                            collection.field_names()
                        ));
                    }
                    written.literal(name, value, &parameters, self);
                    self.path.truncate(self.path.len() - 2);
                }
                statement.changes = values.iter().map(|(name, _)| name.clone()).collect();
                let is_given =
                    |field: &Arc<Field>| values.iter().any(|(name, _)| **name == *field.name);
                let without = collection.fields.iter().map(is_given).collect();
                to.documents("documents", without, written);
            }
            StatementKind::Update => {
                to.open_element(bson::ARRAY, "updates");
                to.open_element(bson::DOCUMENT, "0");
                self.filter(&mut to, "q", given, statement);
                self.change(&mut to, "u", given, collection, &parameters, statement)?;
                if self.flag(given, "upsert") && given.get("by").is_none() {
                    // What it inserts has values that nobody counts.
                    let fields = collection.fields.iter().skip(1);
                    statement.changes.extend(fields.map(|field| field.name.to_string()));
                    let filter = given.get("filter").map(Literal::entries).unwrap_or_default();
                    statement.changes.extend(filter.iter().map(|(name, _)| name.clone()));
                }
                for (key, word) in [("many", "multi"), ("upsert", "upsert")] {
                    if self.flag(given, key) {
                        to.constant(word, &Literal::Bool(true));
                    }
                }
                self.optional(&mut to, "hint", given.get("hint"), "hint", &parameters);
                to.close();
                to.close();
            }
            StatementKind::Delete => {
                to.open_element(bson::ARRAY, "deletes");
                to.open_element(bson::DOCUMENT, "0");
                self.filter(&mut to, "q", given, statement);
                let many = self.flag(given, "many");
                to.constant("limit", &Literal::Int(i64::from(!many)));
                self.optional(&mut to, "hint", given.get("hint"), "hint", &parameters);
                to.close();
                to.close();
            }
            StatementKind::FindAndModify => {
                self.filter(&mut to, "query", given, statement);
                self.optional(&mut to, "sort", given.get("sort"), "sort", &parameters);
                self.change(&mut to, "update", given, collection, &parameters, statement)?;
                if self.flag(given, "new") {
                    to.constant("new", &Literal::Bool(true));
                }
                self.optional(&mut to, "hint", given.get("hint"), "hint", &parameters);
            }
            StatementKind::Transaction | StatementKind::Steps => return None,
        }
        self.concerns(&mut to, given, statement);
        to.close();
        statement.template = to;
        Some(())
    }

    fn filter(&mut self, to: &mut Template, word: &str, given: &Literal, statement: &OwnStatement) {
        let parameters = &statement.parameters;
        if let Some(by) = given.get("by").and_then(Literal::scalar) {
            to.open_element(bson::DOCUMENT, word);
            to.parameter(&by, statement.by.unwrap_or_default(), Part::Whole);
            to.close();
            return;
        }
        let nothing = Literal::Map(Vec::new());
        let filter = given.get("filter").unwrap_or(&nothing);
        self.at("filter", |reading| {
            for (key, value) in filter.entries() {
                if key == "$where" {
                    reading.wrong::<()>("`$where` runs scripts in the server, which is not measured");
                }
                let generator = ["text", "int", "date", "choice", "double"];
                if let [(only, _)] = value.entries()
                    && generator.contains(&only.as_str())
                {
                    reading.at(key, |reading| {
                        reading.wrong::<()>(format!(
                            "filters are literal: write `{key}: <value>`, and `with: {{value: ...}}` for the generator"
                        ))
                    });
                }
            }
            to.literal(word, filter, parameters, reading);
            Some(())
        });
    }

    fn optional(
        &mut self,
        to: &mut Template,
        word: &str,
        value: Option<&Literal>,
        key: &str,
        parameters: &[Parameter],
    ) {
        if let Some(value) = value {
            self.at(key, |reading| {
                to.literal(word, value, parameters, reading);
                Some(())
            });
        }
    }

    /// What an update changes: `set` with the names of fields that get new values, or `change` in the server's language.
    fn change(
        &mut self,
        to: &mut Template,
        word: &str,
        given: &Literal,
        collection: &Collection,
        parameters: &[Parameter],
        statement: &mut OwnStatement,
    ) -> Option<()> {
        match (given.get("set"), given.get("change")) {
            (Some(set), None) => self.at("set", |reading| {
                let names: Vec<String> = match set {
                    Literal::List(items) => items.iter().filter_map(Literal::scalar).collect(),
                    one => one.scalar().into_iter().collect(),
                };
                if names.is_empty() {
                    return reading.wrong("names of fields, such as `[status, note]`");
                }
                to.open_element(bson::DOCUMENT, word);
                to.open_element(bson::DOCUMENT, "$set");
                for name in &names {
                    let field = reading.field_of(collection, name)?;
                    if matches!(field.pick, Pick::Unique) {
                        return reading.wrong(format!("`{name}` is different in each document, so an update would break that"));
                    }
                    to.new_value(name, &field, collection.records);
                }
                to.close();
                to.close();
                statement.changes = names;
                Some(())
            }),
            (None, Some(change)) => self.at("change", |reading| {
                let entries = change.entries();
                if !matches!(change, Literal::List(_))
                    && (entries.is_empty() || entries.iter().any(|(key, _)| !key.starts_with('$')))
                {
                    return reading.wrong("operators, such as `{$set: {status: paid}}` or `{$inc: {count: 1}}`");
                }
                for (_, fields) in entries {
                    statement.changes.extend(fields.entries().iter().map(|(name, _)| name.clone()));
                }
                if statement.changes.iter().any(|name| name == "_id") {
                    return reading.wrong("the `_id` of a document cannot change");
                }
                if matches!(change, Literal::List(_)) {
                    // A pipeline may change any field.
                    statement.changes.extend(collection.fields.iter().skip(1).map(|field| field.name.to_string()));
                }
                to.literal(word, change, parameters, reading);
                Some(())
            }),
            (Some(_), Some(_)) => self.wrong("`set` or `change`, not both"),
            (None, None) => self.wrong("say what changes: `set: [status]` gives fields new values, `change: {$inc: {count: 1}}` does what the server can"),
        }
    }
}

/// The parameter that alone decides what a filter matches: of `by`, of `{field: <p>}`, or of a range `{field: {$gte: <p.from>, $lt: <p.to>}}`.
fn filter_parameter(
    given: &Literal,
    collection: &Collection,
    statement: &OwnStatement,
) -> Option<(usize, Part)> {
    if let Some(by) = statement.by {
        return Some((by, Part::Whole));
    }
    let [(path, value)] = given.get("filter")?.entries() else {
        return None;
    };
    let named = |value: &Literal, suffix: &str| {
        let text = value.scalar()?;
        let name = text.strip_prefix('<')?.strip_suffix('>')?.strip_suffix(suffix)?.to_owned();
        let found = statement.parameters.iter().position(|parameter| parameter.name == name)?;
        let field = collection.field(path)?;
        let parameter = &statement.parameters[found];
        let is_same =
            parameter.collection == statement.collection && Arc::ptr_eq(&parameter.field, field);
        is_same.then_some(found)
    };
    if let Some(parameter) = named(value, "") {
        return Some((parameter, Part::Whole));
    }
    let [(from, least), (to, most)] = value.entries() else {
        return None;
    };
    let parameter = named(least, ".from").filter(|_| from == "$gte" && to == "$lt")?;
    (named(most, ".to") == Some(parameter)).then_some((parameter, Part::From))
}

/// What other operations change is no longer known: values of fields that are set, and documents of collections from which some are removed.
fn loosen(operations: &mut [OwnStatement]) {
    let changes: Vec<(usize, Vec<String>, StatementKind)> = operations
        .iter()
        .flat_map(OwnStatement::statements)
        .map(|own| (own.collection, own.changes.clone(), own.operation.kind()))
        .collect();
    let each = operations.iter_mut().flat_map(OwnStatement::statements_mut);
    for own in each.filter(|own| own.inserts == 0) {
        let same = changes.iter().filter(|(collection, ..)| *collection == own.collection);
        let mut removed = false;
        let mut changed = false;
        let mut written = false;
        for (_, names, kind) in same {
            written |= kind.writes();
            removed |= *kind == StatementKind::Delete;
            let is_changed = own.parameters.iter().any(|parameter| {
                parameter.collection == own.collection
                    && names.iter().any(|name| overlap(name, &parameter.path))
            });
            // How many documents of the load have a value, inserts do not change.
            let is_counted = match own.known {
                Known::Having { parameter, .. } => {
                    matches!(own.parameters[parameter].field.pick, Pick::Finite(_))
                }
                _ => false,
            };
            let is_given = is_changed && is_counted && *kind == StatementKind::Insert;
            own.is_given |= is_given;
            changed |= is_changed && !is_given;
        }
        let counted =
            matches!(own.known, Known::Having { .. } | Known::Exactly(_) | Known::Some(_));
        if counted && written && own.reads_at.is_some() {
            own.known = Known::Any("secondaries may lag");
        } else if counted && removed {
            own.known = Known::Any("an operation removes documents of its collection");
        } else if counted && changed {
            own.known = match own.operation.kind() {
                StatementKind::Aggregate | StatementKind::Distinct => {
                    Known::Some("an operation changes the field")
                }
                _ => Known::Any("an operation changes the field of its filter"),
            };
        }
        own.known_to_stay = own.known.clone();
    }
}

/// Whether a change of one path can change the value of the other: `address` and `address.city`.
fn overlap(one: &str, other: &str) -> bool {
    one.split('.').zip(other.split('.')).all(|(one, other)| one == other)
}

/// Counts are not known where an index expires documents. Each arm may choose other indexes, so this is decided for each arm.
pub(crate) fn loosen_expiring(operations: &mut [OwnStatement], collections: &[Collection]) {
    let each = operations.iter_mut().flat_map(OwnStatement::statements_mut);
    for own in each.filter(|own| own.inserts == 0) {
        own.known = match collections[own.collection].expires_by() {
            Some(_) => Known::Any("documents of its collection expire"),
            None => own.known_to_stay.clone(),
        };
    }
}

/// Whether two picks of a field can have the same value.
fn may_be_equal(field: &Field) -> bool {
    !matches!(field.pick, Pick::Free)
        && matches!(field.shape, Shape::Document(_) | Shape::List { .. })
}

/// What a drawn operation must find, when documents below `acknowledged` are there and those below `issued` may be. Reads that may lack acknowledged documents
/// must find those of the load, which has `loaded` documents.
#[inline]
pub(crate) fn expected(
    own: &OwnStatement,
    picks: &[u64],
    loaded: u64,
    (mut acknowledged, issued): (u64, u64),
) -> Expected {
    if own.lagging.is_some() {
        acknowledged = loaded;
        let is_newer = |(parameter, pick): (&Parameter, &u64)| {
            matches!(parameter.drawn, Drawn::Document)
                && !matches!(parameter.field.pick, Pick::Finite(_))
                && *pick >= loaded
        };
        if own.parameters.iter().zip(picks).any(is_newer) {
            return match own.known {
                Known::Exactly(count) => Expected::Between(0, count),
                _ => Expected::Any,
            };
        }
    }
    match own.known {
        Known::Exactly(count) => Expected::Between(count, count),
        Known::Having { parameter, most } => match &own.parameters[parameter].field.pick {
            Pick::Finite(finite) => {
                let (least, upper) = match own.is_given {
                    true => finite.bounds_given(picks[parameter], issued),
                    false => finite.bounds(picks[parameter], acknowledged, issued),
                };
                Expected::Between(least.min(most), upper.min(most))
            }
            Pick::Free | Pick::Unique => Expected::Some,
        },
        Known::Some(_) => Expected::Some,
        Known::Any(_) => Expected::Any,
    }
}
