//! Following an experiment that another program is writing, without reading again what was read before.

use crate::{Store, StoreError, blob};
use plimsoll_record::{ExperimentState, PointEnd, PointRecord, RunRecord, Slice};
use rusqlite::{OptionalExtension, params_from_iter};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Slices that [`Store::news`] reads at once: no reader holds more of a long experiment in memory.
const SLICES_AT_ONCE: usize = 2_000;

/// How far a reader of one experiment has come. Belongs to the store that made it.
#[derive(Clone, Debug)]
pub struct Following {
    experiment: i64,
    /// SQLite's count of what others have written, as it was at the last look.
    data_version: Option<i64>,
    /// State of each run that was seen, as its column has it.
    runs: BTreeMap<i64, String>,
    last_point: i64,
    last_slice: i64,
    /// Points that were seen without an end.
    open: BTreeSet<i64>,
}

/// A run, as long as the store keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunKey(i64);

/// A point or a load phase, as long as the store keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PointKey(i64);

impl PointKey {
    /// As a number that can be passed on.
    pub fn number(self) -> i64 {
        self.0
    }
}

/// A point or a load phase that was begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewPoint {
    pub key: PointKey,
    pub run: RunKey,
    /// Whether it is the load phase.
    pub is_load: bool,
    /// Its head, without slices and end.
    pub head: PointRecord,
}

/// What was written since the last look, each list in the order of writing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct News {
    pub state: ExperimentState,
    /// Whether a live program is working on it.
    pub running: bool,
    /// Runs that were begun, and runs whose state changed, without load phases and points.
    pub runs: Vec<(RunKey, RunRecord)>,
    /// Points and load phases that were begun.
    pub points: Vec<NewPoint>,
    /// Slices. Earlier programs wrote late shares of a second as slices with an earlier index.
    pub slices: Vec<(PointKey, Slice)>,
    /// Points that ended, all of whose slices were sent.
    pub ended: Vec<(PointKey, PointEnd)>,
    /// Whether there is more to be read at once.
    pub more: bool,
}

impl News {
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
            && self.points.is_empty()
            && self.slices.is_empty()
            && self.ended.is_empty()
    }
}

/// The version of an experiment: equal where state, plan, runs and ended points are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version(u64);

impl Version {
    /// As a number, for names of what is made of it. Another build of the program may have another one for the same state.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl Store {
    /// Begins to follow an experiment, named as for [`Store::load`]: the first [`Store::news`] holds everything so far.
    pub fn follow(&self, wanted: &str) -> Result<Following, StoreError> {
        let experiment = self.find(wanted)?;
        // What lies before its first slice belongs to others and need not be looked at.
        let first_slice: Option<i64> = self
            .connection
            .query_row(
                "SELECT min((SELECT min(key) FROM slice WHERE slice.point = point.key))
                 FROM run JOIN point ON point.run = run.key WHERE run.experiment = ?1",
                [experiment],
                |row| row.get(0),
            )
            .map_err(|error| self.sqlite(error))?;
        Ok(Following {
            experiment,
            data_version: None,
            runs: BTreeMap::new(),
            last_point: 0,
            last_slice: first_slice.map_or(0, |key| key - 1),
            open: BTreeSet::new(),
        })
    }

    /// What was written since the last look. Where nothing was, this takes microseconds.
    pub fn news(&self, following: &mut Following) -> Result<News, StoreError> {
        // Checked before everything is read: a program that ends writes first and then lets go.
        let running = self.claims.anybody_holds(following.experiment)?;
        let sqlite = |error| self.sqlite(error);
        let snapshot = self.connection.unchecked_transaction().map_err(sqlite)?;
        let state = self.state_of(following.experiment)?;
        let data_version: i64 = self
            .connection
            .pragma_query_value(None, "data_version", |row| row.get(0))
            .map_err(sqlite)?;
        let mut news = News {
            state,
            running,
            runs: Vec::new(),
            points: Vec::new(),
            slices: Vec::new(),
            ended: Vec::new(),
            more: false,
        };
        if following.data_version != Some(data_version) {
            news.runs = self.new_runs(following)?;
            news.points = self.new_points(following)?;
            (news.slices, news.more) = self.new_slices(following)?;
            if !news.more {
                news.ended = self.new_ends(following)?;
                following.data_version = Some(data_version);
            }
        }
        snapshot.finish().map_err(sqlite)?;
        Ok(news)
    }

    /// The version of an experiment, named as for [`Store::load`], and its id. A slice more does not make another one, a point or a run
    /// that ended does: what is judged is made of those.
    pub fn version(&self, wanted: &str) -> Result<(String, Version), StoreError> {
        let sqlite = |error| self.sqlite(error);
        let snapshot = self.connection.unchecked_transaction().map_err(sqlite)?;
        let key = self.find(wanted)?;
        let mut hasher = DefaultHasher::new();
        self.claims.anybody_holds(key)?.hash(&mut hasher);
        let (id, head, state): (String, String, String) = self
            .connection
            .query_row("SELECT id, record, state FROM experiment WHERE key = ?1", [key], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .map_err(sqlite)?;
        (head, state).hash(&mut hasher);
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT run.key, run.state, count(point.key), count(point.ending)
                 FROM run LEFT JOIN point ON point.run = run.key
                 WHERE run.experiment = ?1 GROUP BY run.key ORDER BY run.key",
            )
            .map_err(sqlite)?;
        let mut rows = statement.query([key]).map_err(sqlite)?;
        while let Some(row) = rows.next().map_err(sqlite)? {
            let run: (i64, String, i64, i64) = row.try_into().map_err(sqlite)?;
            run.hash(&mut hasher);
        }
        drop(rows);
        drop(statement);
        snapshot.finish().map_err(sqlite)?;
        Ok((id, Version(hasher.finish())))
    }

