//! Reads the arms: what they have in common, what each says itself, and the settings of their engines.

use crate::Limits;
use crate::document::{Entry, Kind, Node};
use crate::format::{ARM, DEFAULT_ENGINE};
use crate::mistake::Mistake;
use crate::reader::{Checked, Reader, Value, join};
use crate::scalar::{is_name, setting};
use crate::settle::{Origins, written};
use crate::shape::Shape;
use crate::source::Place;
use plimsoll_plan::{EngineKind, Settings, Source};
use std::collections::BTreeMap;

/// An arm as read: its data is decided with the workload.
pub(crate) struct ReadArm {
    pub name: String,
    pub name_place: Place,
    /// `None` when the file names an engine that there is not.
    pub engine: Option<EngineKind>,
    /// What stands in the arm or in the defaults.
    pub given: BTreeMap<String, Given>,
}

/// A value that an arm has.
pub(crate) struct Given {
    /// Where it stands: in the arm or in the defaults.
    pub path: String,
    pub checked: Checked,
}

impl ReadArm {
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.given.get(key).and_then(|given| given.checked.text())
    }
}

impl Reader<'_, '_> {
    /// All arms of the file, each with what the defaults give it.
    pub(crate) fn arms(&mut self, arms: &[Entry], defaults: &[Entry]) -> Vec<ReadArm> {
        let mut read = Vec::new();
        for arm in arms {
            let (Kind::Map(_) | Kind::Null) = arm.value.kind else {
                continue;
            };
            if !is_name(&arm.key) {
                continue;
            }
            let own = entries(&arm.value);
            let path = join("arms", &arm.key);
            let engine = self.engine(&path, own, defaults);
            let mut given = BTreeMap::new();
            if let Some(engine) = engine {
                self.given(&path, own, engine, &mut given);
                self.choices(&path, &ARM, own, arm.key_place);
                self.inherited(own, defaults, engine, &mut given);
            }
            read.push(ReadArm {
                name: arm.key.clone(),
                name_place: arm.key_place,
                engine,
                given,
            });
        }
        self.defaults(&read, defaults);
        read
    }

    /// The engine that an arm or the defaults name.
    fn engine(&mut self, path: &str, own: &[Entry], defaults: &[Entry]) -> Option<EngineKind> {
        let named = |entries: &[Entry]| entries.iter().find(|entry| entry.key == "engine").cloned();
        let (path, entry) = match (named(own), named(defaults)) {
            (Some(entry), _) => (join(path, "engine"), entry),
            (None, Some(entry)) => ("defaults.engine".to_owned(), entry),
            (None, None) => {
                return self
                    .engines
                    .iter()
                    .find(|kind| kind.name == DEFAULT_ENGINE)
                    .copied();
            }
        };
        let checked = self.read(&path, &Shape::Text { most: 40 }, &entry.value);
        let name = checked.text()?;
        let kind = self
            .engines
            .iter()
            .find(|kind| kind.name.eq_ignore_ascii_case(name));
        if kind.is_none() {
            let valid = self
                .engines
                .iter()
                .map(|kind| kind.name.to_owned())
                .collect();
            self.problems.add(
                &path,
                Some(entry.value.place),
                Mistake::NotOneOf {
                    word: name.to_owned(),
                    valid,
                },
            );
        }
        kind.copied()
    }

