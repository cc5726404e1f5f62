//! Operations where none was seen: what the indexes are for, and what the server counted.

use crate::documents::rounded;
use crate::fields::{StoredField, ValueCount, at, map};
use crate::model::{Index, Observed, Stored};
use crate::operations::Section;
use crate::statement::{free, plain};
use plimsoll_workload::documents::Literal;

const WHY: &str = "# guessed: no operation was seen";
/// Most operations of each kind. A file has 32 operations at most.
const MOST_FINDS: usize = 20;
const MOST_WRITES: usize = 6;
const LIMIT: i64 = 100;
/// Shares of finds, inserts and updates where the server does not tell.
const USUAL: [f64; 3] = [60.0, 20.0, 20.0];
const COUNTERS: [&str; 3] = ["query", "insert", "update"];

/// An operation with its weight among those of its kind.
struct Guess {
    name: String,
    operation: Vec<(String, Literal)>,
    weight: f64,
}

/// Operations and their weights, each marked as a guess.
pub(crate) fn guess(observed: &Observed) -> Section {
    let groups = [finds(observed), inserts(observed), updates(observed)];
    let rate = |name: &str| {
        let rates = observed.server.rates.iter();
        rates.filter(|(known, _)| known == name).map(|(_, rate)| *rate).sum::<f64>()
    };
    let counted = COUNTERS.map(rate);
    let is_counted =
        counted.iter().zip(&groups).any(|(rate, group)| *rate > 0.0 && !group.is_empty());
    let shares = if is_counted { counted } else { USUAL };
    let groups: Vec<(f64, Vec<Guess>)> = shares
        .into_iter()
        .zip(groups)
        .filter(|(share, group)| *share > 0.0 && !group.is_empty())
        .collect();
    let all: f64 = groups.iter().map(|(share, _)| share).sum();
    let mut section = Section::default();
    let mut names: Vec<String> = Vec::new();
    for (share, group) in groups {
        let of_group: f64 = group.iter().map(|guess| guess.weight).sum();
        for Guess { name, operation, weight } in group {
            let name = free(plain(&name), |name| names.iter().any(|taken| taken == name));
            let operation = Literal::Map(operation).to_string();
            section.operations.push(format!("{name}: {operation} {WHY}"));
            let percent = rounded(100.0 * share / all * weight / of_group);
            section.mix.push(format!("{name}: {percent}%"));
            names.push(name);
        }
    }
    let deletes = rate("delete");
    if deletes > 0.0 {
        section.omitted.push(format!(
            "deletes, {} per second: which documents is not known",
            rounded(deletes)
        ));
    }
    section
}

fn text(text: &str) -> Literal {
    Literal::Text(text.into())
}

/// An operation of this kind, by default as often as the collection is large.
fn guessed<const N: usize>(kind: &str, stored: &Stored, further: [(&str, Literal); N]) -> Guess {
    let entries = [(kind, text(&stored.name))].into_iter().chain(further);
    Guess {
        name: format!("{kind}-{}", stored.name),
        operation: entries.map(|(key, value)| (key.to_owned(), value)).collect(),
        weight: stored.documents as f64,
    }
}

/// One find by each index that is used; by `_id` where there is none.
fn finds(observed: &Observed) -> Vec<Guess> {
    let mut finds: Vec<Guess> = Vec::new();
    for stored in &observed.collections {
        let used = stored.indexes.iter().filter(|index| index.uses != Some(0));
        finds.extend(used.filter_map(|index| find(stored, index, observed)));
    }
    finds.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    finds.truncate(MOST_FINDS);
    if finds.is_empty() {
        let by_id = observed.collections.iter().filter(|stored| !stored.is_time_series());
        let largest = by_id.take(MOST_WRITES);
        finds.extend(largest.map(|stored| guessed("find", stored, [("by", text("_id"))])));
    }
    finds
}

fn find(stored: &Stored, index: &Index, observed: &Observed) -> Option<Guess> {
    let ((path, _), sorted) = index.keys().entries().split_first()?;
    let field =
        at(&stored.fields, path, &observed.collections).filter(StoredField::can_be_asked)?;
    let mut find = match field.pick {
        _ if has_no_values(&field.generator) => return None,
        ValueCount::Free => {
            let with = map("value", map("from", text(path)));
            guessed("find", stored, [("filter", map(path, text("<value>"))), ("with", with)])
        }
        _ => guessed("find", stored, [("by", text(path))]),
    };
    if !sorted.is_empty() {
        find.operation.push(("sort".into(), Literal::Map(sorted.to_vec())));
    }
    find.operation.push(("limit".into(), Literal::Int(LIMIT)));
    find.name = format!("{}-by-{path}", stored.name);
    find.weight = index.uses.unwrap_or_default() as f64 + 1.0;
    Some(find)
}

/// Whether there is nothing to ask for or to change.
fn has_no_values(generator: &Literal) -> bool {
    ["document", "list", "null", "value"].iter().any(|kind| generator.get(kind).is_some())
}

fn inserts(observed: &Observed) -> Vec<Guess> {
    let largest = observed.collections.iter().take(MOST_WRITES);
    largest.map(|stored| guessed("insert", stored, [])).collect()
}

/// One field of each collection gets new values: one without index, if there is any.
fn updates(observed: &Observed) -> Vec<Guess> {
    let update = |stored: &Stored| {
        let paths = stored.fields.iter().map(|field| &field.path);
        let changed = paths.filter(|path| {
            let field =
                at(&stored.fields, path, &observed.collections).filter(StoredField::can_be_set);
            field.is_some_and(|field| !has_no_values(&field.generator))
        });
        let is_indexed =
            |path: &String| stored.indexes.iter().any(|index| index.keys().get(path).is_some());
        let set = Literal::List(vec![text(changed.min_by_key(|path| is_indexed(path))?)]);
        Some(guessed("update", stored, [("by", text("_id")), ("set", set)]))
    };
    let changing = observed.collections.iter().filter(|stored| !stored.is_time_series());
    changing.filter_map(update).take(MOST_WRITES).collect()
}
