//! The lean client with operations of an application.

use crate::questions::Questions;
use crate::turn::{Cost, threads};
use plimsoll_engine::Answer;
use plimsoll_engine::mongo::{LeanClient, LeanOptions};
use plimsoll_workload::documents::{DocumentsSpec, Literal};
use plimsoll_workload::{Ask, DataSpec, KeySpace, Mix, Workload};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Ids as long as YCSB's keys.
const COLLECTIONS: &str = r#"{"usertable": {"records": 200000, "document": {
    "_id": {"text": 23, "unique": true}, "body": {"bytes": 1000}}}}"#;

pub fn turn(
    options: &LeanOptions,
    questions: &Questions,
    sessions: usize,
    operations: usize,
) -> Cost {
    let each = questions.per_session(sessions);
    let one = |number| format!(r#""read-{number}": {{"find": "usertable", "by": "_id"}}"#);
    let operations: Vec<String> = (0..operations).map(one).collect();
    let read = |text: &str| serde_json::from_str::<Literal>(text).expect("it is JSON");
    let operations = format!("{{{}}}", operations.join(", "));
    let documents = DocumentsSpec::new(1, read(COLLECTIONS), read(&operations));
    let mut mix = Mix::named("own");
    mix.operations = documents.operations().into_iter().map(|own| (own, 1.0)).collect();
    let data = DataSpec::with_documents(documents);
    let key_space = KeySpace::new(&data).expect("the data is possible");
    let workload = Workload::new(&key_space, &mix, 1, None).expect("the mix is possible");
    let workload = Arc::new(workload);
    let host = options.host.clone();
    let options = LeanOptions::new(host, options.database.clone(), &data);
    let streams = AtomicU64::new(0);
    let prepare = || {
        let client = LeanClient::connect(&options).expect("the server is there");
        (client, workload.generator(streams.fetch_add(1, Ordering::Relaxed)))
    };
    threads(sessions, each * sessions as u64, prepare, |(mut client, mut generator)| {
        for _ in 0..each {
            let mut answer = Answer::default();
            let Ask::Statement(statement) = generator.next() else {
                unreachable!("there are only statements")
            };
            client.statement(&statement, &mut answer).expect("the server does it");
            assert!(statement.fits(answer.documents));
        }
    })
}
