//! Measuring path: no allocation, lock, log or formatting here.
//!
//! The program's clock: the processor's time stamp counter where it is invariant, the operating system's monotonic clock elsewhere.
//! Tests put a clock in its place that jumps.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Which clock the program reads: `tsc` or `monotonic`.
pub fn program_clock() -> &'static str {
    match ProgramClockStart::new().reads_nanoseconds() {
        true => "monotonic",
        false => "tsc",
    }
}

/// What a point needs of time: nanoseconds since its start.
pub(crate) trait Clock: Clone + Send {
    /// Nanoseconds since the start; 0 before it.
    fn now(&self) -> u64;

    /// Sleeps until `time_ns` or `limit_ns`, whichever comes first, or until this thread is unparked, and returns the time then.
    fn sleep_until(&self, time_ns: u64, limit_ns: u64) -> u64;
}

/// Starts the clock of a point.
pub(crate) trait ClockStart {
    type Clock: Clock;

    fn monotonic_ns(&self) -> u64;

    /// Sleeps for this long, or a little longer.
    fn sleep(&self, nanos: u64);

    /// A clock whose zero is now, and when that was: nanoseconds of `CLOCK_MONOTONIC`.
    fn start(&self) -> (Self::Clock, u64);
}

/// The last part of the way to a common start is not slept: a sleeper wakes some 60 µs late, and later after a long sleep of the processor.
const SPIN_NS: u64 = 200_000;
/// Interval of looks for a request to stop until then.
const LONGEST_SLEEP_NS: u64 = 50_000_000;

/// Returns at `start_ns` of `CLOCK_MONOTONIC`: at once if that has passed, earlier if a stop is requested.
pub(crate) fn wait_for_start(
    clock: &impl ClockStart,
    start_ns: u64,
    mut stop_requested: impl FnMut() -> bool,
) {
    loop {
        let left = start_ns.saturating_sub(clock.monotonic_ns());
        if left == 0 {
            return;
        }
        if left <= SPIN_NS {
            std::hint::spin_loop();
            continue;
        }
        if stop_requested() {
            return;
        }
        clock.sleep((left - SPIN_NS).min(LONGEST_SLEEP_NS));
    }
}

/// Nanoseconds of `CLOCK_MONOTONIC`, as the disk's daemon reads it for its traces.
#[inline(always)]
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let nanoseconds = time.tv_sec * 1_000_000_000 + time.tv_nsec;
    // The monotonic clock counts up from 0, at the start of the machine.
    nanoseconds.unsigned_abs()
}

pub(crate) struct ProgramClockStart {
    source: quanta::Clock,
}

impl ProgramClockStart {
    /// To be made some time before the start: the first one in a process measures the processor's counter for some milliseconds.
    pub(crate) fn new() -> Self {
        Self { source: quanta::Clock::new() }
    }

    /// Nanoseconds of 2 to the power of [`SCALE_BITS`] ticks.
    fn scale(&self) -> u64 {
        self.source.delta_as_nanos(0, 1 << SCALE_BITS)
    }

    /// Without an invariant counter quanta falls back to the operating system's clock.
    fn reads_nanoseconds(&self) -> bool {
        self.scale() == 1 << SCALE_BITS
    }
}

/// Bits of the fixed-point factor from ticks to nanoseconds: a day is exact to a microsecond, and products fit 128 bits.
const SCALE_BITS: u32 = 40;

impl ClockStart for ProgramClockStart {
    type Clock = ProgramClock;

    fn monotonic_ns(&self) -> u64 {
        monotonic_ns()
    }

    fn sleep(&self, nanos: u64) {
        std::thread::sleep(Duration::from_nanos(nanos));
    }

    fn start(&self) -> (ProgramClock, u64) {
        let mut clock = ProgramClock {
            is_counter: !self.reads_nanoseconds(),
            scale: self.scale(),
            source: self.source.clone(),
            origin: 0,
        };
        clock.origin = clock.raw();
        (clock, monotonic_ns())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ProgramClock {
    source: quanta::Clock,
    is_counter: bool,
    scale: u64,
    origin: u64,
}

impl ProgramClock {
    /// The counter of the processor is read here: a call of the library costs half as much again.
    #[inline(always)]
    fn raw(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.is_counter {
            // SAFETY: every processor of this kind has the instruction, and quanta found that its counter is the same everywhere.
            return unsafe { std::arch::x86_64::_rdtsc() };
        }
        self.source.raw()
    }
}

impl Clock for ProgramClock {
    #[inline(always)]
    fn now(&self) -> u64 {
        let ticks = self.raw().saturating_sub(self.origin);
        let nanos = (u128::from(ticks) * u128::from(self.scale)) >> SCALE_BITS;
        // A point does not last for centuries.
        nanos as u64
    }

    #[inline]
    fn sleep_until(&self, time_ns: u64, limit_ns: u64) -> u64 {
        let left = time_ns.min(limit_ns).saturating_sub(self.now());
        if left > 0 {
            std::thread::park_timeout(Duration::from_nanos(left));
        }
        self.now()
    }
}

/// Asks the kernel to wake this thread as exactly as it can: by default it may be 50 µs late to save power.
pub(crate) fn wake_exactly() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}
