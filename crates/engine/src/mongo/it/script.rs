//! A server that plays a script: a thread on a loopback socket.

use crate::mongo::{Host, LeanOptions};
use bson::{Document, doc};
use plimsoll_workload::DataSpec;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

/// What the server does about one request.
pub enum Act {
    Reply(Document),
    /// Answers with the bytes that are made of the request's id.
    Bytes(Box<dyn Fn(i32) -> Vec<u8> + Send>),
    /// Answers with the bytes that are made of the request's id, and closes the connection.
    Cut(Box<dyn Fn(i32) -> Vec<u8> + Send>),
    /// Answers nothing, until the other side closes the connection.
    Silence,
}

impl Act {
    pub fn bytes(make: impl Fn(i32) -> Vec<u8> + Send + 'static) -> Self {
        Self::Bytes(Box::new(make))
    }

    pub fn cut(make: impl Fn(i32) -> Vec<u8> + Send + 'static) -> Self {
        Self::Cut(Box::new(make))
    }
}

pub struct Script {
    pub host: Host,
    thread: JoinHandle<Vec<Vec<u8>>>,
}

impl Script {
    /// Plays one connection after the other; each is greeted as by a primary before its acts. When an act is missing, or the connection
    /// ends, so does the connection's part.
    pub fn play(connections: Vec<Vec<Act>>) -> Self {
        let greeted = connections.into_iter().map(|mut acts| {
            acts.insert(0, Act::Reply(hello()));
            acts
        });
        Self::play_bare(greeted.collect())
    }

    /// The same without a greeting.
    pub fn play_bare(connections: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = std::thread::spawn(move || {
            let mut requests = Vec::new();
            for acts in connections {
                let (mut stream, _) = listener.accept().unwrap();
                act(&mut stream, acts, &mut requests);
            }
            requests
        });
        let host = Host::Tcp { host: "127.0.0.1".into(), port };
        Self { host, thread }
    }

    pub fn options(&self, data: &DataSpec) -> LeanOptions {
        LeanOptions::new(self.host.clone(), "ycsb", data)
    }

    /// All requests as they came, with the greetings. The client must be gone.
    pub fn requests(self) -> Vec<Vec<u8>> {
        self.thread.join().unwrap()
    }
}

fn act(stream: &mut TcpStream, acts: Vec<Act>, requests: &mut Vec<Vec<u8>>) {
    for act in acts {
        let Some(request) = receive(stream) else {
            return;
        };
        let id = i32::from_le_bytes(request[4..8].try_into().unwrap());
        requests.push(request);
        match act {
            Act::Reply(document) => stream.write_all(&reply(id, &document)).unwrap(),
            Act::Bytes(make) => stream.write_all(&make(id)).unwrap(),
            Act::Cut(make) => return stream.write_all(&make(id)).unwrap(),
            Act::Silence => {}
        }
    }
    // The last act was seen; what else comes is recorded, and then the other side is gone.
    while let Some(request) = receive(stream) {
        requests.push(request);
    }
}

fn receive(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut request = vec![0; 4];
    stream.read_exact(&mut request).ok()?;
    let length = u32::from_le_bytes(request[..4].try_into().unwrap()) as usize;
    request.resize(length, 0);
    stream.read_exact(&mut request[4..]).ok()?;
    Some(request)
}

/// A whole message: `OP_MSG` with one document.
pub fn message(id: i32, answers: i32, flags: u32, sections: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    message.extend_from_slice(&(20 + sections.len() as u32).to_le_bytes());
    message.extend_from_slice(&id.to_le_bytes());
    message.extend_from_slice(&answers.to_le_bytes());
    message.extend_from_slice(&2013_i32.to_le_bytes());
    message.extend_from_slice(&flags.to_le_bytes());
    message.extend_from_slice(sections);
    message
}

/// A section with one document.
pub fn body(document: &Document) -> Vec<u8> {
    let mut section = vec![0];
    section.extend_from_slice(&document.to_vec().unwrap());
    section
}

pub fn reply(answers: i32, document: &Document) -> Vec<u8> {
    message(77, answers, 0, &body(document))
}

/// How a primary of MongoDB 6.0 greets.
pub fn hello() -> Document {
    doc! {
        "helloOk": true,
        "ismaster": true,
        "maxBsonObjectSize": 16_777_216,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "localTime": bson::DateTime::from_millis(1),
        "minWireVersion": 0,
        "maxWireVersion": 17,
        "readOnly": false,
        "ok": 1.0,
    }
}

/// The reply to a search that found these and may have more.
pub fn found(batch: &str, documents: &[Document], cursor: i64) -> Document {
    doc! {
        "cursor": { batch: documents, "id": cursor, "ns": "ycsb.usertable" },
        "ok": 1.0,
    }
}
