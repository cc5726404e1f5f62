//! An opened database and its tables.

use super::KIND;
use super::configuration::{AfterLoad, Configuration, JOURNAL};
use super::journal::Flusher;
use super::messages::Code;
use super::raw::{self, Connection};
use super::session::{COLLECTION, INDEX, Shared, WiredTigerSession};
use super::statistics::Statistics;
use crate::opening::settings_in_force;
use crate::{Engine, EngineError, Opening, Session};
use plimsoll_plan::Settings;
use plimsoll_record::EngineDescription;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

/// The files in which WiredTiger keeps these tables.
const DATA_FILES: [&str; 2] = ["collection.wt", "index.wt"];

/// Opens it in the directory of the opening.
pub(crate) fn open(opening: &Opening<'_>) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(WiredTiger::open(opening)?))
}

pub(super) struct WiredTiger {
    directory: PathBuf,
    settings: Settings,
    configuration: Configuration,
    allocator: String,
    shared: Arc<Shared>,
    /// `None` once it is closed.
    opened: Mutex<Option<Opened>>,
}

/// What is open at a time. Fields in the order in which they must end.
struct Opened {
    statistics: Option<Statistics>,
    flusher: Option<Flusher>,
    connection: Arc<Connection>,
}

const MOST_RESERVED_BYTES: usize = 1 << 20;
const NO_PANIC: &str = "nothing panics while it holds the database";

impl WiredTiger {
    pub(super) fn open(opening: &Opening<'_>) -> Result<Self, EngineError> {
        if !opening.collections.is_empty() {
            let reason = "documents of an application need a server: its query planner is part of what is measured; take `engine: mongodb`";
            return Err(EngineError::NoStatements {
                name: KIND.name.into(),
                reason: reason.into(),
            });
        }
        let Some(directory) = opening.directory else {
            return Err(EngineError::NoDirectory { name: KIND.name.into() });
        };
        let configuration = Configuration::new(opening.settings);
        make_journal_folder(directory)?;
        let opened = Opened::new(directory, &configuration)?;
        let session = opened.connection.session()?;
        session.create(COLLECTION, &configuration.collection)?;
        session.create(INDEX, &configuration.index)?;
        drop(session);

        let mut names: Vec<Box<[u8]>> = Vec::new();
        for number in 0..opening.data.field_count {
            names.push(format!("{}{number}", opening.data.field_name_prefix).into_bytes().into());
        }
        let longest_record =
            opening.data.field_length.longest() * u64::from(opening.data.field_count);
        let shared = Shared {
            next_record_id: AtomicI64::new(opened.largest_record_id()? + 1),
            // Buffers grow beyond this only for documents that are larger.
            document_bytes: (longest_record as usize)
                .saturating_add(64 * names.len())
                .min(MOST_RESERVED_BYTES),
            names,
            update_by_modify: configuration.update_by_modify,
        };
        Ok(Self {
            directory: directory.to_owned(),
            settings: opening.settings.clone(),
            shared: Arc::new(shared),
            configuration,
            allocator: opening.allocator.to_owned(),
            opened: Mutex::new(Some(opened)),
        })
    }

    /// Does something with the database, unless it is closed.
    fn with_opened<T>(
        &self,
        action: impl FnOnce(&mut Opened) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        match self.opened.lock().expect(NO_PANIC).as_mut() {
            Some(opened) => action(opened),
            None => Err(call_failed("using the database", "it is closed".into())),
        }
    }

    fn reopen(&self) -> Result<(), EngineError> {
        let mut opened = self.opened.lock().expect(NO_PANIC);
        if let Some(opened) = opened.take() {
            opened.close()?;
        }
        *opened = Some(Opened::new(&self.directory, &self.configuration)?);
        Ok(())
    }

    /// For the bench, and for tests that get in the way of a session.
    pub(super) fn connection(&self) -> Result<Arc<Connection>, EngineError> {
        self.with_opened(|opened| Ok(Arc::clone(&opened.connection)))
    }
}

impl Opened {
    fn new(directory: &Path, configuration: &Configuration) -> Result<Self, EngineError> {
        let connection = Arc::new(Connection::open(directory, &configuration.connection)?);
        let flusher = match configuration.journal_flush_interval {
            Some(interval) => Some(Flusher::start(&connection, interval)?),
            None => None,
        };
        let statistics =
            if configuration.statistics { Some(Statistics::open(&connection)?) } else { None };
        Ok(Self { statistics, flusher, connection })
    }

    fn close(self) -> Result<(), EngineError> {
        drop(self.statistics);
        drop(self.flusher);
        match Arc::into_inner(self.connection) {
            Some(connection) => connection.close(),
            None => Err(call_failed(
                "WT_CONNECTION.close",
                "some of its sessions are still in use".into(),
            )),
        }
    }

    /// 0 when there is none.
    fn largest_record_id(&self) -> Result<i64, EngineError> {
        let session = self.connection.session()?;
        // SAFETY: the cursor is declared after its session, so it is dropped before.
        let mut cursor = unsafe { session.cursor(COLLECTION, None) }?;
        match cursor.previous() {
            Ok(()) => cursor
                .record_id()
                .map_err(|code| session.error("WT_CURSOR.get_key of the collection", code)),
            Err(Code::NOT_FOUND) => Ok(0),
            Err(code) => Err(session.error("WT_CURSOR.prev of the collection", code)),
        }
    }

