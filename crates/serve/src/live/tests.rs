use super::picture::Picture;
use crate::tests::{TestServer, experiment, place, run};
use axum::body::{Body, BodyDataStream};
use axum::http::{Request, StatusCode, header};
use futures_util::{StreamExt, stream};
use plimsoll_plan::{EngineKind, server_preset};
use plimsoll_record::{
    Completed, Disturbance, EventRecord, Histogram, HostPoint, Latencies, LoadKind, Operation,
    OperationSlice, PointEnd, PointLabel, RunState, Slice, Status,
};
use plimsoll_store::{PointId, RunId, Store};
use plimsoll_testing::{assert_contains, assert_ends, assert_starts};
use serde_json::{Value, json};

fn label() -> PointLabel {
    PointLabel {
        point: Some(0),
        mix: "A".to_owned(),
        load_label: "8 threads".to_owned(),
        load: LoadKind::Closed { sessions: 8, think_time_ns: 0, target: None },
        trial: None,
    }
}

fn begin_point(writer: &mut Store, run: RunId, warm_up_ns: u64) -> PointId {
    let begun = writer.begin_point(run, &label(), warm_up_ns, "2026-11-21T03:44:02Z");
    begun.unwrap()
}

/// A second with this many reads of a millisecond each.
fn slice(index: u32, reads: u64, warm_up: bool) -> Slice {
    let mut service = Histogram::new();
    service.record_n(1_000_000, reads);
    Slice {
        index,
        start_ns: u64::from(index) * 1_000_000_000,
        length_ns: 1_000_000_000,
        warm_up,
        completed: Completed { ok: reads, ..Completed::default() },
        operations: vec![OperationSlice {
            operation: Operation::Read,
            status: Status::Ok,
            latencies: Latencies { service, open: None },
        }],
        ..Slice::default()
    }
}

/// The events of a stream, one after the other.
struct Events {
    body: BodyDataStream,
    rest: String,
}

