//! Fixed tasks, timed beside the blocks: if they need longer than at other times, the machine was another one then.

use crate::clock_time::now;
use crate::error::RunnerError;
use crate::host::Hosts;
use plimsoll_record::{ProbeTask, ProbeTime};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

/// Odd, so that the median is one of them.
const REPEATS: usize = 7;
/// Steps of the CPU task: some ten milliseconds on a processor of today.
const STEPS: u64 = 8_000_000;

/// A machine that tasks are timed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProbedHost {
    /// Its name in the file; `None` of the one that the program runs on.
    pub(crate) host: Option<String>,
    /// Where the disk task is done, in a directory or where data directories usually are; `None` where no data is kept there.
    pub(crate) disk: Option<Option<PathBuf>>,
}

/// Times both tasks on each machine.
pub(crate) fn time_probe_tasks(
    place: ProbeTime,
    probed: &[ProbedHost],
    hosts: &dyn Hosts,
) -> Result<Vec<ProbeTask>, RunnerError> {
    let mut timed = Vec::new();
    for one in probed {
        match time_on(place, one, hosts) {
            Ok(task) => timed.push(task),
            // Another machine that is lost now is no reason not to go on with the others.
            Err(_) if one.host.is_some() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(timed)
}

fn time_on(
    place: ProbeTime,
    probed: &ProbedHost,
    hosts: &dyn Hosts,
) -> Result<ProbeTask, RunnerError> {
    let host = hosts.host(probed.host.as_deref())?;
    let disk_ns = match &probed.disk {
        Some(directory) => host.rigs().disk_task(directory.clone())?,
        None => None,
    };
    Ok(ProbeTask {
        host: probed.host.clone(),
        place,
        at: now(),
        cpu_ns: host.cpu_task_ns()?,
        disk_ns,
    })
}

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
