//! Measuring path: no allocation, lock, log or formatting here where a statement succeeds, was sent before, and the buffers have grown.
//!
//! Statements of an application. The command is copied into a message as it is, and what it needs of the client follows it: concerns, session and database.

use super::{LeanClient, MOST_EMPTY_BATCHES, STATEMENT_BYTES, miscounted};
use crate::Answer;
use crate::mongo::concern::WriteConcern;
use crate::mongo::document::{Element, Elements, Malformed};
use crate::mongo::encode;
use crate::mongo::error::LeanError;
use crate::mongo::members::ReadMode;
use crate::mongo::message::Message;
use crate::mongo::options::LeanOptions;
use crate::mongo::reply::{Failure, Flaw, StatementReply};
use plimsoll_record::{OwnOperation, StatementKind};
use plimsoll_workload::Statement;

/// The message of a statement, and what is known of the statements that were sent.
pub(super) struct Statements {
    pub(super) message: Message,
    /// The session, where the server has transactions.
    pub(super) session: Option<[u8; 16]>,
    /// What follows the command, by [`tail_number`].
    tails: [Tail; 8],
    /// Whether changes have numbers, where they are acknowledged.
    numbers_changes: bool,
    /// Whether the connection's own write concern wants an answer.
    is_acknowledged: bool,
    /// Place in the list is the slot of a mix.
    shapes: Vec<Option<Shape>>,
}

/// The elements that follow a command.
struct Tail {
    bytes: Vec<u8>,
    /// Where the number of the change is, from the end.
    number_from_end: usize,
}

/// Shapes of commands that are kept for a mix.
const SLOTS: usize = 32;

/// The place of a tail with these elements.
fn tail_number(has_read_concern: bool, has_write_concern: bool, has_number: bool) -> usize {
    usize::from(has_read_concern)
        | usize::from(has_write_concern) << 1
        | usize::from(has_number) << 2
}

/// How a statement is sent, and sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// A read, sent again where reads are.
    Read,
    /// A pipeline that stores its documents. It is never sent again.
    Store,
    /// A change of several documents, which no server takes twice.
    Change,
    /// A change with a number, by which the server knows one that it has made.
    Numbered,
}

/// What stays the same in the statements of a slot, read in the first of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    operation: OwnOperation,
    manner: Manner,
    /// What follows the command: the concerns of the connection where it has none of its own.
    tail: usize,
    is_answered: bool,
    has_read_concern: bool,
    pub(super) has_write_concern: bool,
    /// The mode of its read preference, unless it is for the primary.
    mode: Option<ReadMode>,
    /// `batchSize` of the command, which every further batch repeats, as drivers do.
    batch_size: Option<i64>,
    /// Whether the command itself has a limit, so that the server may not send more.
    has_limit: bool,
    /// The most documents that a change can match; unknown where it may match several.
    most: Option<u64>,
}

impl Statements {
    pub(super) fn new(
        options: &LeanOptions,
        session: Option<&[u8; 16]>,
        numbers_changes: bool,
    ) -> Self {
        let tail = |number: usize| {
            let mut bytes = Vec::new();
            if number & 1 > 0
                && let Some(level) = &options.read_concern
            {
                let concern = encode::begin_element(b"readConcern", &mut bytes);
                encode::string(b"level", level.as_bytes(), &mut bytes);
                encode::end(concern, &mut bytes);
            }
            if number & 2 > 0 {
                options.write_concern.write(&mut bytes);
            }
            let mut number_at = bytes.len();
            if number & 4 > 0
                && let Some(session) = session
            {
                encode::session(session, 0, &mut bytes);
                number_at = bytes.len() - size_of::<i64>();
            }
            encode::string(b"$db", options.database.as_bytes(), &mut bytes);
            Tail { number_from_end: bytes.len() - number_at, bytes }
        };
        Self {
            message: Message::empty(),
            session: session.copied(),
            tails: std::array::from_fn(tail),
            numbers_changes,
            is_acknowledged: options.write_concern.is_acknowledged(),
            shapes: Vec::new(),
        }
    }

    /// Writes the message of a statement of a transaction. The first statement starts the transaction.
    #[inline]
    pub(super) fn write_part(
        &mut self,
        statement: &Statement<'_>,
        shape: Shape,
        number: i64,
        is_first: bool,
    ) {
        let tail = tail_number(is_first && !shape.has_read_concern, false, false);
        let out = self.message.restart();
        out.extend_from_slice(elements_of(statement.command));
        out.extend_from_slice(&self.tails[tail].bytes);
        write_transaction(self.session.as_ref(), number, is_first, out);
        self.message.set_is_answered(true);
    }

