//! Collections of an application: prepared, indexed, loaded and dropped together.

use crate::it::laboratory::{
    CLIENTS, assert_all_ok, assert_ok, load, message, open_at, open_on, settings, text, verifiable,
};
use crate::it::server::{Kind, Server};
use crate::mongo::it::statements::Kept;
use crate::mongo::{Host, LeanClient, LeanOptions};
use crate::{Answer, Engine, EngineError, Opening, look, open, remove};
use bson::{Document, doc};
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_record::StatementKind;
use plimsoll_testing::{Need, assert_contains, needs};
use plimsoll_workload::CollectionOrder;

fn index(keys: Document, name: &str) -> Document {
    doc! { "key": keys, "name": name }
}

fn collection(name: &str, documents: u64, indexes: &[Document]) -> CollectionOrder {
    let indexes = indexes.iter().map(|index| index.to_vec().unwrap()).collect();
    CollectionOrder { name: name.into(), documents, options: None, indexes }
}

/// Two collections, the second with an index and a special one.
fn shop() -> Vec<CollectionOrder> {
    let by_total = index(doc! { "customer": 1, "total": -1 }, "by_total");
    let by_text = index(doc! { "note": "text" }, "by_note");
    vec![collection("customers", 3, &[]), collection("orders", 5, &[by_total, by_text])]
}

/// With time enough for a server on a busy machine.
fn settings_for(server: &Server, existing: &str) -> Settings {
    settings(&[
        ("uri", text(&server.uri())),
        ("existing", text(existing)),
        ("connect_timeout", SettingValue::Nanos(60_000_000_000)),
    ])
}

fn open_shop(
    server: &Server,
    existing: &str,
    collections: &[CollectionOrder],
) -> Result<Box<dyn Engine>, EngineError> {
    let settings = settings_for(server, existing);
    let data = verifiable(1);
    open("mongodb", &Opening { collections, ..Opening::new(&settings, &data) })
}

fn load_shop(engine: &dyn Engine, collections: &[CollectionOrder]) {
    let mut session = engine.session().unwrap();
    for order in collections {
        let documents: Vec<Document> =
            (0..order.documents as i32).map(|number| doc! { "_id": number }).collect();
        if documents.is_empty() {
            continue;
        }
        let insert = doc! { "insert": &order.name, "documents": documents };
        let kept = Kept::new(StatementKind::Insert, &insert);
        let mut answer = Answer::default();
        assert_ok(&session.statement(&kept.statement(), &mut answer));
        assert_eq!(answer.documents, order.documents);
    }
}

/// Another program on the same server.
pub struct Other(LeanClient);

impl Other {
    pub fn of(server: &Server) -> Self {
        let host = Host::Tcp { host: "127.0.0.1".into(), port: server.port };
        let options = LeanOptions::new(host, "ycsb", &verifiable(1));
        Self(LeanClient::connect(&options).unwrap())
    }

    pub fn run(&mut self, command: &Document) -> Document {
        let reply = self.0.command("ycsb", &command.to_vec().unwrap()).unwrap();
        Document::from_reader(&reply[..]).unwrap()
    }

    fn batch(&mut self, command: &Document) -> Vec<Document> {
        let reply = self.run(command);
        let batch = reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
        batch.iter().map(|one| one.as_document().unwrap().clone()).collect()
    }

    fn index_names(&mut self, collection: &str) -> Vec<String> {
        let indexes = self.batch(&doc! { "listIndexes": collection });
        let names = indexes.iter().map(|index| index.get_str("name").unwrap().to_owned());
        names.collect()
    }

    fn count(&mut self, collection: &str) -> usize {
        self.batch(&doc! { "find": collection }).len()
    }

    fn uuid(&mut self, collection: &str) -> bson::Bson {
        let list = doc! { "listCollections": 1, "filter": { "name": collection } };
        self.batch(&list)[0].get_document("info").unwrap().get("uuid").unwrap().clone()
    }

    fn options(&mut self, collection: &str) -> Document {
        let list = doc! { "listCollections": 1, "filter": { "name": collection } };
        self.batch(&list)[0].get_document("options").unwrap().clone()
    }

    fn names(&mut self) -> Vec<String> {
        let all = self.batch(&doc! { "listCollections": 1, "nameOnly": true });
        all.iter().map(|one| one.get_str("name").unwrap().to_owned()).collect()
    }

