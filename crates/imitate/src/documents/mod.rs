//! From sampled documents to generators of the file.

mod law;
mod scalar;
mod tally;
#[cfg(test)]
mod tests;

pub(crate) use law::{count, percent, rounded};
pub(crate) use scalar::{Kind, encoded, numeric};

use crate::model::Field;
use law::{FEWEST, lengths, share};
use mongodb::bson::{Bson, Document};
use plimsoll_workload::Stream;
use plimsoll_workload::documents::Literal;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tally::{entropy, explained};

const MOST_NAMES: usize = 100;
/// Fewer names are those of fields, however few documents have them.
const MANY_NAMES: usize = 20;
/// Documents within documents: a file nests 32 deep, and each document takes two levels of it.
const DEEPEST: usize = 8;
const LONGEST_NAME: usize = 200;
/// The share of the entropy of a field that is gone once another field is known, for one to follow the other.
const FOLLOWS: f64 = 0.9;
/// The share of the entropy that chance must leave unexplained; with less, the sample is too small to decide.
const LEFT_BY_CHANCE: f64 = 0.2;

/// What is known of a collection besides its sample.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) documents: u64,
    /// How many fields the experiment file has room for.
    pub(crate) most_fields: usize,
    pub(crate) is_complete: bool,
    /// Fields with a unique index, and whether every document must have the field.
    pub(crate) unique: BTreeMap<String, bool>,
    /// How many values fields have, where an index shows it.
    pub(crate) counted: BTreeMap<String, u64>,
    /// Dates by which an index removes documents.
    pub(crate) expiring: BTreeSet<String>,
    /// The date by which a time series keeps its measurements.
    pub(crate) time: Option<String>,
    /// The server's present time, in milliseconds since 1970.
    pub(crate) now_ms: f64,
    /// Fields that hold the `_id` of another collection, with its name and number of documents.
    pub(crate) references: BTreeMap<String, (String, u64)>,
}

#[derive(Debug, Default)]
pub(crate) struct Described {
    pub(crate) fields: Vec<Field>,
    pub(crate) omitted: Vec<String>,
    pub(crate) lists: BTreeSet<String>,
    /// How the file spells values of a choice, by the field and a keyed hash of the value.
    pub(crate) spelled: HashMap<(String, u64), String>,
}

pub(crate) fn describe(sample: &[Document], facts: &Facts) -> Described {
    let mut rows: Vec<&Document> = sample.iter().collect();
    let is_ordered = rows.windows(2).all(|pair| by_id(pair[0], pair[1]).is_some());
    if is_ordered {
        rows.sort_by(|one, other| by_id(one, other).unwrap_or(Ordering::Equal));
    }
    let mut reader = Reader { facts, described: Described::default(), is_ordered };
    let rows: Vec<(usize, &Document)> = rows.into_iter().enumerate().collect();
    reader.level("", &rows, Place::default());
    reader.described
}

/// The order of two documents by `_id`, where such ids ascend with time.
fn by_id(one: &Document, other: &Document) -> Option<Ordering> {
    match (one.get("_id")?, other.get("_id")?) {
        (Bson::ObjectId(one), Bson::ObjectId(other)) => Some(one.bytes().cmp(&other.bytes())),
        (Bson::DateTime(one), Bson::DateTime(other)) => Some(one.cmp(other)),
        (one, other) => scalar::numeric(one)?.partial_cmp(&scalar::numeric(other)?),
    }
}

/// How deep values stand, and whether they stand in a list.
#[derive(Clone, Copy, Default)]
struct Place {
    is_in_list: bool,
    depth: usize,
}

pub(crate) struct Generator {
    entries: Vec<(String, Literal)>,
    notes: Vec<String>,
    /// Which of a known number of values each row has.
    classes: Option<HashMap<usize, usize>>,
}

impl Generator {
    pub(crate) fn new(kind: &str, value: Literal) -> Self {
        Self { entries: vec![(kind.into(), value)], notes: Vec::new(), classes: None }
    }

    pub(crate) fn with(mut self, key: &str, value: Literal) -> Self {
        self.entries.push((key.into(), value));
        self
    }
}

pub(crate) struct Reader<'a> {
    facts: &'a Facts,
    described: Described,
    /// Whether rows are in the order in which documents were inserted.
    is_ordered: bool,
}

