//! Writing what a follower of another store was told.

use crate::rows::{insert_point, insert_run, insert_slice, set_ending, update_run};
use crate::write::begin_writing;
use crate::{News, PointKey, RunKey, Store, StoreError};
use std::collections::BTreeMap;

/// The runs and points of another store, and their keys in this one.
#[derive(Debug, Default)]
pub struct Copied {
    runs: BTreeMap<RunKey, i64>,
    points: BTreeMap<PointKey, i64>,
}

impl Store {
    /// Writes what [`Store::news`] of another store told, all of it or nothing, into an experiment that was begun by [`Store::begin_elsewhere`]. `copied`
    /// belongs to that beginning, and is of no use after an error.
    pub fn add_news(
        &mut self,
        id: &str,
        copied: &mut Copied,
        news: &News,
    ) -> Result<(), StoreError> {
        let (key, _) = self.key_of(id)?;
        if !self.claims.holds(key) {
            return Err(StoreError::NotClaimed { id: id.to_owned() });
        }
        let path = self.path.clone();
        let sqlite = |error| StoreError::from_sqlite(&path, error);
        let missing = || StoreError::PartMissing { id: id.to_owned() };
        let transaction = begin_writing(&mut self.connection).map_err(sqlite)?;
        for (theirs, head) in &news.runs {
            match copied.runs.get(theirs) {
                Some(run) => update_run(&transaction, *run, head).map_err(sqlite)?,
                None => {
                    let run = insert_run(&transaction, &path, key, head)?;
                    copied.runs.insert(*theirs, run);
                }
            }
        }
        for point in &news.points {
            let run = *copied.runs.get(&point.run).ok_or_else(missing)?;
            let ours = insert_point(&transaction, run, point.is_load, &point.head);
            copied.points.insert(point.key, ours.map_err(sqlite)?);
        }
        for (point, slice) in &news.slices {
            let point = *copied.points.get(point).ok_or_else(missing)?;
            insert_slice(&transaction, point, slice).map_err(sqlite)?;
        }
        for (point, end) in &news.ended {
            let point = *copied.points.get(point).ok_or_else(missing)?;
            set_ending(&transaction, point, end).map_err(sqlite)?;
        }
        transaction.commit().map_err(sqlite)?;
        if !news.ended.is_empty() {
            self.flush()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Accepted, Arrival, it::sample};
    use plimsoll_record::{ExperimentRecord, RunState};
    use tempfile::TempDir;

    fn store() -> (TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().join("plimsoll.db")).unwrap();
        (directory, store)
    }

    fn arrival(by: &str) -> Arrival {
        Arrival {
            by: by.to_owned(),
            at: "2026-11-26T00:00:00Z".to_owned(),
            sha256: None,
        }
    }

    /// Tells the team's store all that there is to tell.
    fn tell(
        machine: &Store,
        following: &mut crate::Following,
        team: &mut Store,
        copied: &mut Copied,
    ) {
        let news = machine.news(following).unwrap();
        // As it travels.
        let text = serde_json::to_string(&news).unwrap();
        let came: News = serde_json::from_str(&text).unwrap();
        assert_eq!(came, news);
        team.add_news("9b2c", copied, &came).unwrap();
    }

