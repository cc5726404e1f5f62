//! Records and analyses, judged once for each version of an experiment however many look at it.

use crate::VERSION;
use crate::failure::Failure;
use axum::body::Bytes;
use plimsoll_judge::{Analysis, RecordComparison, analyse, baseline_of, compare_records, plan_of};
use plimsoll_record::ExperimentRecord;
use plimsoll_report::page::{Setting, render_in};
use plimsoll_report::shell::Place;
use plimsoll_report::{Report, compare};
use plimsoll_store::{Filter, Store, StoreError, Summary, Version};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Pages kept, of at most 2 MB each.
const PAGES_KEPT: usize = 16;
/// Records kept with their analyses, of which each may take some hundred megabytes.
const JUDGED_KEPT: usize = 2;

/// A record with what follows from it.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) record: ExperimentRecord,
    pub(crate) analysis: Analysis,
}

impl Judged {
    pub(crate) fn report(&self) -> Report<'_> {
        Report {
            record: &self.record,
            analysis: &self.analysis,
        }
    }
}

/// What was made last, by id and version of the experiment, the latest last.
#[derive(Debug)]
struct Kept<T> {
    most: usize,
    entries: Vec<(String, Version, Arc<T>)>,
}

impl<T> Kept<T> {
    fn new(most: usize) -> Mutex<Self> {
        Mutex::new(Self {
            most,
            entries: Vec::new(),
        })
    }

    fn get(&mut self, id: &str, version: Version) -> Option<Arc<T>> {
        let found = self
            .entries
            .iter()
            .position(|(known, at, _)| known == id && *at == version)?;
        let entry = self.entries.remove(found);
        let value = Arc::clone(&entry.2);
        self.entries.push(entry);
        Some(value)
    }

    fn put(&mut self, id: &str, version: Version, value: &Arc<T>) {
        self.entries.retain(|(known, ..)| known != id);
        if self.entries.len() == self.most {
            self.entries.remove(0);
        }
        self.entries
            .push((id.to_owned(), version, Arc::clone(value)));
    }
}

/// The store, and what was made of it.
#[derive(Debug)]
pub(crate) struct Library {
    store: PathBuf,
    pages: Mutex<Kept<Bytes>>,
    judged: Mutex<Kept<Judged>>,
    /// Held while something is judged: one thing at a time, because this machine may be measuring. Who comes second for the same thing finds it
    /// made.
    judging: Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Everything behind these locks is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Library {
    pub(crate) fn new(store: PathBuf) -> Self {
        Self {
            store,
            pages: Kept::new(PAGES_KEPT),
            judged: Kept::new(JUDGED_KEPT),
            judging: Mutex::new(()),
        }
    }

    /// Waits until nothing else that takes long is made.
    pub(crate) fn one_at_a_time(&self) -> MutexGuard<'_, ()> {
        lock(&self.judging)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.store
    }

    pub(crate) fn open(&self) -> Result<Store, StoreError> {
        Store::open_read_only(&self.store)
    }

    /// All experiments, the newest first; none where there is no store yet.
    pub(crate) fn list(&self) -> Result<Vec<Summary>, StoreError> {
        match self.open() {
            Ok(store) => store.list(&Filter::default()),
            Err(StoreError::Missing { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The page of an experiment with exactly this id. Anything else by which it can be found leads there.
    pub(crate) fn page(&self, wanted: &str) -> Result<Bytes, Failure> {
        let store = self.open()?;
        let (id, version) = store.version(wanted)?;
        if id != wanted {
            return Err(Failure::see_other(&plimsoll_report::link::experiment(&id)));
        }
        if let Some(page) = lock(&self.pages).get(&id, version) {
            return Ok(Bytes::clone(&page));
        }
        let live = store.is_running(&id)?;
        let (judged, version) = self.judged_from(&store, &id)?;
        let maps = {
            let _one_at_a_time = self.one_at_a_time();
            crate::maps::stills(&judged.record, &judged.analysis)
        };
        let setting = Setting {
            place: Place::Served,
            live,
            maps: &maps,
        };
        let page = Bytes::from(render_in(&judged.report(), &setting));
        lock(&self.pages).put(&id, version, &Arc::new(page.clone()));
        Ok(page)
    }

    /// An experiment, judged.
    pub(crate) fn judged(&self, wanted: &str) -> Result<Arc<Judged>, Failure> {
        let (judged, _) = self.judged_from(&self.open()?, wanted)?;
        Ok(judged)
    }

    /// The same with the version that it has at least: when it was written to while it was read, it is made again the next time.
    fn judged_from(&self, store: &Store, wanted: &str) -> Result<(Arc<Judged>, Version), Failure> {
        let _one_at_a_time = lock(&self.judging);
        let (id, version) = store.version(wanted)?;
        if let Some(judged) = lock(&self.judged).get(&id, version) {
            return Ok((judged, version));
        }
        let record = store.load(&id)?;
        let analysis = analyse(&record)?;
        let judged = Arc::new(Judged { record, analysis });
        lock(&self.judged).put(&id, version, &judged);
        Ok((judged, version))
    }

    /// Two arms ticked in the list, each spelled `ID:ARM`: the one with which the other is compared, and the other. Within one experiment that is what its file says,
    /// so that this comparison and the experiment's own page point the same way; where the file does not say, the one that was sent first. Of two experiments the
    /// list sends the newer first, and what was there before is the baseline.
    pub(crate) fn ticked(&self, one: &str, other: &str) -> Result<(String, String), Failure> {
        let as_sent = (one.to_owned(), other.to_owned());
        let as_begun = (other.to_owned(), one.to_owned());
        // An id has no colon, whatever the arm is called.
        let (id, first, second) = match (one.split_once(':'), other.split_once(':')) {
            (Some((id, first)), Some((same, second))) if id == same => (id, first, second),
            _ => return Ok(as_begun),
        };
        let plan = plan_of(&self.open()?.load(id)?)?;
        Ok(match baseline_of(&plan, first, second) {
            Some(baseline) if baseline == second => as_begun,
            _ => as_sent,
        })
    }

    /// The page of a comparison of two arms, each spelled `ID:ARM`.
    pub(crate) fn comparison(&self, first: &str, second: &str) -> Result<String, Failure> {
        let store = self.open()?;
        let _one_at_a_time = lock(&self.judging);
        let load = |wanted: &str| store.load(wanted).map_err(Failure::from);
        let (a, arm_a) = crate::lookup::side(first, load)?;
        let (b, arm_b) = crate::lookup::side(second, load)?;
        let comparison: RecordComparison = compare_records(&a, &arm_a, &b, &arm_b)?;
        let mut questions: Vec<&str> = Vec::new();
        for question in [&a.question, &b.question].into_iter().flatten() {
            if !questions.contains(&question.as_str()) {
                questions.push(question);
            }
        }
        Ok(compare::page(
            &comparison,
            &questions,
            VERSION,
            Place::Served,
        ))
    }

    /// The page of a history.
    pub(crate) fn history(
        &self,
        wanted: &str,
        question: &plimsoll_judge::HistoryQuestion,
    ) -> Result<String, Failure> {
        let store = self.open()?;
        let _one_at_a_time = lock(&self.judging);
        let history = crate::lookup::history(&store, wanted, question)?;
        Ok(plimsoll_report::history::page(
            &history,
            VERSION,
            Place::Served,
        ))
    }
}
