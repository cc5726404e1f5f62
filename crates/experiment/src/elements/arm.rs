//! `arms` and `defaults`: what arms have in common, what each gives itself, and the settings of their engines.

use crate::document::{Checked, Entry, Kind, Node, Span, Value, is_name, join};
use crate::keys::arm::{ARM, DEFAULT_ENGINE, arm};
use crate::keys::file::file;
use crate::mistake::Mistake;
use crate::origins::{Origins, written};
use crate::surroundings::{Limits, Surroundings};
use crate::table::*;
use crate::{Collector, Reader};
use plimsoll_plan::{EngineKind, Settings, Source};
use std::collections::BTreeMap;
use std::path::PathBuf;

const PATH: &str = file::arms.name;
const DEFAULTS: &str = file::defaults.name;
/// Three ways to give the amount of data.
pub(crate) const AMOUNTS: [&Key; 3] = [arm::records, arm::size, arm::working_set];

/// An arm as read: its data is decided with the workload.
pub(crate) struct ReadArm {
    pub name: String,
    pub name_place: Span,
    /// `None` when the file names an unknown engine.
    pub engine: Option<EngineKind>,
    /// Values from the arm or the defaults, by key.
    given: BTreeMap<String, ArmValue>,
}

/// A value that an arm has.
pub(crate) struct ArmValue {
    /// Path of the key in the file: in the arm or in the defaults.
    pub path: String,
    pub checked: Checked,
    /// As it was written, for what is read with the workload.
    pub node: Node,
}

impl ReadArm {
    /// What it has for a key.
    pub(crate) fn get(&self, key: &Key) -> Option<&ArmValue> {
        self.setting(key.name)
    }

    /// What it has for a setting of its engine.
    pub(crate) fn setting(&self, name: &str) -> Option<&ArmValue> {
        self.given.get(name)
    }

    pub(crate) fn path(&self) -> String {
        join(PATH, &self.name)
    }
}

impl ArmValue {
    /// Whether it is from the arm, not from the defaults.
    pub(crate) fn is_own(&self) -> bool {
        self.path.starts_with(PATH)
    }
}

/// Reads arms and gathers problems.
pub(crate) struct ArmReader<'r, 's> {
    problems: &'r mut Collector<'s>,
    engines: &'r [EngineKind],
}

impl<'r, 's> ArmReader<'r, 's> {
    pub(crate) fn new(engines: &'r [EngineKind], problems: &'r mut Collector<'s>) -> Self {
        Self { problems, engines }
    }

    fn read(&mut self, path: &str, shape: &Shape, node: &Node) -> Checked {
        Reader::new(self.problems).read(path, shape, node)
    }

    /// All arms of the file, each with what the defaults give it. Those of a grid have names that no file can give.
    pub(crate) fn arms(&mut self, file: &Node, of_grid: bool) -> Vec<ReadArm> {
        let map = |key: &Key| {
            let entry = file.entries().iter().find(|entry| entry.key == key.name);
            entry.map_or(&[][..], |entry| entry.value.entries())
        };
        let (arms, defaults) = (map(file::arms), map(file::defaults));
        let mut read = Vec::new();
        for arm in arms {
            let (Kind::Map(_) | Kind::Null) = arm.value.kind else {
                continue;
            };
            if !of_grid && !is_name(&arm.key) {
                continue;
            }
            let own = arm.value.entries();
            let path = join(PATH, &arm.key);
            let engine = self.engine(&path, own, defaults);
            let mut given = BTreeMap::new();
            if let Some(engine) = engine {
                self.given(&path, own, engine, &mut given);
                self.choices(&path, own, arm.key_place);
                self.inherited(own, defaults, engine, &mut given);
            }
            read.push(ReadArm { name: arm.key.clone(), name_place: arm.key_place, engine, given });
        }
        self.defaults(&read, defaults);
        read
    }

