//! Limits as the files of control groups take and tell them.

use super::paths::GroupPaths;
use crate::testbed::TestbedError;
use plimsoll_record::LimitsSpec;
use std::fs;
use std::path::{Path, PathBuf};

/// Microseconds in which a group gets its share of CPU time. Shorter than the usual 100 ms: a group that has used its share waits until
/// the next period, and with long periods these waits, which no slower machine has, would be all that is seen of the tail of response
/// times.
const PERIOD_US: u64 = 10_000;

/// For shares below the kernel's smallest quota, which is 1 ms.
const LONG_PERIOD_US: u64 = 100_000;

const SMALLEST_SHARE_US: u64 = 1_000;

/// What to write into the control files of an empty group, in this order.
pub(super) fn to_write(
    limits: &LimitsSpec,
    paths: &GroupPaths,
    cpuset: Option<&Path>,
) -> Result<Vec<(PathBuf, String)>, TestbedError> {
    let mut list = Vec::new();
    if let Some(bytes) = limits.memory_bytes {
        list.extend(of_memory(bytes, paths));
    }
    if let (Some(cpus), Some(cpu)) = (limits.cpus, &paths.cpu) {
        let (share, period) = share_and_period(cpus);
        if paths.version == 1 {
            list.push((cpu.join("cpu.cfs_period_us"), period.to_string()));
            list.push((cpu.join("cpu.cfs_quota_us"), share.to_string()));
        } else {
            list.push((cpu.join("cpu.max"), format!("{share} {period}")));
        }
    }
    if let Some(cpuset) = cpuset {
        for (what, of_parent, chosen) in [
            ("cpuset.mems", "cpuset.effective_mems", &limits.memory_nodes),
            ("cpuset.cpus", "cpuset.effective_cpus", &limits.pin),
        ] {
            let value = match chosen.as_slice() {
                // A new group of version 1 has neither, and takes no process without.
                [] if paths.version == 1 => {
                    let of_parent = cpuset.with_file_name(of_parent);
                    let all = fs::read_to_string(&of_parent)
                        .map_err(|error| TestbedError::io("read", &of_parent, error))?;
                    all.trim().to_owned()
                }
                [] => continue,
                chosen => chosen.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
            };
            list.push((cpuset.join(what), value));
        }
    }
    Ok(list)
}

/// What limits memory to this many bytes, with no swap beyond it: what does not fit into the memory of the machine that is requested must be read
/// again from its disk.
pub(super) fn of_memory(bytes: u64, paths: &GroupPaths) -> Vec<(PathBuf, String)> {
    let Some(memory) = &paths.memory else {
        return Vec::new();
    };
    let (memory_file, swap_file, swap) = if paths.version == 1 {
        ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes)
    } else {
        ("memory.max", "memory.swap.max", 0)
    };
    let mut list = vec![(memory.join(memory_file), bytes.to_string())];
    let swap_file = memory.join(swap_file);
    if swap_file.exists() {
        list.push((swap_file, swap.to_string()));
    }
    list
}

/// What limits memory now, bytes: as the kernel reports it, of memory first, and in version 1 of memory and swap together where that is limited. Empty where
/// there is no limit of version 2.
pub(super) fn memory_in_force(paths: &GroupPaths) -> Vec<u64> {
    let Some(memory) = &paths.memory else {
        return Vec::new();
    };
    let files: &[&str] = if paths.version == 1 {
        &["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"]
    } else {
        &["memory.max"]
    };
    let limits = files.iter().filter_map(|file| number(&memory.join(file)));
    limits.collect()
}

/// A control file with a number alone.
fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Bytes that the processes of a group take: all that is counted but for page cache that could be given up. Their programs, which are mapped, are theirs, and
/// so is what the kernel keeps for them.
pub(super) fn of_processes(paths: &GroupPaths) -> Option<u64> {
    let memory = paths.memory.as_deref()?;
    let (used, [cache, shared, mapped]) = if paths.version == 1 {
        let names = ["total_cache", "total_shmem", "total_mapped_file"];
        ("memory.usage_in_bytes", names)
    } else {
        ("memory.current", ["file", "shmem", "file_mapped"])
    };
    let used = number(&memory.join(used))?;
    let kinds = fs::read_to_string(memory.join("memory.stat")).ok()?;
    let of = |name: &str| -> Option<u64> {
        let mut lines = kinds.lines();
        let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse().ok()
    };
    let page_cache = of(cache)?.saturating_sub(of(shared)?).saturating_sub(of(mapped)?);
    Some(used.saturating_sub(page_cache))
}

