//! A known number of commands on a real server, read from its log and from its profile.

use super::operations::checked;
use super::shop;
use crate::it::laboratory::replica_set;
use crate::log::Skipped;
use crate::operations::write;
use crate::{Call, Observed, Shape, log, shapes};
use mongodb::bson::{Document, doc};
use mongodb::{Client, ClientSession, Database};
use plimsoll_testing::{Need, assert_contains, needs};

async fn all_of(database: &Database, collection: &str, filter: Document) -> Vec<Document> {
    let mut cursor = database.collection::<Document>(collection).find(filter).await.unwrap();
    let mut found = Vec::new();
    while cursor.advance().await.unwrap() {
        found.push(cursor.deserialize_current().unwrap());
    }
    found
}

fn order(number: i32) -> Document {
    doc! { "_id": number, "customer": format!("Miller-{}", number % 30), "status": "open", "note": "secretly", "total": f64::from(number) }
}

/// Commands with values that must not appear in the output.
async fn commands(database: &Database) {
    let orders = database.collection::<Document>("orders");
    orders.insert_many((0..300).map(order)).await.unwrap();
    orders
        .create_index(
            mongodb::IndexModel::builder().keys(doc! { "customer": 1, "_id": -1 }).build(),
        )
        .await
        .unwrap();
    for number in 0..20 {
        let filter = doc! { "customer": format!("Miller-{number}") };
        let found = orders.find(filter.clone()).sort(doc! { "_id": -1 }).limit(5).await.unwrap();
        drop(found);
        orders
            .update_one(filter, doc! { "$set": { "note": "hidden", "status": "paid" } })
            .await
            .unwrap();
    }
    for _ in 0..3 {
        let mut cursor = orders.find(doc! {}).batch_size(50).await.unwrap();
        while cursor.advance().await.unwrap() {}
    }
    for number in 0..4 {
        let customer = format!("Miller-{number}");
        orders
            .update_many(
                doc! { "customer": { "$in": [&customer, "nobody"] } },
                doc! { "$inc": { "total": 2.5 } },
            )
            .await
            .unwrap();
        orders.replace_one(doc! { "_id": number }, order(number)).await.unwrap();
        orders.delete_one(doc! { "_id": 100 + number }).await.unwrap();
        orders.count_documents(doc! { "status": "paid" }).await.unwrap();
        orders.estimated_document_count().await.unwrap();
        orders.distinct("status", doc! { "customer": &customer }).await.unwrap();
        orders
            .find_one_and_update(
                doc! { "_id": number },
                doc! { "$push": { "tags": "confidential" } },
            )
            .await
            .unwrap();
        let stages = [
            doc! { "$match": { "status": "paid" } },
            doc! { "$group": { "_id": "$customer", "label": { "$first": "covert" }, "n": { "$sum": 1 } } },
        ];
        orders.aggregate(stages).await.unwrap();
        let one = doc! { "q": { "_id": number }, "u": { "$set": { "total": 9.5 } } };
        let update = doc! { "update": "orders", "updates": [one.clone(), one], "writeConcern": { "w": "majority" } };
        database.run_command(update).await.unwrap();
        let map = doc! { "mapReduce": "orders", "map": "function() { emit('covert', 1); }", "reduce": "function(key, all) { return all.length; }", "query": { "status": "paid" }, "out": { "inline": 1 } };
        database.run_command(map).await.unwrap();
        orders.insert_one(order(1_000 + number)).await.unwrap();
        // What fails, what the server asks itself and what is no work of an application.
        orders.insert_one(order(1_000 + number)).await.unwrap_err();
        database.run_command(doc! { "ping": 1 }).await.unwrap();
        database
            .run_command(doc! { "explain": { "find": "orders", "filter": { "note": "quietly" } } })
            .await
            .unwrap();
    }
}

async fn check_out(database: &Database, session: &mut ClientSession, number: i32, commits: bool) {
    let (orders, products) =
        (database.collection::<Document>("orders"), database.collection::<Document>("products"));
    session.start_transaction().await.unwrap();
    orders.insert_one(order(2_000 + number)).session(&mut *session).await.unwrap();
    let filter = doc! { "_id": number, "stock": { "$gte": 1 } };
    products
        .update_one(filter, doc! { "$inc": { "stock": -1 } })
        .session(&mut *session)
        .await
        .unwrap();
    products
        .find_one(doc! { "_id": number })
        .projection(doc! { "stock": 1 })
        .session(&mut *session)
        .await
        .unwrap();
    match commits {
        true => session.commit_transaction().await.unwrap(),
        false => session.abort_transaction().await.unwrap(),
    }
}

