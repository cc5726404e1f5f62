//! Measuring path: no allocation, lock, log or formatting here where an operation succeeds.
//!
//! Sessions by the lean client: one blocking connection each, to the primary that the driver found, and one more for each read preference of an application.

use super::collection::Marking;
use super::connection::{Connection, runtime};
use super::lean_options::host_of;
use super::server;
use super::target::Target;
use crate::mongo::{
    Credentials, FindServer, Host, Inserted, LeanClient, LeanError, LeanOptions, Mechanism,
    Members, OpenSocket, ReadMode, W, WriteConcern,
};
use crate::{Answer, EngineError, FieldVisitor, Interrupter, Outcome, PartTime, Session};
use mongodb::bson::rawdoc;
use mongodb::options::{Acknowledgment, AuthMechanism, ClientOptions};
use plimsoll_record::{OwnOperation, StatementKind};
use plimsoll_workload::{FieldChoice, Fields, Statement};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long drivers look for a server, unless the URI says otherwise by `serverSelectionTimeoutMS`.
const SELECTION: Duration = Duration::from_secs(30);

/// Between two questions to a member whether it is the primary.
const BETWEEN: Duration = Duration::from_millis(10);
/// Secondaries that take longer to store what was loaded are not waited for.
const REPLICATED_WITHIN: Duration = Duration::from_secs(600);
/// A member that takes longer to say where the primary is gets the question again.
const LONGEST_ANSWER: Duration = Duration::from_secs(1);

/// What all sessions of a database share.
pub(super) struct LeanShared {
    pub(super) target: Target,
    /// For every session, with the host that was found when the engine was opened.
    pub(super) options: LeanOptions,
    /// Where the primary may move.
    pub(super) primary: Option<Arc<Primary>>,
    pub(super) elsewhere: Option<Elsewhere>,
    pub(super) marking: Arc<Marking>,
}

/// The options of every session, from what the driver has read in the URI.
pub(super) fn options(
    target: &Target,
    options: &ClientOptions,
    mut lean: LeanOptions,
) -> LeanOptions {
    if let Some(concern) = &options.write_concern {
        lean.write_concern = WriteConcern {
            w: concern.w.as_ref().map(|w| match w {
                Acknowledgment::Nodes(nodes) => W::Number(*nodes),
                Acknowledgment::Majority => W::Majority,
                other => W::Tag(super::target::acknowledgment_words(other)),
            }),
            journal: concern.journal,
            timeout_ms: concern.w_timeout.map(|timeout| timeout.as_millis() as u64),
        };
    }
    lean.read_concern =
        options.read_concern.as_ref().map(|concern| super::target::concern_word(&concern.level));
    lean.credentials = options.credential.as_ref().map(|credential| Credentials {
        user: credential.username.clone().unwrap_or_default(),
        password: credential.password.clone().unwrap_or_default(),
        source: credential.source.clone().unwrap_or_else(|| "admin".into()),
        mechanism: match credential.mechanism {
            Some(AuthMechanism::ScramSha1) => Some(Mechanism::ScramSha1),
            Some(AuthMechanism::ScramSha256) => Some(Mechanism::ScramSha256),
            _ => None,
        },
    });
    lean.upsert = target.upsert;
    lean.batch = target.batch;
    lean.connect_timeout = options.connect_timeout.unwrap_or(target.connect_timeout);
    lean.call_timeout = target.call_timeout;
    lean.retry_reads = options.retry_reads == Some(true);
    lean.retry_writes = options.retry_writes == Some(true);
    lean
}

/// Where an application reads that does not read from the primary.
pub(super) struct Elsewhere {
    members: Members,
    modes: Vec<ReadMode>,
    /// How many sessions there were.
    sessions: AtomicU64,
    within: Duration,
}

