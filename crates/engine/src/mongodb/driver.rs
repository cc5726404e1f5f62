//! Sessions by the official driver, as applications have it.

use super::collection::Marking;
use super::connection::{runtime, shut_down};
use super::messages::words;
use super::server::number;
use super::target::{Target, acknowledgment_words};
use crate::{EngineError, FieldVisitor, Interrupter, Outcome, Session};
use mongodb::bson::raw::{CString, RawBinaryRef, cstr};
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{
    Binary, Bson, Document, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, doc, rawdoc,
};
use mongodb::error::Error;
use mongodb::event::EventHandler;
use mongodb::event::command::CommandEvent;
use mongodb::options::{Acknowledgment, ClientOptions, WriteConcern};
use mongodb::{Client, Collection, Database};
use plimsoll_workload::{FieldChoice, Fields};
use std::future::poll_fn;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, ready};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

/// What all sessions of a database share.
pub(super) struct Shared {
    pub(super) target: Target,
    pub(super) options: ClientOptions,
    pub(super) database: String,
    /// Names of all fields, by number.
    pub(super) names: Vec<CString>,
    pub(super) marking: Arc<Marking>,
}

/// A client of its own with one connection, and a runtime of its own that works while an operation waits.
pub(super) struct DriverSession {
    runtime: Runtime,
    asking: Asking,
    /// Commands that failed and, where the URI allows it, were sent again by the driver.
    failed_commands: Option<Arc<AtomicU64>>,
    retries: u64,
    bounds: Bounds,
}

/// How long an operation may wait.
struct Bounds {
    /// `socketTimeoutMS` of the URI, which the driver does not know.
    call_timeout: Option<Duration>,
    interrupted: Arc<Notify>,
}

impl Bounds {
    /// Waits for an operation until it is over, too late, or interrupted.
    fn wait<T>(
        &self,
        runtime: &Runtime,
        operation: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        runtime.block_on(async {
            let mut operation = pin!(operation);
            let mut interrupted = pin!(self.interrupted.notified());
            let ended = poll_fn(|context| {
                if let Poll::Ready(result) = operation.as_mut().poll(context) {
                    return Poll::Ready(result);
                }
                ready!(interrupted.as_mut().poll(context));
                // So is every later one.
                self.interrupted.notify_one();
                Poll::Ready(Err(Error::custom("it did not answer, and was given up".to_owned())))
            });
            match self.call_timeout {
                None => ended.await,
                Some(limit) => tokio::time::timeout(limit, ended).await.unwrap_or_else(|_| {
                    Err(Error::custom(format!(
                        "no answer within {} ms (socketTimeoutMS)",
                        limit.as_millis()
                    )))
                }),
            }
        })
    }
}

/// All of a session but its runtime.
struct Asking {
    client: Client,
    database: Database,
    collection: Collection<RawDocumentBuf>,
    shared: Arc<Shared>,
    /// What the next insert command sends.
    batch: Vec<RawDocumentBuf>,
}

