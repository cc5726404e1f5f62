//! Measuring path: no allocation, lock, log or formatting here.
//!
//! The program's clock: the processor's time stamp counter where it is invariant, the operating system's monotonic clock elsewhere.
//! Tests put a clock in its place that jumps.

use std::time::Duration;

/// Which clock the program reads: `tsc` or `monotonic`.
#[must_use]
pub fn program_clock() -> &'static str {
    let clock = quanta::Clock::new();
    // Without an invariant counter quanta falls back to the operating system's clock, whose raw readings are nanoseconds already.
    let raw_is_nanoseconds = clock.delta_as_nanos(0, 1_000_000_000) == 1_000_000_000;
    if raw_is_nanoseconds {
        "monotonic"
    } else {
        "tsc"
    }
}

/// What a point needs of time: nanoseconds since its start.
pub(crate) trait Clock: Clone + Send {
    /// Nanoseconds since the start; 0 before it.
    fn now(&self) -> u64;

    /// Sleeps until `time_ns` or `limit_ns`, whichever comes first, or until this thread is unparked, and returns the time then.
    fn sleep_until(&self, time_ns: u64, limit_ns: u64) -> u64;
}

/// The clock of [`program_clock`].
#[derive(Clone, Debug)]
pub(crate) struct ProgramClock {
    source: quanta::Clock,
    origin: u64,
}

impl ProgramClock {
    /// A clock whose zero is now.
    pub(crate) fn start() -> Self {
        let source = quanta::Clock::new();
        let origin = source.raw();
        Self { source, origin }
    }
}

impl Clock for ProgramClock {
    #[inline(always)]
    fn now(&self) -> u64 {
        self.source.delta_as_nanos(self.origin, self.source.raw())
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
