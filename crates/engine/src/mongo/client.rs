//! Measuring path: no allocation, lock, log or formatting here where an operation succeeds and the buffers have grown.
//!
//! The operations.

mod statements;
mod transactions;

use crate::PartTime;
use crate::mongo::document::{BINARY, Elements};
use crate::mongo::encode;
use crate::mongo::error::LeanError;
use crate::mongo::greeting::Server;
use crate::mongo::link::Link;
use crate::mongo::members::ReadMode;
use crate::mongo::message::Message;
use crate::mongo::options::LeanOptions;
use crate::mongo::reply::{self, Batch, Failure, Flaw};
use plimsoll_workload::documents::MOST_STATEMENTS;
use plimsoll_workload::{FieldChoice, Fields};
use statements::{Statements, write_transaction};

/// What a statement around a document may take of a message beyond the document's own limit. Servers allow as much.
const STATEMENT_BYTES: u64 = 16 * 1024;

/// A server that sends this many empty batches in a row makes no progress.
const MOST_EMPTY_BATCHES: u32 = 1_000;

/// Takes the fields of a record that was read: name and value, which are valid during the call alone.
pub type Visitor<'a> = dyn FnMut(&[u8], &[u8]) + 'a;

/// How an insert that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It is stored, and so are those that waited with it.
    Stored,
    /// It waits for others to be sent with it.
    Batched,
}

/// One connection to a MongoDB server, used by one thread at a time; see the [crate's documentation](crate).
pub struct LeanClient {
    link: Link,
    requests: Requests,
    statements: Statements,
    /// For statements with a read preference, each by its mode.
    asides: Vec<(ReadMode, LeanClient)>,
    part_times: Vec<PartTime>,
    /// Documents in the batch that has begun.
    waiting: u32,
    /// Documents that make a batch full.
    batch: u32,
    is_acknowledged: bool,
    /// Whether changes are sent once more; then each has a number in the session.
    repeats_changes: bool,
    /// Number of the last change.
    transaction: i64,
    /// Operations that were sent once more.
    retries: u64,
}

/// One message for each kind of operation, written as far as it is always the same.
struct Requests {
    read: Message,
    scan: Message,
    update: Message,
    insert: Message,
    delete: Message,
    /// For everything about cursors, and written each time: their number comes first.
    cursor: Message,
}

impl Requests {
    /// In a session, changes are numbered.
    fn new(options: &LeanOptions, session: Option<&[u8; 16]>) -> Self {
        let LeanOptions { database, collection, write_concern, .. } = options;
        let find = |one| Message::find(database, collection, options.read_concern.as_deref(), one);
        let change = |name, sequence, ordered| {
            Message::change(name, sequence, database, collection, write_concern, ordered, session)
        };
        // In a batch each record counts for itself, as in YCSB.
        let ordered = options.batch == 1;
        Self {
            read: find(true),
            scan: find(false),
            update: change("update", "updates", true),
            insert: if options.upsert {
                change("update", "updates", ordered)
            } else {
                change("insert", "documents", ordered)
            },
            delete: change("delete", "deletes", true),
            cursor: Message::empty(),
        }
    }
}

impl LeanClient {
    /// Connects, proves who asks, and sees that the server takes writes.
    pub fn connect(options: &LeanOptions) -> Result<Self, LeanError> {
        if let Some(problem) = options.problem() {
            return Err(LeanError::Options { reason: problem.into() });
        }
        let link = Link::open(options.clone())?;
        let most = u32::try_from(link.server().batch_documents).unwrap_or(u32::MAX);
        let is_acknowledged = options.write_concern.is_acknowledged();
        let session = link.server().takes_repeated_changes().then(new_session).transpose()?;
        let numbers_changes = options.retry_writes && session.is_some();
        let repeats_changes = numbers_changes && is_acknowledged;
        Ok(Self {
            requests: Requests::new(options, session.as_ref().filter(|_| repeats_changes)),
            statements: Statements::new(options, session.as_ref(), numbers_changes),
            asides: Vec::new(),
            part_times: Vec::with_capacity(MOST_STATEMENTS),
            waiting: 0,
            batch: options.batch.min(most),
            is_acknowledged,
            repeats_changes,
            transaction: 0,
            retries: 0,
            link,
        })
    }

    /// What the server said about itself when the connection was last made.
    pub fn server(&self) -> &Server {
        self.link.server()
    }

    /// Operations that were sent once more since the client was made.
    pub fn retries(&self) -> u64 {
        self.retries + self.asides.iter().map(|(_, client)| client.retries()).sum::<u64>()
    }

