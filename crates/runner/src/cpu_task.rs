//! The fixed task for the processor.

use std::hint::black_box;
use std::time::Instant;

/// Odd, so that the median is one of them.
const REPEATS: usize = 7;
/// Steps of the CPU task: some ten milliseconds on a processor of today.
const STEPS: u64 = 8_000_000;

/// What the CPU probe task takes on this machine, nanoseconds.
pub fn cpu_task_ns() -> u64 {
    median_ns(cpu_task)
}

/// Median time of a task, nanoseconds.
fn median_ns(task: fn()) -> u64 {
    let mut times = [(); REPEATS].map(|()| {
        let begun = Instant::now();
        task();
        u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    });
    times.sort_unstable();
    times[REPEATS / 2]
}

/// Multiplications that depend on each other, so that neither memory nor the compiler changes what they take.
fn cpu_task() {
    let mut state = black_box(1_u64);
    for _ in 0..STEPS {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D) ^ (state >> 29);
    }
    black_box(state);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_task_takes_time() {
        assert!(cpu_task_ns() > 0);
    }
}
