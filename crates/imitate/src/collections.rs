//! The collections of a database: what they hold, from samples of their documents, and their indexes.

use crate::ImitateError;
use crate::documents::{Facts, describe, encoded, numeric};
use crate::fields::map;
use crate::indexes::{expires, indexes, is_set, keys, name};
use crate::model::{Field, Stored};
use crate::references::{leaves, references};
use crate::server::Server;
use mongodb::bson::{Bson, Document, doc};
use plimsoll_engine::MARKS;
use plimsoll_record::quantities::words::grouped;
use plimsoll_workload::documents::{Literal, MOST_COLLECTIONS};
use std::collections::{BTreeMap, BTreeSet};

/// Documents of a collection that are read.
const SAMPLE: u64 = 1_000;
/// Sampled bytes of a collection, about: fewer very long documents are read, but at least [`SMALLEST_SAMPLE`].
const SAMPLE_BYTES: u64 = 48 << 20;
const SMALLEST_SAMPLE: u64 = 50;
/// Fields that an experiment file has room for.
const MOST_FIELDS: usize = 2_000;
const MOST_FIELDS_OF_ONE: usize = 500;

/// A collection as the server describes it.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    pub(crate) name: String,
    pub(crate) documents: u64,
    bytes: u64,
    pub(crate) sample: Vec<Document>,
    pub(crate) is_complete: bool,
    stats: Document,
    indexes: Vec<Document>,
    uses: Vec<(String, u64)>,
    options: Document,
}

impl Raw {
    /// The fields of a time series; `None` of any other collection.
    pub(crate) fn series(&self) -> Option<&Document> {
        self.options.get_document("timeseries").ok()
    }
}

/// Reads all collections of a database, the largest first. `now_ms` is the server's present time. What is left out is added to `omitted`.
pub(crate) fn read(
    server: &Server,
    database: &str,
    now_ms: i64,
    progress: &mut dyn FnMut(&str),
    omitted: &mut Vec<String>,
) -> Result<Vec<Stored>, ImitateError> {
    let listed = server.list(database, doc! { "listCollections": 1 })?.unwrap_or_default();
    let mut all: Vec<Raw> = Vec::new();
    for collection in &listed {
        all.extend(begun(server, database, collection, omitted)?);
    }
    all.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.name.cmp(&other.name)));
    for raw in all.drain(MOST_COLLECTIONS.min(all.len())..) {
        omitted.push(format!(
            "{}: an experiment file has {MOST_COLLECTIONS} collections at most",
            raw.name
        ));
    }
    for raw in &mut all {
        sample(server, database, raw)?;
        progress(&format!(
            "{database}.{}: {} of {} documents read",
            raw.name,
            grouped(raw.sample.len() as f64, 0),
            grouped(raw.documents as f64, 0)
        ));
    }
    // A user may be allowed to know of a collection without being allowed to read it.
    for raw in all.extract_if(.., |raw| raw.sample.is_empty()) {
        omitted.push(format!("{}: no document could be read", raw.name));
    }
    let most_fields = (MOST_FIELDS / all.len().max(1)).min(MOST_FIELDS_OF_ONE);
    let mut stored = Vec::new();
    for raw in &all {
        let mut facts = facts(server, database, raw)?;
        facts.now_ms = now_ms as f64;
        facts.references = references(server, database, raw, &all)?;
        facts.most_fields = most_fields;
        stored.push(described(database, raw, &facts));
    }
    Ok(stored)
}

/// A collection with its sizes, unless it is left out.
fn begun(
    server: &Server,
    database: &str,
    listed: &Document,
    omitted: &mut Vec<String>,
) -> Result<Option<Raw>, ImitateError> {
    let name = listed.get_str("name").unwrap_or_default().to_owned();
    let options = listed.get_document("options").cloned().unwrap_or_default();
    if name.starts_with("system.") || name == MARKS {
        return Ok(None);
    }
    let mut omit = |why: &str| {
        omitted.push(format!("{name}: {why}"));
        Ok(None)
    };
    match listed.get_str("type").unwrap_or("collection") {
        "view" => return omit("views hold no documents"),
        _ if is_set(&options, "capped") => return omit("capped collections are not supported"),
        _ if name.contains(['$', '\0']) || name.len() > 100 => {
            return omit("a file takes no such name");
        }
        _ => {}
    }
    let Some(stats) = server.send(database, doc! { "collStats": &name })? else {
        return omit("collStats was refused");
    };
    let (bytes, mut documents) = (figure(&stats, "size"), documents(&stats));
    if documents == 0 && options.contains_key("timeseries") {
        // The server only counts measurements that were stored since it started.
        let group = doc! { "$group": { "_id": null, "n": { "$sum": 1 } } };
        let count = doc! { "aggregate": &name, "pipeline": [group], "cursor": {} };
        let Some(counted) = server.list(database, count)? else {
            return omit("its measurements could not be counted within 5 s");
        };
        documents = counted.first().map_or(0, |group| figure(group, "n"));
    }
    if documents == 0 {
        return omit("it is empty");
    }
    Ok(Some(Raw { name, documents, bytes, stats, options, ..Raw::default() }))
}

