//! Block devices of this machine: which of them may be erased.
//!
//! The experiment file has said `erase: true`. That allows a filesystem on the device to be lost, and nothing else: whatever is in use,
//! partitioned, or part of something larger is refused.

use crate::testbed::TestbedError;
use crate::testbed::loops::number_of;
use crate::testbed::mounts;
use crate::testbed::tools::Tools;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

const STABLE_NAMES: &str = "/dev/disk/by-";

/// What `blkid` ends with when it finds nothing on a device.
const NOTHING_FOUND: i32 = 2;

/// A device that may be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

fn refused(path: &Path, reason: impl Into<String>) -> TestbedError {
    TestbedError::DeviceRefused { path: path.to_owned(), reason: reason.into() }
}

/// The device with this stable name, if it may be erased.
pub(crate) fn find(named: &Path, tools: &Tools) -> Result<Device, TestbedError> {
    check(named, &resolve(named)?, tools)
}

/// Numbers such as `sdb` change from boot to boot, and with them whose data is erased.
fn resolve(named: &Path) -> Result<PathBuf, TestbedError> {
    let is_stable =
        named.to_str().is_some_and(|text| text.starts_with(STABLE_NAMES) && !text.contains("/../"));
    if !is_stable {
        return Err(refused(
            named,
            "is no stable name, and others may be another disk after the next boot; name it by its link in /dev/disk/by-id",
        ));
    }
    fs::canonicalize(named).map_err(|error| refused(named, format!("cannot be found: {error}")))
}

pub(crate) fn check(named: &Path, path: &Path, tools: &Tools) -> Result<Device, TestbedError> {
    let refuse = |reason: String| Err(refused(named, reason));
    let status = fs::metadata(path)
        .map_err(|error| refused(named, format!("cannot be looked at: {error}")))?;
    if !status.file_type().is_block_device() {
        return refuse("is no block device".to_owned());
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.map(str::to_owned) else {
        return refuse("has no name".to_owned());
    };
    let folder = Path::new("/sys/class/block").join(&name);
    let number = |file: &str| -> u64 {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        text.trim().parse().unwrap_or_default()
    };
    if number("ro") != 0 {
        return refuse("is read-only".to_owned());
    }
    if let Some(holder) = first_name(&folder.join("holders")) {
        return refuse(format!("is part of {holder}"));
    }
    let mounted = mounts::all()?;
    let is_mounted = |device: &str, path: &Path| {
        mounted.iter().find(|mounted| mounted.device_number == device || mounted.source == path)
    };
    let id = number_of(status.rdev());
    if let Some(mounted) = is_mounted(&id, path) {
        return refuse(format!("is mounted at {}; unmount it first", mounted.point.display()));
    }
    if is_swap(path) {
        return refuse("is used for swap; `swapoff` it first".to_owned());
    }
    if let Some(partition) = partitions(&folder).first() {
        return refuse(format!(
            "has partitions such as {partition}; name a whole disk without, or one partition"
        ));
    }
    if folder.join("partition").exists()
        && let Some(disk) = fs::canonicalize(&folder).ok().as_deref().and_then(Path::parent)
    {
        for sibling in partitions(disk) {
            let sibling_id =
                fs::read_to_string(disk.join(&sibling).join("dev")).unwrap_or_default();
            if is_mounted(sibling_id.trim(), &Path::new("/dev").join(&sibling)).is_some() {
                return refuse(format!(
                    "shares a disk with {sibling}, which is mounted; a disk that others use measures nothing"
                ));
            }
        }
    }
    check_contents(named, path, tools)?;
    check_exclusive(named, path)?;
    Ok(Device { path: path.to_owned(), bytes: number("size") * 512, name })
}

/// Filesystems may be lost, but not parts of something larger that only seems unused.
fn check_contents(named: &Path, path: &Path, tools: &Tools) -> Result<(), TestbedError> {
    let arguments = ["-p".as_ref(), "-o".as_ref(), "export".as_ref(), path.as_os_str()];
    let found = match tools.run("blkid", &arguments) {
        Ok(found) => found,
        Err(TestbedError::Tool { code: Some(NOTHING_FOUND), .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let value =
        |key: &str| found.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    if let Some(table) = value("PTTYPE") {
        return Err(refused(
            named,
            format!("has a partition table ({table}); `wipefs --all` it if it is not needed"),
        ));
    }
    match (value("USAGE"), value("TYPE")) {
        (Some("filesystem") | None, _) => Ok(()),
        (Some(_), kind) => Err(refused(
            named,
            format!(
                "holds {}, which may be part of something larger; `wipefs --all` it if it is not needed",
                kind.unwrap_or("something")
            ),
        )),
    }
}

fn check_exclusive(named: &Path, path: &Path) -> Result<(), TestbedError> {
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(_) => Ok(()),
        Err(Errno::BUSY) => Err(refused(named, "is in use; `lsblk` and `fuser -v` say by what")),
        Err(error) => Err(refused(named, format!("cannot be opened: {error}"))),
    }
}

fn first_name(folder: &Path) -> Option<String> {
    let entry = fs::read_dir(folder).ok()?.next()?.ok()?;
    entry.file_name().into_string().ok()
}

fn partitions(disk: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(disk) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("partition").exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn is_swap(path: &Path) -> bool {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    swaps
        .lines()
        .skip(1)
        .filter_map(|line| line.split_ascii_whitespace().next())
        .any(|swap| fs::canonicalize(swap).is_ok_and(|swap| swap == path))
}

#[cfg(test)]
mod tests;
