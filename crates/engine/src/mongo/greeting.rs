//! How a connection begins: client and server introduce themselves.

use crate::mongo::connection::{Broken, Connection};
use crate::mongo::credentials::{Credentials, Mechanism};
use crate::mongo::document::{Element, Elements};
use crate::mongo::encode;
use crate::mongo::error::{LeanError, explain};
use crate::mongo::message::Message;
use crate::mongo::options::LeanOptions;
use crate::mongo::reply::{self, Failure, Flaw};
use crate::mongo::scram::{Conversation, ScramError};

/// MongoDB 3.6, which brought `OP_MSG`.
const LEAST_WIRE_VERSION: i64 = 6;
/// What a server takes that does not say.
const DEFAULT_DOCUMENT_BYTES: u64 = 16 * 1024 * 1024;
/// Steps of a conversation, more than any mechanism here takes.
const MOST_STEPS: usize = 4;

/// What a server says about itself when a connection begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Highest version of the protocol that it speaks: 6 for MongoDB 3.6, 17 for 6.0, 21 for 7.0.
    pub wire_version: i64,
    /// Most bytes of one document.
    pub document_bytes: u64,
    /// Most bytes of one message.
    pub message_bytes: u64,
    /// Most documents of one batch.
    pub batch_documents: u64,
    /// Whether it is a `mongos`, which hands everything on to the shards.
    pub is_router: bool,
    /// The replica set that it belongs to.
    pub replica_set: Option<String>,
    /// Whether it keeps sessions, in which it knows a change that is sent twice.
    pub has_sessions: bool,
}

impl Server {
    /// Whether it recognises a change that is sent twice. A standalone has sessions, but no log to look into.
    pub(crate) fn takes_repeated_changes(&self) -> bool {
        self.has_sessions && (self.is_router || self.replica_set.is_some())
    }
}

/// Connects, and lets both introduce themselves.
pub(crate) fn connect(
    options: &LeanOptions,
    host: &str,
    id: &mut i32,
) -> Result<(Connection, Server), LeanError> {
    let failed = |source| LeanError::Connect { host: host.into(), source };
    let connection = Connection::open(&options.host, options.connect_timeout).map_err(failed)?;
    options.open_socket.is(connection.socket());
    let mut greeting = Greeting { connection, options, host, id };
    let (server, mechanism) = greeting.hello()?;
    if let Some(credentials) = &options.credentials {
        greeting.authenticate(credentials, mechanism)?;
    }
    let mut connection = greeting.connection;
    connection.limit(options.call_timeout).map_err(failed)?;
    Ok((connection, server))
}

struct Greeting<'a> {
    connection: Connection,
    options: &'a LeanOptions,
    host: &'a str,
    id: &'a mut i32,
}

