//! A server of our own that answers as a test wants: for what no real one can be made to do.

use bson::{Document, doc};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

const OP_REPLY: i32 = 1;
const OP_QUERY: i32 = 2_004;
const OP_MSG: i32 = 2_013;

/// What a server does with a command.
pub enum Answer {
    Reply(Document),
    /// The first bytes of a reply, and the end of the connection.
    CutOff(Document, usize),
    /// Nothing, for as long as the client waits.
    Never,
}

type Script = dyn Fn(&Document) -> Answer + Send + Sync;

/// Listens until it is dropped.
pub struct Scripted {
    pub port: u16,
    stop: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<TcpStream>>>,
    listener: Option<JoinHandle<()>>,
}

impl Scripted {
    pub fn start(script: impl Fn(&Document) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        Self::on(listener, script)
    }

    /// On a port that is known before.
    pub fn on(
        listener: TcpListener,
        script: impl Fn(&Document) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let script: Arc<Script> = Arc::new(script);
        Self::listen(listener, move |stream| {
            let _ = converse(stream, &*script);
        })
    }

    /// Does anything else with each connection.
    pub fn raw(conversation: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        Self::listen(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(), conversation)
    }

    fn listen(
        listener: TcpListener,
        conversation: impl Fn(TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let port = listener.local_addr().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let connections = Arc::new(Mutex::new(Vec::new()));
        let conversation = Arc::new(conversation);
        let (stopped, kept) = (Arc::clone(&stop), Arc::clone(&connections));
        let listener = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let stream = stream.unwrap();
                kept.lock().unwrap().push(stream.try_clone().unwrap());
                let conversation = Arc::clone(&conversation);
                // Ends when either side closes the connection.
                std::thread::spawn(move || conversation(stream));
            }
        });
        Self { port, stop, connections, listener: Some(listener) }
    }

    pub fn uri(&self) -> String {
        format!("mongodb://127.0.0.1:{}/", self.port)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        self.listener.take().unwrap().join().unwrap();
        for connection in self.connections.lock().unwrap().iter() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn converse(mut stream: TcpStream, script: &Script) -> std::io::Result<()> {
    loop {
        let mut header = [0; 16];
        stream.read_exact(&mut header)?;
        let number = |at: usize| i32::from_le_bytes(header[at..at + 4].try_into().unwrap());
        let mut body = vec![0; number(0) as usize - 16];
        stream.read_exact(&mut body)?;
        let (request, operation) = (number(4), number(12));
        let mut reply = Vec::new();
        let (command, answer_as) = match operation {
            OP_QUERY => {
                let name_ends = 4 + body[4..].iter().position(|byte| *byte == 0).unwrap() + 1;
                reply.extend(8_i32.to_le_bytes());
                reply.extend([0; 12]);
                reply.extend(1_i32.to_le_bytes());
                (&body[name_ends + 8..], OP_REPLY)
            }
            OP_MSG => {
                reply.extend([0; 5]);
                (&body[5..], OP_MSG)
            }
            other => panic!("operation {other} is not spoken here"),
        };
        // What follows a document, such as a sequence of others, is left alone.
        let length = i32::from_le_bytes(command[..4].try_into().unwrap()) as usize;
        let command = Document::from_reader(&command[..length]).unwrap();
        let (document, cut) = match script(&command) {
            Answer::Reply(document) => (document, None),
            Answer::CutOff(document, bytes) => (document, Some(bytes)),
            Answer::Never => return stream.read_exact(&mut [0]),
        };
        reply.extend(document.to_vec().unwrap());
        let mut message = Vec::new();
        for number in [reply.len() as i32 + 16, 1, request, answer_as] {
            message.extend(number.to_le_bytes());
        }
        message.extend(reply);
        match cut {
            None => stream.write_all(&message)?,
            Some(bytes) => {
                stream.write_all(&message[..bytes])?;
                return stream.shutdown(Shutdown::Both);
            }
        }
    }
}

/// How a standalone of a recent version greets.
pub fn greeting() -> Document {
    doc! {
        "helloOk": true,
        "ismaster": true,
        "isWritablePrimary": true,
        "maxBsonObjectSize": 16_777_216,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "localTime": bson::DateTime::from_millis(0),
        "minWireVersion": 0,
        "maxWireVersion": 17,
        "readOnly": false,
        "ok": 1.0,
    }
}

pub fn first_word(command: &Document) -> &str {
    command.keys().next().map_or("", String::as_str)
}

pub fn is_greeting(command: &Document) -> bool {
    matches!(first_word(command), "hello" | "isMaster" | "ismaster")
}

/// As a server with an empty database answers all commands before the first operation.
pub fn by_default(command: &Document) -> Answer {
    if is_greeting(command) {
        return Answer::Reply(greeting());
    }
    let empty =
        doc! { "ok": 1.0, "cursor": { "id": 0_i64, "ns": "ycsb.usertable", "firstBatch": [] } };
    Answer::Reply(match first_word(command) {
        "buildInfo" => doc! { "ok": 1.0, "version": "6.0.5" },
        "listCollections" | "find" => empty,
        "ping" | "endSessions" | "create" | "update" | "insert" => doc! { "ok": 1.0, "n": 1 },
        "serverStatus" => doc! { "ok": 1.0, "connections": { "current": 3 } },
        _ => refusal(59, "CommandNotFound", "no such command"),
    })
}

pub fn refusal(code: i32, name: &str, message: &str) -> Document {
    doc! { "ok": 0.0, "errmsg": message, "code": code, "codeName": name }
}
