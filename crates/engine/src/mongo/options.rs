//! Options of a lean client.

use crate::mongo::concern::WriteConcern;
use crate::mongo::credentials::Credentials;
use crate::mongo::host::Host;
use crate::mongo::open_socket::OpenSocket;
use plimsoll_workload::DataSpec;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Finds the primary of a replica set, a running `mongos`, or a member to read from, for clients that lost theirs.
pub trait FindServer: std::fmt::Debug + Send + Sync {
    /// Where it is, as known after the moment at which the client lost its own. Waits until there is one; `None` when that takes too long.
    fn find(&self, lost_host: &Host, lost: Instant) -> Option<Host>;

    /// Whether the host, though it answers, is no longer to be used. `version` is of the finder, and 0 at first.
    fn has_left(&self, _host: &Host, _version: &mut u64) -> bool {
        false
    }
}

/// The options of a [`LeanClient`](crate::mongo::LeanClient).
#[derive(Clone, Debug)]
pub struct LeanOptions {
    /// The server: a primary, a standalone, a `mongos`, or a secondary to read from.
    pub host: Host,
    pub database: String,
    pub collection: String,
    /// Names of all fields, by their numbers. Shared by all clients of an engine.
    pub field_names: Arc<[Box<str>]>,
    /// When a change counts as made.
    pub write_concern: WriteConcern,
    /// Read concern level of reads and scans, such as `majority`; the server's choice when absent.
    pub read_concern: Option<String>,
    /// Inserts replace an existing record.
    pub upsert: bool,
    /// Inserts that are sent together; 1 sends each by itself.
    pub batch: u32,
    /// User to connect as; without it the connection is anonymous.
    pub credentials: Option<Credentials>,
    /// Most time to connect, and most time for each answer while the connection is made.
    pub connect_timeout: Duration,
    /// Most time for the server to begin an answer, and as much again to end it; no limit when absent.
    pub call_timeout: Option<Duration>,
    /// Finds the host when the connection is lost or the server is no longer the primary. Without it the host is always the same.
    pub finder: Option<Arc<dyn FindServer>>,
    /// Whether a secondary will do, because nothing is written.
    pub takes_secondaries: bool,
    /// Sends a read once more that failed for a reason that passes: a lost connection, or a primary that stepped down.
    pub retry_reads: bool,
    /// The same for acknowledged changes, where the server can tell that it knows one already: replica sets and sharded clusters can.
    pub retry_writes: bool,
    /// Learns of each connection that is made, so that another thread can end what the client waits for.
    pub open_socket: Arc<OpenSocket>,
}

impl LeanOptions {
    /// Options for records like these, in the collection that they name, with the server's choice of concerns, one record a time, no
    /// user, 10 s to connect, no limit for an answer, and nothing sent twice.
    pub fn new(host: Host, database: impl Into<String>, data: &DataSpec) -> Self {
        let names =
            (0..data.field_count).map(|index| format!("{}{index}", data.field_name_prefix).into());
        Self {
            host,
            database: database.into(),
            collection: data.table.clone(),
            field_names: names.collect(),
            write_concern: WriteConcern::default(),
            read_concern: None,
            upsert: false,
            batch: 1,
            credentials: None,
            connect_timeout: Duration::from_secs(10),
            call_timeout: None,
            finder: None,
            takes_secondaries: false,
            retry_reads: false,
            retry_writes: false,
            open_socket: Arc::default(),
        }
    }

    /// Why these options are impossible, if they are.
    pub(crate) fn problem(&self) -> Option<String> {
        if let Some(problem) = self.write_concern.problem() {
            return Some(problem.into());
        }
        for (what, name) in [("database", &self.database), ("collection", &self.collection)] {
            if name.is_empty() || name.contains('\0') {
                return Some(format!(
                    "`{}` cannot be the name of a {what}: give it one",
                    name.escape_debug()
                ));
            }
        }
        if self.field_names.iter().any(|name| name.contains('\0')) {
            return Some("a field's name cannot hold the character 0".into());
        }
        if self.batch == 0 {
            return Some(
                "a batch of 0 records cannot be sent: 1 sends each record by itself".into(),
            );
        }
        if self.connect_timeout.is_zero() || self.call_timeout.is_some_and(|limit| limit.is_zero())
        {
            return Some(
                "nothing is done in no time: leave the time limit out, or make it longer".into(),
            );
        }
        None
    }
}