impl Greeting<'_> {
    fn ask(&mut self, database: &str, document: &[u8]) -> Result<&[u8], Broken> {
        *self.id = self.id.wrapping_add(1);
        let mut message = Message::command(database, document);
        self.connection.send(message.finish(*self.id))?;
        let bytes = self.connection.receive(*self.id)?;
        Ok(self.connection.received(bytes))
    }

    /// Asks the server who it is, and by which mechanism the user may be proven.
    fn hello(&mut self) -> Result<(Server, Mechanism), LeanError> {
        let request = hello_request(self.options.credentials.as_ref());
        let hello = match self.ask("admin", &request) {
            Ok(body) => Hello::of(body),
            Err(Broken::Late) => return Err(self.broke(Broken::Late)),
            Err(Broken::Closed { .. }) => {
                return Err(
                    self.not_mongo("it closed the connection when it was asked who it is".into())
                );
            }
            Err(Broken::Flaw(flaw)) => {
                let beginning = self.connection.beginning().escape_ascii().to_string();
                return Err(self.not_mongo(format!("{flaw}; it begins with \"{beginning}\"")));
            }
            Err(broken) => return Err(self.broke(broken)),
        };
        let hello = match hello {
            Ok(hello) => hello,
            Err(Failure::Refused(refusal)) => {
                return Err(LeanError::Refused {
                    host: self.host.into(),
                    code: refusal.code,
                    name: refusal.name,
                    message: refusal.message,
                });
            }
            Err(Failure::Flaw(flaw)) => return Err(self.not_mongo(flaw.to_string())),
            Err(other) => return Err(self.not_mongo(format!("it answers with {other:?}"))),
        };
        if hello.server.wire_version < LEAST_WIRE_VERSION {
            return Err(LeanError::TooOld {
                host: self.host.into(),
                found: hello.server.wire_version,
                least: LEAST_WIRE_VERSION,
            });
        }
        if !(hello.is_writable || hello.is_secondary && self.options.takes_secondaries) {
            return Err(LeanError::NotPrimary {
                host: self.host.into(),
                said: hello.state().into(),
            });
        }
        Ok((hello.server, hello.mechanism))
    }

    fn authenticate(
        &mut self,
        credentials: &Credentials,
        offered: Mechanism,
    ) -> Result<(), LeanError> {
        let mechanism = credentials.mechanism.unwrap_or(offered);
        let refused = |host: &str, reason: String| LeanError::Authentication {
            host: host.into(),
            user: credentials.user.as_str().into(),
            reason: reason.into(),
        };
        let mut conversation = Conversation::new(credentials, mechanism)
            .map_err(|error| refused(self.host, error.to_string()))?;
        let mut request = start_request(mechanism, conversation.first());
        for _ in 0..MOST_STEPS {
            let step = match self.ask(&credentials.source, &request) {
                Ok(body) => Step::of(body),
                Err(broken) => return Err(self.broke(broken)),
            };
            let step = match step {
                Ok(step) => step,
                Err(Failure::Refused(refusal)) => {
                    let reason = format!("{} ({})", refusal.message, refusal.name);
                    return Err(refused(self.host, reason));
                }
                Err(Failure::Flaw(flaw)) => return Err(self.broke(Broken::Flaw(flaw))),
                Err(other) => return Err(refused(self.host, format!("{other:?}"))),
            };
            let said = |error: ScramError| refused(self.host, error.to_string());
            let answer = conversation.answer(&step.payload).map_err(said)?;
            if step.is_done {
                if conversation.is_proven() {
                    return Ok(());
                }
                return Err(said(ScramError::NotProven));
            }
            request = continue_request(step.conversation, &answer);
        }
        Err(refused(self.host, "the server does not end the conversation".into()))
    }

    fn broke(&self, broken: Broken) -> LeanError {
        explain(broken, self.host, self.options.connect_timeout)
    }

    fn not_mongo(&self, reason: String) -> LeanError {
        LeanError::NotMongo { host: self.host.into(), reason: reason.into() }
    }
}

fn hello_request(credentials: Option<&Credentials>) -> Vec<u8> {
    let mut out = Vec::new();
    let request = encode::begin(&mut out);
    // The name of `hello` that all versions understand.
    encode::int32(b"isMaster", 1, &mut out);
    encode::boolean(b"helloOk", true, &mut out);
    if let Some(credentials) = credentials {
        let user = format!("{}.{}", credentials.source, credentials.user);
        encode::string(b"saslSupportedMechs", user.as_bytes(), &mut out);
    }
    // For the server's log.
    let client = encode::begin_element(b"client", &mut out);
    let application = encode::begin_element(b"application", &mut out);
    encode::string(b"name", b"plimsoll", &mut out);
    encode::end(application, &mut out);
    let driver = encode::begin_element(b"driver", &mut out);
    encode::string(b"name", b"plimsoll-lean", &mut out);
    encode::string(b"version", env!("CARGO_PKG_VERSION").as_bytes(), &mut out);
    encode::end(driver, &mut out);
    let system = encode::begin_element(b"os", &mut out);
    encode::string(b"type", std::env::consts::OS.as_bytes(), &mut out);
    encode::end(system, &mut out);
    encode::end(client, &mut out);
    encode::end(request, &mut out);
    out
}

fn start_request(mechanism: Mechanism, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let request = encode::begin(&mut out);
    encode::int32(b"saslStart", 1, &mut out);
    encode::string(b"mechanism", mechanism.name().as_bytes(), &mut out);
    encode::binary(b"payload", payload, &mut out);
    let options = encode::begin_element(b"options", &mut out);
    encode::boolean(b"skipEmptyExchange", true, &mut out);
    encode::end(options, &mut out);
    encode::end(request, &mut out);
    out
}

fn continue_request(conversation: i32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let request = encode::begin(&mut out);
    encode::int32(b"saslContinue", 1, &mut out);
    encode::int32(b"conversationId", conversation, &mut out);
    encode::binary(b"payload", payload, &mut out);
    encode::end(request, &mut out);
    out
}

/// One reply of the server in a conversation about the password.
struct Step {
    conversation: i32,
    payload: Vec<u8>,
    is_done: bool,
}