impl Reader<'_> {
    fn omit(&mut self, path: &str, why: &str) {
        self.described.omitted.push(format!("{path}: {why}"));
    }

    /// The generators of all fields of documents that lie at one path.
    fn level(
        &mut self,
        prefix: &str,
        rows: &[(usize, &Document)],
        place: Place,
    ) -> Vec<(String, Literal)> {
        let shown = if prefix.is_empty() { "documents" } else { prefix };
        let mut names = named(rows);
        let all = names.len();
        let values: usize = names.iter().map(|(_, values)| values.len()).sum();
        if !prefix.is_empty() && all > MANY_NAMES && values < rows.len() * all / 5 {
            // Names that few documents share are keys of a map, and as private as values.
            names = by_position(rows);
            self.omit(shown, &format!("its {all} different names, which may be values"));
        }
        let mut keep = |why: &str, is_kept: &dyn Fn(&str, usize) -> bool| {
            let before = names.len();
            names.retain(|(name, values)| is_kept(name, values.len()));
            if names.len() < before {
                self.omit(shown, &format!("{} of {before} fields: {why}", before - names.len()));
            }
        };
        keep("an experiment file cannot have their names", &|name, _| is_fit(name));
        keep(&format!("fewer than {FEWEST} sampled documents have them"), &|_, times| {
            times >= FEWEST || times * 100 >= rows.len()
        });
        if names.len() > MOST_NAMES {
            let left = names.len() - MOST_NAMES;
            self.omit(shown, &format!("{left} of {} fields, the least frequent", names.len()));
            let mut times: Vec<usize> = names.iter().map(|(_, values)| values.len()).collect();
            times.sort_unstable_by_key(|times| std::cmp::Reverse(*times));
            names.retain(|(_, values)| values.len() >= times[MOST_NAMES - 1]);
            names.truncate(MOST_NAMES);
        }
        let mut level: Vec<(String, Generator)> = Vec::new();
        for (name, values) in names {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            if let Some(generator) = self.field(&path, &values, rows.len(), place) {
                level.push((name, generator));
            }
        }
        if !place.is_in_list {
            self.follow(prefix, &mut level);
        }
        level.into_iter().map(|(name, generator)| (name, Literal::Map(generator.entries))).collect()
    }

    fn field(
        &mut self,
        path: &str,
        values: &[(usize, &Bson)],
        parents: usize,
        place: Place,
    ) -> Option<Generator> {
        if place.depth >= DEEPEST {
            self.omit(path, "it lies too deep for an experiment file");
            return None;
        }
        if self.described.fields.len() >= self.facts.most_fields {
            self.omit(path, "there are more fields than an experiment file holds");
            return None;
        }
        let at = self.described.fields.len();
        // Before the fields that lie in it.
        self.described.fields.push(Field {
            path: path.into(),
            generator: None,
            origin: String::new(),
        });
        let Some((mut generator, used)) = self.generator(path, values, place) else {
            self.described.fields.truncate(at);
            return None;
        };
        let is_everywhere = path == "_id" || self.facts.unique.get(path) == Some(&true);
        if used < parents && !is_everywhere {
            generator = generator.with("present", share(used as f64 / parents as f64));
        }
        let field = &mut self.described.fields[at];
        field.origin = generator.notes.join("; ");
        field.generator = (place.depth == 0).then(|| Literal::Map(generator.entries.clone()));
        Some(generator)
    }

    /// The generator of the most frequent type of these values, with how many values have it.
    fn generator(
        &mut self,
        path: &str,
        values: &[(usize, &Bson)],
        place: Place,
    ) -> Option<(Generator, usize)> {
        let (kind, others) = Kind::most_frequent(values.iter().map(|(_, value)| *value));
        if let Kind::Unknown(name) = kind {
            self.omit(path, &format!("an experiment file has no values of the type {name}"));
            return None;
        }
        let used: Vec<(usize, &Bson)> =
            values.iter().copied().filter(|(_, value)| kind.holds(value)).collect();
        let mut generator = match kind {
            Kind::Document => {
                let rows: Vec<(usize, &Document)> = (used.iter())
                    .filter_map(|(row, value)| Some((*row, value.as_document()?)))
                    .collect();
                let inner = self.level(path, &rows, Place { depth: place.depth + 1, ..place });
                match inner.is_empty() {
                    true => Generator::new("value", Literal::Map(Vec::new())),
                    false => Generator::new("document", Literal::Map(inner)),
                }
            }
            Kind::List => self.list(path, &used, place),
            _ if path == "_id" && !kind.identifies() => {
                let why = format!(
                    "the file has no `_id` of the type {}; it is an object_id there",
                    kind.word()
                );
                self.omit(path, &why);
                Generator::new("object_id", Literal::Null)
            }
            _ => self.scalar(path, kind, &used, place),
        };
        if path == "_id" && matches!(kind, Kind::Document | Kind::List) {
            self.omit(path, "the file has no `_id` of several fields; it is an object_id there");
            self.described.fields.truncate(1);
            generator = Generator::new("object_id", Literal::Null);
        }
        for (kind, times) in others {
            let part = percent(times as f64 / values.len() as f64);
            generator.notes.push(format!("{part} are {}, left out", kind.word()));
        }
        Some((generator, used.len()))
    }

    fn list(&mut self, path: &str, lists: &[(usize, &Bson)], place: Place) -> Generator {
        let lists = lists.iter().filter_map(|(row, value)| Some((*row, value.as_array()?)));
        let lists: Vec<(usize, &Vec<Bson>)> = lists.collect();
        let long = lists.iter().map(|(_, items)| items.len() as f64).collect();
        let items: Vec<(usize, &Bson)> =
            lists.iter().flat_map(|(row, items)| items.iter().map(|item| (*row, item))).collect();
        let inner = Place { is_in_list: true, depth: place.depth + 1 };
        let item = match items.is_empty() || inner.depth >= DEEPEST {
            true => None,
            false => self.generator(path, &items, inner),
        };
        let (item, notes) = match item {
            Some((item, _)) => (item.entries, item.notes),
            None => (vec![("null".into(), Literal::Null)], Vec::new()),
        };
        self.described.lists.insert(path.into());
        let list = Generator::new("list", Literal::Map(item));
        let list = list.with("length", lengths(long, 0.0));
        Generator { notes, ..list }
    }

    /// Finds fields whose value determines the value of another field of the same document, as a city determines its country.
    fn follow(&mut self, prefix: &str, level: &mut [(String, Generator)]) {
        for at in 1..level.len() {
            let (before, rest) = level.split_at_mut(at);
            let (name, follower) = &mut rest[0];
            let leader = before.iter().find(|(_, leader)| are_tied(leader, follower));
            if let Some((leader, _)) = leader {
                follower.entries.push(("follows".into(), Literal::Text(leader.clone())));
                let path =
                    if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                let mut fields = self.described.fields.iter_mut();
                if let Some(field) = fields.find(|field| field.path == path)
                    && field.generator.is_some()
                {
                    field.generator = Some(Literal::Map(follower.entries.clone()));
                }
            }
        }
    }
}

