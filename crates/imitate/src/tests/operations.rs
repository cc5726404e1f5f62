use super::{calls, observed, shop};
use crate::it::laboratory::plan;
use crate::operations::{Section, write};
use crate::{Call, Observed, Shape, Stored};
use mongodb::bson::Document;
use plimsoll_plan::Plan;
use plimsoll_testing::assert_contains;
use plimsoll_workload::documents::Literal;
use plimsoll_workload::{Ask, KeySpace, SequenceEnd, Statement, Workload};
use proptest::prelude::*;
use std::sync::Arc;

/// Checks the lines within a whole file.
pub(super) fn checked(observed: &Observed, section: &Section) -> Plan {
    let lines = |lines: &[String], margin: &str| -> String {
        lines.iter().map(|line| format!("{margin}{line}\n")).collect()
    };
    let (operations, mix) = (lines(&section.operations, "    "), lines(&section.mix, "      "));
    let mut text = String::from("plimsoll: 1\nname: imitated\nworkload:\n  collections:\n");
    for stored in &observed.collections {
        let fields = stored.fields.iter();
        let fields = fields.map(|field| (field.path.clone(), field.generator.clone().unwrap()));
        let indexes = stored.indexes.iter().map(|index| index.spec.clone());
        let [document, indexes] =
            [Literal::Map(fields.collect()), Literal::List(indexes.collect())]
                .map(|value| value.to_string());
        let (name, documents) = (&stored.name, stored.documents);
        text += &format!(
            "    {name}: {{records: {documents}, document: {document}, indexes: {indexes}}}\n"
        );
    }
    text += &format!("  operations:\n{operations}  mixes:\n    day:\n{mix}");
    plan(&(text + "arms: {one: {engine: mongodb}}\nload: {closed: {threads: 1}}\n"))
}

/// The shapes of what would be sent under the file.
fn sent(plan: &Plan) -> Vec<Shape> {
    let key_space = KeySpace::new(&plan.arms[0].data).unwrap();
    let workload = Arc::new(Workload::new(&key_space, &plan.mixes[0], 1, None).unwrap());
    let mut generator = workload.generator(0);
    let mut all = Vec::new();
    for turn in 0..100 {
        let Ask::Statement(whole) = generator.next() else { panic!() };
        let parts: Vec<Statement<'_>> = match whole.sequence {
            Some(transaction) => transaction.statements(0).chain([whole]).collect(),
            None => vec![whole],
        };
        for part in parts {
            let mut command = Document::from_reader(part.command).unwrap();
            let (verb, name) =
                command.iter().next().map(|(key, name)| (key.clone(), name.clone())).unwrap();
            for list in ["updates", "deletes"] {
                if let Some(list) = command.remove(list) {
                    command.extend(list.as_array().unwrap()[0].as_document().unwrap().clone());
                }
            }
            let namespace = format!("shop.{}", name.as_str().unwrap_or("$cmd"));
            let transaction = whole.sequence.map(|_| (turn.to_string(), 1));
            let returned = Some(u64::from(verb != "insert" || part.inserted.is_some()));
            all.push(Call { namespace, command, transaction, returned, ..Call::default() });
        }
        generator.sequence_ended(SequenceEnd::Committed);
    }
    crate::shapes(all.into_iter(), &shop())
}

fn forms(shapes: &[Shape]) -> Vec<&str> {
    let mut forms: Vec<&str> = shapes.iter().map(|shape| shape.form.as_str()).collect();
    forms.sort_unstable();
    forms
}

