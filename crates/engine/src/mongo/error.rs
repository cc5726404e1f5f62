//! What can go wrong between the lean client and a server.

use crate::mongo::connection::Broken;
use crate::mongo::reply::Flaw;
use std::io;

/// Numbers of errors by which a server says that it is not, or no longer, the primary, or that it shuts down. From the list of state
/// change errors in MongoDB's specification of server discovery.
pub(crate) const STATE_CHANGES: [i32; 8] =
    [10_107, 13_435, 11_602, 13_436, 189, 91, 11_600, 10_058];
/// Numbers of errors of a server that pass, beside [`STATE_CHANGES`].
const PASSING: [i32; 5] = [6, 7, 89, 262, 9_001];

/// Why something was not done. Every message names the server and none holds a password.
#[derive(Debug, thiserror::Error)]
pub enum LeanError {
    /// The address does not answer.
    #[error(
        "cannot connect to {host}: {source}; see whether the server runs, and whether this is its address"
    )]
    Connect { host: Box<str>, source: io::Error },
    /// There was no primary for too long, or no `mongos`.
    #[error(
        "{host} is not available, and no other member took its place in time; see the servers' logs for why they chose no primary"
    )]
    NoPrimary {
        /// The server that was it before.
        host: Box<str>,
    },
    /// There was no member for too long that a read preference allows.
    #[error(
        "{host} is not available, and no other member that the read preference allows was found in time; see the servers' logs for what they are"
    )]
    NoMember {
        /// The member that was read from before.
        host: Box<str>,
    },
    /// Something answers that is no MongoDB, or one that does not speak this protocol.
    #[error(
        "what answers at {host} is no MongoDB of version 3.6 or later, or wants TLS: {reason}; see whether the address is right"
    )]
    NotMongo { host: Box<str>, reason: Box<str> },
    /// A MongoDB that is too old.
    #[error(
        "{host} is too old: it speaks version {found} of the protocol, and {least} (MongoDB 3.6) or later is needed; use a newer server"
    )]
    TooOld { host: Box<str>, found: i64, least: i64 },
    /// The server does not take writes: it is a secondary, or was just made one.
    #[error(
        "{host} is not the primary: {said}; name the replica set, by which its primary is found"
    )]
    NotPrimary {
        host: Box<str>,
        /// In which state it is, or how it refused.
        said: Box<str>,
    },
    /// User, password or mechanism were refused, or the server could not prove that it knows the password.
    #[error(
        "{host} does not let the user `{user}` in: {reason}; see whether user, password and `authSource` are right"
    )]
    Authentication { host: Box<str>, user: Box<str>, reason: Box<str> },
    /// The caller ended the connection while it waited.
    #[error("{host} did not answer, and the connection was closed")]
    Interrupted { host: Box<str> },
    /// There is already a record with this key.
    #[error("{host}: there is already a record with this key")]
    Duplicate { host: Box<str>, index: Box<str> },
    /// There is already a document of the application with this `_id`.
    #[error("{host}: there is already a document with this `_id`")]
    SameId { host: Box<str> },
    /// A document of the application has a value that a unique index has of another one.
    #[error(
        "{host}: the index {index} is unique, and the generator gives two documents the same value: give the field `unique: true`"
    )]
    SameValue { host: Box<str>, index: Box<str> },
    /// The server refused an operation, in its own words.
    #[error("{host} refused: {message} ({name}, code {code})")]
    Refused { host: Box<str>, code: i32, name: Box<str>, message: Box<str> },
    /// The change was made, but not as durably as requested.
    #[error(
        "{host} made the change but could not satisfy the write concern: {message} ({name}, code {code})"
    )]
    WriteConcern { host: Box<str>, code: i32, name: Box<str>, message: Box<str> },
    /// Some or all records of a batch were refused; the others are stored.
    #[error("{refused} of {sent} records of a batch were not stored, the first because: {first}")]
    Batch { refused: u64, sent: u64, first: Box<LeanError> },
    /// A reply that is not what the protocol says.
    #[error("{host} does not keep to the protocol: {flaw}")]
    Protocol {
        host: Box<str>,
        /// What is wrong with the reply.
        flaw: Flaw,
    },
    /// A document that no server takes.
    #[error(
        "a record of {bytes} bytes is too large for {host}, which takes at most {most}; make fields fewer or shorter"
    )]
    TooLarge {
        host: Box<str>,
        /// Bytes of the document; 0 if only the server knows, because an update made it too large.
        bytes: u64,
        most: u64,
    },
    /// The connection ended before the reply was complete. Whether the operation was carried out is unknown.
    #[error(
        "{host} closed the connection {when}; see its log for why it ended or whether it was restarted",
        when = Progress { received: *received, expected: *expected }
    )]
    Disconnected {
        host: Box<str>,
        /// Received bytes of the reply.
        received: u64,
        /// Bytes of the whole reply, if its length was received.
        expected: Option<u64>,
    },
    /// The operating system gave the connection up. Whether the operation was carried out is unknown.
    #[error("the connection to {host} failed: {source}; check the server and the network")]
    Lost { host: Box<str>, source: io::Error },
    /// No reply in time. The connection is given up, because the reply may still come.
    #[error(
        "{host} did not answer within {limit_ms} ms; it may be overloaded, or the limit too short"
    )]
    Timeout { host: Box<str>, limit_ms: u64 },
    /// The client cannot do the operation.
    #[error("{reason}")]
    Options {
        /// Why, and what to do.
        reason: Box<str>,
    },
}

