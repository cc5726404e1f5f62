//! One server, found and ready.

use super::application;
use super::catalogue::OF_MONGOD;
use super::collection::{self, Marking, Namespace};
use super::connection::{Connection, runtime};
use super::driver::{DriverSession, Shared};
use super::lean::{self, Elsewhere, LeanSession, LeanShared, Primary};
use super::messages::{self, words};
use super::server::{CACHE_SIZE, Deployment, Server, of_cache};
use super::statistics::Statistics;
use super::target::{ClientChoice, Target, refuse};
use super::{INSTEAD_OF_LEAN, KIND};
use crate::mongo::{Host, LeanOptions};
use crate::{Engine, EngineError, Opening, ServerIdentity, Session};
use mongodb::bson::doc;
use mongodb::bson::raw::CString;
use mongodb::error::Error;
use mongodb::options::{Acknowledgment, ClientOptions, ReadPreference, SelectionCriteria};
use plimsoll_record::{ApplicationState, EngineDescription, OwnOperation, StatementKind};
use plimsoll_workload::DataSpec;
use plimsoll_workload::documents::DocumentsSpec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The smallest cache that WiredTiger accepts.
const LEAST_CACHE_BYTES: i64 = 1 << 20;
/// Largest cache content, in bytes, that counts as empty. The root page of each open table remains.
const EMPTY_CACHE_BYTES: i64 = 4 << 20;
/// How long a cache may take to empty itself.
const LONGEST_EMPTYING: Duration = Duration::from_secs(60);
/// Time between two looks at its size.
const LOOK: Duration = Duration::from_millis(50);

/// The size of WiredTiger's cache, and how much of it is used.
struct Cache {
    size_bytes: i64,
    used_bytes: i64,
}

/// Finds the server of the opening.
pub(crate) fn open(opening: &Opening<'_>) -> Result<Box<dyn Engine>, EngineError> {
    let variable = |name: &str| std::env::var(name).ok();
    Ok(Box::new(MongoDb::open(opening, &variable)?))
}

pub(super) struct MongoDb {
    /// `None` if the arm has `client: driver`.
    lean: Option<Arc<LeanShared>>,
    shared: Arc<Shared>,
    server: Server,
    /// The collections that are measured.
    places: Vec<Namespace>,
    administration: Arc<Connection>,
    statistics: Statistics,
    /// Whether what the server says of sizes is true, because it has written everything out.
    written_out: AtomicBool,
}

impl MongoDb {
    pub(super) fn open(
        opening: &Opening<'_>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, EngineError> {
        let mut target = Target::new(opening, variable)?;
        let runtime =
            runtime().map_err(|error| target.failed("making a client", &error.to_string()))?;
        let mut options = runtime.block_on(target.options())?;
        target.choose_client(&options)?;
        let mut first = options.clone();
        first.server_selection_timeout.get_or_insert(target.connect_timeout);
        let administration = Arc::new(Connection::open(runtime, &first, &target)?);
        let server = Server::discover(
            &administration,
            &target,
            reads_from_primary(options.selection_criteria.as_ref()),
        )?;
        // As drivers do: only where there is another server to send to. Against a standalone, what fails is one operation, and not two.
        let repeats = server.deployment != Deployment::Standalone;
        options.retry_reads.get_or_insert(repeats);
        options.retry_writes.get_or_insert(repeats);
        if !repeats {
            // No other server will take the place of one that is gone.
            options.server_selection_timeout = first.server_selection_timeout;
        }
        let writes_unacknowledged = options
            .write_concern
            .as_ref()
            .is_some_and(|concern| concern.w == Some(Acknowledgment::Nodes(0)));
        if writes_unacknowledged && server.is_ferretdb {
            return Err(refuse(
                "write_concern",
                "0",
                "FerretDB answers even what wants no answer, so this cannot be measured on it",
            ));
        }
        if let Some(name) = transaction_in(opening.data) {
            if !repeats {
                return Err(target.failed(
                    &format!("preparing the transaction `{name}`"),
                    "a standalone server has no transactions: write `server: {replica_set: true}` or `server: {members: 3}` in the experiment file, or connect to a replica set or a sharded cluster",
                ));
            }
            if writes_unacknowledged {
                let reason = format!("`{name}` is a transaction, whose commit must be answered");
                return Err(refuse("write_concern", "0", &reason));
            }
        }
        let hosts =
            members_to_read_from(opening.data, &server, &options, &administration, &target)?;
        let database = target.database(&options);
        let places = collection::places(&target, &options);
        let to_mark = collection::prepare(&places, &administration, &target)?;
        let marking = Arc::new(Marking::new(to_mark, Arc::clone(&administration)));
        let lean = lean_shared(opening, &target, &options, &server, &database, &marking, hosts)?;
        let mut names = Vec::new();
        for number in 0..opening.data.field_count {
            let name = format!("{}{number}", opening.data.field_name_prefix);
            let Ok(name) = CString::try_from(name) else {
                return Err(target.failed(
                    "naming the fields",
                    "`field_name_prefix` holds a NUL byte, which no name may hold",
                ));
            };
            names.push(name);
        }
        let statistics = Statistics::new(&options);
        let shared = Arc::new(Shared { target, options, database, names, marking });
        Ok(Self {
            lean,
            shared,
            server,
            places,
            administration,
            statistics,
            written_out: AtomicBool::new(true),
        })
    }