/// Whether the value of one field determines the value of the other, and more than a sample of this size would show by chance.
fn are_tied(leader: &Generator, follower: &Generator) -> bool {
    let (Some(leader), Some(follower)) = (&leader.classes, &follower.classes) else {
        return false;
    };
    let mut both: Vec<(usize, usize, usize)> = (leader.iter())
        .filter_map(|(row, class)| Some((*row, *class, *follower.get(row)?)))
        .collect();
    both.sort_unstable();
    let leads: Vec<usize> = both.iter().map(|(_, lead, _)| *lead).collect();
    let follows: Vec<usize> = both.iter().map(|(_, _, follow)| *follow).collect();
    // In another order, as if the two had nothing to do with each other.
    let mut order: Vec<usize> = (0..both.len()).collect();
    order.sort_by_key(|row| Stream::from_state(*row as u64).bits());
    let mixed: Vec<usize> = order.into_iter().map(|row| follows[row]).collect();
    let tied = |of: &[usize], by: &[usize], by_chance: (&[usize], &[usize])| {
        // With few documents for each value, chance alone explains much.
        let by_chance = 1.0 - explained(by_chance.0, by_chance.1);
        by_chance >= LEFT_BY_CHANCE && 1.0 - explained(of, by) <= (1.0 - FOLLOWS) * by_chance
    };
    both.len() >= 10 * FEWEST
        && entropy(leads.iter()) > 0.3
        && entropy(follows.iter()) > 0.3
        && (tied(&leads, &follows, (&leads, &mixed)) || tied(&follows, &leads, (&mixed, &leads)))
}

/// The values of one field, each with the number of its document.
type Rows<'a> = Vec<(usize, &'a Bson)>;

/// The fields of documents, in the order in which they come first.
fn named<'a>(rows: &[(usize, &'a Document)]) -> Vec<(String, Rows<'a>)> {
    let mut names: Vec<(String, Rows<'a>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (row, document) in rows {
        for (name, value) in *document {
            let at = *known.entry(name).or_insert_with(|| {
                names.push((name.clone(), Vec::new()));
                names.len() - 1
            });
            names[at].1.push((*row, value));
        }
    }
    names
}

/// As many fields as the largest document has, with names as long as those of the documents.
fn by_position<'a>(rows: &[(usize, &'a Document)]) -> Vec<(String, Rows<'a>)> {
    let mut names: Vec<(String, Rows<'a>)> = Vec::new();
    let (mut letters, mut times) = (0, 0);
    for (row, document) in rows {
        for (at, (name, value)) in document.iter().enumerate() {
            if at == names.len() {
                names.push((format!("k{}", at + 1), Vec::new()));
            }
            names[at].1.push((*row, value));
            (letters, times) = (letters + name.len(), times + 1);
        }
    }
    let long = letters.checked_div(times).unwrap_or_default().min(LONGEST_NAME);
    names.iter_mut().for_each(|(name, _)| *name = format!("{name:x<long$}"));
    names
}

/// Whether a file can have a field of this name.
fn is_fit(name: &str) -> bool {
    let is_mark = name.is_empty() || name == "<<" || name.starts_with('$');
    !is_mark && !name.contains(['.', '\0']) && name.len() <= LONGEST_NAME
}
