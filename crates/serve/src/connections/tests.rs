//! Clients that mean harm, over the network of this machine.

use super::*;
use crate::tests::{TOKEN, TestServer, experiment, place};
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::time::timeout;

struct Listening {
    place: TestServer,
    address: SocketAddr,
}

impl Listening {
    async fn begin() -> Self {
        let place = place();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, place.router.clone(), place.app.closing.clone()));
        Self { place, address }
    }

    async fn connect(&self) -> Client {
        Client(TcpStream::connect(self.address).await.unwrap())
    }
}

struct Client(TcpStream);

impl Client {
    async fn ask(&mut self, path: &str, more: &str) {
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n{more}\r\n"
        );
        self.0.write_all(head.as_bytes()).await.unwrap();
    }

    /// Everything until the other side closes.
    async fn rest(&mut self) -> String {
        let mut all = Vec::new();
        // A server that closes before it has read everything resets the connection.
        let _ = self.0.read_to_end(&mut all).await;
        String::from_utf8_lossy(&all).into_owned()
    }

    /// The head of an answer.
    async fn head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.expect("an answer"));
        }
        String::from_utf8(head).unwrap()
    }

    async fn whole(&mut self, path: &str, more: &str) -> String {
        self.ask(path, &format!("Connection: close\r\n{more}")).await;
        self.rest().await
    }
}

/// Who holds connections and asks nothing keeps the others waiting for a while, and not forever.
#[tokio::test]
async fn there_are_so_many_connections_at_a_time_and_others_wait() {
    let server = Listening::begin().await;
    let mut held = Vec::new();
    for _ in 0..MOST {
        held.push(server.connect().await);
    }
    let mut waits = server.connect().await;
    waits.ask("/", "Connection: close\r\n").await;
    let mut first = [0];
    let a_while = Duration::from_millis(300);
    assert!(timeout(a_while, waits.0.read_exact(&mut first)).await.is_err());
    held.pop();
    assert!(waits.rest().await.starts_with("HTTP/1.1 200"));
}

/// Before the first request, within one, and behind one.
#[tokio::test(start_paused = true)]
async fn who_asks_nothing_is_let_go() {
    for requested in ["", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"] {
        let (mut client, stream) = duplex(4096);
        let connection = answered(stream, Router::new());
        client.write_all(requested.as_bytes()).await.unwrap();
        let ended = timeout(2 * LONGEST_HEAD, connection).await;
        assert!(ended.is_ok(), "{requested:?} is still waited for");
    }
}

#[tokio::test]
async fn forty_live_views_leave_place_for_pages() {
    let server = Listening::begin().await;
    let mut writer = server.place.store();
    writer.begin(&experiment("9b2c")).unwrap();
    let mut views = Vec::new();
    for _ in 0..40 {
        let mut view = server.connect().await;
        view.ask("/experiment/9b2c/live", "").await;
        assert!(view.head().await.starts_with("HTTP/1.1 200"));
        views.push(view);
    }
    for _ in 0..MOST / 2 {
        let page = server.connect().await.whole("/experiment/9b2c", "").await;
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    }
    for view in &mut views {
        assert!(view.0.read_u8().await.is_ok(), "a view was closed");
    }
}

#[tokio::test]
async fn what_is_refused_is_closed_and_what_is_not_there_is_not() {
    let server = Listening::begin().await;
    let mut client = server.connect().await;
    client.ask("/none", "").await;
    assert!(!client.head().await.contains("connection: close"));
    for more in ["Origin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
        let mut client = server.connect().await;
        client.ask("/", more).await;
        let answer = client.rest().await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    }
}

#[tokio::test]
async fn requests_one_behind_the_other_are_answered_in_their_order() {
    let server = Listening::begin().await;
    server.place.store().import(experiment("9b2c")).unwrap();
    let mut client = server.connect().await;
    let mut all = String::new();
    for number in 0..300 {
        let close = if number == 299 { "Connection: close\r\n" } else { "" };
        all.push_str(&format!(
            "GET /experiment/n{number} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n{close}\r\n"
        ));
    }
    let (mut reader, mut writer) = client.0.split();
    let mut answers = String::new();
    let (sent, read) =
        tokio::join!(writer.write_all(all.as_bytes()), reader.read_to_string(&mut answers));
    sent.and(read.map(|_| ())).unwrap();
    let mut rest = answers.as_str();
    for number in 0..300 {
        let (_, after) = rest
            .split_once(&format!("n{number}&quot;"))
            .or_else(|| rest.split_once(&format!("n{number}\"")))
            .unwrap_or_else(|| panic!("no answer to {number}: {rest}"));
        rest = after;
    }
    assert_eq!(answers.matches("HTTP/1.1 404").count(), 300);
}

/// The answers to requests that are sent without taking any answer must not gather in memory.
#[tokio::test(start_paused = true)]
async fn who_takes_no_answers_is_not_heard_any_more() {
    const HEAD: &[u8] = b"HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    let answers = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&answers);
    let router = Router::new()
        .route("/", get(move || async move { _ = counted.fetch_add(1, Ordering::Relaxed) }));
    let (mut client, stream) = duplex(4096);
    tokio::spawn(async move { answered(stream, router).await.is_err() });
    // One by one, because each that comes wakes the connection.
    let mut sent = 0;
    while sent < 5_000 && timeout(Duration::from_secs(1), client.write_all(HEAD)).await.is_ok() {
        sent += 1;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(sent < 5_000, "all of it was heard");
    let heard = answers.load(Ordering::Relaxed);
    // What had been read already is answered.
    assert!(heard <= 2 * LARGEST_HEAD / HEAD.len(), "{heard}");
}
