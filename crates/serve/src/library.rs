//! Records, analyses, and what is drawn of them: made once for each version of an experiment however many look at it.

use crate::VERSION;
use crate::bundles::Bundles;
use crate::failure::Failure;
use crate::pages::aside;
use crate::shared::{Cached, Memory, Reserved, Shared, counted};
use axum::body::Bytes;
use plimsoll_judge::{
    Analysis, HistoryQuestion, RecordComparison, analyse, baseline_of, compare_records, plan_of,
};
use plimsoll_record::ExperimentRecord;
use plimsoll_report::Report;
use plimsoll_report::page::compare;
use plimsoll_report::page::experiment::{Setting, render_in};
use plimsoll_report::page::shell::Place;
use plimsoll_store::{Filter, Store, StoreError, Summary, Version};
use plimsoll_trace::Trace;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Things that are judged or drawn at a time: few, because this machine may be measuring, and two, so that a small one need not wait for a
/// large one.
pub(crate) const AT_A_TIME: usize = 2;

/// Records with their analyses and traces that there may be at a time, bytes.
const MOST_JUDGED: usize = 1 << 30;
/// The part of them that is kept when nobody reads it.
const MOST_JUDGED_KEPT: usize = 512 << 20;
/// Pages and maps that there may be at a time, bytes.
const MOST_DRAWN: usize = 256 << 20;
/// The part of them that is kept when nobody reads it.
const MOST_DRAWN_KEPT: usize = 32 << 20;

/// A record takes so many times the memory that it takes in the store, where it is packed.
const UNPACKED: usize = 10;
/// What a page takes at most, unless very much was measured.
const PAGE: usize = 4 << 20;
/// The same of a file that is made as a whole.
const WHOLE_FILE: usize = 16 << 20;

/// A record with what follows from it.
pub(crate) struct Judged {
    pub(crate) record: ExperimentRecord,
    pub(crate) analysis: Analysis,
    version: Version,
    _reserved: Reserved,
}

