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
/// A wish to stop ends the point this much later, so that no session has completed anything after the end before it sees it.
const STOP_NS: u64 = 1_000_000;
/// How often a wish to stop is looked for.
const LONGEST_WAIT_NS: u64 = 50_000_000;

/// The slices of one point, as they fill.
pub(crate) struct Collector<'a, C> {
    clock: C,
    grid: Grid,
    /// When the measured part begins; `None` once the observer knows, or where there is no such part.
    measuring_from: Option<u64>,
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
        measuring_from: Option<u64>,
        shared: &'a Shared,
        observer: &'a mut dyn Observer,
        spares: Vec<SyncSender<Box<Recorder>>>,
    ) -> Self {
        Self {
            clock,
            grid,
            measuring_from,
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
                self.shared.end_at(self.clock.now() + STOP_NS);
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

    /// Samples all slices that have ended. Between the last one of the warm-up and the first one measured, the observer is told.
    fn sample(&mut self, until_ns: u64) {
        loop {
            let start_ns = self.grid.start_of(self.sampled);
            if self
                .measuring_from
                .is_some_and(|from_ns| from_ns <= start_ns)
            {
                self.measuring_from = None;
                self.observer.measuring_begins();
            }
            if self.grid.end_of(self.sampled) > until_ns {
                break;
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::SLICE_NS;
    use crate::tests::Jumping;
    use plimsoll_record::{Operation, Status};
    use std::sync::mpsc::sync_channel;

    #[derive(Default)]
    struct Sums {
        /// Index and completed operations of each slice that was sent.
        sent: Vec<(u32, u64)>,
        samples: u32,
        /// How many samples were taken before each time that the measured part began.
        begins: Vec<u32>,
    }

    impl Observer for Sums {
        fn slice(&mut self, slice: Slice) {
            assert_eq!(slice.length_ns, SLICE_NS);
            self.sent.push((slice.index, slice.completed.total()));
        }

        fn sample(&mut self) -> (WorkerUse, BTreeMap<String, f64>) {
            self.samples += 1;
            Default::default()
        }

        fn measuring_begins(&mut self) {
            self.begins.push(self.samples);
        }
    }

    fn part(session: usize, index: u32, operations: u64, now_in: u32) -> Part {
        let mut recorder = Recorder::new(&[Operation::Read], false);
        for _ in 0..operations {
            recorder.record(Operation::Read, Status::Ok, 0, 0, 1);
            recorder.completed.add(Status::Ok);
        }
        Part {
            session,
            index,
            recorder,
            now_in,
        }
    }

    /// Two sessions; the second is inside one call from slice 0 to slice 2.
    #[test]
    fn a_slice_waits_a_little_for_all_and_a_late_share_follows() {
        let clock = Jumping::default();
        let shared = Shared::new(u64::MAX);
        let mut sums = Sums::default();
        let (spares, _taken): (Vec<_>, Vec<_>) = (0..2).map(|_| sync_channel(4)).unzip();
        let grid = Grid::new(0);
        let mut collector = Collector::new(clock.clone(), grid, None, &shared, &mut sums, spares);
        let mut at = |time_ns: u64, parts: Vec<Part>| {
            clock.jump_to(time_ns);
            for part in parts {
                collector.take(part);
            }
            collector.sample(time_ns);
            collector.send_complete();
        };
        at(SLICE_NS + GRACE_NS - 1, vec![part(0, 0, 10, 1)]);
        at(SLICE_NS + GRACE_NS, vec![]);
        at(2 * SLICE_NS + 1, vec![part(0, 1, 20, 2), part(1, 0, 5, 2)]);
        at(3 * SLICE_NS + 1, vec![part(0, 2, 30, 3), part(1, 2, 7, 3)]);
        collector.finish(3 * SLICE_NS);
        assert_eq!(sums.samples, 3);
        // The late share came together with what completed slice 1, and is sent after it.
        assert_eq!(sums.sent, [(0, 10), (1, 20), (0, 5), (2, 37)]);
    }

    #[test]
    fn a_slice_is_sent_as_soon_as_all_sessions_have_left_it() {
        let clock = Jumping::default();
        let shared = Shared::new(u64::MAX);
        let mut sums = Sums::default();
        let (spares, _taken): (Vec<_>, Vec<_>) = (0..2).map(|_| sync_channel(4)).unzip();
        let mut collector = Collector::new(
            clock.clone(),
            Grid::new(0),
            None,
            &shared,
            &mut sums,
            spares,
        );
        clock.jump_to(SLICE_NS + 1);
        collector.take(part(0, 0, 1, 1));
        collector.sample(SLICE_NS + 1);
        collector.send_complete();
        assert_eq!(collector.sent, 0);
        collector.take(part(1, 0, 2, 1));
        collector.send_complete();
        assert_eq!(collector.sent, 1);
        assert_eq!(sums.sent, [(0, 3)]);
    }

    /// What an observer of a point with so much warm-up sees when the collector looks at the clock at these times.
    fn begins(warm_up_ns: u64, looks: &[u64]) -> Vec<u32> {
        let clock = Jumping::default();
        let shared = Shared::new(u64::MAX);
        let mut sums = Sums::default();
        let grid = Grid::new(warm_up_ns);
        let from = Some(warm_up_ns);
        let mut collector = Collector::new(clock, grid, from, &shared, &mut sums, Vec::new());
        for time_ns in looks {
            collector.sample(*time_ns);
        }
        sums.begins
    }

    #[test]
    fn the_measured_part_begins_once_and_between_the_samples_of_its_neighbours() {
        let warm_up_ns = 3 * SLICE_NS / 2;
        assert!(begins(warm_up_ns, &[0, SLICE_NS, warm_up_ns - 1]).is_empty());
        assert_eq!(begins(warm_up_ns, &[warm_up_ns - 1, warm_up_ns]), [2]);
        let later = [warm_up_ns, warm_up_ns + 1, warm_up_ns + 5 * SLICE_NS];
        assert_eq!(begins(warm_up_ns, &later), [2]);
        // Also when this thread was kept from its work for some slices.
        assert_eq!(begins(warm_up_ns, &[9 * SLICE_NS]), [2]);
    }
}
