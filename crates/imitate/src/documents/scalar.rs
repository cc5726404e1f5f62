//! Values that are no documents or lists.

use crate::documents::law::{
    FEWEST, count, ends, lengths, number, quantile, rounded, share, table,
};
use crate::documents::tally::{Population, Tally};
use crate::documents::{Generator, Place, Reader};
use crate::fields::map;
use crate::form::hash;
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Bson, DateTime, doc};
use plimsoll_record::quantities::units;
use plimsoll_workload::documents::Literal;
use std::collections::HashMap;

/// The most values of a `choice`, and the longest of them.
const MOST_CHOICES: u64 = 20;
const LONGEST_CHOICE: f64 = 40.0;
/// Numbers of values from which on an estimate is called a guess.
const GUESS: u64 = 300;
/// What a compressor sees at a time: a page of WiredTiger.
const PAGE: usize = 32 << 10;
/// Shorter texts, and fewer of them, do not tell how they compress.
const COMPRESSED: (usize, usize) = (16, 4 << 10);
const DAY_MS: f64 = 86_400_000.0;
const HOUR_MS: f64 = 3_600_000.0;
/// Later dates, which are past the year 2100, count as this one.
const LATEST_MS: f64 = 130.0 * 365.25 * DAY_MS;
/// Dates end at the present time if the newest sampled date is at most this far from the server's time, or at most this many gaps between sampled dates.
const NEAR_MS: f64 = 5.0 * 60_000.0;
const NEAR_STEPS: f64 = 5.0;
/// The shortest step of a file's dates. Below a millisecond several documents have the same date.
const LEAST_STEP_MS: f64 = 0.001;
/// Where dates are put by which documents expire, from now on.
const AHEAD_MS: f64 = 730.0 * DAY_MS;

/// The kinds of a file that a type can become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Int,
    Double,
    Decimal,
    Text,
    Bytes,
    Date,
    ObjectId,
    Uuid,
    Bool,
    Null,
    Document,
    List,
    Unknown(&'static str),
}

impl Kind {
    pub(crate) fn of(value: &Bson) -> Self {
        match value {
            Bson::Int32(_) | Bson::Int64(_) => Self::Int,
            Bson::Double(_) => Self::Double,
            Bson::Decimal128(_) => Self::Decimal,
            Bson::String(_) => Self::Text,
            Bson::Binary(bytes) => match bytes.subtype {
                BinarySubtype::Uuid | BinarySubtype::UuidOld if bytes.bytes.len() == 16 => {
                    Self::Uuid
                }
                _ => Self::Bytes,
            },
            Bson::DateTime(_) => Self::Date,
            Bson::ObjectId(_) => Self::ObjectId,
            Bson::Boolean(_) => Self::Bool,
            Bson::Null | Bson::Undefined => Self::Null,
            Bson::Document(_) => Self::Document,
            Bson::Array(_) => Self::List,
            Bson::RegularExpression(_) => Self::Unknown("regex"),
            Bson::JavaScriptCode(_) | Bson::JavaScriptCodeWithScope(_) => {
                Self::Unknown("javascript")
            }
            Bson::Timestamp(_) => Self::Unknown("timestamp"),
            Bson::MinKey => Self::Unknown("minKey"),
            Bson::MaxKey => Self::Unknown("maxKey"),
            Bson::Symbol(_) => Self::Unknown("symbol"),
            Bson::DbPointer(_) => Self::Unknown("dbPointer"),
        }
    }

    /// Whether a field of this kind takes the value: drivers write whole numbers for doubles.
    pub(crate) fn holds(self, value: &Bson) -> bool {
        let kind = Self::of(value);
        kind == self || self == Self::Double && kind == Self::Int
    }

