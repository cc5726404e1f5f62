use crate::it::laboratory::{
    DATABASE, NOTHING_IS_SLOW, loaded, mean_sizes, plan, replica_set, seen, send, texts,
};
use crate::{Observed, Request, Source, Stored, observe, rename, write};
use mongodb::bson::{DateTime, Document, doc};
use plimsoll_record::quantities::units;
use plimsoll_testing::servers::{Kind, Server};
use plimsoll_testing::{Need, assert_contains, needs};
use plimsoll_workload::documents::Literal;
use std::path::Path;
use std::time::Duration;

/// A web shop: references, a city that tells its country, lists, unique, sparse and partial indexes.
pub const SHOP: &str = "
plimsoll: 1
name: shop
workload:
  collections:
    customers:
      records: 3k
      document:
        _id: {int: sequence}
        email: {text: 24, unique: true}
        country: {choice: {Germany: 40%, France: 25%, Italy: 20%, elsewhere: 15%}}
        city: {text: 12, distinct: 60, follows: country}
        address: {document: {street: {text: 20}, zone: {text: 9, distinct: 40}}}
        spent: {decimal: {lognormal: {median: 80, p99: 2000}}, digits: 2}
        coupon: {text: 16, unique: true, present: 30%}
        gold: {bool: 12%}
      indexes: [{keys: {email: 1}, unique: true}, {keys: {coupon: 1}, unique: true, sparse: true}, {country: 1, city: 1}]
    products:
      records: 800
      document: {_id: {uuid: }, category: {text: 10, distinct: 90, skew: zipfian}, price: {double: {uniform: [1, 90]}, digits: 2}, stock: {int: {uniform: [0, 5000]}}}
      indexes: [{category: 1, price: 1}]
    orders:
      records: 8k
      document:
        _id: {object_id: }
        customer: {key_of: customers, skew: zipfian}
        placed: {date: {every: 15s, until: 2026-06-30}}
        status: {choice: {opened: 5%, settled: 15%, shipped: 80%}}
        note: {text: {uniform: [20, 60]}}
        body: {text: {lognormal: {median: 700B, p99: 2kB}}, compressible: 60%}
        items: {list: {product: {key_of: products}, quantity: {int: {uniform: [1, 4]}, distinct: 4}}, length: {table: {p0: 1, p50: 2, p90: 5, p100: 20}}}
      indexes: [{customer: 1, placed: -1}, {keys: {placed: 1}, only: {status: settled}}]
  operations: {log-in: {find: customers, by: email}}
  mixes: {day: {log-in: 1}}
defaults: {engine: mongodb}
arms: {one: {}}
load: {closed: {threads: 1}}
";

fn collection<'a>(observed: &'a Observed, name: &str) -> &'a Stored {
    observed.collections.iter().find(|stored| stored.name == name).unwrap()
}

fn generator<'a>(stored: &'a Stored, path: &str) -> &'a Literal {
    let field = stored.fields.iter().find(|field| field.path == path);
    field.unwrap_or_else(|| panic!("no {path}")).generator.as_ref().unwrap()
}

fn said(stored: &Stored, path: &str) -> String {
    generator(stored, path).to_string()
}

/// A number below these keys of a generator.
fn figure(stored: &Stored, path: &str, keys: &[&str]) -> f64 {
    let found = keys.iter().fold(generator(stored, path), |value, key| {
        value.get(key).unwrap_or_else(|| panic!("no {key} in {value}"))
    });
    found.to_string().trim_end_matches('%').parse().unwrap()
}

#[track_caller]
fn assert_about(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within * expected, "{found} is not {expected}");
}

/// The file is valid, its documents are as long as those of the server, and no text of the server is in it.
fn assert_imitates(server: &Server, observed: &Observed) -> String {
    let text = write(observed, None);
    plan(&text);
    for (name, mean) in mean_sizes(&text) {
        let stored = collection(observed, &name);
        assert_about(mean, stored.bytes as f64 / stored.documents as f64, 0.15);
    }
    for stored in &observed.collections {
        for value in texts(server, &stored.name) {
            assert!(!text.contains(&value), "{value}\n{text}");
        }
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.chars().count() <= 200, "{line}");
    }
    text
}