impl Events {
    async fn of(place: &TestServer, id: &str) -> Self {
        let request = Request::get(format!("/experiment/{id}/live"))
            .header(header::HOST, "127.0.0.1")
            .body(Body::empty());
        let response = place.answer(request.unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
        let kind = &response.headers()[header::CONTENT_TYPE];
        assert_eq!(kind, "text/event-stream");
        Self { body: response.into_body().into_data_stream(), rest: String::new() }
    }

    /// Name and data of the next event; `None` at the end of the stream.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.rest.split_once("\n\n") {
                let of = |name: &str| {
                    let line = event.lines().find_map(|line| line.strip_prefix(name));
                    line.map(|value| value.trim_start().to_owned())
                };
                let found = of("event:").zip(of("data:"));
                self.rest = rest.to_owned();
                if let Some((name, data)) = found {
                    return Some((name, serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            let piece = self.body.next().await?.unwrap();
            self.rest.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    /// The next event that is so; others are passed over.
    async fn until(&mut self, so: impl Fn(&str, &Value) -> bool) -> Value {
        loop {
            let (name, data) = self.next().await.expect("the stream goes on");
            if so(&name, &data) {
                return data;
            }
        }
    }
}

#[tokio::test]
async fn a_run_is_followed_from_its_begin_to_its_end() {
    let place = place();
    let mut writer = place.store();
    writer.begin(&experiment("9b2c")).unwrap();
    let mut events = Events::of(&place, "9b2c").await;
    let (name, whole) = events.next().await.unwrap();
    assert_eq!(name, "snapshot");
    assert_eq!(whole["arms"], serde_json::json!(["small", "large"]));
    assert_eq!(whole["runs_planned"], 4);
    assert_eq!(whole["now"], Value::Null);
    assert!(whole["left_seconds"].as_f64().unwrap() > 0.0);

    let mut head = run("large", 0);
    let key = writer.begin_run("9b2c", &head).unwrap();
    let begun = events.until(|_, data| !data["runs"].is_null()).await;
    let going = serde_json::json!({"block": 0, "arm": 1, "state": "going"});
    assert_eq!(begun["runs"][0], going);
    assert_eq!(begun["now"]["run"], 2);
    assert_eq!(begun["now"]["phase"], "prepare");

    let point = begin_point(&mut writer, key, 1_000_000_000);
    writer.add_slice(point, &slice(0, 500, true)).unwrap();
    let warm = events.until(|_, data| !data["seconds"].is_null()).await;
    assert_eq!(warm["seconds"][0]["phase"], "warm up");
    assert!(warm["points"].is_null(), "the warm-up is no result");
    writer.add_slice(point, &slice(1, 1_000, false)).unwrap();
    let measured = events.until(|_, data| !data["points"].is_null()).await;
    let result = &measured["points"][0];
    assert_eq!(result["load"], 8.0);
    assert_eq!(result["rate"], 1_000.0);
    let second = measured["seconds"][0].clone();
    assert_eq!(measured["now"]["second"], 1.0);

    // A late share makes the same second better.
    writer.add_slice(point, &slice(1, 200, false)).unwrap();
    let late = events.until(|_, data| !data["seconds"].is_null()).await;
    assert_eq!(late["seconds"][0]["key"], second["key"]);
    assert_eq!(late["seconds"][0]["rate"], 1_200.0);
    assert_eq!(late["points"][0]["rate"], 1_200.0);

    writer.end_point(point, &PointEnd::default()).unwrap();
    head.state = RunState::Finished;
    head.ended_at = Some("2026-11-21T03:44:09Z".to_owned());
    writer.update_run(key, &head).unwrap();
    let over = events.until(|_, data| data["runs_finished"] == 1).await;
    assert_eq!(over["runs"][0]["state"], "finished");

    // A viewer who comes now gets all of it, from the same follower.
    let mut late = Events::of(&place, "9b2c").await;
    let (name, whole) = late.next().await.unwrap();
    assert_eq!(name, "snapshot");
    assert_eq!(whole["runs_finished"], 1);
    assert_eq!(whole["seconds"].as_array().unwrap().len(), 2);
    assert_eq!(whole["points"].as_array().unwrap().len(), 1);
    assert_eq!(place.app.hub.followed(), 1);

    drop(writer);
    for mut stream in [events, late] {
        stream.until(|name, _| name == "end").await;
        assert!(stream.next().await.is_none());
    }
    assert_eq!(place.app.hub.followed(), 0);
}

#[tokio::test]
async fn nobody_is_followed_when_nobody_looks() {
    let place = place();
    let mut writer = place.store();
    writer.begin(&experiment("9b2c")).unwrap();
    let mut events = Events::of(&place, "9b2c").await;
    events.next().await.unwrap();
    assert_eq!(place.app.hub.followed(), 1);
    drop(events);
    while place.app.hub.followed() > 0 {
        tokio::task::yield_now().await;
    }
    // And a client that comes back gets everything again.
    let mut again = Events::of(&place, "9b2c").await;
    assert_eq!(again.next().await.unwrap().0, "snapshot");
}

#[tokio::test]
async fn streams_end_with_the_server_and_with_the_experiment() {
    let place = place();
    let mut writer = place.store();
    writer.begin(&experiment("9b2c")).unwrap();
    writer.import(experiment("over")).unwrap();
    let mut over = Events::of(&place, "over").await;
    assert_eq!(over.next().await.unwrap().0, "snapshot");
    // The follower's own first snapshot may come after that of who has just come.
    over.until(|name, _| name == "end").await;
    assert!(over.next().await.is_none());

    let mut events = Events::of(&place, "9b2c").await;
    events.next().await.unwrap();
    place.close.send(true).unwrap();
    while events.next().await.is_some() {}
}

/// The follower may have sent all and its end before a client takes the first snapshot.
#[tokio::test]
async fn an_end_that_came_before_the_snapshot_is_told() {
    let place = place();
    place.store().import(experiment("over")).unwrap();
    let looking = place.app.hub.look("over");
    let mut looking = looking.unwrap_or_else(|_| panic!("it is there"));
    while place.app.hub.followed() > 0 || looking.updates.len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(looking.snapshot().unwrap().1);
    let begin = super::Stage::Begin(looking, place.app.closing.clone());
    let events = stream::unfold(begin, super::next);
    assert_eq!(events.count().await, 2);
}

#[tokio::test]
async fn streams_are_limited() {
    let place = place();
    let mut writer = place.store();
    writer.begin(&experiment("9b2c")).unwrap();
    let mut all = Vec::new();
    for _ in 0..super::hub::MOST_STREAMS {
        all.push(Events::of(&place, "9b2c").await);
    }
    let refused = place.get("/experiment/9b2c/live").await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    all.pop();
    Events::of(&place, "9b2c").await;
}

/// What programs that watch get: only what goes on, and each time what is new.
#[tokio::test]
async fn metrics_tell_the_latest_slice_of_what_goes_on() {
    let place = place();
    let nothing = place.get("/metrics").await;
    assert_eq!(nothing.status, StatusCode::OK);
    assert_eq!(nothing.text, "# EOF\n");
    let mut writer = place.store();
    writer.import(experiment("over")).unwrap();
    writer.begin(&experiment("9b2c")).unwrap();
    let key = writer.begin_run("9b2c", &run("large", 0)).unwrap();
    let point = begin_point(&mut writer, key, 0);
    writer.add_slice(point, &slice(0, 500, false)).unwrap();
    let first = place.get("/metrics").await;
    let kind = first.headers[header::CONTENT_TYPE].to_str().unwrap();
    assert_contains(kind, "openmetrics");
    let labels = "experiment=\"cache size 9b2c\",id=\"9b2c\",arm=\"large\",mix=\"A\",load=\"8 threads\",block=\"0\"";
    let throughput = |value| format!("throughput_operations_per_second{{{labels}}} {value}");
    assert_contains(&first.text, &throughput("500.0"));
    assert!(!first.text.contains("over"));
    let mut failed = slice(1, 700, false);
    failed.completed.error = 3;
    writer.add_slice(point, &failed).unwrap();
    let second = place.get("/metrics").await;
    assert_contains(&second.text, &throughput("700.0"));
    assert_contains(&second.text, &format!("errors_total{{{labels}}} 3"));
    drop(writer);
    assert_eq!(place.get("/metrics").await.text, "# EOF\n");
}

/// What a picture of all that is in the store shows.
fn picture(store: &Store, id: &str) -> Value {
    let mut picture = Picture::of(&store.head(id).unwrap(), &[]).unwrap();
    let mut following = store.follow(id).unwrap();
    picture.take(&store.news(&mut following).unwrap());
    serde_json::to_value(picture.snapshot(0.0)).unwrap()
}

/// Two machines ask a server on a third in runs of `small`, and make the load of `large` by themselves.
#[test]
fn each_machine_of_a_run_is_shown_with_what_it_does_now() {
    let place = place();
    let mut writer = place.store();
    let mut head = experiment("9b2c");
    let server = &server_preset("mongod").unwrap().spec;
    head.plan["load_hosts"] = json!(["bench1", "controller"]);
    head.plan["arms"][0]["on"] = json!("db1");
    head.plan["arms"][0]["rig"] = json!({ "server": server });
    writer.begin(&head).unwrap();
    let key = writer.begin_run("9b2c", &run("small", 0)).unwrap();
    let engines = [EngineKind {
        name: "noop",
        about: "",
        keeps_data: false,
        server: None,
        cache_setting: None,
        usable_cache: 0.0,
        unfit: |_| None,
        settings: &[],
    }];
    let mut picture = Picture::of(&writer.head("9b2c").unwrap(), &engines).unwrap();
    let reader = place.store();
    let mut following = reader.follow("9b2c").unwrap();
    let mut hosts = || {
        picture.take(&reader.news(&mut following).unwrap());
        serde_json::to_value(picture.snapshot(0.0)).unwrap()["now"]["hosts"].clone()
    };
    let host = |name: &str, role: &str, rate: Option<f64>, late_p99_ns: Option<f64>| json!({"name": name, "role": role, "rate": rate, "late_p99_ns": late_p99_ns});
    let expected = json!([
        host("bench1", "load", None, None),
        host("controller", "load", None, None),
        host("db1", "server", None, None),
    ]);
    assert_eq!(hosts(), expected, "before anything was measured");
    let point = begin_point(&mut writer, key, 0);
    let second = Slice { by_host: vec![300, 200], ..slice(0, 500, false) };
    writer.add_slice(point, &second).unwrap();
    let expected = json!([
        host("bench1", "load", Some(300.0), None),
        host("controller", "load", Some(200.0), None),
        host("db1", "server", None, None),
    ]);
    assert_eq!(hosts(), expected);
    // An open loop that is over reports how late each was.
    let mut lag = Histogram::new();
    lag.record_n(1_000, 100);
    let late =
        HostPoint { host: Some("bench1".into()), generator_lag: Some(lag), ..HostPoint::default() };
    let end = PointEnd {
        hosts: vec![late, HostPoint::default(), HostPoint::default()],
        ..PointEnd::default()
    };
    writer.end_point(point, &end).unwrap();
    let expected = json!([
        host("bench1", "load", None, Some(1_000.0)),
        host("controller", "load", None, None),
        host("db1", "server", None, None),
    ]);
    assert_eq!(hosts(), expected);
    writer.begin_run("9b2c", &run("large", 0)).unwrap();
    let expected = json!([
        host("bench1", "load", None, Some(1_000.0)),
        host("controller", "load", None, None),
    ]);
    assert_eq!(hosts(), expected);
}

#[tokio::test]
async fn points_of_a_run_that_failed_are_taken_back() {
    let place = place();
    let mut writer = place.store();
    writer.begin(&experiment("9b2c")).unwrap();
    let mut events = Events::of(&place, "9b2c").await;
    let mut head = run("small", 0);
    let key = writer.begin_run("9b2c", &head).unwrap();
    let point = begin_point(&mut writer, key, 0);
    writer.add_slice(point, &slice(0, 500, false)).unwrap();
    let news = events.until(|_, data| !data["points"].is_null()).await;
    head.state = RunState::Failed { message: "the engine went away".to_owned() };
    writer.update_run(key, &head).unwrap();
    let taken_back = events.until(|_, data| !data["dropped"].is_null()).await;
    assert_eq!(taken_back["dropped"][0], news["points"][0]["key"]);
    assert_eq!(taken_back["runs"][0]["state"], "failed");
    assert_eq!(taken_back["runs_failed"], 1);
    assert_eq!(taken_back["now"], Value::Null);
    // A later viewer never gets them.
    let whole = picture(&writer, "9b2c");
    assert!(whole["points"].is_null());
    // A further attempt that is good makes it good.
    let mut again = run("small", 0);
    again.attempt = 2;
    let key = writer.begin_run("9b2c", &again).unwrap();
    again.state = RunState::Finished;
    again.ended_at = Some("2026-11-21T03:45:09Z".to_owned());
    writer.update_run(key, &again).unwrap();
    let whole = picture(&writer, "9b2c");
    assert_eq!(whole["runs_finished"], 1);
    assert_eq!(whole["runs_failed"], 0);
    assert_eq!(whole["runs"].as_array().unwrap().len(), 1);
    assert_eq!(whole["runs"][0]["state"], "finished");
}

#[tokio::test]
async fn events_are_marked_when_due_and_set_right_when_done() {
    let place = place();
    let mut writer = place.store();
    let mut head = experiment("9b2c");
    let kill = serde_json::json!({"kind": "kill", "member": "primary", "restart_after_ns": null});
    head.plan["events"] = serde_json::json!([{"at_ns": 1_500_000_000_u64, "act": kill}]);
    writer.begin(&head).unwrap();
    let key = writer.begin_run("9b2c", &run("small", 0)).unwrap();
    let point = begin_point(&mut writer, key, 1_000_000_000);
    writer.add_slice(point, &slice(0, 500, true)).unwrap();
    writer.add_slice(point, &slice(1, 500, false)).unwrap();
    assert!(picture(&writer, "9b2c")["events"].is_null(), "not due yet");

    let mut events = Events::of(&place, "9b2c").await;
    events.next().await.unwrap();
    writer.add_slice(point, &slice(2, 0, false)).unwrap();
    let due = events.until(|_, data| !data["events"].is_null()).await;
    // A second of warm-up and 1.5 s behind 03:44:02.
    let begun = 1_795_232_642.0;
    let mark = &due["events"][0];
    assert_eq!(mark["at"], begun + 2.5);
    assert_eq!(mark["words"], "at 1.5s: the primary is killed");

    let done = EventRecord {
        event: 0,
        at_ns: 2_600_000_000,
        until_ns: None,
        member: Some("127.0.0.1:27018".to_owned()),
        cut: None,
    };
    let disturbance = Disturbance { events: vec![done], ..Disturbance::default() };
    let end = PointEnd { disturbance: Some(Box::new(disturbance)), ..PointEnd::default() };
    writer.end_point(point, &end).unwrap();
    let over = events.until(|_, data| !data["events"].is_null()).await;
    let exact = &over["events"][0];
    assert_eq!(exact["point"], mark["point"]);
    assert_eq!(exact["event"], mark["event"]);
    assert_eq!(exact["at"], begun + 2.6);
    let words = exact["words"].as_str().unwrap();
    assert_ends(words, "is killed (127.0.0.1:27018)");
    let whole = picture(&writer, "9b2c");
    assert_eq!(whole["events"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn each_of_several_power_cuts_is_marked_and_those_that_were_not_made_vanish() {
    let place = place();
    let mut writer = place.store();
    let mut head = experiment("9b2c");
    let cut = serde_json::json!({"kind": "power-cut", "seed": 7, "sector_bytes": 4096, "every_ns": 1_000_000_000_u64});
    head.plan["events"] = serde_json::json!([{"at_ns": 0, "act": cut}]);
    head.plan["measurement"]["duration_ns"] = serde_json::json!(3_000_000_000_u64);
    writer.begin(&head).unwrap();
    let key = writer.begin_run("9b2c", &run("small", 0)).unwrap();
    let point = begin_point(&mut writer, key, 1_000_000_000);
    for index in 0..4 {
        writer.add_slice(point, &slice(index, 500, index == 0)).unwrap();
    }
    let due = picture(&writer, "9b2c");
    let of = |picture: &serde_json::Value| -> Vec<f64> {
        let marks = picture["events"].as_array().unwrap();
        marks.iter().map(|mark| mark["at"].as_f64().unwrap()).collect()
    };
    // A second of warm-up behind 03:44:02, then one in the first half of each second.
    let begun = 1_795_232_642.0 + 1.0;
    for (number, at) in of(&due).into_iter().enumerate() {
        let within = at - begun - number as f64;
        assert!((0.0..0.5).contains(&within), "{due}");
    }
    assert_eq!(of(&due).len(), 3, "{due}");
    assert_eq!(due["events"][1]["time"], 1);
    assert_starts(due["events"][1]["words"].as_str().unwrap(), "at 1.");

    let mut events = Events::of(&place, "9b2c").await;
    events.next().await.unwrap();
    let done = |at_ns| EventRecord { event: 0, at_ns, until_ns: None, member: None, cut: None };
    let disturbance = Disturbance {
        events: [1_250_000_000, 2_250_000_000].map(done).to_vec(),
        ..Disturbance::default()
    };
    let end = PointEnd { disturbance: Some(Box::new(disturbance)), ..PointEnd::default() };
    writer.end_point(point, &end).unwrap();
    let over = events.until(|_, data| !data["dropped_events"].is_null()).await;
    assert_eq!(over["dropped_events"], serde_json::json!([[due["events"][2]["point"], 0, 2]]));
    assert_eq!(of(&picture(&writer, "9b2c")), [0.25, 1.25].map(|at| begun + at));
}