    /// What the arm itself says.
    fn given(
        &mut self,
        path: &str,
        own: &[Entry],
        engine: EngineKind,
        given: &mut BTreeMap<String, Given>,
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
            given.insert(entry.key.clone(), Given { path, checked });
        }
    }

    /// What the arm leaves to the defaults.
    fn inherited(
        &mut self,
        own: &[Entry],
        defaults: &[Entry],
        engine: EngineKind,
        given: &mut BTreeMap<String, Given>,
    ) {
        let says = |key: &str| own.iter().any(|entry| entry.key == key);
        for entry in defaults {
            let key = entry.key.as_str();
            // These are three ways to say one thing.
            let amounts = ["records", "size", "working_set"];
            let said =
                says(key) || (amounts.contains(&key) && amounts.iter().any(|amount| says(amount)));
            let Some(shape) = shape_of(key, engine) else {
                continue;
            };
            if said || key == "about" {
                continue;
            }
            let path = join("defaults", key);
            let checked = self.read(&path, &shape, &entry.value);
            given.insert(key.to_owned(), Given { path, checked });
        }
    }

    /// Sees to what stands in the defaults and concerns no arm.
    fn defaults(&mut self, arms: &[ReadArm], defaults: &[Entry]) {
        let engines: Vec<EngineKind> = arms.iter().filter_map(|arm| arm.engine).collect();
        for entry in defaults {
            let concerns = |engine: &EngineKind| shape_of(&entry.key, *engine).is_some();
            if entry.key == "about" || (!engines.is_empty() && !engines.iter().any(concerns)) {
                let mut mistake = self.unknown(&entry.key, &engines);
                if let Mistake::UnknownKey { valid, .. } = &mut mistake {
                    valid.retain(|key| key != "about");
                }
                self.problems
                    .add("defaults", Some(entry.key_place), mistake);
            } else if let Some(shape) = engines
                .iter()
                .find_map(|engine| shape_of(&entry.key, *engine))
            {
                // It may be that every arm says otherwise; what stands here must be right all the same.
                self.read(&join("defaults", &entry.key), &shape, &entry.value);
            }
        }
        if let Some(first) = defaults.first() {
            self.choices("defaults", &ARM, defaults, first.key_place);
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
            valid.extend(
                engine
                    .settings
                    .iter()
                    .map(|setting| setting.name.to_owned()),
            );
        }
        valid.dedup();
        Mistake::UnknownKey {
            key: key.to_owned(),
            valid,
        }
    }

    /// The settings of an arm, defaults of its engine filled in, with their origins; a cache that cannot be is reported.
    pub(crate) fn settings(
        &mut self,
        arm: &ReadArm,
        engine: &EngineKind,
        limits: &Limits,
        origins: &mut Origins<'_>,
    ) -> Settings {
        let path = join("arms", &arm.name);
        origins_of_engine(arm, engine, origins);
        let mut settings = default_settings(engine);
        for setting in engine.settings {
            let path = join(&path, setting.name);
            let Some(given) = arm.given.get(setting.name) else {
                if let Some(text) = setting.default {
                    origins.add(&path, text, Source::Default);
                }
                continue;
            };
            let Value::One(value) = &given.checked.value else {
                continue;
            };
            origins.add_file(
                &path,
                written(&Shape::Value(setting.kind), value),
                given.checked.place,
            );
            settings.0.insert(setting.name.to_owned(), value.clone());
        }
        if let Some(name) = engine.cache_setting
            && let Some(cache) = settings.bytes(name)
            && cache > limits.memory_bytes
        {
            let mistake = Mistake::CacheLargerThanMemory {
                cache,
                memory: limits.memory_bytes,
            };
            let (path, place) = match arm.given.get(name) {
                Some(given) => (given.path.clone(), given.checked.place),
                None => (path, arm.name_place),
            };
            self.problems.add(&path, Some(place), mistake);
        }
        settings
    }
}

fn origins_of_engine(arm: &ReadArm, engine: &EngineKind, origins: &mut Origins<'_>) {
    let path = join("arms", &arm.name);
    if let Some(about) = arm.given.get("about")
        && let Some(text) = about.checked.text()
    {
        origins.add_file(&join(&path, "about"), text, about.checked.place);
    }
    let path = join(&path, "engine");
    match arm.given.get("engine") {
        Some(given) => origins.add_file(&path, engine.name, given.checked.place),
        None => origins.add(&path, engine.name, Source::Default),
    }
}

/// Every setting of an engine that has a default, at its default.
fn default_settings(engine: &EngineKind) -> Settings {
    let mut settings = Settings::default();
    for entry in engine.settings {
        if let Some(text) = entry.default {
            let value = setting(entry.kind, text).expect("a default is a value of its own kind");
            settings.0.insert(entry.name.to_owned(), value);
        }
    }
    settings
}

/// What a key of an arm takes.
fn shape_of(key: &str, engine: EngineKind) -> Option<Shape> {
    ARM.key(key).map(|key| key.shape).or_else(|| {
        engine
            .setting(key)
            .map(|setting| Shape::Value(setting.kind))
    })
}

/// The entries of a map; none of anything else.
pub(crate) fn entries(node: &Node) -> &[Entry] {
    if let Kind::Map(entries) = &node.kind {
        entries
    } else {
        &[]
    }
}
