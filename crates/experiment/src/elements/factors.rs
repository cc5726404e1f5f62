//! `factors`, `except` and `design`: what is varied. The cells of the grid become the arms of the experiment.

use crate::document::{Checked, Entry, Kind, Node, Span, join};
use crate::elements::scales::over;
use crate::keys::arm::{ARM, arm};
use crate::keys::closed::closed;
use crate::keys::factors::{RANGE, range};
use crate::keys::file::file;
use crate::keys::load::load;
use crate::keys::open::open;
use crate::keys::workload::workload;
use crate::mistake::Mistake;
use crate::origins::{Origins, default};
use crate::surroundings::Scouted;
use crate::table::*;
use crate::{Collector, Reader};
use plimsoll_plan::design::{fraction, screening};
use plimsoll_plan::{
    Design, EngineKind, Factor, Level, Quantity, SettingKind, SettingValue, Source,
};
use plimsoll_record::quantities::units;
use std::collections::BTreeSet;

const MOST_CELLS: usize = 1_000;

/// The factors of a file, and the file with their cells as arms.
pub(crate) struct Grid {
    pub factors: Vec<Factor>,
    pub design: Design,
    /// The levels of each arm of `root`, in order.
    pub cells: Vec<Vec<u32>>,
    pub root: Node,
}

struct ReadLevel {
    name: String,
    place: Span,
    /// What it gives a cell.
    entries: Vec<Entry>,
}

struct ReadFactor {
    name: String,
    place: Span,
    levels: Vec<ReadLevel>,
    quantity: Option<Quantity>,
    values: Vec<Option<f64>>,
    refine: Option<f64>,
}

/// Levels of a factor, and how far apart they may be in the end where they are refined.
#[derive(Default)]
struct ReadLevels {
    levels: Vec<ReadLevel>,
    refine: Option<f64>,
}

fn entry<'n>(root: &'n Node, key: &Key) -> Option<&'n Entry> {
    root.entries().iter().find(|entry| entry.key == key.name)
}

/// Factors that are loads of a run or its mixes, with the keys that they stand for.
const OF_A_RUN: [(&str, &[&Key]); 3] = [
    ("threads", &[file::load, load::closed, closed::threads]),
    ("rate", &[file::load, load::open, open::rates]),
    ("mix", &[file::workload, workload::mixes]),
];

/// What a run measures point by point is not a cell: these factors are written as the keys that they stand for.
pub(crate) fn with_points(root: &Node, problems: &mut Collector<'_>) -> Node {
    let Some(all) = entry(root, file::factors) else {
        return root.clone();
    };
    let (mut cells, mut entries) = (Vec::new(), root.entries().to_vec());
    for factor in all.value.entries() {
        let Some((_, path)) = OF_A_RUN.iter().find(|(name, _)| *name == factor.key) else {
            cells.push(factor.clone());
            continue;
        };
        let given = path.iter().try_fold(root, |node, key| Some(&entry(node, key)?.value));
        if given.is_some() {
            let names: Vec<&str> = path.iter().map(|key| key.name).collect();
            let mistake = Mistake::GivenTwice { factor: factor.key.clone(), path: names.join(".") };
            problems.add(file::factors.name, Some(factor.key_place), mistake);
            continue;
        }
        let names = path.iter().map(|key| key.name);
        entries = over(&entries, &[nested(names, factor.key_place, &factor.value)]);
    }
    entries.retain(|one| {
        one.key != file::factors.name || !cells.is_empty() || all.value.entries().is_empty()
    });
    if let Some(left) = entries.iter_mut().find(|one| one.key == file::factors.name)
        && matches!(left.value.kind, Kind::Map(_))
    {
        left.value.kind = Kind::Map(cells);
    }
    Node { place: root.place, kind: Kind::Map(entries), quoted: false }
}

/// A value under keys inside each other.
fn nested<'n>(
    names: impl DoubleEndedIterator<Item = &'n str>,
    key_place: Span,
    value: &Node,
) -> Entry {
    let mut names = names.rev();
    let mut entry =
        Entry { key: names.next().unwrap_or_default().to_owned(), key_place, value: value.clone() };
    for name in names {
        entry = Entry {
            key: name.to_owned(),
            key_place,
            value: Node { place: value.place, kind: Kind::Map(vec![entry]), quoted: false },
        };
    }
    entry
}

