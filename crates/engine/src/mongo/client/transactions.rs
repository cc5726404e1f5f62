//! Measuring path: no allocation, lock, log or formatting here where a transaction succeeds, was sent before, and the buffers have grown.
//!
//! Transactions of an application: all statements, then the commit, and again what MongoDB's specification of transactions lets a client repeat. Steps are
//! statements without a transaction.

use super::LeanClient;
use super::statements::impossible;
use crate::mongo::error::LeanError;
use crate::mongo::reply::{self, Failure, StatementReply};
use crate::{Answer, PartTime};
use plimsoll_workload::{Sequence, SequenceEnd, Statement};
use std::time::Instant;

/// The label of errors after which all statements may be sent again.
const TRANSIENT: &[u8] = b"TransientTransactionError";
/// The label of errors after which the commit may be sent again.
const UNKNOWN: &[u8] = b"UnknownTransactionCommitResult";
/// Write concern errors that no repetition heals: the set cannot satisfy the concern, or does not know it.
const UNSATISFIABLE: [i32; 2] = [100, 79];
/// The server ended the commit for its time limit.
const TIME_LIMIT: i32 = 50;

const ABORT: &[u8] = b"\x1b\0\0\0\x10abortTransaction\0\x01\0\0\0\0";

/// Why a transaction was not committed.
struct Failed {
    error: LeanError,
    may_repeat: Repeat,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeat {
    /// All statements, under a new number.
    All,
    Commit,
    /// Nothing, and the server has the statements still.
    Nothing,
    /// Nothing, and the changes may be made.
    Doubtful,
}

impl LeanClient {
    /// Sends a transaction of an application. A statement that finds nothing where it must find something ends it, and it is aborted, which is no error.
    pub(super) fn transact(
        &mut self,
        statement: &Statement<'_>,
        transaction: Sequence<'_>,
        answer: &mut Answer,
    ) -> Result<(), LeanError> {
        if self.statements.session.is_none() {
            let reason = "a standalone server has no transactions: use a replica set";
            return Err(LeanError::Options { reason: reason.into() });
        }
        let mut left = transaction.retries;
        loop {
            *answer = Answer { round_trips: answer.round_trips, ..Answer::default() };
            self.transaction += 1;
            let sent = match self.send_parts(statement, transaction, answer) {
                Ok(true) => self.commit(statement, &mut left, answer),
                Ok(false) => {
                    self.abort();
                    answer.early_end = Some(SequenceEnd::Undone);
                    return Ok(());
                }
                Err(failed) => Err(failed),
            };
            let Err(failed) = sent else {
                return Ok(());
            };
            if failed.may_repeat == Repeat::All && left > 0 {
                left -= 1;
                self.retries += 1;
                continue;
            }
            if matches!(failed.may_repeat, Repeat::All | Repeat::Nothing) {
                // A lost connection is not made again for that: the next transaction ends this one.
                if !failed.error.passes() {
                    self.abort();
                }
                answer.early_end = Some(SequenceEnd::Undone);
            }
            return Err(failed.error);
        }
    }

