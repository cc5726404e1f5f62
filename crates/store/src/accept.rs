//! Records from elsewhere: whole ones, which may come more than once, and of experiments that went on since they came last; and parts of one that is
//! being measured, whose place its whole record takes.

use crate::rows::{delete_experiment, insert_experiment, insert_whole_run, replace_head};
use crate::write::begin_writing;
use crate::{Store, StoreError};
use plimsoll_record::{ExperimentRecord, ExperimentState, RunRecord, RunState};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Letters of an id from elsewhere. Ours have eight.
const LONGEST_ID: usize = 64;

/// What became of a record that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accepted {
    /// It was not there before.
    New,
    /// It was there already, or a later state of it was.
    Known,
    /// An earlier state of it was there, and was replaced.
    Grown,
}

/// From whom a record came. It is kept beside the record, and is no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// Who sent it.
    pub by: String,
    /// When, UTC, RFC 3339.
    pub at: String,
    /// Of the bundle that was sent, hexadecimal. None as long as parts come while it is measured: its bundle takes their place.
    pub sha256: Option<String>,
}

impl Arrival {
    fn is_in_parts(&self) -> bool {
        self.sha256.is_none()
    }
}

impl Store {
    /// Takes a whole record in, all of it or nothing. The same record again changes nothing. A record of an experiment that is here already, and went on
    /// since, adds what is new, where it comes from whom the first part came: nobody changes what others have sent, or what was measured here.
    pub fn accept(
        &mut self,
        record: &ExperimentRecord,
        arrival: &Arrival,
    ) -> Result<Accepted, StoreError> {
        if !plimsoll_record::is_plain(&record.id) {
            return Err(StoreError::UnfitId {
                id: record.id.clone(),
            });
        }
        let (key, name) = match self.key_of(&record.id) {
            Ok(known) => known,
            Err(StoreError::Unknown { .. }) => {
                self.insert(record.clone(), Some(arrival))?;
                return Ok(Accepted::New);
            }
            Err(error) => return Err(error),
        };
        self.claims.take(key, &record.id, &name)?;
        let accepted = self.merge(key, record, arrival);
        self.claims.release(key)?;
        let accepted = accepted?;
        if accepted == Accepted::Grown {
            self.flush()?;
        }
        Ok(accepted)
    }

    fn merge(
        &mut self,
        key: i64,
        record: &ExperimentRecord,
        arrival: &Arrival,
    ) -> Result<Accepted, StoreError> {
        match self.arrival_of(key)? {
            Some(known) if known.is_in_parts() && known.by == arrival.by => {
                self.replace_parts(key, record, arrival)
            }
            known => self.add_what_is_new(key, record, known.as_ref(), arrival),
        }
    }

    fn add_what_is_new(
        &mut self,
        key: i64,
        record: &ExperimentRecord,
        from: Option<&Arrival>,
        arrival: &Arrival,
    ) -> Result<Accepted, StoreError> {
        let known = self.load(&record.id)?;
        let same = same_runs(&known.runs, &record.runs);
        let differs = || StoreError::Differs {
            id: record.id.clone(),
        };
        let is_same_experiment = known.started_at == record.started_at
            && known.plan_hash == record.plan_hash
            && known.machine.fingerprint() == record.machine.fingerprint();
        // What differs must be unfinished on one side, which then is the earlier state.
        let may_be_replaced =
            |run: &RunRecord| matches!(run.state, RunState::Started | RunState::Interrupted);
        if !is_same_experiment {
            return Err(differs());
        }
        let is_earlier = same < known.runs.len()
            || known.state == ExperimentState::Finished
                && record.state == ExperimentState::Unfinished;
        if same == record.runs.len() && (is_earlier || known == *record) {
            return Ok(Accepted::Known);
        }
        let is_later = known.runs[same..].iter().all(may_be_replaced);
        if !is_later && record.runs[same..].iter().all(may_be_replaced) {
            // The other way round: what came is the earlier state.
            return Ok(Accepted::Known);
        }
        if !is_later || from.is_none_or(|from| from.by != arrival.by) {
            return Err(differs());
        }
        let path = self.path.clone();
        let sqlite = |error| StoreError::from_sqlite(&path, error);
        let keys = self.run_heads(key)?;
        let transaction = begin_writing(&mut self.connection).map_err(sqlite)?;
        for (run, _) in &keys[same..] {
            transaction
                .execute("DELETE FROM run WHERE key = ?1", [run])
                .map_err(sqlite)?;
        }
        let mut head = record.clone();
        let runs = head.runs.split_off(same);
        head.runs.clear();
        replace_head(&transaction, key, &head).map_err(sqlite)?;
        for run in runs {
            insert_whole_run(&transaction, &path, key, run)?;
        }
        note_arrival(&transaction, key, arrival).map_err(sqlite)?;
        transaction.commit().map_err(sqlite)?;
        Ok(Accepted::Grown)
    }

