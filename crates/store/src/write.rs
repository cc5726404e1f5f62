//! Writing an experiment down while it is being measured.

use crate::rows::{
    delete_experiment, insert_experiment, insert_point, insert_run, insert_slice, insert_whole_run,
    set_ending, update_run,
};
use crate::{Store, StoreError};
use plimsoll_record::{
    Calibration, ExperimentRecord, PointEnd, PointLabel, PointRecord, RunRecord, RunState, Slice,
};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

/// A run that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(i64);

/// A point, or a load phase, that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointId(i64);

impl Store {
    /// Writes the head of an experiment, takes the experiment for this store, and returns its id. An empty id is replaced by a random
    /// one of eight hexadecimal digits. Runs in the record are not written.
    pub fn begin(&mut self, record: &ExperimentRecord) -> Result<String, StoreError> {
        let path = self.path.clone();
        let sqlite = |error| StoreError::from_sqlite(&path, error);
        let transaction = begin_writing(&mut self.connection).map_err(sqlite)?;
        let head = ExperimentRecord { runs: Vec::new(), ..record.clone() };
        let (key, id) = insert_experiment(&transaction, head).map_err(sqlite)?;
        let id = id.ok_or_else(|| StoreError::IdTaken { id: record.id.clone() })?;
        // Taken before anybody else can see it. No other program can hold the lock of a key that does not exist yet.
        self.claims.take(key, &id, &record.name)?;
        if let Err(error) = transaction.commit() {
            self.claims.release(key)?;
            return Err(sqlite(error));
        }
        Ok(id)
    }

    /// Takes an unfinished experiment for this store, sets the runs that were cut off to interrupted, and returns all its runs so far
    /// without their load phases and points.
    pub fn resume(&mut self, id: &str) -> Result<Vec<RunRecord>, StoreError> {
        let (key, name) = self.key_of(id)?;
        self.claims.take(key, id, &name)?;
        let path = self.path.clone();
        let sqlite = |error| StoreError::from_sqlite(&path, error);
        let mut runs = self.run_heads(key)?;
        let transaction = begin_writing(&mut self.connection).map_err(sqlite)?;
        for (run, head) in &mut runs {
            if head.state == RunState::Started {
                head.state = RunState::Interrupted;
                update_run(&transaction, *run, head).map_err(sqlite)?;
            }
        }
        transaction.commit().map_err(sqlite)?;
        Ok(runs.into_iter().map(|(_, head)| head).collect())
    }

    /// Replaces name, question, plan, file and command of an experiment that goes on. What is measured is the same, or it would be another
    /// experiment; what is judged may have been changed since it began.
    pub fn revise(&mut self, id: &str, now: &ExperimentRecord) -> Result<(), StoreError> {
        let (key, _) = self.key_of(id)?;
        if !self.claims.holds(key) {
            return Err(StoreError::NotClaimed { id: id.to_owned() });
        }
        let mut head = self.experiment_head(key)?;
        head.name.clone_from(&now.name);
        head.question.clone_from(&now.question);
        head.plan.clone_from(&now.plan);
        head.file_text.clone_from(&now.file_text);
        head.file_hash.clone_from(&now.file_hash);
        head.command.clone_from(&now.command);
        self.connection
            .execute(
                "UPDATE experiment SET name = ?2, question = ?3, record = ?4 WHERE key = ?1",
                params![key, head.name, head.question, head.to_json()],
            )
            .map_err(|error| self.sqlite(error))?;
        Ok(())
    }

    /// Adds what fio found of a disk to an experiment that is being worked on.
    pub fn add_calibration(
        &mut self,
        id: &str,
        calibration: &Calibration,
    ) -> Result<(), StoreError> {
        let (key, _) = self.key_of(id)?;
        if !self.claims.holds(key) {
            return Err(StoreError::NotClaimed { id: id.to_owned() });
        }
        let mut head = self.experiment_head(key)?;
        head.calibrations.push(calibration.clone());
        self.connection
            .execute(
                "UPDATE experiment SET record = ?2 WHERE key = ?1",
                params![key, head.to_json()],
            )
            .map_err(|error| self.sqlite(error))?;
        Ok(())
    }

    /// An experiment without its runs.
    pub fn head(&self, id: &str) -> Result<ExperimentRecord, StoreError> {
        let (key, _) = self.key_of(id)?;
        self.experiment_head(key)
    }

    /// Writes the head of a run as it begins. Its load phase and points are not written.
    pub fn begin_run(&mut self, id: &str, head: &RunRecord) -> Result<RunId, StoreError> {
        let (key, _) = self.key_of(id)?;
        if !self.claims.holds(key) {
            return Err(StoreError::NotClaimed { id: id.to_owned() });
        }
        insert_run(&self.connection, &self.path, key, head).map(RunId)
    }

    /// Replaces the head of a run by what is known of it now: the engine, the storage, the warnings, the state. Its load phase and
    /// points are not touched. The run is over when its state is no longer [`RunState::Started`]; all of it is on the disk then.
    pub fn update_run(&mut self, run: RunId, head: &RunRecord) -> Result<(), StoreError> {
        update_run(&self.connection, run.0, head).map_err(|error| self.sqlite(error))?;
        if head.state != RunState::Started {
            self.flush()?;
        }
        Ok(())
    }

    /// Begins the load phase of a run. A run has one at most.
    pub fn begin_load(
        &mut self,
        run: RunId,
        label: &PointLabel,
        warm_up_ns: u64,
        started_at: &str,
    ) -> Result<PointId, StoreError> {
        self.insert_new_point(run, true, label, warm_up_ns, started_at)
    }

