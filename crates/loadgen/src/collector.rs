//! Makes slices of what the sessions counted, on the thread that called.

use crate::clock::Clock;
use crate::grid::Grid;
use crate::recorder::Recording;
use crate::shared::Shared;
use crate::spec::SliceSink;
use plimsoll_engine::Interrupter;
use plimsoll_record::Slice;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// A slice is read this long after its end: by then what completed in it was counted as well.
const GRACE_NS: u64 = 5_000_000;
/// A wish to stop ends the point this much later, so that no session has completed anything after the end before it sees it.
const STOP_NS: u64 = 1_000_000;
/// Interval of looks for a request to stop.
const LONGEST_WAIT_NS: u64 = 50_000_000;
/// An operation that was not answered this long after the end of the point is ended.
const UNANSWERED_NS: u64 = 5_000_000_000;
/// The same after a wish to stop.
const UNANSWERED_WHEN_STOPPED_NS: u64 = 300_000_000;

/// The slices of one point, as they end. The sink gets each second once, in order, with all that completed in it.
pub(crate) struct Collector<'a, C> {
    clock: C,
    grid: Grid,
    /// When the measured part begins; `None` once the sink knows, or where there is no such part.
    measuring_from: Option<u64>,
    shared: &'a Shared,
    recording: &'a Recording,
    sink: &'a mut dyn SliceSink,
    /// Slices whose end has passed and whose use of the worker was read, but not yet what was counted in them.
    waiting: VecDeque<Slice>,
    /// How many slices have ended.
    sampled: u32,
    pub(crate) stopped: bool,
    /// What ends the call of each session that can be ended.
    interrupters: &'a [Interrupter],
    is_interrupted: bool,
}

impl<'a, C: Clock> Collector<'a, C> {
    pub(crate) fn new(
        clock: C,
        grid: Grid,
        measuring_from: Option<u64>,
        shared: &'a Shared,
        recording: &'a Recording,
        sink: &'a mut dyn SliceSink,
        interrupters: &'a [Interrupter],
    ) -> Self {
        Self {
            clock,
            grid,
            measuring_from,
            shared,
            recording,
            sink,
            waiting: VecDeque::new(),
            sampled: 0,
            stopped: false,
            interrupters,
            is_interrupted: false,
        }
    }

