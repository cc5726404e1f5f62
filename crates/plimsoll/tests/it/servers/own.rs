//! Documents and operations of an application, on a real server.

use super::{Laboratory, open_laboratory, run, run_text};
use plimsoll_judge::Analysis;
use plimsoll_record::{OperationPlan, RunRecord, RunState, Status, WarningId};
use plimsoll_testing::assert_contains;
use plimsoll_testing::servers::{Kind, Server};
use std::collections::BTreeMap;

/// An experiment on orders, with these operations in this mix.
fn orders(operations: &str, mix: &str, arms: &str) -> String {
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
arms: {{{arms}}}
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
    let (said, record) = run_text(&laboratory, orders(operations, mix, "one: {}"));
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

/// Steps are one operation on a server without transactions; each statement has its plan, and what it finds is verified.
#[test]
fn steps_are_one_operation() {
    if !Kind::Mongod.is_there_or_skip("own workloads") {
        return;
    }
    let laboratory = open_laboratory();
    let operations = "{order: {steps: [{find: products, filter: {_id: <product>}}, {insert: orders}, {update: products, filter: {_id: <product>}, change: {$inc: {stock: -1}}}, {count: orders, by: customer}], with: {product: {value_of: _id, in: products}}},
      sold-out: {steps: [{find: products, filter: {_id: <none>}}, {delete: orders, by: _id}], with: {none: {int: -1}}}}";
    let text = orders(operations, "{order: 1}", "one: {}");
    let (said, record) = run_text(&laboratory, text);
    let run = &record.runs[0];
    let counts = counts(run);
    assert_eq!(counts.len(), 1, "{counts:?}");
    let done = counts[&("order", Status::Ok)];
    let statements = &run.points.iter().find_map(|point| point.end.as_ref()).unwrap().statements;
    let names: Vec<&str> = statements.iter().map(|times| times.operation.name()).collect();
    assert_eq!(names, ["order-1", "order-2", "order-3", "order-4"]);
    assert!(statements.iter().all(|times| times.count == done && times.total_ns > done));
    let report = super::run(&laboratory, &["report", "last", "--all"]);
    assert_contains(&report.out, "order-4");
    for name in ["order-1", "order-3", "order-4"] {
        assert_eq!(plans(run, name).len(), 2, "{said:?}");
    }
    let [before, after] = &run.application[..] else { panic!("{:?}", run.application) };
    let orders = [before, after].map(|state| state.collections[0].documents);
    assert!(orders[1] - orders[0] >= done, "{orders:?}, {done}");
    let plan = super::run(&laboratory, &["plan", "experiment.yaml", "--documents"]);
    assert_contains(&plan.out, "order: steps on products, orders, 1: each count is verified; 2:");
    assert_contains(&plan.out, "{find: 'products', filter: {_id: ");
}

mod slow {
    use super::*;

    /// Reads from secondaries are verified where nobody writes, and refused before the load where there are none.
    #[test]
    fn secondaries_are_read_from() {
        if !Kind::Mongod.is_there_or_skip("own workloads") {
            return;
        }
        let laboratory = open_laboratory();
        let operations = "{price: {find: products, by: _id, read_preference: secondary}, history: {find: orders, by: customer, read_preference: secondary-preferred}, place: {insert: orders}}";
        let text = orders(operations, "{price: 1, history: 1, place: 1}", "one: {}");
        let on_three = text.replace("server: mongod", "server: {members: 3, ready_within: 300s}");
        let (said, record) = run_text(&laboratory, on_three);
        let counts = counts(&record.runs[0]);
        let names: Vec<_> = counts.keys().copied().collect();
        let ok = ["history", "place", "price"].map(|name| (name, Status::Ok));
        assert_eq!(names, ok, "{said:?}");
        for name in ["price", "history"] {
            let plans = plans(&record.runs[0], name);
            assert!(plans.iter().all(|plan| plan.refused.is_none()), "{plans:?}");
        }
        let plan = super::super::run(&laboratory, &["plan", "experiment.yaml", "--documents"]);
        assert_contains(&plan.out, "price: find on products, each count is verified");
        assert_contains(&plan.out, "history: find on orders, not verified: secondaries may lag");
        assert_contains(&plan.out, "$readPreference: {mode: 'secondaryPreferred'}");
        let (said, record) = run_text(&laboratory, text);
        let RunState::Failed { message } = &record.runs[0].state else { panic!("{said:?}") };
        assert_contains(
            message,
            "a standalone server has no secondaries: write `server: {members: 3}`",
        );
        assert_eq!(record.runs[0].records_loaded, None);
    }
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
    let (said, record) = run_text(&laboratory, orders(operations, "{lost: 1, one: 1}", "one: {}"));
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
        format!(
            "one: {{uri: 'mongodb://127.0.0.1:{}/', database: shop, existing: {existing}}}",
            server.port
        )
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
    let (said, record) = run_text(&laboratory, text("use"));
    assert_eq!(record.runs[0].records_loaded, Some(3_050));
    assert_eq!(record.runs[0].state, RunState::Finished, "{said:?}");
    // With another seed they are other documents.
    let other = text("use").replace("measurement: {", "measurement: {seed: 7, ");
    let (said, record) = run_text(&laboratory, other);
    let RunState::Failed { message } = &record.runs[0].state else { panic!("{said:?}") };
    assert_contains(message, "orders does not hold the documents of this experiment");
}