    /// Begins a point of a run.
    pub fn begin_point(
        &mut self,
        run: RunId,
        label: &PointLabel,
        warm_up_ns: u64,
        started_at: &str,
    ) -> Result<PointId, StoreError> {
        self.insert_new_point(run, false, label, warm_up_ns, started_at)
    }

    fn insert_new_point(
        &mut self,
        run: RunId,
        is_load: bool,
        label: &PointLabel,
        warm_up_ns: u64,
        started_at: &str,
    ) -> Result<PointId, StoreError> {
        let head = PointRecord {
            label: label.clone(),
            warm_up_ns,
            started_at: started_at.to_owned(),
            slices: Vec::new(),
            end: None,
        };
        let point = insert_point(&self.connection, run.0, is_load, &head);
        Ok(PointId(point.map_err(|error| self.sqlite(error))?))
    }

    pub fn add_slice(&mut self, point: PointId, slice: &Slice) -> Result<(), StoreError> {
        insert_slice(&self.connection, point.0, slice).map_err(|error| self.sqlite(error))
    }

    /// Writes the end of a point and flushes everything to the disk.
    pub fn end_point(&mut self, point: PointId, end: &PointEnd) -> Result<(), StoreError> {
        set_ending(&self.connection, point.0, end).map_err(|error| self.sqlite(error))?;
        self.flush()
    }

    /// Keeps what an experiment came to in a few words, for [`Store::list`]. It is no part of the record. Nothing happens where there is no such experiment.
    pub fn note_verdict(&mut self, id: &str, verdict: &str) -> Result<(), StoreError> {
        self.connection
            .execute(
                "UPDATE experiment SET record = json_set(record, '$.verdict', ?2) WHERE id = ?1",
                [id, verdict],
            )
            .map_err(|error| self.sqlite(error))?;
        Ok(())
    }

    /// Sets an experiment to finished and lets go of it.
    pub fn finish(&mut self, id: &str, ended_at: &str) -> Result<(), StoreError> {
        let (key, _) = self.key_of(id)?;
        if !self.claims.holds(key) {
            return Err(StoreError::NotClaimed { id: id.to_owned() });
        }
        self.connection
            .execute(
                "UPDATE experiment SET state = 'finished', ended_at = ?2 WHERE key = ?1",
                params![key, ended_at],
            )
            .map_err(|error| self.sqlite(error))?;
        self.claims.release(key)?;
        self.flush()
    }

    /// Writes a whole record, such as one that was measured elsewhere, and returns its id.
    ///
    /// Records as text are read by [`ExperimentRecord::from_json`]; the way back is [`Store::load`] and [`ExperimentRecord::to_json`].
    pub fn import(&mut self, record: ExperimentRecord) -> Result<String, StoreError> {
        let path = self.path.clone();
        let sqlite = |error| StoreError::from_sqlite(&path, error);
        let mut record = record;
        let runs = std::mem::take(&mut record.runs);
        let wanted = record.id.clone();
        let transaction = begin_writing(&mut self.connection).map_err(sqlite)?;
        let (key, id) = insert_experiment(&transaction, record).map_err(sqlite)?;
        let id = id.ok_or(StoreError::IdTaken { id: wanted })?;
        for run in runs {
            insert_whole_run(&transaction, &path, key, run)?;
        }
        transaction.commit().map_err(sqlite)?;
        self.flush()?;
        Ok(id)
    }

    /// Deletes an experiment with all that was measured in it, and gives its space back to the filesystem.
    pub fn delete(&mut self, id: &str) -> Result<(), StoreError> {
        let (key, name) = self.key_of(id)?;
        self.claims.take(key, id, &name)?;
        let deleted = delete_experiment(&self.connection, key);
        self.claims.release(key)?;
        deleted.map_err(|error| self.sqlite(error))?;
        self.free_pages().map_err(|error| self.sqlite(error))?;
        self.flush()
    }

    /// Each step of the pragma frees one page.
    fn free_pages(&self) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare("PRAGMA incremental_vacuum")?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    }

    /// Brings what is in the write-ahead log to its place and to the disk, as far as readers let it.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .map_err(|error| self.sqlite(error))
    }

    /// Key and name of the experiment with exactly this id.
    pub(crate) fn key_of(&self, id: &str) -> Result<(i64, String), StoreError> {
        self.connection
            .prepare_cached("SELECT key, name FROM experiment WHERE id = ?1")
            .and_then(|mut statement| {
                statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(|error| self.sqlite(error))?
            .ok_or_else(|| StoreError::Unknown { path: self.path.clone(), wanted: id.to_owned() })
    }
}

/// Nobody else writes before this transaction is over.
pub(crate) fn begin_writing(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::it::sample;

    #[test]
    fn a_full_disk_is_named_and_costs_nothing_that_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(&directory.path().join("plimsoll.db")).unwrap();
        let id = store.begin(&sample::experiment("")).unwrap();
        let run = store.begin_run(&id, &sample::run("small", 0)).unwrap();
        let label = sample::point(Some(0)).label;
        let point = store.begin_point(run, &label, 0, "").unwrap();
        store.add_slice(point, &sample::slice(0, &[5])).unwrap();
        // SQLite answers the same when its file may not grow as when the disk is full.
        let pages: u32 =
            store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        store
            .connection
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .unwrap();
        let mut written = 1;
        let error = loop {
            match store.add_slice(point, &sample::slice(written, &[5])) {
                Ok(()) => written += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        let slices = store.load(&id).unwrap().runs[0].points[0].slices.len();
        assert_eq!(slices, written as usize);
    }
}