/// The grid of a file; `None` where it lists its arms. A grid with mistakes has no cells.
pub(crate) fn grid(
    root: &Node,
    engines: &[EngineKind],
    scouted: &Scouted,
    problems: &mut Collector<'_>,
) -> Option<Grid> {
    let of_file = entry(root, file::factors)?;
    let mut reader = GridReader { engines, scouted, problems };
    let mut read = Vec::new();
    for factor in of_file.value.entries() {
        read.push(reader.factor(factor));
    }
    let is_whole = !read.is_empty() && read.iter().all(Option::is_some);
    let read: Vec<ReadFactor> = read.into_iter().flatten().collect();
    let are_apart = reader.are_apart(&read);
    let cells = if is_whole && are_apart { reader.cells(root, &read, of_file) } else { None };
    let (design, cells) = cells.unwrap_or((Design::Full, Vec::new()));
    let defaults = entry(root, file::defaults).map_or(&[][..], |entry| entry.value.entries());
    let own = entry(root, file::cells).map_or(&[][..], |entry| entry.value.entries());
    let arms: Vec<Entry> =
        cells.iter().map(|levels| arm_of(&read, levels, defaults, own)).collect();
    if !arms.is_empty() {
        for cell in own.iter().filter(|cell| !arms.iter().any(|arm| arm.key == cell.key)) {
            let mistake = Mistake::UnknownCell {
                name: cell.key.clone(),
                cells: arms.iter().map(|arm| arm.key.clone()).collect(),
            };
            problems.add(file::cells.name, Some(cell.key_place), mistake);
        }
    }
    let arms = Entry {
        key: file::arms.name.to_owned(),
        key_place: of_file.key_place,
        value: Node { place: of_file.value.place, kind: Kind::Map(arms), quoted: false },
    };
    let mut entries = root.entries().to_vec();
    entries.retain(|entry| entry.key != file::arms.name);
    entries.push(arms);
    Some(Grid {
        factors: read.into_iter().map(ReadFactor::planned).collect(),
        design,
        cells,
        root: Node { place: root.place, kind: Kind::Map(entries), quoted: false },
    })
}

/// Notes where the factors come from.
pub(crate) fn origins(root: &Node, grid: &Grid, scouted: &Scouted, origins: &mut Origins<'_>) {
    for factor in &grid.factors {
        let written = entry(root, file::factors)
            .and_then(|all| all.value.entries().iter().find(|one| one.key == factor.name));
        if let Some(written) = written {
            let levels: Vec<&str> = factor.levels.iter().map(|one| one.name.as_str()).collect();
            origins.add_file(
                &join(file::factors.name, &factor.name),
                levels.join(", "),
                written.value.place,
            );
        }
        if let (Some(_), Some(quantity)) = (factor.refine, factor.quantity)
            && !scouted.experiments.is_empty()
        {
            let levels = scouted.amounts.iter().map(|one| written_amount(quantity, *one));
            let levels: Vec<String> = levels.collect();
            let source = Source::Scouting { experiments: scouted.experiments.clone() };
            let path = range::refine.under(&join(file::factors.name, &factor.name));
            origins.add(&path, levels.join(", "), source);
        }
    }
}

impl ReadFactor {
    fn planned(self) -> Factor {
        let levels = self.levels.into_iter().zip(self.values);
        Factor {
            name: self.name,
            levels: levels.map(|(level, value)| Level { name: level.name, value }).collect(),
            baseline: 0,
            quantity: self.quantity,
            refine: self.refine,
        }
    }

    fn level(&self, name: &str) -> Option<u32> {
        let place = self.levels.iter().position(|level| level.name == name);
        place.and_then(|place| u32::try_from(place).ok())
    }

    fn names(&self) -> Vec<String> {
        self.levels.iter().map(|level| level.name.clone()).collect()
    }
}

struct GridReader<'r, 's> {
    engines: &'r [EngineKind],
    scouted: &'r Scouted,
    problems: &'r mut Collector<'s>,
}

impl GridReader<'_, '_> {
    fn factor(&mut self, factor: &Entry) -> Option<ReadFactor> {
        let path = join(file::factors.name, &factor.key);
        let before = self.problems.count();
        let read = self.levels(&path, factor)?;
        for (index, level) in read.levels.iter().enumerate() {
            self.name(&path, level);
            if read.levels[..index].iter().any(|one| one.name == level.name) {
                let value = format!("the level {}", level.name);
                let mistake = Mistake::Repeated { value };
                self.problems.add(&path, Some(level.place), mistake);
            }
        }
        if read.levels.len() == 1 && self.problems.count() == before {
            let mistake = Mistake::OneLevel { factor: factor.key.clone() };
            self.problems.add(&path, Some(factor.key_place), mistake);
        }
        if self.problems.count() > before {
            return None;
        }
        let are_bundles = matches!(factor.value.kind, Kind::Map(_)) && !is_range(&factor.value);
        let (quantity, values) = self.amounts(&factor.key, &read.levels, are_bundles);
        Some(ReadFactor {
            name: factor.key.clone(),
            place: factor.key_place,
            levels: read.levels,
            quantity,
            values,
            refine: read.refine,
        })
    }

