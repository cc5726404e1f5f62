//! Fixed tasks, timed beside the blocks: if they need longer than at other times, the machine was another one then.

use crate::clock_time::now;
use plimsoll_record::{Canary, CanaryPlace};
use std::hint::black_box;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

/// Odd, so that the median is one of them.
const REPEATS: usize = 7;
/// Steps of the CPU task: some ten milliseconds on a processor of today.
const STEPS: u64 = 8_000_000;
/// Bytes that the disk task writes and makes durable.
const BYTES: usize = 1 << 20;

/// Times both tasks; the one for the disk in `folder`, if there is one that can be written to.
pub(crate) fn time_canary(place: CanaryPlace, folder: Option<&Path>) -> Canary {
    Canary {
        place,
        at: now(),
        cpu_ns: median(|| {
            cpu_task();
            Some(())
        })
        .unwrap_or(0),
        disk_ns: folder.and_then(|folder| median(|| disk_task(folder))),
    }
}

/// Median time of a task, nanoseconds; `None` when it could not be done.
fn median(mut task: impl FnMut() -> Option<()>) -> Option<u64> {
    let mut times = Vec::with_capacity(REPEATS);
    for _ in 0..REPEATS {
        let begun = Instant::now();
        task()?;
        times.push(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    times.sort_unstable();
    times.get(REPEATS / 2).copied()
}

/// Multiplications that depend on each other, so that neither memory nor the compiler changes what they take.
fn cpu_task() {
    let mut state = black_box(1_u64);
    for _ in 0..STEPS {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D) ^ (state >> 29);
    }
    black_box(state);
}

/// One megabyte to the disk in a file without a name, which nothing can leave behind.
fn disk_task(folder: &Path) -> Option<()> {
    let mut file = tempfile::tempfile_in(folder).ok()?;
    let block = vec![0xA5_u8; BYTES];
    file.write_all(&block).ok()?;
    file.sync_data().ok()?;
    // Once more in place: the first time the filesystem had to find room as well.
    file.seek(SeekFrom::Start(0)).ok()?;
    file.write_all(&block).ok()?;
    file.sync_data().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tasks_are_timed_and_leave_nothing_behind() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let canary = time_canary(CanaryPlace::BeforeBlock, Some(folder.path()));
        assert!(canary.cpu_ns > 0 && canary.disk_ns.is_some_and(|ns| ns > 0));
        let left = std::fs::read_dir(folder.path())
            .expect("it is there")
            .count();
        assert_eq!(left, 0);
    }

    #[test]
    fn a_folder_that_is_not_there_leaves_the_disk_out() {
        let canary = time_canary(CanaryPlace::AfterBlock, Some(Path::new("/nowhere/at/all")));
        assert_eq!(canary.disk_ns, None);
    }
}
