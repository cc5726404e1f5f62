//! Requests from their arrival to their answer: when each is due, what they add up to, and the trace.

use crate::Counters;
use crate::shaper::{Request, RequestKind, Shaper};
use hdrhistogram::Histogram;
use plimsoll_record::{DiskSpec, Lateness};
use plimsoll_trace::{Kind, Writer, monotonic_ns};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Draws of latencies are the same for every disk of the same description.
const SEED: u64 = 42;
/// The latest answer that is told from later ones, nanoseconds.
const LONGEST_LATENESS_NS: u64 = 60_000_000_000;

/// A request that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) request: Request,
    offset: u64,
    at_ns: u64,
    in_flight: u16,
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
    /// What a request takes on its way here and its answer on its way back, nanoseconds: answers that are held are given so much earlier.
    way_ns: AtomicU64,
}

struct State {
    spec: DiskSpec,
    shaper: Shaper,
    counters: Counters,
    /// When `counters.in_flight` changed last.
    changed_ns: u64,
    lateness: Histogram<u64>,
}

impl Flow {
    pub(crate) fn new(spec: &DiskSpec, shaped: bool, trace: Option<Writer>) -> Self {
        let mut lateness = Histogram::new_with_bounds(1, LONGEST_LATENESS_NS, 2)
            .expect("the bounds of the histogram are constants");
        lateness.auto(false);
        let counters = Counters {
            shaped,
            ..Counters::default()
        };
        Self {
            state: Mutex::new(State {
                spec: spec.clone(),
                shaper: Shaper::new(spec, SEED),
                counters,
                changed_ns: monotonic_ns(),
                lateness,
            }),
            trace,
            way_ns: AtomicU64::new(0),
        }
    }

    /// From now on held answers are given so much earlier.
    pub(crate) fn allow_for_way(&self, way_ns: u64) {
        self.way_ns.store(way_ns, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request is here, and the disk says when it will be answered.
    pub(crate) fn arrive(&self, kind: RequestKind, offset: u64, bytes: u64) -> Arrival {
        let request = Request { kind, bytes };
        let mut state = self.state();
        // The clock is read under the lock, so that the shaper is told of requests in their order.
        let at_ns = monotonic_ns();
        let due_ns = if state.counters.shaped {
            let due_ns = state.shaper.admit(at_ns, request);
            due_ns
                .saturating_sub(self.way_ns.load(Ordering::Relaxed))
                .max(at_ns)
        } else {
            at_ns
        };
        state.flow_until(at_ns);
        state.counters.in_flight += 1;
        Arrival {
            request,
            offset,
            at_ns,
            in_flight: u16::try_from(state.counters.in_flight).unwrap_or(u16::MAX),
            due_ns,
        }
    }

    /// Its answer is given now.
    pub(crate) fn answer(&self, arrival: &Arrival) {
        let mut state = self.state();
        let now_ns = monotonic_ns();
        let latency_ns = now_ns.saturating_sub(arrival.at_ns);
        // An answer that was never to be held cannot be late: the disk is as fast as its host.
        let is_held = arrival.due_ns > arrival.at_ns;
        let lateness_ns = if is_held {
            now_ns.saturating_sub(arrival.due_ns)
        } else {
            0
        };
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

    /// Gives it other limits.
    pub(crate) fn respec(&self, spec: &DiskSpec) -> Result<(), String> {
        let mut state = self.state();
        if spec.capacity_bytes != state.spec.capacity_bytes || spec.backing != state.spec.backing {
            return Err("a disk cannot get another capacity or backing while it is there".into());
        }
        state.shaper = Shaper::new(spec, SEED);
        state.spec = spec.clone();
        Ok(())
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