    /// Writes the message that ends a transaction.
    pub(super) fn write_end(
        &mut self,
        command: &[u8],
        number: i64,
        concern: Option<&WriteConcern>,
    ) {
        let out = self.message.restart();
        out.extend_from_slice(elements_of(command));
        write_transaction(self.session.as_ref(), number, false, out);
        if let Some(concern) = concern {
            concern.write(out);
        }
        encode::string(b"$db", b"admin", out);
        self.message.set_is_answered(true);
    }

    /// Writes the message of a statement.
    #[inline]
    fn write(&mut self, statement: &Statement<'_>, shape: Shape, transaction: i64) {
        let tail = &self.tails[shape.tail];
        let out = self.message.restart();
        out.extend_from_slice(elements_of(statement.command));
        out.extend_from_slice(&tail.bytes);
        if shape.manner == Manner::Numbered {
            let at = out.len() - tail.number_from_end;
            out[at..at + size_of::<i64>()].copy_from_slice(&transaction.to_le_bytes());
        }
    }
}

impl Shape {
    /// Reads a command, which is sent by a connection with this knowledge.
    fn of(statement: &Statement<'_>, known: &Statements) -> Result<Self, Malformed> {
        let elements = Elements::of(statement.command)?;
        elements.check()?;
        let mut shape = Self {
            operation: statement.operation,
            manner: Manner::Read,
            tail: 0,
            is_answered: true,
            has_read_concern: elements.find(b"readConcern")?.is_some(),
            has_write_concern: elements.find(b"writeConcern")?.is_some(),
            mode: None,
            batch_size: None,
            has_limit: false,
            most: None,
        };
        if let Some(preference) = list(elements, b"$readPreference")? {
            let mode = preference.find(b"mode")?.and_then(|mode| mode.string());
            shape.mode = mode.and_then(ReadMode::of);
        }
        let whole = |element: Option<Element<'_>>| element.and_then(|element| element.whole());
        let own_write_concern = list(elements, b"writeConcern")?;
        let is_acknowledged = match own_write_concern {
            Some(concern) => whole(concern.find(b"w")?) != Some(0),
            None => known.is_acknowledged,
        };
        let is_numbered = known.numbers_changes && is_acknowledged;
        let change = if is_numbered { Manner::Numbered } else { Manner::Change };
        match statement.operation.kind() {
            StatementKind::Find => {
                shape.batch_size = whole(elements.find(b"batchSize")?);
                shape.has_limit = whole(elements.find(b"limit")?).is_some_and(|limit| limit != 0);
            }
            StatementKind::Aggregate => {
                if let Some(cursor) = list(elements, b"cursor")? {
                    shape.batch_size = whole(cursor.find(b"batchSize")?);
                }
                match last_stage(elements)? {
                    Some(b"$out" | b"$merge") => shape.manner = Manner::Store,
                    Some(b"$limit") => shape.has_limit = true,
                    _ => {}
                }
            }
            StatementKind::Count | StatementKind::Distinct => {}
            // The sender numbers it.
            StatementKind::Transaction | StatementKind::Steps => shape.manner = Manner::Change,
            StatementKind::Insert => shape.manner = change,
            StatementKind::FindAndModify => {
                shape.manner = change;
                shape.most = Some(1);
            }
            StatementKind::Update => {
                shape.most = most(elements, b"updates", |change| {
                    Ok(change.find(b"multi")?.and_then(|multi| multi.truth()) != Some(true))
                })?;
                shape.manner = if shape.most.is_some() { change } else { Manner::Change };
            }
            StatementKind::Delete => {
                shape.most = most(elements, b"deletes", |removal| {
                    Ok(whole(removal.find(b"limit")?) == Some(1))
                })?;
                shape.manner = if shape.most.is_some() { change } else { Manner::Change };
            }
        }
        shape.batch_size = shape.batch_size.filter(|size| *size > 0);
        let reads = matches!(shape.manner, Manner::Read | Manner::Store);
        shape.tail = tail_number(
            reads && !shape.has_read_concern,
            shape.manner != Manner::Read && !shape.has_write_concern,
            shape.manner == Manner::Numbered,
        );
        use StatementKind::{Delete, Insert, Update};
        let is_silent = matches!(statement.operation.kind(), Insert | Update | Delete);
        shape.is_answered = is_acknowledged || !is_silent;
        Ok(shape)
    }
}

/// What stands between the braces of a command.
#[inline]
fn elements_of(command: &[u8]) -> &[u8] {
    command.get(4..command.len().saturating_sub(1)).unwrap_or_default()
}

