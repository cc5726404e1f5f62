//! Replica sets whose primary steps down or dies under load.

use crate::it::laboratory::{
    CLIENTS, assert_ok, open_at, read, records, settings, text, verifiable,
};
use crate::it::server::{Kind, Server};
use crate::it::transactions::slow::{STOCK, commit_one, load, shop};
use crate::mongo::it::statements::Kept;
use crate::{Answer, Opening, Session, SetOrder, open, replica_set};
use mongodb::bson::{Document, doc};
use mongodb::{Client, Database};
use plimsoll_record::StatementKind;
use plimsoll_testing::{Need, needs};
use plimsoll_workload::{Ask, FieldChoice, KeySpace, Mix, Workload};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Three mongods as a set.
pub struct ReplicaSet {
    pub members: Vec<Server>,
    hosts: String,
    runtime: Runtime,
}

impl ReplicaSet {
    pub fn start() -> Self {
        let start = |_| Server::start_with(Kind::Mongod, &["--replSet=plimsoll"]);
        let members: Vec<Server> = (0..3).map(start).collect();
        let hosts: Vec<String> = members.iter().map(host).collect();
        let hosts = hosts.join(",");
        replica_set(SetOrder::Initiate, &hosts, &mut std::io::sink()).unwrap();
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        Self { members, hosts, runtime: runtime.enable_all().build().unwrap() }
    }

    pub fn uri(&self, options: &str) -> String {
        format!("mongodb://{}/?replicaSet=plimsoll{options}", self.hosts)
    }

    fn command(&self, database: &Database, command: Document) -> Document {
        let sent = async { database.run_command(command).await };
        self.runtime.block_on(sent).unwrap()
    }

    pub fn primary(&self) -> (usize, Database) {
        let opened = self.runtime.block_on(Client::with_uri_str(self.uri("")));
        let database = opened.unwrap().database("admin");
        let hello = self.command(&database, doc! { "hello": 1 });
        let primary = hello.get_str("me").unwrap();
        let number = self.members.iter().position(|one| host(one) == primary);
        (number.unwrap(), database)
    }

    /// Makes another member the primary.
    pub fn step_down(&self) {
        let (_, database) = self.primary();
        self.command(&database, doc! { "replSetStepDown": 60, "force": true });
    }
}

fn host(server: &Server) -> String {
    format!("127.0.0.1:{}", server.port)
}

/// Stores the records, with something done before the 20th and before the 40th.
fn store(session: &mut dyn Session, data: &plimsoll_workload::DataSpec, mut before: impl FnMut()) {
    let key_space = KeySpace::new(data).unwrap();
    let mut generator = key_space.loader(1).generator(0);
    let mut stored = 0;
    while let Some(Ask::Insert { key, fields, .. }) = generator.next() {
        if stored == 20 || stored == 40 {
            before();
        }
        assert_ok(&session.insert(key, fields));
        stored += 1;
    }
    assert_eq!(stored, 60);
}

mod slow {
    use super::*;

    #[test]
    fn what_is_asked_outlives_the_loss_of_the_primary() {
        let test = "failover::what_is_asked_outlives_the_loss_of_the_primary";
        if !Kind::Mongod.is_there_or_skip(test) {
            return;
        }
        let data = verifiable(60);
        let mut set = ReplicaSet::start();
        let uri = set.uri("&w=majority");
        let ask = |client: &str, reached: Sender<()>, go_on: Receiver<()>| {
            let pairs = [("client", text(client)), ("database", text(client))];
            let engine = open_at(&uri, &data, &pairs).unwrap();
            let mut session = engine.session().unwrap();
            store(&mut *session, &data, || {
                reached.send(()).unwrap();
                go_on.recv().unwrap();
            });
            for (key, record) in records(&data) {
                assert_eq!(read(&mut *session, &key, FieldChoice::All).unwrap(), record);
            }
            if client == "lean" {
                // Its connection held until the server said that it is no longer the primary, and until it died.
                assert_eq!(session.retries(), 2);
            }
            drop(session);
            engine.close().unwrap();
        };
        std::thread::scope(|scope| {
            let clients = CLIENTS.map(|client| {
                let (reached, reaches) = channel();
                let (goes_on, go_on) = channel();
                let ask = &ask;
                scope.spawn(move || ask(client, reached, go_on));
                (reaches, goes_on)
            });
            // Both are between the same two operations when the primary goes.
            for stored in [20, 40] {
                for (reaches, _) in &clients {
                    reaches.recv().unwrap();
                }
                if stored == 20 {
                    set.step_down();
                } else {
                    let (number, _) = set.primary();
                    set.members[number].kill();
                }
                for (_, goes_on) in &clients {
                    goes_on.send(()).unwrap();
                }
            }
        });
    }

    #[test]
    fn a_session_opened_after_an_election_finds_the_primary() {
        let test = "failover::a_session_opened_after_an_election_finds_the_primary";
        if !Kind::Mongod.is_there_or_skip(test) {
            return;
        }
        let data = verifiable(60);
        let set = ReplicaSet::start();
        let engines = CLIENTS.map(|client| {
            let pairs = [("client", text(client))];
            open_at(&set.uri("&w=majority"), &data, &pairs).unwrap()
        });
        store(&mut *engines[0].session().unwrap(), &data, || {});
        set.step_down();
        for engine in &engines {
            let mut session = engine.session().unwrap();
            for (key, record) in records(&data) {
                assert_eq!(read(&mut *session, &key, FieldChoice::All).unwrap(), record);
            }
            assert_eq!(session.retries(), 0);
        }
    }

