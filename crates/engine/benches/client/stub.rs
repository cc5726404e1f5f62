//! A server that answers at once, in a process of its own: its answers were written before the requests come.

use crate::bare::frame;
use bson::spec::BinarySubtype;
use bson::{Binary, doc};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

/// The process, which ends with this.
pub struct Stub {
    process: Child,
    pub port: u16,
}

impl Stub {
    pub fn start() -> Self {
        let program = std::env::current_exe().expect("this program has a path");
        let mut process = Command::new(program)
            .arg("--stub")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let mut line = String::new();
        let out = process.stdout.take().expect("it is a pipe");
        BufReader::new(out).read_line(&mut line).expect("it says its port");
        let port = line.trim().parse().expect("it says its port");
        Self { process, port }
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        // It sees the end of its input. That it may have ended by itself is no matter.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// The whole process of the stub.
pub fn serve() -> ! {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    println!("{port}");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    std::process::exit(0);
}

/// The replies, but for the number of the request, which belongs to bytes 8 to 11.
struct Replies {
    hello: Vec<u8>,
    found: Vec<u8>,
    changed: Vec<u8>,
    done: Vec<u8>,
}

impl Replies {
    fn new() -> Self {
        let mut record = doc! { "_id": "user6284781860667377211" };
        for index in 0..10 {
            let subtype = BinarySubtype::Generic;
            let bytes = vec![b'a' + index; 100];
            record.insert(format!("field{index}"), Binary { subtype, bytes });
        }
        Self {
            hello: frame(&doc! {
                "helloOk": true,
                "ismaster": true,
                "isWritablePrimary": true,
                "maxBsonObjectSize": 16_777_216,
                "maxMessageSizeBytes": 48_000_000,
                "maxWriteBatchSize": 100_000,
                "logicalSessionTimeoutMinutes": 30,
                "minWireVersion": 0,
                "maxWireVersion": 17,
                "readOnly": false,
                "ok": 1.0,
            }),
            found: frame(&doc! {
                "cursor": { "firstBatch": [record], "id": 0_i64, "ns": "ycsb.usertable" },
                "ok": 1.0,
            }),
            changed: frame(&doc! { "n": 1, "nModified": 1, "ok": 1.0 }),
            done: frame(&doc! { "ok": 1.0 }),
        }
    }

    /// The first element of a command is named after it, and begins behind its type.
    fn to(&mut self, request: &[u8]) -> &mut Vec<u8> {
        let name = &request[26..];
        if name.starts_with(b"find\0") {
            &mut self.found
        } else if name.starts_with(b"update\0") {
            &mut self.changed
        } else if name.to_ascii_lowercase().starts_with(b"ismaster\0")
            || name.starts_with(b"hello\0")
        {
            &mut self.hello
        } else {
            &mut self.done
        }
    }
}

fn answer(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut replies = Replies::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let mut filled = 0;
        let length = loop {
            match stream.read(&mut buffer[filled..]) {
                Ok(0) | Err(_) => return,
                Ok(read) => filled += read,
            }
            let length =
                buffer[..filled].first_chunk().map(|four| u32::from_le_bytes(*four) as usize);
            if let Some(length) = length.filter(|length| *length <= filled) {
                break length;
            }
        };
        let reply = replies.to(&buffer[..length]);
        reply[8..12].copy_from_slice(&buffer[4..8]);
        if stream.write_all(reply).is_err() {
            return;
        }
    }
}
