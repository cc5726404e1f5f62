//! What the program and an agent say to each other on the control channel: one JSON value a message.

use plimsoll_record::ClockOffset;
use plimsoll_runner::{WorkerExit, WorkerStart, monotonic_ns};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const VERSION: u32 = 1;

/// A side that has heard nothing for this long takes the other for gone.
pub const LEASE: Duration = Duration::from_secs(5);

/// How often each side sends a sign of life.
pub(crate) const BEAT: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The number of this request, which its answer repeats.
    pub(crate) number: u64,
    pub(crate) ask: Ask,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub(crate) enum Ask {
    Hello {
        version: u32,
    },
    /// Starts the process that makes rigs, and puts it on a channel.
    StartRig {
        channel: u32,
    },
    /// Starts a worker, and puts it on a channel. Answered with the id of its process.
    StartWorker {
        channel: u32,
        start: WorkerStart,
    },
    /// Ends the worker on a channel at once.
    Kill {
        channel: u32,
    },
    /// What the machine is. Answered with a `Machine`.
    Machine,
    /// Times the CPU probe task. Answered with nanoseconds.
    CpuTask,
    /// What time it is. Answered with `CLOCK_MONOTONIC`, nanoseconds.
    Clock,
    /// What time it is by two clocks. Answered with [`Clocks`].
    Clocks,
    /// What a server wrote about itself. Comes as JSON on a channel.
    OwnMetrics {
        engine: String,
        directory: PathBuf,
        channel: u32,
    },
    /// A file of a rig. Comes on a channel. Answered with its length.
    Fetch {
        file: PathBuf,
        channel: u32,
    },
    /// A sign that the controller still runs.
    Beat,
}

/// Two clocks of a machine at one instant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Clocks {
    pub(crate) monotonic_ns: u64,
    /// Wall clock in nanoseconds since 1970.
    pub(crate) realtime_ns: i128,
}

impl Clocks {
    pub(crate) fn now() -> Self {
        Self { monotonic_ns: monotonic_ns(), realtime_ns: jiff::Timestamp::now().as_nanosecond() }
    }

    /// How far the wall clock there is ahead of that here, milliseconds, if their monotonic clocks differ by `offset`.
    pub(crate) fn ahead_ms(self, here: Self, offset: ClockOffset) -> i64 {
        let since = |clocks: Self, monotonic_ns: u64| {
            clocks.realtime_ns - i128::from(clocks.monotonic_ns) + i128::from(monotonic_ns)
        };
        let there = since(self, offset.there(here.monotonic_ns));
        let ahead = (there - here.realtime_ns) / 1_000_000;
        i64::try_from(ahead).unwrap_or(0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Greeting {
    pub(crate) version: u32,
    /// Version and commit of the program.
    pub(crate) program: String,
    /// SHA-256 of the program's file, in hexadecimal.
    pub(crate) hash: String,
    /// For which kind of processor it is.
    pub(crate) processor: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    Answer {
        number: u64,
        answer: Result<Value, String>,
    },
    /// A worker has ended; its output has come to its end.
    Ended {
        channel: u32,
        exit: WorkerExit,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_clock_is_ahead_by_what_the_clocks_that_nobody_sets_do_not_explain() {
        let second = 1_000_000_000;
        let here = Clocks { monotonic_ns: 100 * second, realtime_ns: 5_000 * i128::from(second) };
        // Two seconds later: its monotonic clock is 3,600 s ahead, its wall clock 7 s behind.
        let there =
            Clocks { monotonic_ns: 3_702 * second, realtime_ns: 4_995 * i128::from(second) };
        let offset = ClockOffset { offset_ns: 3_600 * 1_000_000_000, ..ClockOffset::default() };
        assert_eq!(there.ahead_ms(here, offset), -7_000);
    }
}