    /// Puts a whole record in the place of the parts that came while it was measured.
    fn replace_parts(
        &mut self,
        key: i64,
        record: &ExperimentRecord,
        arrival: &Arrival,
    ) -> Result<Accepted, StoreError> {
        let path = self.path.clone();
        let sqlite = |error| StoreError::from_sqlite(&path, error);
        let transaction = begin_writing(&mut self.connection).map_err(sqlite)?;
        delete_experiment(&transaction, key).map_err(sqlite)?;
        insert_whole_experiment(&transaction, &path, record.clone(), Some(arrival))?;
        transaction.commit().map_err(sqlite)?;
        Ok(Accepted::Grown)
    }

    /// Begins an experiment that is measured elsewhere, whose parts come one after the other ([`Store::add_news`]), and takes it for this store. What
    /// came of it before in the same way, from the same sender, is dropped. Runs in the record are not written.
    pub fn begin_elsewhere(
        &mut self,
        head: &ExperimentRecord,
        arrival: &Arrival,
    ) -> Result<(), StoreError> {
        if !plimsoll_record::is_plain(&head.id) {
            return Err(StoreError::UnfitId {
                id: head.id.clone(),
            });
        }
        match self.key_of(&head.id) {
            Ok((key, _)) => {
                let known = self.arrival_of(key)?;
                if !known.is_some_and(|known| known.is_in_parts() && known.by == arrival.by) {
                    return Err(StoreError::Differs {
                        id: head.id.clone(),
                    });
                }
                self.delete(&head.id)?;
            }
            Err(StoreError::Unknown { .. }) => {}
            Err(error) => return Err(error),
        }
        self.begin_from(head, Some(arrival))?;
        Ok(())
    }

    /// Whence an experiment came, where it came from elsewhere.
    fn arrival_of(&self, key: i64) -> Result<Option<Arrival>, StoreError> {
        let query = "SELECT json_extract(record, '$.arrival') FROM experiment WHERE key = ?1";
        let json: Option<String> = self
            .connection
            .query_row(query, [key], |row| row.get(0))
            .map_err(|error| self.sqlite(error))?;
        json.map(|json| self.parse(&json, "where an experiment came from"))
            .transpose()
    }

    /// Writes a whole record that is not here yet.
    pub(crate) fn insert(
        &mut self,
        record: ExperimentRecord,
        arrival: Option<&Arrival>,
    ) -> Result<String, StoreError> {
        let path = self.path.clone();
        let sqlite = |error| StoreError::from_sqlite(&path, error);
        let transaction = begin_writing(&mut self.connection).map_err(sqlite)?;
        let id = insert_whole_experiment(&transaction, &path, record, arrival)?;
        transaction.commit().map_err(sqlite)?;
        self.flush()?;
        Ok(id)
    }
}