    fn levels(&mut self, path: &str, factor: &Entry) -> Option<ReadLevels> {
        let levels = match &factor.value.kind {
            // Reported with the file.
            Kind::Null => return None,
            Kind::Map(_) if is_range(&factor.value) => return self.range(path, factor),
            Kind::Map(entries) => self.bundles(path, entries),
            Kind::List(items) => {
                items.iter().filter_map(|item| self.level(path, factor, item)).collect()
            }
            Kind::Scalar(_) => Vec::from_iter(self.level(path, factor, &factor.value)),
        };
        Some(ReadLevels { levels, refine: None })
    }

    /// Levels that are bundles of keys, by name.
    fn bundles(&mut self, path: &str, entries: &[Entry]) -> Vec<ReadLevel> {
        let mut levels = Vec::new();
        for entry in entries {
            if !matches!(entry.value.kind, Kind::Map(_) | Kind::Null) {
                let mistake = Mistake::WrongKind {
                    expected: "a map of an arm's keys such as {cache_size: 256MiB}".into(),
                    found: entry.value.kind_words(),
                };
                let path = join(path, &entry.key);
                self.problems.add(&path, Some(entry.value.place), mistake);
            }
            levels.push(ReadLevel {
                name: entry.key.clone(),
                place: entry.key_place,
                entries: entry.value.entries().to_vec(),
            });
        }
        levels
    }

    /// A level of one key: a scalar of a list.
    fn level(&mut self, path: &str, factor: &Entry, item: &Node) -> Option<ReadLevel> {
        let Kind::Scalar(text) = &item.kind else {
            let mistake = Mistake::UnnamedLevel { factor: factor.key.clone() };
            self.problems.add(path, Some(item.place), mistake);
            return None;
        };
        Some(level_of(factor, text, item.place))
    }

    /// Names of levels are parts of names of arms.
    fn name(&mut self, path: &str, level: &ReadLevel) {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.%+".contains(c);
        let is_word = level.name.len() <= 40
            && level.name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && level.name.chars().all(allowed);
        if !is_word {
            let mistake = Mistake::LevelName { text: level.name.clone() };
            self.problems.add(path, Some(level.place), mistake);
        }
    }

    /// Levels in equal steps, and those between them that scouting chose.
    fn range(&mut self, path: &str, factor: &Entry) -> Option<ReadLevels> {
        let map = Reader::new(self.problems).read(path, &Shape::Object(&RANGE), &factor.value);
        let (from, to) = (map.get(range::from)?, map.get(range::to)?);
        let (quantity, first) = self.end(path, factor, from)?;
        let (_, last) = self.end(path, factor, to)?;
        if first >= last {
            let mistake = Mistake::LowNotBelowHigh {
                low: quantity.in_words(first),
                high: quantity.in_words(last),
            };
            self.problems.add(path, Some(to.place), mistake);
            return None;
        }
        let count = match map.get(range::levels) {
            Some(given) => given.whole()?,
            None => match default(range::levels)? {
                (SettingValue::Count(count), _) => count,
                _ => return None,
            },
        };
        let step = (last - first) / (count - 1) as f64;
        let mut amounts: Vec<f64> = (0..count).map(|index| first + step * index as f64).collect();
        let mut refine = None;
        if let Some(width) = map.get(range::refine) {
            let (_, narrow) = self.end(path, factor, width)?;
            if narrow <= 0.0 || narrow >= step {
                let mistake = Mistake::RefineNotBelowStep {
                    refine: quantity.in_words(narrow),
                    step: quantity.in_words(step),
                };
                self.problems.add(path, Some(width.place), mistake);
                return None;
            }
            refine = Some(narrow);
            amounts.extend(&self.scouted.amounts);
            amounts.sort_by(f64::total_cmp);
        }
        let mut names: Vec<String> =
            amounts.into_iter().map(|amount| written_amount(quantity, amount)).collect();
        names.dedup();
        let levels = names.iter().map(|name| level_of(factor, name, factor.value.place));
        Some(ReadLevels { levels: levels.collect(), refine })
    }

