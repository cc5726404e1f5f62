//! What a server acknowledged, and whether it is still there.
//!
//! At a point with events every session is wrapped: it notes each write that it requested, by a hash of the key, the field and what was written, and how it ended; and all of them together note
//! each time in which nothing succeeded. After the point every record that was written is read, and what is found is compared with what
//! was acknowledged.

use crate::frames::PowerCuts;
use plimsoll_engine::{
    Answer, Engine, EngineError, FieldVisitor, Interrupter, Outcome, PartTime, ServerIdentity,
    Session,
};
use plimsoll_loadgen::monotonic_ns;
use plimsoll_record::{Acknowledged, CutLoss, Disturbance, EngineDescription, SHORTEST_GAP_NS};
use plimsoll_workload::{FieldChoice, Fields, Statement};
use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keys of lost writes that are named.
const KEYS_NAMED: usize = 10;
/// Stands for the record as a whole in the place of a field.
const WHOLE: u64 = 0;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    // Never that of the whole.
    hasher.finish() | 1
}

/// An engine whose sessions keep a ledger.
pub(crate) struct Watched<'e> {
    engine: &'e dyn Engine,
    book: Arc<Book>,
}

/// What all sessions note. Times are of `CLOCK_MONOTONIC`.
#[derive(Default)]
struct Book {
    started_ns: AtomicU64,
    writes: Track,
    reads: Track,
    /// Entries of ended sessions.
    entries: Mutex<Vec<Entries>>,
}

#[derive(Default)]
struct Track {
    last_ns: AtomicU64,
    gaps: Mutex<Vec<(u64, u64)>>,
}

impl Track {
    #[inline]
    fn succeeded(&self, at_ns: u64) {
        let before = self.last_ns.fetch_max(at_ns, Ordering::Relaxed);
        if at_ns.saturating_sub(before) >= SHORTEST_GAP_NS {
            lock(&self.gaps).push((before, at_ns));
        }
    }

    /// All gaps up to the end of the point, from its start. `None` where no operation of the kind ever succeeded.
    fn gaps(&self, started_ns: u64, end_ns: u64) -> Vec<(u64, u64)> {
        let mut gaps = lock(&self.gaps).clone();
        let last_ns = self.last_ns.load(Ordering::Relaxed);
        if last_ns == started_ns {
            return Vec::new();
        }
        gaps.push((last_ns, end_ns));
        gaps.retain(|(from, to)| to.saturating_sub(*from) >= SHORTEST_GAP_NS && *from < end_ns);
        gaps.sort_unstable();
        let from_start = |at: u64| at.min(end_ns).saturating_sub(started_ns);
        gaps.into_iter().map(|(from, to)| (from_start(from), from_start(to))).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Acknowledged,
    /// It may be there or not.
    InDoubt,
    /// In a batch that was not sent yet.
    Batched,
}

/// One field that was written, or one record that was inserted.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where the key begins among those of the session, and how long it is.
    key: (usize, u32),
    /// Hash of the field's name, or [`WHOLE`].
    field: u64,
    /// Hash of what was written.
    value: u64,
    dispatched_ns: u64,
    completed_ns: u64,
    end: End,
    /// Whether it begins a write; one of several fields has an entry for each.
    is_first: bool,
}

#[derive(Debug, Default)]
struct Entries {
    keys: Vec<u8>,
    list: Vec<Entry>,
}

impl<'e> Watched<'e> {
    pub(crate) fn new(engine: &'e dyn Engine) -> Self {
        Self { engine, book: Arc::default() }
    }

    /// What was seen. All sessions are gone.
    pub(crate) fn disturbance(&self, length_ns: u64) -> Disturbance {
        let started_ns = self.book.started_ns.load(Ordering::Relaxed);
        let end_ns = started_ns + length_ns;
        Disturbance {
            started_ns,
            events: Vec::new(),
            write_gaps: self.book.writes.gaps(started_ns, end_ns),
            read_gaps: self.book.reads.gaps(started_ns, end_ns),
            acknowledged: None,
        }
    }

