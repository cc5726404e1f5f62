//! Clients that mean harm, over the network of this machine: each address of its loopback is a peer of its own.

use super::places::{MOST, MOST_STRANGERS, MOST_STRANGERS_OF_A_PEER};
use super::*;
use crate::access::Token;
use crate::tests::{Place, experiment, place_with};
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::net::TcpSocket;
use tokio::time::timeout;

const TOKEN: &str = "0123456789abcdef0123";

/// A server that listens.
struct Listening {
    place: Place,
    address: SocketAddr,
}

impl Listening {
    async fn begin(token: Option<Token>) -> Self {
        let place = place_with(token);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(
            listener,
            place.router.clone(),
            Arc::clone(&place.app.places),
            place.app.closing.clone(),
        ));
        Self { place, address }
    }

    /// A connection from 127.0.0.`last`.
    async fn connect(&self, last: u8) -> Client {
        let socket = TcpSocket::new_v4().unwrap();
        socket
            .bind(SocketAddr::from(([127, 0, 0, last], 0)))
            .unwrap();
        Client(socket.connect(self.address).await.unwrap())
    }

    fn count(&self) -> (usize, usize) {
        self.place.app.places.count()
    }
}

struct Client(TcpStream);

impl Client {
    async fn ask(&mut self, path: &str, more: &str) {
        let head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{more}\r\n");
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
        self.ask(path, &format!("Connection: close\r\n{more}"))
            .await;
        self.rest().await
    }
}

fn token() -> Option<Token> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, TOKEN).unwrap();
    crate::access::tests::only_ours(&path);
    Some(Token::read(&path).unwrap())
}

