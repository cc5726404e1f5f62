//! The official driver as a blocking client: for administration and for the figures of the server.

use super::messages::{self, words};
use super::target::Target;
use crate::EngineError;
use mongodb::bson::{Document, doc};
use mongodb::error::{Error, ErrorKind};
use mongodb::event::EventHandler;
use mongodb::event::command::CommandEvent;
use mongodb::options::{ClientOptions, Hint, ReadPreference, SelectionCriteria, ServerAddress};
use mongodb::{Client, Database};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;

/// How long the driver may take to say goodbye.
const GOODBYE: Duration = Duration::from_millis(200);

/// A runtime that works during calls, without threads of its own.
pub(super) fn runtime() -> Result<Runtime, std::io::Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// One client of the official driver and its runtime.
pub(super) struct Connection {
    runtime: Runtime,
    /// `None` once it is closed.
    client: Option<Client>,
    served_by: Arc<Mutex<Option<ServerAddress>>>,
}

impl Connection {
    /// Of the measuring options only those of the connection are used: these operations go to the primary.
    pub(super) fn open(
        runtime: Runtime,
        options: &ClientOptions,
        target: &Target,
    ) -> Result<Self, EngineError> {
        let served_by = Arc::new(Mutex::new(None));
        let mut options = options.clone();
        options.write_concern = None;
        options.read_concern = None;
        options.selection_criteria = None;
        options.compressors = None;
        options.min_pool_size = None;
        let seen = Arc::clone(&served_by);
        options.command_event_handler = Some(EventHandler::callback(move |event| {
            if let CommandEvent::Succeeded(event) = event {
                *seen.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(event.connection.address);
            }
        }));
        let entered = runtime.enter();
        let client = Client::with_options(options)
            .map_err(|error| target.failed("making a client", &words(&error)))?;
        drop(entered);
        Ok(Self { runtime, client: Some(client), served_by })
    }

    fn database(&self, name: &str) -> Database {
        self.client.as_ref().expect("the client is taken by dropping alone").database(name)
    }

    /// Sends a command to the primary, or to what stands for it. It may be done twice if the connection fails, so it must be one that may.
    pub(super) fn command(&self, database: &str, command: Document) -> Result<Document, Error> {
        let database = self.database(database);
        let send = || {
            let criteria = SelectionCriteria::ReadPreference(ReadPreference::Primary);
            let sent = database.run_command(command.clone()).selection_criteria(criteria);
            self.runtime.block_on(async { sent.await })
        };
        twice(send)
    }

    /// As [`Self::command`], given up after a time.
    pub(super) fn command_within(
        &self,
        database: &str,
        command: Document,
        time: Duration,
    ) -> Option<Document> {
        let database = self.database(database);
        self.runtime.block_on(async {
            tokio::time::timeout(time, async { database.run_command(command).await })
                .await
                .ok()?
                .ok()
        })
    }

    /// As [`Self::command`], where only what the user may not do or the server does not have is no failure.
    pub(super) fn command_if_there(
        &self,
        database: &str,
        command: Document,
    ) -> Result<Result<Document, &'static str>, Error> {
        match self.command(database, command) {
            Ok(answer) => Ok(Ok(answer)),
            Err(error) => match messages::code(&error) {
                Some(messages::UNAUTHORIZED) => Ok(Err("the user has no right to it")),
                Some(messages::COMMAND_NOT_FOUND | messages::NOT_IMPLEMENTED) => {
                    Ok(Err("the server does not have it"))
                }
                _ => Err(error),
            },
        }
    }

    /// The address of the server that answered last.
    pub(super) fn served_by(&self) -> Option<ServerAddress> {
        self.served_by.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts the documents of a collection by looking at them, or at their index.
    pub(super) fn count(
        &self,
        database: &str,
        collection: &str,
        by_index: bool,
    ) -> Result<u64, Error> {
        let collection = self.database(database).collection::<Document>(collection);
        let ask = || {
            let mut count = collection.count_documents(doc! {});
            if by_index {
                count = count.hint(Hint::Name("_id_".into()));
            }
            self.runtime.block_on(async { count.await })
        };
        twice(ask)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            shut_down(&self.runtime, client);
        }
    }
}

/// The connection is idle while a point is measured and may have ended meanwhile: only the first use shows that.
fn twice<T>(ask: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    match ask() {
        Err(error) if matches!(*error.kind, ErrorKind::Io(_)) => ask(),
        answer => answer,
    }
}

/// Closes a client's connections. A server that no longer answers does not hold this up.
pub(super) fn shut_down(runtime: &Runtime, client: Client) {
    // Whether the goodbye was heard does not matter.
    let _ = runtime.block_on(async {
        tokio::time::timeout(GOODBYE, async { client.shutdown().immediate(true).await }).await
    });
}
