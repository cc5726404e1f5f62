//! Whole points on a clock that jumps, with a database of one server on the same clock: what must come out can be computed.

mod allocation;
mod paced;
mod queue;
mod shares;
mod start;
mod statements;
mod window;

use crate::clock::{Clock, ClockStart};
use crate::point::run_point_on;
use crate::spec::{PointSpec, SliceSink};
use plimsoll_engine::{Engine, EngineError, FieldVisitor, Outcome, Session};
use plimsoll_record::{EngineDescription, Histogram, PointEnd, Slice};
use plimsoll_workload::schedule::{Load, Share};
use plimsoll_workload::{DataSpec, FieldChoice, Fields, KeySpace, Mix, Stream, Workload};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Moves to whatever time is waited for, or later by the delay that was set for wake-ups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jumping {
    now: Arc<AtomicU64>,
    lag: Option<Arc<Mutex<Stream>>>,
    /// How much later the next sleeper wakes.
    stop: Arc<AtomicU64>,
}

/// A sleeping thread is woken up to this much too late, all delays being equally likely.
const LONGEST_DELAY: u64 = 500_000;

impl Jumping {
    /// One that wakes its sleepers late.
    fn lagging() -> Self {
        Self { lag: Some(Arc::new(Mutex::new(Stream::from_state(11)))), ..Self::default() }
    }

    /// The next sleep ends this much later.
    fn stop_next_sleeper(&self, nanos: u64) {
        self.stop.store(nanos, Ordering::Relaxed);
    }

    pub(crate) fn jump_to(&self, time_ns: u64) {
        self.now.fetch_max(time_ns, Ordering::Relaxed);
    }
}

impl Clock for Jumping {
    fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    fn sleep_until(&self, time_ns: u64, limit_ns: u64) -> u64 {
        let late = |stream: &Arc<Mutex<Stream>>| {
            (stream.lock().unwrap().unit() * LONGEST_DELAY as f64) as u64
        };
        let lag = self.lag.as_ref().filter(|_| time_ns <= limit_ns);
        let stop = self.stop.swap(0, Ordering::Relaxed);
        self.jump_to(time_ns.min(limit_ns) + lag.map_or(0, late) + stop);
        self.now()
    }
}

/// Where the tests' clocks have their zero on `CLOCK_MONOTONIC`.
const ORIGIN: u64 = 7 * SECOND;

impl ClockStart for Jumping {
    type Clock = Self;

    fn monotonic_ns(&self) -> u64 {
        ORIGIN + self.now()
    }

    fn sleep(&self, nanos: u64) {
        self.jump_to(self.now() + nanos);
    }

    fn start(&self) -> (Self, u64) {
        (self.clone(), ORIGIN)
    }
}

/// A call to a [`Server`].
#[derive(Clone, Copy, PartialEq)]
enum CommandKind {
    Insert,
    Flush,
    Other,
}

type Answer = dyn FnMut(CommandKind, &Jumping) -> Option<Outcome> + Send;

/// A server that lets the time of each service pass before it answers. For one session.
#[derive(Clone)]
struct Server {
    clock: Jumping,
    answer: Arc<Mutex<Answer>>,
}

impl Server {
    /// It says when a service ends that begins now, and all is well.
    fn new(clock: &Jumping, mut end_of: impl FnMut(u64) -> u64 + Send + 'static) -> Self {
        Self::answering(clock, move |requested, clock| {
            if requested == CommandKind::Flush {
                return None;
            }
            clock.jump_to(end_of(clock.now()));
            Some(Outcome::Ok)
        })
    }

    fn answering(
        clock: &Jumping,
        answer: impl FnMut(CommandKind, &Jumping) -> Option<Outcome> + Send + 'static,
    ) -> Self {
        Self { clock: clock.clone(), answer: Arc::new(Mutex::new(answer)) }
    }

    fn serve(&self, requested: CommandKind) -> Outcome {
        self.answer.lock().unwrap()(requested, &self.clock).unwrap()
    }
}

impl Engine for Server {
    fn description(&self) -> EngineDescription {
        EngineDescription::default()
    }