    /// An amount of a range.
    fn end(&mut self, path: &str, factor: &Entry, end: &Checked) -> Option<(Quantity, f64)> {
        let text = end.text()?;
        let shape = self.shape_of(&factor.key);
        let amount = shape.and_then(|shape| amount(&shape, text));
        if amount.is_none() {
            let mistake = Mistake::NoOrder { factor: factor.key.clone(), text: text.to_owned() };
            self.problems.add(path, Some(end.place), mistake);
        }
        amount
    }

    /// What the levels are amounts of.
    fn amounts(
        &self,
        key: &str,
        levels: &[ReadLevel],
        are_bundles: bool,
    ) -> (Option<Quantity>, Vec<Option<f64>>) {
        let none = (None, vec![None; levels.len()]);
        let Some(shape) = self.shape_of(key).filter(|_| !are_bundles) else {
            return none;
        };
        let amounts: Vec<_> = levels.iter().map(|level| amount(&shape, &level.name)).collect();
        match amounts.first() {
            Some(Some((quantity, _)))
                if amounts.iter().all(|one| one.is_some_and(|(other, _)| other == *quantity)) =>
            {
                let values = amounts.iter().map(|one| one.map(|(_, amount)| amount));
                (Some(*quantity), values.collect())
            }
            _ => none,
        }
    }

    /// The shape of the scalar that a key of an arm takes; the key may be a path with dots.
    fn shape_of(&self, key: &str) -> Option<Shape> {
        let mut parts = key.split('.');
        let first = parts.next()?;
        let of_engine = || {
            let mut settings = self.engines.iter().filter_map(|kind| kind.setting(first));
            settings.next().map(|setting| Shape::Value(setting.kind))
        };
        let mut shape = ARM.key(first).map(|key| key.shape).or_else(of_engine)?;
        for part in parts {
            shape = map_of(&shape)?.key(part)?.shape;
        }
        Some(shape)
    }

    /// Whether no key is given by two factors.
    fn are_apart(&mut self, factors: &[ReadFactor]) -> bool {
        let mut apart = true;
        let leaves: Vec<BTreeSet<String>> = factors
            .iter()
            .map(|factor| {
                let mut leaves = BTreeSet::new();
                for level in &factor.levels {
                    add_leaves("", &level.entries, &mut leaves);
                }
                leaves
            })
            .collect();
        for (index, factor) in factors.iter().enumerate() {
            for (other, of_other) in factors[..index].iter().zip(&leaves) {
                let clash = leaves[index].iter().find(|leaf| {
                    of_other.iter().any(|one| {
                        let is_below = |upper: &str, lower: &str| {
                            lower
                                .strip_prefix(upper)
                                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                        };
                        is_below(one, leaf) || is_below(leaf, one)
                    })
                });
                if let Some(key) = clash {
                    apart = false;
                    let mistake = Mistake::FactorsOverlap {
                        key: key.clone(),
                        factors: [other.name.clone(), factor.name.clone()],
                    };
                    let path = join(file::factors.name, &factor.name);
                    self.problems.add(&path, Some(factor.place), mistake);
                }
            }
        }
        apart
    }

    /// The design and the levels of each cell. `None` where there is a mistake.
    fn cells(
        &mut self,
        root: &Node,
        factors: &[ReadFactor],
        of_file: &Entry,
    ) -> Option<(Design, Vec<Vec<u32>>)> {
        let design = entry(root, file::design);
        let word = design.and_then(|entry| match &entry.value.kind {
            Kind::Scalar(text) => Some((text.to_ascii_lowercase(), entry.value.place)),
            _ => None,
        });
        if let Some((word, place)) = word.filter(|(word, _)| word != "full") {
            return self.part(root, factors, &word, place);
        }
        let refined = factors.iter().filter(|factor| factor.refine.is_some());
        if let [one, other, ..] = refined.collect::<Vec<_>>()[..] {
            let mistake = Mistake::TwoRefined { factors: [one.name.clone(), other.name.clone()] };
            let path = file::factors.name;
            self.problems.add(path, Some(other.place), mistake);
            return None;
        }
        let cells =
            factors.iter().fold(1usize, |all, factor| all.saturating_mul(factor.levels.len()));
        if cells > MOST_CELLS {
            let mistake = Mistake::TooManyCells {
                levels: factors.iter().map(|factor| factor.levels.len()).collect(),
                most: MOST_CELLS,
            };
            let path = file::factors.name;
            self.problems.add(path, Some(of_file.key_place), mistake);
            return None;
        }
        let mut all: Vec<Vec<u32>> = vec![Vec::new()];
        for factor in factors {
            let levels = 0..u32::try_from(factor.levels.len()).unwrap_or(u32::MAX);
            let longer = all.iter().flat_map(|cell| {
                levels.clone().map(move |level| {
                    let mut cell = cell.clone();
                    cell.push(level);
                    cell
                })
            });
            all = longer.collect();
        }
        let exceptions = self.exceptions(root, factors)?;
        all.retain(|cell| {
            !exceptions.iter().any(|exception| {
                exception.iter().all(|(factor, levels)| levels.contains(&cell[*factor]))
            })
        });
        let mut is_whole = true;
        for (index, factor) in factors.iter().enumerate() {
            for (level, read) in (0..).zip(&factor.levels) {
                if !all.iter().any(|cell| cell[index] == level) {
                    is_whole = false;
                    let mistake = Mistake::LevelLeftOut {
                        factor: factor.name.clone(),
                        level: read.name.clone(),
                    };
                    let place = entry(root, file::except).map(|entry| entry.key_place);
                    self.problems.add(file::except.name, place, mistake);
                }
            }
        }
        is_whole.then_some((Design::Full, all))
    }

