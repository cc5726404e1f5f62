//! Drives sessions on a schedule and records what happened. This is the measuring loop.
//!
//! ```text
//! Workload ─ OpGenerator ──┐  what        one thread per session:  ask ─ clock ─ engine ─ clock ─ record
//! Schedule ─ times ──┼─────────────►                              │ read once a second
//! Engine ─ Session ──┘  whom                                       ▼
//!                                    the calling thread:       Collector ─► Slice ─► SliceSink
//! ```
//!
//! [`run_point`] measures one load setting and [`run_load`] stores the data before the points. Both hand every second's [`Slice`] to
//! an [`SliceSink`] as it ends and return a [`PointEnd`] when the point is over. Which engine is measured is unknown here.
//!
//! What a closed loop means by service time is completed - dispatched. An open loop has intended times as well, from
//! [`plimsoll_workload::schedule`]: any free session takes the next arrival, so that the sessions are one queue with several servers, first come
//! first served, and an operation that no session could take in time has waited. A closed loop whose sessions pace themselves to a target
//! has intended times too, and stays a closed loop: see [`plimsoll_workload::schedule::Pace`].
//!
//! Sessions count into tables of buckets that many sessions share, so memory does not grow with their number: 10,000 sessions need as much
//! as 16. Two tables alternate from second to second: when a second ends, the calling thread reads what its table has gained. A slice holds
//! all operations that *completed* in its second, and each second is one slice. An operation in flight belongs to the second in which it
//! completes, so a stall is a few seconds with few operations, followed by one with long response times. Operations that were due but
//! incomplete at the end of the point are counted as unfinished, and as at least that late.
//!
//! In an open loop, an operation that was due while a session was idle counts from its dispatch: the delay is the generator's own lateness,
//! which is reported separately. An operation that was due while all sessions were busy counts from its due time
//! (`docs/decisions/0014-a-generator-s-own-lateness.md`).
//!
//! Several hosts can generate one load together. Each gets its [`plimsoll_workload::schedule::Share`], runs its own sessions, and hands out slices of its own;
//! slices of one index are merged into those of the whole ([`Slice::merge`]). [`SliceSink::ready`] lets all hosts start at one instant.
//!
//! Reports that need more than slices hold put a [`OpObserver`] into each session ([`run_point_with`], [`run_load_with`]). One such notes when
//! operations were under way, for the map of the disk ([`run_point_noting`]).
//!
//! ```
//! use plimsoll_engine::{Opening, open};
//! use plimsoll_plan::Settings;
//! use plimsoll_loadgen::{SliceSink, PointSpec, run_point};
//! use plimsoll_record::Slice;
//! use plimsoll_workload::schedule::{Load, Share};
//! use plimsoll_workload::{DataSpec, KeySpace, Mix, Workload};
//! use std::sync::Arc;
//!
//! struct Count(u64);
//! impl SliceSink for Count {
//!     fn slice(&mut self, slice: Slice) { self.0 += slice.completed.ok }
//! }
//!
//! let data = DataSpec::with_records(1_000);
//! let opening = Opening {
//!     settings: &Settings::default(),
//!     directory: None,
//!     server: None,
//!     seed: 42,
//!     data: &data,
//!     allocator: "system",
//!     joins: false,
//! };
//! let engine = open("noop", &opening)?;
//! let mix = Mix::preset("c").expect("a to f are presets");
//! let workload = Arc::new(Workload::new(&KeySpace::new(&data)?, &mix, 42, None)?);
//! let spec = PointSpec {
//!     load: Load::Closed { sessions: 2, think_time_ns: 0, target: None },
//!     warm_up_ns: 0,
//!     duration_ns: u64::MAX,
//!     operations: Some(10_000),
//!     seed: 42,
//!     verify: false,
//!     share: Share::WHOLE,
//! };
//! let mut count = Count(0);
//! run_point(&*engine, &workload, &spec, &mix, &mut count)?;
//! assert_eq!(count.0, 10_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Slice`]: plimsoll_record::Slice
//! [`Slice::merge`]: plimsoll_record::Slice::merge
//! [`PointEnd`]: plimsoll_record::PointEnd

mod asking;
mod clock;
mod closed;
mod collector;
mod counts;
mod exchange;
mod grid;
mod noted;
mod observer;
mod open;
mod point;
mod recorder;
mod session_end;
mod sessions;
mod shared;
mod spec;

pub use clock::{monotonic_ns, program_clock};
pub use grid::Grid;
pub use noted::run_point_noting;
pub use observer::{After, ObservedOp, OpObserver};
pub use point::{LoadSpec, run_load, run_load_with, run_point, run_point_with};
pub use spec::{LoadError, PointSpec, SliceSink};

#[cfg(test)]
mod it;
#[cfg(test)]
mod no_allocation;
#[cfg(test)]
mod tests;