#[test]
fn a_web_shop_is_described_as_it_was() {
    needs!([Need::Server("mongod")]);
    let server = loaded(SHOP);
    let find = |number: i32| doc! { "find": "orders", "filter": { "customer": number } };
    send(&server.uri(), DATABASE, &(0..20).map(find).collect::<Vec<_>>());
    let observed = seen(&server.uri());
    assert_eq!((observed.database.as_str(), observed.server.members), (DATABASE, 0));
    assert_eq!(observed.server.cache_bytes, Some(256 << 20));
    assert_eq!(observed.omitted, [""; 0]);
    let names: Vec<&str> = observed.collections.iter().map(|stored| stored.name.as_str()).collect();
    assert_eq!(names, ["orders", "customers", "products"]);
    let customers = collection(&observed, "customers");
    assert_eq!(said(customers, "_id"), "{int: sequence}");
    assert_eq!(said(customers, "email"), "{text: 24, unique: true}");
    assert_contains(said(customers, "city"), "distinct: 60, follows: country}");
    assert_contains(said(customers, "spent"), "{decimal: {table: ");
    assert_eq!(figure(customers, "spent", &["digits"]), 2.0);
    assert_contains(said(customers, "address"), "zone: {text: 9, distinct: 40}");
    assert_about(figure(customers, "coupon", &["present"]), 30.0, 0.15);
    assert_about(figure(customers, "gold", &["bool"]), 12.0, 0.35);

    let products = collection(&observed, "products");
    assert_eq!(products.sampled, 800);
    assert_eq!(said(products, "_id"), "{uuid: null}");
    assert_about(figure(products, "category", &["distinct"]), 90.0, 0.04);
    assert_contains(said(products, "price"), "{double: {table: {p0: ");
    assert_contains(said(products, "stock"), "{int: {table: {p0: ");

    let orders = collection(&observed, "orders");
    assert_eq!((orders.documents, orders.indexes[0].uses), (8_000, Some(20)));
    assert_eq!(said(orders, "_id"), "{object_id: null}");
    assert_contains(said(orders, "customer"), "{key_of: customers");
    assert_contains(said(orders, "customer"), "skew: zipfian");
    assert_eq!(said(orders, "placed"), "{date: {every: 15s, until: 2026-06-30}}");
    // The most frequent first, and as long as `shipped`, `settled` and `opened`.
    for (value, share, sd) in [("v1xxxxx", 80.0, 1.3), ("v2xxxxx", 15.0, 1.2), ("v3xxxx", 5.0, 0.7)]
    {
        let found = figure(orders, "status", &["choice", value]);
        assert!((found - share).abs() < 4.0 * sd, "{value}: {found}");
    }
    for (point, expected) in [("p0", 20.0), ("p50", 40.0), ("p100", 60.0)] {
        assert_about(figure(orders, "note", &["text", "table", point]), expected, 0.1);
    }
    assert_about(figure(orders, "body", &["text", "table", "p50"]), 700.0, 0.1);
    assert_about(figure(orders, "body", &["compressible"]), 60.0, 0.1);
    let items = said(orders, "items");
    assert_contains(&items, "{list: {document: {product: {key_of: products");
    assert_contains(&items, "quantity: {int: {uniform: [1, 4]}, distinct: 4}}}, length: ");
    for (name, expected) in [
        (
            "customers",
            &[
                "{keys: {email: 1}, unique: true}",
                "{keys: {coupon: 1}, unique: true, sparse: true}",
                "{country: 1, city: 1}",
            ][..],
        ),
        ("products", &["{category: 1, price: 1}"]),
        // `settled` is the second most frequent status.
        ("orders", &["{customer: 1, placed: -1}", "{keys: {placed: 1}, only: {status: v2xxxxx}}"]),
    ] {
        let indexes = &collection(&observed, name).indexes;
        let found: Vec<String> = indexes.iter().map(|index| index.spec.to_string()).collect();
        assert_eq!(found, expected);
    }
    let text = assert_imitates(&server, &observed);
    let guessed = "by: customer, sort: {placed: -1}, limit: 100} # guessed: no operation was seen";
    assert_contains(&text, guessed);
    // The values of unique fields are, and a second look finds the same.
    let copy = seen(&loaded(&text).uri());
    for stored in &observed.collections {
        let copied = collection(&copy, &stored.name);
        let mean = |stored: &Stored| stored.bytes as f64 / stored.documents as f64;
        assert_eq!(copied.documents, stored.documents);
        assert_about(mean(copied), mean(stored), 0.15);
        let specs = |stored: &Stored| {
            stored.indexes.iter().map(|index| index.spec.clone()).collect::<Vec<_>>()
        };
        assert_eq!(specs(copied), specs(stored));
    }
}

