//! Measuring path: no allocation, lock, log or formatting here, save when the first operation of its kind fails, and when the collector was
//! kept from its work for a whole second.
//!
//! What the sessions of a point count, and what becomes of it each second.
//!
//! Every session counts into a [`Shard`], alone where there are few sessions, together with others where there are many: so memory does not
//! grow with their number. A shard has two tables for the warm-up and two for the measured part, which take turns from slice to slice: while
//! sessions fill one, the collector reads the other. Tables are never emptied; what a slice counted is what its table has more than at its
//! last reading. So no session ever hands anything over, and a slice is complete when it is over, also when a session is inside a long call.

use crate::counts::Counts;
use crate::exchange::Exchange;
use crate::grid::Grid;
use plimsoll_record::{
    Completed, Histogram, Latencies, OpenLatencies, Operation, OperationSlice, Status, bucket_of,
};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Mutex, OnceLock};

const STATUSES: usize = Status::ALL.len();
const TABLES: usize = 4;
/// The least number of shards where there are as many sessions, so that two sessions that run at the same time rarely share one.
const FEWEST_SHARDS: usize = 16;
/// With this many operations of an application or more, there are a quarter as many shards. Every shard needs memory for every operation: a page for each
/// doubling of its latency.
const MANY_OPERATIONS: usize = 8;

/// From this one on tables are of the measured part.
const MEASURED: usize = 2;

/// The table in which a slice is counted.
fn table_of(grid: Grid, index: u32) -> usize {
    MEASURED * usize::from(!grid.is_warm_up(index)) + (index % 2) as usize
}

impl Counts {
    #[inline(always)]
    fn add(&self, value_ns: u64, alone: bool) {
        let count = &self[bucket_of(value_ns)];
        if alone {
            count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
        } else {
            count.fetch_add(1, Relaxed);
        }
    }
}

/// Times of the operations of one kind and status.
struct Cell {
    service: Counts,
    /// Response and wait times, where operations are due at times of their own.
    timed: Option<(Counts, Counts)>,
}

impl Cell {
    fn new(timed: bool, at_once: bool) -> Box<Self> {
        let counts = || Counts::new(at_once);
        Box::new(Self { service: counts(), timed: timed.then(|| (counts(), counts())) })
    }
}

/// The rows of a table: first YCSB's operations, then those of the application by their slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row(usize);

impl Row {
    /// The row of the operation in this slot; the operations of YCSB have fixed rows.
    #[inline(always)]
    pub(crate) fn of(operation: Operation, slot: u8) -> Self {
        Self(match operation {
            Operation::Read => 0,
            Operation::Update => 1,
            Operation::Insert => 2,
            Operation::Scan => 3,
            Operation::ReadModifyWrite => 4,
            Operation::Delete => 5,
            Operation::Verify => 6,
            Operation::Own(_) => Operation::YCSB.len() + usize::from(slot),
        })
    }
}

/// What was counted in every other slice of the warm-up, or of the measured part.
struct Table {
    ok: AtomicU64,
    not_found: AtomicU64,
    error: AtomicU64,
    busy_ns: AtomicU64,
    /// One for each status of each row.
    cells: Box<[OnceLock<Box<Cell>>]>,
}

/// Where one session counts, or several. Apart from others in memory.
#[repr(align(128))]
struct Shard {
    tables: [Table; TABLES],
    /// The generator's own lateness in the measured part of an open loop.
    lag: Option<Counts>,
}

/// What all sessions of a point counted.
pub(crate) struct Recording {
    grid: Grid,
    /// The operation of each [`Row`].
    rows: Box<[Operation]>,
    timed: bool,
    /// Whether each session has a shard of its own.
    alone: bool,
    shards: Box<[Shard]>,
    exchange: Exchange<AtomicU32, Mutex<Reading>>,
}

/// What was read from the tables so far.
#[derive(Default)]
struct Reading {
    /// The sums of all shards at the last reading, by table, cell, and service, response or wait.
    sums: BTreeMap<(usize, usize, u8), Counts>,
    completed: [Completed; TABLES],
    /// Slices that were read and not taken.
    slices: BTreeMap<u32, Counted>,
}

/// The operations of one slice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counted {
    pub(crate) completed: Completed,
    pub(crate) operations: Vec<OperationSlice>,
}