fn analysis(laboratory: &Laboratory) -> Analysis {
    let said = run(laboratory, &["report", "last", "--json"]);
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

/// The plans of an operation in all states of a run.
fn plans<'a>(run: &'a RunRecord, name: &str) -> Vec<&'a OperationPlan> {
    let plans = run.application.iter().flat_map(|state| &state.operations);
    plans.filter(|plan| plan.operation.name() == name).collect()
}

/// What an index costs is the difference of two arms: the one without it reads the whole collection, is warned about, and the verdict says why.
#[test]
fn an_arm_without_an_index_reads_the_collection() {
    if !Kind::Mongod.is_there_or_skip("own workloads") {
        return;
    }
    let laboratory = open_laboratory();
    let operations = "{by-customer: {find: orders, by: customer, keys: zipfian, limit: 10, sort: {placed: -1}}, one: {find: orders, by: _id}}";
    let arms = "with: {}, without: {collections: {orders: {indexes: []}}}";
    let text = orders(operations, "{by-customer: 1, one: 1}", arms);
    let (said, record) = run_text(&laboratory, text.replace("blocks: 1", "blocks: 2"));
    assert_eq!(record.runs.len(), 4, "{said:?}");
    for run in &record.runs {
        assert!(counts(run).keys().all(|(_, status)| *status == Status::Ok), "{said:?}");
        let (stage, scans) = if run.arm == "with" { ("IXSCAN", false) } else { ("COLLSCAN", true) };
        let plans = plans(run, "by-customer");
        assert_eq!(plans.len(), 2, "before the first point and after the last");
        for plan in plans {
            assert!(plan.stages.iter().all(|stages| stages.starts_with(stage)), "{plan:?}");
            assert_eq!(plan.scans_collection, scans, "{plan:?}");
            assert_eq!(plan.documents_examined == 3_000.0, scans, "{plan:?}");
        }
        let indexes = &run.application[0].collections[0].indexes;
        assert_eq!(indexes.len(), if scans { 1 } else { 3 }, "{indexes:?}");
    }
    let analysis = analysis(&laboratory);
    let scans = analysis.warnings.iter().filter(|warning| warning.id == WarningId::CollectionScan);
    let [scan] = &scans.collect::<Vec<_>>()[..] else { panic!("{:?}", analysis.warnings) };
    assert_eq!(scan.subject, "without");
    assert!(scan.message.starts_with("by-customer: COLLSCAN"), "{scan:?}");
    // One for each metric.
    assert!(!analysis.comparisons.is_empty());
    for comparison in &analysis.comparisons {
        let why = comparison.plans.as_deref().unwrap();
        assert!(why.starts_with("Why: by-customer examines"), "{why}");
        assert_contains(why, "3,000 for");
    }
}

