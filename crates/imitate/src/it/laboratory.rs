//! A server that stands for production, and files that are checked.

use crate::{Observed, Request, observe};
use mongodb::Client;
use mongodb::bson::{Bson, DateTime, Document, doc};
use plimsoll_engine::{Answer, Engine, Opening, Outcome, Session, kinds, open};
use plimsoll_experiment::{Limits, Overrides, Problems, Surroundings, check, read_text_file};
use plimsoll_plan::{Plan, SettingValue, Settings};
use plimsoll_testing::servers::{Kind, Server};
use plimsoll_workload::{Ask, DataSpec, KeySpace, NewDocuments, SequenceEnd, Workload};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub const DATABASE: &str = "shop";
/// So that a busy machine logs no operation that a test does not ask for.
pub const NOTHING_IS_SLOW: &str = "--slowms=60000";

/// What `plimsoll plan` makes of a file.
pub fn checked(text: &str) -> Result<Plan, Problems> {
    let surroundings = Surroundings {
        base_dir: Path::new("."),
        engines: kinds(),
        limits: Limits::UNKNOWN,
        overrides: &Overrides::default(),
        read_file: &read_text_file,
        measure: &|_, _, _, _| Err("nothing is measured".into()),
    };
    check(text, "written.yaml", &surroundings)
}

pub fn plan(text: &str) -> Plan {
    checked(text).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// Mean size of the documents of each collection that a file describes.
pub fn mean_sizes(text: &str) -> Vec<(String, f64)> {
    let plan = plan(text);
    let (collections, _) = plan.arms[0].data.documents.as_ref().unwrap().notes(0);
    collections.into_iter().map(|note| (note.name, note.mean_bytes)).collect()
}

/// A server with the documents of a file in the database `shop`.
pub fn loaded(text: &str) -> Server {
    let server = Server::start_with(Kind::Mongod, &[NOTHING_IS_SLOW]);
    Application::of(&server.uri(), text).load();
    server
}

/// A replica set of one member, with its URI.
pub fn replica_set(arguments: &[&str]) -> (Server, String) {
    let arguments = [&["--replSet=rs0"], arguments].concat();
    let server = Server::start_with(Kind::Mongod, &arguments);
    let host = format!("127.0.0.1:{}", server.port);
    let config = doc! { "_id": "rs0", "members": [{ "_id": 0, "host": host }] };
    let direct = server.uri() + "?directConnection=true";
    send(&direct, "admin", &[doc! { "replSetInitiate": config }]);
    // By this URI, the driver waits until the member is the primary.
    let uri = server.uri() + "?replicaSet=rs0";
    (server, uri)
}

/// The collections and operations of a file, on a server.
pub struct Application {
    engine: Box<dyn Engine>,
    key_space: Arc<KeySpace>,
    plan: Plan,
}

impl Application {
    pub fn of(uri: &str, text: &str) -> Self {
        let plan = plan(text);
        let spec = plan.arms[0].data.documents.clone().unwrap();
        let now = DateTime::now().try_to_rfc3339_string().unwrap();
        let spec = spec.begun_at(&now).unwrap_or(spec);
        let setting = |text: &str| SettingValue::Text(text.into());
        let settings = [("uri", setting(uri)), ("database", setting(DATABASE))];
        let settings =
            Settings(settings.into_iter().map(|(name, value)| (name.into(), value)).collect());
        let data = DataSpec::with_documents(spec.clone());
        let collections = spec.collections();
        let opening = Opening { collections: &collections, ..Opening::new(&settings, &data) };
        let engine = open("mongodb", &opening).unwrap();
        Self { engine, key_space: KeySpace::new(&data).unwrap(), plan }
    }

    pub fn load(&self) {
        let loader = self.key_space.loader(1).part(self.key_space.share(), 1, None);
        let mut generator = loader.generator(0);
        let mut session = self.engine.session().unwrap();
        while let Some(ask) = generator.next() {
            send_drawn(&mut *session, ask);
        }
    }

    /// Sends this many operations of the file's mix.
    pub fn operate(&self, operations: u32) {
        let mix = &self.plan.mixes[0];
        let workload = Arc::new(Workload::new(&self.key_space, mix, 3, None).unwrap());
        let mut generator = workload.generator(0);
        let mut session = self.engine.session().unwrap();
        for _ in 0..operations {
            let (inserted, is_transaction) = send_drawn(&mut *session, generator.next());
            inserted.into_iter().for_each(|new| generator.acknowledge_documents(new));
            if is_transaction {
                generator.sequence_ended(SequenceEnd::Committed);
            }
        }
    }
}

/// Sends one statement. Returns which documents it inserted, and whether it is a transaction.
fn send_drawn(session: &mut dyn Session, ask: Ask<'_>) -> (Option<NewDocuments>, bool) {
    let Ask::Statement(statement) = ask else { panic!("{ask:?}") };
    let outcome = session.statement(&statement, &mut Answer::default());
    assert!(matches!(outcome, Outcome::Ok), "{outcome:?}");
    (statement.inserted, statement.sequence.is_some())
}

/// Sends commands with the official driver, and returns the answers.
pub fn send(uri: &str, database: &str, commands: &[Document]) -> Vec<Document> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::with_uri_str(uri).await.unwrap();
        let mut answers = Vec::new();
        for command in commands {
            answers.push(client.database(database).run_command(command.clone()).await.unwrap());
        }
        answers
    })
}

pub fn seen(uri: &str) -> Observed {
    let request = Request { uri, database: None, log: None, watch: Duration::ZERO };
    observe(&request, &mut |_| {}).unwrap()
}

/// All texts of at least four letters in the first documents of a collection.
pub fn texts(server: &Server, collection: &str) -> Vec<String> {
    fn of(value: &Bson, found: &mut Vec<String>) {
        match value {
            Bson::String(text) if text.len() >= 4 => found.push(text.clone()),
            Bson::Document(inner) => inner.values().for_each(|value| of(value, found)),
            Bson::Array(items) => items.iter().for_each(|value| of(value, found)),
            _ => {}
        }
    }
    let find = doc! { "find": collection, "batchSize": 5_000, "limit": 5_000 };
    let answers = send(&server.uri(), DATABASE, &[find]);
    let cursor = answers[0].get_document("cursor").unwrap();
    let mut found = Vec::new();
    cursor.get_array("firstBatch").unwrap().iter().for_each(|document| of(document, &mut found));
    assert!(!found.is_empty());
    found.sort();
    found.dedup();
    found
}
