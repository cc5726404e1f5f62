//! Documents and operations of an application, on a real server.

use super::{open_laboratory, run, run_text};
use plimsoll_record::{RunRecord, Status};
use plimsoll_testing::assert_contains;
use plimsoll_testing::servers::{Kind, Server};
use std::collections::BTreeMap;

/// An experiment on orders, with these operations in this mix.
fn orders(operations: &str, mix: &str, arm: &str) -> String {
    format!(
        "
plimsoll: 1
name: orders
workload:
  collections:
    orders:
      records: 3k
      document:
        customer: {{text: 12, distinct: 200, skew: zipfian}}
        placed: {{date: {{every: 15s, until: 2026-06-30}}}}
        status: {{choice: {{open: 5%, paid: 15%, sent: 80%}}}}
        items: {{list: {{product: {{key_of: products}}, quantity: {{int: {{uniform: [1, 4]}}}}}}, length: {{uniform: [1, 3]}}}}
        note: {{text: {{uniform: [20, 60]}}, compressible: 50%}}
      indexes: [{{customer: 1, placed: -1}}, {{placed: 1}}]
    products:
      records: 50
      document: {{_id: {{int: sequence}}, price: {{decimal: {{lognormal: {{median: 15, p99: 400}}}}, digits: 2}}, stock: {{int: 1M}}}}
  operations: {operations}
  mixes: {{day: {mix}}}
defaults: {{engine: mongodb, server: mongod}}
arms: {{one: {{{arm}}}}}
load: {{closed: {{threads: 2}}}}
measurement: {{warm_up: 0s, duration: 1s, blocks: 1}}
"
    )
}

/// Operations of a run by name, with how often each ended well.
fn counts(run: &RunRecord) -> BTreeMap<(&'static str, Status), u64> {
    let mut counts = BTreeMap::new();
    for part in
        run.points.iter().flat_map(|point| &point.slices).flat_map(|slice| &slice.operations)
    {
        *counts.entry((part.operation.name(), part.status)).or_default() += part.latencies.count();
    }
    counts
}

/// Every kind of operation finds what was predicted, while documents are inserted; each has its name in record and page. An index that is missing would fail its
/// hint.
#[test]
fn operations_find_what_was_predicted() {
    if !Kind::Mongod.is_there_or_skip("own workloads") {
        return;
    }
    let laboratory = open_laboratory();
    let operations = "{by-customer: {find: orders, by: customer, keys: zipfian, sort: {placed: -1}, limit: 10, hint: {customer: 1, placed: -1}},
      in-batches: {find: orders, filter: {placed: {$gte: <at.from>, $lt: <at.to>}}, batch: 40, with: {at: {range_of: placed, documents: 100}}},
      how-many: {count: orders, by: customer},
      one: {find: orders, by: _id, keys: latest},
      totals: {aggregate: orders, pipeline: [{$match: {customer: <who>}}, {$group: {_id: $status, n: {$sum: 1}}}], with: {who: {value_of: customer}}},
      kinds: {distinct: orders, field: status, by: customer},
      place: {insert: orders, documents: 2},
      touch: {update: orders, by: _id, set: note},
      buy: {find_and_modify: products, by: _id, keys: zipfian, change: {$inc: {stock: -1}}}}";
    let mix = "{by-customer: 5, in-batches: 1, how-many: 1, one: 5, totals: 1, kinds: 1, place: 3, touch: 3, buy: 2}";
    let (said, record) = run_text(&laboratory, orders(operations, mix, ""));
    assert_eq!(record.runs[0].records_loaded, Some(3_050), "{said:?}");
    let counts = counts(&record.runs[0]);
    for name in
        ["by-customer", "in-batches", "how-many", "one", "totals", "kinds", "place", "touch", "buy"]
    {
        assert!(
            counts.get(&(name, Status::Ok)).is_some_and(|count| *count > 0),
            "{name}: {counts:?}"
        );
    }
    // Not one found nothing, failed, or found another number than was predicted.
    assert!(counts.keys().all(|(_, status)| *status == Status::Ok), "{counts:?}");
    explained(&record.runs[0]);
    let page = std::fs::read_to_string(crate::laboratory::page_of(&said.out)).unwrap();
    assert_contains(&page, "in-batches");
    assert_contains(&page, "IXSCAN customer_1_placed_-1 → FETCH → LIMIT");
    let figures = run(&laboratory, &["export", &record.id, "--only", "csv"]);
    assert_eq!(figures.code, Some(0), "{figures:?}");
}