    /// Returns whether to commit the transaction.
    fn send_parts(
        &mut self,
        whole: &Statement<'_>,
        transaction: Sequence<'_>,
        answer: &mut Answer,
    ) -> Result<bool, Failed> {
        let mut begun = Instant::now();
        for (index, part) in transaction.statements(whole.slot).enumerate() {
            let before = answer.documents;
            self.send_part(&part, index, answer)?;
            self.took(index, &mut begun);
            if !goes_on(&part, index, before, answer) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends steps of an application, each as an operation by itself. One that finds nothing where it must find something is the last, which is no error.
    pub(super) fn step(
        &mut self,
        whole: &Statement<'_>,
        steps: Sequence<'_>,
        answer: &mut Answer,
    ) -> Result<(), LeanError> {
        let mut begun = Instant::now();
        for (index, part) in steps.statements(whole.slot).enumerate() {
            let before = answer.documents;
            let sent = self.single(&part, index + 1, answer);
            if sent.is_ok() {
                self.took(index, &mut begun);
            }
            if sent.is_err() || !goes_on(&part, index, before, answer) {
                answer.early_end = Some(SequenceEnd::StoppedAt(index as u8));
                return sent;
            }
        }
        Ok(())
    }

    /// Notes that a statement was answered, and that the next one begins.
    #[inline]
    fn took(&mut self, index: usize, begun: &mut Instant) {
        let now = Instant::now();
        if self.part_times.len() <= index {
            self.part_times.push(PartTime::default());
        }
        let time = &mut self.part_times[index];
        time.count += 1;
        time.total_ns += now.duration_since(*begun).as_nanos() as u64;
        *begun = now;
    }

    fn send_part(
        &mut self,
        part: &Statement<'_>,
        index: usize,
        answer: &mut Answer,
    ) -> Result<(), Failed> {
        let number = self.transaction;
        let shape = self.shape(part, index + 1).map_err(Failed::finally)?;
        self.statements.write_part(part, shape, number, index == 0);
        let bytes = self.statements.message.body_bytes() as u64;
        if bytes > self.link.server().document_bytes + super::STATEMENT_BYTES {
            return Err(Failed::finally(self.statement_too_large(part, bytes)));
        }
        let body = self.link.call(&mut self.statements.message).map_err(Failed::of_part)?;
        answer.round_trips += 1;
        let (failure, is_transient) = match StatementReply::of(part.operation.kind(), body) {
            Ok(reply) => match impossible(part, shape, reply) {
                None => {
                    let fetched = self.fetch_all(part, shape, reply, Some(number), answer);
                    return fetched.map_err(Failed::of_part);
                }
                Some(flaw) => (Failure::Flaw(flaw), false),
            },
            Err(failure) => (failure, reply::has_label(body, TRANSIENT)),
        };
        let error = self.link.failed(failure).of_documents();
        let may_repeat = if is_transient { Repeat::All } else { Repeat::Nothing };
        Err(Failed { error, may_repeat })
    }

    /// Sends the commit, again if its outcome is unknown.
    fn commit(
        &mut self,
        statement: &Statement<'_>,
        left: &mut u32,
        answer: &mut Answer,
    ) -> Result<(), Failed> {
        let shape = self.shape(statement, 0).map_err(Failed::finally)?;
        loop {
            let Self { link, statements, transaction, .. } = self;
            let concern = Some(&link.options().write_concern).filter(|_| !shape.has_write_concern);
            statements.write_end(statement.command, *transaction, concern);
            let Err(failed) = self.commit_once(answer) else {
                return Ok(());
            };
            if failed.may_repeat != Repeat::Commit || *left == 0 {
                return Err(failed);
            }
            *left -= 1;
            self.retries += 1;
        }
    }

    fn commit_once(&mut self, answer: &mut Answer) -> Result<(), Failed> {
        let body = match self.link.call(&mut self.statements.message) {
            Ok(body) => body,
            Err(error) => {
                let may_repeat = if error.passes() { Repeat::Commit } else { Repeat::Doubtful };
                return Err(Failed { error, may_repeat });
            }
        };
        answer.round_trips += 1;
        let Err(failure) = reply::committed(body) else {
            return Ok(());
        };
        let is_unknown = match &failure {
            Failure::NotDurable(refusal) => !UNSATISFIABLE.contains(&refusal.code),
            Failure::Refused(refusal) => refusal.code == TIME_LIMIT,
            Failure::NotWritten { .. } | Failure::Flaw(_) => false,
        };
        let is_transient = reply::has_label(body, TRANSIENT);
        let is_unknown = is_unknown || reply::has_label(body, UNKNOWN);
        let error = self.link.failed(failure);
        // A server that is no longer the primary gives a refused commit no label.
        let may_repeat = if is_transient {
            Repeat::All
        } else if is_unknown || error.passes() {
            Repeat::Commit
        } else {
            Repeat::Doubtful
        };
        Err(Failed { error, may_repeat })
    }

    /// Lets the server forget the statements. If it does not, the next transaction of the session ends this one.
    #[cold]
    fn abort(&mut self) {
        self.statements.write_end(ABORT, self.transaction, None);
        let _ = self.link.call(&mut self.statements.message);
    }
}

/// Whether to send the statement after this one. Notes the first one that found another number than it must.
#[inline]
fn goes_on(part: &Statement<'_>, index: usize, before: u64, answer: &mut Answer) -> bool {
    let documents = answer.documents - before;
    if documents == 0 && !part.expected.allows_none() {
        return false;
    }
    if !part.expected.fits(documents) && answer.wrong.is_none() {
        answer.wrong = Some((index as u8, documents));
    }
    true
}

impl Failed {
    #[cold]
    fn finally(error: LeanError) -> Self {
        Self { error, may_repeat: Repeat::Nothing }
    }

    /// A connection that is lost before the commit has changed nothing.
    #[cold]
    fn of_part(error: LeanError) -> Self {
        let may_repeat = if error.passes() { Repeat::All } else { Repeat::Nothing };
        Self { error, may_repeat }
    }
}
