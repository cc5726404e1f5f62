//! What a session knows when its point is over.

use plimsoll_engine::PartTime;
use plimsoll_record::{ErrorSample, Operation, StatementTimes};
use plimsoll_workload::Sequence;
use plimsoll_workload::documents::MOST_STATEMENTS;

/// Messages kept apart for each session; more kinds are counted under the last.
const KINDS_OF_ERRORS: usize = 16;

/// What a session knows when its point is over.
#[derive(Debug)]
pub(crate) struct SessionEnd {
    /// When its first operation was dispatched.
    pub(crate) first: Option<u64>,
    /// The first nanosecond after its last operation that completed in time; 0 without any.
    pub(crate) ended: u64,
    /// Operations that were due after the warm-up, where sessions pace themselves.
    pub(crate) due: u64,
    pub(crate) errors: Vec<ErrorSample>,
    /// Operations that the engine repeated.
    pub(crate) retries: u64,
    pub(crate) statements: Vec<StatementTimes>,
}

impl Default for SessionEnd {
    fn default() -> Self {
        Self {
            first: None,
            ended: 0,
            due: 0,
            errors: Vec::new(),
            retries: 0,
            // Room for the statements of one transaction, so that measuring allocates nothing.
            statements: Vec::with_capacity(MOST_STATEMENTS),
        }
    }
}

impl SessionEnd {
    #[cold]
    pub(crate) fn error(&mut self, operation: Operation, message: &str) {
        add(&mut self.errors, operation, message, 1);
    }

    /// Adds what the statements of a transaction or of steps took.
    pub(crate) fn took(&mut self, sequence: Sequence<'_>, times: &[PartTime]) {
        for (part, time) in sequence.parts.iter().zip(times) {
            let (count, total_ns) = (u64::from(time.count), time.total_ns);
            let times = StatementTimes { operation: part.operation, count, total_ns };
            times.add_to(&mut self.statements);
        }
    }

    /// Adds what another session knows.
    pub(crate) fn merge(&mut self, other: Self) {
        self.first = self.first.into_iter().chain(other.first).min();
        self.ended = self.ended.max(other.ended);
        self.due += other.due;
        self.retries += other.retries;
        for times in other.statements {
            times.add_to(&mut self.statements);
        }
        for sample in other.errors {
            add(&mut self.errors, sample.operation, &sample.message, sample.count);
        }
    }
}

/// Counts failures by message. Messages that differ only in numbers (a key, a time to wait) count as one.
fn add(errors: &mut Vec<ErrorSample>, operation: Operation, message: &str, count: u64) {
    // A message about a wrong number begins with the name of the operation, in which a digit is not what it counted.
    let begins_alike = |other: &str| {
        operation != Operation::Verify || other.split(' ').next() == message.split(' ').next()
    };
    let same = errors.iter_mut().find(|sample| {
        sample.operation == operation
            && begins_alike(&sample.message)
            && are_alike(&sample.message, message)
    });
    if let Some(sample) = same {
        sample.count += count;
        return;
    }
    if errors.len() < KINDS_OF_ERRORS {
        errors.push(ErrorSample { operation, message: message.to_owned(), count });
        return;
    }
    let last = errors.last_mut().expect("there are some kinds of errors already");
    "further kinds of failure".clone_into(&mut last.message);
    last.count += count;
}

/// Whether two messages differ only in numbers other than an error code.
fn are_alike(one: &str, other: &str) -> bool {
    one == other || code(one) == code(other) && words(one).eq(words(other))
}

/// The parts of a message between its numbers.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|letter: char| letter.is_ascii_digit());
    parts.filter(|part| !part.is_empty())
}

/// The number of an error, as in `code 11000`.
fn code(text: &str) -> Option<&str> {
    let rest = text.split("code ").nth(1)?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_message_and_never_lost() {
        let mut end = SessionEnd::default();
        for number in 0..40 {
            let kind = char::from(b'a' + number % 20);
            end.error(Operation::Read, &format!("kind {kind}, wait {number} ms"));
        }
        assert_eq!(end.errors.len(), KINDS_OF_ERRORS);
        let found = end.errors.iter().map(|sample| sample.count).sum::<u64>();
        assert_eq!(found, 40);
        assert!(are_alike("h: no E11000 of 5 (X, code 1)", "h: no E11000 of 17 (X, code 1)"));
        assert!(!are_alike("h refused: no (X, code 1)", "h refused: no (X, code 2)"));
        let mut all = SessionEnd::default();
        all.merge(end);
        assert_eq!(
            all.errors[0],
            ErrorSample {
                operation: Operation::Read,
                message: "kind a, wait 0 ms".into(),
                count: 2
            }
        );
    }
}