    /// What the statements of the last transaction or steps took.
    pub fn part_times(&self) -> &[PartTime] {
        &self.part_times
    }

    /// Sends statements with this read preference by another client.
    pub fn read_aside(&mut self, mode: ReadMode, client: LeanClient) {
        self.asides.push((mode, client));
    }

    /// Records in the batch that has begun.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Reads a record, whole or some fields, and hands each field that is binary to the visitor. Says whether there is such a record.
    /// The visitor may have seen some fields when this fails.
    #[inline]
    pub fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        mut visitor: Option<&mut Visitor<'_>>,
    ) -> Result<bool, LeanError> {
        let Self { link, requests, .. } = self;
        let out = requests.read.restart();
        encode::by_id(b"filter", key, out);
        write_projection(fields, &link.options().field_names, out);
        let end = requests.read.len();
        match self.read_once(visitor.as_deref_mut()) {
            Err(error) if self.link.repeats_read(&error) => {
                self.retries += 1;
                self.requests.read.truncate(end);
                self.read_once(visitor)
            }
            found => found,
        }
    }

    #[inline]
    fn read_once(&mut self, visitor: Option<&mut Visitor<'_>>) -> Result<bool, LeanError> {
        let found = found(self.link.call(&mut self.requests.read)?, visitor);
        found.map_err(|failure| self.link.failed(failure))
    }

    /// Replaces fields of a record. Returns whether the record exists; unacknowledged, it returns true.
    #[inline]
    pub fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Result<bool, LeanError> {
        let out = self.requests.update.restart();
        let statement = encode::begin(out);
        encode::by_id(b"q", key, out);
        let operators = encode::begin_element(b"u", out);
        let set = encode::begin_element(b"$set", out);
        for (_, name, value) in changes {
            encode::binary(name, value, out);
        }
        encode::end(set, out);
        encode::end(operators, out);
        encode::end(statement, out);
        let bytes = self.requests.update.appended();
        if bytes as u64 > self.link.server().document_bytes + STATEMENT_BYTES {
            return Err(self.too_large(bytes));
        }
        self.change(|requests| &mut requests.update)
    }

    /// Removes a record. Says whether there was one; unacknowledged, it says that there was.
    pub fn delete(&mut self, key: &[u8]) -> Result<bool, LeanError> {
        let out = self.requests.delete.restart();
        let statement = encode::begin(out);
        encode::by_id(b"q", key, out);
        encode::int32(b"limit", 1, out);
        encode::end(statement, out);
        self.change(|requests| &mut requests.delete)
    }

    /// Stores a record, or keeps it until a batch is full. A record that would make the message too long sends those that wait and waits
    /// for the next; that counts as stored.
    #[inline]
    pub fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Result<Inserted, LeanError> {
        let message = &mut self.requests.insert;
        if self.waiting == 0 {
            message.restart();
        }
        let before = message.len();
        let out = message.append();
        let document_bytes = if self.link.options().upsert {
            let statement = encode::begin(out);
            encode::by_id(b"q", key, out);
            let document_bytes = encode::record(encode::begin_element(b"u", out), key, fields, out);
            encode::boolean(b"upsert", true, out);
            encode::end(statement, out);
            document_bytes
        } else {
            encode::record(encode::begin(out), key, fields, out)
        };
        let length = message.len();
        if document_bytes as u64 > self.link.server().document_bytes {
            message.truncate(before);
            return Err(self.too_large(document_bytes));
        }
        if length as u64 > self.link.server().message_bytes && self.waiting > 0 {
            let sent = self.send_batch(before);
            self.requests.insert.keep_from(before);
            self.waiting = 1;
            return sent.map(|()| Inserted::Stored);
        }
        self.waiting += 1;
        if self.waiting < self.batch {
            return Ok(Inserted::Batched);
        }
        let sent = self.send_batch(length);
        self.waiting = 0;
        sent.map(|()| Inserted::Stored)
    }

    /// Sends the batch that has begun, if there is one.
    ///
    /// As [`insert`](Self::insert), this can fail for some records of the batch or for all.
    pub fn flush(&mut self) -> Option<Result<(), LeanError>> {
        if self.waiting == 0 {
            return None;
        }
        let sent = self.send_batch(self.requests.insert.len());
        self.waiting = 0;
        Some(sent)
    }

    /// Reads up to `count` records in the order of their keys, from `start` on, and says how many there were.
    pub fn scan(
        &mut self,
        start: &[u8],
        count: u32,
        fields: FieldChoice<'_>,
    ) -> Result<u32, LeanError> {
        // To the server, 0 means no limit.
        if count == 0 {
            return Ok(0);
        }
        let Self { link, requests, .. } = self;
        let out = requests.scan.restart();
        encode::int64(b"limit", i64::from(count), out);
        let filter = encode::begin_element(b"filter", out);
        let from = encode::begin_element(b"_id", out);
        encode::string(b"$gte", start, out);
        encode::end(from, out);
        encode::end(filter, out);
        write_projection(fields, &link.options().field_names, out);
        let end = requests.scan.len();
        let (mut rows, mut empty) = (0, 0);
        let mut batch = self.begin_scan();
        // A cursor is that of one server: only its first batch can be requested once more.
        if let Err(error) = &batch
            && self.link.repeats_read(error)
        {
            self.retries += 1;
            self.requests.scan.truncate(end);
            batch = self.begin_scan();
        }
        loop {
            let (more, cursor) = batch?;
            rows += more;
            if rows > u64::from(count) {
                return Err(self.link.failed(Failure::Flaw(Flaw::TooMany)));
            }
            if cursor == 0 {
                return Ok(rows as u32);
            }
            if rows == u64::from(count) {
                self.kill_cursor(cursor, None, None);
                return Ok(rows as u32);
            }
            // Batches may be empty, but not forever.
            empty = if more == 0 { empty + 1 } else { 0 };
            if empty > MOST_EMPTY_BATCHES {
                return Err(self.link.failed(Failure::Flaw(Flaw::NoProgress)));
            }
            let counted = counted(self.get_more(cursor, None, None, None)?);
            batch = counted.map_err(|failure| self.link.failed(failure));
        }
    }

    fn begin_scan(&mut self) -> Result<(u64, i64), LeanError> {
        let counted = counted(self.link.call(&mut self.requests.scan)?);
        counted.map_err(|failure| self.link.failed(failure))
    }

    /// Runs any command: a whole document of BSON without `$db`, answered by one. For administration and tests; it allocates.
    pub fn command(&mut self, database: &str, document: &[u8]) -> Result<Vec<u8>, LeanError> {
        if let Err(malformed) = Elements::of(document).and_then(Elements::check) {
            return Err(LeanError::Options {
                reason: format!("a command that is not BSON cannot be sent: {malformed}").into(),
            });
        }
        let mut message = Message::command(database, document);
        let body = self.link.call(&mut message)?;
        match reply::succeeded(body) {
            Ok(()) => Ok(body.to_vec()),
            Err(failure) => Err(self.link.failed(failure)),
        }
    }

    /// Sends a change that was written for one record. Says whether it met one.
    #[inline]
    fn change(
        &mut self,
        message: impl Fn(&mut Requests) -> &mut Message,
    ) -> Result<bool, LeanError> {
        self.transaction += 1;
        message(&mut self.requests).number(self.transaction);
        match self.change_once(&message) {
            Err(error) if self.repeats_change(&error) => self.change_once(&message),
            met => met,
        }
    }

    /// Whether to send a change that failed so once more, under its number.
    #[cold]
    fn repeats_change(&mut self, error: &LeanError) -> bool {
        let repeats = self.repeats_changes && error.passes();
        self.retries += u64::from(repeats);
        repeats
    }

    #[inline]
    fn change_once(
        &mut self,
        message: &impl Fn(&mut Requests) -> &mut Message,
    ) -> Result<bool, LeanError> {
        let message = message(&mut self.requests);
        if !self.is_acknowledged {
            self.link.tell(message)?;
            return Ok(true);
        }
        let failure = match reply::written(self.link.call(message)?) {
            Ok(0) => return Ok(false),
            Ok(1) => return Ok(true),
            Ok(more) => Failure::Flaw(miscounted(1, more)),
            Err(failure) => failure,
        };
        Err(self.link.failed(failure))
    }

    /// Sends the records that wait, which end at `end` in their message.
    #[inline]
    fn send_batch(&mut self, end: usize) -> Result<(), LeanError> {
        self.transaction += 1;
        self.requests.insert.number(self.transaction);
        match self.send_batch_once(end) {
            Err(error) if self.repeats_change(&error) => self.send_batch_once(end),
            sent => sent,
        }
    }

    #[inline]
    fn send_batch_once(&mut self, end: usize) -> Result<(), LeanError> {
        let message = &mut self.requests.insert;
        let sent = u64::from(self.waiting);
        if !self.is_acknowledged {
            return self.link.tell_up_to(message, end);
        }
        let failure = match reply::written(self.link.call_up_to(message, end)?) {
            Ok(stored) if stored == sent => return Ok(()),
            Ok(stored) => Failure::Flaw(miscounted(sent, stored)),
            Err(failure) => failure,
        };
        Err(if self.batch > 1 {
            self.link.batch_failed(failure, sent)
        } else {
            self.link.failed(failure)
        })
    }

    #[cold]
    fn too_large(&self, bytes: usize) -> LeanError {
        LeanError::TooLarge {
            host: self.link.host().into(),
            bytes: bytes as u64,
            most: self.link.server().document_bytes,
        }
    }

    /// Asks for the next batch, of at most `batch_size` documents, in the given collection or that of the records, and in the transaction of this number.
    fn get_more(
        &mut self,
        cursor: i64,
        collection: Option<&[u8]>,
        batch_size: Option<i64>,
        transaction: Option<i64>,
    ) -> Result<&[u8], LeanError> {
        let Self { link, requests, statements, .. } = self;
        let LeanOptions { database, collection: of_records, .. } = link.options();
        let out = requests.cursor.restart();
        encode::int64(b"getMore", cursor, out);
        encode::string(b"collection", collection.unwrap_or(of_records.as_bytes()), out);
        if let Some(size) = batch_size {
            encode::int64(b"batchSize", size, out);
        }
        if let Some(number) = transaction {
            write_transaction(statements.session.as_ref(), number, false, out);
        }
        encode::string(b"$db", database.as_bytes(), out);
        link.call(&mut requests.cursor)
    }

    /// Closes a cursor with further results after all requested ones have come. Returns whether the server answered.
    #[cold]
    fn kill_cursor(
        &mut self,
        cursor: i64,
        collection: Option<&[u8]>,
        transaction: Option<i64>,
    ) -> bool {
        let Self { link, requests, statements, .. } = self;
        let LeanOptions { database, collection: of_records, .. } = link.options();
        let out = requests.cursor.restart();
        encode::string(b"killCursors", collection.unwrap_or(of_records.as_bytes()), out);
        let cursors = encode::begin_list(b"cursors", out);
        encode::int64(b"0", cursor, out);
        encode::end(cursors, out);
        if let Some(number) = transaction {
            write_transaction(statements.session.as_ref(), number, false, out);
        }
        encode::string(b"$db", database.as_bytes(), out);
        // The scan has succeeded. A server that does not answer to this is noticed by the next operation, and cursors end by themselves.
        link.call(&mut requests.cursor).is_ok()
    }
}