impl Judged {
    pub(crate) fn report(&self) -> Report<'_> {
        Report { record: &self.record, analysis: &self.analysis }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Drawing {
    Page(String, Version),
    File(String, Version, String),
    Map(String, Version, String, Option<u32>),
    /// What a page reads from the store when its drawing begins.
    Comparison(String, String),
    History(String, String),
}

/// The store and the bundles beside it, and what was made of them.
pub(crate) struct Library {
    store: PathBuf,
    bundles: Option<Arc<Bundles>>,
    drawn: Shared<Drawing, Bytes>,
    judged: Shared<(String, Version), Arc<Judged>>,
    traces: Shared<PathBuf, Arc<SharedTrace>>,
}

/// A trace that is read by several.
pub(crate) struct SharedTrace {
    pub(crate) trace: Trace,
    _reserved: Reserved,
}

/// An experiment as it was found in the store.
struct StoredExperiment {
    id: String,
    version: Version,
    is_running: bool,
    /// The store that it is in.
    store: PathBuf,
}

impl Library {
    pub(crate) fn new(store: PathBuf, bundles: Option<Arc<Bundles>>) -> Self {
        let hands = Arc::new(Semaphore::new(AT_A_TIME));
        let (judged, drawn) = (Memory::new(MOST_JUDGED), Memory::new(MOST_DRAWN));
        Self {
            store,
            bundles,
            drawn: Shared::new(MOST_DRAWN_KEPT, drawn, &hands),
            judged: Shared::new(MOST_JUDGED_KEPT, judged.clone(), &hands),
            traces: Shared::new(0, judged, &hands),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.store
    }

    pub(crate) fn open(&self) -> Result<Store, StoreError> {
        Store::open_read_only(&self.store)
    }

    /// All experiments, the newest first; none where there is no store yet.
    pub(crate) fn list(&self) -> Result<Vec<Summary>, StoreError> {
        let mut listed = match self.open() {
            Ok(store) => store.list(&Filter::default())?,
            Err(StoreError::Missing { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        if let Some(bundles) = &self.bundles {
            let mut further = match Store::open_read_only(&bundles.store()) {
                Ok(store) => store.list(&Filter::default())?,
                Err(StoreError::Missing { .. }) => Vec::new(),
                Err(error) => return Err(error),
            };
            bundles.name(&mut further);
            further.retain(|one| listed.iter().all(|own| own.id != one.id));
            listed.extend(further);
            listed.sort_by(|one, other| other.started_at.cmp(&one.started_at));
        }
        Ok(listed)
    }

    /// The existing stores, the user's own first.
    pub(crate) fn stores(&self) -> Result<Vec<Store>, StoreError> {
        let paths = [Some(self.store.clone()), self.bundles.as_ref().map(|one| one.store())];
        let mut stores = Vec::new();
        let mut missing = None;
        for path in paths.into_iter().flatten() {
            match Store::open_read_only(&path) {
                Ok(store) => stores.push(store),
                Err(error @ StoreError::Missing { .. }) => missing = missing.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        match missing {
            Some(error) if stores.is_empty() => Err(error),
            _ => Ok(stores),
        }
    }

    /// What the first store that knows it says; or why none does.
    fn first<T>(&self, ask: impl Fn(&Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut unknown = None;
        for store in self.stores()? {
            match ask(&store) {
                Err(error @ StoreError::Unknown { .. }) => unknown = unknown.or(Some(error)),
                answer => return answer,
            }
        }
        Err(unknown
            .unwrap_or(StoreError::Unknown { path: self.store.clone(), wanted: String::new() }))
    }

    async fn find(self: &Arc<Self>, wanted: &str) -> Result<StoredExperiment, Failure> {
        let (library, wanted) = (Arc::clone(self), wanted.to_owned());
        aside(move || {
            let found = library.first(|store| {
                let (id, version) = store.version(&wanted)?;
                Ok(StoredExperiment {
                    is_running: store.is_running(&id)?,
                    id,
                    version,
                    store: store.path().to_owned(),
                })
            });
            Ok(found?)
        })
        .await
    }

    /// The page of an experiment with exactly this id. Anything else by which it can be found leads there.
    pub(crate) async fn page(self: &Arc<Self>, wanted: &str) -> Result<Bytes, Failure> {
        let found = self.find(wanted).await?;
        if found.id != wanted {
            let address = plimsoll_report::page::link::experiment(&found.id);
            return Err(Failure::see_other(&address));
        }
        let drawing = Drawing::Page(found.id.clone(), found.version);
        if let Some(page) = self.drawn.kept(&drawing) {
            return Ok(page);
        }
        let judged = self.judged_as(&found).await?;
        self.drawn.forget(
            |known| matches!(known, Drawing::Page(id, at) if *id == found.id && *at != found.version),
        );
        let draw = move || {
            let maps = crate::maps::stills(&judged.record, &judged.analysis);
            let setting = Setting { place: Place::Served, live: found.is_running, maps: &maps };
            Ok(render_in(&judged.report(), &setting).into_bytes())
        };
        self.draw(drawing, PAGE, true, draw).await
    }

    /// Draws what is not drawn yet.
    async fn draw(
        &self,
        drawing: Drawing,
        bytes: usize,
        is_kept: bool,
        draw: impl FnOnce() -> Result<Vec<u8>, Failure> + Send + 'static,
    ) -> Result<Bytes, Failure> {
        let make = move |reserved| {
            let drawn = draw()?;
            let kept = is_kept.then_some(drawn.len());
            let value = counted(drawn, reserved)?;
            Ok(Cached { value, kept })
        };
        self.drawn.get(drawing, bytes, make).await
    }

    pub(crate) async fn judged(self: &Arc<Self>, wanted: &str) -> Result<Arc<Judged>, Failure> {
        let found = self.find(wanted).await?;
        self.judged_as(&found).await
    }

    /// The analysis of at least that version. If the experiment is written to while it is read, it is analysed again the next time.
    async fn judged_as(self: &Arc<Self>, found: &StoredExperiment) -> Result<Arc<Judged>, Failure> {
        let key = (found.id.clone(), found.version);
        if let Some(judged) = self.judged.kept(&key) {
            return Ok(judged);
        }
        self.judged.forget(|(id, version)| *id == found.id && *version != found.version);
        let (path, id) = (found.store.clone(), found.id.clone());
        let size = aside(move || Ok(Store::open_read_only(&path)?.size(&id)?)).await?;
        let bytes = usize::try_from(size).unwrap_or(usize::MAX).saturating_mul(UNPACKED);
        let (path, id, version) = (found.store.clone(), found.id.clone(), found.version);
        let make = move |reserved| {
            let record = Store::open_read_only(&path)?.load(&id)?;
            let analysis = analyse(&record)?;
            Ok(Cached {
                value: Arc::new(Judged { record, analysis, version, _reserved: reserved }),
                kept: Some(bytes),
            })
        };
        self.judged.get(key, bytes, make).await
    }

    /// A file of the export that is made as a whole, by its place among them.
    pub(crate) async fn file(
        &self,
        judged: Arc<Judged>,
        name: &str,
        place: usize,
    ) -> Result<Bytes, Failure> {
        let id = judged.record.id.clone();
        let drawing = Drawing::File(id, judged.version, name.to_owned());
        let write = move || {
            let mut bytes = Vec::new();
            if let Some(file) = plimsoll_report::export::files(&judged.report()).get(place) {
                // Nothing fails that writes into memory.
                let _ = plimsoll_report::export::write(file, &mut bytes);
            }
            Ok(bytes)
        };
        self.draw(drawing, WHOLE_FILE, true, write).await
    }

    /// What the player is given of a run.
    pub(crate) async fn map(
        &self,
        judged: Arc<Judged>,
        arm: String,
        block: Option<u32>,
    ) -> Result<Bytes, Failure> {
        let id = judged.record.id.clone();
        let drawing = Drawing::Map(id, judged.version, arm.clone(), block);
        let draw = move || crate::maps::packed(&judged.record, &arm, block);
        self.draw(drawing, crate::maps::MOST_BYTES, true, draw).await
    }

    /// The trace in a file of that many bytes, read once for all who read it at the same time.
    pub(crate) async fn trace(
        &self,
        path: PathBuf,
        length: u64,
        open: impl FnOnce() -> Result<Trace, Failure> + Send + 'static,
    ) -> Result<Arc<SharedTrace>, Failure> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let make = move |mut reserved: Reserved| {
            let trace = open()?;
            reserved.fit(size_of_val(trace.requests()))?;
            Ok(Cached { value: Arc::new(SharedTrace { trace, _reserved: reserved }), kept: None })
        };
        let bytes = length.saturating_mul(UNPACKED);
        self.traces.get(path, bytes, make).await
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
        let head = self.first(|store| store.head(&store.version(id)?.0))?;
        let plan = plan_of(&head)?;
        Ok(match baseline_of(&plan, first, second) {
            Some(baseline) if baseline == second => as_begun,
            _ => as_sent,
        })
    }

    /// The page of a comparison of two arms, each spelled `ID:ARM`.
    pub(crate) async fn comparison(
        self: &Arc<Self>,
        first: String,
        second: String,
    ) -> Result<Bytes, Failure> {
        let library = Arc::clone(self);
        let drawing = Drawing::Comparison(first.clone(), second.clone());
        let draw = move || {
            let load = |wanted: &str| {
                let loaded = library.first(|store| store.load(wanted));
                loaded.map_err(Failure::from)
            };
            let (a, arm_a) = crate::lookup::side(&first, load)?;
            let (b, arm_b) = crate::lookup::side(&second, load)?;
            let comparison: RecordComparison = compare_records(&a, &arm_a, &b, &arm_b)?;
            let mut questions: Vec<&str> = Vec::new();
            for question in [&a.question, &b.question].into_iter().flatten() {
                if !questions.contains(&question.as_str()) {
                    questions.push(question);
                }
            }
            Ok(compare::page(&comparison, &questions, VERSION, Place::Served).into_bytes())
        };
        self.draw(drawing, PAGE, false, draw).await
    }

    /// The page of a history.
    pub(crate) async fn history(
        self: &Arc<Self>,
        wanted: String,
        question: HistoryQuestion,
    ) -> Result<Bytes, Failure> {
        let library = Arc::clone(self);
        let drawing = Drawing::History(wanted.clone(), format!("{question:?}"));
        let draw = move || {
            let stores = library.stores()?;
            let history = crate::lookup::history(&stores, &wanted, &question)?;
            let page = plimsoll_report::page::history::page(&history, VERSION, Place::Served);
            Ok(page.into_bytes())
        };
        self.draw(drawing, PAGE, false, draw).await
    }

    /// How often something was judged, and drawn.
    #[cfg(test)]
    pub(crate) fn made(&self) -> [usize; 2] {
        [self.judged.made(), self.drawn.made()]
    }
}
