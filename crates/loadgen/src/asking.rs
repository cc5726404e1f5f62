//! Measuring path: no allocation, lock, log or formatting here, save when an operation fails.
//!
//! One operation, from the question to the record.

use crate::clock::Clock;
use crate::observer::{ObservedOp, OpObserver};
use crate::recorder::{Recorder, Row};
use crate::session_end::SessionEnd;
use crate::shared::Shared;
use plimsoll_engine::{Answer, FieldVisitor, Outcome, Session};
use plimsoll_record::{LONGEST_LAG_NS, Operation, Status};
use plimsoll_workload::{
    Ask, Expected, InsertGenerator, KeySpace, NewDocuments, OpGenerator, SequenceEnd, Statement,
    Verification,
};
use std::sync::Arc;

/// Where a session's operations come from.
pub(crate) trait Source: Send {
    /// The next operation of this session's own stream, or `None` when there are no more.
    fn next(&mut self) -> Option<Ask<'_>>;
    /// To be called when an insert has ended, well or not.
    fn acknowledge(&self, number: u64);
    /// The same of a statement that inserts documents.
    fn acknowledge_documents(&self, _new: NewDocuments) {}

    /// The same of a transaction or steps.
    fn sequence_ended(&mut self, _end: SequenceEnd) {}

    /// To be called with what an operation was to insert and how it went, when it has ended.
    #[inline(always)]
    fn ended(&mut self, inserted: Inserted, times: &OperationTimes) {
        match inserted {
            Inserted::Together => self.sequence_ended(match (times.early_end, times.status) {
                (Some(end), _) => end,
                (None, Status::Ok) => SequenceEnd::Committed,
                (None, _) => SequenceEnd::InDoubt,
            }),
            Inserted::Nothing => {}
            Inserted::Record(number) => self.acknowledge(number),
            Inserted::Documents(new) => self.acknowledge_documents(new),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Inserted {
    Nothing,
    Record(u64),
    Documents(NewDocuments),
    /// What the statements of a transaction or of steps insert.
    Together,
}

impl Inserted {
    #[inline(always)]
    pub(crate) fn by(ask: &Ask<'_>) -> Self {
        match ask {
            Ask::Insert { number, .. } => Self::Record(*number),
            Ask::Statement(Statement { inserted: Some(new), .. }) => Self::Documents(*new),
            Ask::Statement(Statement { sequence: Some(_), .. }) => Self::Together,
            _ => Self::Nothing,
        }
    }
}

impl Source for OpGenerator {
    #[inline(always)]
    fn next(&mut self) -> Option<Ask<'_>> {
        Some(OpGenerator::next(self))
    }

    #[inline(always)]
    fn acknowledge(&self, number: u64) {
        OpGenerator::acknowledge(self, number);
    }

    #[inline(always)]
    fn acknowledge_documents(&self, new: NewDocuments) {
        OpGenerator::acknowledge_documents(self, new);
    }

    #[inline(always)]
    fn sequence_ended(&mut self, end: SequenceEnd) {
        OpGenerator::sequence_ended(self, end);
    }
}

impl Source for InsertGenerator {
    #[inline(always)]
    fn next(&mut self) -> Option<Ask<'_>> {
        InsertGenerator::next(self)
    }

    #[inline(always)]
    fn acknowledge(&self, _number: u64) {}
}

/// Keeps the fields of a record that was read, so that they are compared after the clock was read and not before.
pub(crate) struct Copied {
    key_space: Arc<KeySpace>,
    bytes: Vec<u8>,
    /// (end of the name, end of the value) in `bytes`.
    ends: Vec<(usize, usize)>,
}

impl Copied {
    pub(crate) fn new(key_space: &Arc<KeySpace>) -> Self {
        let data = key_space.data();
        Self {
            key_space: Arc::clone(key_space),
            bytes: Vec::with_capacity(2 * data.mean_record_bytes() as usize),
            ends: Vec::with_capacity(data.field_count as usize + 1),
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn matches(&self, key: &[u8]) -> bool {
        let mut verifier = self.key_space.verifier(key);
        let mut at = 0;
        for (name_end, value_end) in &self.ends {
            verifier.field(&self.bytes[at..*name_end], &self.bytes[*name_end..*value_end]);
            at = *value_end;
        }
        verifier.found() == Verification::Matches
    }
}

impl FieldVisitor for Copied {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(name);
        let name_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((name_end, self.bytes.len()));
    }
}

/// What a session works with while it asks.
pub(crate) struct SessionParts<'a, C, W> {
    pub(crate) clock: C,
    pub(crate) session: Box<dyn Session>,
    pub(crate) recorder: Recorder<'a>,
    pub(crate) end: SessionEnd,
    pub(crate) copied: Option<Copied>,
    pub(crate) observer: W,
}

/// When an operation is due, in nanoseconds: from then on its response time counts.
#[derive(Clone, Copy)]
pub(crate) enum Due {
    AtDispatch,
    At(u64),
    /// At that time, and the session was free and waiting for it. So whatever lies between then and its dispatch is the generator's own
    /// lateness and not the database's: it counts from its dispatch.
    Awaited(u64),
}

impl Due {
    #[inline(always)]
    pub(crate) fn from(self, dispatched: u64) -> u64 {
        match self {
            Self::AtDispatch => dispatched,
            Self::At(due) => due,
            Self::Awaited(due) if dispatched.saturating_sub(due) <= LONGEST_LAG_NS => dispatched,
            Self::Awaited(due) => due,
        }
    }
}

/// One operation that was sent: its instants in nanoseconds, and how it ended.
#[derive(Clone, Copy)]
pub(crate) struct OperationTimes {
    pub(crate) intended: u64,
    pub(crate) dispatched: u64,
    pub(crate) completed: u64,
    pub(crate) operation: Operation,
    pub(crate) status: Status,
    /// How a transaction or steps ended early.
    pub(crate) early_end: Option<SequenceEnd>,
}

impl<C: Clock, W: OpObserver> SessionParts<'_, C, W> {
    /// Sleeps until that time or the end of the point, and returns the time then.
    pub(crate) fn wait_until(&mut self, time_ns: u64, shared: &Shared) -> u64 {
        let mut now = self.clock.now();
        while now < time_ns && now < shared.deadline() {
            now = self.clock.sleep_until(time_ns, shared.deadline());
        }
        now
    }

