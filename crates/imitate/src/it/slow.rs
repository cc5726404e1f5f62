use crate::fidelity::{Fidelity, score};
use crate::it::laboratory::{Application, DATABASE, replica_set, send};
use crate::it::servers::SHOP;
use crate::{Observed, Request, observe, write};
use mongodb::bson::doc;
use plimsoll_testing::{Need, assert_contains, needs};
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
    recent: {find: orders, filter: {placed: {$gte: <r.from>, $lt: <r.to>}}, with: {r: {range_of: placed, documents: 150}}}
    sold: {aggregate: orders, pipeline: [{$match: {customer: <c>}}, {$unwind: $items}, {$group: {_id: $items.product, n: {$sum: $items.quantity}}}], with: {c: {value_of: customer, keys: zipfian}}, empty: allowed}
    check-out:
      transaction: [{insert: orders}, {update: products, filter: {_id: <p>}, change: {$inc: {stock: -1}}}, {find: products, filter: {_id: <p>}}]
      with: {p: {value_of: _id, in: products, keys: zipfian}}
  mixes: {day: {log-in: 15, browse: 40, history: 15, place: 10, pay: 5, recent: 0.5, sold: 5, check-out: 8}}
";

/// A server that has sent all its operations to its log, and what is seen of it.
fn observed(text: &str) -> Observed {
    let (server, uri) = replica_set(&[]);
    let application = Application::of(&uri, text);
    application.load();
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

/// A server under the file that imitates production reproduces nine tenths of its time. Without an index of production, it reproduces less, and what is
/// missed is named.
#[test]
fn a_server_under_the_written_file_does_what_production_does() {
    needs!([Need::Server("mongod")]);
    let (before, after) = SHOP
        .split_once("\n  operations:")
        .map(|(before, rest)| (before, rest.split_once("defaults:").unwrap().1))
        .unwrap();
    let production = observed(&format!("{before}{BUSY}defaults:{after}"));
    let text = write(&production, None);
    // Forms say nothing of the keys.
    for part in ["{range_of: placed, documents: 150}", "keys: latest, set", "keys: documents, sort"]
    {
        assert_contains(&text, part);
    }
    let fidelity = compared(&production, &text);
    assert!(fidelity.score >= 0.9, "{fidelity}\n{text}");
    let without: String = text
        .split_inclusive('\n')
        .filter(|line| !line.contains("- {customer: 1, placed: -1}"))
        .collect();
    let lacking = compared(&production, &without);
    assert!(lacking.score < fidelity.score, "{lacking}");
    let is_named = lacking.misses.iter().any(|miss| miss.name.contains("orders-by-customer"));
    assert!(is_named, "{lacking}");
}