/// Writes a record and whence it came, and returns its id.
fn insert_whole_experiment(
    connection: &Connection,
    path: &Path,
    mut record: ExperimentRecord,
    arrival: Option<&Arrival>,
) -> Result<String, StoreError> {
    let sqlite = |error| StoreError::from_sqlite(path, error);
    let runs = std::mem::take(&mut record.runs);
    let wanted = record.id.clone();
    let (key, id) = insert_experiment(connection, record).map_err(sqlite)?;
    let id = id.ok_or(StoreError::IdTaken { id: wanted })?;
    for run in runs {
        insert_whole_run(connection, path, key, run)?;
    }
    if let Some(arrival) = arrival {
        note_arrival(connection, key, arrival).map_err(sqlite)?;
    }
    Ok(id)
}

/// How many runs both have in common from the first on.
fn same_runs(one: &[RunRecord], other: &[RunRecord]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

pub(crate) fn note_arrival(
    connection: &Connection,
    key: i64,
    arrival: &Arrival,
) -> rusqlite::Result<()> {
    let arrival = serde_json::json!(arrival).to_string();
    connection.execute(
        "UPDATE experiment SET record = json_set(record, '$.arrival', json(?2)) WHERE key = ?1",
        params![key, arrival],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Filter, it::sample};

    fn arrival(by: &str) -> Arrival {
        Arrival {
            by: by.to_owned(),
            at: "2026-11-26T00:00:00Z".to_owned(),
            sha256: Some("ab".repeat(32)),
        }
    }

    fn store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().join("plimsoll.db")).unwrap();
        (directory, store)
    }

    /// Finished, of two runs.
    fn record() -> ExperimentRecord {
        let mut record = sample::experiment("9b2c");
        record.state = ExperimentState::Finished;
        record.runs = vec![finished("small", 0), finished("large", 0)];
        record
    }

    fn finished(arm: &str, block: u32) -> RunRecord {
        let mut run = sample::run(arm, block);
        run.state = RunState::Finished;
        let mut point = sample::point(Some(0));
        point.slices = vec![sample::slice(0, &[5, 7])];
        run.points = vec![point];
        run
    }

    #[test]
    fn the_same_record_again_changes_nothing() {
        let (_directory, mut store) = store();
        assert_eq!(
            store.accept(&record(), &arrival("ci")).unwrap(),
            Accepted::New
        );
        let before = store.version("9b2c").unwrap();
        let again = store.accept(&record(), &arrival("anna")).unwrap();
        assert_eq!(again, Accepted::Known);
        assert_eq!(store.version("9b2c").unwrap(), before);
        assert_eq!(store.load("9b2c").unwrap(), record());
        let listed = &store.list(&Filter::default()).unwrap()[0];
        assert_eq!(listed.sent_by.as_deref(), Some("ci"));
    }

    #[test]
    fn an_experiment_that_went_on_grows_and_never_shrinks() {
        let (_directory, mut store) = store();
        let whole = record();
        let mut cut_off = whole.clone();
        cut_off.state = ExperimentState::Unfinished;
        cut_off.ended_at = None;
        cut_off.runs[1] = sample::run("large", 0);
        cut_off.runs[1].state = RunState::Interrupted;
        store.accept(&cut_off, &arrival("ci")).unwrap();
        assert_eq!(
            store.accept(&whole, &arrival("ci")).unwrap(),
            Accepted::Grown
        );
        assert_eq!(store.load("9b2c").unwrap(), whole);
        // An earlier state that comes late.
        assert_eq!(
            store.accept(&cut_off, &arrival("ci")).unwrap(),
            Accepted::Known
        );
        let mut first = whole.clone();
        first.runs.pop();
        assert_eq!(
            store.accept(&first, &arrival("ci")).unwrap(),
            Accepted::Known
        );
        assert_eq!(store.load("9b2c").unwrap(), whole);
        // More blocks.
        let mut longer = whole.clone();
        longer.runs.push(finished("small", 1));
        assert_eq!(
            store.accept(&longer, &arrival("ci")).unwrap(),
            Accepted::Grown
        );
        assert_eq!(store.load("9b2c").unwrap(), longer);
    }

    #[test]
    fn what_was_measured_is_not_replaced_by_something_else() {
        let (_directory, mut store) = store();
        store.accept(&record(), &arrival("ci")).unwrap();
        let mut faster = record();
        faster.runs[0].points[0].slices = vec![sample::slice(0, &[1])];
        let mut other_plan = record();
        other_plan.plan_hash = "ffff".to_owned();
        for other in [faster, other_plan] {
            let refused = store.accept(&other, &arrival("mallory")).unwrap_err();
            assert!(matches!(refused, StoreError::Differs { .. }), "{refused}");
            assert_eq!(store.load("9b2c").unwrap(), record());
        }
    }

    /// A plan says what the runs mean, so whoever could replace it could change the answer.
    #[test]
    fn only_who_sent_the_first_part_adds_to_it() {
        let (_directory, mut store) = store();
        store.accept(&record(), &arrival("ci")).unwrap();
        let mut longer = record();
        longer.runs.push(finished("small", 1));
        let mut renamed = record();
        renamed.name = "something else".to_owned();
        for changed in [&longer, &renamed] {
            let refused = store.accept(changed, &arrival("mallory")).unwrap_err();
            assert!(matches!(refused, StoreError::Differs { .. }), "{refused}");
            assert_eq!(store.load("9b2c").unwrap(), record());
        }
        assert_eq!(
            store.accept(&longer, &arrival("ci")).unwrap(),
            Accepted::Grown
        );

        // What was measured here belongs to nobody else.
        let mut here = record();
        here.id = "1f3a".to_owned();
        store.import(here.clone()).unwrap();
        here.runs.push(finished("small", 1));
        let refused = store.accept(&here, &arrival("ci")).unwrap_err();
        assert!(matches!(refused, StoreError::Differs { .. }), "{refused}");
    }

    #[test]
    fn nothing_is_taken_in_beside_a_program_that_works_on_it() {
        let (directory, mut store) = store();
        let mut worker = Store::open(&directory.path().join("plimsoll.db")).unwrap();
        let id = worker.begin(&sample::experiment("9b2c")).unwrap();
        let refused = store.accept(&record(), &arrival("ci")).unwrap_err();
        assert!(matches!(refused, StoreError::Busy { .. }), "{refused}");
        worker.finish(&id, "2026-11-26T00:00:00Z").unwrap();
    }

    /// Machines of one kind have one fingerprint.
    #[test]
    fn what_was_measured_elsewhere_is_not_gone_on_with_here() {
        let (_directory, mut store) = store();
        let mut unfinished = record();
        unfinished.state = ExperimentState::Unfinished;
        store.accept(&unfinished, &arrival("ci")).unwrap();
        let (plan, machine) = (&unfinished.plan_hash, unfinished.machine.fingerprint());
        assert_eq!(store.find_unfinished(plan, &machine).unwrap(), None);
        assert_eq!(store.last_of_plan(plan, &machine).unwrap(), None);
        let here = ExperimentRecord {
            id: "1f3a".to_owned(),
            ..unfinished.clone()
        };
        store.import(here).unwrap();
        let found = store.find_unfinished(plan, &machine).unwrap();
        assert_eq!(found.unwrap().id, "1f3a");
    }

    #[test]
    fn an_id_means_one_experiment() {
        let (_directory, mut store) = store();
        let long = "a".repeat(LONGEST_ID + 1);
        for id in ["", "last", "last~1", "../x", "a b", "é", &long] {
            let mut record = record();
            record.id = id.to_owned();
            let refused = store.accept(&record, &arrival("ci")).unwrap_err();
            assert!(matches!(refused, StoreError::UnfitId { .. }), "{refused}");
        }
        assert!(store.list(&Filter::default()).unwrap().is_empty());
    }

    /// A record that cannot be written to the end leaves nothing.
    #[test]
    fn all_of_a_record_or_nothing() {
        let (_directory, mut store) = store();
        let mut twice = record();
        let run = twice.runs[0].clone();
        twice.runs.push(run);
        let refused = store.accept(&twice, &arrival("ci")).unwrap_err();
        assert!(matches!(refused, StoreError::RunTaken { .. }), "{refused}");
        assert!(store.list(&Filter::default()).unwrap().is_empty());
    }
}
