//! Fixed tasks, timed beside the blocks: if they need longer than at other times, the machine was another one then.

use crate::clock_time::now;
use plimsoll_record::{ProbeTask, ProbeTime};
use plimsoll_rig::{RigError, RigProcess};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

/// Odd, so that the median is one of them.
const REPEATS: usize = 7;
/// Steps of the CPU task: some ten milliseconds on a processor of today.
const STEPS: u64 = 8_000_000;

/// Where the disk task is done: in a directory, or where data directories usually are.
pub(crate) type DiskPlace = Option<PathBuf>;

/// Times both tasks; the one for the disk only where data is kept.
pub(crate) fn time_probe_task(
    place: ProbeTime,
    disk: Option<&DiskPlace>,
    rigs: &RigProcess,
) -> Result<ProbeTask, RigError> {
    let disk_ns = match disk {
        Some(directory) => rigs.disk_task(directory.clone())?,
        None => None,
    };
    Ok(ProbeTask {
        place,
        at: now(),
        cpu_ns: median_ns(cpu_task),
        disk_ns,
    })
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
        assert!(median_ns(cpu_task) > 0);
    }
}