/// Measurements of the last minutes, and sessions that expire.
const CLOCKED: &str = "
plimsoll: 1
name: clocked
workload:
  collections:
    readings:
      records: 20k
      time_series: {time: at, meta: device, granularity: minutes}
      expire_after: 24h
      document:
        at: {date: {every: 50ms, until: now}}
        device: {document: {id: {int: sequence, distinct: 40}, site: {text: 6, distinct: 5, follows: id}}}
        temperature: {double: {normal: {mean: 21, deviation: 4}}, digits: 1}
      indexes: [{device.id: 1, at: -1}]
    sessions:
      records: 3k
      document: {_id: {uuid: }, seen: {date: {every: 400ms, until: now}}, user: {text: 8, distinct: 300}}
      indexes: [{keys: {seen: 1}, expire_after: 30m}]
  operations: {of-user: {find: sessions, by: _id}}
  mixes: {day: {of-user: 1}}
defaults: {engine: mongodb}
arms: {one: {}}
load: {closed: {threads: 1}}
";

/// Both advance with the clock, and a server under the written file has as many.
#[test]
fn measurements_and_expiring_documents_follow_the_clock() {
    needs!([Need::Server("mongod")]);
    let server = loaded(CLOCKED);
    let uri = server.uri();
    let event =
        |number: i64| doc! { "_id": number, "t": DateTime::from_millis(number), "text": "a text" };
    let events = doc! { "insert": "events", "documents": (0..20).map(event).collect::<Vec<_>>() };
    let series = doc! { "timeField": "t", "metaField": "m" };
    send(&uri, DATABASE, &[doc! { "create": "events", "timeseries": series }, events]);
    send(&uri, DATABASE, &[doc! { "profile": 0, "slowms": -1 }]);
    let find = |number: i32| doc! { "find": "readings", "filter": { "device.id": number % 40 }, "sort": { "at": -1 }, "limit": 10 };
    let reading = |number: i32| doc! { "at": DateTime::now(), "device": { "id": number, "site": "abcdef" }, "temperature": 20.5 };
    let insert = |number: i32| doc! { "insert": "readings", "documents": [reading(number)] };
    let group = doc! { "$group": { "_id": "$device.site", "mean": { "$avg": "$temperature" } } };
    let recent = doc! { "$match": { "at": { "$gte": DateTime::from_millis(DateTime::now().timestamp_millis() - 60_000) } } };
    let aggregate = |_| doc! { "aggregate": "readings", "pipeline": [recent.clone(), group.clone()], "cursor": {} };
    let sent = (0..30).map(find).chain((0..20).map(insert)).chain((0..10).map(aggregate));
    send(&uri, DATABASE, &sent.collect::<Vec<_>>());
    send(&uri, DATABASE, &[doc! { "profile": 0, "slowms": 1_000 }]);
    let path = server.directory().join("server.log");
    let request = Request { uri: &uri, database: None, log: Some(&path), watch: Duration::ZERO };
    let mut observed = observe(&request, &mut |_| {}).unwrap();
    assert_eq!(observed.omitted, [""; 0]);
    let readings = collection(&observed, "readings");
    assert_about(readings.documents as f64, 20_020.0, 0.05);
    let settings: Vec<String> =
        readings.settings.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    assert_eq!(
        settings,
        ["time_series: {time: at, meta: device, granularity: minutes}", "expire_after: 1d"]
    );
    assert_eq!(said(readings, "at"), "{date: {every: 50ms, until: now}}");
    assert_contains(said(readings, "device"), "distinct: 40");
    // No measurement has the other field.
    let (_, series) = &collection(&observed, "events").settings[0];
    assert_eq!(series.to_string(), "{time: t, granularity: seconds}");
    let sessions = collection(&observed, "sessions");
    assert_eq!(said(sessions, "seen"), "{date: {every: 400ms, until: now}}");
    assert_eq!(sessions.indexes[0].spec.to_string(), "{keys: {seen: 1}, expire_after: 30m}");
    let text = assert_imitates(&server, &observed);
    assert_contains(&text, "readings-by-device_id: {find: readings, by: device.id");
    let ago = text.split("at: {ago: ").nth(1).and_then(|rest| rest.split(", of: at}").next());
    // A minute, and what passed until the server was asked.
    let ago = units::parse_duration(ago.unwrap()).unwrap() / 1_000_000_000;
    assert!((59..180).contains(&ago), "{ago}");
    assert_contains(&text, "readings-insert: {insert: readings");
    let copy = seen(&loaded(&text).uri());
    assert_about(collection(&copy, "readings").documents as f64, 20_000.0, 0.05);
    // Servers do not update measurements.
    let guessed = write(&copy, None);
    plan(&guessed);
    assert!(
        guessed.contains("update-sessions") && !guessed.contains("update-readings"),
        "{guessed}"
    );
    rename(&mut observed);
    let renamed = write(&observed, None);
    plan(&renamed);
    assert_contains(&renamed, "time_series: {time: c1_f1, meta: c1_f2, granularity: minutes}");
}

