//! Concerns and time limits of single operations, by what servers do.

mod slow {
    use crate::it::laboratory::{open_at, verifiable};
    use crate::it::server::{Kind, Server};
    use crate::mongo::it::statements::Kept;
    use crate::{Answer, Outcome, Session, SetOrder, replica_set};
    use mongodb::bson::{Document, doc};
    use plimsoll_record::StatementKind::{self, Count, Find, Insert};
    use plimsoll_testing::{Need, needs};

    /// What a statement found, or the words of its failure.
    fn ask(
        session: &mut dyn Session,
        kind: StatementKind,
        command: &Document,
    ) -> Result<u64, String> {
        let mut answer = Answer::default();
        match session.statement(&Kept::new(kind, command).statement(), &mut answer) {
            Outcome::Ok => Ok(answer.documents),
            other => Err(format!("{other:?}")),
        }
    }

    fn find(level: &str) -> Document {
        doc! { "find": "orders", "readConcern": { "level": level } }
    }

    fn insert(concern: Document) -> Document {
        doc! { "insert": "orders", "documents": [{ "a": 1 }], "writeConcern": concern }
    }

    #[track_caller]
    fn assert_fails(found: Result<u64, String>, words: &str) {
        let message = found.unwrap_err();
        assert!(message.contains(words), "{message}");
    }

    #[test]
    fn a_standalone_knows_some_of_them() {
        needs!([Need::Server("mongod")]);
        let server = Server::start(Kind::Mongod);
        let engine = open_at(&server.uri(), &verifiable(1), &[]).unwrap();
        let mut session = engine.session().unwrap();
        let session = &mut *session;
        let majority = insert(doc! { "w": "majority", "j": true, "wtimeout": 5_000 });
        assert_eq!(ask(session, Insert, &majority), Ok(1));
        assert_fails(ask(session, Insert, &insert(doc! { "w": 2 })), "not replicated");
        assert_eq!(ask(session, Find, &find("local")), Ok(1));
        assert_eq!(ask(session, Find, &find("available")), Ok(1));
        assert_eq!(ask(session, Find, &find("majority")), Ok(1));
        for level in ["linearizable", "snapshot"] {
            assert_fails(ask(session, Find, &find(level)), "replica set");
        }
    }

    #[test]
    fn a_set_knows_all_of_them() {
        needs!([Need::Server("mongod")]);
        let server = Server::start_with(Kind::Mongod, &["--replSet=plimsoll"]);
        let host = format!("127.0.0.1:{}", server.port);
        replica_set(SetOrder::Initiate, &host, &mut std::io::sink()).unwrap();
        // What the operation says overrides what the connection says.
        let uri =
            format!("mongodb://{host}/?replicaSet=plimsoll&readConcernLevel=linearizable&w=1");
        let engine = open_at(&uri, &verifiable(1), &[]).unwrap();
        let mut session = engine.session().unwrap();
        let session = &mut *session;
        assert_eq!(ask(session, Insert, &insert(doc! { "w": "majority" })), Ok(1));
        for level in ["local", "available", "majority", "linearizable", "snapshot"] {
            assert_eq!(ask(session, Find, &find(level)), Ok(1), "{level}");
        }
        let count = doc! { "count": "orders", "readConcern": { "level": "snapshot" } };
        assert_fails(ask(session, Count, &count), "snapshot");
        let late = insert(doc! { "w": 2, "wtimeout": 20 });
        assert_fails(ask(session, Insert, &late), "write concern");
        // The server ends it, and the connection is as good as before.
        let slow = doc! {
            "find": "orders", "filter": { "$where": "sleep(1000) || true" }, "maxTimeMS": 20,
        };
        assert_fails(ask(session, Find, &slow), "MaxTimeMSExpired");
        assert_eq!(ask(session, Find, &find("local")), Ok(2));
        assert_eq!(session.retries(), 0);
    }
}
