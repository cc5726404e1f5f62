//! The routes, called without a network.

use crate::access::{Access, Token};
use crate::bundles::Bundles;
use crate::{App, router};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use futures_util::StreamExt;
use plimsoll_record::{
    ExperimentRecord, ExperimentState, Program, RECORD_VERSION, RigRecord, RunRecord, RunState,
    TraceReference,
};
use plimsoll_store::Store;
use plimsoll_store::bundle::Derived;
use plimsoll_testing::{assert_contains, assert_ends};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;
use tower::ServiceExt;

/// A folder with a store, and the routes over it.
pub(crate) struct TestServer {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) router: Router,
    pub(crate) app: Arc<App>,
    pub(crate) close: watch::Sender<bool>,
}

pub(crate) const TOKEN: &str = "0123456789abcdef0123";

pub(crate) fn place() -> TestServer {
    place_beside(None)
}

fn place_beside(bundles: Option<Arc<Bundles>>) -> TestServer {
    let token = Token::parse(TOKEN).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("plimsoll.db");
    let (close, closing) = watch::channel(false);
    let app = App::new(store, bundles, &[], closing);
    TestServer { folder, router: router(Arc::clone(&app), Access::new(7546, token)), app, close }
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl TestServer {
    pub(crate) fn store(&self) -> Store {
        Store::open(&self.path("plimsoll.db")).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What is answered to who shows the token.
    pub(crate) async fn answer(&self, mut request: Request<Body>) -> Response {
        let bearer = format!("Bearer {TOKEN}").parse().unwrap();
        request.headers_mut().insert(header::AUTHORIZATION, bearer);
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        Answer::whole(self.answer(request).await).await
    }

    async fn send_without_token(&self, request: Request<Body>) -> Answer {
        Answer::whole(self.router.clone().oneshot(request).await.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(get(path).body(Body::empty()).unwrap()).await
    }
}

impl Answer {
    async fn whole(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let mut bytes = Vec::new();
        let mut pieces = body.into_data_stream();
        while let Some(piece) = pieces.next().await {
            bytes.extend_from_slice(&piece.unwrap());
        }
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes).unwrap(),
        }
    }
}

pub(crate) fn get(path: &str) -> axum::http::request::Builder {
    Request::get(path).header(header::HOST, "127.0.0.1:7546")
}

/// An experiment of two arms in two blocks of one point, without measurements.
pub(crate) fn experiment(id: &str) -> ExperimentRecord {
    let arm = |name: &str| serde_json::json!({"name": name, "about": null, "engine": "noop", "settings": {}, "data": {"records": 1000}, "directory": null});
    let run = |block: u32, position: u32, arm: u32| serde_json::json!({"block": block, "position": position, "arm": arm, "seed": 1});
    ExperimentRecord {
        plimsoll_record: RECORD_VERSION,
        id: id.to_owned(),
        name: format!("cache size {id}"),
        question: Some("Does a larger cache pay?".to_owned()),
        file_text: "plimsoll: 1\n".to_owned(),
        plan_hash: "91a4".to_owned(),
        plan: serde_json::json!({
            "version": 1, "name": "cache size", "question": null, "mixes": [], "points": [], "load_phase": {"sessions": 1},
            "arms": [arm("small"), arm("large")],
            "measurement": {"warm_up_ns": 0, "duration_ns": 20_000_000_000_u64, "operations": null, "blocks": 2, "order": "shuffled", "seed": 1},
            "objective": null, "compare": {"baseline": "small", "primary": [], "at": null, "margins": {}},
            "thresholds": [], "runs": [run(0, 0, 0), run(0, 1, 1), run(1, 0, 1), run(1, 1, 0)], "origins": []
        }),
        seed: 1,
        command: "plimsoll run cache.yaml".to_owned(),
        started_at: "2026-11-21T03:44:00Z".to_owned(),
        ..ExperimentRecord::default()
    }
}

pub(crate) fn run(arm: &str, block: u32) -> RunRecord {
    RunRecord {
        block,
        arm: arm.to_owned(),
        attempt: 1,
        seed: 1,
        started_at: "2026-11-21T03:44:01Z".to_owned(),
        ..RunRecord::default()
    }
}

#[tokio::test]
async fn an_empty_place_teaches_how_to_begin() {
    let place = place();
    let list = place.get("/").await;
    assert_eq!(list.status, StatusCode::OK);
    assert!(list.text.contains("plimsoll run studies/quickstart.yaml"));
    assert!(!place.path("plimsoll.db").exists(), "reading makes nothing");
    let page = place.get("/experiment/1f3a").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    assert!(page.text.contains("There is no store yet") && page.text.contains("href=\"/\""));
}

#[tokio::test]
async fn experiments_are_found_and_others_are_not() {
    let place = place();
    let mut store = place.store();
    for id in ["1f3a0001", "1f3a0002", "9b2c"] {
        store.import(experiment(id)).unwrap();
    }
    let list = place.get("/?text=9b2c&state=interrupted").await;
    assert!(list.text.contains("/experiment/9b2c") && !list.text.contains("/experiment/1f3a0001"));
    let page = place.get("/experiment/9b2c").await;
    assert_eq!(page.status, StatusCode::OK);
    assert_contains(&page.text, "Nothing has been measured yet");
    assert!(!page.text.contains("<section class=\"live\""));

    // By the beginning of the id, by name and by `last` one is led to the page.
    for wanted in ["9b", "cache%20size%209b2c"] {
        let led = place.get(&format!("/experiment/{wanted}")).await;
        assert_eq!(led.status, StatusCode::SEE_OTHER, "{wanted}");
        assert_eq!(led.headers[header::LOCATION], "/experiment/9b2c");
    }
    let ambiguous = place.get("/experiment/1f3a").await;
    assert_eq!(ambiguous.status, StatusCode::MULTIPLE_CHOICES);
    assert!(ambiguous.text.contains("href=\"/experiment/1f3a0002\""));
    for (path, missing) in [
        ("/experiment/none", "experiment"),
        ("/experiment/none/live", "experiment"),
        ("/experiment/none/files/record.json", "experiment"),
        ("/compare?first=none:a&second=9b2c:small", "experiment"),
        ("/compare?first=9b2c:small&second=9b2c:tiny", "arm"),
        ("/history/none", "experiment"),
        ("/elsewhere", "page"),
        ("/experiment/9b2c/../../etc/passwd", "page"),
    ] {
        let answer = place.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_contains(&answer.text, &format!("There is no such {missing}"));
        assert!(answer.text.contains("href=\"/\""), "{path} has no way back");
    }
}

#[tokio::test]
async fn what_a_form_leaves_empty_is_not_asked_for() {
    let place = place();
    let mut record = experiment("9b2c");
    record.state = ExperimentState::Finished;
    place.store().import(record).unwrap();
    let plain = place.get("/history/9b2c").await;
    let empty = place.get("/history/9b2c?metric=&arm=&mix=&at=").await;
    assert_eq!((empty.status, &empty.text), (plain.status, &plain.text));
    let requested = place.get("/history/9b2c?arm=tiny").await;
    assert_contains(&requested.text, "no arm `tiny`");
}

#[tokio::test]
async fn two_ticked_arms_are_compared() {
    let place = place();
    let mut store = place.store();
    store.import(experiment("1f3a")).unwrap();
    store.import(experiment("9b2c")).unwrap();
    let ticked = "/compare?arm=9b2c%3Alarge&arm=1f3a%3Asmall";
    let led = place.get(ticked).await;
    assert_eq!(led.status, StatusCode::SEE_OTHER);
    let to = led.headers[header::LOCATION].to_str().unwrap();
    assert_eq!(to, "/compare?first=1f3a%3Asmall&second=9b2c%3Alarge");
    let page = place.get(to).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text.contains("large against small"));
    // Within one experiment the declared baseline is what the other is compared with, whichever was ticked first.
    for (one, other) in [("small", "large"), ("large", "small")] {
        let query = format!("arm=9b2c:{one}&arm=9b2c:{other}");
        let led = place.get(&format!("/compare?{query}")).await;
        let to = led.headers[header::LOCATION].to_str().unwrap();
        assert_eq!(to, "/compare?first=9b2c%3Asmall&second=9b2c%3Alarge");
    }
    for (query, part) in [
        ("", "None was chosen"),
        ("?arm=9b2c:large", "One was chosen"),
        ("?arm=a&arm=b&arm=c", "3 were chosen"),
    ] {
        let refused = place.get(&format!("/compare{query}")).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        assert!(refused.text.contains(part), "{query}");
    }
    let which = place.get("/compare?first=1f3a&second=9b2c:large").await;
    assert_eq!(which.status, StatusCode::BAD_REQUEST);
    assert!(which.text.contains("1f3a:small or 1f3a:large"));
}