/// The server counts what is written, and holds no collection more than before.
#[test]
fn nothing_is_written_to_the_server() {
    needs!([Need::Server("mongod")]);
    let server = loaded(SHOP);
    let state = || {
        let status = send(&server.uri(), "admin", &[doc! { "serverStatus": 1 }]).remove(0);
        let counters = status.get_document("opcounters").unwrap().clone();
        let writes = ["insert", "update", "delete"].map(|name| counters.get(name).cloned());
        let listed = doc! { "listCollections": 1, "nameOnly": true };
        let listed = send(&server.uri(), DATABASE, &[listed]).remove(0);
        (writes, listed.get_document("cursor").unwrap().clone())
    };
    let before = state();
    let observed = seen(&server.uri());
    assert_eq!(state(), before);
    // The command by which values are counted reads one key of the index for each.
    let groups = [doc! { "$group": { "_id": "$category" } }];
    let count = doc! { "aggregate": "products", "pipeline": groups, "hint": "category_1_price_1", "cursor": {} };
    let explained =
        send(&server.uri(), DATABASE, &[doc! { "explain": count, "verbosity": "queryPlanner" }]);
    assert_contains(&explained[0], "DISTINCT_SCAN");
    // Nothing else asked for anything meanwhile.
    assert_eq!(observed.server.rates.len(), 4);
    assert!(observed.server.rates[1..].iter().all(|(_, rate)| *rate == 0.0));
}

