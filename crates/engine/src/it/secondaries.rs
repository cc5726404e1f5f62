//! Operations of an application that read from secondaries.

mod slow {
    use crate::it::failover::ReplicaSet;
    use crate::it::laboratory::{failure, open_at, settings, text};
    use crate::it::server::{Kind, Server};
    use crate::it::transactions::slow::load;
    use crate::mongo::{Host, LeanClient, LeanOptions};
    use crate::{Answer, Engine, Opening, Outcome, Session, SetOrder, open, replica_set};
    use mongodb::bson::{Document, doc};
    use plimsoll_testing::{Need, needs};
    use plimsoll_workload::documents::DocumentsSpec;
    use plimsoll_workload::{Ask, DataSpec, KeySpace, Mix, OpGenerator, Workload};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    const PRODUCTS: u64 = 200;

    /// Products that never change, and orders that are placed.
    fn shop() -> DataSpec {
        let read = |text: &str| serde_json::from_str(text).unwrap();
        DataSpec::with_documents(DocumentsSpec::new(
            7,
            read(
                r#"{"products": {"records": 200, "document": {"_id": {"int": "sequence"}, "kind": {"text": 6, "distinct": 2}}},
                  "orders": {"records": 10, "document": {"_id": {"int": "sequence"}}}}"#,
            ),
            read(
                r#"{"product": {"find": "products", "by": "_id", "read_preference": "secondary"},
                  "of-kind": {"find": "products", "by": "kind", "batch": 30, "read_preference": "secondary"},
                  "wish": {"find": "products", "by": "_id", "read_preference": "secondary-preferred"},
                  "order": {"find": "orders", "by": "_id", "read_preference": "secondary-preferred"},
                  "check-out": {"steps": [{"count": "products", "by": "_id", "read_preference": "nearest"}, {"insert": "orders"}]}}"#,
            ),
        ))
    }

    fn client(server: &Server) -> LeanClient {
        let host = Host::Tcp { host: "127.0.0.1".into(), port: server.port };
        let options = LeanOptions::new(host, "shop", &DataSpec::with_records(1));
        LeanClient::connect(&LeanOptions { takes_secondaries: true, ..options }).unwrap()
    }

    fn command(client: &mut LeanClient, command: Document) -> Document {
        let reply = client.command("admin", &command.to_vec().unwrap()).unwrap();
        Document::from_reader(&reply[..]).unwrap()
    }

    /// Searches and further batches of the products that this member has answered, by its own count.
    fn answered(server: &Server) -> [i64; 2] {
        answered_by(&mut client(server))
    }

    fn answered_by(client: &mut LeanClient) -> [i64; 2] {
        let top = command(client, doc! { "top": 1 });
        let collection = top.get_document("totals").unwrap().get_document("shop.products");
        ["queries", "getmore"].map(|key| match &collection {
            Ok(counts) => number(counts.get_document(key).unwrap()),
            Err(_) => 0,
        })
    }

    fn number(counts: &Document) -> i64 {
        let count = counts.get("count").unwrap();
        count.as_i64().or_else(|| count.as_i32().map(i64::from)).unwrap()
    }

    /// An engine on the set with all documents, which its secondaries have as well.
    fn loaded(set: &ReplicaSet, options: &str) -> (Box<dyn Engine>, Arc<KeySpace>) {
        let data = shop();
        let collections = data.documents.as_ref().unwrap().collections();
        let settings = settings(&[("uri", text(&set.uri(options))), ("database", text("shop"))]);
        let opening = Opening { collections: &collections, ..Opening::new(&settings, &data) };
        let engine = open("mongodb", &opening).unwrap();
        let key_space = KeySpace::new(&data).unwrap();
        load(&*engine, &key_space);
        engine.settle().unwrap();
        (engine, key_space)
    }

    /// Draws only the operation of this name.
    fn drawing(key_space: &Arc<KeySpace>, name: &str) -> OpGenerator {
        let operations = shop().documents.unwrap().operations();
        let named = operations.into_iter().filter(|own| own.name() == name);
        let mix = Mix { operations: named.map(|own| (own, 1.0)).collect(), ..Mix::named("one") };
        Arc::new(Workload::new(key_space, &mix, 1, None).unwrap()).generator(0)
    }

    fn ask(session: &mut dyn Session, generator: &mut OpGenerator) -> (Outcome, Answer) {
        let Ask::Statement(statement) = generator.next() else { panic!() };
        let mut answer = Answer::default();
        let outcome = session.statement(&statement, &mut answer);
        let is_right = statement.fits(answer.documents) && answer.wrong.is_none();
        assert!(is_right || matches!(outcome, Outcome::Error(_)), "{statement:?}: {answer:?}");
        (outcome, answer)
    }

    fn assert_asked(session: &mut dyn Session, generator: &mut OpGenerator, count: usize) {
        for _ in 0..count {
            let (outcome, _) = ask(session, generator);
            assert!(matches!(outcome, Outcome::Ok), "{outcome:?}");
        }
    }

    /// Repeats this until it is true, however long that takes.
    fn until(what: &str, mut is_true: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !is_true() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What the members answered more than before.
    fn more(set: &ReplicaSet, before: &[[i64; 2]]) -> Vec<[i64; 2]> {
        let now = set.members.iter().map(answered);
        now.zip(before).map(|(now, before)| [0, 1].map(|at| now[at] - before[at])).collect()
    }

    #[test]
    fn reads_reach_the_secondaries_and_find_what_was_loaded() {
        needs!([Need::Server("mongod")]);
        let set = ReplicaSet::start();
        let (engine, key_space) = loaded(&set, "");
        let (primary, _) = set.primary();
        let before: Vec<[i64; 2]> = set.members.iter().map(answered).collect();
        let mut sessions: Vec<_> = (0..4).map(|_| engine.session().unwrap()).collect();
        let mut product = drawing(&key_space, "product");
        let mut of_kind = drawing(&key_space, "of-kind");
        for session in &mut sessions {
            assert_asked(&mut **session, &mut product, 10);
            let (outcome, answer) = ask(&mut **session, &mut of_kind);
            assert!(matches!(outcome, Outcome::Ok), "{outcome:?}");
            // 100 documents in batches of 30.
            assert_eq!((answer.documents, answer.round_trips), (PRODUCTS / 2, 4));
        }
        let more = more(&set, &before);
        assert_eq!(more[primary], [0, 0], "{more:?}");
        let secondaries: Vec<[i64; 2]> =
            (0..3).filter(|place| *place != primary).map(|place| more[place]).collect();
        assert_eq!(secondaries, [[22, 6], [22, 6]], "two sessions each");
        let mut check_out = drawing(&key_space, "check-out");
        assert_asked(&mut *sessions[0], &mut check_out, 5);
        let mut order = drawing(&key_space, "order");
        assert_asked(&mut *sessions[0], &mut order, 5);
        assert_eq!(sessions.iter().map(|session| session.retries()).sum::<u64>(), 0);
    }

    #[test]
    fn reads_outlive_their_secondary() {
        needs!([Need::Server("mongod")]);
        let mut set = ReplicaSet::start();
        let (engine, key_space) = loaded(&set, "&serverSelectionTimeoutMS=2000");
        let (primary, _) = set.primary();
        let mut session = engine.session().unwrap();
        let mut product = drawing(&key_space, "product");
        let mut wish = drawing(&key_space, "wish");
        let before: Vec<[i64; 2]> = set.members.iter().map(answered).collect();
        assert_asked(&mut *session, &mut product, 1);
        assert_asked(&mut *session, &mut wish, 1);
        let used = more(&set, &before).iter().position(|more| *more != [0, 0]).unwrap();
        assert_ne!(used, primary);

        set.members[used].kill();
        assert_asked(&mut *session, &mut product, 5);
        assert_asked(&mut *session, &mut wish, 5);
        assert!((1..=2).contains(&session.retries()), "{}", session.retries());

        // Only the primary is left to read from.
        let left = 3 - used - primary;
        let mut left = client(&set.members[left]);
        command(&mut left, doc! { "replSetMaintenance": 1 });
        until("the primary does not answer what prefers secondaries", || {
            let before = answered(&set.members[primary]);
            let (outcome, _) = ask(&mut *session, &mut wish);
            matches!(outcome, Outcome::Ok) && answered(&set.members[primary]) != before
        });
        let mut last = Outcome::Ok;
        until("a secondary answers", || {
            last = ask(&mut *session, &mut product).0;
            matches!(last, Outcome::Error(_))
        });
        let words = failure(ask(&mut *session, &mut product).0);
        assert!(words.contains("no other member that the read preference allows"), "{words}");

        command(&mut left, doc! { "replSetMaintenance": 0 });
        for generator in [&mut product, &mut wish] {
            until("the secondary is not used again", || {
                let before = answered_by(&mut left);
                let (outcome, _) = ask(&mut *session, generator);
                matches!(outcome, Outcome::Ok) && answered_by(&mut left) != before
            });
        }
    }

    #[test]
    fn a_secondary_that_becomes_the_primary_is_left() {
        needs!([Need::Server("mongod")]);
        let set = ReplicaSet::start();
        let (engine, key_space) = loaded(&set, "");
        let mut sessions: Vec<_> = (0..2).map(|_| engine.session().unwrap()).collect();
        let mut product = drawing(&key_space, "product");
        set.step_down();
        let (primary, _) = set.primary();
        until("the new primary is still read from", || {
            let before = answered(&set.members[primary]);
            for session in &mut sessions {
                assert_asked(&mut **session, &mut product, 5);
            }
            answered(&set.members[primary]) == before
        });
    }

    #[test]
    fn there_must_be_secondaries() {
        needs!([Need::Server("mongod")]);
        let data = shop();
        let collections = data.documents.as_ref().unwrap().collections();
        let refused = |server: &Server, options: &str| {
            let uri = format!("mongodb://127.0.0.1:{}/{options}", server.port);
            let settings = settings(&[("uri", text(&uri))]);
            let opening = Opening { collections: &collections, ..Opening::new(&settings, &data) };
            open("mongodb", &opening).err().unwrap().to_string()
        };
        let server = Server::start(Kind::Mongod);
        let error = refused(&server, "");
        let words = "preparing `product`, `of-kind`, `wish`, `order`, `check-out-1`, with a `read_preference`";
        assert!(error.contains(words), "{error}");
        assert!(error.contains("a standalone server has no secondaries"), "{error}");
        let server = Server::start_with(Kind::Mongod, &["--replSet=plimsoll"]);
        let host = format!("127.0.0.1:{}", server.port);
        replica_set(SetOrder::Initiate, &host, &mut std::io::sink()).unwrap();
        let error = refused(&server, "?replicaSet=plimsoll");
        assert!(error.contains("the replica set has one member"), "{error}");
        let error = refused(&server, "?directConnection=true");
        assert!(error.contains("one member only"), "{error}");
        // Records of YCSB have no read preference.
        assert!(open_at(&server.uri(), &DataSpec::with_records(1), &[]).is_ok());
    }
}