    /// The cells of a design that measures a part of all combinations of two levels.
    fn part(
        &mut self,
        root: &Node,
        factors: &[ReadFactor],
        word: &str,
        place: Span,
    ) -> Option<(Design, Vec<Vec<u32>>)> {
        let before = self.problems.count();
        let path = file::design.name;
        for factor in factors {
            if factor.levels.len() != 2 {
                let mistake = Mistake::NotTwoLevels {
                    factor: factor.name.clone(),
                    levels: factor.levels.len(),
                    design: word.to_owned(),
                };
                self.problems.add(path, Some(factor.place), mistake);
            }
        }
        if let Some(factor) = factors.iter().find(|factor| factor.refine.is_some()) {
            let mistake = Mistake::RefineOfDesign { factor: factor.name.clone() };
            self.problems.add(path, Some(factor.place), mistake);
        }
        if let Some(except) = entry(root, file::except) {
            let mistake = Mistake::ExceptOfDesign;
            self.problems.add(file::except.name, Some(except.key_place), mistake);
        }
        let cells = if word == "screening" {
            screening(factors.len()).map(|cells| (Design::Screening, cells))
        } else {
            let of = word.strip_prefix("1/").and_then(|of| of.parse().ok());
            // Another word is reported with the file.
            fraction(factors.len(), of?).map(|cells| (Design::Fraction, cells))
        };
        if cells.is_none() {
            let mistake = Mistake::NoSuchDesign { design: word.to_owned(), factors: factors.len() };
            self.problems.add(path, Some(place), mistake);
        }
        cells.filter(|_| self.problems.count() == before)
    }

    /// For each exception: factors with levels, by index.
    fn exceptions(&mut self, root: &Node, factors: &[ReadFactor]) -> Option<Vec<Exception>> {
        let Some(except) = entry(root, file::except) else {
            return Some(Vec::new());
        };
        let before = self.problems.count();
        let mut exceptions = Vec::new();
        for map in one_or_more(&except.value) {
            let mut exception = Exception::new();
            for given in map.entries() {
                exception.extend(self.exception(factors, given));
            }
            if !exception.is_empty() {
                exceptions.push(exception);
            }
        }
        (self.problems.count() == before).then_some(exceptions)
    }

    /// One factor of an exception.
    fn exception(&mut self, factors: &[ReadFactor], given: &Entry) -> Option<(usize, Vec<u32>)> {
        let path = file::except.name;
        let Some(index) = factors.iter().position(|one| one.name == given.key) else {
            let mistake = Mistake::UnknownFactor {
                name: given.key.clone(),
                factors: factors.iter().map(|one| one.name.clone()).collect(),
            };
            self.problems.add(path, Some(given.key_place), mistake);
            return None;
        };
        let mut levels = Vec::new();
        for level in one_or_more(&given.value) {
            let Kind::Scalar(text) = &level.kind else {
                continue;
            };
            if let Some(level) = factors[index].level(text) {
                levels.push(level);
                continue;
            }
            let mistake = Mistake::UnknownLevel {
                name: text.clone(),
                factor: given.key.clone(),
                levels: factors[index].names(),
            };
            self.problems.add(path, Some(level.place), mistake);
        }
        Some((index, levels))
    }
}