    /// The engine that an arm or the defaults name.
    fn engine(&mut self, path: &str, own: &[Entry], defaults: &[Entry]) -> Option<EngineKind> {
        let named =
            |entries: &[Entry]| entries.iter().find(|entry| entry.key == arm::engine.name).cloned();
        let (path, entry) = match (named(own), named(defaults)) {
            (Some(entry), _) => (arm::engine.under(path), entry),
            (None, Some(entry)) => (arm::engine.under(DEFAULTS), entry),
            (None, None) => {
                return self.engines.iter().find(|kind| kind.name == DEFAULT_ENGINE).copied();
            }
        };
        let checked = self.read(&path, &arm::engine.shape, &entry.value);
        let name = checked.text()?;
        let kind = self.engines.iter().find(|kind| kind.name.eq_ignore_ascii_case(name));
        if kind.is_none() {
            let valid = self.engines.iter().map(|kind| kind.name.to_owned()).collect();
            self.problems.add(
                &path,
                Some(entry.value.place),
                Mistake::NotOneOf { word: name.to_owned(), valid },
            );
        }
        kind.copied()
    }

    /// Reads the arm's own values.
    fn given(
        &mut self,
        path: &str,
        own: &[Entry],
        engine: EngineKind,
        given: &mut BTreeMap<String, ArmValue>,
    ) {
        for entry in own {
            let path = join(path, &entry.key);
            let Some(shape) = shape_of(&entry.key, engine) else {
                let mistake = self.unknown(&entry.key, &[engine]);
                self.problems.add(
                    path.rsplit_once('.').map_or("", |(arm, _)| arm),
                    Some(entry.key_place),
                    mistake,
                );
                continue;
            };
            let checked = self.read(&path, &shape, &entry.value);
            let node = entry.value.clone();
            given.insert(entry.key.clone(), ArmValue { path, checked, node });
        }
    }

    /// Reads what the arm inherits from the defaults.
    fn inherited(
        &mut self,
        own: &[Entry],
        defaults: &[Entry],
        engine: EngineKind,
        given: &mut BTreeMap<String, ArmValue>,
    ) {
        let says = |key: &str| own.iter().any(|entry| entry.key == key);
        for entry in defaults {
            let key = entry.key.as_str();
            // Each of the amounts replaces the other two.
            let is_amount = AMOUNTS.iter().any(|amount| amount.name == key);
            let said = says(key) || (is_amount && AMOUNTS.iter().any(|amount| says(amount.name)));
            let Some(shape) = shape_of(key, engine) else {
                continue;
            };
            if said || key == arm::about.name {
                continue;
            }
            let path = join(DEFAULTS, key);
            let checked = self.read(&path, &shape, &entry.value);
            let node = entry.value.clone();
            given.insert(key.to_owned(), ArmValue { path, checked, node });
        }
    }

    /// Reports keys of the defaults that concern no arm.
    fn defaults(&mut self, arms: &[ReadArm], defaults: &[Entry]) {
        let engines: Vec<EngineKind> = arms.iter().filter_map(|arm| arm.engine).collect();
        for entry in defaults {
            let concerns = |engine: &EngineKind| shape_of(&entry.key, *engine).is_some();
            if entry.key == arm::about.name
                || (!engines.is_empty() && !engines.iter().any(concerns))
            {
                let mut mistake = self.unknown(&entry.key, &engines);
                if let Mistake::UnknownKey { valid, .. } = &mut mistake {
                    valid.retain(|key| key != arm::about.name);
                }
                self.problems.add(DEFAULTS, Some(entry.key_place), mistake);
            } else if let Some(shape) =
                engines.iter().find_map(|engine| shape_of(&entry.key, *engine))
            {
                // Even a default that every arm overrides must be valid.
                self.read(&join(DEFAULTS, &entry.key), &shape, &entry.value);
            }
        }
        if let Some(first) = defaults.first() {
            self.choices(DEFAULTS, defaults, first.key_place);
        }
    }