    /// Reads everything that was written. If the database is unusable, everything is lost. What an embedded engine acknowledges after a power cut was
    /// promised by nobody.
    pub(crate) fn read_back(
        &self,
        cuts: &PowerCuts,
        is_embedded: bool,
    ) -> Result<Acknowledged, EngineError> {
        let mut all = std::mem::take(&mut *lock(&self.book.entries));
        for entry in all.iter_mut().flat_map(|entries| &mut entries.list) {
            let came_late = |cut_ns: &u64| {
                entry.completed_ns > *cut_ns && (is_embedded || entry.dispatched_ns <= *cut_ns)
            };
            if entry.end == End::Acknowledged && cuts.at_ns.iter().any(came_late) {
                entry.end = End::InDoubt;
            }
        }
        let mut found = Findings {
            started_ns: self.book.started_ns.load(Ordering::Relaxed),
            cuts_ns: &cuts.at_ns,
            found: Acknowledged {
                by_cut: vec![CutLoss::default(); cuts.at_ns.len()],
                unusable: cuts.unusable.clone(),
                ..Acknowledged::default()
            },
        };
        let mut writes: Vec<(&[u8], &Entry)> = Vec::new();
        for entries in &all {
            for entry in &entries.list {
                let (begin, length) = entry.key;
                writes.push((&entries.keys[begin..begin + length as usize], entry));
                if entry.is_first {
                    found.written(entry);
                }
            }
        }
        writes.sort_by_key(|(key, entry)| (*key, entry.field));
        let mut session = match cuts.unusable {
            None => Some(self.engine.session()?),
            Some(_) => None,
        };
        for of_key in writes.chunk_by(|a, b| a.0 == b.0) {
            let key = of_key[0].0;
            let mut record = Hashes::default();
            if let Some(session) = &mut session {
                match session.read(key, FieldChoice::All, Some(&mut record)) {
                    Outcome::Ok => record.is_there = true,
                    Outcome::NotFound | Outcome::Batched => {}
                    Outcome::Error(why) => {
                        found.found.unread += 1;
                        found.found.unread_because.get_or_insert_with(|| why.into());
                        continue;
                    }
                }
                found.found.records += 1;
            }
            for of_field in of_key.chunk_by(|a, b| a.1.field == b.1.field) {
                let entries = of_field.iter().map(|(_, entry)| *entry);
                for lost in lost(entries, &record) {
                    if lost.is_first {
                        found.lost(key, lost);
                    }
                }
            }
        }
        Ok(found.found)
    }
}

/// What is found as the writes are gone through.
struct Findings<'a> {
    started_ns: u64,
    cuts_ns: &'a [u64],
    found: Acknowledged,
}

impl Findings<'_> {
    /// The first power cut after a write was acknowledged.
    fn cut_after(&mut self, write: &Entry) -> Option<(u64, &mut CutLoss)> {
        let place = self.cuts_ns.partition_point(|cut_ns| *cut_ns < write.completed_ns);
        self.cuts_ns.get(place).copied().zip(self.found.by_cut.get_mut(place))
    }

    fn written(&mut self, write: &Entry) {
        match write.end {
            End::InDoubt | End::Batched => self.found.in_doubt += 1,
            End::Acknowledged => {
                self.found.writes += 1;
                if let Some((_, of_cut)) = self.cut_after(write) {
                    of_cut.acknowledged += 1;
                }
            }
        }
    }

    fn lost(&mut self, key: &[u8], write: &Entry) {
        if let Some((cut_ns, of_cut)) = self.cut_after(write) {
            of_cut.lost += 1;
            of_cut.oldest_ns = of_cut.oldest_ns.max(cut_ns - write.completed_ns);
        }
        let found = &mut self.found;
        let at = write.completed_ns.saturating_sub(self.started_ns);
        let (first, last) = found.lost_between_ns.unwrap_or((at, at));
        found.lost_between_ns = Some((first.min(at), last.max(at)));
        found.lost += 1;
        let name = String::from_utf8_lossy(key);
        if found.lost_keys.len() < KEYS_NAMED
            && found.lost_keys.last().is_none_or(|last| *last != name)
        {
            found.lost_keys.push(name.into_owned());
        }
    }
}