    fn failed(&self, call: &str, error: &Error) -> EngineError {
        self.shared.target.failed(call, &words(error))
    }

    fn failed_at(&self, call: &str, place: &Namespace, error: &Error) -> EngineError {
        self.failed(&format!("{call} of {}.{}", place.database, place.collection), error)
    }

    fn cache(&self) -> Result<Cache, EngineError> {
        let status = self
            .administration
            .command("admin", doc! { "serverStatus": 1 })
            .map_err(|error| self.failed("serverStatus", &error))?;
        let size_bytes = of_cache(&status, CACHE_SIZE);
        let used_bytes = of_cache(&status, "bytes currently in the cache");
        match (size_bytes, used_bytes) {
            (Some(size_bytes), Some(used_bytes)) => Ok(Cache { size_bytes, used_bytes }),
            _ => {
                let message = "it does not say how large its cache is";
                Err(self.shared.target.failed("serverStatus", message))
            }
        }
    }

    fn resize_cache(&self, bytes: i64) -> Result<(), EngineError> {
        let setting = format!("cache_size={bytes}");
        let command = doc! { "setParameter": 1, "wiredTigerEngineRuntimeConfig": setting };
        let answer = self.administration.command("admin", command);
        answer.map(drop).map_err(|error| self.failed("resizing the cache", &error))
    }
}

/// The first transaction of an application.
fn transaction_in(data: &DataSpec) -> Option<&'static str> {
    let operations = data.documents.as_ref()?.operations();
    let mut operations = operations.iter();
    let found = operations.find(|own| own.kind() == StatementKind::Transaction);
    found.map(|own| own.name())
}

/// What sessions of the lean client share, if it is the one that asks.
fn lean_shared(
    opening: &Opening<'_>,
    target: &Target,
    options: &ClientOptions,
    server: &Server,
    database: &str,
    marking: &Arc<Marking>,
    hosts: Vec<Host>,
) -> Result<Option<Arc<LeanShared>>, EngineError> {
    let host = server.address.as_ref().and_then(super::lean_options::host_of);
    let Some(host) = host.filter(|_| target.client == ClientChoice::Lean) else {
        return Ok(None);
    };
    let lean = LeanOptions::new(host, database, opening.data);
    let may_move = match server.deployment {
        Deployment::Standalone => false,
        Deployment::ReplicaSet(_) => options.direct_connection != Some(true),
        Deployment::Sharded => options.hosts.len() > 1,
    };
    let mut lean = lean::options(target, options, lean);
    let primary = may_move.then(|| Arc::new(Primary::new(options, target, &lean)));
    if let Some(primary) = &primary {
        lean.finder = Some(Arc::clone(primary) as _);
    }
    let elsewhere = match hosts.is_empty() {
        true => None,
        false => {
            let preferences = read_preferences(opening.data);
            let opened = Elsewhere::open(&preferences, hosts, options, &lean);
            Some(opened.ok_or_else(|| no_secondary(&preferences, target, "no secondary answers"))?)
        }
    };
    Ok(Some(Arc::new(LeanShared {
        target: target.clone(),
        options: lean,
        primary,
        elsewhere,
        marking: Arc::clone(marking),
    })))
}

