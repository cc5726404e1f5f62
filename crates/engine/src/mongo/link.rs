//! Measuring path: no allocation, lock, log or formatting here while the connection lasts and the server does as requested.
//!
//! A connection that is made again when it broke.

use crate::mongo::connection::{Broken, Connection};
use crate::mongo::error::{LeanError, STATE_CHANGES, explain};
use crate::mongo::greeting::{self, Server};
use crate::mongo::message::Message;
use crate::mongo::options::LeanOptions;
use crate::mongo::reply::{Failure, Refusal};
use std::sync::Arc;
use std::time::Instant;

/// Duplicate key, also as older servers number it.
const DUPLICATES: [i32; 3] = [11_000, 11_001, 12_582];
/// An object is too large: before it was stored, and after it was changed.
const TOO_LARGE: [i32; 2] = [10_334, 17_419];

/// Unacknowledged messages between two reads of the socket. A server that answers them nevertheless would stop reading once its answers
/// fill the buffers.
const SENT_BETWEEN_CHECKS: u32 = 100;

/// One connection to one server, with what both know of each other.
pub(crate) struct Link {
    options: Arc<LeanOptions>,
    host: Box<str>,
    connection: Option<Connection>,
    server: Server,
    id: i32,
    /// When the last connection broke, or its server ceased to be the primary, and none was made since.
    lost: Option<Instant>,
    /// The version of the finder's knowledge at the last check whether the host is still to be used.
    version: u64,
    /// Messages without an answer that were sent since the last look for one.
    sent_since_check: u32,
}

impl Link {
    /// Connects to the host of the options. If that is no longer the primary, to the next one.
    pub(crate) fn open(options: LeanOptions) -> Result<Self, LeanError> {
        let mut host = options.host.to_string().into_boxed_str();
        let mut options = Arc::new(options);
        let mut id = 0;
        let mut made = greeting::connect(&options, &host, &mut id);
        if options.finder.is_some() && made.as_ref().is_err_and(LeanError::passes) {
            find_server(&mut options, &mut host, Instant::now())?;
            made = greeting::connect(&options, &host, &mut id);
        }
        let (connection, server) = made?;
        Ok(Self {
            options,
            host,
            connection: Some(connection),
            server,
            id,
            lost: None,
            version: 0,
            sent_since_check: 0,
        })
    }

    #[inline]
    pub(crate) fn options(&self) -> &LeanOptions {
        &self.options
    }

    #[inline]
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    #[inline]
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Sends a message, and gives the document of its reply.
    #[inline]
    pub(crate) fn call(&mut self, message: &mut Message) -> Result<&[u8], LeanError> {
        let id = self.next_id();
        let message = message.finish(id);
        self.exchange(message, id)
    }

    /// The same with only a part of a sequence, which ends at `end`.
    pub(crate) fn call_up_to(
        &mut self,
        message: &mut Message,
        end: usize,
    ) -> Result<&[u8], LeanError> {
        let id = self.next_id();
        let message = message.finish_at(end, id);
        self.exchange(message, id)
    }

    /// Sends a message that is not answered.
    pub(crate) fn tell(&mut self, message: &mut Message) -> Result<(), LeanError> {
        let id = self.next_id();
        self.send(message.finish(id))
    }

    /// The same with only a part of a sequence, which ends at `end`.
    pub(crate) fn tell_up_to(
        &mut self,
        message: &mut Message,
        end: usize,
    ) -> Result<(), LeanError> {
        let id = self.next_id();
        self.send(message.finish_at(end, id))
    }

    fn send(&mut self, message: &[u8]) -> Result<(), LeanError> {
        self.sent_since_check = (self.sent_since_check + 1) % SENT_BETWEEN_CHECKS;
        let is_to_check = self.sent_since_check == 0;
        let connection = self.connection()?;
        let mut sent = connection.send(message);
        if is_to_check {
            sent = sent.and_then(|()| connection.check_silence());
        }
        sent.map_err(|broken| self.broke(broken))
    }

    #[inline]
    fn next_id(&mut self) -> i32 {
        self.id = self.id.wrapping_add(1);
        self.id
    }

    #[inline]
    fn exchange(&mut self, message: &[u8], id: i32) -> Result<&[u8], LeanError> {
        let connection = self.connection()?;
        let exchanged = match connection.send(message) {
            Ok(()) => connection.receive(id),
            Err(broken) => Err(broken),
        };
        match exchanged {
            Ok(bytes) => Ok(self.connection()?.received(bytes)),
            Err(broken) => Err(self.broke(broken)),
        }
    }

    #[inline]
    fn connection(&mut self) -> Result<&mut Connection, LeanError> {
        if self.connection.is_none() {
            self.connect_again()?;
        }
        Ok(self.connection.as_mut().expect("it was made just now"))
    }