    /// Whether a live program is working on the experiment, named as for [`Store::load`].
    pub fn is_running(&self, wanted: &str) -> Result<bool, StoreError> {
        self.claims.anybody_holds(self.find(wanted)?)
    }

    fn state_of(&self, key: i64) -> Result<ExperimentState, StoreError> {
        let state: Option<String> = self
            .connection
            .prepare_cached("SELECT state FROM experiment WHERE key = ?1")
            .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
            .map_err(|error| self.sqlite(error))?;
        match state.as_deref() {
            Some("finished") => Ok(ExperimentState::Finished),
            Some(_) => Ok(ExperimentState::Unfinished),
            None => Err(StoreError::Unknown {
                path: self.path.clone(),
                wanted: "that was followed".to_owned(),
            }),
        }
    }

    fn new_runs(&self, following: &mut Following) -> Result<Vec<(RunKey, RunRecord)>, StoreError> {
        let sqlite = |error| self.sqlite(error);
        let mut states = self
            .connection
            .prepare_cached("SELECT key, state FROM run WHERE experiment = ?1 ORDER BY key")
            .map_err(sqlite)?;
        let mut rows = states.query([following.experiment]).map_err(sqlite)?;
        let mut changed = Vec::new();
        while let Some(row) = rows.next().map_err(sqlite)? {
            let (key, state): (i64, String) = row.try_into().map_err(sqlite)?;
            if following.runs.get(&key) != Some(&state) {
                changed.push((key, state));
            }
        }
        let mut heads = self
            .connection
            .prepare_cached("SELECT record FROM run WHERE key = ?1")
            .map_err(sqlite)?;
        let mut runs = Vec::with_capacity(changed.len());
        for (key, state) in changed {
            let json: String = heads.query_row([key], |row| row.get(0)).map_err(sqlite)?;
            runs.push((RunKey(key), self.parse(&json, "a run")?));
            following.runs.insert(key, state);
        }
        Ok(runs)
    }

    fn new_points(&self, following: &mut Following) -> Result<Vec<NewPoint>, StoreError> {
        let sqlite = |error| self.sqlite(error);
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT point.key, point.run, point.is_load, point.record
                 FROM point CROSS JOIN run ON run.key = point.run
                 WHERE run.experiment = ?1 AND point.key > ?2 ORDER BY point.key",
            )
            .map_err(sqlite)?;
        let mut rows =
            statement.query([following.experiment, following.last_point]).map_err(sqlite)?;
        let mut points = Vec::new();
        while let Some(row) = rows.next().map_err(sqlite)? {
            let (key, run, is_load, json): (i64, i64, bool, String) =
                row.try_into().map_err(sqlite)?;
            points.push(NewPoint {
                key: PointKey(key),
                run: RunKey(run),
                is_load,
                head: self.parse(&json, "a point")?,
            });
            following.last_point = key;
            following.open.insert(key);
        }
        Ok(points)
    }

    /// Slices in the order of their keys, and whether there are more than these. The order of the tables is forced (`CROSS JOIN`): a few new
    /// slices are looked up in the few places they belong to, whatever else there is.
    fn new_slices(
        &self,
        following: &mut Following,
    ) -> Result<(Vec<(PointKey, Slice)>, bool), StoreError> {
        let sqlite = |error| self.sqlite(error);
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT slice.key, slice.point, slice.record
                 FROM slice CROSS JOIN point ON point.key = slice.point CROSS JOIN run ON run.key = point.run
                 WHERE run.experiment = ?1 AND slice.key > ?2 ORDER BY slice.key LIMIT ?3",
            )
            .map_err(sqlite)?;
        let limit = SLICES_AT_ONCE as i64;
        let mut rows =
            statement.query([following.experiment, following.last_slice, limit]).map_err(sqlite)?;
        let mut packed: Vec<(i64, Vec<u8>)> = Vec::new();
        while let Some(row) = rows.next().map_err(sqlite)? {
            let (key, point, bytes): (i64, i64, Vec<u8>) = row.try_into().map_err(sqlite)?;
            packed.push((point, bytes));
            following.last_slice = key;
        }
        let more = packed.len() == SLICES_AT_ONCE;
        let slices = blob::unpack_all(&packed).map_err(|why| self.damaged("a slice", &why))?;
        let points = packed.iter().map(|(point, _)| PointKey(*point));
        Ok((points.zip(slices).collect(), more))
    }

    fn new_ends(&self, following: &mut Following) -> Result<Vec<(PointKey, PointEnd)>, StoreError> {
        if following.open.is_empty() {
            return Ok(Vec::new());
        }
        let sqlite = |error| self.sqlite(error);
        let mut ends = Vec::new();
        let open: Vec<i64> = following.open.iter().copied().collect();
        // SQLite takes 32,766 variables.
        for some in open.chunks(10_000) {
            let places = vec!["?"; some.len()].join(",");
            let mut statement = self
                .connection
                .prepare(&format!(
                    "SELECT key, ending FROM point WHERE key IN ({places}) AND ending IS NOT NULL ORDER BY key"
                ))
                .map_err(sqlite)?;
            let mut rows = statement.query(params_from_iter(some)).map_err(sqlite)?;
            while let Some(row) = rows.next().map_err(sqlite)? {
                let (key, json): (i64, String) = row.try_into().map_err(sqlite)?;
                ends.push((PointKey(key), self.parse(&json, "the end of a point")?));
                following.open.remove(&key);
            }
        }
        Ok(ends)
    }
}
