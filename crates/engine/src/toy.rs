//! An engine that is added as the documentation says: one module with a kind, the two traits and a registration. Nothing else knows it, and
//! its file is checked, its settings are documented, and it is opened and used like every other.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use crate::{Engine, EngineError, FieldVisitor, Opening, Outcome, Registration, Session, kinds};
use plimsoll_experiment::{
    Limits, Overrides, Surroundings, cannot_measure, check, read_text_file, reference_markdown,
};
use plimsoll_plan::{EngineKind, Setting, SettingKind, SettingValue, Settings};
use plimsoll_record::EngineDescription;
use plimsoll_workload::{Ask, FieldChoice, Fields, KeySpace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

const KIND: EngineKind = EngineKind {
    name: "toy",
    about: "Remembers keys.",
    keeps_data: false,
    server: None,
    cache_setting: None,
    usable_cache: 0.0,
    unfit: |_| None,
    settings: &[Setting {
        name: "most_keys",
        about: "Keys that it remembers; further ones are refused.",
        kind: SettingKind::Count { min: 1, max: 1_000 },
        default: Some("1000"),
    }],
};

const TOY: Registration = Registration::new(KIND, open);

fn open(opening: &Opening<'_>) -> Result<Box<dyn Engine>, EngineError> {
    let most = opening.settings.count("most_keys").unwrap_or_default() as usize;
    let keys = Arc::default();
    Ok(Box::new(Toy { keys, most }))
}

#[derive(Clone)]
struct Toy {
    keys: Arc<Mutex<BTreeSet<Vec<u8>>>>,
    most: usize,
}

impl Engine for Toy {
    fn description(&self) -> EngineDescription {
        EngineDescription {
            name: KIND.name.into(),
            version: "1".into(),
            settings: BTreeMap::new(),
            notes: BTreeMap::new(),
        }
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(self.clone()))
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        Ok(Some(self.keys.lock().unwrap().len() as u64))
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

impl Session for Toy {
    fn read(
        &mut self,
        key: &[u8],
        _: FieldChoice<'_>,
        _: Option<&mut dyn FieldVisitor>,
    ) -> Outcome {
        if self.keys.lock().unwrap().contains(key) { Outcome::Ok } else { Outcome::NotFound }
    }

    fn update(&mut self, key: &[u8], _: Fields<'_>) -> Outcome {
        self.read(key, FieldChoice::All, None)
    }

    fn insert(&mut self, key: &[u8], _: Fields<'_>) -> Outcome {
        let mut keys = self.keys.lock().unwrap();
        if keys.len() == self.most {
            return Outcome::error("full");
        }
        keys.insert(key.to_vec());
        Outcome::Ok
    }

    fn scan(&mut self, start: &[u8], count: u32, _: FieldChoice<'_>, rows: &mut u32) -> Outcome {
        let keys = self.keys.lock().unwrap();
        *rows = keys.range(start.to_vec()..).take(count as usize).count() as u32;
        Outcome::Ok
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        if self.keys.lock().unwrap().remove(key) { Outcome::Ok } else { Outcome::NotFound }
    }
}

const FILE: &str = "
plimsoll: 1
name: toy
workload: {records: 2, preset: c}
arms: {one: {engine: toy, most_keys: 1}}
load: {closed: {threads: 1}}
";

#[test]
fn an_engine_that_is_registered_is_known_everywhere() {
    let engines: Vec<EngineKind> = kinds().iter().copied().chain([TOY.kind]).collect();
    let surroundings = Surroundings {
        base_dir: Path::new("."),
        engines: &engines,
        limits: Limits::UNKNOWN,
        overrides: &Overrides::default(),
        read_file: &read_text_file,
        measure: &cannot_measure,
    };
    let plan = check(FILE, "toy.yaml", &surroundings).unwrap();
    let wrong = FILE.replace("most_keys: 1", "most_keys: 0");
    let problems = check(&wrong, "toy.yaml", &surroundings).unwrap_err();
    assert!(problems.render(false, 80).contains("most_keys"));
    assert!(reference_markdown(&engines).contains("Keys that it remembers"));

    let opening = |settings| Opening::new(settings, &plan.arms[0].data);
    let engine = TOY.open(&opening(&plan.arms[0].settings)).unwrap();
    let mut session = engine.session().unwrap();
    let key_space = KeySpace::new(&plan.arms[0].data).unwrap();
    let mut load = key_space.loader(1).generator(0);
    let mut outcomes = Vec::new();
    while let Some(Ask::Insert { key, fields, .. }) = load.next() {
        outcomes.push(session.insert(key, fields));
        outcomes.push(session.read(key, FieldChoice::All, None));
    }
    use Outcome::{Error, NotFound, Ok};
    let as_expected = matches!(outcomes[..], [Ok, Ok, Error(_), NotFound]);
    assert!(as_expected, "{outcomes:?}");
    assert_eq!(engine.count().unwrap(), Some(1));

    let unknown = Settings([("speed".into(), SettingValue::Count(1))].into());
    let refused = TOY.open(&opening(&unknown)).err().unwrap();
    assert!(matches!(refused, EngineError::Setting { .. }), "{refused}");
}