    /// A key that none of these engines takes.
    fn unknown(&self, key: &str, engines: &[EngineKind]) -> Mistake {
        let owners: Vec<String> = self
            .engines
            .iter()
            .filter(|kind| kind.setting(key).is_some())
            .map(|kind| kind.name.to_owned())
            .collect();
        if !owners.is_empty() {
            let mut names: Vec<&str> = engines.iter().map(|engine| engine.name).collect();
            names.dedup();
            return Mistake::SettingOfOtherEngine {
                key: key.to_owned(),
                owners,
                engine: names.join(" and "),
            };
        }
        let mut valid = ARM.names();
        for engine in engines {
            valid.extend(engine.settings.iter().map(|setting| setting.name.to_owned()));
        }
        valid.dedup();
        let key = key.to_owned();
        Mistake::UnknownKey { key, valid }
    }

    fn choices(&mut self, path: &str, entries: &[Entry], place: Span) {
        Reader::new(self.problems).choices(path, &ARM, entries, place);
    }
}

/// The settings of an arm, defaults of its engine filled in, with their origins; a cache that cannot be is reported.
pub(crate) fn settings(
    arm: &ReadArm,
    engine: &EngineKind,
    limits: &Limits,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Settings {
    let path = arm.path();
    origins_of_engine(arm, engine, origins);
    let mut settings = Settings::default();
    for setting in engine.settings {
        let (path, shape) = (join(&path, setting.name), Shape::Value(setting.kind));
        let given = arm.setting(setting.name).map(|given| &given.checked);
        let mut value = setting.default.map(|text| {
            let value = shape.scalar(text);
            value.expect("a default is a value of its own kind")
        });
        match (given, setting.default) {
            (Some(given), _) => {
                if let Value::One(own) = &given.value {
                    origins.add_file(&path, written(&shape, own), given.place);
                    value = Some(own.clone());
                }
            }
            (None, Some(text)) => origins.add(&path, text, Source::Default),
            (None, None) => {}
        }
        settings.0.extend(value.map(|value| (setting.name.to_owned(), value)));
    }
    if let Some(name) = engine.cache_setting
        && let Some(cache) = settings.bytes(name)
        && cache > limits.memory_bytes
    {
        let mistake = Mistake::CacheLargerThanMemory { cache, memory: limits.memory_bytes };
        let (path, place) = match arm.setting(name) {
            Some(given) => (given.path.clone(), given.checked.place),
            None => (path, arm.name_place),
        };
        problems.add(&path, Some(place), mistake);
    }
    if let Some(unfit) = (engine.unfit)(&settings) {
        let mistake =
            Mistake::Unfit { setting: unfit.setting, engine: engine.name, reason: unfit.reason };
        let place = arm.setting(unfit.setting).map(|given| given.checked.place);
        let path = join(&arm.path(), unfit.setting);
        problems.add(&path, Some(place.unwrap_or(arm.name_place)), mistake);
    }
    settings
}

fn origins_of_engine(arm: &ReadArm, engine: &EngineKind, origins: &mut Origins<'_>) {
    let path = arm.path();
    if let Some(about) = arm.get(arm::about)
        && let Some(text) = about.checked.text()
    {
        origins.add_file(&arm::about.under(&path), text, about.checked.place);
    }
    let path = arm::engine.under(&path);
    match arm.get(arm::engine) {
        Some(given) => origins.add_file(&path, engine.name, given.checked.place),
        None => origins.add(&path, engine.name, Source::Default),
    }
}

/// What a key of an arm takes.
fn shape_of(key: &str, engine: EngineKind) -> Option<Shape> {
    ARM.key(key)
        .map(|key| key.shape)
        .or_else(|| engine.setting(key).map(|setting| Shape::Value(setting.kind)))
}

/// Where an arm's data directory is made.
pub(crate) fn directory(
    arm: &ReadArm,
    given: &Surroundings<'_>,
    origins: &mut Origins<'_>,
) -> Option<PathBuf> {
    let path = arm::directory.under(&arm.path());
    if let Some(directory) = &given.overrides.directory {
        let name = "--directory".to_owned();
        origins.add(&path, directory.display().to_string(), Source::Flag { name });
        return Some(directory.clone());
    }
    let Some(checked) = arm.get(arm::directory).map(|given| &given.checked) else {
        origins.add(&path, "the program's own place", Source::Default);
        return None;
    };
    let directory = given.base_dir.join(checked.text()?);
    origins.add_file(&path, directory.display().to_string(), checked.place);
    Some(directory)
}