    #[cold]
    fn connect_again(&mut self) -> Result<(), LeanError> {
        if self.options.open_socket.is_interrupted() {
            let host = self.host.clone();
            return Err(LeanError::Interrupted { host });
        }
        if let Some(lost) = self.lost {
            let found = find_server(&mut self.options, &mut self.host, lost);
            if found.is_err() {
                // The next request begins to wait from its own time.
                self.lost = Some(Instant::now());
            }
            found?;
        }
        let made = greeting::connect(&self.options, &self.host, &mut self.id);
        self.lost = made.is_err().then(Instant::now);
        let (connection, server) = made?;
        self.connection = Some(connection);
        self.server = server;
        Ok(())
    }

    /// Leaves a server that is no longer the one to read from.
    #[inline]
    pub(crate) fn follow(&mut self) {
        if let Some(finder) = &self.options.finder
            && finder.has_left(&self.options.host, &mut self.version)
        {
            self.give_up();
        }
    }

    /// Whether to send a read that failed so once more.
    #[cold]
    pub(crate) fn repeats_read(&self, error: &LeanError) -> bool {
        self.options.retry_reads && error.passes()
    }

    #[cold]
    fn give_up(&mut self) {
        self.connection = None;
        self.lost = Some(Instant::now());
    }

    #[cold]
    fn broke(&mut self, broken: Broken) -> LeanError {
        self.give_up();
        if self.options.open_socket.is_interrupted() {
            let host = self.host.clone();
            return LeanError::Interrupted { host };
        }
        let limit = self.options.call_timeout;
        explain(broken, &self.host, limit.unwrap_or(self.options.connect_timeout))
    }

    /// The error for a failure. Some failures make the connection useless: it is closed.
    #[cold]
    pub(crate) fn failed(&mut self, failure: Failure) -> LeanError {
        let refusal = match &failure {
            Failure::Flaw(_) => None,
            Failure::Refused(refusal) | Failure::NotDurable(refusal) => Some(refusal),
            Failure::NotWritten { first, .. } => Some(first),
        };
        // The next server has to say whether it is the primary.
        if refusal.is_none_or(|refusal| STATE_CHANGES.contains(&refusal.code)) {
            self.give_up();
        }
        let host = || self.host.clone();
        match failure {
            Failure::Flaw(flaw) => LeanError::Protocol { host: host(), flaw },
            Failure::Refused(refusal) => self.refused(refusal),
            Failure::NotWritten { first, .. } => self.refused(first),
            Failure::NotDurable(refusal) => LeanError::WriteConcern {
                host: host(),
                code: refusal.code,
                name: refusal.name,
                message: refusal.message,
            },
        }
    }

    /// The same for a batch of this many records.
    #[cold]
    pub(crate) fn batch_failed(&mut self, failure: Failure, sent: u64) -> LeanError {
        let refused = match &failure {
            Failure::NotWritten { refused, .. } => *refused,
            _ => return self.failed(failure),
        };
        LeanError::Batch { refused, sent, first: Box::new(self.failed(failure)) }
    }

    fn refused(&self, refusal: Refusal) -> LeanError {
        let host = self.host.clone();
        let Refusal { code, name, message } = refusal;
        if DUPLICATES.contains(&code) {
            return LeanError::Duplicate { host, index: index_in(&message).into() };
        }
        if TOO_LARGE.contains(&code) {
            return LeanError::TooLarge { host, bytes: 0, most: self.server.document_bytes };
        }
        if STATE_CHANGES.contains(&code) {
            let said = format!("{message} ({name}, code {code})").into();
            return LeanError::NotPrimary { host, said };
        }
        LeanError::Refused { host, code, name, message }
    }
}

/// The unique index that a server names where it refuses a duplicate: `… index: email_1 dup key: …`.
fn index_in(message: &str) -> &str {
    let named = message.split_once(" index: ").map_or("", |(_, named)| named);
    let ends = [" dup key", " collation"].into_iter().filter_map(|end| named.find(end));
    ends.min().map_or("", |end| &named[..end])
}

/// Sets the host to the server as known after this moment, if the options say how it is found.
#[cold]
fn find_server(
    options: &mut Arc<LeanOptions>,
    host: &mut Box<str>,
    lost: Instant,
) -> Result<(), LeanError> {
    let Some(finder) = &options.finder else {
        return Ok(());
    };
    let Some(found) = finder.find(&options.host, lost) else {
        let host = host.clone();
        return Err(match options.takes_secondaries {
            true => LeanError::NoMember { host },
            false => LeanError::NoPrimary { host },
        });
    };
    if found != options.host {
        *host = found.to_string().into_boxed_str();
        Arc::make_mut(options).host = found;
    }
    Ok(())
}
