//! What the file says of a field, and which queries can use its values.

use crate::shapes::ShapeValue;
use crate::{Field, Stored};
use mongodb::bson::spec::ElementType;
use plimsoll_record::quantities::units::{parse_count, parse_duration, parse_share};
use plimsoll_workload::documents::{Literal, is_generator};
use plimsoll_workload::{ScrambledZipfian, Stream};

/// The most values with unequal shares that are simulated.
const MOST_WEIGHTED: u64 = 100_000;
/// The most draws of a simulation.
const MOST_DRAWS: u64 = 10_000;
/// The median position of requested values, from the oldest (0) to the newest (1), from which on they count as the newest.
const NEW: f64 = 0.9;
/// With fewer calls, values do not count as the newest.
const FEWEST: usize = 20;

pub(crate) struct StoredField {
    pub(crate) generator: Literal,
    pub(crate) pick: ValueCount,
    /// Whether the number of documents with a value is known: not within lists, nor where parents are optional or shared.
    pub(crate) is_of_each: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueCount {
    Unique { rises: bool },
    Finite(Vec<f64>, u64),
    Free,
}

/// A map with one key.
pub(crate) fn map(key: &str, value: Literal) -> Literal {
    Literal::Map(vec![(key.into(), value)])
}

/// What the file says of a path, such as `items.0.price` or `address.city`.
pub(crate) fn at(fields: &[Field], path: &str, collections: &[Stored]) -> Option<StoredField> {
    let mut parts = path.split('.');
    let first = parts.next()?;
    let field = fields.iter().find(|field| field.path == first)?;
    let (mut generator, mut is_of_each) = (field.generator.clone()?, true);
    for part in parts {
        if let Some(item) = item(&generator) {
            (generator, is_of_each) = (item, false);
        }
        if part.starts_with('$') || part.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        is_of_each &= ["present", "distinct"].iter().all(|key| generator.get(key).is_none());
        generator = generator.get("document")?.get(part)?.clone();
    }
    Some(StoredField { pick: pick(&generator, collections), generator, is_of_each })
}

impl StoredField {
    /// Whether an operation can ask for a value of the field.
    pub(crate) fn can_be_asked(&self) -> bool {
        self.is_of_each && item(&self.generator).is_none()
    }

    /// Whether the field is a date that ends at the present time.
    pub(crate) fn follows_clock(&self) -> bool {
        let until = self.generator.get("date").and_then(|date| date.get("until"));
        self.can_be_asked()
            && self.pick == ValueCount::Unique { rises: true }
            && until.is_some_and(|until| *until == Literal::Text("now".into()))
    }

    /// Whether `set` can name the field.
    pub(crate) fn can_be_set(&self) -> bool {
        self.is_of_each && !matches!(self.pick, ValueCount::Unique { .. })
    }

    /// The generator of a value, of a list's item for lists.
    pub(crate) fn value(self) -> Literal {
        item(&self.generator).unwrap_or(self.generator)
    }
}

fn item(generator: &Literal) -> Option<Literal> {
    let list = generator.get("list")?;
    Some(if is_generator(list) { list.clone() } else { map("document", list.clone()) })
}

fn pick(generator: &Literal, collections: &[Stored]) -> ValueCount {
    let number = |value: &Literal| value.scalar().and_then(|text| parse_count(&text).ok());
    if let Some(values) = generator.get("distinct").and_then(number) {
        return ValueCount::Finite(skewed(generator, values), values);
    }
    for (kind, value) in generator.entries() {
        match (kind.as_str(), value) {
            ("choice", Literal::Map(weighted)) => {
                let share = |(_, weight): &(String, Literal)| {
                    weight.scalar().and_then(|text| parse_share(&text).ok()).unwrap_or(0.0)
                };
                return ValueCount::Finite(
                    weighted.iter().map(share).collect(),
                    weighted.len() as u64,
                );
            }
            ("choice", Literal::List(items)) => {
                return ValueCount::Finite(Vec::new(), items.len() as u64);
            }
            ("bool", _) => return ValueCount::Finite(Vec::new(), 2),
            ("key_of", name) => {
                let known =
                    collections.iter().find(|known| Some(&known.name) == name.scalar().as_ref());
                let values = known.map_or(1, |known| known.documents.max(1));
                return ValueCount::Finite(skewed(generator, values), values);
            }
            ("object_id" | "uuid", _) => return ValueCount::Unique { rises: false },
            ("int" | "double" | "decimal", value) if is_sequence(value) => {
                return ValueCount::Unique { rises: kind == "int" };
            }
            ("date", value) => {
                let every = value.get("every").and_then(Literal::scalar);
                let every = every.and_then(|text| parse_duration(&text).ok());
                // Within a millisecond, several documents have the same date.
                if every.is_some_and(|every| every >= 1_000_000) {
                    return ValueCount::Unique { rises: true };
                }
            }
            _ => {}
        }
    }
    match generator.get("unique") {
        Some(Literal::Bool(true)) => ValueCount::Unique { rises: false },
        _ => ValueCount::Free,
    }
}

/// Whether the file knows values of the field that no document has.
pub(crate) fn has_absent(generator: &Literal, collections: &[Stored]) -> bool {
    let named = |name: &str| collections.iter().find(|stored| stored.name == name);
    let has = |key| generator.get(key).is_some();
    generator.entries().first().is_some_and(|(kind, value)| match kind.as_str() {
        "text" | "bytes" => has("distinct") || has("unique"),
        "object_id" | "uuid" => true,
        "int" | "double" | "decimal" => is_sequence(value),
        "date" => value.get("every").is_some(),
        "key_of" => {
            let target = value.scalar().and_then(|name| at(&named(&name)?.fields, "_id", &[]));
            target.is_some_and(|id| has_absent(&id.generator, &[]))
        }
        _ => false,
    })
}

fn is_sequence(value: &Literal) -> bool {
    value.scalar().as_deref() == Some("sequence") || value.get("sequence").is_some()
}

/// Weights of the values, the largest first; none where they are all alike.
fn skewed(generator: &Literal, values: u64) -> Vec<f64> {
    let exponent = match generator.get("skew") {
        Some(Literal::Text(word)) if word == "zipfian" => 0.99,
        Some(skew) => match skew.get("zipfian") {
            Some(Literal::Double(exponent)) => *exponent,
            Some(Literal::Int(exponent)) => *exponent as f64,
            _ => return Vec::new(),
        },
        None => return Vec::new(),
    };
    (1..=values.min(MOST_WEIGHTED)).map(|rank| (rank as f64).powf(-exponent)).collect()
}

/// How values of a field with `values` values are drawn: the law that gives the hottest of them a share as near as possible to what was seen. `documents`
/// draws a value as often as documents have it.
pub(crate) fn keys(parameter: &ShapeValue, pick: &ValueCount, records: u64) -> &'static str {
    if matches!(pick, ValueCount::Unique { .. }) && records > 1 && is_new(&parameter.orders) {
        return "latest";
    }
    let few = parameter.access.levels.iter().rfind(|(calls, _)| *calls <= MOST_DRAWS).copied();
    let Some((calls, seen)) = few.or_else(|| parameter.access.hottest()) else {
        return "uniform";
    };
    let (weights, values) = match pick {
        ValueCount::Finite(weights, values) => (weights.as_slice(), *values),
        ValueCount::Unique { .. } | ValueCount::Free => (&[][..], records.max(1)),
    };
    let zipfian = ScrambledZipfian::new(0, values);
    let mut laws: Vec<(&str, f64)> = vec![
        ("uniform", simulated(calls, |stream| stream.below(values))),
        ("zipfian", simulated(calls, |stream| zipfian.draw(stream))),
    ];
    if !weights.is_empty() {
        let mut sums = vec![0.0];
        weights.iter().for_each(|weight| sums.push(sums[sums.len() - 1] + weight));
        let draw = |stream: &mut Stream| {
            let at = stream.unit() * sums[sums.len() - 1];
            sums.partition_point(|end| *end <= at) as u64
        };
        laws.push(("documents", simulated(calls, draw)));
    }
    let distance = |share: f64| (share.max(1e-9) / seen.max(1e-9)).ln().abs();
    let nearest =
        laws.iter().min_by(|(_, one), (_, other)| distance(*one).total_cmp(&distance(*other)));
    nearest.map_or("uniform", |(law, _)| law)
}