/// The acknowledged writes of one field of one record that are neither there nor were followed by the one that is.
fn lost<'a>(entries: impl Iterator<Item = &'a Entry> + Clone, record: &Hashes) -> Vec<&'a Entry> {
    let is_there = |entry: &&Entry| match entry.field {
        WHOLE => record.is_there,
        field => record.is_there && record.fields.contains(&(field, entry.value)),
    };
    // A write in doubt may have been carried out late. Among several with the same value any may be the one that was found.
    let settled_ns = entries.clone().filter(is_there).map(|entry| match entry.end {
        End::Acknowledged => entry.completed_ns,
        End::InDoubt | End::Batched => u64::MAX,
    });
    let settled_ns = settled_ns.max();
    let of_whole = |entry: &&Entry| entry.field == WHOLE && record.is_there;
    entries
        .filter(|entry| entry.end == End::Acknowledged && !of_whole(entry))
        .filter(|entry| settled_ns.is_none_or(|settled_ns| entry.dispatched_ns > settled_ns))
        .collect()
}

/// Fields of a record that was read, and their values.
#[derive(Default)]
struct Hashes {
    is_there: bool,
    fields: Vec<(u64, u64)>,
}

impl FieldVisitor for Hashes {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.fields.push((hash_of(name), hash_of(value)));
    }
}

impl Engine for Watched<'_> {
    fn description(&self) -> EngineDescription {
        self.engine.description()
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(WatchedSession {
            session: self.engine.session()?,
            book: Arc::clone(&self.book),
            entries: Entries::default(),
            batch_begins: 0,
        }))
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        self.engine.count()
    }

    fn point_begins(&self) {
        self.engine.point_begins();
        let now = monotonic_ns();
        let book = &self.book;
        for clock in [&book.started_ns, &book.writes.last_ns, &book.reads.last_ns] {
            clock.store(now, Ordering::Relaxed);
        }
    }

    fn data_bytes(&self) -> Result<Option<u64>, EngineError> {
        self.engine.data_bytes()
    }

    fn statistics(&self, into: &mut Vec<(&'static str, f64)>) {
        self.engine.statistics(into);
    }

    fn server(&self) -> Option<ServerIdentity> {
        self.engine.server()
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        // The caller owns it.
        Ok(())
    }
}

/// A session that keeps its part of the ledger.
struct WatchedSession {
    session: Box<dyn Session>,
    book: Arc<Book>,
    entries: Entries,
    /// The first entry whose end is not known yet.
    batch_begins: usize,
}

impl WatchedSession {
    fn read_ended(&self, outcome: &Outcome) {
        if matches!(outcome, Outcome::Ok | Outcome::NotFound) {
            self.book.reads.succeeded(monotonic_ns());
        }
    }

    /// Notes a write. Without fields it is the record as a whole.
    fn wrote(
        &mut self,
        key: &[u8],
        fields: Option<Fields<'_>>,
        dispatched_ns: u64,
        outcome: &Outcome,
    ) {
        let completed_ns = monotonic_ns();
        let end = match outcome {
            Outcome::Ok => End::Acknowledged,
            Outcome::Batched => End::Batched,
            Outcome::Error(_) => End::InDoubt,
            // Nothing was written.
            Outcome::NotFound => return,
        };
        let place = (self.entries.keys.len(), key.len() as u32);
        self.entries.keys.extend_from_slice(key);
        let mut entry = Entry {
            key: place,
            field: WHOLE,
            value: 0,
            dispatched_ns,
            completed_ns,
            end,
            is_first: true,
        };
        match fields {
            None => self.entries.list.push(entry),
            Some(fields) => {
                for (_, name, value) in fields {
                    entry.field = hash_of(name);
                    entry.value = hash_of(value);
                    self.entries.list.push(entry);
                    entry.is_first = false;
                }
            }
        }
        self.settle(end, completed_ns);
    }

    /// The batch before shares the end of the write that sent it.
    fn settle(&mut self, end: End, completed_ns: u64) {
        if end == End::Batched {
            return;
        }
        for entry in &mut self.entries.list[self.batch_begins..] {
            entry.end = end;
            entry.completed_ns = completed_ns;
        }
        self.batch_begins = self.entries.list.len();
        if end == End::Acknowledged {
            self.book.writes.succeeded(completed_ns);
        }
    }
}

impl Session for WatchedSession {
    fn read(
        &mut self,
        key: &[u8],
        fields: FieldChoice<'_>,
        visitor: Option<&mut dyn FieldVisitor>,
    ) -> Outcome {
        let outcome = self.session.read(key, fields, visitor);
        self.read_ended(&outcome);
        outcome
    }