/// How many processes of the group the kernel had to end because it was out of memory.
pub(super) fn ended_processes(paths: &GroupPaths) -> u64 {
    let Some(memory) = &paths.memory else {
        return 0;
    };
    let file = if paths.version == 1 { "memory.oom_control" } else { "memory.events" };
    let text = fs::read_to_string(memory.join(file)).unwrap_or_default();
    let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

fn share_and_period(cpus: f64) -> (u64, u64) {
    let share = |period: u64| (cpus * period as f64).round() as u64;
    let period = if share(PERIOD_US) < SMALLEST_SHARE_US { LONG_PERIOD_US } else { PERIOD_US };
    (share(period).max(SMALLEST_SHARE_US), period)
}

/// The limits as the kernel reports them, of those that were requested.
pub(super) fn in_force(
    limits: &LimitsSpec,
    paths: &GroupPaths,
    cpuset: Option<&Path>,
) -> LimitsSpec {
    let cpus = paths.cpu.as_deref().and_then(|cpu| {
        let (share, period) = if paths.version == 1 {
            (number(&cpu.join("cpu.cfs_quota_us"))?, number(&cpu.join("cpu.cfs_period_us"))?)
        } else {
            let text = fs::read_to_string(cpu.join("cpu.max")).ok()?;
            let (share, period) = text.trim().split_once(' ')?;
            (share.parse().ok()?, period.parse().ok()?)
        };
        Some(share as f64 / period as f64)
    });
    let listed = |requested: &[u32], file: &str| {
        let cpuset = cpuset.filter(|_| !requested.is_empty());
        let text = cpuset.and_then(|cpuset| fs::read_to_string(cpuset.join(file)).ok());
        text.map(|text| parse_list(text.trim())).unwrap_or_default()
    };
    LimitsSpec {
        memory_bytes: limits.memory_bytes.and_then(|_| memory_in_force(paths).first().copied()),
        page_cache_bytes: limits.page_cache_bytes,
        cpus: limits.cpus.and(cpus),
        pin: listed(&limits.pin, "cpuset.cpus"),
        memory_nodes: listed(&limits.memory_nodes, "cpuset.mems"),
    }
}

/// Numbers of processors or memory nodes as the kernel lists them: `0-2,5`.
pub(crate) fn parse_list(list: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            numbers.extend(first..=last);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_in_short_periods_unless_they_are_tiny() {
        assert_eq!(share_and_period(1.5), (15_000, 10_000));
        assert_eq!(share_and_period(0.1), (1_000, 10_000));
        assert_eq!(share_and_period(0.05), (5_000, 100_000));
        assert_eq!(share_and_period(0.001), (1_000, 100_000));
    }

    #[test]
    fn lists_of_processors_are_read() {
        assert_eq!(parse_list("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(parse_list("3"), [3]);
        assert_eq!(parse_list(""), [0_u32; 0]);
    }

    #[test]
    fn limits_in_version_2_are_plain_files_too() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().to_owned();
        fs::write(group.join("memory.swap.max"), "max\n").unwrap();
        let paths = GroupPaths {
            version: 2,
            memory: Some(group.clone()),
            cpu: Some(group.clone()),
            cpuacct: None,
        };
        let requested = LimitsSpec {
            memory_bytes: Some(64 << 20),
            page_cache_bytes: None,
            cpus: Some(0.5),
            pin: vec![0, 2],
            memory_nodes: vec![1],
        };
        for (file, value) in to_write(&requested, &paths, Some(&group)).unwrap() {
            fs::write(file, value).unwrap();
        }
        let read = |name: &str| fs::read_to_string(group.join(name)).unwrap();
        assert_eq!(read("memory.max"), "67108864");
        assert_eq!(read("memory.swap.max"), "0");
        assert_eq!(read("cpu.max"), "5000 10000");
        assert_eq!(read("cpuset.cpus"), "0,2");
        assert_eq!(read("cpuset.mems"), "1");
        assert_eq!(in_force(&requested, &paths, Some(&group)), requested);
    }
}