    /// Reads a table from its beginning to its end and returns how many entries there are.
    fn walk(&self, uri: &CStr) -> Result<u64, EngineError> {
        let session = self.connection.session()?;
        // SAFETY: the cursor is declared after its session, so it is dropped before.
        let mut cursor = unsafe { session.cursor(uri, None) }?;
        let mut entries = 0;
        loop {
            match cursor.next() {
                Ok(()) => entries += 1,
                Err(Code::NOT_FOUND) => return Ok(entries),
                Err(code) => {
                    return Err(session
                        .error(&format!("WT_CURSOR.next of {}", uri.to_string_lossy()), code));
                }
            }
        }
    }
}

fn call_failed(call: &str, message: String) -> EngineError {
    EngineError::Call { engine: KIND.name.into(), call: call.into(), message }
}

/// The journal's folder, which WiredTiger does not make. The directory above must be there.
fn make_journal_folder(directory: &Path) -> Result<(), EngineError> {
    let refuse = |path: PathBuf, source| EngineError::Path { path, source };
    let metadata =
        std::fs::metadata(directory).map_err(|source| refuse(directory.to_owned(), source))?;
    if !metadata.is_dir() {
        return Err(refuse(directory.to_owned(), io::ErrorKind::NotADirectory.into()));
    }
    let journal = directory.join(JOURNAL);
    match std::fs::create_dir(&journal) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
            Err(refuse(journal, source))
        }
        _ => Ok(()),
    }
}

impl Engine for WiredTiger {
    fn description(&self) -> EngineDescription {
        let configuration = &self.configuration;
        let notes = [
            ("measured_state", configuration.after_load.about()),
            (
                "layout",
                "as mongod: a collection of BSON documents by record id, an _id index from keys to record ids",
            ),
            ("allocator", &self.allocator),
            ("wiredtiger_open", &configuration.connection),
            ("collection", &configuration.collection),
            ("index", &configuration.index),
        ];
        EngineDescription {
            name: KIND.name.into(),
            version: raw::version(),
            settings: settings_in_force(&self.settings),
            notes: BTreeMap::from(notes.map(|(name, text)| (name.to_owned(), text.to_owned()))),
        }
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        self.with_opened(|opened| {
            let journal = match &opened.flusher {
                Some(flusher) if self.configuration.durable => Some(Arc::clone(flusher.journal())),
                _ => None,
            };
            let session = opened.connection.session()?;
            let session = WiredTigerSession::open(session, Arc::clone(&self.shared), journal)?;
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        self.with_opened(|opened| {
            let (records, keys) = (opened.walk(COLLECTION)?, opened.walk(INDEX)?);
            if records != keys {
                let message =
                    format!("the collection holds {records} records and its index {keys} keys");
                return Err(call_failed("counting the records", message));
            }
            Ok(Some(records))
        })
    }

    fn settle(&self) -> Result<(), EngineError> {
        match self.configuration.after_load {
            AfterLoad::Checkpoint => self.checkpoint().map(drop),
            AfterLoad::Reopen => self.reopen(),
            AfterLoad::ReopenAndWarm => {
                self.reopen()?;
                self.with_opened(|opened| {
                    opened.walk(INDEX)?;
                    opened.walk(COLLECTION)?;
                    Ok(())
                })
            }
        }
    }

    fn recover(&self) -> Result<(), EngineError> {
        if let Some(opened) = self.opened.lock().expect(NO_PANIC).take() {
            // Its files are gone, so closing fails.
            let _ = opened.close();
        }
        self.reopen()
    }

    fn empty_cache(&self) -> Result<bool, EngineError> {
        self.reopen()?;
        // The first session to open a table preloads the pages below its root. This must happen before the page cache is dropped.
        self.session()?;
        Ok(true)
    }

    fn checkpoint(&self) -> Result<bool, EngineError> {
        self.with_opened(|opened| opened.connection.session()?.checkpoint())?;
        Ok(true)
    }

    /// The lengths of the files of the collection and its index: compressed, with the free room inside them. Journal, history store and
    /// WiredTiger's metadata are not in it.
    fn data_bytes(&self) -> Result<Option<u64>, EngineError> {
        let mut bytes = 0;
        for name in DATA_FILES {
            let path = self.directory.join(name);
            match std::fs::metadata(&path) {
                Ok(metadata) => bytes += metadata.len(),
                Err(source) => return Err(EngineError::Path { path, source }),
            }
        }
        Ok(Some(bytes))
    }

    fn statistics(&self, into: &mut Vec<(&'static str, f64)>) {
        // A database that is closed has none.
        let _ = self.with_opened(|opened| {
            if let Some(statistics) = &mut opened.statistics {
                statistics.read(into);
            }
            Ok(())
        });
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        match self.opened.into_inner().expect(NO_PANIC) {
            Some(opened) => opened.close(),
            None => Ok(()),
        }
    }
}
