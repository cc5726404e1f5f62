//! The official driver: raw documents, one thread with one runtime, as many tasks as sessions, a pool of just as many connections.

use crate::questions::{Command, Questions, command};
use crate::turn::{Cost, Stopwatch};
use bson::RawDocumentBuf;
use mongodb::options::ClientOptions;
use mongodb::{Client, Collection};
use plimsoll_engine::mongo::LeanOptions;
use tokio::runtime::Builder;
use tokio::task::JoinSet;

/// Times that all connections are used before it counts.
const WARM_UP: u64 = 20;

pub fn turn(options: &LeanOptions, questions: &Questions, sessions: usize) -> Cost {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        let collection = connect(options, sessions).await;
        run(&collection, questions, sessions, WARM_UP).await;
        let each = questions.per_session(sessions);
        let stopwatch = Stopwatch::start();
        run(&collection, questions, sessions, each).await;
        stopwatch.stop(each * sessions as u64)
    })
}

async fn connect(options: &LeanOptions, sessions: usize) -> Collection<RawDocumentBuf> {
    let uri = format!("mongodb://{}/?directConnection=true", options.host);
    let mut client_options = ClientOptions::parse(uri).await.expect("it is a URI");
    client_options.max_pool_size = Some(sessions as u32);
    client_options.min_pool_size = Some(sessions as u32);
    let client = Client::with_options(client_options).expect("the options are possible");
    client.database(&options.database).collection(&options.collection)
}

async fn run(
    collection: &Collection<RawDocumentBuf>,
    questions: &Questions,
    sessions: usize,
    each: u64,
) {
    let mut tasks = JoinSet::new();
    for _ in 0..sessions {
        let mut generator = questions.generator();
        let collection = collection.clone();
        tasks.spawn(async move {
            for _ in 0..each {
                match command(generator.next()) {
                    Command::Find(filter) => {
                        let found = collection.find_one(filter).await;
                        assert!(found.expect("the server does it").is_some());
                    }
                    Command::Update { filter, set } => {
                        let updated = collection.update_one(filter, set).await;
                        assert_eq!(updated.expect("the server does it").matched_count, 1);
                    }
                }
            }
        });
    }
    while let Some(joined) = tasks.join_next().await {
        joined.expect("the task does not fail");
    }
}
