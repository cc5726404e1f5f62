//! Transactions of an application on a replica set of one member.

pub(super) mod slow {
    use crate::it::laboratory::settings;
    use crate::it::laboratory::text;
    use crate::it::server::{Kind, Server};
    use crate::mongo::it::transactions::KeptTransaction;
    use crate::mongo::{LeanClient, LeanOptions};
    use crate::{
        Answer, Engine, EngineError, Opening, Outcome, Session, SetOrder, open, replica_set,
    };
    use mongodb::bson::{Binary, Document, doc, spec::BinarySubtype};
    use plimsoll_record::StatementKind::{Insert, Update};
    use plimsoll_testing::{Need, needs};
    use plimsoll_workload::documents::DocumentsSpec;
    use plimsoll_workload::{
        Ask, DataSpec, Expected, KeySpace, Mix, OpGenerator, SequenceEnd, Workload,
    };
    use std::sync::Arc;

    const SESSIONS: u64 = 16;
    const EACH: u64 = 25;
    pub const STOCK: i64 = 100_000;

    pub fn shop() -> DataSpec {
        let read = |text: &str| serde_json::from_str(text).unwrap();
        DataSpec::with_documents(DocumentsSpec::new(
            7,
            read(
                r#"{"orders": {"records": 20, "document": {"_id": {"int": "sequence"}}},
                  "products": {"records": 10, "document": {"_id": {"int": "sequence"}, "stock": {"int": 100000}}}}"#,
            ),
            read(
                r#"{"check-out": {"transaction": [
                    {"insert": "orders"},
                    {"update": "products", "filter": {"_id": "<product>", "stock": {"$gte": 1}}, "change": {"$inc": {"stock": -1}}}],
                  "with": {"product": {"value_of": "_id", "in": "products"}},
                  "retries": 1000, "write_concern": "majority", "read_concern": "snapshot"}}"#,
            ),
        ))
    }

    fn set_of_one() -> Server {
        let server = Server::start_with(Kind::Mongod, &["--replSet=plimsoll"]);
        let host = format!("127.0.0.1:{}", server.port);
        replica_set(SetOrder::Initiate, &host, &mut std::io::sink()).unwrap();
        server
    }

    fn open_shop(server: &Server, options: &str) -> Result<Box<dyn Engine>, EngineError> {
        let data = shop();
        let collections = data.documents.as_ref().unwrap().collections();
        let uri = format!("mongodb://127.0.0.1:{}/{options}", server.port);
        let settings = settings(&[("uri", text(&uri))]);
        open("mongodb", &Opening { collections: &collections, ..Opening::new(&settings, &data) })
    }

    /// The first document of a pipeline.
    fn first(client: &mut LeanClient, collection: &str, stage: Document) -> Document {
        let command = doc! { "aggregate": collection, "pipeline": [stage], "cursor": {} };
        let reply = client.command("ycsb", &command.to_vec().unwrap()).unwrap();
        let reply = Document::from_reader(&reply[..]).unwrap();
        let batch = reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
        batch[0].as_document().unwrap().clone()
    }

    fn client(server: &Server) -> LeanClient {
        let host = crate::mongo::Host::Tcp { host: "127.0.0.1".into(), port: server.port };
        LeanClient::connect(&LeanOptions::new(host, "ycsb", &DataSpec::with_records(1))).unwrap()
    }

    /// Orders, and the stock of all products.
    fn counted(server: &Server) -> (i64, i64) {
        let mut client = client(server);
        let orders = first(&mut client, "orders", doc! { "$count": "n" }).get_i32("n").unwrap();
        let stock = doc! { "$group": { "_id": null, "n": { "$sum": { "$toLong": "$stock" } } } };
        (i64::from(orders), first(&mut client, "products", stock).get_i64("n").unwrap())
    }

    pub fn load(engine: &dyn Engine, key_space: &Arc<KeySpace>) {
        let mut session = engine.session().unwrap();
        let mut load = key_space.loader(1).generator(0);
        while let Some(ask) = load.next() {
            let Ask::Statement(statement) = ask else { panic!("{ask:?}") };
            let outcome = session.statement(&statement, &mut Answer::default());
            assert!(matches!(outcome, Outcome::Ok), "{outcome:?}");
        }
    }

    pub fn commit_one(session: &mut dyn Session, generator: &mut OpGenerator) -> Answer {
        let Ask::Statement(statement) = generator.next() else { panic!() };
        let mut answer = Answer::default();
        let outcome = session.statement(&statement, &mut answer);
        assert!(matches!(outcome, Outcome::Ok) && answer.early_end.is_none(), "{outcome:?}");
        generator.sequence_ended(SequenceEnd::Committed);
        answer
    }

    #[test]
    fn stock_and_orders_agree_to_the_last_one() {
        needs!([Need::Server("mongod")]);
        let server = set_of_one();
        let engine = open_shop(&server, "?replicaSet=plimsoll").unwrap();
        let key_space = KeySpace::new(&shop()).unwrap();
        load(&*engine, &key_space);
        assert_eq!(counted(&server), (20, 10 * STOCK));
        let operations = shop().documents.unwrap().operations();
        let operations: Vec<_> = operations.into_iter().map(|own| (own, 1.0)).collect();
        let mix = Mix { operations, ..Mix::named("all") };
        let workload = Arc::new(Workload::new(&key_space, &mix, 1, None).unwrap());
        let run = |number: u64| {
            let mut session = engine.session().unwrap();
            let mut generator = workload.generator(number);
            for _ in 0..EACH {
                let answer = commit_one(&mut *session, &mut generator);
                assert_eq!((answer.documents, answer.wrong), (2, None));
            }
            session.retries()
        };
        let retries: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..SESSIONS).map(|number| scope.spawn(move || run(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let sold = (SESSIONS * EACH) as i64;
        assert_eq!(counted(&server), (20 + sold, 10 * STOCK - sold));
        // Transactions that the server aborted were sent again.
        let status =
            client(&server).command("admin", &doc! { "serverStatus": 1 }.to_vec().unwrap());
        let status = Document::from_reader(&status.unwrap()[..]).unwrap();
        let transactions = status.get_document("transactions").unwrap();
        let of = |name: &str| transactions.get_i64(name).unwrap();
        assert_eq!(of("totalCommitted"), sold);
        assert_eq!(of("totalAborted") as u64, retries);
    }

    fn buy(
        retries: u32,
        order: &str,
        second: Document,
        kind: plimsoll_record::StatementKind,
    ) -> KeptTransaction {
        let insert = doc! { "insert": "orders", "documents": [{ "_id": order }] };
        KeptTransaction::new(
            retries,
            &[(Insert, insert, Expected::Between(1, 1)), (kind, second, Expected::Between(1, 1))],
        )
    }

    fn take(product: i32) -> Document {
        let change = doc! { "q": { "_id": product }, "u": { "$inc": { "stock": -1 } } };
        doc! { "update": "products", "updates": [change] }
    }

    #[test]
    fn what_fails_leaves_nothing() {
        needs!([Need::Server("mongod")]);
        let server = set_of_one();
        let engine = open_shop(&server, "?replicaSet=plimsoll").unwrap();
        let key_space = KeySpace::new(&shop()).unwrap();
        load(&*engine, &key_space);
        let before = counted(&server);
        let mut session = engine.session().unwrap();
        let mut send = |kept: &KeptTransaction| {
            let mut answer = Answer::default();
            let outcome = session.statement(&kept.statement(), &mut answer);
            (format!("{outcome:?}"), answer.early_end.is_some(), session.retries())
        };
        // A document that exists already.
        let again = doc! { "insert": "products", "documents": [{ "_id": 1 }] };
        let (outcome, is_undone, _) = send(&buy(9, "twice", again, Insert));
        assert!(outcome.contains("already a document") && is_undone, "{outcome}");
        assert_eq!(counted(&server), before);
        // A product that is not there.
        let sent = send(&buy(9, "nowhere", take(77), Update));
        assert_eq!(sent, ("Ok".into(), true, 0));
        assert_eq!(counted(&server), before);

        // Another transaction has changed the product and is not ended.
        let mut other = client(&server);
        let id = Binary { subtype: BinarySubtype::Uuid, bytes: vec![7; 16] };
        let within = doc! { "lsid": { "id": id }, "txnNumber": 1_i64, "autocommit": false };
        let mut ask = |database: &str, mut command: Document, starts: bool| {
            command.extend(within.clone());
            if starts {
                command.insert("startTransaction", true);
            }
            other.command(database, &command.to_vec().unwrap()).unwrap();
        };
        ask("ycsb", take(3), true);
        let (outcome, is_undone, retries) = send(&buy(4, "late", take(3), Update));
        assert!(outcome.contains("WriteConflict") && is_undone && retries == 4, "{outcome}");
        assert_eq!(counted(&server), before);
        ask("admin", doc! { "abortTransaction": 1 }, false);
        assert_eq!(send(&buy(4, "late", take(3), Update)), ("Ok".into(), false, 4));
        assert_eq!(counted(&server), (before.0 + 1, before.1 - 1));
    }

    #[test]
    fn a_standalone_is_refused_before_the_load() {
        needs!([Need::Server("mongod")]);
        let server = Server::start(Kind::Mongod);
        let error = open_shop(&server, "").err().unwrap().to_string();
        assert!(error.contains("preparing the transaction `check-out`"), "{error}");
        assert!(error.contains("`server: {replica_set: true}`"), "{error}");
    }

    #[test]
    fn a_commit_must_be_answered() {
        needs!([Need::Server("mongod")]);
        let server = set_of_one();
        let error = open_shop(&server, "?replicaSet=plimsoll&w=0").err().unwrap().to_string();
        assert!(error.contains("whose commit must be answered"), "{error}");
    }

    /// Each statement has a plan of its own, and explaining changes nothing.
    #[test]
    fn statements_are_explained() {
        needs!([Need::Server("mongod")]);
        let server = set_of_one();
        let engine = open_shop(&server, "?replicaSet=plimsoll").unwrap();
        let key_space = KeySpace::new(&shop()).unwrap();
        load(&*engine, &key_space);
        let operations = shop().documents.unwrap().operations();
        let operations: Vec<_> = operations.into_iter().map(|own| (own, 1.0)).collect();
        let mixes = [Mix { operations, ..Mix::named("all") }];
        let state = engine.application(&key_space.samples(&mixes, 1, 3).unwrap()).unwrap();
        let [plan] = &state.operations[..] else { panic!("{:?}", state.operations) };
        assert_eq!(plan.operation.to_string(), "update:check-out-2");
        assert_eq!((plan.commands, plan.refused.as_deref()), (3, None));
        assert_eq!(counted(&server), (20, 10 * STOCK));
    }
}
