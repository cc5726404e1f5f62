//! The two traits that every database implements.

use crate::EngineError;
use plimsoll_record::{ApplicationState, EngineDescription, OwnOperation, StatementKind};
use plimsoll_workload::{Expected, FieldChoice, Fields, SequenceEnd, Statement};
use std::path::PathBuf;

#[derive(Debug)]
pub enum Outcome {
    Ok,
    /// Kept for a batch that was not sent yet. What happens to it is the outcome of the operation, or of the [`Session::flush`], that sends it.
    Batched,
    /// The record was not there.
    NotFound,
    /// The engine failed, with its words. Boxed, so that success costs two registers.
    Error(Box<str>),
}

impl Outcome {
    /// A failure with the engine's words.
    pub fn error(message: impl Into<String>) -> Self {
        Self::Error(message.into().into_boxed_str())
    }
}

/// Ends what a session waits for.
pub type Interrupter = Box<dyn Fn() + Send + Sync>;

/// Takes the fields of a record that was read, for verification.
pub trait FieldVisitor {
    /// One field. The value is valid during the call alone.
    fn field(&mut self, name: &[u8], value: &[u8]);
}

/// What came back of a [`Statement`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Documents returned or counted, different values, documents that an update or a removal matched, or documents inserted.
    pub documents: u64,
    /// Documents that the statement changed.
    pub modified: u64,
    /// Bytes of the documents returned.
    pub bytes: u64,
    /// Messages to the server that were answered.
    pub round_trips: u32,
    /// The first statement of a transaction or of steps, counted from 0, that found another number of documents than it must, and how many it found.
    pub wrong: Option<(u8, u64)>,
    /// What became of a transaction that was aborted, or of steps that were not all sent.
    pub early_end: Option<SequenceEnd>,
}

impl Answer {
    /// The answer that a statement expects by default.
    #[inline]
    pub(crate) fn as_expected(statement: &Statement<'_>) -> Self {
        if let Some(sequence) = statement.sequence {
            let mut all = Self::default();
            for one in sequence.statements(statement.slot) {
                let answer = Self::as_expected(&one);
                all.documents += answer.documents;
                all.modified += answer.modified;
            }
            return all;
        }
        let documents = match (statement.inserted, statement.expected) {
            (Some(inserted), _) => u64::from(inserted.count),
            (None, Expected::Between(least, _)) => least,
            (None, Expected::Some | Expected::Any) => 1,
        };
        let changes = matches!(
            statement.operation.kind(),
            StatementKind::Update | StatementKind::Delete | StatementKind::FindAndModify
        );
        Self { documents, modified: if changes { documents } else { 0 }, ..Self::default() }
    }
}

/// What a statement of a transaction or of steps took: once, or more often where a transaction was sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartTime {
    pub count: u32,
    pub total_ns: u64,
}

/// One client of a database, used by one thread at a time. Every call returns when its operation is complete.
///
/// No call may allocate when it succeeds, save what the engine itself allocates inside.
pub trait Session: Send {
    /// Reads one record, whole or some fields. The bytes must have been fetched when this returns, whether or not there is a visitor.
    fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Outcome;

    /// Replaces some fields of one record.
    fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Outcome;

    fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Outcome;

    /// Reads up to `count` records in key order, from `start` on, and sets `rows` to how many there were. No row is no error.
    fn scan(
        &mut self,
        start: &[u8],
        count: u32,
        fields: FieldChoice<'_>,
        rows: &mut u32,
    ) -> Outcome;

    fn delete(&mut self, key: &[u8]) -> Outcome;

    /// Sends a command of an application, fetches all that it asks for, and notes what came in `answer`, which is empty before. An answer without documents is
    /// `Ok`: whether that was to be expected is not known here.
    fn statement(&mut self, _statement: &Statement<'_>, _answer: &mut Answer) -> Outcome {
        Outcome::error("this engine takes YCSB's operations only")
    }

    /// How often each statement of the last transaction or steps was answered, and how long that took, as far as it was sent; empty where that is not known.
    fn part_times(&self) -> &[PartTime] {
        &[]
    }

    /// Sends the batch that has begun, if there is one. Called once, after the last operation.
    fn flush(&mut self) -> Option<Outcome> {
        None
    }

    /// What another thread calls to end the call that this session is in: it fails, and so do all later ones. `None` where no call can be ended, as in an
    /// embedded engine.
    fn interrupter(&self) -> Option<Interrupter> {
        None
    }

    /// How often this session repeated an operation by itself since it was made, such as after a write conflict.
    fn retries(&self) -> u64 {
        0
    }
}

/// A server as it is known to its client, so that it can be found among the processes of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerIdentity {
    pub endpoint: Endpoint,
    /// Its program, as it says itself.
    pub program: Option<String>,
    /// The number of its process, as it says itself: within a container it has another one there.
    pub process: Option<u32>,
    /// Where it keeps its data, as it says itself.
    pub directory: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Port(u16),
    Socket(PathBuf),
}