#[tokio::test]
async fn a_damaged_record_is_named_and_the_others_are_still_there() {
    let place = place();
    let mut store = place.store();
    store.import(experiment("good")).unwrap();
    store.import(experiment("bad")).unwrap();
    drop(store);
    let connection = rusqlite::Connection::open(place.path("plimsoll.db")).unwrap();
    let cut = "UPDATE experiment SET record = substr(record, 1, 200) WHERE id = 'bad'";
    connection.execute(cut, []).unwrap();
    let list = place.get("/").await;
    assert!(list.text.contains("/experiment/good") && list.text.contains("/experiment/bad"));
    let bad = place.get("/experiment/bad").await;
    assert_eq!(bad.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(bad.text.contains("This record cannot be read") && bad.text.contains("damaged"));
    assert_eq!(place.get("/experiment/good").await.status, StatusCode::OK);
}

#[tokio::test]
async fn what_is_no_store_is_said() {
    let place = place();
    std::fs::write(place.path("plimsoll.db"), "Dear store, ".repeat(20)).unwrap();
    let list = place.get("/").await;
    assert_eq!(list.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_contains(&list.text, "is no plimsoll store");
}

#[tokio::test]
async fn every_answer_tells_browsers_what_they_may_do() {
    let place = place();
    for path in ["/", "/none", "/compare"] {
        let answer = place.get(path).await;
        let says = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
        let policy = says("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert_eq!(says("x-content-type-options"), "nosniff");
        assert_eq!(says("referrer-policy"), "no-referrer");
        assert_eq!(says("cache-control"), "no-store");
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
    }
}

#[tokio::test]
async fn nothing_is_changed_through_it() {
    let place = place();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let request = get("/").method(method);
        let answer = place.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(answer.headers[header::ALLOW], "GET, HEAD");
    }
    let head = Request::head("/").header(header::HOST, "localhost");
    let answer = place.send(head.body(Body::empty()).unwrap()).await;
    assert_eq!((answer.status, answer.text.as_str()), (StatusCode::OK, ""));
}

#[tokio::test]
async fn names_that_point_here_and_other_sites_are_refused() {
    let place = place();
    let requested = async |headers: &[(&str, &str)]| {
        let mut request = Request::get("/");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        place.send(request).await.status
    };
    let [mode, image, frame, document] = [
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "image"),
        ("sec-fetch-dest", "iframe"),
        ("sec-fetch-dest", "document"),
    ];
    let site = |site| ("sec-fetch-site", site);
    let host = ("host", "127.0.0.1:7546");
    for headers in [
        &[][..],
        &[("host", "rebound.example:7546")],
        &[host, ("host", "evil.example")],
        &[host, ("origin", "http://evil.example")],
        &[host, ("origin", "null")],
        &[host, ("origin", "https://127.0.0.1:7546")],
        &[host, site("cross-site")],
        &[host, site("same-site"), ("sec-fetch-mode", "no-cors"), image],
        &[host, site("cross-site"), mode, frame],
    ] {
        assert_eq!(requested(headers).await, StatusCode::FORBIDDEN, "{headers:?}");
    }
    for headers in [
        &[host][..],
        &[("host", "localhost:1234")],
        &[host, ("origin", "http://127.0.0.1:7546")],
        &[host, site("same-origin")],
        &[host, site("none")],
        // A link on another page, followed in a window of its own.
        &[host, site("cross-site"), mode, document],
    ] {
        assert_eq!(requested(headers).await, StatusCode::OK, "{headers:?}");
    }
    let whole = Request::get("http://evil.example/").header("host", "127.0.0.1:7546");
    let answer = place.send(whole.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_token_is_asked_for_and_kept_in_a_cookie() {
    let place = place();
    place.store().import(experiment("9b2c")).unwrap();
    let requested = async |path: &str, header: Option<(&str, &str)>| {
        let mut request = get(path);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let request = request.body(Body::empty()).unwrap();
        place.send_without_token(request).await
    };
    for path in [
        "/",
        "/experiment/9b2c",
        "/experiment/9b2c/files/record.json",
        "/none",
        "/?token=wrong",
        "/?token=",
    ] {
        let refused = requested(path, None).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{path}");
        assert!(!refused.text.contains("9b2c") && !refused.text.contains(TOKEN));
    }
    // In the address it is shown once, and taken out of it.
    let led = requested(&format!("/experiment/9b2c?x=1&token={TOKEN}"), None).await;
    assert_eq!(led.status, StatusCode::SEE_OTHER);
    assert_eq!(led.headers[header::LOCATION], "/experiment/9b2c?x=1");
    let astray = requested(&format!("//example.org/?token={TOKEN}"), None).await;
    assert_eq!(astray.headers[header::LOCATION], "/example.org/");
    let cookie = led.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"));
    let kept = cookie.split(';').next().unwrap();
    let with_cookie = requested("/experiment/9b2c", Some(("cookie", kept))).await;
    assert_eq!(with_cookie.status, StatusCode::OK);
    assert!(!with_cookie.text.contains(TOKEN));
    let bearer = format!("Bearer {TOKEN}");
    let with_header = requested("/", Some(("authorization", &bearer))).await;
    assert_eq!(with_header.status, StatusCode::OK);
    let wrong = "plimsoll-token-1=x; plimsoll-token-7546=wrong";
    let other = requested("/", Some(("cookie", wrong))).await;
    assert_eq!(other.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn files_are_those_of_the_export_and_nothing_else() {
    let place = place();
    let mut record = experiment("9b2c");
    record.runs.push(run("small", 0));
    place.store().import(record).unwrap();
    let csv = place.get("/experiment/9b2c/files/points.csv").await;
    assert_eq!(csv.status, StatusCode::OK);
    assert_eq!(csv.headers[header::CONTENT_TYPE], "text/csv; charset=utf-8");
    let disposition = &csv.headers[header::CONTENT_DISPOSITION];
    assert_eq!(disposition, "attachment; filename=\"points.csv\"");
    let json = place.get("/experiment/9b2c/files/record.json").await;
    let read = ExperimentRecord::from_json(&json.text).unwrap();
    assert_eq!((read.id.as_str(), read.runs.len()), ("9b2c", 1));

    std::fs::write(place.path("secret"), "secret").unwrap();
    for name in ["secret", "..%2Fsecret", "%2Fetc%2Fpasswd", "plimsoll.db", "", "points.csv%00"] {
        let refused = place.get(&format!("/experiment/9b2c/files/{name}")).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{name}");
    }
    let refused = place.get("/experiment/9b2c/files/none").await;
    let link = "href=\"/experiment/9b2c/files/slices.csv\"";
    assert_contains(&refused.text, link);
}

/// A record from elsewhere may name any path as its trace.
#[tokio::test]
async fn only_traces_are_read_where_a_record_says_that_one_is() {
    let place = place();
    let folder = place.folder.path();
    let secret = folder.join("secret");
    std::fs::write(&secret, "a secret of somebody").unwrap();
    let trace = folder.join("disk.trace");
    let disk = plimsoll_record::DiskSpec::unlimited(1 << 30);
    drop(plimsoll_trace::Writer::create(&trace, 10, &plimsoll_trace::Head::new(&disk)).unwrap());
    let paths: [&Path; 5] = [&trace, &secret, Path::new("/dev/zero"), folder, Path::new("/none")];
    let mut record = experiment("9b2c");
    for (block, path) in paths.iter().enumerate() {
        let mut run = run("small", block as u32);
        run.state = RunState::Finished;
        run.rig = Some(RigRecord {
            trace: Some(TraceReference { path: path.to_path_buf(), requests: 0, overwritten: 0 }),
            ..RigRecord::default()
        });
        record.runs.push(run);
    }
    place.store().import(record).unwrap();
    for (block, path) in paths.iter().enumerate() {
        let number = block + 1;
        let name = format!("trace-{number}-block-{number}-small.iolog");
        let answer = place.get(&format!("/experiment/9b2c/files/{name}")).await;
        if block == 0 {
            assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
            assert!(answer.text.starts_with("fio version 3 iolog"));
        } else {
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{}", path.display());
            assert!(!answer.text.contains("a secret of somebody"));
        }
        // None of them holds anything to draw.
        let map = format!("/experiment/9b2c/map?arm=small&block={block}");
        let map = place.get(&map).await;
        assert_eq!(map.status, StatusCode::NOT_FOUND);
        assert!(!map.text.contains("a secret of somebody"));
    }
    let page = place.get("/experiment/9b2c").await;
    assert_eq!(page.status, StatusCode::OK);
}

#[tokio::test]
async fn names_from_elsewhere_do_nothing_on_any_page() {
    let place = place();
    let hostile = "\"><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}";
    let mut record = experiment("9b2c");
    record.name = hostile.to_owned();
    record.question = Some(hostile.to_owned());
    record.state = ExperimentState::Finished;
    record.plan["arms"][0]["name"] = hostile.into();
    record.plan["compare"]["baseline"] = hostile.into();
    let mut one = run(hostile, 0);
    one.state = RunState::Failed { message: hostile.to_owned() };
    record.runs.push(one);
    place.store().import(record).unwrap();
    let escaped: String = form_urlencoded::byte_serialize(hostile.as_bytes()).collect();
    let escaped = escaped.replace('+', "%20");
    for path in [
        "/".to_owned(),
        format!("/?text={escaped}"),
        "/experiment/9b2c".to_owned(),
        format!("/experiment/{escaped}x"),
        format!("/compare?first=9b2c:{escaped}&second=9b2c:large"),
        format!("/compare?first={escaped}:a&second=b:c"),
        format!("/history/{escaped}"),
        format!("/history/9b2c?metric={escaped}"),
        format!("/experiment/9b2c/files/{escaped}"),
    ] {
        let page = place.get(&path).await;
        // The program's own script is at the end of the page.
        let body = page.text.split("<footer").next().unwrap();
        let acts = body.contains("<script>alert") || body.contains("<img");
        assert!(!acts, "{path}");
        // Values of forms are sent back as they are, what is shown is made plain.
        let behind_tags = body.split('<').filter_map(|tag| tag.split_once('>'));
        let shown: String = behind_tags.map(|(_, text)| text).collect();
        let turns_order = shown.contains('\u{202e}');
        assert!(!turns_order, "{path} turns the reading order around");
    }
}

#[tokio::test]
async fn who_comes_second_finds_it_judged() {
    let place = place();
    place.store().import(experiment("9b2c")).unwrap();
    let (one, other) = tokio::join!(place.get("/experiment/9b2c"), place.get("/experiment/9b2c"));
    assert_eq!(one.text, other.text);
    let first = place.app.library.judged("9b2c").await.unwrap();
    let second = place.app.library.judged("9b2c").await.unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    // When something was measured, it is another page.
    let mut writer = place.store();
    writer.resume("9b2c").unwrap();
    let third = place.app.library.judged("9b2c").await.unwrap();
    assert!(!Arc::ptr_eq(&first, &third));
    let page = place.get("/experiment/9b2c").await;
    assert!(page.text.contains("data-live=\"/experiment/9b2c/live\""));
}

/// Each of fifty readers had a copy of its own of what they read, and of what it is made from.
#[tokio::test]
async fn fifty_readers_share_one_record_and_one_page() {
    let place = place();
    place.store().import(experiment("9b2c")).unwrap();
    let library = &place.app.library;
    let pages = (0..50).map(|_| library.page("9b2c"));
    let pages = futures_util::future::try_join_all(pages).await.unwrap();
    assert!(pages.iter().all(|page| page.as_ptr() == pages[0].as_ptr()));
    assert_eq!(library.made(), [1, 1]);
    let judged = library.judged("9b2c").await.unwrap();
    let place = export_place(&judged, "points.parquet");
    let files = (0..50).map(|_| library.file(Arc::clone(&judged), "points.parquet", place));
    let files = futures_util::future::try_join_all(files).await.unwrap();
    assert!(files.iter().all(|file| file.as_ptr() == files[0].as_ptr()));
    let requested = |_| library.comparison("9b2c:small".to_owned(), "9b2c:large".to_owned());
    let pages = futures_util::future::try_join_all((0..50).map(requested));
    pages.await.unwrap();
    assert_eq!(library.made(), [1, 3]);
}

fn export_place(judged: &crate::library::Judged, name: &str) -> usize {
    let files = plimsoll_report::export::files(&judged.report());
    files.iter().position(|file| file.name == name).unwrap()
}

/// Each reader that took nothing had a file in memory, and a thread.
#[tokio::test]
async fn files_are_written_as_they_are_taken_and_only_so_many() {
    let place = place();
    let mut record = experiment("9b2c");
    // More than waits for a slow reader.
    record.file_text = "#".repeat(4 << 20);
    place.store().import(record).unwrap();
    let ask = || {
        let request = get("/experiment/9b2c/files/record.json").body(Body::empty());
        place.answer(request.unwrap())
    };
    let mut untaken = Vec::new();
    for _ in 0..crate::files::DOWNLOADS {
        let response = ask().await;
        assert_eq!(response.status(), StatusCode::OK);
        untaken.push(response);
    }
    assert_eq!(place.app.downloads.available_permits(), 0);
    let mut one_more = Box::pin(ask());
    let soon = std::time::Duration::from_millis(200);
    let answered = tokio::time::timeout(soon, &mut one_more).await;
    assert!(answered.is_err(), "all are being written");
    // Pages are not kept waiting by them.
    assert_eq!(place.get("/").await.status, StatusCode::OK);
    assert_eq!(place.get("/experiment/9b2c").await.status, StatusCode::OK);
    untaken.pop();
    let mut pieces = one_more.await.into_body().into_data_stream();
    let mut largest = 0;
    while let Some(piece) = pieces.next().await {
        largest = largest.max(piece.unwrap().len());
    }
    assert!(largest <= 64 << 10, "{largest}");
    assert_eq!(place.app.library.made()[0], 1);
}

/// A page of 135 kB for each who was refused.
#[tokio::test]
async fn what_goes_wrong_is_said_in_few_bytes() {
    let place = place();
    let mut store = place.store();
    for number in 0..40 {
        let one = experiment(&format!("1f3a{number:04}"));
        store.import(one).unwrap();
    }
    let long = "x".repeat(8_000);
    let without_token = get("/").body(Body::empty()).unwrap();
    let mut answers = vec![(401, place.send_without_token(without_token).await)];
    for (path, status) in [
        ("/none", 404),
        ("/experiment/1f3a", 300),
        ("/experiment/1f3a0000/files/none", 404),
        ("/compare", 400),
        (&format!("/experiment/{long}"), 404),
        (&format!("/history/x?metric={long}"), 400),
        (&format!("/{long}{long}"), 414),
    ] {
        answers.push((status, place.get(path).await));
    }
    for (status, answer) in answers {
        assert_eq!(answer.status.as_u16(), status, "{}", answer.text);
        assert!(answer.text.len() < 5_000, "{status}: {}", answer.text.len());
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert_contains(policy, "default-src 'none'; style-src 'sha256-");
        assert_ends(policy, "frame-ancestors 'none'");
    }
}

#[tokio::test]
async fn bundles_in_a_folder_are_shown_as_long_as_they_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let bundles = Bundles::of(vec![folder.path().to_owned()], |_| ()).unwrap();
    let bundles = Arc::new(bundles);
    let place = place_beside(Some(Arc::clone(&bundles)));
    let mut record = experiment("1f3a9c2e");
    record.state = ExperimentState::Finished;
    let file = folder.path().join("ci/one.plimsoll");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    let mut out = std::io::Cursor::new(Vec::new());
    let derived = Some(Derived { analysis: "{}", page: "<p>" });
    plimsoll_store::bundle::write(&record, derived, None, Program::default(), &mut out).unwrap();
    std::fs::write(&file, out.get_ref()).unwrap();
    std::fs::write(folder.path().join("broken.plimsoll"), "no bundle").unwrap();
    bundles.look().unwrap();
    let list = place.get("/").await;
    assert_eq!(list.status, StatusCode::OK);
    assert!(list.text.contains("1f3a9c2e") && list.text.contains("one.plimsoll"));
    assert!(!list.text.contains("broken.plimsoll"));
    assert_eq!(place.get("/experiment/1f3a9c2e").await.status, StatusCode::OK);
    // The user's own comes first, and one result is shown once.
    place.store().import(record).unwrap();
    assert_eq!(place.get("/").await.text.matches("href=\"/experiment/1f3a9c2e\"").count(), 1);
    place.store().delete("1f3a9c2e").unwrap();
    std::fs::remove_file(&file).unwrap();
    bundles.look().unwrap();
    assert_eq!(place.get("/experiment/1f3a9c2e").await.status, StatusCode::NOT_FOUND);
}