/// The share that the hottest 1 % of the values get by a law.
fn simulated(calls: u64, draw: impl Fn(&mut Stream) -> u64) -> f64 {
    let mut stream = Stream::from_state(1);
    let mut access = crate::counts::ValueFrequencies::default();
    (0..calls).for_each(|_| access.add(draw(&mut stream), &mut { u64::MAX }));
    access.hottest().map_or(0.0, |(_, share)| share)
}

/// Whether most requested values were among the newest at the time of their call.
pub(crate) fn is_new(orders: &[f64]) -> bool {
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut places = Vec::new();
    for order in orders {
        (first, last) = (first.min(*order), last.max(*order));
        places.extend((last > first).then(|| (order - first) / (last - first)));
    }
    places.sort_by(f64::total_cmp);
    places.len() >= FEWEST && places[places.len() / 2] >= NEW
}

/// A generator for new values of a field: without what needs other documents or fields. Where there is none, or one that counts documents, the type and the
/// length of what was seen decide.
pub(crate) fn for_new_values(
    generator: Option<Literal>,
    kind: ElementType,
    length: u64,
) -> Literal {
    let counts = |generator: &Literal| {
        let kinds = ["int", "double", "decimal", "date"];
        let is_counter = kinds.iter().any(|kind| generator.get(kind).is_some());
        is_counter && matches!(pick(generator, &[]), ValueCount::Unique { .. })
    };
    let Some(generator) = generator.filter(|generator| !counts(generator)) else {
        return by_kind(kind, length);
    };
    let entries = generator.entries().iter();
    let alone = ["present", "unique", "follows"];
    Literal::Map(entries.filter(|(key, _)| !alone.contains(&key.as_str())).cloned().collect())
}

/// A generator for values of this type and length.
fn by_kind(kind: ElementType, length: u64) -> Literal {
    let kind = match kind {
        ElementType::Int32 | ElementType::Int64 => r#""int": {"uniform": [2, 9]}"#,
        ElementType::Double | ElementType::Decimal128 => r#""double": {"uniform": [0, 9]}"#,
        ElementType::DateTime | ElementType::Timestamp => {
            r#""date": {"uniform": ["2024-01-01", "2026-01-01"]}"#
        }
        ElementType::ObjectId => r#""object_id": null"#,
        ElementType::Boolean => r#""bool": null"#,
        ElementType::Null | ElementType::Undefined => r#""null": null"#,
        ElementType::EmbeddedDocument => r#""document": {"value": {"text": 8}}"#,
        ElementType::Array => {
            &format!(r#""list": {{"int": {{"uniform": [2, 9]}}}}, "length": {length}"#)
        }
        ElementType::Binary => &format!(r#""bytes": {length}"#),
        _ => &format!(r#""text": {length}"#),
    };
    serde_json::from_str(&format!("{{{kind}}}")).unwrap_or_default()
}