/// Views, capped and empty collections are no documents to imitate; of validators only the name is told.
#[test]
fn what_cannot_be_imitated_is_told() {
    needs!([Need::Server("mongod")]);
    let server = Server::start_with(Kind::Mongod, &[NOTHING_IS_SLOW]);
    let insert = |name: &str| doc! { "insert": name, "documents": (0..40).map(|number| doc! { "n": number, "t": "text" }).collect::<Vec<_>>() };
    send(
        &server.uri(),
        DATABASE,
        &[
            doc! { "create": "plain", "validator": { "n": { "$lt": 4711 } }, "storageEngine": { "wiredTiger": { "configString": "block_compressor=zlib" } } },
            insert("plain"),
            doc! { "createIndexes": "plain", "indexes": [{ "key": { "n": 1 }, "name": "mine", "partialFilterExpression": { "n": { "$gt": 4711 } } }, { "key": { "t": "text" }, "name": "words" }] },
            doc! { "create": "view", "viewOn": "plain", "pipeline": [] },
            doc! { "create": "ring", "capped": true, "size": 4096 },
            insert("ring"),
            doc! { "create": "empty" },
        ],
    );
    send(&server.uri(), "other", &[insert("small")]);
    let request =
        Request { uri: &server.uri(), database: Some(DATABASE), log: None, watch: Duration::ZERO };
    let mut steps = Vec::new();
    let observed = observe(&request, &mut |line| steps.push(line.to_owned())).unwrap();
    assert_eq!(steps[0], "shop.plain: 40 of 40 documents read");
    assert_contains(&steps[1], "no operation was seen, so operations are guessed");
    let mut omitted = observed.omitted.clone();
    omitted.sort();
    assert_eq!(
        omitted,
        [
            "empty: it is empty",
            "ring: capped collections are not supported",
            "view: views hold no documents"
        ]
    );
    let plain = &observed.collections[0];
    assert_eq!(
        plain.omitted,
        [
            "index mine: its partial filter has values that do not leave the server",
            "index words: text, geo and hashed indexes are left out",
            "option validator: options may hold values",
        ]
    );
    let [(key, options)] = plain.settings.as_slice() else { panic!("{plain:?}") };
    assert_eq!(key, "options");
    let zlib = "{storageEngine: {wiredTiger: {configString: 'block_compressor=zlib'}}}";
    assert_eq!(options.to_string(), zlib);
    let text = write(&observed, None);
    plan(&text);
    assert!(!text.contains("4711"), "{text}");

    let nothing =
        Request { uri: &server.uri(), database: Some("none"), log: None, watch: Duration::ZERO };
    let why = observe(&nothing, &mut |_| {}).unwrap_err();
    assert_contains(why, "the database none has no collection that can be imitated");
}

/// A user with the role read and nothing else.
#[test]
fn what_the_user_may_not_do_is_left_out() {
    needs!([Need::Server("mongod")]);
    let server = Server::start_with(Kind::Mongod, &["--auth"]);
    let user = |name: &str, role: Document| doc! { "createUser": name, "pwd": "geheim-77", "roles": [role] };
    send(&server.uri(), "admin", &[user("root", doc! { "role": "root", "db": "admin" })]);
    let uri = |name: &str| {
        server.uri().replace("127.0.0.1", &format!("{name}:geheim-77@127.0.0.1"))
            + "?authSource=admin"
    };
    let documents: Vec<Document> = (0..40).map(|number| doc! { "n": number }).collect();
    send(&uri("root"), DATABASE, &[doc! { "insert": "plain", "documents": documents }]);
    send(&uri("root"), "admin", &[user("reader", doc! { "role": "read", "db": DATABASE })]);
    let observed = seen(&uri("reader"));
    assert_eq!(observed.collections[0].documents, 40);
    assert_eq!(observed.server.cache_bytes, None);
    for refused in ["serverStatus", "hostInfo", "aggregate on plain"] {
        let note = format!("{refused}: the user may not send it");
        assert!(observed.omitted.contains(&note), "{note}: {:?}", observed.omitted);
    }
    plan(&write(&observed, None));
    let stranger = uri("reader").replace("geheim-77", "geheim-78");
    let request = Request { uri: &stranger, database: None, log: None, watch: Duration::ZERO };
    let why = observe(&request, &mut |_| {}).unwrap_err().to_string();
    assert!(!why.contains("geheim"), "{why}");
}

