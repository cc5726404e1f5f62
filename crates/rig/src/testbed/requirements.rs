//! Whether what an arm stands on can be had on this machine, checked before anything is begun.

use crate::testbed::TestbedError;
use crate::testbed::groups;
use crate::testbed::privileged::kernel;
use crate::testbed::server::{find_after_start, find_server};
use crate::testbed::tools::{Tools, find};
use crate::testbed::{device, filesystem};
use plimsoll_record::{Backing, DiskChoice, LimitsSpec, MOST_MEMBERS, RigSpec};
use std::path::Path;

/// Less than this no process starts with.
const LEAST_MEMORY_BYTES: u64 = 16 << 20;

/// Checks that this machine has all that the rig needs: permissions, devices of the kernel, programs, processors and memory. Nothing is
/// changed.
pub fn what_runs_here(spec: &RigSpec) -> Result<(), TestbedError> {
    check_limits(&spec.limits)?;
    if let Some(server) = &spec.server {
        if !(1..=MOST_MEMBERS).contains(&server.members) {
            return Err(TestbedError::Members { requested: server.members });
        }
        find_server(server)?;
        find_after_start(server)?;
    }
    check_disk(spec)?;
    if !spec.kernel.is_empty() {
        require_root("a setting of the kernel")?;
    }
    kernel::check(spec)
}

fn check_disk(spec: &RigSpec) -> Result<(), TestbedError> {
    match &spec.disk {
        None => return Ok(()),
        Some(DiskChoice::Emulated { spec: disk }) => {
            require_root("an emulated disk")?;
            require_file(
                "/dev/fuse",
                "load the kernel module `fuse`, or give the device to the container",
            )?;
            require_file(
                "/dev/loop-control",
                "load the kernel module `loop`, or give the devices to the container",
            )?;
            for program in ["env", "losetup", "mount", "fio"] {
                find(program)?;
            }
            if let Some(made) = &spec.filesystem {
                check_room_for(made.kind, disk.capacity_bytes)?;
            }
        }
        Some(DiskChoice::Device { path }) => {
            require_root("a device of its own")?;
            for program in ["blkid", "mount"] {
                find(program)?;
            }
            let device = device::find(path, &Tools::of("check"))?;
            if let Some(made) = &spec.filesystem {
                check_room_for(made.kind, device.bytes)?;
            }
        }
    }
    if let Some(made) = &spec.filesystem {
        find(filesystem::program(made.kind))?;
    }
    Ok(())
}

/// Checks that the memory suffices for data on a disk that keeps its blocks there, beside what the limits allow.
pub(crate) fn require_memory(spec: &RigSpec, needs_bytes: u64) -> Result<(), TestbedError> {
    let in_memory = matches!(
        &spec.disk,
        Some(DiskChoice::Emulated { spec }) if spec.backing == Backing::Memory
    );
    if !in_memory {
        return Ok(());
    }
    let need_bytes = needs_bytes.saturating_add(spec.limits.memory_bytes.unwrap_or_default());
    match memory("MemAvailable") {
        Some(there_bytes) if need_bytes > there_bytes => Err(TestbedError::NotEnoughMemory {
            what: "the data on an emulated disk in memory and the limits of the arm",
            need_bytes,
            there_bytes,
        }),
        _ => Ok(()),
    }
}

pub(crate) fn require_root(what: &'static str) -> Result<(), TestbedError> {
    if rustix::process::geteuid().is_root() {
        Ok(())
    } else {
        Err(TestbedError::NeedsRoot { what })
    }
}

fn require_file(path: &'static str, advice: &'static str) -> Result<(), TestbedError> {
    if Path::new(path).exists() { Ok(()) } else { Err(TestbedError::NoDevice { path, advice }) }
}

fn check_room_for(
    kind: plimsoll_record::FilesystemKind,
    capacity_bytes: u64,
) -> Result<(), TestbedError> {
    let need_bytes = filesystem::least_bytes(kind);
    if capacity_bytes < need_bytes {
        return Err(TestbedError::DiskTooSmall {
            capacity_bytes,
            need_bytes,
            why: " for its filesystem alone",
        });
    }
    Ok(())
}

fn check_limits(limits: &LimitsSpec) -> Result<(), TestbedError> {
    if limits.is_empty() {
        return Ok(());
    }
    if let Some(requested_bytes) = limits.memory_bytes {
        if requested_bytes < LEAST_MEMORY_BYTES {
            return Err(TestbedError::LimitTooSmall {
                requested_bytes,
                least_bytes: LEAST_MEMORY_BYTES,
            });
        }
        if let Some(there_bytes) = memory("MemTotal").filter(|there| requested_bytes > *there) {
            return Err(TestbedError::NotEnoughMemory {
                what: "the limits of the arm",
                need_bytes: requested_bytes,
                there_bytes,
            });
        }
    }
    check_cpus(limits, listed("/sys/devices/system/cpu/online")?.trim())?;
    if !limits.memory_nodes.is_empty() {
        check_nodes(limits, listed("/sys/devices/system/node/has_memory")?.trim())?;
    }
    groups::can_be_made(limits)
}