    /// Asks the engine and records the answer. What completes at or after the deadline is counted as unfinished then and nothing else.
    #[inline(always)]
    pub(crate) fn ask(&mut self, ask: Ask<'_>, due: Due, shared: &Shared) -> OperationTimes {
        let mut halfway = None;
        let mut scanned = 0;
        let (mut slot, mut units) = (0, 1);
        let mut answer = Answer::default();
        let dispatched = self.clock.now();
        let (operation, mut outcome) = match ask {
            Ask::Read { key, fields } => {
                let visitor = self.copied.as_mut().map(|copied| {
                    copied.clear();
                    copied as &mut dyn FieldVisitor
                });
                (Operation::Read, self.session.read(key, fields, visitor))
            }
            Ask::Update { key, changes } => (Operation::Update, self.session.update(key, changes)),
            Ask::Insert { key, fields, .. } => {
                (Operation::Insert, self.session.insert(key, fields))
            }
            Ask::Scan { start, count, fields } => {
                (Operation::Scan, self.session.scan(start, count, fields, &mut scanned))
            }
            Ask::ReadModifyWrite { key, fields, changes } => {
                let visitor = self.copied.as_mut().map(|copied| {
                    copied.clear();
                    copied as &mut dyn FieldVisitor
                });
                let read = self.session.read(key, fields, visitor);
                let between = self.clock.now();
                halfway = Some((between, self.status(Operation::Read, &read)));
                (Operation::ReadModifyWrite, self.session.update(key, changes))
            }
            Ask::Statement(statement) => {
                (slot, units) = (statement.slot, statement.units);
                let outcome = self.session.statement(&statement, &mut answer);
                (Operation::Own(statement.operation), outcome)
            }
        };
        let completed = self.clock.now();
        if let Ask::Statement(statement) = &ask {
            scanned = u32::try_from(answer.documents).unwrap_or(u32::MAX);
            outcome = judged(statement, &answer, outcome);
        }
        let intended = due.from(dispatched);
        let mut seen = ObservedOp {
            operation,
            status: status_of(&outcome),
            intended_ns: intended,
            dispatched_ns: dispatched,
            completed_ns: completed,
            items: scanned,
        };
        if let Some((between, read)) = halfway {
            self.observer.saw(&ObservedOp {
                operation: Operation::Read,
                status: read,
                completed_ns: between,
                ..seen
            });
            self.observer.saw(&ObservedOp {
                operation: Operation::Update,
                dispatched_ns: between,
                ..seen
            });
            seen.status = seen.status.max(read);
        }
        self.observer.saw(&seen);
        let deadline = shared.deadline();
        if completed >= deadline {
            shared.leave_unfinished(intended, deadline);
            self.recorder.busy_at_the_end(dispatched, deadline);
            if let Outcome::Error(message) = &outcome
                && shared.is_interrupted()
            {
                self.end.error(operation, message);
            }
            // Who watches counts this read, so it is verified as every other.
            if self.copied.is_some() {
                let read = halfway.map_or(seen.status, |(_, read)| read);
                self.verify(ask, read);
            }
            return OperationTimes {
                intended,
                dispatched,
                completed,
                operation,
                status: seen.status,
                early_end: answer.early_end,
            };
        }
        self.recorder.reach(completed);
        let mut status = match outcome {
            Outcome::Ok => Status::Ok,
            other => self.status(operation, &other),
        };
        if let Some((between, read)) = halfway {
            let recorder = &mut self.recorder;
            recorder.record(Row::of(Operation::Read, 0), read, intended, dispatched, between);
            recorder.record(Row::of(Operation::Update, 0), status, between, between, completed);
            status = status.max(read);
        }
        let recorder = &mut self.recorder;
        recorder.record(Row::of(operation, slot), status, intended, dispatched, completed);
        recorder.complete(status, units);
        recorder.busy(dispatched, completed);
        if self.copied.is_some() {
            let read = halfway.map_or(status, |(_, read)| read);
            if let Some((begun, ended, verified)) = self.verify(ask, read) {
                let row = Row::of(Operation::Verify, 0);
                self.recorder.record(row, verified, begun, begun, ended);
            }
        }
        if let Ask::Statement(statement) = &ask
            && status == Status::Ok
        {
            if !statement.fits(answer.documents) {
                self.wrong_number(statement, answer.documents, completed);
            } else if let Some((part, documents)) = answer.wrong {
                self.wrong_part(statement, part, documents, completed);
            }
        }
        if let Ask::Statement(Statement { sequence: Some(sequence), .. }) = &ask
            && self.recorder.is_measured(completed)
        {
            self.end.took(*sequence, self.session.part_times());
        }
        self.end.ended = completed + 1;
        let early_end = answer.early_end;
        OperationTimes { intended, dispatched, completed, operation, status, early_end }
    }

