//! Finding experiments again and reading them back.

use crate::{Store, StoreError, blob};
use plimsoll_record::{ExperimentRecord, ExperimentState, PointRecord, RunRecord, RunState};
use rusqlite::{OptionalExtension, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those of exactly this name.
    pub name: Option<String>,
    /// Only those that stand so.
    pub state: Option<ExperimentState>,
}

/// What a list shows of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Short id, unique in the store.
    pub id: String,
    pub name: String,
    pub question: Option<String>,
    /// What it came to in a few words, when it was last judged.
    pub verdict: Option<String>,
    /// The file that it is read from, where that is no store.
    pub bundle: Option<String>,
    pub state: ExperimentState,
    /// Whether a live program is working on it.
    pub running: bool,
    /// Begin in UTC, as RFC 3339 writes it.
    pub started_at: String,
    pub ended_at: Option<String>,
    pub arms: Vec<String>,
    /// Pairs of arm and block that have a finished run.
    pub runs_finished: u32,
    /// Pairs of arm and block whose last attempt failed, and no other one is finished.
    pub runs_failed: u32,
    pub runs_planned: u32,
}

const SUMMARY: &str = "
    SELECT key, id, name, question, state, started_at, ended_at, arms, runs_planned,
           (SELECT count(*) FROM (SELECT DISTINCT block, arm FROM run WHERE experiment = e.key AND state = 'finished')),
           (SELECT count(*) FROM run r WHERE r.experiment = e.key AND r.state = 'failed' AND NOT EXISTS (
                SELECT 1 FROM run o WHERE o.experiment = r.experiment AND o.block = r.block AND o.arm = r.arm
                    AND (o.attempt > r.attempt OR o.state = 'finished'))),
           CASE WHEN json_valid(record) THEN json_extract(record, '$.verdict') END
    FROM experiment e";

const SIZE: &str = "
    SELECT (SELECT octet_length(record) FROM experiment WHERE key = ?1)
         + coalesce((SELECT sum(octet_length(record)) FROM run WHERE experiment = ?1), 0)
         + coalesce((SELECT sum(octet_length(point.record) + coalesce(octet_length(point.ending), 0))
                     FROM run JOIN point ON point.run = run.key WHERE run.experiment = ?1), 0)
         + coalesce((SELECT sum(octet_length(slice.record))
                     FROM run JOIN point ON point.run = run.key JOIN slice ON slice.point = point.key
                     WHERE run.experiment = ?1), 0)";

const NEWEST_FIRST: &str = "ORDER BY started_at DESC, key DESC";