/// The server keeps the options that the file gives, and an operation that removes documents has a plan and removes some.
#[test]
fn options_are_in_force_and_documents_are_deleted() {
    if !Kind::Mongod.is_there_or_skip("own workloads") {
        return;
    }
    let laboratory = open_laboratory();
    let operations = "{by-customer: {find: orders, by: customer}, drop-old: {delete: orders, by: _id, keys: sequential}, place: {insert: orders}}";
    let options = "{validator: {placed: {$type: date}}, storageEngine: {wiredTiger: {configString: block_compressor=zstd}}}";
    let arms = format!("one: {{collections: {{orders: {{options: {options}}}}}}}");
    let text = orders(operations, "{by-customer: 2, drop-old: 2, place: 1}", &arms);
    let (said, record) = run_text(&laboratory, text);
    let run = &record.runs[0];
    assert_eq!(run.records_loaded, Some(3_050), "{said:?}");
    let counts = counts(run);
    for name in ["by-customer", "drop-old", "place"] {
        assert!(counts.get(&(name, Status::Ok)).is_some_and(|count| *count > 0), "{counts:?}");
    }
    // Who deletes finds nothing the second time, and that is no failure.
    assert!(counts.keys().all(|(_, status)| *status == Status::Ok), "{counts:?}");
    let plans = plans(run, "drop-old");
    assert_eq!(plans.len(), 2);
    for plan in &plans {
        assert_eq!((plan.commands, &plan.refused), (5, &None), "{plan:?}");
    }
    // It was explained, and not carried out.
    assert_eq!(plans[0].stages, ["IDHACK → DELETE"], "{plans:?}");
    let [before, after] = &run.application[..] else { panic!("{:?}", run.application) };
    let documents = [before, after].map(|state| state.collections[0].documents);
    assert!(documents[0] == 3_000 && documents[1] < 3_000, "{documents:?}");

    let wrong = options.replace("date", "string");
    let arms = format!("one: {{collections: {{orders: {{options: {wrong}}}}}}}");
    let text = orders(operations, "{place: 1}", &arms);
    let (said, _) = run_text(&laboratory, text);
    assert_ne!(said.code, Some(0));
    assert_contains(&said.err, "failed validation");
}

/// As many operations as there can be, from many sessions, in a worker that stays small.
#[test]
fn a_worker_of_many_operations_is_small() {
    if !Kind::Mongod.is_there_or_skip("own workloads") {
        return;
    }
    let laboratory = open_laboratory();
    let (mut operations, mut mix) = (Vec::new(), Vec::new());
    for number in 0..32 {
        let by = ["_id", "customer", "placed", "status"][number % 4];
        operations.push(format!("find-{number}: {{find: orders, by: {by}, limit: 3}}"));
        mix.push(format!("find-{number}: 1"));
    }
    let [operations, mix] = [operations, mix].map(|all| format!("{{{}}}", all.join(", ")));
    let text = orders(&operations, &mix, "one: {}")
        .replace("{closed: {threads: 2}}", "{open: {rates: [500], sessions: 16}}")
        .replace("duration: 1s", "duration: 3s");
    let (said, record) = run_text(&laboratory, text);
    let run = &record.runs[0];
    assert_eq!(counts(run).len(), 32, "{said:?}");
    let slices = run.points.iter().flat_map(|point| &point.slices);
    let most = slices.map(|slice| slice.worker.resident_bytes).max().unwrap();
    // 100 MB, and 30 MB for code that was not optimised.
    assert!((1_000_000..130_000_000).contains(&most), "{most} bytes");
}

/// A file that imitates a server does what the server does, and does not without one of its indexes.
#[test]
fn an_imitation_is_checked_against_its_server() {
    if !Kind::Mongod.is_there_or_skip("imitation") {
        return;
    }
    let server = Server::start_with(Kind::Mongod, &["--profile=2", "--slowms=-1"]);
    let laboratory = open_laboratory();
    let uri = format!("mongodb://127.0.0.1:{}/shop", server.port);
    let operations = "{by-customer: {find: orders, by: customer, keys: zipfian, sort: {placed: -1}, limit: 10}, price: {find: products, by: _id}}";
    let arm = format!("one: {{uri: '{uri}'}}");
    // Long enough that counting the documents of the load is little of it, also on a busy machine.
    let text = orders(operations, "{by-customer: 3, price: 1}", &arm);
    let text = text.replace("duration: 1s", "duration: 5s");
    run_text(&laboratory, text.replace(", server: mongod", ""));
    let file = laboratory.path("copy.yaml");
    let written =
        run(&laboratory, &["imitate", &uri, "--watch", "1s", "--output", file.to_str().unwrap()]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    let (before, _) = text.split_once("\nload:").unwrap();
    let short = "\nload: {open: {rates: [300]}}\nmeasurement: {warm_up: 0s, duration: 3s}\n";
    let check = |text: String| {
        std::fs::write(&file, text).unwrap();
        run(&laboratory, &["imitate", &uri, "--watch", "1s", "--check", file.to_str().unwrap()])
    };
    let alike = check(format!("{before}{short}"));
    assert_eq!(alike.code, Some(0), "{alike:?}");
    assert_contains(&alike.out, "% of production's server time are reproduced");
    let lacking = format!("{before}{short}").replace("{customer: 1, placed: -1}", "{note: 1}");
    let other = check(lacking);
    assert_eq!(other.code, Some(99), "{other:?}");
    assert_contains(&other.out, "orders-by-customer");
    assert_contains(&other.out, "plan IXSCAN { customer: 1, placed: -1 } in production, ");
}