/// How much of a reply was received.
struct Progress {
    received: u64,
    expected: Option<u64>,
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.received, self.expected) {
            (0, _) => f.write_str("instead of answering"),
            (received, Some(expected)) => {
                write!(f, "in the middle of a reply, after {received} of {expected} bytes")
            }
            (received, None) => {
                write!(f, "in the middle of a reply, after {received} bytes")
            }
        }
    }
}

/// Kinds of [`LeanError`], to count by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeanErrorKind {
    /// No connection to a fit server.
    Connect,
    Authentication,
    /// Not the primary, or no longer.
    NotPrimary,
    Refused,
    /// There is such a record already.
    Duplicate,
    /// Done, but not as durably as requested.
    WriteConcern,
    /// Something that is no reply.
    Protocol,
    TooLarge,
    /// The connection ended before the reply.
    Disconnected,
    Timeout,
    Options,
}

impl LeanError {
    /// The same in words of an application, which has documents and not records under keys.
    pub(crate) fn of_documents(self) -> Self {
        match self {
            Self::Duplicate { host, index } => match &*index {
                "" | "_id_" => Self::SameId { host },
                _ => Self::SameValue { host, index },
            },
            Self::Batch { refused, sent, first } => {
                Self::Batch { refused, sent, first: Box::new(first.of_documents()) }
            }
            other => other,
        }
    }

    /// Whether what failed may be sent once more: the connection or the primary was lost, not the operation refused. From MongoDB's
    /// specifications of retryable reads and writes.
    pub(crate) fn passes(&self) -> bool {
        match self {
            Self::Connect { .. }
            | Self::NotPrimary { .. }
            | Self::Disconnected { .. }
            | Self::Lost { .. }
            | Self::Timeout { .. } => true,
            Self::Refused { code, .. } | Self::WriteConcern { code, .. } => {
                PASSING.contains(code) || STATE_CHANGES.contains(code)
            }
            _ => false,
        }
    }

    /// The kind of the error; for a batch, the kind of its first refusal.
    pub fn kind(&self) -> LeanErrorKind {
        match self {
            Self::Connect { .. }
            | Self::NoPrimary { .. }
            | Self::NoMember { .. }
            | Self::NotMongo { .. }
            | Self::TooOld { .. } => LeanErrorKind::Connect,
            Self::NotPrimary { .. } => LeanErrorKind::NotPrimary,
            Self::Authentication { .. } => LeanErrorKind::Authentication,
            Self::Duplicate { .. } | Self::SameId { .. } | Self::SameValue { .. } => {
                LeanErrorKind::Duplicate
            }
            Self::Refused { .. } => LeanErrorKind::Refused,
            Self::WriteConcern { .. } => LeanErrorKind::WriteConcern,
            Self::Batch { first, .. } => first.kind(),
            Self::Protocol { .. } => LeanErrorKind::Protocol,
            Self::TooLarge { .. } => LeanErrorKind::TooLarge,
            Self::Interrupted { .. } | Self::Disconnected { .. } | Self::Lost { .. } => {
                LeanErrorKind::Disconnected
            }
            Self::Timeout { .. } => LeanErrorKind::Timeout,
            Self::Options { .. } => LeanErrorKind::Options,
        }
    }
}

/// What the end of a connection is called.
#[cold]
pub(crate) fn explain(broken: Broken, host: &str, limit: std::time::Duration) -> LeanError {
    let host = host.into();
    match broken {
        Broken::Closed { received, expected } => LeanError::Disconnected {
            host,
            received: received as u64,
            expected: expected.map(|bytes| bytes as u64),
        },
        Broken::Late => LeanError::Timeout { host, limit_ms: limit.as_millis() as u64 },
        Broken::System(source) => LeanError::Lost { host, source },
        Broken::Flaw(flaw) => LeanError::Protocol { host, flaw },
    }
}
