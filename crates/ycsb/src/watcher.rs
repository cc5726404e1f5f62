//! Measuring path: no lock, log or formatting here, save when an insert fails.
//!
//! Counts what one session does, and hands it over when a status line is due.

use crate::command::Phase;
use crate::metric::{Metric, Return};
use crate::settings::{Retries, Settings};
use crate::talk::talk;
use crate::tally::{Layout, Micros, Tally};
use plimsoll_loadgen::{After, ObservedOp, OpObserver};
use plimsoll_record::{Operation, Status};
use plimsoll_workload::Stream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::{SystemTime, UNIX_EPOCH};

/// What all sessions share with those who report.
pub(crate) struct Watch {
    /// Counts the status lines; sessions hand over when it changes.
    epoch: AtomicU64,
    statuses: Vec<SessionStatus>,
}

/// What one session reports at any time, on cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct SessionStatus {
    done: AtomicU64,
    is_closed: AtomicBool,
}

impl Watch {
    pub(crate) fn new(sessions: u32) -> Arc<Self> {
        let mut statuses = Vec::new();
        statuses.resize_with(sessions as usize, SessionStatus::default);
        Arc::new(Self { epoch: AtomicU64::new(0), statuses })
    }

    /// Operations that all sessions have done, however they ended.
    pub(crate) fn done(&self) -> u64 {
        let of = |status: &SessionStatus| status.done.load(Ordering::Relaxed);
        self.statuses.iter().map(of).sum()
    }

    /// Asks all sessions to hand over what they have counted.
    pub(crate) fn ask_for_parts(&self) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// The sessions that have not ended, by number.
    pub(crate) fn open(&self) -> Vec<usize> {
        let is_open = |number: &usize| !self.statuses[*number].is_closed.load(Ordering::Relaxed);
        (0..self.statuses.len()).filter(is_open).collect()
    }
}

/// What sessions tell those who report.
pub(crate) enum Message {
    Begin,
    /// What a session counted since its last message.
    Part(Box<Tally>),
    /// The last of a session, with when it ended, nanoseconds from the start, and how many operations failed for good.
    Last {
        tally: Box<Tally>,
        ended_ns: u64,
        failed: u64,
    },
    End,
}

pub(crate) struct Watcher {
    watch: Arc<Watch>,
    number: usize,
    sender: Sender<Message>,
    layout: Arc<Layout>,
    tally: Box<Tally>,
    epoch: u64,
    done: u64,
    failed: u64,
    retries: Option<Retries>,
    random: Stream,
    verifies: bool,
}

impl Watcher {
    pub(crate) fn new(
        settings: &Settings,
        watch: &Arc<Watch>,
        sender: &Sender<Message>,
        number: u32,
    ) -> Self {
        let layout = Arc::new(settings.layout);
        Self {
            watch: Arc::clone(watch),
            number: number as usize,
            sender: sender.clone(),
            tally: Box::new(Tally::new(&layout)),
            layout,
            epoch: 0,
            done: 0,
            failed: 0,
            retries: (settings.phase == Phase::Load).then_some(settings.retries),
            random: Stream::from_state(settings.seed ^ u64::from(number + 1)),
            verifies: settings.core.data.data_integrity,
        }
    }

    /// The time for raw rows.
    #[inline]
    fn now_ms(&self) -> u64 {
        if !self.layout.kinds.raw {
            return 0;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_millis() as u64)
    }

    #[inline]
    fn has_done(&mut self) {
        self.done += 1;
        self.watch.statuses[self.number].done.store(self.done, Ordering::Relaxed);
        if self.watch.epoch.load(Ordering::Relaxed) != self.epoch {
            self.hand_over();
        }
    }

    #[cold]
    fn hand_over(&mut self) {
        self.epoch = self.watch.epoch.load(Ordering::Relaxed);
        let full = std::mem::replace(&mut self.tally, Box::new(Tally::new(&self.layout)));
        // Who reports outlives all sessions.
        let _ = self.sender.send(Message::Part(full));
    }