    fn insert(&mut self, collection: &str) {
        self.run(&doc! { "insert": collection, "documents": [{ "_id": "theirs" }] });
    }
}

#[test]
fn collections_are_prepared_with_their_indexes_and_dropped_again() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let mut other = Other::of(&server);
    let shop = shop();
    let mut before = Vec::new();
    for round in 0..3 {
        let engine = open_shop(&server, "drop", &shop).unwrap();
        assert_eq!(other.index_names("orders"), ["_id_", "by_total", "by_note"], "{round}");
        assert_eq!(engine.count().unwrap(), Some(0));
        load_shop(&*engine, &shop);
        assert_eq!(engine.count().unwrap(), Some(8));
        engine.settle().unwrap();
        assert!(engine.data_bytes().unwrap().unwrap() > 5 * 4_096);
        engine.close().unwrap();
        // They are others than before, and not the same ones emptied.
        let now = ["customers", "orders"].map(|name| other.uuid(name));
        assert!(now.iter().all(|uuid| !before.contains(uuid)), "{round}");
        before.extend(now);
    }
    // Another client measures with them as they are.
    let engine = open_shop(&server, "use", &shop).unwrap();
    assert_eq!(engine.count().unwrap(), Some(8));
    drop(engine);
    let said = message(open_shop(&server, "refuse", &shop));
    assert_contains(&said, "using ycsb.customers failed");
    assert_contains(&said, "earlier load by this program");

    // Another order: the index of the earlier one is gone.
    let other_order = [collection("orders", 2, &[index(doc! { "a": 1 }, "by_a")])];
    let engine = open_shop(&server, "drop", &other_order).unwrap();
    assert_eq!(other.index_names("orders"), ["_id_", "by_a"]);
    load_shop(&*engine, &other_order);
    drop(engine);

    let settings = settings_for(&server, "drop");
    let data = verifiable(1);
    look(&settings, &data, &shop, &["insert"]).unwrap();
    assert!(remove(&settings, &data, &shop).unwrap());
    assert!(!remove(&settings, &data, &shop).unwrap());
    assert!(other.names().is_empty());
}

#[test]
fn a_document_of_somebody_else_keeps_all_collections_as_they_are() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let mut other = Other::of(&server);
    let shop = shop();
    let engine = open_shop(&server, "drop", &shop[..1]).unwrap();
    load_shop(&*engine, &shop[..1]);
    drop(engine);
    other.insert("orders");
    for (existing, words) in [("drop", "did not load"), ("refuse", "earlier load")] {
        let said = message(open_shop(&server, existing, &shop));
        assert_contains(&said, words);
        let settings = settings_for(&server, existing);
        assert_eq!(message(look(&settings, &verifiable(1), &shop, &[])), said);
    }
    let said = message(open_shop(&server, "drop", &shop));
    assert_contains(&said, "dropping ycsb.orders failed");
    assert_contains(&said, "name another `database`;");
    assert_eq!((other.count("customers"), other.count("orders")), (3, 1));
    assert_eq!(other.index_names("orders"), ["_id_"]);
}

#[test]
fn indexes_of_somebody_else_stay() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let mut other = Other::of(&server);
    let shop = shop();
    let theirs = doc! { "createIndexes": "orders", "indexes": [index(doc! { "x": 1 }, "theirs")] };
    other.run(&theirs);
    let uuid = other.uuid("orders");
    for _ in 0..2 {
        let engine = open_shop(&server, "drop", &shop).unwrap();
        load_shop(&*engine, &shop);
        let names = other.index_names("orders");
        assert_eq!(names, ["_id_", "theirs", "by_total", "by_note"]);
        assert_eq!(other.uuid("orders"), uuid);
    }
    // Indexes of this program are dropped when another order needs others.
    let bare = [collection("orders", 1, &[])];
    let engine = open_shop(&server, "drop", &bare).unwrap();
    assert_eq!(other.index_names("orders"), ["_id_", "theirs"]);
    drop(engine);

    let same_name = [collection("orders", 1, &[index(doc! { "y": 1 }, "theirs")])];
    let said = message(open_shop(&server, "drop", &same_name));
    assert_contains(&said, "creating the index `theirs` of ycsb.orders failed");
}