/// Commands of a server, each with its operation below it, whose lines are parted by `|`.
const COMMANDS: &str = r#"{"find": "orders", "filter": {"customer": "Mrs Miller"}, "sort": {"placed": -1}, "limit": 10, "projection": {"note": 1}}
orders-by-customer: {find: orders, by: customer, sort: {placed: -1}, limit: 10, project: {note: 1}}
{"find": "orders"}
orders-find: {find: orders}
{"find": "orders", "filter": {"status": {"$in": ["paid", "sent"]}, "customer": "Miller"}}
orders-by-customer-status:|  find: orders|  filter: {customer: <customer>, status: {$in: [<status>, <status_2>]}}|  with:|    customer: {value_of: customer}|    status: {value_of: status}|    status_2: {value_of: status}|  empty: allowed
{"find": "orders", "filter": {"placed": {"$gte": {"$date": "2024-01-01T00:00:00Z"}, "$lt": {"$date": "2024-01-02T00:00:00Z"}}}}
orders-by-placed: {find: orders, filter: {placed: {$gte: <placed.from>, $lt: <placed.to>}}, with: {placed: {range_of: placed, documents: 1}}}
{"find": "orders", "filter": {"placed": {"$gte": {"$date": "2024-01-01T00:00:00Z"}}}}
orders-by-placed: {find: orders, filter: {placed: {$gte: <placed.from>}}, with: {placed: {range_of: placed, documents: 1, at: end}}}
{"find": "orders", "filter": {"total": {"$gt": 20.5}}, "limit": 5}
orders-by-total: {find: orders, filter: {total: {$gt: <total>}}, limit: 5, with: {total: {from: total}}}
{"insert": "orders"}
orders-insert: {insert: orders}
{"update": "orders", "q": {"_id": {"$oid": "650000000000000000000001"}}, "u": {"$set": {"note": "hello", "status": "paid"}}}
orders-update: {update: orders, by: _id, set: [note, status]}
{"update": "products", "q": {"_id": 17, "stock": {"$gte": 1}}, "u": {"$inc": {"stock": -1}}, "multi": true}
products-update: {update: products, filter: {_id: <id>, stock: {$gte: 1}}, change: {$inc: {stock: -1}}, many: true, with: {id: {value_of: _id}}}
{"update": "orders", "q": {"address.city": "Bonn"}, "u": {"$push": {"items": {"product": 3, "quantity": 1}}, "$unset": {"note": ""}}}
orders-update:|  update: orders|  by: address.city|  change: {$push: {items: <items>}, $unset: {note: 1}}|  with:|    items: {document: {product: {key_of: products}, quantity: {int: 3}}}
{"delete": "orders", "q": {"status": "open"}, "limit": 0}
orders-delete: {delete: orders, by: status, many: true}
{"findAndModify": "products", "query": {"_id": 17}, "sort": {"stock": 1}, "update": {"$inc": {"stock": 5}}, "new": true}
products-modify: {find_and_modify: products, by: _id, sort: {stock: 1}, change: {$inc: {stock: <stock>}}, new: true, with: {stock: {int: {uniform: [2, 9]}}}}
{"count": "orders", "query": {"status": "open"}}
orders-count-by-status: {count: orders, by: status}
{"distinct": "orders", "key": "status", "query": {"customer": "Miller"}}
orders-distinct: {distinct: orders, field: status, by: customer}
{"aggregate": "orders", "pipeline": [{"$match": {"status": "paid"}}, {"$unwind": "$items"}, {"$group": {"_id": "$items.product", "sold": {"$sum": {"$multiply": ["$items.quantity", 250]}}, "last": {"$first": "secret"}}}, {"$sort": {"sold": -1}}, {"$limit": 5}], "cursor": {}}
orders-aggregate:|  aggregate: orders|  pipeline:|    - {$match: {status: <status>}}|    - {$unwind: $items}|    - {$group: {_id: $items.product, sold: {$sum: {$multiply: [$items.quantity, <value>]}}, last: {$first: <value_2>}}}|    - {$sort: {sold: -1}}|    - {$limit: 5}|  with:|    status: {value_of: status}|    value: {int: {uniform: [2, 9]}}|    value_2: {text: 6}
{"find": "orders", "filter": {"customer": "M"}, "readConcern": {"level": "majority"}, "maxTimeMS": 50, "batchSize": 7, "hint": "customer_1"}
orders-by-customer: {find: orders, by: customer, batch: 7, hint: {customer: 1}, max_time: 50ms, read_concern: majority}
{"insert": "orders", "writeConcern": {"w": "majority", "j": true, "wtimeout": 5000}}
orders-insert: {insert: orders, write_concern: {w: majority, journal: true, timeout: 5000ms}}"#;

#[test]
fn commands_become_operations() {
    for case in COMMANDS.lines().collect::<Vec<_>>().chunks(2) {
        let [command, expected] = case else { panic!("{case:?}") };
        let observed = observed(calls(command, 9));
        let section = write(&observed);
        assert_eq!(section.omitted, Vec::<String>::new(), "{command}");
        let plan = checked(&observed, &section);
        assert_eq!(forms(&sent(&plan)), forms(&observed.shapes));
        assert_eq!(section.operations[0], "# 9 calls, 100 % of the server's time");
        assert_eq!(section.operations[1..].join("|"), *expected);
    }
}

