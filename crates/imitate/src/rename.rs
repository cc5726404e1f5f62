//! The same observation without the names of the user.

use crate::model::{Observed, Stored};
use plimsoll_record::StatementKind;
use plimsoll_workload::documents::Literal;
use std::collections::HashMap;

/// Stages of pipelines whose keys are names.
const COMPUTING: [&str; 4] = ["$group", "$project", "$addFields", "$set"];

/// Names of one collection's fields, each for one part of a path, and of all collections.
struct Names {
    fields: HashMap<String, String>,
    collections: HashMap<String, String>,
}

/// Gives database, collections, fields, indexes and operations names such as `c1` and `c1_f3`.
pub fn rename(observed: &mut Observed) {
    let names = observed.collections.iter().enumerate();
    let collections: HashMap<String, String> =
        names.map(|(number, stored)| (stored.name.clone(), format!("c{}", number + 1))).collect();
    let mut of_collections: HashMap<String, Names> = HashMap::new();
    for stored in &mut observed.collections {
        let names = Names::of(stored, &collections);
        let namespace = format!("{}.{}", stored.database, stored.name);
        names.stored(stored);
        of_collections.insert(namespace, names);
    }
    for (number, shape) in observed.shapes.iter_mut().enumerate() {
        shape.name = format!("op{}", number + 1);
        shape.form.clone_from(&shape.name);
        shape.plans.clear();
        shape.remarks.clear();
        shape.unfit = shape.unfit.take().map(|_| "what a file cannot say".into());
        if let Some(names) = of_collections.get_mut(&shape.namespace) {
            names.learn(&shape.operation);
            names.described(&mut shape.operation);
        }
        shape.namespace.clear();
    }
    observed.database = "renamed".into();
    left_out(&mut observed.omitted);
}

/// The list of what was left out has names in it: only its length is kept.
fn left_out(omitted: &mut Vec<String>) {
    if !omitted.is_empty() {
        *omitted = vec![format!("{} more; without --rename they are named", omitted.len())];
    }
}

impl Names {
    fn of(stored: &Stored, collections: &HashMap<String, String>) -> Self {
        let own = &collections[&stored.name];
        let mut fields: HashMap<String, String> = HashMap::from([("_id".into(), "_id".into())]);
        for part in stored.fields.iter().flat_map(|field| field.path.split('.')) {
            let next = format!("{own}_f{}", fields.len());
            fields.entry(part.into()).or_insert(next);
        }
        Self { fields, collections: collections.clone() }
    }

    /// Takes in the names that stages of pipelines give to what they compute.
    fn learn(&mut self, value: &Literal) {
        if let Literal::List(items) = value {
            items.iter().for_each(|item| self.learn(item));
        }
        for (stage, computed) in value.entries() {
            if COMPUTING.contains(&stage.as_str()) {
                for (name, _) in
                    computed.entries().iter().filter(|(name, _)| !name.starts_with('$'))
                {
                    let next = format!("x{}", self.fields.len());
                    self.fields.entry(name.clone()).or_insert(next);
                }
            }
            self.learn(computed);
        }
    }

    /// Each part of a path by itself: `$address.city`, `<customer>`. What is no name stays.
    fn path(&self, path: &str) -> String {
        let begin = path.find(|letter| !"$<".contains(letter)).unwrap_or(path.len());
        let (marks, rest) = path.split_at(begin);
        let (rest, end) = rest.strip_suffix('>').map_or((rest, ""), |rest| (rest, ">"));
        let parts = rest.split('.').map(|part| self.fields.get(part).map_or(part, String::as_str));
        format!("{marks}{}{end}", parts.collect::<Vec<_>>().join("."))
    }

    fn collection(&self, name: &str) -> String {
        self.collections.get(name).map_or(name, String::as_str).into()
    }

    fn stored(&self, stored: &mut Stored) {
        stored.database = "renamed".into();
        stored.name = self.collection(&stored.name);
        for field in &mut stored.fields {
            field.path = self.path(&field.path);
            field.generator.iter_mut().for_each(|generator| self.described(generator));
        }
        for (_, series) in stored.settings.iter_mut().filter(|(key, _)| key == "time_series") {
            if let Literal::Map(entries) = series {
                let names = entries.iter_mut().filter(|(key, _)| key != "granularity");
                names.for_each(|(_, name)| self.all(name));
            }
        }
        for (number, index) in stored.indexes.iter_mut().enumerate() {
            index.name = format!("{}_i{}", stored.name, number + 1);
            match &mut index.spec {
                Literal::Map(entries)
                    if entries.iter().any(|(_, value)| matches!(value, Literal::Map(_))) =>
                {
                    entries.iter_mut().for_each(|(_, value)| self.all(value));
                }
                keys => self.all(keys),
            }
        }
        stored.spelled.clear();
        left_out(&mut stored.omitted);
    }

    /// Names in a value of the server's language, in keys and texts.
    fn all(&self, value: &mut Literal) {
        match value {
            // As in `$lookup`.
            Literal::Text(text) if self.collections.contains_key(text) => {
                *text = self.collection(text);
            }
            Literal::Text(text) => *text = self.path(text),
            Literal::List(items) => items.iter_mut().for_each(|item| self.all(item)),
            Literal::Map(entries) => {
                for (key, value) in entries {
                    *key = self.path(key);
                    self.all(value);
                }
            }
            _ => {}
        }
    }

    /// Names in an operation, a parameter or a generator.
    fn described(&self, described: &mut Literal) {
        let Literal::Map(entries) = described else {
            return;
        };
        let names_collection = |kind: &StatementKind| {
            !matches!(kind, StatementKind::Transaction | StatementKind::Steps)
        };
        let mut kinds = StatementKind::ALL.into_iter().filter(names_collection);
        let is_operation =
            entries.first().is_some_and(|(first, _)| kinds.any(|kind| kind.word() == first));
        if let Some((_, name)) = entries.first_mut().filter(|_| is_operation) {
            *name = Literal::Text(self.collection(&name.scalar().unwrap_or_default()));
        }
        for (key, value) in entries.iter_mut() {
            match (key.as_str(), &mut *value) {
                ("document" | "with", Literal::Map(parts)) => {
                    for (name, part) in parts {
                        *name = self.path(name);
                        self.described(part);
                    }
                }
                ("transaction" | "steps", Literal::List(parts)) => {
                    parts.iter_mut().for_each(|part| self.described(part));
                }
                ("list", item) => self.described(item),
                ("key_of" | "in", Literal::Text(name)) => *name = self.collection(name),
                (
                    "follows" | "value_of" | "from" | "range_of" | "of" | "absent",
                    Literal::Text(path),
                ) => *path = self.path(path),
                (
                    "by" | "field" | "set" | "filter" | "change" | "sort" | "project" | "pipeline"
                    | "hint",
                    value,
                ) => self.all(value),
                _ => {}
            }
        }
        // Names of indexes follow from their keys.
        entries.retain(|(key, value)| key != "hint" || !matches!(value, Literal::Text(_)));
    }
}