    #[test]
    fn without_repetition_one_operation_fails_and_the_next_finds_the_primary() {
        let test =
            "failover::without_repetition_one_operation_fails_and_the_next_finds_the_primary";
        if !Kind::Mongod.is_there_or_skip(test) {
            return;
        }
        let set = ReplicaSet::start();
        let data = verifiable(60);
        let uri = set.uri("&retryWrites=false&retryReads=false");
        let engine = open_at(&uri, &data, &[("client", text("lean"))]).unwrap();
        let mut session = engine.session().unwrap();
        store(&mut *session, &data, || {});
        set.step_down();
        let (key, record) = records(&data).swap_remove(7);
        let refused = session.delete(&key);
        let refused = format!("{refused:?}");
        assert!(refused.contains("is not the primary"), "{refused}");
        assert_eq!(read(&mut *session, &key, FieldChoice::All).unwrap(), record);
        assert_ok(&session.delete(&key));
        assert_eq!(session.retries(), 0);
    }

    /// Orders and stock agree although the primary steps down twice while sessions are within transactions, which are all sent again and committed.
    #[test]
    fn a_primary_that_steps_down_within_transactions_leaves_no_half_order() {
        needs!([Need::Server("mongod")]);
        const SESSIONS: u64 = 4;
        let set = ReplicaSet::start();
        let (data, uri) = (shop(), set.uri(""));
        let collections = data.documents.as_ref().unwrap().collections();
        let settings = settings(&[("uri", text(&uri))]);
        let opening = Opening { collections: &collections, ..Opening::new(&settings, &data) };
        let engine = open("mongodb", &opening).unwrap();
        let key_space = KeySpace::new(&data).unwrap();
        load(&*engine, &key_space);
        let operations = data.documents.as_ref().unwrap().operations();
        let operations = operations.into_iter().map(|own| (own, 1.0)).collect();
        let mix = Mix { operations, ..Mix::named("all") };
        let workload = Arc::new(Workload::new(&key_space, &mix, 1, None).unwrap());
        let (committed, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
        let run = |number: u64| {
            let mut session = engine.session().unwrap();
            let mut generator = workload.generator(number);
            while !is_over.load(Relaxed) {
                commit_one(&mut *session, &mut generator);
                committed.fetch_add(1, Relaxed);
            }
            session.retries()
        };
        let retries: u64 = std::thread::scope(|scope| {
            let run = &run;
            let sessions: Vec<_> =
                (0..SESSIONS).map(|number| scope.spawn(move || run(number))).collect();
            let wait = |more: u64| {
                let until = committed.load(Relaxed) + more;
                let is_running = || sessions.iter().all(|session| !session.is_finished());
                while committed.load(Relaxed) < until && is_running() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            };
            wait(20);
            for _ in 0..2 {
                set.step_down();
                wait(20);
            }
            is_over.store(true, Relaxed);
            sessions.into_iter().map(|session| session.join().unwrap()).sum()
        });
        // Each session was connected to a primary that went, and was told so in the middle of a transaction.
        assert!(retries >= SESSIONS, "{retries}");
        let (_, database) = set.primary();
        let database = database.client().database("ycsb");
        let sum = |collection: &str, stage: Document| {
            let command = doc! { "aggregate": collection, "pipeline": [stage], "cursor": {}, "readConcern": { "level": "majority" } };
            let reply = set.command(&database, command);
            let batch = reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
            batch[0].as_document().unwrap().get_i64("n").unwrap()
        };
        let all = |value: Document| doc! { "$group": { "_id": null, "n": { "$sum": value } } };
        let orders = sum("orders", all(doc! { "$toLong": 1 }));
        let stock = sum("products", all(doc! { "$toLong": "$stock" }));
        let sold = committed.into_inner() as i64;
        assert_eq!((orders - 20, 10 * STOCK - stock), (sold, sold));
    }

    /// A set of one takes numbered statements, and those of several documents without a number.
    #[test]
    fn statements_of_each_kind_are_sent_to_a_set() {
        needs!([Need::Server("mongod")]);
        let server = Server::start_with(Kind::Mongod, &["--replSet=plimsoll"]);
        replica_set(SetOrder::Initiate, &host(&server), &mut std::io::sink()).unwrap();
        let uri = format!("mongodb://{}/?replicaSet=plimsoll&w=majority", host(&server));
        let engine = open_at(&uri, &verifiable(1), &[]).unwrap();
        assert_eq!(engine.description().settings["retry_writes"], "true");
        let mut session = engine.session().unwrap();
        let set = doc! { "$inc": { "a": 1 } };
        let update = |multi: bool| {
            doc! { "update": "orders", "updates": [{ "q": {}, "u": set.clone(), "multi": multi }] }
        };
        let remove =
            |limit: i32| doc! { "delete": "orders", "deletes": [{ "q": {}, "limit": limit }] };
        let documents: Vec<Document> = (0..5).map(|id| doc! { "_id": id }).collect();
        use StatementKind::{Delete, FindAndModify, Insert, Update};
        for (kind, command, documents) in [
            (Insert, doc! { "insert": "orders", "documents": documents }, 5),
            (Update, update(false), 1),
            (Update, update(true), 5),
            (FindAndModify, doc! { "findAndModify": "orders", "update": set.clone() }, 1),
            (Delete, remove(1), 1),
            (Delete, remove(0), 4),
        ] {
            let kept = Kept::new(kind, &command);
            let mut answer = Answer::default();
            assert_ok(&session.statement(&kept.statement(), &mut answer));
            assert_eq!(answer.documents, documents, "{command}");
        }
    }
}