    /// The most frequent kind of these values, with how often other kinds occur. Absent values are a kind only where there is nothing else.
    pub(super) fn most_frequent<'a>(
        values: impl Iterator<Item = &'a Bson>,
    ) -> (Self, Vec<(Self, usize)>) {
        let mut times: Vec<(Self, usize)> = Vec::new();
        for kind in values.map(Self::of) {
            match times.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, times)) => *times += 1,
                None => times.push((kind, 1)),
            }
        }
        let ints = times.iter().position(|(kind, _)| *kind == Self::Int);
        if let Some(ints) = ints
            && times.iter().any(|(kind, _)| *kind == Self::Double)
        {
            let (_, whole) = times.remove(ints);
            let doubles = times.iter_mut().filter(|(kind, _)| *kind == Self::Double);
            doubles.for_each(|(_, times)| *times += whole);
        }
        let rank = |kind: Self| match kind {
            Self::Unknown(_) => 0,
            Self::Null => 1,
            _ => 2,
        };
        let best = times.iter().copied().max_by_key(|(kind, times)| (rank(*kind), *times));
        let best = best.map_or(Self::Null, |(kind, _)| kind);
        times.retain(|(kind, _)| *kind != best);
        (best, times)
    }

    pub(crate) fn word(self) -> String {
        match self {
            Self::ObjectId => "object_id".into(),
            Self::Unknown(name) => name.into(),
            other => format!("{other:?}").to_ascii_lowercase(),
        }
    }

    /// Whether the file can give each document an `_id` of this kind.
    pub(super) fn identifies(self) -> bool {
        !matches!(self, Self::Bool | Self::Null)
    }
}

/// The value of a finite number or of a date.
pub(crate) fn numeric(value: &Bson) -> Option<f64> {
    let number = match value {
        Bson::Int32(whole) => f64::from(*whole),
        Bson::Int64(whole) => *whole as f64,
        Bson::Double(number) => *number,
        Bson::Decimal128(number) => number.to_string().parse().ok()?,
        Bson::DateTime(date) => date.timestamp_millis() as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// The same bytes for equal values only.
pub(crate) fn encoded(value: &Bson) -> Vec<u8> {
    doc! { "": value.clone() }.to_vec().unwrap_or_default()
}

/// The values of one field, of one kind.
struct Sampled<'a> {
    values: &'a [(usize, &'a Bson)],
    /// For each distinct value the number of values equal to it.
    classes: Vec<usize>,
    tally: Tally,
    is_in_list: bool,
    /// Whether no two documents may have the same value.
    is_unique: bool,
    /// Whether values ascend in the order in which documents were inserted.
    ascends: bool,
    documents: u64,
    /// How many values there are, where that is known.
    known: Option<u64>,
    is_counted: bool,
    is_expiring: bool,
    /// Whether a time series keeps its measurements by this date.
    is_of_series: bool,
    /// The server's present time, in milliseconds since 1970.
    now_ms: f64,
}

impl Reader<'_> {
    /// What generates these values, which are all of this kind.
    pub(super) fn scalar(
        &mut self,
        path: &str,
        kind: Kind,
        values: &[(usize, &Bson)],
        place: Place,
    ) -> Generator {
        let facts = self.facts;
        let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut class = |value: &Bson| {
            let next = seen.len();
            *seen.entry(encoded(value)).or_insert(next)
        };
        let classes: Vec<usize> = values.iter().map(|(_, value)| class(value)).collect();
        let tally = Tally::of(&classes);
        let counted = facts.counted.get(path).copied();
        let complete = (facts.is_complete && !place.is_in_list).then(|| tally.distinct());
        let numbers: Vec<f64> = values.iter().filter_map(|(_, value)| numeric(value)).collect();
        let rising = numbers.windows(2).filter(|pair| pair[0] <= pair[1]).count();
        let is_expiring = facts.expiring.contains(path);
        // Documents expire in the order of their dates, where their ids tell no other order.
        let is_in_order = match self.is_ordered {
            true => rising * 100 >= 95 * numbers.len().saturating_sub(1),
            false => is_expiring,
        };
        let ascends = is_in_order
            && !place.is_in_list
            && numbers.len() >= FEWEST
            && tally.distinct() * 10 >= tally.sampled * 9;
        let sampled = Sampled {
            values,
            classes,
            tally,
            is_in_list: place.is_in_list,
            is_unique: path == "_id" || facts.unique.contains_key(path),
            ascends,
            documents: facts.documents,
            known: counted.or(complete),
            is_counted: counted.is_some(),
            is_expiring,
            is_of_series: facts.time.as_deref() == Some(path),
            now_ms: facts.now_ms,
        };
        if let Some((name, documents)) = facts.references.get(path)
            && !sampled.is_unique
        {
            return sampled.reference(name, *documents);
        }
        match kind {
            Kind::Bool => {
                let yes = values.iter().filter(|(_, value)| value.as_bool() == Some(true)).count();
                let yes = share(yes as f64 / values.len().max(1) as f64);
                let generator = Generator::new("bool", yes);
                sampled.classed(generator)
            }
            Kind::ObjectId | Kind::Uuid => sampled.identity(kind),
            Kind::Text | Kind::Bytes => {
                if kind == Kind::Text
                    && let Some((generator, spelled)) = sampled.choice()
                {
                    if !place.is_in_list {
                        let of_field = |(value, text)| ((path.to_owned(), value), text);
                        self.described.spelled.extend(spelled.into_iter().map(of_field));
                    }
                    return generator;
                }
                sampled.text(kind)
            }
            Kind::Int | Kind::Double | Kind::Decimal => sampled.number(kind),
            Kind::Date => sampled.date(),
            _ => Generator::new("null", Literal::Null),
        }
    }
}

