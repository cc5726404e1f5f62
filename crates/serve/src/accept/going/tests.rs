use super::*;
use crate::accept::tests::{ANNA, CI, accepting, bundled, record, sent};
use crate::tests::{Answer, Place, get};
use axum::http::header;
use plimsoll_record::RunState;
use plimsoll_store::News;
use plimsoll_testing::assert_contains;
use tempfile::TempDir;

/// A store elsewhere, with an experiment that goes on.
struct Elsewhere {
    _folder: TempDir,
    store: Store,
    reader: Store,
}

fn elsewhere() -> Elsewhere {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plimsoll.db");
    let mut store = Store::open(&path).unwrap();
    store.begin(&record()).unwrap();
    Elsewhere {
        reader: Store::open_read_only(&path).unwrap(),
        store,
        _folder: folder,
    }
}

impl Elsewhere {
    fn head(&self) -> String {
        self.reader.head("9b2c").unwrap().to_json()
    }

    /// Begins the next run of the record, and tells of it.
    fn begin_run(&mut self, place: usize) {
        let mut run = record().runs.swap_remove(place);
        run.state = RunState::Started;
        self.store.begin_run("9b2c", &run).unwrap();
    }

    fn all(&self) -> News {
        let mut following = self.reader.follow("9b2c").unwrap();
        self.reader.news(&mut following).unwrap()
    }
}

async fn part(place: &Place, token: &str, id: &str, number: u64, body: String) -> Answer {
    let request = get(&format!("/experiment/{id}/parts/{number}"))
        .method("PUT")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_LENGTH, body.len())
        .body(Body::from(body))
        .unwrap();
    place.send(request).await
}

fn body(head: Option<&str>, news: &News) -> String {
    json!({"head": head, "news": news}).to_string()
}

fn wanted_next(answer: &Answer) -> u64 {
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let said: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
    said["next"].as_u64().unwrap()
}

#[tokio::test]
async fn what_goes_on_elsewhere_is_shown_and_gives_place_to_its_bundle() {
    let (place, mut there) = (accepting(), elsewhere());
    let head = there.head();
    let mut following = there.reader.follow("9b2c").unwrap();
    let first = body(Some(&head), &there.reader.news(&mut following).unwrap());
    assert_eq!(wanted_next(&part(&place, CI, "9b2c", 0, first).await), 1);
    there.begin_run(0);
    let second = body(None, &there.reader.news(&mut following).unwrap());
    for _ in 0..2 {
        // Also where the first answer was lost.
        let answer = part(&place, CI, "9b2c", 1, second.clone()).await;
        assert_eq!(wanted_next(&answer), 2);
    }
    let listed = &place.store().list(&Default::default()).unwrap()[0];
    assert!(listed.running);
    assert_eq!(listed.sent_by.as_deref(), Some("ci"));
    assert_eq!(place.store().load("9b2c").unwrap().runs.len(), 1);

    let whole = record();
    let answer = sent(&place, CI, bundled(&whole)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(place.store().load("9b2c").unwrap(), whole);
    assert!(!place.store().is_running("9b2c").unwrap());
    // What came late changes nothing any more.
    let late = part(&place, CI, "9b2c", 2, second).await;
    assert_eq!(wanted_next(&late), 0);
    let again = part(&place, CI, "9b2c", 0, body(Some(&head), &there.all())).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert_eq!(place.store().load("9b2c").unwrap(), whole);
}

#[tokio::test]
async fn a_server_that_forgot_the_begin_asks_for_it() {
    let (place, mut there) = (accepting(), elsewhere());
    let head = there.head();
    let first = body(Some(&head), &there.all());
    part(&place, CI, "9b2c", 0, first).await;
    there.begin_run(0);
    let far = part(&place, CI, "9b2c", 7, body(None, &there.all())).await;
    assert_eq!(wanted_next(&far), 0);
    // As after a restart, or a minute of silence.
    let going = &place.app.acceptor.going;
    going.let_go_of_silent(Instant::now());
    assert!(place.store().is_running("9b2c").unwrap());
    going.let_go_of_silent(Instant::now() + SILENCE);
    assert!(!place.store().is_running("9b2c").unwrap());
    let next = part(&place, CI, "9b2c", 1, body(None, &there.all())).await;
    assert_eq!(wanted_next(&next), 0);
    // All of it again takes the place of what came before.
    let again = part(&place, CI, "9b2c", 0, body(Some(&head), &there.all())).await;
    assert_eq!(wanted_next(&again), 1);
    assert_eq!(place.store().load("9b2c").unwrap().runs.len(), 1);
    // The last part.
    let mut last = there.all();
    last.running = false;
    (last.runs, last.points) = (Vec::new(), Vec::new());
    let over = part(&place, CI, "9b2c", 1, body(None, &last)).await;
    assert_eq!(wanted_next(&over), 2);
    assert!(!place.store().is_running("9b2c").unwrap());
}

#[tokio::test]
async fn parts_are_refused_to_others_and_where_they_are_none() {
    let (place, there) = (accepting(), elsewhere());
    let good = body(Some(&there.head()), &there.all());
    let closed = part(&crate::tests::place(), CI, "9b2c", 0, good.clone()).await;
    assert_eq!(closed.status, StatusCode::METHOD_NOT_ALLOWED);
    for (id, unfit, word) in [
        ("9b2c", "no JSON".to_owned(), "is no part"),
        ("9b2c", body(None, &there.all()), "the record is damaged"),
        ("1f3a", good.clone(), "is of experiment"),
    ] {
        let answer = part(&place, CI, id, 0, unfit).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_contains(&answer.text, word);
    }
    assert!(place.store().list(&Default::default()).unwrap().is_empty());
    part(&place, CI, "9b2c", 0, good.clone()).await;
    for number in [0, 1] {
        let theirs = part(&place, ANNA, "9b2c", number, good.clone()).await;
        assert_eq!(theirs.status, StatusCode::CONFLICT);
    }
    assert_eq!(wanted_next(&part(&place, CI, "9b2c", 0, good).await), 1);
}
