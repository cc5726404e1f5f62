//! One turn of one client.

use rustix::time::{ClockId, clock_gettime};
use std::sync::Barrier;
use std::time::Instant;

#[derive(Clone, Copy)]
pub struct Cost {
    /// Of the whole process, for each operation.
    pub cpu_ns: f64,
    pub per_second: f64,
}

fn process_cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Measures what happens between `new` and `end`.
pub struct Stopwatch {
    begin: Instant,
    cpu_ns: f64,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self { begin: Instant::now(), cpu_ns: process_cpu_ns() }
    }

    pub fn stop(self, operations: u64) -> Cost {
        let seconds = self.begin.elapsed().as_secs_f64();
        Cost {
            cpu_ns: (process_cpu_ns() - self.cpu_ns) / operations as f64,
            per_second: operations as f64 / seconds,
        }
    }
}

/// Lets each session get ready in a thread of its own, and then measures them all at what they do next.
pub fn threads<S>(
    sessions: usize,
    operations: u64,
    prepare: impl Fn() -> S + Sync,
    run: impl Fn(S) + Sync,
) -> Cost {
    let barrier = Barrier::new(sessions + 1);
    std::thread::scope(|scope| {
        for _ in 0..sessions {
            let (barrier, prepare, run) = (&barrier, &prepare, &run);
            scope.spawn(move || {
                let prepared = prepare();
                barrier.wait();
                run(prepared);
                barrier.wait();
            });
        }
        barrier.wait();
        let stopwatch = Stopwatch::start();
        barrier.wait();
        stopwatch.stop(operations)
    })
}