impl DriverSession {
    pub(super) fn open(shared: Arc<Shared>) -> Result<Self, EngineError> {
        let target = &shared.target;
        let failed = |message: &str| target.failed("making a session", message);
        let runtime = runtime().map_err(|error| failed(&error.to_string()))?;
        let mut options = shared.options.clone();
        let may_retry = options.retry_reads == Some(true) || options.retry_writes == Some(true);
        let failed_commands = may_retry.then(|| Arc::new(AtomicU64::new(0)));
        if let Some(count) = &failed_commands {
            let count = Arc::clone(count);
            options.command_event_handler = Some(EventHandler::callback(move |event| {
                if let CommandEvent::Failed(_) = event {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        let entered = runtime.enter();
        let client = Client::with_options(options).map_err(|error| failed(&words(&error)))?;
        drop(entered);
        let database = client.database(&shared.database);
        // The first operation that is measured finds its server chosen, its connection made and its user known.
        let mut ping = database.run_command(doc! { "ping": 1 });
        if let Some(criteria) = &shared.options.selection_criteria {
            ping = ping.selection_criteria(criteria.clone());
        }
        let answered = runtime.block_on(async { ping.await });
        if let Err(error) = answered {
            shut_down(&runtime, client);
            return Err(failed(&words(&error)));
        }
        let bounds = Bounds { call_timeout: target.call_timeout, interrupted: Arc::default() };
        Ok(Self {
            asking: Asking {
                collection: database.collection(&target.collection),
                database,
                client,
                batch: Vec::new(),
                shared,
            },
            runtime,
            failed_commands,
            retries: 0,
            bounds,
        })
    }

    fn outcome(&mut self, result: Result<Outcome, Error>) -> Outcome {
        if let Some(count) = &self.failed_commands {
            let failed = count.swap(0, Ordering::Relaxed);
            // The last failure of an operation that failed was not followed by another attempt.
            self.retries += failed.saturating_sub(u64::from(result.is_err()));
        }
        match result {
            Ok(outcome) => outcome,
            Err(error) => self.asking.failure(&error),
        }
    }
}

impl Drop for DriverSession {
    fn drop(&mut self) {
        shut_down(&self.runtime, self.asking.client.clone());
    }
}

impl Asking {
    #[cold]
    fn failure(&self, error: &Error) -> Outcome {
        Outcome::error(self.shared.target.scrubbed(&words(error)))
    }

    fn projection(&self, fields: FieldChoice<'_>) -> Option<Document> {
        let FieldChoice::Some(numbers) = fields else {
            return None;
        };
        let mut projection = Document::new();
        for number in numbers {
            if let Some(name) = self.shared.names.get(*number as usize) {
                projection.insert(name.as_str(), 1);
            }
        }
        Some(projection)
    }

    async fn read(
        &self,
        key: &[u8],
        fields: FieldChoice<'_>,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Result<Outcome, Error> {
        let mut find = self.collection.find_one(by_key(key));
        if let Some(projection) = self.projection(fields) {
            find = find.projection(projection);
        }
        let Some(document) = find.await? else {
            return Ok(Outcome::NotFound);
        };
        if let Some(visitor) = visitor {
            visit(&document, visitor)?;
        }
        black_box(document);
        Ok(Outcome::Ok)
    }

    async fn update(&self, key: &[u8], changes: Fields<'_>) -> Result<Outcome, Error> {
        let mut set = Document::new();
        for (_, name, value) in changes {
            set.insert(text(name), binary(value));
        }
        let changed = self.collection.update_one(by_key(key), doc! { "$set": set }).await?;
        Ok(found(changed.matched_count))
    }

    /// The document of a new record: `{_id: key, field0: BinData(0, ...), ...}`, as YCSB stores it.
    fn document(&self, key: &[u8], fields: Fields<'_>) -> RawDocumentBuf {
        let mut document = RawDocumentBuf::new();
        document.append(cstr!("_id"), text(key));
        for (number, _, value) in fields {
            let value = RawBinaryRef { subtype: BinarySubtype::Generic, bytes: value };
            document.append(&self.shared.names[number as usize], value);
        }
        document
    }

    async fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Result<Outcome, Error> {
        let document = self.document(key, fields);
        let target = &self.shared.target;
        if target.batch > 1 {
            self.batch.push(document);
            if self.batch.len() < target.batch as usize {
                return Ok(Outcome::Batched);
            }
            self.send().await?;
        } else if target.upsert {
            self.collection.replace_one(by_key(key), document).upsert(true).await?;
        } else {
            self.collection.insert_one(document).await?;
        }
        Ok(Outcome::Ok)
    }

    /// Sends the batch, whatever becomes of it.
    async fn send(&mut self) -> Result<(), Error> {
        let batch = std::mem::take(&mut self.batch);
        if !self.shared.target.upsert {
            self.collection.insert_many(batch).ordered(false).await?;
            return Ok(());
        }
        // The driver has no call for many replacements in one command, except on servers from 8.0 on.
        let mut updates = Vec::with_capacity(batch.len());
        for document in batch {
            let key = document.get("_id").ok().flatten();
            let key = key.and_then(RawBsonRef::as_str).unwrap_or_default();
            let update = rawdoc! { "q": { "_id": key }, "u": document.clone(), "upsert": true };
            updates.push(update);
        }
        let mut command = rawdoc! { "update": self.collection.name(), "ordered": false };
        let mut array = RawArrayBuf::new();
        for update in updates {
            array.push(update);
        }
        command.append(cstr!("updates"), array);
        if let Some(concern) = &self.shared.options.write_concern {
            command.append(cstr!("writeConcern"), write_concern(concern));
        }
        let answer = self.database.run_raw_command(command).await?;
        match write_failure(&answer) {
            Some(failure) => Err(Error::custom(failure)),
            None => Ok(()),
        }
    }

    async fn scan(
        &self,
        start: &[u8],
        count: u32,
        fields: FieldChoice<'_>,
        rows: &mut u32,
    ) -> Result<Outcome, Error> {
        let mut find = self
            .collection
            .find(doc! { "_id": { "$gte": text(start) } })
            .sort(doc! { "_id": 1 })
            .limit(i64::from(count));
        if let Some(projection) = self.projection(fields) {
            find = find.projection(projection);
        }
        let mut cursor = find.await?;
        while cursor.advance().await? {
            black_box(cursor.current().as_bytes());
            *rows += 1;
        }
        Ok(Outcome::Ok)
    }

    async fn delete(&self, key: &[u8]) -> Result<Outcome, Error> {
        let removed = self.collection.delete_one(by_key(key)).await?;
        Ok(found(removed.deleted_count))
    }
}

impl Session for DriverSession {
    fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Outcome {
        let result = self.bounds.wait(&self.runtime, self.asking.read(key, fields, visitor));
        self.outcome(result)
    }

    fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Outcome {
        let result = self.bounds.wait(&self.runtime, self.asking.update(key, changes));
        self.outcome(result)
    }

    fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Outcome {
        self.asking.shared.marking.before_insert();
        let result = self.bounds.wait(&self.runtime, self.asking.insert(key, fields));
        self.outcome(result)
    }

    fn scan(
        &mut self,
        start: &[u8],
        count: u32,
        fields: FieldChoice<'_>,
        rows: &mut u32,
    ) -> Outcome {
        *rows = 0;
        let result = self.bounds.wait(&self.runtime, self.asking.scan(start, count, fields, rows));
        self.outcome(result)
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        let result = self.bounds.wait(&self.runtime, self.asking.delete(key));
        self.outcome(result)
    }

    fn flush(&mut self) -> Option<Outcome> {
        if self.asking.batch.is_empty() {
            return None;
        }
        let result = self.bounds.wait(&self.runtime, self.asking.send());
        Some(self.outcome(result.map(|()| Outcome::Ok)))
    }

    fn interrupter(&self) -> Option<Interrupter> {
        let interrupted = Arc::clone(&self.bounds.interrupted);
        Some(Box::new(move || interrupted.notify_one()))
    }

    fn retries(&self) -> u64 {
        self.retries
    }
}

fn found(documents: u64) -> Outcome {
    if documents == 0 { Outcome::NotFound } else { Outcome::Ok }
}

/// Keys and field names are ASCII as `plimsoll_workload` makes them, but for the letters of a field's prefix, which are the user's text.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn by_key(key: &[u8]) -> Document {
    doc! { "_id": text(key) }
}

fn binary(value: &[u8]) -> Binary {
    Binary { subtype: BinarySubtype::Generic, bytes: value.to_vec() }
}

fn visit(document: &RawDocument, visitor: &mut dyn FieldVisitor) -> Result<(), Error> {
    for element in document.iter_elements() {
        let element = element?;
        if let RawBsonRef::Binary(value) = element.value()? {
            visitor.field(element.key().as_str().as_bytes(), value.bytes);
        }
    }
    Ok(())
}

fn write_concern(concern: &WriteConcern) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    match &concern.w {
        Some(Acknowledgment::Nodes(nodes)) => document.append(cstr!("w"), i64::from(*nodes)),
        Some(other) => document.append(cstr!("w"), acknowledgment_words(other)),
        None => {}
    }
    if let Some(journal) = concern.journal {
        document.append(cstr!("j"), journal);
    }
    if let Some(timeout) = concern.w_timeout {
        document.append(cstr!("wtimeout"), timeout.as_millis() as i64);
    }
    document
}

/// Why some writes of a command that was itself in order were refused.
fn write_failure(answer: &Document) -> Option<String> {
    let of = |error: &Document| {
        let message = error.get_str("errmsg").unwrap_or("no reason given");
        match number(error, "code") {
            Some(code) => format!("{message} (code {code})"),
            None => message.to_owned(),
        }
    };
    if let Ok(errors) = answer.get_array("writeErrors")
        && let Some(first) = errors.first().and_then(Bson::as_document)
    {
        return Some(format!("{} of the batch failed, the first: {}", errors.len(), of(first)));
    }
    let concern = answer.get_document("writeConcernError").ok()?;
    Some(format!("the write concern was not met: {}", of(concern)))
}