/// The server has said how it carries out each operation, after the load and after the last point.
fn explained(run: &RunRecord) {
    let [before, after] = &run.application[..] else { panic!("{:?}", run.application) };
    for state in [before, after] {
        let plans: BTreeMap<_, _> =
            state.operations.iter().map(|plan| (plan.operation.name(), plan)).collect();
        assert_eq!(plans.len(), 8, "all but `place`: {plans:?}");
        for (name, stage, examined, found) in [
            ("by-customer", "IXSCAN customer_1_placed_-1 → FETCH", None, None),
            ("in-batches", "IXSCAN placed_1 → FETCH", Some(100.0), Some(100.0)),
            ("how-many", "COUNT_SCAN customer_1_placed_-1", None, None),
            ("one", "IDHACK", Some(1.0), Some(1.0)),
            ("totals", "IXSCAN customer_1_placed_-1 → FETCH", None, None),
            ("kinds", "IXSCAN customer_1_placed_-1 → FETCH", None, None),
            ("touch", "IDHACK → UPDATE", Some(1.0), Some(1.0)),
            ("buy", "IDHACK → UPDATE", Some(1.0), Some(1.0)),
        ] {
            let plan = plans[name];
            assert_eq!((plan.commands, &plan.refused), (5, &None), "{name}: {plan:?}");
            assert!(plan.stages.iter().all(|stages| stages.starts_with(stage)), "{plan:?}");
            assert!(
                examined.is_none_or(|examined| plan.documents_examined == examined),
                "{plan:?}"
            );
            assert!(found.is_none_or(|found| plan.documents_found == found), "{plan:?}");
            assert!(plan.documents_found >= 1.0 && !plan.scans_collection, "{plan:?}");
        }
        let orders = &state.collections[0];
        assert_eq!((orders.name.as_str(), orders.indexes.len()), ("orders", 3));
        assert!(orders.indexes.iter().all(|index| index.bytes >= 4_096), "{orders:?}");
    }
    let documents = [before, after].map(|state| state.collections[0].documents);
    assert_eq!(documents[0], 3_000);
    assert!(documents[1] > 3_000, "{documents:?}");
    let uses = [before, after].map(|state| state.collections[0].indexes[1].uses.unwrap());
    assert!(uses[1] > uses[0], "{uses:?}");
}

/// An operation that does nothing makes its point invalid, by its name.
#[test]
fn a_filter_that_matches_nothing_is_named() {
    if !Kind::Mongod.is_there_or_skip("own workloads") {
        return;
    }
    let laboratory = open_laboratory();
    let operations =
        "{lost: {find: orders, filter: {customer: nobody}}, one: {find: orders, by: _id}}";
    let (said, record) = run_text(&laboratory, orders(operations, "{lost: 1, one: 1}", ""));
    let counts = counts(&record.runs[0]);
    assert!(
        counts[&("lost", Status::NotFound)] > 0 && counts[&("one", Status::Ok)] > 0,
        "{counts:?}"
    );
    assert_ne!(said.code, Some(0));
    // Where a computer is busy, other reasons come first on the screen.
    let page = std::fs::read_to_string(crate::laboratory::page_of(&said.out)).unwrap();
    assert_contains(&page, "lost found nothing");
}

/// The same data again, refused unless it may be dropped; then with its indexes.
#[test]
fn documents_of_others_are_left_alone() {
    if !Kind::Mongod.is_there_or_skip("own workloads") {
        return;
    }
    let server = Server::start(Kind::Mongod);
    let laboratory = open_laboratory();
    let operations = "{one: {find: orders, by: _id}}";
    let arm = |existing: &str| {
        format!("uri: 'mongodb://127.0.0.1:{}/', database: shop, existing: {existing}", server.port)
    };
    let text = |existing: &str| {
        orders(operations, "{one: 1}", &arm(existing)).replace(", server: mongod", "")
    };
    for existing in ["refuse", "drop", "drop"] {
        let (said, record) = run_text(&laboratory, text(existing));
        assert_eq!(record.runs[0].records_loaded, Some(3_050), "{said:?}");
    }
    let (said, record) = run_text(&laboratory, text("refuse"));
    assert_ne!(said.code, Some(0));
    assert_contains(&said.err, "nothing was begun");
    assert_contains(&said.err, "existing: drop");
    assert_eq!(record.runs[0].records_loaded, Some(3_050));
}