/// 30 finds of a customer's newest orders and 10 changes of a status, by the profiler and by the server's log.
#[test]
fn operations_are_those_that_the_server_reports() {
    needs!([Need::Server("mongod")]);
    let server = loaded(SHOP);
    let uri = server.uri();
    send(&uri, DATABASE, &[doc! { "profile": 2, "slowms": -1 }]);
    let find = |number: i32| doc! { "find": "orders", "filter": { "customer": number }, "sort": { "placed": -1 }, "limit": 10 };
    let update = |number: i32| doc! { "update": "orders", "updates": [{ "q": { "customer": number }, "u": { "$set": { "status": "returned" } } }] };
    let group = doc! { "$group": { "_id": "$status", "revenue": { "$sum": 1 } } };
    let stages = [group, doc! { "$sort": { "revenue": -1 } }];
    let aggregate = doc! { "aggregate": "orders", "pipeline": stages.to_vec(), "cursor": {} };
    // By the partial index. As few documents as these have the rarest status.
    let settled = doc! { "find": "orders", "filter": { "status": "settled", "placed": { "$gte": DateTime::from_millis(0) } }, "limit": 5 };
    let sent = (0..30).map(find).chain((0..10).map(update)).chain([aggregate]);
    let sent: Vec<Document> = sent.chain(std::iter::repeat_n(settled, 12)).collect();
    send(&uri, DATABASE, &sent);
    send(&uri, DATABASE, &[doc! { "profile": 0, "slowms": 1_000 }]);
    let path = server.directory().join("server.log");
    for (log, source) in [(None, Source::Profile), (Some(path.as_path()), Source::LogFile)] {
        let request = Request { uri: &uri, database: None, log, watch: Duration::ZERO };
        let mut observed = observe(&request, &mut |_| {}).unwrap();
        assert_eq!(observed.source, source);
        // The log has the load as well, slower than 100 ms or not.
        let calls = |kind: &str| {
            let of_kind = observed.shapes.iter().filter(|shape| {
                shape.operation.get(kind).is_some() && shape.namespace == "shop.orders"
            });
            of_kind.map(|shape| shape.calls).sum::<u64>()
        };
        assert_eq!((calls("find"), calls("update")), (42, 10), "{:?}", observed.shapes);
        let text = assert_imitates(&server, &observed);
        assert_contains(&text, "by: customer");
        assert_contains(&text, "{keys: {placed: 1}, only: {status: v2xxxxx}}");
        assert_contains(&text, "filter: {placed: {$gte: <placed>}, status: v2xxxxx}");
        assert_contains(&text, "sort: {placed: -1}, limit: 10");
        assert_contains(&text, "$group: {_id: $status, revenue: {$sum: 1}}");
        assert!(!text.contains("guessed") && !text.contains("returned"), "{text}");
        rename(&mut observed);
        let renamed = write(&observed, Some(0.5));
        plan(&renamed);
        let names = "shop customer placed status orders revenue products email country items";
        for name in names.split(' ') {
            assert!(!renamed.contains(name), "{name}\n{renamed}");
        }
        assert_contains(&renamed, "{key_of: c2");
        assert_contains(&renamed, "follows: c2_f2");
    }
    // Nothing listens there, but the log is opened first.
    let request = Request {
        uri: "mongodb://127.0.0.1:1/",
        database: None,
        log: Some(Path::new("/no/such.log")),
        watch: Duration::ZERO,
    };
    assert_contains(observe(&request, &mut |_| {}).unwrap_err(), "/no/such.log: ");
}

/// Documents are read from a secondary where there is one; a set of one member has only its primary.
#[test]
fn a_replica_set_is_imitated_by_one() {
    needs!([Need::Server("mongod")]);
    let (_server, uri) = replica_set(&[]);
    let documents: Vec<Document> = (0..40).map(|number| doc! { "n": number }).collect();
    send(&uri, DATABASE, &[doc! { "insert": "plain", "documents": documents }]);
    let observed = seen(&uri);
    assert_eq!((observed.server.members, observed.collections[0].documents), (1, 40));
    let text = write(&observed, None);
    assert_contains(&text, "  server: {replica_set: true}");
    plan(&text);
}