impl Elsewhere {
    /// Begins to watch the members of the set, and waits for a secondary; `None` where none answers in time.
    pub(super) fn open(
        read_preferences: &[(OwnOperation, &'static str)],
        hosts: Vec<Host>,
        options: &ClientOptions,
        lean: &LeanOptions,
    ) -> Option<Self> {
        let mut modes: Vec<ReadMode> = Vec::new();
        for mode in read_preferences.iter().filter_map(|(_, mode)| ReadMode::of(mode.as_bytes())) {
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        let within = options.server_selection_timeout.unwrap_or(SELECTION);
        let members = Members::watch(hosts, lean);
        members.choice(ReadMode::Secondary, 0, within).first()?;
        Some(Self { members, modes, sessions: AtomicU64::new(0), within })
    }

    /// Waits until the secondaries have what the primary has.
    pub(super) fn wait_until_replicated(&self) -> bool {
        self.members.wait_until_replicated(REPLICATED_WITHIN)
    }

    /// Makes a connection for each read preference, and gives their sockets.
    fn connect(
        &self,
        client: &mut LeanClient,
        options: &LeanOptions,
    ) -> Result<Vec<Arc<OpenSocket>>, LeanError> {
        let session = self.sessions.fetch_add(1, Ordering::Relaxed);
        let mut sockets = Vec::new();
        for mode in &self.modes {
            let choice = self.members.choice(*mode, session, self.within);
            let options = LeanOptions {
                host: choice.first().unwrap_or_else(|| options.host.clone()),
                finder: Some(Arc::new(choice)),
                takes_secondaries: true,
                open_socket: Arc::default(),
                ..options.clone()
            };
            client.read_aside(*mode, LeanClient::connect(&options)?);
            sockets.push(options.open_socket);
        }
        Ok(sockets)
    }
}

/// Where the primary is, found again for all sessions that lost it.
#[derive(Debug)]
pub(super) struct Primary {
    options: ClientOptions,
    target: Target,
    lean: LeanOptions,
    found: Mutex<KnownPrimary>,
}

#[derive(Debug)]
struct KnownPrimary {
    host: Option<Host>,
    at: Instant,
}

impl Primary {
    /// `lean` is for sessions; the host of its options is the primary now.
    pub(super) fn new(options: &ClientOptions, target: &Target, lean: &LeanOptions) -> Self {
        Self {
            lean: lean.clone(),
            options: options.clone(),
            target: target.clone(),
            found: Mutex::new(KnownPrimary { host: Some(lean.host.clone()), at: Instant::now() }),
        }
    }

    /// Where it was found last.
    fn last(&self) -> Option<Host> {
        self.found().host.clone()
    }

    fn found(&self) -> MutexGuard<'_, KnownPrimary> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the members that the URI names again and again, so that a new primary is known within milliseconds. Members that it does not name are
    /// known to the driver, which looks twice a second.
    fn seek(&self) -> Option<Host> {
        let within = self.options.server_selection_timeout.unwrap_or(SELECTION);
        let seeds: Vec<Host> = self.options.hosts.iter().filter_map(host_of).collect();
        let mut seekers = Seekers::new();
        for host in seeds.iter().filter(|_| seeds.len() > 1) {
            let options = LeanOptions {
                host: host.clone(),
                connect_timeout: self.lean.connect_timeout.min(LONGEST_ANSWER),
                finder: None,
                ..self.lean.clone()
            };
            seekers.add(move || {
                let found = LeanClient::connect(&options).ok();
                found.map(|_| options.host.clone())
            });
        }
        let (options, target) = (self.options.clone(), self.target.clone());
        seekers.add(move || by_driver(&options, &target));
        seekers.found.recv_timeout(within).ok()
    }
}

/// By a client of its own: one that is open already would for a while take its old knowledge for new.
fn by_driver(options: &ClientOptions, target: &Target) -> Option<Host> {
    let connection = Connection::open(runtime().ok()?, options, target).ok()?;
    connection.command_within("admin", server::greeting(), LONGEST_ANSWER)?;
    host_of(&connection.served_by()?)
}

impl FindServer for Primary {
    /// One session seeks for all, and the others wait for it: as long as the driver would.
    fn find(&self, _: &Host, lost: Instant) -> Option<Host> {
        let mut found = self.found();
        if found.at < lost {
            let host = self.seek();
            let at = Instant::now();
            *found = KnownPrimary { host, at };
        }
        found.host.clone()
    }
}

/// Threads that seek the primary, each in its own way, until one has found it or they are dropped.
struct Seekers {
    tell: Sender<Host>,
    found: Receiver<Host>,
    over: Arc<AtomicBool>,
}

impl Seekers {
    fn new() -> Self {
        let (tell, found) = channel();
        Self { tell, found, over: Arc::default() }
    }

    /// Another way. Without a thread for it there is one way less.
    fn add(&mut self, look: impl Fn() -> Option<Host> + Send + 'static) {
        let (tell, over) = (self.tell.clone(), Arc::clone(&self.over));
        let seek = move || {
            while !over.load(Ordering::Relaxed) {
                if let Some(host) = look() {
                    // Another may have been quicker.
                    let _ = tell.send(host);
                    return;
                }
                std::thread::sleep(BETWEEN);
            }
        };
        let name = "primary".to_owned();
        let _ = std::thread::Builder::new().name(name).spawn(seek);
    }
}

impl Drop for Seekers {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// One connection of the lean client.
pub(super) struct LeanSession {
    client: LeanClient,
    is_acknowledged: bool,
    open_sockets: Vec<Arc<OpenSocket>>,
    shared: Arc<LeanShared>,
}

impl LeanSession {
    pub(super) fn open(shared: Arc<LeanShared>) -> Result<Self, EngineError> {
        let mut options = shared.options.clone();
        options.open_socket = Arc::default();
        if let Some(host) = shared.primary.as_ref().and_then(|primary| primary.last()) {
            options.host = host;
        }
        let failed =
            |error: LeanError| shared.target.failed("making a session", &error.to_string());
        let mut client = LeanClient::connect(&options).map_err(failed)?;
        let mut open_sockets = match &shared.elsewhere {
            None => Vec::new(),
            Some(elsewhere) => elsewhere.connect(&mut client, &options).map_err(failed)?,
        };
        open_sockets.push(options.open_socket);
        Ok(Self {
            client,
            is_acknowledged: shared.options.write_concern.is_acknowledged(),
            open_sockets,
            shared,
        })
    }

    #[cold]
    fn failed(&self, error: &LeanError) -> Outcome {
        Outcome::error(self.shared.target.scrubbed(&error.to_string()))
    }

    #[inline]
    fn found(&mut self, result: Result<bool, LeanError>) -> Outcome {
        match result {
            Ok(true) => Outcome::Ok,
            Ok(false) => Outcome::NotFound,
            Err(error) => self.failed(&error),
        }
    }
}

impl Session for LeanSession {
    #[inline]
    fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Outcome {
        let result = match visitor {
            None => self.client.read(key, fields, None),
            Some(visitor) => {
                let mut hand_over = |name: &[u8], value: &[u8]| visitor.field(name, value);
                self.client.read(key, fields, Some(&mut hand_over))
            }
        };
        self.found(result)
    }

    #[inline]
    fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Outcome {
        let result = self.client.update(key, changes);
        self.found(result)
    }

    #[inline]
    fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Outcome {
        self.shared.marking.before_insert();
        match self.client.insert(key, fields) {
            Ok(Inserted::Stored) => Outcome::Ok,
            Ok(Inserted::Batched) => Outcome::Batched,
            Err(error) => self.failed(&error),
        }
    }

    fn scan(
        &mut self,
        start: &[u8],
        count: u32,
        fields: FieldChoice<'_>,
        rows: &mut u32,
    ) -> Outcome {
        *rows = 0;
        match self.client.scan(start, count, fields) {
            Ok(found) => {
                *rows = found;
                Outcome::Ok
            }
            Err(error) => self.failed(&error),
        }
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        let result = self.client.delete(key);
        self.found(result)
    }

    #[inline]
    fn statement(&mut self, statement: &Statement<'_>, answer: &mut Answer) -> Outcome {
        use StatementKind::{Count, Distinct, Find};
        // An update may insert what it does not find, and a pipeline may store what it finds.
        if !matches!(statement.operation.kind(), Find | Count | Distinct) {
            self.shared.marking.before_insert();
        }
        match self.client.statement(statement, answer) {
            Ok(()) => Outcome::Ok,
            Err(error) => self.failed(&error),
        }
    }

    fn part_times(&self) -> &[PartTime] {
        self.client.part_times()
    }

    fn interrupter(&self) -> Option<Interrupter> {
        let sockets = self.open_sockets.clone();
        Some(Box::new(move || sockets.iter().for_each(|socket| socket.interrupt())))
    }

    fn retries(&self) -> u64 {
        self.client.retries()
    }

    fn flush(&mut self) -> Option<Outcome> {
        let flushed = self.client.flush();
        // It is unknown when unacknowledged changes are made, except that a server serves a connection in order.
        if !self.is_acknowledged {
            let _ = self.client.command("admin", rawdoc! { "ping": 1 }.as_bytes());
        }
        Some(match flushed? {
            Ok(()) => Outcome::Ok,
            Err(error) => self.failed(&error),
        })
    }
}
