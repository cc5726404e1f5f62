use super::*;
use crate::access::{Senders, Token, tests::only_ours};
use crate::tests::{Answer, Place, experiment, get, place as closed_place, place_for, run};
use axum::http::Request;
use plimsoll_record::{ExperimentRecord, Program, RunState};
use plimsoll_testing::assert_contains;
use std::io::Cursor;

pub(super) const CI: &str = "0123456789abcdef-ci";
pub(super) const ANNA: &str = "fedcba9876543210-anna";

/// A server that takes results of two senders and shows pages to those who have another token.
pub(super) fn accepting() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("senders");
    std::fs::write(&file, format!("ci {CI}\nanna {ANNA}\n")).unwrap();
    only_ours(&file);
    let senders = Senders::read(&file).unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "0123456789abcdef-pages").unwrap();
    only_ours(&token);
    place_for(Some(Token::read(&token).unwrap()), Some(senders))
}

pub(super) fn record() -> ExperimentRecord {
    let mut record = experiment("9b2c");
    record.runs = vec![run("small", 0), run("large", 0)];
    for run in &mut record.runs {
        run.state = RunState::Finished;
    }
    record
}

pub(super) fn bundled(record: &ExperimentRecord) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    plimsoll_store::bundle::write(record, "{}", "<p>", None, Program::default(), &mut out).unwrap();
    out.into_inner()
}

fn request(token: &str, named: &str, bytes: Vec<u8>) -> Request<Body> {
    get(&format!("/bundles/{named}"))
        .method("PUT")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_LENGTH, bytes.len())
        .body(Body::from(bytes))
        .unwrap()
}

pub(super) async fn sent(place: &Place, token: &str, bytes: Vec<u8>) -> Answer {
    let named = sha256(&bytes);
    place.send(request(token, &named, bytes)).await
}

fn is_empty(place: &Place) -> bool {
    place.store().list(&Default::default()).unwrap().is_empty()
}

#[tokio::test]
async fn a_bundle_is_stored_once() {
    let place = accepting();
    let bytes = bundled(&record());
    let first = sent(&place, CI, bytes.clone()).await;
    assert_eq!(first.status, StatusCode::CREATED, "{}", first.text);
    let said: serde_json::Value = serde_json::from_str(&first.text).unwrap();
    assert_eq!(said["id"], "9b2c");
    assert_eq!(said["accepted"], "new");
    let again = sent(&place, ANNA, bytes).await;
    assert_eq!(again.status, StatusCode::OK);
    assert_contains(&again.text, "\"known\"");
    assert_eq!(place.store().load("9b2c").unwrap(), record());
    let listed = &place.store().list(&Default::default()).unwrap()[0];
    assert_eq!(listed.sent_by.as_deref(), Some("ci"));
    // Who sends may also read, and sees from whom it came.
    let list = get("/").header(header::AUTHORIZATION, format!("Bearer {ANNA}"));
    let list = place.send(list.body(Body::empty()).unwrap()).await;
    assert_eq!(list.status, StatusCode::OK);
    assert_contains(&list.text, "sent by ci");
}

#[tokio::test]
async fn only_senders_send() {
    let bytes = bundled(&record());
    let place = accepting();
    for token in ["", "0123456789abcdef-pages", "0123456789abcdef"] {
        let answer = sent(&place, token, bytes.clone()).await;
        assert!(answer.status.is_client_error(), "{token}");
    }
    assert!(is_empty(&place));
    // A server that was not asked to accept anything has no such token.
    let closed = closed_place();
    let answer = sent(&closed, CI, bytes).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(is_empty(&closed));
}

#[tokio::test]
async fn what_is_not_what_it_says_is_not_stored() {
    let place = accepting();
    let good = bundled(&record());
    let answer = place.send(request(CI, "00", good.clone())).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_contains(&answer.text, "another SHA-256");
    let mut changed = good.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    for unfit in [changed, b"no bundle".to_vec(), Vec::new()] {
        let answer = sent(&place, CI, unfit).await;
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{}",
            answer.text
        );
        assert_contains(&answer.text, "\"error\"");
    }
    // Its end does not come.
    let mut cut_off = request(CI, &sha256(&good), good.clone());
    let pieces = futures_util::stream::iter([
        Ok(Bytes::from(good[..10].to_vec())),
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset)),
    ]);
    *cut_off.body_mut() = Body::from_stream(pieces);
    let answer = place.send(cut_off).await;
    assert_eq!(answer.status, StatusCode::REQUEST_TIMEOUT);
    assert!(is_empty(&place));
}

#[tokio::test]
async fn another_experiment_under_the_same_id_is_refused() {
    let place = accepting();
    sent(&place, CI, bundled(&record())).await;
    let mut other = record();
    other.runs[0].seed += 1;
    let answer = sent(&place, ANNA, bundled(&other)).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert_contains(&answer.text, "something else was measured");
    assert_eq!(place.store().load("9b2c").unwrap(), record());
}

#[tokio::test]
async fn size_and_rate_are_limited() {
    let place = accepting();
    let mut large = request(CI, "00", Vec::new());
    large
        .headers_mut()
        .insert(header::CONTENT_LENGTH, (BUNDLE.largest + 1).into());
    let answer = place.send(large).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    let mut endless = request(CI, "00", Vec::new());
    endless.headers_mut().remove(header::CONTENT_LENGTH);
    let answer = place.send(endless).await;
    assert_eq!(answer.status, StatusCode::LENGTH_REQUIRED);

    // Whatever was sent above was refused before it counted.
    let (acceptor, start) = (Acceptor::default(), Instant::now());
    let (ci, anna) = (Sender("ci".into()), Sender("anna".into()));
    let (one, large) = (1 << 20, BUNDLE.largest);
    for _ in 0..1024 {
        acceptor.take(&ci, one, start).unwrap();
    }
    let after = acceptor.take(&ci, one, start).unwrap_err();
    // 1 MiB of 1 GiB an hour.
    assert_eq!(after, Duration::from_secs(4));
    acceptor.take(&anna, large, start).unwrap();
    acceptor.take(&ci, one, start + after).unwrap();
    acceptor.take(&ci, one, start + after).unwrap_err();
    // More than an hour of silence is not saved up.
    let later = start + Duration::from_secs(36_000);
    for _ in 0..16 {
        acceptor.take(&ci, large, later).unwrap();
    }
    acceptor.take(&ci, one, later).unwrap_err();
}

#[tokio::test]
async fn who_sent_too_much_is_told_when_to_come_again() {
    let place = accepting();
    let sender = Sender("ci".into());
    place
        .app
        .acceptor
        .take(&sender, HOURLY as u64 - (1 << 19), Instant::now())
        .unwrap();
    // It is smaller than half a MiB, and counts for a whole one.
    let answer = sent(&place, CI, bundled(&record())).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(answer.headers.contains_key(header::RETRY_AFTER));
    let other = sent(&place, ANNA, bundled(&record())).await;
    assert_eq!(other.status, StatusCode::CREATED);
}