    /// After a failed insert of a load.
    #[cold]
    fn failed_insert(&mut self, retries: Retries, attempts: u32) -> After {
        if u64::from(attempts) <= retries.limit {
            talk(&format!("Retrying insertion, retry count: {attempts}"));
            // From four to six fifths.
            let share = 0.8 + 0.4 * self.random.unit();
            return After::Again { pause_ns: (retries.pause_ns as f64 * share) as u64 };
        }
        talk(&format!(
            "Error inserting, not retrying any more. number of attempts: {attempts}Insertion Retry Limit: {}",
            retries.limit
        ));
        self.failed += 1;
        if !retries.keep_going {
            return After::Stop;
        }
        self.has_done();
        After::GoOn
    }
}

fn micros_of(seen: &ObservedOp) -> Micros {
    Micros {
        plain: seen.completed_ns.saturating_sub(seen.dispatched_ns) / 1_000,
        intended: seen.completed_ns.saturating_sub(seen.intended_ns) / 1_000,
    }
}

impl OpObserver for Watcher {
    #[inline]
    fn saw(&mut self, seen: &ObservedOp) {
        let Some(metric) = Metric::of(seen.operation) else { return };
        let at = seen.completed_ns;
        let (micros, now_ms) = (micros_of(seen), self.now_ms());
        let ended = Return::of(seen.status);
        match seen.operation {
            // Its parts tell how they ended.
            Operation::ReadModifyWrite => {
                self.tally.measure(metric, Return::Ok, micros, at, now_ms);
                return;
            }
            Operation::Verify => {
                let ended = match ended {
                    Return::Error if seen.items > 0 => Return::UnexpectedState,
                    other => other,
                };
                if !ended.is_good() {
                    self.failed += 1;
                }
                self.tally.measure(metric, Return::Ok, micros, at, now_ms);
                self.tally.count(metric, ended, at);
                return;
            }
            _ => {}
        }
        self.tally.measure(metric, ended, micros, at, now_ms);
        self.tally.count(metric, ended, at);
        if seen.operation == Operation::Scan && seen.items > 0 {
            let each = micros.plain / u64::from(seen.items);
            self.tally.measure_plain(Metric::ScanPerRecord, each, at, now_ms);
        }
        if self.verifies && seen.operation == Operation::Read && !ended.is_good() {
            // Nothing came back that could be compared.
            let none = Micros { plain: 0, intended: 0 };
            self.tally.measure(Metric::Verify, Return::Ok, none, at, now_ms);
            self.tally.count(Metric::Verify, Return::Error, at);
        }
    }

    #[inline]
    fn after(&mut self, _operation: Operation, status: Status, attempts: u32) -> After {
        if !Return::of(status).is_good() {
            if let Some(retries) = self.retries {
                return self.failed_insert(retries, attempts);
            }
            self.failed += 1;
        }
        self.has_done();
        After::GoOn
    }

    fn flushed(&mut self, seen: &ObservedOp) {
        let (micros, now_ms) = (micros_of(seen), self.now_ms());
        let ended = Return::of(seen.status);
        if !ended.is_good() {
            self.failed += 1;
        }
        self.tally.measure(Metric::Flush, ended, micros, seen.completed_ns, now_ms);
        self.tally.count(Metric::Flush, ended, seen.completed_ns);
    }

    fn closed(&mut self, begun_ns: u64, ended_ns: u64) {
        let both = (ended_ns.saturating_sub(begun_ns)) / 1_000;
        let micros = Micros { plain: both, intended: both };
        let now_ms = self.now_ms();
        self.tally.measure(Metric::Cleanup, Return::Ok, micros, ended_ns, now_ms);
        let tally = std::mem::replace(&mut self.tally, Box::new(Tally::new(&self.layout)));
        self.watch.statuses[self.number].is_closed.store(true, Ordering::Relaxed);
        let _ = self.sender.send(Message::Last { tally, ended_ns, failed: self.failed });
    }
}