/// The number of a session, drawn at random: a UUID of version 4.
fn new_session() -> Result<[u8; 16], LeanError> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(|error| LeanError::Options {
        reason: format!("there are no random numbers for a session: {error}").into(),
    })?;
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    Ok(id)
}

fn miscounted(expected: u64, found: u64) -> Flaw {
    Flaw::Count { expected, found: i64::try_from(found).unwrap_or(i64::MAX) }
}

/// `projection: {name: 1, ...}`, unless all fields are wanted. Fields that no record has are left out.
#[inline]
fn write_projection(fields: FieldChoice<'_>, names: &[Box<str>], out: &mut Vec<u8>) {
    let FieldChoice::Some(numbers) = fields else {
        return;
    };
    let projection = encode::begin_element(b"projection", out);
    for number in numbers {
        if let Some(name) = names.get(*number as usize) {
            encode::int32(name.as_bytes(), 1, out);
        }
    }
    encode::end(projection, out);
}

/// Looks at the reply to a search for one record.
#[inline]
fn found(body: &[u8], mut visitor: Option<&mut Visitor<'_>>) -> Result<bool, Failure> {
    let mut batch = Batch::of(body)?;
    let Some(mut document) = batch.next()? else {
        return Ok(false);
    };
    while let Some(element) = document.next()? {
        if element.kind == BINARY
            && let Some(visitor) = &mut visitor
            && let Some(value) = element.binary()
        {
            visitor(element.name, value);
        }
    }
    if batch.next()?.is_some() {
        return Err(Failure::Flaw(Flaw::TooMany));
    }
    Ok(true)
}

/// How many records are in a reply, and the cursor to ask for more.
#[inline]
fn counted(body: &[u8]) -> Result<(u64, i64), Failure> {
    let batch = Batch::of(body)?;
    Ok((batch.count()?, batch.cursor))
}
