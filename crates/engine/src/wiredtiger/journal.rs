//! The thread that flushes the journal, and those who wait for it.
//!
//! mongod flushes its journal every 100 ms, and earlier when somebody waits for a durable write: one flush serves all who wait by then.
//! Where each commit waits for a flush of its own (`transaction_sync`), WiredTiger gives way with many threads: 3.2 against 9.5
//! thousand operations per second with 64 threads.

use super::messages::Code;
use super::raw::{Connection, RawSession};
use crate::EngineError;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where those meet who want a flush and the thread that flushes.
pub(super) struct Journal {
    state: Mutex<State>,
    wanted: Condvar,
    flushed: Condvar,
}

#[derive(Default)]
struct State {
    /// Commits that wait for a flush, since the beginning.
    waiting: u64,
    /// How many of these are on disk.
    durable: u64,
    /// Why there will be no more flushes.
    failed: Option<Code>,
    stop: bool,
}

const NO_PANIC: &str = "nothing panics while it holds the journal's state";

impl Journal {
    /// Returns when what the caller has committed is on disk.
    pub(super) fn wait(&self) -> Result<(), Code> {
        let mut state = self.state.lock().expect(NO_PANIC);
        state.waiting += 1;
        let mine = state.waiting;
        self.wanted.notify_one();
        while state.durable < mine {
            if let Some(code) = state.failed {
                return Err(code);
            }
            state = self.flushed.wait(state).expect(NO_PANIC);
        }
        Ok(())
    }

    /// Flushes until it has to stop.
    fn flush(&self, session: &RawSession, interval: Duration) {
        let mut due = Instant::now() + interval;
        loop {
            let mut state = self.state.lock().expect(NO_PANIC);
            while !state.stop && state.waiting == state.durable {
                let left = due.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                state = self.wanted.wait_timeout(state, left).expect(NO_PANIC).0;
            }
            if state.stop {
                return;
            }
            let covered = state.waiting;
            drop(state);
            let result = session.flush_log();
            due = Instant::now() + interval;
            let mut state = self.state.lock().expect(NO_PANIC);
            match result {
                Ok(()) => state.durable = covered,
                Err(code) => state.failed = Some(code),
            }
            self.flushed.notify_all();
            if state.failed.is_some() {
                return;
            }
        }
    }
}

/// Owns the thread; it ends when this is dropped.
pub(super) struct Flusher {
    journal: Arc<Journal>,
    thread: Option<JoinHandle<()>>,
}

impl Flusher {
    pub(super) fn start(
        connection: &Arc<Connection>,
        interval: Duration,
    ) -> Result<Self, EngineError> {
        let session = connection.session()?;
        let journal = Arc::new(Journal {
            state: Mutex::default(),
            wanted: Condvar::new(),
            flushed: Condvar::new(),
        });
        let for_thread = Arc::clone(&journal);
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || for_thread.flush(&session, interval))
            .map_err(|source| EngineError::Call {
                engine: super::KIND.name.into(),
                call: "starting the journal's thread".into(),
                message: source.to_string(),
            })?;
        Ok(Self { journal, thread: Some(thread) })
    }

    pub(super) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.journal.state.lock().expect(NO_PANIC).stop = true;
        self.journal.wanted.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of that thread has been printed; here it would end the process.
            let _ = thread.join();
        }
    }
}
