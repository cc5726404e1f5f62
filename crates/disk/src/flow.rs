//! Requests from their arrival to their answer: when each is due, what they add up to, and the trace.

use crate::shaper::{Request, RequestKind, Shaper, Timeline};
use crate::{Counters, Way};
use hdrhistogram::Histogram;
use plimsoll_record::{DiskSpec, EventRecord, EventSpec, Lateness};
use plimsoll_trace::{Kind, Writer, monotonic_ns};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Draws of latencies are the same for every disk of the same description.
const SEED: u64 = 42;
/// The latest answer that is distinguished from later ones, nanoseconds.
const LONGEST_LATENESS_NS: u64 = 60_000_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) request: Request,
    pub(crate) offset: u64,
    at_ns: u64,
    in_flight: u16,
    /// Whether it is one of the disk's users, and not of a measurement of the way.
    is_counted: bool,
    /// When its answer is due.
    pub(crate) due_ns: u64,
    /// Whether it fails with an I/O error, and nothing is read or written.
    pub(crate) fails: bool,
    /// Whether a stall of the disk holds its answer.
    stalls: bool,
}

impl Arrival {
    /// The same, no longer to be held.
    pub(crate) fn due_at_once(mut self) -> Self {
        self.due_ns = self.at_ns;
        self
    }

    /// The same, which no stall holds.
    pub(crate) fn past_stalls(mut self) -> Self {
        self.stalls = false;
        self
    }

    /// Does its work, unless it is to fail.
    pub(crate) fn work<T: Default>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if self.fails { Ok(T::default()) } else { work() }
    }
}

/// What all threads of the daemon share.
pub(crate) struct Flow {
    state: Mutex<State>,
    /// Whether any answer may have to be held.
    may_hold: AtomicBool,
    trace: Option<Writer>,
}

struct State {
    spec: DiskSpec,
    shaper: Shaper,
    /// Answers that are held are given this much earlier.
    way: Way,
    /// Every request is held for just this long, while the way is measured.
    hold_ns: Option<u64>,
    counters: Counters,
    changed_ns: u64,
    lateness: Histogram<u64>,
}

impl Flow {
    pub(crate) fn new(spec: &DiskSpec, shaped: bool, trace: Option<Writer>) -> Self {
        let mut lateness = Histogram::new_with_bounds(1, LONGEST_LATENESS_NS, 2)
            .expect("the bounds of the histogram are constants");
        lateness.auto(false);
        let counters = Counters { shaped, ..Counters::default() };
        Self {
            may_hold: AtomicBool::new(shaped && spec.is_limited()),
            state: Mutex::new(State {
                spec: spec.clone(),
                shaper: Shaper::new(spec, SEED),
                way: Way::default(),
                hold_ns: None,
                counters,
                changed_ns: monotonic_ns(),
                lateness,
            }),
            trace,
        }
    }

    /// Whether requests come through rings from now on.
    pub(crate) fn use_rings(&self, rings: bool) {
        self.state().counters.rings = rings;
    }

    /// From now on held answers are given this much earlier.
    pub(crate) fn allow_for(&self, way: Way) {
        self.state().way = way;
    }

    /// Holds every request for just this long, whatever the disk is, and counts and traces none; or ends that.
    pub(crate) fn hold_all(&self, hold_ns: Option<u64>) {
        let mut state = self.state();
        state.hold_ns = hold_ns;
        self.changed(&state);
    }

    /// Whether answers may have to be held. The threads that give them need real-time priority then.
    pub(crate) fn may_hold(&self) -> bool {
        self.may_hold.load(Ordering::Relaxed)
    }