/// Factors with the levels that are left out together, by index.
type Exception = Vec<(usize, Vec<u32>)>;

/// The items of a list; anything else as one item.
fn one_or_more(node: &Node) -> &[Node] {
    match &node.kind {
        Kind::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

/// The arm of a cell: what its levels give it, and its `own` keys over that. A factor that is a path with dots adds to what the defaults have there.
fn arm_of(factors: &[ReadFactor], levels: &[u32], defaults: &[Entry], own: &[Entry]) -> Entry {
    let chosen: Vec<&ReadLevel> =
        factors.iter().zip(levels).map(|(factor, level)| &factor.levels[*level as usize]).collect();
    let first =
        |factor: &ReadFactor| factor.name.split_once('.').map(|(first, _)| first.to_owned());
    let dotted: Vec<String> = factors.iter().filter_map(first).collect();
    let is_added_to =
        |entry: &&Entry| dotted.contains(&entry.key) && matches!(entry.value.kind, Kind::Map(_));
    let mut entries: Vec<Entry> = defaults.iter().filter(is_added_to).cloned().collect();
    for level in &chosen {
        entries = over(&entries, &level.entries);
    }
    let names: Vec<&str> = chosen.iter().map(|level| level.name.as_str()).collect();
    let name = names.join("/");
    if let Some(own) = own.iter().find(|cell| cell.key == name) {
        entries = over(&entries, own.value.entries());
    }
    let place = chosen.last().map_or(Span { start: 0, end: 0 }, |level| level.place);
    Entry {
        key: name,
        key_place: place,
        value: Node { place, kind: Kind::Map(entries), quoted: false },
    }
}

/// Whether the levels are written as `{from: …, to: …}`, or are meant to be.
fn is_range(levels: &Node) -> bool {
    let keys = [range::from.name, range::to.name, range::refine.name];
    levels.entries().iter().any(|one| keys.contains(&one.key.as_str()))
}

/// A level that gives one key a value.
fn level_of(factor: &Entry, text: &str, place: Span) -> ReadLevel {
    let value = Node { place, kind: Kind::Scalar(text.to_owned()), quoted: false };
    ReadLevel {
        name: text.to_owned(),
        place,
        entries: vec![nested(factor.key.split('.'), factor.key_place, &value)],
    }
}

fn add_leaves(path: &str, entries: &[Entry], leaves: &mut BTreeSet<String>) {
    for entry in entries {
        if entry.key == arm::about.name {
            continue;
        }
        let path = join(path, &entry.key);
        match &entry.value.kind {
            Kind::Map(inner) if !inner.is_empty() => add_leaves(&path, inner, leaves),
            _ => {
                leaves.insert(path);
            }
        }
    }
}

/// The table of a shape that is a map, or may be one.
fn map_of(shape: &Shape) -> Option<&'static Object> {
    match shape {
        Shape::Object(object) => Some(object),
        Shape::Any(shapes) => shapes.iter().find_map(map_of),
        _ => None,
    }
}

/// A scalar as an amount.
fn amount(shape: &Shape, text: &str) -> Option<(Quantity, f64)> {
    if let Shape::Any(shapes) = shape {
        return shapes.iter().find_map(|shape| amount(shape, text));
    }
    let is_share = text.trim_end().ends_with('%')
        || matches!(shape, Shape::Value(SettingKind::Number { max, .. }) if *max <= 1.0);
    let whole = |value: u64| value as f64;
    match shape.scalar(text).ok()? {
        SettingValue::Bytes(bytes) => Some((Quantity::Bytes, whole(bytes))),
        SettingValue::Count(count) => Some((Quantity::Count, whole(count))),
        SettingValue::Nanos(nanos) => Some((Quantity::Nanos, whole(nanos))),
        SettingValue::Number(number) if is_share => Some((Quantity::Share, number)),
        SettingValue::Number(number) => Some((Quantity::Number, number)),
        SettingValue::Flag(_) | SettingValue::Text(_) => None,
    }
}

/// An amount as a level is written: it must be read as the same.
fn written_amount(quantity: Quantity, amount: f64) -> String {
    match quantity {
        Quantity::Share => units::share((amount * 1e4).round() / 1e4),
        Quantity::Bytes => units::size(amount.round() as u64).replace(' ', ""),
        Quantity::Nanos => units::duration(amount.round() as u64).replace(' ', ""),
        Quantity::Count => (amount.round() as u64).to_string(),
        Quantity::Number => format!("{}", (amount * 1e4).round() / 1e4),
    }
}
