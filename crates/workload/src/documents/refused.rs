//! Indexes that a server refuses, by themselves or because of the documents.

use crate::documents::bson;
use crate::documents::field::Pick;
use crate::documents::literal::Literal;
use crate::documents::read::{Collection, Reading};
use std::collections::HashSet;

/// Documents that are searched for equal ones.
const DOCUMENTS: u64 = 2_000;
/// What MongoDB 4.4 to 6.0 all refuse in the filter of a partial index.
const NOT_IN_ONLY: [&str; 13] = [
    "$ne",
    "$nin",
    "$not",
    "$nor",
    "$regex",
    "$options",
    "$expr",
    "$elemMatch",
    "$size",
    "$mod",
    "$where",
    "$text",
    "$jsonSchema",
];

/// What an index promises besides its keys.
#[derive(Clone, Copy, Default)]
struct Promises {
    is_unique: bool,
    is_sparse: bool,
}

impl Reading {
    /// Refuses combinations of properties that no server takes, and a unique index that the documents of the load would break.
    pub(crate) fn refused_index(
        &mut self,
        item: &Literal,
        keys: &[(String, Literal)],
        collection: &Collection,
    ) {
        let is_set = |reading: &mut Self, key: &str| match item.get(key) {
            None | Some(Literal::Bool(false)) => false,
            Some(Literal::Bool(true)) => true,
            Some(Literal::Int(flag)) => *flag != 0,
            Some(_) => {
                reading.at(key, |reading| reading.wrong::<()>("true or false"));
                false
            }
        };
        let promises =
            Promises { is_unique: is_set(self, "unique"), is_sparse: is_set(self, "sparse") };
        let only = item.get("only");
        if let Some(only) = only {
            self.at("only", |reading| reading.partial_filter(only));
        }
        if promises.is_sparse && only.is_some() {
            let what = "a server takes `sparse` or `only`, not both: leave out `sparse`; `only: {email: {$exists: true}}` leaves out documents without `email`";
            self.at("sparse", |reading| reading.wrong::<()>(what));
        }
        let has_kind =
            |word: &str| keys.iter().any(|(_, kind)| kind.scalar().as_deref() == Some(word));
        let is_wildcard = keys.iter().any(|(path, _)| path.contains("$**"));
        let is_of_id = matches!(keys, [(path, _)] if path == "_id") && !has_kind("hashed");
        for key in ["unique", "sparse", "only", "expire_after"] {
            let what = match key {
                _ if item.get(key).is_none_or(|value| *value == Literal::Bool(false)) => continue,
                _ if is_of_id => "`_id` already has an index, which takes no properties",
                "only" => continue,
                _ if is_wildcard => "a wildcard index cannot have it",
                "unique" if has_kind("hashed") => "a hashed index cannot be unique: use 1 or -1",
                _ => continue,
            };
            self.at(key, |reading| reading.wrong::<()>(format!("{what}: leave out `{key}`")));
        }
        // Which documents a partial index has is not known.
        if promises.is_unique && only.is_none() && !is_wildcard && !is_of_id {
            self.repeated(keys, promises.is_sparse, collection);
        }
    }

    /// Refuses an index on two lists, and a hashed one on a list.
    pub(crate) fn refused_lists(&mut self, keys: &[(String, Literal)], collection: &Collection) {
        let on_list =
            keys.iter().filter_map(|(path, kind)| Some((collection.list_in(path)?, kind)));
        let on_list: Vec<(&str, &Literal)> = on_list.collect();
        let Some((first, _)) = on_list.first() else { return };
        if let Some((other, _)) = on_list.iter().find(|(list, _)| list != first) {
            self.wrong::<()>(format!(
                "a server puts one list into an index, not both `{first}` and `{other}`: make an index for each"
            ));
        }
        if on_list.iter().any(|(_, kind)| kind.scalar().as_deref() == Some("hashed")) {
            self.wrong::<()>(format!("`{first}` is a list, which cannot be hashed: use 1 or -1"));
        }
    }