fn read_preferences(data: &DataSpec) -> Vec<(OwnOperation, &'static str)> {
    data.documents.as_ref().map_or_else(Vec::new, DocumentsSpec::read_preferences)
}

/// The members of a replica set from which an application reads beside the primary; none where it does not, and through a mongos, which chooses itself.
fn members_to_read_from(
    data: &DataSpec,
    server: &Server,
    options: &ClientOptions,
    administration: &Connection,
    target: &Target,
) -> Result<Vec<Host>, EngineError> {
    let preferences = read_preferences(data);
    if preferences.is_empty() || server.deployment == Deployment::Sharded {
        return Ok(Vec::new());
    }
    let refused = |why: &str| Err(no_secondary(&preferences, target, why));
    if server.deployment == Deployment::Standalone {
        return refused("a standalone server has no secondaries");
    }
    if options.direct_connection == Some(true) {
        return refused("with `directConnection=true` there is one member only");
    }
    let hosts = super::server::members(administration)
        .map_err(|error| target.failed("listing the members", &words(&error)))?;
    if hosts.len() < 2 {
        return refused("the replica set has one member");
    }
    Ok(hosts)
}

fn no_secondary(
    preferences: &[(OwnOperation, &'static str)],
    target: &Target,
    why: &str,
) -> EngineError {
    let names: Vec<&str> = preferences.iter().map(|(own, _)| own.name()).collect();
    target.failed(
        &format!("preparing `{}`, with a `read_preference`", names.join("`, `")),
        &format!(
            "{why}: write `server: {{members: 3}}` in the experiment file, connect to a replica set that has secondaries, or leave the read preference out"
        ),
    )
}

pub(super) fn reads_from_primary(criteria: Option<&SelectionCriteria>) -> bool {
    matches!(criteria, None | Some(SelectionCriteria::ReadPreference(ReadPreference::Primary)))
}

impl Engine for MongoDb {
    fn description(&self) -> EngineDescription {
        let mut notes = self.server.notes.clone();
        let client = match self.shared.target.client {
            ClientChoice::Lean => "lean: a client of our own, one blocking connection to a session",
            ClientChoice::Driver => {
                "driver: the official Rust driver, one client with one connection to a session"
            }
        };
        notes.insert("client".into(), client.into());
        if let Some(lacks) = &self.shared.target.instead_of_lean {
            notes.insert(INSTEAD_OF_LEAN.into(), format!("{lacks}: the official driver is used"));
        }
        notes.insert(
            "measured_state".into(),
            "as the load left the server's cache, after a checkpoint".into(),
        );
        let mut settings = self.shared.target.in_force(&self.shared.options);
        if self.server.is_ferretdb {
            for name in OF_MONGOD {
                settings.remove(name);
            }
        }
        EngineDescription {
            name: KIND.name.into(),
            version: self.server.version.clone(),
            settings,
            notes,
        }
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        match &self.lean {
            Some(lean) => Ok(Box::new(LeanSession::open(Arc::clone(lean))?)),
            None => Ok(Box::new(DriverSession::open(Arc::clone(&self.shared))?)),
        }
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        // Only a sharded cluster has to look at the documents to know which of them belong where they lie.
        let by_index = self.server.has_wiredtiger && self.server.deployment != Deployment::Sharded;
        let mut documents = 0;
        for place in &self.places {
            documents += self
                .administration
                .count(&place.database, &place.collection, by_index && !place.is_time_series())
                .map_err(|error| self.failed_at("counting the documents", place, &error))?;
        }
        Ok(Some(documents))
    }

    /// Has the server write everything out, by a checkpoint. A server without that command has nothing to write out. Secondaries that are read from must have
    /// everything as well.
    fn settle(&self) -> Result<(), EngineError> {
        self.checkpoint()?;
        let elsewhere = self.lean.as_ref().and_then(|lean| lean.elsewhere.as_ref());
        if elsewhere.is_some_and(|elsewhere| !elsewhere.wait_until_replicated()) {
            let message = "the secondaries still lack what was loaded: see their logs, or load with `write_concern: majority`";
            return Err(self.shared.target.failed("waiting for the secondaries", message));
        }
        Ok(())
    }

    fn checkpoint(&self) -> Result<bool, EngineError> {
        match self.administration.command("admin", doc! { "fsync": 1 }) {
            Ok(_) => Ok(true),
            Err(error) => match messages::code(&error) {
                Some(messages::UNAUTHORIZED) => {
                    self.written_out.store(false, Ordering::Relaxed);
                    Ok(false)
                }
                Some(messages::COMMAND_NOT_FOUND | messages::NOT_IMPLEMENTED) => Ok(false),
                _ => Err(self.failed("fsync", &error)),
            },
        }
    }

    /// MongoDB has no command for this, so its cache is shrunk until it is nearly empty, and then restored to its size.
    fn empty_cache(&self) -> Result<bool, EngineError> {
        if !self.server.has_wiredtiger || !self.checkpoint()? {
            return Ok(false);
        }
        let before = self.cache()?;
        self.resize_cache(LEAST_CACHE_BYTES)?;
        let deadline = Instant::now() + LONGEST_EMPTYING;
        let mut left = self.cache();
        while left.as_ref().is_ok_and(|cache| cache.used_bytes > EMPTY_CACHE_BYTES)
            && Instant::now() < deadline
        {
            std::thread::sleep(LOOK);
            left = self.cache();
        }
        // Whatever happened: it must not stay as small.
        self.resize_cache(before.size_bytes)?;
        let left = left?.used_bytes;
        if left > EMPTY_CACHE_BYTES {
            let message =
                format!("it still holds {left} bytes after {} s", LONGEST_EMPTYING.as_secs());
            return Err(self.shared.target.failed("emptying the server's cache", &message));
        }
        Ok(true)
    }

    /// What collStats says of the collections and their indexes: compressed, with the free room inside the files. Not known where the user may not
    /// have the server write everything out, because then it would be wrong.
    fn data_bytes(&self) -> Result<Option<u64>, EngineError> {
        if !self.written_out.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut all_bytes = 0;
        for place in &self.places {
            let answer = self
                .administration
                .command_if_there(&place.database, doc! { "collStats": &place.collection })
                .map_err(|error| self.failed_at("collStats", place, &error))?;
            let Ok(answer) = answer else { return Ok(None) };
            let bytes = |key| super::server::number(&answer, key);
            let Some((data, indexes)) = bytes("storageSize").zip(bytes("totalIndexSize")) else {
                return Ok(None);
            };
            all_bytes += (data + indexes) as u64;
        }
        Ok(Some(all_bytes))
    }

    fn application(&self, samples: &[(OwnOperation, Vec<Vec<u8>>)]) -> Option<ApplicationState> {
        let has_own = self.places.iter().any(|place| place.order.is_some());
        has_own.then(|| application::state(&self.places, &self.administration, samples))
    }

    fn statistics(&self, into: &mut Vec<(&'static str, f64)>) {
        self.statistics.read(&self.shared.target, into);
    }

    fn server(&self) -> Option<ServerIdentity> {
        self.server.identity()
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        // Connections say goodbye when they are dropped. What the server still has to write is its own business.
        Ok(())
    }
}
