//! Gathers the sessions' shares into slices, on the thread that called.

use crate::clock::Clock;
use crate::crew::Shared;
use crate::grid::Grid;
use crate::point::Observer;
use crate::recorder::{Part, Recorder};
use plimsoll_record::{OperationSlice, Slice, WorkerUse};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

/// A slice is sent this long after its end even if a session is still inside a call that began before: its share follows later.
const GRACE_NS: u64 = 200_000_000;
/// How often a wish to stop is looked for.
const LONGEST_WAIT_NS: u64 = 50_000_000;

/// The slices of one point, as they fill.
pub(crate) struct Collector<'a, C> {
    clock: C,
    grid: Grid,
    shared: &'a Shared,
    observer: &'a mut dyn Observer,
    /// For each session, the slice in which it is.
    reached: Vec<u32>,
    spares: Vec<SyncSender<Box<Recorder>>>,
    filling: BTreeMap<u32, Slice>,
    /// Slices whose end has passed and whose use of the worker was read.
    sampled: u32,
    /// Slices sent.
    sent: u32,
    pub(crate) busy_ns: u64,
    pub(crate) stopped: bool,
}

impl<'a, C: Clock> Collector<'a, C> {
    pub(crate) fn new(
        clock: C,
        grid: Grid,
        shared: &'a Shared,
        observer: &'a mut dyn Observer,
        spares: Vec<SyncSender<Box<Recorder>>>,
    ) -> Self {
        Self {
            clock,
            grid,
            shared,
            observer,
            reached: vec![0; spares.len()],
            spares,
            filling: BTreeMap::new(),
            sampled: 0,
            sent: 0,
            busy_ns: 0,
            stopped: false,
        }
    }

    /// Collects until every session has ended. Slices are complete up to the end of the point, which [`Collector::finish`] is told.
    pub(crate) fn collect(&mut self, parts: &Receiver<Part>) {
        // The use of the worker before the first slice belongs to nobody.
        let _ = self.observer.sample();
        loop {
            let now = self.clock.now();
            let next_end = self.grid.end_of(self.sampled).min(now + LONGEST_WAIT_NS);
            let wait = Duration::from_nanos(next_end.saturating_sub(now));
            match parts.recv_timeout(wait) {
                Ok(part) => self.take(part),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !self.stopped && self.observer.stop_requested() {
                self.stopped = true;
                self.shared.end_at(self.clock.now());
            }
            self.sample(self.clock.now().min(self.shared.deadline()));
            self.send_complete();
        }
    }

    /// Sends what is left, when the point has ended at `end_ns`.
    pub(crate) fn finish(&mut self, end_ns: u64) {
        self.sample(end_ns);
        let last = self.grid.index_of(end_ns.saturating_sub(1));
        if end_ns > self.grid.start_of(last) && self.sampled <= last {
            self.sample_one(last);
        }
        let left = std::mem::take(&mut self.filling);
        for (index, mut slice) in left {
            let end = self.grid.end_of(index).min(end_ns);
            slice.length_ns = end.saturating_sub(slice.start_ns);
            if slice.length_ns > 0 || slice.completed.total() > 0 {
                self.observer.slice(slice);
            }
        }
    }

    fn take(&mut self, part: Part) {
        let Part {
            session,
            index,
            mut recorder,
            now_in,
        } = part;
        self.reached[session] = now_in;
        if recorder.completed.total() > 0 || recorder.filled().next().is_some() {
            if !self.grid.is_warm_up(index) {
                self.busy_ns += recorder.busy_ns;
            }
            let slice = self.slice(index);
            slice.completed.ok += recorder.completed.ok;
            slice.completed.not_found += recorder.completed.not_found;
            slice.completed.error += recorder.completed.error;
            add(&mut slice.operations, &recorder);
            recorder.clear();
        }
        // A session that has ended takes nothing back.
        let _ = self.spares[session].try_send(recorder);
    }

    fn slice(&mut self, index: u32) -> &mut Slice {
        let grid = self.grid;
        self.filling.entry(index).or_insert_with(|| Slice {
            index,
            start_ns: grid.start_of(index),
            length_ns: grid.end_of(index) - grid.start_of(index),
            warm_up: grid.is_warm_up(index),
            completed: plimsoll_record::Completed::default(),
            operations: Vec::new(),
            worker: WorkerUse::default(),
            telemetry: BTreeMap::new(),
        })
    }

    fn sample(&mut self, until_ns: u64) {
        while self.grid.end_of(self.sampled) <= until_ns {
            self.sample_one(self.sampled);
        }
    }

    fn sample_one(&mut self, index: u32) {
        let (worker, telemetry) = self.observer.sample();
        let slice = self.slice(index);
        slice.worker = worker;
        slice.telemetry = telemetry;
        self.sampled = index + 1;
    }

    fn send_complete(&mut self) {
        let now = self.clock.now();
        while self.sent < self.sampled {
            let complete = self.reached.iter().all(|reached| *reached > self.sent);
            if !complete && now < self.grid.end_of(self.sent) + GRACE_NS {
                break;
            }
            if let Some(slice) = self.filling.remove(&self.sent) {
                self.observer.slice(slice);
            }
            self.sent += 1;
        }
        // Shares that came late make a further slice of the same index.
        while let Some(entry) = self.filling.first_entry() {
            if *entry.key() >= self.sent {
                break;
            }
            let slice = entry.remove();
            self.observer.slice(slice);
        }
    }
}

fn add(slices: &mut Vec<OperationSlice>, recorder: &Recorder) {
    if slices.is_empty() {
        *slices = recorder.to_slices();
        return;
    }
    for (operation, status, latencies) in recorder.filled() {
        let same = slices
            .iter_mut()
            .find(|ours| ours.operation == operation && ours.status == status);
        match same {
            Some(ours) => ours.latencies.merge(latencies),
            None => slices.push(OperationSlice {
                operation,
                status,
                latencies: latencies.clone(),
            }),
        }
    }
    slices.sort_by_key(|slice| (slice.operation, slice.status));
}
