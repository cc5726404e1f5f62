//! Measuring path: no allocation, lock, log or formatting here, save when the first operation of its kind fails.
//!
//! What one session saw within one slice.

use crate::grid::Grid;
use plimsoll_record::{Completed, Latencies, Operation, OperationSlice, Status};
use std::sync::mpsc::{Receiver, SyncSender};

const STATUSES: usize = Status::ALL.len();
const CELLS: usize = Operation::ALL.len() * STATUSES;

/// Histograms of one session and one slice, made before the point begins.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) completed: Completed,
    /// Sum of all service times.
    pub(crate) busy_ns: u64,
    cells: [Option<Box<Latencies>>; CELLS],
    open: bool,
}

impl Recorder {
    /// A recorder with room for these operations when they succeed. `open` adds response and wait times.
    pub(crate) fn new(operations: &[Operation], open: bool) -> Box<Self> {
        let mut recorder = Box::new(Self {
            completed: Completed::default(),
            busy_ns: 0,
            cells: [const { None }; CELLS],
            open,
        });
        for operation in operations {
            recorder.cell(*operation, Status::Ok);
        }
        recorder
    }

    #[inline(always)]
    fn cell(&mut self, operation: Operation, status: Status) -> &mut Latencies {
        let open = self.open;
        self.cells[operation as usize * STATUSES + status as usize]
            .get_or_insert_with(|| new_cell(open))
    }

    /// Counts one latency: the three instants of an operation, in nanoseconds.
    #[inline(always)]
    pub(crate) fn record(
        &mut self,
        operation: Operation,
        status: Status,
        intended: u64,
        dispatched: u64,
        completed: u64,
    ) {
        let cell = self.cell(operation, status);
        cell.service.record(completed.saturating_sub(dispatched));
        if let Some(open) = &mut cell.open {
            open.response.record(completed.saturating_sub(intended));
            open.wait.record(dispatched.saturating_sub(intended));
        }
    }

    /// Everything counted, by operation and status.
    pub(crate) fn filled(&self) -> impl Iterator<Item = (Operation, Status, &Latencies)> {
        Operation::ALL.iter().flat_map(move |operation| {
            Status::ALL.iter().filter_map(move |status| {
                let cell =
                    self.cells[*operation as usize * STATUSES + *status as usize].as_deref()?;
                (cell.count() > 0).then_some((*operation, *status, cell))
            })
        })
    }

    /// Everything counted, as a slice has it.
    pub(crate) fn to_slices(&self) -> Vec<OperationSlice> {
        self.filled()
            .map(|(operation, status, latencies)| OperationSlice {
                operation,
                status,
                latencies: latencies.clone(),
            })
            .collect()
    }

    /// Empties it and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.completed = Completed::default();
        self.busy_ns = 0;
        for cell in self.cells.iter_mut().flatten() {
            if cell.count() == 0 {
                continue;
            }
            cell.service.clear();
            if let Some(open) = &mut cell.open {
                open.response.clear();
                open.wait.clear();
            }
        }
    }
}

#[cold]
fn new_cell(open: bool) -> Box<Latencies> {
    let mut cell = Box::<Latencies>::default();
    if open {
        cell.open = Some(Box::default());
    }
    cell
}

/// One session's share of one slice, on its way to the collector.
pub(crate) struct Part {
    pub(crate) session: usize,
    pub(crate) index: u32,
    pub(crate) recorder: Box<Recorder>,
    /// The slice in which the session is now; all before are handed over. `u32::MAX` when it has ended.
    pub(crate) now_in: u32,
}

/// A session's recorder of the running slice, handed over when the slice is past.
pub(crate) struct Hand {
    pub(crate) recorder: Box<Recorder>,
    session: usize,
    grid: Grid,
    index: u32,
    slice_end: u64,
    parts: SyncSender<Part>,
    spares: Receiver<Box<Recorder>>,
    operations: Vec<Operation>,
}

impl Hand {
    pub(crate) fn new(
        session: usize,
        grid: Grid,
        operations: &[Operation],
        open: bool,
        parts: SyncSender<Part>,
        spares: Receiver<Box<Recorder>>,
    ) -> Self {
        Self {
            recorder: Recorder::new(operations, open),
            session,
            grid,
            index: 0,
            slice_end: grid.end_of(0),
            parts,
            spares,
            operations: operations.to_vec(),
        }
    }

    /// To be called with the time of every completion before it is recorded.
    #[inline(always)]
    pub(crate) fn reach(&mut self, now: u64) {
        if now >= self.slice_end {
            self.pass_to(self.grid.index_of(now));
        }
    }

    /// When the running slice ends.
    #[inline]
    pub(crate) fn slice_end(&self) -> u64 {
        self.slice_end
    }

    /// Hands over the last share.
    pub(crate) fn end(mut self) {
        self.pass_to(u32::MAX);
    }

    #[cold]
    fn pass_to(&mut self, now_in: u32) {
        // The collector returns every recorder at once; should it be starved of CPU, a new one is better than waiting for it here.
        let next = match self.spares.try_recv() {
            Ok(spare) => spare,
            Err(_) => Recorder::new(&self.operations, self.recorder.open),
        };
        let full = std::mem::replace(&mut self.recorder, next);
        let part = Part {
            session: self.session,
            index: self.index,
            recorder: full,
            now_in,
        };
        // The collector lives as long as any session; if it is gone, nobody wants the share.
        let _ = self.parts.send(part);
        self.index = now_in;
        self.slice_end = self.grid.end_of(now_in);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorder_that_is_used_again_remembers_nothing() {
        for open in [false, true] {
            let mut used = Recorder::new(&[Operation::Read], open);
            used.record(Operation::Read, Status::Ok, 0, 10, 2_000_000);
            used.record(Operation::Update, Status::Error, 0, 0, 30);
            used.completed.add(Status::Ok);
            used.busy_ns = 2_000_020;
            used.clear();
            assert_eq!((used.completed, used.busy_ns), (Completed::default(), 0));
            assert!(used.filled().next().is_none());

            let mut new = Recorder::new(&[Operation::Read], open);
            for recorder in [&mut used, &mut new] {
                recorder.record(Operation::Read, Status::Ok, 100, 200, 700);
            }
            assert_eq!(used.to_slices(), new.to_slices());
            let response = used.to_slices()[0].latencies.response().max_ns();
            assert_eq!(response, Some(if open { 600 } else { 500 }));
        }
    }
}