impl Sampled<'_> {
    fn all_differ(&self) -> bool {
        self.tally.distinct() == self.tally.sampled
    }

    /// With the values that rows share, for comparing fields.
    fn classed(&self, mut generator: Generator) -> Generator {
        if !self.is_in_list {
            let rows = self.values.iter().map(|(row, _)| *row);
            generator.classes = Some(rows.zip(self.classes.iter().copied()).collect());
        }
        generator
    }

    fn population(&self) -> Population {
        self.tally.population(self.known, self.documents)
    }

    /// A field with a known number of values.
    fn shared(&self, generator: Generator, population: Population) -> Generator {
        let mut generator = self
            .classed(generator.with("distinct", count(rounded(population.values as f64) as u64)));
        generator.entries.extend(population.skew().map(|skew| ("skew".into(), skew)));
        self.note(&mut generator, population);
        generator
    }

    fn note(&self, generator: &mut Generator, population: Population) {
        if self.is_counted {
            generator.notes.push("values counted by an index".into());
        } else if self.known.is_none() && population.values > GUESS {
            generator.notes.push("the number of values is a guess".into());
        }
    }

    fn reference(&self, name: &str, documents: u64) -> Generator {
        let population = self.tally.population(self.known, self.documents.min(documents));
        let generator = Generator::new("key_of", Literal::Text(name.into()));
        if population.values as f64 >= 0.9 * documents as f64 {
            let mut generator = self.classed(generator);
            generator.entries.extend(population.skew().map(|skew| ("skew".into(), skew)));
            return generator;
        }
        self.shared(generator, population)
    }

    fn identity(&self, kind: Kind) -> Generator {
        let generator = Generator::new(&kind.word(), Literal::Null);
        match self.is_unique || self.all_differ() {
            true => generator,
            false => self.shared(generator, self.population()),
        }
    }

    fn text(&self, kind: Kind) -> Generator {
        let long = self.values.iter().map(|(_, value)| bytes(value).len() as f64).collect();
        let law = |least: f64| Generator::new(&kind.word(), lengths(long, least));
        let mut generator = if self.is_unique || self.all_differ() && !self.is_in_list {
            law(spelling(self.documents)).with("unique", Literal::Bool(true))
        } else if self.all_differ() {
            law(0.0)
        } else {
            let population = self.population();
            self.shared(law(spelling(population.values)), population)
        };
        generator.entries.extend(self.compressible().map(|share| ("compressible".into(), share)));
        generator
    }

    /// The share that a compressor removes from the different values.
    fn compressible(&self) -> Option<Literal> {
        let mut first = vec![true; self.classes.len()];
        let values = self.values.iter().zip(&self.classes);
        let different = values.filter(|(_, class)| std::mem::take(&mut first[**class]));
        let all: Vec<u8> = different.flat_map(|((_, value), _)| bytes(value)).copied().collect();
        let (shortest, least) = COMPRESSED;
        if all.len() < least || all.len() < shortest * self.tally.distinct() as usize {
            return None;
        }
        let mut encoder = snap::raw::Encoder::new();
        let packed = all
            .chunks(PAGE)
            .map(|page| encoder.compress_vec(page).map_or(page.len(), |packed| packed.len()));
        let removed = 1.0 - packed.sum::<usize>() as f64 / all.len() as f64;
        (removed >= 0.05).then(|| Literal::Text(format!("{:.0}%", 100.0 * removed)))
    }

    /// A few texts, each with its share and its length and without its letters, and how values are spelled, by their hashes. Rare ones are one value together.
    fn choice(&self) -> Option<(Generator, Vec<(u64, String)>)> {
        let values = self.known.unwrap_or(self.tally.chao() as u64);
        let mut long: Vec<f64> =
            self.values.iter().map(|(_, value)| bytes(value).len() as f64).collect();
        long.sort_by(f64::total_cmp);
        if self.is_unique
            || self.all_differ()
            || values.max(self.tally.distinct()) > MOST_CHOICES
            || quantile(&long, 1.0) > LONGEST_CHOICE
        {
            return None;
        }
        let mut members: Vec<(usize, Vec<usize>)> = (0..self.tally.distinct() as usize)
            .map(|class| {
                (class, (0..self.classes.len()).filter(|at| self.classes[*at] == class).collect())
            })
            .collect();
        members.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
        let frequent = members.iter().filter(|(_, members)| members.len() >= FEWEST).count();
        let rare: Vec<usize> =
            members.split_off(frequent).into_iter().flat_map(|(_, members)| members).collect();
        match (members.last_mut(), rare.len()) {
            (None, _) => return None,
            (Some((_, last)), 1..FEWEST) => last.extend(rare),
            (_, 0) => {}
            _ => members.push((usize::MAX, rare)),
        }
        let (mut entries, mut spelled, mut classes) = (Vec::new(), Vec::new(), HashMap::new());
        for (number, (class, members)) in members.iter().enumerate() {
            let all: usize = members.iter().map(|at| bytes(self.values[*at].1).len()).sum();
            let text = placeholder(number, (all as f64 / members.len() as f64).round() as usize);
            // Rare values that are among those of a frequent one are not spelled like it, because an index of theirs would be too large.
            let is_spelled = |at: &&usize| [self.classes[**at], usize::MAX].contains(class);
            let values = members.iter().filter(is_spelled);
            spelled.extend(values.map(|at| (hash(self.values[*at].1), text.clone())));
            classes.extend(members.iter().map(|at| (self.values[*at].0, number)));
            entries.push((text, share(members.len() as f64 / self.values.len() as f64)));
        }
        let mut generator = Generator::new("choice", Literal::Map(entries));
        generator.classes = (!self.is_in_list).then_some(classes);
        Some((generator, spelled))
    }

    fn number(&self, kind: Kind) -> Generator {
        let mut numbers: Vec<f64> =
            self.values.iter().filter_map(|(_, value)| numeric(value)).collect();
        numbers.sort_by(f64::total_cmp);
        if numbers.is_empty() {
            return Generator::new(&kind.word(), Literal::Int(0));
        }
        let digits = match kind {
            Kind::Int => None,
            Kind::Decimal => Some(self.decimals()),
            _ => (0..=4).find(|digits| {
                let shifted = |number: &f64| number * 10_f64.powi(*digits);
                numbers
                    .iter()
                    .map(shifted)
                    .all(|number| (number - number.round()).abs() < 1e-6 * number.abs().max(1e-3))
            }),
        };
        let unit = match (kind, digits) {
            (Kind::Int, _) => 1.0,
            (_, digits) => 10_f64.powi(-digits.unwrap_or(9)),
        };
        let law = if self.is_unique || self.ascends {
            Generator::new(&kind.word(), self.sequence(&numbers, unit))
        } else if self.tally.distinct() == 1 {
            Generator::new(&kind.word(), number(rounded(numbers[0])))
        } else if self.has_shared_values(kind) {
            let population = self.population();
            let (least, most) = ends(&numbers);
            let law = match kind {
                Kind::Int if most - least + 1.0 >= population.values as f64 => {
                    map("uniform", Literal::List(vec![number(least), number(most)]))
                }
                _ => {
                    let step = rounded((most - least) / population.values as f64);
                    steps(least, if kind == Kind::Int { 1.0 } else { step.max(unit) })
                }
            };
            self.shared(Generator::new(&kind.word(), law), population)
        } else {
            Generator::new(&kind.word(), table(numbers, kind == Kind::Int, f64::INFINITY))
        };
        match digits {
            Some(digits) => law.with("digits", Literal::Int(i64::from(digits))),
            None => law,
        }
    }

    /// Whether the values are counted rather than measured: an operation can then ask for one of them.
    fn has_shared_values(&self, kind: Kind) -> bool {
        let times = if matches!(kind, Kind::Int | Kind::Date) { 2 } else { 10 };
        !self.all_differ()
            && (self.is_counted || self.tally.distinct() * times <= self.tally.sampled)
    }

    fn decimals(&self) -> i32 {
        let digits = |value: &Bson| {
            let text = value.to_string();
            text.split_once('.').map_or(0, |(_, fraction)| {
                fraction.chars().take_while(char::is_ascii_digit).count()
            })
        };
        self.values.iter().map(|(_, value)| digits(value)).max().unwrap_or(0).min(12) as i32
    }

    /// Consecutive numbers, from sorted ones.
    fn sequence(&self, numbers: &[f64], unit: f64) -> Literal {
        let from = numbers[0];
        let span = numbers[numbers.len() - 1] - from;
        let step = rounded(self.step(span)).max(unit);
        let step = if unit == 1.0 { step.round() } else { step };
        match step {
            1.0 if from.abs() <= (0.02 * span).max(1.0) => Literal::Text("sequence".into()),
            step => steps(rounded(from), step),
        }
    }

    /// From one document to the next, where those of the sample span this much.
    fn step(&self, span: f64) -> f64 {
        let sampled = self.values.len() as f64;
        let beyond =
            if self.known.is_some() { 1.0 } else { (sampled + 1.0) / (sampled - 1.0).max(1.0) };
        span * beyond / (self.documents.saturating_sub(1)).max(1) as f64
    }

    fn date(&self) -> Generator {
        let moment = |value: &Bson| numeric(value).map(|moment| moment.clamp(0.0, LATEST_MS));
        let mut moments: Vec<f64> =
            self.values.iter().filter_map(|(_, value)| moment(value)).collect();
        moments.sort_by(f64::total_cmp);
        let (first, last) = (moments[0], moments[moments.len() - 1]);
        let unit = if last - first < 10.0 * DAY_MS { HOUR_MS } else { DAY_MS };
        let mut notes = Vec::new();
        let rises = self.is_unique || self.ascends || self.is_of_series;
        // The newest sampled document is some steps of the sample older than the newest one.
        let gap = (last - first) / (moments.len() - 1).max(1) as f64;
        let age = self.now_ms - last;
        let near = NEAR_MS.max(NEAR_STEPS * gap);
        let is_now = rises && age >= -near && (age <= near || self.is_expiring);
        let mut later = 0.0;
        if self.is_expiring && !is_now {
            later = (self.now_ms + AHEAD_MS - last).max(0.0);
            notes.push("moved ahead, so that no document expires while it is measured".into());
        }
        let generator = if rises {
            let least = if self.is_of_series { LEAST_STEP_MS } else { 1.0 };
            let every = rounded(self.step(last - first)).max(least);
            let every = units::duration((every * 1e6) as u64);
            let until = match is_now {
                true => Literal::Text("now".into()),
                false => instant((last + later) / unit, f64::ceil, unit),
            };
            let law = vec![("every".into(), Literal::Text(every)), ("until".into(), until)];
            Generator::new("date", Literal::Map(law))
        } else {
            let (least, most) =
                (quantile(&moments, 0.01) + later, quantile(&moments, 0.99) + later);
            let ends = [
                instant(least / unit, f64::floor, unit),
                instant((most + 1.0) / unit, f64::ceil, unit),
            ];
            let law = map("uniform", Literal::List(ends.to_vec()));
            let generator = Generator::new("date", law);
            match self.has_shared_values(Kind::Date) {
                true => self.shared(generator, self.population()),
                false => generator,
            }
        };
        notes.extend(generator.notes);
        Generator { notes, ..generator }
    }
}