/// The indexes of a run that ended before it loaded anything are known as ours.
#[test]
fn indexes_without_a_load_are_remembered() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let mut other = Other::of(&server);
    drop(open_shop(&server, "refuse", &shop()).unwrap());
    // Documents that somebody else stores there meanwhile are still theirs.
    other.insert("orders");
    let said = message(open_shop(&server, "drop", &shop()));
    assert_contains(&said, "did not load");
    other.run(&doc! { "delete": "orders", "deletes": [{ "q": {}, "limit": 0 }] });
    let by_total = shop()[1].indexes[0].clone();
    let order = CollectionOrder { indexes: vec![by_total], ..collection("orders", 1, &[]) };
    drop(open_shop(&server, "refuse", &[order]).unwrap());
    assert_eq!(other.index_names("orders"), ["_id_", "by_total"]);
}

#[test]
fn nothing_is_created_where_documents_are_used_as_they_are() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let mut other = Other::of(&server);
    other.insert("customers");
    let said = message(open_shop(&server, "use", &shop()));
    assert_contains(&said, "using ycsb.orders failed: it holds no documents");
    assert_eq!(other.names(), ["customers"]);
    // An application may begin with an empty collection.
    let engine = open_shop(&server, "use", &[shop()[0].clone(), collection("orders", 0, &[])]);
    assert_eq!(engine.unwrap().count().unwrap(), Some(1));
    // Another client has prepared it, or is about to.
    let (settings, data) = (settings(&[("uri", text(&server.uri()))]), verifiable(1));
    let collections = shop();
    let joins =
        Opening { collections: &collections, joins: true, ..Opening::new(&settings, &data) };
    open("mongodb", &joins).unwrap();
    assert_eq!(other.names(), ["customers"]);
}

#[test]
fn records_of_ycsb_are_dropped_with_the_indexes_of_an_application() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let mut other = Other::of(&server);
    let orders = [collection("usertable", 2, &[index(doc! { "a": 1 }, "by_a")])];
    let engine = open_shop(&server, "drop", &orders).unwrap();
    load_shop(&*engine, &orders);
    drop(engine);
    let data = verifiable(10);
    for _ in 0..2 {
        let engine = open_at(&server.uri(), &data, &[("existing", text("drop"))]).unwrap();
        assert_all_ok(&load(&mut *engine.session().unwrap(), &data));
        assert_eq!(other.index_names("usertable"), ["_id_"]);
        assert_eq!(other.count("usertable"), 10);
    }
}

#[test]
fn a_value_that_is_there_twice_is_said_in_words_of_the_application() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let unique = doc! { "key": { "email": 1 }, "name": "email_1", "unique": true };
    let customers = [collection("customers", 2, &[unique])];
    let engine = open_shop(&server, "drop", &customers).unwrap();
    let mut session = engine.session().unwrap();
    let documents = [doc! { "_id": 1, "email": "a" }, doc! { "_id": 2, "email": "a" }];
    let insert = doc! { "insert": "customers", "documents": documents.to_vec() };
    let kept = Kept::new(StatementKind::Insert, &insert);
    let refused = session.statement(&kept.statement(), &mut Answer::default());
    assert_contains(
        format!("{refused:?}"),
        "the index email_1 is unique, and the generator gives two documents the same value: give the field `unique: true`",
    );
}

fn with_options(documents: u64, options: Document) -> CollectionOrder {
    let by_a = index(doc! { "a": 1 }, "by_a");
    let options = Some(options.to_vec().unwrap());
    CollectionOrder { options, ..collection("orders", documents, &[by_a]) }
}

