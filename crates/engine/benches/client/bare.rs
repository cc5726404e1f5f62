//! The limit: a blocking socket, messages that were all written before, and nothing looked at but the length of a reply.

use crate::questions::{Command, Questions, command};
use crate::turn::{Cost, threads};
use bson::{Document, doc};
use plimsoll_engine::mongo::{Host, LeanOptions};
use std::io::{Read, Write};
use std::net::TcpStream;

pub fn turn(options: &LeanOptions, questions: &Questions, sessions: usize) -> Cost {
    let each = questions.per_session(sessions);
    let prepare = || {
        let Host::Tcp { host, port } = &options.host else {
            panic!("the bare socket is a TCP socket: name a host and a port")
        };
        let stream = TcpStream::connect((host.as_str(), *port)).expect("the server is there");
        stream.set_nodelay(true).expect("the socket is open");
        let mut generator = questions.generator();
        let messages: Vec<Vec<u8>> =
            (0..each).map(|_| message(options, command(generator.next()))).collect();
        (stream, messages)
    };
    threads(sessions, each * sessions as u64, prepare, |(mut stream, messages)| {
        let mut buffer = vec![0; 64 * 1024];
        for message in &messages {
            stream.write_all(message).expect("the server takes it");
            let mut filled = 0;
            loop {
                let read = stream.read(&mut buffer[filled..]).expect("the server answers");
                assert!(read > 0, "the server closed the connection");
                filled += read;
                let length = buffer[..filled].first_chunk().map(|four| u32::from_le_bytes(*four));
                if length.is_some_and(|length| length as usize <= filled) {
                    break;
                }
            }
        }
    })
}

fn message(options: &LeanOptions, command: Command) -> Vec<u8> {
    let (collection, database) = (&options.collection, &options.database);
    let document = match command {
        Command::Find(filter) => doc! {
            "find": collection, "filter": filter, "limit": 1, "singleBatch": true, "$db": database,
        },
        Command::Update { filter, set } => doc! {
            "update": collection, "updates": [{ "q": filter, "u": set }], "$db": database,
        },
    };
    frame(&document)
}

/// A whole message with this document: `OP_MSG`, number 1, in answer to 0.
pub fn frame(document: &Document) -> Vec<u8> {
    let document = document.to_vec().expect("it is a document");
    let mut message = Vec::new();
    message.extend_from_slice(&(21 + document.len() as u32).to_le_bytes());
    for word in [1, 0, 2013, 0_i32] {
        message.extend_from_slice(&word.to_le_bytes());
    }
    message.push(0);
    message.extend_from_slice(&document);
    message
}
