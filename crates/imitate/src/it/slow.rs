use crate::fidelity::{Fidelity, score};
use crate::it::laboratory::{Application, DATABASE, send};
use crate::it::servers::SHOP;
use crate::{Observed, Request, observe, write};
use mongodb::bson::doc;
use plimsoll_testing::servers::{Kind, Server};
use plimsoll_testing::{Need, needs};
use std::time::Duration;

const OPERATIONS: u32 = 6_000;
/// The operations of a web shop, in the place of one.
const BUSY: &str = "
  operations:
    log-in: {find: customers, by: email}
    browse: {find: products, by: category, keys: zipfian, sort: {price: 1}, limit: 24, project: {price: 1}}
    history: {find: orders, by: customer, keys: documents, sort: {placed: -1}, limit: 20}
    place: {insert: orders}
    pay: {find_and_modify: orders, by: _id, keys: latest, set: [status]}
  mixes: {day: {log-in: 15, browse: 50, history: 20, place: 10, pay: 5}}
";

/// A server that has sent all its operations to its log, and what is seen of it.
fn observed(text: &str) -> Observed {
    let server = Server::start(Kind::Mongod);
    let application = Application::of(&server, text);
    application.load();
    let uri = server.uri();
    send(&uri, DATABASE, &[doc! { "profile": 0, "slowms": -1 }]);
    application.operate(OPERATIONS);
    send(&uri, DATABASE, &[doc! { "profile": 0, "slowms": 60_000 }]);
    let path = server.directory().join("server.log");
    let request = Request { uri: &uri, database: None, log: Some(&path), watch: Duration::ZERO };
    observe(&request, &mut |_| {}).unwrap()
}

fn compared(production: &Observed, text: &str) -> Fidelity {
    score(production, &observed(text))
}

/// Production, the file that imitates it, and a server under that file: nine tenths of production's time are reproduced. A file without an index of
/// production, or without an operation, reproduces less, and what is missed is named.
#[test]
fn a_server_under_the_written_file_does_what_production_does() {
    needs!([Need::Server("mongod")]);
    let (before, after) = SHOP
        .split_once("\n  operations:")
        .map(|(before, rest)| (before, rest.split_once("defaults:").unwrap().1))
        .unwrap();
    let production = observed(&format!("{before}{BUSY}defaults:{after}"));
    let text = write(&production, None);
    let fidelity = compared(&production, &text);
    assert!(fidelity.score >= 0.9, "{fidelity}\n{text}");
    let without: String = text
        .split_inclusive('\n')
        .filter(|line| !line.contains("- {customer: 1, placed: -1}"))
        .collect();
    let fidelity = compared(&production, &without);
    assert!(fidelity.score < 0.9, "{fidelity}");
    assert!(
        fidelity.misses.iter().any(|miss| miss.name.contains("orders-by-customer")),
        "{fidelity}"
    );
}
