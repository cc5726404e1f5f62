//! Measurements in a time series: loaded, found as predicted, explained, and dropped only where this program made it.

use crate::it::collections::Other;
use crate::it::documents::{load, open_for, prove, send, workload};
use crate::it::laboratory::{settings, text};
use crate::it::server::{Kind, Server};
use crate::{Opening, open};
use bson::doc;
use plimsoll_record::StatementKind;
use plimsoll_testing::{Need, needs};
use plimsoll_workload::documents::DocumentsSpec;
use plimsoll_workload::{DataSpec, KeySpace, Mix};

fn readings(expire_after: &str) -> DocumentsSpec {
    let collections = r#"{"readings": {"records": 6000, "time_series": {"time": "at", "meta": "device", "granularity": "seconds"}, EXPIRES
        "document": {
          "at": {"date": {"every": "100ms", "until": "2026-01-01"}},
          "device": {"document": {"id": {"int": "sequence", "distinct": 40}, "site": {"text": 6, "distinct": 8, "follows": "id"}}},
          "temperature": {"double": {"normal": {"mean": 21, "deviation": 4}}, "digits": 1}},
        "indexes": [{"device.id": 1, "at": -1}]}}"#;
    let collections = collections.replace("EXPIRES", expire_after);
    let operations = r#"{"ingest": {"insert": "readings", "documents": 50},
        "latest": {"find": "readings", "by": "device.id", "sort": {"at": -1}, "limit": 1},
        "of-device": {"count": "readings", "by": "device.id"},
        "of-site": {"count": "readings", "by": "device.site"},
        "span": {"count": "readings", "filter": {"at": {"$gte": "<t.from>", "$lt": "<t.to>"}}, "with": {"t": {"range_of": "at", "documents": 70}}},
        "chart": {"aggregate": "readings", "pipeline": [{"$match": {"device.id": "<d>", "at": {"$gte": "<since>"}}},
            {"$group": {"_id": {"$dateTrunc": {"date": "$at", "unit": "minute"}}, "mean": {"$avg": "$temperature"}}}],
          "with": {"d": {"value_of": "device.id"}, "since": {"ago": "5m"}}}}"#;
    let read = |text: &str| serde_json::from_str(text).unwrap();
    let spec = DocumentsSpec::new(7, read(&collections), read(operations));
    assert_eq!(spec.problems(), []);
    spec
}

fn all_of(spec: &DocumentsSpec) -> Mix {
    let operations = spec.operations().into_iter().map(|own| (own, 1.0)).collect();
    Mix { operations, ..Mix::named("all") }
}

#[test]
fn measurements_are_found_as_predicted_and_kept_in_buckets() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    // The second time, what the first one left is dropped.
    for expires in ["", r#""expire_after": "87600h","#] {
        let spec = readings(expires);
        let engine = open_for(&server, &spec);
        let key_space = KeySpace::new(&DataSpec::with_documents(spec.clone())).unwrap();
        load(&*engine, &key_space, 2);
        assert_eq!(engine.count().unwrap(), Some(6_000));
        let mut session = engine.session().unwrap();
        let all = workload(&key_space, &spec, |kind| kind != StatementKind::Insert);
        // What expires is not predicted.
        let is_predicted = expires.is_empty();
        if is_predicted {
            let exact = prove(&mut all.generator(0), &mut *session, 300);
            assert!(
                exact.keys().copied().eq(["latest", "of-device", "of-site", "span"]),
                "{exact:?}"
            );
        }
        let inserts = workload(&key_space, &spec, |kind| kind == StatementKind::Insert);
        let mut generator = inserts.generator(0);
        for _ in 0..120 {
            send(&mut generator, &mut *session);
        }
        assert_eq!(engine.count().unwrap(), Some(12_000));
        if is_predicted {
            prove(&mut all.generator(1), &mut *session, 300);
        }
        let listed = Other::of(&server)
            .run(&doc! { "listCollections": 1, "filter": { "name": "readings" } });
        let options = listed.get_document("cursor").unwrap().get_array("firstBatch").unwrap()[0]
            .as_document()
            .unwrap()
            .get_document("options")
            .unwrap()
            .clone();
        assert_eq!(
            options.get_document("timeseries").unwrap().get_str("metaField").unwrap(),
            "device"
        );
        assert_eq!(options.contains_key("expireAfterSeconds"), !expires.is_empty());
        let mixes = [all_of(&spec)];
        let state = engine.application(&key_space.samples(&mixes, 1, 3).unwrap()).unwrap();
        let [readings] = &state.collections[..] else { panic!() };
        assert_eq!(readings.documents, 12_000);
        // One for each of 40 devices; of the six commands of the load each may open others, where two sessions come out of order.
        let held = readings.measurements_per_bucket.unwrap();
        assert!((40.0..=300.0).contains(&held), "{held}");
        let index =
            readings.indexes.iter().find(|index| index.name == "device.id_1_at_-1").unwrap();
        assert!(
            index.bytes > 0 && index.uses.is_some_and(|uses| uses > 0 || !is_predicted),
            "{index:?}"
        );
        let plan = |name: &str| {
            let of_name = state.operations.iter().find(|plan| plan.operation.name() == name);
            of_name.unwrap_or_else(|| panic!("{name}: {:?}", state.operations)).clone()
        };
        let chart = plan("chart");
        assert!(
            chart.refused.is_none() && chart.stages[0].starts_with("IXSCAN device.id_1_at_-1"),
            "{chart:?}"
        );
        assert!(!chart.scans_collection && plan("of-site").scans_collection);
        drop(session);
        engine.close().unwrap();
    }
}

/// A time series of another program is left alone, filled or empty.
#[test]
fn time_series_of_others_stay() {
    needs!([Need::Server("mongod")]);
    let server = Server::start(Kind::Mongod);
    let mut other = Other::of(&server);
    other.run(&doc! { "create": "readings", "timeseries": { "timeField": "t" } });
    let opened = |existing: &str| {
        let spec = readings("");
        let settings = settings(&[("uri", text(&server.uri())), ("existing", text(existing))]);
        let data = DataSpec::with_documents(spec.clone());
        let collections = spec.collections();
        let opening = Opening { collections: &collections, ..Opening::new(&settings, &data) };
        open("mongodb", &opening).err().unwrap().to_string()
    };
    assert!(opened("drop").contains("it is not this program's to drop"), "{}", opened("drop"));
    let measured = doc! { "t": bson::DateTime::now(), "x": 3 };
    other.run(&doc! { "insert": "readings", "documents": [measured] });
    assert!(opened("drop").contains("that this program did not load"), "{}", opened("drop"));
    let count = doc! { "aggregate": "readings", "pipeline": [{ "$count": "n" }], "cursor": {} };
    let reply = other.run(&count);
    let batch = reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
    assert_eq!(batch[0].as_document().unwrap().get_i32("n").unwrap(), 1);
}
