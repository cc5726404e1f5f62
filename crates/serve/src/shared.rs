//! What is made once for all who ask for it, a few things at a time, within a bound of memory.

use crate::failure::Failure;
use axum::body::Bytes;
use axum::http::StatusCode;
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Longest wait for what other requests hold.
const LONGEST_WAIT: Duration = Duration::from_secs(180);
/// What memory is counted in, bytes.
const UNIT: usize = 64 << 10;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Everything behind these locks is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program failed on something, which it should never do.
#[derive(Debug)]
pub(crate) struct ProgramFailed;

impl From<ProgramFailed> for Failure {
    fn from(_: ProgramFailed) -> Self {
        Self::of_the_program()
    }
}

/// Does what takes a while on a thread of its own.
pub(crate) async fn apart<T: Send + 'static, E: From<ProgramFailed> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(ProgramFailed.into()))
}

/// Takes `many` permits, or fails if they are not free within [`LONGEST_WAIT`].
pub(crate) async fn patiently(
    all: &Arc<Semaphore>,
    many: u32,
) -> Result<OwnedSemaphorePermit, Failure> {
    let free = Arc::clone(all).acquire_many_owned(many);
    match tokio::time::timeout(LONGEST_WAIT, free).await {
        Ok(Ok(permit)) => Ok(permit),
        Ok(Err(_)) | Err(_) => Err(busy()),
    }
}

fn busy() -> Failure {
    Failure::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "Too many pages at once",
        "Load this page again in a minute.",
    )
}

/// So much memory, and no more.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    units: Arc<Semaphore>,
    all: usize,
}

/// Memory that is set aside until it is dropped.
#[derive(Debug)]
pub(crate) struct Reserved(OwnedSemaphorePermit);

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT).max(1)
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        let all = units(bytes);
        Self { units: Arc::new(Semaphore::new(all)), all }
    }

    /// What needs more than there is has all of it.
    fn clamped(&self, bytes: usize) -> usize {
        units(bytes).min(self.all)
    }

    async fn reserve(&self, bytes: usize) -> Result<Reserved, Failure> {
        let many = u32::try_from(self.clamped(bytes)).unwrap_or(u32::MAX);
        Ok(Reserved(patiently(&self.units, many).await?))
    }

    fn has(&self, bytes: usize) -> bool {
        self.units.available_permits() >= self.clamped(bytes)
    }

    /// Bytes that are set aside.
    #[cfg(test)]
    pub(crate) fn reserved(&self) -> usize {
        (self.all - self.units.available_permits()) * UNIT
    }
}

impl Reserved {
    /// Returns memory that is not needed, or takes more if it is free.
    pub(crate) fn fit(&mut self, bytes: usize) -> Result<(), Failure> {
        let (needed, had) = (units(bytes), self.0.num_permits());
        if needed < had {
            drop(self.0.split(had - needed));
        } else if needed > had {
            let more = u32::try_from(needed - had).unwrap_or(u32::MAX);
            let all = Arc::clone(self.0.semaphore());
            let more = all.try_acquire_many_owned(more).map_err(|_| busy())?;
            self.0.merge(more);
        }
        Ok(())
    }
}