impl Store {
    /// The experiments, the one that was begun last first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Summary>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("{SUMMARY} WHERE ?1 IS NULL OR name = ?1 {NEWEST_FIRST}"))
            .map_err(|error| self.sqlite(error))?;
        let mut rows = statement.query([&filter.name]).map_err(|error| self.sqlite(error))?;
        let mut summaries = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.sqlite(error))? {
            // Reading one of them reports what is wrong with it.
            let Ok(summary) = self.summary(row) else {
                continue;
            };
            if filter.state.is_none_or(|state| state == summary.state) {
                summaries.push(summary);
            }
        }
        Ok(summaries)
    }

    /// The unfinished experiment of this plan on this machine that was begun last: the one to resume. A live program may be working on
    /// it.
    pub fn find_unfinished(
        &self,
        plan_hash: &str,
        machine_fingerprint: &str,
    ) -> Result<Option<Summary>, StoreError> {
        self.newest("state = 'unfinished' AND", plan_hash, machine_fingerprint)
    }

    fn newest(
        &self,
        condition: &str,
        plan_hash: &str,
        machine_fingerprint: &str,
    ) -> Result<Option<Summary>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached(&format!(
                "{SUMMARY} WHERE {condition} plan_hash = ?1 AND fingerprint = ?2
                 {NEWEST_FIRST} LIMIT 1"
            ))
            .map_err(|error| self.sqlite(error))?;
        let mut rows = statement
            .query([plan_hash, machine_fingerprint])
            .map_err(|error| self.sqlite(error))?;
        match rows.next().map_err(|error| self.sqlite(error))? {
            Some(row) => Ok(Some(self.summary(row)?)),
            None => Ok(None),
        }
    }

    /// The experiment of this plan on this machine that was begun last, finished or not, with its runs, which are without their points.
    pub fn last_of_plan(
        &self,
        plan_hash: &str,
        machine_fingerprint: &str,
    ) -> Result<Option<(Summary, Vec<RunRecord>)>, StoreError> {
        let last = self.newest("", plan_hash, machine_fingerprint)?;
        let Some(last) = last else { return Ok(None) };
        let runs = self.run_heads(self.find(&last.id)?)?;
        Ok(Some((last, runs.into_iter().map(|(_, run)| run).collect())))
    }

    /// The whole record of an experiment, named by its id, by the start of its id, by its name (the one of that name that was begun
    /// last), or by `last`, `last~1` for the one before it, and so on. Late slices are merged, and runs that were cut off are interrupted.
    pub fn load(&self, wanted: &str) -> Result<ExperimentRecord, StoreError> {
        self.load_runs(wanted, |_| true)
    }

    /// The same with the runs alone that are wanted.
    pub fn load_runs(
        &self,
        wanted: &str,
        is_wanted: impl Fn(&RunRecord) -> bool,
    ) -> Result<ExperimentRecord, StoreError> {
        // One transaction, so that what another program writes meanwhile is seen whole or not at all.
        let snapshot =
            self.connection.unchecked_transaction().map_err(|error| self.sqlite(error))?;
        let key = self.find(wanted)?;
        let mut record = self.experiment_head(key)?;
        let cut_off = !self.claims.anybody_holds(key)?;
        for (run_key, mut run) in self.run_heads(key)? {
            if cut_off && run.state == RunState::Started {
                run.state = RunState::Interrupted;
            }
            if !is_wanted(&run) {
                continue;
            }
            self.load_points(run_key, &mut run)?;
            record.runs.push(run);
        }
        snapshot.finish().map_err(|error| self.sqlite(error))?;
        Ok(record)
    }

    /// How many bytes of the store an experiment takes, named as for [`Store::load`]. Loaded it takes more.
    pub fn size(&self, wanted: &str) -> Result<u64, StoreError> {
        let key = self.find(wanted)?;
        self.connection
            .query_row(SIZE, [key], |row| row.get(0))
            .map(i64::unsigned_abs)
            .map_err(|error| self.sqlite(error))
    }

    pub(crate) fn find(&self, wanted: &str) -> Result<i64, StoreError> {
        // How many were begun after the one that is meant: 0 of `last`, 1 of `last~1`.
        let later = match wanted.strip_prefix("last") {
            Some("") => 0,
            Some(rest) => {
                rest.strip_prefix('~').and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
            }
            None => u32::MAX,
        };
        let queries = [
            "SELECT key FROM experiment WHERE id = ?1",
            &format!(
                "SELECT key FROM experiment WHERE {later} < {} AND ?1 LIKE 'last%' {NEWEST_FIRST} LIMIT 1 OFFSET {later}",
                u32::MAX
            ),
            &format!("SELECT key FROM experiment WHERE name = ?1 {NEWEST_FIRST} LIMIT 1"),
        ];
        for query in queries {
            let key = self.connection.query_row(query, [wanted], |row| row.get(0)).optional();
            if let Some(key) = key.map_err(|error| self.sqlite(error))? {
                return Ok(key);
            }
        }
        let mut fitting = self.ids_starting_with(wanted).map_err(|error| self.sqlite(error))?;
        match fitting.len() {
            0 => Err(StoreError::Unknown { path: self.path.clone(), wanted: wanted.to_owned() }),
            1 => Ok(fitting.remove(0).0),
            _ => Err(StoreError::Ambiguous {
                wanted: wanted.to_owned(),
                ids: fitting.into_iter().map(|(_, id)| id).collect(),
            }),
        }
    }

    fn ids_starting_with(&self, start: &str) -> rusqlite::Result<Vec<(i64, String)>> {
        if start.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT key, id FROM experiment WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id",
        )?;
        let rows = statement.query_map([start], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }

    pub(crate) fn experiment_head(&self, key: i64) -> Result<ExperimentRecord, StoreError> {
        let (json, state, ended_at): (String, String, Option<String>) = self
            .connection
            .query_row(
                "SELECT record, state, ended_at FROM experiment WHERE key = ?1",
                [key],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .map_err(|error| self.sqlite(error))?;
        let mut head = ExperimentRecord::from_json(&json)?;
        head.state = self.parse(&json_string(&state), "the state of an experiment")?;
        head.ended_at = ended_at;
        Ok(head)
    }

    /// The runs of an experiment with their keys, without load phases and points, in the order in which they were begun.
    pub(crate) fn run_heads(&self, experiment: i64) -> Result<Vec<(i64, RunRecord)>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT key, record FROM run WHERE experiment = ?1 ORDER BY key")
            .map_err(|error| self.sqlite(error))?;
        let mut rows = statement.query([experiment]).map_err(|error| self.sqlite(error))?;
        let mut runs = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.sqlite(error))? {
            let key: i64 = row.get(0).map_err(|error| self.sqlite(error))?;
            let json: String = row.get(1).map_err(|error| self.sqlite(error))?;
            runs.push((key, self.parse(&json, "a run")?));
        }
        Ok(runs)
    }

    fn load_points(&self, run_key: i64, run: &mut RunRecord) -> Result<(), StoreError> {
        let mut points = self.stored_points(run_key)?;
        for stored in &mut points {
            stored.slices = self.stored_slices(stored.key)?;
        }
        unpack_all(&mut points).map_err(|why| self.damaged("a slice", &why))?;
        for stored in points {
            if stored.is_load {
                run.load = Some(stored.point);
            } else {
                run.points.push(stored.point);
            }
        }
        Ok(())
    }

    fn stored_points(&self, run_key: i64) -> Result<Vec<StoredPoint>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT key, is_load, record, ending FROM point WHERE run = ?1 ORDER BY key",
            )
            .map_err(|error| self.sqlite(error))?;
        let mut rows = statement.query([run_key]).map_err(|error| self.sqlite(error))?;
        let mut points = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.sqlite(error))? {
            let (key, is_load, json, ending): (i64, bool, String, Option<String>) =
                row.try_into().map_err(|error| self.sqlite(error))?;
            let mut point: PointRecord = self.parse(&json, "a point")?;
            if let Some(ending) = ending {
                point.end = Some(self.parse(&ending, "the end of a point")?);
            }
            points.push(StoredPoint { key, is_load, point, slices: Vec::new() });
        }
        Ok(points)
    }

    fn stored_slices(&self, point_key: i64) -> Result<Vec<Vec<u8>>, StoreError> {
        self.connection
            .prepare_cached("SELECT record FROM slice WHERE point = ?1 ORDER BY key")
            .and_then(|mut statement| statement.query_map([point_key], |row| row.get(0))?.collect())
            .map_err(|error| self.sqlite(error))
    }

    fn summary(&self, row: &Row<'_>) -> Result<Summary, StoreError> {
        let sqlite = |error| self.sqlite(error);
        let state: String = row.get(4).map_err(sqlite)?;
        let arms: String = row.get(7).map_err(sqlite)?;
        Ok(Summary {
            id: row.get(1).map_err(sqlite)?,
            name: row.get(2).map_err(sqlite)?,
            question: row.get(3).map_err(sqlite)?,
            verdict: row.get(11).map_err(sqlite)?,
            bundle: None,
            state: self.parse(&json_string(&state), "the state of an experiment")?,
            running: self.claims.anybody_holds(row.get(0).map_err(sqlite)?)?,
            started_at: row.get(5).map_err(sqlite)?,
            ended_at: row.get(6).map_err(sqlite)?,
            arms: self.parse(&arms, "the names of the arms")?,
            runs_finished: row.get(9).map_err(sqlite)?,
            runs_failed: row.get(10).map_err(sqlite)?,
            runs_planned: row.get(8).map_err(sqlite)?,
        })
    }

    pub(crate) fn parse<T: DeserializeOwned>(
        &self,
        json: &str,
        what: &str,
    ) -> Result<T, StoreError> {
        serde_json::from_str(json).map_err(|error| self.damaged(what, &error.to_string()))
    }

    pub(crate) fn damaged(&self, what: &str, why: &str) -> StoreError {
        StoreError::Damaged {
            path: self.path.clone(),
            what: format!("{what} cannot be read ({why})"),
        }
    }
}

/// A point as it was read, its slices not yet unpacked.
struct StoredPoint {
    key: i64,
    is_load: bool,
    point: PointRecord,
    slices: Vec<Vec<u8>>,
}

/// Unpacks the slices of all points, on all processors: that is nearly all of the time that loading takes.
fn unpack_all(points: &mut [StoredPoint]) -> Result<(), String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = points.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let unpack_share =
            |share: &mut [StoredPoint]| share.iter_mut().try_for_each(StoredPoint::unpack);
        let workers: Vec<_> = points
            .chunks_mut(share)
            .map(|share| scope.spawn(move || unpack_share(share)))
            .collect();
        for worker in workers {
            worker.join().map_err(|_| "the program failed on it".to_owned())??;
        }
        Ok(())
    })
}

impl StoredPoint {
    fn unpack(&mut self) -> Result<(), String> {
        for bytes in std::mem::take(&mut self.slices) {
            self.point.slices.push(blob::unpack(&bytes)?);
        }
        self.point.merge_late_slices();
        Ok(())
    }
}

/// Names of states contain nothing that JSON would have to escape.
fn json_string(name: &str) -> String {
    format!("\"{name}\"")
}
