//! The two traits that every database implements.

use crate::EngineError;
use plimsoll_record::EngineDescription;
use plimsoll_workload::{FieldChoice, Fields};
use std::path::PathBuf;

#[derive(Debug)]
pub enum Outcome {
    Ok,
    /// Kept for a batch that was not sent yet. What happens to it is the outcome of the operation, or of the [`Session::flush`], that sends it.
    Batched,
    /// The record was not there.
    NotFound,
    /// The engine failed, with its words. Boxed, so that success costs two registers.
    Error(Box<str>),
}

impl Outcome {
    /// A failure with the engine's words.
    pub fn error(message: impl Into<String>) -> Self {
        Self::Error(message.into().into_boxed_str())
    }
}

/// Ends what a session waits for.
pub type Interrupter = Box<dyn Fn() + Send + Sync>;

/// Takes the fields of a record that was read, for verification.
pub trait FieldVisitor {
    /// One field. The value is valid during the call alone.
    fn field(&mut self, name: &[u8], value: &[u8]);
}

/// One client of a database, used by one thread at a time. Every call returns when its operation is complete.
///
/// No call may allocate when it succeeds, save what the engine itself allocates inside.
pub trait Session: Send {
    /// Reads one record, whole or some fields. The bytes must have been fetched when this returns, whether or not there is a visitor.
    fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Outcome;

    /// Replaces some fields of one record.
    fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Outcome;

    fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Outcome;

    /// Reads up to `count` records in key order, from `start` on, and sets `rows` to how many there were. No row is no error.
    fn scan(
        &mut self,
        start: &[u8],
        count: u32,
        fields: FieldChoice<'_>,
        rows: &mut u32,
    ) -> Outcome;

    fn delete(&mut self, key: &[u8]) -> Outcome;

    /// Sends the batch that has begun, if there is one. Called once, after the last operation.
    fn flush(&mut self) -> Option<Outcome> {
        None
    }

    /// What another thread calls to end the call that this session is in: it fails, and so do all later ones. `None` where no call can be ended, as in an
    /// embedded engine.
    fn interrupter(&self) -> Option<Interrupter> {
        None
    }

    /// How often this session repeated an operation by itself since it was made, such as after a write conflict.
    fn retries(&self) -> u64 {
        0
    }
}

/// A server as it is known to its client, so that it can be found among the processes of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerIdentity {
    pub endpoint: Endpoint,
    /// Its program, as it says itself.
    pub program: Option<String>,
    /// The number of its process, as it says itself: within a container it has another one there.
    pub process: Option<u32>,
    /// Where it keeps its data, as it says itself.
    pub directory: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Port(u16),
    Socket(PathBuf),
}

pub trait Engine: Send + Sync {
    /// Name, version and the settings in force.
    fn description(&self) -> EngineDescription;

    /// A new session. Called once for each thread before a point begins.
    fn session(&self) -> Result<Box<dyn Session>, EngineError>;

    /// Counts the records by looking at them, not by remembering what was inserted. `None` where the engine stores nothing.
    fn count(&self) -> Result<Option<u64>, EngineError>;

    /// Called once after the load and before the first point: brings the database into the state in which every run begins.
    /// [`Engine::description`] says which state that is.
    fn settle(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Writes everything that has changed to the data files, and returns when it is there; `false` where there is nothing of the kind, or the user has no right to it.
    fn checkpoint(&self) -> Result<bool, EngineError> {
        Ok(false)
    }

    /// Empties the engine's own cache after a checkpoint; `false` if the engine has no cache that can be emptied.
    fn empty_cache(&self) -> Result<bool, EngineError> {
        Ok(false)
    }

    /// Called when the sessions of a point are about to begin, right before its clock starts. Engines with a script start it here.
    fn point_begins(&self) {}

    /// Bytes that data and indexes take on the disk, without the journal. Exact only after [`Engine::settle`].
    fn data_bytes(&self) -> Result<Option<u64>, EngineError> {
        Ok(None)
    }

    /// Figures of the engine itself, by the names in `plimsoll_record::figures`: counters since it was opened, and levels. Called about once a second.
    fn statistics(&self, _into: &mut Vec<(&'static str, f64)>) {}

    /// The server behind the engine, where there is a single one that does the work.
    fn server(&self) -> Option<ServerIdentity> {
        None
    }

    /// Closes the database and waits until everything is on disk. All sessions are gone by then.
    fn close(self: Box<Self>) -> Result<(), EngineError>;
}