/// The number of documents. For a time series, the server only counts what was stored since it started: that gives the mean of a bucket, and the number of
/// buckets does the rest.
fn documents(stats: &Document) -> u64 {
    let Ok(series) = stats.get_document("timeseries") else { return figure(stats, "count") };
    let measured = figure(series, "numMeasurementsCommitted");
    match [figure(series, "bucketCount"), figure(series, "numBucketInserts")] {
        [0, _] | [_, 0] => measured,
        [buckets, begun] => (measured as f64 / begun as f64 * buckets as f64).round() as u64,
    }
}

fn sample(server: &Server, database: &str, raw: &mut Raw) -> Result<(), ImitateError> {
    let all = raw.bytes;
    let mean = (all / raw.documents).max(1);
    let mut size = (SAMPLE_BYTES / mean).clamp(SMALLEST_SAMPLE, SAMPLE);
    if all > 2 * SAMPLE_BYTES {
        // For a twentieth of a collection or more, a server reads all of it.
        size = size.min(raw.documents / 21);
    }
    let size = size.clamp(1, raw.documents) as i64;
    let pipeline = [doc! { "$sample": { "size": size } }];
    let sample =
        doc! { "aggregate": &raw.name, "pipeline": pipeline, "cursor": { "batchSize": size } };
    raw.sample = server.list(database, sample)?.unwrap_or_default();
    // The server may draw a document twice.
    let mut known = BTreeSet::new();
    raw.sample.retain(|document| known.insert(document.get("_id").map(encoded)));
    raw.is_complete = raw.sample.len() as u64 >= raw.documents;
    if raw.series().is_some() && !raw.sample.is_empty() {
        // The server's size is that of compressed buckets.
        let sampled: usize = raw.sample.iter().map(document_size).sum();
        raw.bytes = (sampled as f64 / raw.sample.len() as f64 * raw.documents as f64) as u64;
    }
    raw.indexes = server.list(database, doc! { "listIndexes": &raw.name })?.unwrap_or_default();
    let uses = doc! { "aggregate": &raw.name, "pipeline": [{ "$indexStats": {} }], "cursor": {} };
    let uses = server.list(database, uses)?.unwrap_or_default();
    raw.uses = uses
        .iter()
        .map(|index| {
            let times = index.get_document("accesses").map(|accesses| figure(accesses, "ops"));
            (name(index).to_owned(), times.unwrap_or_default())
        })
        .collect();
    Ok(())
}

fn document_size(document: &Document) -> usize {
    document.to_vec().map_or(0, |bytes| bytes.len())
}

/// What indexes say of the values of fields.
fn facts(server: &Server, database: &str, raw: &Raw) -> Result<Facts, ImitateError> {
    let mut facts =
        Facts { documents: raw.documents, is_complete: raw.is_complete, ..Facts::default() };
    if let Some(series) = raw.series() {
        // A server would read all measurements to count values.
        facts.time = series.get_str("timeField").ok().map(ToOwned::to_owned);
        facts.expiring.extend(facts.time.clone().filter(|_| expires(&raw.options).is_some()));
        return Ok(facts);
    }
    let mut values: BTreeMap<String, Vec<&Bson>> = BTreeMap::new();
    let mut lists: BTreeSet<String> = BTreeSet::new();
    for document in &raw.sample {
        leaves(document, &mut |path, is_in_list, value| {
            if is_in_list {
                lists.insert(path.into());
            }
            values.entry(path.into()).or_default().push(value);
        });
    }
    for index in &raw.indexes {
        let Some(keys) = keys(index) else { continue };
        let Some((path, _)) =
            keys.first().filter(|(path, _)| *path != "_id" && !lists.contains(*path))
        else {
            continue;
        };
        let path = (*path).to_owned();
        let is_whole = !is_set(index, "sparse") && !index.contains_key("partialFilterExpression");
        if keys.len() == 1 && is_set(index, "unique") {
            let required = facts.unique.entry(path.clone()).or_default();
            *required |= is_whole;
        }
        if keys.len() == 1 && expires(index).is_some() {
            facts.expiring.insert(path.clone());
        }
        let Some(values) = values.get(&path).filter(|_| is_whole && !raw.is_complete) else {
            continue;
        };
        let different: BTreeSet<Vec<u8>> = values.iter().map(|value| encoded(value)).collect();
        if different.len() < values.len() && !facts.counted.contains_key(&path) {
            let groups = [
                doc! { "$group": { "_id": format!("${path}") } },
                doc! { "$group": { "_id": Bson::Null, "values": { "$sum": 1 } } },
            ];
            let count = doc! { "aggregate": &raw.name, "pipeline": groups, "hint": name(index), "cursor": {} };
            let counted = server.list(database, count)?.unwrap_or_default();
            if let Some(values_counted) = counted.first().map(|group| figure(group, "values")) {
                // Documents without the field are a group as well.
                let lacking = u64::from(values.len() < raw.sample.len());
                facts.counted.insert(
                    path,
                    (values_counted - lacking.min(values_counted)).max(different.len() as u64),
                );
            }
        }
    }
    Ok(facts)
}