    /// Collects until every session has ended. Slices are complete up to the end of the point, which [`Collector::finish`] gets.
    pub(crate) fn collect(&mut self, ended: &Receiver<Infallible>) {
        // The use of the worker before the first slice belongs to no slice.
        let _ = self.sink.sample();
        loop {
            let now = self.clock.now();
            let sent = self.waiting.front().map(|slice| self.grid.end_of(slice.index) + GRACE_NS);
            let sampled = match self.grid.end_of(self.sampled) {
                // No slice ends after the point.
                end if end > self.shared.deadline() => u64::MAX,
                end => end,
            };
            let next = sent.unwrap_or(u64::MAX).min(sampled);
            let wait = next.saturating_sub(now).min(LONGEST_WAIT_NS);
            match ended.recv_timeout(Duration::from_nanos(wait)) {
                Ok(never) => match never {},
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !self.stopped && self.sink.stop_requested() {
                self.stopped = true;
                self.shared.end_at(self.clock.now() + STOP_NS);
            }
            let now = self.clock.now();
            self.sample(now.min(self.shared.deadline()));
            self.send(now.saturating_sub(GRACE_NS));
            self.end_unanswered(now.saturating_sub(self.shared.deadline()));
        }
    }

    /// Ends what was not answered this long after the end of the point.
    fn end_unanswered(&mut self, since_end_ns: u64) {
        let limit_ns = match self.stopped {
            true => UNANSWERED_WHEN_STOPPED_NS,
            false => UNANSWERED_NS,
        };
        if since_end_ns < limit_ns {
            return;
        }
        if !self.is_interrupted {
            self.is_interrupted = true;
            self.shared.interrupt();
            for interrupt in self.interrupters {
                interrupt();
            }
        }
        self.sink.overdue(Duration::from_nanos(since_end_ns));
    }

    /// Sends what is left, when the point has ended at `end_ns`.
    pub(crate) fn finish(&mut self, end_ns: u64) {
        self.sample(end_ns);
        let last = self.grid.index_of(end_ns.saturating_sub(1));
        let start_ns = self.grid.start_of(last);
        if end_ns > start_ns && self.sampled <= last {
            self.sample_one(last);
            if let Some(slice) = self.waiting.back_mut() {
                slice.length_ns = slice.length_ns.min(end_ns - start_ns);
            }
        }
        self.send(u64::MAX);
    }

    /// Samples all slices that have ended. Between the last one of the warm-up and the first one measured, the sink is notified.
    fn sample(&mut self, until_ns: u64) {
        loop {
            let start_ns = self.grid.start_of(self.sampled);
            if let Some(from_ns) = self.measuring_from.filter(|from_ns| *from_ns <= start_ns) {
                self.measuring_from = None;
                let ago_ns = self.clock.now().saturating_sub(from_ns);
                self.sink.measuring_begins(Duration::from_nanos(ago_ns));
            }
            if self.grid.end_of(self.sampled) > until_ns {
                break;
            }
            self.sample_one(self.sampled);
        }
    }

    fn sample_one(&mut self, index: u32) {
        let (worker, telemetry) = self.sink.sample();
        let start_ns = self.grid.start_of(index);
        self.waiting.push_back(Slice {
            index,
            start_ns,
            length_ns: self.grid.end_of(index) - start_ns,
            warm_up: self.grid.is_warm_up(index),
            completed: plimsoll_record::Completed::default(),
            operations: Vec::new(),
            by_host: Vec::new(),
            worker,
            telemetry,
        });
        self.sampled = index + 1;
    }

    /// Sends the slices that had ended by then.
    fn send(&mut self, ended_by_ns: u64) {
        while let Some(slice) = self.waiting.front() {
            if self.grid.end_of(slice.index) > ended_by_ns {
                break;
            }
            let Some(mut slice) = self.waiting.pop_front() else {
                break;
            };
            let counted = self.recording.take(slice.index);
            slice.completed = counted.completed;
            slice.operations = counted.operations;
            self.sink.slice(slice);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::SLICE_NS;
    use crate::recorder::{Recorder, Row};
    use crate::tests::Jumping;
    use plimsoll_record::{Operation, Status, WorkerUse};
    use std::collections::BTreeMap;

    #[derive(Default)]
    struct Sums {
        /// Index and completed operations of each slice that was sent.
        sent: Vec<(u32, u64)>,
        samples: u32,
        /// How many samples were taken before each time that the measured part began, and how long ago that was said to be.
        begins: Vec<(u32, Duration)>,
    }

    impl SliceSink for Sums {
        fn slice(&mut self, slice: Slice) {
            assert_eq!(slice.length_ns, SLICE_NS);
            self.sent.push((slice.index, slice.completed.total()));
        }

        fn sample(&mut self) -> (WorkerUse, BTreeMap<String, f64>) {
            self.samples += 1;
            Default::default()
        }

        fn measuring_begins(&mut self, ago: Duration) {
            self.begins.push((self.samples, ago));
        }
    }

    /// A session counts this many operations at this time.
    fn count(recorder: &mut Recorder<'_>, time_ns: u64, operations: u64) {
        for _ in 0..operations {
            recorder.reach(time_ns);
            recorder.record(Row::of(Operation::Read, 0), Status::Ok, 0, 0, 1);
            recorder.complete(Status::Ok, 1);
        }
    }

    fn recording() -> Recording {
        Recording::new(Grid::new(0), &[Operation::Read], 2, false, false)
    }

    /// Two sessions; the second is inside one call from slice 0 to slice 2.
    #[test]
    fn each_second_is_sent_once_with_all_that_completed_in_it() {
        let clock = Jumping::default();
        let shared = Shared::new(u64::MAX);
        let recording = recording();
        let (mut first, mut second) = (recording.recorder(0), recording.recorder(1));
        let mut sums = Sums::default();
        let grid = Grid::new(0);
        let mut collector = Collector::new(clock, grid, None, &shared, &recording, &mut sums, &[]);
        count(&mut first, 0, 10);
        count(&mut second, 0, 5);
        collector.sample(SLICE_NS);
        collector.send(SLICE_NS - 1);
        let found = collector.waiting.len();
        assert_eq!(found, 1, "its end has not passed by long enough");
        collector.send(SLICE_NS);
        count(&mut first, SLICE_NS, 20);
        collector.sample(2 * SLICE_NS);
        collector.send(2 * SLICE_NS);
        count(&mut first, 2 * SLICE_NS, 30);
        count(&mut second, 2 * SLICE_NS, 7);
        collector.finish(3 * SLICE_NS);
        assert_eq!(sums.samples, 3);
        assert_eq!(sums.sent, [(0, 15), (1, 20), (2, 37)]);
    }

    /// What a sink of a point with this much warm-up sees when the collector looks at the clock at these times.
    fn begins(warm_up_ns: u64, looks: &[u64]) -> Vec<(u32, Duration)> {
        let clock = Jumping::default();
        let shared = Shared::new(u64::MAX);
        let mut sums = Sums::default();
        let grid = Grid::new(warm_up_ns);
        let from = Some(warm_up_ns);
        let recording = recording();
        let time = clock.clone();
        let mut collector = Collector::new(clock, grid, from, &shared, &recording, &mut sums, &[]);
        for time_ns in looks {
            time.jump_to(*time_ns);
            collector.sample(*time_ns);
        }
        sums.begins
    }

    #[test]
    fn the_measured_part_begins_once_and_between_the_samples_of_its_neighbours() {
        let warm_up_ns = 3 * SLICE_NS / 2;
        assert!(begins(warm_up_ns, &[0, SLICE_NS, warm_up_ns - 1]).is_empty());
        let just_now = (2, Duration::ZERO);
        assert_eq!(begins(warm_up_ns, &[warm_up_ns - 1, warm_up_ns]), [just_now]);
        let later = [warm_up_ns, warm_up_ns + 1, warm_up_ns + 5 * SLICE_NS];
        assert_eq!(begins(warm_up_ns, &later), [just_now]);
        // Also when this thread was kept from its work for some slices.
        let ago = Duration::from_nanos(9 * SLICE_NS - warm_up_ns);
        assert_eq!(begins(warm_up_ns, &[9 * SLICE_NS]), [(2, ago)]);
    }
}