    /// Ends the session: sends the batch that has begun, and gives the session back to its engine.
    #[cold]
    pub(crate) fn close(mut self, shared: &Shared) -> SessionEnd {
        self.flush(shared);
        self.end.retries = self.session.retries();
        let begun = self.clock.now();
        drop(self.session);
        self.observer.closed(begun, self.clock.now());
        self.end
    }

    /// The operations in that batch are counted as completed already, so this one is not counted, unless it fails. Its time is that of an
    /// insert.
    fn flush(&mut self, shared: &Shared) {
        let dispatched = self.clock.now();
        let Some(outcome) = self.session.flush() else {
            return;
        };
        let completed = self.clock.now();
        let status = self.status(Operation::Insert, &outcome);
        self.observer.flushed(&ObservedOp {
            operation: Operation::Insert,
            status,
            intended_ns: dispatched,
            dispatched_ns: dispatched,
            completed_ns: completed,
            items: 0,
        });
        let deadline = shared.deadline();
        if completed >= deadline {
            shared.leave_unfinished(dispatched.min(deadline), deadline);
            self.recorder.busy_at_the_end(dispatched, deadline);
            return;
        }
        let recorder = &mut self.recorder;
        recorder.reach(completed);
        recorder.record(Row::of(Operation::Insert, 0), status, dispatched, dispatched, completed);
        recorder.busy(dispatched, completed);
        if status == Status::Error {
            recorder.complete(status, 1);
        }
        self.end.ended = completed + 1;
    }

