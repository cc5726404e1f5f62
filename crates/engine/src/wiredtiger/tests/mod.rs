//! Against the real library, in temporary directories.

mod model;
mod opening;
mod operations;
mod settings;

use super::KIND;
use super::engine::WiredTiger;
use super::statistics::Statistics;
use crate::opening::completed;
use crate::{Engine, EngineError, FieldVisitor, Opening, Outcome, Session};
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_workload::{
    Ask, DataSpec, FieldChoice, Fields, KeyOrder, KeySpace, Mix, OpGenerator, Workload,
};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const QUICK: &str = "log=(file_max=100KB,prealloc=false),checkpoint_sync=false";

fn text(text: &str) -> SettingValue {
    SettingValue::Text(text.into())
}

/// A small cache and small journal files, and checkpoints that leave it to the kernel when they reach the disk, so that tests are quick.
fn open(
    directory: &Path,
    data: &DataSpec,
    settings: &[(&str, SettingValue)],
) -> Result<Box<WiredTiger>, EngineError> {
    let mut all = Settings::default();
    all.0.insert("cache_size".into(), SettingValue::Bytes(32 << 20));
    all.0.insert("connection_config".into(), text(QUICK));
    for (name, value) in settings {
        all.0.insert((*name).into(), value.clone());
    }
    let settings = completed(&KIND, &all)?;
    let opening = Opening { directory: Some(directory), ..Opening::new(&settings, data) };
    WiredTiger::open(&opening).map(Box::new)
}

fn message<T>(result: Result<T, EngineError>) -> String {
    result.err().expect("refused").to_string()
}

/// Records whose keys are in the order of their numbers and whose values follow from key and field.
fn verifiable(records: u64) -> DataSpec {
    let mut data = DataSpec::with_records(records);
    data.key_order = KeyOrder::Ordered;
    data.zero_padding = 6;
    data.data_integrity = true;
    data
}

/// Stores all records of a key space and returns their keys in order.
fn load(session: &mut dyn Session, key_space: &Arc<KeySpace>) -> Vec<Vec<u8>> {
    let mut generator = key_space.loader(1).generator(0);
    let mut keys = Vec::new();
    while let Some(Ask::Insert { key, fields, .. }) = generator.next() {
        assert_ok(session.insert(key, fields));
        keys.push(key.to_vec());
    }
    keys.sort();
    keys
}

/// A database with all records of its data.
struct Loaded {
    engine: Box<WiredTiger>,
    session: Box<dyn Session>,
    key_space: Arc<KeySpace>,
    keys: Vec<Vec<u8>>,
    directory: TempDir,
}

impl Loaded {
    fn new(data: &DataSpec) -> Self {
        Self::with(data, &[])
    }

    fn with(data: &DataSpec, settings: &[(&str, SettingValue)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let engine = open(directory.path(), data, settings).unwrap();
        let mut session = engine.session().unwrap();
        let key_space = KeySpace::new(data).unwrap();
        let keys = load(&mut *session, &key_space);
        Self { engine, session, key_space, keys, directory }
    }

    /// A whole record, which must exist.
    fn read(&mut self, key: &[u8]) -> Record {
        read(&mut *self.session, key, FieldChoice::All).unwrap()
    }

    /// Changes one field, and checks that it is changed and nothing else.
    fn update_one(&mut self, key: &[u8], change: Fields<'_>) {
        let mut expected = self.read(key);
        let (number, _, value) = change.clone().next().unwrap();
        expected[number as usize].1 = value.to_vec();
        assert_ok(self.session.update(key, change));
        assert_eq!(self.read(key), expected);
    }

    fn rows(&mut self, start: &[u8], count: u32) -> u32 {
        rows(&mut *self.session, start, count)
    }

    fn close(self) {
        drop(self.session);
        self.engine.close().unwrap();
    }
}

/// Asks for updates alone, of one field or of all.
fn updates(key_space: &Arc<KeySpace>, all_fields: bool) -> OpGenerator {
    let mut mix = Mix::preset("a").unwrap();
    (mix.read, mix.update, mix.write_all_fields) = (0.0, 1.0, all_fields);
    Arc::new(Workload::new(key_space, &mix, 1, None).unwrap()).generator(0)
}

fn changes(generator: &mut OpGenerator) -> Fields<'_> {
    let Ask::Update { changes, .. } = generator.next() else { panic!("there are only updates") };
    changes
}

fn assert_ok(outcome: Outcome) {
    assert!(matches!(outcome, Outcome::Ok), "{outcome:?}");
}

fn assert_not_found(outcome: Outcome) {
    assert!(matches!(outcome, Outcome::NotFound), "{outcome:?}");
}

type Record = Vec<(Vec<u8>, Vec<u8>)>;

fn record(fields: Fields<'_>) -> Record {
    fields.map(|(_, name, value)| (name.to_vec(), value.to_vec())).collect()
}

#[derive(Default)]
struct Collected(Record);

impl FieldVisitor for Collected {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.0.push((name.to_vec(), value.to_vec()));
    }
}

/// What a read hands over, or `None` where nothing is found.
fn read(session: &mut dyn Session, key: &[u8], fields: FieldChoice<'_>) -> Option<Record> {
    let mut collected = Collected::default();
    match session.read(key, fields, Some(&mut collected)) {
        Outcome::Ok => Some(collected.0),
        Outcome::NotFound | Outcome::Batched => None,
        Outcome::Error(message) => panic!("{message}"),
    }
}

fn rows(session: &mut dyn Session, start: &[u8], count: u32) -> u32 {
    let mut rows = 77;
    assert_ok(session.scan(start, count, FieldChoice::All, &mut rows));
    rows
}

fn statistic(engine: &dyn Engine, name: &str) -> f64 {
    let mut all = Vec::new();
    engine.statistics(&mut all);
    let found = all.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no {name}")).1
}

/// One of WiredTiger's counters that is no figure, by its number.
fn counter(engine: &WiredTiger, number: u32) -> f64 {
    let connection = engine.connection().unwrap();
    let mut statistics = Statistics::open(&connection).unwrap();
    statistics.value(number).unwrap()
}