fn bytes(value: &Bson) -> &[u8] {
    match value {
        Bson::String(text) => text.as_bytes(),
        Bson::Binary(binary) => &binary.bytes,
        _ => &[],
    }
}

fn steps(from: f64, step: f64) -> Literal {
    let parts = vec![("from".into(), number(from)), ("step".into(), number(step))];
    map("sequence", Literal::Map(parts))
}

/// A date in these units since 1970, as a file takes it.
fn instant(units: f64, round: fn(f64) -> f64, unit: f64) -> Literal {
    let text = DateTime::from_millis((round(units) * unit) as i64).try_to_rfc3339_string();
    let text = text.unwrap_or_else(|_| "2026-01-01T00:00:00Z".into());
    Literal::Text(text.strip_suffix("T00:00:00Z").map_or(text.clone(), Into::into))
}

/// The shortest length at which the file can make this many different texts, and ten times as many for inserts.
fn spelling(values: u64) -> f64 {
    let digits = (1..11).find(|digits| 36_u64.pow(*digits) >= values.saturating_mul(20));
    f64::from(digits.unwrap_or(11))
}

/// What stands for a text of this length.
fn placeholder(number: usize, long: usize) -> String {
    let text = format!("v{}", number + 1);
    match long {
        0 => String::new(),
        _ if text.len() <= long => format!("{text:x<long$}"),
        // One of the first 20 letters of the alphabet, so never `v`.
        _ => format!("{:x<long$}", char::from(b'a' + (number % 20) as u8)),
    }
}