    fn session(&self) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(self.clone()))
    }

    fn count(&self) -> Result<Option<u64>, EngineError> {
        Ok(None)
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

impl Session for Server {
    fn read(&mut self, _: &[u8], _: FieldChoice<'_>, _: Option<&mut dyn FieldVisitor>) -> Outcome {
        self.serve(CommandKind::Other)
    }

    fn update(&mut self, _: &[u8], _: Fields<'_>) -> Outcome {
        self.serve(CommandKind::Other)
    }

    fn insert(&mut self, _: &[u8], _: Fields<'_>) -> Outcome {
        self.serve(CommandKind::Insert)
    }

    fn scan(&mut self, _: &[u8], _: u32, _: FieldChoice<'_>, _: &mut u32) -> Outcome {
        self.serve(CommandKind::Other)
    }

    fn delete(&mut self, _: &[u8]) -> Outcome {
        self.serve(CommandKind::Other)
    }

    fn flush(&mut self) -> Option<Outcome> {
        self.answer.lock().unwrap()(CommandKind::Flush, &self.clock)
    }
}

/// Keeps all slices, and counts how often the measured part began.
#[derive(Default)]
struct Keep {
    slices: Vec<Slice>,
    begins: u32,
}

impl SliceSink for Keep {
    fn slice(&mut self, slice: Slice) {
        self.slices.push(slice);
    }

    fn measuring_begins(&mut self, _: Duration) {
        self.begins += 1;
    }
}

/// A point with its slices.
struct MeasuredPoint {
    end: PointEnd,
    slices: Vec<Slice>,
    begins: u32,
}

impl MeasuredPoint {
    /// Service, response and wait times of all slices.
    fn histograms(&self) -> [Histogram; 3] {
        let mut all = [Histogram::new(), Histogram::new(), Histogram::new()];
        for operation in self.slices.iter().flat_map(|slice| &slice.operations) {
            all[0].merge(&operation.latencies.service);
            all[1].merge(operation.latencies.response());
            if let Some(wait) = operation.latencies.wait() {
                all[2].merge(wait);
            }
        }
        all
    }

    fn completed(&self) -> u64 {
        let completed = self.slices.iter().map(|slice| slice.completed.total());
        completed.sum()
    }

    fn unfinished(&self) -> Histogram {
        self.end.unfinished.clone().unwrap_or_default()
    }
}

fn workload(mix: &Mix) -> Arc<Workload> {
    let key_space = KeySpace::new(&DataSpec::with_records(100)).unwrap();
    Arc::new(Workload::new(&key_space, mix, 1, None).unwrap())
}

fn spec(load: Load, warm_up_ns: u64, duration_ns: u64) -> PointSpec {
    PointSpec {
        load,
        warm_up_ns,
        duration_ns,
        operations: None,
        seed: 7,
        verify: false,
        share: Share::WHOLE,
    }
}

fn closed() -> Load {
    Load::closed(1)
}

fn open(rate: f64, arrivals: plimsoll_workload::schedule::Arrivals) -> Load {
    Load::Open { rate, arrivals, sessions: 1 }
}

/// Reads only, from one session and one server.
fn measure(spec: &PointSpec, end_of: impl FnMut(u64) -> u64 + Send + 'static) -> MeasuredPoint {
    measure_on(Jumping::default(), spec, end_of)
}

/// The same on that clock.
fn measure_on(
    clock: Jumping,
    spec: &PointSpec,
    end_of: impl FnMut(u64) -> u64 + Send + 'static,
) -> MeasuredPoint {
    let server = Server::new(&clock, end_of);
    let mix = Mix::preset("c").unwrap();
    let mut keep = Keep::default();
    let workload = workload(&mix);
    let end = run_point_on(&server, &workload, spec, &mix, &mut keep, |_| (), &clock).unwrap();
    let indices = keep.slices.iter().map(|slice| slice.index);
    let each_once = indices.eq(0..keep.slices.len() as u32);
    assert!(each_once, "each second is one slice, in order");
    MeasuredPoint { end, slices: keep.slices, begins: keep.begins }
}
