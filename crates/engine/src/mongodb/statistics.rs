//! Figures of the server itself, about once a second, over a connection of their own.

use super::connection::{Connection, runtime};
use super::status::figures_of;
use super::target::Target;
use mongodb::bson::{Document, doc};
use mongodb::options::{ClientOptions, ServerAddress};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long the caller may wait. If a server is too busy to answer, its figures are left out.
const TIMEOUT: Duration = Duration::from_millis(300);

/// Sections of serverStatus without a figure that is kept. They are left out of the answer.
const LEFT_OUT: [&str; 28] = [
    "asserts",
    "batchedDeletes",
    "catalogStats",
    "changeStreamPreImages",
    "collectionCatalog",
    "defaultRWConcern",
    "electionMetrics",
    "hedgingMetrics",
    "indexBuilds",
    "indexBulkBuilder",
    "indexStats",
    "logicalSessionRecordCache",
    "mirroredReads",
    "oplogTruncation",
    "opReadConcernCounters",
    "planCache",
    "queryAnalyzers",
    "readConcernCounters",
    "readPreferenceCounters",
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
    source: Mutex<StatisticsSource>,
}

/// Whom the figures are from.
#[derive(Default)]
struct StatisticsSource {
    /// Made when it is first needed.
    connection: Option<Connection>,
    /// The server that sent them last.
    server: Option<ServerAddress>,
}

impl Statistics {
    pub(super) fn new(options: &ClientOptions) -> Self {
        let mut options = options.clone();
        options.server_selection_timeout = Some(TIMEOUT);
        Self { options, source: Mutex::default() }
    }

    /// Where the server cannot be queried, figures are left out: they are a by-product of a run. So are the first ones of another server, as
    /// after a failover, for its counters have risen from elsewhere.
    pub(super) fn read(&self, target: &Target, into: &mut Vec<(&'static str, f64)>) {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let StatisticsSource { connection, server } = &mut *source;
        if connection.is_none() {
            *connection = runtime()
                .ok()
                .and_then(|runtime| Connection::open(runtime, &self.options, target).ok());
        }
        let Some(connection) = &*connection else {
            return;
        };
        if let Some(status) = connection.command_within("admin", request(), TIMEOUT) {
            let described_by = connection.served_by();
            if server.is_none() || *server == described_by {
                figures_of(&status, into);
            }
            *server = described_by;
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