/// Bytes that are shared by all who read them, and counted as long as anybody does.
pub(crate) fn counted(bytes: Vec<u8>, mut reserved: Reserved) -> Result<Bytes, Failure> {
    struct CountedBytes {
        bytes: Vec<u8>,
        _reserved: Reserved,
    }
    impl AsRef<[u8]> for CountedBytes {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    reserved.fit(bytes.len())?;
    Ok(Bytes::from_owner(CountedBytes { bytes, _reserved: reserved }))
}

pub(crate) struct Cached<V> {
    pub(crate) value: V,
    /// Bytes, where it is worth keeping for who comes later.
    pub(crate) kept: Option<usize>,
}

type Making<V> = future::Shared<BoxFuture<'static, Result<V, Failure>>>;

/// Things of one kind, each made once for all who ask for it at the same time, and the last ones kept.
pub(crate) struct Shared<K, V> {
    state: Arc<Mutex<State<K, V>>>,
    memory: Memory,
    /// How many things are made at a time, of all kinds.
    hands: Arc<Semaphore>,
}

struct State<K, V> {
    making: Vec<(K, Making<V>)>,
    kept: Vec<(K, V, usize)>,
    most_kept: usize,
    /// A gate for each thing that is being made, so that only one task makes it.
    gates: Vec<(K, Weak<tokio::sync::Mutex<()>>)>,
    #[cfg(test)]
    made: usize,
}

enum CacheEntry<V> {
    Kept(V),
    Making(Making<V>),
    Nothing,
}

impl<K: PartialEq + Clone, V: Clone> State<K, V> {
    fn kept(&mut self, key: &K) -> Option<V> {
        let at = self.kept.iter().position(|(known, ..)| known == key)?;
        let entry = self.kept.remove(at);
        let value = entry.1.clone();
        self.kept.push(entry);
        Some(value)
    }

    fn find(&mut self, key: &K) -> CacheEntry<V> {
        if let Some(value) = self.kept(key) {
            return CacheEntry::Kept(value);
        }
        match self.making.iter().find(|(known, _)| known == key) {
            Some((_, making)) => CacheEntry::Making(making.clone()),
            None => CacheEntry::Nothing,
        }
    }

    fn gate(&mut self, key: &K) -> Arc<tokio::sync::Mutex<()>> {
        self.gates.retain(|(_, gate)| gate.strong_count() > 0);
        let known = self.gates.iter().find(|(known, _)| known == key);
        if let Some(gate) = known.and_then(|(_, gate)| gate.upgrade()) {
            return gate;
        }
        let gate = Arc::default();
        self.gates.push((key.clone(), Arc::downgrade(&gate)));
        gate
    }

    fn finish(&mut self, key: K, result: Result<Cached<V>, Failure>) -> Result<V, Failure> {
        self.making.retain(|(known, _)| *known != key);
        let made = result?;
        #[cfg(test)]
        {
            self.made += 1;
        }
        if let Some(bytes) = made.kept.filter(|bytes| *bytes <= self.most_kept) {
            self.kept.push((key, made.value.clone(), bytes));
            while self.kept.iter().map(|(.., bytes)| bytes).sum::<usize>() > self.most_kept {
                self.kept.remove(0);
            }
        }
        Ok(made.value)
    }
}

impl<K, V> Shared<K, V>
where
    K: PartialEq + Clone + Send + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub(crate) fn new(most_kept: usize, memory: Memory, hands: &Arc<Semaphore>) -> Self {
        let state = State {
            making: Vec::new(),
            kept: Vec::new(),
            most_kept,
            gates: Vec::new(),
            #[cfg(test)]
            made: 0,
        };
        Self { state: Arc::new(Mutex::new(state)), memory, hands: Arc::clone(hands) }
    }

    pub(crate) fn kept(&self, key: &K) -> Option<V> {
        lock(&self.state).kept(key)
    }

    /// How often something was made.
    #[cfg(test)]
    pub(crate) fn made(&self) -> usize {
        lock(&self.state).made
    }

    /// The thing with this key, made where it is neither kept nor being made, with that much memory. Who asks and goes away before it is begun
    /// leaves nothing to do; what is begun is made to its end, also for nobody.
    pub(crate) async fn get(
        &self,
        key: K,
        bytes: usize,
        make: impl FnOnce(Reserved) -> Result<Cached<V>, Failure> + Send + 'static,
    ) -> Result<V, Failure> {
        let found = lock(&self.state).find(&key);
        match found {
            CacheEntry::Kept(value) => return Ok(value),
            CacheEntry::Making(making) => return making.await,
            CacheEntry::Nothing => {}
        }
        let gate = lock(&self.state).gate(&key);
        let passed = gate.lock().await;
        let found = lock(&self.state).find(&key);
        let making = match found {
            CacheEntry::Kept(value) => return Ok(value),
            CacheEntry::Making(making) => making,
            CacheEntry::Nothing => {
                self.make_room(bytes);
                let reserved = self.memory.reserve(bytes).await?;
                let hand = patiently(&self.hands, 1).await?;
                self.begin(key, reserved, hand, make)
            }
        };
        drop(passed);
        making.await
    }

    fn begin(
        &self,
        key: K,
        reserved: Reserved,
        hand: OwnedSemaphorePermit,
        make: impl FnOnce(Reserved) -> Result<Cached<V>, Failure> + Send + 'static,
    ) -> Making<V> {
        let mut state = lock(&self.state);
        let shared = Arc::clone(&self.state);
        let named = key.clone();
        let job = tokio::task::spawn_blocking(move || {
            let made = make(reserved);
            drop(hand);
            made
        });
        let task = tokio::spawn(async move {
            let made = job.await.unwrap_or_else(|_| Err(Failure::of_the_program()));
            lock(&shared).finish(named, made)
        });
        let making = task
            .map(|made| made.unwrap_or_else(|_| Err(Failure::of_the_program())))
            .boxed()
            .shared();
        state.making.push((key, making.clone()));
        making
    }

    /// Drops kept values that nobody will request again.
    pub(crate) fn forget(&self, is_past: impl Fn(&K) -> bool) {
        lock(&self.state).kept.retain(|(key, ..)| !is_past(key));
    }

    /// Gives up what is kept, the oldest first, until there is this much memory.
    fn make_room(&self, bytes: usize) {
        let mut state = lock(&self.state);
        while !self.memory.has(bytes) && !state.kept.is_empty() {
            state.kept.remove(0);
        }
    }
}

#[cfg(test)]
mod tests;
