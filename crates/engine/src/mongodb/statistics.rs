//! Figures of the server itself, about once a second, over a connection of their own.

use super::connection::{Connection, runtime};
use super::status::figures_of;
use super::target::Target;
use mongodb::bson::{Document, doc};
use mongodb::options::ClientOptions;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long the caller may be held up. A server that is too busy to answer leaves its figures out.
const PATIENCE: Duration = Duration::from_millis(300);

/// Sections of serverStatus without a figure that is kept. They are left out of the answer.
const LEFT_OUT: [&str; 31] = [
    "asserts",
    "batchedDeletes",
    "catalogStats",
    "changeStreamPreImages",
    "collectionCatalog",
    "defaultRWConcern",
    "electionMetrics",
    "flowControl",
    "hedgingMetrics",
    "indexBuilds",
    "indexBulkBuilder",
    "indexStats",
    "logicalSessionRecordCache",
    "mirroredReads",
    "opLatencies",
    "oplogTruncation",
    "opReadConcernCounters",
    "planCache",
    "queryAnalyzers",
    "readConcernCounters",
    "readPreferenceCounters",
    "repl",
    "scramCache",
    "security",
    "sharding",
    "shardingStatistics",
    "tcmalloc",
    "tenantMigrations",
    "transactions",
    "transportSecurity",
    "twoPhaseCommitCoordinator",
];

pub(super) struct Statistics {
    options: ClientOptions,
    /// Made when it is first needed.
    connection: Mutex<Option<Connection>>,
}

impl Statistics {
    pub(super) fn new(options: &ClientOptions) -> Self {
        let mut options = options.clone();
        options.server_selection_timeout = Some(PATIENCE);
        Self {
            options,
            connection: Mutex::new(None),
        }
    }

    /// Where the server cannot be asked, figures are left out: they are a by-product of a run.
    pub(super) fn read(&self, target: &Target, into: &mut Vec<(&'static str, f64)>) {
        let mut connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if connection.is_none() {
            *connection = runtime()
                .ok()
                .and_then(|runtime| Connection::open(runtime, &self.options, target).ok());
        }
        let Some(connection) = &*connection else {
            return;
        };
        if let Some(status) = connection.command_within("admin", request(), PATIENCE) {
            figures_of(&status, into);
        }
    }
}

fn request() -> Document {
    let mut request = doc! { "serverStatus": 1 };
    for section in LEFT_OUT {
        request.insert(section, 0);
    }
    request
}