impl Recording {
    /// Room for these operations when they succeed, in the tables of this many sessions. Those of an application are listed in the order of their slots. `timed`
    /// adds response and wait times, `open` the generator's lateness.
    pub(crate) fn new(
        grid: Grid,
        operations: &[Operation],
        sessions: u32,
        timed: bool,
        open: bool,
    ) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let own = operations.iter().filter(|operation| matches!(operation, Operation::Own(_)));
        let rows: Box<[Operation]> = Operation::YCSB.iter().chain(own).copied().collect();
        let has_many = rows.len() >= Operation::YCSB.len() + MANY_OPERATIONS;
        let most = cores.max(if has_many { FEWEST_SHARDS / 4 } else { FEWEST_SHARDS });
        let shard = || {
            let tables = std::array::from_fn(|_| Table::new(rows.len()));
            for table in &tables {
                for (row, operation) in rows.iter().enumerate() {
                    if operations.contains(operation) {
                        table.cell(Row(row), Status::Ok, timed);
                    }
                }
            }
            Shard { tables, lag: open.then(|| Counts::new(true)) }
        };
        let sessions = sessions as usize;
        Self {
            grid,
            timed,
            alone: sessions <= most,
            shards: (0..sessions.clamp(1, most)).map(|_| shard()).collect(),
            rows,
            exchange: Exchange::new(AtomicU32::new(0), Mutex::default()),
        }
    }

    /// Where this session counts, at the start of the point.
    pub(crate) fn recorder(&self, session: u32) -> Recorder<'_> {
        let shard = &self.shards[session as usize % self.shards.len()];
        Recorder {
            recording: self,
            shard,
            table: &shard.tables[table_of(self.grid, 0)],
            slice_end: self.grid.end_of(0),
            measured_from: self.grid.measured_from(),
            alone: self.alone,
            timed: self.timed,
        }
    }

    /// The operations of a slice that is over. Each slice can be taken once.
    pub(crate) fn take(&self, index: u32) -> Counted {
        let read = |index, reading: &mut Reading| self.read(index, reading);
        let take = |reading: &mut Reading| reading.slices.remove(&index);
        self.exchange.after(index, read, take).unwrap_or_default()
    }

    /// Time that sessions spent inside engine calls in the measured part, nanoseconds over all sessions.
    pub(crate) fn busy_ns(&self) -> u64 {
        let measured = self.shards.iter().flat_map(|shard| &shard.tables[MEASURED..]);
        measured.map(|table| table.busy_ns.load(Relaxed)).sum()
    }

    /// The generator's own lateness in the measured part of an open loop.
    pub(crate) fn lag(&self) -> Option<Histogram> {
        let mut lag = None::<Histogram>;
        for counts in self.shards.iter().filter_map(|shard| shard.lag.as_ref()) {
            let lag = lag.get_or_insert_default();
            for (bucket, count) in counts.iter().enumerate() {
                match count.load(Relaxed) {
                    0 => {}
                    count => lag.record_bucket(bucket, u64::from(count)),
                }
            }
        }
        lag
    }

    /// Reads a slice for who takes it later.
    fn read(&self, index: u32, reading: &mut Reading) {
        let counted = self.count(table_of(self.grid, index), reading);
        reading.slices.insert(index, counted);
    }

    /// What a table has more than at its last reading.
    fn count(&self, table: usize, reading: &mut Reading) -> Counted {
        let mut completed = Completed::default();
        for table in self.shards.iter().map(|shard| &shard.tables[table]) {
            completed.ok += table.ok.load(Relaxed);
            completed.not_found += table.not_found.load(Relaxed);
            completed.error += table.error.load(Relaxed);
        }
        let before = std::mem::replace(&mut reading.completed[table], completed);
        completed.ok -= before.ok;
        completed.not_found -= before.not_found;
        completed.error -= before.error;

        let mut operations = Vec::new();
        for (row, operation) in self.rows.iter().copied().enumerate() {
            for status in Status::ALL {
                let number = cell_of(Row(row), status);
                let cells = || {
                    let tables = self.shards.iter().map(|shard| &shard.tables[table]);
                    tables.filter_map(|table| table.cells[number].get())
                };
                if cells().next().is_none() {
                    continue;
                }
                let mut latencies = Latencies {
                    service: Histogram::new(),
                    open: self.timed.then(Box::<OpenLatencies>::default),
                };
                let of = |kind| (table, number, kind);
                let service = cells().map(|cell| &cell.service);
                reading.add(of(0), service, &mut latencies.service);
                if let Some(open) = &mut latencies.open {
                    let timed = || cells().filter_map(|cell| cell.timed.as_ref());
                    reading.add(of(1), timed().map(|(counts, _)| counts), &mut open.response);
                    reading.add(of(2), timed().map(|(_, counts)| counts), &mut open.wait);
                }
                // An application has many operations: all histograms of a slice would take tens of megabytes.
                if matches!(operation, Operation::Own(_)) {
                    latencies.service = latencies.service.packed();
                    latencies.open = latencies.open.map(|open| {
                        let OpenLatencies { response, wait } = *open;
                        Box::new(OpenLatencies { response: response.packed(), wait: wait.packed() })
                    });
                }
                if latencies.count() > 0 {
                    operations.push(OperationSlice { operation, status, latencies });
                }
            }
        }
        Counted { completed, operations }
    }
}