/// Calls, the median of the documents, that of the statements, and the form. Only the log shows the transaction; a profile has its update by itself instead,
/// and its other statements without the update.
const EXPECTED: &str = "4 20 1 {aggregate: orders, pipeline: [{$match: {status: <>}}, {$group: {_id: $customer, label: {$first: <>}, n: {$sum: <>}}}]}
4 1 1 {aggregate: orders, pipeline: [{$match: {status: <>}}, {$group: {_id: <>, n: {$sum: <>}}}]}
4 0 1 {count: orders}
4 1 1 {delete: orders, filter: {_id: <>}}
4 0 1 {distinct: orders, field: status, filter: {customer: <>}}
20 5 1 {find: orders, filter: {customer: <>}, sort: {_id: -1}, limit: 5}
3 300 1 {find: orders}
4 1 1 {find_and_modify: orders, filter: {_id: <>}, change: {$push: {tags: <>}}}
5 1 1 {insert: orders}
1 9 1 {insert: products}
4 0 1 {mapReduce: orders}
8 3 3 {transaction: [{insert: orders}, {update: products, filter: {_id: <>, stock: {$gte: <>}}, change: {$inc: {stock: <>}}}, {find: products, filter: {_id: <>}, limit: 1, project: {stock: 1}}]}
8 1 2 {update: orders, filter: {_id: <>}, change: {$set: {total: <>}}}
4 1 1 {update: orders, filter: {_id: <>}, set: '*'}
20 1 1 {update: orders, filter: {customer: <>}, change: {$set: {note: <>, status: <>}}}
4 10 1 {update: orders, filter: {customer: {$in: [<>]}}, change: {$inc: {total: <>}}, many: true}
9 1 1 {update: products, filter: {_id: <>, stock: {$gte: <>}}, change: {$inc: {stock: <>}}}";

#[test]
fn log_and_profile_tell_the_same() {
    needs!([Need::Server("mongod")]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (server, uri) = replica_set(&["--slowms=-1", "--profile=2"]);
    let (log, profile) = runtime.block_on(async {
        let database = Client::with_uri_str(uri).await.unwrap().database("shop");
        commands(&database).await;
        let products = database.collection::<Document>("products");
        let stock = (0..9).map(|number| doc! { "_id": number, "stock": 10 });
        products.insert_many(stock).await.unwrap();
        let mut session = database.client().start_session().await.unwrap();
        for number in 0..9 {
            check_out(&database, &mut session, number, number != 4).await;
        }
        let profile = all_of(&database, "system.profile", doc! {}).await;
        (server.log(), profile)
    });
    let from_profile = shapes(profile.iter().filter_map(Call::of_profile), &shop());
    let mut calls = log::calls(log.as_bytes()).unwrap();
    let from_log = shapes(&mut calls, &shop());
    assert_eq!(calls.skipped(), Skipped::default());
    let found =
        |shapes: &[Shape], form: &str| shapes.iter().find(|shape| shape.form == form).cloned();
    for line in EXPECTED.lines() {
        let [calls, returned, statements, form] = *line.splitn(4, ' ').collect::<Vec<_>>() else {
            panic!("{line}")
        };
        let (log, profile) = (found(&from_log, form), found(&from_profile, form));
        if let Some(log) = &log {
            let figures = [log.calls as f64, log.returned.median, log.statements.median];
            assert_eq!(
                figures.map(|figure| figure.to_string()),
                [calls, returned, statements],
                "{form}"
            );
        }
        let figures = |shape: Shape| {
            (
                shape.calls,
                shape.plans,
                shape.keys_examined,
                shape.documents_examined,
                shape.returned,
            )
        };
        match (log, profile) {
            (Some(log), Some(profile)) => assert_eq!(figures(log), figures(profile), "{form}"),
            (Some(_), None) => assert_contains(form, "transaction"),
            (None, profile) => assert_eq!(
                profile.map(|shape| shape.calls.to_string()).as_deref(),
                Some(calls),
                "{form}"
            ),
        }
    }
    let count = EXPECTED.lines().count();
    assert_eq!(
        (from_log.len(), from_profile.len()),
        (count - 1, count),
        "{from_log:#?} {from_profile:#?}"
    );
    let parted = from_profile.iter().find(|shape| shape.form.contains("transaction")).unwrap();
    assert_contains(&parted.remarks[0], "no commit was seen");
    let observed = Observed { shapes: from_log, collections: shop(), ..Observed::default() };
    let section = write(&observed);
    checked(&observed, &section);
    let [omitted] = section.omitted.as_slice() else { panic!("{section:?}") };
    assert_contains(omitted, "left out: an experiment file has no `mapReduce`");
    let all = format!("{observed:?}{from_profile:?}{section:?}");
    let literals = "Miller secretly hidden paid nobody confidential covert quietly open";
    for literal in literals.split(' ') {
        assert!(!all.contains(literal), "{literal}");
    }
}