    fn update(&mut self, key: &[u8], changes: Fields<'_>) -> Outcome {
        let dispatched_ns = monotonic_ns();
        let outcome = self.session.update(key, changes);
        self.wrote(key, Some(changes), dispatched_ns, &outcome);
        outcome
    }

    fn insert(&mut self, key: &[u8], fields: Fields<'_>) -> Outcome {
        let dispatched_ns = monotonic_ns();
        let outcome = self.session.insert(key, fields);
        self.wrote(key, None, dispatched_ns, &outcome);
        outcome
    }

    fn scan(
        &mut self,
        start: &[u8],
        count: u32,
        fields: FieldChoice<'_>,
        rows: &mut u32,
    ) -> Outcome {
        let outcome = self.session.scan(start, count, fields, rows);
        self.read_ended(&outcome);
        outcome
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        self.session.delete(key)
    }

    /// Which documents an application's write changed is not known here, so they are not read back.
    fn statement(&mut self, statement: &Statement<'_>, answer: &mut Answer) -> Outcome {
        let outcome = self.session.statement(statement, answer);
        if matches!(outcome, Outcome::Ok) {
            let book = &self.book;
            let successes =
                if statement.operation.kind().writes() { &book.writes } else { &book.reads };
            successes.succeeded(monotonic_ns());
        }
        outcome
    }

    fn flush(&mut self) -> Option<Outcome> {
        let outcome = self.session.flush()?;
        let end = match outcome {
            Outcome::Ok => End::Acknowledged,
            _ => End::InDoubt,
        };
        self.settle(end, monotonic_ns());
        Some(outcome)
    }

    fn interrupter(&self) -> Option<Interrupter> {
        self.session.interrupter()
    }

    fn part_times(&self) -> &[PartTime] {
        self.session.part_times()
    }

    fn retries(&self) -> u64 {
        self.session.retries()
    }
}