impl Reading {
    /// Adds to a histogram what these counts have more than at their last reading.
    fn add<'a>(
        &mut self,
        key: (usize, usize, u8),
        counts: impl Iterator<Item = &'a Counts>,
        histogram: &mut Histogram,
    ) {
        let counts: Vec<&Counts> = counts.collect();
        let sums = self.sums.entry(key).or_insert_with(|| Counts::new(false));
        // Nothing is written where nothing was counted, so that it takes no memory.
        for (bucket, sum) in sums.iter().enumerate() {
            let counted = counts.iter().map(|counts| counts[bucket].load(Relaxed));
            let now = counted.fold(0, u32::wrapping_add);
            let more = now.wrapping_sub(sum.load(Relaxed));
            if more > 0 {
                histogram.record_bucket(bucket, u64::from(more));
                sum.store(now, Relaxed);
            }
        }
    }
}

#[inline(always)]
fn cell_of(row: Row, status: Status) -> usize {
    row.0 * STATUSES + status as usize
}

impl Table {
    fn new(rows: usize) -> Self {
        Self {
            ok: AtomicU64::new(0),
            not_found: AtomicU64::new(0),
            error: AtomicU64::new(0),
            busy_ns: AtomicU64::new(0),
            cells: (0..rows * STATUSES).map(|_| OnceLock::new()).collect(),
        }
    }

    #[inline(always)]
    fn cell(&self, row: Row, status: Status, timed: bool) -> &Cell {
        self.cells[cell_of(row, status)]
            .get_or_init(|| Cell::new(timed, row.0 < Operation::YCSB.len()))
    }
}

/// One session's way into its shard.
pub(crate) struct Recorder<'a> {
    recording: &'a Recording,
    shard: &'a Shard,
    table: &'a Table,
    slice_end: u64,
    /// Begin of the measured part, nanoseconds from that of the point.
    measured_from: u64,
    alone: bool,
    timed: bool,
}

