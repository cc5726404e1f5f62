//! Collections and operations of an application, and what arms choose of collections.

use crate::it::servers::ENGINES;
use crate::it::surroundings;
use crate::{Overrides, Problems, Surroundings, check};
use plimsoll_plan::{Plan, Source, differences, explain};
use plimsoll_testing::assert_contains;

/// An experiment on orders whose last part, from line 14 on, is this.
fn checked(rest: &str) -> Result<Plan, Problems> {
    let text = format!(
        "plimsoll: 1
name: orders
workload:
  collections:
    orders:
      records: 1k
      document: {{customer: {{text: 12, distinct: 100}}, placed: {{int: sequence}}}}
      indexes: [{{customer: 1, placed: -1}}, {{placed: 1}}]
  operations:
    by-customer: {{find: orders, by: customer, limit: 10}}
    newest: {{find: orders, sort: {{placed: -1}}, limit: 10, hint: placed_1}}
  mixes: {{day: {{by-customer: 3, newest: 1}}}}
load: {{closed: {{threads: 1}}}}
{rest}"
    );
    let overrides = Overrides::default();
    let surroundings = Surroundings { engines: &ENGINES, ..surroundings(&overrides) };
    check(&text, "orders.yaml", &surroundings)
}

fn plan(rest: &str) -> Plan {
    checked(rest).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What two arms do not have in common.
fn differing(plan: &Plan) -> Vec<(String, String, String)> {
    let found = differences(&plan.arms[0], &plan.arms[1]).into_iter();
    found.map(|one| (one.what, one.left, one.right)).collect()
}

fn words(what: &str, left: &str, right: &str) -> (String, String, String) {
    (what.into(), left.into(), right.into())
}

#[test]
fn arms_differ_in_the_indexes_of_collections() {
    let plan = plan(
        "defaults: {engine: mongodb}
arms:
  both: {}
  one:
    collections: {orders: {indexes: [{keys: {placed: 1}, unique: true}]}}
",
    );
    assert_eq!(
        differing(&plan),
        [words("indexes of orders", "customer_1_placed_-1, placed_1", "placed_1 (unique: true)")]
    );
    let path = "arms.one.collections.orders.indexes";
    let origin = plan.origins.iter().find(|origin| origin.path == path).unwrap();
    assert_eq!(origin.value, "placed_1 (unique: true)");
    assert_eq!(origin.source, Source::File { line: 18 });
    let orders = |arm: usize| plan.arms[arm].data.documents.as_ref().unwrap().collections();
    assert_eq!((orders(0)[0].indexes.len(), orders(1)[0].indexes.len()), (2, 1));
    let shown = explain(&plan, &ENGINES).to_string();
    assert_contains(&shown, "collections, where arms differ");
    assert_contains(&shown, "indexes of orders  placed_1 (unique: true)");
    assert!(!shown.contains("caution no mix"), "{shown}");
}

/// Keys of an index in another order are another index.
#[test]
fn the_order_of_keys_makes_another_index() {
    let with = |indexes: &str| {
        plan(&format!(
            "defaults: {{engine: mongodb}}
arms: {{as-it-is: {{}}, other: {{collections: {{orders: {{indexes: [{indexes}, {{placed: 1}}]}}}}}}}}
"
        ))
    };
    let (same, turned) = (with("{customer: 1, placed: -1}"), with("{placed: -1, customer: 1}"));
    assert_eq!(differing(&same), []);
    assert_eq!(differing(&turned)[0].2, "placed_-1_customer_1, placed_1");
    assert_ne!(same.hash(), turned.hash());
    // Records are kept as a tree of JSON.
    let kept = serde_json::to_value(&turned).unwrap();
    let kept: Plan = serde_json::from_value(kept).unwrap();
    assert_eq!(kept, turned);
    assert_eq!(kept.hash(), turned.hash());
    assert_eq!(differing(&kept), differing(&turned));
}

#[test]
fn defaults_and_levels_of_factors_choose_as_arms_do() {
    let plan = plan(
        "defaults: {engine: mongodb, collections: {orders: {options: {validator: {placed: {$gte: 0}}}}}}
arms: {checked: {}, plain: {collections: {orders: {options: {}}}}}
",
    );
    assert_eq!(
        differing(&plan),
        [words("options of orders", "{validator: {placed: {$gte: 0}}}", "none")]
    );
    let grid = super::documents::plan(
        "defaults: {engine: mongodb}
factors:
  cache_size: [64MiB, 128MiB]
  index:
    all: {}
    placed: {collections: {orders: {indexes: [{placed: 1}]}}}
",
    );
    assert_eq!(grid.arms.len(), 4);
    assert_eq!(
        differing(&grid),
        [words("indexes of orders", "customer_1_placed_-1, placed_1", "placed_1")]
    );
}

/// What arms choose is wrong at its own line; a hint at an index that an arm lacks at the line of its operation.
#[test]
fn mistakes_of_arms_are_named_where_they_are() {
    let arm = |collections: &str| {
        format!(
            "defaults: {{engine: mongodb}}
arms:
  all: {{}}
  other:
    collections:
      {collections}
"
        )
    };
    for (rest, line, words) in [
        (arm("order: {indexes: []}"), 19, "unknown key `order`; did you mean `orders`?"),
        (arm("customers: {indexes: []}"), 19, "unknown key `customers`; keys here are orders"),
        (arm("orders: {records: 5}"), 19, "`records` is the same for all arms"),
        (arm("orders: {document: {a: {int: 1}}}"), 19, "belongs"),
        (arm("orders: {index: []}"), 19, "no key `index`"),
        (arm("orders:\n        indexes:\n          - placed: 1\n          - z: 1"), 22, "no field `z`"),
        (arm("orders: {options: {timeseries: {timeField: placed}}}"), 19, "makes a time series"),
        (arm("orders: {options: {viewOn: x}}"), 19, "views are not supported"),
        (arm("orders: {indexes: []}"), 11, "in the arm other, `orders` has no index placed_1; it has _id_"),
        (
            "defaults: {engine: mongodb, collections: {orders: {indexes: [{z: 1}]}}}\narms: {one: {}, two: {}}\n".into(),
            14,
            "no field `z`",
        ),
        (
            "defaults: {engine: mongodb}\narms: {one: {collections: [orders]}}\n".into(),
            15,
            "a map of collections such as",
        ),
    ] {
        let problems = checked(&rest).unwrap_err();
        let [problem] = problems.list() else { panic!("{problems}") };
        assert_contains(&problems, words);
        assert_eq!(problems.position(problem).map(|(line, _)| line), Some(line), "{problems}");
    }
    let text = "plimsoll: 1
name: small
workload: {records: 1k, preset: c}
arms: {one: {engine: noop, collections: {orders: {indexes: []}}}}
load: {closed: {threads: 1}}
";
    let problems =
        check(text, "small.yaml", &surroundings(&Overrides::default())).unwrap_err().to_string();
    assert_contains(&problems, "small.yaml:4:");
    assert_contains(&problems, "the workload has no `collections`");
}

#[test]
fn an_operation_in_no_mix_is_named() {
    let text = "defaults: {engine: mongodb}
arms: {one: {}}
";
    let mut plan = plan(text);
    plan.mixes[0].operations.truncate(1);
    let shown = explain(&plan, &ENGINES).to_string();
    assert_contains(
        &shown,
        "caution no mix gives the operation newest a weight: it is not measured",
    );
}

/// Each mistake in a transaction or a concern has its line.
#[test]
fn mistakes_of_transactions_are_named_where_they_are() {
    let check = |extra: &str| {
        let text = format!(
            "plimsoll: 1
name: shop
workload:
  collections:
    orders: {{records: 1k, document: {{status: {{choice: [open, sent]}}}}}}
    products: {{records: 10, document: {{_id: {{int: sequence}}, stock: {{int: 1000}}}}}}
  operations:
    buy:
      transaction:
        - insert: orders
        - update: products
          filter: {{_id: <product>}}
          change: {{$inc: {{stock: -1}}}}
{extra}
  mixes: {{day: {{buy: 1}}}}
load: {{closed: {{threads: 1}}}}
defaults: {{engine: mongodb}}
arms: {{one: {{}}, two: {{}}}}
"
        );
        let overrides = Overrides::default();
        let surroundings = Surroundings { engines: &ENGINES, ..surroundings(&overrides) };
        check(&text, "shop.yaml", &surroundings)
    };
    let with = "      with: {product: {value_of: _id, in: products}}";
    let plan = check(with).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(plan.mixes[0].operations[0].0.to_string(), "transaction:buy");
    let kept = serde_json::to_value(&plan).unwrap();
    assert_eq!(serde_json::from_value::<Plan>(kept).unwrap(), plan);
    let of_steps = "      with: {product: {value_of: _id, in: products}}
    slowly:
      steps: [{count: products}, {update: products, by: _id, set: stock}]";
    let plan = check(of_steps).unwrap_or_else(|problems| panic!("{problems}"));
    let operations = plan.arms[0].data.documents.as_ref().unwrap().operations();
    assert_eq!(operations[1].to_string(), "steps:slowly");
    for (extra, line, words) in [
        ("", 12, "`<product>` is no parameter"),
        (
            "        - count: products\n      with: {product: {value_of: _id, in: products}}",
            14,
            "no server counts",
        ),
        (
            "        - transaction: []\n      with: {product: {value_of: _id, in: products}}",
            14,
            "holds no other",
        ),
        ("      with:\n        product: {value_of: _id}", 15, "`in:` with one of orders, products"),
        (
            "      with: {product: {value_of: _id, in: products}}\n      write_concern: 0",
            15,
            "without an answer",
        ),
        (
            "      with: {product: {value_of: _id, in: products}}\n    slowly:\n      steps: [{insert: orders}]\n      retries: 3",
            17,
            "not sent again as a whole",
        ),
        (
            "      with: {product: {value_of: _id, in: products}}\n      retries: many",
            15,
            "0 to 1000",
        ),
        (
            "      with: {product: {value_of: _id, in: products}}\n    read:\n      find: orders\n      max_time: soon",
            17,
            "whole milliseconds",
        ),
    ] {
        let problems = check(extra).unwrap_err();
        assert_contains(&problems, words);
        let lines: Vec<Option<u64>> = problems
            .list()
            .iter()
            .map(|problem| problems.position(problem).map(|(line, _)| line as u64))
            .collect();
        assert_eq!(lines, [Some(line)], "{problems}");
    }
}

/// A document of this file has `_id`, a text of 12 and a number: 5 + 17 + (10 + 4 + 13) + (8 + 4) bytes.
const DOCUMENT_BYTES: f64 = 61.0;

#[test]
fn arms_have_as_many_documents_as_fit_into_a_size() {
    let plan = plan(
        "defaults: {engine: mongodb}
arms: {as-it-is: {}, large: {size: 6100kB}}
",
    );
    let records = |arm: usize| plan.arms[arm].data.documents.as_ref().unwrap().size().0;
    assert_eq!((records(0), records(1)), (1_000, 100_000));
    assert_eq!(differing(&plan), [words("records of orders", "1k", "100000")]);
}

#[test]
fn a_working_set_of_documents_is_a_share_of_the_cache() {
    let plan = plan(
        "defaults: {engine: mongodb, cache_size: 256MiB}
factors: {working_set: [50%, 200%]}
",
    );
    let expected = |share: f64, usable: u64| share * usable as f64 / DOCUMENT_BYTES;
    for (arm, share) in plan.arms.iter().zip([0.5, 2.0]) {
        let set = arm.working_set.unwrap();
        let records = arm.data.documents.as_ref().unwrap().size().0 as f64;
        assert!(
            (records / expected(share, set.usable_cache_bytes) - 1.0).abs() < 0.01,
            "{records}"
        );
        assert_eq!((set.share, set.bytes_per_record), (share, DOCUMENT_BYTES));
    }
    assert_eq!(differing(&plan), [words("working_set", "50%", "200%")]);
}

#[test]
fn sizes_that_cannot_be_are_named() {
    for (rest, line, what) in [
        ("defaults: {engine: mongodb}\narms: {a: {records: 5k}}\n", 15, "write `size: 6GB`"),
        (
            "defaults: {engine: mongodb}\narms: {a: {size: 3kB}}\n",
            7,
            "with 3kB in all, there are 49 documents, so `distinct` is from 1 to 49",
        ),
    ] {
        let problems = checked(rest).err().unwrap().to_string();
        assert_contains(&problems, what);
        assert_contains(&problems, &format!("orders.yaml:{line}:"));
    }
}