/// A read preference needs secondaries, and so does the file.
#[test]
fn read_preferences_are_those_of_a_set() {
    let command = r#"{"find": "orders", "filter": {"customer": "M"}, "$readPreference": {"mode": "secondaryPreferred"}}"#;
    let mut observed = observed(calls(command, 9));
    for (members, line) in [
        (1, "orders-by-customer: {find: orders, by: customer}"),
        (
            3,
            "orders-by-customer: {find: orders, by: customer, read_preference: secondary-preferred}",
        ),
    ] {
        observed.server.members = members;
        let section = write(&observed);
        assert_eq!(section.operations[1], line);
        checked(&observed, &section);
        let text = crate::write(&observed, None);
        assert_eq!(text.contains("  server: {members: 3} #"), members == 3, "{text}");
    }
}

#[test]
fn what_a_file_cannot_say_is_listed_with_its_share() {
    let mut all = calls(r#"{"find": "orders", "filter": {"customer": "x"}}"#, 65);
    all.extend(calls(r#"{"find": "orders", "filter": {"$where": "secret()"}}"#, 10));
    all.extend(calls(r#"{"find": "orders", "filter": {"note": {"$regularExpression": {"pattern": "secret", "options": ""}}}}"#, 5));
    all.extend(calls(r#"{"find": "gone", "filter": {"a": 5}}"#, 5));
    all.extend(calls(r#"{"aggregate": "orders", "pipeline": [{"$lookup": {"from": "elsewhere", "localField": "a", "foreignField": "b", "as": "c"}}]}"#, 4));
    all.extend(calls(r#"{"aggregate": "orders", "pipeline": [{"$out": "copies"}]}"#, 1));
    let begin = r#"{"$and": [{"a": 5}, "#.repeat(20);
    let deep = format!(r#"{begin}{{"b": 5}}{}"#, "]}".repeat(20));
    all.extend(calls(&format!(r#"{{"count": "orders", "query": {deep}}}"#), 10));
    let section = write(&observed(all));
    assert_eq!(section.mix, ["orders-by-customer: 100%"]);
    for (share, why) in [
        ("10.0 %", "`$where`"),
        ("10.0 %", "levels deep"),
        ("5.0 %", "a regular expression"),
        ("5.0 %", "no collection `gone`"),
        ("4.0 %", "no collection `elsewhere`"),
        ("1.0 %", "`$out`"),
    ] {
        let is_listed = |line: &String| line.contains(share) && line.contains(why);
        assert!(section.omitted.iter().any(is_listed), "{why}: {:#?}", section.omitted);
    }
    assert!(!format!("{section:?}").contains("secret"));
}

#[test]
fn ranges_fit_into_a_smaller_copy() {
    let find = r#"{"find": "orders", "filter": {"placed": {"$gte": {"$date": "2024-01-01T00:00:00Z"}, "$lt": {"$date": "2024-01-02T00:00:00Z"}}}}"#;
    let all = calls(find, 9).into_iter().map(|call| Call { returned: Some(1_234), ..call });
    let mut observed = observed(all.collect());
    assert_contains(write(&observed).operations.join(" "), "documents: 1200");
    observed.collections[0].documents = 500;
    let section = write(&observed);
    checked(&observed, &section);
    assert_contains(section.operations.join(" "), "documents: 500");
}

/// The operation of calls that are all changed in the same way.
fn changed(command: &str, collections: &[Stored], change: impl Fn(&mut Call)) -> String {
    let mut all = calls(command, 30);
    all.iter_mut().for_each(change);
    let shapes = crate::shapes(all.into_iter(), collections);
    let collections = collections.to_vec();
    let observed = Observed { shapes, collections, ..Observed::default() };
    let section = write(&observed);
    assert_eq!(forms(&sent(&checked(&observed, &section))), forms(&observed.shapes));
    section.operations[1..].join("|").split_once(": ").unwrap().1.to_owned()
}

/// 8,900 documents are examined for 100, by a scan or by an index of another field, and 400 by an index of the field.
#[test]
fn a_range_holds_what_was_returned_unless_an_index_tells_more() {
    let find = r#"{"find": "orders", "filter": {"placed": {"$gte": {"$date": "2024-01-01T00:00:00Z"}, "$lt": {"$date": "2024-01-02T00:00:00Z"}}}, "limit": 100}"#;
    for (plan, examined, documents) in [
        ("COLLSCAN", 8_900, 100),
        ("IXSCAN { customer: 1 }", 8_900, 100),
        ("IXSCAN { placed: -1 }", 400, 400),
    ] {
        let found = changed(find, &shop(), |call| {
            call.plan = plan.into();
            call.documents_examined = examined;
            call.returned = Some(100);
        });
        assert_contains(found, &format!("{{range_of: placed, documents: {documents}}}"));
    }
}

/// What lies after a date is counted where all of it was returned, and otherwise a time before the newest document.
#[test]
fn ranges_to_the_end_are_the_newest_documents() {
    let mut collections = shop();
    let date = collections[0].fields.iter_mut().find(|field| field.path == "placed").unwrap();
    date.generator = Some(super::literal(r#"{"date": {"every": "15s", "until": "now"}}"#));
    let since = r#"{"placed": {"$gte": {"$date": "2024-01-01T00:00:00Z"}}}"#;
    let find = format!(r#"{{"find": "orders", "filter": {since}}}"#);
    let count = format!(
        r#"{{"aggregate": "orders", "pipeline": [{{"$match": {since}}}, {{"$count": "n"}}], "cursor": {{}}}}"#
    );
    // Half an hour after the date.
    let later = |call: &mut Call| call.at_ms = 1_704_067_200_000 + 1_800_000;
    let found = changed(&find, &collections, |call| {
        later(call);
        call.returned = Some(120);
    });
    assert_contains(
        found,
        "<placed.from>}}, with: {placed: {range_of: placed, documents: 120, at: end}}",
    );
    let found = changed(&count, &collections, later);
    assert_contains(
        found,
        "{$match: {placed: {$gte: <placed>}}}, {$count: n}], with: {placed: {ago: 30m, of: placed}}",
    );
}

#[test]
fn what_is_never_found_is_absent() {
    let by_customer = r#"{"find": "orders", "filter": {"customer": "nobody"}}"#;
    let nothing = |call: &mut Call| (call.returned, call.documents_examined) = (Some(0), 0);
    let absent =
        "{find: orders, filter: {customer: <customer>}, with: {customer: {absent: customer}}}";
    assert_eq!(changed(by_customer, &shop(), nothing), absent);
    let both =
        r#"{"find": "orders", "filter": {"address.city": "x", "customer": {"$in": ["a", "b"]}}}"#;
    assert_contains(changed(both, &shop(), nothing), "customer_2: {absent: customer}");
    assert!(!changed(both, &shop(), nothing).contains("empty"));
    // Documents were examined, which another field excluded.
    let excluded = changed(by_customer, &shop(), |call| call.returned = Some(0));
    assert_eq!(excluded, "{find: orders, by: customer, empty: allowed}");
    let others = by_customer.replace(r#""nobody""#, r#"{"$ne": "nobody"}"#);
    assert!(!changed(&others, &shop(), nothing).contains("absent"));
    // A file knows no other value of a choice, and none of a free text.
    for path in ["status", "note"] {
        let find = by_customer.replace("customer", path);
        assert_contains(changed(&find, &shop(), nothing), "empty: allowed");
    }
}

/// A call of a transaction, of the session with this number.
fn within(command: &str, session: usize) -> Call {
    let mut call = calls(command, 1).remove(0);
    call.transaction = Some((session.to_string(), 1));
    call
}

#[test]
fn statements_of_a_transaction_are_one_operation() {
    let mut all = Vec::new();
    for session in 0..10 {
        let update = format!(
            r#"{{"update": "products", "q": {{"_id": {session}}}, "u": {{"$inc": {{"stock": -1}}}}}}"#
        );
        all.push(within(r#"{"insert": "orders", "readConcern": {"level": "snapshot"}}"#, session));
        all.push(within(&update, session));
        all.push(within(&update, session));
        all.push(within(
            &format!(r#"{{"find": "products", "filter": {{"_id": {session}}}}}"#),
            session,
        ));
        let mut end =
            within(r#"{"commitTransaction": "", "writeConcern": {"w": "majority"}}"#, session);
        if session == 9 {
            end.command = mongodb::bson::doc! { "abortTransaction": "" };
        }
        all.push(end);
    }
    let observed = observed(all);
    let section = write(&observed);
    assert_eq!(forms(&sent(&checked(&observed, &section))), forms(&observed.shapes));
    assert!(section.needs_replica_set);
    let expected = [
        "# 9 calls, 100 % of the server's time",
        "orders-transaction:",
        "  transaction:",
        "    - {insert: orders}",
        "    - {update: products, filter: {_id: <id>}, change: {$inc: {stock: -1}}}",
        "    - {update: products, filter: {_id: <id>}, change: {$inc: {stock: -1}}}",
        "    - {find: products, filter: {_id: <id>}}",
        "  with:",
        "    id: {value_of: _id, in: products}",
        "  read_concern: snapshot",
        "  write_concern: majority",
    ];
    assert_eq!(section.operations, expected);
}

#[test]
fn batches_belong_to_the_operation_that_opened_the_cursor() {
    let mut all = Vec::new();
    for cursor in 1..=20 {
        let mut first = calls(r#"{"find": "orders", "filter": {"customer": "x"}}"#, 1).remove(0);
        first.cursor = Some(cursor);
        let mut more = first.clone();
        more.continues = Some(cursor);
        let mut last = more.clone();
        last.cursor = None;
        all.extend([first, more, last]);
    }
    let shapes = crate::shapes(all.into_iter(), &shop());
    let [shape] = shapes.as_slice() else { panic!("{shapes:#?}") };
    assert_eq!((shape.calls, shape.micros, shape.returned.median), (20, 60_000, 3.0));
}

/// Calls that each ask for the value that `draw` gives.
fn asked(path: &str, mut draw: impl FnMut(u64) -> u64) -> String {
    let all = (0..20_000).map(|number| {
        let value = draw(number);
        let command = match path {
            "_id" => format!(r#"{{"find": "products", "filter": {{"_id": {value}}}}}"#),
            path => format!(r#"{{"find": "orders", "filter": {{"{path}": "value {value}"}}}}"#),
        };
        calls(&command, 1).remove(0)
    });
    let section = write(&observed(all.collect()));
    section.operations[1].split_once(": ").unwrap().1.to_owned()
}

#[test]
fn keys_are_the_law_that_is_nearest() {
    let mut stream = plimsoll_workload::Stream::from_state(7);
    let zipfian = plimsoll_workload::ScrambledZipfian::new(0, 400);
    let ages = plimsoll_workload::Zipfian::new(400);
    let plain = "{find: products, by: _id}";
    assert_eq!(asked("_id", |_| stream.below(400)), plain);
    assert_eq!(asked("_id", |_| zipfian.draw(&mut stream)), plain.replace('}', ", keys: zipfian}"));
    assert_eq!(
        asked("_id", |_| 399 - ages.draw(&mut stream)),
        plain.replace('}', ", keys: latest}")
    );
    // A zipfian of 500 values themselves is hotter than one of 10,000 million that are spread over 500.
    let customers = plimsoll_workload::Zipfian::new(500);
    assert_eq!(
        asked("customer", |_| customers.draw(&mut stream)),
        "{find: orders, by: customer, keys: documents}"
    );
}

#[test]
fn a_value_that_is_always_asked_for_is_the_one_that_as_many_documents_have() {
    // v1 has 5 % of 10,000 documents, v2 the others.
    let find = r#"{"find": "orders", "filter": {"status": "open"}}"#;
    let rare = changed(find, &shop(), |call| call.returned = Some(480));
    assert_eq!(rare, "{find: orders, filter: {status: v1}}");
    let count = r#"{"count": "orders", "query": {"status": "sent"}}"#;
    let counted = |call: &mut Call| (call.returned, call.documents_examined) = (None, 9_400);
    assert_eq!(changed(count, &shop(), counted), "{count: orders, filter: {status: v2}}");
}

#[test]
fn too_many_shapes_are_counted_as_others() {
    let all = (0..3_000).flat_map(|number| {
        let name: String = format!("{number:04}")
            .chars()
            .map(|digit| char::from(b'a' + digit as u8 - b'0'))
            .collect();
        calls(&format!(r#"{{"find": "orders", "filter": {{"{name}": "x"}}}}"#), 1)
    });
    let observed = observed(all.collect());
    assert_eq!(observed.shapes.len(), 2_001);
    assert_eq!(observed.shapes.iter().map(|shape| shape.calls).sum::<u64>(), 3_000);
    assert_eq!(observed.shapes.last().unwrap().calls, 1_000);
}

fn one_of(texts: &'static str) -> impl Strategy<Value = &'static str> + Clone {
    prop::sample::select(texts.split('|').collect::<Vec<_>>())
}

/// A random command; most of its fields exist.
fn any_command() -> impl Strategy<Value = String> {
    let path = one_of(
        "_id|customer|placed|status|note|total|address|address.city|items|items.product|items.0.quantity|gone|by|<9>",
    );
    let value = one_of(
        r#"5|-1|0.5|"zebra"|"<9>"|true|null|[1, 2]|{"a": 1}|{"$oid": "650000000000000000000001"}|{"$date": "2024-01-01T00:00:00Z"}"#,
    );
    let word = one_of("|$gt|$gte|$lt|$ne|$in|$exists|$elemMatch|$not");
    let condition = (word, value.clone()).prop_map(|(word, value)| match word {
        "" => value.to_owned(),
        "$in" => format!("{{\"$in\": [{value}, {value}]}}"),
        "$elemMatch" | "$not" => format!("{{\"{word}\": {{\"$gt\": {value}}}}}"),
        word => format!("{{\"{word}\": {value}}}"),
    });
    let pair = |value: BoxedStrategy<String>| {
        prop::collection::btree_map(path.clone(), value, 0..3).prop_map(|map| {
            let map: Vec<String> =
                map.iter().map(|(path, value)| format!("\"{path}\": {value}")).collect();
            format!("{{{}}}", map.join(", "))
        })
    };
    let change = one_of("$set|$inc|$push|$addToSet|$pull|$unset|$min|$rename");
    let fields = pair(value.prop_map(str::to_owned).boxed());
    let rest =
        one_of(r#"|, "limit": 10|, "sort": {"placed": -1}|, "upsert": true|, "multi": true"#);
    (0..6, pair(condition.boxed()), change, fields, rest).prop_map(|(kind, filter, change, fields, rest)| match kind {
        0 => format!("{{\"find\": \"orders\", \"filter\": {filter}{rest}}}"),
        1 => format!("{{\"update\": \"orders\", \"q\": {filter}, \"u\": {{\"{change}\": {fields}}}{rest}}}"),
        2 => format!("{{\"update\": \"orders\", \"q\": {filter}, \"u\": {fields}{rest}}}"),
        3 => format!("{{\"delete\": \"orders\", \"q\": {filter}{rest}}}"),
        4 => format!("{{\"aggregate\": \"orders\", \"pipeline\": [{{\"$match\": {filter}}}, {{\"$addFields\": {fields}}}]}}"),
        _ => format!("{{\"findAndModify\": \"orders\", \"query\": {filter}, \"update\": {{\"{change}\": {fields}}}{rest}}}"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn whatever_is_written_passes_the_check(commands in prop::collection::vec(any_command(), 1..20)) {
        let observed = observed(commands.iter().flat_map(|command| calls(command, 3)).collect());
        let section = write(&observed);
        // Only a file without any operation would be refused.
        if !section.mix.is_empty() {
            let plan = checked(&observed, &section);
            // Values are those of the fields: where commands compare documents with numbers, other forms come out.
            let fits = |command: &String| !["$pull", "$elemMatch", "*"].iter().any(|word| command.contains(word));
            if observed.shapes.iter().map(|shape| &shape.form).all(fits) {
                let seen = forms(&observed.shapes);
                let sent = sent(&plan);
                prop_assert!(forms(&sent).iter().all(|form| seen.contains(form)), "{:?} of {:?}", forms(&sent), section);
            }
        }
        let calls: u64 = observed.shapes.iter().map(|shape| shape.calls).sum();
        prop_assert_eq!(calls, commands.len() as u64 * 3);
        let text = format!("{section:?}{observed:?}");
        // `$rename` has the name of a field there.
        let is_name = commands.iter().any(|command| command.contains("$rename"));
        prop_assert!(is_name || !text.contains("zebra"), "{}", text);
        prop_assert!(!text.contains("65000000"), "{}", text);
    }
}
