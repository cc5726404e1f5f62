//! Requests from their arrival to their answer: when each is due, what they add up to, and the trace.

use crate::shaper::{Request, RequestKind, Shaper};
use crate::{Counters, Way};
use hdrhistogram::Histogram;
use plimsoll_record::{DiskSpec, Lateness};
use plimsoll_trace::{Kind, Writer, monotonic_ns};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Draws of latencies are the same for every disk of the same description.
const SEED: u64 = 42;
/// The latest answer that is distinguished from later ones, nanoseconds.
const LONGEST_LATENESS_NS: u64 = 60_000_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) request: Request,
    offset: u64,
    at_ns: u64,
    in_flight: u16,
    /// Whether it is one of the disk's users, and not of a measurement of the way.
    is_counted: bool,
    /// When its answer is to be given.
    pub(crate) due_ns: u64,
}

impl Arrival {
    /// The same, no longer to be held.
    pub(crate) fn due_at_once(mut self) -> Self {
        self.due_ns = self.at_ns;
        self
    }
}

/// What all threads of the daemon share.
pub(crate) struct Flow {
    state: Mutex<State>,
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

    /// From now on held answers are given this much earlier.
    pub(crate) fn allow_for(&self, way: Way) {
        self.state().way = way;
    }

    /// Holds every request for just this long, whatever the disk is, and counts and traces none; or ends that.
    pub(crate) fn hold_all(&self, hold_ns: Option<u64>) {
        self.state().hold_ns = hold_ns;
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
        if is_counted {
            state.flow_until(at_ns);
            state.counters.in_flight += 1;
        }
        Arrival {
            request,
            offset,
            at_ns,
            in_flight: u16::try_from(state.counters.in_flight).unwrap_or(u16::MAX),
            is_counted,
            due_ns,
        }
    }

    /// Its answer is given now.
    pub(crate) fn answer(&self, arrival: &Arrival) {
        if !arrival.is_counted {
            return;
        }
        let mut state = self.state();
        let now_ns = monotonic_ns();
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
        self.answer(&arrival.due_at_once());
        self.state().counters.failed += 1;
    }

    /// Puts the limits in force, or takes them away. What was admitted before no longer counts.
    pub(crate) fn shape(&self, shaped: bool) {
        let mut state = self.state();
        if state.counters.shaped != shaped {
            state.counters.shaped = shaped;
            state.shaper.empty_queues();
        }
    }

    /// Capacity and backing stay what they are.
    pub(crate) fn respec(&self, spec: &DiskSpec) {
        let mut state = self.state();
        let DiskSpec { capacity_bytes, backing, .. } = state.spec;
        state.spec = DiskSpec { capacity_bytes, backing, ..spec.clone() };
        state.shaper = Shaper::new(&state.spec, SEED);
    }

    pub(crate) fn mark(&self, label: &str) {
        if let Some(trace) = &self.trace {
            trace.mark(monotonic_ns(), label);
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        let mut state = self.state();
        let now_ns = monotonic_ns();
        state.flow_until(now_ns);
        let lateness = &state.lateness;
        Counters {
            credits: state.shaper.credits(now_ns),
            lateness: Lateness {
                held: lateness.len(),
                p50_ns: lateness.value_at_quantile(0.5),
                p99_ns: lateness.value_at_quantile(0.99),
                max_ns: lateness.max(),
            },
            ..state.counters
        }
    }
}

impl State {
    /// When a request that arrives now is to be answered, so that the caller has its answer when the disk would have given it.
    fn due_ns(&mut self, at_ns: u64, request: Request) -> u64 {
        if let Some(hold_ns) = self.hold_ns {
            return at_ns.saturating_add(hold_ns);
        }
        if !self.counters.shaped {
            return at_ns;
        }
        let due_ns = self.shaper.admit(at_ns, request);
        let way_ns = self.way.ns(request.kind, due_ns.saturating_sub(at_ns));
        due_ns.saturating_sub(way_ns).max(at_ns)
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
    use plimsoll_record::DiskLatency;

    const READ: Request = Request { kind: RequestKind::Read, bytes: 4096 };
    fn spec(ns: u64) -> DiskSpec {
        let latency = DiskLatency::Constant { ns };
        DiskSpec {
            read_latency: latency.clone(),
            write_latency: latency,
            ..DiskSpec::unlimited(1 << 20)
        }
    }

    fn flow(ns: u64) -> Flow {
        Flow::new(&spec(ns), true, None)
    }

    fn way() -> Way {
        let text = r#"{"reads":[[25000,25000],[135000,35000]],"writes":[]}"#;
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
        // A latency that is shorter than the way: at once, and not before it came.
        state.shaper = Shaper::new(&spec(20_000), SEED);
        assert_eq!(state.due_ns(4_000_000, READ), 4_000_000);
    }

    #[test]
    fn requests_that_measure_the_way_are_held_as_long_and_leave_no_trace() {
        let flow = flow(80_000);
        flow.allow_for(way());
        flow.hold_all(Some(500_000));
        let arrival = flow.arrive(RequestKind::Read, 0, 4096);
        assert_eq!(arrival.due_ns - arrival.at_ns, 500_000);
        flow.hold_all(None);
        flow.answer(&arrival);
        let counters = flow.counters();
        assert_eq!(counters.reads, 0);
        assert_eq!(counters.in_flight, 0);
        assert_eq!(counters.busy_ns, 0);
        assert_eq!(counters.lateness.held, 0);
        let arrival = flow.arrive(RequestKind::Read, 0, 4096);
        assert_eq!(arrival.due_ns - arrival.at_ns, 50_000);
    }
}
