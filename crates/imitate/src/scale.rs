//! The same observation with fewer documents, or more.

use crate::documents::{count, rounded};
use crate::model::{Observed, Stored};
use plimsoll_record::quantities::units;
use plimsoll_workload::documents::{Literal, MOST_WEIGHTED};
use std::collections::HashMap;

/// As many values as this are states or categories, which do not grow with the data.
const FEW: u64 = 100;

/// Multiplies documents, numbers of values and the cache. Rates stay.
pub(crate) fn scaled(observed: &Observed, scale: f64) -> Observed {
    let times = |amount: u64| (rounded(amount as f64 * scale) as u64).max(1);
    let documents: HashMap<&str, u64> = (observed.collections.iter())
        .map(|stored| (stored.name.as_str(), times(stored.documents)))
        .collect();
    let mut scaled = observed.clone();
    let cache = observed.server.cache_bytes;
    scaled.server.cache_bytes = cache.map(|bytes| (bytes as f64 * scale) as u64);
    for stored in &mut scaled.collections {
        let own = documents[stored.name.as_str()];
        let Stored { documents: all, bytes, stored_bytes, index_bytes, fields, .. } = stored;
        let share = own as f64 / (*all).max(1) as f64;
        for amount in [bytes, stored_bytes, index_bytes] {
            *amount = (*amount as f64 * share) as u64;
        }
        *all = own;
        for field in fields {
            if let Some(generator) = &mut field.generator {
                resize(generator, own, scale, &documents);
            }
        }
    }
    scaled
}

/// Multiplies the numbers of values in a generator, and in those within it.
fn resize(generator: &mut Literal, own: u64, scale: f64, documents: &HashMap<&str, u64>) {
    let Literal::Map(entries) = generator else {
        return;
    };
    let target = entries.iter().find_map(|(kind, name)| match (kind.as_str(), name) {
        ("key_of", Literal::Text(name)) => documents.get(name.as_str()).copied(),
        _ => None,
    });
    let range = entries.iter().find_map(|(_, law)| match law.get("uniform") {
        Some(Literal::List(ends)) => match ends.as_slice() {
            [Literal::Int(least), Literal::Int(most)] => {
                Some(least.abs_diff(*most).saturating_add(1))
            }
            _ => None,
        },
        _ => None,
    });
    let range = range.unwrap_or(u64::MAX);
    let mut values = target;
    for (key, value) in entries.iter_mut() {
        match (key.as_str(), &mut *value) {
            ("document", Literal::Map(fields)) => {
                fields.iter_mut().for_each(|(_, field)| resize(field, own, scale, documents));
            }
            ("list", item) => resize(item, own, scale, documents),
            ("distinct", Literal::Int(_) | Literal::Text(_)) => {
                let text =
                    if let Literal::Text(text) = &value { text.clone() } else { value.to_string() };
                let all = units::parse_count(&text).unwrap_or(1);
                let grown = (rounded(all as f64 * scale) as u64).max(FEW);
                let scaled = if all <= FEW { all } else { grown };
                let scaled = scaled.min(own).min(target.unwrap_or(range));
                *value = count(scaled);
                values = Some(scaled);
            }
            _ => {}
        }
    }
    if values.is_some_and(|values| values > MOST_WEIGHTED) {
        entries.retain(|(key, _)| key != "skew");
    }
}