    fn partial_filter(&mut self, filter: &Literal) -> Option<()> {
        let Literal::Map(entries) = filter else {
            return self.wrong("a filter, such as `{status: paid}`");
        };
        for (key, value) in entries {
            let refused = match (key.as_str(), value) {
                (word, _) if NOT_IN_ONLY.contains(&word) => Some(format!("`{word}`")),
                ("$exists", Literal::Bool(false)) => Some("`$exists: false`".into()),
                _ => None,
            };
            if let Some(word) = refused {
                return self.wrong(format!(
                    "no server takes {word} in the filter of a partial index: write what the documents have, by values, `$gt`, `$gte`, `$lt`, `$lte`, `$type`, `$exists: true` or `$and`; from MongoDB 6.0 on by `$in` and `$or` too"
                ));
            }
            match value {
                Literal::Map(_) => self.partial_filter(value)?,
                Literal::List(parts) if key.starts_with('$') => {
                    let mut parts = parts.iter().filter(|part| matches!(part, Literal::Map(_)));
                    parts.try_for_each(|part| self.partial_filter(part))?;
                }
                _ => {}
            }
        }
        Some(())
    }

    /// Refuses a unique index where documents of the load are known to have the same values.
    fn repeated(&mut self, keys: &[(String, Literal)], is_sparse: bool, collection: &Collection) {
        let names = keys.iter().map(|(path, _)| format!("`{path}`")).collect::<Vec<_>>().join(", ");
        let field = match keys {
            [(path, _)] => collection.field(path).filter(|field| field.present.is_none()),
            _ => None,
        };
        let values = field.and_then(|field| match &field.pick {
            Pick::Finite(finite) => Some(finite.values()),
            Pick::Free | Pick::Unique => None,
        });
        let what = match values.filter(|values| *values < collection.records) {
            Some(values) => format!(
                "{} documents cannot have different {names}, which has {values} values",
                collection.records
            ),
            None => match first_repeated(keys, is_sparse, collection) {
                None => return,
                Some(true) => format!(
                    "several documents lack {names}, and count as equal: add `sparse: true`, or leave out `unique`"
                ),
                Some(false) => format!("several documents have the same {names}"),
            },
        };
        let advice = "give the field a value of its own in each document, such as `{int: sequence}` or `{text: 24, unique: true}`, or leave out `unique`";
        self.at("unique", |reading| {
            let is_whole = what.ends_with("`unique`");
            reading.wrong::<()>(if is_whole { what } else { format!("{what}: {advice}") })
        });
    }
}

/// Whether the first documents with equal keys are those that lack all of them; `None` where all differ.
fn first_repeated(
    keys: &[(String, Literal)],
    is_sparse: bool,
    collection: &Collection,
) -> Option<bool> {
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    let mut document = Vec::new();
    for number in 0..collection.records.min(DOCUMENTS) {
        document.clear();
        collection.write_document(number, &mut document);
        let mut all: HashSet<Vec<u8>> = HashSet::from([Vec::new()]);
        let mut is_absent = true;
        for (path, _) in keys {
            let mut values = Vec::new();
            collect(&document, path, &mut values);
            is_absent &= values.is_empty();
            if values.is_empty() {
                values.push(vec![bson::NULL]);
            }
            let longer = |one: &Vec<u8>| {
                values.iter().map(|value| [one.as_slice(), value].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        if is_absent && is_sparse {
            continue;
        }
        if all.iter().any(|one| known.contains(one)) {
            return Some(is_absent);
        }
        known.extend(all);
    }
    None
}

/// The values at a path of a document, of lists those of their items.
fn collect(document: &[u8], path: &str, values: &mut Vec<Vec<u8>>) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    for (kind, name, value) in bson::elements(document) {
        if name == first.as_bytes() {
            match kind {
                bson::DOCUMENT if !rest.is_empty() => collect(value, rest, values),
                bson::ARRAY => {
                    if rest.is_empty() && bson::elements(value).next().is_none() {
                        values.push(vec![bson::ARRAY]);
                    }
                    for (kind, _, item) in bson::elements(value) {
                        match kind {
                            bson::DOCUMENT if !rest.is_empty() => collect(item, rest, values),
                            _ if rest.is_empty() => values.push([&[kind], item].concat()),
                            _ => {}
                        }
                    }
                }
                _ if rest.is_empty() => values.push([&[kind], value].concat()),
                _ => {}
            }
        }
    }
}
