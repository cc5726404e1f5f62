//! Fields that hold the `_id` of another collection.

use crate::ImitateError;
use crate::collections::Raw;
use crate::documents::{Kind, encoded, numeric};
use crate::server::Server;
use mongodb::bson::{Bson, Document, doc};
use std::collections::{BTreeMap, BTreeSet};

/// Values of a field to look for, and the fewest that say anything.
const MOST_VALUES: usize = 200;
const FEWEST_VALUES: usize = 2;
/// The share of them that must be found.
const FOUND: f64 = 0.95;
const DEEPEST: usize = 8;

/// Calls `visit` for each value that is no document or list, with its path and whether it lies in a list.
pub(crate) fn leaves<'a>(document: &'a Document, visit: &mut impl FnMut(&str, bool, &'a Bson)) {
    fn value<'a>(
        path: &str,
        (is_in_list, depth): (bool, usize),
        found: &'a Bson,
        visit: &mut impl FnMut(&str, bool, &'a Bson),
    ) {
        match found {
            Bson::Document(inner) if depth < DEEPEST => {
                for (name, found) in inner {
                    value(&format!("{path}.{name}"), (is_in_list, depth + 1), found, visit);
                }
            }
            Bson::Array(items) if depth < DEEPEST => {
                items.iter().for_each(|item| value(path, (true, depth + 1), item, visit));
            }
            leaf => visit(path, is_in_list, leaf),
        }
    }
    for (name, found) in document {
        value(name, (false, 0), found, visit);
    }
}

/// By path, the collection that the fields of one refer to, with its number of documents.
pub(crate) fn references(
    server: &Server,
    database: &str,
    of: &Raw,
    all: &[Raw],
) -> Result<BTreeMap<String, (String, u64)>, ImitateError> {
    let mut values: BTreeMap<String, Vec<&Bson>> = BTreeMap::new();
    for document in &of.sample {
        leaves(document, &mut |path, _, value| {
            let kind = Kind::of(value);
            if path != "_id" && matches!(kind, Kind::ObjectId | Kind::Uuid | Kind::Text | Kind::Int)
            {
                values.entry(path.into()).or_default().push(value);
            }
        });
    }
    let mut found = BTreeMap::new();
    for (path, mut values) in values {
        let mut known: BTreeSet<Vec<u8>> = BTreeSet::new();
        values.retain(|value| known.len() < MOST_VALUES && known.insert(encoded(value)));
        if values.len() < FEWEST_VALUES {
            continue;
        }
        let mut candidates: Vec<&Raw> =
            all.iter().filter(|target| may_refer(&path, &values, target)).collect();
        // A field is more likely named for the collection that it refers to.
        candidates.sort_by_key(|target| !is_named_for(&path, &target.name));
        for target in candidates {
            if share_found(server, database, &values, target)? >= FOUND {
                found.insert(path, (target.name.clone(), target.documents));
                break;
            }
        }
    }
    Ok(found)
}

/// Whether values look like ids of the collection. Small whole numbers are ids of any collection that counts its documents, so their field must be named for it.
fn may_refer(path: &str, values: &[&Bson], target: &Raw) -> bool {
    let ids = || target.sample.iter().filter_map(|document| document.get("_id"));
    let Some(kind) = ids().next().map(Kind::of) else {
        return false;
    };
    let long = |value: &Bson| value.as_str().map_or(0, str::len);
    let (shortest, longest) = (ids().map(long).min(), ids().map(long).max());
    // Measurements have no index on `_id`, so no query finds them by it.
    target.series().is_none()
        && values.iter().all(|value| Kind::of(value) == kind)
        && match kind {
            Kind::Int => is_named_for(path, &target.name),
            _ => values.iter().any(|value| (shortest..=longest).contains(&Some(long(value)))),
        }
}

/// `items.productId` and `product_id` are named for `products`.
pub(crate) fn is_named_for(path: &str, collection: &str) -> bool {
    let plain = |name: &str| {
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    let mut parts = path.rsplit('.').map(plain);
    let last = parts.next().unwrap_or_default();
    let field = match last.as_str() {
        "id" => parts.next().unwrap_or_default(),
        last => last.trim_end_matches("ref").trim_end_matches("id").to_owned(),
    };
    let collection = plain(collection);
    let singular = match collection.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => collection.trim_end_matches('s').to_owned(),
    };
    field.len() >= 3
        && (field == collection
            || field == singular
            || field.trim_end_matches('e') == singular.trim_end_matches('e'))
}

fn share_found(
    server: &Server,
    database: &str,
    values: &[&Bson],
    target: &Raw,
) -> Result<f64, ImitateError> {
    let number_found = if target.is_complete {
        let ids: BTreeSet<Vec<u8>> = target
            .sample
            .iter()
            .filter_map(|document| document.get("_id"))
            .map(comparable)
            .collect();
        values.iter().filter(|value| ids.contains(&comparable(value))).count()
    } else {
        let among: Vec<Bson> = values.iter().map(|value| (*value).clone()).collect();
        let find = doc! { "find": &target.name, "filter": { "_id": { "$in": among } }, "projection": { "_id": 1 }, "batchSize": MOST_VALUES as i64 + 1 };
        server.list(database, find)?.map_or(0, |found| found.len())
    };
    Ok(number_found as f64 / values.len() as f64)
}

/// The same for numbers that a server finds equal.
fn comparable(value: &Bson) -> Vec<u8> {
    match numeric(value) {
        Some(number) => number.to_bits().to_be_bytes().to_vec(),
        None => encoded(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_for_collections() {
        for (path, collection) in [
            ("customer", "customers"),
            ("items.product", "products"),
            ("items.productId", "products"),
            ("product_id", "products"),
            ("category._id", "categories"),
            ("box", "boxes"),
            ("orderRef", "order"),
        ] {
            assert!(is_named_for(path, collection), "{path}");
        }
        for (path, collection) in
            [("quantity", "products"), ("id", "ids"), ("level", "people"), ("items", "orders")]
        {
            assert!(!is_named_for(path, collection), "{path}");
        }
    }
}