fn check_cpus(limits: &LimitsSpec, there: &str) -> Result<(), TestbedError> {
    let online = groups::parse_list(there);
    let missing = |what: String| TestbedError::NoSuchCpus { what, there: there.to_owned() };
    if let Some(cpu) = limits.pin.iter().find(|cpu| !online.contains(cpu)) {
        return Err(missing(format!("the processor {cpu} and perhaps others")));
    }
    match limits.cpus {
        Some(cpus) if cpus > online.len() as f64 => Err(missing(format!("{cpus} processors"))),
        _ => Ok(()),
    }
}

fn check_nodes(limits: &LimitsSpec, there: &str) -> Result<(), TestbedError> {
    let with_memory = groups::parse_list(there);
    match limits.memory_nodes.iter().find(|node| !with_memory.contains(node)) {
        Some(node) => Err(TestbedError::NoSuchNode { node: *node, there: there.to_owned() }),
        None => Ok(()),
    }
}

/// What the kernel lists there.
fn listed(path: &str) -> Result<String, TestbedError> {
    let path = Path::new(path);
    std::fs::read_to_string(path).map_err(|error| TestbedError::io("read", path, error))
}

/// A line of `/proc/meminfo`, bytes.
fn memory(key: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let kibibytes: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{DiskSpec, FilesystemKind, FilesystemSpec};

    fn limits(memory_bytes: Option<u64>, cpus: Option<f64>, pin: &[u32]) -> LimitsSpec {
        LimitsSpec { memory_bytes, cpus, pin: pin.to_vec(), ..LimitsSpec::default() }
    }

    #[test]
    fn a_plain_directory_runs_anywhere() {
        what_runs_here(&RigSpec::default()).unwrap();
    }

    #[test]
    fn limits_that_cannot_be_are_refused() {
        let said = |limits: LimitsSpec| check_limits(&limits).unwrap_err().to_string();
        let expected =
            "a memory limit of 1.0 MiB is too small to start a process: give at least 16.0 MiB";
        assert_eq!(said(limits(Some(1 << 20), None, &[])), expected);
        assert!(said(limits(Some(1 << 50), None, &[])).contains("this machine has"));
        let said = |limits: LimitsSpec| check_cpus(&limits, "0-1").unwrap_err().to_string();
        let expected = "the processor 2 and perhaps others were requested, but this machine has the processors 0-1: change the limits in the experiment file";
        assert_eq!(said(limits(None, None, &[1, 2])), expected);
        assert!(said(limits(None, Some(2.5), &[])).starts_with("2.5 processors"));
        check_cpus(&limits(None, Some(2.0), &[0, 1]), "0-1").unwrap();
        let of_nodes =
            |nodes: &[u32]| LimitsSpec { memory_nodes: nodes.to_vec(), ..LimitsSpec::default() };
        check_nodes(&of_nodes(&[0, 2]), "0,2-3").unwrap();
        let error = check_nodes(&of_nodes(&[0, 1]), "0,2-3").unwrap_err().to_string();
        let expected = "the memory of NUMA node 1 was requested, but the nodes of this machine that have memory are 0,2-3: change `memory_nodes` in the experiment file";
        assert_eq!(error, expected);
        assert!(
            check_limits(&of_nodes(&[1_000])).unwrap_err().to_string().contains("NUMA node 1000")
        );
    }

    #[test]
    fn a_disk_in_memory_must_fit_into_it_with_its_data() {
        let spec = RigSpec {
            disk: Some(DiskChoice::Emulated { spec: DiskSpec::unlimited(1 << 50) }),
            ..RigSpec::default()
        };
        require_memory(&spec, 1 << 20).unwrap();
        let error = require_memory(&spec, 1 << 50).unwrap_err().to_string();
        assert!(error.contains("`backing: file`"), "{error}");
        require_memory(&RigSpec::default(), 1 << 50).unwrap();
    }

    #[test]
    fn a_disk_on_which_no_filesystem_can_be_is_refused() {
        let error = check_room_for(FilesystemKind::Xfs, 100 << 20).unwrap_err();
        let expected = "the disk of 100.0 MiB is too small: 300.0 MiB are needed for its filesystem alone; give it a larger `capacity`, or use less data";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn without_root_it_is_said_what_needs_it() {
        let spec = RigSpec {
            disk: Some(DiskChoice::Emulated { spec: DiskSpec::unlimited(1 << 30) }),
            filesystem: Some(FilesystemSpec {
                kind: FilesystemKind::Xfs,
                mkfs: Vec::new(),
                mount: Vec::new(),
            }),
            ..RigSpec::default()
        };
        if rustix::process::geteuid().is_root() {
            // This changes only this thread, which ends with the test.
            rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(65_534)).unwrap();
        }
        let error = what_runs_here(&spec).unwrap_err().to_string();
        assert!(error.starts_with("an emulated disk needs root"), "{error}");
    }
}