    #[test]
    fn an_experiment_is_copied_while_it_is_measured() {
        let (machine_directory, mut machine) = store();
        let (_directory, mut team) = store();
        machine.begin(&sample::experiment("9b2c")).unwrap();
        let reader = Store::open_read_only(&machine_directory.path().join("plimsoll.db")).unwrap();
        let mut following = reader.follow("9b2c").unwrap();
        let mut copied = Copied::default();
        team.begin_elsewhere(&reader.head("9b2c").unwrap(), &arrival("ci"))
            .unwrap();
        assert!(team.is_running("9b2c").unwrap());
        for arm in ["small", "large"] {
            let mut head = sample::run(arm, 0);
            let run = machine.begin_run("9b2c", &head).unwrap();
            tell(&reader, &mut following, &mut team, &mut copied);
            let label = sample::point(Some(0)).label;
            let point = machine.begin_point(run, &label, 0, "").unwrap();
            machine
                .add_slice(point, &sample::slice(0, &[5, 7]))
                .unwrap();
            tell(&reader, &mut following, &mut team, &mut copied);
            machine.add_slice(point, &sample::slice(1, &[6])).unwrap();
            machine.end_point(point, &sample::end()).unwrap();
            sample::complete(&mut head, RunState::Finished);
            machine.update_run(run, &head).unwrap();
            tell(&reader, &mut following, &mut team, &mut copied);
            assert_eq!(team.load("9b2c").unwrap(), machine.load("9b2c").unwrap());
        }
        // Its bundle takes the place of the parts, when nobody works on them any more.
        machine.finish("9b2c", "2026-11-21T03:48:00Z").unwrap();
        let whole = machine.load("9b2c").unwrap();
        let bundle = Arrival {
            sha256: Some("ab".repeat(32)),
            ..arrival("ci")
        };
        let mut second = Store::open(team.path()).unwrap();
        let refused = second.accept(&whole, &bundle).unwrap_err();
        assert!(matches!(refused, StoreError::Busy { .. }), "{refused}");
        drop(team);
        assert_eq!(second.accept(&whole, &bundle).unwrap(), Accepted::Grown);
        assert_eq!(second.load("9b2c").unwrap(), whole);
        assert_eq!(second.accept(&whole, &bundle).unwrap(), Accepted::Known);
        // From then on no parts are taken.
        let refused = second.begin_elsewhere(&sample::experiment("9b2c"), &arrival("ci"));
        assert!(matches!(refused, Err(StoreError::Differs { .. })));
    }

    #[test]
    fn parts_belong_to_their_sender() {
        let (_directory, mut team) = store();
        let head = sample::experiment("9b2c");
        team.begin_elsewhere(&head, &arrival("ci")).unwrap();
        let mut second = Store::open(team.path()).unwrap();
        for by in ["ci", "mallory"] {
            assert!(second.begin_elsewhere(&head, &arrival(by)).is_err(), "{by}");
        }
        drop(team);
        let refused = second.begin_elsewhere(&head, &arrival("mallory"));
        assert!(matches!(refused, Err(StoreError::Differs { .. })));
        let other = ExperimentRecord {
            seed: 1,
            plan_hash: "ffff".to_owned(),
            ..head.clone()
        };
        let refused = second.accept(&other, &arrival("mallory"));
        assert!(matches!(refused, Err(StoreError::Differs { .. })));
        second.begin_elsewhere(&head, &arrival("ci")).unwrap();
        let odd = ExperimentRecord {
            id: "last".to_owned(),
            ..head.clone()
        };
        let refused = second.begin_elsewhere(&odd, &arrival("ci"));
        assert!(matches!(refused, Err(StoreError::UnfitId { .. })));
        // What was measured here is nobody else's.
        second.import(sample::experiment("1f3a")).unwrap();
        let refused = second.begin_elsewhere(&sample::experiment("1f3a"), &arrival("ci"));
        assert!(matches!(refused, Err(StoreError::Differs { .. })));
    }

    #[test]
    fn a_part_without_what_it_belongs_to_is_refused() {
        let (machine_directory, mut machine) = store();
        machine.begin(&sample::experiment("9b2c")).unwrap();
        let run = machine.begin_run("9b2c", &sample::run("small", 0)).unwrap();
        let reader = Store::open_read_only(&machine_directory.path().join("plimsoll.db")).unwrap();
        let mut following = reader.follow("9b2c").unwrap();
        reader.news(&mut following).unwrap();
        let label = sample::point(Some(0)).label;
        let point = machine.begin_point(run, &label, 0, "").unwrap();
        let news = reader.news(&mut following).unwrap();
        let (_directory, mut team) = store();
        team.begin_elsewhere(&sample::experiment("9b2c"), &arrival("ci"))
            .unwrap();
        let refused = team.add_news("9b2c", &mut Copied::default(), &news);
        assert!(matches!(refused, Err(StoreError::PartMissing { .. })));
        machine.add_slice(point, &sample::slice(0, &[5])).unwrap();
        let news = reader.news(&mut following).unwrap();
        let refused = team.add_news("9b2c", &mut Copied::default(), &news);
        assert!(matches!(refused, Err(StoreError::PartMissing { .. })));
        assert!(team.load("9b2c").unwrap().runs.is_empty());
    }
}
