//! Measuring path: no allocation, lock, log or formatting here once the buffer has grown.
//!
//! One connection: a message goes out, a message comes in.

use crate::mongo::host::Host;
use crate::mongo::reply::{self, Flaw};
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_keepalive;
use rustix::net::{RecvFlags, recv};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that the buffer for replies has from the beginning: ten records of YCSB's size.
const FIRST_BUFFER: usize = 16 * 1024;

/// Why a connection can no longer be used.
#[derive(Debug)]
pub(crate) enum Broken {
    Closed {
        /// Received bytes of the reply.
        received: usize,
        /// Bytes of the whole reply, if known.
        expected: Option<usize>,
    },
    Late,
    System(io::Error),
    /// What came is no reply.
    Flaw(Flaw),
}

impl From<Flaw> for Broken {
    fn from(flaw: Flaw) -> Self {
        Self::Flaw(flaw)
    }
}

#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    #[inline]
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => (&*stream).read(into),
            Self::Unix(stream) => (&*stream).read(into),
        }
    }

    #[inline]
    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => (&*stream).write_all(bytes),
            Self::Unix(stream) => (&*stream).write_all(bytes),
        }
    }

    /// Ends every call on it, as if the server had closed the connection.
    #[cold]
    pub(crate) fn shut_down(&self) {
        // A socket that is closed already needs no end.
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

pub(crate) struct Connection {
    socket: Arc<Socket>,
    /// Where replies are received. All of it can be written to; of what it holds, only the reply means anything.
    buffer: Vec<u8>,
    limit: Option<Duration>,
}

impl Connection {
    /// Connects. Until [`limit`](Self::limit) sets another limit, no answer may take longer than connecting.
    pub(crate) fn open(host: &Host, timeout: Duration) -> io::Result<Self> {
        let socket = match host {
            Host::Unix(path) => Socket::Unix(UnixStream::connect(path)?),
            Host::Tcp { host, port } => Socket::Tcp(connect_tcp(host, *port, timeout)?),
        };
        let mut connection =
            Self { socket: Arc::new(socket), buffer: vec![0; FIRST_BUFFER], limit: None };
        connection.limit(Some(timeout))?;
        Ok(connection)
    }

    /// Sets how long the server may take to begin a reply, and again to end it.
    pub(crate) fn limit(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.limit = limit;
        match &*self.socket {
            Socket::Tcp(stream) => {
                stream.set_read_timeout(limit)?;
                stream.set_write_timeout(limit)
            }
            Socket::Unix(stream) => {
                stream.set_read_timeout(limit)?;
                stream.set_write_timeout(limit)
            }
        }
    }

    pub(crate) fn socket(&self) -> &Arc<Socket> {
        &self.socket
    }

    #[inline]
    pub(crate) fn send(&mut self, message: &[u8]) -> Result<(), Broken> {
        self.socket.write_all(message).map_err(|error| broken(error, 0, None))
    }

    /// Fails if an unrequested message came.
    #[cold]
    pub(crate) fn check_silence(&self) -> Result<(), Broken> {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let mut byte = [0; 1];
        let peeked = match &*self.socket {
            Socket::Tcp(stream) => recv(stream, &mut byte[..], flags),
            Socket::Unix(stream) => recv(stream, &mut byte[..], flags),
        };
        match peeked {
            Ok((0, _)) => Err(Broken::Closed { received: 0, expected: None }),
            Ok(_) => Err(Broken::Flaw(Flaw::Unrequested)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(broken(error.into(), 0, None)),
        }
    }

    /// Receives the reply to the request with this id, and says how many bytes it has. It is [there](Self::received) until the next call.
    #[inline]
    pub(crate) fn receive(&mut self, request: i32) -> Result<usize, Broken> {
        let mut filled = 0;
        let mut expected = None;
        // Known from the second part on: most replies come in one.
        let mut deadline = None;
        loop {
            let read = match self.socket.read(&mut self.buffer[filled..]) {
                Ok(0) => {
                    return Err(Broken::Closed { received: filled, expected });
                }
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(broken(error, filled, expected)),
            };
            filled += read;
            if expected.is_none() {
                expected = reply::message_bytes(&self.buffer[..filled])?;
            }
            if let Some(length) = expected
                && filled >= length
            {
                reply::body(&self.buffer[..filled], request)?;
                return Ok(filled);
            }
            if let Some(limit) = self.limit {
                let now = Instant::now();
                if now > *deadline.get_or_insert(now + limit) {
                    return Err(Broken::Late);
                }
            }
            if filled == self.buffer.len() {
                // Never beyond twice what really came, whatever a reply says of itself.
                let more = expected.unwrap_or(filled).min(2 * filled);
                self.buffer.resize(more.max(FIRST_BUFFER), 0);
            }
        }
    }

    /// The document of the reply that was received in this many bytes.
    #[inline]
    pub(crate) fn received(&self, bytes: usize) -> &[u8] {
        &self.buffer[crate::mongo::message::BODY_AT..bytes]
    }

    /// The first bytes that came, for a message about something that is no server.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.buffer[..FIRST_BUFFER.min(16)]
    }
}

fn connect_tcp(host: &str, port: u16, timeout: Duration) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                // A server that vanished without a word is noticed some day.
                set_socket_keepalive(&stream, true)?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

#[cold]
fn broken(error: io::Error, received: usize, expected: Option<usize>) -> Broken {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Broken::Late,
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => Broken::Closed { received, expected },
        _ => Broken::System(error),
    }
}