fn described(database: &str, raw: &Raw, facts: &Facts) -> Stored {
    let described = describe(&raw.sample, facts);
    let mut omitted = described.omitted.clone();
    let settings = settings(raw, &described.fields);
    let index_sizes = raw.stats.get_document("indexSizes").cloned().unwrap_or_default();
    let is_kept = |index: &Document| raw.series().is_none() || expires(index).is_none();
    let (listed, expiring): (Vec<_>, Vec<_>) = raw.indexes.iter().cloned().partition(is_kept);
    omitted.extend(expiring.iter().map(|index| {
        format!("index {}: in the file, no index of a time series removes documents", name(index))
    }));
    let (indexes, left) = indexes(&listed, &index_sizes, &raw.uses, &described);
    omitted.extend(left);
    let is_written = |option: &str| match option {
        "timeseries" | "expireAfterSeconds" => raw.series().is_some(),
        option => ["storageEngine", "idIndex"].contains(&option),
    };
    let options = raw.options.keys().filter(|option| !is_written(option));
    omitted.extend(options.map(|option| format!("option {option}: options may hold values")));
    let mut sizes: Vec<usize> = raw.sample.iter().map(document_size).collect();
    sizes.sort_unstable();
    let at = |percent: usize| sizes[percent * (sizes.len() - 1) / 100] as u64;
    Stored {
        database: database.into(),
        name: raw.name.clone(),
        documents: raw.documents,
        bytes: raw.bytes,
        stored_bytes: figure(&raw.stats, "storageSize"),
        index_bytes: figure(&raw.stats, "totalIndexSize"),
        sampled: raw.sample.len() as u64,
        sizes: [1, 50, 95, 99].map(at),
        fields: described.fields,
        spelled: described.spelled,
        indexes,
        settings,
        omitted,
    }
}

/// What the file says besides documents and indexes.
fn settings(raw: &Raw, fields: &[Field]) -> Vec<(String, Literal)> {
    let mut settings = Vec::new();
    let mut usual = "snappy";
    if let Some(series) = raw.series() {
        usual = "zstd";
        let names = [("time", "timeField"), ("meta", "metaField"), ("granularity", "granularity")];
        // The field that the collection names may be in no measurement.
        let is_there =
            |key: &str, word: &str| key != "meta" || fields.iter().any(|field| field.path == word);
        let words = names.iter().filter_map(|(key, option)| {
            let word = series.get_str(option).ok().filter(|word| is_there(key, word))?;
            Some(((*key).into(), Literal::Text(word.into())))
        });
        settings.push(("time_series".into(), Literal::Map(words.collect())));
        if let Some(after) = expires(&raw.options) {
            settings.push(("expire_after".into(), after));
        }
    }
    if let Some(name) = compressor(&raw.stats).filter(|name| *name != usual) {
        settings.push(("options".into(), with_compressor(name)));
    }
    settings
}

/// What the pages of a collection are compressed with.
fn compressor(stats: &Document) -> Option<&str> {
    let created = stats.get_document("wiredTiger").ok()?.get_str("creationString").ok()?;
    let name = created.split(',').find_map(|part| part.strip_prefix("block_compressor="))?;
    Some(if name.is_empty() { "none" } else { name })
}

fn with_compressor(name: &str) -> Literal {
    let config = Literal::Text(format!("block_compressor={name}"));
    ["configString", "wiredTiger", "storageEngine"]
        .into_iter()
        .fold(config, |inner, key| map(key, inner))
}

/// A whole number of an answer, whatever its type.
pub(crate) fn figure(document: &Document, key: &str) -> u64 {
    document.get(key).and_then(numeric).unwrap_or_default() as u64
}