    #[cold]
    fn status(&mut self, operation: Operation, outcome: &Outcome) -> Status {
        if let Outcome::Error(message) = outcome {
            self.end.error(operation, message);
        }
        status_of(outcome)
    }

    /// The same of a statement of a sequence.
    #[cold]
    fn wrong_part(&mut self, statement: &Statement<'_>, part: u8, documents: u64, completed: u64) {
        let mut parts = statement.sequence.into_iter().flat_map(|all| all.statements(0));
        if let Some(part) = parts.nth(usize::from(part)) {
            self.wrong_number(&part, documents, completed);
        }
    }

    /// Counts a statement that was answered with another number of documents than there must be.
    #[cold]
    fn wrong_number(&mut self, statement: &Statement<'_>, documents: u64, completed: u64) {
        let row = Row::of(Operation::Verify, 0);
        self.recorder.record(row, Status::Error, completed, completed, completed);
        let (name, kind) = (statement.operation.name(), statement.operation.kind());
        let expected = match statement.expected {
            Expected::Between(least, most) if least == most => least.to_string(),
            Expected::Between(least, u64::MAX) => format!("at least {least}"),
            Expected::Between(least, most) => format!("{least} to {most}"),
            Expected::Some | Expected::Any => "any number".into(),
        };
        let (verb, was, noun) = (
            kind.done(),
            if expected == "1" { "was" } else { "were" },
            if documents == 1 { "document" } else { "documents" },
        );
        self.end.error(
            Operation::Verify,
            &format!("{name} {verb} {documents} {noun}, {expected} {was} to be {verb}"),
        );
    }

    /// Reports whether the record that was read holds what was stored, and returns when that was checked, and with what result.
    fn verify(&mut self, ask: Ask<'_>, read: Status) -> Option<(u64, u64, Status)> {
        let (Ask::Read { key, .. } | Ask::ReadModifyWrite { key, .. }) = ask else {
            return None;
        };
        if read != Status::Ok {
            return None;
        }
        let copied = self.copied.as_ref()?;
        let begun = self.clock.now();
        let matches = copied.matches(key);
        let ended = self.clock.now();
        let status = if matches { Status::Ok } else { Status::Error };
        if !matches {
            let key = String::from_utf8_lossy(key);
            self.end
                .error(Operation::Verify, &format!("record {key} does not hold what was stored"));
        }
        self.observer.saw(&ObservedOp {
            operation: Operation::Verify,
            status,
            intended_ns: begun,
            dispatched_ns: begun,
            completed_ns: ended,
            items: u32::try_from(copied.ends.len()).unwrap_or(u32::MAX),
        });
        Some((begun, ended, status))
    }
}

/// How a statement ended that was answered: one that finds nothing where it must find something has not found it.
#[inline(always)]
fn judged(statement: &Statement<'_>, answer: &Answer, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Error(_) => outcome,
        _ if answer.early_end.is_some() => Outcome::NotFound,
        _ if answer.documents == 0 && !statement.expected.allows_none() => Outcome::NotFound,
        _ => Outcome::Ok,
    }
}

#[inline(always)]
fn status_of(outcome: &Outcome) -> Status {
    match outcome {
        Outcome::Ok => Status::Ok,
        Outcome::Batched => Status::Batched,
        Outcome::NotFound => Status::NotFound,
        Outcome::Error(_) => Status::Error,
    }
}