impl Drop for WatchedSession {
    fn drop(&mut self) {
        lock(&self.book.entries).push(std::mem::take(&mut self.entries));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{OwnOperation, StatementKind};
    use plimsoll_workload::Expected;

    fn entry(value: u64, dispatched_ns: u64, completed_ns: u64, end: End) -> Entry {
        Entry { key: (0, 0), field: 7, value, dispatched_ns, completed_ns, end, is_first: true }
    }

    /// Values of the lost writes, if this value is found.
    fn lost_values(entries: &[Entry], value: u64) -> Vec<u64> {
        let record = Hashes { is_there: true, fields: vec![(7, value)] };
        let lost = lost(entries.iter(), &record);
        lost.iter().map(|entry| entry.value).collect()
    }

    #[test]
    fn what_was_overwritten_is_not_lost_and_what_came_after_is() {
        use End::{Acknowledged, InDoubt};
        let one_by_one = [
            entry(1, 0, 10, Acknowledged),
            entry(2, 20, 30, Acknowledged),
            entry(3, 40, 50, Acknowledged),
        ];
        assert_eq!(lost_values(&one_by_one, 3), [0; 0]);
        assert_eq!(lost_values(&one_by_one, 2), [3]);
        assert_eq!(lost_values(&one_by_one, 1), [2, 3]);
        // The value from before.
        assert_eq!(lost_values(&one_by_one, 9), [1, 2, 3]);
        // Two at the same time: either may be the last.
        let together = [entry(1, 0, 30, Acknowledged), entry(2, 20, 40, Acknowledged)];
        assert_eq!(lost_values(&together, 1), [0; 0]);
        assert_eq!(lost_values(&together, 2), [0; 0]);
        // One that failed may come late, and need not come.
        let in_doubt = [entry(1, 0, 10, InDoubt), entry(2, 20, 30, Acknowledged)];
        assert_eq!(lost_values(&in_doubt, 1), [0; 0]);
        assert_eq!(lost_values(&in_doubt, 2), [0; 0]);
        assert_eq!(lost_values(&in_doubt, 9), [2]);
    }

    #[test]
    fn a_record_that_is_gone_takes_all_that_was_acknowledged_with_it() {
        let inserted = Entry { field: WHOLE, ..entry(0, 0, 10, End::Acknowledged) };
        let there = Hashes { is_there: true, fields: vec![(7, 5)] };
        assert!(lost([&inserted].into_iter(), &there).is_empty());
        let gone = Hashes::default();
        assert_eq!(lost([&inserted].into_iter(), &gone).len(), 1);
        let updated = entry(1, 20, 30, End::Acknowledged);
        assert_eq!(lost([&updated].into_iter(), &gone).len(), 1);
    }

    #[test]
    fn what_is_lost_belongs_to_the_first_cut_after_its_acknowledgement() {
        let mut found = Findings {
            started_ns: 100,
            cuts_ns: &[1_000, 2_000],
            found: Acknowledged { by_cut: vec![CutLoss::default(); 2], ..Acknowledged::default() },
        };
        let times = [200, 950, 1_000, 1_500, 1_900, 2_500];
        let writes = times.map(|at| entry(at, at - 10, at, End::Acknowledged));
        writes.iter().for_each(|write| found.written(write));
        found.written(&entry(9, 0, 1_200, End::InDoubt));
        for write in [&writes[1], &writes[3], &writes[4]] {
            found.lost(b"key", write);
        }
        let Acknowledged { writes, in_doubt, lost, lost_between_ns, by_cut, .. } = found.found;
        assert_eq!((writes, in_doubt, lost), (6, 1, 3));
        assert_eq!(lost_between_ns, Some((850, 1_800)));
        let first = CutLoss { acknowledged: 3, lost: 1, oldest_ns: 50 };
        let second = CutLoss { acknowledged: 2, lost: 2, oldest_ns: 500 };
        assert_eq!(by_cut, [first, second]);
    }

    #[test]
    fn only_long_times_without_success_are_gaps() {
        let track = Track::default();
        const MS: u64 = 1_000_000;
        track.last_ns.store(1_000 * MS, Ordering::Relaxed);
        for at in [1_010, 1_109, 1_210, 1_205, 3_000, 3_050] {
            track.succeeded(at * MS);
        }
        let gaps = track.gaps(1_000 * MS, 3_120 * MS);
        assert_eq!(gaps, [(109 * MS, 210 * MS), (210 * MS, 2_000 * MS)]);
        let to_the_end = track.gaps(1_000 * MS, 3_500 * MS);
        assert_eq!(to_the_end.last(), Some(&(2_050 * MS, 2_500 * MS)));
        let never = Track::default();
        assert_eq!(never.gaps(0, 3_500 * MS), []);
    }

    #[test]
    fn statements_reach_the_engine_and_end_the_gap_of_their_kind() {
        struct Two;
        impl Session for Two {
            fn read(
                &mut self,
                _: &[u8],
                _: FieldChoice<'_>,
                _: Option<&mut dyn FieldVisitor>,
            ) -> Outcome {
                unreachable!("the toy engine only runs statements")
            }

            fn update(&mut self, _: &[u8], _: Fields<'_>) -> Outcome {
                unreachable!("the toy engine only runs statements")
            }

            fn insert(&mut self, _: &[u8], _: Fields<'_>) -> Outcome {
                unreachable!("the toy engine only runs statements")
            }

            fn scan(&mut self, _: &[u8], _: u32, _: FieldChoice<'_>, _: &mut u32) -> Outcome {
                unreachable!("the toy engine only runs statements")
            }

            fn delete(&mut self, _: &[u8]) -> Outcome {
                unreachable!("the toy engine only runs statements")
            }

            fn statement(&mut self, _: &Statement<'_>, answer: &mut Answer) -> Outcome {
                answer.documents = 2;
                Outcome::Ok
            }
        }
        for (kind, ended) in [(StatementKind::Find, [0, 1]), (StatementKind::Update, [1, 0])] {
            let book = Arc::new(Book::default());
            let mut session = WatchedSession {
                session: Box::new(Two),
                book: Arc::clone(&book),
                entries: Entries::default(),
                batch_begins: 0,
            };
            let statement = Statement {
                operation: OwnOperation::new(kind, "pay").unwrap(),
                slot: 0,
                command: &[],
                limit: 0,
                expected: Expected::Some,
                units: 1,
                inserted: None,
                growth: None,
                sequence: None,
            };
            let mut answer = Answer::default();
            assert!(matches!(session.statement(&statement, &mut answer), Outcome::Ok));
            assert_eq!(answer.documents, 2);
            // The first success on the clock of the machine is long after 0.
            let gaps = [&book.writes, &book.reads].map(|track| lock(&track.gaps).len());
            assert_eq!(gaps, ended);
        }
    }
}