/// 64 connections that ask without the token again and again, and 200 that ask nothing, took all places there were.
#[tokio::test]
async fn who_has_no_token_cannot_lock_out_who_has_it() {
    let server = Listening::begin(token()).await;
    let mut without = Vec::new();
    for _ in 0..64 {
        let mut client = server.connect(2).await;
        // Not asked to, the server closes: the next attempt costs another connection.
        client.ask("/", "").await;
        without.push(client);
    }
    for client in &mut without {
        let refused = client.rest().await;
        // The first ones may have gone to make place for the last ones.
        assert!(refused.is_empty() || refused.contains("401"), "{refused}");
        assert!(refused.is_empty() || refused.contains("connection: close\r\n"));
    }
    let mut idle = Vec::new();
    for number in 0..200 {
        idle.push(server.connect(2 + (number % 5) as u8).await);
    }
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    for _ in 0..5 {
        let answer = server.connect(1).await.whole("/", &bearer).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let (strangers, _) = server.count();
    assert!(strangers <= MOST_STRANGERS, "{strangers}");
    // Nobody waits for a place: who has lost it is told at once.
    assert_eq!(idle[0].rest().await, "");
}

/// Without a token all users of the machine may ask, and all of them are one peer.
#[tokio::test]
async fn who_holds_connections_and_asks_nothing_loses_them_to_who_asks() {
    let server = Listening::begin(None).await;
    let mut idle = Vec::new();
    for _ in 0..MOST + 10 {
        let mut client = server.connect(1).await;
        client.ask("/none", "").await;
        assert!(client.head().await.starts_with("HTTP/1.1 404"));
        idle.push(client);
    }
    for _ in 0..5 {
        let answer = server.connect(1).await.whole("/", "").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let (_, admitted) = server.count();
    assert!(admitted <= MOST, "{admitted}");
    // The oldest went first.
    idle[0].rest().await;
    for _ in 0..MOST {
        idle.push(server.connect(1).await);
    }
    let answer = server.connect(1).await.whole("/", "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(server.count().0 <= MOST_STRANGERS_OF_A_PEER);
}

#[tokio::test]
async fn forty_live_views_leave_place_for_pages() {
    let server = Listening::begin(None).await;
    let mut writer = server.place.store();
    writer.begin(&experiment("9b2c")).unwrap();
    let mut views = Vec::new();
    for _ in 0..40 {
        let mut view = server.connect(1).await;
        view.ask("/experiment/9b2c/live", "").await;
        assert!(view.head().await.starts_with("HTTP/1.1 200"));
        views.push(view);
    }
    for _ in 0..MOST {
        let page = server.connect(1).await.whole("/experiment/9b2c", "").await;
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    }
    for view in &mut views {
        assert!(view.0.read_u8().await.is_ok(), "a view was closed");
    }
}

#[tokio::test]
async fn what_is_refused_is_closed_and_what_is_not_there_is_not() {
    let server = Listening::begin(None).await;
    let mut client = server.connect(1).await;
    client.ask("/none", "").await;
    assert!(!client.head().await.contains("connection: close"));
    for more in [
        "Origin: http://evil.example\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
    ] {
        let mut client = server.connect(1).await;
        client.ask("/", more).await;
        let answer = client.rest().await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    }
}

#[tokio::test]
async fn requests_one_behind_the_other_are_answered_in_their_order() {
    let server = Listening::begin(None).await;
    server.place.store().import(experiment("9b2c")).unwrap();
    let mut client = server.connect(1).await;
    let mut all = String::new();
    for number in 0..300 {
        let close = if number == 299 {
            "Connection: close\r\n"
        } else {
            ""
        };
        all.push_str(&format!(
            "GET /experiment/n{number} HTTP/1.1\r\nHost: 127.0.0.1\r\n{close}\r\n"
        ));
    }
    let (mut reader, mut writer) = client.0.split();
    let mut answers = String::new();
    let (sent, read) = tokio::join!(
        writer.write_all(all.as_bytes()),
        reader.read_to_string(&mut answers)
    );
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

fn requester() -> (super::places::Place, Requester) {
    let places = Arc::new(Places::default());
    let place = places.enter(Peer::of([127, 0, 0, 1].into()));
    let link = Arc::clone(place.link());
    (place, Requester { places, link })
}

/// The answers to requests that are sent without taking any answer must not gather in memory, and what is kept for them is let go.
#[tokio::test(start_paused = true)]
async fn who_takes_no_answers_is_not_heard_any_more_and_then_cut_off() {
    const HEAD: &[u8] = b"HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    let answers = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&answers);
    let router = Router::new().route(
        "/",
        get(move || async move { _ = counted.fetch_add(1, Ordering::Relaxed) }),
    );
    let (mut client, stream) = duplex(4096);
    let (_place, requester) = requester();
    let connection = answered(stream, router, requester, TakenAt([127, 0, 0, 1].into()));
    let connection = tokio::spawn(async move { connection.await.is_err() });
    // One by one, because each that comes wakes the connection.
    let mut sent = 0;
    while sent < 5_000
        && timeout(Duration::from_secs(1), client.write_all(HEAD))
            .await
            .is_ok()
    {
        sent += 1;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(sent < 5_000, "all of it was heard");
    let heard = answers.load(Ordering::Relaxed);
    // What had been read already is answered.
    assert!(heard <= 2 * LARGEST_HEAD / HEAD.len(), "{heard}");
    let cut_off = timeout(2 * LONGEST_SILENCE, connection).await;
    assert!(cut_off.expect("it is cut off").unwrap());
}

/// A few bytes now and then are no reading.
#[tokio::test(start_paused = true)]
async fn who_takes_too_little_is_cut_off_and_who_takes_enough_is_not() {
    let large = Bytes::from(vec![b'x'; 8 << 20]);
    let router = Router::new().route("/", get(move || async move { large }));
    for (piece, is_cut_off) in [(100, true), (64 << 10, false)] {
        let (mut client, stream) = duplex(4096);
        let (_place, requester) = requester();
        let connection = answered(
            stream,
            router.clone(),
            requester,
            TakenAt([127, 0, 0, 1].into()),
        );
        let connection = tokio::spawn(async move { connection.await.is_err() });
        client
            .write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        let mut taken = 0;
        let mut buffer = vec![0; piece];
        loop {
            tokio::time::sleep(Duration::from_secs(20)).await;
            match client.read_exact(&mut buffer).await {
                Ok(_) => taken += piece,
                Err(_) => break,
            }
        }
        assert_eq!(taken < 1 << 20, is_cut_off, "{taken}");
        assert_eq!(connection.await.unwrap(), is_cut_off);
    }
}