/// Writes to which transaction a command belongs.
pub(super) fn write_transaction(
    session: Option<&[u8; 16]>,
    number: i64,
    starts: bool,
    out: &mut Vec<u8>,
) {
    if let Some(session) = session {
        encode::session(session, number, out);
    }
    if starts {
        encode::boolean(b"startTransaction", true, out);
    }
    encode::boolean(b"autocommit", false, out);
}

/// The elements of an element that is a list or a document.
fn list<'a>(elements: Elements<'a>, name: &[u8]) -> Result<Option<Elements<'a>>, Malformed> {
    Ok(elements.find(name)?.and_then(|element| element.elements()))
}

/// The name of the last stage of a pipeline.
fn last_stage<'a>(elements: Elements<'a>) -> Result<Option<&'a [u8]>, Malformed> {
    let mut last = None;
    if let Some(mut stages) = list(elements, b"pipeline")? {
        while let Some(stage) = stages.next()? {
            let operator = stage.elements().map(|mut stage| stage.next()).transpose()?.flatten();
            last = operator.map(|operator| operator.name);
        }
    }
    Ok(last)
}

/// How many changes a command lists, if each is of one document.
fn most(
    elements: Elements<'_>,
    name: &[u8],
    is_of_one: impl Fn(Elements<'_>) -> Result<bool, Malformed>,
) -> Result<Option<u64>, Malformed> {
    let Some(mut changes) = list(elements, name)? else {
        return Ok(None);
    };
    let mut count = 0;
    while let Some(change) = changes.next()? {
        let Some(change) = change.elements() else {
            return Ok(None);
        };
        if !is_of_one(change)? {
            return Ok(None);
        }
        count += 1;
    }
    Ok(Some(count))
}

/// The collection of a command: the value of its first element.
#[inline]
fn collection<'a>(statement: &Statement<'a>) -> Option<&'a [u8]> {
    Elements::of(statement.command).ok()?.next().ok()??.string()
}

impl LeanClient {
    /// Sends a statement of an application, fetches what it asks for up to its limit, and adds what came to `answer`.
    ///
    /// Changes that are not acknowledged are taken to do what the statement expects. `findAndModify` returns a document, so it is always answered.
    pub fn statement(
        &mut self,
        statement: &Statement<'_>,
        answer: &mut Answer,
    ) -> Result<(), LeanError> {
        if statement.sequence.is_some() {
            self.part_times.clear();
        }
        match statement.sequence {
            None => self.single(statement, 0, answer),
            Some(steps) if statement.operation.kind() == StatementKind::Steps => {
                self.step(statement, steps, answer)
            }
            Some(transaction) => self.transact(statement, transaction, answer),
        }
    }

    /// The same with a statement that is sent by itself and has this number in its slot.
    pub(super) fn single(
        &mut self,
        statement: &Statement<'_>,
        number: usize,
        answer: &mut Answer,
    ) -> Result<(), LeanError> {
        let shape = self.shape(statement, number)?;
        if let Some(mode) = shape.mode
            && let Some((_, aside)) = self.asides.iter_mut().find(|(known, _)| *known == mode)
        {
            aside.link.follow();
            return aside.single(statement, number, answer);
        }
        if shape.manner == Manner::Numbered {
            self.transaction += 1;
        }
        self.statements.write(statement, shape, self.transaction);
        let bytes = self.statements.message.body_bytes() as u64;
        if bytes > self.link.server().document_bytes + STATEMENT_BYTES {
            return Err(self.statement_too_large(statement, bytes));
        }
        self.statements.message.set_is_answered(shape.is_answered);
        if !shape.is_answered {
            self.link.tell(&mut self.statements.message)?;
            let hoped = Answer::as_expected(statement);
            answer.documents += hoped.documents;
            answer.modified += hoped.modified;
            return Ok(());
        }
        let end = self.statements.message.len();
        let mut reply = self.send_statement(statement, shape, answer);
        // A cursor is that of one server: only its first batch can be requested once more.
        if let Err(error) = &reply
            && self.repeats_statement(shape, error)
        {
            self.statements.message.truncate(end);
            reply = self.send_statement(statement, shape, answer);
        }
        self.fetch_all(statement, shape, reply?, None, answer)
    }

