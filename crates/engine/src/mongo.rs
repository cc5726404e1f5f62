//! MongoDB's wire protocol, and a lean client for the measuring path.
//!
//! Every microsecond that a client takes on the same machine comes out of what it measures. A [`LeanClient`] is one connection, used by one
//! blocking thread: it sends a request that was written before up to what differs, waits, and looks at the reply where it was received.
//! It builds no document, and allocates nothing for an operation that succeeds. What it leaves out is all that an application's driver has
//! besides: TLS, compression, discovery, pools, sessions.
//!
//! | module | is |
//! |---|---|
//! | [`document`] | reads BSON where it lies |
//! | [`reply`] | reads replies; takes any bytes and trusts none |
//! | [`scram`] | proves to know a password |
//!
//! Beside the operations on records, it sends any [statement](LeanClient::statement) of an application, whose command comes ready-made.
//!
//! Records are stored as YCSB stores them: `{_id: key, field0: BinData(0), ...}`.
//!
//! ```no_run
//! use plimsoll_engine::mongo::{Host, LeanClient, LeanOptions};
//! use plimsoll_workload::{DataSpec, FieldChoice};
//!
//! let host = Host::Tcp { host: "127.0.0.1".into(), port: 27017 };
//! let data = DataSpec::with_records(1_000);
//! let mut client = LeanClient::connect(&LeanOptions::new(host, "ycsb", &data))?;
//! let mut bytes = 0;
//! let mut add = |_: &[u8], value: &[u8]| bytes += value.len();
//! if client.read(b"user1", FieldChoice::All, Some(&mut add))? {
//!     println!("{bytes} bytes");
//! }
//! # Ok::<(), plimsoll_engine::mongo::LeanError>(())
//! ```
//!
//! # When something fails
//!
//! An operation that fails was not repeated. After an error of the connection ([`LeanErrorKind::Disconnected`],
//! [`Timeout`](LeanErrorKind::Timeout), [`Protocol`](LeanErrorKind::Protocol)) and when the server says that it is no longer the primary
//! or shuts down, the connection is given up, and the next operation makes a new one first: once, in its own time. If that does not
//! succeed, this is how that operation failed, and the one after it tries again. So a server that comes back is used again. Records that
//! waited in a batch stay with the client, unless they were being sent.

mod client;
mod concern;
mod connection;
mod credentials;
pub mod document;
mod encode;
mod error;
mod greeting;
mod host;
#[cfg(test)]
pub(crate) mod it;
mod link;
mod members;
mod message;
mod open_socket;
mod options;
pub mod reply;
pub mod scram;

pub use client::{Inserted, LeanClient, Visitor};
pub use concern::{W, WriteConcern};
pub use credentials::{Credentials, Mechanism};
pub use error::{LeanError, LeanErrorKind};
pub use greeting::Server;
pub use host::Host;
pub use members::{MemberChoice, Members, ReadMode};
pub use open_socket::OpenSocket;
pub use options::{FindServer, LeanOptions};
