//! One follower for each experiment, however many look at it.

use super::picture::Picture;
use crate::failure::Failure;
use axum::http::StatusCode;
use plimsoll_plan::EngineKind;
use plimsoll_store::{Following, News, Store};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::broadcast;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Streams at a time, of all experiments together: fewer than connections, so that pages can always be requested.
pub(crate) const MOST_STREAMS: usize = 40;
/// Between two looks into the store, so that ten slices a second are ten updates. A look that finds nothing takes microseconds.
const LOOK: Duration = Duration::from_millis(50);
/// How often the time left is sent when nothing else is new.
const TELL: Duration = Duration::from_secs(1);
/// Updates that a slow reader may be behind.
const BEHIND: usize = 32;

/// A message of a stream, as JSON.
#[derive(Clone, Debug)]
pub(super) enum Message {
    Snapshot(Arc<str>),
    Update(Arc<str>),
    End,
}

pub(crate) struct Hub {
    store: PathBuf,
    engines: &'static [EngineKind],
    followed: Arc<Mutex<BTreeMap<String, Arc<Followed>>>>,
    streams: Arc<Semaphore>,
}

/// An experiment that is followed.
struct Followed {
    shown: Mutex<FollowedState>,
    updates: broadcast::Sender<Message>,
}

/// What its follower has found.
#[derive(Default)]
struct FollowedState {
    /// `None` until the follower has looked for the first time.
    picture: Option<Picture>,
    /// Whether the follower has sent its end.
    over: bool,
}

pub(super) struct Looking {
    followed: Arc<Followed>,
    pub(super) updates: broadcast::Receiver<Message>,
    _place: OwnedSemaphorePermit,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A follower that failed leaves what it had sent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Looking {
    /// Everything to show, and whether the end has been sent already; later calls give the updates after it. `None` when nothing is known yet.
    pub(super) fn snapshot(&mut self) -> Option<(Message, bool)> {
        let shown = lock(&self.followed.shown);
        let snapshot = shown.picture.as_ref()?.snapshot(now());
        // Under the lock, so that no update is missing and none is sent twice.
        self.updates = self.followed.updates.subscribe();
        Some((Message::Snapshot(json(&snapshot)), shown.over))
    }
}

impl Hub {
    pub(crate) fn new(store: PathBuf, engines: &'static [EngineKind]) -> Self {
        Self {
            store,
            engines,
            followed: Arc::default(),
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
        }
    }

    /// Begins to look at an experiment.
    pub(super) fn look(&self, wanted: &str) -> Result<Looking, Failure> {
        let place = Arc::clone(&self.streams).try_acquire_owned().map_err(|_| {
            Failure::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many are looking",
                format!("At most {MOST_STREAMS} pages can be kept up to date at a time. Close some, and load this one again."),
            )
        })?;
        let store = Store::open_read_only(&self.store)?;
        let (id, _) = store.version(wanted)?;
        let mut all = lock(&self.followed);
        if let Some(followed) = all.get(&id) {
            return Ok(Looking {
                updates: followed.updates.subscribe(),
                followed: Arc::clone(followed),
                _place: place,
            });
        }
        let head = store.head(&id)?;
        let picture = Picture::of(&head, self.engines)?;
        let following = store.follow(&id)?;
        let (sender, updates) = broadcast::channel(BEHIND);
        let followed = Arc::new(Followed { shown: Mutex::default(), updates: sender });
        all.insert(id.clone(), Arc::clone(&followed));
        let follower = Follower {
            store,
            following,
            id,
            followed: Arc::clone(&followed),
            all: Arc::clone(&self.followed),
        };
        tokio::task::spawn_blocking(move || follower.follow(picture));
        Ok(Looking { followed, updates, _place: place })
    }

    /// How many experiments are followed.
    #[cfg(test)]
    pub(crate) fn followed(&self) -> usize {
        lock(&self.followed).len()
    }
}

struct Follower {
    store: Store,
    following: Following,
    id: String,
    followed: Arc<Followed>,
    all: Arc<Mutex<BTreeMap<String, Arc<Followed>>>>,
}

impl Follower {
    /// Follows until no viewer is left, nobody works on the experiment, or the store cannot be read.
    fn follow(mut self, picture: Picture) {
        // Nobody sees it before all earlier news has been read.
        let mut unseen = Some(picture);
        let mut last_sent = Instant::now();
        while let Ok(news) = self.store.news(&mut self.following) {
            if let Some(message) = self.message(&news, &mut unseen, last_sent) {
                last_sent = Instant::now();
                // Nobody may be looking just now.
                let _ = self.followed.updates.send(message);
            }
            if news.more {
                continue;
            }
            if !news.running {
                return;
            }
            std::thread::sleep(LOOK);
            let mut all = lock(&self.all);
            // Viewers begin under this lock.
            if self.followed.updates.receiver_count() == 0 {
                all.remove(&self.id);
                return;
            }
        }
    }

    /// What to tell, if anything.
    fn message(
        &self,
        news: &News,
        unseen: &mut Option<Picture>,
        last_sent: Instant,
    ) -> Option<Message> {
        let mut shown = lock(&self.followed.shown);
        if let Some(mut picture) = unseen.take() {
            picture.take(news);
            if news.more {
                *unseen = Some(picture);
                return None;
            }
            // What is in the snapshot is no longer news.
            picture.update(now());
            let snapshot = json(&picture.snapshot(now()));
            shown.picture = Some(picture);
            return Some(Message::Snapshot(snapshot));
        }
        let picture = shown.picture.as_mut()?;
        picture.take(news);
        if news.more || !(picture.has_news() || last_sent.elapsed() >= TELL) {
            return None;
        }
        Some(Message::Update(json(&picture.update(now()))))
    }
}

impl Drop for Follower {
    /// Also when it failed: clients learn that no more will come, and the next client gets a follower of its own.
    fn drop(&mut self) {
        let mut all = lock(&self.all);
        if all.get(&self.id).is_some_and(|known| Arc::ptr_eq(known, &self.followed)) {
            all.remove(&self.id);
        }
        // Under the lock, so that a client that takes a snapshot either finds that it is over or gets the end.
        let mut shown = lock(&self.followed.shown);
        shown.over = true;
        let _ = self.followed.updates.send(Message::End);
    }
}

fn json(update: &super::update::Update) -> Arc<str> {
    serde_json::to_string(update).expect("an update has only string keys and plain numbers").into()
}

pub(crate) fn now() -> f64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}