#[test]
fn options_are_in_force_and_made_again() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let mut other = Other::of(&server);
    let low = doc! { "validator": { "_id": { "$lt": 5 } } };
    let zstd =
        doc! { "storageEngine": { "wiredTiger": { "configString": "block_compressor=zstd" } } };
    let small = [with_options(5, low.clone())];
    let mut uuids = Vec::new();
    for _ in 0..2 {
        let engine = open_shop(&server, "drop", &small).unwrap();
        assert_eq!(other.index_names("orders"), ["_id_", "by_a"]);
        let options = other.options("orders");
        assert_eq!(options.get_document("validator").ok(), low.get_document("validator").ok());
        load_shop(&*engine, &small);
        let mut session = engine.session().unwrap();
        let insert = doc! { "insert": "orders", "documents": [{ "_id": 7 }] };
        let kept = Kept::new(StatementKind::Insert, &insert);
        let refused = session.statement(&kept.statement(), &mut Answer::default());
        assert_contains(format!("{refused:?}"), "failed validation");
        uuids.push(other.uuid("orders"));
    }
    assert_ne!(uuids[0], uuids[1]);
    // With other options, with the documents of the earlier load; then as it would be without any, nothing having been loaded.
    drop(open_shop(&server, "drop", &[with_options(5, zstd.clone())]).unwrap());
    assert_eq!(other.options("orders"), zstd);
    let made = other.uuid("orders");
    drop(open_shop(&server, "refuse", &[with_options(5, zstd)]).unwrap());
    assert_eq!(other.uuid("orders"), made);
    drop(open_shop(&server, "refuse", &small).unwrap());
    assert!(other.options("orders").contains_key("validator"));
    let plain = [collection("orders", 5, &[])];
    drop(open_shop(&server, "refuse", &plain).unwrap());
    assert!(
        other.names().iter().all(|name| name != "orders") || other.options("orders").is_empty()
    );

    let engine = open_shop(&server, "drop", &small).unwrap();
    load_shop(&*engine, &small);
    engine.close().unwrap();
    let settings = settings_for(&server, "drop");
    assert!(remove(&settings, &verifiable(1), &small).unwrap());
    assert!(other.names().is_empty());
    let wrong = [with_options(1, doc! { "validator": 5 })];
    assert_contains(message(open_shop(&server, "drop", &wrong)), "creating ycsb.orders failed");
}

#[test]
fn options_of_somebody_else_stay() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let mut other = Other::of(&server);
    let theirs = doc! { "validator": { "_id": { "$lt": 9 } } };
    let mut create = doc! { "create": "orders" };
    create.extend(theirs.clone());
    other.run(&create);
    let uuid = other.uuid("orders");
    let ours = [with_options(5, doc! { "validator": { "_id": { "$lt": 5 } } })];
    for existing in ["refuse", "drop"] {
        let said = message(open_shop(&server, existing, &ours));
        assert_contains(&said, "using ycsb.orders failed: its options are");
        assert_contains(&said, "drop it yourself, or name another `database`");
        let settings = settings_for(&server, existing);
        assert_eq!(message(look(&settings, &verifiable(1), &ours, &[])), said);
    }
    // Without options in the file theirs are kept, before and after a load.
    let plain = [collection("orders", 5, &[index(doc! { "a": 1 }, "by_a")])];
    for _ in 0..2 {
        let engine = open_shop(&server, "drop", &plain).unwrap();
        load_shop(&*engine, &plain);
        assert_eq!(other.uuid("orders"), uuid);
    }
    let said = message(open_shop(&server, "drop", &ours));
    assert_contains(&said, "using ycsb.orders failed: its options are");
    assert_eq!((other.uuid("orders"), other.count("orders")), (uuid.clone(), 5));
    // A plain collection of theirs is no more ours.
    other.run(&doc! { "create": "customers" });
    let customers = CollectionOrder { name: "customers".into(), ..ours[0].clone() };
    let said = message(open_shop(&server, "drop", &[customers]));
    assert_contains(&said, "its options are {}, ");
    // The same options are made again.
    let same = [with_options(5, theirs)];
    drop(open_shop(&server, "drop", &same).unwrap());
    assert_ne!(other.uuid("orders"), uuid);
    assert!(other.options("orders").contains_key("validator"));
}

#[test]
fn statements_go_by_the_lean_client() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let (data, collections) = (verifiable(1), shop());
    for (option, client, words) in [
        (
            "",
            Some("driver"),
            "`client: driver` does not suit the engine `mongodb`: statements of an application are sent by the lean client; leave out `client: driver`",
        ),
        ("?compressors=snappy", None, "does not compress"),
        ("?compressors=snappy", Some("lean"), "does not compress"),
    ] {
        let uri = format!("{}{option}", server.uri());
        let mut settings = settings(&[("uri", text(&uri))]);
        if let Some(client) = client {
            settings.0.insert("client".into(), text(client));
        }
        let opening = Opening { collections: &collections, ..Opening::new(&settings, &data) };
        assert_contains(message(open("mongodb", &opening)), words);
    }
    // The driver takes no statement where it was opened for records.
    let [lean, driver] = CLIENTS.map(|client| {
        let engine = open_on(&server, &data, &[("client", text(client))]).unwrap();
        let kept = Kept::new(StatementKind::Count, &doc! { "count": "usertable" });
        let mut answer = Answer::default();
        engine.session().unwrap().statement(&kept.statement(), &mut answer)
    });
    assert_ok(&lean);
    assert!(matches!(driver, crate::Outcome::Error(_)));
}
