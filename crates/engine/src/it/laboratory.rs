//! Engines opened on servers, and questions to ask them.

use crate::it::server::{Kind, Server};
use crate::{Engine, EngineError, FieldVisitor, Opening, Outcome, Session, open};
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_workload::{Ask, DataSpec, FieldChoice, KeyOrder, KeySpace};

pub const CLIENTS: [&str; 2] = ["lean", "driver"];

pub fn text(text: &str) -> SettingValue {
    SettingValue::Text(text.into())
}

pub fn settings(pairs: &[(&str, SettingValue)]) -> Settings {
    let mut settings = Settings::default();
    for (name, value) in pairs {
        settings.0.insert((*name).into(), value.clone());
    }
    settings
}

/// Opens a server that runs by itself.
pub fn open_at(
    uri: &str,
    data: &DataSpec,
    pairs: &[(&str, SettingValue)],
) -> Result<Box<dyn Engine>, EngineError> {
    let mut settings = settings(pairs);
    settings.0.insert("uri".into(), text(uri));
    let opening = Opening::new(&settings, data);
    open("mongodb", &opening)
}

/// Opens a server as one that was started for the arm.
pub fn open_on(
    server: &Server,
    data: &DataSpec,
    pairs: &[(&str, SettingValue)],
) -> Result<Box<dyn Engine>, EngineError> {
    let address = server.uri();
    let settings = settings(pairs);
    let opening = Opening {
        directory: Some(server.directory()),
        server: Some(&address),
        ..Opening::new(&settings, data)
    };
    open("mongodb", &opening)
}

/// Runs a test with each client on each installed kind of server.
pub fn everywhere(body: impl Fn(&Server, &str)) {
    for kind in Kind::there() {
        for client in CLIENTS {
            eprintln!("{client} on {kind:?}");
            body(&Server::start(kind), client);
        }
    }
}

/// Records whose keys are in the order of their numbers and whose values follow from key and field.
pub fn verifiable(records: u64) -> DataSpec {
    let mut data = DataSpec::with_records(records);
    data.key_order = KeyOrder::Ordered;
    data.zero_padding = 6;
    data.data_integrity = true;
    data
}

pub type Record = Vec<(Vec<u8>, Vec<u8>)>;

/// Every record of the data, in the order of the keys if these are ordered.
pub fn records(data: &DataSpec) -> Vec<(Vec<u8>, Record)> {
    let key_space = KeySpace::new(data).unwrap();
    let mut generator = key_space.loader(1).generator(0);
    let mut records = Vec::new();
    while let Some(Ask::Insert { key, fields, .. }) = generator.next() {
        let record = fields.map(|(_, name, value)| (name.to_vec(), value.to_vec())).collect();
        records.push((key.to_vec(), record));
    }
    records
}

/// Stores every record, and says how each insert ended.
pub fn load(session: &mut dyn Session, data: &DataSpec) -> Vec<Outcome> {
    let key_space = KeySpace::new(data).unwrap();
    let mut generator = key_space.loader(1).generator(0);
    let mut outcomes = Vec::new();
    while let Some(Ask::Insert { key, fields, .. }) = generator.next() {
        outcomes.push(session.insert(key, fields));
    }
    outcomes
}

pub fn assert_all_ok(outcomes: &[Outcome]) {
    for outcome in outcomes {
        assert_ok(outcome);
    }
}

pub fn assert_ok(outcome: &Outcome) {
    assert!(matches!(outcome, Outcome::Ok), "{outcome:?}");
}

pub fn assert_not_found(outcome: &Outcome) {
    assert!(matches!(outcome, Outcome::NotFound), "{outcome:?}");
}

/// The words of a failure.
pub fn failure(outcome: Outcome) -> String {
    match outcome {
        Outcome::Error(message) => message.into(),
        other => panic!("no failure: {other:?}"),
    }
}

pub fn message<T>(result: Result<T, EngineError>) -> String {
    result.err().expect("refused").to_string()
}

#[derive(Default)]
struct Collected(Record);

impl FieldVisitor for Collected {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.0.push((name.to_vec(), value.to_vec()));
    }
}

/// What a read hands over, or `None` where nothing is found.
pub fn read(session: &mut dyn Session, key: &[u8], fields: FieldChoice<'_>) -> Option<Record> {
    let mut collected = Collected::default();
    match session.read(key, fields, Some(&mut collected)) {
        Outcome::Ok => Some(collected.0),
        Outcome::NotFound | Outcome::Batched => None,
        Outcome::Error(message) => panic!("{message}"),
    }
}