impl Recorder<'_> {
    /// Whether what completes now is of the measured part.
    #[inline(always)]
    pub(crate) fn is_measured(&self, now: u64) -> bool {
        now >= self.measured_from
    }

    /// To be called with the time of every completion before it is recorded.
    #[inline(always)]
    pub(crate) fn reach(&mut self, now: u64) {
        if now >= self.slice_end {
            self.pass_to(self.recording.grid.index_of(now));
        }
    }

    #[cold]
    fn pass_to(&mut self, index: u32) {
        let recording = self.recording;
        let read = |index, reading: &mut Reading| recording.read(index, reading);
        recording.exchange.before_counting_in(index, read);
        self.table = &self.shard.tables[table_of(recording.grid, index)];
        self.slice_end = recording.grid.end_of(index);
    }

    /// Counts the times of one operation, from its three instants in nanoseconds.
    #[inline(always)]
    pub(crate) fn record(
        &mut self,
        row: Row,
        status: Status,
        intended: u64,
        dispatched: u64,
        completed: u64,
    ) {
        let cell = self.table.cell(row, status, self.timed);
        cell.service.add(completed.saturating_sub(dispatched), self.alone);
        if let Some((response, wait)) = &cell.timed {
            response.add(completed.saturating_sub(intended), self.alone);
            wait.add(dispatched.saturating_sub(intended), self.alone);
        }
    }

    /// Counts units of work. What does not succeed is one, however many it would have been.
    #[inline(always)]
    pub(crate) fn complete(&mut self, status: Status, units: u32) {
        let is_done = matches!(status, Status::Ok | Status::Batched);
        self.add(
            match status {
                Status::Ok | Status::Batched => &self.table.ok,
                Status::NotFound => &self.table.not_found,
                Status::Error => &self.table.error,
            },
            if is_done { u64::from(units) } else { 1 },
        );
    }

    /// Counts time inside the engine, but for what lies before the measured part.
    #[inline(always)]
    pub(crate) fn busy(&mut self, dispatched: u64, completed: u64) {
        let from = dispatched.max(self.measured_from);
        self.add(&self.table.busy_ns, completed.saturating_sub(from));
    }

    /// The same of an operation that is not over when the point ends. It belongs to no slice, but to the time of its session: an engine that stands still at the end
    /// would look like a session that is not in it.
    #[cold]
    pub(crate) fn busy_at_the_end(&mut self, dispatched: u64, deadline: u64) {
        let from = dispatched.max(self.measured_from);
        self.add(&self.shard.tables[MEASURED].busy_ns, deadline.saturating_sub(from));
    }

    /// Counts how late the generator was by itself.
    #[inline]
    pub(crate) fn lag(&mut self, nanos: u64) {
        if let Some(lag) = &self.shard.lag {
            lag.add(nanos, self.alone);
        }
    }

    #[inline(always)]
    fn add(&self, sum: &AtomicU64, more: u64) {
        if self.alone {
            sum.store(sum.load(Relaxed).wrapping_add(more), Relaxed);
        } else {
            sum.fetch_add(more, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::SLICE_NS;

    const READS: [Operation; 1] = [Operation::Read];

    /// Operations that complete at these times, of two sessions in turns.
    fn count(recorders: &mut [Recorder<'_>], times: &[u64]) {
        for (number, time) in times.iter().enumerate() {
            let recorder = &mut recorders[number % 2];
            recorder.reach(*time);
            recorder.record(Row::of(Operation::Read, 0), Status::Ok, 0, 0, 1_000);
            recorder.complete(Status::Ok, 1);
            recorder.busy(*time, *time + 1_000);
        }
    }

    fn read(counted: &Counted) -> (u64, u64) {
        let operations = counted.operations.iter();
        let times = operations.map(|part| part.latencies.count()).sum();
        (counted.completed.ok, times)
    }

    #[test]
    fn each_of_ycsbs_operations_has_the_row_of_its_place() {
        for (place, operation) in Operation::YCSB.into_iter().enumerate() {
            assert_eq!(Row::of(operation, 9), Row(place));
        }
    }

    /// Few sessions have a shard each, many share them: what comes out is the same.
    #[test]
    fn a_slice_has_what_completed_in_it() {
        for sessions in [2, 10_000] {
            let recording = Recording::new(Grid::new(0), &READS, sessions, true, true);
            let mut both = [recording.recorder(0), recording.recorder(16)];
            for slice in 0..6 {
                let begin = u64::from(slice) * SLICE_NS;
                let times: Vec<u64> = (0..u64::from(slice)).map(|at| begin + at).collect();
                count(&mut both, &times);
                let expected = u64::from(slice);
                assert_eq!(read(&recording.take(slice)), (expected, expected));
            }
            assert_eq!(recording.busy_ns(), 15_000);
        }
    }

    /// The collector reads nothing for five seconds; sessions read for it what they would write over.
    #[test]
    fn nothing_is_counted_in_another_slice_when_the_collector_is_late() {
        let grid = Grid::new(SLICE_NS);
        let recording = Recording::new(grid, &READS, 2, false, false);
        let mut both = [recording.recorder(0), recording.recorder(1)];
        let second = SLICE_NS;
        let times = [0, 1, second, second + 1, second + 2, 4 * second, 5 * second, 5 * second + 1];
        count(&mut both, &times);
        let slices: Vec<u64> = (0..7).map(|slice| read(&recording.take(slice)).0).collect();
        assert_eq!(slices, [2, 3, 0, 0, 1, 2, 0]);
        assert_eq!(recording.busy_ns(), 6_000, "the warm-up is not counted");
        assert_eq!(recording.lag(), None);
    }

    #[test]
    fn a_kind_of_failure_that_was_not_expected_is_counted() {
        let recording = Recording::new(Grid::new(0), &READS, 1, false, false);
        let mut one = recording.recorder(0);
        one.record(Row::of(Operation::Delete, 0), Status::Error, 0, 0, 5);
        one.complete(Status::Error, 1);
        let counted = recording.take(0);
        assert_eq!(counted.completed.error, 1);
        let parts: Vec<_> =
            counted.operations.iter().map(|part| (part.operation, part.status)).collect();
        assert_eq!(parts, [(Operation::Delete, Status::Error)]);
    }

    /// Counts of 32 bits wrap around in long points at high rates.
    #[test]
    fn counts_that_wrap_around_lose_nothing() {
        let recording = Recording::new(Grid::new(0), &READS, 1, false, false);
        let cell =
            recording.shards[0].tables[2].cell(Row::of(Operation::Read, 0), Status::Ok, false);
        cell.service[7].store(u32::MAX, Relaxed);
        assert_eq!(recording.take(0).operations[0].latencies.count(), u64::from(u32::MAX));
        let mut one = recording.recorder(0);
        for _ in 0..3 {
            one.reach(2 * SLICE_NS);
            one.record(Row::of(Operation::Read, 0), Status::Ok, 0, 0, 7);
        }
        assert_eq!(recording.take(2).operations[0].latencies.count(), 3);
    }
}