    /// Finds out again whether answers may have to be held, after a change of the limits or events.
    fn changed(&self, state: &State) {
        let by_limits = state.spec.is_limited() || !state.shaper.timeline.is_empty();
        let may_hold = state.hold_ns.is_some() || state.counters.shaped && by_limits;
        self.may_hold.store(may_hold, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request is here, and the disk says when it will be answered.
    pub(crate) fn arrive(&self, kind: RequestKind, offset: u64, bytes: u64) -> Arrival {
        let request = Request { kind, bytes };
        let mut state = self.state();
        // The clock is read under the lock, so that the shaper gets requests in their order.
        let at_ns = monotonic_ns();
        let due_ns = state.due_ns(at_ns, request);
        let is_counted = state.hold_ns.is_none();
        let mut fails = false;
        if is_counted {
            self.pass_edges(&mut state, at_ns);
            state.flow_until(at_ns);
            state.counters.in_flight += 1;
            fails = state.counters.shaped && state.shaper.timeline.fails(at_ns, kind);
        }
        Arrival {
            request,
            offset,
            at_ns,
            in_flight: u16::try_from(state.counters.in_flight).unwrap_or(u16::MAX),
            is_counted,
            due_ns,
            fails,
            stalls: true,
        }
    }

    /// Its answer is given now. In a stall it is not, and the error is the end of the stall.
    pub(crate) fn answer(&self, arrival: &Arrival) -> Result<(), u64> {
        if !arrival.is_counted {
            return Ok(());
        }
        let state = self.state();
        let now_ns = monotonic_ns();
        match state.shaper.timeline.stall_end(now_ns) {
            Some(end_ns) if state.counters.shaped && arrival.stalls => Err(end_ns),
            _ => {
                self.count(state, now_ns, arrival);
                Ok(())
            }
        }
    }

    /// Counts and traces a request that is answered now.
    fn count(&self, mut state: MutexGuard<'_, State>, now_ns: u64, arrival: &Arrival) {
        self.pass_edges(&mut state, now_ns);
        let latency_ns = now_ns.saturating_sub(arrival.at_ns);
        // An answer that was never to be held cannot be late: the disk is as fast as its host.
        let is_held = arrival.due_ns > arrival.at_ns;
        let lateness_ns = if is_held { now_ns.saturating_sub(arrival.due_ns) } else { 0 };
        state.flow_until(now_ns);
        state.counters.in_flight -= 1;
        let bytes = arrival.request.bytes;
        let counters = &mut state.counters;
        let kind = match arrival.request.kind {
            RequestKind::Read => {
                counters.reads += 1;
                counters.read_bytes += bytes;
                counters.read_ns += latency_ns;
                Kind::Read
            }
            RequestKind::Write => {
                counters.writes += 1;
                counters.written_bytes += bytes;
                counters.write_ns += latency_ns;
                Kind::Write
            }
            RequestKind::Flush => {
                counters.flushes += 1;
                counters.flush_ns += latency_ns;
                Kind::Flush
            }
            RequestKind::Discard => {
                counters.discards += 1;
                Kind::Discard
            }
        };
        counters.errors += u64::from(arrival.fails);
        if is_held {
            state.lateness.saturating_record(lateness_ns.max(1));
        }
        drop(state);
        if let Some(trace) = &self.trace {
            trace.record(&plimsoll_trace::Request {
                time_ns: arrival.at_ns,
                offset: arrival.offset,
                length: u32::try_from(bytes).unwrap_or(u32::MAX),
                kind,
                latency_ns,
                in_flight: arrival.in_flight,
                lateness_ns: u32::try_from(lateness_ns).unwrap_or(u32::MAX),
            });
        }
    }

    /// The host could not do it.
    pub(crate) fn fail(&self, arrival: Arrival) {
        let mut state = self.state();
        state.counters.failed += 1;
        if arrival.is_counted {
            let now_ns = monotonic_ns();
            self.count(state, now_ns, &arrival.due_at_once());
        }
    }

    /// Puts the limits in force, or takes them away. What was admitted before no longer counts.
    pub(crate) fn shape(&self, shaped: bool) {
        let mut state = self.state();
        if state.counters.shaped != shaped {
            state.counters.shaped = shaped;
            state.shaper.empty_queues();
            self.changed(&state);
        }
    }

    /// Capacity and backing stay what they are.
    pub(crate) fn respec(&self, spec: &DiskSpec) {
        let mut state = self.state();
        let DiskSpec { capacity_bytes, backing, .. } = state.spec;
        state.spec = DiskSpec { capacity_bytes, backing, ..spec.clone() };
        let shaper = Shaper::new(&state.spec, SEED);
        let timeline = std::mem::replace(&mut state.shaper, shaper).timeline;
        state.shaper.timeline = timeline;
        self.changed(&state);
    }

    /// Replaces the events of the disk; times count from `start_ns` of the monotonic clock. Returns what happened of those before.
    pub(crate) fn set_timeline(&self, events: &[EventSpec], start_ns: u64) -> Vec<EventRecord> {
        let mut state = self.state();
        let now_ns = monotonic_ns();
        self.pass_edges(&mut state, now_ns);
        let timeline = Timeline::new(events, start_ns, now_ns, SEED);
        let before = std::mem::replace(&mut state.shaper.timeline, timeline);
        self.changed(&state);
        before.records(now_ns)
    }

    /// Marks the edges of events that came since the last look, at their own times.
    fn pass_edges(&self, state: &mut State, now_ns: u64) {
        for (at_ns, label) in state.shaper.timeline.pass(now_ns) {
            if let Some(trace) = &self.trace {
                trace.mark(at_ns, &label);
            }
        }
    }

    pub(crate) fn mark(&self, label: &str) {
        if let Some(trace) = &self.trace {
            trace.mark(monotonic_ns(), label);
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        let mut state = self.state();
        let now_ns = monotonic_ns();
        self.pass_edges(&mut state, now_ns);
        state.flow_until(now_ns);
        let lateness = &state.lateness;
        Counters {
            cpu_ns: process_cpu_ns(),
            credits: state.shaper.credits(now_ns),
            lateness: Lateness {
                held: lateness.len(),
                p50_ns: lateness.value_at_quantile(0.5),
                p99_ns: lateness.value_at_quantile(0.99),
                max_ns: lateness.max(),
                rings: Some(state.counters.rings),
            },
            ..state.counters
        }
    }
}

fn process_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl State {
    /// When the answer to a request that arrives now is due, so that it reaches the caller when the disk would have answered.
    fn due_ns(&mut self, at_ns: u64, request: Request) -> u64 {
        if let Some(hold_ns) = self.hold_ns {
            return at_ns.saturating_add(hold_ns);
        }
        if !self.counters.shaped {
            return at_ns;
        }
        let due_ns = self.shaper.admit(at_ns, request);
        let way_ns = self.way.ns(request.kind, due_ns.saturating_sub(at_ns));
        self.shaper.timeline.after_stall(due_ns.saturating_sub(way_ns).max(at_ns))
    }

    /// Adds up the time since the number of requests in flight changed last.
    fn flow_until(&mut self, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.changed_ns);
        self.changed_ns = now_ns;
        if self.counters.in_flight > 0 {
            self.counters.busy_ns += elapsed_ns;
            self.counters.queue_ns += self.counters.in_flight * elapsed_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{Act, DiskFault, DiskLatency};

    const READ: Request = Request { kind: RequestKind::Read, bytes: 4096 };
    fn spec(ns: u64) -> DiskSpec {
        let latency = DiskLatency::Constant { ns };
        DiskSpec {
            read_latency: latency.clone(),
            write_latency: latency.clone(),
            flush_latency: latency,
            ..DiskSpec::unlimited(1 << 20)
        }
    }

    fn flow(ns: u64) -> Flow {
        Flow::new(&spec(ns), true, None)
    }

    fn way() -> Way {
        let text =
            r#"{"reads":[[25000,25000],[135000,35000]],"writes":[],"flushes":[[50000,50000]]}"#;
        serde_json::from_str(text).expect("a way")
    }

    /// With a clock of the test's own.
    #[test]
    fn answers_are_earlier_by_the_way_that_was_measured_and_by_nothing_else() {
        let flow = flow(80_000);
        let mut state = flow.state();
        assert_eq!(state.due_ns(1_000_000, READ), 1_080_000);
        state.way = way();
        assert_eq!(state.due_ns(2_000_000, READ), 2_050_000);
        let write = Request { kind: RequestKind::Write, ..READ };
        assert_eq!(state.due_ns(3_000_000, write), 3_080_000);
        let flush = Request { kind: RequestKind::Flush, ..READ };
        assert_eq!(state.due_ns(3_500_000, flush), 3_530_000);
        // A latency that is shorter than the way: at once, and not before it came.
        state.shaper = Shaper::new(&spec(20_000), SEED);
        assert_eq!(state.due_ns(4_000_000, READ), 4_000_000);
        // No way leads into a stall.
        state.shaper.timeline = Timeline::new(&[during(5_000_000, DiskFault::Stall)], 0, 0, SEED);
        assert_eq!(state.due_ns(5_000_500, READ), 5_001_000);
    }

    /// For a microsecond.
    fn during(at_ns: u64, fault: DiskFault) -> EventSpec {
        EventSpec { at_ns, act: Act::Disk { for_ns: 1_000, fault } }
    }

    #[test]
    fn a_request_is_answered_after_a_stall_and_without_limits_at_once() {
        let flow = flow(1);
        let hour_ns = 3_600_000_000_000;
        let stall = Act::Disk { for_ns: hour_ns, fault: DiskFault::Stall };
        let before = flow.arrive(RequestKind::Read, 0, 4096);
        let start_ns = monotonic_ns();
        assert_eq!(flow.set_timeline(&[EventSpec { at_ns: 0, act: stall }], start_ns), []);
        let end_ns = start_ns + hour_ns;
        assert_eq!(flow.answer(&before), Err(end_ns));
        assert_eq!(flow.arrive(RequestKind::Write, 0, 4096).due_ns, end_ns + 1);
        flow.respec(&spec(2));
        assert_eq!(flow.answer(&before), Err(end_ns), "other limits leave the events");
        flow.shape(false);
        assert_eq!(flow.answer(&before), Ok(()));
        let happened = flow.set_timeline(&[], 0);
        assert_eq!((happened.len(), happened[0].event, happened[0].until_ns), (1, 0, None));
        assert!(happened[0].at_ns >= start_ns);
        assert_eq!(flow.answer(&flow.arrive(RequestKind::Read, 0, 4096)), Ok(()));
    }

    #[test]
    fn a_request_that_is_made_to_fail_does_no_work_and_is_counted() {
        let flow = flow(1);
        let fault = DiskFault::Errors { read: 0.0, write: 1.0, flush: 0.0 };
        let act = Act::Disk { for_ns: 3_600_000_000_000, fault };
        flow.set_timeline(&[EventSpec { at_ns: 0, act }], monotonic_ns());
        for (kind, fails) in [(RequestKind::Read, false), (RequestKind::Write, true)] {
            let arrival = flow.arrive(kind, 0, 4096);
            let mut has_worked = false;
            let worked = arrival.work(|| {
                has_worked = true;
                Ok(())
            });
            assert!(worked.is_ok());
            assert_eq!((arrival.fails, has_worked), (fails, !fails));
            flow.answer(&arrival).unwrap();
        }
        let counters = flow.counters();
        assert_eq!((counters.errors, counters.writes, counters.failed), (1, 1, 0));
    }

    #[test]
    fn requests_that_measure_the_way_are_held_as_long_and_leave_no_trace() {
        let flow = flow(80_000);
        flow.allow_for(way());
        flow.hold_all(Some(500_000));
        let arrival = flow.arrive(RequestKind::Read, 0, 4096);
        assert_eq!(arrival.due_ns - arrival.at_ns, 500_000);
        flow.hold_all(None);
        flow.answer(&arrival).unwrap();
        let counters = flow.counters();
        assert_eq!(counters.reads, 0);
        assert_eq!(counters.in_flight, 0);
        assert_eq!(counters.busy_ns, 0);
        assert_eq!(counters.lateness.held, 0);
        let arrival = flow.arrive(RequestKind::Read, 0, 4096);
        assert_eq!(arrival.due_ns - arrival.at_ns, 50_000);
    }
}