pub trait Engine: Send + Sync {
    /// Name, version and the settings in force.
    fn description(&self) -> EngineDescription;

    /// A new session. Called once for each thread before a point begins.
    fn session(&self) -> Result<Box<dyn Session>, EngineError>;

    /// Counts the records by looking at them, not by remembering what was inserted. `None` where the engine stores nothing.
    fn count(&self) -> Result<Option<u64>, EngineError>;

    /// Called once after the load and before the first point: brings the database into the state in which every run begins.
    /// [`Engine::description`] says which state that is.
    fn settle(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Writes everything that has changed to the data files, and returns when that is done; `false` if the engine has no checkpoints, or the user may not request one.
    fn checkpoint(&self) -> Result<bool, EngineError> {
        Ok(false)
    }

    /// Empties the engine's own cache after a checkpoint; `false` if the engine has no cache that can be emptied.
    fn empty_cache(&self) -> Result<bool, EngineError> {
        Ok(false)
    }

    /// Called without sessions after the power of its disk was cut, where the engine is within this process: opens what the cut left. A server comes back by
    /// itself.
    fn recover(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Called when the sessions of a point are about to begin, right before its clock starts. Engines with a script start it here.
    fn point_begins(&self) {}

    /// Bytes that data and indexes take on the disk, without the journal. Exact only after [`Engine::settle`].
    fn data_bytes(&self) -> Result<Option<u64>, EngineError> {
        Ok(None)
    }

    /// The state of an application's collections and how each operation of `samples` is carried out, between two phases of a run. `samples` has whole commands,
    /// as [`Session::statement`] takes them; they are explained, and change nothing. `None` where there is no application.
    fn application(&self, _samples: &[(OwnOperation, Vec<Vec<u8>>)]) -> Option<ApplicationState> {
        None
    }

    /// Figures of the engine itself, by the names in `plimsoll_record::figures`: counters since it was opened, and levels. Called about once a second.
    fn statistics(&self, _into: &mut Vec<(&'static str, f64)>) {}

    /// The server behind the engine, where there is a single one that does the work.
    fn server(&self) -> Option<ServerIdentity> {
        None
    }

    /// Closes the database and waits until everything is on disk. All sessions are gone by then.
    fn close(self: Box<Self>) -> Result<(), EngineError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Opening, open};
    use plimsoll_plan::{SettingValue, Settings};
    use plimsoll_workload::{DataSpec, NewDocuments};

    /// What an engine without documents answers.
    fn answer(
        engine: &dyn Engine,
        kind: StatementKind,
        expected: Expected,
        inserted: Option<NewDocuments>,
    ) -> (u64, u64) {
        let statement = Statement {
            operation: OwnOperation::new(kind, "s").unwrap(),
            slot: 0,
            command: &[],
            limit: 0,
            expected,
            units: 1,
            inserted,
            growth: None,
            sequence: None,
        };
        let mut answer = Answer::default();
        let outcome = engine.session().unwrap().statement(&statement, &mut answer);
        assert!(matches!(outcome, Outcome::Ok), "{outcome:?}");
        assert!(expected.fits(answer.documents) || answer.documents == 0);
        (answer.documents, answer.modified)
    }

    #[test]
    fn engines_without_documents_answer_what_is_expected() {
        use StatementKind::{Delete, Find, Insert, Update};
        let at_once = SettingValue::Nanos(0);
        let settings = Settings([("service_mean".into(), at_once.clone())].into());
        let data = DataSpec::with_records(1);
        let new = Some(NewDocuments { collection: 1, first: 7, count: 50 });
        for (name, settings) in [("noop", Settings::default()), ("simulated", settings)] {
            let engine = open(name, &Opening::new(&settings, &data)).unwrap();
            let of = |kind, expected, inserted| answer(&*engine, kind, expected, inserted);
            assert_eq!(of(Insert, Expected::Any, new), (50, 0));
            assert_eq!(of(Find, Expected::Between(3, 9), None), (3, 0));
            assert_eq!(of(Find, Expected::Some, None), (1, 0));
            assert_eq!(of(Update, Expected::Any, None), (1, 1));
            assert_eq!(of(Delete, Expected::Between(20, 20), None), (20, 20));
            let left = (name == "simulated").then_some(30);
            assert_eq!(engine.count().unwrap(), left);
        }
        let never = SettingValue::Number(1.0);
        let settings = [("service_mean".into(), at_once), ("not_found_share".into(), never)].into();
        let settings = Settings(settings);
        let engine = open("simulated", &Opening::new(&settings, &data)).unwrap();
        assert_eq!(answer(&*engine, Find, Expected::Some, None), (0, 0));
        assert_eq!(answer(&*engine, Insert, Expected::Any, new), (50, 0));
    }
}