    /// Adds a reply to the answer, and fetches the batches that follow it.
    #[inline]
    pub(super) fn fetch_all(
        &mut self,
        statement: &Statement<'_>,
        shape: Shape,
        mut reply: StatementReply,
        transaction: Option<i64>,
        answer: &mut Answer,
    ) -> Result<(), LeanError> {
        let limit = if statement.limit == 0 { u64::MAX } else { u64::from(statement.limit) };
        let (mut empty, before) = (0, answer.documents);
        loop {
            answer.documents += reply.documents;
            answer.modified += reply.modified;
            answer.bytes += reply.bytes;
            let documents = answer.documents - before;
            if documents > limit && shape.has_limit {
                return Err(self.link.failed(Failure::Flaw(Flaw::TooMany)));
            }
            if reply.cursor == 0 {
                return Ok(());
            }
            let collection = collection(statement);
            if documents >= limit {
                let is_answered = self.kill_cursor(reply.cursor, collection, transaction);
                answer.round_trips += u32::from(is_answered);
                return Ok(());
            }
            // Batches may be empty, but not forever.
            empty = if reply.documents == 0 { empty + 1 } else { 0 };
            if empty > MOST_EMPTY_BATCHES {
                return Err(self.link.failed(Failure::Flaw(Flaw::NoProgress)));
            }
            let body = self.get_more(reply.cursor, collection, shape.batch_size, transaction)?;
            answer.round_trips += 1;
            let next = StatementReply::of(StatementKind::Find, body);
            reply = next.map_err(|failure| self.link.failed(failure))?;
        }
    }

    /// What is known of the statement's slot; the statements of a transaction or of steps have their numbers from 1 on.
    #[inline]
    pub(super) fn shape(
        &mut self,
        statement: &Statement<'_>,
        number: usize,
    ) -> Result<Shape, LeanError> {
        let place = usize::from(statement.slot) + number * SLOTS;
        match self.statements.shapes.get(place) {
            Some(Some(shape)) if shape.operation == statement.operation => Ok(*shape),
            _ => self.new_shape(statement, place),
        }
    }

    #[cold]
    fn new_shape(&mut self, statement: &Statement<'_>, place: usize) -> Result<Shape, LeanError> {
        let shape = Shape::of(statement, &self.statements).map_err(|malformed| {
            let operation = statement.operation;
            let reason = format!("the command of {operation} is not BSON: {malformed}");
            LeanError::Options { reason: reason.into() }
        })?;
        let shapes = &mut self.statements.shapes;
        if shapes.len() <= place {
            shapes.resize(place + 1, None);
        }
        shapes[place] = Some(shape);
        Ok(shape)
    }

    #[cold]
    pub(super) fn statement_too_large(&self, statement: &Statement<'_>, bytes: u64) -> LeanError {
        let (host, most) = (self.link.host(), self.link.server().document_bytes);
        let operation = statement.operation;
        let reason = format!(
            "a command of {operation} with {bytes} bytes is too large for {host}, which takes at most {most}; make its documents fewer or shorter"
        );
        LeanError::Options { reason: reason.into() }
    }

    #[inline]
    fn send_statement(
        &mut self,
        statement: &Statement<'_>,
        shape: Shape,
        answer: &mut Answer,
    ) -> Result<StatementReply, LeanError> {
        let body = self.link.call(&mut self.statements.message)?;
        answer.round_trips += 1;
        let failure = match StatementReply::of(statement.operation.kind(), body) {
            Ok(reply) => match impossible(statement, shape, reply) {
                None => return Ok(reply),
                Some(flaw) => Failure::Flaw(flaw),
            },
            Err(failure) => failure,
        };
        let documents = statement.inserted.map_or(1, |inserted| inserted.count);
        let error = if documents > 1 {
            self.link.batch_failed(failure, u64::from(documents))
        } else {
            self.link.failed(failure)
        };
        Err(error.of_documents())
    }

    /// Whether to send a statement that failed so once more.
    #[cold]
    fn repeats_statement(&mut self, shape: Shape, error: &LeanError) -> bool {
        let repeats = match shape.manner {
            Manner::Read => self.link.repeats_read(error),
            Manner::Numbered => error.passes(),
            Manner::Store | Manner::Change => false,
        };
        self.retries += u64::from(repeats);
        repeats
    }
}

/// What a reply counts that cannot be.
#[inline]
pub(super) fn impossible(
    statement: &Statement<'_>,
    shape: Shape,
    reply: StatementReply,
) -> Option<Flaw> {
    if let Some(inserted) = statement.inserted
        && reply.documents != u64::from(inserted.count)
    {
        return Some(miscounted(u64::from(inserted.count), reply.documents));
    }
    if let Some(most) = shape.most
        && reply.documents > most
    {
        return Some(miscounted(most, reply.documents));
    }
    (reply.modified > reply.documents).then(|| miscounted(reply.documents, reply.modified))
}
