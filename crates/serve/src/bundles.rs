//! Bundles in folders: verified, and kept as records in a store of the server's own, which is gone when it ends.

use plimsoll_record::ExperimentRecord;
use plimsoll_store::bundle::{is_bundle, read};
use plimsoll_store::{Store, StoreError, Summary};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Threads that look into the folders.
pub(crate) const THREADS: usize = 1;
const LOOK: Duration = Duration::from_secs(2);
/// Folders below those that are named, and files in all of them.
const DEEPEST: usize = 4;
const MOST_FILES: usize = 10_000;

/// What was found in folders.
#[derive(Debug)]
pub(crate) struct Bundles {
    folders: Vec<PathBuf>,
    tell: fn(&str),
    scratch: tempfile::TempDir,
    known: Mutex<BTreeMap<PathBuf, CachedBundle>>,
}

/// A bundle as it was when it was read.
#[derive(Clone, Debug, PartialEq)]
struct CachedBundle {
    state: (u64, Option<SystemTime>),
    /// `None` where it cannot be shown.
    id: Option<String>,
}

impl Bundles {
    pub(crate) fn of(folders: Vec<PathBuf>, tell: fn(&str)) -> io::Result<Self> {
        Ok(Self {
            folders,
            tell,
            scratch: tempfile::Builder::new().prefix("plimsoll-serve-").tempdir()?,
            known: Mutex::default(),
        })
    }

    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The store with all of them; it exists after the first look.
    pub(crate) fn store(&self) -> PathBuf {
        self.scratch.path().join("bundles.db")
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<PathBuf, CachedBundle>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names the file that each of these is read from.
    pub(crate) fn name(&self, summaries: &mut [Summary]) {
        let known = self.known();
        for summary in summaries {
            let mut files = known.iter();
            let file = files.find(|(_, known)| known.id.as_ref() == Some(&summary.id));
            let name = file.and_then(|(path, _)| path.file_name());
            summary.bundle = name.map(|name| name.to_string_lossy().into_owned());
        }
    }

    /// Reads what is new or has changed, and forgets what is gone.
    pub(crate) fn look(&self) -> Result<(), StoreError> {
        let mut found = BTreeMap::new();
        for folder in &self.folders {
            walk(folder, DEEPEST, &mut found);
        }
        let before = self.known().clone();
        let is_as_before = |path: &PathBuf, known: &CachedBundle| {
            found.get(path).is_some_and(|state| *state == known.state)
        };
        let mut kept: BTreeMap<PathBuf, CachedBundle> = before.clone();
        kept.retain(|path, known| is_as_before(path, known));
        let mut store = Store::open(&self.store())?;
        for (path, known) in &before {
            if let (false, Some(id)) = (kept.contains_key(path), &known.id) {
                store.delete(id)?;
            }
        }
        for (path, state) in found {
            if kept.contains_key(&path) {
                continue;
            }
            let id = match read(&path) {
                Ok(bundle) => match store.import(without_paths(bundle.record)) {
                    Ok(id) => Some(id),
                    // The same result twice is one result.
                    Err(StoreError::IdTaken { .. }) => None,
                    Err(error) => return Err(error),
                },
                Err(error) => {
                    (self.tell)(&format!("{} is not shown: {error}", path.display()));
                    None
                }
            };
            kept.insert(path, CachedBundle { state, id });
        }
        *self.known() = kept;
        Ok(())
    }
}

/// A record as it is shown of a machine that is not this one: what it says of files there says nothing of files here.
fn without_paths(mut record: ExperimentRecord) -> ExperimentRecord {
    for rig in record.runs.iter_mut().filter_map(|run| run.rig.as_mut()) {
        rig.trace = None;
    }
    record
}

/// Length and time of every bundle below a folder. Links are not followed.
fn walk(folder: &Path, deeper: usize, found: &mut BTreeMap<PathBuf, (u64, Option<SystemTime>)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if found.len() == MOST_FILES {
            return;
        }
        let path = entry.path();
        let Ok(about) = entry.metadata() else {
            continue;
        };
        if about.is_dir() && deeper > 0 {
            walk(&path, deeper - 1, found);
        } else if about.is_file() && is_bundle(&path) {
            found.insert(path, (about.len(), about.modified().ok()));
        }
    }
}

/// Looks again and again, until the server ends.
pub(crate) async fn watch(bundles: Arc<Bundles>) {
    loop {
        let looked = Arc::clone(&bundles);
        let look = tokio::task::spawn_blocking(move || looked.look()).await;
        if let Ok(Err(error)) = look {
            (bundles.tell)(&format!("bundles cannot be shown: {error}"));
        }
        tokio::time::sleep(LOOK).await;
    }
}