impl Step {
    fn of(body: &[u8]) -> Result<Self, Failure> {
        reply::succeeded(body)?;
        let mut elements = Elements::of(body)?;
        let (mut conversation, mut payload, mut is_done) = (None, None, false);
        while let Some(element) = elements.next()? {
            match element.name {
                b"conversationId" => conversation = element.whole(),
                b"payload" => payload = element.binary(),
                b"done" => is_done = element.truth().unwrap_or(false),
                _ => {}
            }
        }
        Ok(Self {
            conversation: conversation
                .and_then(|id| id.try_into().ok())
                .ok_or(Flaw::Missing("conversationId"))?,
            payload: payload.ok_or(Flaw::Missing("payload"))?.to_vec(),
            is_done,
        })
    }
}

/// Times of the last writes of a member, as servers count them; 0 where it knows of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) last: u64,
    /// The last write that it knows a majority to have.
    pub(crate) by_majority: u64,
}

impl Written {
    fn of(element: Element<'_>) -> Self {
        let of = |name: &[u8]| {
            let written = element.elements()?.find(name).ok()??.elements()?.find(b"ts").ok()??;
            written.value.try_into().ok().map(u64::from_le_bytes)
        };
        let (last, by_majority) = (of(b"opTime"), of(b"majorityOpTime"));
        Self { last: last.unwrap_or(0), by_majority: by_majority.unwrap_or(0) }
    }
}

/// What a server says about itself and its state.
pub(crate) struct Hello {
    server: Server,
    pub(crate) is_writable: bool,
    pub(crate) is_secondary: bool,
    is_arbiter: bool,
    primary: Option<String>,
    mechanism: Mechanism,
    pub(crate) written: Written,
}

impl Hello {
    pub(crate) fn of(body: &[u8]) -> Result<Self, Failure> {
        reply::succeeded(body)?;
        let mut hello = Self {
            server: Server {
                wire_version: 0,
                document_bytes: DEFAULT_DOCUMENT_BYTES,
                message_bytes: reply::MOST_BYTES as u64,
                batch_documents: 100_000,
                is_router: false,
                replica_set: None,
                has_sessions: false,
            },
            is_writable: false,
            is_secondary: false,
            is_arbiter: false,
            primary: None,
            mechanism: Mechanism::ScramSha1,
            written: Written::default(),
        };
        let mut is_hello = false;
        let mut elements = Elements::of(body)?;
        while let Some(element) = elements.next()? {
            let size = || {
                element.whole().and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0)
            };
            let server = &mut hello.server;
            match element.name {
                b"ismaster" | b"isWritablePrimary" => {
                    is_hello = true;
                    hello.is_writable |= element.truth().unwrap_or(false);
                }
                b"secondary" => hello.is_secondary = element.truth().unwrap_or(false),
                b"arbiterOnly" => hello.is_arbiter = element.truth().unwrap_or(false),
                b"msg" => server.is_router = element.string() == Some(b"isdbgrid"),
                b"logicalSessionTimeoutMinutes" => server.has_sessions = element.whole().is_some(),
                b"setName" => server.replica_set = element.text(),
                b"primary" => hello.primary = element.text(),
                b"lastWrite" => hello.written = Written::of(element),
                b"maxWireVersion" => server.wire_version = element.whole().unwrap_or(0),
                b"maxBsonObjectSize" => {
                    server.document_bytes = size().unwrap_or(server.document_bytes);
                }
                b"maxMessageSizeBytes" => {
                    server.message_bytes =
                        size().unwrap_or(server.message_bytes).min(reply::MOST_BYTES as u64);
                }
                b"maxWriteBatchSize" => {
                    server.batch_documents = size().unwrap_or(server.batch_documents);
                }
                b"saslSupportedMechs" => {
                    let mut mechanisms =
                        element.elements().ok_or(Flaw::Missing("saslSupportedMechs"))?;
                    while let Some(mechanism) = mechanisms.next()? {
                        if mechanism.string() == Some(b"SCRAM-SHA-256") {
                            hello.mechanism = Mechanism::ScramSha256;
                        }
                    }
                }
                _ => {}
            }
        }
        if !is_hello {
            return Err(Failure::Flaw(Flaw::Missing("ismaster")));
        }
        Ok(hello)
    }

    /// What it is if not a primary.
    fn state(&self) -> String {
        let is = if self.is_arbiter {
            "it is an arbiter"
        } else if self.is_secondary {
            "it is a secondary"
        } else {
            "it is neither primary nor secondary at the moment"
        };
        let of = match &self.server.replica_set {
            Some(name) => format!(" of the replica set `{name}`"),
            None => String::new(),
        };
        match &self.primary {
            Some(primary) => format!("{is}{of}, whose primary is {primary}"),
            None => format!("{is}{of}, which has no primary"),
        }
    }
}
