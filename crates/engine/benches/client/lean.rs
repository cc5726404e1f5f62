//! The lean client, called as a run calls it.

use crate::questions::Questions;
use crate::turn::{Cost, threads};
use plimsoll_engine::mongo::{LeanClient, LeanOptions};
use plimsoll_workload::Ask;

pub fn turn(options: &LeanOptions, questions: &Questions, sessions: usize) -> Cost {
    let each = questions.per_session(sessions);
    let prepare = || {
        let client = LeanClient::connect(options).expect("the server is there");
        (client, questions.generator())
    };
    threads(sessions, each * sessions as u64, prepare, |(mut client, mut generator)| {
        for _ in 0..each {
            let is_found = match generator.next() {
                Ask::Read { key, fields } => client.read(key, fields, None),
                Ask::Update { key, changes } => client.update(key, changes),
                other => unreachable!("there are only reads and updates, not {other:?}"),
            };
            assert!(is_found.expect("the server does it"));
        }
    })
}
